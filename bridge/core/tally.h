#ifndef BRIDGE_CORE_TALLY_H
#define BRIDGE_CORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/verdict.h"

/** The outcomes of one source partition's records: what a ledger counts, without variants and
 *  reasons. */
typedef struct ab_tally {
    uint64_t consumed;
    uint64_t outcomes[AB_OUTCOME_COUNT];
} ab_tally_t;

/** A tally per source partition. Start from {0} and ab_tallies_init(). Pure and not locked: a lane
 *  keeps one for what is in hand, and one, under its lock, for what is durable. */
typedef struct ab_tallies {
    struct ab_tallies_of_source {
        ab_tally_t *items; /* by partition */
        size_t count;
    } * sources;
    size_t source_count;
} ab_tallies_t;

/** 0, or -1 when memory is short; the tallies are then empty, and nothing is counted into them. */
int ab_tallies_init(ab_tallies_t *tallies, size_t source_count);

/** Takes what was never initialised, too. */
void ab_tallies_clear(ab_tallies_t *tallies);

/** Counts one record of a partition, which is not negative. */
void ab_tallies_count(ab_tallies_t *tallies, size_t source, int32_t partition,
                      ab_outcome_t outcome);

/** Adds more to tallies; both have the same sources. A partition for which memory is short is left
 *  out. */
void ab_tallies_add(ab_tallies_t *tallies, const ab_tallies_t *more);

/** Sets every tally to zero. */
void ab_tallies_reset(ab_tallies_t *tallies);

/** consumed equals the sum of the outcomes. */
bool ab_tally_balanced(const ab_tally_t *tally);

#endif
