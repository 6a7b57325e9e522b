#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bridge/core/offset_set.h"

static size_t pages_of(const ab_offset_set_t *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->page_count; i++) {
        count += set->pages[i] != NULL;
    }
    return count;
}

static void test_offset_set_empty_holds_nothing(void **state)
{
    ab_offset_set_t set = {.base = 5};

    (void)state;
    assert_false(ab_offset_set_has(&set, 0));
    assert_false(ab_offset_set_has(&set, 5));
    assert_false(ab_offset_set_has(&set, INT64_MAX));
    ab_offset_set_clear(&set);
}

static void test_offset_set_added_offsets_are_there_and_no_others(void **state)
{
    const int64_t base = INT64_C(9000000000);
    const int64_t added[] = {base,
                             base + 63,
                             base + 64,
                             base + AB_OFFSET_PAGE - 1,
                             base + AB_OFFSET_PAGE,
                             base + 40 * (int64_t)AB_OFFSET_PAGE + 7};
    ab_offset_set_t set = {.base = base};

    (void)state;
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
        assert_int_equal(ab_offset_set_add(&set, added[i]), 0);
    }
    for (int64_t offset = base - 2; offset < base + 42 * (int64_t)AB_OFFSET_PAGE; offset++) {
        int wanted = 0;

        for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
            wanted |= added[i] == offset;
        }
        assert_int_equal(ab_offset_set_has(&set, offset), wanted);
    }
    ab_offset_set_clear(&set);
    assert_false(ab_offset_set_has(&set, base));
}

static void test_offset_set_below_the_base_is_left_out(void **state)
{
    ab_offset_set_t set = {.base = 100};

    (void)state;
    assert_int_equal(ab_offset_set_add(&set, 99), 0);
    assert_int_equal(ab_offset_set_add(&set, INT64_MIN), 0);
    assert_false(ab_offset_set_has(&set, 99));
    assert_false(ab_offset_set_has(&set, INT64_MIN));
    assert_int_equal(pages_of(&set), 0);
    ab_offset_set_clear(&set);
}

static void test_offset_set_pages_without_offsets_take_no_memory(void **state)
{
    ab_offset_set_t set = {.base = 0};

    (void)state;
    assert_int_equal(ab_offset_set_add(&set, 1000 * (int64_t)AB_OFFSET_PAGE), 0);
    assert_int_equal(ab_offset_set_add(&set, 3), 0);
    assert_int_equal(pages_of(&set), 2);
    ab_offset_set_clear(&set);
}

static void test_offset_set_span_is_bounded(void **state)
{
    ab_offset_set_t set = {.base = 7};

    (void)state;
    assert_int_equal(ab_offset_set_add(&set, 7 + AB_OFFSET_SPAN_MAX), -1);
    assert_int_equal(ab_offset_set_add(&set, INT64_MAX), -1);
    assert_int_equal(pages_of(&set), 0);
    assert_int_equal(ab_offset_set_add(&set, 7 + AB_OFFSET_SPAN_MAX - 1), 0);
    assert_true(ab_offset_set_has(&set, 7 + AB_OFFSET_SPAN_MAX - 1));
    ab_offset_set_clear(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offset_set_empty_holds_nothing),
        cmocka_unit_test(test_offset_set_added_offsets_are_there_and_no_others),
        cmocka_unit_test(test_offset_set_below_the_base_is_left_out),
        cmocka_unit_test(test_offset_set_pages_without_offsets_take_no_memory),
        cmocka_unit_test(test_offset_set_span_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
