#include "bridge/kafka/lane_answer.h"
#include "bridge/kafka/lane_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sleep between two tries of a call that answers "retriable" at once. */
#define RETRY_MIN_MS 20u
#define RETRY_MAX_MS 250u
/* The consumer is polled at least this often during a long commit, far below max.poll.interval.ms.
 */
#define POLL_EVERY_MS 20000
/* How long a rewind tries before the handles are built anew. */
#define REWIND_MAX_MS 30000

typedef enum txn_call { CALL_OFFSETS, CALL_COMMIT, CALL_ABORT } txn_call_t;

static const char *const call_names[] = {"send_offsets", "commit", "abort"};

static rd_kafka_error_t *do_call(ab_lane_t *lane, txn_call_t call,
                                 const rd_kafka_topic_partition_list_t *offsets,
                                 const rd_kafka_consumer_group_metadata_t *metadata)
{
    switch (call) {
    case CALL_OFFSETS:
        return rd_kafka_send_offsets_to_transaction(lane->producer, offsets, metadata, AB_CALL_MS);
    case CALL_COMMIT:
        return rd_kafka_commit_transaction(lane->producer, AB_CALL_MS);
    case CALL_ABORT:
    default:
        return rd_kafka_abort_transaction(lane->producer, AB_CALL_MS);
    }
}

/* A long wait must not cost the membership. A record that comes meanwhile has lost its place: the
 * positions are taken anew afterwards. */
void ab_lane_keep_membership(ab_lane_t *lane)
{
    const int64_t now = ab_lane_now_ns();
    if (lane->in_callback || now - lane->last_poll_ns < (int64_t)POLL_EVERY_MS * AB_NS_PER_MS) {
        return;
    }
    lane->last_poll_ns = now;
    ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, 0));
}

static void say_trouble(ab_lane_t *lane, txn_call_t call, const rd_kafka_error_t *error,
                        ab_action_t action)
{
    const ab_field_t fields[] = {AB_TEXT("call", call_names[call]),
                                 AB_TEXT("error", rd_kafka_error_name(error)),
                                 AB_TEXT("text", rd_kafka_error_string(error))};
    if (ab_error_is_denied(rd_kafka_error_code(error))) {
        ab_lane_denied(lane, rd_kafka_error_code(error));
    }
    if (lane->txn.denied || lane->txn.unknown_topic) {
        return; /* what fails after it fails because of it */
    }
    lane->txn.unknown_topic = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (action == AB_ACTION_RETRY) {
        if (ab_lane_may_say(lane)) {
            ab_lane_emit(lane, AB_LEVEL_WARNING, "transaction_waits",
                         "the brokers do not answer a transaction's call; trying again", fields, 3);
        }
        return;
    }
    ab_lane_emit(lane, AB_LEVEL_WARNING, "transaction_failed",
                 "a transaction's call failed; it is aborted and its records are read again",
                 fields, 3);
}

/* The same call again while it is retriable, nothing else on the producer in between. A begun
 * commit is never followed by an abort; the watchdog of the process bounds a stop that meets this.
 */
static ab_action_t call_until_settled(ab_lane_t *lane, txn_call_t call,
                                      const rd_kafka_topic_partition_list_t *offsets,
                                      const rd_kafka_consumer_group_metadata_t *metadata)
{
    unsigned pause_ms = RETRY_MIN_MS;
    for (;;) {
        rd_kafka_error_t *error = do_call(lane, call, offsets, metadata);
        const ab_action_t action = ab_error_of_transaction(error);
        if (action == AB_ACTION_NONE) {
            return action;
        }
        say_trouble(lane, call, error, action);
        if (action == AB_ACTION_FATAL) {
            ab_lane_fatal(lane, rd_kafka_error_code(error), rd_kafka_error_string(error));
        }
        rd_kafka_error_destroy(error);
        if (action != AB_ACTION_RETRY) {
            return action;
        }
        ab_lane_keep_membership(lane);
        ab_lane_tick(lane, AB_PHASE_WAITING);
        ab_lane_sleep_ms(pause_ms);
        pause_ms = pause_ms * 2 < RETRY_MAX_MS ? pause_ms * 2 : RETRY_MAX_MS;
    }
}

