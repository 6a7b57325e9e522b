#include "tests/mock/rig.h"

#include "bridge/core/dead_letter.h"

/* at_least_once. Unlike transactions, the mock keeps plain offset commits, so that these tests see
 * what a restart reads again. */

#define PLAIN "delivery: {guarantee: at_least_once}\n"

/* Protocol request. */
#define OFFSET_COMMIT 8

static void test_plain_every_record_once_and_none_again_after_a_restart(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN);
    rig_write(rig, 500);
    rig_start(rig);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "ev"), 500);
    rig_write(rig, 100);
    rig_start(rig);
    rig_await_consumed(rig, 100);
    assert_int_equal(rig_ledger(rig).stale, 0);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "ev"), 600); /* the stop committed what was written */
    rig_close(rig);
}

static void test_plain_failed_delivery_is_written_again_and_nothing_is_missing(void **state)
{
    (void)state;
    static const rd_kafka_resp_err_t errors[] = {
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
    };
    rig_t *rig = rig_open(PLAIN);
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, errors[i], 1);
        rig_write(rig, 200);
        rig_await_used(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE);
        rig_await_all(rig);
    }
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_plain_record_refused_alone_becomes_a_dead_letter(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN);
    ab_records_t *letters;
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, 1);
    rig_write_value(rig, aw_span_text_view("k"), aw_span_view("\x0a\x01k\x1a\x01v", 6));
    rig_start(rig);
    rig_await_consumed(rig, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *letter = rig_only(rig, "in.errors", &letters);
    rig_assert_text(rig_header(letter, AB_HEADER_REASON), "produce_rejected");
    ab_records_free(letters);
    assert_int_equal(rig_size(rig, "in.quarantine"), 1);
    assert_int_equal(rig_size(rig, "ev"), 0);
    rig_close(rig);
}

static void test_plain_batch_refused_once_is_routed_in_the_end(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_RECORD, 1);
    rig_write(rig, 100);
    rig_start(rig);
    rig_await_all(rig);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ab_ledger_dead_lettered(&ledger), 0);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "in.errors"), 0);
    rig_close(rig);
}

/* Offsets that the coordinator does not take are asked for again; the records are out all the
 * while. */
static void test_plain_commit_that_is_refused_is_tried_again(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN);
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    rig_fail_at(rig, RIG_COORDINATOR, OFFSET_COMMIT, RD_KAFKA_RESP_ERR_UNKNOWN, 2);
    rig_write(rig, 20);
    rig_await_used(rig, RIG_COORDINATOR, OFFSET_COMMIT);
    rig_await(rig, "offsets_not_committed", 1);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    const size_t out = rig_size(rig, "ev");
    rig_start(rig);
    rig_await_assigned(rig, 0);
    rig_write(rig, 4);
    rig_await_consumed(rig, 4);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "ev"), out + 4);
    rig_close(rig);
}

static void test_plain_two_lanes_share_and_a_partition_given_away_is_not_read_again(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN "lanes: 2\n");
    rig_write(rig, 400);
    rig_start(rig);
    rig_await_assigned(rig, 0);
    rig_await_assigned(rig, 1);
    rig_write(rig, 400);
    rig_await_all(rig);
    assert_int_equal(rig_ledger(rig).stale, 0);
    rig_stop(rig, AB_EXIT_OK);
    /* The mock may begin a rebalance between a commit's question and its answer, and refuse the
     * offsets for that: the new owner then writes those records again. */
    const bool in_order = rig_count(rig, "offsets_not_committed") == 0;
    assert_in_range(rig_size(rig, "ev"), 800, in_order ? 800 : 1200);
    rig_close(rig);
}

/* A stop that cannot get rid of what is on its way says so, and the next start writes it. */
static void test_plain_stop_before_a_stalled_broker_ends_with_75_and_loses_nothing(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN "shutdown: {timeout: 2s}\n");
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, 20000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_write(rig, 200);
    rig_sleep_ms(500); /* they are on their way, or will be read by the next */
    rig_stop(rig, AB_EXIT_TEMPORARY);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, 0),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_start(rig);
    rig_await_consumed(rig, 200);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* Another process of the same name takes the place again and again: there is no transactional id
 * that would tell, so the third time does. */
static void test_plain_place_lost_three_times_ends_with_76(void **state)
{
    (void)state;
    rig_t *rig = rig_open(PLAIN "instance: one\n");
    rig_start(rig);
    for (size_t i = 1; i <= 3; i++) {
        rig_await(rig, "partitions_assigned", i);
        rig_write(rig, 20);
        rig_await_all(rig);
        rig_fail_at(rig, RIG_COORDINATOR, RIG_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
        rig_await(rig, "fenced", i);
    }
    rig_ends(rig, AB_EXIT_FENCED);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_every_record_once_and_none_again_after_a_restart),
        cmocka_unit_test(test_plain_failed_delivery_is_written_again_and_nothing_is_missing),
        cmocka_unit_test(test_plain_record_refused_alone_becomes_a_dead_letter),
        cmocka_unit_test(test_plain_batch_refused_once_is_routed_in_the_end),
        cmocka_unit_test(test_plain_commit_that_is_refused_is_tried_again),
        cmocka_unit_test(test_plain_stop_before_a_stalled_broker_ends_with_75_and_loses_nothing),
        cmocka_unit_test(test_plain_place_lost_three_times_ends_with_76),
        cmocka_unit_test(test_plain_two_lanes_share_and_a_partition_given_away_is_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
