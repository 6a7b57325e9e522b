#include "bridge/kafka/lane_answer.h"
#include "bridge/kafka/lane_state.h"

#include <string.h>

/* Between two rounds of settling where partitions begin. */
#define RESOLVE_EVERY_MS 200
/* After a pin: the commit's markers are on their way to the offsets topic. */
#define PINNED_AFTER_MS 20
/* For so long a partition that ends below its committed offset is given the benefit of the doubt: a
 * new leader may lag for a moment. */
#define SHORT_MAX_MS 10000
#define LOOKUP_MS    5000

/* What one round knows of one source topic. */
typedef struct round {
    int source;
    rd_kafka_topic_partition_list_t *committed; /* of every partition of the topic */
    rd_kafka_topic_partition_list_t *low;       /* log start of our pending ones */
    rd_kafka_topic_partition_list_t *high;      /* end of our pending ones */
    rd_kafka_topic_partition_list_t *pin;       /* to be committed before the first record */
    rd_kafka_topic_partition_list_t *begin;     /* settled: fetched from offset on */
} round_t;

/* ---- the rebalance callback: as little as possible, since it runs inside a poll ---- */

static void give_up(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *partitions)
{
    rd_kafka_topic_partition_list_t *fetched =
        rd_kafka_topic_partition_list_new(partitions->cnt > 0 ? partitions->cnt : 1);
    for (int i = 0; i < partitions->cnt; i++) {
        const char *topic = partitions->elems[i].topic;
        const int32_t partition = partitions->elems[i].partition;
        const int source = ab_parts_source(&lane->parts, topic);
        ab_part_t *part = ab_parts_get(&lane->parts, source, partition);
        if (part == NULL) {
            continue;
        }
        if (part->assigned) {
            rd_kafka_topic_partition_list_add(fetched, topic, partition);
        }
        ab_poison_forget(&lane->poison, source, partition, INT64_MAX);
        if (part->state != AB_PART_NONE) {
            ab_answers_lose(lane, source, partition);
        }
        (void)ab_parts_set(&lane->parts, source, partition, AB_PART_NONE);
    }
    /* Also with an empty list: it is the answer the group waits for. */
    rd_kafka_error_destroy(rd_kafka_incremental_unassign(lane->consumer, fetched));
    rd_kafka_topic_partition_list_destroy(fetched);
}

static void on_revoke(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *partitions)
{
    const bool lost = rd_kafka_assignment_lost(lane->consumer) != 0;
    ab_lane_count_rebalance(lane, lost ? AB_REBALANCE_LOST : AB_REBALANCE_REVOKED);
    if (lane->committing || lane->aborting) {
        /* This runs inside a retry of that very call, which goes on afterwards. */
        lane->txn.revoked = true;
    } else if (lane->plain) {
        if (!lost) {
            (void)ab_lane_commit(lane);
            (void)ab_plain_commit_now(lane);
        }
    } else if (lane->txn.open && lost) {
        ab_lane_abort(lane);
    } else if (lane->txn.open) {
        (void)ab_lane_commit(lane);
    }
    const ab_field_t fields[] = {AB_NUMBER("partitions", partitions->cnt), AB_FLAG("lost", lost)};
    ab_lane_emit(
        lane, lost ? AB_LEVEL_WARNING : AB_LEVEL_INFO, "partitions_revoked",
        lost ? "the membership was lost (no heartbeat or no poll in time); what was in hand is "
               "aborted and read again by the new owner"
             : "partitions are given back to the group",
        fields, 2);
    give_up(lane, partitions);
}