void ab_lane_member(ab_lane_t *lane, char *ret_member, size_t room)
{
    char *id = rd_kafka_memberid(lane->consumer);
    snprintf(ret_member, room, "%s", id != NULL ? id : "");
    if (id != NULL) {
        rd_kafka_mem_free(lane->consumer, id);
    }
}

bool ab_lane_begin(ab_lane_t *lane)
{
    ab_txn_t *txn = &lane->txn;
    ab_lane_member(lane, txn->member, sizeof(txn->member));
    if (txn->member[0] == '\0') {
        /* The membership was lost; what comes now belongs to somebody else. */
        lane->need_rewind = true;
        return false;
    }
    rd_kafka_error_t *error = lane->plain ? NULL : rd_kafka_begin_transaction(lane->producer);
    if (error != NULL) {
        const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
        if (ab_error_of_transaction(error) == AB_ACTION_FATAL) {
            ab_lane_fatal(lane, code, rd_kafka_error_string(error));
        } else {
            /* _STATE: librdkafka is still in a transaction that this lane has closed. */
            ab_lane_abort(lane);
        }
        rd_kafka_error_destroy(error);
        lane->need_rewind = true;
        return false;
    }
    txn->open = true;
    txn->broken = false;
    txn->revoked = false;
    txn->answers = false;
    txn->suspect = false;
    txn->denied = false;
    txn->unknown_topic = false;
    txn->records = 0;
    txn->bytes = 0;
    txn->failure_count = 0;
    txn->stamp_count = 0;
    txn->begun_ns = ab_lane_now_ns();
    return true;
}

/* How long the markers take to be written when the call of the commit took so long. */
static int64_t rest_after(int64_t took_ns)
{
    const int64_t least = (int64_t)AB_REST_MIN_MS * AB_NS_PER_MS;
    const int64_t most = (int64_t)AB_REST_MAX_MS * AB_NS_PER_MS;
    if (took_ns >= most / AB_REST_FACTOR) {
        return most;
    }
    return took_ns * AB_REST_FACTOR > least ? took_ns * AB_REST_FACTOR : least;
}

/* Offsets into the transaction, then commit. The member must be the one that began (rule 3). */
static bool finish(ab_lane_t *lane, rd_kafka_topic_partition_list_t *offsets)
{
    char member[sizeof(lane->txn.member)];
    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata(lane->consumer);
    ab_lane_member(lane, member, sizeof(member));
    if (metadata == NULL || member[0] == '\0' || strcmp(member, lane->txn.member) != 0) {
        rd_kafka_consumer_group_metadata_destroy(metadata);
        return false;
    }
    ab_action_t action = call_until_settled(lane, CALL_OFFSETS, offsets, metadata);
    rd_kafka_consumer_group_metadata_destroy(metadata);
    if (action != AB_ACTION_NONE || lane->txn.revoked) {
        return false;
    }
    const int64_t begun = ab_lane_now_ns();
    action = call_until_settled(lane, CALL_COMMIT, NULL, NULL);
    lane->rest_ns = rest_after(ab_lane_now_ns() - begun);
    return action == AB_ACTION_NONE;
}

static rd_kafka_topic_partition_list_t *offsets_of_transaction(ab_lane_t *lane)
{
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(8);
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            const ab_part_t *part = &lane->parts.sources[s].items[p];
            if (part->in_transaction) {
                rd_kafka_topic_partition_list_add(offsets, lane->config->sources[s].policy.topic, p)
                    ->offset = part->next;
            }
        }
    }
    /* The library's position is used for one thing only: it has passed the transaction markers
     * behind the last record, which lets the lag reach 0. It counts only where it is ahead, and
     * only when every record it has passed was decided: not with one in hand, and not after one was
     * thrown away. */
    if (lane->record_in_hand || lane->need_rewind) {
        return offsets;
    }
    ab_lane_pass_markers(lane, offsets);
    return offsets;
}

