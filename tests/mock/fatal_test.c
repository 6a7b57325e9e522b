#include "tests/mock/rig.h"

static void test_fatal_add_partitions_rebuilds_the_lane(void **state)
{
    (void)state;
    rig_check_rebuilt(RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, RIG_COORDINATOR);
}

static void test_fatal_txn_offset_commit_rebuilds_the_lane(void **state)
{
    (void)state;
    rig_check_rebuilt(RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING,
                      RIG_COORDINATOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fatal_add_partitions_rebuilds_the_lane),
        cmocka_unit_test(test_fatal_txn_offset_commit_rebuilds_the_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
