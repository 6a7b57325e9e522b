#include "tests/mock/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Longest wait for anything. Far beyond what it takes; what is never to come is waited for so long.
 */
#define PATIENCE_MS    60000
#define LOOK_EVERY_MS  20
#define CONFIG_MAX     4096u
#define LINE_MAX_BYTES 1024u

static const struct {
    const char *name;
    int partitions;
    int32_t leader;
} topics[] = {
    {"in", RIG_SOURCE_PARTITIONS, RIG_SOURCE_BROKER},
    {"ev", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"tr", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"ap", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"ex", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"in.errors", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"in.quarantine", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
    {"st", RIG_SOURCE_PARTITIONS, RIG_OUTPUT_BROKER},
    {"sn", RIG_OUTPUT_PARTITIONS, RIG_OUTPUT_BROKER},
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void look_again(void)
{
    const struct timespec wait = {0, LOOK_EVERY_MS * 1000000};
    nanosleep(&wait, NULL);
}

void rig_sleep_ms(unsigned ms)
{
    const struct timespec wait = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&wait, NULL);
}

/* Two calls of the mock in a row: see ab_embedded_add_topic(). */
static void let_mock_sleep(void)
{
    const struct timespec wait = {0, 2000000};
    nanosleep(&wait, NULL);
}

/* ---- events ---- */

/* Kept for the test, and shown: ctest prints it when the test fails. */
static void on_event(void *opaque, ab_level_t level, const char *event, const char *message,
                     const ab_field_t *fields, unsigned field_count)
{
    rig_t *rig = opaque;
    rig_event_t kept = {.lane = -1};
    char line[LINE_MAX_BYTES];
    size_t used = (size_t)snprintf(line, sizeof(line), "%s: %s", event, message);
    snprintf(kept.name, sizeof(kept.name), "%s", event);
    for (unsigned i = 0; i < field_count; i++) {
        const ab_field_t *field = &fields[i];
        if (strcmp(field->name, "lane") == 0) {
            kept.lane = field->number;
        } else if (strcmp(field->name, "partitions") == 0) {
            kept.partitions = field->number;
        }
        if (used < sizeof(line) && field->kind == AB_FIELD_TEXT) {
            used += (size_t)snprintf(line + used, sizeof(line) - used, " %s=%s", field->name,
                                     field->text != NULL ? field->text : "-");
        } else if (used < sizeof(line)) {
            used += (size_t)snprintf(line + used, sizeof(line) - used, " %s=%lld", field->name,
                                     (long long)field->number);
        }
    }
    if (level != AB_LEVEL_DEBUG) {
        fprintf(stderr, "  %s\n", line);
    }
    pthread_mutex_lock(&rig->lock);
    if (rig->event_count < RIG_EVENTS_MAX) {
        rig->events[rig->event_count++] = kept;
    }
    pthread_mutex_unlock(&rig->lock);
}

size_t rig_count(rig_t *rig, const char *event)
{
    size_t count = 0;
    pthread_mutex_lock(&rig->lock);
    for (size_t i = 0; i < rig->event_count; i++) {
        count += strcmp(rig->events[i].name, event) == 0;
    }
    pthread_mutex_unlock(&rig->lock);
    return count;
}

void rig_await(rig_t *rig, const char *event, size_t count)
{
    const int64_t deadline = now_ms() + PATIENCE_MS;
    while (rig_count(rig, event) < count) {
        if (now_ms() > deadline) {
            fail_msg("event %s: %zu came, %zu were waited for", event, rig_count(rig, event),
                     count);
        }
        look_again();
    }
}

static bool is_assigned(rig_t *rig, int64_t lane)
{
    bool found = false;
    pthread_mutex_lock(&rig->lock);
    for (size_t i = 0; i < rig->event_count; i++) {
        found = found || (strcmp(rig->events[i].name, "partitions_assigned") == 0 &&
                          rig->events[i].lane == lane && rig->events[i].partitions > 0);
    }
    pthread_mutex_unlock(&rig->lock);
    return found;
}

void rig_await_assigned(rig_t *rig, int64_t lane)
{
    const int64_t deadline = now_ms() + PATIENCE_MS;
    while (!is_assigned(rig, lane)) {
        if (now_ms() > deadline) {
            fail_msg("lane %lld was given no partition", (long long)lane);
        }
        look_again();
    }
}

/* ---- opening and closing ---- */

/* A short session: the mock lets a group that loses a member wait for nearly all of it. */
static void make_config(rig_t *rig, const char *exports, const char *settings)
{
    char text[CONFIG_MAX];
    const int size = snprintf(
        text, sizeof(text),
        "kafka: {bootstrap.servers: \"%s\", reconnect.backoff.max.ms: 500}\n"
        "consumer: {fetch.wait.max.ms: 10, heartbeat.interval.ms: 300, session.timeout.ms: 3000}\n"
        "group: " RIG_GROUP "\n"
        "sources:\n"
        "  - topic: in\n"
        "    routes: {external_event: ev, tool_result: tr, approval: ap, "
        "export_request: %s}\n"
        "%s",
        ab_embedded_bootstrap_view(rig->embedded), exports, settings);
    rig->config = ab_config_parse("rig", text, (size_t)size, NULL, &rig->findings);
    if (rig->config == NULL) {
        ab_findings_print(&rig->findings, "rig", stderr);
        fail_msg("the configuration is refused");
    }
}

static void make_topics(rig_t *rig)
{
    char text[AB_EMBEDDED_TEXT_MAX];
    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
        assert_int_equal(
            ab_embedded_add_topic(rig->embedded, topics[i].name, topics[i].partitions, text), 0);
        for (int32_t p = 0; p < topics[i].partitions; p++) {
            assert_int_equal(
                rd_kafka_mock_partition_set_leader(rig->mock, topics[i].name, p, topics[i].leader),
                RD_KAFKA_RESP_ERR_NO_ERROR);
            let_mock_sleep();
        }
    }
}

