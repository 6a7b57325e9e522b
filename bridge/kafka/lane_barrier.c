#include "bridge/kafka/lane_answer.h"

#include <string.h>

/* A barrier that the brokers did not tell is asked for again after so long. */
#define BARRIER_AGAIN_MS 100
/* Before a request is held, so much time is given to the brokers, while they are quick: to hold
 * costs more. */
#define BARRIER_WAIT_NS (20 * AB_NS_PER_MS)

/* Every source partition that answers and is held, with what it has been given so far: all of that
 * was written before now, so one barrier serves it. */
static void cover(ab_lane_t *lane, int source, int32_t partition, int64_t offset)
{
    ab_parts_t *parts = &lane->parts;
    for (int s = 0; s < (int)parts->source_count; s++) {
        const ab_policy_t *policy = &lane->config->sources[s].policy;
        if (policy->routes[AB_SLOT_EXPORT_REQUEST].kind != AB_ROUTE_ANSWER) {
            continue;
        }
        for (int32_t p = 0; p < parts->sources[s].count; p++) {
            ab_part_t *part = &parts->sources[s].items[p];
            int64_t low = 0;
            int64_t high = 0;
            if (part->state != AB_PART_HELD) {
                continue;
            }
            (void)rd_kafka_get_watermark_offsets(lane->consumer, policy->topic, p, &low, &high);
            part->covering = high;
            if (s == source && p == partition && offset >= high) {
                part->covering = offset + 1;
            }
        }
    }
}

/* Asks where the lane's state partitions end now. */
static void ask_ends(ab_lane_t *lane)
{
    ab_answers_t *answers = lane->answers;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
    for (size_t t = 0; t < answers->topic_count; t++) {
        for (int32_t p = 0; p < answers->topics[t].count; p++) {
            if (answers->topics[t].parts[p].assigned) {
                rd_kafka_topic_partition_list_add(list, answers->topics[t].name, p);
            }
        }
    }
    ab_asker_ask_take(answers->barriers, list, false);
}

/* Notes the ends of every state partition; -1 where they were not told, or not asked for. Returns
 * what kept one from being told. */
static rd_kafka_resp_err_t note_ends(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *ends)
{
    ab_answers_t *answers = lane->answers;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    int next = 0; /* they stand in the order of topics, as they were asked for */
    for (size_t t = 0; t < answers->topic_count; t++) {
        for (int32_t p = 0; p < answers->topics[t].count; p++) {
            answers->topics[t].parts[p].barrier = -1;
        }
        for (; next < ends->cnt && strcmp(ends->elems[next].topic, answers->topics[t].name) == 0;
             next++) {
            const rd_kafka_topic_partition_t *end = &ends->elems[next];
            ab_state_part_t *part = ab_answers_part(lane, t, end->partition);
            if (end->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                err = end->err;
            } else if (part != NULL) {
                part->barrier = end->offset;
            }
        }
    }
    return err;
}

/* True when the last barrier told every end that belongs to the partition. */
static bool all_told(const ab_lane_t *lane, int32_t partition)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        const ab_state_part_t *part = ab_answers_part(lane, t, partition);
        if (part == NULL || part->barrier < 0) {
            return false;
        }
    }
    return true;
}

/* The barrier that was asked for takes the place of the one before, or fails, and that one stays.
 */
static void note_covered(ab_lane_t *lane, bool known)
{
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            ab_part_t *part = &lane->parts.sources[s].items[p];
            if (known) {
                part->covered = all_told(lane, p) ? part->covering : 0;
            }
            part->covering = 0;
        }
    }
}

/* True when every state partition that belongs to it is being read; before that no barrier helps.
 */
static bool all_assigned(const ab_lane_t *lane, int32_t partition)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        const ab_state_part_t *part = ab_answers_part(lane, t, partition);
        if (part == NULL || !part->assigned) {
            return false;
        }
    }
    return true;
}

/* Begins a fresh barrier for the request at offset, and for all that is known to be written by now,
 * where none is under way. False when it is too soon for one. */
static bool begin_barrier(ab_lane_t *lane, int source, int32_t partition, int64_t offset,
                          ab_held_t *held)
{
    ab_answers_t *answers = lane->answers;
    const int64_t now = ab_lane_now_ns();
    if (!ab_asker_is_idle(answers->barriers)) {
        return true;
    }
    if (now < answers->next_barrier_ns || now < held->again_ns) {
        return false;
    }
    held->again_ns = now + (int64_t)BARRIER_AGAIN_MS * AB_NS_PER_MS;
    cover(lane, source, partition, offset); /* before the ends are asked for */
    ask_ends(lane);
    return true;
}

/* Takes what the brokers say to the barrier that was asked for, and waits a little for it. False
 * while they say nothing. */
static bool hear_barrier(ab_lane_t *lane, int64_t wait_ns)
{
    ab_answers_t *answers = lane->answers;
    ab_asker_answer_t answer;
    const bool heard = ab_asker_hear(answers->barriers, wait_ns, &answer);
    const int64_t now = ab_lane_now_ns();
    if (!heard) {
        answers->barrier_slow |= wait_ns > 0;
        return false;
    }
    rd_kafka_resp_err_t err = answer.error;
    const bool known = err == RD_KAFKA_RESP_ERR_NO_ERROR;
    answers->barrier_slow = !known || answer.took_ns > BARRIER_WAIT_NS;
    answers->next_barrier_ns = known ? 0 : now + (int64_t)BARRIER_AGAIN_MS * AB_NS_PER_MS;
    if (known) {
        err = note_ends(lane, answer.high);
    }
    note_covered(lane, known);
    ab_asker_answer_clear(&answer);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR && ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "barrier_waits",
                     "the ends of the state topics cannot be read; export requests wait", fields,
                     1);
    }
    return true;
}

bool ab_answers_find_ends(ab_lane_t *lane, int source, int32_t partition, int64_t offset, bool wait,
                          ab_held_t *held)
{
    const ab_part_t *part = ab_parts_get(&lane->parts, source, partition);
    const int64_t wait_ns = wait && !lane->answers->barrier_slow ? BARRIER_WAIT_NS : 0;
    if (!all_assigned(lane, partition)) {
        return false;
    }
    (void)hear_barrier(lane, 0);
    /* Twice: the one under way may have been asked too early. */
    for (unsigned i = 0; i < 2 && offset >= part->covered; i++) {
        if (!begin_barrier(lane, source, partition, offset, held) || !hear_barrier(lane, wait_ns)) {
            return false;
        }
    }
    if (offset >= part->covered || !all_told(lane, partition)) {
        return false;
    }
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        held->ends[t] = ab_answers_part(lane, t, partition)->barrier;
    }
    held->asked = true;
    return true;
}

bool ab_answers_ask_ahead(ab_lane_t *lane, int source, int32_t partition, int64_t offset)
{
    const ab_part_t *part = ab_parts_get(&lane->parts, source, partition);
    ab_held_t nobody = {.again_ns = 0};
    if (lane->answers->released != NULL || !all_assigned(lane, partition)) {
        return false;
    }
    (void)hear_barrier(lane, 0);
    return offset >= part->covered && begin_barrier(lane, source, partition, offset, &nobody);
}
