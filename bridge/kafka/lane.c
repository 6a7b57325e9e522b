#include "bridge/kafka/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/core/dead_letter.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/lane_answer.h"
#include "bridge/kafka/lane_state.h"
#include "bridge/kafka/relay.h"

/* Three lives lost within this end the process. */
#define FAIL_WINDOW_MS 60000
/* A second fencing by a rival within this ends the process. */
#define RIVAL_WINDOW_MS 600000
#define INIT_CALL_MS    5000
#define CLOSE_MAX_MS    10000
#define RECONNECT_MS    500
#define DENIED_MS       5000
#define FIELDS_ROOM     12u

int64_t ab_lane_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ab_lane_sleep_ms(unsigned ms)
{
    const struct timespec wait = {ms / 1000, (long)(ms % 1000) * AB_NS_PER_MS};
    nanosleep(&wait, NULL);
}

bool ab_lane_stopping(const ab_lane_t *lane)
{
    return atomic_load_explicit(&lane->shared->stop, memory_order_relaxed);
}

void ab_lane_emit(ab_lane_t *lane, ab_level_t level, const char *event, const char *message,
                  const ab_field_t *fields, unsigned count)
{
    ab_field_t all[FIELDS_ROOM];
    unsigned used = 0;
    all[used++] = AB_NUMBER("lane", lane->index);
    for (unsigned i = 0; i < count && used < FIELDS_ROOM; i++) {
        all[used++] = fields[i];
    }
    lane->sink->emit(lane->sink->opaque, level, event, message, all, used);
}

bool ab_lane_may_say(ab_lane_t *lane)
{
    const int64_t now = ab_lane_now_ns();
    if (lane->said_ns != 0 && now - lane->said_ns < (int64_t)AB_SAY_EVERY_MS * AB_NS_PER_MS) {
        return false;
    }
    lane->said_ns = now;
    return true;
}

void ab_lane_end(ab_lane_t *lane, ab_fate_t fate, int exit_code)
{
    if (lane->fate < fate) {
        lane->fate = fate;
        lane->exit_code = exit_code;
    }
}

/* Fenced while a transaction older than its timeout was open: the coordinator gave it up because
 * this process stood still; no rival is needed for that (rule 8). */
static bool stood_still(const ab_lane_t *lane)
{
    return !lane->plain && lane->txn.open &&
           ab_lane_now_ns() - lane->txn.begun_ns >
               (int64_t)lane->config->transaction_timeout_ms * AB_NS_PER_MS;
}

static void on_fenced(ab_lane_t *lane, const ab_field_t *fields)
{
    if (stood_still(lane)) {
        ab_lane_emit(
            lane, AB_LEVEL_WARNING, "transaction_timed_out",
            "the process stood still longer than the transaction's timeout; the lane begins "
            "anew from the committed offsets",
            fields, 2);
        ab_lane_end(lane, AB_FATE_TIMED_OUT, 0);
        return;
    }
    const int64_t now = ab_lane_now_ns();
    /* A member's place is also lost without a rival, so it takes one more to be sure. */
    const unsigned most = lane->plain ? 3 : 2;
    const int64_t window_ms = lane->plain ? FAIL_WINDOW_MS : RIVAL_WINDOW_MS;
    if (lane->rivals > 0 && now - lane->rival_ns > window_ms * AB_NS_PER_MS) {
        lane->rivals = 0;
    }
    lane->rivals++;
    lane->rival_ns = now;
    ab_lane_emit(lane, AB_LEVEL_ERROR, "fenced",
                 "another process uses the same group and instance: give each its own `instance`",
                 fields, 2);
    if (lane->rivals >= most) {
        ab_lane_end(lane, AB_FATE_EXIT, AB_EXIT_FENCED);
    } else {
        ab_lane_end(lane, lane->plain ? AB_FATE_TIMED_OUT : AB_FATE_REBUILD, 0);
    }
}

