#include "tests/mock/rig.h"

static void test_brokers_without_brokers_keeps_trying_until_stopped(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    assert_int_equal(rd_kafka_mock_broker_set_down(rig->mock, -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_start(rig);
    rig_await(rig, "brokers_unreachable", 1);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "lane_started"), 0);
    rig_close(rig);
}

static void test_brokers_brokers_that_come_late_are_used(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 10);
    assert_int_equal(rd_kafka_mock_broker_set_down(rig->mock, -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_start(rig);
    rig_await(rig, "brokers_unreachable", 1);
    assert_int_equal(rd_kafka_mock_broker_set_up(rig->mock, -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* The mock knows no DescribeConfigs, as brokers do not answer it to whom they do not trust. */
static void test_brokers_unreadable_limits_are_assumed_and_told(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_start(rig);
    rig_await(rig, "lane_started", 1);
    assert_int_equal(rig_count(rig, "limit_unknown"), 6); /* every output */
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_brokers_coordinators_that_hesitate_are_asked_again(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brokers_without_brokers_keeps_trying_until_stopped),
        cmocka_unit_test(test_brokers_brokers_that_come_late_are_used),
        cmocka_unit_test(test_brokers_unreadable_limits_are_assumed_and_told),
        cmocka_unit_test(test_brokers_coordinators_that_hesitate_are_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
