#include "tests/mock/rig.h"

#define PROBE_MS 50u

/* Values that no parser takes, to partition 0. */
static void write_poison(rig_t *rig, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rig_write_value(rig, aw_span_text_view("k"), aw_span_view("\xff\xff", 2));
    }
}

static ab_source_status_t source_now(rig_t *rig)
{
    ab_status_t *status = ab_relay_status(rig->relay);
    assert_non_null(status);
    const ab_source_status_t source = status->sources[0];
    assert_int_equal(ab_status_ready(status), AB_READY_READY);
    ab_relay_status_free(status);
    return source;
}

static rig_t *open_rig(const char *settings)
{
    rig_t *rig = rig_open(settings);
    rig->config->breaker.probe_ms = PROBE_MS;
    return rig;
}

#define TWENTY "errors: {breaker: {min_records: 20}, quarantine: off}\n"

/* It opens on poison, lets one record after the other through, and closes by itself when the good
 * ones come; nothing is lost on the way, and nothing is read twice. */
static void check_whole_life(const char *settings)
{
    rig_t *rig = open_rig(settings);
    rig_start(rig);
    rig_await_assigned(rig, 0);
    write_poison(rig, 25);
    rig_await(rig, "breaker_opened", 1);
    rig_await_consumed(rig, 25); /* the last ones as probes */
    assert_int_equal(rig_count(rig, "breaker_closed"), 0);
    rig_write(rig, 120);
    rig_await(rig, "breaker_closed", 1);
    rig_await_consumed(rig, 145);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ab_ledger_dead_lettered(&ledger), 25);
    assert_int_equal(ab_ledger_routed(&ledger), 120);
    assert_int_equal(ledger.stale, 0);
    assert_int_equal(rig_count(rig, "breaker_opened"), 1);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "ev"), 120);
    assert_int_equal(rig_size(rig, "in.errors"), 25);
    rig_close(rig);
}

static void test_breaker_opens_and_closes_by_itself(void **state)
{
    (void)state;
    check_whole_life(TWENTY);
}

static void test_breaker_at_least_once_opens_and_closes_by_itself(void **state)
{
    (void)state;
    check_whole_life(TWENTY "delivery: {guarantee: at_least_once}\n");
}

static void test_breaker_open_is_shown_and_leaves_the_process_ready(void **state)
{
    (void)state;
    rig_t *rig = rig_open(TWENTY "health: {stuck_after: 1s}\n"); /* a probe every 10 s */
    rig_start(rig);
    rig_await_assigned(rig, 0);
    write_poison(rig, 40);
    rig_await(rig, "breaker_opened", 1);
    ab_source_status_t source = source_now(rig);
    while (source.open_breakers == 0 || source.oldest_unfinished_seconds < 2.5) {
        rig_sleep_ms(100);
        source = source_now(rig);
    }
    assert_int_equal(source.tripped.read, 20);
    assert_int_equal(source.tripped.dead_lettered, 20);
    assert_int_equal(source.tripped_reason, AB_REASON_DECODE_TRUNCATED);
    assert_int_equal(source.stuck, 0);
    assert_int_equal(rig_ledger(rig).consumed, 20);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* Aborts and rewinds while it is open leave the source paused, and the breaker uncounted. */
static void test_breaker_open_survives_an_abort_and_a_rebuild(void **state)
{
    (void)state;
    rig_t *rig = open_rig(TWENTY);
    rig_start(rig);
    rig_await_assigned(rig, 0);
    write_poison(rig, 30);
    rig_await(rig, "breaker_opened", 1);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS,
                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
    rig_await_used(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS);
    rig_write(rig, 40);
    rig_fail_at(rig, RIG_COORDINATOR, RIG_ADD_PARTITIONS, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1);
    rig_await(rig, "lane_started", 2);
    rig_await(rig, "breaker_closed", 1);
    rig_await_all(rig);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_breaker_ten_percent_of_poison_never_opens_it(void **state)
{
    (void)state;
    rig_t *rig = open_rig(TWENTY);
    for (unsigned i = 0; i < 30; i++) {
        rig_write(rig, 36);
        write_poison(rig, 4);
    }
    rig_start(rig);
    rig_await_consumed(rig, 1200);
    assert_int_equal(rig_count(rig, "breaker_opened"), 0);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_breaker_off_never_opens(void **state)
{
    (void)state;
    rig_t *rig = open_rig("errors: {breaker: off, quarantine: off}\n");
    write_poison(rig, 1000);
    rig_start(rig);
    rig_await_consumed(rig, 1000);
    assert_int_equal(rig_count(rig, "breaker_opened"), 0);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaker_opens_and_closes_by_itself),
        cmocka_unit_test(test_breaker_at_least_once_opens_and_closes_by_itself),
        cmocka_unit_test(test_breaker_open_is_shown_and_leaves_the_process_ready),
        cmocka_unit_test(test_breaker_open_survives_an_abort_and_a_rebuild),
        cmocka_unit_test(test_breaker_ten_percent_of_poison_never_opens_it),
        cmocka_unit_test(test_breaker_off_never_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
