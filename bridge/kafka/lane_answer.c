#include "bridge/kafka/lane_answer.h"

#include <stdlib.h>
#include <string.h>

#include "agentwire/status.h"

/* Before a request is held, so much time is given to state that is on its way: to hold costs more.
 */
#define SPIN_NS           (4 * AB_NS_PER_MS)
#define HELD_POLL_MS      1
#define RESTORING_POLL_MS 1
#define LOOKUP_POLL_MS    10
#define BUSY_POLL_MS      0

/* What a look at a request came to. */
typedef enum look { LOOK_READY, LOOK_WAIT, LOOK_NEVER } look_t;

int ab_answers_new(ab_lane_t *lane)
{
    const ab_config_t *config = lane->config;
    if (!config->answers) {
        return 0;
    }
    ab_answers_t *answers = calloc(1, sizeof(*answers));
    if (answers == NULL) {
        return -1;
    }
    answers->arena = aw_arena_new(AB_ANSWER_ARENA_MAX);
    answers->told = calloc(config->source_count, sizeof(*answers->told));
    if (answers->arena == NULL || answers->told == NULL) {
        aw_arena_free(answers->arena);
        free(answers->told);
        free(answers);
        return -1;
    }
    answers->topic_count = config->state_topics.count;
    for (size_t t = 0; t < answers->topic_count; t++) {
        answers->topics[t].name = config->state_topics.items[t];
        answers->topics[t].index = ab_topics_find(lane->shared->topics, answers->topics[t].name);
    }
    answers->snapshots = ab_topics_find(lane->shared->topics, config->snapshots_topic);
    lane->answers = answers;
    return 0;
}

void ab_answers_free(ab_lane_t *lane)
{
    if (lane->answers == NULL) {
        return;
    }
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        free(lane->answers->topics[t].parts);
    }
    aw_arena_free(lane->answers->arena);
    free(lane->answers->told);
    free(lane->answers);
    lane->answers = NULL;
}

static bool all_reached(ab_lane_t *lane, int32_t partition, const int64_t *ends)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        if (!ab_answers_reached(lane, t, partition, ends[t])) {
            return false;
        }
    }
    return true;
}

/* True when every state partition stands near its end, so that a short wait may do. */
static bool all_restored(const ab_lane_t *lane, int32_t partition)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        const ab_state_part_t *part = ab_answers_part(lane, t, partition);
        if (part == NULL || !part->restored) {
            return false;
        }
    }
    return true;
}

/* A state topic with another number of partitions than the source: its keys lie elsewhere. */
static bool counts_differ(ab_lane_t *lane, int source)
{
    const int index =
        ab_topics_find(lane->shared->topics, lane->config->sources[source].policy.topic);
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        const ab_state_topic_t *topic = &lane->answers->topics[t];
        const int32_t state = lane->facts[topic->index].partitions;
        const int32_t wanted = lane->facts[index].partitions;
        if (state == wanted) {
            continue;
        }
        if (!lane->answers->told[source]) {
            const ab_field_t fields[] = {
                AB_TEXT("source_topic", lane->config->sources[source].policy.topic),
                AB_NUMBER("source_partitions", wanted), AB_TEXT("topic", topic->name),
                AB_NUMBER("partitions", state)};
            ab_lane_emit(lane, AB_LEVEL_ERROR, "partitions_differ",
                         "a state topic must have as many partitions as the source: export "
                         "requests become dead letters (state_not_ready), all else goes on",
                         fields, 4);
            lane->answers->told[source] = true;
        }
        return true;
    }
    lane->answers->told[source] = false;
    return false;
}

/* Whether a request that has not been held can be answered now. */
static look_t look_at(ab_lane_t *lane, const ab_record_t *record, int source, ab_held_t *ret_held)
{
    if (counts_differ(lane, source)) {
        return LOOK_NEVER;
    }
    if (!ab_answers_find_ends(lane, source, record->partition, record->offset, true, ret_held)) {
        return LOOK_WAIT;
    }
    const int64_t begun = ab_lane_now_ns();
    while (!all_reached(lane, record->partition, ret_held->ends)) {
        if (!all_restored(lane, record->partition) || ab_lane_now_ns() - begun > SPIN_NS ||
            lane->fate != AB_FATE_GO) {
            return LOOK_WAIT;
        }
        ab_answers_serve(lane);
    }
    return LOOK_READY;
}

/* ---- holding and releasing ---- */

static rd_kafka_topic_partition_list_t *one_partition(const ab_lane_t *lane, const ab_held_t *held,
                                                      int64_t offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, lane->config->sources[held->source].policy.topic,
                                      held->message->partition)
        ->offset = offset;
    return list;
}

