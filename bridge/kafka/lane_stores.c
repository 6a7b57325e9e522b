#include "bridge/kafka/lane_answer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Between two tries to get a store going: while another lane has it or the brokers do not answer,
 * and after the disk refused. */
#define SOON_MS  AB_STATE_SOON_MS
#define LATER_MS 5000
/* A load that fails begins with the topic again: longest between two. */
#define LATER_MAX_MS 300000
/* Most partitions of one look-up. */
#define LOOKUPS_MAX 64
/* What the stores that are loaded collect in: a share of this for each state partition of the lane,
 * within bounds. Less memory makes more to merge, and no other difference. */
#define LOADS_MAX  ((uint64_t)16 * 1024 * 1024)
#define LOAD_MOST  ((uint64_t)8 * 1024 * 1024)
#define LOAD_LEAST ((uint64_t)256 * 1024)

static unsigned owner_of(const ab_lane_t *lane)
{
    return lane->index + 1;
}

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / AB_NS_PER_MS;
}

void ab_answers_tell(ab_lane_t *lane, ab_level_t level, const char *event, const char *message,
                     const char *topic, int32_t partition, const char *text)
{
    const ab_field_t fields[] = {AB_TEXT("topic", topic), AB_NUMBER("partition", partition),
                                 AB_TEXT("text", text)};
    ab_lane_emit(lane, level, event, message, fields, 3);
}

ab_state_part_t *ab_answers_part(const ab_lane_t *lane, size_t topic, int32_t partition)
{
    const ab_state_topic_t *of = &lane->answers->topics[topic];
    if (partition < 0 || partition >= of->count || of->parts[partition].users == 0) {
        return NULL;
    }
    return &of->parts[partition];
}

/* ---- fetching ---- */

/* Begins to fetch from ab_store_next() on, or ends it. */
static void fetch(ab_lane_t *lane, size_t topic, int32_t partition, bool on)
{
    ab_answers_t *answers = lane->answers;
    ab_state_part_t *part = &answers->topics[topic].parts[partition];
    if (part->assigned == on || answers->consumer == NULL) {
        part->assigned = false;
        return;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, answers->topics[topic].name, partition)->offset =
        on ? ab_store_next(part->store) : RD_KAFKA_OFFSET_INVALID;
    rd_kafka_error_t *error = on ? rd_kafka_incremental_assign(answers->consumer, list)
                                 : rd_kafka_incremental_unassign(answers->consumer, list);
    if (error != NULL) {
        ab_answers_tell(lane, AB_LEVEL_WARNING, "assign_failed",
                        "a state partition cannot be fetched; the lane is built anew",
                        answers->topics[topic].name, partition, rd_kafka_error_string(error));
        ab_lane_end(lane, AB_FATE_REBUILD, 0);
    }
    part->assigned = on && error == NULL;
    part->delivered = false;
    part->restored = false;
    part->eof = -1;
    rd_kafka_error_destroy(error);
    rd_kafka_topic_partition_list_destroy(list);
}

static void end_load(ab_lane_t *lane, ab_state_part_t *part)
{
    lane->answers->loading -= part->loading ? 1 : 0;
    part->loading = false;
}

void ab_answers_give_back(ab_lane_t *lane, size_t topic, int32_t partition)
{
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    fetch(lane, topic, partition, false);
    part->looking = false;
    end_load(lane, part);
    if (part->store != NULL) {
        ab_stores_return(lane->shared->stores, part->store);
        part->store = NULL;
    }
}

/* Stands still for so long; what was applied and not committed is read again. */
void ab_answers_try_again(ab_lane_t *lane, size_t topic, int32_t partition, unsigned wait_ms)
{
    ab_answers_give_back(lane, topic, partition);
    lane->answers->topics[topic].parts[partition].next_try_ns =
        ab_lane_now_ns() + (int64_t)wait_ms * AB_NS_PER_MS;
}

