#include "bridge/kafka/lane_answer.h"
#include "bridge/kafka/lane_state.h"

#include <stdio.h>
#include <string.h>

#include "bridge/kafka/message.h"

/* Longest wait for a record: how soon a stop is seen. */
#define POLL_MAX_MS 50
/* The producer's reports are served after so many records at the latest. */
#define SERVE_EVERY 64u
/* About what a barrier takes to be told: it is asked for so long before a transaction may begin,
 * and covers what has come by then. */
#define BARRIER_NS AB_NS_PER_MS
/* A transaction with answers takes no request that needs another barrier when it is so old. */
#define ANSWERS_MAX_NS (2 * AB_NS_PER_MS)

/* False when memory is short: the transaction is given up, and the record comes again. */
static bool decide(ab_lane_t *lane, const ab_record_t *record, int source,
                   ab_verdict_t *ret_verdict)
{
    aw_arena_reset(lane->scratch);
    if (ab_verdict_of(record, &lane->config->sources[source].policy, lane->scratch, ret_verdict) !=
        AW_OK) {
        ab_lane_come_again(lane);
        return false;
    }
    if (lane->headers_unreadable && ret_verdict->outcome == AB_OUTCOME_ROUTED) {
        /* It cannot be forwarded as it came. */
        ab_verdict_reject(ret_verdict, AB_TEXT_HEADERS_UNREADABLE);
    }
    return true;
}

/* Somebody waits for what the transaction holds: it is committed as soon as no record is at hand.
 * To wait for a pause between records would take as long as they come without one. */
static bool is_waited_for(const ab_lane_t *lane)
{
    return lane->txn.open && lane->txn.answers && !lane->plain;
}

/* Lets the markers of a transaction with answers be written before the next one begins, or stops so
 * long before that. */
static void rest(ab_lane_t *lane, int64_t before_ns)
{
    const int64_t left = lane->last_commit_ns + lane->rest_ns - before_ns - ab_lane_now_ns();
    if (!lane->plain && !lane->txn.open && lane->txn.answers && left > 0) {
        rd_kafka_poll(lane->producer, (int)((left + AB_NS_PER_MS - 1) / AB_NS_PER_MS));
    }
}

/* Commits what is open before this record is taken. Its partition as it is afterwards: a long
 * commit polls, and a rebalance may change it. NULL when the record cannot be taken now. */
static ab_part_t *commit_before(ab_lane_t *lane, const ab_record_t *record, int source)
{
    if (!ab_lane_commit(lane)) {
        return NULL;
    }
    ab_part_t *part = ab_parts_get(&lane->parts, source, record->partition);
    return part->state == AB_PART_HELD && !lane->need_rewind ? part : NULL;
}

static void take_record(ab_lane_t *lane, rd_kafka_message_t *message, int source, ab_part_t *part)
{
    ab_record_t record;
    ab_verdict_t verdict;
    lane->headers_unreadable =
        !ab_message_view(message, lane->config->sources[source].policy.topic, &record);
    const ab_poison_entry_t *entry =
        ab_poison_find(&lane->poison, source, record.partition, record.offset);
    const bool suspect = entry != NULL && entry->suspect;
    if (!decide(lane, &record, source, &verdict)) {
        return;
    }
    if (verdict.outcome == AB_OUTCOME_ANSWERED) {
        if (is_waited_for(lane) && ab_lane_now_ns() - lane->txn.begun_ns > ANSWERS_MAX_NS &&
            ab_answers_ask_ahead(lane, source, record.partition, record.offset) &&
            (part = commit_before(lane, &record, source)) == NULL) {
            return;
        }
        rest(lane, BARRIER_NS);
        if (!ab_answers_take(lane, message, &record, source, part, &verdict)) {
            return; /* it waits, or comes again */
        }
    }
    if (lane->txn.open && lane->txn.suspect != suspect &&
        (part = commit_before(lane, &record, source)) == NULL) {
        return;
    }
    rest(lane, 0);
    if (!lane->txn.open && !ab_lane_begin(lane)) {
        return;
    }
    lane->txn.suspect = suspect;
    if (lane->plain && !ab_plain_open(lane, part, &record)) {
        return;
    }
    if (!ab_lane_send(lane, message, &record, &verdict, source)) {
        return; /* the transaction is broken: the loop aborts it */
    }
    part->next = record.offset + 1;
    lane->txn.records++;
    lane->txn.answers |= verdict.outcome == AB_OUTCOME_ANSWERED;
    lane->last_record_ns = ab_lane_now_ns();
    ab_lane_judge(lane, source, part, record.offset, verdict.reason);
    if (lane->plain) {
        ab_plain_settle(lane, source, part, &record, &verdict);
        return;
    }
    ab_lane_count(lane, source, record.partition, &verdict);
    lane->in_hand.without_source += lane->without_source;
    lane->in_hand.timestamp_zero += lane->timestamp_zero;
    if (!part->in_transaction && record.timestamp_type != AB_TIMESTAMP_NONE) {
        part->first_ms = record.timestamp_ms;
    }
    part->in_transaction = true;
    if (record.timestamp_type != AB_TIMESTAMP_NONE) {
        ab_lane_note_stamp(lane, record.timestamp_ms);
    }
}

