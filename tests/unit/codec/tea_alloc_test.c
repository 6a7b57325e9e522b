/* Memory of tea-protocol: none in the steady state, every refusal a status. */
#include "tests/unit/codec/tea_support.h"

#include <stdlib.h>

#include "tests/unit/codec/malloc_probe.h"

/** Every how many cases the loop over refusals takes one. */
#define STRIDE 7u

static int read_case(const aw_test_tea_case_t *of, aw_arena_t *arena)
{
    aw_tea_result_t result = {.offset = 77};
    aw_span_t canonical = {(const uint8_t *)"poison", 6};
    int status =
        aw_tea_canonical(of->kind, AW_TEA_EDITION_A, of->input, arena, &result, &canonical);
    if (status != AW_OK) {
        assert_int_equal(result.offset, 77);
        assert_int_equal(canonical.size, 6);
        return status;
    }
    assert_string_equal(aw_test_tea_verdict(&result), of->expect);
    assert_true(aw_span_equal(canonical, of->canonical));
    return AW_OK;
}

static void test_alloc_steady_state_asks_for_none(void **state)
{
    (void)state;
    size_t before = 0;
    for (int round = 0; round < 4; round++) {
        before = round == 2 ? aw_test_malloc_calls : before;
        for (size_t i = 0; i < aw_test_tea_count; i++) {
            aw_arena_reset(aw_test_tea_arena);
            assert_int_equal(read_case(&aw_test_tea_cases[i], aw_test_tea_arena), AW_OK);
        }
    }
    assert_int_equal(aw_test_malloc_calls, before);
}

static void test_alloc_each_call_refused_in_turn_is_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i += STRIDE) {
        int status = AW_STATUS_NO_MEMORY;
        for (size_t allowed = 0; status != AW_OK; allowed++) {
            aw_arena_t *arena = aw_arena_new(0);
            assert_non_null(arena);
            aw_test_malloc_allowed = allowed;
            status = read_case(&aw_test_tea_cases[i], arena);
            aw_test_malloc_allowed = SIZE_MAX;
            assert_true(status == AW_OK || status == AW_STATUS_NO_MEMORY);
            aw_arena_free(arena);
        }
    }
}

static void test_alloc_each_limit_below_what_is_needed_is_a_limit_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i += STRIDE) {
        int status = AW_STATUS_LIMIT_DECODE_BYTES;
        for (size_t limit = 16; status != AW_OK; limit += limit < 4096 ? 16 : limit / 8) {
            aw_arena_t *arena = aw_arena_new(limit);
            assert_non_null(arena);
            status = read_case(&aw_test_tea_cases[i], arena);
            assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
            aw_arena_free(arena);
        }
    }
}

static void test_alloc_builder_refused_memory_gives_nothing(void **state)
{
    (void)state;
    const aw_tea_head_t head = {.type = "abort",
                                .id = aw_span_text_view(AW_TEST_TEA_ID("1")),
                                .session_id = aw_span_text_view(AW_TEST_TEA_ID("2"))};
    int status = AW_STATUS_NO_MEMORY;
    for (size_t allowed = 0; status != AW_OK; allowed++) {
        aw_span_t text = AW_SPAN_NULL;
        aw_tea_builder_t builder;
        aw_arena_t *arena = aw_arena_new(0);
        assert_non_null(arena);
        aw_test_malloc_allowed = allowed;
        aw_tea_builder_start(&builder, AW_TEA_COMMAND, AW_TEA_EDITION_A, &head, arena);
        aw_json_object_open(&builder.json);
        aw_json_object_close(&builder.json);
        status = aw_tea_builder_finish(&builder, &text, NULL);
        aw_test_malloc_allowed = SIZE_MAX;
        assert_true(status == AW_OK || status == AW_STATUS_NO_MEMORY);
        assert_int_equal(text.data != NULL, status == AW_OK);
        aw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_steady_state_asks_for_none),
        cmocka_unit_test(test_alloc_each_call_refused_in_turn_is_no_memory),
        cmocka_unit_test(test_alloc_each_limit_below_what_is_needed_is_a_limit_error),
        cmocka_unit_test(test_alloc_builder_refused_memory_gives_nothing),
    };
    return cmocka_run_group_tests(tests, aw_test_tea_set_up, aw_test_tea_tear_down);
}
