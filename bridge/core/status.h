#ifndef BRIDGE_CORE_STATUS_H
#define BRIDGE_CORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/core/breaker.h"
#include "bridge/core/ledger.h"
#include "bridge/core/tally.h"

/** What a running relay says of itself: plain numbers, copied out under a lock, from which metrics,
 *  health and the status page are made. Nothing in it is a payload, an entity key or a secret. */

/** A histogram of durations. A value counts in the first bucket whose bound it does not exceed; the
 *  last bucket has none. */
#define AB_HISTOGRAM_BUCKETS 16
typedef struct ab_histogram {
    uint64_t counts[AB_HISTOGRAM_BUCKETS + 1];
    uint64_t count;
    double sum_seconds;
} ab_histogram_t;

/** The bounds of the buckets, seconds, ascending: 1 ms to an hour and more. */
extern const double ab_histogram_bounds[AB_HISTOGRAM_BUCKETS];

/** Counts one duration; a negative one (clocks differ) counts as 0. */
void ab_histogram_observe(ab_histogram_t *histogram, double seconds);
void ab_histogram_add(ab_histogram_t *histogram, const ab_histogram_t *more);

/** Why an output did not take records, as labels of a metric: identifier, label. */
#define AB_CAUSE_LIST(X)                                                                           \
    X(SIZE, "size")                                                                                \
    X(TIMESTAMP, "timestamp")                                                                      \
    X(INVALID_RECORD, "invalid_record")                                                            \
    X(TIMEOUT, "timeout")                                                                          \
    X(NOT_ALLOWED, "not_allowed")                                                                  \
    X(UNKNOWN_TOPIC, "unknown_topic")                                                              \
    X(REPLICAS, "replicas")                                                                        \
    X(FENCED, "fenced")                                                                            \
    X(OTHER, "other")

typedef enum ab_cause {
#define AB_CAUSE_ENUM(id, label) AB_CAUSE_##id,
    AB_CAUSE_LIST(AB_CAUSE_ENUM)
#undef AB_CAUSE_ENUM
        AB_CAUSE_COUNT
} ab_cause_t;

const char *ab_cause_label(ab_cause_t cause);

/** How transactions ended. */
typedef enum ab_txn_result {
    AB_TXN_COMMITTED,
    AB_TXN_ABORTED, /* given up on purpose; its records are read again */
    AB_TXN_FENCED,  /* taken away by the coordinator or by a rival */
    AB_TXN_RESULT_COUNT
} ab_txn_result_t;

const char *ab_txn_result_label(ab_txn_result_t result);

/** How offset commits of their own ended (at_least_once). */
typedef enum ab_commit_result {
    AB_COMMIT_DONE,
    AB_COMMIT_FAILED, /* asked again a second later */
    AB_COMMIT_RESULT_COUNT
} ab_commit_result_t;

const char *ab_commit_result_label(ab_commit_result_t result);

/** Changes of the group's assignment. */
typedef enum ab_rebalance {
    AB_REBALANCE_ASSIGNED,
    AB_REBALANCE_REVOKED,
    AB_REBALANCE_LOST,
    AB_REBALANCE_COUNT
} ab_rebalance_t;

const char *ab_rebalance_label(ab_rebalance_t rebalance);

/** What becomes of a record of a state topic: identifier, label. All but the first are refusals:
 * the key keeps the state it had, and is marked. */
#define AB_STATE_VERDICT_LIST(X)                                                                   \
    X(TAKEN, "taken")                                                                              \
    X(UNDECODABLE, "undecodable")                                                                  \
    X(KEY_MISMATCH, "key_mismatch")                                                                \
    X(MISSING_KEY, "missing_key")                                                                  \
    X(OVERSIZED, "oversized")

typedef enum ab_state_verdict {
#define AB_STATE_VERDICT_ENUM(id, label) AB_STATE_##id,
    AB_STATE_VERDICT_LIST(AB_STATE_VERDICT_ENUM)
#undef AB_STATE_VERDICT_ENUM
        AB_STATE_VERDICT_COUNT
} ab_state_verdict_t;

const char *ab_state_verdict_label(ab_state_verdict_t verdict);

/** Counters of one lane that only grow; the relay adds them up. */
typedef struct ab_counters {
    ab_ledger_t ledger;
    uint64_t transactions[AB_TXN_RESULT_COUNT];
    uint64_t offset_commits[AB_COMMIT_RESULT_COUNT];
    uint64_t breaker_trips;
    uint64_t rebalances[AB_REBALANCE_COUNT];
    uint64_t
        produce_failures[AB_CAUSE_COUNT]; /* records refused or not delivered; they come again */
    uint64_t lane_restarts;
    uint64_t state_records[AB_STATE_VERDICT_COUNT]; /* records of state topics, a restore's too */
    ab_histogram_t
        barrier_seconds; /* from an export request's arrival until it could be answered */
    ab_histogram_t transaction_seconds; /* from begin to commit */
    ab_histogram_t record_age_seconds;  /* from the record's timestamp to its outcome's commit */
    int64_t last_dead_letter_ms;        /* wall clock, 0: none yet */
} ab_counters_t;

void ab_counters_add(ab_counters_t *counters, const ab_counters_t *more);

