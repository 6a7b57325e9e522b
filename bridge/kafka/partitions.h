#ifndef BRIDGE_KAFKA_PARTITIONS_H
#define BRIDGE_KAFKA_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/config/config.h"
#include "bridge/core/frontier.h"

/** Most partitions of one topic the bridge takes. */
#define AB_PARTITIONS_MAX 100000

/** Where one partition stands in this lane. */
typedef enum ab_part_state {
    AB_PART_NONE,    /* not ours */
    AB_PART_PENDING, /* ours, but where to begin is not settled; nothing is fetched */
    AB_PART_HELD,    /* fetched from next on */
    AB_PART_STOPPED  /* ours, stands still until an operator decides */
} ab_part_state_t;

/** One source partition. The position is the bridge's own (specs/lane.md rules 2 and 4). */
typedef struct ab_part {
    ab_part_state_t state;
    bool assigned; /* librdkafka has been told to fetch it */
    bool held;     /* a request at its head waits: nothing behind it is taken (lane_answer.h) */
    bool in_transaction; /* has records in the transaction in hand */
    int64_t short_ns;    /* since when its end is seen below the committed offset, 0: it is not */
    int64_t next;        /* the next offset expected */
    int64_t committed;   /* the frontier: below it every outcome is durable */
    int64_t covered;     /* below it everything was written before the last barrier was asked for */
    int64_t covering;    /* the same of the barrier that is being asked for, 0: not of it */
    int64_t end;         /* where the log ended when it was last read to its end, -1: not yet */
    int64_t first_ms; /* timestamp of the first record since the last commit, 0: none or unknown */
    bool paused;      /* by the lane, for its source's breaker */
    int64_t judged;   /* records below it have been shown to the breaker */
    ab_frontier_t frontier; /* at_least_once: what is written and not committed yet */
    int64_t moved_ns;       /* when the frontier last moved, or there was nothing to move for */
} ab_part_t;

/** The partitions of every source of one lane. Used by that lane's thread alone. */
typedef struct ab_parts {
    struct ab_parts_of_source {
        ab_part_t *items;
        int32_t count;
    } * sources;
    size_t source_count;
    const ab_config_t *config;
    size_t last_source; /* the one found last: records come in runs */
    size_t pending;     /* how many are PENDING */
    size_t held;        /* how many are HELD */
} ab_parts_t;

/** Prepares an empty table; 0, or -1 when memory is short. */
int ab_parts_init(ab_parts_t *parts, const ab_config_t *config);
void ab_parts_clear(ab_parts_t *parts);

/** The index of the source that reads topic, or -1. */
int ab_parts_source(ab_parts_t *parts, const char *topic);

/** The partition, or NULL when it was never set. */
ab_part_t *ab_parts_get(const ab_parts_t *parts, int source, int32_t partition);

/** Sets a partition's state, growing the table. 0, or -1 (memory, or past AB_PARTITIONS_MAX). */
int ab_parts_set(ab_parts_t *parts, int source, int32_t partition, ab_part_state_t state);

/** Forgets every partition. */
void ab_parts_reset(ab_parts_t *parts);

#endif
