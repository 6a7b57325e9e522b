#include "tests/mock/rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/unit/state/support.h"

/* A lane whose store has read nothing yet loads it: what is answered, and when. */

#define KEYS         20000u /* more than a step writes */
#define SETTINGS_MAX 1024u
/* The brokers give a batch at a time, and the topic has many: so slow that a load can be seen half
 * way, and so slow that it gets no further while a test does something else. */
#define SLOW_MS       200
#define STALL_MS      20000
#define LOOK_EVERY_MS 5
#define LOOKS_MAX     10000u
/* So little memory that what is collected makes several runs. */
#define SETTINGS                                                                                   \
    "memory: {per_lane: 8MiB}\n"                                                                   \
    "snapshots: {topic: sn, max_wait: 60s}\n"

static rig_t *open_rig(const ab_test_folder_t *folder)
{
    char text[SETTINGS_MAX];
    (void)snprintf(text, sizeof(text), "state: {dir: \"%s\", snapshots_from: [st]}\n" SETTINGS,
                   folder->path);
    return rig_open_exports("answer", text);
}

static size_t key_of(unsigned number, char key[32])
{
    return (size_t)snprintf(key, 32, "key-%05u", number * 7919 % KEYS);
}

static void publish(rig_t *rig, unsigned number, unsigned seq)
{
    uint8_t value[128];
    char key[32];
    const size_t size = key_of(number, key);
    rig_queue_to(rig, "st", aw_span_view(key, size),
                 ab_test_snapshot(key, (int64_t)seq, 20, value, sizeof(value)));
}

/* An export request for a key. */
static void ask(rig_t *rig, unsigned number)
{
    char key[32];
    char value[64];
    const size_t size = key_of(number, key);
    const int length = snprintf(value, sizeof(value), "\x0a%c%s\x32\x05\x0a\x03%03u", (char)size,
                                key, number % 1000);
    rig_write_to(rig, "in", aw_span_view(key, size), aw_span_view(value, (size_t)length));
}

/* A topic with many keys, each of which has a second state. */
static rig_t *open_filled(const ab_test_folder_t *folder)
{
    rig_t *rig = open_rig(folder);
    for (unsigned i = 0; i < KEYS; i++) {
        publish(rig, i, 1);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        publish(rig, i, 2);
    }
    return rig;
}

/* That so many answers were written, and the last one is the state seq of the key. */
static void expect_last_answer(rig_t *rig, size_t count, unsigned number, unsigned seq)
{
    char key[32];
    uint8_t wanted[8] = {0};
    size_t found;
    const size_t size = key_of(number, key);
    ab_records_t *records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &found);
    assert_int_equal(found, count);
    const ab_record_t *answer = &answers[count - 1].record;
    assert_true(aw_span_equal(answer->key, aw_span_view(key, size)));
    wanted[0] = 0x18;
    wanted[1] = (uint8_t)seq;
    assert_non_null(memmem(answer->value.data, answer->value.size, wanted, 2));
    ab_records_free(records);
}

static void test_load_answers_from_a_whole_store_and_goes_on(void **state)
{
    rig_t *rig = open_filled(*state);
    ask(rig, 17); /* before the relay runs */
    rig_start(rig);
    rig_await_consumed(rig, 1);
    assert_int_equal(rig_count(rig, "state_restored"), 1);
    expect_last_answer(rig, 1, 17, 2);
    publish(rig, 18, 3); /* read on, where the load ended */
    ask(rig, 18);
    rig_await_consumed(rig, 2);
    expect_last_answer(rig, 2, 18, 3);
    rig_stop(rig, AB_EXIT_OK);
    rig_start(rig); /* what was loaded is not read again */
    publish(rig, 19, 4);
    ask(rig, 19);
    rig_await(rig, "state_restored", 1);
    rig_await_consumed(rig, 3);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "store_failed"), 0);
    assert_int_equal(rig_count(rig, "store_rebuilt"), 0);
    rig_close(rig);
}

/* How many records of the state topic were read. */
static uint64_t count_read(rig_t *rig)
{
    ab_status_t *status = ab_relay_status(rig->relay);
    assert_non_null(status);
    const uint64_t count = status->total.state_records[AB_STATE_TAKEN];
    ab_status_free(status);
    return count;
}

/* Lets every answer of the broker of the state topic take so long; the one that leads all else of
 * this test is as quick as ever. */
static void slow_down(rig_t *rig, int rtt_ms)
{
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, rtt_ms),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* The relay goes on while a store is loaded; a load that is stopped half way begins anew. */
static void test_load_is_in_nobodys_way(void **state)
{
    rig_t *rig = open_filled(*state);
    for (int32_t p = 0; p < RIG_OUTPUT_PARTITIONS; p++) {
        assert_int_equal(rd_kafka_mock_partition_set_leader(rig->mock, "ev", p, RIG_SOURCE_BROKER),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    slow_down(rig, SLOW_MS);
    rig_start(rig);
    for (unsigned tries = 0; count_read(rig) == 0; tries++) {
        assert_true(tries < LOOKS_MAX);
        rig_sleep_ms(LOOK_EVERY_MS);
    }
    slow_down(rig, STALL_MS);
    rig_write(rig, 40);
    rig_await_consumed(rig, 40);
    assert_in_range(count_read(rig), 1, 2 * KEYS - 1);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "state_restored"), 0);
    slow_down(rig, 0);
    assert_int_equal(rig_size(rig, "ev"), 40);
    rig_start(rig);
    ask(rig, 5);
    rig_await(rig, "state_restored", 1);
    rig_await_consumed(rig, 41);
    assert_int_equal(count_read(rig), 2 * KEYS);
    expect_last_answer(rig, 1, 5, 2);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "store_failed"), 0);
    rig_close(rig);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room for the runs: when there is some again, the load begins anew. */
static void test_load_on_a_full_disk_begins_anew_when_there_is_room(void **state)
{
    rig_t *rig = open_filled(*state);
    limit_files(100000);
    rig_start(rig);
    ask(rig, 17);
    rig_await(rig, "store_failed", 1);
    limit_files(RLIM_INFINITY);
    rig_await_consumed(rig, 1);
    expect_last_answer(rig, 1, 17, 2);
    assert_int_equal(rig_count(rig, "state_restored"), 1);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        TEST(test_load_answers_from_a_whole_store_and_goes_on),
        TEST(test_load_is_in_nobodys_way),
        TEST(test_load_on_a_full_disk_begins_anew_when_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
