/* The frozen inputs of golden/wire against what the reference runtime said about them. */
#include "tests/unit/codec/support.h"

#include <stdio.h>

static aw_test_golden_t *golden;
static size_t count;

static int set_up(void **state)
{
    (void)state;
    golden = aw_test_golden_load(&count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    aw_test_golden_free(golden, count);
    return 0;
}

static void test_golden_scan_and_decode_judge_as_the_reference_does(void **state)
{
    (void)state;
    unsigned accepted = 0;
    for (size_t i = 0; i < count; i++) {
        aw_span_t input = aw_test_guarded(golden[i].input);
        aw_error_t error = AW_ERROR_INIT;
        int status = aw_message_scan(golden[i].type, input, &error);
        if ((status == AW_OK) != golden[i].accepted) {
            fail_msg("%s: %s", golden[i].name, aw_status_name(status));
        }
        if (status != AW_OK) {
            aw_test_expect_refused(golden[i].type, input, status, error.offset, error.field);
        }
        accepted += golden[i].accepted;
    }
    assert_in_range(accepted, 30, count - 10);
}

static void test_golden_deterministic_encoding_is_the_references(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (size_t i = 0; i < count; i++) {
        if (!golden[i].accepted) {
            continue;
        }
        aw_arena_reset(arena);
        const aw_message_t *message =
            aw_test_decode(golden[i].type, aw_test_guarded(golden[i].input), arena);
        aw_span_t bytes = AW_SPAN_NULL;
        assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
        if (!aw_span_equal(bytes, golden[i].deterministic)) {
            fail_msg("%s", golden[i].name);
        }
        /* Canonical bytes are their own encoding. */
        const aw_message_t *again = aw_test_decode(golden[i].type, bytes, arena);
        aw_span_t same = AW_SPAN_NULL;
        assert_int_equal(aw_message_encode(again, arena, &same), AW_OK);
        assert_true(aw_span_equal(bytes, same));
    }
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_scan_and_decode_judge_as_the_reference_does),
        cmocka_unit_test(test_golden_deterministic_encoding_is_the_references),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
