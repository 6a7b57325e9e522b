#include "bridge/kafka/redrive_state.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"
#include "bridge/core/partition.h"
#include "bridge/core/text.h"
#include "bridge/kafka/errors.h"
#include "bridge/kafka/relay.h"

/* While the producer's queue is full: one wait for room. */
#define QUEUE_FULL_MS 10
/* A stopped job waits so long for a commit that was begun, and then leaves it to the brokers. */
#define LAST_COMMIT_MS 15000
/* What a batch takes beside keys and values, at least. */
#define BATCH_OVERHEAD 70u

/* How a try to write some records ended. */
typedef enum attempt { DONE, REFUSED, AGAIN, OVER } attempt_t;

/* A stretch of the batch; with positions, those of all partitions are committed with it. */
typedef struct stretch {
    size_t from, to;
    bool positions;
} stretch_t;

/* ---- delivery ---- */

static void note_failure(ab_redrive_t *redrive, rd_kafka_resp_err_t err, bool marker)
{
    switch (ab_error_of_delivery(err)) {
    case AB_ACTION_NONE:
        return;
    case AB_ACTION_POISON:
        redrive->marker_refused |= marker;
        redrive->refused = true;
        redrive->refusal = err;
        return;
    default:
        redrive->trouble = err;
        return;
    }
}

void ab_redrive_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    (void)rk;
    /* The client's opaque is the link, which is a part of the job. */
    ab_redrive_t *redrive = (void *)((char *)opaque - offsetof(struct ab_redrive, link));
    note_failure(redrive, message->err, message->_private == &redrive->marker_refused);
}

/* ---- the batch ---- */

void ab_redrive_empty_batch(ab_redrive_t *redrive)
{
    for (size_t i = 0; i < redrive->item_count; i++) {
        free(redrive->items[i].bytes);
        rd_kafka_headers_destroy(redrive->items[i].headers);
    }
    redrive->item_count = 0;
    redrive->item_bytes = 0;
}