void ab_answers_rebuild(ab_lane_t *lane, size_t topic, int32_t partition, const char *why)
{
    const char *name = lane->answers->topics[topic].name;
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    ab_store_t *store = part->store;
    unsigned wait_ms = 0;
    ab_answers_tell(lane, AB_LEVEL_WARNING, "store_rebuilt",
                    "a store of published state cannot be used and is made anew from its topic",
                    name, partition, why);
    fetch(lane, topic, partition, false);
    part->store = NULL;
    if (ab_stores_discard(lane->shared->stores, store) != 0) {
        ab_answers_tell(
            lane, AB_LEVEL_ERROR, "store_failed",
            "a store of published state cannot be removed: check the rights of state.dir; export "
            "requests wait, everything else goes on",
            name, partition, strerror(errno));
        wait_ms = LATER_MS;
    }
    ab_answers_try_again(lane, topic, partition, wait_ms);
}

/* How long a store that was refused something stands still: a load twice as long each time. */
static unsigned later_ms(ab_state_part_t *part)
{
    unsigned wait_ms = LATER_MS;
    if (ab_store_next(part->store) != AB_STORE_UNREAD) {
        return wait_ms;
    }
    for (unsigned i = 0; i < part->failed_loads && wait_ms < LATER_MAX_MS; i++) {
        wait_ms *= 2;
    }
    part->failed_loads++;
    return wait_ms < LATER_MAX_MS ? wait_ms : LATER_MAX_MS;
}

/* A call on a store went wrong. */
void ab_answers_trouble(ab_lane_t *lane, size_t topic, int32_t partition, ab_store_result_t result)
{
    const ab_state_topic_t *of = &lane->answers->topics[topic];
    ab_state_part_t *part = &of->parts[partition];
    const char *text = ab_store_text_view(part->store);
    switch (result) {
    case AB_STORE_DAMAGED:
        ab_answers_rebuild(lane, topic, partition, text);
        break;
    case AB_STORE_AGAIN: /* the map has grown, the batch is gone */
        if (ab_store_next(part->store) == AB_STORE_UNREAD) {
            ab_answers_try_again(lane, topic, partition, 0); /* where it begins is to be asked */
            break;
        }
        fetch(lane, topic, partition, false);
        fetch(lane, topic, partition, true);
        break;
    case AB_STORE_FOREIGN:
        ab_answers_tell(lane, AB_LEVEL_ERROR, "store_lost", "a store belongs to another lane",
                        of->name, partition, "");
        ab_answers_try_again(lane, topic, partition, SOON_MS);
        break;
    default:
        ab_answers_tell(
            lane, AB_LEVEL_ERROR, "store_failed",
            "a store of published state cannot be read or written: check the disk of state.dir; "
            "export requests wait, everything else goes on",
            of->name, partition, text);
        ab_answers_try_again(lane, topic, partition, later_ms(part));
        break;
    }
}

bool ab_answers_commit(ab_lane_t *lane, size_t topic, int32_t partition)
{
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    const ab_store_result_t result =
        ab_store_commit(part->store, owner_of(lane), part->restored ? wall_ms() : 0);
    part->pending_ns = 0;
    if (result != AB_STORE_OK) {
        ab_answers_trouble(lane, topic, partition, result);
    }
    return result == AB_STORE_OK;
}

/* ---- opening ---- */

/* Why what the store holds must not be built upon; NULL when it may. */
static const char *unfit(const ab_store_t *store, int64_t low, int64_t high)
{
    const int64_t next = ab_store_next(store);
    if (next == AB_STORE_UNREAD) {
        return NULL;
    }
    if (next < low) {
        return "the topic begins behind what the store has read";
    }
    if (next > high) {
        return "the topic ends before what the store has read: it was made anew";
    }
    if (next < high && wall_ms() - ab_store_current_ms(store) > AB_STORE_BEHIND_MAX_MS) {
        return "it was behind its topic for over 24 hours and may have missed tombstones";
    }
    return NULL;
}

static size_t load_memory(const ab_lane_t *lane)
{
    uint64_t parts = 0;
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        for (int32_t p = 0; p < lane->answers->topics[t].count; p++) {
            parts += lane->answers->topics[t].parts[p].users > 0 ? 1 : 0;
        }
    }
    uint64_t memory = lane->config->memory_per_lane_bytes / 4;
    memory = (memory < LOADS_MAX ? memory : LOADS_MAX) / (parts > 0 ? parts : 1);
    memory = memory < LOAD_MOST ? memory : LOAD_MOST;
    return (size_t)(memory > LOAD_LEAST ? memory : LOAD_LEAST);
}

