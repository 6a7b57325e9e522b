#include "bridge/config/table.h"

#include <assert.h>
#include <string.h>

#include "bridge/config/config.h"

#define IN_CONFIG(member)                                                                          \
    .offset = offsetof(ab_config_t, member), .size = sizeof(((ab_config_t *)0)->member)
#define IN_SOURCE(member)                                                                          \
    .offset = offsetof(ab_source_t, member), .size = sizeof(((ab_source_t *)0)->member)

#define KIB     ((uint64_t)1024)
#define MIB     (1024 * KIB)
#define GIB     (1024 * MIB)
#define SECONDS ((uint64_t)1000)
#define MINUTES (60 * SECONDS)

/* Words are stored as their number. */
_Static_assert(AB_LEVEL_ERROR == 0 && AB_LEVEL_WARNING == 1 && AB_LEVEL_INFO == 2 &&
                   AB_LEVEL_DEBUG == 3,
               "log.level lists its words in the order of ab_level_t");
_Static_assert(AB_CONTRACT_OPAQUE == 0 && AB_CONTRACT_TEA == 1 && AB_CONTRACT_SESSION_INBOX == 2 &&
                   AB_CONTRACT_ACTIVATION_ERROR == 3,
               "sources[].contract");
_Static_assert(AB_EXACTLY_ONCE == 0 && AB_AT_LEAST_ONCE == 1, "delivery.guarantee");
_Static_assert(AB_LOG_JSON == 0 && AB_LOG_TEXT == 1, "log.format");
_Static_assert(AB_UNKNOWN_KEY_EMPTY == 0 && AB_UNKNOWN_KEY_DEAD_LETTER == 1,
               "snapshots.unknown_key");
_Static_assert(AB_PARTITION_KEY == 0 && AB_PARTITION_SOURCE == 1, "sources[].partition");
_Static_assert(AB_START_EARLIEST == 0 && AB_START_LATEST == 1 && AB_START_COMMITTED == 2,
               "sources[].start");

#define ROUTE(variant, slot, text)                                                                 \
    {                                                                                              \
        .path = "sources[].routes." variant, .type = AB_KEY_ROUTE, .words = "dead_letter|drop",    \
        IN_SOURCE(policy.routes[(slot)]), .help = (text)                                           \
    }

