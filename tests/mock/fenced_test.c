#include "tests/mock/rig.h"

static void test_fenced_once_goes_on(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1);
    rig_start(rig);
    rig_await(rig, "lane_started", 2);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "fenced"), 1);
    rig_close(rig);
}

static void test_fenced_twice_ends_with_76(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 2);
    rig_start(rig);
    rig_ends(rig, AB_EXIT_FENCED);
    assert_int_equal(rig_count(rig, "fenced"), 2);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fenced_once_goes_on),
        cmocka_unit_test(test_fenced_twice_ends_with_76),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
