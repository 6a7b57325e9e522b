#include "tests/mock/rig.h"

static void test_exit_fatal_three_times_ends_with_70(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 3);
    rig_start(rig);
    rig_ends(rig, AB_EXIT_FATAL);
    assert_int_equal(rig_count(rig, "lane_failed"), 3);
    assert_int_equal(rig_count(rig, "lane_given_up"), 1);
    rig_close(rig);
}

static void test_exit_denied_transactional_id_ends_with_77(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_fail_at(rig, RIG_COORDINATOR, RIG_INIT_PRODUCER_ID,
                RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 1);
    rig_start(rig);
    rig_ends(rig, AB_EXIT_NOT_ALLOWED);
    assert_int_equal(rig_count(rig, "not_allowed"), 1);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_fatal_three_times_ends_with_70),
        cmocka_unit_test(test_exit_denied_transactional_id_ends_with_77),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
