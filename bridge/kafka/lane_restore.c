#include "bridge/kafka/lane_answer.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/kafka/handle.h"

/* What one turn of the loop gives to state while records wait: records, and time. */
#define SERVE_RECORDS 2000u
#define SERVE_NS      (2 * AB_NS_PER_MS)
/* A store's transaction is committed when it holds so much, or is so old. */
#define BATCH_RECORDS 4096u
#define BATCH_BYTES   (8u * 1024u * 1024u)
#define BATCH_MS      100
/* How often it is looked which stores are to be opened or committed. */
#define SWEEP_MS      10
#define SOON_MS       AB_STATE_SOON_MS
#define FETCH_WAIT_MS 20
#define PREFETCH_MAX  ((uint64_t)16 * 1024 * 1024)
#define SHOW_EVERY_MS 1000
/* Longest that the brokers are asked where logs begin and end. */
#define BARRIER_CALL_MS 1000
#define LOOKUP_MS       2000

/* ---- what the state consumer gives ---- */

static size_t topic_of(const ab_answers_t *answers, const rd_kafka_message_t *message)
{
    const char *name = message->rkt != NULL ? rd_kafka_topic_name(message->rkt) : "";
    size_t topic = 0;
    while (topic < answers->topic_count && strcmp(answers->topics[topic].name, name) != 0) {
        topic++;
    }
    return topic;
}

static void note_restored(ab_lane_t *lane, size_t topic, int32_t partition)
{
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    if (part->restored) {
        return;
    }
    part->restored = true;
    part->failed_loads = 0;
    const ab_field_t fields[] = {AB_TEXT("topic", lane->answers->topics[topic].name),
                                 AB_NUMBER("partition", partition),
                                 AB_NUMBER("offset", ab_store_next(part->store))};
    ab_lane_emit(lane, AB_LEVEL_INFO, "state_restored", "a store is at the end of its topic",
                 fields, 3);
}

/* Everything that the topic held has been applied, or collected. */
static void reach_end(ab_lane_t *lane, size_t topic, int32_t partition)
{
    if (ab_store_is_loading(lane->answers->topics[topic].parts[partition].store)) {
        ab_answers_begin_load(lane, topic, partition);
    } else {
        note_restored(lane, topic, partition);
    }
}

static void count_applied(ab_lane_t *lane, size_t topic, const ab_record_t *record,
                          ab_state_verdict_t verdict)
{
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.state_records[verdict]++;
    pthread_mutex_unlock(&lane->counters_lock);
    if (verdict != AB_STATE_TAKEN) {
        const ab_field_t fields[] = {AB_TEXT("reason", ab_state_verdict_label(verdict)),
                                     AB_TEXT("source_topic", lane->answers->topics[topic].name),
                                     AB_NUMBER("partition", record->partition),
                                     AB_NUMBER("offset", record->offset),
                                     AB_NUMBER("size", record->value.size)};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "state_refused",
                     "a state record is refused: its key keeps the state it had, and is marked",
                     fields, 5);
    }
}

static void apply(ab_lane_t *lane, size_t topic, ab_state_part_t *part,
                  const rd_kafka_message_t *message)
{
    ab_state_verdict_t verdict;
    uint64_t bytes;
    const ab_record_t record = {
        .topic = lane->answers->topics[topic].name,
        .partition = message->partition,
        .offset = message->offset,
        .key = aw_span_view(message->key, message->key_len),
        .value = aw_span_view(message->payload, message->len),
    };
    const ab_store_result_t result = ab_store_apply(part->store, &record, &verdict);
    if (result == AB_STORE_PASSED) {
        return;
    }
    if (result != AB_STORE_OK) {
        ab_answers_trouble(lane, topic, message->partition, result);
        return;
    }
    count_applied(lane, topic, &record, verdict);
    if (part->pending_ns == 0) {
        part->pending_ns = ab_lane_now_ns();
    }
    if (ab_store_pending(part->store, &bytes) >= BATCH_RECORDS || bytes >= BATCH_BYTES) {
        (void)ab_answers_commit(lane, topic, message->partition);
    }
}