static void set_coordinators(rig_t *rig)
{
    assert_int_equal(rd_kafka_mock_coordinator_set(rig->mock, "group", RIG_GROUP, RIG_COORDINATOR),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    for (unsigned lane = 0; lane < rig->config->lanes; lane++) {
        char id[512];
        snprintf(id, sizeof(id), "%s.%s.%u", RIG_GROUP, rig->config->instance, lane);
        let_mock_sleep();
        assert_int_equal(
            rd_kafka_mock_coordinator_set(rig->mock, "transaction", id, RIG_COORDINATOR),
            RD_KAFKA_RESP_ERR_NO_ERROR);
    }
}

rig_t *rig_open_exports(const char *exports, const char *settings)
{
    char text[AB_EMBEDDED_TEXT_MAX] = "";
    rig_t *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    pthread_mutex_init(&rig->lock, NULL);
    rig->sink = (ab_sink_t){on_event, rig};
    rig->embedded = ab_embedded_new(RIG_BROKERS, text);
    assert_string_equal(text, "");
    rig->mock = ab_embedded_mock_view(rig->embedded);
    make_topics(rig);
    make_config(rig, exports, settings);
    set_coordinators(rig);
    rig->client = ab_client_new(ab_embedded_bootstrap_view(rig->embedded), text);
    assert_non_null(rig->client);
    if (ab_client_commit(rig->client, RIG_GROUP, "in", RIG_SOURCE_PARTITIONS, 0) != 0) {
        fail_msg("%s", ab_client_error_view(rig->client));
    }
    return rig;
}

rig_t *rig_open(const char *settings)
{
    return rig_open_exports("ex", settings);
}

void rig_close(rig_t *rig)
{
    if (rig->relay != NULL) {
        ab_relay_stop(rig->relay);
        ab_relay_free(rig->relay);
    }
    ab_config_free(rig->config);
    ab_client_free(rig->client);
    ab_embedded_free(rig->embedded);
    pthread_mutex_destroy(&rig->lock);
    free(rig);
}

/* ---- the relay ---- */

void rig_start(rig_t *rig)
{
    assert_null(rig->relay);
    rig->relay = ab_relay_new(rig->config, &rig->sink);
    assert_non_null(rig->relay);
    assert_int_equal(ab_relay_start(rig->relay), 0);
}

ab_ledger_t rig_ledger(rig_t *rig)
{
    ab_ledger_t ledger;
    ab_relay_ledger(rig->relay, &ledger);
    return ledger;
}

void rig_ends(rig_t *rig, int exit_code)
{
    int code = -1;
    if (!ab_relay_wait(rig->relay, PATIENCE_MS, &code)) {
        fail_msg("the relay does not end");
    }
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_true(ab_ledger_balanced(&ledger));
    assert_int_equal(code, exit_code);
    ab_relay_free(rig->relay);
    rig->relay = NULL;
}

void rig_stop(rig_t *rig, int exit_code)
{
    ab_relay_stop(rig->relay);
    rig_ends(rig, exit_code);
}

void rig_await_consumed(rig_t *rig, uint64_t count)
{
    const int64_t deadline = now_ms() + PATIENCE_MS;
    while (rig_ledger(rig).consumed < count) {
        if (now_ms() > deadline) {
            fail_msg("%llu records were consumed, %llu were waited for",
                     (unsigned long long)rig_ledger(rig).consumed, (unsigned long long)count);
        }
        look_again();
    }
}

/* ---- records ---- */

static void write_record(rig_t *rig, const char *topic, int32_t partition, aw_span_t key,
                         aw_span_t value)
{
    const ab_full_record_t record = {
        .record = {.topic = topic,
                   .partition = partition,
                   .timestamp_ms = 1767225600000 + (int64_t)rig->written,
                   .key = key,
                   .value = value}};
    if (ab_client_write(rig->client, &record) != 0) {
        fail_msg("%s", ab_client_error_view(rig->client));
    }
}

static void flush(rig_t *rig)
{
    if (ab_client_flush(rig->client, PATIENCE_MS) != 0) {
        fail_msg("%s", ab_client_error_view(rig->client));
    }
}

/* entity_key "k", external_event: the number in eight digits. */
#define VALUE_FORMAT "\x0a\x01k\x1a\x08%08zu"
#define VALUE_BYTES  13u

void rig_write(rig_t *rig, size_t count)
{
    assert_true(rig->written + count <= RIG_RECORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        char value[VALUE_BYTES + 16];
        snprintf(value, sizeof(value), VALUE_FORMAT, rig->written);
        write_record(rig, "in", (int32_t)(rig->written % RIG_SOURCE_PARTITIONS),
                     aw_span_text_view("k"), aw_span_view(value, VALUE_BYTES));
        rig->written++;
    }
    flush(rig);
}

void rig_write_value(rig_t *rig, aw_span_t key, aw_span_t value)
{
    rig_write_to(rig, "in", key, value);
}

void rig_queue_to(rig_t *rig, const char *topic, aw_span_t key, aw_span_t value)
{
    write_record(rig, topic, 0, key, value);
}

void rig_write_to(rig_t *rig, const char *topic, aw_span_t key, aw_span_t value)
{
    write_record(rig, topic, 0, key, value);
    flush(rig);
}

ab_records_t *rig_read(rig_t *rig, const char *topic)
{
    ab_records_t *records = NULL;
    if (ab_client_read(rig->client, topic, PATIENCE_MS, &records) != 0) {
        fail_msg("%s", ab_client_error_view(rig->client));
    }
    return records;
}

/* How many of the written envelopes are not in ev yet. */
static size_t count_missing(rig_t *rig)
{
    bool *there = calloc(RIG_RECORDS_MAX, sizeof(*there));
    ab_records_t *records = rig_read(rig, "ev");
    size_t count;
    const ab_full_record_t *items = ab_records_view(records, &count);
    size_t missing = rig->written;
    assert_non_null(there);
    for (size_t i = 0; i < count; i++) {
        const aw_span_t value = items[i].record.value;
        char wanted[VALUE_BYTES + 16];
        assert_int_equal(value.size, VALUE_BYTES);
        const size_t number = (size_t)strtoul((const char *)value.data + 5, NULL, 10);
        assert_true(number < rig->written);
        snprintf(wanted, sizeof(wanted), VALUE_FORMAT, number);
        assert_memory_equal(value.data, wanted, VALUE_BYTES);
        missing -= !there[number];
        there[number] = true;
    }
    ab_records_free(records);
    free(there);
    return missing;
}

void rig_await_all(rig_t *rig)
{
    const int64_t deadline = now_ms() + PATIENCE_MS;
    size_t missing;
    while ((missing = count_missing(rig)) > 0) {
        if (now_ms() > deadline) {
            fail_msg("%zu of %zu records never came out", missing, rig->written);
        }
        look_again();
    }
    /* The mock shows what is not committed yet. */
    rig_await_consumed(rig, rig->written);
}

size_t rig_size(rig_t *rig, const char *topic)
{
    ab_records_t *records = rig_read(rig, topic);
    size_t count;
    (void)ab_records_view(records, &count);
    ab_records_free(records);
    return count;
}

aw_span_t rig_header(const ab_full_record_t *record, const char *name)
{
    aw_span_t value = AW_SPAN_NULL;
    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, name) == 0) {
            value = record->headers[i].value;
        }
    }
    return value;
}

