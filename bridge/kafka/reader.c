#include "bridge/kafka/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/kafka/errors.h"
#include "bridge/kafka/message.h"
#include "bridge/kafka/reader_state.h"

/* Longest single wait for a record. */
#define POLL_MS 100

/* ---- life ---- */

ab_reader_t *ab_reader_new(const ab_config_t *config, const ab_reader_options_t *options,
                           char ret_text[AB_READER_TEXT_MAX])
{
    ab_reader_t *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        (void)snprintf(ret_text, AB_READER_TEXT_MAX, "memory ran out");
        return NULL;
    }
    reader->config = config;
    reader->options = *options;
    ab_link_init(&reader->link, config);
    reader->client = ab_reader_client_new(reader, false, ret_text);
    if (reader->client == NULL) {
        ab_link_clear(&reader->link);
        free(reader);
        return NULL;
    }
    return reader;
}

void ab_reader_free(ab_reader_t *reader)
{
    if (reader == NULL) {
        return;
    }
    ab_reader_clear(reader);
    /* No group was joined: there is nothing to leave, and nothing to wait for. */
    rd_kafka_destroy_flags(reader->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (reader->uncommitted != NULL) {
        rd_kafka_destroy_flags(reader->uncommitted, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    ab_link_clear(&reader->link);
    free(reader->topics);
    free(reader->parts);
    free(reader->headers);
    free(reader);
}

const char *ab_reader_text_view(const ab_reader_t *reader)
{
    return reader->text;
}

static void drop_message(ab_reader_t *reader)
{
    if (reader->message != NULL) {
        rd_kafka_message_destroy(reader->message);
        reader->message = NULL;
    }
}

void ab_reader_clear(ab_reader_t *reader)
{
    drop_message(reader);
    if (reader->assigned) {
        (void)rd_kafka_assign(reader->client, NULL);
        reader->assigned = false;
    }
    for (size_t i = 0; i < reader->topic_count; i++) {
        free(reader->topics[i]);
    }
    reader->topic_count = 0;
    reader->part_count = 0;
    reader->open_parts = 0;
    reader->last_part = 0;
}

/* ---- partitions ---- */

static void *grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return items;
    }
    const size_t wanted = *room == 0 ? 16 : *room * 2;
    void *more = realloc(items, wanted * size);
    if (more != NULL) {
        *room = wanted;
    }
    return more;
}

/* The topic's own copy of its name; NULL when memory is short. */
static const char *keep_topic(ab_reader_t *reader, const char *name)
{
    ab_reader_topic_t **topics =
        grown(reader->topics, reader->topic_count, &reader->topic_room, sizeof(*reader->topics));
    ab_reader_topic_t *topic = calloc(1, sizeof(*topic));
    reader->topics = topics != NULL ? topics : reader->topics;
    if (topics == NULL || topic == NULL) {
        free(topic);
        return NULL;
    }
    (void)snprintf(topic->name, sizeof(topic->name), "%s", name);
    reader->topics[reader->topic_count++] = topic;
    return topic->name;
}

static bool keep_part(ab_reader_t *reader, const char *topic, int32_t partition)
{
    ab_reader_part_t *parts =
        grown(reader->parts, reader->part_count, &reader->part_room, sizeof(*reader->parts));
    if (parts == NULL) {
        return false;
    }
    reader->parts = parts;
    parts[reader->part_count++] = (ab_reader_part_t){.topic = topic, .partition = partition};
    return true;
}

static void place(ab_reader_part_t *part, const ab_read_range_t *range, int64_t since,
                  int64_t until)
{
    part->begin = part->first;
    part->end = part->stable;
    if (range->has_since) {
        part->begin = since >= 0 ? since : part->stable;
    }
    if (range->has_until && until >= 0 && until < part->end) {
        part->end = until;
    }
    if (range->follow) {
        part->end = INT64_MAX;
    }
    if (part->end < part->begin) {
        part->end = part->begin;
    }
}

/* Asks where the partitions from index on begin and end. */
static ab_read_status_t locate(ab_reader_t *reader, size_t index, const ab_read_range_t *range)
{
    const size_t count = reader->part_count - index;
    ab_reader_part_t *parts = reader->parts + index;
    int64_t *offsets = calloc(4 * count + 1, sizeof(*offsets));
    if (offsets == NULL) {
        return ab_reader_fail(reader, AB_READ_NO_MEMORY, "memory ran out");
    }
    const struct {
        bool wanted;
        int64_t at_ms;
    } questions[] = {{true, AB_OFFSET_EARLIEST},
                     {true, AB_OFFSET_LATEST},
                     {range->has_since, range->since_ms},
                     {range->has_until, range->until_ms}};
    ab_read_status_t status = AB_READ_OK;
    for (size_t q = 0; q < 4 && status == AB_READ_OK; q++) {
        if (questions[q].wanted) {
            status = ab_reader_ask_offsets(reader, reader->client, parts, count, questions[q].at_ms,
                                           offsets + q * count);
        }
    }
    for (size_t i = 0; status == AB_READ_OK && i < count; i++) {
        parts[i].first = offsets[i];
        parts[i].stable = offsets[count + i];
        place(&parts[i], range, offsets[2 * count + i], offsets[3 * count + i]);
    }
    free(offsets);
    return status;
}

static ab_read_status_t add(ab_reader_t *reader, const char *topic, int32_t from, int32_t to,
                            const ab_read_range_t *range)
{
    const size_t index = reader->part_count;
    const char *name = keep_topic(reader, topic);
    for (int32_t p = from; name != NULL && p < to; p++) {
        if (!keep_part(reader, name, p)) {
            name = NULL;
        }
    }
    const ab_read_status_t status =
        name != NULL ? locate(reader, index, range)
                     : ab_reader_fail(reader, AB_READ_NO_MEMORY, "memory ran out");
    if (status != AB_READ_OK) {
        reader->part_count = index;
    }
    return status;
}

ab_read_status_t ab_reader_add_topic(ab_reader_t *reader, const char *topic,
                                     const ab_read_range_t *range)
{
    int32_t count;
    const ab_read_status_t status = ab_reader_count(reader, topic, &count);
    return status == AB_READ_OK ? add(reader, topic, 0, count, range) : status;
}

ab_read_status_t ab_reader_add_partition(ab_reader_t *reader, const char *topic, int32_t partition,
                                         const ab_read_range_t *range)
{
    int32_t count;
    const ab_read_status_t status = ab_reader_count(reader, topic, &count);
    if (status != AB_READ_OK) {
        return status;
    }
    if (partition < 0 || partition >= count) {
        return ab_reader_fail(reader, AB_READ_MISSING, "%s has no partition %d, its last is %d",
                              topic, (int)partition, (int)count - 1);
    }
    return add(reader, topic, partition, partition + 1, range);
}

void ab_reader_limit(ab_reader_t *reader, size_t index, int64_t begin, int64_t end)
{
    ab_reader_part_t *part = &reader->parts[index];
    part->begin = begin > part->first ? begin : part->first;
    part->end = end < part->stable ? end : part->stable;
    if (part->end < part->begin) {
        part->end = part->begin;
    }
}

void ab_reader_begin_at(ab_reader_t *reader, size_t index, int64_t begin)
{
    ab_reader_part_t *part = &reader->parts[index];
    const int64_t most = part->end < part->stable ? part->end : part->stable;
    part->begin = begin > part->first ? begin : part->first;
    part->begin = part->begin < most ? part->begin : most;
}

const ab_reader_part_t *ab_reader_parts_view(const ab_reader_t *reader, size_t *ret_count)
{
    *ret_count = reader->part_count;
    return reader->parts;
}

/* ---- records ---- */

/* Begins to fetch, or begins anew where it stands. */
static ab_read_status_t assign(ab_reader_t *reader)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)reader->part_count + 1);
    for (size_t i = 0; i < reader->part_count; i++) {
        const ab_reader_part_t *part = &reader->parts[i];
        if (!part->done) {
            rd_kafka_topic_partition_list_add(list, part->topic, part->partition)->offset =
                part->next;
        }
    }
    const rd_kafka_resp_err_t err = rd_kafka_assign(reader->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    reader->assigned = true;
    reader->silent_ms = 0;
    return err == RD_KAFKA_RESP_ERR_NO_ERROR
               ? AB_READ_OK
               : ab_reader_fail(reader, AB_READ_UNREACHABLE, "the partitions cannot be read: %s",
                                rd_kafka_err2str(err));
}

