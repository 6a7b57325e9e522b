#include "tests/mock/rig.h"

static void test_abort_abortable_faults_are_aborted_and_read_again(void **state)
{
    static const rig_fault_t faults[] = {
        {RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1},
        {RIG_COORDINATOR, RIG_ADD_OFFSETS, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 1},
        {RIG_COORDINATOR, RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, 1},
        {RIG_COORDINATOR, RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1},
        {RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, 1},
        {RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1},
        {RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_RECORD, 1},
    };
    (void)state;
    rig_check_faults(faults, sizeof(faults) / sizeof(faults[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abort_abortable_faults_are_aborted_and_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
