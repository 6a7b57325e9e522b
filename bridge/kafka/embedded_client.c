#include "bridge/kafka/embedded_client.h"

#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agentwire/arena.h"

/* Longest wait for the brokers' answer to a single question. */
#define ANSWER_MS 5000
#define POLL_MS   100
/* Records read at first; doubled whenever they are too few. */
#define ROOM_MIN 256u

struct ab_client {
    char *bootstrap;
    rd_kafka_t *producer;
    uint64_t refused; /* records whose delivery failed since the last flush */
    char text[AB_CLIENT_TEXT_MAX];
};

struct ab_records {
    ab_full_record_t *items;
    size_t count, room;
    aw_arena_t *memory;
};

typedef struct setting {
    const char *name;
    const char *value;
} setting_t;

static int fail(ab_client_t *client, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(ab_client_t *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->text, sizeof(client->text), format, arguments);
    va_end(arguments);
    return -1;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- handles ---- */

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    ab_client_t *client = opaque;
    (void)rk;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        client->refused++;
        (void)fail(client, "%s [%d]: a record was not taken: %s", rd_kafka_topic_name(message->rkt),
                   (int)message->partition, rd_kafka_err2str(message->err));
    }
}

/* A handle with these settings and the client's brokers. NULL, and the client's text says why. */
static rd_kafka_t *make_handle(ab_client_t *client, rd_kafka_type_t type, const setting_t *settings,
                               size_t count)
{
    char *text = client->text;
    rd_kafka_t *handle = NULL;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t result =
        rd_kafka_conf_set(conf, "bootstrap.servers", client->bootstrap, text, sizeof(client->text));
    for (size_t i = 0; result == RD_KAFKA_CONF_OK && i < count; i++) {
        result = rd_kafka_conf_set(conf, settings[i].name, settings[i].value, text,
                                   sizeof(client->text));
    }
    if (result == RD_KAFKA_CONF_OK) {
        /* What goes wrong shows in what the calls return. */
        rd_kafka_conf_set_log_cb(conf, NULL);
        rd_kafka_conf_set_opaque(conf, client);
        if (type == RD_KAFKA_PRODUCER) {
            rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
        }
        handle = rd_kafka_new(type, conf, text, sizeof(client->text));
    }
    if (handle == NULL) {
        rd_kafka_conf_destroy(conf);
    }
    return handle;
}

static rd_kafka_t *make_producer(ab_client_t *client)
{
    static const setting_t settings[] = {
        /* Each partition in order, and no record twice: what fails is said, not tried again. */
        {"retries", "0"},
        {"max.in.flight.requests.per.connection", "1"},
        {"allow.auto.create.topics", "false"},
        {"message.max.bytes", "100000000"},
        {"socket.nagle.disable", "true"},
        {"linger.ms", "5"},
    };
    return make_handle(client, RD_KAFKA_PRODUCER, settings, sizeof(settings) / sizeof(settings[0]));
}

/* A consumer that never joins the group, and moves an offset only when told to. */
static rd_kafka_t *make_consumer(ab_client_t *client, const char *group)
{
    const setting_t settings[] = {
        {"group.id", group},
        {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_committed"},
        {"allow.auto.create.topics", "false"},
        {"check.crcs", "true"},
        {"fetch.wait.max.ms", "10"},
        {"socket.nagle.disable", "true"},
    };
    return make_handle(client, RD_KAFKA_CONSUMER, settings, sizeof(settings) / sizeof(settings[0]));
}

ab_client_t *ab_client_new(const char *bootstrap, char ret_text[AB_CLIENT_TEXT_MAX])
{
    ab_client_t *client = calloc(1, sizeof(*client));
    char *copy = strdup(bootstrap);
    if (client == NULL || copy == NULL) {
        snprintf(ret_text, AB_CLIENT_TEXT_MAX, "memory ran out");
        free(client);
        free(copy);
        return NULL;
    }
    client->bootstrap = copy;
    client->producer = make_producer(client);
    if (client->producer == NULL) {
        memcpy(ret_text, client->text, AB_CLIENT_TEXT_MAX);
        ab_client_free(client);
        return NULL;
    }
    return client;
}

void ab_client_free(ab_client_t *client)
{
    if (client == NULL) {
        return;
    }
    if (client->producer != NULL) {
        (void)rd_kafka_purge(client->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                                   RD_KAFKA_PURGE_F_NON_BLOCKING);
        rd_kafka_destroy(client->producer);
    }
    free(client->bootstrap);
    free(client);
}

const char *ab_client_error_view(const ab_client_t *client)
{
    return client->text;
}

/* ---- writing ---- */

/* librdkafka tells absent from empty by the pointer, and so does a span. */
static rd_kafka_headers_t *headers_of(const ab_full_record_t *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const ab_header_t *header = &record->headers[i];
        (void)rd_kafka_header_add(headers, header->name, -1, header->value.data,
                                  (ssize_t)header->value.size);
    }
    return headers;
}

