#include "tests/mock/rig.h"

static void test_rebuild_end_txn_after_a_fatal_error(void **state)
{
    (void)state;
    rig_check_rebuilt(RIG_END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, RIG_COORDINATOR);
}

static void test_rebuild_produce_after_a_fatal_error(void **state)
{
    (void)state;
    rig_check_rebuilt(RIG_PRODUCE, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
                      RIG_OUTPUT_BROKER);
}

/* Brokers that come back after an outage may fence a static member, and say so while the lane
 * cannot take records: it must be heard all the same, or the lane waits for ever for a group it is
 * not in. */
static void test_rebuild_member_fenced_while_waiting_is_heard(void **state)
{
    (void)state;
    rig_t *rig = rig_open("instance: one\n");
    rig_start(rig);
    rig_write(rig, 200);
    rig_await_all(rig);
    for (int i = 0; i < 2000; i++) {
        rd_kafka_mock_push_request_errors(rig->mock, RIG_OFFSET_FETCH, 1,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
    }
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                1);
    rig_write(rig, 100);
    rig_await(rig, "not_allowed", 1);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_HEARTBEAT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, 1);
    rig_await(rig, "member_fenced", 1);
    rd_kafka_mock_clear_request_errors(rig->mock, RIG_OFFSET_FETCH);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rebuild_end_txn_after_a_fatal_error),
        cmocka_unit_test(test_rebuild_produce_after_a_fatal_error),
        cmocka_unit_test(test_rebuild_member_fenced_while_waiting_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
