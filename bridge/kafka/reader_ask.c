#include "bridge/kafka/reader_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/kafka/errors.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/relay.h"
#include "bridge/kafka/topics.h"

/* One question to a broker that may be away. */
#define ROUND_MS 1000
/* Rounds in a row that a login or a certificate must end before it is believed. */
#define REFUSALS_MAX 2u
/* Between two looks at an open transaction. */
#define SETTLE_MS 50

int64_t ab_reader_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- failures ---- */

ab_read_status_t ab_reader_fail(ab_reader_t *reader, ab_read_status_t status, const char *format,
                                ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reader->text, sizeof(reader->text), format, arguments);
    va_end(arguments);
    return status;
}

ab_read_status_t ab_reader_fail_silent(ab_reader_t *reader)
{
    char text[AB_LINK_TEXT_MAX];
    const ab_link_trouble_t trouble = ab_link_explain(&reader->link, text);
    return ab_reader_fail(
        reader, trouble > AB_LINK_UNREACHABLE ? AB_READ_DENIED : AB_READ_UNREACHABLE, "%s", text);
}

ab_read_status_t ab_reader_fail_of(ab_reader_t *reader, rd_kafka_resp_err_t err, const char *topic)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return ab_reader_fail(reader, AB_READ_MISSING,
                              "%s does not exist, or not with all the "
                              "partitions that were seen at first (%s)",
                              topic, rd_kafka_err2name(err));
    default:
        break;
    }
    if (ab_error_is_denied(err)) {
        return ab_reader_fail(reader, AB_READ_DENIED, "%s: %s; allow Read and Describe", topic,
                              rd_kafka_err2str(err));
    }
    if (ab_link_now(&reader->link) > AB_LINK_FINE) {
        return ab_reader_fail_silent(reader);
    }
    return ab_reader_fail(reader, AB_READ_UNREACHABLE, "%s: %s", topic, rd_kafka_err2str(err));
}

int ab_read_exit_code(ab_read_status_t status)
{
    switch (status) {
    case AB_READ_OK:
    case AB_READ_END:
    case AB_READ_QUIET:
        return AB_EXIT_OK;
    case AB_READ_DENIED:
        return AB_EXIT_NOT_ALLOWED;
    case AB_READ_NO_MEMORY:
        return AB_EXIT_FATAL;
    case AB_READ_UNSETTLED:
        return AB_EXIT_TEMPORARY;
    case AB_READ_NOTHING:
    case AB_READ_MISSING:
    case AB_READ_DAMAGED:
    case AB_READ_UNREACHABLE:
    default:
        return AB_EXIT_UNAVAILABLE;
    }
}

/* ---- clients ---- */

rd_kafka_t *ab_reader_client_new(ab_reader_t *reader, bool uncommitted,
                                 char ret_text[AB_READER_TEXT_MAX])
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_READER,
                                   .prefetch_bytes = reader->options.memory_bytes,
                                   .uncommitted = uncommitted};
    rd_kafka_conf_t *conf = ab_handle_conf_new(reader->config, &spec, text, &property);
    if (conf == NULL) {
        (void)snprintf(ret_text, AB_READER_TEXT_MAX, "%s", text);
        return NULL;
    }
    ab_link_attach(&reader->link, conf);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    if (client == NULL) {
        rd_kafka_conf_destroy(conf);
        (void)snprintf(ret_text, AB_READER_TEXT_MAX, "librdkafka makes no client: %s", text);
        return NULL;
    }
    (void)rd_kafka_poll_set_consumer(client);
    return client;
}

/* ---- topics and offsets ---- */

/* Lets the client say what it has met. Not by rd_kafka_poll(), which aborts the process on a
 * record: some may wait from what was read before. */
static void serve_client(rd_kafka_t *client)
{
    rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 0);
    if (message != NULL) {
        rd_kafka_message_destroy(message);
    }
}

ab_read_status_t ab_reader_count(ab_reader_t *reader, const char *topic, int32_t *ret_partitions)
{
    const int64_t until = ab_reader_now_ms() + reader->options.timeout_ms;
    unsigned refusals = 0;
    char text[512];
    for (;;) {
        const int64_t left = until - ab_reader_now_ms();
        const ab_topic_problem_t problem =
            left <= 0 ? AB_TOPIC_UNREACHABLE
                      : ab_topic_ask(reader->client, topic, left < ROUND_MS ? (int)left : ROUND_MS,
                                     ret_partitions, NULL, text, sizeof(text));
        switch (problem) {
        case AB_TOPIC_OK:
            ab_link_works(&reader->link);
            return AB_READ_OK;
        case AB_TOPIC_MISSING:
            return ab_reader_fail(reader, AB_READ_MISSING,
                                  "the topic %s does not exist, or may not be seen", topic);
        case AB_TOPIC_DENIED:
            return ab_reader_fail(reader, AB_READ_DENIED, "%s: %s; allow Read and Describe", topic,
                                  text);
        case AB_TOPIC_UNREACHABLE:
        default:
            break;
        }
        if (!reader->assigned) {
            serve_client(reader->client);
        }
        refusals = ab_link_now(&reader->link) > AB_LINK_UNREACHABLE ? refusals + 1 : 0;
        if (left <= 0 || refusals >= REFUSALS_MAX) {
            return ab_reader_fail_silent(reader);
        }
    }
}