void ab_lane_take(ab_lane_t *lane, rd_kafka_message_t *message, int source, ab_part_t *part)
{
    lane->record_in_hand = true;
    take_record(lane, message, source, part);
    lane->record_in_hand = false;
    part = ab_parts_get(&lane->parts, source, message->partition); /* a rebalance may move it */
    if (part->next <= message->offset && !part->held && !lane->txn.broken &&
        lane->fate == AB_FATE_GO) {
        lane->need_rewind = true; /* it was not decided: it must come again */
    }
}

static void count_stale(ab_lane_t *lane)
{
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.ledger.stale++;
    pthread_mutex_unlock(&lane->counters_lock);
}

/* The log was read to its end: whatever lies before holds nothing more for us. */
static void on_end(ab_lane_t *lane, const rd_kafka_message_t *message, int source)
{
    ab_part_t *part = ab_parts_get(&lane->parts, source, message->partition);
    if (part != NULL && part->state == AB_PART_HELD && message->offset >= part->next) {
        part->end = message->offset;
    }
}

static int source_of(ab_lane_t *lane, const rd_kafka_message_t *message)
{
    return message->rkt != NULL ? ab_parts_source(&lane->parts, rd_kafka_topic_name(message->rkt))
                                : -1;
}

static void on_consumer_error(ab_lane_t *lane, const rd_kafka_message_t *message, int source)
{
    const char *topic = message->rkt != NULL ? rd_kafka_topic_name(message->rkt) : NULL;
    const ab_part_t *part = ab_parts_get(&lane->parts, source, message->partition);
    switch (ab_error_of_consumer(message->err)) {
    case AB_ACTION_NONE:
        on_end(lane, message, source);
        break;
    case AB_ACTION_GAP:
        if (source >= 0) {
            ab_lane_on_gap(lane, source, message->partition, message->offset);
        }
        break;
    case AB_ACTION_STOP:
        if (part != NULL && part->state == AB_PART_HELD) {
            ab_lane_stop_partition(
                lane, source, message->partition,
                "the partition holds damaged data; it stands still until an operator "
                "decides. Check the brokers' logs, or move the group's offset past it",
                rd_kafka_err2name(message->err));
        }
        break;
    case AB_ACTION_FATAL:
        ab_lane_fatal(lane, message->err, rd_kafka_message_errstr(message));
        break;
    default:
        if (ab_error_is_denied(message->err)) {
            ab_lane_denied(lane, message->err);
        } else if (ab_lane_may_say(lane)) {
            const ab_field_t fields[] = {AB_TEXT("topic", topic),
                                         AB_TEXT("error", rd_kafka_err2name(message->err)),
                                         AB_TEXT("text", rd_kafka_message_errstr(message))};
            ab_lane_emit(lane, AB_LEVEL_WARNING, "consumer_error",
                         "the consumer reports trouble; it goes on by itself when that ends",
                         fields, 3);
        }
        break;
    }
}

void ab_lane_discard(ab_lane_t *lane, rd_kafka_message_t *message)
{
    if (message == NULL) {
        return;
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        lane->need_rewind = true;
    } else {
        on_consumer_error(lane, message, source_of(lane, message));
    }
    rd_kafka_message_destroy(message);
}

static void on_message(ab_lane_t *lane, rd_kafka_message_t *message)
{
    const int source = source_of(lane, message);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        on_consumer_error(lane, message, source);
        return;
    }
    ab_part_t *part = ab_parts_get(&lane->parts, source, message->partition);
    if (part == NULL || part->state != AB_PART_HELD || message->offset < part->next || part->held) {
        count_stale(lane);
        return;
    }
    if (ab_lane_is_held_back(lane, source)) {
        lane->need_rewind = true; /* fetched before the pause: it comes again */
        return;
    }
    ab_lane_take(lane, message, source, part);
}

/* ---- when to commit ---- */

/* Nanoseconds until the open transaction is due; 0 or less: now. */
static int64_t due_in_ns(const ab_lane_t *lane, int64_t now)
{
    const ab_txn_t *txn = &lane->txn;
    const ab_config_t *config = lane->config;
    uint64_t most = config->commit_records;
    if (txn->suspect && lane->run_max < most) {
        most = lane->run_max;
    }
    if (txn->records >= most || txn->bytes >= config->commit_size_bytes) {
        return 0;
    }
    const int64_t quiet = lane->last_record_ns + (int64_t)AB_QUIET_MS * AB_NS_PER_MS;
    const int64_t spaced = lane->last_commit_ns + (int64_t)AB_COMMIT_GAP_MS * AB_NS_PER_MS;
    const int64_t idle = quiet > spaced ? quiet : spaced;
    const int64_t interval = txn->begun_ns + (int64_t)config->commit_interval_ms * AB_NS_PER_MS;
    return (idle < interval ? idle : interval) - now;
}

