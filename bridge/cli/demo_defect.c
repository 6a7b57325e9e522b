#include "bridge/cli/demo_defect.h"

#include <assert.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

static void spoil_tombstone(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    (void)maker;
    draft->value = AW_SPAN_NULL;
}

/* Above the configuration's max_value. */
#define OVERSIZED_BYTES 20000u

static void spoil_size(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    uint8_t *event = ab_demo_take(maker, OVERSIZED_BYTES);
    if (event != NULL) {
        memset(event, 'x', OVERSIZED_BYTES);
        draft->value = ab_demo_event_value(maker, draft, aw_span_view(event, OVERSIZED_BYTES));
    }
}

static void spoil_end(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    (void)maker;
    draft->value.size -= 3;
}

static void spoil_length(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_join(maker, draft->value, AB_DEMO_RAW("\x1a\x7f short"));
}

static void spoil_varint(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_join(maker, draft->value,
                                AB_DEMO_RAW("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

static void spoil_tag(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_join(maker, draft->value, AB_DEMO_RAW("\x02\x01x")); /* field number 0 */
}

static void spoil_wire_type(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_join(maker, draft->value, AB_DEMO_RAW("\x0f"));
}

static void spoil_group(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value =
        ab_demo_join(maker, draft->value, AB_DEMO_RAW("\x4c")); /* an end without a start */
}

/* A producer that writes JSON to a topic of protobuf: its second quote reads as a length of 101. */
static void spoil_format(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_print(maker, "{\"entity_key\":\"acct-07\",\"n\":%zu}", draft->number);
}

/* Latin-1 in a string: the two bytes of an e with an accent become one that UTF-8 does not have. */
static void spoil_text(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    const ab_demo_result_t parts = {.intent_id = ab_demo_intent(maker, draft),
                                    .error_message = AB_DEMO_RAW("no such table: caf?s")};
    draft->value = ab_demo_result_value(maker, draft, &parts);
    if (!maker->failed) {
        *(uint8_t *)memchr(draft->value.data, '?', draft->value.size) = 0xe9;
    }
}

static void spoil_framing(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_join(maker, AB_DEMO_RAW("\x00\x00\x00\x00\x2a"), draft->value);
}

static void spoil_variant(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    aw_builder_t envelope;
    ab_demo_envelope_begin(maker, draft, &envelope);
    /* field 7, of a version that is not written yet */
    draft->value = ab_demo_join(maker, ab_demo_encode(maker, &envelope),
                                AB_DEMO_RAW("\x3a\x06\x0a\x04"
                                            "beat"));
}

static void spoil_payload(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    aw_builder_t envelope;
    ab_demo_envelope_begin(maker, draft, &envelope);
    draft->value = ab_demo_encode(maker, &envelope);
}

/* Zero bytes are a well-formed envelope that says nothing. */
static void spoil_all(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    (void)maker;
    draft->value = AB_DEMO_RAW("");
    draft->entity_key = AB_DEMO_RAW("");
    draft->event_time_ms = 0;
}

/* A producer that forgot the envelope: intent_id stands where an envelope has its entity_key. */
static void spoil_envelope(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    const ab_demo_result_t parts = {.intent_id = ab_demo_intent(maker, draft),
                                    .entity_key = draft->entity_key};
    aw_builder_t result;
    ab_demo_result_begin(maker, draft, &parts, &result);
    draft->value = ab_demo_encode(maker, &result);
    draft->entity_key = parts.intent_id;
    draft->event_time_ms = 0;
}

static void spoil_entity_key(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->entity_key = AB_DEMO_RAW("");
    draft->value = ab_demo_value(maker, draft);
}

static void spoil_record_key(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    (void)maker;
    draft->record_key = AB_DEMO_RAW("somebody-else");
}

static void spoil_result_key(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    const ab_demo_result_t parts = {.intent_id = ab_demo_intent(maker, draft),
                                    .entity_key = AB_DEMO_RAW("somebody-else")};
    draft->value = ab_demo_result_value(maker, draft, &parts);
}

static void spoil_result_intent(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    const ab_demo_result_t parts = {.entity_key = draft->entity_key};
    draft->value = ab_demo_result_value(maker, draft, &parts);
}

static void spoil_approval_intent(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    draft->value = ab_demo_approval_value(maker, draft, AW_SPAN_NULL);
}

static void spoil_hops(ab_demo_maker_t *maker, ab_demo_draft_t *draft)
{
    static const ab_header_t headers[] = {AB_DEMO_HEADER("tag", "a"),
                                          AB_DEMO_HEADER(AB_HEADER_HOPS, "4")};
    (void)maker;
    draft->headers = headers;
    draft->header_count = sizeof(headers) / sizeof(headers[0]);
}

static const ab_demo_defect_t defects[AB_DEMO_DEFECT_COUNT] = {
    {AB_REASON_TOMBSTONE, AB_SLOT_EXTERNAL_EVENT, true, spoil_tombstone},
    {AB_REASON_OVERSIZED, AB_SLOT_EXTERNAL_EVENT, true, spoil_size},
    {AB_REASON_DECODE_TRUNCATED, AB_SLOT_TOOL_RESULT, true, spoil_end},
    {AB_REASON_DECODE_TRUNCATED, AB_SLOT_APPROVAL, true, spoil_length},
    {AB_REASON_DECODE_VARINT, AB_SLOT_EXTERNAL_EVENT, true, spoil_varint},
    {AB_REASON_DECODE_BAD_TAG, AB_SLOT_EXPORT_REQUEST, true, spoil_tag},
    {AB_REASON_DECODE_WIRE_TYPE, AB_SLOT_APPROVAL, true, spoil_wire_type},
    {AB_REASON_DECODE_GROUP, AB_SLOT_APPROVAL, true, spoil_group},
    {AB_REASON_DECODE_TRUNCATED, AB_SLOT_EXTERNAL_EVENT, true, spoil_format},
    {AB_REASON_INVALID_UTF8, AB_SLOT_TOOL_RESULT, true, spoil_text},
    {AB_REASON_FRAMED_PAYLOAD, AB_SLOT_TOOL_RESULT, true, spoil_framing},
    {AB_REASON_UNKNOWN_VARIANT, AB_SLOT_EXTERNAL_EVENT, false, spoil_variant},
    {AB_REASON_PAYLOAD_NOT_SET, AB_SLOT_EXTERNAL_EVENT, false, spoil_payload},
    {AB_REASON_PAYLOAD_NOT_SET, AB_SLOT_EXTERNAL_EVENT, false, spoil_all},
    {AB_REASON_PAYLOAD_NOT_SET, AB_SLOT_TOOL_RESULT, false, spoil_envelope},
    {AB_REASON_MISSING_ENTITY_KEY, AB_SLOT_EXTERNAL_EVENT, false, spoil_entity_key},
    {AB_REASON_KEY_MISMATCH, AB_SLOT_EXTERNAL_EVENT, false, spoil_record_key},
    {AB_REASON_KEY_MISMATCH, AB_SLOT_TOOL_RESULT, false, spoil_result_key},
    {AB_REASON_MISSING_INTENT_ID, AB_SLOT_TOOL_RESULT, false, spoil_result_intent},
    {AB_REASON_MISSING_INTENT_ID, AB_SLOT_APPROVAL, false, spoil_approval_intent},
    {AB_REASON_HOP_LIMIT, AB_SLOT_APPROVAL, false, spoil_hops},
};

const ab_demo_defect_t *ab_demo_defect_view(size_t index)
{
    assert(index < AB_DEMO_DEFECT_COUNT);
    return &defects[index];
}
