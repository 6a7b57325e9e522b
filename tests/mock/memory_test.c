#include "tests/mock/rig.h"

#include <stdio.h>

/* Bytes on their way, as the lane counts them: the smallest budget there is. */
#define BUDGET   (1024u * 1024u)
#define SETTINGS "    max_value: 512KiB\nmemory: {per_lane: 1MiB}\n"
/* One record's outputs at most: the lane looks before it takes a record. */
#define SLACK 4096u
/* Enough to fill the budget several times. */
#define RECORDS  8000u
#define STALL_MS 3000
#define LOOK_MS  10u
#define LOOKS    300u

static uint64_t inflight_now(rig_t *rig)
{
    ab_status_t *status = ab_relay_status(rig->relay);
    assert_non_null(status);
    const uint64_t bytes = status->lanes[0].inflight_bytes;
    ab_relay_status_free(status);
    return bytes;
}

/* The outputs' broker answers late, and the source does not end: what is on its way fills the
 * budget and goes no further; then all of it comes out. */
static void check_stalled_broker(const char *settings)
{
    rig_t *rig = rig_open(settings);
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, STALL_MS),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_write(rig, RECORDS);
    uint64_t most = 0;
    for (unsigned i = 0; i < LOOKS; i++) {
        const uint64_t now = inflight_now(rig);
        most = now > most ? now : most;
        rig_sleep_ms(LOOK_MS);
    }
    fprintf(stderr, "  at most %llu bytes on their way\n", (unsigned long long)most);
    assert_true(most > BUDGET / 2); /* otherwise the test is void */
    assert_true(most <= BUDGET + SLACK);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, 0),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_memory_stalled_broker_fills_the_budget_and_no_more(void **state)
{
    (void)state;
    check_stalled_broker(SETTINGS "delivery: {commit_interval: 10s, commit_records: 1000000}\n");
}

static void test_memory_at_least_once_fills_the_budget_and_no_more(void **state)
{
    (void)state;
    check_stalled_broker(SETTINGS "delivery: {guarantee: at_least_once}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_stalled_broker_fills_the_budget_and_no_more),
        cmocka_unit_test(test_memory_at_least_once_fills_the_budget_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