static int poll_ms(const ab_lane_t *lane, int64_t now)
{
    int64_t wait_ns = (int64_t)POLL_MAX_MS * AB_NS_PER_MS;
    if (is_waited_for(lane)) {
        return 0;
    }
    if (lane->txn.open && !lane->plain && due_in_ns(lane, now) < wait_ns) {
        wait_ns = due_in_ns(lane, now);
    }
    if (wait_ns <= 0) {
        return 0;
    }
    return (int)((wait_ns + AB_NS_PER_MS - 1) / AB_NS_PER_MS);
}

/* ---- facts that change while running ---- */

static void adopt_facts(ab_lane_t *lane)
{
    int32_t largest, smallest;
    lane->facts_version = ab_topics_version(lane->shared->topics);
    for (size_t i = 0; i < lane->topic_count; i++) {
        lane->facts[i] = ab_topics_get(lane->shared->topics, i);
    }
    ab_topics_limits(lane->shared->topics, &largest, &smallest);
    if (largest > lane->largest_limit || smallest < lane->smallest_limit) {
        /* The producer was made for other limits: it would refuse what the topic takes, or batch
         * past it. */
        ab_lane_emit(lane, AB_LEVEL_INFO, "limits_changed",
                     "an output's max.message.bytes changed; the lane reconnects", NULL, 0);
        ab_lane_end(lane, AB_FATE_RECONNECT, 0);
    }
}

/* Waiting out trouble: reports and rebalances are served, records are not taken. */
static void wait_out(ab_lane_t *lane)
{
    rd_kafka_poll(lane->producer, POLL_MAX_MS);
    ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, 0));
    lane->last_poll_ns = ab_lane_now_ns();
}

static void serve_producer(ab_lane_t *lane, unsigned *count, bool idle)
{
    if (idle || ++*count >= SERVE_EVERY) {
        rd_kafka_poll(lane->producer, 0);
        *count = 0;
    }
}

/* One turn with nothing in the way: poll, decide, commit when due. */
static void turn(ab_lane_t *lane, int64_t now, unsigned *served)
{
    ab_answers_release(lane);
    rd_kafka_message_t *message =
        rd_kafka_consumer_poll(lane->consumer, ab_answers_patience_ms(lane, poll_ms(lane, now)));
    lane->last_poll_ns = now;
    lane->idle = message == NULL;
    serve_producer(lane, served, message == NULL);
    if (message != NULL) {
        on_message(lane, message);
        if (!ab_answers_holds(lane, message)) {
            rd_kafka_message_destroy(message);
        }
    }
    if (lane->plain) {
        ab_plain_turn(lane, message == NULL);
        return;
    }
    if (!lane->txn.open || lane->fate == AB_FATE_REBUILD || lane->fate == AB_FATE_TIMED_OUT ||
        lane->fate == AB_FATE_DENIED) {
        return;
    }
    if (lane->txn.broken || lane->txn.failure_count > 0) {
        ab_lane_abort(lane);
    } else if ((message == NULL && is_waited_for(lane)) || due_in_ns(lane, ab_lane_now_ns()) <= 0) {
        (void)ab_lane_commit(lane);
    }
}

void ab_lane_loop(ab_lane_t *lane)
{
    unsigned served = 0;
    adopt_facts(lane);
    while (lane->fate == AB_FATE_GO && !ab_lane_stopping(lane)) {
        const int64_t now = ab_lane_now_ns();
        const bool waiting = now < lane->backoff_until_ns || lane->need_rewind;
        ab_lane_tick(lane, !lane->had_assignment ? AB_PHASE_JOINING
                           : waiting             ? AB_PHASE_WAITING
                                                 : AB_PHASE_RUNNING);
        ab_lane_show(lane);
        ab_answers_serve(lane);
        if (ab_plain_failing(lane)) {
            ab_plain_serve(lane);
        } else if (now < lane->backoff_until_ns) {
            wait_out(lane);
        } else if (lane->need_rewind && lane->txn.open) {
            /* Records were thrown away under an open transaction: what it holds is whole, so it may
             * stand. */
            (void)ab_lane_commit(lane);
        } else if (lane->need_rewind) {
            ab_lane_rewind(lane);
        } else if (lane->parts.pending > 0 && now >= lane->next_resolve_ns) {
            if (ab_lane_commit(lane)) {
                ab_lane_resolve(lane);
            }
        } else if (lane->facts_version != ab_topics_version(lane->shared->topics)) {
            adopt_facts(lane);
        } else if (lane->inflight_bytes > lane->config->memory_per_lane_bytes) {
            /* Back-pressure is not consuming (rule 9). */
            rd_kafka_poll(lane->producer, 10);
            if (lane->plain) {
                ab_plain_turn(lane, true);
            } else if (lane->txn.broken || lane->txn.failure_count > 0) {
                ab_lane_abort(lane);
            }
        } else {
            if (lane->breakers_open > 0) {
                ab_lane_probe(lane);
            }
            turn(lane, now, &served);
        }
    }
}