int ab_client_write(ab_client_t *client, const ab_full_record_t *record)
{
    const ab_record_t *facts = &record->record;
    rd_kafka_headers_t *headers = headers_of(record);
    rd_kafka_resp_err_t err;
    do {
        err = rd_kafka_producev(
            client->producer, RD_KAFKA_V_TOPIC(facts->topic),
            RD_KAFKA_V_PARTITION(facts->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_KEY(facts->key.data, facts->key.size),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)facts->value.data, facts->value.size),
            RD_KAFKA_V_TIMESTAMP(facts->timestamp_ms), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
        rd_kafka_poll(client->producer, err == RD_KAFKA_RESP_ERR__QUEUE_FULL ? POLL_MS : 0);
    } while (err == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
        return fail(client, "%s [%d]: a record cannot be written: %s", facts->topic,
                    (int)facts->partition, rd_kafka_err2str(err));
    }
    return 0;
}

int ab_client_flush(ab_client_t *client, int timeout_ms)
{
    const rd_kafka_resp_err_t err = rd_kafka_flush(client->producer, timeout_ms);
    const uint64_t refused = client->refused;
    client->refused = 0;
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(client, "%d records were not taken within %d ms: %s",
                    rd_kafka_outq_len(client->producer), timeout_ms, rd_kafka_err2str(err));
    }
    return refused == 0 ? 0 : -1;
}

/* ---- offsets ---- */

int ab_client_commit(ab_client_t *client, const char *group, const char *topic, int32_t partitions,
                     int64_t offset)
{
    rd_kafka_t *consumer = make_consumer(client, group);
    if (consumer == NULL) {
        return -1;
    }
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t p = 0; p < partitions; p++) {
        rd_kafka_topic_partition_list_add(offsets, topic, p)->offset = offset;
    }
    rd_kafka_resp_err_t err = rd_kafka_commit(consumer, offsets, 0);
    for (int i = 0; err == RD_KAFKA_RESP_ERR_NO_ERROR && i < offsets->cnt; i++) {
        err = offsets->elems[i].err;
    }
    rd_kafka_topic_partition_list_destroy(offsets);
    rd_kafka_destroy(consumer);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(client, "the offsets of group %s in %s cannot be committed: %s", group, topic,
                    rd_kafka_err2str(err));
    }
    return 0;
}

/* ---- partitions ---- */

int32_t ab_client_partition_of_key(aw_span_t key, int32_t count)
{
    return rd_kafka_msg_partitioner_murmur2(NULL, key.data, key.size, count, NULL, NULL);
}

/* ---- reading ---- */

void ab_records_free(ab_records_t *records)
{
    if (records == NULL) {
        return;
    }
    aw_arena_free(records->memory);
    free(records->items);
    free(records);
}

const ab_full_record_t *ab_records_view(const ab_records_t *records, size_t *ret_count)
{
    *ret_count = records->count;
    return records->items;
}

static ab_records_t *new_records(void)
{
    ab_records_t *records = calloc(1, sizeof(*records));
    if (records == NULL) {
        return NULL;
    }
    records->memory = aw_arena_new(0);
    if (records->memory == NULL) {
        ab_records_free(records);
        return NULL;
    }
    return records;
}

/* A copy that stays absent or empty; false when memory is short. */
static bool copy_span(aw_arena_t *memory, const void *data, size_t size, aw_span_t *ret_span)
{
    if (data == NULL) {
        *ret_span = AW_SPAN_NULL;
        return true;
    }
    uint8_t *copy = aw_arena_alloc(memory, size + 1);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, data, size);
    copy[size] = '\0'; /* so that a copied name is a C string */
    *ret_span = aw_span_view(copy, size);
    return true;
}

