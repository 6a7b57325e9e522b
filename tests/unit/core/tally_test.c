#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/core/tally.h"

static void test_tallies_each_partition_has_its_own(void **state)
{
    ab_tallies_t tallies;
    (void)state;
    assert_int_equal(ab_tallies_init(&tallies, 2), 0);
    ab_tallies_count(&tallies, 0, 3, AB_OUTCOME_ROUTED);
    ab_tallies_count(&tallies, 0, 3, AB_OUTCOME_DEAD_LETTERED);
    ab_tallies_count(&tallies, 0, 0, AB_OUTCOME_DROPPED);
    ab_tallies_count(&tallies, 1, 1, AB_OUTCOME_ANSWERED);
    ab_tallies_count(&tallies, 2, 0, AB_OUTCOME_ROUTED); /* no such source: counted nowhere */
    assert_int_equal(tallies.sources[0].count, 4);
    assert_int_equal(tallies.sources[0].items[3].consumed, 2);
    assert_int_equal(tallies.sources[0].items[3].outcomes[AB_OUTCOME_ROUTED], 1);
    assert_int_equal(tallies.sources[0].items[3].outcomes[AB_OUTCOME_DEAD_LETTERED], 1);
    assert_int_equal(tallies.sources[0].items[1].consumed, 0);
    assert_int_equal(tallies.sources[0].items[0].outcomes[AB_OUTCOME_DROPPED], 1);
    assert_int_equal(tallies.sources[1].items[1].outcomes[AB_OUTCOME_ANSWERED], 1);
    for (size_t p = 0; p < tallies.sources[0].count; p++) {
        assert_true(ab_tally_balanced(&tallies.sources[0].items[p]));
    }
    tallies.sources[0].items[3].consumed++;
    assert_false(ab_tally_balanced(&tallies.sources[0].items[3]));
    ab_tallies_clear(&tallies);
}

static void test_tallies_what_is_in_hand_is_added_once(void **state)
{
    ab_tallies_t hand;
    ab_tallies_t durable;
    (void)state;
    assert_int_equal(ab_tallies_init(&hand, 1), 0);
    assert_int_equal(ab_tallies_init(&durable, 1), 0);
    ab_tallies_count(&durable, 0, 0, AB_OUTCOME_ROUTED);
    ab_tallies_count(&hand, 0, 0, AB_OUTCOME_ROUTED);
    ab_tallies_count(&hand, 0, 7, AB_OUTCOME_DROPPED);
    ab_tallies_add(&durable, &hand);
    ab_tallies_reset(&hand);
    ab_tallies_add(&durable, &hand);
    assert_int_equal(durable.sources[0].count, 8);
    assert_int_equal(durable.sources[0].items[0].consumed, 2);
    assert_int_equal(durable.sources[0].items[7].outcomes[AB_OUTCOME_DROPPED], 1);
    ab_tallies_clear(&hand);
    ab_tallies_clear(&durable);
    ab_tallies_add(&durable, &hand); /* of no sources: nothing */
    ab_tallies_clear(&durable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tallies_each_partition_has_its_own),
        cmocka_unit_test(test_tallies_what_is_in_hand_is_added_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
