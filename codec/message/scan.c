#include "codec/message/scan.h"

#include <assert.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"

/* An unknown field at the top with a number that a later schema may give to a variant. */
static void capture_unknown(aw__capture_t *capture, uint32_t number) {
    if (number > AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST && capture->view.future_number == 0) {
        capture->view.future_number = number;
    }
}

/* Another variant starts afresh; the same one again is merged into what is there. */
static void capture_variant(aw__capture_t *capture, uint32_t number) {
    if ((uint32_t)capture->view.variant != number) {
        capture->view.variant = (aw_variant_t)number;
        capture->view.external_event = AW_SPAN_NULL;
        memset(capture->payload, 0, sizeof capture->payload);
    }
}

/* A length-delimited field of the schema, at the top (depth 0) or in the payload (depth 1). */
static inline void capture_bytes(aw__capture_t *capture, unsigned depth, uint32_t number,
                                 aw_span_t bytes) {
    if (depth > 0) {
        if (number < sizeof capture->payload / sizeof capture->payload[0]) {
            capture->payload[number] = bytes;
        }
    } else if (number == AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY) {
        capture->view.entity_key = bytes;
    } else {
        capture_variant(capture, number);
        if (number == AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT) {
            capture->view.external_event = bytes;
        }
    }
}

/* Reads a varint, and keeps it where it is the envelope's time. */
static inline aw__defect_t scan_varint(aw__reader_t *reader, uint32_t number, unsigned depth,
                                       aw__capture_t *capture) {
    uint64_t value;
    aw__defect_t defect = aw__read_varint(reader, &value);
    if (defect == AW__DEFECT_NONE && capture != NULL && depth == 0) {
        if (number == AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS) {
            capture->view.event_time_ms = (int64_t)value;
        } else {
            capture_unknown(capture, number);
        }
    }
    return defect;
}

/* Reads a length-delimited value: passes over it, or sets *ret_enter when it is a message to be
 * entered. ret_value gets the value's bytes. */
static inline aw__defect_t scan_bytes(aw__reader_t *reader, char kind, aw_span_t *ret_value,
                                      bool *ret_enter) {
    size_t length;
    aw__defect_t defect = aw__read_length(reader, &length);
    if (defect != AW__DEFECT_NONE) {
        return defect;
    }
    *ret_value = (aw_span_t){reader->at, length};
    switch (kind) {
    case 's':
    case 'S': {
        size_t prefix = aw_utf8_prefix(*ret_value);
        if (prefix != length) {
            reader->at += prefix;
            return AW__DEFECT_UTF8;
        }
        break;
    }
    case 'm':
    case 'M':
    case 'P':
        *ret_enter = true;
        return AW__DEFECT_NONE;
    default:
        break;
    }
    reader->at += length;
    return AW__DEFECT_NONE;
}

/* Whether a length-delimited value fits a field of this kind. */
static inline bool takes_bytes(char kind) {
    switch (kind) {
    case 's':
    case 'S':
    case 'b':
    case 'm':
    case 'M':
    case 'P':
        return true;
    default:
        return false;
    }
}

static int scan_all(aw__frame_t *frames, aw__capture_t *capture, aw_error_t *error) {
    aw__reader_t reader = {frames[0].begin, frames[0].end};
    aw_message_type_t type = frames[0].type;
    unsigned depth = 0;
    for (;;) {
        if (reader.at == reader.end) {
            if (depth == 0) {
                return AW_OK;
            }
            depth--;
            reader.end = frames[depth].end;
            type = frames[depth].type;
            continue;
        }
        const uint8_t *item = reader.at;
        uint32_t tag;
        aw__defect_t defect = aw__read_tag(&reader, &tag);
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, depth, NULL, reader.at, defect, error);
        }
        uint32_t number = AW__TAG_NUMBER(tag);
        if (AW__TAG_WIRE(tag) == AW__WIRE_VARINT) {
            defect = scan_varint(&reader, number, depth, capture);
        } else if (AW__TAG_WIRE(tag) == AW__WIRE_BYTES) {
            char kind = aw__kind(type, number);
            aw_span_t value;
            bool enter = false;
            defect = scan_bytes(&reader, kind, &value, &enter);
            if (defect == AW__DEFECT_NONE && capture != NULL) {
                if (takes_bytes(kind)) {
                    capture_bytes(capture, depth, number, value);
                } else if (depth == 0) {
                    capture_unknown(capture, number);
                }
            }
            if (enter) {
                depth++;
                assert(depth < AW__FRAMES_MAX); /* the schema is not that deep */
                reader.end = reader.at + value.size;
                type = (aw_message_type_t)aw__children[type][number];
                frames[depth] = (aw__frame_t){type, number, reader.at, reader.end, item};
            }
        } else {
            defect = aw__skip_value(&reader, item, tag, depth);
            if (capture != NULL && depth == 0) {
                capture_unknown(capture, number);
            }
        }
        if (defect != AW__DEFECT_NONE) {
            return aw__scan_report(frames, depth, item, reader.at, defect, error);
        }
    }
}

int aw__scan(aw_message_type_t type, aw_span_t input, aw__capture_t *capture, aw_error_t *error) {
    if (input.size > AW__INPUT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    if (input.size == 0) {
        return AW_OK;
    }
    aw__frame_t frames[AW__FRAMES_MAX];
    frames[0] = (aw__frame_t){type, 0, input.data, input.data + input.size, NULL};
    return scan_all(frames, capture, error);
}

int aw_message_scan(aw_message_type_t type, aw_span_t input, aw_error_t *error) {
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL, NULL);
    }
    return aw__scan(type, input, NULL, error);
}
