#include <stdlib.h>

#include "bridge/kafka/lane_state.h"

/* at_least_once. Records go out as they come; per partition a frontier knows below which offset all
 * is written (bridge/core/frontier.h), and that offset is committed every second. When an output
 * fails, the lane takes nothing more, waits until everything under way is written or has failed,
 * and goes back to the frontiers: so what is written again keeps its order. */

#define COMMIT_EVERY_MS 1000
/* Kafka's numbers of these requests. */
#define JOIN_GROUP 11
#define SYNC_GROUP 14
/* A join whose answer never came, as the connection broke, is not waited for longer. */
#define JOIN_MAX_MS 30000

static int64_t in_ms(int64_t ms)
{
    return ab_lane_now_ns() + ms * AB_NS_PER_MS;
}

/* ---- what is written ---- */

static void count_done(ab_lane_t *lane, int source, int32_t partition, const ab_done_t *done)
{
    const ab_verdict_t verdict = {.outcome = (ab_outcome_t)done->outcome,
                                  .variant = (aw_variant_t)done->variant,
                                  .reason = (ab_reason_t)done->reason,
                                  .keyless = done->keyless};
    ab_lane_count(lane, source, partition, &verdict);
    lane->in_hand.without_source += done->without_source;
    lane->in_hand.timestamp_zero += done->timestamp_zero;
    if (done->has_timestamp) {
        ab_lane_note_stamp(lane, done->timestamp_ms);
    }
}

/* Moves the partition's frontier over what is durable by now. */
static void pass(ab_lane_t *lane, int source, int32_t partition, ab_part_t *part)
{
    ab_done_t done;
    while (ab_frontier_pass(&part->frontier, &done)) {
        count_done(lane, source, partition, &done);
    }
}

void ab_plain_on_delivery(ab_lane_t *lane, const ab_sent_t *sent, rd_kafka_resp_err_t err)
{
    ab_part_t *part = ab_parts_get(&lane->parts, sent->source, sent->partition);
    if (part == NULL || !ab_frontier_knows(&part->frontier, sent->ticket)) {
        return; /* of a partition that was given away meanwhile */
    }
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        (void)ab_frontier_report(&part->frontier, sent->ticket);
        pass(lane, sent->source, sent->partition, part);
        return;
    }
    lane->txn.broken = true; /* whoever is to blame: it is not written */
    if (ab_error_of_delivery(err) != AB_ACTION_NONE) {
        ab_lane_note_failure(lane, sent, err);
    }
}

bool ab_plain_open(ab_lane_t *lane, ab_part_t *part, const ab_record_t *record)
{
    if (ab_frontier_reserve(&part->frontier) != 0) {
        lane->txn.broken = true;
        return false;
    }
    lane->ticket = ab_frontier_add(&part->frontier, record->offset);
    return true;
}

void ab_plain_expect(ab_lane_t *lane, const ab_sent_t *sent)
{
    ab_part_t *part = ab_parts_get(&lane->parts, sent->source, sent->partition);
    ab_frontier_expect(&part->frontier, sent->ticket);
}

void ab_plain_settle(ab_lane_t *lane, int source, ab_part_t *part, const ab_record_t *record,
                     const ab_verdict_t *verdict)
{
    const ab_done_t done = {
        .timestamp_ms = record->timestamp_ms,
        .has_timestamp = record->timestamp_type != AB_TIMESTAMP_NONE,
        .outcome = (uint8_t)verdict->outcome,
        .variant = (uint8_t)verdict->variant,
        .reason = (uint8_t)verdict->reason,
        .keyless = verdict->keyless,
        .without_source = lane->without_source,
        .timestamp_zero = lane->timestamp_zero,
    };
    ab_frontier_settle(&part->frontier, lane->ticket, &done);
    pass(lane, source, record->partition, part);
}

/* What became durable is counted, in one go for many records. */
static void show_done(ab_lane_t *lane)
{
    if (lane->in_hand.consumed > 0) {
        ab_lane_count_records(lane);
        ab_lane_count_nothing(lane);
        lane->txn.stamp_count = 0;
    }
}

/* ---- joining ---- */

/* A broker answers the requests of a connection one by one, and a join as late as the slowest
 * member: a commit that is asked behind it carries a generation that has passed by then, is
 * refused, and costs the membership (ILLEGAL_GENERATION) with all that is not committed. So none is
 * asked between a join and the end of its sync; only interceptors know of these. */