static void on_assign(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *partitions)
{
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
    for (int i = 0; i < partitions->cnt; i++) {
        const int source = ab_parts_source(&lane->parts, partitions->elems[i].topic);
        const ab_part_t *before =
            ab_parts_get(&lane->parts, source, partitions->elems[i].partition);
        const bool comes = before == NULL || before->state == AB_PART_NONE;
        if (source < 0 || ab_parts_set(&lane->parts, source, partitions->elems[i].partition,
                                       AB_PART_PENDING) != 0) {
            const ab_field_t fields[] = {AB_TEXT("topic", partitions->elems[i].topic),
                                         AB_NUMBER("partition", partitions->elems[i].partition)};
            ab_lane_emit(lane, AB_LEVEL_ERROR, "partition_refused",
                         "the partition cannot be taken: memory, or more than 100,000 partitions",
                         fields, 2);
            ab_lane_end(lane, AB_FATE_REBUILD, 0);
        } else if (comes) {
            /* Not for one that is refused: nobody would ever take its state partitions back. */
            ab_answers_gain(lane, source, partitions->elems[i].partition);
        }
    }
    lane->had_assignment = true;
    atomic_store(&lane->joined, true);
    ab_lane_count_rebalance(lane, AB_REBALANCE_ASSIGNED);
    lane->next_resolve_ns = 0;
    const ab_field_t fields[] = {AB_NUMBER("partitions", partitions->cnt)};
    ab_lane_emit(lane, AB_LEVEL_INFO, "partitions_assigned", "partitions come to this lane", fields,
                 1);
    /* The group gets its answer at once; the partitions are fetched when their beginning is
     * settled, with an explicit offset, so that no position of the library is ever relied on. */
    rd_kafka_error_destroy(rd_kafka_incremental_assign(lane->consumer, none));
    rd_kafka_topic_partition_list_destroy(none);
}

void ab_lane_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                          rd_kafka_topic_partition_list_t *partitions, void *opaque)
{
    ab_lane_t *lane = opaque;
    (void)rk;
    lane->in_callback = true;
    if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        on_assign(lane, partitions);
    } else {
        if (err != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
            const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
            ab_lane_emit(lane, AB_LEVEL_WARNING, "rebalance_failed",
                         "the group's rebalance failed; the partitions are given up", fields, 1);
        }
        on_revoke(lane, partitions);
    }
    lane->in_callback = false;
}

/* ---- settling where partitions begin (specs/lane.md rule 4) ---- */

static const char *topic_of(const ab_lane_t *lane, int source)
{
    return lane->config->sources[source].policy.topic;
}

/* Who leads the topic, anew. For a topic of which nothing is fetched yet librdkafka (2.0.2) goes on
 * asking the leaders it knew, also when those say that they are none, until its next look minutes
 * later. */
static void refresh_leaders(ab_lane_t *lane, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(lane->consumer, topic, NULL);
    if (handle == NULL) {
        return;
    }
    if (rd_kafka_metadata(lane->consumer, 0, handle, &metadata, LOOKUP_MS) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
}

/* Log positions for a list: offset holds -2 (log start), -1 (end) or a time in ms on the way in. */
static bool look_up(ab_lane_t *lane, rd_kafka_topic_partition_list_t *list)
{
    if (list->cnt == 0) {
        return true;
    }
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(lane->consumer, list, LOOKUP_MS);
    for (int i = 0; err == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        err = list->elems[i].err;
    }
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (err != RD_KAFKA_RESP_ERR_NO_ERROR && ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "offsets_unknown",
                     "the offsets of a source cannot be read; trying again", fields, 1);
    }
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR && !ab_error_is_denied(err)) {
        refresh_leaders(lane, list->elems[0].topic);
    }
    return err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_topic_partition_list_t *list_of(const char *topic, const ab_parts_t *parts,
                                                int source, int64_t offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int32_t p = 0; p < parts->sources[source].count; p++) {
        if (parts->sources[source].items[p].state == AB_PART_PENDING) {
            rd_kafka_topic_partition_list_add(list, topic, p)->offset = offset;
        }
    }
    return list;
}

static int64_t offset_in(const rd_kafka_topic_partition_list_t *list, const char *topic,
                         int32_t partition)
{
    for (int i = 0; i < list->cnt; i++) {
        if (list->elems[i].partition == partition && strcmp(list->elems[i].topic, topic) == 0) {
            return list->elems[i].offset;
        }
    }
    return -1;
}