void ab_lane_pass_markers(ab_lane_t *lane, rd_kafka_topic_partition_list_t *offsets)
{
    rd_kafka_topic_partition_list_t *positions = rd_kafka_topic_partition_list_copy(offsets);
    if (rd_kafka_position(lane->consumer, positions) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; i < offsets->cnt; i++) {
            const int source = ab_parts_source(&lane->parts, offsets->elems[i].topic);
            if (ab_parts_get(&lane->parts, source, offsets->elems[i].partition)->held) {
                continue; /* the position is behind the request that waits */
            }
            if (positions->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
                positions->elems[i].offset > offsets->elems[i].offset) {
                offsets->elems[i].offset = positions->elems[i].offset;
            }
        }
    }
    rd_kafka_topic_partition_list_destroy(positions);
}

/* Waits until every record has its delivery report. They fail by message.timeout.ms at the latest.
 */
bool ab_lane_flush(ab_lane_t *lane)
{
    const int64_t begun = ab_lane_now_ns();
    const int64_t patience = (int64_t)lane->config->shutdown_timeout_ms / 2 * AB_NS_PER_MS;
    while (rd_kafka_flush(lane->producer, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (lane->txn.failure_count > 0 || lane->txn.broken || lane->fate != AB_FATE_GO) {
            return false;
        }
        if (ab_lane_stopping(lane) && ab_lane_now_ns() - begun > patience) {
            ab_lane_end(lane, AB_FATE_EXIT, 75);
            return false;
        }
        ab_lane_keep_membership(lane);
        ab_lane_tick(lane, AB_PHASE_WAITING);
    }
    return lane->txn.failure_count == 0 && !lane->txn.broken && lane->fate == AB_FATE_GO;
}

void ab_lane_close_transaction(ab_lane_t *lane)
{
    lane->txn.open = false;
    lane->txn.failure_count = 0;
    ab_lane_count_nothing(lane);
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            lane->parts.sources[s].items[p].in_transaction = false;
        }
    }
}

void ab_lane_trust(ab_lane_t *lane)
{
    if (lane->txn.suspect) {
        lane->run_max = lane->run_max * 2 < lane->config->commit_records
                            ? lane->run_max * 2
                            : lane->config->commit_records;
    }
}

/* The transaction is durable: so is what it counted. */
static void settle(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *offsets)
{
    ab_lane_count_commit(lane);
    atomic_store(&lane->shared->has_worked, true);
    for (int i = 0; i < offsets->cnt; i++) {
        const int source = ab_parts_source(&lane->parts, offsets->elems[i].topic);
        ab_part_t *part = ab_parts_get(&lane->parts, source, offsets->elems[i].partition);
        if (part != NULL && part->state == AB_PART_HELD) {
            part->next = offsets->elems[i].offset;
            part->committed = part->next;
            part->moved_ns = ab_lane_now_ns();
            part->first_ms = 0;
        }
        ab_poison_forget(&lane->poison, source, offsets->elems[i].partition,
                         offsets->elems[i].offset);
    }
    ab_lane_trust(lane);
    lane->last_commit_ns = ab_lane_now_ns();
    lane->backoff_ms = 0;
}

bool ab_lane_commit(ab_lane_t *lane)
{
    if (!lane->txn.open) {
        return true;
    }
    if (lane->plain) {
        return ab_plain_drain(lane);
    }
    lane->committing = true;
    bool committed = false;
    if (ab_lane_flush(lane)) {
        rd_kafka_topic_partition_list_t *offsets = offsets_of_transaction(lane);
        committed = finish(lane, offsets);
        if (committed) {
            settle(lane, offsets);
            ab_lane_close_transaction(lane);
        }
        rd_kafka_topic_partition_list_destroy(offsets);
    }
    lane->committing = false;
    if (!committed) {
        ab_lane_abort(lane);
    }
    return committed;
}

bool ab_lane_pin(ab_lane_t *lane, rd_kafka_topic_partition_list_t *offsets)
{
    if (lane->plain) {
        return ab_plain_commit_list(lane, offsets);
    }
    if (!ab_lane_begin(lane)) {
        return false;
    }
    lane->committing = true;
    const bool committed = finish(lane, offsets);
    lane->committing = false;
    if (!committed) {
        ab_lane_abort(lane);
        return false;
    }
    lane->txn.open = false;
    lane->last_commit_ns = ab_lane_now_ns();
    return true;
}

