#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/verdict.h"
#include "tests/unit/core/wire.h"

#define KEY        "user-42"
#define EVENT_TIME 1700000000000

static const ab_policy_t POLICY = {
    .topic = "agents.in",
    .routes = {{AB_ROUTE_TOPIC, "agents.events"},
               {AB_ROUTE_TOPIC, "agents.results"},
               {AB_ROUTE_TOPIC, "agents.approvals"},
               {AB_ROUTE_TOPIC, "agents.exports"},
               {AB_ROUTE_DEAD_LETTER, NULL}},
    .max_value_bytes = 1000,
    .max_hops = 3,
    .errors_topic = "agents.in.errors",
};

static ab_record_t record_of(aw_span_t value)
{
    return (ab_record_t){.topic = "agents.in",
                         .partition = 3,
                         .offset = 1042,
                         .timestamp_ms = 1700000000500,
                         .timestamp_type = AB_TIMESTAMP_CREATE,
                         .key = aw_span_text_view(KEY),
                         .value = value};
}

/** An envelope with key and time, and no payload. */
static wire_t empty_envelope(void)
{
    wire_t wire = {.size = 0};

    wire_text(&wire, 1, KEY);
    wire_number(&wire, 2, EVENT_TIME);
    return wire;
}

/** The same with one payload. */
static wire_t envelope(uint32_t field, const wire_t *payload)
{
    wire_t wire = empty_envelope();

    wire_message(&wire, field, payload);
    return wire;
}

static wire_t payload_text(uint32_t field, const char *text)
{
    wire_t wire = {.size = 0};

    wire_text(&wire, field, text);
    return wire;
}

static wire_t event_envelope(void)
{
    wire_t payload = {.data = "anything", .size = 8};

    return envelope(3, &payload);
}

static ab_verdict_t judge(const ab_record_t *record, const ab_policy_t *policy)
{
    ab_verdict_t verdict;

    memset(&verdict, 0xa5, sizeof(verdict));
    assert_int_equal(ab_verdict_of(record, policy, NULL, &verdict), AW_OK);
    return verdict;
}

static void assert_routed(const ab_verdict_t *verdict, const char *topic)
{
    assert_int_equal(verdict->outcome, AB_OUTCOME_ROUTED);
    assert_string_equal(verdict->topic, topic);
    assert_int_equal(verdict->reason, AB_REASON_NONE);
    assert_int_equal(verdict->at, -1);
    assert_string_equal(verdict->field, "");
    assert_string_equal(verdict->text, "");
    assert_true(aw_span_equal(verdict->entity_key, aw_span_text_view(KEY)));
    assert_int_equal(verdict->event_time_ms, EVENT_TIME);
}

static void assert_dead(const ab_verdict_t *verdict, ab_reason_t reason, int64_t at,
                        const char *field)
{
    assert_int_equal(verdict->outcome, AB_OUTCOME_DEAD_LETTERED);
    assert_string_equal(ab_reason_code(verdict->reason), ab_reason_code(reason));
    assert_int_equal(verdict->at, at);
    assert_string_equal(verdict->field, field);
    assert_null(verdict->topic);
    assert_true(strlen(verdict->text) > 0);
}

static void assert_from_record(const ab_verdict_t *verdict, const ab_record_t *record)
{
    assert_ptr_equal(verdict->entity_key.data, record->key.data);
    assert_int_equal(verdict->event_time_ms, record->timestamp_ms);
    assert_int_equal(verdict->variant, AW_VARIANT_NONE);
}

static void test_verdict_each_variant_takes_its_route(void **state)
{
    static const struct {
        uint32_t field;
        aw_variant_t variant;
        const char *topic;
    } variants[] = {
        {3, AW_VARIANT_EXTERNAL_EVENT, "agents.events"},
        {4, AW_VARIANT_TOOL_RESULT, "agents.results"},
        {5, AW_VARIANT_APPROVAL, "agents.approvals"},
        {6, AW_VARIANT_EXPORT_REQUEST, "agents.exports"},
    };
    wire_t payload = payload_text(1, "intent-1");

    (void)state;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        wire_t wire = envelope(variants[i].field, &payload);
        ab_record_t record = record_of(wire_view(&wire));
        ab_verdict_t verdict = judge(&record, &POLICY);

        assert_routed(&verdict, variants[i].topic);
        assert_int_equal(verdict.variant, variants[i].variant);
        assert_false(verdict.keyless);
    }
}