/* The committed offsets of every partition of the topic. */
static bool read_committed(ab_lane_t *lane, round_t *round, int32_t count)
{
    rd_kafka_resp_err_t err;
    for (int32_t p = 0; p < count; p++) {
        rd_kafka_topic_partition_list_add(round->committed, topic_of(lane, round->source), p);
    }
    err = rd_kafka_committed(lane->consumer, round->committed, LOOKUP_MS);
    for (int i = 0; err == RD_KAFKA_RESP_ERR_NO_ERROR && i < round->committed->cnt; i++) {
        /* UNSTABLE_OFFSET_COMMIT: a transaction with offsets of this group is still open. */
        err = round->committed->elems[i].err;
    }
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (err != RD_KAFKA_RESP_ERR_NO_ERROR && ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("topic", topic_of(lane, round->source)),
                                     AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "committed_unknown",
                     "the group's committed offsets cannot be read yet; trying again", fields, 2);
    }
    return err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Nobody has committed anything for this topic: `start` decides, once, for every partition, and
 * whoever holds partition 0 says it for all, so that two lanes cannot begin at two different "now".
 */
static void pin_start(ab_lane_t *lane, round_t *round)
{
    const ab_source_t *source = &lane->config->sources[round->source];
    const char *topic = source->policy.topic;
    const ab_part_t *first = ab_parts_get(&lane->parts, round->source, 0);
    if (source->start == AB_START_COMMITTED) {
        const ab_field_t fields[] = {AB_TEXT("topic", topic),
                                     AB_TEXT("group", lane->config->group)};
        ab_lane_emit(lane, AB_LEVEL_ERROR, "start_refused",
                     "start: committed, but the group has no committed offset for the topic; set "
                     "another start, or check the group's name",
                     fields, 2);
        ab_lane_end(lane, AB_FATE_EXIT, 78);
        return;
    }
    if (first == NULL || first->state != AB_PART_PENDING) {
        return; /* its owner is about to say it */
    }
    int64_t ask = source->start == AB_START_EARLIEST ? -2
                  : source->start == AB_START_LATEST ? -1
                                                     : source->start_time_ms;
    rd_kafka_topic_partition_list_t *found = rd_kafka_topic_partition_list_copy(round->committed);
    rd_kafka_topic_partition_list_t *ends = rd_kafka_topic_partition_list_copy(round->committed);
    for (int i = 0; i < found->cnt; i++) {
        found->elems[i].offset = ask;
        ends->elems[i].offset = -1;
    }
    if (look_up(lane, found) && look_up(lane, ends)) {
        for (int i = 0; i < found->cnt; i++) {
            /* Nothing is younger than the time asked for: begin at the end. */
            const int64_t offset =
                found->elems[i].offset >= 0 ? found->elems[i].offset : ends->elems[i].offset;
            rd_kafka_topic_partition_list_add(round->pin, topic, found->elems[i].partition)
                ->offset = offset;
        }
        const ab_field_t fields[] = {AB_TEXT("topic", topic), AB_NUMBER("partitions", found->cnt)};
        ab_lane_emit(
            lane, AB_LEVEL_INFO, "start_pinned",
            "the group has no committed offset for the topic: start decides where it begins",
            fields, 2);
    }
    rd_kafka_topic_partition_list_destroy(found);
    rd_kafka_topic_partition_list_destroy(ends);
}