static bool copy_headers(aw_arena_t *memory, const rd_kafka_message_t *message,
                         ab_full_record_t *record)
{
    rd_kafka_headers_t *found = NULL;
    if (rd_kafka_message_headers(message, &found) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return true;
    }
    const size_t count = rd_kafka_header_cnt(found);
    ab_header_t *headers = aw_arena_calloc(memory, count, sizeof(*headers));
    const char *name;
    const void *value;
    size_t size;
    aw_span_t name_copy;
    if (headers == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (rd_kafka_header_get_all(found, i, &name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR ||
            !copy_span(memory, name, strlen(name), &name_copy) ||
            !copy_span(memory, value, size, &headers[i].value)) {
            return false;
        }
        headers[i].name = (const char *)name_copy.data;
    }
    record->headers = headers;
    record->header_count = count;
    return true;
}

static bool keep(ab_records_t *records, const rd_kafka_message_t *message)
{
    if (records->count == records->room) {
        const size_t room = records->room == 0 ? ROOM_MIN : records->room * 2;
        ab_full_record_t *items = realloc(records->items, room * sizeof(*items));
        if (items == NULL) {
            return false;
        }
        records->items = items;
        records->room = room;
    }
    ab_full_record_t *kept = &records->items[records->count];
    const char *topic = rd_kafka_topic_name(message->rkt);
    rd_kafka_timestamp_type_t type;
    aw_span_t name;
    *kept =
        (ab_full_record_t){.record = {.partition = message->partition,
                                      .offset = message->offset,
                                      .timestamp_ms = rd_kafka_message_timestamp(message, &type)}};
    kept->record.timestamp_type = type == RD_KAFKA_TIMESTAMP_CREATE_TIME       ? AB_TIMESTAMP_CREATE
                                  : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? AB_TIMESTAMP_APPEND
                                                                               : AB_TIMESTAMP_NONE;
    if (!copy_span(records->memory, topic, strlen(topic), &name) ||
        !copy_span(records->memory, message->key, message->key_len, &kept->record.key) ||
        !copy_span(records->memory, message->payload, message->len, &kept->record.value) ||
        !copy_headers(records->memory, message, kept)) {
        return false;
    }
    kept->record.topic = (const char *)name.data;
    records->count++;
    return true;
}

/* How many partitions a topic has; -1, and the client's text says why not. */
static int count_partitions(ab_client_t *client, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    int count = -1;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client->producer, topic, NULL);
    if (handle == NULL) {
        return fail(client, "%s: %s", topic, rd_kafka_err2str(rd_kafka_last_error()));
    }
    rd_kafka_resp_err_t err = rd_kafka_metadata(client->producer, 0, handle, &metadata, ANSWER_MS);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        err = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            count = metadata->topics[0].partition_cnt;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(client, "%s: %s", topic, rd_kafka_err2str(err));
    }
    return count;
}

static int compare_places(const void *left, const void *right)
{
    const ab_record_t *a = &((const ab_full_record_t *)left)->record;
    const ab_record_t *b = &((const ab_full_record_t *)right)->record;
    if (a->partition != b->partition) {
        return a->partition < b->partition ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Reads until each of the assigned partitions has said that it ends. */
static int read_assigned(ab_client_t *client, rd_kafka_t *consumer, const char *topic,
                         int partitions, int timeout_ms, ab_records_t *records)
{
    const int64_t deadline = now_ms() + timeout_ms;
    int left = partitions;
    int result = 0;
    bool *ended = calloc((size_t)partitions, sizeof(*ended));
    if (ended == NULL) {
        return fail(client, "memory ran out");
    }
    while (result == 0 && left > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, POLL_MS);
        if (message == NULL) {
            /* the time is looked at below */
        } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            result = keep(records, message) ? 0 : fail(client, "memory ran out");
        } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            /* Said again when more was written behind it meanwhile. */
            left -= !ended[message->partition];
            ended[message->partition] = true;
        } /* else: a lost connection mends by itself; what does not runs into the deadline */
        if (message != NULL) {
            rd_kafka_message_destroy(message);
        }
        if (result == 0 && left > 0 && now_ms() > deadline) {
            result = fail(client, "%s: %d of %d partitions could not be read to their end in %d ms",
                          topic, left, partitions, timeout_ms);
        }
    }
    free(ended);
    return result;
}

/* Begins to fetch every partition at its first record. An explicit offset is fetched at once; told
 * to find the beginning by itself, librdkafka lets half a second go by. */
static int assign_all(ab_client_t *client, rd_kafka_t *consumer, const char *topic, int partitions)
{
    rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t p = 0; p < partitions; p++) {
        rd_kafka_topic_partition_list_add(all, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(consumer, all, ANSWER_MS);
    for (int i = 0; err == RD_KAFKA_RESP_ERR_NO_ERROR && i < all->cnt; i++) {
        err = all->elems[i].err;
    }
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        err = rd_kafka_assign(consumer, all);
    }
    rd_kafka_topic_partition_list_destroy(all);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail(client, "%s cannot be read: %s", topic, rd_kafka_err2str(err));
    }
    return 0;
}

int ab_client_read(ab_client_t *client, const char *topic, int timeout_ms,
                   ab_records_t **ret_records)
{
    const int partitions = count_partitions(client, topic);
    if (partitions < 0) {
        return -1;
    }
    ab_records_t *records = new_records();
    if (records == NULL) {
        return fail(client, "memory ran out");
    }
    rd_kafka_t *consumer = make_consumer(client, "agent-bridge.reader");
    int result = -1;
    if (consumer != NULL) {
        result = assign_all(client, consumer, topic, partitions);
        if (result == 0) {
            result = read_assigned(client, consumer, topic, partitions, timeout_ms, records);
        }
        rd_kafka_destroy_flags(consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    if (result != 0) {
        ab_records_free(records);
        return -1;
    }
    if (records->count > 0) {
        qsort(records->items, records->count, sizeof(*records->items), compare_places);
    }
    *ret_records = records;
    return 0;
}
