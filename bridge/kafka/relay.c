#include "bridge/kafka/relay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/kafka/handle.h"
#include "bridge/kafka/lane.h"
#include "bridge/kafka/relay_state.h"
#include "bridge/kafka/rights.h"

#define METADATA_MS      3000
#define METADATA_MIN_MS  500
#define LIMITS_MS        5000
#define SAY_EVERY_MS     10000
#define REFRESH_EVERY_MS 300000
#define REFRESH_GAP_MS   1000 /* after a refusal, at most this often */
#define TICK_MS          50
#define STATE_EVERY_MS   1000 /* how soon a changed partition count of a state topic is seen */
#define RIGHTS_MS        5000
/* Looks at the brokers that must fail alike before a refused login or certificate ends the start:
 * a broker that is only just coming up may refuse one. */
#define REFUSALS_MAX 2u

typedef struct worker {
    struct ab_relay *relay;
    ab_lane_t *lane;
    pthread_t thread;
    bool started;
} worker_t;

struct ab_relay {
    ab_shared_t shared;
    worker_t *workers;
    rd_kafka_t *probe;
    pthread_t supervisor;
    bool supervised;
    bool joined;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* all_ended changed; CLOCK_MONOTONIC */
    bool all_ended;
    int exit_code;    /* the first that is not 0 */
    atomic_int phase; /* an ab_relay_phase_t, without STOPPING, which shared.stop says */
    int64_t begun_ms;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void emit(ab_relay_t *relay, ab_level_t level, const char *event, const char *message,
                 const ab_field_t *fields, unsigned count)
{
    const ab_sink_t *sink = relay->shared.sink;
    sink->emit(sink->opaque, level, event, message, fields, count);
}

static bool stopping(ab_relay_t *relay)
{
    return atomic_load(&relay->shared.stop);
}

static void tick(void)
{
    const struct timespec wait = {0, TICK_MS * 1000000};
    nanosleep(&wait, NULL);
}

/* The first exit code that says something stays; one lane that ends for a reason ends them all. */
static void note_exit(ab_relay_t *relay, int exit_code)
{
    pthread_mutex_lock(&relay->lock);
    if (relay->exit_code == 0) {
        relay->exit_code = exit_code;
    }
    pthread_mutex_unlock(&relay->lock);
    if (exit_code != 0) {
        ab_relay_stop(relay);
    }
}

/* ---- the probe: a client that never fetches ---- */

static void on_probe_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
    ab_relay_t *relay = rd_kafka_opaque(rk);
    ab_link_hear(&relay->shared.link, facility, line);
    const ab_field_t fields[] = {AB_TEXT("client", rd_kafka_name(rk)),
                                 AB_TEXT("facility", facility), AB_TEXT("text", line)};
    emit(relay, ab_link_log_level(level, facility), "librdkafka", "librdkafka says", fields, 3);
}

/* Only noted: every call on the probe reports for itself. */
static void on_probe_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    ab_relay_t *relay = opaque;
    (void)rk;
    (void)ab_link_note(&relay->shared.link, err, reason);
}

static int on_probe_certificate(rd_kafka_t *rk, const char *broker, int32_t broker_id,
                                int *x509_error, int depth, const char *der, size_t size,
                                char *ret_text, size_t room, void *opaque)
{
    ab_relay_t *relay = opaque;
    (void)rk;
    (void)broker_id;
    (void)depth;
    (void)der;
    (void)size;
    (void)ret_text;
    (void)room;
    return ab_link_certificate(&relay->shared.link, broker, *x509_error);
}

/* For every client that belongs to no lane. */
static void watch_client(rd_kafka_conf_t *conf, void *opaque)
{
    ab_relay_t *relay = opaque;
    rd_kafka_conf_set_opaque(conf, relay);
    rd_kafka_conf_set_log_cb(conf, on_probe_log);
    rd_kafka_conf_set_error_cb(conf, on_probe_error);
    ab_link_watch_certificates(&relay->shared.link, conf, on_probe_certificate);
}