void ab_lane_denied(ab_lane_t *lane, rd_kafka_resp_err_t err)
{
    lane->txn.denied = true;
    if (!atomic_load(&lane->shared->has_worked)) {
        atomic_store(&lane->shared->denied_early, true);
    }
    atomic_store(&lane->shared->denied, (int)err);
}

/* A transaction whose first partitions were refused, for want of a right or of the topic, was never
 * begun at the broker, which then refuses to end it; librdkafka takes that for fatal. */
static bool ended_unbegun(const ab_lane_t *lane, rd_kafka_resp_err_t cause)
{
    return (lane->txn.denied || lane->txn.unknown_topic) &&
           cause == RD_KAFKA_RESP_ERR_INVALID_TXN_STATE;
}

void ab_lane_fatal(ab_lane_t *lane, rd_kafka_resp_err_t err, const char *text)
{
    char original[256];
    rd_kafka_resp_err_t cause = err;
    rd_kafka_t *const handles[] = {lane->producer, lane->consumer};
    if (lane->fate > AB_FATE_RECONNECT) {
        return; /* said already: one fatal error comes out of several calls */
    }
    for (size_t i = 0; err == RD_KAFKA_RESP_ERR__FATAL && i < 2; i++) {
        const rd_kafka_resp_err_t found =
            handles[i] != NULL ? rd_kafka_fatal_error(handles[i], original, sizeof(original))
                               : RD_KAFKA_RESP_ERR_NO_ERROR;
        if (found != RD_KAFKA_RESP_ERR_NO_ERROR) {
            cause = found;
            text = original;
        }
    }
    const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(cause)), AB_TEXT("text", text)};
    if ((ab_error_is_fenced(cause) && !lane->plain) || stood_still(lane)) {
        on_fenced(lane, fields);
        return;
    }
    if (ab_error_is_denied(cause)) {
        ab_lane_denied(lane, cause);
    }
    if (ab_error_is_denied(cause) || ended_unbegun(lane, cause)) {
        ab_lane_end(lane, AB_FATE_DENIED, 0);
        return;
    }
    if (cause == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && lane->plain) {
        on_fenced(lane, fields);
        return;
    }
    if (cause == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID) {
        /* Brokers that come back after an outage say it without any rival; a real one shows in the
         * transactional id. */
        ab_lane_emit(lane, AB_LEVEL_WARNING, "member_fenced",
                     "the group gave this member's place away: another process of the same "
                     "instance, or brokers that had forgotten it; the lane is built anew",
                     fields, 2);
        ab_lane_end(lane, AB_FATE_TIMED_OUT, 0);
        return;
    }
    ab_lane_emit(lane, AB_LEVEL_ERROR, "lane_failed",
                 "librdkafka reports a fatal error; the lane is built anew", fields, 2);
    ab_lane_end(lane, AB_FATE_REBUILD, 0);
}

/* ---- callbacks of the handles ---- */

/* From any of librdkafka's threads. Its lines name brokers and topics, never payloads. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
    ab_lane_t *lane = rd_kafka_opaque(rk);
    ab_link_hear(&lane->shared->link, facility, line);
    const ab_field_t fields[] = {AB_NUMBER("lane", lane->index),
                                 AB_TEXT("client", rd_kafka_name(rk)),
                                 AB_TEXT("facility", facility), AB_TEXT("text", line)};
    lane->sink->emit(lane->sink->opaque, ab_link_log_level(level, facility), "librdkafka",
                     "librdkafka says", fields, 4);
}

static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t broker_id, int *x509_error,
                          int depth, const char *der, size_t size, char *ret_text, size_t room,
                          void *opaque)
{
    ab_lane_t *lane = opaque;
    (void)rk;
    (void)broker_id;
    (void)depth;
    (void)der;
    (void)size;
    (void)ret_text;
    (void)room;
    return ab_link_certificate(&lane->shared->link, broker, *x509_error);
}

/* It carries no flags, so it only tells; rd_kafka_fatal_error() decides (rule 6). */
static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    ab_lane_t *lane = opaque;
    if (err == RD_KAFKA_RESP_ERR__FATAL) {
        char text[256];
        const rd_kafka_resp_err_t cause = rd_kafka_fatal_error(rk, text, sizeof(text));
        ab_lane_fatal(lane, cause, text);
        return;
    }
    if (err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && rk == lane->consumer) {
        /* A source is gone: what the library does when it comes back is not to be relied on. The
         * offsets in hand may belong to another topic by now. */
        lane->txn.broken = true;
        ab_lane_end(lane, AB_FATE_RECONNECT, 0);
    }
    if (ab_link_note(&lane->shared->link, err, reason) > AB_LINK_UNREACHABLE ||
        err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        ab_link_tell(&lane->shared->link, lane->sink);
    } else if (ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name((rd_kafka_resp_err_t)err)),
                                     AB_TEXT("text", reason)};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "client_error",
                     "a Kafka client reports trouble; it goes on by itself when that ends", fields,
                     2);
    }
}

