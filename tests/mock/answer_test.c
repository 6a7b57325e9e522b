#include "tests/mock/rig.h"

#include <stdio.h>
#include <string.h>

#include "bridge/core/dead_letter.h"
#include "tests/unit/state/support.h"

/* The barrier on librdkafka's mock: it has watermarks, ListOffsets and ends of partitions, but no
 * transactions of a writer and no compaction. Those are tests/broker/state_test.py's. */

#define ROUNDS       30
#define OTHERS       100u
#define SLOW_MS      5000
#define SETTINGS_MAX 1024u
#define AT_LEAST     "delivery: {guarantee: at_least_once}\n"

static rig_t *open_rig(const ab_test_folder_t *folder, const char *settings)
{
    char text[SETTINGS_MAX];
    (void)snprintf(text, sizeof(text),
                   "state: {dir: \"%s\", snapshots_from: [st]}\n"
                   "%s",
                   folder->path, settings);
    return rig_open_exports("answer", text);
}

/* A state of the key k whose seq is the number, below 128. */
static void publish(rig_t *rig, unsigned number)
{
    const uint8_t value[] = {0x12, 1, 'k', 0x18, (uint8_t)number};
    rig_write_to(rig, "st", aw_span_text_view("k"), aw_span_view(value, sizeof(value)));
}

/* An export request for the key k, whose request_id is the number in three digits. */
static void ask(rig_t *rig, unsigned number)
{
    char value[16];
    (void)snprintf(value, sizeof(value), "\x0a\x01k\x32\x05\x0a\x03%03u", number);
    rig_write_to(rig, "in", aw_span_text_view("k"), aw_span_view(value, 10));
}

/* That the answer at this index is that of the state seq to the request number. */
static void expect_answer(const ab_full_record_t *answer, unsigned seq, unsigned number)
{
    char wanted[16];
    (void)snprintf(wanted, sizeof(wanted), "\x12\x01k\x18%c\x4a\x03%03u", (char)seq, number);
    assert_int_equal(answer->record.value.size, 10);
    assert_memory_equal(answer->record.value.data, wanted, 10);
}

static void check_each_sees_what_was_written_before(const ab_test_folder_t *folder,
                                                    const char *settings)
{
    rig_t *rig = open_rig(folder, settings);
    ab_records_t *records;
    size_t count;
    rig_start(rig);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        publish(rig, i);
        ask(rig, i);
    }
    rig_await_consumed(rig, ROUNDS);
    rig_stop(rig, AB_EXIT_OK);
    records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &count);
    assert_int_equal(count, ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* At least the state written before it: a later one may have come in time as well. */
        const unsigned seq = answers[i].record.value.data[4];
        assert_in_range(seq, i + 1, ROUNDS);
        expect_answer(&answers[i], seq, i + 1);
    }
    ab_records_free(records);
    assert_int_equal(rig_size(rig, "in.errors"), 0);
    rig_close(rig);
}

static void test_answer_sees_every_state_written_before_its_request(void **state)
{
    check_each_sees_what_was_written_before(*state, "snapshots: {topic: sn}\n");
}

static void test_answer_at_least_once_sees_every_state_written_before_its_request(void **state)
{
    check_each_sees_what_was_written_before(*state, "snapshots: {topic: sn}\n" AT_LEAST);
}

/* A restore and a request at once: the request was written before the relay ran. */
static void test_answer_never_comes_from_a_store_that_catches_up(void **state)
{
    rig_t *rig = open_rig(*state, "snapshots: {topic: sn}\n");
    ab_records_t *records;
    for (unsigned i = 1; i <= 100; i++) {
        publish(rig, i);
    }
    ask(rig, 1);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    expect_answer(rig_only(rig, "sn", &records), 100, 1);
    ab_records_free(records);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_answer_waits_while_the_ends_cannot_be_asked_for(void **state)
{
    rig_t *rig = open_rig(*state, "snapshots: {topic: sn, max_wait: 50s}\n");
    size_t count;
    rig_start(rig);
    publish(rig, 1);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNKNOWN, 5);
    publish(rig, 2);
    ask(rig, 2);
    rig_await_consumed(rig, 2);
    assert_int_equal(rig_left_at(rig, RIG_OUTPUT_BROKER, RIG_LIST_OFFSETS), 0);
    assert_in_range(rig_count(rig, "barrier_waits"), 0, 1); /* lasting trouble is said at times */
    ab_records_t *records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &count);
    assert_int_equal(count, 2);
    expect_answer(&answers[1], 2, 2);
    ab_records_free(records);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

