#ifndef CODEC_MESSAGE_SCAN_H
#define CODEC_MESSAGE_SCAN_H

#include "agentwire/envelope.h"
#include "codec/base/limits.h"
#include "codec/message/schema.h"
#include "codec/wire/reader.h"

/** A message that is open during a scan. */
typedef struct aw__frame {
    aw_message_type_t type;
    uint32_t number;      /* of the field that holds it, in the frame below */
    const uint8_t *begin; /* its first byte */
    const uint8_t *end;
    const uint8_t *item; /* the tag of that field */
} aw__frame_t;

/** Of a payload's fields, those below this number are kept. */
#define AW__CAPTURE_NUMBERS 3u

/** What an envelope scan keeps on its way. */
typedef struct aw__capture {
    aw_span_t entity_key;
    int64_t event_time_ms;
    uint32_t variant;                       /* the number of the payload that is set, 0 for none */
    uint32_t future_number;                 /* as in aw_envelope_view_t */
    aw_span_t payload[AW__CAPTURE_NUMBERS]; /* strings and bytes by number; 0 is external_event */
} aw__capture_t;

/** Scans one message. capture is NULL or zeroed, and then type is AGENT_ENVELOPE; what it holds
 * counts only after success. Returns AW_OK, AW_STATUS_LIMIT_SIZE or a bad-input status. */
int aw__scan(aw_message_type_t type, aw_span_t input, aw__capture_t *capture, aw_error_t *error);

/** Reports a defect at the byte `at`, in the message frames[depth] of those that are open. item is
 * the tag that was read before it, NULL when the tag itself is wrong. Returns the defect's status.
 */
__attribute__((cold, noinline)) int aw__scan_report(const aw__frame_t *frames, unsigned depth,
                                                    const uint8_t *item, const uint8_t *at,
                                                    aw__defect_t defect, aw_error_t *error);

#endif
