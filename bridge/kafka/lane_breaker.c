#include "bridge/kafka/lane_state.h"

static int64_t now_ms(void)
{
    return ab_lane_now_ns() / AB_NS_PER_MS;
}

/* The source's partitions that are fetched and, as asked, paused or not. */
static rd_kafka_topic_partition_list_t *fetched(const ab_lane_t *lane, int source, bool paused)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int32_t p = 0; p < lane->parts.sources[source].count; p++) {
        const ab_part_t *part = &lane->parts.sources[source].items[p];
        if (part->state == AB_PART_HELD && part->paused == paused) {
            rd_kafka_topic_partition_list_add(list, lane->config->sources[source].policy.topic, p)
                ->offset = part->next;
        }
    }
    return list;
}

static void set_paused(ab_lane_t *lane, int source, const rd_kafka_topic_partition_list_t *list,
                       bool paused)
{
    for (int i = 0; i < list->cnt; i++) {
        ab_part_t *part = ab_parts_get(&lane->parts, source, list->elems[i].partition);
        part->paused = paused;
        part->moved_ns = ab_lane_now_ns(); /* it stood still on purpose */
    }
}

void ab_lane_hold_back(ab_lane_t *lane, int source)
{
    rd_kafka_topic_partition_list_t *list = fetched(lane, source, false);
    lane->held_back[source] = true;
    if (list->cnt > 0) {
        (void)rd_kafka_pause_partitions(lane->consumer, list);
        set_paused(lane, source, list, true);
    }
    rd_kafka_topic_partition_list_destroy(list);
}

/* Those of the list that no request holds. */
static rd_kafka_topic_partition_list_t *not_held(const ab_lane_t *lane, int source,
                                                 const rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *free_ones = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        if (!ab_parts_get(&lane->parts, source, one->partition)->held) {
            rd_kafka_topic_partition_list_add(free_ones, one->topic, one->partition)->offset =
                one->offset;
        }
    }
    return free_ones;
}

/* A bare resume takes up to a second and may deliver again what was read: each is followed by a
 * seek to the offset expected (specs/lane.md rules 2 and 9). A partition with a held request stays
 * paused for that, and goes on when the request does. */
static void let_go(ab_lane_t *lane, int source)
{
    rd_kafka_topic_partition_list_t *list = fetched(lane, source, true);
    rd_kafka_topic_partition_list_t *wakes = not_held(lane, source, list);
    lane->held_back[source] = false;
    set_paused(lane, source, list, false);
    if (wakes->cnt > 0) {
        (void)rd_kafka_resume_partitions(lane->consumer, wakes);
        if (!ab_lane_seek(lane, wakes)) {
            lane->need_rewind = true;
        }
    }
    rd_kafka_topic_partition_list_destroy(wakes);
    rd_kafka_topic_partition_list_destroy(list);
}

static void tell_opened(ab_lane_t *lane, int source, const ab_breaker_t *breaker)
{
    const ab_field_t fields[] = {
        AB_TEXT("topic", lane->config->sources[source].policy.topic),
        AB_NUMBER("read", breaker->tripped.read),
        AB_NUMBER("dead_lettered", breaker->tripped.dead_lettered),
        AB_NUMBER("window_ms", lane->config->breaker.window_ms),
        AB_TEXT("reason", ab_reason_code(breaker->last_reason)),
    };
    ab_lane_emit(lane, AB_LEVEL_ERROR, "breaker_opened",
                 "too many records of the source became dead letters; it stands still in this lane "
                 "but for a record every 10 seconds, and goes on after 20 good ones in a row. Look "
                 "at the dead letters' reason, then at what writes the source or at the "
                 "configuration",
                 fields, sizeof(fields) / sizeof(fields[0]));
}

void ab_lane_judge(ab_lane_t *lane, int source, ab_part_t *part, int64_t offset, ab_reason_t reason)
{
    ab_breaker_t *breaker = &lane->breakers[source];
    if (offset < part->judged) {
        return; /* read again after an abort */
    }
    part->judged = offset + 1;
    switch (ab_breaker_note(breaker, &lane->config->breaker, reason,
                            lane->last_record_ns / AB_NS_PER_MS)) {
    case AB_BREAKER_OPENED:
        lane->breakers_open++;
        tell_opened(lane, source, breaker);
        ab_lane_count_trip(lane);
        break;
    case AB_BREAKER_CLOSED: {
        const ab_field_t fields[] = {AB_TEXT("topic", lane->config->sources[source].policy.topic)};
        lane->breakers_open--;
        ab_lane_emit(lane, AB_LEVEL_INFO, "breaker_closed",
                     "20 records in a row became no dead letters: the source is read again", fields,
                     1);
        break;
    }
    case AB_BREAKER_SAME:
    default:
        break;
    }
    if (breaker->open) {
        ab_lane_hold_back(lane, source);
    }
}

bool ab_lane_is_held_back(const ab_lane_t *lane, int source)
{
    return lane->breakers_open > 0 && !ab_breaker_lets_through(&lane->breakers[source], now_ms());
}

void ab_lane_probe(ab_lane_t *lane)
{
    for (int s = 0; s < (int)lane->parts.source_count; s++) {
        if (lane->held_back[s] && ab_breaker_lets_through(&lane->breakers[s], now_ms())) {
            let_go(lane, s);
        }
    }
}