static bool make_probe(ab_relay_t *relay)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_PROBE};
    rd_kafka_conf_t *conf = ab_handle_conf_new(relay->shared.config, &spec, text, &property);
    if (conf != NULL) {
        watch_client(conf, relay);
        relay->probe = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
        if (relay->probe == NULL) {
            rd_kafka_conf_destroy(conf);
        }
    }
    if (relay->probe == NULL) {
        const ab_field_t fields[] = {AB_TEXT("text", text)};
        emit(relay, AB_LEVEL_ERROR, "client_refused", "librdkafka cannot make a client", fields, 1);
        note_exit(relay, AB_EXIT_CONFIG);
    }
    return relay->probe != NULL;
}

/* ---- rights ---- */

static void tell_missing_right(ab_relay_t *relay, const ab_right_t *right)
{
    char principal[AB_PRINCIPAL_MAX];
    ab_principal_text(relay->shared.config, principal);
    const ab_field_t fields[] = {
        AB_TEXT("principal", principal),
        AB_TEXT("operation", right->operation),
        AB_TEXT("resource_type", right->resource_type),
        AB_TEXT("resource", right->resource),
        AB_TEXT("pattern", right->prefixed ? "prefixed" : "literal"),
        AB_TEXT("error", rd_kafka_err2name(right->error)),
    };
    emit(relay, AB_LEVEL_ERROR, "not_allowed",
         "an ACL is missing: allow the principal this operation on this resource", fields,
         sizeof(fields) / sizeof(fields[0]));
}

/* The answers to a question, of which one kind of resource is told. */
typedef struct finding_out {
    ab_relay_t *relay;
    const char *resource_type;
    size_t missing;
} finding_out_t;

static void on_right(void *opaque, const ab_right_t *right)
{
    finding_out_t *out = opaque;
    if (right->answer == AB_RIGHT_MISSING &&
        strcmp(right->resource_type, out->resource_type) == 0) {
        tell_missing_right(out->relay, right);
        out->missing++;
    }
}

/* The brokers say of what kind the resource is that was refused: which one, and for what, has to be
 * asked. Returns how many rights are missing. */
static size_t tell_missing_rights(ab_relay_t *relay, const char *resource_type, unsigned which)
{
    const size_t count = ab_topics_count(relay->shared.topics);
    ab_topic_t *topics = calloc(count, sizeof(*topics));
    finding_out_t out = {.relay = relay, .resource_type = resource_type};
    for (size_t i = 0; topics != NULL && i < count; i++) {
        topics[i] = ab_topics_get(relay->shared.topics, i);
    }
    if (topics != NULL) {
        (void)ab_rights_ask(relay->shared.config, topics, count, which, RIGHTS_MS, on_right, &out);
    }
    free(topics);
    return out.missing;
}

/* A lane met a call that was refused. Said once for all lanes; before any lane has committed
 * a record it is the end, so that a rollout shows it, later it is waited out. */
static void look_into_denial(ab_relay_t *relay, rd_kafka_resp_err_t err)
{
    char prefix[AB_CONFIG_TOPIC_MAX + 2];
    const bool early = atomic_exchange(&relay->shared.denied_early, false);
    size_t missing = 0;
    if (err == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED) {
        /* A lane's own id was refused: nothing to ask. */
        const ab_right_t right = ab_right_of_transactions(relay->shared.config, prefix);
        tell_missing_right(relay, &right);
        missing = 1;
    } else if (err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) {
        missing = tell_missing_rights(relay, "Group", AB_RIGHTS_GROUP);
    } else {
        missing = tell_missing_rights(relay, "Topic", AB_RIGHTS_TRANSACTIONS | AB_RIGHTS_TOPICS);
    }
    if (missing == 0) {
        const ab_field_t fields[] = {AB_TEXT("error", rd_kafka_err2name(err))};
        emit(relay, AB_LEVEL_WARNING, "not_allowed",
             "the brokers refused a call, and refuse nothing when asked again; if this stays, "
             "`agent-bridge check` looks at every right",
             fields, 1);
    } else if (early) {
        note_exit(relay, AB_EXIT_NOT_ALLOWED);
    }
}

/* ---- before the lanes: every topic must be there ---- */

typedef struct lookout {
    int64_t said_ms; /* when trouble was last told */
    size_t missing;
    size_t denied;
    unsigned refusals; /* looks in a row that a login or a certificate ended */
    bool unreachable;
} lookout_t;