static void back_off(ab_lane_t *lane)
{
    lane->backoff_ms = lane->backoff_ms == 0 ? AB_BACKOFF_MIN_MS : lane->backoff_ms * 2;
    if (lane->backoff_ms > AB_BACKOFF_MAX_MS) {
        lane->backoff_ms = AB_BACKOFF_MAX_MS;
    }
    lane->backoff_until_ns = ab_lane_now_ns() + (int64_t)lane->backoff_ms * AB_NS_PER_MS;
}

void ab_lane_come_again(ab_lane_t *lane)
{
    lane->txn.broken = lane->txn.open;
    lane->need_rewind = true;
    if (!lane->txn.open) {
        back_off(lane); /* an abort does it by itself */
    }
}

/* A refused record alone in its transaction is to blame; of several, all are suspects and run again
 * in transactions of half the size (rule 7). */
void ab_lane_learn_refusals(ab_lane_t *lane)
{
    ab_txn_t *txn = &lane->txn;
    size_t refused = 0;
    bool trouble = false;
    for (size_t i = 0; i < txn->failure_count; i++) {
        const ab_failure_t *failure = &txn->failures[i];
        if (ab_error_of_delivery(failure->error) != AB_ACTION_POISON) {
            trouble = true;
            continue;
        }
        refused++;
        ab_poison_entry_t *entry = ab_poison_add(&lane->poison, failure->sent.source,
                                                 failure->sent.partition, failure->sent.offset);
        if (entry == NULL) {
            continue;
        }
        entry->suspect = true;
        if (txn->records == 1) {
            ab_poison_demote(entry, failure->sent.output, failure->error);
        }
    }
    if (refused > 0) {
        const uint64_t half = (txn->suspect || refused > txn->records ? txn->records : refused) / 2;
        lane->run_max = half > 0 ? half : 1;
    }
    /* Limits, partitions, or whether the topic is there at all may have changed. */
    atomic_store(&lane->shared->refresh_topics, true);
    /* The transaction after a refused batch always fails once more (OUT_OF_ORDER_SEQUENCE_NUMBER):
     * that is the broker's way, and nothing to wait for. */
    if (trouble || (refused == 0 && !lane->after_refusal)) {
        back_off(lane);
    }
    lane->after_refusal = refused > 0;
    if (txn->failure_count > 0 && ab_error_is_denied(txn->failures[0].error)) {
        ab_lane_denied(lane, txn->failures[0].error);
    } else if (txn->failure_count > 0) {
        const rd_kafka_resp_err_t error = txn->failures[0].error;
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(error)),
                                     AB_NUMBER("records", txn->records),
                                     AB_NUMBER("failed", txn->failure_count)};
        ab_lane_emit(lane, refused > 0 ? AB_LEVEL_INFO : AB_LEVEL_WARNING, "transaction_aborted",
                     refused > 0
                         ? "an output refused a batch; its records run again in smaller ones"
                         : "records could not be delivered; they are read again",
                     fields, 3);
    }
}

/* A transaction that failed while records were being produced has told nobody why. To begin another
 * is refused with that reason, and changes nothing. */
static void learn_denial(ab_lane_t *lane)
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(lane->producer);
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    if (ab_error_is_denied(code)) {
        ab_lane_denied(lane, code);
    }
}

void ab_lane_abort(ab_lane_t *lane)
{
    if (lane->plain) {
        lane->txn.broken = lane->txn.open;
        return;
    }
    if (lane->txn.open && lane->txn.broken && !lane->txn.denied) {
        learn_denial(lane);
    }
    lane->aborting = true;
    /* A producer with a fatal error has nothing left to abort: the coordinator does it. */
    if (rd_kafka_fatal_error(lane->producer, NULL, 0) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        (void)call_until_settled(lane, CALL_ABORT, NULL, NULL);
    }
    for (int i = 0; i < 100 && lane->inflight_count > 0; i++) {
        rd_kafka_poll(lane->producer, 10);
    }
    if (lane->txn.open) {
        ab_lane_count_abort(lane);
        ab_lane_learn_refusals(lane);
    }
    ab_lane_close_transaction(lane);
    lane->need_rewind = true;
    lane->aborting = false;
}

