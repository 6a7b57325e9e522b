#ifndef BRIDGE_CONFIG_CONFIG_H
#define BRIDGE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agentwire/crypto.h"
#include "bridge/core/breaker.h"
#include "bridge/core/event.h"
#include "bridge/core/policy.h"

/** Limits of a configuration file. */
#define AB_CONFIG_FILE_MAX       (1024u * 1024u) /* bytes */
#define AB_CONFIG_SOURCES_MAX    256u
#define AB_CONFIG_LANES_MAX      64u
#define AB_CONFIG_PROPERTIES_MAX 256u
#define AB_CONFIG_DEPTH_MAX      16u
#define AB_CONFIG_NODES_MAX      65536u        /* values in a file, lists and mappings included */
#define AB_CONFIG_KEYS_MAX       1024u         /* keys of one mapping */
#define AB_CONFIG_VALUE_MAX      (64u * 1024u) /* bytes of a value, after ${…}, file: and env: */
#define AB_CONFIG_TOPIC_MAX      249u          /* Kafka's own limit */
#define AB_CONFIG_PATH_MAX       1024u         /* characters of a path */

/** One librdkafka property as written under kafka:, consumer: or producer:. */
typedef struct ab_property {
    const char *name;
    const char *value; /* resolved: ${…} expanded, file: and env: read; never print it */
    unsigned line;     /* in the config file */
    unsigned column;
    bool indirect; /* taken from a file or the environment: what came of it is never shown */
} ab_property_t;

typedef struct ab_properties {
    ab_property_t *items;
    size_t count;
} ab_properties_t;

/** The property of that name, NULL when it is not written. Borrowed. */
const ab_property_t *ab_property_find(const ab_properties_t *properties, const char *name);

typedef enum ab_start_kind {
    AB_START_EARLIEST,
    AB_START_LATEST,
    AB_START_COMMITTED,
    AB_START_TIME
} ab_start_kind_t;

typedef struct ab_source {
    ab_policy_t policy;
    ab_start_kind_t start;
    int64_t start_time_ms; /* with AB_START_TIME, since the epoch */
    unsigned line;
} ab_source_t;

typedef enum ab_log_format { AB_LOG_JSON, AB_LOG_TEXT } ab_log_format_t;

/** A topic that can be switched off. Neither a topic nor off: not written, the default holds. */
typedef struct ab_optional_topic {
    const char *topic;
    bool off;
} ab_optional_topic_t;

/** What delivery.guarantee promises. */
typedef enum ab_guarantee { AB_EXACTLY_ONCE, AB_AT_LEAST_ONCE } ab_guarantee_t;

/** Longest IP address, NUL included. */
#define AB_LISTEN_HOST_MAX 46

/** An address to listen on, or none. */
typedef struct ab_listen {
    char host[AB_LISTEN_HOST_MAX]; /* an IPv4 or IPv6 address without brackets, "" when off */
    unsigned port;                 /* 1 to 65535, 0 when off */
    bool off;
} ab_listen_t;

/** A list of topics, in the order of the file. */
typedef struct ab_topic_list {
    const char **items;
    size_t count;
} ab_topic_list_t;

/** Most topics of state.snapshots_from. */
#define AB_CONFIG_STATE_TOPICS_MAX 8u

typedef enum ab_unknown_key { AB_UNKNOWN_KEY_EMPTY, AB_UNKNOWN_KEY_DEAD_LETTER } ab_unknown_key_t;

/** A whole configuration, checked. Owned by ab_config_load()'s caller; immutable, so threads share
 * it. */
typedef struct ab_config {
    const char *file; /* where it was read */
    ab_properties_t kafka, consumer, producer;
    const char *group;
    const char *instance;
    bool instance_set; /* written in the file: static group membership */
    unsigned lanes;
    ab_source_t *sources;
    size_t source_count;
    unsigned guarantee; /* an ab_guarantee_t */
    unsigned commit_interval_ms;
    unsigned commit_records;
    uint64_t commit_size_bytes;
    unsigned transaction_timeout_ms;
    bool source_header;
    const char *errors_topic;       /* errors.topic as written; NULL: each source has its own */
    ab_optional_topic_t quarantine; /* errors.quarantine as written */
    uint32_t max_hops;              /* these three stand in each source's policy, ready for use */
    bool stop_on_failure;           /* errors.on_failure: stop */
    ab_breaker_rule_t breaker;      /* errors.breaker */
    const char *state_dir;
    ab_topic_list_t state_topics; /* state.snapshots_from; read only where answers is true */
    bool answers;                 /* a source's export_request is answered */
    const char *snapshots_topic;  /* NULL where it is not written */
    unsigned snapshots_max_wait_ms;
    ab_unknown_key_t snapshots_unknown_key;
    bool topics_wait; /* topics.missing: wait */
    uint64_t memory_per_lane_bytes;
    uint64_t decode_bytes; /* limits.decode_bytes */
    unsigned shutdown_timeout_ms;
    unsigned stuck_after_ms; /* health.stuck_after */
    ab_listen_t http_listen;
    ab_log_format_t log_format;
    ab_level_t log_level;
    struct ab_config_memory *memory; /* what owns the strings, and this struct */
} ab_config_t;

