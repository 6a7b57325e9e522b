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
    assert_int_equal(rig_count(rig, "topic_denied"), 1);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_missing_topic_ends_with_69_and_names_it),
        cmocka_unit_test(test_start_missing_topic_is_waited_for_and_then_works),
        cmocka_unit_test(test_start_denied_topic_ends_with_77),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
