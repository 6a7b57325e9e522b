/* The specification's case file, and the frozen fixtures of every version. */
#include "tests/unit/codec/inbox_support.h"

#include <stdio.h>
#include <stdlib.h>

/** Class of an expectation: "ok", "SessionInboxWireError.<class>", "HookLookupError". */
static const char *class_of(const char *expect)
{
    static const char PREFIX[] = "SessionInboxWireError.";
    return strncmp(expect, PREFIX, sizeof PREFIX - 1) == 0 ? expect + sizeof PREFIX - 1 : expect;
}

static int run_encode(const json_t *line, aw_span_t input, aw_inbox_result_t *ret_result,
                      aw_span_t *ret_output)
{
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    char *text = json_dumps(json_object_get(line, "target"), JSON_ENCODE_ANY);
    assert_non_null(text);
    int status =
        aw_inbox_target_read(aw_span_text_view(text), aw_test_inbox_arena, ret_result, &target);
    free(text);
    if (status != AW_OK || ret_result->outcome != AW_INBOX_CLASS_OK) {
        return status;
    }
    return aw_inbox_encode(input, target, aw_test_inbox_arena, ret_result, ret_output);
}

static int run_classify(aw_span_t input, aw_inbox_result_t *ret_result, aw_span_t *ret_output)
{
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    int status = aw_inbox_classify_text(input, aw_test_inbox_arena, ret_result, &target);
    if (status == AW_OK && ret_result->outcome == AW_INBOX_CLASS_OK) {
        *ret_output = aw_span_text_view(aw_inbox_target_text(target));
    }
    return status;
}

static void look_at_case(const json_t *line, void *opaque)
{
    (void)opaque;
    aw_arena_reset(aw_test_inbox_arena);
    const char *name = aw_test_text(line, "name");
    const char *op = aw_test_text(line, "op");
    const char *expected = class_of(aw_test_text(line, "expect"));
    const json_t *text = json_object_get(line, "input");
    const aw_span_t input = aw_span_view(json_string_value(text), json_string_length(text));
    aw_inbox_result_t result;
    aw_span_t output = AW_SPAN_NULL;
    int status = AW_OK;
    if (strcmp(op, "decode") == 0) {
        status = aw_inbox_decode(input, aw_test_inbox_arena, &result, &output);
    } else if (strcmp(op, "encode") == 0) {
        status = run_encode(line, input, &result, &output);
    } else {
        assert_string_equal(op, "classify");
        status = run_classify(input, &result, &output);
    }
    assert_int_equal(status, AW_OK);
    if (strcmp(aw_inbox_class_name(result.outcome), expected) != 0) {
        print_error("%s: %s, and %s is expected; %s\n", name, aw_inbox_class_name(result.outcome),
                    expected, result.message);
    }
    assert_string_equal(aw_inbox_class_name(result.outcome), expected);
    assert_int_equal(result.outcome == AW_INBOX_CLASS_OK, result.message[0] == '\0');
    const char *wanted = json_string_value(json_object_get(line, "output"));
    if (!aw_span_equal(output, aw_span_text_view(wanted))) {
        print_error("%s: %.*s\n", name, (int)output.size, (const char *)output.data);
    }
    assert_true(aw_span_equal(output, aw_span_text_view(wanted)));
}

static void test_cases_every_line_gives_the_stated_result(void **state)
{
    (void)state;
    assert_int_equal(aw_test_lines("golden/session-inbox/v1/cases.jsonl", look_at_case, NULL), 205);
}

static void look_at_fixture(const json_t *line, void *opaque)
{
    (void)opaque;
    aw_arena_reset(aw_test_inbox_arena);
    const char *value = aw_test_text(line, "value");
    const char *command = aw_test_text(line, "command");
    aw_inbox_target_t target;
    assert_true(aw_inbox_target_find(aw_span_text_view(aw_test_text(line, "target")), &target));
    aw_test_inbox_expect_decoded(value, command);
    aw_test_inbox_expect_encoded(command, target, value);
    /* as text of the current version it comes back whole: adapter members, auth null or absent */
    aw_span_t current;
    const aw_inbox_result_t *result = aw_test_inbox_encode(command, AW_INBOX_TARGET_V1, &current);
    assert_int_equal(result->outcome, AW_INBOX_CLASS_OK);
    char *text = strndup((const char *)current.data, current.size);
    assert_non_null(text);
    aw_test_inbox_expect_decoded(text, command);
    free(text);
}

static void test_cases_fixtures_of_every_version_go_both_ways(void **state)
{
    (void)state;
    assert_int_equal(aw_test_lines("golden/session-inbox/v0/fixtures.jsonl", look_at_fixture, NULL),
                     10);
    for (int version = 1; version <= AW_INBOX_VERSION; version++) {
        char path[64];
        snprintf(path, sizeof path, "golden/session-inbox/v%d/fixtures.jsonl", version);
        assert_true(aw_test_lines(path, look_at_fixture, NULL) >= 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_every_line_gives_the_stated_result),
        cmocka_unit_test(test_cases_fixtures_of_every_version_go_both_ways),
    };
    return cmocka_run_group_tests(tests, aw_test_inbox_set_up, aw_test_inbox_tear_down);
}
