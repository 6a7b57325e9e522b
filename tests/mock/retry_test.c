#include "tests/mock/rig.h"

static void test_retry_retriable_faults_are_tried_again(void **state)
{
    static const rig_fault_t faults[] = {
        {RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 1},
        {RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, 1},
        {RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR__TRANSPORT, 1},
        {RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, 5},
        {RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 1},
        {RIG_COORDINATOR, RIG_ADD_OFFSETS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, 1},
        {RIG_COORDINATOR, RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 1},
        {RIG_COORDINATOR, RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR__TRANSPORT, 1},
        {RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 1},
        {RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, 3},
    };
    (void)state;
    rig_check_faults(faults, sizeof(faults) / sizeof(faults[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry_retriable_faults_are_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
