#include "codec/message/scan.h"

#include <assert.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"

/* An unknown field at the top with a number that a later schema may give to a variant. */
static inline void capture_unknown(aw__capture_t *capture, uint32_t number)
{
    if (number > AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST && capture->future_number == 0) {
        capture->future_number = number;
    }
}

/* A varint at the top. */
static inline void capture_varint(aw__capture_t *capture, uint32_t number, uint64_t value)
{
    if (number == AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS) {
        capture->event_time_ms = (int64_t)value;
    } else {
        capture_unknown(capture, number);
    }
}

/* A length-delimited value at the top. A payload of another variant starts afresh; the same one
 * again is merged into what is there. */
static inline void capture_top(aw__capture_t *capture, uint32_t number, aw_span_t bytes)
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
        for (size_t i = 0; i < AW__CAPTURE_NUMBERS; i++) {
            capture->payload[i] = AW_SPAN_NULL;
        }
    }
    if (number == AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT) {
        capture->payload[0] = bytes;
    }
}

/* One of the first length-delimited values of the payload, in which no messages are nested. */
static inline void capture_payload(aw__capture_t *capture, uint32_t number, char kind,
                                   aw_span_t bytes)
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

/* Passes over a length-delimited value that is no message. A string is looked at here, each time
 * one comes, also if another one overwrites it later. */
static inline aw__defect_t pass_bytes(aw__reader_t *reader, char kind, aw_span_t bytes)
{
    if (single(kind) == 's') {
        const size_t prefix = aw_utf8_prefix(bytes);
        if (prefix != bytes.size) {
            reader->at += prefix;
            return AW__DEFECT_UTF8;
        }
    }
    reader->at += bytes.size;
    return AW__DEFECT_NONE;
}

/* Pushes the frame of the message that a field of the frame below holds. */
static inline void enter(aw__frame_t *frames, unsigned depth, uint32_t number,
                         const aw__reader_t *message, const uint8_t *item)
{
    assert(depth < AW__FRAMES_MAX); /* the schema is not that deep */
    const aw_message_type_t type = (aw_message_type_t)aw__children[frames[depth - 1].type][number];
    frames[depth] = (aw__frame_t){type, number, message->at, message->end, item};
}

/* One loop. A message is entered by pushing a frame and left at its last byte. */
int aw__scan(aw_message_type_t type, aw_span_t input, aw__capture_t *capture, aw_error_t *error)
{
    if (input.size == 0 || input.size > AW__INPUT_MAX) {
        return input.size == 0 ? AW_OK : aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    aw__reader_t reader = {input.data, input.data + input.size};
    aw__frame_t frames[AW__FRAMES_MAX];
    frames[0] = (aw__frame_t){type, 0, reader.at, reader.end, NULL};
    unsigned depth = 0;
    const char *kinds = aw__rows[type].kinds;
    aw__capture_t *top = capture; /* NULL below the outermost message */
    for (;;) {
        if (reader.at == reader.end) {
            if (depth == 0) {
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
            } else if (capture != NULL && number < AW__CAPTURE_NUMBERS) {
                capture_payload(capture, number, kind, bytes);
            }
            if (single(kind) == 'm' || kind == 'P') {
                reader.end = reader.at + bytes.size;
                enter(frames, ++depth, number, &reader, item);
                kinds = aw__rows[frames[depth].type].kinds;
                top = NULL;
                continue;
            }
            defect = pass_bytes(&reader, kind, bytes);
        } else if (AW__TAG_WIRE(tag) == AW__WIRE_VARINT) {
            uint64_t value = 0;
            defect = aw__read_varint(&reader, &value);
            if (top != NULL) {
                capture_varint(top, number, value);
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

int aw_message_scan(aw_message_type_t type, aw_span_t input, aw_error_t *error)
{
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL, NULL);
    }
    return aw__scan(type, input, NULL, error);
}