/* Offsets between a committed one and the log start it was moved to. */
static void count_gap(ab_lane_t *lane, const char *topic, int32_t partition, int64_t from,
                      int64_t to)
{
    if (from < 0 || from >= to) {
        return;
    }
    const ab_field_t fields[] = {AB_TEXT("topic", topic), AB_NUMBER("partition", partition),
                                 AB_NUMBER("from", from), AB_NUMBER("to", to)};
    ab_lane_emit(
        lane, AB_LEVEL_ERROR, "gap",
        "retention removed records before they were read; going on at the first that exists",
        fields, 4);
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.ledger.gap += (uint64_t)(to - from);
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_stop_partition(ab_lane_t *lane, int source, int32_t partition, const char *message,
                            const char *error)
{
    const ab_part_t *part = ab_parts_get(&lane->parts, source, partition);
    const ab_field_t fields[] = {AB_TEXT("topic", topic_of(lane, source)),
                                 AB_NUMBER("partition", partition), AB_NUMBER("offset", part->next),
                                 AB_TEXT("error", error)};
    ab_lane_emit(lane, AB_LEVEL_ERROR, "partition_stopped", message, fields, 4);
    if (part->assigned) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, topic_of(lane, source), partition);
        (void)rd_kafka_pause_partitions(lane->consumer, list);
        rd_kafka_topic_partition_list_destroy(list);
    }
    (void)ab_parts_set(&lane->parts, source, partition, AB_PART_STOPPED);
}

/* One pending partition that has a committed offset, or whose siblings have: where it begins. */
static void settle_one(ab_lane_t *lane, round_t *round, int32_t partition)
{
    const char *topic = topic_of(lane, round->source);
    ab_part_t *part = ab_parts_get(&lane->parts, round->source, partition);
    const int64_t low = offset_in(round->low, topic, partition);
    const int64_t high = offset_in(round->high, topic, partition);
    int64_t offset = offset_in(round->committed, topic, partition);
    part->next = offset;
    if (offset < 0) {
        /* A partition that is newer than the group's offsets: all of it is unread. */
        rd_kafka_topic_partition_list_add(round->pin, topic, partition)->offset = low;
        return;
    }
    if (offset > high) {
        if (part->short_ns == 0) {
            part->short_ns = ab_lane_now_ns();
        } else if (ab_lane_now_ns() - part->short_ns > (int64_t)SHORT_MAX_MS * AB_NS_PER_MS) {
            ab_lane_stop_partition(lane, round->source, partition,
                                   "the partition ends below the committed offset: the topic was "
                                   "deleted and made again, or "
                                   "lost data. The bridge never goes back by itself: set the "
                                   "group's offset, then restart",
                                   "end below position");
        }
        return;
    }
    if (offset < low) {
        rd_kafka_topic_partition_list_add(round->pin, topic, partition)->offset = low;
        return;
    }
    rd_kafka_topic_partition_list_add(round->begin, topic, partition)->offset = offset;
}

/* This process has read from the topic, and now nobody has committed anything for it: the brokers
 * forget a topic's offsets with the topic. The same name is another topic now, and where to begin
 * in it is not for the bridge to say (rule 14). */
static void stop_all(ab_lane_t *lane, const round_t *round)
{
    for (int i = 0; i < round->low->cnt; i++) {
        ab_lane_stop_partition(lane, round->source, round->low->elems[i].partition,
                               "the group's offsets for the topic are gone: the topic was deleted "
                               "and made again, or they were. The bridge never begins anew by "
                               "itself: look at what the topic holds, then restart every bridge of "
                               "the group to begin at `start`",
                               "no committed offset");
    }
}

static void begin_fetching(ab_lane_t *lane, const round_t *round)
{
    if (round->begin->cnt == 0) {
        return;
    }
    ab_topics_begin(lane->shared->topics,
                    (size_t)ab_topics_find(lane->shared->topics, topic_of(lane, round->source)));
    rd_kafka_error_t *error = rd_kafka_incremental_assign(lane->consumer, round->begin);
    if (error != NULL) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_error_string(error))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "assign_failed",
                     "partitions cannot be fetched; the lane is built anew", fields, 1);
        rd_kafka_error_destroy(error);
        ab_lane_end(lane, AB_FATE_REBUILD, 0);
        return;
    }
    for (int i = 0; i < round->begin->cnt; i++) {
        const int32_t partition = round->begin->elems[i].partition;
        ab_part_t *part = ab_parts_get(&lane->parts, round->source, partition);
        (void)ab_parts_set(&lane->parts, round->source, partition, AB_PART_HELD);
        part->assigned = true;
        part->next = round->begin->elems[i].offset;
        part->committed = part->next;
        part->moved_ns = ab_lane_now_ns();
        ab_frontier_reset(&part->frontier, part->next);
    }
    if (lane->held_back[round->source]) {
        ab_lane_hold_back(lane, round->source);
    }
}

