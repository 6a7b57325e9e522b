#include "bridge/kafka/lane_answer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Between two tries to get a store going: while another lane has it or the brokers do not answer,
 * and after the disk refused. */
#define SOON_MS   AB_STATE_SOON_MS
#define LATER_MS  5000
#define LOOKUP_MS 2000

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

void ab_answers_fetch(ab_lane_t *lane, size_t topic, int32_t partition, bool on)
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

void ab_answers_give_back(ab_lane_t *lane, size_t topic, int32_t partition)
{
    ab_state_part_t *part = &lane->answers->topics[topic].parts[partition];
    ab_answers_fetch(lane, topic, partition, false);
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
    ab_answers_fetch(lane, topic, partition, false);
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
        ab_answers_fetch(lane, topic, partition, false);
        ab_answers_fetch(lane, topic, partition, true);
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
        ab_answers_try_again(lane, topic, partition, LATER_MS);
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

/* True when the brokers have told where the log begins and ends. */
static bool look_up(ab_lane_t *lane, const char *topic, int32_t partition, int64_t *ret_low,
                    int64_t *ret_high)
{
    int64_t *const found[] = {ret_low, ret_high};
    static const int64_t asked[] = {RD_KAFKA_OFFSET_BEGINNING, RD_KAFKA_OFFSET_END};
    for (size_t i = 0; i < 2; i++) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, topic, partition)->offset = asked[i];
        rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(lane->shared->ends, list, LOOKUP_MS);
        err = err == RD_KAFKA_RESP_ERR_NO_ERROR ? list->elems[0].err : err;
        *found[i] = list->elems[0].offset;
        rd_kafka_topic_partition_list_destroy(list);
        if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (ab_error_is_denied(err)) {
                ab_lane_denied(lane, err);
            } else if (ab_lane_may_say(lane)) {
                ab_answers_tell(lane, AB_LEVEL_WARNING, "offsets_unknown",
                                "the offsets of a state topic cannot be read; trying again", topic,
                                partition, rd_kafka_err2name(err));
            }
            return false;
        }
    }
    return true;
}

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

static void begin_reading(ab_lane_t *lane, size_t topic, int32_t partition)
{
    const ab_state_topic_t *of = &lane->answers->topics[topic];
    ab_state_part_t *part = &of->parts[partition];
    int64_t low, high;
    if (!look_up(lane, of->name, partition, &low, &high)) {
        part->next_try_ns = ab_lane_now_ns() + (int64_t)SOON_MS * AB_NS_PER_MS;
        return;
    }
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
    ab_store_advance(part->store, low);
    part->first = ab_store_next(part->store);
    part->last = high;
    ab_answers_fetch(lane, topic, partition, true);
    part->restored = part->assigned && part->first >= high;
    if (part->assigned && !part->restored) {
        const ab_field_t fields[] = {AB_TEXT("topic", of->name), AB_NUMBER("partition", partition),
                                     AB_NUMBER("from", part->first), AB_NUMBER("to", high)};
        ab_lane_emit(lane, AB_LEVEL_INFO, "state_restoring",
                     "a store of published state catches up with its topic", fields, 4);
    }
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
        begin_reading(lane, topic, partition);
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

/* Gets one store going whose turn it is; one a turn, since it asks the brokers and the disk. */
void ab_answers_open_one(ab_lane_t *lane, int64_t now)
{
    for (size_t t = 0; t < lane->answers->topic_count; t++) {
        for (int32_t p = 0; p < lane->answers->topics[t].count; p++) {
            ab_state_part_t *part = &lane->answers->topics[t].parts[p];
            if (part->users == 0 || part->assigned || part->stopped || now < part->next_try_ns) {
                continue;
            }
            if (p >= lane->facts[lane->answers->topics[t].index].partitions) {
                continue; /* there is no such partition: the counts differ */
            }
            if (part->store == NULL) {
                open_store(lane, t, p);
            } else {
                begin_reading(lane, t, p);
            }
            return;
        }
    }
}