static void test_verdict_tombstone_is_dead_lettered_or_dropped(void **state)
{
    ab_record_t record = record_of(AW_SPAN_NULL);
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict = judge(&record, &policy);

    (void)state;
    assert_dead(&verdict, AB_REASON_TOMBSTONE, -1, "");
    assert_from_record(&verdict, &record);
    policy.tombstone_drop = true;
    verdict = judge(&record, &policy);
    assert_int_equal(verdict.outcome, AB_OUTCOME_DROPPED);
    assert_int_equal(verdict.reason, AB_REASON_TOMBSTONE);
}

static void test_verdict_empty_value_has_no_payload(void **state)
{
    ab_record_t record = record_of(aw_span_view("", 0));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict;

    (void)state;
    policy.tombstone_drop = true;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_PAYLOAD_NOT_SET, -1, "");
    /* The envelope was read: what it does not hold is not made up from the record. */
    assert_int_equal(verdict.entity_key.size, 0);
    assert_int_equal(verdict.event_time_ms, 0);
}

static void test_verdict_max_value_is_the_last_size_that_passes(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict;

    (void)state;
    policy.max_value_bytes = wire.size;
    verdict = judge(&record, &policy);
    assert_routed(&verdict, "agents.events");
    policy.max_value_bytes = wire.size - 1;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_OVERSIZED, -1, "");
    assert_from_record(&verdict, &record);
}

static void test_verdict_refused_bytes_tell_where_and_take_nothing(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        ab_reason_t reason;
        int64_t at;
        const char *field;
        const char *text;
    } cases[] = {
        {"\x0a\x01k\x22\x02\x0a\x05", 7, AB_REASON_DECODE_TRUNCATED, 6, "tool_result.intent_id",
         "length runs past the end"},
        {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, AB_REASON_DECODE_VARINT, 1,
         "event_time_ms", "varint is longer than ten bytes"},
        {"\x0a\x01k\x00\x00", 5, AB_REASON_DECODE_BAD_TAG, 3, "", "field number is 0"},
        {"\x0a\x01k\x0e", 4, AB_REASON_DECODE_WIRE_TYPE, 3, "entity_key", "wire type is 6 or 7"},
        {"\x0a\x01k\x4c", 4, AB_REASON_DECODE_GROUP, 3, "#9", "group ends without a start"},
        {"\x0a\x01k\x22\x03\x0a\x01\xff", 8, AB_REASON_INVALID_UTF8, 7, "tool_result.intent_id",
         "string holds ill-formed UTF-8"},
        {"\x00\x00\x00\x00\x07\x0a\x01k\x2a\x00", 10, AB_REASON_FRAMED_PAYLOAD, 0, "",
         "the bytes are an envelope behind a schema-registry header"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ab_record_t record = record_of(aw_span_view(cases[i].bytes, cases[i].size));
        ab_verdict_t verdict = judge(&record, &POLICY);

        assert_dead(&verdict, cases[i].reason, cases[i].at, cases[i].field);
        assert_string_equal(verdict.text, cases[i].text);
        assert_from_record(&verdict, &record);
    }
}

static void test_verdict_record_without_timestamp_has_event_time_zero(void **state)
{
    ab_record_t record = record_of(AW_SPAN_NULL);

    (void)state;
    record.timestamp_type = AB_TIMESTAMP_NONE;
    record.timestamp_ms = -1;
    assert_int_equal(judge(&record, &POLICY).event_time_ms, 0);
}