/* ---- opening and closing a life ---- */

void ab_lane_watch_client(ab_lane_t *lane, rd_kafka_conf_t *conf)
{
    rd_kafka_conf_set_opaque(conf, lane);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    ab_link_watch_certificates(&lane->shared->link, conf, on_certificate);
}

static rd_kafka_t *make_handle(ab_lane_t *lane, ab_role_t role, rd_kafka_type_t type)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = role,
                                   .lane = lane->index,
                                   .message_max_bytes = lane->largest_limit,
                                   .batch_bytes = lane->smallest_limit};
    rd_kafka_t *handle = NULL;
    rd_kafka_conf_t *conf = ab_handle_conf_new(lane->config, &spec, text, &property);
    if (conf != NULL) {
        char compression[32] = "none";
        size_t size = sizeof(compression);
        ab_lane_watch_client(lane, conf);
        if (role == AB_ROLE_CONSUMER) {
            rd_kafka_conf_set_rebalance_cb(conf, ab_lane_on_rebalance);
            ab_plain_watch_joins(lane, conf);
        } else {
            rd_kafka_conf_set_dr_msg_cb(conf, ab_lane_on_delivery);
            (void)rd_kafka_conf_get(conf, "compression.codec", compression, &size);
            lane->compresses = strcmp(compression, "none") != 0;
        }
        handle = rd_kafka_new(type, conf, text, sizeof(text));
        if (handle == NULL) {
            rd_kafka_conf_destroy(conf);
        }
    }
    if (handle == NULL) {
        const ab_field_t fields[] = {AB_TEXT("text", text)};
        ab_lane_emit(lane, AB_LEVEL_ERROR, "client_refused", "librdkafka cannot make a client",
                     fields, 1);
        ab_lane_end(lane, AB_FATE_EXIT, AB_EXIT_CONFIG);
    }
    return handle;
}

/* Ends the transaction that a dead predecessor may have left open, and fences it off. */
static void take_transactional_id(ab_lane_t *lane)
{
    while (lane->fate == AB_FATE_GO && !ab_lane_stopping(lane)) {
        ab_lane_tick(lane, AB_PHASE_STARTING);
        rd_kafka_error_t *error = rd_kafka_init_transactions(lane->producer, INIT_CALL_MS);
        if (error == NULL) {
            return;
        }
        const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
        const ab_action_t action = ab_error_of_transaction(error);
        if (action == AB_ACTION_RETRY) {
            if (ab_lane_may_say(lane)) {
                const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(code)),
                                             AB_TEXT("text", rd_kafka_error_string(error))};
                ab_lane_emit(lane, AB_LEVEL_WARNING, "brokers_unreachable",
                             "the transaction coordinator does not answer; trying again", fields,
                             2);
            }
            ab_lane_sleep_ms(100);
        } else {
            ab_lane_fatal(lane, code, rd_kafka_error_string(error));
        }
        rd_kafka_error_destroy(error);
    }
}