static bool hold(ab_lane_t *lane, rd_kafka_message_t *message, int source, ab_part_t *part,
                 const ab_held_t *facts)
{
    ab_held_t *held = malloc(sizeof(*held));
    if (held == NULL) {
        return false;
    }
    *held = *facts;
    held->message = message;
    held->source = source;
    held->next = lane->answers->held;
    lane->answers->held = held;
    part->held = true;
    rd_kafka_topic_partition_list_t *list = one_partition(lane, held, RD_KAFKA_OFFSET_INVALID);
    (void)rd_kafka_pause_partitions(lane->consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    return true;
}

bool ab_answers_holds(const ab_lane_t *lane, const rd_kafka_message_t *message)
{
    if (lane->answers == NULL) {
        return false;
    }
    for (const ab_held_t *held = lane->answers->held; held != NULL; held = held->next) {
        if (held->message == message) {
            return true;
        }
    }
    return false;
}

/* Its partition goes on at the next record expected. */
static void go_on(ab_lane_t *lane, const ab_held_t *held, const ab_part_t *part)
{
    rd_kafka_topic_partition_list_t *list = one_partition(lane, held, part->next);
    if (!part->paused) { /* by the breaker, which resumes it then */
        (void)rd_kafka_resume_partitions(lane->consumer, list);
    }
    rd_kafka_error_t *error = rd_kafka_seek_partitions(lane->consumer, list, -1);
    if (error != NULL || list->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        lane->need_rewind = true;
    }
    rd_kafka_error_destroy(error);
    rd_kafka_topic_partition_list_destroy(list);
}

static void free_held(ab_held_t *held)
{
    rd_kafka_message_destroy(held->message);
    free(held);
}

void ab_answers_drop(ab_lane_t *lane)
{
    while (lane->answers != NULL && lane->answers->held != NULL) {
        ab_held_t *held = lane->answers->held;
        ab_part_t *part = ab_parts_get(&lane->parts, held->source, held->message->partition);
        lane->answers->held = held->next;
        if (part != NULL && part->state == AB_PART_HELD && lane->consumer != NULL) {
            rd_kafka_topic_partition_list_t *list =
                one_partition(lane, held, RD_KAFKA_OFFSET_INVALID);
            part->held = false;
            if (!part->paused) {
                (void)rd_kafka_resume_partitions(lane->consumer, list);
            }
            rd_kafka_topic_partition_list_destroy(list);
        }
        free_held(held);
    }
}

void ab_answers_drop_one(ab_lane_t *lane, int source, int32_t partition)
{
    for (ab_held_t **at = &lane->answers->held; *at != NULL; at = &(*at)->next) {
        ab_held_t *held = *at;
        if (held->source == source && held->message->partition == partition) {
            *at = held->next;
            free_held(held);
            return;
        }
    }
}

static bool is_over(const ab_lane_t *lane, const ab_held_t *held)
{
    return ab_lane_now_ns() - held->since_ns >
           (int64_t)lane->config->snapshots_max_wait_ms * AB_NS_PER_MS;
}

/* True when a held request is to be taken again: its barrier is reached, its time is over, or it
 * can never be reached. */
static bool is_due(ab_lane_t *lane, ab_held_t *held)
{
    const int32_t partition = held->message->partition;
    if (is_over(lane, held) || counts_differ(lane, held->source)) {
        return true;
    }
    return (held->asked || ab_answers_find_ends(lane, held->source, partition,
                                                held->message->offset, false, held)) &&
           all_reached(lane, partition, held->ends);
}

/* The first held request that is due, taken out of the list. NULL when none is. */
static ab_held_t *take_due(ab_lane_t *lane)
{
    for (ab_held_t **at = &lane->answers->held; *at != NULL; at = &(*at)->next) {
        ab_held_t *held = *at;
        if (is_due(lane, held)) {
            *at = held->next;
            return held;
        }
    }
    return NULL;
}

static void release(ab_lane_t *lane, ab_held_t *held)
{
    const int32_t partition = held->message->partition;
    ab_part_t *part = ab_parts_get(&lane->parts, held->source, partition);
    if (part != NULL && part->state == AB_PART_HELD && part->held) {
        part->held = false;
        lane->answers->released = held;
        ab_lane_take(lane, held->message, held->source, part);
        lane->answers->released = NULL;
        part = ab_parts_get(&lane->parts, held->source, partition); /* a rebalance may move it */
        if (part->state == AB_PART_HELD && !part->held && !lane->need_rewind) {
            go_on(lane, held, part);
        }
        if (ab_answers_holds(lane, held->message)) {
            free(held); /* held anew, and the message with it */
            return;
        }
    }
    free_held(held);
}

void ab_answers_release(ab_lane_t *lane)
{
    ab_held_t *held;
    while (lane->answers != NULL && lane->fate == AB_FATE_GO && !lane->need_rewind &&
           !lane->txn.broken && (held = take_due(lane)) != NULL) {
        release(lane, held);
    }
}

int ab_answers_patience_ms(const ab_lane_t *lane, int most_ms)
{
    if (lane->answers == NULL) {
        return most_ms;
    }
    const int limit = lane->answers->busy                         ? BUSY_POLL_MS
                      : lane->answers->restoring                  ? RESTORING_POLL_MS
                      : lane->answers->held != NULL               ? HELD_POLL_MS
                      : !ab_asker_is_idle(lane->answers->lookups) ? LOOKUP_POLL_MS
                                                                  : most_ms;
    return limit < most_ms ? limit : most_ms;
}

/* ---- answering ---- */

static void observe_wait(ab_lane_t *lane, int64_t since_ns)
{
    pthread_mutex_lock(&lane->counters_lock);
    ab_histogram_observe(&lane->durable.barrier_seconds,
                         (double)(ab_lane_now_ns() - since_ns) / 1e9);
    pthread_mutex_unlock(&lane->counters_lock);
}

/* An answer could not be made. True when that is final: it is too large, and the verdict becomes
 * that of any record that its topic does not take. */
static bool is_too_large(ab_lane_t *lane, int32_t partition, const ab_answer_source_t *sources,
                         int status)
{
    ab_answers_t *answers = lane->answers;
    switch (status) {
    case AW_STATUS_NO_MEMORY:
        ab_lane_come_again(lane);
        return false;
    case AW_STATUS_LIMIT_SIZE:
    case AW_STATUS_LIMIT_DECODE_BYTES:
        answers->answer = (ab_answer_t){.value = AW_SPAN_NULL};
        return true;
    default:
        break;
    }
    /* A state that does not decode was judged by other rules than today's: they judge it anew. */
    for (size_t t = 0; t < answers->topic_count; t++) {
        if (sources[t].found && sources[t].entry.value.data != NULL) {
            ab_answers_rebuild(lane, t, partition, aw_status_text(status));
            break;
        }
    }
    return false;
}

/* Reads the stores and makes the answer. False when a store turned out to be damaged, or cannot be
 * read now: the request waits for the new one, or for better times. */
static bool make_answer(ab_lane_t *lane, const ab_record_t *record, ab_verdict_t *verdict)
{
    ab_answers_t *answers = lane->answers;
    ab_answer_source_t sources[AB_CONFIG_STATE_TOPICS_MAX];
    for (size_t t = 0; t < answers->topic_count; t++) {
        ab_state_part_t *part = ab_answers_part(lane, t, record->partition);
        sources[t] =
            (ab_answer_source_t){.topic = answers->topics[t].name, .partition = record->partition};
        const ab_store_result_t result =
            ab_store_get(part->store, verdict->entity_key, &sources[t].entry);
        sources[t].found = result == AB_STORE_OK;
        if (result != AB_STORE_OK && result != AB_STORE_NONE) {
            ab_answers_trouble(lane, t, record->partition, result);
            return false;
        }
    }
    aw_arena_reset(answers->arena);
    const int status = ab_answer_build(record, verdict, sources, answers->topic_count,
                                       answers->arena, &answers->answer);
    if (status != AW_OK) {
        return is_too_large(lane, record->partition, sources, status);
    }
    if (!answers->answer.known &&
        lane->config->snapshots_unknown_key == AB_UNKNOWN_KEY_DEAD_LETTER) {
        ab_verdict_refuse_answer(verdict, AB_REASON_STATE_UNKNOWN);
    }
    return true;
}

bool ab_answers_take(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                     int source, ab_part_t *part, ab_verdict_t *verdict)
{
    const ab_held_t *released = lane->answers->released;
    ab_held_t facts = {.since_ns = ab_lane_now_ns()};
    look_t look;
    if (released == NULL) {
        look = look_at(lane, record, source, &facts);
    } else {
        facts = *released;
        look = facts.asked && all_reached(lane, record->partition, facts.ends) ? LOOK_READY
               : is_over(lane, released) || counts_differ(lane, source)        ? LOOK_NEVER
                                                                               : LOOK_WAIT;
    }
    if (look == LOOK_READY && !make_answer(lane, record, verdict)) {
        facts.asked = false;
        look = LOOK_WAIT;
    }
    if (look == LOOK_WAIT) {
        if (lane->need_rewind || !hold(lane, message, source, part, &facts)) {
            lane->need_rewind = true; /* it comes again */
        }
        return false;
    }
    observe_wait(lane, facts.since_ns);
    if (look == LOOK_NEVER) {
        ab_verdict_refuse_answer(verdict, AB_REASON_STATE_NOT_READY);
    }
    return true;
}