/* What came of a question, into ret_offsets. */
static rd_kafka_resp_err_t take_offsets(const rd_kafka_topic_partition_list_t *list,
                                        int64_t *ret_offsets)
{
    for (int i = 0; i < list->cnt; i++) {
        if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return list->elems[i].err;
        }
    }
    for (int i = 0; i < list->cnt; i++) {
        ret_offsets[i] = list->elems[i].offset >= 0 ? list->elems[i].offset : -1;
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* A leader that moves or is away is asked for again; what is no question of time ends it. */
static bool may_pass(rd_kafka_resp_err_t err)
{
    return !ab_error_is_denied(err) && err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
           err != RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC && err != RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

ab_read_status_t ab_reader_ask_offsets(ab_reader_t *reader, rd_kafka_t *client,
                                       const ab_reader_part_t *parts, size_t count, int64_t at_ms,
                                       int64_t *ret_offsets)
{
    const int64_t until = ab_reader_now_ms() + reader->options.timeout_ms;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (count == 0) {
        return AB_READ_OK;
    }
    do {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
        for (size_t i = 0; i < count; i++) {
            rd_kafka_topic_partition_list_add(list, parts[i].topic, parts[i].partition)->offset =
                at_ms;
        }
        const int64_t left = until - ab_reader_now_ms();
        err = rd_kafka_offsets_for_times(client, list, left > ROUND_MS ? (int)left : ROUND_MS);
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            err = take_offsets(list, ret_offsets);
        }
        rd_kafka_topic_partition_list_destroy(list);
        if (err != RD_KAFKA_RESP_ERR_NO_ERROR && may_pass(err)) {
            const struct timespec pause = {0, SETTLE_MS * 1000000L};
            nanosleep(&pause, NULL);
        }
    } while (err != RD_KAFKA_RESP_ERR_NO_ERROR && may_pass(err) && ab_reader_now_ms() < until);
    return err == RD_KAFKA_RESP_ERR_NO_ERROR ? AB_READ_OK
                                             : ab_reader_fail_of(reader, err, parts[0].topic);
}

/* The first partition whose end for readers of committed records lies before what had been written;
 * count when there is none. */
static size_t first_open(const ab_reader_t *reader, const int64_t *written, const int64_t *stable)
{
    for (size_t i = 0; i < reader->part_count; i++) {
        if (stable[i] < written[i]) {
            return i;
        }
    }
    return reader->part_count;
}

static ab_read_status_t wait_settled(ab_reader_t *reader, int wait_ms, const int64_t *written,
                                     int64_t *stable)
{
    const int64_t until = ab_reader_now_ms() + wait_ms;
    for (;;) {
        const ab_read_status_t status = ab_reader_ask_offsets(
            reader, reader->client, reader->parts, reader->part_count, AB_OFFSET_LATEST, stable);
        if (status != AB_READ_OK) {
            return status;
        }
        const size_t open = first_open(reader, written, stable);
        if (open == reader->part_count) {
            return AB_READ_OK;
        }
        if (ab_reader_now_ms() >= until) {
            return ab_reader_fail(
                reader, AB_READ_UNSETTLED,
                "a transaction has been open on %s:%d since offset %lld for longer than %d ms; "
                "what it holds cannot be read yet. Try again when it has ended",
                reader->parts[open].topic, (int)reader->parts[open].partition,
                (long long)stable[open], wait_ms);
        }
        const struct timespec pause = {0, SETTLE_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
}

ab_read_status_t ab_reader_settle(ab_reader_t *reader, int wait_ms)
{
    const size_t count = reader->part_count;
    int64_t *offsets = calloc(2 * count + 1, sizeof(*offsets));
    ab_read_status_t status = AB_READ_OK;
    if (offsets == NULL) {
        return ab_reader_fail(reader, AB_READ_NO_MEMORY, "memory ran out");
    }
    if (reader->uncommitted == NULL) {
        reader->uncommitted = ab_reader_client_new(reader, true, reader->text);
        status = reader->uncommitted != NULL ? AB_READ_OK : AB_READ_NO_MEMORY;
    }
    if (status == AB_READ_OK) {
        status = ab_reader_ask_offsets(reader, reader->uncommitted, reader->parts, count,
                                       AB_OFFSET_LATEST, offsets);
    }
    if (status == AB_READ_OK) {
        status = wait_settled(reader, wait_ms, offsets, offsets + count);
    }
    for (size_t i = 0; status == AB_READ_OK && i < count; i++) {
        ab_reader_part_t *part = &reader->parts[i];
        part->stable = offsets[count + i];
        part->end = part->stable > part->begin ? part->stable : part->begin;
    }
    free(offsets);
    return status;
}

ab_read_status_t ab_reader_committed(ab_reader_t *reader, const char *topic, int32_t count,
                                     int64_t *ret_offsets)
{
    const int64_t until = ab_reader_now_ms() + reader->options.timeout_ms;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    do {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
        for (int32_t p = 0; p < count; p++) {
            rd_kafka_topic_partition_list_add(list, topic, p);
        }
        const int64_t left = until - ab_reader_now_ms();
        err = rd_kafka_committed(reader->client, list, left > ROUND_MS ? (int)left : ROUND_MS);
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            err = take_offsets(list, ret_offsets);
        }
        rd_kafka_topic_partition_list_destroy(list);
        if (err != RD_KAFKA_RESP_ERR_NO_ERROR && may_pass(err)) {
            const struct timespec pause = {0, SETTLE_MS * 1000000L};
            nanosleep(&pause, NULL);
        }
    } while (err != RD_KAFKA_RESP_ERR_NO_ERROR && may_pass(err) && ab_reader_now_ms() < until);
    return err == RD_KAFKA_RESP_ERR_NO_ERROR
               ? AB_READ_OK
               : ab_reader_fail_of(reader, err, reader->config->group);
}