/* The brokers have told where the log begins and ends. */
static void begin_reading(ab_lane_t *lane, size_t topic, int32_t partition, int64_t low,
                          int64_t high)
{
    const ab_state_topic_t *of = &lane->answers->topics[topic];
    ab_state_part_t *part = &of->parts[partition];
    const char *why = unfit(part->store, low, high);
    if (why != NULL) {
        ab_answers_tell(
            lane, AB_LEVEL_WARNING, "store_rebuilt",
            "a store of published state cannot be built upon and is made anew from its topic",
            of->name, partition, why);
        const ab_store_result_t result = ab_store_reset(part->store);
        if (result != AB_STORE_OK) {
            ab_answers_trouble(lane, topic, partition, result);
            return;
        }
    }
    if (ab_store_next(part->store) == AB_STORE_UNREAD && high > low) {
        const ab_store_result_t result = ab_store_load_begin(part->store, load_memory(lane));
        if (result != AB_STORE_OK) {
            ab_answers_trouble(lane, topic, partition, result);
            return;
        }
    }
    ab_store_advance(part->store, low);
    part->first = ab_store_next(part->store);
    part->last = high;
    fetch(lane, topic, partition, true);
    part->restored = part->assigned && part->first >= high;
    if (part->assigned && !part->restored) {
        const ab_field_t fields[] = {AB_TEXT("topic", of->name), AB_NUMBER("partition", partition),
                                     AB_NUMBER("from", part->first), AB_NUMBER("to", high)};
        ab_lane_emit(lane, AB_LEVEL_INFO, "state_restoring",
                     "a store of published state catches up with its topic", fields, 4);
    }
}

void ab_answers_begin_load(ab_lane_t *lane, size_t topic, int32_t partition)
{
    fetch(lane, topic, partition, false);
    lane->answers->topics[topic].parts[partition].loading = true;
    lane->answers->loading++;
}

bool ab_answers_load_some(ab_lane_t *lane, size_t topic, int32_t partition)
{
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    bool done = false;
    const ab_store_result_t result =
        ab_store_load_step(part->store, owner_of(lane), wall_ms(), &done);
    if (result != AB_STORE_OK) {
        ab_answers_trouble(lane, topic, partition, result);
    } else if (done) {
        end_load(lane, part);
        fetch(lane, topic, partition, true);
    }
    return done && part->assigned;
}

static void tell_found(ab_lane_t *lane, const char *topic, int32_t partition,
                       ab_store_found_t found)
{
    if (found == AB_STORE_FOUND_DAMAGED || found == AB_STORE_FOUND_OTHER) {
        ab_answers_tell(lane, AB_LEVEL_WARNING, "store_rebuilt",
                        "a store of published state cannot be used and is made anew from its topic",
                        topic, partition,
                        found == AB_STORE_FOUND_OTHER
                            ? "it is of another version, topic or partition"
                            : "it is damaged");
    }
}

static void open_store(ab_lane_t *lane, size_t topic, int32_t partition)
{
    const ab_state_topic_t *of = &lane->answers->topics[topic];
    ab_state_part_t *part = &of->parts[partition];
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_found_t found;
    const ab_store_result_t result = ab_stores_borrow(lane->shared->stores, of->name, partition,
                                                      owner_of(lane), &part->store, &found, text);
    if (result == AB_STORE_OK) {
        tell_found(lane, of->name, partition, found);
        return;
    }
    part->next_try_ns = ab_lane_now_ns() +
                        (int64_t)(result == AB_STORE_FOREIGN ? SOON_MS : LATER_MS) * AB_NS_PER_MS;
    if (result != AB_STORE_FOREIGN) {
        ab_answers_tell(
            lane, AB_LEVEL_ERROR, "store_failed",
            "a store of published state cannot be opened: check the disk and the rights of "
            "state.dir; export requests wait, everything else goes on",
            of->name, partition, text);
    }
}

/* ---- asking where logs begin and end ---- */

