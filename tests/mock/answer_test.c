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

/* Requests that keep coming: of so many keys, each in the source partition of its number, and so
 * many of each between two states. */
#define STREAM_KEYS   2
#define STREAM_GROUPS 24u
#define STREAM_RUN    6u
#define STREAM_EACH   (STREAM_GROUPS * STREAM_RUN)
/* What a barrier takes then: more than a transaction with answers may be old. */
#define STREAM_RTT_MS 5
#define LOOKS_MAX     1000u

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

/* ---- requests that keep coming ---- */

static void queue(rig_t *rig, const char *topic, int partition, const char *value, size_t size)
{
    const char key = (char)('k' + partition);
    const ab_full_record_t record = {.record = {.topic = topic,
                                                .partition = partition,
                                                .timestamp_ms = 1767225600000,
                                                .key = aw_span_view(&key, 1),
                                                .value = aw_span_view(value, size)}};
    assert_int_equal(ab_client_write(rig->client, &record), 0);
}

/* A state of every key, whose seq is one more than the group's number, and then requests that
 * wait for no answer: they come faster than barriers are told. */
static void write_group(rig_t *rig, unsigned group)
{
    char value[16];
    for (int p = 0; p < STREAM_KEYS; p++) {
        (void)snprintf(value, sizeof(value), "\x12\x01%c\x18%c", 'k' + p, (char)(group + 1));
        queue(rig, "st", p, value, 5);
    }
    assert_int_equal(ab_client_flush(rig->client, SLOW_MS), 0);
    for (unsigned i = 0; i < STREAM_RUN; i++) {
        for (int p = 0; p < STREAM_KEYS; p++) {
            (void)snprintf(value, sizeof(value), "\x0a\x01%c\x32\x05\x0a\x03%03u", 'k' + p,
                           group * STREAM_RUN + i);
            queue(rig, "in", p, value, 10);
            rig_sleep_ms(1);
        }
    }
}

static rig_t *open_stream(const ab_test_folder_t *folder)
{
    rig_t *rig = open_rig(folder, "snapshots: {topic: sn, max_wait: 50s}\n");
    rig_start(rig);
    rig_await_assigned(rig, 0);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(rig->mock, RIG_OUTPUT_BROKER, STREAM_RTT_MS),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    return rig;
}

static uint64_t count_transactions(rig_t *rig, ab_txn_result_t result)
{
    ab_status_t *status = ab_relay_status(rig->relay);
    assert_non_null(status);
    const uint64_t count = status->total.transactions[result];
    ab_status_free(status);
    return count;
}

/* That the answers of a key are those to all its requests, one each and in their order, from a
 * state that was there before the request, and never from an older one than the answer before.
 * Returns how often they begin anew with the first request. */
static unsigned check_stream(const ab_full_record_t *answers, size_t count, int partition)
{
    unsigned next = 0;
    unsigned seq_before = 0;
    unsigned repeats = 0;
    for (size_t i = 0; i < count; i++) {
        const aw_span_t value = answers[i].record.value;
        char wanted[16];
        assert_int_equal(value.size, 10);
        if (value.data[2] != 'k' + partition) {
            continue;
        }
        const unsigned seq = value.data[4];
        if (next > 0 && memcmp(value.data + 7, "000", 3) == 0) {
            next = 0;
            repeats++;
        }
        (void)snprintf(wanted, sizeof(wanted), "\x12\x01%c\x18%c\x4a\x03%03u", 'k' + partition,
                       (char)seq, next);
        assert_memory_equal(value.data, wanted, 10);
        assert_in_range(seq, next / STREAM_RUN + 1, STREAM_GROUPS);
        assert_true(seq >= seq_before);
        seq_before = seq;
        next++;
    }
    assert_int_equal(next, STREAM_EACH);
    return repeats;
}

/* A request that needs another barrier is in hand while the answers before it are committed: it is
 * neither lost nor taken twice. */
