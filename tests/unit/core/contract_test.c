#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/contract.h"
#include "bridge/core/verdict.h"
#include "tests/unit/core/wire.h"

#define ID        "0198a7c4-1d01-7b3f-9f21-5c0de0000001"
#define TIMESTAMP "2027-11-05T14:08:31.250Z"
#define RUN_STARTED                                                                                \
    "{\"protocolVersion\":\"1.0\",\"type\":\"run_started\",\"eventId\":\"" ID                      \
    "\",\"sessionId\":\"" ID "\",\"runId\":\"" ID                                                  \
    "\",\"sequence\":\"1\",\"timestamp\":\"" TIMESTAMP "\",\"payload\":{}}"
#define ABORT(version)                                                                             \
    "{\"protocolVersion\":\"" version "\",\"type\":\"abort\",\"commandId\":\"" ID                  \
    "\",\"sessionId\":\"" ID "\",\"timestamp\":\"" TIMESTAMP "\",\"payload\":{}}"

static ab_breach_t check(ab_contract_t contract, const char *event)
{
    ab_breach_t breach;
    aw_arena_t *scratch = aw_arena_new(0);

    assert_non_null(scratch);
    memset(&breach, 0xa5, sizeof(breach));
    assert_int_equal(
        ab_contract_check(contract,
                          &(aw_envelope_view_t){.external_event = aw_span_text_view(event)},
                          scratch, &breach),
        AW_OK);
    aw_arena_free(scratch);
    return breach;
}

static void assert_keeps(ab_contract_t contract, const char *event)
{
    ab_breach_t breach = check(contract, event);

    assert_int_equal(breach.reason, AB_REASON_NONE);
}

static void assert_kept(const char *event)
{
    assert_keeps(AB_CONTRACT_TEA, event);
}

static void assert_breaks(ab_contract_t contract, const char *event, ab_reason_t reason,
                          const char *field, const char *text)
{
    ab_breach_t breach = check(contract, event);

    assert_int_equal(breach.reason, reason);
    assert_string_equal(breach.field, field);
    assert_string_equal(breach.text, text);
}

static void assert_broken(const char *event, ab_reason_t reason, const char *field,
                          const char *text)
{
    assert_breaks(AB_CONTRACT_TEA, event, reason, field, text);
}

static void test_contract_opaque_takes_anything_without_memory(void **state)
{
    ab_breach_t breach;

    (void)state;
    assert_int_equal(
        ab_contract_check(AB_CONTRACT_OPAQUE,
                          &(aw_envelope_view_t){.external_event = aw_span_text_view("\xff{")}, NULL,
                          &breach),
        AW_OK);
    assert_int_equal(breach.reason, AB_REASON_NONE);
}

static void test_contract_tea_good_envelopes_of_each_kind_keep_it(void **state)
{
    (void)state;
    assert_kept(RUN_STARTED);
    assert_kept(ABORT("1.7"));
    assert_kept("{\"protocolVersion\":\"1.0\",\"type\":\"run_cancelled\",\"recordId\":\"" ID
                "\",\"sessionId\":\"" ID "\",\"sequence\":\"1\",\"timestamp\":\"" TIMESTAMP
                "\",\"payload\":{\"runId\":\"" ID "\"}}");
    assert_kept("{\"protocolVersion\":\"1.0\",\"type\":\"protocol_error\",\"error\":{\"code\":"
                "\"internal\",\"message\":\"x\",\"retry\":\"never\"}}");
}

static void test_contract_tea_unknown_skippable_event_keeps_it(void **state)
{
    (void)state;
    assert_kept("{\"protocolVersion\":\"1.0\",\"type\":\"tide_gauge\",\"compatibility\":"
                "\"skippable_observation\",\"eventId\":\"" ID "\",\"sessionId\":\"" ID
                "\",\"sequence\":\"1\",\"timestamp\":\"" TIMESTAMP "\",\"payload\":null}");
}

static void test_contract_tea_unknown_command_record_and_event_break_it(void **state)
{
    (void)state;
    assert_broken("{\"protocolVersion\":\"1.0\",\"type\":\"warp\",\"commandId\":1}",
                  AB_REASON_CONTRACT_VIOLATION, "/type",
                  "tea command: unsupported_type: a command or record of unknown type");
    assert_broken("{\"protocolVersion\":\"1.0\",\"type\":\"warp\",\"recordId\":1}",
                  AB_REASON_CONTRACT_VIOLATION, "/type",
                  "tea record: unsupported_type: a command or record of unknown type");
    assert_broken("{\"protocolVersion\":\"1.0\",\"type\":\"warp\",\"eventId\":1}",
                  AB_REASON_CONTRACT_VIOLATION, "/type",
                  "tea event: unsupported_state_bearing: an event of unknown type that must not be "
                  "skipped");
}