static void tell_topic(ab_relay_t *relay, const ab_topic_t *topic, ab_topic_problem_t problem)
{
    const ab_field_t fields[] = {AB_TEXT("topic", topic->name)};
    const bool waits = relay->shared.config->topics_wait;
    if (problem == AB_TOPIC_MISSING) {
        emit(relay, waits ? AB_LEVEL_WARNING : AB_LEVEL_ERROR, "topic_missing",
             waits ? "the topic does not exist yet; waiting for it"
                   : "the topic does not exist; create it, or set topics.missing: wait",
             fields, 1);
    } else {
        const ab_right_t right = ab_right_of_topic(topic);
        tell_missing_right(relay, &right);
    }
}

/* How long one call may take, so that lasting trouble is told on time. */
static int patience_ms(const lookout_t *lookout)
{
    const int64_t left = lookout->said_ms + SAY_EVERY_MS - now_ms();
    if (lookout->said_ms == 0 || left > METADATA_MS) {
        return METADATA_MS;
    }
    return left < METADATA_MIN_MS ? METADATA_MIN_MS : (int)left;
}

static bool may_say(const lookout_t *lookout)
{
    return lookout->said_ms == 0 || now_ms() - lookout->said_ms >= SAY_EVERY_MS;
}

/* No broker was there to ask; what the probe's callbacks heard says why. True when it was told. */
static bool note_unreachable(ab_relay_t *relay, lookout_t *lookout)
{
    ab_link_t *link = &relay->shared.link;
    rd_kafka_poll(relay->probe, 0);
    lookout->refusals = ab_link_now(link) > AB_LINK_UNREACHABLE ? lookout->refusals + 1 : 0;
    return ab_link_tell(link, relay->shared.sink);
}

static void look_once(ab_relay_t *relay, lookout_t *lookout)
{
    ab_topics_t *topics = relay->shared.topics;
    const bool tell = may_say(lookout) || !relay->shared.config->topics_wait;
    char text[256] = "";
    bool told = false;
    lookout->missing = 0;
    lookout->denied = 0;
    lookout->unreachable = false;
    for (size_t i = 0; i < ab_topics_count(topics) && !stopping(relay); i++) {
        const ab_topic_t topic = ab_topics_get(topics, i);
        if (topic.partitions > 0) {
            continue;
        }
        const ab_topic_problem_t problem = ab_topics_refresh_one(
            topics, i, relay->probe, patience_ms(lookout), text, sizeof(text));
        if (problem == AB_TOPIC_UNREACHABLE) {
            lookout->unreachable = true;
            break;
        }
        lookout->missing += problem == AB_TOPIC_MISSING;
        lookout->denied += problem == AB_TOPIC_DENIED;
        if (problem != AB_TOPIC_OK && tell) {
            tell_topic(relay, &topic, problem);
            told = true;
        }
    }
    if (lookout->unreachable) {
        told = note_unreachable(relay, lookout) || told;
    } else {
        ab_link_works(&relay->shared.link);
        lookout->refusals = 0;
    }
    if (told) {
        lookout->said_ms = now_ms();
    }
}

/* True when every topic is known. */
static bool wait_for_topics(ab_relay_t *relay)
{
    lookout_t lookout = {0};
    while (!stopping(relay)) {
        look_once(relay, &lookout);
        atomic_store(&relay->phase, lookout.unreachable ? AB_RELAY_PHASE_CONNECTING
                                                        : AB_RELAY_PHASE_WAITING_TOPICS);
        rd_kafka_poll(relay->probe, 0);
        if (lookout.denied > 0 || lookout.refusals >= REFUSALS_MAX) {
            note_exit(relay, AB_EXIT_NOT_ALLOWED);
            return false;
        }
        if (lookout.missing > 0 && !lookout.unreachable && !relay->shared.config->topics_wait) {
            note_exit(relay, AB_EXIT_UNAVAILABLE);
            return false;
        }
        if (!stopping(relay) && lookout.missing == 0 && !lookout.unreachable &&
            ab_topics_refresh_limits(relay->shared.topics, relay->probe, LIMITS_MS,
                                     relay->shared.sink)) {
            return true;
        }
        for (int i = 0; i < 4 && !stopping(relay); i++) {
            tick();
        }
    }
    return false;
}

/* ---- the lanes ---- */

static void *run_worker(void *opaque)
{
    worker_t *worker = opaque;
    note_exit(worker->relay, ab_lane_run(worker->lane));
    return NULL;
}