static void on_error(ab_lane_t *lane, size_t topic, const rd_kafka_message_t *message)
{
    const int32_t partition = message->partition;
    ab_state_part_t *part =
        topic < lane->answers->topic_count ? ab_answers_part(lane, topic, partition) : NULL;
    const bool ours = part != NULL && part->assigned;
    switch (ab_error_of_consumer(message->err)) {
    case AB_ACTION_NONE:
        if (ours && message->offset >= ab_store_next(part->store)) {
            part->delivered = true;
            part->eof = message->offset;
            ab_store_advance(part->store, message->offset);
            reach_end(lane, topic, partition);
        }
        break;
    case AB_ACTION_GAP:
        if (ours) {
            /* What retention took may have been a tombstone: only from its start is it whole. */
            ab_answers_try_again(lane, topic, partition, SOON_MS);
        }
        break;
    case AB_ACTION_STOP:
        if (ours) {
            part->stopped = true;
            ab_answers_give_back(lane, topic, partition);
            ab_answers_tell(
                lane, AB_LEVEL_ERROR, "state_stopped",
                "a state partition holds damaged data: export requests for its keys become dead "
                "letters until the bridge is restarted",
                lane->answers->topics[topic].name, partition, rd_kafka_err2name(message->err));
        }
        break;
    case AB_ACTION_FATAL:
        ab_lane_fatal(lane, message->err, rd_kafka_message_errstr(message));
        break;
    default:
        if (ab_error_is_denied(message->err)) {
            ab_lane_denied(lane, message->err);
        } else if (ab_lane_may_say(lane)) {
            ab_answers_tell(
                lane, AB_LEVEL_WARNING, "consumer_error",
                "the consumer of the state topics reports trouble; it goes on by itself",
                message->rkt != NULL ? rd_kafka_topic_name(message->rkt) : NULL, partition,
                rd_kafka_message_errstr(message));
        }
        break;
    }
}

static void on_message(ab_lane_t *lane, const rd_kafka_message_t *message)
{
    const size_t topic = topic_of(lane->answers, message);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        on_error(lane, topic, message);
        return;
    }
    ab_state_part_t *part = topic < lane->answers->topic_count
                                ? ab_answers_part(lane, topic, message->partition)
                                : NULL;
    if (part == NULL || !part->assigned) {
        return; /* of an assignment that is over */
    }
    part->delivered = true;
    apply(lane, topic, part, message);
    if (part->assigned && ab_store_next(part->store) >= part->last) {
        reach_end(lane, topic, message->partition);
    }
}

/* Writes the partitions that have been read to their end: one step, and more while there is time. A
 * step may take long, with a sync of the disk in it: the records that wait get as much time behind
 * it. */
static void load_some(ab_lane_t *lane, int64_t begun)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        for (int32_t p = 0; p < lane->answers->topics[t].count; p++) {
            while (lane->fate == AB_FATE_GO && lane->answers->topics[t].parts[p].loading) {
                if (ab_answers_load_some(lane, t, p)) {
                    note_restored(lane, t, p);
                }
                const int64_t now = ab_lane_now_ns();
                if (now >= begun + SERVE_NS) {
                    lane->answers->next_step_ns = now + (now - begun);
                    return;
                }
            }
        }
    }
}

/* Batches that are old enough, and stores that stand at the end; and sees whether one is still
 * being restored. */
static void commit_due(ab_lane_t *lane, int64_t now)
{
    lane->answers->restoring = false;
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        for (int32_t p = 0; p < lane->answers->topics[t].count; p++) {
            const ab_state_part_t *part = &lane->answers->topics[t].parts[p];
            if (!part->assigned) {
                continue;
            }
            lane->answers->restoring |= !part->restored;
            if (part->pending_ns == 0 ||
                now - part->pending_ns >= (int64_t)BATCH_MS * AB_NS_PER_MS) {
                (void)ab_answers_commit(lane, t, p);
            }
        }
    }
}