static void test_answer_in_a_stream_comes_once_and_in_order(void **state)
{
    rig_t *rig = open_stream(*state);
    size_t count;
    for (unsigned group = 0; group < STREAM_GROUPS; group++) {
        write_group(rig, group);
    }
    assert_int_equal(ab_client_flush(rig->client, SLOW_MS), 0);
    rig_await_consumed(rig, (uint64_t)STREAM_KEYS * STREAM_EACH);
    /* Some hold several requests, or none would have grown old. */
    assert_in_range(count_transactions(rig, AB_TXN_COMMITTED), STREAM_GROUPS / 4,
                    STREAM_KEYS * STREAM_EACH - 1);
    assert_int_equal(count_transactions(rig, AB_TXN_ABORTED), 0);
    assert_int_equal(rig_ledger(rig).answered, STREAM_KEYS * STREAM_EACH);
    rig_stop(rig, AB_EXIT_OK);
    ab_records_t *records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &count);
    assert_int_equal(count, STREAM_KEYS * STREAM_EACH);
    for (int p = 0; p < STREAM_KEYS; p++) {
        assert_int_equal(check_stream(answers, count, p), 0);
    }
    ab_records_free(records);
    rig_close(rig);
}

/* Waits until the last request of every key is answered: what is open then is committed by a stop.
 */
static void await_last_answers(rig_t *rig)
{
    char last[4];
    int missing = STREAM_KEYS;
    (void)snprintf(last, sizeof(last), "%03u", STREAM_EACH - 1);
    for (unsigned tries = 0; missing > 0; tries++) {
        ab_records_t *records = rig_read(rig, "sn");
        size_t count;
        const ab_full_record_t *answers = ab_records_view(records, &count);
        missing = STREAM_KEYS;
        for (size_t i = 0; i < count; i++) {
            missing -= memcmp(answers[i].record.value.data + 7, last, 3) == 0;
        }
        ab_records_free(records);
        assert_true(tries < LOOKS_MAX);
        rig_sleep_ms(20);
    }
}

/* The mock hides nothing that was aborted, and keeps no offsets of a transaction: after an abort
 * all comes again from the first request. Only then, and with no request left out or doubled. */
static void test_answer_in_a_stream_of_failing_transactions_comes_once_and_in_order(void **state)
{
    static const struct {
        int16_t request;
        rd_kafka_resp_err_t error;
        bool aborts;
    } faults[] = {
        {RIG_END_TXN, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, false},
        {RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, true},
        {RIG_ADD_OFFSETS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, false},
        {RIG_END_TXN, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, true},
        {RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, false},
        {RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, true},
    };
    rig_t *rig = open_stream(*state);
    size_t count;
    size_t fault = 0;
    unsigned aborts = 0;
    for (unsigned group = 0; group < STREAM_GROUPS; group++) {
        const bool fails = group % 3 == 1 && fault < sizeof(faults) / sizeof(faults[0]);
        if (fails) {
            rig_fail_at(rig, RIG_COORDINATOR, faults[fault].request, faults[fault].error, 1);
        }
        write_group(rig, group);
        if (fails) {
            rig_await_used(rig, RIG_COORDINATOR, faults[fault].request);
            aborts += faults[fault++].aborts;
        }
    }
    assert_int_equal(fault, sizeof(faults) / sizeof(faults[0]));
    assert_int_equal(ab_client_flush(rig->client, SLOW_MS), 0);
    await_last_answers(rig);
    assert_int_equal(count_transactions(rig, AB_TXN_ABORTED), aborts);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_count(rig, "lane_started"), 1);
    ab_records_t *records = rig_read(rig, "sn");
    const ab_full_record_t *answers = ab_records_view(records, &count);
    for (int p = 0; p < STREAM_KEYS; p++) {
        assert_in_range(check_stream(answers, count, p), 1, aborts);
    }
    ab_records_free(records);
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
        TEST(test_answer_in_a_stream_comes_once_and_in_order),
        TEST(test_answer_in_a_stream_of_failing_transactions_comes_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