static void start_lanes(ab_relay_t *relay)
{
    atomic_store(&relay->phase, AB_RELAY_PHASE_RUNNING);
    for (unsigned i = 0; i < relay->shared.config->lanes; i++) {
        worker_t *worker = &relay->workers[i];
        worker->started = pthread_create(&worker->thread, NULL, run_worker, worker) == 0;
        if (!worker->started) {
            emit(relay, AB_LEVEL_ERROR, "lane_failed", "a thread cannot be started", NULL, 0);
            note_exit(relay, AB_EXIT_FATAL);
            return;
        }
    }
}

static void refresh_topics(ab_relay_t *relay)
{
    for (size_t i = 0; i < ab_topics_count(relay->shared.topics); i++) {
        if (stopping(relay) || ab_topics_look(relay->shared.topics, i, relay->probe, METADATA_MS,
                                              relay->shared.sink) == AB_TOPIC_UNREACHABLE) {
            return;
        }
    }
    (void)ab_topics_refresh_limits(relay->shared.topics, relay->probe, LIMITS_MS,
                                   relay->shared.sink);
}

/* A lane without traffic does not notice that the brokers are gone, and nobody else would tell. One
 * topic after the other is asked for, so that its partition count is fresh as well. */
static void look_at_brokers(ab_relay_t *relay, size_t turn)
{
    const size_t index = turn % ab_topics_count(relay->shared.topics);
    const ab_topic_problem_t problem =
        ab_topics_look(relay->shared.topics, index, relay->probe, METADATA_MS, relay->shared.sink);
    rd_kafka_poll(relay->probe, 0);
    if (problem == AB_TOPIC_UNREACHABLE) {
        (void)ab_link_tell(&relay->shared.link, relay->shared.sink);
    } else {
        ab_link_works(&relay->shared.link);
    }
}

/* Limits and partition counts are read again every five minutes, limits also after a refusal. */
static void watch(ab_relay_t *relay)
{
    int64_t refreshed = now_ms();
    int64_t looked = now_ms();
    int64_t looked_at_state = now_ms();
    size_t turn = 0;
    int64_t denied = 0;
    while (!stopping(relay)) {
        if (denied == 0 || now_ms() - denied >= SAY_EVERY_MS) {
            const int err = atomic_exchange(&relay->shared.denied, 0);
            if (err != 0) {
                look_into_denial(relay, (rd_kafka_resp_err_t)err);
                denied = now_ms();
            }
        }
        const int64_t age = now_ms() - refreshed;
        const bool asked = atomic_load(&relay->shared.refresh_topics);
        if (age >= REFRESH_EVERY_MS || (asked && age >= REFRESH_GAP_MS)) {
            atomic_store(&relay->shared.refresh_topics, false);
            refresh_topics(relay);
            refreshed = now_ms();
        }
        if (now_ms() - looked >= SAY_EVERY_MS - METADATA_MS) {
            look_at_brokers(relay, turn++);
            looked = now_ms();
        }
        if (now_ms() - looked_at_state >= STATE_EVERY_MS) {
            ab_relay_state_look(&relay->shared, relay->probe);
            looked_at_state = now_ms();
        }
        rd_kafka_poll(relay->probe, 0);
        tick();
    }
}

static void *supervise(void *opaque)
{
    ab_relay_t *relay = opaque;
    if (make_probe(relay) && wait_for_topics(relay)) {
        if (ab_relay_state_open(&relay->shared, watch_client, relay)) {
            start_lanes(relay);
            watch(relay);
        } else {
            note_exit(relay, AB_EXIT_CONFIG);
        }
    }
    for (unsigned i = 0; i < relay->shared.config->lanes; i++) {
        if (relay->workers[i].started) {
            pthread_join(relay->workers[i].thread, NULL);
        }
    }
    ab_relay_state_close(&relay->shared);
    if (relay->probe != NULL) {
        rd_kafka_destroy(relay->probe);
        relay->probe = NULL;
    }
    pthread_mutex_lock(&relay->lock);
    relay->all_ended = true;
    atomic_store(&relay->phase, AB_RELAY_PHASE_ENDED);
    pthread_cond_broadcast(&relay->ended);
    pthread_mutex_unlock(&relay->lock);
    return NULL;
}