static void subscribe(ab_lane_t *lane)
{
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(4);
    for (size_t s = 0; s < lane->config->source_count; s++) {
        rd_kafka_topic_partition_list_add(topics, lane->config->sources[s].policy.topic,
                                          RD_KAFKA_PARTITION_UA);
    }
    const rd_kafka_resp_err_t err = rd_kafka_subscribe(lane->consumer, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        ab_lane_fatal(lane, err, rd_kafka_err2str(err));
    }
}

static void open_life(ab_lane_t *lane)
{
    ab_topics_limits(lane->shared->topics, &lane->largest_limit, &lane->smallest_limit);
    lane->producer = make_handle(lane, AB_ROLE_PRODUCER, RD_KAFKA_PRODUCER);
    if (lane->producer == NULL) {
        return;
    }
    for (size_t i = 0; i < lane->topic_count; i++) {
        lane->facts[i] = ab_topics_get(lane->shared->topics, i);
        if (lane->facts[i].output) {
            lane->outputs[i] = rd_kafka_topic_new(lane->producer, lane->facts[i].name, NULL);
            if (lane->outputs[i] == NULL) {
                ab_lane_fatal(lane, rd_kafka_last_error(), "an output topic's handle");
                return;
            }
        }
    }
    /* Before the consumer: the offsets of a dead predecessor's transaction are settled by it. */
    if (!lane->plain) {
        take_transactional_id(lane);
    }
    if (lane->fate != AB_FATE_GO || ab_lane_stopping(lane)) {
        return;
    }
    if (!ab_answers_connect(lane)) {
        return;
    }
    lane->consumer = make_handle(lane, AB_ROLE_CONSUMER, RD_KAFKA_CONSUMER);
    if (lane->consumer != NULL) {
        (void)rd_kafka_poll_set_consumer(lane->consumer);
        lane->commits = lane->plain ? rd_kafka_queue_new(lane->consumer) : NULL;
        lane->commit_asked = false;
        subscribe(lane);
    }
}

/* One event of a consumer that is closing: the last revocation is answered, records are thrown
 * away. Not rd_kafka_queue_poll_callback(): it aborts the process when a record is in the queue
 * (2.0.2). */
static void serve_closing(ab_lane_t *lane, rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 100);
    if (event == NULL) {
        return;
    }
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) {
        ab_lane_on_rebalance(lane->consumer, rd_kafka_event_error(event),
                             rd_kafka_event_topic_partition_list(event), lane);
    }
    rd_kafka_event_destroy(event);
}

/* Leaves the group, for a bounded time: closing after a lost partition can hang in old librdkafka.
 */
static void close_consumer(ab_lane_t *lane)
{
    ab_lane_settle_consumer(lane);
    if (lane->had_assignment) {
        const int64_t until = ab_lane_now_ns() + (int64_t)CLOSE_MAX_MS * AB_NS_PER_MS;
        rd_kafka_queue_t *queue = rd_kafka_queue_new(lane->consumer);
        rd_kafka_error_t *error = rd_kafka_consumer_close_queue(lane->consumer, queue);
        while (error == NULL && !rd_kafka_consumer_closed(lane->consumer) &&
               ab_lane_now_ns() < until) {
            serve_closing(lane, queue);
        }
        rd_kafka_error_destroy(error);
        rd_kafka_queue_destroy(queue);
    }
    if (lane->commits != NULL) {
        rd_kafka_queue_destroy(lane->commits);
        lane->commits = NULL;
    }
    ab_lane_destroy_consumer(lane);
}