static rd_kafka_resp_err_t on_sent(rd_kafka_t *rk, int socket, const char *broker, int32_t id,
                                   int16_t key, int16_t version, int32_t correlation, size_t size,
                                   void *opaque)
{
    _Atomic int64_t *join_ns = opaque;
    (void)rk;
    (void)socket;
    (void)broker;
    (void)id;
    (void)version;
    (void)correlation;
    (void)size;
    if (key == JOIN_GROUP) {
        atomic_store(join_ns, ab_lane_now_ns());
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_received(rd_kafka_t *rk, int socket, const char *broker, int32_t id,
                                       int16_t key, int16_t version, int32_t correlation,
                                       size_t size, int64_t rtt, rd_kafka_resp_err_t err,
                                       void *opaque)
{
    _Atomic int64_t *join_ns = opaque;
    (void)rk;
    (void)socket;
    (void)broker;
    (void)id;
    (void)version;
    (void)correlation;
    (void)size;
    (void)rtt;
    (void)err;
    if (key == SYNC_GROUP) {
        atomic_store(join_ns, 0);
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque,
                                  char *ret_text, size_t room)
{
    (void)conf;
    (void)ret_text;
    (void)room;
    const rd_kafka_resp_err_t err =
        rd_kafka_interceptor_add_on_request_sent(rk, "joins", on_sent, opaque);
    return err != RD_KAFKA_RESP_ERR_NO_ERROR
               ? err
               : rd_kafka_interceptor_add_on_response_received(rk, "joins", on_received, opaque);
}

void ab_plain_watch_joins(ab_lane_t *lane, rd_kafka_conf_t *conf)
{
    lane->join_ns = lane->plain ? calloc(1, sizeof(*lane->join_ns)) : NULL;
    if (lane->join_ns != NULL) {
        (void)rd_kafka_conf_interceptor_add_on_new(conf, "joins", on_new, (void *)lane->join_ns);
    }
}

static bool is_joining(const ab_lane_t *lane)
{
    const int64_t since = lane->join_ns != NULL ? atomic_load(lane->join_ns) : 0;
    return since != 0 && ab_lane_now_ns() - since < (int64_t)JOIN_MAX_MS * AB_NS_PER_MS;
}

/* ---- committing ---- */

/* Where the group is to stand: the frontiers that are ahead of what is committed. Where nothing is
 * waited for, the library's position may be further, behind transaction markers. */
static rd_kafka_topic_partition_list_t *frontiers(ab_lane_t *lane)
{
    rd_kafka_topic_partition_list_t *ahead = rd_kafka_topic_partition_list_new(8);
    rd_kafka_topic_partition_list_t *quiet = rd_kafka_topic_partition_list_new(8);
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        const char *topic = lane->config->sources[s].policy.topic;
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            const ab_part_t *part = &lane->parts.sources[s].items[p];
            if (part->state != AB_PART_HELD && part->state != AB_PART_STOPPED) {
                continue;
            }
            const bool is_quiet = part->state == AB_PART_HELD && !part->held &&
                                  ab_frontier_waiting(&part->frontier) == 0 &&
                                  !lane->record_in_hand && !lane->need_rewind && !lane->txn.broken;
            if (is_quiet || part->frontier.offset > part->committed) {
                rd_kafka_topic_partition_list_add(is_quiet ? quiet : ahead, topic, p)->offset =
                    part->frontier.offset;
            }
        }
    }
    ab_lane_pass_markers(lane, quiet);
    for (int i = 0; i < quiet->cnt; i++) {
        const rd_kafka_topic_partition_t *found = &quiet->elems[i];
        ab_part_t *part = ab_parts_get(&lane->parts, ab_parts_source(&lane->parts, found->topic),
                                       found->partition);
        if (found->offset > part->next) {
            part->next = found->offset;
            ab_frontier_reset(&part->frontier, part->next);
        }
        if (found->offset > part->committed) {
            rd_kafka_topic_partition_list_add(ahead, found->topic, found->partition)->offset =
                found->offset;
        }
    }
    rd_kafka_topic_partition_list_destroy(quiet);
    return ahead;
}

static void tell_refused(ab_lane_t *lane, rd_kafka_resp_err_t err)
{
    ab_lane_count_offsets(lane, false);
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "offsets_not_committed",
                     "the group's coordinator does not take the offsets; trying again in a second",
                     fields, 1);
    }
}

/* The answer to the commit that was asked for. */
static bool note_answer(ab_lane_t *lane, rd_kafka_event_t *event)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    rd_kafka_resp_err_t err = rd_kafka_event_error(event);
    lane->commit_asked = false;
    for (int i = 0; list != NULL && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *answer = &list->elems[i];
        const int source = ab_parts_source(&lane->parts, answer->topic);
        ab_part_t *part = ab_parts_get(&lane->parts, source, answer->partition);
        if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            err = answer->err;
        } else if (err == RD_KAFKA_RESP_ERR_NO_ERROR && part != NULL &&
                   part->state >= AB_PART_HELD && answer->offset > part->committed) {
            part->committed = answer->offset;
            part->moved_ns = ab_lane_now_ns();
            part->first_ms = 0;
            ab_poison_forget(&lane->poison, source, answer->partition, answer->offset);
        }
    }
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        tell_refused(lane, err);
        return false;
    }
    ab_lane_count_offsets(lane, true);
    atomic_store(&lane->shared->has_worked, true);
    return true;
}