static void test_verdict_future_variant_goes_where_the_policy_says(void **state)
{
    wire_t payload = payload_text(1, "x");
    wire_t wire = envelope(99, &payload);
    ab_record_t record = record_of(wire_view(&wire));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict = judge(&record, &policy);

    (void)state;
    assert_dead(&verdict, AB_REASON_UNKNOWN_VARIANT, -1, "#99");
    assert_true(aw_span_equal(verdict.entity_key, aw_span_text_view(KEY)));
    assert_int_equal(verdict.event_time_ms, EVENT_TIME);
    policy.routes[AB_SLOT_UNKNOWN_VARIANT] = (ab_route_t){AB_ROUTE_TOPIC, "agents.future"};
    verdict = judge(&record, &policy);
    assert_routed(&verdict, "agents.future");
    assert_int_equal(verdict.variant, AW_VARIANT_NONE);
    /* A route of its own does not spare it the later checks. */
    record.key = aw_span_text_view("other");
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "entity_key");
    record.key = aw_span_text_view(KEY);
    policy.routes[AB_SLOT_UNKNOWN_VARIANT] = (ab_route_t){AB_ROUTE_DROP, NULL};
    assert_int_equal(judge(&record, &policy).outcome, AB_OUTCOME_DROPPED);
}

static void test_verdict_known_number_of_another_wire_type_is_no_future_variant(void **state)
{
    wire_t wire = empty_envelope();
    ab_record_t record;
    ab_verdict_t verdict;

    (void)state;
    wire_number(&wire, 5, 1);
    record = record_of(wire_view(&wire));
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_PAYLOAD_NOT_SET, -1, "");
}

static void test_verdict_empty_entity_key_is_missing(void **state)
{
    wire_t wire = {.size = 0};
    ab_record_t record;
    ab_verdict_t verdict;

    (void)state;
    wire_text(&wire, 3, "event");
    record = record_of(wire_view(&wire));
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_MISSING_ENTITY_KEY, -1, "entity_key");
    record.key = aw_span_view("", 0);
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_MISSING_ENTITY_KEY, -1, "entity_key");
}

static void test_verdict_other_record_key_is_a_mismatch_unless_ignored(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict;

    (void)state;
    record.key = aw_span_text_view("user-43");
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "entity_key");
    assert_true(aw_span_equal(verdict.entity_key, aw_span_text_view(KEY)));
    policy.key_mismatch_ignore = true;
    verdict = judge(&record, &policy);
    assert_routed(&verdict, "agents.events");
}

static void test_verdict_empty_record_key_is_there_and_differs(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_verdict_t verdict;

    (void)state;
    record.key = aw_span_view("", 0);
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "entity_key");
}

static void test_verdict_bare_result_does_not_pass_an_ignored_mismatch(void **state)
{
    /* A ToolResult: its intent_id reads as an envelope's entity_key, its payload as an approval. */
    wire_t wire = {.size = 0};
    wire_t approval = payload_text(1, "intent-1");
    ab_policy_t policy = POLICY;
    ab_record_t record;
    ab_verdict_t verdict;

    (void)state;
    wire_text(&wire, 1, "intent-7");
    wire_text(&wire, 2, KEY);
    wire_number(&wire, 4, 1);
    wire_message(&wire, 5, &approval);
    record = record_of(wire_view(&wire));
    policy.key_mismatch_ignore = true;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "entity_key");
    assert_non_null(strstr(verdict.text, "bare ToolResult"));
}

static void test_verdict_null_key_is_accepted_and_marked_unless_refused(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict;

    (void)state;
    record.key = AW_SPAN_NULL;
    verdict = judge(&record, &policy);
    assert_routed(&verdict, "agents.events");
    assert_true(verdict.keyless);
    policy.null_key_dead_letter = true;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_MISSING_RECORD_KEY, -1, "");
    assert_false(verdict.keyless);
}

static void test_verdict_result_or_approval_needs_an_intent_id(void **state)
{
    wire_t payload = payload_text(3, "someone");
    wire_t wire = envelope(5, &payload);
    ab_record_t record = record_of(wire_view(&wire));
    ab_verdict_t verdict = judge(&record, &POLICY);

    (void)state;
    assert_dead(&verdict, AB_REASON_MISSING_INTENT_ID, -1, "approval.intent_id");
    payload = payload_text(2, KEY);
    wire = envelope(4, &payload);
    record = record_of(wire_view(&wire));
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_MISSING_INTENT_ID, -1, "tool_result.intent_id");
    payload = payload_text(1, "");
    wire = envelope(6, &payload);
    record = record_of(wire_view(&wire));
    verdict = judge(&record, &POLICY);
    assert_routed(&verdict, "agents.exports");
}

