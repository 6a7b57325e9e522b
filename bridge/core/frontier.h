#ifndef BRIDGE_CORE_FRONTIER_H
#define BRIDGE_CORE_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/verdict.h"

/** One source record that was handled: what is counted when its outcome is durable. */
typedef struct ab_done {
    int64_t offset;
    int64_t timestamp_ms; /* with has_timestamp */
    uint32_t waits;       /* outputs that have not been reported yet; kept by the frontier */
    uint8_t outcome;      /* an ab_outcome_t */
    uint8_t variant;      /* an aw_variant_t */
    uint8_t reason;       /* an ab_reason_t */
    bool has_timestamp : 1;
    bool keyless : 1;
    bool without_source : 1;
    bool timestamp_zero : 1;
} ab_done_t;

/** The frontier of one source partition: the offset below which every record's outcome is durable.
 *  Records are added in the order of their offsets, which may have gaps; the reports of their
 *  outputs may come in any order. Pure; start from {0} and ab_frontier_reset(). */
typedef struct ab_frontier {
    ab_done_t *items; /* a ring; capacity is 0 or a power of two */
    size_t capacity;
    uint64_t first; /* ticket of the oldest record that is waited for */
    uint64_t next;  /* ticket of the next one */
    int64_t offset; /* the frontier */
    int64_t end;    /* behind the newest record */
} ab_frontier_t;

/** Begins at offset: every record so far is forgotten, and reports of them are ignored. */
void ab_frontier_reset(ab_frontier_t *frontier, int64_t offset);

/** Makes room for one more record. 0, or -1 when memory is short. */
int ab_frontier_reserve(ab_frontier_t *frontier);

/** Adds a record that is about to be handled; its offset is at least ab_frontier_t's end, and there
 *  is room. Returns its ticket. It is waited for until ab_frontier_settle(), whatever is reported.
 */
uint64_t ab_frontier_add(ab_frontier_t *frontier, int64_t offset);

/** One more output of the record will be reported. */
void ab_frontier_expect(ab_frontier_t *frontier, uint64_t ticket);

/** The record was handled: all its outputs are expected, and this is what it counts as; offset and
 *  waits of done are not looked at. With every output reported it is durable. */
void ab_frontier_settle(ab_frontier_t *frontier, uint64_t ticket, const ab_done_t *done);

/** One output of the record is durable. False when the record was forgotten meanwhile. */
bool ab_frontier_report(ab_frontier_t *frontier, uint64_t ticket);

/** True when the ticket's record is still waited for. */
bool ab_frontier_knows(const ab_frontier_t *frontier, uint64_t ticket);

/** Takes the oldest record out when its outcome is durable, and moves the frontier behind it.
 *  False when there is none; ret_done is untouched then. */
bool ab_frontier_pass(ab_frontier_t *frontier, ab_done_t *ret_done);

/** How many records are waited for. */
size_t ab_frontier_waiting(const ab_frontier_t *frontier);

/** Frees the memory; tickets go on, so that late reports stay unknown. */
void ab_frontier_clear(ab_frontier_t *frontier);

#endif
