/* The session inbox with memory refused. */
#include "tests/unit/codec/inbox_support.h"

#include <stdlib.h>

#include "tests/unit/codec/malloc_probe.h"

static char *value;   /* a full value of version 1 */
static char *command; /* what it decodes to */

static void keep_largest(const json_t *line, void *opaque)
{
    (void)opaque;
    aw_arena_reset(aw_test_inbox_arena);
    const char *text = aw_test_text(line, "value");
    if (value == NULL || strlen(text) > strlen(value)) {
        free(value);
        free(command);
        value = strdup(text);
        command = strdup(aw_test_text(line, "command"));
    }
}

static int set_up(void **state)
{
    int failed = aw_test_inbox_set_up(state);
    aw_test_lines("golden/session-inbox/v1/fixtures.jsonl", keep_largest, NULL);
    return failed;
}

static int tear_down(void **state)
{
    free(value);
    free(command);
    return aw_test_inbox_tear_down(state);
}

/** Everything once. Returns the first status that is not AW_OK, or a fault as -1. */
static int do_all(aw_arena_t *arena)
{
    aw_inbox_result_t result = {.outcome = AW_INBOX_CLASS_HOOK_LOOKUP};
    aw_span_t output = AW_SPAN_NULL;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    int status = aw_inbox_decode(aw_span_text_view(value), arena, &result, &output);
    if (status != AW_OK) {
        assert_int_equal(result.outcome, AW_INBOX_CLASS_HOOK_LOOKUP);
        assert_null(output.data);
        return status;
    }
    assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
    for (int to = AW_INBOX_TARGET_V0_DELIVER; to <= AW_INBOX_TARGET_V1; to++) {
        status = aw_inbox_encode(aw_span_text_view(command), (aw_inbox_target_t)to, arena, &result,
                                 &output);
        if (status != AW_OK) {
            return status;
        }
        assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
    }
    status = aw_inbox_check(
        aw_span_text_view("{\"kind\":\"send\",\"payload\":{},\"delivery\":{\"x\":1}}"), arena,
        &result);
    if (status == AW_OK) {
        status = aw_inbox_schema(1, arena, &output);
    }
    if (status == AW_OK) {
        status = aw_inbox_classify_text(
            aw_span_text_view("{\"hook\":{\"token\":\"t\",\"runId\":\"r\"},\"stableHook\":null}"),
            arena, &result, &target);
    }
    return status;
}

static void test_inbox_each_piece_refused_in_turn_is_a_limit(void **state)
{
    (void)state;
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    size_t refusals = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16 + limit / 200) {
        aw_arena_t *arena = aw_arena_new(limit);
        assert_non_null(arena);
        status = do_all(arena);
        assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
        refusals += status != AW_OK;
        aw_arena_free(arena);
    }
    assert_true(refusals > 300);
}

static void test_inbox_each_block_refused_in_turn_is_no_memory(void **state)
{
    (void)state;
    int status = AW_STATUS_NO_MEMORY;
    size_t refusals = 0;
    for (size_t allowed = 0; status != AW_OK; allowed++) {
        aw_arena_t *arena = aw_arena_new(0);
        assert_non_null(arena);
        aw_test_malloc_allowed = allowed;
        status = do_all(arena);
        aw_test_malloc_allowed = SIZE_MAX;
        assert_true(status == AW_OK || status == AW_STATUS_NO_MEMORY);
        refusals += status != AW_OK;
        aw_arena_free(arena);
    }
    assert_true(refusals > 3);
}

static void test_inbox_steady_state_asks_for_no_memory(void **state)
{
    (void)state;
    size_t before = 0;
    for (int round = 0; round < 5; round++) {
        before = round == 2 ? aw_test_malloc_calls : before;
        aw_arena_reset(aw_test_inbox_arena);
        assert_int_equal(do_all(aw_test_inbox_arena), AW_OK);
    }
    assert_int_equal(aw_test_malloc_calls, before);
}

/* any damage of a value is judged, and what is still decoded and encoded comes back equal */
static void test_inbox_damaged_values_are_judged_and_come_back(void **state)
{
    (void)state;
    enum { ROUNDS = 60000, CAPACITY = 8192 };
    static uint8_t bytes[CAPACITY];
    size_t decoded = 0;
    size_t encoded = 0;
    uint64_t seed = 5;
    for (int round = 0; round < ROUNDS; round++) {
        const char *text = round % 2 == 0 ? value : command;
        memcpy(bytes, text, strlen(text));
        const size_t size = aw_test_mutate(&seed, bytes, strlen(text), CAPACITY);
        aw_inbox_result_t result;
        aw_span_t first = AW_SPAN_NULL;
        aw_span_t stored = AW_SPAN_NULL;
        aw_span_t second = AW_SPAN_NULL;
        aw_span_t again = AW_SPAN_NULL;
        aw_arena_reset(aw_test_inbox_arena);
        assert_int_equal(
            aw_inbox_decode((aw_span_t){bytes, size}, aw_test_inbox_arena, &result, &first), AW_OK);
        if (result.outcome != AW_INBOX_CLASS_OK) {
            continue;
        }
        decoded++;
        assert_int_equal(
            aw_inbox_encode(first, AW_INBOX_TARGET_V1, aw_test_inbox_arena, &result, &stored),
            AW_OK);
        if (result.outcome != AW_INBOX_CLASS_OK) {
            assert_int_equal(result.outcome, AW_INBOX_CLASS_SCHEMA);
            continue;
        }
        encoded++;
        /* what the encoder removed is gone from then on: the value is its own fixed point */
        assert_int_equal(aw_inbox_decode(stored, aw_test_inbox_arena, &result, &second), AW_OK);
        assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
        assert_int_equal(
            aw_inbox_encode(second, AW_INBOX_TARGET_V1, aw_test_inbox_arena, &result, &again),
            AW_OK);
        assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
        assert_true(aw_span_equal(again, stored));
    }
    assert_true(decoded > ROUNDS / 20 && encoded > ROUNDS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inbox_each_piece_refused_in_turn_is_a_limit),
        cmocka_unit_test(test_inbox_each_block_refused_in_turn_is_no_memory),
        cmocka_unit_test(test_inbox_steady_state_asks_for_no_memory),
        cmocka_unit_test(test_inbox_damaged_values_are_judged_and_come_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
