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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brokers_without_brokers_keeps_trying_until_stopped),
        cmocka_unit_test(test_brokers_brokers_that_come_late_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
