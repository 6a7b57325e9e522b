#include "tests/mock/rig.h"

static void test_lanes_two_share_the_partitions_and_lose_nothing(void **state)
{
    (void)state;
    rig_t *rig = rig_open("lanes: 2\n");
    rig_write(rig, 200);
    rig_start(rig);
    rig_await_assigned(rig, 0);
    rig_await_assigned(rig, 1);
    rig_write(rig, 200);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* A right that is taken away from a relay at work is told and waited for. */
static void test_lanes_one_that_is_denied_waits_and_goes_on(void **state)
{
    (void)state;
    rig_t *rig = rig_open("lanes: 2\n");
    rig_start(rig);
    rig_await_assigned(rig, 0);
    rig_await_assigned(rig, 1);
    rig_write(rig, 40);
    rig_await_all(rig);
    rig_await_consumed(rig, 40);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS,
                RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 1);
    rig_write(rig, 40);
    rig_await(rig, "not_allowed", 1);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* The denied lane's partitions go to one that has committed nothing yet: the right was there for
 * the process, so that one waits as well. */
static void test_lanes_denied_one_that_takes_over_waits_too(void **state)
{
    (void)state;
    rig_t *rig = rig_open("lanes: 5\n"); /* one more than there are partitions */
    rig_start(rig);
    for (int lane = 0; lane < 5; lane++) {
        rig_await(rig, "lane_started", (size_t)lane + 1);
    }
    rig_write(rig, 80);
    rig_await_all(rig);
    rig_await_consumed(rig, 80);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS,
                RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 12);
    rig_write(rig, 80);
    rig_await(rig, "not_allowed", 2);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_two_share_the_partitions_and_lose_nothing),
        cmocka_unit_test(test_lanes_one_that_is_denied_waits_and_goes_on),
        cmocka_unit_test(test_lanes_denied_one_that_takes_over_waits_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
