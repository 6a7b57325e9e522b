#ifndef BRIDGE_CORE_AUDIT_H
#define BRIDGE_CORE_AUDIT_H

#include "agentwire/arena.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/record.h"
#include "bridge/core/verdict.h"

/** Holds what lies in the output topics against what the source records had to become: the pure
 * half of `agent-bridge verify`. It reads nothing and sorts nothing. Its caller shows it every
 * record of the outputs (ab_audit_sight()), brings the sightings into the order of their sources,
 * and then shows it every source record with its sightings (ab_audit_judge()).
 *
 *  The outcome is worked out again with ab_verdict_of() and ab_dead_letter_build(), so that it is
 *  what this configuration says. */

/** One record of an output topic, as much of it as is needed to judge it. */
typedef struct ab_sighting {
    int64_t source_offset; /* -1: it names no record of a source */
    int64_t offset;
    int64_t timestamp_ms;
    uint64_t key, value, headers; /* digests; key 0: none */
    uint32_t value_size;
    int32_t source_partition;
    int32_t partition;
    uint16_t source; /* index into the audit's sources */
    uint16_t output; /* index into the audit's outputs */
    uint8_t copy;    /* an ab_copy_t */
    bool letter;     /* has the header of a reason */
    bool stamped;    /* its timestamp is the broker's (LogAppendTime) */
    bool redriven;   /* written by a redrive, straight to here */
    bool marked;     /* of quarantine: a redrive has marked it as taken care of */
    bool perishable; /* of an absent one: retention may have removed it */
} ab_sighting_t;

/** Orders sightings by source, source partition and offset, output, partition, offset; as qsort()
 *  wants it. */
int ab_sighting_by_source(const void *a, const void *b);
/** By output, partition, offset: where they lie. */
int ab_sighting_by_place(const void *a, const void *b);
/** By source, source partition, output, partition, key, offset: the order of delivery. */
int ab_sighting_by_key(const void *a, const void *b);
/** By output, partition, content, timestamp, offset: for those without a source header. */
int ab_sighting_by_content(const void *a, const void *b);
/** The same as far as output, partition and content go: below 0, 0 or above. */
int ab_sighting_compare_content(const ab_sighting_t *a, const ab_sighting_t *b);

/** One partition of an output. */
typedef struct ab_audit_part {
    int64_t first;     /* the first offset it still has */
    int64_t last_seen; /* of the source partition in hand; the caller leaves it alone */
} ab_audit_part_t;

/** One output topic. The caller owns the partitions. */
typedef struct ab_audit_output {
    const char *topic;
    bool route, errors, quarantine; /* what the sources use it for */
    int32_t partitions;
    ab_audit_part_t *parts;
} ab_audit_output_t;

/** One source and its outputs, as indexes; -1 where there is none. */
typedef struct ab_audit_source {
    const ab_policy_t *policy;
    int routes[AB_SLOT_COUNT];
    int errors, quarantine;
} ab_audit_source_t;

/** What can be wrong with one record. */
typedef enum ab_fault_kind {
    AB_FAULT_MISSING,    /* an output has nothing of it */
    AB_FAULT_DUPLICATE,  /* an output has it once more */
    AB_FAULT_ALTERED,    /* what is there is not what had to be */
    AB_FAULT_REORDERED,  /* it lies behind a later record of its key */
    AB_FAULT_UNEXPECTED, /* an output has it that should not */
    AB_FAULT_COUNT
} ab_fault_kind_t;

/** The word for a kind, as it is printed. Static storage. */
const char *ab_fault_name(ab_fault_kind_t kind);

/** What of a record was altered, as bits. */
enum {
    AB_PART_OF_KEY = 1,
    AB_PART_OF_VALUE = 2,
    AB_PART_OF_HEADERS = 4,
    AB_PART_OF_TIMESTAMP = 8,
    AB_PART_OF_PARTITION = 16
};

/** Longest text of ab_fault_parts(), NUL included. */
#define AB_FAULT_PARTS_MAX 64

/** "value, headers". Returns ret_text. */
const char *ab_fault_parts(unsigned parts, char ret_text[AB_FAULT_PARTS_MAX]);

typedef struct ab_fault {
    ab_fault_kind_t kind;
    int source, output;
    int32_t source_partition, partition; /* partition of the output: where it is, or had to be */
    int64_t source_offset;
    int64_t offset; /* in the output; -1: none */
    unsigned parts; /* with ALTERED */
    int64_t behind; /* with REORDERED: the source offset that it lies behind */
} ab_fault_t;