/* ---- the public face ---- */

ab_relay_t *ab_relay_new(const ab_config_t *config, const ab_sink_t *sink)
{
    ab_relay_t *relay = calloc(1, sizeof(*relay));
    if (relay == NULL) {
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&relay->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&relay->lock, NULL);
    relay->begun_ms = now_ms();
    relay->shared.config = config;
    relay->shared.sink = sink;
    ab_link_init(&relay->shared.link, config);
    relay->shared.topics = ab_topics_new(config);
    relay->workers = calloc(config->lanes, sizeof(*relay->workers));
    bool whole = relay->shared.topics != NULL && relay->workers != NULL;
    for (unsigned i = 0; whole && i < config->lanes; i++) {
        relay->workers[i].relay = relay;
        relay->workers[i].lane = ab_lane_new(&relay->shared, i);
        whole = relay->workers[i].lane != NULL;
    }
    if (!whole) {
        ab_relay_free(relay);
        return NULL;
    }
    return relay;
}

int ab_relay_start(ab_relay_t *relay)
{
    relay->supervised = pthread_create(&relay->supervisor, NULL, supervise, relay) == 0;
    return relay->supervised ? 0 : -1;
}

void ab_relay_stop(ab_relay_t *relay)
{
    atomic_store(&relay->shared.stop, true);
}

static struct timespec deadline_in(int timeout_ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / 1000;
    at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

bool ab_relay_wait(ab_relay_t *relay, int timeout_ms, int *ret_exit)
{
    const struct timespec at = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
    pthread_mutex_lock(&relay->lock);
    while (!relay->all_ended) {
        const int result = timeout_ms < 0
                               ? pthread_cond_wait(&relay->ended, &relay->lock)
                               : pthread_cond_timedwait(&relay->ended, &relay->lock, &at);
        if (result == ETIMEDOUT) {
            break;
        }
    }
    const bool ended = relay->all_ended;
    if (ended) {
        *ret_exit = relay->exit_code;
    }
    pthread_mutex_unlock(&relay->lock);
    return ended;
}

void ab_relay_ledger(ab_relay_t *relay, ab_ledger_t *ret_ledger)
{
    memset(ret_ledger, 0, sizeof(*ret_ledger));
    for (unsigned i = 0; i < relay->shared.config->lanes; i++) {
        ab_ledger_t one;
        ab_lane_ledger(relay->workers[i].lane, &one);
        ab_ledger_add(ret_ledger, &one);
    }
}

static ab_relay_phase_t phase_of(ab_relay_t *relay)
{
    const ab_relay_phase_t phase = (ab_relay_phase_t)atomic_load(&relay->phase);
    return phase != AB_RELAY_PHASE_ENDED && stopping(relay) ? AB_RELAY_PHASE_STOPPING : phase;
}

ab_status_t *ab_relay_status(ab_relay_t *relay)
{
    const ab_config_t *config = relay->shared.config;
    ab_status_t *status = ab_status_new(config->lanes, (unsigned)config->source_count,
                                        config->answers ? (unsigned)config->state_topics.count : 0);
    if (status == NULL) {
        return NULL;
    }
    status->phase = phase_of(relay);
    status->uptime_seconds = (double)(now_ms() - relay->begun_ms) / 1000.0;
    for (unsigned i = 0; i < config->lanes; i++) {
        ab_lane_status(relay->workers[i].lane, &status->lanes[i], status->sources);
        ab_lane_states(relay->workers[i].lane, status->states);
        ab_lane_tallies(relay->workers[i].lane, &status->tallies);
        ab_counters_add(&status->total, &status->lanes[i].counters);
    }
    return status;
}

void ab_relay_status_free(ab_status_t *status)
{
    ab_status_free(status);
}

void ab_relay_free(ab_relay_t *relay)
{
    if (relay == NULL) {
        return;
    }
    if (relay->supervised && !relay->joined) {
        pthread_join(relay->supervisor, NULL);
        relay->joined = true;
    }
    for (unsigned i = 0; relay->workers != NULL && i < relay->shared.config->lanes; i++) {
        ab_lane_free(relay->workers[i].lane);
    }
    free(relay->workers);
    ab_link_clear(&relay->shared.link);
    ab_topics_free(relay->shared.topics);
    pthread_cond_destroy(&relay->ended);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}