/* Looks for the answer. True when none is waited for any more; ret_good says what it was. */
static bool serve_commits(ab_lane_t *lane, int timeout_ms, bool *ret_good)
{
    rd_kafka_event_t *event =
        lane->commit_asked ? rd_kafka_queue_poll(lane->commits, timeout_ms) : NULL;
    if (event != NULL && rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT) {
        *ret_good = note_answer(lane, event);
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    return !lane->commit_asked;
}

/* Only a member of the group commits: without one, brokers take an offset from anybody as long as
 * the group is empty. */
static bool ask(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *offsets)
{
    char member[256];
    ab_lane_member(lane, member, sizeof(member));
    lane->next_commit_ns = in_ms(COMMIT_EVERY_MS);
    if (member[0] == '\0' || is_joining(lane)) {
        return false;
    }
    const rd_kafka_resp_err_t err =
        rd_kafka_commit_queue(lane->consumer, offsets, lane->commits, NULL, NULL);
    lane->commit_asked = err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!lane->commit_asked) {
        tell_refused(lane, err);
    }
    return lane->commit_asked;
}

/* Waits for the answer, bounded by AB_CALL_MS. */
static bool await_answer(ab_lane_t *lane)
{
    const int64_t until = in_ms(AB_CALL_MS);
    bool good = false;
    while (!serve_commits(lane, 100, &good) && ab_lane_now_ns() < until) {
        ab_lane_tick(lane, AB_PHASE_WAITING);
    }
    return good;
}

bool ab_plain_commit_list(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *offsets)
{
    if (lane->commit_asked) {
        (void)await_answer(lane);
    }
    return !lane->commit_asked && ask(lane, offsets) && await_answer(lane);
}

/* At a stop the place in the group is worth the wait; in the callback of a rebalance there is none.
 */
static void await_join(ab_lane_t *lane)
{
    const int64_t until = in_ms(AB_CALL_MS);
    while (!lane->in_callback && is_joining(lane) && ab_lane_now_ns() < until) {
        ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, 100));
        ab_lane_tick(lane, AB_PHASE_WAITING);
    }
}

bool ab_plain_commit_now(ab_lane_t *lane)
{
    await_join(lane);
    show_done(lane);
    if (lane->commit_asked) {
        (void)await_answer(lane);
    }
    rd_kafka_topic_partition_list_t *offsets = frontiers(lane);
    const bool good = offsets->cnt == 0 || ab_plain_commit_list(lane, offsets);
    rd_kafka_topic_partition_list_destroy(offsets);
    return good;
}

/* ---- turns ---- */

bool ab_plain_failing(const ab_lane_t *lane)
{
    return lane->plain && lane->txn.open && (lane->txn.broken || lane->txn.failure_count > 0);
}

/* Everything that was on its way is written. */
static void close_window(ab_lane_t *lane)
{
    show_done(lane);
    ab_lane_trust(lane);
    lane->txn.open = false;
    lane->backoff_ms = 0;
}

/* In a rebalance the group waits for the answer, so this waits for a while only. What is not
 * written by then will be read again by the partition's next owner. */
static bool flush_for_group(ab_lane_t *lane)
{
    const int64_t until = in_ms(AB_CALL_MS);
    while (lane->inflight_count > 0 && !ab_plain_failing(lane) && ab_lane_now_ns() < until) {
        (void)rd_kafka_flush(lane->producer, 100);
        ab_lane_tick(lane, AB_PHASE_WAITING);
    }
    return lane->inflight_count == 0 && !ab_plain_failing(lane);
}

bool ab_plain_drain(ab_lane_t *lane)
{
    if (!(lane->in_callback ? flush_for_group(lane) : ab_lane_flush(lane))) {
        return false;
    }
    close_window(lane);
    return true;
}

void ab_plain_serve(ab_lane_t *lane)
{
    rd_kafka_poll(lane->producer, 50);
    ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, 0));
    lane->last_poll_ns = ab_lane_now_ns();
    show_done(lane);
    if (lane->inflight_count > 0) {
        return;
    }
    const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(lane->producer, NULL, 0);
    if (fatal != RD_KAFKA_RESP_ERR_NO_ERROR) {
        ab_lane_fatal(lane, fatal, rd_kafka_err2str(fatal));
    }
    ab_lane_count_abort(lane);
    ab_lane_learn_refusals(lane);
    ab_lane_close_transaction(lane);
    lane->need_rewind = true;
}

void ab_plain_turn(ab_lane_t *lane, bool idle)
{
    bool good;
    ab_lane_keep_membership(lane);
    if (ab_plain_failing(lane) || lane->fate != AB_FATE_GO) {
        return;
    }
    if (lane->txn.open && lane->inflight_count == 0) {
        close_window(lane);
    } else if (lane->txn.open && lane->txn.suspect &&
               (idle || lane->txn.records >= lane->run_max)) {
        (void)ab_lane_commit(lane);
    }
    if (!idle && ab_lane_now_ns() < lane->next_commit_ns) {
        return;
    }
    show_done(lane);
    if (serve_commits(lane, 0, &good) && ab_lane_now_ns() >= lane->next_commit_ns &&
        !is_joining(lane)) {
        rd_kafka_topic_partition_list_t *offsets = frontiers(lane);
        lane->next_commit_ns = in_ms(COMMIT_EVERY_MS);
        if (offsets->cnt > 0) {
            (void)ask(lane, offsets);
        }
        rd_kafka_topic_partition_list_destroy(offsets);
    }
}
