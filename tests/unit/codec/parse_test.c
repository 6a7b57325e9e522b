/* Messages out of proto3 JSON, and canonical JSON. The reference's json_format is held against the
 * same code by scripts/differential_json.py; here are the rules one by one. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/json.h"
#include "codec/json/number.h"

#define RESULT   AW_MESSAGE_TOOL_RESULT
#define INTENT   AW_MESSAGE_TOOL_INTENT
#define ENVELOPE AW_MESSAGE_AGENT_ENVELOPE
#define TRACE    AW_MESSAGE_TRACE_EVENT
#define CONT     AW_MESSAGE_CONTINUATION
#define SNAPSHOT AW_MESSAGE_STATE_SNAPSHOT

static void gives(aw_message_type_t type, const char *text, const char *hex)
{
    aw_arena_t *arena = aw_arena_new(0);
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    aw_span_t bytes = AW_SPAN_NULL;
    const aw_span_t input = aw_test_guarded(aw_span_text_view(text));
    if (aw_json_parse(type, input, arena, &message, &error) != AW_OK) {
        fail_msg("%s: %s at %lld in %s", text, error.text, (long long)error.offset, error.field);
    }
    assert_int_equal(aw_message_type(message), type);
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, hex);
    aw_arena_free(arena);
}

static void refused(aw_message_type_t type, const char *text, int status, int64_t offset,
                    const char *field)
{
    aw_arena_t *arena = aw_arena_new(0);
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    const aw_span_t input = aw_test_guarded(aw_span_text_view(text));
    const int got = aw_json_parse(type, input, arena, &message, &error);
    if (got != status || error.offset != offset || strcmp(error.field, field) != 0) {
        fail_msg("%s: %s at %lld in '%s'", text, aw_status_name(got), (long long)error.offset,
                 error.field);
    }
    assert_null(message);
    assert_int_equal(error.status, status);
    assert_true(error.text[0] != '\0');
    aw_arena_free(arena);
}

static void unfit(aw_message_type_t type, const char *text, int64_t offset, const char *field)
{
    refused(type, text, AW_STATUS_JSON_MISMATCH, offset, field);
}

static void test_parse_each_kind_takes_its_values(void **state)
{
    (void)state;
    gives(RESULT, "{}", "");
    gives(RESULT, " { \"intentId\" : \"a\\u0000\\ud83e\\uddea\" } ", "0a06 61 00 f09fa7aa");
    gives(RESULT, "{\"payload\":\"-_8=\"}", "2a02 fbff");
    gives(RESULT, "{\"payload\":\"+/8\"}", "2a02 fbff");
    gives(RESULT, "{\"seq\":\"-1\"}", "18ffffffffffffffffff01");
    gives(RESULT, "{\"seq\":-9223372036854775808}", "1880808080808080808001");
    gives(RESULT, "{\"status\":\"ERROR\"}", "2002");
    gives(RESULT, "{\"status\":2}", "2002");
    gives(RESULT, "{\"status\":\"2\"}", "2002");
    gives(RESULT, "{\"status\":-3}", "20fdffffffffffffffff01");
    gives(AW_MESSAGE_APPROVAL, "{\"approved\":true}", "1001");
    gives(AW_MESSAGE_APPROVAL, "{\"approved\":false}", "");
    gives(INTENT, "{\"stepIndex\":4294967295,\"attempt\":\"7\"}", "20ffffffff0f 4807");
    gives(CONT, "{\"pendingIntentIds\":[\"a\",\"\",\"b\"]}", "220161 2200 220162");
    gives(CONT, "{\"pendingIntentIds\":[]}", "");
    gives(TRACE, "{\"attributes\":{\"a\":\"1\",\"aa\":\"\"}}",
          "4206 0a026161 1200 4206 0a0161 120131");
}

static void test_parse_both_forms_of_a_name_are_taken_and_nothing_else(void **state)
{
    (void)state;
    gives(RESULT, "{\"intent_id\":\"a\",\"completedAtMs\":1}", "0a0161 3801");
    gives(ENVELOPE, "{\"entity_key\":\"YQ==\",\"tool_result\":{\"error_message\":\"x\"}}",
          "0a0161 2203 320178");
    unfit(RESULT, "{\"intentID\":\"a\"}", 1, "/intentID");
    unfit(RESULT, "{\"intent_Id\":\"a\"}", 1, "/intent_Id");
    unfit(RESULT, "{\"\":1}", 1, "/");
    unfit(RESULT, "{\"[beam_agents.v1.x]\":1}", 1, "/[beam_agents.v1.x]");
    unfit(ENVELOPE, "{\"toolResult\":{\"nope\":null}}", 15, "/toolResult/nope");
    unfit(RESULT, "{\"intent_id\":\"a\",\"intentId\":\"b\"}", 17, "/intentId");
    unfit(RESULT, "{\"intent_id\":null,\"intentId\":\"b\"}", 18, "/intentId");
}

static void test_parse_null_is_absent_but_not_inside_lists_and_maps(void **state)
{
    (void)state;
    gives(RESULT, "{\"seq\":null,\"payload\":null,\"status\":null,\"intentId\":null}", "");
    gives(ENVELOPE, "{\"toolResult\":null,\"approval\":{}}", "2a00");
    gives(ENVELOPE, "{\"approval\":{},\"toolResult\":null}", "2a00");
    gives(CONT, "{\"pendingIntentIds\":null}", "");
    gives(TRACE, "{\"attributes\":null}", "");
    unfit(CONT, "{\"pendingIntentIds\":[null]}", 21, "/pendingIntentIds/0");
    unfit(TRACE, "{\"attributes\":{\"a\":null}}", 19, "/attributes/a");
    unfit(SNAPSHOT, "{\"pending\":[{},null]}", 15, "/pending/1");
    unfit(RESULT, "null", 0, "");
}

static void test_parse_oneof_takes_one_variant(void **state)
{
    (void)state;
    gives(ENVELOPE, "{\"externalEvent\":\"\"}", "1a00");
    gives(ENVELOPE, "{\"exportRequest\":{\"requestId\":\"r\"}}", "3203 0a0172");
    unfit(ENVELOPE, "{\"approval\":{},\"externalEvent\":\"\"}", 15, "/externalEvent");
    unfit(ENVELOPE, "{\"externalEvent\":\"\",\"toolResult\":{}}", 20, "/toolResult");
}

static void test_parse_nested_messages_and_versions_are_as_written(void **state)
{
    (void)state;
    gives(SNAPSHOT,
          "{\"memory\":{\"stateSchemaVersion\":2,\"entries\":[{\"key\":\"k\",\"value\":\"AA==\"},{}"
          "]},"
          "\"continuation\":{},\"pending\":[{\"intentId\":\"i\"},{}],\"requestId\":\"r\"}",
          "2a0c 0802 1206 0a016b 120100 1200 3a00 4203 0a0169 4200 4a0172");
    gives(AW_MESSAGE_LLM_CACHE_BLOB,
          "{\"entries\":[{\"digestOnly\":true,\"responseDigest\":\"AA\"}]}", "1205 1a0100 3001");
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        gives((aw_message_type_t)type, "{}", "");
    }
}

static void test_parse_value_of_another_type_is_refused(void **state)
{
    (void)state;
    static const char *const values[] = {"[]", "{}", "true", "1", "\"*\"", "[\"a\"]", "1.5"};
    static const struct {
        aw_message_type_t type;
        const char *name;
        const char *fits; /* those of the values that do: a letter each, by place */
    } fields[] = {
        {RESULT, "intentId", "4"},
        {RESULT, "payload", ""},
        {RESULT, "seq", "3"},
        {RESULT, "status", "3"},
        {INTENT, "stepIndex", "3"},
        {AW_MESSAGE_APPROVAL, "approved", "2"},
        {ENVELOPE, "approval", "1"},
        {TRACE, "attributes", "1"},
        {CONT, "pendingIntentIds", "05"},
        {SNAPSHOT, "pending", "0"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            char text[64];
            char field[40];
            snprintf(text, sizeof text, "{\"%s\":%s}", fields[i].name, values[j]);
            snprintf(field, sizeof field, "/%s", fields[i].name);
            aw_arena_t *arena = aw_arena_new(0);
            const aw_message_t *message = NULL;
            const int status =
                aw_json_parse(fields[i].type, aw_span_text_view(text), arena, &message, NULL);
            const bool fits = strchr(fields[i].fits, (char)('0' + j)) != NULL;
            if ((status == AW_OK) != fits) {
                fail_msg("%s", text);
            }
            assert_true(fits || status == AW_STATUS_JSON_MISMATCH);
            aw_arena_free(arena);
        }
    }
    static const char *const tops[] = {"[]", "\"\"", "1", "true", "null", "[{}]"};
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        unfit(RESULT, tops[i], 0, "");
    }
    unfit(RESULT, "{\"payload\":\"Y Q=\"}", 11, "/payload");
    unfit(RESULT, "{\"payload\":\"YQ=\"}", 11, "/payload");
    unfit(RESULT, "{\"status\":\"error\"}", 10, "/status");
    unfit(RESULT, "{\"status\":1.5}", 10, "/status");
    unfit(RESULT, "{\"status\":2147483648}", 10, "/status");
    unfit(RESULT, "{\"seq\":9223372036854775808}", 7, "/seq");
    unfit(RESULT, "{\"seq\":\"-9223372036854775809\"}", 7, "/seq");
    unfit(INTENT, "{\"stepIndex\":4294967296}", 13, "/stepIndex");
    unfit(INTENT, "{\"stepIndex\":-1}", 13, "/stepIndex");
}