/** Everything that was counted. Of each source record one outcome is counted, so that
 *  records = routed + answered + dead_lettered + dropped + unproven + expired + missing_outcomes.
 */
typedef struct ab_audit_counts {
    uint64_t records;
    uint64_t routed;           /* found in their topic */
    uint64_t dead_lettered;    /* found on the errors topic */
    uint64_t answered;         /* export requests for the bridge: their answers are not looked at */
    uint64_t dropped;          /* expected nowhere */
    uint64_t expired;          /* older than what their output topic still has */
    uint64_t missing_outcomes; /* found nowhere */
    uint64_t unproven;         /* routed and not found: ab_audit_absent_fn has them */
    uint64_t rejected;         /* of dead_lettered: routed by the verdict, refused by the topic */
    uint64_t settled;          /* of dead_lettered: redriven since, whatever the verdict is today */
    uint64_t redriven_direct;  /* written by a redrive straight to where they belong */
    uint64_t heads, pointers;  /* quarantine records that are not whole */
    uint64_t faults[AB_FAULT_COUNT];
} ab_audit_counts_t;

/** Adds member by member. */
void ab_audit_counts_add(ab_audit_counts_t *counts, const ab_audit_counts_t *more);

typedef struct ab_audit ab_audit_t;

/** Is told of a fault; what it points to is borrowed for the call. */
typedef void ab_audit_fault_fn(void *opaque, const ab_fault_t *fault);

/** Is told of a record that had to be routed and was found nowhere: it may lie in its output
 * without a source header. absent has its content as it would lie there, and the source's
 * coordinates. The record counts as unproven. */
typedef void ab_audit_absent_fn(void *opaque, const ab_sighting_t *absent);

/** An audit; the caller fills it in and owns what it points to. */
struct ab_audit {
    const char *group;
    bool duplicates_allowed; /* at_least_once: they are counted, and the last one is judged */
    const ab_audit_source_t *sources;
    size_t source_count;
    ab_audit_output_t *outputs;
    size_t output_count;
    aw_arena_t *arena;   /* for dead letters */
    aw_arena_t *scratch; /* for contracts, as the relay's: limits.decode_bytes; NULL without any */
    ab_audit_fault_fn *on_fault;
    ab_audit_absent_fn *on_absent;
    void *opaque;
    ab_audit_counts_t counts; /* of the source partition in hand */
    uint64_t duplicates;      /* that were allowed */
    bool disordered;          /* somewhere a source's records lie in another order than they had */
};

/** What an output record is. */
typedef enum ab_sight {
    AB_SIGHT_OURS,    /* it names a source record */
    AB_SIGHT_UNNAMED, /* a routed record without a header that names one of our sources */
    AB_SIGHT_MARKER,  /* a redrive's note that a quarantine record has been taken care of; the
                         sighting is then of the place that it marks */
    AB_SIGHT_FOREIGN  /* written by another: no header of ours, or another group's */
} ab_sight_t;

/** Looks at one record of an output. ret_seen is written with OURS, UNNAMED and MARKER;
 * *ret_source_ms with OURS: the source's timestamp, -1 when it had none. */
ab_sight_t ab_audit_sight(const ab_audit_t *audit, size_t output, const ab_full_record_t *record,
                          ab_sighting_t *ret_seen, int64_t *ret_source_ms);

/** Begins another partition of a source: counts start at 0. */
void ab_audit_begin(ab_audit_t *audit);

/** Judges one source record by its sightings, which are all of it, sorted by output, partition and
 *  offset. Call it in the order of the offsets. Returns AW_OK, or the arena's failure. */
int ab_audit_judge(ab_audit_t *audit, size_t source, const ab_full_record_t *record,
                   const ab_sighting_t *seen, size_t count);

/** A sighting whose source record is not there, though it should be. */
void ab_audit_stray(ab_audit_t *audit, const ab_sighting_t *seen);

/** True when seen[index] is the one of its output that counts, the first, or where duplicates are
 *  allowed the last, and a relay wrote it: a redrive keeps no order. seen as for
 *  ab_audit_judge(). */
bool ab_audit_is_in_order(const ab_audit_t *audit, const ab_sighting_t *seen, size_t count,
                          size_t index);

/** Follows the originals in the order of ab_sighting_by_key() and tells of each that lies behind a
 *  later one of its key. Start from {.highest = -1}. */
typedef struct ab_audit_order {
    ab_sighting_t last;
    int64_t highest;
} ab_audit_order_t;

void ab_audit_follow(ab_audit_t *audit, ab_audit_order_t *order, const ab_sighting_t *seen);

#endif