static bool any_committed(const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        if (list->elems[i].offset >= 0) {
            return true;
        }
    }
    return false;
}

static void run_round(ab_lane_t *lane, round_t *round)
{
    const int index = ab_topics_find(lane->shared->topics, topic_of(lane, round->source));
    const ab_topic_t topic = ab_topics_get(lane->shared->topics, (size_t)index);
    int32_t count = topic.partitions;
    if (count < lane->parts.sources[round->source].count) {
        count = lane->parts.sources[round->source].count;
    }
    if (!read_committed(lane, round, count)) {
        return;
    }
    if (!any_committed(round->committed) && topic.begun) {
        stop_all(lane, round);
    } else if (!any_committed(round->committed)) {
        pin_start(lane, round);
    } else {
        if (!look_up(lane, round->low) || !look_up(lane, round->high)) {
            return;
        }
        for (int i = 0; i < round->low->cnt; i++) {
            settle_one(lane, round, round->low->elems[i].partition);
        }
    }
    if (round->pin->cnt > 0 && ab_lane_pin(lane, round->pin)) {
        for (int i = 0; i < round->pin->cnt; i++) {
            const rd_kafka_topic_partition_t *pin = &round->pin->elems[i];
            count_gap(lane, pin->topic, pin->partition,
                      offset_in(round->committed, pin->topic, pin->partition), pin->offset);
        }
        /* What was pinned is found committed by the next round. */
        lane->next_resolve_ns = ab_lane_now_ns() + (int64_t)PINNED_AFTER_MS * AB_NS_PER_MS;
    }
    begin_fetching(lane, round);
}

void ab_lane_resolve(ab_lane_t *lane)
{
    lane->next_resolve_ns = ab_lane_now_ns() + (int64_t)RESOLVE_EVERY_MS * AB_NS_PER_MS;
    for (int s = 0; s < (int)lane->parts.source_count && lane->fate == AB_FATE_GO; s++) {
        round_t round = {.source = s};
        round.low = list_of(topic_of(lane, s), &lane->parts, s, -2);
        if (round.low->cnt > 0) {
            round.high = list_of(topic_of(lane, s), &lane->parts, s, -1);
            round.committed = rd_kafka_topic_partition_list_new(8);
            round.pin = rd_kafka_topic_partition_list_new(8);
            round.begin = rd_kafka_topic_partition_list_new(8);
            run_round(lane, &round);
            rd_kafka_topic_partition_list_destroy(round.high);
            rd_kafka_topic_partition_list_destroy(round.committed);
            rd_kafka_topic_partition_list_destroy(round.pin);
            rd_kafka_topic_partition_list_destroy(round.begin);
        }
        rd_kafka_topic_partition_list_destroy(round.low);
    }
}

void ab_lane_on_gap(ab_lane_t *lane, int source, int32_t partition, int64_t offset)
{
    ab_part_t *part = ab_parts_get(&lane->parts, source, partition);
    if (part == NULL || part->state != AB_PART_HELD || (offset >= 0 && offset != part->next)) {
        return; /* about a position that is not ours any more */
    }
    /* The handles begin anew from the committed offsets, and settle_one() then tells a gap from a
     * topic that ends too early. librdkafka cannot move a partition that stands here by seeking. */
    ab_lane_end(lane, AB_FATE_RECONNECT, 0);
}