static void test_parse_what_is_no_json_is_refused_before_it_is_looked_at(void **state)
{
    (void)state;
    refused(RESULT, "{\"seq\":01}", AW_STATUS_MALFORMED_JSON, 8, "");
    refused(RESULT, "", AW_STATUS_MALFORMED_JSON, 0, "");
    refused(RESULT, "{\"nope\":1}x", AW_STATUS_MALFORMED_JSON, 10, "");
    refused(RESULT, "{\"seq\":NaN}", AW_STATUS_MALFORMED_JSON, 7, "/seq");
    refused(RESULT, "{\"seq\":1,\"seq\":2}", AW_STATUS_DUPLICATE_KEY, 9, "/seq");
    refused(TRACE, "{\"attributes\":{\"a\":\"\",\"\\u0061\":\"\"}}", AW_STATUS_DUPLICATE_KEY, 22,
            "/attributes/a");
    refused(RESULT, "{\"nope\":[{\"a\":1,\"a\":1}]}", AW_STATUS_DUPLICATE_KEY, 16, "/nope/0/a");
    const aw_message_t *message = NULL;
    aw_arena_t *arena = aw_arena_new(0);
    assert_int_equal(
        aw_json_parse((aw_message_type_t)99, aw_span_text_view("{}"), arena, &message, NULL),
        AW_STATUS_INVALID_ARGUMENT);
    assert_null(message);
    aw_arena_free(arena);
}