static void tell_unknown(ab_lane_t *lane, const rd_kafka_topic_partition_t *of,
                         rd_kafka_resp_err_t err)
{
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (ab_lane_may_say(lane)) {
        ab_answers_tell(lane, AB_LEVEL_WARNING, "offsets_unknown",
                        "the offsets of a state topic cannot be read; trying again", of->topic,
                        of->partition, rd_kafka_err2name(err));
    }
}

static size_t topic_of(const ab_answers_t *answers, const char *name)
{
    size_t topic = 0;
    while (topic < answers->topic_count && strcmp(answers->topics[topic].name, name) != 0) {
        topic++;
    }
    return topic;
}

/* One partition of a look-up. */
static void take_lookup(ab_lane_t *lane, const rd_kafka_topic_partition_t *low,
                        const rd_kafka_topic_partition_t *high, rd_kafka_resp_err_t err)
{
    const size_t topic = topic_of(lane->answers, low->topic);
    ab_state_part_t *part = ab_answers_part(lane, topic, low->partition);
    if (part == NULL || !part->looking) {
        return; /* given away meanwhile */
    }
    part->looking = false;
    err = err == RD_KAFKA_RESP_ERR_NO_ERROR ? low->err : err;
    err = err == RD_KAFKA_RESP_ERR_NO_ERROR ? high->err : err;
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        begin_reading(lane, topic, low->partition, low->offset, high->offset);
    } else {
        part->next_try_ns = ab_lane_now_ns() + (int64_t)SOON_MS * AB_NS_PER_MS;
        tell_unknown(lane, low, err);
    }
}

static void hear_lookups(ab_lane_t *lane)
{
    ab_answers_t *answers = lane->answers;
    ab_asker_answer_t answer;
    if (!ab_asker_hear(answers->lookups, 0, &answer)) {
        return;
    }
    for (int i = 0; i < answer.low->cnt && lane->fate == AB_FATE_GO; i++) {
        take_lookup(lane, &answer.low->elems[i], &answer.high->elems[i], answer.error);
    }
    /* One partition without a leader fails the question for all: then they are asked for in smaller
     * numbers. */
    answers->lookups_most = answer.error != RD_KAFKA_RESP_ERR_NO_ERROR ? 1
                            : answers->lookups_most * 2 < LOOKUPS_MAX  ? answers->lookups_most * 2
                                                                       : LOOKUPS_MAX;
    ab_asker_answer_clear(&answer);
}

static bool is_due(const ab_lane_t *lane, size_t topic, int32_t partition, int64_t now)
{
    const ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    return part->users > 0 && !part->assigned && !part->looking && !part->loading &&
           !part->stopped && now >= part->next_try_ns &&
           /* Else there is no such partition: the counts differ. */
           partition < lane->facts[lane->answers->topics[topic].index].partitions;
}

/* Asks for the partitions whose stores are open and not fed yet. */
static void ask_lookups(ab_lane_t *lane, int64_t now)
{
    ab_answers_t *answers = lane->answers;
    if (!ab_asker_is_idle(answers->lookups)) {
        return;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (size_t t = 0; t < answers->topic_count; t++) {
        for (int32_t p = 0; p < answers->topics[t].count && list->cnt < answers->lookups_most;
             p++) {
            ab_state_part_t *part = &answers->topics[t].parts[p];
            if (part->store != NULL && is_due(lane, t, p, now)) {
                part->looking = true;
                rd_kafka_topic_partition_list_add(list, answers->topics[t].name, p);
            }
        }
    }
    if (list->cnt > 0) {
        ab_asker_ask_take(answers->lookups, list, true);
    } else {
        rd_kafka_topic_partition_list_destroy(list);
    }
}

static bool open_one(ab_lane_t *lane, int64_t now)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        for (int32_t p = 0; p < lane->answers->topics[t].count; p++) {
            if (lane->answers->topics[t].parts[p].store == NULL && is_due(lane, t, p, now)) {
                open_store(lane, t, p);
                return true;
            }
        }
    }
    return false;
}

bool ab_answers_open_one(ab_lane_t *lane, int64_t now)
{
    hear_lookups(lane);
    if (lane->fate != AB_FATE_GO) {
        return false;
    }
    const bool opened = open_one(lane, now);
    ask_lookups(lane, now);
    return opened;
}
