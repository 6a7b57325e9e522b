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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rebuild_end_txn_after_a_fatal_error),
        cmocka_unit_test(test_rebuild_produce_after_a_fatal_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
