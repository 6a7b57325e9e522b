#include "bridge/core/frontier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const ab_done_t DONE = {.outcome = AB_OUTCOME_ROUTED};

static uint64_t add(ab_frontier_t *frontier, int64_t offset, unsigned outputs)
{
    assert_int_equal(ab_frontier_reserve(frontier), 0);
    const uint64_t ticket = ab_frontier_add(frontier, offset);
    for (unsigned i = 0; i < outputs; i++) {
        ab_frontier_expect(frontier, ticket);
    }
    ab_frontier_settle(frontier, ticket, &DONE);
    return ticket;
}

/* How many records pass now. */
static unsigned pass_all(ab_frontier_t *frontier)
{
    ab_done_t done;
    unsigned count = 0;
    while (ab_frontier_pass(frontier, &done)) {
        assert_int_equal(frontier->offset, done.offset + 1);
        count++;
    }
    return count;
}

static void test_frontier_reports_in_any_order_move_it_over_whole_runs_only(void **state)
{
    (void)state;
    ab_frontier_t frontier = {0};
    ab_frontier_reset(&frontier, 100);
    const uint64_t a = add(&frontier, 100, 1);
    const uint64_t b = add(&frontier, 101, 2);
    const uint64_t c = add(&frontier, 107, 1); /* markers and compacted records lie between */
    assert_int_equal(pass_all(&frontier), 0);
    assert_true(ab_frontier_report(&frontier, c));
    assert_int_equal(pass_all(&frontier), 0);
    assert_int_equal(frontier.offset, 100);
    assert_true(ab_frontier_report(&frontier, b));
    assert_true(ab_frontier_report(&frontier, a));
    assert_int_equal(pass_all(&frontier), 1);
    assert_int_equal(frontier.offset, 101);
    assert_true(ab_frontier_report(&frontier, b));
    assert_int_equal(pass_all(&frontier), 2);
    assert_int_equal(frontier.offset, 108);
    assert_int_equal(ab_frontier_waiting(&frontier), 0);
    ab_frontier_clear(&frontier);
}

static void test_frontier_record_without_outputs_is_durable_at_once(void **state)
{
    (void)state;
    ab_frontier_t frontier = {0};
    ab_frontier_reset(&frontier, 0);
    const uint64_t a = add(&frontier, 0, 1);
    (void)add(&frontier, 1, 0);
    assert_int_equal(pass_all(&frontier), 0); /* but not before those below it */
    assert_true(ab_frontier_report(&frontier, a));
    assert_int_equal(pass_all(&frontier), 2);
    ab_frontier_clear(&frontier);
}

/* A report can come while the record's other outputs are still being handed over. */
static void test_frontier_early_report_waits_for_the_record_to_be_settled(void **state)
{
    (void)state;
    ab_frontier_t frontier = {0};
    ab_done_t done = {.reason = 7, .waits = 99, .offset = 99};
    ab_frontier_reset(&frontier, 5);
    assert_int_equal(ab_frontier_reserve(&frontier), 0);
    const uint64_t ticket = ab_frontier_add(&frontier, 5);
    ab_frontier_expect(&frontier, ticket);
    assert_true(ab_frontier_report(&frontier, ticket));
    assert_int_equal(pass_all(&frontier), 0);
    ab_frontier_settle(&frontier, ticket, &done);
    assert_true(ab_frontier_pass(&frontier, &done));
    assert_int_equal(done.offset, 5);
    assert_int_equal(done.reason, 7);
    ab_frontier_clear(&frontier);
}

static void test_frontier_reset_ignores_the_reports_of_before(void **state)
{
    (void)state;
    ab_frontier_t frontier = {0};
    ab_frontier_reset(&frontier, 0);
    const uint64_t old = add(&frontier, 0, 1);
    ab_frontier_reset(&frontier, 0);
    const uint64_t again = add(&frontier, 0, 1);
    assert_false(ab_frontier_report(&frontier, old));
    assert_int_equal(pass_all(&frontier), 0);
    ab_frontier_clear(&frontier); /* the partition went and came back */
    assert_false(ab_frontier_report(&frontier, again));
    ab_frontier_reset(&frontier, 0);
    const uint64_t third = add(&frontier, 0, 1);
    assert_false(ab_frontier_knows(&frontier, again));
    assert_true(ab_frontier_knows(&frontier, third));
    assert_false(ab_frontier_knows(&frontier, third + 1));
    ab_frontier_clear(&frontier);
}

/* Against a plain model: a list of records and how many reports each lacks. */
static void test_frontier_random_orders_agree_with_a_model(void **state)
{
    (void)state;
    enum { RECORDS = 3000 };
    static uint64_t tickets[RECORDS];
    static unsigned lacks[RECORDS];
    static int64_t offsets[RECORDS];
    ab_frontier_t frontier = {0};
    srand(4);
    ab_frontier_reset(&frontier, 0);
    size_t added = 0, passed = 0;
    int64_t offset = 0;
    while (passed < RECORDS) {
        if (added < RECORDS && rand() % 2 == 0) {
            offset += rand() % 3;
            offsets[added] = offset++;
            lacks[added] = (unsigned)rand() % 3;
            tickets[added] = add(&frontier, offsets[added], lacks[added]);
            added++;
        } else if (added > passed) {
            const size_t which = passed + (size_t)rand() % (added - passed);
            if (lacks[which] > 0) {
                assert_true(ab_frontier_report(&frontier, tickets[which]));
                lacks[which]--;
            }
        }
        size_t model = passed;
        while (model < added && lacks[model] == 0) {
            model++;
        }
        assert_int_equal(pass_all(&frontier), model - passed);
        passed = model;
        assert_int_equal(ab_frontier_waiting(&frontier), added - passed);
        if (passed > 0) {
            assert_int_equal(frontier.offset, offsets[passed - 1] + 1);
        }
    }
    ab_frontier_clear(&frontier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frontier_reports_in_any_order_move_it_over_whole_runs_only),
        cmocka_unit_test(test_frontier_record_without_outputs_is_durable_at_once),
        cmocka_unit_test(test_frontier_early_report_waits_for_the_record_to_be_settled),
        cmocka_unit_test(test_frontier_reset_ignores_the_reports_of_before),
        cmocka_unit_test(test_frontier_random_orders_agree_with_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
