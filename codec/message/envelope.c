#include "agentwire/envelope.h"

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
    return aw__scan(AW_MESSAGE_AGENT_ENVELOPE, rest, NULL) == AW_OK;
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
bool aw__is_framed(aw_span_t input)
{
    enum { HEADER = 5 };
    if (input.size < HEADER) {
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

bool aw_envelope_looks_like_result(aw_span_t input)
{
    if (aw__scan(AW_MESSAGE_TOOL_RESULT, input, NULL) != AW_OK) {
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
        if (AW__TAG_WIRE(tag) != aw__wire_of(in_result)) {
            return false;
        }
        if (number == AW_FIELD_TOOL_RESULT_INTENT_ID) {
            size_t length;
            named = aw__read_length(&value, &length) == AW__DEFECT_NONE && length > 0;
        }
        own = own || in_envelope == '\0' || aw__wire_of(in_envelope) != aw__wire_of(in_result);
    }
    return named && own;
}
