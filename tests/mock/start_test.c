#include "tests/mock/rig.h"

static void test_start_missing_topic_ends_with_69_and_names_it(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rd_kafka_mock_topic_set_error(rig->mock, "ap", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    rig_write(rig, 1);
    rig_start(rig);
    rig_ends(rig, AB_EXIT_UNAVAILABLE);
    assert_int_equal(rig_count(rig, "topic_missing"), 1);
    assert_int_equal(rig_count(rig, "lane_started"), 0);
    rig_close(rig);
}

static void test_start_missing_topic_is_waited_for_and_then_works(void **state)
{
    (void)state;
    rig_t *rig = rig_open("topics: {missing: wait}\n");
    rd_kafka_mock_topic_set_error(rig->mock, "ap", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    rig_write(rig, 10);
    rig_start(rig);
    rig_await(rig, "topic_missing", 1);
    assert_int_equal(rig_count(rig, "lane_started"), 0);
    rd_kafka_mock_topic_set_error(rig->mock, "ap", RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_start_denied_topic_ends_with_77(void **state)
{
    (void)state;
    rig_t *rig = rig_open("topics: {missing: wait}\n");
    rd_kafka_mock_topic_set_error(rig->mock, "ap", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    rig_start(rig);
    rig_ends(rig, AB_EXIT_NOT_ALLOWED);
    assert_int_equal(rig_count(rig, "not_allowed"), 1);
    rig_close(rig);
}

/* The mock knows no DescribeConfigs, as brokers do not answer it to whom they do not trust. */
static void test_start_unreadable_limits_are_assumed_and_told(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_start(rig);
    rig_await(rig, "lane_started", 1);
    assert_int_equal(rig_count(rig, "limit_unknown"), 6); /* every output */
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_start_coordinators_that_hesitate_are_asked_again(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 10);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_INIT_PRODUCER_ID,
                RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 1);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_OFFSET_FETCH,
                RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 2);
    rig_start(rig);
    rig_await_all(rig);
    assert_int_equal(rig_left_at(rig, RIG_COORDINATOR, RIG_INIT_PRODUCER_ID), 0);
    assert_int_equal(rig_left_at(rig, RIG_COORDINATOR, RIG_OFFSET_FETCH), 0);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* The leader that the consumer learned of is none any more when the lane asks it where to begin. */
static void test_start_leader_that_moved_before_the_first_record_is_found(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    for (int i = 0; i < 2000; i++) {
        rd_kafka_mock_push_request_errors(rig->mock, RIG_OFFSET_FETCH, 1,
                                          RD_KAFKA_RESP_ERR_INVALID_GROUP_ID);
    }
    rig_start(rig);
    rig_await(rig, "committed_unknown", 1);
    for (int32_t p = 0; p < RIG_SOURCE_PARTITIONS; p++) {
        assert_int_equal(rd_kafka_mock_partition_set_leader(rig->mock, "in", p, RIG_OUTPUT_BROKER),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    rd_kafka_mock_clear_request_errors(rig->mock, RIG_OFFSET_FETCH);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* Waiting for company ends with the commit: otherwise this would wait for longer than a test does.
 */
static void test_start_commit_does_not_wait_for_linger(void **state)
{
    (void)state;
    rig_t *rig = rig_open("producer: {linger.ms: 100000}\ndelivery: {transaction_timeout: 2m}\n");
    rig_start(rig);
    rig_write(rig, 8);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_commit_does_not_wait_for_linger),
        cmocka_unit_test(test_start_leader_that_moved_before_the_first_record_is_found),
        cmocka_unit_test(test_start_missing_topic_ends_with_69_and_names_it),
        cmocka_unit_test(test_start_missing_topic_is_waited_for_and_then_works),
        cmocka_unit_test(test_start_denied_topic_ends_with_77),
        cmocka_unit_test(test_start_unreadable_limits_are_assumed_and_told),
        cmocka_unit_test(test_start_coordinators_that_hesitate_are_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