static void close_life(ab_lane_t *lane)
{
    const bool usable = lane->fate != AB_FATE_REBUILD && lane->fate != AB_FATE_TIMED_OUT &&
                        lane->fate != AB_FATE_DENIED;
    if (lane->txn.open && usable) {
        if (lane->txn.broken || lane->fate == AB_FATE_EXIT) {
            ab_lane_abort(lane);
        } else if (!ab_lane_commit(lane) && ab_lane_stopping(lane)) {
            ab_lane_end(lane, AB_FATE_EXIT, AB_EXIT_TEMPORARY);
        }
    }
    if (lane->plain && lane->consumer != NULL && usable) {
        (void)ab_plain_commit_now(lane);
    }
    lane->txn.open = false;
    lane->txn.failure_count = 0;
    if (lane->consumer != NULL) {
        /* A message that is kept holds its consumer, and whoever destroys that would wait. */
        ab_answers_drop(lane);
        close_consumer(lane);
    }
    ab_answers_disconnect(lane);
    for (size_t i = 0; i < lane->topic_count; i++) {
        if (lane->outputs[i] != NULL) {
            rd_kafka_topic_destroy(lane->outputs[i]);
            lane->outputs[i] = NULL;
        }
    }
    if (lane->producer != NULL) {
        (void)rd_kafka_purge(lane->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                                 RD_KAFKA_PURGE_F_NON_BLOCKING);
        rd_kafka_destroy(lane->producer);
        lane->producer = NULL;
    }
    ab_lane_free_sent(lane);
    ab_lane_count_nothing(lane);
    ab_parts_reset(&lane->parts);
    pthread_mutex_lock(&lane->counters_lock);
    memset(lane->sources_shown, 0, lane->config->source_count * sizeof(*lane->sources_shown));
    memset(lane->state_shown, 0, sizeof(lane->state_shown));
    pthread_mutex_unlock(&lane->counters_lock);
    ab_poison_clear(&lane->poison);
    lane->had_assignment = false;
    lane->need_rewind = false;
    lane->backoff_until_ns = 0;
}

/* ---- from life to life ---- */

static void rest(ab_lane_t *lane, unsigned ms)
{
    for (; ms > 0 && !ab_lane_stopping(lane); ms -= ms < 50 ? ms : 50) {
        ab_lane_tick(lane, AB_PHASE_RESTARTING);
        ab_lane_sleep_ms(ms < 50 ? ms : 50);
    }
}

/* True when this is the third life lost within the window. */
static bool too_many_failures(ab_lane_t *lane)
{
    const int64_t now = ab_lane_now_ns();
    memmove(&lane->failed_ns[0], &lane->failed_ns[1], 2 * sizeof(lane->failed_ns[0]));
    lane->failed_ns[2] = now;
    return lane->failed_ns[0] != 0 &&
           now - lane->failed_ns[0] < (int64_t)FAIL_WINDOW_MS * AB_NS_PER_MS;
}

static bool next_life(ab_lane_t *lane)
{
    switch (lane->fate) {
    case AB_FATE_GO: /* stopped */
    case AB_FATE_EXIT:
        return false;
    case AB_FATE_RECONNECT:
    case AB_FATE_TIMED_OUT:
        rest(lane, RECONNECT_MS);
        break;
    case AB_FATE_DENIED:
        rest(lane, DENIED_MS);
        break;
    case AB_FATE_REBUILD:
    default:
        if (too_many_failures(lane)) {
            ab_lane_emit(lane, AB_LEVEL_ERROR, "lane_given_up",
                         "three failures within a minute: the process ends", NULL, 0);
            lane->exit_code = AB_EXIT_FATAL;
            return false;
        }
        lane->backoff_ms = lane->backoff_ms == 0 ? 1000 : lane->backoff_ms * 2;
        rest(lane, lane->backoff_ms < AB_BACKOFF_MAX_MS ? lane->backoff_ms : AB_BACKOFF_MAX_MS);
        break;
    }
    lane->backoff_ms = 0;
    pthread_mutex_lock(&lane->counters_lock);
    lane->durable.lane_restarts++;
    pthread_mutex_unlock(&lane->counters_lock);
    return !ab_lane_stopping(lane);
}

int ab_lane_run(ab_lane_t *lane)
{
    do {
        lane->fate = AB_FATE_GO;
        lane->exit_code = AB_EXIT_OK;
        ab_lane_tick(lane, AB_PHASE_STARTING);
        open_life(lane);
        if (lane->fate == AB_FATE_GO && lane->consumer != NULL) {
            ab_lane_emit(lane, AB_LEVEL_INFO, "lane_started", "the lane reads", NULL, 0);
            ab_lane_loop(lane);
        }
        close_life(lane);
        ab_lane_tick(lane, AB_PHASE_RESTARTING);
    } while (next_life(lane));
    ab_lane_tick(lane, AB_PHASE_ENDED);
    return lane->exit_code;
}

