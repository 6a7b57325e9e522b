#include "tests/unit/codec/support.h"

#include "agentwire/arena.h"
#include "codec/base/limits.h"
#include "codec/base/size.h"
#include "tests/unit/codec/malloc_probe.h"

static void test_arena_pieces_are_aligned_apart_and_writable(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    static uint8_t *pieces[PIECES];
    static size_t sizes[PIECES];
    uint64_t random = 1;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)(aw_test_random(&random) % 300);
        pieces[i] = aw_arena_alloc(arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % AW__ARENA_ALIGN, 0);
        memset(pieces[i], i % 256, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++) {
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(pieces[i][j], i % 256);
        }
    }
    aw_arena_free(arena);
}

static void test_arena_limit_is_exact(void **state)
{
    (void)state;
    for (size_t limit = AW__ARENA_ALIGN; limit <= 64 * AW__ARENA_ALIGN; limit += AW__ARENA_ALIGN) {
        aw_arena_t *arena = aw_arena_new(limit);
        assert_non_null(arena);
        assert_null(aw_arena_alloc(arena, limit + 1));
        assert_int_equal(aw_arena_status(arena), AW_STATUS_LIMIT_DECODE_BYTES);
        assert_non_null(aw_arena_alloc(arena, limit));
        assert_null(aw_arena_alloc(arena, 1));
        assert_int_equal(aw_arena_status(arena), AW_STATUS_LIMIT_DECODE_BYTES);
        aw_arena_reset(arena);
        assert_non_null(aw_arena_alloc(arena, limit - 1));
        assert_null(aw_arena_alloc(arena, 0));
        aw_arena_free(arena);
    }
}

static void test_arena_limit_counts_since_the_last_reset(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(1024);
    assert_non_null(arena);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 64; i++) {
            assert_non_null(aw_arena_alloc(arena, 16));
        }
        assert_null(aw_arena_alloc(arena, 16));
        aw_arena_reset(arena);
        assert_int_equal(aw_arena_status(arena), AW_STATUS_NO_MEMORY);
    }
    aw_arena_free(arena);
}

static void test_arena_calloc_gives_zeros_where_there_was_something(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (int round = 0; round < 3; round++) {
        uint8_t *bytes = aw_arena_calloc(arena, 100, 7);
        assert_non_null(bytes);
        for (size_t i = 0; i < 700; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(bytes, 0xff, 700);
        aw_arena_reset(arena);
    }
    aw_arena_free(arena);
}

static void test_arena_sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    const size_t limits[] = {0, 1024};
    for (size_t i = 0; i < 2; i++) {
        aw_arena_t *arena = aw_arena_new(limits[i]);
        assert_non_null(arena);
        assert_null(aw_arena_calloc(arena, SIZE_MAX / 2, 3));
        assert_int_equal(aw_arena_status(arena),
                         limits[i] != 0 ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_NO_MEMORY);
        assert_null(aw_arena_alloc(arena, SIZE_MAX));
        assert_null(aw_arena_alloc(arena, SIZE_MAX - AW__ARENA_ALIGN));
        assert_int_equal(aw_arena_status(arena),
                         limits[i] != 0 ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_NO_MEMORY);
        assert_non_null(aw_arena_alloc(arena, 16));
        aw_arena_free(arena);
    }
}

static void test_arena_steady_state_asks_for_no_memory(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    size_t calls = 0;
    for (int round = 0; round < 50; round++) {
        if (round == 2) {
            calls = aw_test_malloc_calls;
        }
        /* The same amount each time, in pieces of other sizes. */
        uint64_t random = (uint64_t)round;
        for (size_t left = 3 * AW__ARENA_BLOCK_MAX; left > 0;) {
            size_t size = 16 * (1 + (size_t)(aw_test_random(&random) % 4000));
            size = size < left ? size : left;
            assert_non_null(aw_arena_alloc(arena, size));
            left -= size;
        }
        aw_arena_reset(arena);
    }
    assert_int_equal(aw_test_malloc_calls, calls);
    aw_arena_free(arena);
}