static void test_contract_tea_other_major_is_unsupported_version(void **state)
{
    (void)state;
    assert_broken(ABORT("2.0"), AB_REASON_UNSUPPORTED_VERSION, "/protocolVersion",
                  "tea command: unsupported_version: the protocol's major version is not 1");
}

static void test_contract_tea_text_that_is_no_json_or_nothing_breaks_it(void **state)
{
    (void)state;
    assert_broken("", AB_REASON_CONTRACT_VIOLATION, "",
                  "tea event: malformed_json: the text is no JSON text");
    assert_broken("\xff", AB_REASON_CONTRACT_VIOLATION, "",
                  "tea event: malformed_json: the text is no JSON text");
    assert_broken("[]", AB_REASON_CONTRACT_VIOLATION, "",
                  "tea event: invalid:envelope: the text is no object");
    assert_broken("{}", AB_REASON_CONTRACT_VIOLATION, "/type",
                  "tea event: invalid:discriminator: type is missing or no name of a type");
}

/** Names that the event brought along are payload: they stay out of dead letters. */
static void test_contract_tea_names_out_of_the_event_are_not_repeated(void **state)
{
    (void)state;
    assert_broken("{\"eventId\":1,\"secret-name\":{\"a\":1,\"a\":2}}", AB_REASON_CONTRACT_VIOLATION,
                  "", "tea event: duplicate_key: an object has a key twice");
    assert_broken("{\"eventId\":1,\"payload\":{\"delta\":1,\"delta\":2}}",
                  AB_REASON_CONTRACT_VIOLATION, "/payload/delta",
                  "tea event: duplicate_key: an object has a key twice");
    assert_broken("{\"protocolVersion\":\"1.0\",\"type\":\"run_started\",\"eventId\":\"" ID
                  "\",\"metadata\":{\"Secret\":1},\"sessionId\":\"" ID "\",\"runId\":\"" ID
                  "\",\"sequence\":\"1\",\"timestamp\":\"" TIMESTAMP "\",\"payload\":{}}",
                  AB_REASON_CONTRACT_VIOLATION, "/metadata",
                  "tea event: invalid:metadata: metadata has a bad namespace, or is too large or "
                  "too deep");
}

static void test_contract_tea_event_that_needs_too_much_memory_breaks_it(void **state)
{
    static char event[200000];
    aw_arena_t *scratch = aw_arena_new(1 << 20);
    ab_breach_t breach;

    (void)state;
    assert_non_null(scratch);
    event[0] = '[';
    for (size_t i = 1; i < sizeof(event); i += 2) {
        event[i] = '0';
        event[i + 1 < sizeof(event) ? i + 1 : i] = ',';
    }
    assert_int_equal(ab_contract_check(AB_CONTRACT_TEA,
                                       &(aw_envelope_view_t){
                                           .external_event = aw_span_view(event, sizeof(event))},
                                       scratch, &breach),
                     AW_OK);
    assert_int_equal(breach.reason, AB_REASON_CONTRACT_VIOLATION);
    assert_string_equal(breach.text,
                        "the check of the contract needs more memory than limits.decode_bytes");
    aw_arena_free(scratch);
}

static void test_contract_session_inbox_every_known_version_keeps_it(void **state)
{
    (void)state;
    assert_keeps(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"deliver\",\"payloads\":[{\"a\":1}]}");
    assert_keeps(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"send\",\"payload\":{}}");
    assert_keeps(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"clear\",\"version\":0}");
    assert_keeps(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"reset\",\"version\":1.0}");
    /* a declared version is trusted */
    assert_keeps(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"deliver\",\"version\":1,\"payloads\":7}");
}

static void test_contract_session_inbox_newer_is_unsupported_version(void **state)
{
    (void)state;
    assert_breaks(AB_CONTRACT_SESSION_INBOX, "{\"kind\":\"send\",\"payload\":{},\"version\":2}",
                  AB_REASON_UNSUPPORTED_VERSION, "/version",
                  "session_inbox: newer-version: the version is newer than this build reads");
}