static const ab_key_t keys[] = {
    {.path = "kafka",
     .type = AB_KEY_PROPERTIES,
     IN_CONFIG(kafka),
     .help = "Properties of librdkafka, under librdkafka's own names, for every client the bridge "
             "makes."},
    {.path = "kafka.bootstrap.servers",
     .type = AB_KEY_PROPERTY,
     .help = "Where the cluster is found: `host:port`, several with commas between. One cluster "
             "only, since a transaction does not span two."},
    {.path = "consumer",
     .type = AB_KEY_PROPERTIES,
     IN_CONFIG(consumer),
     .help = "The same for consumers only; wins over `kafka`."},
    {.path = "producer",
     .type = AB_KEY_PROPERTIES,
     IN_CONFIG(producer),
     .help = "The same for producers only; wins over `kafka`."},
    {.path = "group",
     .type = AB_KEY_NAME,
     .max = AB_CONFIG_TOPIC_MAX,
     IN_CONFIG(group),
     .help = "The consumer group (`group.id`) of all instances that share the work, and the "
             "beginning of every transactional id, `<group>.<instance>.<lane>`. Offsets belong to "
             "it: another group begins at `start`."},
    {.path = "instance",
     .type = AB_KEY_NAME,
     .fallback = "<host name>",
     .max = 200,
     IN_CONFIG(instance),
     .help = "The name of this process among the instances of the group, the same after a restart "
             "and never used by two at once. Written here it also makes the membership static "
             "(`group.instance.id` is `<instance>.<lane>`)."},
    {.path = "lanes",
     .type = AB_KEY_COUNT,
     .fallback = "1",
     .min = 1,
     .max = AB_CONFIG_LANES_MAX,
     IN_CONFIG(lanes),
     .help = "Threads that work side by side, each with its own consumer and producer. More lanes "
             "than partitions leave some idle."},
    {.path = "sources",
     .type = AB_KEY_SOURCES,
     .min = 1,
     .max = AB_CONFIG_SOURCES_MAX,
     .help = "The topics to read, a list with a member for each."},
    {.path = "sources[].topic",
     .type = AB_KEY_TOPIC,
     IN_SOURCE(policy.topic),
     .help = "The source topic. No output may be a source."},
    {.path = "sources[].type",
     .type = AB_KEY_WORD,
     .words = "envelope",
     .later = "intent",
     .fallback = "envelope",
     .help = "What the records hold: `AgentEnvelope` messages."},
    {.path = "sources[].start",
     .type = AB_KEY_START,
     .words = "earliest|latest|committed",
     .fallback = "earliest",
     IN_SOURCE(start),
     .help =
         "Where reading begins when the group has no committed offset for the topic. "
         "`committed` refuses to start then. A time, as in `2026-01-31T00:00:00Z`, begins at the "
         "first record not older."},
    {.path = "sources[].routes",
     .type = AB_KEY_SECTION,
     .help = "Where each variant goes: a topic, `dead_letter` or `drop`. Topics are never created "
             "by the bridge."},
    ROUTE("external_event", AB_SLOT_EXTERNAL_EVENT, "For envelopes with an `external_event`."),
    ROUTE("tool_result", AB_SLOT_TOOL_RESULT, "For envelopes with a `tool_result`."),
    ROUTE("approval", AB_SLOT_APPROVAL, "For envelopes with an `approval`."),
    {.path = "sources[].routes.export_request",
     .type = AB_KEY_ROUTE,
     .words = "dead_letter|drop|answer",
     IN_SOURCE(policy.routes[AB_SLOT_EXPORT_REQUEST]),
     .help =
         "For envelopes with an `export_request`. With `answer` the bridge answers them itself, "
         "on `snapshots.topic`, with the state that was published last (docs/snapshots.md)."},
    {.path = "sources[].routes.unknown_variant",
     .type = AB_KEY_ROUTE,
     .words = "dead_letter",
     .fallback = "dead_letter",
     IN_SOURCE(policy.routes[AB_SLOT_UNKNOWN_VARIANT]),
     .help = "For envelopes whose payload is of a variant that this build does not know."},
    {.path = "sources[].on_tombstone",
     .type = AB_KEY_WORD,
     .words = "dead_letter|drop",
     .fallback = "dead_letter",
     IN_SOURCE(policy.tombstone_drop),
     .help = "What becomes of a record without a value."},
    {.path = "sources[].on_key_mismatch",
     .type = AB_KEY_WORD,
     .words = "dead_letter|ignore",
     .fallback = "dead_letter",
     IN_SOURCE(policy.key_mismatch_ignore),
     .help = "What becomes of a record whose key is not the envelope's `entity_key`. With `ignore` "
             "the order of an entity's records is no longer promised."},
    {.path = "sources[].on_null_key",
     .type = AB_KEY_WORD,
     .words = "accept|dead_letter",
     .fallback = "accept",
     IN_SOURCE(policy.null_key_dead_letter),
     .help = "What becomes of a record without a key. Where it is accepted, the order of an "
             "entity's records is what the producer made it."},
    {.path = "sources[].partition",
     .type = AB_KEY_WORD,
     .words = "key|source",
     .fallback = "key",
     IN_SOURCE(policy.partition_by),
     .help = "The partition of a routed record: `key` places it by its key as the Java clients do, "
             "`source` keeps the source partition's number, modulo the output's count."},
    {.path = "sources[].max_value",
     .type = AB_KEY_SIZE,
     .fallback = "8MiB",
     .min = KIB,
     .max = 512 * MIB,
     IN_SOURCE(policy.max_value_bytes),
     .help = "A larger value is dead-lettered as `oversized`."},
    {.path = "sources[].contract",
     .type = AB_KEY_WORD,
     .words = "opaque|tea|session_inbox|activation_error",
     .fallback = "opaque",
     IN_SOURCE(policy.contract),
     .help = "What an `external_event` has to be: `opaque` takes any bytes, `tea` an envelope of "
             "tea-protocol 1.0 (docs/tea.md), `session_inbox` a value of the session inbox of any "
             "known version (docs/inbox.md), `activation_error` an ActivationErrorRecord of the "
             "envelope's own entity_key and event_time_ms, so that the agents' errors topic can be "
             "a source. A contract checks and never rewrites."},
    {.path = "delivery", .type = AB_KEY_SECTION, .help = "How outputs are committed."},
    {.path = "delivery.guarantee",
     .type = AB_KEY_WORD,
     .words = "exactly_once|at_least_once",
     .fallback = "exactly_once",
     IN_CONFIG(guarantee),
     .help = "`exactly_once`: outputs and offsets commit in one transaction; readers use "
             "`read_committed`. `at_least_once`: no transactions; the offsets of records that are "
             "written are committed every second, and after a failure some are written again. The "
             "other `commit_` keys and `transaction_timeout` then have no meaning."},
    {.path = "delivery.commit_interval",
     .type = AB_KEY_DURATION,
     .fallback = "100ms",
     .min = 1,
     .max = 5 * MINUTES,
     IN_CONFIG(commit_interval_ms),
     .help = "A transaction is committed when it is this old. Must be shorter than "
             "`transaction_timeout`."},
    {.path = "delivery.commit_records",
     .type = AB_KEY_COUNT,
     .fallback = "10000",
     .min = 1,
     .max = 1000000,
     IN_CONFIG(commit_records),
     .help = "A transaction is committed when it holds this many source records."},
    {.path = "delivery.commit_size",
     .type = AB_KEY_SIZE,
     .fallback = "16MiB",
     .min = KIB,
     .max = GIB,
     IN_CONFIG(commit_size_bytes),
     .help = "A transaction is committed when its outputs are this large."},
    {.path = "delivery.transaction_timeout",
     .type = AB_KEY_DURATION,
     .fallback = "15s",
     .min = SECONDS,
     .max = 15 * MINUTES,
     IN_CONFIG(transaction_timeout_ms),
     .help = "How long the broker keeps a transaction open whose process is gone; readers of the "
             "outputs wait that long. The broker's `transaction.max.timeout.ms` must allow it."},
    {.path = "delivery.source_header",
     .type = AB_KEY_BOOL,
     .fallback = "true",
     IN_CONFIG(source_header),
     .help =
         "Whether routed records get the header `__agent_bridge.source`, which names where they "
         "came from. Dead letters and quarantined records have it always."},
    {.path = "errors", .type = AB_KEY_SECTION, .help = "Where records go that are not routed."},
    {.path = "errors.topic",
     .type = AB_KEY_TOPIC,
     .fallback = "<source>.errors",
     IN_CONFIG(errors_topic),
     .help = "The topic for dead letters, small records that say what was wrong with which record. "
             "Where it is not written, each source has its own: its name and `.errors`."},
    {.path = "errors.quarantine",
     .type = AB_KEY_OPTIONAL_TOPIC,
     .words = "off",
     .fallback = "<source>.quarantine",
     IN_CONFIG(quarantine),
     .help =
         "The topic for the dead-lettered records themselves, byte for byte, or `off`. Where it "
         "is not written, each source has its own: its name and `.quarantine`. With `off` a dead "
         "letter points to the source record and nothing else keeps it."},
    {.path = "errors.max_hops",
     .type = AB_KEY_COUNT,
     .fallback = "3",
     .min = 0,
     .max = 1000,
     IN_CONFIG(max_hops),
     .help = "A record that was redriven more often than this is dead-lettered as `hop_limit`."},
    {.path = "errors.on_failure",
     .type = AB_KEY_WORD,
     .words = "block|stop",
     .fallback = "block",
     IN_CONFIG(stop_on_failure),
     .help = "What to do when a topic refuses a dead letter or its quarantine record for good: the "
             "lane waits before that record until the topic takes it, or the process ends with "
             "exit code 70. Nothing is skipped either way."},
    {.path = "errors.breaker",
     .type = AB_KEY_SECTION,
     .words = "off",
     IN_CONFIG(breaker.off),
     .help = "The circuit breaker, or `off`. When more than `ratio` of at least `min_records` "
             "records read within `window` became dead letters, that source stands still in that "
             "lane: one record is let through every 10 seconds, and 20 good ones in a row close "
             "the breaker."},
    {.path = "errors.breaker.ratio",
     .type = AB_KEY_RATIO,
     .fallback = "0.5",
     .min = 1,
     .max = 999,
     IN_CONFIG(breaker.ratio_permille),
     .help = "The share of dead letters above which the breaker opens."},
    {.path = "errors.breaker.min_records",
     .type = AB_KEY_COUNT,
     .fallback = "500",
     .min = 1,
     .max = 1000000000,
     IN_CONFIG(breaker.min_records),
     .help = "Fewer records within the window say nothing."},
    {.path = "errors.breaker.window",
     .type = AB_KEY_DURATION,
     .fallback = "30s",
     .min = SECONDS,
     .max = 60 * MINUTES,
     IN_CONFIG(breaker.window_ms),
     .help = "How far back the breaker looks."},
    {.path = "topics", .type = AB_KEY_SECTION, .help = "About the output topics as a whole."},
    {.path = "topics.missing",
     .type = AB_KEY_WORD,
     .words = "fail|wait",
     .fallback = "fail",
     IN_CONFIG(topics_wait),
     .help =
         "What to do at the start when an output topic does not exist: end with exit code 69, or "
         "wait until it does. Topics are never created by the bridge."},
    {.path = "memory", .type = AB_KEY_SECTION, .help = "Bounds of memory."},
    {.path = "memory.per_lane",
     .type = AB_KEY_SIZE,
     .fallback = "64MiB",
     .min = MIB,
     .max = 16 * GIB,
     IN_CONFIG(memory_per_lane_bytes),
     .help =
         "Bytes on their way to the outputs in one lane; over it the lane stops consuming until "
         "the brokers have taken some. At least the largest `max_value`."},
    {.path = "health", .type = AB_KEY_SECTION, .help = "When the process counts as ready."},
    {.path = "health.stuck_after",
     .type = AB_KEY_DURATION,
     .fallback = "60s",
     .min = SECONDS,
     .max = 60 * 60 * SECONDS,
     IN_CONFIG(stuck_after_ms),
     .help = "A partition that has records to read and has not moved for so long makes the process "
             "not ready (`/readyz` answers 503)."},
    {.path = "http", .type = AB_KEY_SECTION, .help = "What the process says of itself over HTTP."},
    {.path = "http.listen",
     .type = AB_KEY_LISTEN,
     .words = "off",
     .fallback = "127.0.0.1:9465",
     IN_CONFIG(http_listen),
     .help = "Where `/livez`, `/readyz`, `/metrics`, `/status`, `/version` and a page for people "
             "are served, read-only and without a login: an IP address (`localhost` is "
             "`127.0.0.1`; `0.0.0.0` and `[::]` are every address of the machine) and a port from "
             "1 to 65535, or `off`."},
    {.path = "shutdown", .type = AB_KEY_SECTION, .help = "How the process ends."},
    {.path = "shutdown.timeout",
     .type = AB_KEY_DURATION,
     .fallback = "20s",
     .min = SECONDS,
     .max = 10 * MINUTES,
     IN_CONFIG(shutdown_timeout_ms),
     .help =
         "How long a stop (SIGTERM) may take before the process ends with 75, whatever is under "
         "way; nothing is lost then either. Shorter than the supervisor's own patience."},
    {.path = "log", .type = AB_KEY_SECTION, .help = "The log, on standard error."},
    {.path = "log.format",
     .type = AB_KEY_WORD,
     .words = "json|text",
     .fallback = "json",
     IN_CONFIG(log_format),
     .help = "An object a line for machines, or text for people."},
    {.path = "log.level",
     .type = AB_KEY_WORD,
     .words = "error|warning|info|debug",
     .fallback = "info",
     IN_CONFIG(log_level),
     .help = "The least severe events that are logged."},
    {.path = "state",
     .type = AB_KEY_SECTION,
     .help = "The published state that export requests are answered from. Read only where a source "
             "routes `export_request: answer`."},
    {.path = "state.dir",
     .type = AB_KEY_PATH,
     .fallback = "/var/lib/agent-bridge",
     .max = AB_CONFIG_PATH_MAX,
     IN_CONFIG(state_dir),
     .help =
         "The folder of the stores, of this process alone; it is made where it is not there. It "
         "may be lost at any time: it is made again from the topics."},
    {.path = "state.snapshots_from",
     .type = AB_KEY_TOPICS,
     .fallback = "<none>",
     .max = AB_CONFIG_STATE_TOPICS_MAX,
     IN_CONFIG(state_topics),
     .help =
         "Topics of `StateSnapshot` records keyed by `entity_key`, each with as many partitions "
         "as the source. Where several hold a state of a key, the first in this list is asked. "
         "Required with `answer`."},
    {.path = "snapshots", .type = AB_KEY_SECTION, .help = "The answers to export requests."},
    {.path = "snapshots.topic",
     .type = AB_KEY_TOPIC,
     .fallback = "<none>",
     IN_CONFIG(snapshots_topic),
     .help = "The topic for the answers. Required with `answer`, and none of "
             "`state.snapshots_from`, or answers would become state."},
    {.path = "snapshots.max_wait",
     .type = AB_KEY_DURATION,
     .fallback = "10s",
     .min = 100,
     .max = 10 * MINUTES,
     IN_CONFIG(snapshots_max_wait_ms),
     .help =
         "How long a request may wait until the state that was written before it has been read; "
         "its partition waits as long. After that it is dead-lettered as `state_not_ready`."},
    {.path = "snapshots.unknown_key",
     .type = AB_KEY_WORD,
     .words = "empty|dead_letter",
     .fallback = "empty",
     IN_CONFIG(snapshots_unknown_key),
     .help = "What becomes of a request for a key of which no state was ever published: an answer "
             "without state, as the agents' runtime gives it, or a dead letter, `state_unknown`."},
    {.path = "limits", .type = AB_KEY_SECTION, .help = "Bounds of decoding."},
    {.path = "limits.decode_bytes",
     .type = AB_KEY_SIZE,
     .fallback = "64MiB",
     .min = MIB,
     .max = 2 * GIB,
     IN_CONFIG(decode_bytes),
     .help =
         "Memory that the check of one `external_event` may take, in each lane. JSON takes up to "
         "40 times its size where it is all punctuation. What needs more is dead-lettered."},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEY_COUNT <= AB_KEYS_MAX, "AB_KEYS_MAX is too small");

