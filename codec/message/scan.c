#include "codec/message/scan.h"

#include <assert.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"

/* Of a payload's fields, those below this number are kept. */
#define CAPTURE_NUMBERS 3u

/* What an envelope scan keeps on its way. */
typedef struct capture {
    aw_span_t entity_key;
    int64_t event_time_ms;
    uint32_t variant;                   /* the number of the payload that is set, 0 for none */
    uint32_t future_number;             /* as in aw_envelope_view_t */
    aw_span_t payload[CAPTURE_NUMBERS]; /* strings and bytes by number; 0 is external_event */
} capture_t;

/* An unknown field at the top with a number that a later schema may give to a variant. */
static inline void capture_unknown(capture_t *capture, uint32_t number)
{
    if (number > AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST && capture->future_number == 0) {
        capture->future_number = number;
    }
}

/* A varint at the top. */
static inline void capture_varint(capture_t *capture, uint32_t number, uint64_t value)
{
    if (number == AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS) {
        capture->event_time_ms = (int64_t)value;
    } else {
        capture_unknown(capture, number);
    }
}

/* A length-delimited value at the top. A payload of another variant starts afresh; the same one
 * again is merged into what is there. */
static inline void capture_top(capture_t *capture, uint32_t number, aw_span_t bytes)
{
    if (number == AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY) {
        capture->entity_key = bytes;
        return;
    }
    if (!aw__in_oneof(AW_MESSAGE_AGENT_ENVELOPE, number)) {
        capture_unknown(capture, number);
        return;
    }
    if (capture->variant != number) {
        capture->variant = number;
        for (size_t i = 0; i < CAPTURE_NUMBERS; i++) {
            capture->payload[i] = AW_SPAN_NULL;
        }
    }
    if (number == AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT) {
        capture->payload[0] = bytes;
    }
}

/* One of the first length-delimited values of the payload, in which no messages are nested. */
static inline void capture_payload(capture_t *capture, uint32_t number, char kind, aw_span_t bytes)
{
    if (kind == 's' || kind == 'b') {
        capture->payload[number] = bytes;
    }
}

/* Kinds that come single and repeated are the same letter, small and large. */
static inline char single(char kind)
{
    return (char)(kind | 0x20);
}

/* Passes over a string. It is looked at each time one comes, also if another one overwrites it
 * later. */
static inline aw__defect_t pass_string(aw__reader_t *reader, aw_span_t bytes)
{
    const size_t prefix = aw_utf8_prefix(bytes);
    reader->at += prefix;
    return prefix == bytes.size ? AW__DEFECT_NONE : AW__DEFECT_UTF8;
}

/* Pushes the frame of the message that a field of the frame below holds. */
static inline void enter(aw__frame_t *frames, unsigned depth, uint32_t number,
                         const aw__reader_t *message, const uint8_t *item)
{
    assert(depth < AW__FRAMES_MAX); /* the schema is not that deep */
    const aw_message_type_t type = (aw_message_type_t)aw__children[frames[depth - 1].type][number];
    frames[depth] = (aw__frame_t){type, number, message->at, message->end, item};
}

static aw__frame_t outermost(aw_message_type_t type, aw_span_t input)
{
    return (aw__frame_t){type, 0, input.data, input.data + input.size, NULL};
}

/* True when a field of this kind holds messages. */
static inline bool holds_messages(char kind)
{
    return single(kind) == 'm' || kind == 'P';
}

/* One loop over the message frames[base], of which those below hold the ones around. A message is
 * entered by pushing a frame and left at its last byte. Compiled once for each of its callers. */