/* The broker that knows where the state partition ends takes longer than it is asked for: the
 * request's own source partition waits, and no other. */
static void check_others_go_on(const ab_test_folder_t *folder, const char *settings)
{
    rig_t *rig = open_rig(folder, settings);
    for (int32_t p = 0; p < RIG_OUTPUT_PARTITIONS; p++) {
        assert_int_equal(rd_kafka_mock_partition_set_leader(rig->mock, "ev", p, RIG_SOURCE_BROKER),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    rig_start(rig);
    publish(rig, 1);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, SLOW_MS),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    ask(rig, 2);
    for (unsigned i = 0; i < OTHERS; i++) {
        do {
            rig_write(rig, 1);
        } while (rig->written % RIG_SOURCE_PARTITIONS == 1); /* those wait behind the request */
        rig_await_consumed(rig, 1 + rig->written - (rig->written + 3) / RIG_SOURCE_PARTITIONS);
    }
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ledger.answered, 1);
    assert_int_equal(ab_ledger_dead_lettered(&ledger), 0);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, 0),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    rig_await_consumed(rig, 2 + rig->written);
    assert_int_equal(rig_ledger(rig).answered, 2);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_answer_without_a_barrier_holds_up_its_own_partition_only(void **state)
{
    check_others_go_on(*state, "snapshots: {topic: sn, max_wait: 50s}\n");
}

/* Writes another number over each state with this one, in the store of partition 0. Returns how
 * many there were. */
static unsigned spoil_store(const ab_test_folder_t *folder, unsigned number, unsigned other)
{
    static uint8_t bytes[1 << 20];
    const uint8_t state[] = {0x12, 1, 'k', 0x18, (uint8_t)number};
    char path[PATH_ROOM + 32];
    unsigned found = 0;
    (void)snprintf(path, sizeof(path), "%s/st/0/data.mdb", folder->path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    for (size_t i = 0; i + sizeof(state) <= size; i++) {
        if (memcmp(bytes + i, state, sizeof(state)) == 0) {
            assert_int_equal(fseek(file, (long)(i + sizeof(state) - 1), SEEK_SET), 0);
            assert_int_equal(fputc((int)other, file), (int)other);
            found++;
        }
    }
    assert_int_equal(fclose(file), 0);
    return found;
}

static void test_answer_is_never_a_state_that_changed_on_disk(void **state)
{
    const ab_test_folder_t *folder = *state;
    rig_t *rig = open_rig(folder, "snapshots: {topic: sn}\n");
    size_t count;
    publish(rig, 1);
    rig_start(rig);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    rig_stop(rig, AB_EXIT_OK); /* the store is whole on disk now */
    assert_true(spoil_store(folder, 1, 9) > 0);
    rig_start(rig);
    ask(rig, 2);
    rig_await(rig, "store_rebuilt", 1);
    rig_await_consumed(rig, 2); /* the first comes again: the mock forgets its offset */
    ab_records_t *records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &count);
    assert_true(count >= 2);
    expect_answer(&answers[count - 1], 1, 2);
    ab_records_free(records);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "store_rebuilt"), 1);
    assert_int_equal(rig_count(rig, "store_failed"), 0);
    rig_close(rig);
}

/* The state topic cannot be fetched: the request becomes a dead letter when max_wait is over, and
 * what lies behind it in its partition goes on. */