static void test_arena_growing_rounds_keep_memory_in_proportion(void **state)
{
    (void)state;
    const size_t before = aw_test_malloc_bytes;
    const size_t limit = 16 * AW__ARENA_BLOCK_MAX;
    aw_arena_t *arena = aw_arena_new(limit);
    assert_non_null(arena);
    for (size_t size = AW__ARENA_ALIGN; size <= limit; size += limit / 64) {
        assert_non_null(aw_arena_alloc(arena, size));
        while (aw_arena_alloc(arena, limit / 100) != NULL) {
        }
        assert_int_equal(aw_arena_status(arena), AW_STATUS_LIMIT_DECODE_BYTES);
        aw_arena_reset(arena);
        assert_true(aw_test_malloc_bytes - before <= 3 * limit);
    }
    aw_arena_free(arena);
    assert_int_equal(aw_test_malloc_bytes, before);
}

static void test_arena_refused_memory_is_no_limit_and_passes(void **state)
{
    (void)state;
    aw_test_malloc_allowed = 0;
    assert_null(aw_arena_new(0));
    aw_test_malloc_allowed = SIZE_MAX;

    aw_arena_t *arena = aw_arena_new(1u << 30);
    assert_non_null(arena);
    aw_test_malloc_allowed = 0;
    assert_null(aw_arena_alloc(arena, 16));
    assert_int_equal(aw_arena_status(arena), AW_STATUS_NO_MEMORY);
    aw_test_malloc_allowed = SIZE_MAX;
    uint8_t *first = aw_arena_alloc(arena, AW__ARENA_BLOCK_MIN);
    assert_non_null(first);
    aw_test_malloc_allowed = 0;
    assert_null(aw_arena_alloc(arena, AW__ARENA_BLOCK_MIN));
    assert_int_equal(aw_arena_status(arena), AW_STATUS_NO_MEMORY);
    memset(first, 1, AW__ARENA_BLOCK_MIN);
    aw_test_malloc_allowed = SIZE_MAX;

    /* A reset that cannot get one block for all goes on with what it has. */
    assert_non_null(aw_arena_alloc(arena, 5 * AW__ARENA_BLOCK_MIN));
    aw_test_malloc_allowed = 0;
    aw_arena_reset(arena);
    assert_non_null(aw_arena_alloc(arena, 5 * AW__ARENA_BLOCK_MIN));
    aw_test_malloc_allowed = SIZE_MAX;
    aw_arena_free(arena);
}

static void test_arena_free_takes_null(void **state)
{
    (void)state;
    aw_arena_free(NULL);
}

static void test_size_sums_and_products_that_overflow_are_refused(void **state)
{
    (void)state;
    size_t sum = SIZE_MAX - 1;
    assert_true(aw__size_add(&sum, 1));
    assert_true(sum == SIZE_MAX);
    assert_false(aw__size_add(&sum, 1));
    assert_true(sum == SIZE_MAX);
    size_t product = 7;
    assert_true(aw__size_mul(SIZE_MAX / 16, 16, &product));
    assert_true(product == SIZE_MAX - 15);
    assert_false(aw__size_mul(SIZE_MAX / 16 + 1, 16, &product));
    assert_true(product == SIZE_MAX - 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_pieces_are_aligned_apart_and_writable),
        cmocka_unit_test(test_arena_limit_is_exact),
        cmocka_unit_test(test_arena_limit_counts_since_the_last_reset),
        cmocka_unit_test(test_arena_calloc_gives_zeros_where_there_was_something),
        cmocka_unit_test(test_arena_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_arena_steady_state_asks_for_no_memory),
        cmocka_unit_test(test_arena_growing_rounds_keep_memory_in_proportion),
        cmocka_unit_test(test_arena_refused_memory_is_no_limit_and_passes),
        cmocka_unit_test(test_arena_free_takes_null),
        cmocka_unit_test(test_size_sums_and_products_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