/** Longest key path and longest message of a finding, NUL included; longer ones are cut. */
#define AB_FINDING_KEY_MAX     128
#define AB_FINDING_MESSAGE_MAX 384

/** One finding about a configuration: a mistake (refused) or a warning (lint only). */
typedef struct ab_finding {
    bool warning;
    unsigned line;                        /* 1-based, 0 when the file as a whole is meant */
    unsigned column;                      /* 1-based, 0 when not known */
    char key[AB_FINDING_KEY_MAX];         /* path: "sources[0].routes.approval" */
    char message[AB_FINDING_MESSAGE_MAX]; /* what is wrong, what was expected; never a secret */
} ab_finding_t;

/** Most findings kept; one more says that there are more. */
#define AB_FINDINGS_MAX 64

/** Start from {0}. */
typedef struct ab_findings {
    ab_finding_t items[AB_FINDINGS_MAX];
    size_t count;
    size_t mistakes; /* also those not kept */
    size_t warnings; /* also those not kept */
    bool unreadable; /* the file could not be read at all */
} ab_findings_t;

/** Appends a finding: a warning, or a mistake, which refuses the configuration. line is 1-based, 0
 * for the file as a whole; key may be "". The message says what is wrong and what was expected, and
 * never holds a value from under kafka, consumer or producer. A text too long is cut. */
void ab_findings_add(ab_findings_t *findings, bool warning, unsigned line, const char *key,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/** The same with the column, 0 when not known. */
void ab_findings_add_at(ab_findings_t *findings, bool warning, unsigned line, unsigned column,
                        const char *key, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/** Finds the file name: -c FILE, else $AGENT_BRIDGE_CONFIG, else /etc/agent-bridge/config.yaml.
 * Borrowed. */
const char *ab_config_path_view(const char *option);

/** Judges what only librdkafka can: the names and values of its properties (in bridge/kafka).
 * Called once the file has been read, also when it holds mistakes already, so that all are reported
 * at once; then only kafka, consumer and producer may be looked at. Appends to findings with
 * ab_findings_add(). Returns 0, or a negative number when it could not judge (memory). */
typedef int ab_config_check_fn(const ab_config_t *config, ab_findings_t *findings);

/** Reads, expands, checks. Every mistake is reported at once in ret_findings, with file line and
 * key. check may be NULL. Returns the config, or NULL when there was at least one mistake. Free
 * with ab_config_free(). Needs no broker. */
ab_config_t *ab_config_load(const char *path, ab_config_check_fn *check,
                            ab_findings_t *ret_findings);

/** The same from text in memory (the demo, tests); name stands for the file in messages. */
ab_config_t *ab_config_parse(const char *name, const char *text, size_t size,
                             ab_config_check_fn *check, ab_findings_t *ret_findings);

/** Takes NULL. */
void ab_config_free(ab_config_t *config);

/** The findings in the order of the file. The pointers are views into findings. Returns their
 * count. */
size_t ab_findings_sorted(const ab_findings_t *findings,
                          const ab_finding_t *ret_sorted[AB_FINDINGS_MAX]);

/** Writes findings as "file:line:column: error: key: message" lines, in the order of the file. */
void ab_findings_print(const ab_findings_t *findings, const char *file, FILE *out);

/** The sha256, in hex, of everything in an effective configuration that decides what becomes of a
 *  record: group, sources (without start), guarantee, source header, limits, errors, snapshots and
 *  the topics of state, with their defaults filled in. Two configurations with the same one give
 * the same verdicts and write to the same topics. Nothing under kafka, consumer and producer goes
 * into it. Returns 0, or -1 when memory is short. */
int ab_config_fingerprint(const ab_config_t *config, char ret_hex[AW_SHA256_HEX_SIZE]);

/** Reads a duration as the configuration writes it, "100ms" or "10s". Returns false when it is
 * none, ret_ms untouched. */
bool ab_duration_parse(const char *text, uint64_t *ret_ms);

/** delivery.guarantee as it is written. Static storage. */
const char *ab_guarantee_word(const ab_config_t *config);

/** The version of the libyaml that runs. Static storage. */
const char *ab_config_yaml_version(void);

/** Writes docs/configuration.md, all of it, from the table. */
void ab_config_print_docs(FILE *out);

#endif