static void test_verdict_result_of_another_entity_is_a_mismatch_always(void **state)
{
    wire_t payload = payload_text(1, "intent-1");
    wire_t wire;
    ab_policy_t policy = POLICY;
    ab_record_t record;
    ab_verdict_t verdict;

    (void)state;
    wire_text(&payload, 2, "user-43");
    wire = envelope(4, &payload);
    record = record_of(wire_view(&wire));
    policy.key_mismatch_ignore = true;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "tool_result.entity_key");
    payload = payload_text(1, "intent-1");
    wire_text(&payload, 2, KEY);
    wire = envelope(4, &payload);
    record = record_of(wire_view(&wire));
    verdict = judge(&record, &policy);
    assert_routed(&verdict, "agents.results");
}

static void test_verdict_max_hops_is_the_last_count_that_passes(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_verdict_t verdict;

    (void)state;
    record.hops = 3;
    verdict = judge(&record, &POLICY);
    assert_routed(&verdict, "agents.events");
    record.hops = 4;
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_HOP_LIMIT, -1, "");
    record.hops = UINT32_MAX;
    verdict = judge(&record, &POLICY);
    assert_dead(&verdict, AB_REASON_HOP_LIMIT, -1, "");
}

static void test_verdict_route_may_refuse_or_drop(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_policy_t policy = POLICY;
    ab_verdict_t verdict;

    (void)state;
    policy.routes[AB_SLOT_EXTERNAL_EVENT] = (ab_route_t){AB_ROUTE_DEAD_LETTER, NULL};
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_ROUTE_REFUSED, -1, "external_event");
    policy.routes[AB_SLOT_EXTERNAL_EVENT] = (ab_route_t){AB_ROUTE_DROP, NULL};
    verdict = judge(&record, &policy);
    assert_int_equal(verdict.outcome, AB_OUTCOME_DROPPED);
    assert_int_equal(verdict.reason, AB_REASON_NONE);
}

static void test_verdict_earlier_check_decides(void **state)
{
    /* Everything is wrong at once; mended one by one, the checks come out in their order. */
    wire_t wire = {.size = 0};
    ab_policy_t policy = POLICY;
    ab_record_t record = record_of(AW_SPAN_NULL);
    ab_verdict_t verdict;
    wire_t approval = payload_text(3, "someone");

    (void)state;
    policy.routes[AB_SLOT_APPROVAL] = (ab_route_t){AB_ROUTE_DEAD_LETTER, NULL};
    policy.max_value_bytes = 0;
    record.hops = 9;
    record.key = aw_span_text_view("other");
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_TOMBSTONE, -1, "");
    record.value = aw_span_view("\xff", 1);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_OVERSIZED, -1, "");
    policy.max_value_bytes = 1000;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_DECODE_TRUNCATED, 0, "");
    record.value = aw_span_view("", 0);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_PAYLOAD_NOT_SET, -1, "");
    wire_message(&wire, 5, &approval);
    record.value = wire_view(&wire);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_MISSING_ENTITY_KEY, -1, "entity_key");
    wire = envelope(5, &approval);
    record.value = wire_view(&wire);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_KEY_MISMATCH, -1, "entity_key");
    record.key = aw_span_text_view(KEY);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_MISSING_INTENT_ID, -1, "approval.intent_id");
    approval = payload_text(1, "intent-1");
    wire = envelope(5, &approval);
    record.value = wire_view(&wire);
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_HOP_LIMIT, -1, "");
    record.hops = 0;
    verdict = judge(&record, &policy);
    assert_dead(&verdict, AB_REASON_ROUTE_REFUSED, -1, "approval");
}