/** One source topic, as one lane or the whole process holds it. */
typedef struct ab_source_status {
    uint32_t assigned;           /* partitions held */
    uint32_t pending;            /* of them, not fetched yet: their beginning is being settled */
    uint32_t stopped;            /* of them, standing still until an operator decides */
    uint32_t stuck;              /* of them, with lag and not moved for health.stuck_after */
    uint32_t open_breakers;      /* lanes in which its breaker is open */
    ab_breaker_counts_t tripped; /* what opened them, added up */
    ab_reason_t tripped_reason;  /* the newest dead letter's, NONE while none is open */
    uint64_t lag_records;        /* offsets between the frontier and the end, as last fetched */
    double
        oldest_unfinished_seconds; /* age of the oldest record without a durable outcome, 0: none */
} ab_source_status_t;

/** Adds lane's share: counts and lag add up, the oldest wins. */
void ab_source_status_add(ab_source_status_t *status, const ab_source_status_t *share);

/** One topic of state.snapshots_from, as one lane or the whole process holds it. */
typedef struct ab_state_status {
    uint32_t partitions;  /* held */
    uint32_t restoring;   /* of them, not at the end of their topic since they came */
    uint64_t lag_records; /* offsets between what was applied and the end, as last fetched */
    uint64_t keys;        /* with a state */
    uint64_t marked_keys; /* whose last record was refused */
    uint64_t size_bytes;  /* of the stores */
} ab_state_status_t;

/** Adds a lane's share. */
void ab_state_status_add(ab_state_status_t *status, const ab_state_status_t *share);

/** Where a lane is in its life. */
#define AB_PHASE_LIST(X)                                                                           \
    X(STARTING, "starting") /* clients are being made, the transactional id is being taken */      \
    X(JOINING, "joining")   /* in no group yet */                                                  \
    X(RUNNING, "running")                                                                          \
    X(WAITING, "waiting") /* a topic or a broker is in trouble: waiting before the next try */     \
    X(RESTARTING, "restarting") /* between two lives of its clients */                             \
    X(ENDED, "ended")

typedef enum ab_phase {
#define AB_PHASE_ENUM(id, label) AB_PHASE_##id,
    AB_PHASE_LIST(AB_PHASE_ENUM)
#undef AB_PHASE_ENUM
        AB_PHASE_COUNT
} ab_phase_t;

const char *ab_phase_label(ab_phase_t phase);

/** One lane now. */
typedef struct ab_lane_status {
    ab_phase_t phase;
    bool joined;         /* has been in the group at least once since the start */
    double tick_seconds; /* since its loop last turned */
    uint64_t inflight_bytes;
    ab_counters_t counters;
} ab_lane_status_t;

/** What the relay as a whole is doing. */
#define AB_RELAY_PHASE_LIST(X)                                                                     \
    X(CONNECTING, "connecting")         /* no broker has answered yet */                           \
    X(WAITING_TOPICS, "waiting_topics") /* a topic is missing */                                   \
    X(RUNNING, "running")                                                                          \
    X(STOPPING, "stopping")                                                                        \
    X(ENDED, "ended")

typedef enum ab_relay_phase {
#define AB_RELAY_PHASE_ENUM(id, label) AB_RELAY_PHASE_##id,
    AB_RELAY_PHASE_LIST(AB_RELAY_PHASE_ENUM)
#undef AB_RELAY_PHASE_ENUM
        AB_RELAY_PHASE_COUNT
} ab_relay_phase_t;

const char *ab_relay_phase_label(ab_relay_phase_t phase);

/** The relay now. The arrays are the caller's: as many as the config has lanes,
 *  sources and state topics. */
typedef struct ab_status {
    ab_relay_phase_t phase;
    double uptime_seconds;
    ab_counters_t total;
    ab_lane_status_t *lanes;
    unsigned lane_count;
    ab_source_status_t *sources;
    unsigned source_count;
    ab_state_status_t *states; /* one a topic of state.snapshots_from; none where nothing answers */
    unsigned state_count;
    ab_tallies_t tallies; /* of the same sources, durable outcomes by partition */
} ab_status_t;

/** Makes a zeroed status with arrays of these lengths. The caller owns it. NULL when memory is
 * short.
 */
ab_status_t *ab_status_new(unsigned lanes, unsigned sources, unsigned states);

/** Takes NULL. */
void ab_status_free(ab_status_t *status);

/** True when the process is alive: every lane's loop has turned within limit_seconds, whatever
 * Kafka does. A relay that has not started its lanes yet is alive. */
bool ab_status_alive(const ab_status_t *status, double limit_seconds);

/** Why a relay is not ready; READY when it is: identifier, label for machines, text for people.
 *  Restoring and waiting are shown, not unready. */
#define AB_READY_LIST(X)                                                                           \
    X(READY, "ready", "ready")                                                                     \
    X(CONNECTING, "connecting", "no broker has answered yet")                                      \
    X(WAITING_TOPICS, "waiting_topics", "a topic does not exist yet")                              \
    X(JOINING, "joining", "a lane has not joined the group yet")                                   \
    X(STUCK, "stuck", "a partition with lag has not moved for health.stuck_after")                 \
    X(STOPPING, "stopping", "the process is stopping")

typedef enum ab_ready {
#define AB_READY_ENUM(id, label, text) AB_READY_##id,
    AB_READY_LIST(AB_READY_ENUM)
#undef AB_READY_ENUM
        AB_READY_COUNT
} ab_ready_t;

ab_ready_t ab_status_ready(const ab_status_t *status);
const char *ab_ready_label(ab_ready_t ready);
const char *ab_ready_text(ab_ready_t ready);

#endif