/* What is shown of the stores, at most once a second. */
static void show(ab_lane_t *lane)
{
    ab_answers_t *answers = lane->answers;
    const int64_t now = ab_lane_now_ns();
    ab_state_status_t status[AB_CONFIG_STATE_TOPICS_MAX];
    if (now - answers->shown_ns < (int64_t)SHOW_EVERY_MS * AB_NS_PER_MS) {
        return;
    }
    answers->shown_ns = now;
    memset(status, 0, sizeof(status));
    for (size_t t = 0; t < answers->topic_count; t++) {
        for (int32_t p = 0; p < answers->topics[t].count; p++) {
            const ab_state_part_t *part = &answers->topics[t].parts[p];
            int64_t low = 0;
            int64_t high = -1;
            if (part->users == 0) {
                continue;
            }
            status[t].partitions++;
            status[t].restoring += part->restored ? 0 : 1;
            if (part->store == NULL) {
                continue;
            }
            const ab_store_facts_t facts = ab_store_facts(part->store);
            status[t].keys += facts.keys;
            status[t].marked_keys += facts.marked;
            status[t].size_bytes += facts.size_bytes;
            (void)rd_kafka_get_watermark_offsets(answers->consumer, answers->topics[t].name, p,
                                                 &low, &high);
            high = high > part->last ? high : part->last;
            if (high > ab_store_next(part->store)) {
                status[t].lag_records += (uint64_t)(high - ab_store_next(part->store));
            }
        }
    }
    pthread_mutex_lock(&lane->counters_lock);
    memcpy(lane->state_shown, status, sizeof(lane->state_shown));
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_answers_serve(ab_lane_t *lane)
{
    ab_answers_t *answers = lane->answers;
    const int64_t begun = ab_lane_now_ns();
    unsigned taken = 0;
    if (answers == NULL) {
        return;
    }
    answers->busy = true;
    while (lane->fate == AB_FATE_GO && taken < SERVE_RECORDS) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(answers->consumer, 0);
        if (message == NULL) {
            answers->busy = false;
            break;
        }
        on_message(lane, message);
        rd_kafka_message_destroy(message);
        if (++taken % 64 == 0 && ab_lane_now_ns() - begun > SERVE_NS) {
            break;
        }
    }
    if (answers->loading > 0 && (lane->idle || begun >= answers->next_step_ns)) {
        load_some(lane, begun);
    }
    answers->busy |= answers->loading > 0;
    /* A lane may have many partitions, and this is called for every record. */
    if (lane->fate == AB_FATE_GO && begun >= answers->next_sweep_ns) {
        const bool opened = ab_answers_open_one(lane, begun);
        commit_due(lane, begun);
        answers->next_sweep_ns = opened ? 0 : begun + (int64_t)SWEEP_MS * AB_NS_PER_MS;
    }
    show(lane);
}

bool ab_answers_reached(ab_lane_t *lane, size_t topic, int32_t partition, int64_t end)
{
    ab_answers_t *answers = lane->answers;
    ab_state_part_t *part = ab_answers_part(lane, topic, partition);
    if (part == NULL || !part->assigned || ab_store_is_loading(part->store)) {
        return false;
    }
    if (ab_store_next(part->store) >= end || part->eof >= end) {
        return true;
    }
    if (!part->delivered) {
        return false; /* the library's position may be of an earlier assignment */
    }
    /* It passes a transaction's marker before the end of the log is told. Everything below it came
     * through ab_answers_serve(), which applies what it takes. */
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *position =
        rd_kafka_topic_partition_list_add(list, answers->topics[topic].name, partition);
    const bool reached = rd_kafka_position(answers->consumer, list) == RD_KAFKA_RESP_ERR_NO_ERROR &&
                         position->err == RD_KAFKA_RESP_ERR_NO_ERROR && position->offset >= end;
    rd_kafka_topic_partition_list_destroy(list);
    if (reached) {
        ab_store_advance(part->store, end);
    }
    return reached;
}

/* ---- whose partitions ---- */

static bool is_answered(const ab_lane_t *lane, int source)
{
    return lane->answers != NULL && source >= 0 &&
           lane->config->sources[source].policy.routes[AB_SLOT_EXPORT_REQUEST].kind ==
               AB_ROUTE_ANSWER;
}