static bool add_header(rd_kafka_headers_t *headers, const char *name, aw_span_t value)
{
    return rd_kafka_header_add(headers, name, -1, value.data, (ssize_t)value.size) ==
           RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* The original's own headers, for a route's readers where it came from, and how often it was
 * redriven. */
static rd_kafka_headers_t *headers_of(const ab_redrive_t *redrive,
                                      const ab_redrive_choice_t *choice)
{
    const ab_full_record_t *original = &choice->original;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(original->header_count + 2);
    char text[AB_SOURCE_TEXT_MAX];
    bool added = headers != NULL;
    for (size_t i = 0; added && i < original->header_count; i++) {
        added = add_header(headers, original->headers[i].name, original->headers[i].value);
    }
    if (choice->plan.source_header && redrive->config->source_header) {
        const size_t size = ab_source_text(&original->record, text);
        added = added && add_header(headers, AB_HEADER_SOURCE, aw_span_view(text, size));
    }
    /* Last, also behind the source header: so it is told from what a relay has routed. */
    const size_t size = ab_text_decimal(original->record.hops, text);
    added = added && add_header(headers, AB_HEADER_HOPS, aw_span_view(text, size));
    if (!added && headers != NULL) {
        rd_kafka_headers_destroy(headers);
        headers = NULL;
    }
    return headers;
}

/* Copies key and value: what was read goes away with the next record. */
static bool copy_bytes(ab_redrive_item_t *item, aw_span_t key, aw_span_t value)
{
    item->bytes = malloc(key.size + value.size + 1);
    if (item->bytes == NULL) {
        return false;
    }
    if (key.size > 0) {
        memcpy(item->bytes, key.data, key.size);
    }
    if (value.size > 0) {
        memcpy(item->bytes + key.size, value.data, value.size);
    }
    item->key = key.data != NULL ? aw_span_view(item->bytes, key.size) : AW_SPAN_NULL;
    item->value =
        value.data != NULL ? aw_span_view(item->bytes + key.size, value.size) : AW_SPAN_NULL;
    return true;
}

static void leave_refused(ab_redrive_t *redrive, const ab_redrive_item_t *item,
                          rd_kafka_resp_err_t err)
{
    const ab_redrive_part_t *part = &redrive->parts[item->part];
    ab_redrive_left_t left = {.source = item->source,
                              .reason = redrive->counts[item->row].reason,
                              .fate = AB_REDRIVE_TARGET_REFUSES,
                              .more = ab_error_refusal_text(err)};
    (void)snprintf(left.place.topic, sizeof(left.place.topic), "%s", part->topic);
    left.place.partition = part->partition;
    left.place.offset = item->offset;
    ab_redrive_leave(redrive, item->part, &left);
}

int ab_redrive_put(ab_redrive_t *redrive, size_t part, int64_t offset,
                   const ab_redrive_choice_t *choice)
{
    const ab_record_t *original = &choice->original.record;
    const aw_span_t key = choice->plan.key;
    const int topic = ab_topics_find(redrive->topics, choice->plan.topic);
    const ab_topic_t facts = ab_topics_get(redrive->topics, (size_t)topic);
    ab_redrive_item_t item = {
        .part = part,
        .offset = offset,
        .source = choice->trailer.source,
        .topic = topic,
        .timestamp_ms = original->timestamp_type == AB_TIMESTAMP_NONE ? 0 : original->timestamp_ms};
    item.partition = choice->plan.by_key && key.data != NULL
                         ? ab_partition_of_key(key, facts.partitions)
                         : original->partition % facts.partitions;
    item.row =
        ab_redrive_count(redrive, choice->trailer.reason, choice->plan.fate, choice->plan.topic, 0);
    if (!redrive->compresses &&
        key.size + original->value.size + BATCH_OVERHEAD > (size_t)facts.max_message_bytes) {
        leave_refused(redrive, &item, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        return 0;
    }
    item.headers = headers_of(redrive, choice);
    if (item.headers == NULL || !copy_bytes(&item, key, original->value)) {
        if (item.headers != NULL) {
            rd_kafka_headers_destroy(item.headers);
        }
        return ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out");
    }
    if (redrive->item_count + redrive->rest_count == 0) {
        redrive->batch_ms = ab_redrive_now_ms();
    }
    redrive->item_bytes += key.size + original->value.size;
    redrive->items[redrive->item_count++] = item;
    return 0;
}

bool ab_redrive_batch_full(const ab_redrive_t *redrive)
{
    const uint64_t rate = redrive->setup.rate;
    return redrive->item_count == AB_REDRIVE_BATCH_MAX ||
           redrive->rest_count >= AB_REDRIVE_BATCH_MAX ||
           redrive->item_bytes >= AB_REDRIVE_BATCH_BYTES ||
           (rate > 0 && redrive->item_count >= rate);
}

/* ---- one transaction ---- */

static rd_kafka_resp_err_t produce(ab_redrive_t *redrive, int topic, int32_t partition,
                                   aw_span_t key, aw_span_t value, int64_t timestamp_ms,
                                   const rd_kafka_headers_t *headers, void *opaque)
{
    static const uint8_t nothing[1] = {0};
    const void *key_data = key.data != NULL && key.size == 0 ? nothing : key.data;
    const void *value_data = value.data != NULL && value.size == 0 ? nothing : value.data;
    rd_kafka_headers_t *copy = rd_kafka_headers_copy(headers);
    rd_kafka_resp_err_t err;
    do {
        err = rd_kafka_producev(redrive->producer, RD_KAFKA_V_RKT(redrive->outputs[topic]),
                                RD_KAFKA_V_PARTITION(partition),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                RD_KAFKA_V_KEY(key_data, key.size),
                                RD_KAFKA_V_VALUE((void *)(uintptr_t)value_data, value.size),
                                RD_KAFKA_V_TIMESTAMP(timestamp_ms), RD_KAFKA_V_HEADERS(copy),
                                RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
        (void)rd_kafka_poll(redrive->producer,
                            err == RD_KAFKA_RESP_ERR__QUEUE_FULL ? QUEUE_FULL_MS : 0);
    } while (ab_error_of_produce(err) == AB_ACTION_RETRY && redrive->trouble == 0 &&
             !redrive->refused);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(copy);
    }
    return err;
}

/* The marker lies in the partition of its record, and so behind it. */
static rd_kafka_resp_err_t produce_marker(ab_redrive_t *redrive, size_t index)
{
    const ab_redrive_item_t *item = &redrive->items[index];
    const ab_redrive_part_t *part = &redrive->parts[item->part];
    ab_coordinates_t marked = {.partition = part->partition, .offset = item->offset};
    char text[AB_REDRIVEN_TEXT_MAX];
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    (void)snprintf(marked.topic, sizeof(marked.topic), "%s", part->topic);
    const size_t size = ab_redriven_text(&marked, redrive->report.job, text);
    (void)add_header(headers, AB_HEADER_REDRIVEN, aw_span_view(text, size));
    const rd_kafka_resp_err_t err =
        produce(redrive, ab_topics_find(redrive->topics, part->topic), part->partition,
                AW_SPAN_NULL, AW_SPAN_NULL, 0, headers, &redrive->marker_refused);
    rd_kafka_headers_destroy(headers);
    return err;
}

/* False when the transaction cannot be completed; what failed is noted. */
static bool produce_all(ab_redrive_t *redrive, const stretch_t *stretch)
{
    for (size_t i = stretch->from; i < stretch->to; i++) {
        const ab_redrive_item_t *item = &redrive->items[i];
        bool marker = false;
        rd_kafka_resp_err_t err = produce(redrive, item->topic, item->partition, item->key,
                                          item->value, item->timestamp_ms, item->headers, NULL);
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            marker = true;
            err = produce_marker(redrive, i);
        }
        if (ab_error_of_produce(err) == AB_ACTION_POISON) {
            note_failure(redrive, err, marker);
        } else if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            redrive->trouble = err;
        }
        if (redrive->refused || redrive->trouble != 0) {
            return false;
        }
    }
    return true;
}