static ab_read_status_t start(ab_reader_t *reader)
{
    reader->open_parts = 0;
    for (size_t i = 0; i < reader->part_count; i++) {
        ab_reader_part_t *part = &reader->parts[i];
        part->next = part->begin;
        part->done = part->begin >= part->end;
        reader->open_parts += !part->done;
    }
    return assign(reader);
}

/* The partition of a message; NULL for one that is not read (any more). */
static ab_reader_part_t *part_of(ab_reader_t *reader, const rd_kafka_message_t *message)
{
    const char *topic = message->rkt != NULL ? rd_kafka_topic_name(message->rkt) : NULL;
    if (topic == NULL) {
        return NULL;
    }
    for (size_t n = 0; n < reader->part_count; n++) {
        const size_t at = (reader->last_part + n) % reader->part_count;
        ab_reader_part_t *part = &reader->parts[at];
        if (part->partition == message->partition && strcmp(part->topic, topic) == 0) {
            reader->last_part = at;
            return part->done ? NULL : part;
        }
    }
    return NULL;
}

/* It is read: what comes behind must not fill the client's memory. A pause would outlive the
 * assignment. */
static void finish(ab_reader_t *reader, ab_reader_part_t *part)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    part->done = true;
    part->next = part->end;
    reader->open_parts--;
    rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
    rd_kafka_error_destroy(rd_kafka_incremental_unassign(reader->client, list));
    rd_kafka_topic_partition_list_destroy(list);
}