__attribute__((always_inline)) static inline int scan_message(aw__frame_t *frames, unsigned base,
                                                              capture_t *capture, aw_error_t *error)
{
    aw__reader_t reader = {frames[base].begin, frames[base].end};
    unsigned depth = base;
    const char *kinds = aw__rows[frames[base].type].kinds;
    capture_t *top = capture; /* NULL below the outermost message */
    for (;;) {
        if (reader.at == reader.end) {
            if (depth == base) {
                return AW_OK;
            }
            depth--;
            reader.end = frames[depth].end;
            kinds = aw__rows[frames[depth].type].kinds;
            top = depth == 0 ? capture : NULL;
            continue;
        }
        const uint8_t *item = reader.at;
        uint32_t tag;
        aw__defect_t defect = aw__read_tag(&reader, &tag);
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, depth, NULL, reader.at, defect, error);
        }
        const uint32_t number = AW__TAG_NUMBER(tag);
        const char kind = number < AW__NUMBERS_MAX ? kinds[number] : '\0';
        if (AW__TAG_WIRE(tag) == AW__WIRE_BYTES) {
            aw_span_t bytes;
            defect = aw__read_length(&reader, &bytes.size);
            if (defect != AW__DEFECT_NONE) {
                return aw__scan_report(frames, depth, item, reader.at, defect, error);
            }
            bytes.data = reader.at;
            if (top != NULL) {
                capture_top(top, number, bytes);
            } else if (capture != NULL && number < CAPTURE_NUMBERS) {
                capture_payload(capture, number, kind, bytes);
            }
            if (holds_messages(kind)) {
                reader.end = reader.at + bytes.size;
                enter(frames, ++depth, number, &reader, item);
                kinds = aw__rows[frames[depth].type].kinds;
                top = NULL;
                continue;
            }
            if (single(kind) != 's') {
                reader.at += bytes.size;
                continue;
            }
            defect = pass_string(&reader, bytes);
        } else if (AW__TAG_WIRE(tag) == AW__WIRE_VARINT) {
            if (top != NULL) {
                uint64_t value = 0;
                defect = aw__read_varint(&reader, &value);
                capture_varint(top, number, value);
            } else {
                defect = aw__read_varint(&reader, NULL);
            }
        } else {
            defect = aw__skip_value(&reader, item, tag, depth);
            if (top != NULL) {
                capture_unknown(top, number);
            }
        }
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, depth, item, reader.at, defect, error);
        }
    }
}

int aw__scan(aw_message_type_t type, aw_span_t input, aw_error_t *error)
{
    if (input.size == 0) {
        return AW_OK;
    }
    if (input.size > AW__INPUT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    aw__frame_t frames[AW__FRAMES_MAX];
    frames[0] = outermost(type, input);
    return scan_message(frames, 0, NULL, error);
}

/* True when the schema has a field of this kind under this wire type. */
static bool is_known(char kind, uint32_t wire)
{
    return kind != '\0' && wire == aw__wire_of(kind);
}

/* Reads the value of a piece whose tag has been read, but for what is nested in it: a string and a
 * message are passed over unseen. */
static aw__defect_t read_value(aw__reader_t *reader, uint32_t tag, aw__piece_t *piece)
{
    aw__defect_t defect;
    switch (AW__TAG_WIRE(tag)) {
    case AW__WIRE_BYTES:
        defect = aw__read_length(reader, &piece->bytes.size);
        if (defect == AW__DEFECT_NONE) {
            piece->bytes.data = reader->at;
            reader->at += piece->bytes.size;
        }
        return defect;
    case AW__WIRE_VARINT:
        return aw__read_varint(reader, &piece->bits);
    default:
        return aw__skip_value(reader, piece->begin, tag, 0);
    }
}

aw__piece_t aw__next_piece(aw_message_type_t type, aw__reader_t *reader)
{
    aw__piece_t piece = {.begin = reader->at};
    uint32_t tag = 0;
    aw__defect_t defect = aw__read_tag(reader, &tag);
    if (defect == AW__DEFECT_NONE) {
        defect = read_value(reader, tag, &piece);
    }
    assert(defect == AW__DEFECT_NONE);
    const uint32_t number = AW__TAG_NUMBER(tag);
    piece.number = is_known(aw__kind(type, number), AW__TAG_WIRE(tag)) ? number : 0;
    piece.end = reader->at;
    return piece;
}

int aw__scan_pieces(aw_message_type_t type, aw_span_t input, aw__piece_fn *take, void *opaque,
                    aw_error_t *error)
{
    aw__frame_t frames[AW__FRAMES_MAX];
    if (input.size == 0) {
        return AW_OK;
    }
    if (input.size > AW__INPUT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    frames[0] = outermost(type, input);
    aw__reader_t reader = {frames[0].begin, frames[0].end};
    while (reader.at < reader.end) {
        aw__piece_t piece = {.begin = reader.at};
        uint32_t tag;
        aw__defect_t defect = aw__read_tag(&reader, &tag);
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, 0, NULL, reader.at, defect, error);
        }
        const uint32_t number = AW__TAG_NUMBER(tag);
        const char kind = aw__kind(type, number);
        const bool known = is_known(kind, AW__TAG_WIRE(tag));
        defect = read_value(&reader, tag, &piece);
        piece.number = known ? number : 0;
        piece.end = reader.at;
        if (defect == AW__DEFECT_NONE && known && single(kind) == 's') {
            reader.at = piece.bytes.data;
            defect = pass_string(&reader, piece.bytes);
        } else if (defect == AW__DEFECT_NONE && known && holds_messages(kind)) {
            const aw__reader_t inner = {piece.bytes.data, piece.end};
            enter(frames, 1, number, &inner, piece.begin);
            const int status = scan_message(frames, 1, NULL, error);
            if (status != AW_OK) {
                return status;
            }
        }
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, 0, piece.begin, reader.at, defect, error);
        }
        take(opaque, &piece);
    }
    return AW_OK;
}