static bool add_offset(ab_redrive_t *redrive, rd_kafka_topic_partition_list_t *offsets,
                       const ab_redrive_part_t *part, int64_t offset, uint64_t written)
{
    char text[AB_JOB_TEXT_MAX];
    rd_kafka_topic_partition_t *place =
        rd_kafka_topic_partition_list_add(offsets, part->topic, part->partition);
    place->offset = offset;
    redrive->job.end = part->end;
    redrive->job.written = part->written + written;
    const size_t size = ab_job_text(&redrive->job, text);
    assert(size > 0); /* no job is begun without a text */
    place->metadata = malloc(size + 1);
    if (place->metadata == NULL) {
        return false;
    }
    memcpy(place->metadata, text, size + 1);
    place->metadata_size = size;
    return true;
}

/* Where each partition will stand, with all that is needed to go on from there. NULL when memory is
 * short: a position without it would be a job that cannot be resumed. */
static rd_kafka_topic_partition_list_t *offsets_of(ab_redrive_t *redrive, const stretch_t *stretch)
{
    rd_kafka_topic_partition_list_t *offsets =
        rd_kafka_topic_partition_list_new((int)redrive->part_count);
    for (size_t p = 0; p < redrive->part_count; p++) {
        const ab_redrive_part_t *part = &redrive->parts[p];
        int64_t offset = stretch->positions ? part->position : -1;
        uint64_t written = 0;
        for (size_t i = stretch->from; i < stretch->to; i++) {
            if (redrive->items[i].part == p) {
                written++;
                if (redrive->items[i].offset + 1 > offset) {
                    offset = redrive->items[i].offset + 1;
                }
            }
        }
        if ((offset > part->committed || written > 0) &&
            !add_offset(redrive, offsets, part, offset, written)) {
            rd_kafka_topic_partition_list_destroy(offsets);
            return NULL;
        }
    }
    return offsets;
}

typedef enum txn_call { CALL_OFFSETS, CALL_COMMIT, CALL_ABORT } txn_call_t;

static rd_kafka_error_t *do_call(ab_redrive_t *redrive, txn_call_t call,
                                 const rd_kafka_topic_partition_list_t *offsets,
                                 const rd_kafka_consumer_group_metadata_t *group)
{
    switch (call) {
    case CALL_OFFSETS:
        return rd_kafka_send_offsets_to_transaction(redrive->producer, offsets, group,
                                                    AB_REDRIVE_CALL_MS);
    case CALL_COMMIT:
        return rd_kafka_commit_transaction(redrive->producer, AB_REDRIVE_CALL_MS);
    case CALL_ABORT:
    default:
        return rd_kafka_abort_transaction(redrive->producer, AB_REDRIVE_CALL_MS);
    }
}

/* The same call again while it is retriable, nothing else on the producer in between; a begun
 * commit is never followed by an abort. */