static void check_not_ready(const ab_test_folder_t *folder, const char *settings)
{
    rig_t *rig = open_rig(folder, settings);
    rig_start(rig);
    publish(rig, 1);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_FETCH, RD_KAFKA_RESP_ERR_UNKNOWN, 1000);
    publish(rig, 2);
    ask(rig, 2);
    rig_write(rig, 4);
    rig_await_consumed(rig, 6);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ledger.dead_lettered[AB_REASON_STATE_NOT_READY], 1);
    assert_int_equal(ledger.answered, 1);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_answer_past_max_wait_is_a_dead_letter_and_the_partition_goes_on(void **state)
{
    check_not_ready(*state, "snapshots: {topic: sn, max_wait: 3s}\n");
}

static void test_answer_at_least_once_past_max_wait_is_a_dead_letter(void **state)
{
    check_not_ready(*state, "snapshots: {topic: sn, max_wait: 3s}\n" AT_LEAST);
}

/* An answer goes out in one form only: when the topic refuses its size, it is not written again. */
static void check_too_large(const ab_test_folder_t *folder, const char *settings)
{
    rig_t *rig = open_rig(folder, settings);
    rig_start(rig);
    publish(rig, 1);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
    ask(rig, 2);
    rig_await(rig, "dead_letter", 1);
    rig_stop(rig, AB_EXIT_OK);
    ab_records_t *letters;
    const ab_full_record_t *letter = rig_only(rig, "in.errors", &letters);
    rig_assert_text(rig_header(letter, AB_HEADER_REASON), "produce_rejected");
    ab_records_free(letters);
    ab_records_t *records = rig_read(rig, "sn");
    size_t count;
    const ab_full_record_t *answers = ab_records_view(records, &count);
    assert_in_range(count, 1, 2); /* the first may have been read again after the abort */
    for (size_t i = 0; i < count; i++) {
        expect_answer(&answers[i], 1, 1);
    }
    ab_records_free(records);
    rig_close(rig);
}

static void test_answer_too_large_is_refused_once_and_a_dead_letter(void **state)
{
    check_too_large(*state, "snapshots: {topic: sn}\n");
}

static void test_answer_at_least_once_too_large_is_refused_once(void **state)
{
    check_too_large(*state, "snapshots: {topic: sn}\n" AT_LEAST);
}

/* The breaker lets the source go while a request is held: its partition stays as it is, and what is
 * behind the request is not read in vain. */
static void test_answer_held_is_not_woken_by_the_breaker(void **state)
{
    rig_t *rig = open_rig(*state, "snapshots: {topic: sn, max_wait: 5s}\n"
                                  "errors: {breaker: {min_records: 20}, quarantine: off}\n");
    rig->config->breaker.probe_ms = 50;
    rig_start(rig);
    publish(rig, 1);
    ask(rig, 1);
    rig_await_consumed(rig, 1);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_FETCH, RD_KAFKA_RESP_ERR_UNKNOWN, 1000);
    publish(rig, 2);
    for (unsigned i = 0; i < 25; i++) {
        rig_write_value(rig, aw_span_text_view("k"), aw_span_view("\xff\xff", 2));
    }
    ask(rig, 2);
    rig_await(rig, "breaker_opened", 1);
    rig_await_consumed(rig, 26);
    rig_write(rig, 120);
    rig_await_consumed(rig, 147);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ledger.dead_lettered[AB_REASON_STATE_NOT_READY], 1);
    assert_int_equal(ab_ledger_routed(&ledger), 120);
    assert_int_equal(ledger.stale, 0);
    assert_int_equal(rig_count(rig, "breaker_closed"), 1);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answer_sees_every_state_written_before_its_request),
        TEST(test_answer_at_least_once_sees_every_state_written_before_its_request),
        TEST(test_answer_never_comes_from_a_store_that_catches_up),
        TEST(test_answer_waits_while_the_ends_cannot_be_asked_for),
        TEST(test_answer_without_a_barrier_holds_up_its_own_partition_only),
        TEST(test_answer_is_never_a_state_that_changed_on_disk),
        TEST(test_answer_past_max_wait_is_a_dead_letter_and_the_partition_goes_on),
        TEST(test_answer_at_least_once_past_max_wait_is_a_dead_letter),
        TEST(test_answer_too_large_is_refused_once_and_a_dead_letter),
        TEST(test_answer_at_least_once_too_large_is_refused_once),
        TEST(test_answer_held_is_not_woken_by_the_breaker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
