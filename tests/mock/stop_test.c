#include "tests/mock/rig.h"

static void test_stop_idle_lane_ends_with_0_and_opened_no_transaction(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    /* Answers that are still there at the end were never fetched by a request. */
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_OFFSETS, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    rig_start(rig);
    rig_await_assigned(rig, 0);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_left_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS), 1);
    assert_int_equal(rig_left_at(rig, RIG_COORDINATOR, RIG_ADD_OFFSETS), 1);
    assert_int_equal(rig_left_at(rig, RIG_COORDINATOR, RIG_END_TXN), 1);
    rig_close(rig);
}

static void test_stop_before_the_first_assignment_ends_with_0(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 10);
    rig_start(rig);
    rig_await(rig, "lane_started", 1);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "ev"), 0);
    rig_close(rig);
}

/* The group has answered, and nothing is assigned yet: an old librdkafka aborts the process when
 * such a consumer is destroyed. */
static void test_stop_between_joining_and_assignment_ends_with_0(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_fail_at(rig, RIG_COORDINATOR, RIG_SYNC_GROUP, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
                1000);
    rig_start(rig);
    rig_await_left(rig, RIG_COORDINATOR, RIG_SYNC_GROUP, 999);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "partitions_assigned"), 0);
    rig_close(rig);
}

static void test_stop_right_after_start_ends_with_0(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_start(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_stop_under_load_commits_what_it_took_and_the_next_goes_on(void **state)
{
    (void)state;
    rig_t *rig = rig_open("delivery: {commit_records: 100}\n");
    rig_write(rig, 6000);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    ab_relay_stop(rig->relay);
    int code = -1;
    assert_true(ab_relay_wait(rig->relay, -1, &code));
    const ab_ledger_t ledger = rig_ledger(rig);
    /* Nothing was aborted, so what the mock shows is what was committed: as much as was counted. */
    assert_int_equal(rig_size(rig, "ev"), ledger.consumed);
    rig_stop(rig, AB_EXIT_OK);
    rig_start(rig);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_idle_lane_ends_with_0_and_opened_no_transaction),
        cmocka_unit_test(test_stop_before_the_first_assignment_ends_with_0),
        cmocka_unit_test(test_stop_between_joining_and_assignment_ends_with_0),
        cmocka_unit_test(test_stop_right_after_start_ends_with_0),
        cmocka_unit_test(test_stop_under_load_commits_what_it_took_and_the_next_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
