#include "bridge/core/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_histogram_bounds_each_value_lands_in_the_first_bucket_that_holds_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_HISTOGRAM_BUCKETS; i++) {
        ab_histogram_t histogram = {0};
        ab_histogram_observe(&histogram, ab_histogram_bounds[i]);
        assert_int_equal(histogram.counts[i], 1);
        ab_histogram_observe(&histogram, ab_histogram_bounds[i] * 1.0001);
        assert_int_equal(histogram.counts[i + 1], 1);
        assert_int_equal(histogram.count, 2);
        assert_true(i == 0 || ab_histogram_bounds[i] > ab_histogram_bounds[i - 1]);
    }
}

static void test_histogram_negative_duration_counts_as_nothing(void **state)
{
    (void)state;
    ab_histogram_t histogram = {0};
    ab_histogram_observe(&histogram, -5);
    assert_int_equal(histogram.counts[0], 1);
    assert_true(histogram.sum_seconds >= 0 && histogram.sum_seconds <= 0);
}

static void test_counters_add_every_number_is_added(void **state)
{
    (void)state;
    ab_counters_t one;
    ab_counters_t sum;
    memset(&one, 0, sizeof(one));
    memset(&sum, 0, sizeof(sum));
    one.ledger.consumed = 3;
    one.transactions[AB_TXN_FENCED] = 2;
    one.rebalances[AB_REBALANCE_LOST] = 4;
    one.produce_failures[AB_CAUSE_OTHER] = 5;
    one.lane_restarts = 6;
    one.last_dead_letter_ms = 7;
    ab_histogram_observe(&one.transaction_seconds, 0.2);
    ab_histogram_observe(&one.record_age_seconds, 1e6);
    ab_counters_add(&sum, &one);
    ab_counters_add(&sum, &one);
    assert_int_equal(sum.ledger.consumed, 6);
    assert_int_equal(sum.transactions[AB_TXN_FENCED], 4);
    assert_int_equal(sum.rebalances[AB_REBALANCE_LOST], 8);
    assert_int_equal(sum.produce_failures[AB_CAUSE_OTHER], 10);
    assert_int_equal(sum.lane_restarts, 12);
    assert_int_equal(sum.last_dead_letter_ms, 7);
    assert_int_equal(sum.transaction_seconds.count, 2);
    assert_int_equal(sum.record_age_seconds.counts[AB_HISTOGRAM_BUCKETS], 2);
}

static void test_sources_add_counts_add_up_and_the_oldest_wins(void **state)
{
    (void)state;
    ab_source_status_t sum = {0};
    const ab_source_status_t a = {.assigned = 3,
                                  .pending = 1,
                                  .open_breakers = 1,
                                  .tripped = {600, 500},
                                  .tripped_reason = AB_REASON_TOMBSTONE,
                                  .lag_records = 10,
                                  .oldest_unfinished_seconds = 2.5};
    const ab_source_status_t b = {.assigned = 2,
                                  .stopped = 1,
                                  .stuck = 1,
                                  .lag_records = 5,
                                  .oldest_unfinished_seconds = 1.5};
    ab_source_status_add(&sum, &a);
    ab_source_status_add(&sum, &b);
    assert_int_equal(sum.assigned, 5);
    assert_int_equal(sum.pending, 1);
    assert_int_equal(sum.stopped, 1);
    assert_int_equal(sum.stuck, 1);
    assert_int_equal(sum.open_breakers, 1);
    assert_int_equal(sum.tripped.read, 600);
    assert_int_equal(sum.tripped.dead_lettered, 500);
    assert_int_equal(sum.tripped_reason, AB_REASON_TOMBSTONE);
    assert_int_equal(sum.lag_records, 15);
    assert_true(sum.oldest_unfinished_seconds > 2.4 && sum.oldest_unfinished_seconds < 2.6);
}

static void test_ready_each_reason_in_the_order_of_the_life(void **state)
{
    (void)state;
    ab_lane_status_t lanes[2] = {{.joined = true}, {.joined = false}};
    ab_source_status_t source = {0};
    ab_status_t status = {.lanes = lanes, .lane_count = 2, .sources = &source, .source_count = 1};
    status.phase = AB_RELAY_PHASE_CONNECTING;
    assert_int_equal(ab_status_ready(&status), AB_READY_CONNECTING);
    status.phase = AB_RELAY_PHASE_WAITING_TOPICS;
    assert_int_equal(ab_status_ready(&status), AB_READY_WAITING_TOPICS);
    status.phase = AB_RELAY_PHASE_RUNNING;
    assert_int_equal(ab_status_ready(&status), AB_READY_JOINING);
    lanes[1].joined = true; /* also without a partition */
    assert_int_equal(ab_status_ready(&status), AB_READY_READY);
    source.stuck = 1;
    assert_int_equal(ab_status_ready(&status), AB_READY_STUCK);
    source.stuck = 0;
    source.pending = 1;
    assert_int_equal(ab_status_ready(&status), AB_READY_READY);
    status.phase = AB_RELAY_PHASE_STOPPING;
    assert_int_equal(ab_status_ready(&status), AB_READY_STOPPING);
}

static void test_alive_one_lane_whose_loop_stands_is_enough_to_be_dead(void **state)
{
    (void)state;
    ab_lane_status_t lanes[2] = {{.tick_seconds = 29.9}, {.tick_seconds = 0}};
    ab_status_t status = {.lanes = lanes, .lane_count = 2};
    assert_true(ab_status_alive(&status, 30));
    lanes[0].tick_seconds = 30.1;
    assert_false(ab_status_alive(&status, 30));
    lanes[0].phase = AB_PHASE_ENDED;
    assert_true(ab_status_alive(&status, 30));
}

static void test_labels_every_word_is_snake_case_and_out_of_range_is_empty(void **state)
{
    (void)state;
    for (int i = 0; i < AB_CAUSE_COUNT; i++) {
        const char *label = ab_cause_label((ab_cause_t)i);
        assert_true(label[0] != '\0');
        assert_int_equal(strspn(label, "abcdefghijklmnopqrstuvwxyz_"), strlen(label));
    }
    assert_string_equal(ab_cause_label(AB_CAUSE_COUNT), "");
    assert_string_equal(ab_txn_result_label(AB_TXN_FENCED), "fenced");
    assert_string_equal(ab_rebalance_label(AB_REBALANCE_LOST), "lost");
    assert_string_equal(ab_phase_label(AB_PHASE_ENDED), "ended");
    assert_string_equal(ab_relay_phase_label(AB_RELAY_PHASE_WAITING_TOPICS), "waiting_topics");
    assert_string_equal(ab_ready_text(AB_READY_READY), "ready");
    assert_string_equal(ab_ready_label(AB_READY_WAITING_TOPICS), "waiting_topics");
    assert_string_equal(ab_ready_label(AB_READY_COUNT), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram_bounds_each_value_lands_in_the_first_bucket_that_holds_it),
        cmocka_unit_test(test_histogram_negative_duration_counts_as_nothing),
        cmocka_unit_test(test_counters_add_every_number_is_added),
        cmocka_unit_test(test_sources_add_counts_add_up_and_the_oldest_wins),
        cmocka_unit_test(test_ready_each_reason_in_the_order_of_the_life),
        cmocka_unit_test(test_alive_one_lane_whose_loop_stands_is_enough_to_be_dead),
        cmocka_unit_test(test_labels_every_word_is_snake_case_and_out_of_range_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