/* What was captured, under the names that it has in the variant that was set at the end. */
static void write_view(const capture_t *capture, aw_envelope_view_t *ret_view)
{
    const aw_variant_t variant = (aw_variant_t)capture->variant;
    const aw_span_t *payload = capture->payload;
    const bool is_result = variant == AW_VARIANT_TOOL_RESULT;
    const bool is_answer = is_result || variant == AW_VARIANT_APPROVAL;
    const bool is_export = variant == AW_VARIANT_EXPORT_REQUEST;
    _Static_assert((int)AW_FIELD_TOOL_RESULT_INTENT_ID == (int)AW_FIELD_APPROVAL_INTENT_ID,
                   "both are kept in the same place");
    *ret_view = (aw_envelope_view_t){
        .entity_key = capture->entity_key,
        .event_time_ms = capture->event_time_ms,
        .variant = variant,
        .external_event = payload[0],
        .intent_id = is_answer ? payload[AW_FIELD_TOOL_RESULT_INTENT_ID] : AW_SPAN_NULL,
        .result_entity_key = is_result ? payload[AW_FIELD_TOOL_RESULT_ENTITY_KEY] : AW_SPAN_NULL,
        .request_id = is_export ? payload[AW_FIELD_STATE_EXPORT_REQUEST_REQUEST_ID] : AW_SPAN_NULL,
        .future_number = capture->future_number,
    };
}

int aw_envelope_scan(aw_span_t input, aw_envelope_view_t *ret_view, aw_error_t *error)
{
    capture_t capture = {.variant = 0};
    if (input.size > AW__INPUT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    if (input.size > 0) {
        if (input.data[0] == 0x00 && aw__is_framed(input)) {
            return aw__error_set(error, AW_STATUS_FRAMED_PAYLOAD, 0, NULL, NULL);
        }
        aw__frame_t frames[AW__FRAMES_MAX];
        frames[0] = outermost(AW_MESSAGE_AGENT_ENVELOPE, input);
        const int status = scan_message(frames, 0, &capture, error);
        if (status != AW_OK) {
            return status;
        }
    }
    write_view(&capture, ret_view);
    return AW_OK;
}

int aw_message_scan(aw_message_type_t type, aw_span_t input, aw_error_t *error)
{
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL, NULL);
    }
    return aw__scan(type, input, error);
}