static void test_parse_memory_refused_at_each_step_says_so(void **state)
{
    (void)state;
    const aw_span_t text = aw_span_text_view(
        "{\"memory\":{\"entries\":[{\"value\":\"AAAA\"}]},\"pending\":[{\"kind\":\"TOOL\"}],"
        "\"continuation\":{\"pendingIntentIds\":[\"a\"]}}");
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    unsigned refusals = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16) {
        aw_arena_t *arena = aw_arena_new(limit);
        const aw_message_t *message = NULL;
        aw_error_t error = AW_ERROR_INIT;
        status = aw_json_parse(SNAPSHOT, text, arena, &message, &error);
        assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
        assert_int_equal(error.status, status);
        assert_int_equal(message != NULL, status == AW_OK);
        refusals += status != AW_OK;
        aw_arena_free(arena);
    }
    assert_true(refusals > 50);
}

/* Not whole, not in 64 bits, or no number to JSON. */
static const char *const NOT_WHOLE[] = {
    "",
    "-",
    "+1",
    "01",
    "-01",
    "00",
    "1.",
    ".5",
    "1e",
    "1e+",
    "1x",
    " 1",
    "1 ",
    "5_0",
    "0x1",
    "1.5",
    "1e-1",
    "0.1",
    "15e-2",
    "1e20",
    "18446744073709551616",
    "1e99999999999999999999",
    "NaN",
    "1e-99999999999999999999",
    "1844674407370955161.51e1",
    "100000000000000000000.5",
};

static void test_whole_numbers_are_read_exactly_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool negative;
        uint64_t magnitude;
    } good[] = {
        {"0", false, 0},
        {"-0", false, 0},
        {"-0.000e99999999999999999999", false, 0},
        {"0e-5", false, 0},
        {"7", false, 7},
        {"-12", true, 12},
        {"1.0", false, 1},
        {"1.50e1", false, 15},
        {"1500e-2", false, 15},
        {"0.015E+3", false, 15},
        {"100e-2", false, 1},
        {"1e19", false, UINT64_C(10000000000000000000)},
        {"18446744073709551615", false, UINT64_MAX},
        {"1844674407370955161.5e1", false, UINT64_MAX},
        {"-18446744073709551615.000", true, UINT64_MAX},
        {"9007199254740993.0", false, UINT64_C(9007199254740993)},
        {"10000000000000000000000000000000e-31", false, 1},
    };
    bool negative;
    uint64_t magnitude;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const aw_span_t text = aw_test_guarded(aw_span_text_view(good[i].text));
        if (!aw__number_whole(text, &negative, &magnitude)) {
            fail_msg("%s", good[i].text);
        }
        assert_int_equal(negative, good[i].negative);
        assert_true(magnitude == good[i].magnitude);
    }
    /* more zeros than digits are kept of a number */
    char zeros[1000] = "7";
    memset(zeros + 1, '0', 900);
    strcpy(zeros + 901, "e-899");
    assert_true(aw__number_whole(aw_span_text_view(zeros), &negative, &magnitude));
    assert_int_equal(magnitude, 70);
    magnitude = 4711;
    zeros[900] = '1';
    assert_false(aw__number_whole(aw_span_text_view(zeros), &negative, &magnitude));
    for (size_t i = 0; i < sizeof NOT_WHOLE / sizeof NOT_WHOLE[0]; i++) {
        if (aw__number_whole(aw_test_guarded(aw_span_text_view(NOT_WHOLE[i])), &negative,
                             &magnitude)) {
            fail_msg("%s", NOT_WHOLE[i]);
        }
    }
    assert_int_equal(magnitude, 4711);
}