static void test_verdict_rejected_by_an_output_keeps_key_and_time(void **state)
{
    wire_t wire = event_envelope();
    ab_record_t record = record_of(wire_view(&wire));
    ab_verdict_t verdict = judge(&record, &POLICY);

    (void)state;
    ab_verdict_reject(&verdict, "the record is larger than the topic takes");
    assert_dead(&verdict, AB_REASON_PRODUCE_REJECTED, -1, "");
    assert_string_equal(verdict.text, "the record is larger than the topic takes");
    assert_int_equal(verdict.variant, AW_VARIANT_EXTERNAL_EVENT);
    assert_true(aw_span_equal(verdict.entity_key, aw_span_text_view(KEY)));
    assert_int_equal(verdict.event_time_ms, EVENT_TIME);
    ab_verdict_reject(&verdict, NULL);
    assert_string_equal(verdict.text, ab_reason_meaning(AB_REASON_PRODUCE_REJECTED));
}

static void test_hops_anything_but_a_number_stops_the_record(void **state)
{
    static const struct {
        const char *text;
        uint32_t hops;
    } cases[] = {
        {"0", 0},
        {"3", 3},
        {"0003", 3},
        {"4294967294", 4294967294},
        {"4294967295", UINT32_MAX},
        {"4294967296", UINT32_MAX},
        {"18446744073709551617", UINT32_MAX},
        {"", UINT32_MAX},
        {"-1", UINT32_MAX},
        {"+1", UINT32_MAX},
        {" 1", UINT32_MAX},
        {"1 ", UINT32_MAX},
        {"0x1", UINT32_MAX},
        {"1.0", UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ab_hops_parse(aw_span_text_view(cases[i].text)), cases[i].hops);
    }
    assert_int_equal(ab_hops_parse(AW_SPAN_NULL), UINT32_MAX);
    assert_int_equal(ab_hops_parse(aw_span_view("1\0", 2)), UINT32_MAX);
}

static void test_outcome_names_are_the_ledger_s_words(void **state)
{
    (void)state;
    assert_string_equal(ab_outcome_name(AB_OUTCOME_ROUTED), "routed");
    assert_string_equal(ab_outcome_name(AB_OUTCOME_DEAD_LETTERED), "dead_lettered");
    assert_string_equal(ab_outcome_name(AB_OUTCOME_DROPPED), "dropped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict_each_variant_takes_its_route),
        cmocka_unit_test(test_verdict_tombstone_is_dead_lettered_or_dropped),
        cmocka_unit_test(test_verdict_empty_value_has_no_payload),
        cmocka_unit_test(test_verdict_max_value_is_the_last_size_that_passes),
        cmocka_unit_test(test_verdict_refused_bytes_tell_where_and_take_nothing),
        cmocka_unit_test(test_verdict_record_without_timestamp_has_event_time_zero),
        cmocka_unit_test(test_verdict_future_variant_goes_where_the_policy_says),
        cmocka_unit_test(test_verdict_known_number_of_another_wire_type_is_no_future_variant),
        cmocka_unit_test(test_verdict_empty_entity_key_is_missing),
        cmocka_unit_test(test_verdict_other_record_key_is_a_mismatch_unless_ignored),
        cmocka_unit_test(test_verdict_empty_record_key_is_there_and_differs),
        cmocka_unit_test(test_verdict_bare_result_does_not_pass_an_ignored_mismatch),
        cmocka_unit_test(test_verdict_null_key_is_accepted_and_marked_unless_refused),
        cmocka_unit_test(test_verdict_result_or_approval_needs_an_intent_id),
        cmocka_unit_test(test_verdict_result_of_another_entity_is_a_mismatch_always),
        cmocka_unit_test(test_verdict_max_hops_is_the_last_count_that_passes),
        cmocka_unit_test(test_verdict_route_may_refuse_or_drop),
        cmocka_unit_test(test_verdict_earlier_check_decides),
        cmocka_unit_test(test_verdict_rejected_by_an_output_keeps_key_and_time),
        cmocka_unit_test(test_hops_anything_but_a_number_stops_the_record),
        cmocka_unit_test(test_outcome_names_are_the_ledger_s_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