void rig_assert_text(aw_span_t value, const char *wanted)
{
    assert_non_null(value.data);
    assert_int_equal(value.size, strlen(wanted));
    assert_memory_equal(value.data, wanted, value.size);
}

const ab_full_record_t *rig_only(rig_t *rig, const char *topic, ab_records_t **ret_records)
{
    size_t count;
    *ret_records = rig_read(rig, topic);
    const ab_full_record_t *records = ab_records_view(*ret_records, &count);
    assert_int_equal(count, 1);
    return records;
}

/* ---- errors on purpose ---- */

void rig_fail_at(rig_t *rig, int32_t broker, int16_t request, rd_kafka_resp_err_t err, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(
            rd_kafka_mock_broker_push_request_error_rtts(rig->mock, broker, request, 1, err, 0),
            RD_KAFKA_RESP_ERR_NO_ERROR);
    }
}

size_t rig_left_at(rig_t *rig, int32_t broker, int16_t request)
{
    size_t count = 0;
    assert_int_equal(rd_kafka_mock_broker_error_stack_cnt(rig->mock, broker, request, &count),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    return count;
}

void rig_await_left(rig_t *rig, int32_t broker, int16_t request, size_t left)
{
    const int64_t deadline = now_ms() + PATIENCE_MS;
    while (rig_left_at(rig, broker, request) > left) {
        if (now_ms() > deadline) {
            fail_msg("%zu errors of request %d never met one", rig_left_at(rig, broker, request),
                     request);
        }
        look_again();
    }
}

void rig_await_used(rig_t *rig, int32_t broker, int16_t request)
{
    rig_await_left(rig, broker, request, 0);
}

void rig_check_faults(const rig_fault_t *faults, size_t count)
{
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    for (size_t i = 0; i < count; i++) {
        const rig_fault_t *fault = &faults[i];
        fprintf(stderr, "  request %d: %s\n", fault->request, rd_kafka_err2name(fault->error));
        const uint64_t before = rig_ledger(rig).consumed;
        rig_fail_at(rig, fault->broker, fault->request, fault->error, fault->count);
        rig_write(rig, 20);
        rig_await_used(rig, fault->broker, fault->request);
        rig_await_all(rig);
        rig_await_consumed(rig, before + 20);
        rig_write(rig, 4);
        rig_await_all(rig);
        rig_await_consumed(rig, before + 24);
    }
    assert_int_equal(rig_count(rig, "lane_started"), 1);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

void rig_check_rebuilt(int16_t request, rd_kafka_resp_err_t error, int32_t broker)
{
    rig_t *rig = rig_open("");
    rig_write(rig, 20);
    rig_start(rig);
    rig_await_all(rig);
    rig_fail_at(rig, broker, request, error, 1);
    rig_write(rig, 20);
    rig_await(rig, "lane_started", 2);
    rig_await_all(rig);
    assert_int_equal(rig_left_at(rig, broker, request), 0);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}