static attempt_t call_until_settled(ab_redrive_t *redrive, txn_call_t call,
                                    const rd_kafka_topic_partition_list_t *offsets,
                                    const rd_kafka_consumer_group_metadata_t *group, int *ret_code)
{
    static const char *const names[] = {"send_offsets", "commit", "abort"};
    const int64_t begun = ab_redrive_now_ms();
    int64_t pause = AB_REDRIVE_RETRY_MIN_MS;
    for (;;) {
        rd_kafka_error_t *error = do_call(redrive, call, offsets, group);
        const ab_action_t action = ab_error_of_transaction(error);
        const rd_kafka_resp_err_t err = rd_kafka_error_code(error);
        if (action != AB_ACTION_NONE && (action == AB_ACTION_FATAL || ab_error_is_denied(err))) {
            *ret_code = ab_redrive_fail_for_good(redrive, err, rd_kafka_error_string(error));
        } else if (action != AB_ACTION_NONE) {
            ab_redrive_say(redrive, names[call], rd_kafka_error_name(error),
                           rd_kafka_error_string(error));
        }
        rd_kafka_error_destroy(error);
        if (*ret_code != 0) {
            return OVER;
        }
        if (action != AB_ACTION_RETRY) {
            return action == AB_ACTION_NONE ? DONE : AGAIN;
        }
        if (ab_redrive_stopping(redrive) && ab_redrive_now_ms() - begun > LAST_COMMIT_MS) {
            *ret_code = ab_redrive_fail_stopped(redrive);
            return OVER;
        }
        ab_redrive_pause_ms(pause);
        pause = pause * 2 < AB_REDRIVE_RETRY_MAX_MS ? pause * 2 : AB_REDRIVE_RETRY_MAX_MS;
    }
}

static attempt_t finish(ab_redrive_t *redrive, const rd_kafka_topic_partition_list_t *offsets,
                        int *ret_code)
{
    rd_kafka_consumer_group_metadata_t *group =
        rd_kafka_consumer_group_metadata_new(redrive->group);
    attempt_t result = AGAIN;
    if (group != NULL) {
        result = call_until_settled(redrive, CALL_OFFSETS, offsets, group, ret_code);
        rd_kafka_consumer_group_metadata_destroy(group);
    }
    return result == DONE ? call_until_settled(redrive, CALL_COMMIT, NULL, NULL, ret_code) : result;
}

/* Waits for every delivery report. */
static bool flush(ab_redrive_t *redrive)
{
    while (rd_kafka_flush(redrive->producer, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (redrive->refused || redrive->trouble != 0) {
            return false;
        }
    }
    return !redrive->refused && redrive->trouble == 0;
}

/* Gives the transaction up, and finds out what that means. */
static attempt_t give_up(ab_redrive_t *redrive, int *ret_code)
{
    char text[512];
    const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(redrive->producer, text, sizeof(text));
    if (fatal != RD_KAFKA_RESP_ERR_NO_ERROR) {
        *ret_code = ab_redrive_fail_for_good(redrive, fatal, text);
        return OVER;
    }
    if (ab_error_is_denied(redrive->trouble)) {
        *ret_code =
            ab_redrive_fail_for_good(redrive, redrive->trouble, rd_kafka_err2str(redrive->trouble));
    }
    if (call_until_settled(redrive, CALL_ABORT, NULL, NULL, ret_code) == OVER || *ret_code != 0) {
        return OVER;
    }
    if (redrive->marker_refused) {
        *ret_code = ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE,
                                    "the quarantine topic refuses the markers (%s): is it "
                                    "compacted? Without markers nothing is redriven",
                                    rd_kafka_err2str(redrive->refusal));
        return OVER;
    }
    if (redrive->refused) {
        return REFUSED;
    }
    if (redrive->trouble != 0) {
        ab_redrive_say(redrive, "produce", rd_kafka_err2name(redrive->trouble),
                       rd_kafka_err2str(redrive->trouble));
    }
    return AGAIN;
}

/* The transaction is durable: so is what it did. */
static void settle(ab_redrive_t *redrive, const stretch_t *stretch,
                   const rd_kafka_topic_partition_list_t *offsets)
{
    for (size_t i = stretch->from; i < stretch->to; i++) {
        const ab_redrive_item_t *item = &redrive->items[i];
        redrive->parts[item->part].written++;
        redrive->counts[item->row].records++;
        redrive->report.selected++;
        redrive->report.written++;
        redrive->report.timestamp_zero += item->timestamp_ms == 0;
    }
    for (int o = 0; o < offsets->cnt; o++) {
        for (size_t p = 0; p < redrive->part_count; p++) {
            ab_redrive_part_t *part = &redrive->parts[p];
            if (part->partition == offsets->elems[o].partition &&
                strcmp(part->topic, offsets->elems[o].topic) == 0) {
                part->committed = offsets->elems[o].offset;
            }
        }
    }
}