static bool grow(ab_state_topic_t *topic, int32_t partition)
{
    if (partition < topic->count) {
        return true;
    }
    const int32_t count = partition + 1;
    ab_state_part_t *parts = realloc(topic->parts, (size_t)count * sizeof(*parts));
    if (parts == NULL) {
        return false;
    }
    memset(parts + topic->count, 0, (size_t)(count - topic->count) * sizeof(*parts));
    topic->parts = parts;
    topic->count = count;
    return true;
}

void ab_answers_gain(ab_lane_t *lane, int source, int32_t partition)
{
    if (!is_answered(lane, source)) {
        return;
    }
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        if (!grow(&lane->answers->topics[t], partition)) {
            ab_lane_end(lane, AB_FATE_REBUILD, 0);
            return;
        }
        ab_state_part_t *part = &lane->answers->topics[t].parts[partition];
        if (part->users++ == 0) {
            *part = (ab_state_part_t){.users = 1, .eof = -1, .barrier = -1};
        }
    }
}

void ab_answers_lose(ab_lane_t *lane, int source, int32_t partition)
{
    if (!is_answered(lane, source)) {
        return;
    }
    ab_answers_drop_one(lane, source, partition);
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        ab_state_part_t *part = ab_answers_part(lane, t, partition);
        if (part == NULL || --part->users > 0) {
            continue;
        }
        if (part->assigned) {
            (void)ab_answers_commit(lane, t, partition);
        }
        ab_answers_give_back(lane, t, partition);
    }
}

/* ---- the consumer's life ---- */

bool ab_answers_connect(ab_lane_t *lane)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    uint64_t prefetch = lane->config->memory_per_lane_bytes / 4;
    if (lane->answers == NULL) {
        return true;
    }
    prefetch = prefetch < PREFETCH_MAX ? prefetch : PREFETCH_MAX;
    const ab_handle_spec_t spec = {.role = AB_ROLE_READER,
                                   .lane = lane->index,
                                   .prefetch_bytes = prefetch,
                                   .fetch_wait_ms = FETCH_WAIT_MS};
    rd_kafka_conf_t *conf = ab_handle_conf_new(lane->config, &spec, text, &property);
    if (conf != NULL) {
        ab_lane_watch_client(lane, conf);
        lane->answers->consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
        if (lane->answers->consumer == NULL) {
            rd_kafka_conf_destroy(conf);
        }
    }
    if (lane->answers->consumer == NULL) {
        const ab_field_t fields[] = {AB_TEXT("text", text)};
        ab_lane_emit(lane, AB_LEVEL_ERROR, "client_refused", "librdkafka cannot make a client",
                     fields, 1);
        ab_lane_end(lane, AB_FATE_EXIT, 78);
        return false;
    }
    (void)rd_kafka_poll_set_consumer(lane->answers->consumer);
    lane->answers->lookups_most = 1;
    lane->answers->barriers = ab_asker_new(lane->shared->ends, BARRIER_CALL_MS);
    lane->answers->lookups = ab_asker_new(lane->shared->ends, LOOKUP_MS);
    if (lane->answers->barriers == NULL || lane->answers->lookups == NULL) {
        ab_lane_emit(lane, AB_LEVEL_ERROR, "lane_failed", "a thread cannot be started", NULL, 0);
        ab_lane_end(lane, AB_FATE_REBUILD, 0);
        return false;
    }
    return true;
}

void ab_answers_disconnect(ab_lane_t *lane)
{
    ab_answers_t *answers = lane->answers;
    if (answers == NULL) {
        return;
    }
    ab_answers_drop(lane);
    ab_asker_free(answers->barriers);
    ab_asker_free(answers->lookups);
    answers->barriers = NULL;
    answers->lookups = NULL;
    for (size_t t = 0; t < answers->topic_count; t++) {
        for (int32_t p = 0; p < answers->topics[t].count; p++) {
            ab_state_part_t *part = &answers->topics[t].parts[p];
            if (part->store != NULL && part->assigned) {
                (void)ab_answers_commit(lane, t, p);
            }
            ab_answers_give_back(lane, t, p);
            *part = (ab_state_part_t){.eof = -1, .barrier = -1};
        }
    }
    if (answers->consumer != NULL) {
        rd_kafka_destroy_flags(answers->consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        answers->consumer = NULL;
    }
}
