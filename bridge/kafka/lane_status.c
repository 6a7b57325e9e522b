#include "bridge/kafka/lane_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is shown of the sources is at most this old. */
#define SHOW_EVERY_MS 1000

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / AB_NS_PER_MS;
}

void ab_lane_tick(ab_lane_t *lane, ab_phase_t phase)
{
    atomic_store_explicit(&lane->tick_ns, ab_lane_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&lane->phase, (int)phase, memory_order_relaxed);
    atomic_store_explicit(&lane->inflight_shown, lane->inflight_bytes, memory_order_relaxed);
}

void ab_lane_note_stamp(ab_lane_t *lane, int64_t timestamp_ms)
{
    ab_txn_t *txn = &lane->txn;
    if (txn->stamp_count == txn->stamp_room) {
        const size_t room = txn->stamp_room == 0 ? 1024 : txn->stamp_room * 2;
        int64_t *stamps = realloc(txn->stamps_ms, room * sizeof(*stamps));
        if (stamps == NULL) {
            return; /* a record less in a histogram */
        }
        txn->stamps_ms = stamps;
        txn->stamp_room = room;
    }
    txn->stamps_ms[txn->stamp_count++] = timestamp_ms;
}

void ab_lane_count(ab_lane_t *lane, int source, int32_t partition, const ab_verdict_t *verdict)
{
    ab_ledger_count(&lane->in_hand, verdict);
    ab_tallies_count(&lane->tallies_in_hand, (size_t)source, partition, verdict->outcome);
}

void ab_lane_count_nothing(ab_lane_t *lane)
{
    lane->in_hand = (ab_ledger_t){0};
    ab_tallies_reset(&lane->tallies_in_hand);
}

void ab_lane_count_commit(ab_lane_t *lane)
{
    const double seconds = (double)(ab_lane_now_ns() - lane->txn.begun_ns) / 1e9;
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.transactions[AB_TXN_COMMITTED]++;
    ab_histogram_observe(&lane->durable.transaction_seconds, seconds);
    pthread_mutex_unlock(&lane->counters_lock);
    ab_lane_count_records(lane);
}