static attempt_t attempt(ab_redrive_t *redrive, const stretch_t *stretch, int *ret_code)
{
    rd_kafka_topic_partition_list_t *offsets = offsets_of(redrive, stretch);
    attempt_t result = DONE;
    if (offsets == NULL) {
        *ret_code = ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out");
        return OVER;
    }
    redrive->refused = false;
    redrive->marker_refused = false;
    redrive->trouble = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (offsets->cnt > 0) {
        rd_kafka_error_t *error = rd_kafka_begin_transaction(redrive->producer);
        redrive->begun_ms = ab_redrive_now_ms();
        const bool begun = error == NULL;
        rd_kafka_error_destroy(error);
        result = begun && produce_all(redrive, stretch) && flush(redrive)
                     ? finish(redrive, offsets, ret_code)
                     : AGAIN;
        if (result == DONE) {
            settle(redrive, stretch, offsets);
        } else if (result == AGAIN) {
            result = give_up(redrive, ret_code);
        }
    }
    rd_kafka_topic_partition_list_destroy(offsets);
    return result;
}

/* Writes a stretch, again and again while the brokers are in trouble; a refused record is isolated
 * by halves until it stands alone (specs/lane.md rule 7). */
static int write_stretch(ab_redrive_t *redrive, stretch_t stretch)
{
    int64_t pause = AB_REDRIVE_RETRY_MIN_MS;
    int code = 0;
    for (;;) {
        switch (attempt(redrive, &stretch, &code)) {
        case DONE:
        case OVER:
            return code;
        case REFUSED:
            if (stretch.to - stretch.from == 1) {
                leave_refused(redrive, &redrive->items[stretch.from], redrive->refusal);
                stretch.from = stretch.to; /* its partition goes on behind it */
                if (!stretch.positions) {
                    return 0;
                }
                break;
            }
            const size_t middle = stretch.from + (stretch.to - stretch.from) / 2;
            code = write_stretch(redrive, (stretch_t){stretch.from, middle, false});
            return code != 0
                       ? code
                       : write_stretch(redrive, (stretch_t){middle, stretch.to, stretch.positions});
        case AGAIN:
            if (ab_redrive_stopping(redrive)) {
                return ab_redrive_fail_stopped(redrive);
            }
            ab_redrive_pause_ms(pause);
            pause = pause * 2 < AB_REDRIVE_RETRY_MAX_MS ? pause * 2 : AB_REDRIVE_RETRY_MAX_MS;
            break;
        }
    }
}

/* Holds the job to --rate: sleeps off what was written faster. */
static void keep_rate(ab_redrive_t *redrive, size_t records, int64_t since_ms)
{
    if (redrive->setup.rate == 0) {
        return;
    }
    redrive->debt_ms += (double)records * 1000 / (double)redrive->setup.rate;
    redrive->debt_ms -= (double)(ab_redrive_now_ms() - since_ms);
    if (redrive->debt_ms < 0) {
        redrive->debt_ms = 0;
    }
    while (redrive->debt_ms >= 1 && !ab_redrive_stopping(redrive)) {
        const int64_t step = redrive->debt_ms > 100 ? 100 : (int64_t)redrive->debt_ms;
        ab_redrive_pause_ms(step);
        redrive->debt_ms -= (double)step;
    }
}

int ab_redrive_flush(ab_redrive_t *redrive)
{
    const size_t records = redrive->item_count;
    const int64_t since_ms = records > 0 ? redrive->batch_ms : ab_redrive_now_ms();
    assert(!redrive->unwritten);
    const int code = write_stretch(redrive, (stretch_t){0, records, true});
    redrive->unwritten = code != 0;
    ab_redrive_empty_batch(redrive);
    redrive->progress_ms = ab_redrive_now_ms();
    if (code == 0) {
        ab_redrive_settle_rests(redrive, true);
        keep_rate(redrive, records, since_ms);
    }
    return code;
}