void ab_lane_ledger(ab_lane_t *lane, ab_ledger_t *ret_ledger)
{
    pthread_mutex_lock(&lane->counters_lock);
    *ret_ledger = lane->durable.ledger;
    pthread_mutex_unlock(&lane->counters_lock);
}

static int find_or_none(const ab_topics_t *topics, const char *name)
{
    return name != NULL ? ab_topics_find(topics, name) : -1;
}

static void set_targets(ab_lane_t *lane)
{
    for (size_t s = 0; s < lane->config->source_count; s++) {
        const ab_policy_t *policy = &lane->config->sources[s].policy;
        const ab_topics_t *topics = lane->shared->topics;
        for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
            lane->targets[s].routes[slot] = policy->routes[slot].kind == AB_ROUTE_TOPIC
                                                ? find_or_none(topics, policy->routes[slot].topic)
                                                : -1;
        }
        lane->targets[s].errors = find_or_none(topics, policy->errors_topic);
        lane->targets[s].quarantine = find_or_none(topics, policy->quarantine_topic);
    }
}

ab_lane_t *ab_lane_new(ab_shared_t *shared, unsigned index)
{
    ab_lane_t *lane = calloc(1, sizeof(*lane));
    if (lane == NULL) {
        return NULL;
    }
    lane->shared = shared;
    lane->config = shared->config;
    lane->sink = shared->sink;
    lane->index = index;
    lane->plain = shared->config->guarantee == AB_AT_LEAST_ONCE;
    lane->topic_count = ab_topics_count(shared->topics);
    lane->outputs = calloc(lane->topic_count, sizeof(*lane->outputs));
    lane->facts = calloc(lane->topic_count, sizeof(*lane->facts));
    lane->targets = calloc(lane->config->source_count, sizeof(*lane->targets));
    lane->sources_shown = calloc(lane->config->source_count, sizeof(*lane->sources_shown));
    lane->breakers = calloc(lane->config->source_count, sizeof(*lane->breakers));
    lane->held_back = calloc(lane->config->source_count, sizeof(*lane->held_back));
    lane->arena = aw_arena_new(AB_LETTER_ARENA_MAX);
    lane->scratch = aw_arena_new(lane->config->decode_bytes);
    pthread_mutex_init(&lane->counters_lock, NULL);
    if (lane->outputs == NULL || lane->facts == NULL || lane->targets == NULL ||
        lane->sources_shown == NULL || lane->breakers == NULL || lane->held_back == NULL ||
        lane->arena == NULL || lane->scratch == NULL ||
        ab_tallies_init(&lane->tallies, lane->config->source_count) != 0 ||
        ab_tallies_init(&lane->tallies_in_hand, lane->config->source_count) != 0 ||
        ab_parts_init(&lane->parts, lane->config) != 0 || ab_answers_new(lane) != 0) {
        ab_lane_free(lane);
        return NULL;
    }
    set_targets(lane);
    return lane;
}

void ab_lane_free(ab_lane_t *lane)
{
    if (lane == NULL) {
        return;
    }
    ab_lane_free_sent(lane);
    ab_answers_free(lane);
    ab_parts_clear(&lane->parts);
    ab_poison_clear(&lane->poison);
    aw_arena_free(lane->arena);
    aw_arena_free(lane->scratch);
    free(lane->txn.failures);
    free(lane->outputs);
    free(lane->facts);
    free(lane->targets);
    free(lane->sources_shown);
    ab_tallies_clear(&lane->tallies);
    ab_tallies_clear(&lane->tallies_in_hand);
    free(lane->breakers);
    free(lane->held_back);
    free(lane->txn.stamps_ms);
    pthread_mutex_destroy(&lane->counters_lock);
    free(lane);
}
