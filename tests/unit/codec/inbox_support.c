#include "tests/unit/codec/inbox_support.h"

aw_arena_t *aw_test_inbox_arena;

int aw_test_inbox_set_up(void **state)
{
    (void)state;
    aw_test_inbox_arena = aw_arena_new(0);
    return aw_test_inbox_arena == NULL;
}

int aw_test_inbox_tear_down(void **state)
{
    (void)state;
    aw_arena_free(aw_test_inbox_arena);
    return 0;
}

static const aw_inbox_result_t POISON = {.outcome = AW_INBOX_CLASS_HOOK_LOOKUP};
static aw_inbox_result_t last;

const aw_inbox_result_t *aw_test_inbox_decode(const char *text, aw_span_t *ret_output)
{
    last = POISON;
    *ret_output = AW_SPAN_NULL;
    assert_int_equal(
        aw_inbox_decode(aw_span_text_view(text), aw_test_inbox_arena, &last, ret_output), AW_OK);
    aw_inbox_result_t checked = POISON;
    assert_int_equal(aw_inbox_check(aw_span_text_view(text), aw_test_inbox_arena, &checked), AW_OK);
    assert_int_equal(checked.outcome, last.outcome);
    assert_string_equal(checked.message, last.message);
    return &last;
}

const aw_inbox_result_t *aw_test_inbox_encode(const char *command, aw_inbox_target_t target,
                                              aw_span_t *ret_output)
{
    last = POISON;
    *ret_output = AW_SPAN_NULL;
    assert_int_equal(
        aw_inbox_encode(aw_span_text_view(command), target, aw_test_inbox_arena, &last, ret_output),
        AW_OK);
    return &last;
}

static void expect_output(const char *input, const aw_inbox_result_t *result, aw_span_t output,
                          const char *expected)
{
    if (result->outcome != AW_INBOX_CLASS_OK) {
        print_error("%s: %s at '%s': %s\n", input, aw_inbox_class_name(result->outcome),
                    result->pointer, result->message);
    }
    assert_int_equal(result->outcome, AW_INBOX_CLASS_OK);
    assert_string_equal(result->message, "");
    assert_int_equal(result->offset, -1);
    if (!aw_span_equal(output, aw_span_text_view(expected))) {
        print_error("%s gives\n%.*s\n%s is expected\n", input, (int)output.size,
                    (const char *)output.data, expected);
    }
    assert_true(aw_span_equal(output, aw_span_text_view(expected)));
}

void aw_test_inbox_expect_decoded(const char *text, const char *output)
{
    aw_span_t got;
    const aw_inbox_result_t *result = aw_test_inbox_decode(text, &got);
    expect_output(text, result, got, output);
}

void aw_test_inbox_expect_encoded(const char *command, aw_inbox_target_t target, const char *output)
{
    aw_span_t got;
    const aw_inbox_result_t *result = aw_test_inbox_encode(command, target, &got);
    expect_output(command, result, got, output);
}

static void expect_refusal(const char *input, const aw_inbox_result_t *result, aw_span_t output,
                           aw_inbox_class_t outcome, const char *pointer, const char *words)
{
    if (result->outcome != outcome || strcmp(result->pointer, pointer) != 0 ||
        strstr(result->message, words) == NULL) {
        print_error("%s: %s at '%s': %s\n", input, aw_inbox_class_name(result->outcome),
                    result->pointer, result->message);
    }
    assert_int_equal(result->outcome, outcome);
    assert_string_equal(result->pointer, pointer);
    assert_non_null(strstr(result->message, words));
    assert_true(result->pointer_known <= strlen(result->pointer));
    assert_null(output.data);
}

void aw_test_inbox_refuse_decoded(const char *text, aw_inbox_class_t outcome, const char *pointer,
                                  const char *words)
{
    aw_span_t output;
    const aw_inbox_result_t *result = aw_test_inbox_decode(text, &output);
    expect_refusal(text, result, output, outcome, pointer, words);
}

void aw_test_inbox_refuse_encoded(const char *command, aw_inbox_class_t outcome,
                                  const char *pointer, const char *words)
{
    for (int target = AW_INBOX_TARGET_V0_DELIVER; target <= AW_INBOX_TARGET_V1; target++) {
        aw_span_t output;
        const aw_inbox_result_t *result =
            aw_test_inbox_encode(command, (aw_inbox_target_t)target, &output);
        expect_refusal(command, result, output, outcome, pointer, words);
    }
}