void ab_lane_count_offsets(ab_lane_t *lane, bool committed)
{
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.offset_commits[committed ? AB_COMMIT_DONE : AB_COMMIT_FAILED]++;
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_count_trip(ab_lane_t *lane)
{
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.breaker_trips++;
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_count_records(ab_lane_t *lane)
{
    const int64_t now_ms = wall_ms();
    pthread_mutex_lock(&lane->counters_lock);
    ab_counters_t *counters = &lane->durable;
    ab_ledger_add(&counters->ledger, &lane->in_hand);
    ab_tallies_add(&lane->tallies, &lane->tallies_in_hand);
    for (size_t i = 0; i < lane->txn.stamp_count; i++) {
        ab_histogram_observe(&counters->record_age_seconds,
                             (double)(now_ms - lane->txn.stamps_ms[i]) / 1000.0);
    }
    if (ab_ledger_dead_lettered(&lane->in_hand) > 0) {
        counters->last_dead_letter_ms = now_ms;
    }
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_count_abort(ab_lane_t *lane)
{
    const bool fenced = lane->fate > AB_FATE_RECONNECT;
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.transactions[fenced ? AB_TXN_FENCED : AB_TXN_ABORTED] += !lane->plain;
    for (size_t i = 0; i < lane->txn.failure_count; i++) {
        lane->durable.produce_failures[ab_error_cause(lane->txn.failures[i].error)]++;
    }
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_count_rebalance(ab_lane_t *lane, ab_rebalance_t rebalance)
{
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.rebalances[rebalance]++;
    pthread_mutex_unlock(&lane->counters_lock);
}

/* How far the partition is done: what is committed, and behind it what holds no record for us
 * (markers, aborted records, compacted batches), which only the library's position and the end of
 * the log tell. */
static int64_t frontier_of(ab_lane_t *lane, const char *topic, int32_t partition,
                           const ab_part_t *part)
{
    int64_t frontier = part->committed;
    if (part->in_transaction || part->held || lane->need_rewind || part->next > part->committed) {
        return frontier;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *position =
        rd_kafka_topic_partition_list_add(list, topic, partition);
    if (rd_kafka_position(lane->consumer, list) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        position->err == RD_KAFKA_RESP_ERR_NO_ERROR && position->offset > frontier) {
        frontier = position->offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return part->end > frontier ? part->end : frontier;
}

static void show_partition(ab_lane_t *lane, size_t source, int32_t partition,
                           ab_source_status_t *shown)
{
    ab_part_t *part = &lane->parts.sources[source].items[partition];
    const char *topic = lane->config->sources[source].policy.topic;
    const int64_t now_ns = ab_lane_now_ns();
    int64_t low = 0;
    int64_t high = -1;
    shown->assigned += part->state != AB_PART_NONE;
    shown->pending += part->state == AB_PART_PENDING;
    shown->stopped += part->state == AB_PART_STOPPED;
    if (part->state != AB_PART_HELD && part->state != AB_PART_STOPPED) {
        return;
    }
    int64_t lag = 0;
    if (rd_kafka_get_watermark_offsets(lane->consumer, topic, partition, &low, &high) ==
            RD_KAFKA_RESP_ERR_NO_ERROR &&
        high > 0) {
        lag = high - frontier_of(lane, topic, partition, part);
    }
    if (lag <= 0) {
        part->moved_ns = now_ns;
        return;
    }
    shown->lag_records += (uint64_t)lag;
    double age = (double)(now_ns - part->moved_ns) / 1e9;
    /* An open breaker is shown for itself and leaves the process ready: a rollout must be able to
     * bring the fix. */
    shown->stuck += !lane->breakers[source].open &&
                    (now_ns - part->moved_ns) / AB_NS_PER_MS > lane->config->stuck_after_ms;
    if (part->first_ms > 0 && (double)(wall_ms() - part->first_ms) / 1000.0 > age) {
        age = (double)(wall_ms() - part->first_ms) / 1000.0;
    }
    if (age > shown->oldest_unfinished_seconds) {
        shown->oldest_unfinished_seconds = age;
    }
}

void ab_lane_show(ab_lane_t *lane)
{
    const int64_t now_ns = ab_lane_now_ns();
    if (now_ns - lane->shown_ns < (int64_t)SHOW_EVERY_MS * AB_NS_PER_MS) {
        return;
    }
    lane->shown_ns = now_ns;
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        ab_source_status_t shown = {0};
        if (lane->breakers[s].open) {
            shown.open_breakers = 1;
            shown.tripped = lane->breakers[s].tripped;
            shown.tripped_reason = lane->breakers[s].last_reason;
        }
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            if (lane->parts.sources[s].items[p].state != AB_PART_NONE) {
                show_partition(lane, s, p, &shown);
            }
        }
        pthread_mutex_lock(&lane->counters_lock);
        lane->sources_shown[s] = shown;
        pthread_mutex_unlock(&lane->counters_lock);
    }
}

void ab_lane_states(ab_lane_t *lane, ab_state_status_t *ret_states)
{
    pthread_mutex_lock(&lane->counters_lock);
    for (size_t t = 0; lane->config->answers && t < lane->config->state_topics.count; t++) {
        ab_state_status_add(&ret_states[t], &lane->state_shown[t]);
    }
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_tallies(ab_lane_t *lane, ab_tallies_t *tallies)
{
    pthread_mutex_lock(&lane->counters_lock);
    ab_tallies_add(tallies, &lane->tallies);
    pthread_mutex_unlock(&lane->counters_lock);
}

void ab_lane_status(ab_lane_t *lane, ab_lane_status_t *ret_status, ab_source_status_t *ret_sources)
{
    const int64_t tick_ns = atomic_load_explicit(&lane->tick_ns, memory_order_relaxed);
    ret_status->phase = (ab_phase_t)atomic_load_explicit(&lane->phase, memory_order_relaxed);
    ret_status->joined = atomic_load_explicit(&lane->joined, memory_order_relaxed);
    ret_status->inflight_bytes = atomic_load_explicit(&lane->inflight_shown, memory_order_relaxed);
    ret_status->tick_seconds = tick_ns == 0 ? 0 : (double)(ab_lane_now_ns() - tick_ns) / 1e9;
    pthread_mutex_lock(&lane->counters_lock);
    ret_status->counters = lane->durable;
    for (size_t s = 0; s < lane->config->source_count; s++) {
        ab_source_status_add(&ret_sources[s], &lane->sources_shown[s]);
    }
    pthread_mutex_unlock(&lane->counters_lock);
}
