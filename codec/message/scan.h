#ifndef CODEC_MESSAGE_SCAN_H
#define CODEC_MESSAGE_SCAN_H

#include "agentwire/envelope.h"
#include "codec/base/limits.h"
#include "codec/message/schema.h"
#include "codec/wire/reader.h"

/** The wire type that a field of this kind is written under. */
static inline aw__wire_t aw__wire_of(char kind)
{
    const bool is_varint = kind == 'i' || kind == 'u' || kind == 't' || kind == 'e';
    return is_varint ? AW__WIRE_VARINT : AW__WIRE_BYTES;
}

/** A message that is open during a scan. */
typedef struct aw__frame {
    aw_message_type_t type;
    uint32_t number;      /* of the field that holds it, in the frame below */
    const uint8_t *begin; /* its first byte */
    const uint8_t *end;
    const uint8_t *item; /* the tag of that field */
} aw__frame_t;

/** Scans one message. Returns AW_OK, AW_STATUS_LIMIT_SIZE or a bad-input status. */
int aw__scan(aw_message_type_t type, aw_span_t input, aw_error_t *error);

/** One field of the outermost message. */
typedef struct aw__piece {
    const uint8_t *begin; /* its tag */
    const uint8_t *end;
    uint32_t number; /* 0 for what is unknown to the schema: also a known number under another wire
                        type */
    aw_span_t bytes; /* of a length-delimited value, else absent */
    uint64_t bits;   /* of a varint, else 0 */
} aw__piece_t;

typedef void aw__piece_fn(void *opaque, const aw__piece_t *piece);

/** aw__scan() that hands each field of the outermost message, in the order of the input and once it
 * is found good, to take. */
int aw__scan_pieces(aw_message_type_t type, aw_span_t input, aw__piece_fn *take, void *opaque,
                    aw_error_t *error);

/** The next field of a message that was scanned, and so cannot be refused any more; what is nested
 * in it is passed over. There must be a byte left. */
aw__piece_t aw__next_piece(aw_message_type_t type, aw__reader_t *reader);

/** True for an envelope behind a schema-registry header. Asked only of bytes that begin with 0x00.
 */
__attribute__((cold)) bool aw__is_framed(aw_span_t input);

/** Reports a defect at the byte `at`, in the message frames[depth] of those that are open. item is
 * the tag that was read before it, NULL when the tag itself is wrong. Returns the defect's status.
 */
__attribute__((cold, noinline)) int aw__scan_report(const aw__frame_t *frames, unsigned depth,
                                                    const uint8_t *item, const uint8_t *at,
                                                    aw__defect_t defect, aw_error_t *error);

#endif