const ab_key_t *ab_keys_view(size_t *ret_count)
{
    *ret_count = KEY_COUNT;
    return keys;
}

size_t ab_key_index(const ab_key_t *key)
{
    return (size_t)(key - keys);
}

bool ab_key_is_in(const ab_key_t *key, const char *prefix)
{
    size_t size = strlen(prefix);
    const char *name = key->path;
    if (key->type == AB_KEY_PROPERTY || strncmp(name, prefix, size) != 0) {
        return false; /* the names of properties hold dots and are looked for by their mapping */
    }
    name += size;
    if (size > 0 && *name++ != '.') {
        return false;
    }
    return strchr(name, '.') == NULL && strchr(name, '[') == NULL;
}

const char *ab_key_name_view(const ab_key_t *key)
{
    if (key->type == AB_KEY_PROPERTY) {
        return strchr(key->path, '.') + 1;
    }
    const char *dot = strrchr(key->path, '.');
    return dot != NULL ? dot + 1 : key->path;
}

const ab_key_t *ab_key_find(const char *path)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].path, path) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

const ab_key_t *ab_key_find_in(const char *prefix, const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (ab_key_is_in(&keys[i], prefix) && strcmp(ab_key_name_view(&keys[i]), name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

bool ab_key_is_required(const ab_key_t *key)
{
    return key->fallback == NULL && key->type != AB_KEY_SECTION && key->type != AB_KEY_PROPERTIES &&
           key->type != AB_KEY_LATER;
}

/* Names longer than this are nothing that was mistyped. */
#define NAME_MAX_LENGTH 40

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, taken out, replaced or swapped with their neighbour. */
static unsigned edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    unsigned rows[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= b_size; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i - 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_size; j++) {
            unsigned cost = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
            }
        }
    }
    return rows[a_size % 3][b_size];
}

const ab_key_t *ab_key_nearest(const char *prefix, const char *name)
{
    size_t size = strlen(name);
    if (size > NAME_MAX_LENGTH) {
        return NULL;
    }
    const ab_key_t *nearest = NULL;
    unsigned best = 1 + (unsigned)size / 3 + 1;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (!ab_key_is_in(&keys[i], prefix) || keys[i].type == AB_KEY_LATER) {
            continue;
        }
        const char *known = ab_key_name_view(&keys[i]);
        assert(strlen(known) <= NAME_MAX_LENGTH);
        unsigned distance = edit_distance(name, size, known, strlen(known));
        if (distance < best) {
            best = distance;
            nearest = &keys[i];
        }
    }
    return nearest;
}

const ab_key_t *ab_key_elsewhere(const char *prefix, const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (keys[i].type != AB_KEY_LATER && !ab_key_is_in(&keys[i], prefix) &&
            strcmp(ab_key_name_view(&keys[i]), name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}