/* What was to be read next is gone: goes on at the first record that is there. */
static ab_read_status_t skip_gone(ab_reader_t *reader, ab_reader_part_t *part)
{
    int64_t first = 0;
    const ab_read_status_t status =
        ab_reader_ask_offsets(reader, reader->client, part, 1, AB_OFFSET_EARLIEST, &first);
    if (status != AB_READ_OK) {
        return status;
    }
    if (first <= part->next) {
        return ab_reader_fail(reader, AB_READ_DAMAGED,
                              "%s:%d: offset %lld is not there, though the log begins at %lld and "
                              "went on to %lld; was the topic made anew?",
                              part->topic, (int)part->partition, (long long)part->next,
                              (long long)first, (long long)part->stable);
    }
    const int64_t to = first < part->end ? first : part->end;
    part->gone += (uint64_t)(to - part->next);
    part->next = to;
    if (to == part->end) {
        finish(reader, part);
    }
    return assign(reader);
}

static ab_read_status_t on_error(ab_reader_t *reader, const rd_kafka_message_t *message)
{
    ab_reader_part_t *part = part_of(reader, message);
    const char *topic = part != NULL ? part->topic : "the brokers";
    switch (ab_error_of_consumer(message->err)) {
    case AB_ACTION_NONE: /* the end of the log, as it is now */
        reader->silent_ms = 0;
        if (part != NULL && message->offset >= part->end) {
            finish(reader, part);
        }
        return AB_READ_OK;
    case AB_ACTION_GAP:
        return part != NULL ? skip_gone(reader, part) : AB_READ_OK;
    case AB_ACTION_STOP:
        return ab_reader_fail(reader, AB_READ_DAMAGED,
                              "%s:%d cannot be read past offset %lld: %s; look at the brokers' "
                              "logs",
                              topic, (int)message->partition,
                              part != NULL ? (long long)part->next : -1LL,
                              rd_kafka_err2str(message->err));
    default:
        break;
    }
    const bool lasting = ab_error_is_denied(message->err) ||
                         message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                         message->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                         message->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                         message->err == RD_KAFKA_RESP_ERR__FATAL;
    return lasting ? ab_reader_fail_of(reader, message->err, topic) : AB_READ_OK;
}

/* Fills in the headers. False when memory is short. */
static bool view_headers(ab_reader_t *reader, ab_full_record_t *record)
{
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_headers(reader->message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return true;
    }
    const size_t count = rd_kafka_header_cnt(headers);
    if (count > reader->header_room) {
        ab_header_t *items = realloc(reader->headers, count * sizeof(*items));
        if (items == NULL) {
            return false;
        }
        reader->headers = items;
        reader->header_room = count;
    }
    for (size_t i = 0; i < count; i++) {
        const void *value;
        size_t size;
        (void)rd_kafka_header_get_all(headers, i, &reader->headers[i].name, &value, &size);
        reader->headers[i].value = aw_span_view(value, size);
    }
    record->headers = reader->headers;
    record->header_count = count;
    return true;
}

/* A message that was delivered. OK: it is to be given; QUIET: it is not wanted. */
static ab_read_status_t take(ab_reader_t *reader, ab_full_record_t *ret_record)
{
    ab_full_record_t record = {0};
    ab_reader_part_t *part = part_of(reader, reader->message);
    reader->silent_ms = 0;
    if (part == NULL || reader->message->offset < part->next) {
        return AB_READ_QUIET;
    }
    if (reader->message->offset >= part->end) {
        finish(reader, part);
        return AB_READ_QUIET;
    }
    record.headers_unreadable = !ab_message_view(reader->message, part->topic, &record.record);
    if (!record.headers_unreadable && !view_headers(reader, &record)) {
        return ab_reader_fail(reader, AB_READ_NO_MEMORY, "memory ran out");
    }
    part->next = reader->message->offset + 1;
    if (part->next >= part->end) {
        finish(reader, part);
    }
    *ret_record = record;
    return AB_READ_OK;
}

