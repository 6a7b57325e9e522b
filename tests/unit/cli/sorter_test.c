#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bridge/cli/sorter.h"

/* 24 bytes: 2730 of them fit into the least memory. */
typedef struct item {
    uint64_t key, serial, filler;
} item_t;

#define IN_MEMORY (AB_SORTER_MEMORY_MIN / sizeof(item_t))

static int by_key_and_serial(const void *a, const void *b)
{
    const item_t *left = a;
    const item_t *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return left->serial < right->serial ? -1 : left->serial > right->serial;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void check_sorted(ab_sorter_t *sorter, uint64_t count, uint64_t serials)
{
    item_t item;
    item_t before = {0, 0, 0};
    uint64_t sum = 0;
    assert_int_equal(ab_sorter_begin(sorter), 0);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(ab_sorter_next(sorter, &item), 1);
        assert_true(i == 0 || by_key_and_serial(&before, &item) < 0);
        assert_int_equal(item.filler, item.key ^ item.serial);
        before = item;
        sum += item.serial;
    }
    assert_int_equal(ab_sorter_next(sorter, &item), 0);
    assert_int_equal(ab_sorter_next(sorter, &item), 0);
    assert_int_equal(sum, serials);
}

static void check_count(uint64_t count, uint64_t keys)
{
    ab_sorter_t *sorter = ab_sorter_new(sizeof(item_t), by_key_and_serial, 1, AB_SORTER_FILE_MAX);
    uint64_t seed = count + keys;
    assert_non_null(sorter);
    for (uint64_t i = 0; i < count; i++) {
        item_t item = {next_random(&seed) % keys, i, 0};
        item.filler = item.key ^ item.serial;
        assert_int_equal(ab_sorter_add(sorter, &item), 0);
    }
    assert_int_equal(ab_sorter_count(sorter), count);
    check_sorted(sorter, count, count == 0 ? 0 : count * (count - 1) / 2);
    assert_true((ab_sorter_file_bytes(sorter) > 0) == (count > IN_MEMORY));
    check_sorted(sorter, count,
                 count == 0 ? 0 : count * (count - 1) / 2); /* again, from the first */
    ab_sorter_free(sorter);
}

static void test_sorter_any_count_comes_back_sorted(void **state)
{
    static const uint64_t counts[] = {0,
                                      1,
                                      2,
                                      100,
                                      IN_MEMORY - 1,
                                      IN_MEMORY,
                                      IN_MEMORY + 1,
                                      2 * IN_MEMORY,
                                      2 * IN_MEMORY + 1,
                                      50 * IN_MEMORY + 7};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        check_count(counts[i], 1000000);
        check_count(counts[i], 3);
    }
}

static void test_sorter_file_stops_at_its_limit(void **state)
{
    const item_t item = {1, 2, 3};
    const uint64_t limit = 2 * IN_MEMORY * sizeof(item_t);
    ab_sorter_t *sorter = ab_sorter_new(sizeof(item_t), by_key_and_serial, 1, limit);
    uint64_t added = 0;
    int error;
    (void)state;
    while ((error = ab_sorter_add(sorter, &item)) == 0) {
        added++;
        assert_true(added < 10 * IN_MEMORY);
    }
    assert_int_equal(error, EFBIG);
    assert_int_equal(added, 3 * IN_MEMORY);
    assert_int_equal(ab_sorter_file_bytes(sorter), limit);
    ab_sorter_free(sorter);
}

static void test_sorter_folder_that_is_not_there_is_an_error(void **state)
{
    const item_t item = {1, 2, 3};
    int error = 0;
    (void)state;
    assert_int_equal(setenv("TMPDIR", "/nonexistent/folder", 1), 0);
    ab_sorter_t *sorter = ab_sorter_new(sizeof(item_t), by_key_and_serial, 1, AB_SORTER_FILE_MAX);
    for (uint64_t i = 0; i <= IN_MEMORY && error == 0; i++) {
        error = ab_sorter_add(sorter, &item);
    }
    assert_int_equal(error, ENOENT);
    ab_sorter_free(sorter);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorter_any_count_comes_back_sorted),
        cmocka_unit_test(test_sorter_file_stops_at_its_limit),
        cmocka_unit_test(test_sorter_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