static void test_contract_session_inbox_breaks_are_named_by_class(void **state)
{
    static const struct {
        const char *event;
        const char *field;
        const char *text;
    } cases[] = {
        {"", "", "malformed_json: the text is not JSON, or nested too deep"},
        {"{\"secret\":x}", "", "malformed_json: the text is not JSON, or nested too deep"},
        {"7", "", "no-version: the value is no object, or its version is no number"},
        {"{\"version\":\"1\"}", "/version",
         "no-version: the value is no object, or its version is no number"},
        {"{\"version\":0.5}", "/version",
         "bad-version: the version is not a whole number, or below 0"},
        {"{\"kind\":\"secret\"}", "/kind", "unknown-kind: the kind is none of this version"},
        {"{\"kind\":\"send\",\"version\":1}", "/kind",
         "unknown-kind: the kind is none of this version"},
        {"{\"kind\":\"send\"}", "/payload",
         "legacy-send-payload: a legacy send has no object as payload"},
        {"{\"kind\":\"send\",\"payload\":{},\"delivery\":null}", "/delivery",
         "legacy-send-delivery: a legacy send has a delivery of no object"},
        {"{\"kind\":\"deliver\"}", "/payloads",
         "legacy-deliver: a legacy deliver has no list of objects as payloads"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[AW_ERROR_TEXT_MAX];

        (void)snprintf(text, sizeof(text), "session_inbox: %s", cases[i].text);
        assert_breaks(AB_CONTRACT_SESSION_INBOX, cases[i].event, AB_REASON_CONTRACT_VIOLATION,
                      cases[i].field, text);
    }
}

/** The verdict under activation_error on an envelope of "k" and time 7 with these bytes as its
 *  external_event; *ret_event is where they begin. */
static ab_verdict_t verdict_on_error(const wire_t *event, size_t *ret_event)
{
    const ab_policy_t policy = {.topic = "in",
                                .routes[AB_SLOT_EXTERNAL_EVENT] = {AB_ROUTE_TOPIC, "out"},
                                .max_value_bytes = 1000,
                                .contract = AB_CONTRACT_ACTIVATION_ERROR};
    wire_t wire = {.size = 0};
    ab_verdict_t verdict;
    aw_arena_t *scratch = aw_arena_new(0);

    assert_non_null(scratch);
    wire_text(&wire, 1, "k");
    wire_number(&wire, 2, 7);
    wire_message(&wire, 3, event);
    const ab_record_t record = {.topic = "in", .value = wire_view(&wire)};
    assert_int_equal(ab_verdict_of(&record, &policy, scratch, &verdict), AW_OK);
    *ret_event = wire.size - event->size;
    aw_arena_free(scratch);
    return verdict;
}

static wire_t error_record(const char *key, uint64_t time)
{
    wire_t wire = {.size = 0};

    wire_text(&wire, 1, key);
    wire_text(&wire, 2, "hitl_timeout");
    wire_text(&wire, 3, "nobody came");
    wire_number(&wire, 4, time);
    return wire;
}

static void test_contract_activation_error_of_the_envelope_keeps_it(void **state)
{
    wire_t event = error_record("k", 7);
    size_t at;

    (void)state;
    assert_int_equal(verdict_on_error(&event, &at).outcome, AB_OUTCOME_ROUTED);
    wire_text(&event, 99, "an unknown field is no breach");
    assert_int_equal(verdict_on_error(&event, &at).outcome, AB_OUTCOME_ROUTED);
}

static void test_contract_activation_error_of_another_entity_or_time_breaks_it(void **state)
{
    static const struct {
        const char *key;
        uint64_t time;
        const char *field, *text;
    } cases[] = {
        {"j", 7, "external_event.entity_key",
         "activation_error: its entity_key is not the envelope's"},
        {"", 7, "external_event.entity_key",
         "activation_error: its entity_key is not the envelope's"},
        {"k", 8, "external_event.event_time_ms",
         "activation_error: its event_time_ms is not the envelope's"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const wire_t event = error_record(cases[i].key, cases[i].time);
        size_t at;
        const ab_verdict_t verdict = verdict_on_error(&event, &at);

        assert_int_equal(verdict.reason, AB_REASON_CONTRACT_VIOLATION);
        assert_string_equal(verdict.field, cases[i].field);
        assert_string_equal(verdict.text, cases[i].text);
        assert_int_equal(verdict.at, -1);
    }
}

static void test_contract_activation_error_bytes_that_are_none_break_it(void **state)
{
    wire_t event = {.size = 0};
    size_t at;

    (void)state;
    ab_verdict_t verdict = verdict_on_error(&event, &at); /* empty: of no entity */
    assert_string_equal(verdict.field, "external_event.entity_key");
    wire_text(&event, 1, "k");
    wire_bytes(&event, 2, "\xff", 1);
    verdict = verdict_on_error(&event, &at);
    assert_int_equal(verdict.reason, AB_REASON_CONTRACT_VIOLATION);
    assert_string_equal(verdict.field, "external_event.reason");
    assert_true(verdict.at >= (int64_t)at + 3);
    assert_int_equal(strncmp(verdict.text, "activation_error: ", 18), 0);
}

/** The whole verdict: the contract is checked before hops and route, and the place is one in the
 * record. */
static void test_contract_verdict_has_reason_and_place_in_the_record(void **state)
{
    static const char event[] = "{\"eventId\":1,\"type\":7}";
    const ab_policy_t policy = {.topic = "in",
                                .routes[AB_SLOT_EXTERNAL_EVENT] = {AB_ROUTE_TOPIC, "out"},
                                .max_value_bytes = 1000,
                                .contract = AB_CONTRACT_TEA};
    wire_t wire = {.size = 0};
    ab_record_t record = {.topic = "in", .hops = 9};
    ab_verdict_t verdict;
    aw_arena_t *scratch = aw_arena_new(0);

    (void)state;
    assert_non_null(scratch);
    wire_text(&wire, 1, "user-42");
    wire_text(&wire, 3, event);
    record.value = wire_view(&wire);
    assert_int_equal(ab_verdict_of(&record, &policy, scratch, &verdict), AW_OK);
    assert_int_equal(verdict.outcome, AB_OUTCOME_DEAD_LETTERED);
    assert_int_equal(verdict.reason, AB_REASON_CONTRACT_VIOLATION);
    assert_string_equal(verdict.field, "/type");
    assert_int_equal(verdict.at, wire.size - (sizeof(event) - 1) + 20);
    assert_int_equal(record.value.data[verdict.at], '7');
    aw_arena_free(scratch);
}

static void test_contract_other_variants_are_not_looked_into(void **state)
{
    const ab_policy_t policy = {.topic = "in",
                                .routes[AB_SLOT_EXPORT_REQUEST] = {AB_ROUTE_TOPIC, "out"},
                                .max_value_bytes = 1000,
                                .contract = AB_CONTRACT_TEA};
    wire_t request = {.size = 0};
    wire_t wire = {.size = 0};
    ab_record_t record = {.topic = "in"};
    ab_verdict_t verdict;

    (void)state;
    wire_text(&request, 1, "no JSON");
    wire_text(&wire, 1, "user-42");
    wire_message(&wire, 6, &request);
    record.value = wire_view(&wire);
    assert_int_equal(ab_verdict_of(&record, &policy, NULL, &verdict), AW_OK);
    assert_int_equal(verdict.outcome, AB_OUTCOME_ROUTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract_opaque_takes_anything_without_memory),
        cmocka_unit_test(test_contract_tea_good_envelopes_of_each_kind_keep_it),
        cmocka_unit_test(test_contract_tea_unknown_skippable_event_keeps_it),
        cmocka_unit_test(test_contract_tea_unknown_command_record_and_event_break_it),
        cmocka_unit_test(test_contract_tea_other_major_is_unsupported_version),
        cmocka_unit_test(test_contract_tea_text_that_is_no_json_or_nothing_breaks_it),
        cmocka_unit_test(test_contract_tea_names_out_of_the_event_are_not_repeated),
        cmocka_unit_test(test_contract_tea_event_that_needs_too_much_memory_breaks_it),
        cmocka_unit_test(test_contract_session_inbox_every_known_version_keeps_it),
        cmocka_unit_test(test_contract_session_inbox_newer_is_unsupported_version),
        cmocka_unit_test(test_contract_session_inbox_breaks_are_named_by_class),
        cmocka_unit_test(test_contract_activation_error_of_the_envelope_keeps_it),
        cmocka_unit_test(test_contract_activation_error_of_another_entity_or_time_breaks_it),
        cmocka_unit_test(test_contract_activation_error_bytes_that_are_none_break_it),
        cmocka_unit_test(test_contract_verdict_has_reason_and_place_in_the_record),
        cmocka_unit_test(test_contract_other_variants_are_not_looked_into),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