/* Nothing has come for a while: because nothing is there to come, or because nobody is there? The
 * leaders of what is still to be read are asked. */
static ab_read_status_t ask_leaders(ab_reader_t *reader)
{
    size_t count = 0;
    ab_read_status_t status = AB_READ_NO_MEMORY;
    ab_reader_part_t *open = calloc(reader->open_parts, sizeof(*open));
    int64_t *ends = calloc(reader->open_parts, sizeof(*ends));
    if (open == NULL || ends == NULL) {
        (void)ab_reader_fail(reader, status, "memory ran out");
        goto end;
    }
    for (size_t i = 0; i < reader->part_count; i++) {
        if (!reader->parts[i].done) {
            open[count++] = reader->parts[i];
        }
    }
    status = ab_reader_ask_offsets(reader, reader->client, open, count, AB_OFFSET_LATEST, ends);
    for (size_t i = 0; status == AB_READ_OK && i < count; i++) {
        if (ends[i] < open[i].stable && open[i].next >= ends[i]) {
            status = ab_reader_fail(reader, AB_READ_DAMAGED,
                                    "%s:%d ends at offset %lld, though it had gone on to %lld; "
                                    "has it lost records, or was the topic made anew?",
                                    open[i].topic, (int)open[i].partition, (long long)ends[i],
                                    (long long)open[i].stable);
        }
    }
    reader->silent_ms = 0;
end:
    free(open);
    free(ends);
    return status;
}

/* One wait for a message. What counts as silence is the time that was spent here: between two calls
 * nobody listened. */
static void await_message(ab_reader_t *reader, int wait_ms)
{
    const int64_t begun = ab_reader_now_ms();
    reader->message = rd_kafka_consumer_poll(reader->client, wait_ms);
    if (reader->message == NULL) {
        reader->silent_ms += ab_reader_now_ms() - begun;
    }
}

ab_read_status_t ab_reader_next(ab_reader_t *reader, int wait_ms, ab_full_record_t *ret_record)
{
    const int64_t until = wait_ms < 0 ? INT64_MAX : ab_reader_now_ms() + wait_ms;
    ab_read_status_t status = reader->assigned ? AB_READ_OK : start(reader);
    drop_message(reader);
    while (status == AB_READ_OK && reader->open_parts > 0) {
        drop_message(reader);
        reader->message = rd_kafka_consumer_poll(reader->client, 0);
        if (reader->message == NULL) {
            const int64_t now = ab_reader_now_ms();
            if (now >= until) {
                return AB_READ_QUIET;
            }
            if (reader->silent_ms > reader->options.timeout_ms / 2 &&
                (status = ask_leaders(reader)) != AB_READ_OK) {
                return status;
            }
            const int64_t left = until - now;
            await_message(reader, left < POLL_MS ? (int)left : POLL_MS);
        }
        if (reader->message == NULL) {
            continue;
        }
        if (reader->message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = on_error(reader, reader->message);
            continue;
        }
        status = take(reader, ret_record);
        if (status != AB_READ_QUIET) {
            return status;
        }
        status = AB_READ_OK;
    }
    return status == AB_READ_OK ? AB_READ_END : status;
}

ab_read_status_t ab_reader_fetch(ab_reader_t *reader, const ab_coordinates_t *at,
                                 ab_full_record_t *ret_record)
{
    const ab_read_range_t all = {0};
    ab_reader_clear(reader);
    ab_read_status_t status = ab_reader_add_partition(reader, at->topic, at->partition, &all);
    if (status != AB_READ_OK) {
        return status;
    }
    const ab_reader_part_t part = reader->parts[0];
    if (at->offset < part.first) {
        return ab_reader_fail(reader, AB_READ_NOTHING,
                              "%s:%d:%lld is gone: the partition begins at %lld", at->topic,
                              (int)at->partition, (long long)at->offset, (long long)part.first);
    }
    if (at->offset >= part.stable) {
        return ab_reader_fail(reader, AB_READ_NOTHING,
                              "%s:%d:%lld is not there yet: the partition ends at %lld for "
                              "readers of committed records",
                              at->topic, (int)at->partition, (long long)at->offset,
                              (long long)part.stable);
    }
    ab_reader_limit(reader, 0, at->offset, at->offset + 1);
    status = ab_reader_next(reader, -1, ret_record);
    if (status != AB_READ_END) {
        return status;
    }
    return ab_reader_fail(reader, AB_READ_NOTHING,
                          "%s:%d:%lld holds no committed record: the end of a transaction, an "
                          "aborted record, or one that compaction removed",
                          at->topic, (int)at->partition, (long long)at->offset);
}
