#include "bridge/kafka/partitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ab_source_t sources[] = {{.policy = {.topic = "a"}}, {.policy = {.topic = "b"}}};
static const ab_config_t config = {.sources = sources, .source_count = 2};

static void test_states_pending_and_held_are_counted(void **state)
{
    (void)state;
    ab_parts_t parts;
    assert_int_equal(ab_parts_init(&parts, &config), 0);
    assert_int_equal(ab_parts_set(&parts, 0, 7, AB_PART_PENDING), 0);
    assert_int_equal(ab_parts_set(&parts, 1, 0, AB_PART_PENDING), 0);
    assert_int_equal(parts.pending, 2);
    ab_parts_get(&parts, 0, 7)->next = 42;
    assert_int_equal(ab_parts_set(&parts, 0, 7, AB_PART_HELD), 0);
    assert_int_equal(parts.pending, 1);
    assert_int_equal(parts.held, 1);
    assert_int_equal(ab_parts_get(&parts, 0, 7)->next, 42);
    assert_int_equal(ab_parts_set(&parts, 0, 7, AB_PART_STOPPED), 0);
    assert_int_equal(parts.held, 0);
    assert_int_equal(ab_parts_get(&parts, 0, 7)->next, 42);
    assert_int_equal(ab_parts_set(&parts, 0, 7, AB_PART_NONE), 0);
    assert_int_equal(ab_parts_get(&parts, 0, 7)->next, 0);
    ab_parts_reset(&parts);
    assert_int_equal(parts.pending, 0);
    ab_parts_clear(&parts);
}

static void test_lookup_unknown_places_give_nothing(void **state)
{
    (void)state;
    ab_parts_t parts;
    assert_int_equal(ab_parts_init(&parts, &config), 0);
    assert_int_equal(ab_parts_source(&parts, "b"), 1);
    assert_int_equal(ab_parts_source(&parts, "a"), 0);
    assert_int_equal(ab_parts_source(&parts, "c"), -1);
    assert_null(ab_parts_get(&parts, -1, 0));
    assert_null(ab_parts_get(&parts, 0, 0));
    assert_null(ab_parts_get(&parts, 0, -1));
    ab_parts_clear(&parts);
}

static void test_limit_last_partition_number_is_taken_and_the_next_refused(void **state)
{
    (void)state;
    ab_parts_t parts;
    assert_int_equal(ab_parts_init(&parts, &config), 0);
    assert_int_equal(ab_parts_set(&parts, 0, AB_PARTITIONS_MAX - 2, AB_PART_PENDING), 0);
    assert_int_equal(ab_parts_set(&parts, 0, AB_PARTITIONS_MAX - 1, AB_PART_PENDING), 0);
    assert_int_equal(ab_parts_set(&parts, 0, AB_PARTITIONS_MAX, AB_PART_PENDING), -1);
    assert_int_equal(ab_parts_set(&parts, 0, -1, AB_PART_PENDING), -1);
    assert_int_equal(parts.pending, 2);
    ab_parts_clear(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_pending_and_held_are_counted),
        cmocka_unit_test(test_lookup_unknown_places_give_nothing),
        cmocka_unit_test(test_limit_last_partition_number_is_taken_and_the_next_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