/* Every partition held, with room for its committed offset. */
static rd_kafka_topic_partition_list_t *held_partitions(const ab_lane_t *lane)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (size_t s = 0; s < lane->parts.source_count; s++) {
        for (int32_t p = 0; p < lane->parts.sources[s].count; p++) {
            if (lane->parts.sources[s].items[p].state == AB_PART_HELD) {
                rd_kafka_topic_partition_list_add(list, lane->config->sources[s].policy.topic, p);
            }
        }
    }
    return list;
}

/* Where the held partitions go on. False while the brokers do not say where the group stands. */
static bool committed_offsets(ab_lane_t *lane, rd_kafka_topic_partition_list_t *list)
{
    if (lane->plain) {
        for (int i = 0; i < list->cnt; i++) {
            const int source = ab_parts_source(&lane->parts, list->elems[i].topic);
            list->elems[i].offset =
                ab_parts_get(&lane->parts, source, list->elems[i].partition)->frontier.offset;
        }
        return true;
    }
    rd_kafka_resp_err_t err = rd_kafka_committed(lane->consumer, list, AB_CALL_MS / 5);
    for (int i = 0; err == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        err = list->elems[i].err;
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR && list->elems[i].offset < 0) {
            /* Every held partition has been pinned: somebody deleted the group's offsets. */
            err = RD_KAFKA_RESP_ERR__NO_OFFSET;
        }
    }
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return true;
    }
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "committed_unknown",
                     "the group's committed offsets cannot be read; trying again", fields, 1);
    }
    if (err == RD_KAFKA_RESP_ERR__NO_OFFSET) {
        ab_lane_end(lane, AB_FATE_RECONNECT, 0);
    }
    return false;
}

static bool seek_all(ab_lane_t *lane, rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_error_t *error = rd_kafka_seek_partitions(lane->consumer, list, -1);
    bool done = error == NULL;
    rd_kafka_error_destroy(error);
    for (int i = 0; done && i < list->cnt; i++) {
        done = list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    return done;
}

bool ab_lane_seek(ab_lane_t *lane, rd_kafka_topic_partition_list_t *list)
{
    const int64_t begun = ab_lane_now_ns();
    while (!seek_all(lane, list)) {
        if (ab_lane_now_ns() - begun > (int64_t)REWIND_MAX_MS * AB_NS_PER_MS) {
            ab_lane_end(lane, AB_FATE_REBUILD, 0);
            return false;
        }
        ab_lane_sleep_ms(RETRY_MIN_MS);
    }
    return true;
}

/* Those of a source that is held back are sought when it is let go. */
static bool seek_unpaused(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *unpaused = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        const int source = ab_parts_source(&lane->parts, one->topic);
        if (!ab_parts_get(&lane->parts, source, one->partition)->paused) {
            rd_kafka_topic_partition_list_add(unpaused, one->topic, one->partition)->offset =
                one->offset;
        }
    }
    const bool done = unpaused->cnt == 0 || ab_lane_seek(lane, unpaused);
    rd_kafka_topic_partition_list_destroy(unpaused);
    return done;
}

void ab_lane_rewind(ab_lane_t *lane)
{
    rd_kafka_topic_partition_list_t *list = held_partitions(lane);
    ab_answers_drop(lane);
    if (list->cnt > 0) {
        if (!committed_offsets(lane, list)) {
            rd_kafka_topic_partition_list_destroy(list);
            /* need_rewind stays: the loop comes back, after looking at stop and rebalances. */
            ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, RETRY_MIN_MS));
            return;
        }
        if (!seek_unpaused(lane, list)) {
            rd_kafka_topic_partition_list_destroy(list);
            return;
        }
        for (int i = 0; i < list->cnt; i++) {
            const int source = ab_parts_source(&lane->parts, list->elems[i].topic);
            ab_part_t *part = ab_parts_get(&lane->parts, source, list->elems[i].partition);
            part->next = list->elems[i].offset;
            part->end = -1;
            if (lane->plain) {
                ab_frontier_reset(&part->frontier, part->next);
            } else {
                part->committed = part->next;
            }
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    lane->need_rewind = false;
}
