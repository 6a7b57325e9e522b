#include "agentwire/envelope.h"

#include "codec/base/error.h"
#include "codec/message/scan.h"

const char *aw_variant_name(aw_variant_t variant)
{
    const char *name = NULL;
    if (aw__in_oneof(AW_MESSAGE_AGENT_ENVELOPE, (uint32_t)variant)) {
        name = aw__field_name(AW_MESSAGE_AGENT_ENVELOPE, (uint32_t)variant);
    }
    return name != NULL ? name : "none";
}

/* The bytes from `from` on, when they are an envelope. */
static bool scans_from(aw_span_t input, size_t from)
{
    aw_span_t rest = {input.data + from, input.size - from};
    return aw__scan(AW_MESSAGE_AGENT_ENVELOPE, rest, NULL, NULL) == AW_OK;
}

/* A list of message indexes, as registries write it behind the schema's id: zigzag varints, a count
 * and then so many. */
static bool scans_behind_indexes(aw_span_t input, size_t from)
{
    aw__reader_t reader = {input.data + from, input.data + input.size};
    uint64_t zigzag;
    if (aw__read_varint(&reader, &zigzag) != AW__DEFECT_NONE || zigzag % 2 != 0 || zigzag == 0 ||
        zigzag / 2 > AW__FRAMING_INDEXES_MAX) {
        return false;
    }
    for (uint64_t left = zigzag / 2; left > 0; left--) {
        uint64_t index;
        if (aw__read_varint(&reader, &index) != AW__DEFECT_NONE) {
            return false;
        }
    }
    return scans_from(input, (size_t)(reader.at - input.data));
}

/* An envelope behind a schema-registry header: 0x00, a four-byte id, then at once the message, or a
 * 0x00 that stands for the list "first message", or a list. No envelope begins with 0x00. */
__attribute__((cold, noinline)) static bool is_framed(aw_span_t input)
{
    enum { HEADER = 5 };
    if (input.size < HEADER || input.size > AW__INPUT_MAX) {
        return false;
    }
    if (scans_from(input, HEADER)) {
        return true;
    }
    if (input.size > HEADER && input.data[HEADER] == 0x00) {
        return scans_from(input, HEADER + 1);
    }
    return scans_behind_indexes(input, HEADER);
}

/* What was captured, under the names that it has in the variant that was set at the end. */
static void write_view(const aw__capture_t *capture, aw_envelope_view_t *ret_view)
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
    if (input.size > 0 && input.data[0] == 0x00 && is_framed(input)) {
        return aw__error_set(error, AW_STATUS_FRAMED_PAYLOAD, 0, NULL, NULL);
    }
    aw__capture_t capture = {.variant = 0};
    int status = aw__scan(AW_MESSAGE_AGENT_ENVELOPE, input, &capture, error);
    if (status == AW_OK) {
        write_view(&capture, ret_view);
    }
    return status;
}

/* The wire type that a field of this kind has. */
static aw__wire_t wire_of(char kind)
{
    return strchr("iute", kind) != NULL ? AW__WIRE_VARINT : AW__WIRE_BYTES;
}

bool aw_envelope_looks_like_result(aw_span_t input)
{
    if (aw__scan(AW_MESSAGE_TOOL_RESULT, input, NULL, NULL) != AW_OK) {
        return false;
    }
    /* Fields 1, 5 and 6 have the same wire type in both messages. One of the others in the
     * result's, and none in any but the result's, tells the two apart. */
    aw__reader_t reader = {input.data, input.data + input.size};
    bool named = false;
    bool own = false;
    while (reader.at < reader.end) {
        const uint8_t *item = reader.at;
        uint32_t tag;
        if (aw__read_tag(&reader, &tag) != AW__DEFECT_NONE) {
            return false;
        }
        aw__reader_t value = reader;
        if (aw__skip_value(&reader, item, tag, 0) != AW__DEFECT_NONE) {
            return false;
        }
        uint32_t number = AW__TAG_NUMBER(tag);
        char in_result = aw__kind(AW_MESSAGE_TOOL_RESULT, number);
        char in_envelope = aw__kind(AW_MESSAGE_AGENT_ENVELOPE, number);
        if (in_result == '\0') {
            continue;
        }
        if (AW__TAG_WIRE(tag) != wire_of(in_result)) {
            return false;
        }
        if (number == AW_FIELD_TOOL_RESULT_INTENT_ID) {
            size_t length;
            named = aw__read_length(&value, &length) == AW__DEFECT_NONE && length > 0;
        }
        own = own || in_envelope == '\0' || wire_of(in_envelope) != wire_of(in_result);
    }
    return named && own;
}