static void canonical(const char *text, const char *wanted)
{
    aw_arena_t *arena = aw_arena_new(0);
    aw_span_t got = AW_SPAN_NULL;
    assert_int_equal(aw_json_canonical(aw_test_guarded(aw_span_text_view(text)), arena, &got, NULL),
                     AW_OK);
    assert_int_equal(got.size, strlen(wanted));
    assert_memory_equal(got.data, wanted, got.size);
    aw_span_t again = AW_SPAN_NULL;
    assert_int_equal(aw_json_canonical(got, arena, &again, NULL), AW_OK);
    assert_true(aw_span_equal(got, again));
    aw_arena_free(arena);
}

static void test_canonical_text_is_sorted_compact_and_its_own_canonical_text(void **state)
{
    (void)state;
    canonical(" { \"b\" : [ 1 , {\"z\":null,\"a\":true} ] , \"a\" : \"\\u00e9\\/\\n\" } ",
              "{\"a\":\"\xc3\xa9/\\n\",\"b\":[1,{\"a\":true,\"z\":null}]}");
    canonical("{\"aa\":1,\"a\":2,\"\":3,\"\\u0000\":4}", "{\"\":3,\"\\u0000\":4,\"a\":2,\"aa\":1}");
    canonical("[18446744073709551615,-9223372036854775808,1e2,1.50,1e16,0.000001,-0,-3.25E+1]",
              "[18446744073709551615,-9223372036854775808,100.0,1.5,1e16,1e-6,-0.0,-32.5]");
    canonical("\"x\"", "\"x\"");
    canonical("[]", "[]");
}

static void test_canonical_refuses_duplicates_depth_and_magnitude(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    aw_span_t got = AW_SPAN_NULL;
    char deep[2 * (AW_JSON_DEPTH_MAX + 1) + 1];
    memset(deep, '[', AW_JSON_DEPTH_MAX + 1);
    memset(deep + AW_JSON_DEPTH_MAX + 1, ']', AW_JSON_DEPTH_MAX + 1);
    const aw_span_t too_deep = aw_span_view(deep, sizeof deep - 1);
    const aw_span_t just = aw_span_view(deep + 1, sizeof deep - 3);
    assert_int_equal(aw_json_canonical(too_deep, arena, &got, NULL), AW_STATUS_LIMIT_DEPTH);
    assert_null(got.data);
    assert_int_equal(aw_json_canonical(just, arena, &got, NULL), AW_OK);
    got = AW_SPAN_NULL;
    assert_int_equal(
        aw_json_canonical(aw_span_text_view("{\"a\":[{\"b\":1,\"b\":1}]}"), arena, &got, NULL),
        AW_STATUS_DUPLICATE_KEY);
    assert_int_equal(aw_json_canonical(aw_span_text_view("1e400"), arena, &got, NULL),
                     AW_STATUS_MALFORMED_JSON);
    assert_null(got.data);
    aw_arena_free(arena);
    for (size_t limit = 16; limit < 512; limit += 16) {
        aw_arena_t *small = aw_arena_new(limit);
        aw_error_t error = AW_ERROR_INIT;
        const int status =
            aw_json_canonical(aw_span_text_view("{\"b\":1,\"a\":2}"), small, &got, &error);
        assert_true(status == AW_STATUS_LIMIT_DECODE_BYTES);
        assert_int_equal(error.status, status);
        aw_arena_free(small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_each_kind_takes_its_values),
        cmocka_unit_test(test_parse_both_forms_of_a_name_are_taken_and_nothing_else),
        cmocka_unit_test(test_parse_null_is_absent_but_not_inside_lists_and_maps),
        cmocka_unit_test(test_parse_oneof_takes_one_variant),
        cmocka_unit_test(test_parse_nested_messages_and_versions_are_as_written),
        cmocka_unit_test(test_parse_value_of_another_type_is_refused),
        cmocka_unit_test(test_parse_what_is_no_json_is_refused_before_it_is_looked_at),
        cmocka_unit_test(test_parse_memory_refused_at_each_step_says_so),
        cmocka_unit_test(test_whole_numbers_are_read_exactly_or_not_at_all),
        cmocka_unit_test(test_canonical_text_is_sorted_compact_and_its_own_canonical_text),
        cmocka_unit_test(test_canonical_refuses_duplicates_depth_and_magnitude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
