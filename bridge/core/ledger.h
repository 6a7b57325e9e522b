#ifndef BRIDGE_CORE_LEDGER_H
#define BRIDGE_CORE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/core/verdict.h"

/** Counters that must balance: consumed = routed + answered + dead_lettered + dropped.
 *  A lane counts into a ledger of its own for the transaction in hand and adds it to the durable
 *  one when the transaction has committed, so that what is shown is what happened. */
typedef struct ab_ledger {
    uint64_t consumed;
    uint64_t routed[AB_SLOT_COUNT];
    uint64_t answered;
    uint64_t dead_lettered[AB_REASON_COUNT];
    uint64_t dropped;
    uint64_t keyless;        /* routed although the record had no key */
    uint64_t without_source; /* routed without the source header, for size */
    uint64_t timestamp_zero; /* routed with "now" because Kafka's clients cannot send timestamp 0 */
    uint64_t stale;          /* re-delivered by the library and ignored; not consumed */
    uint64_t gap;            /* offsets that retention took before they were read; not consumed */
} ab_ledger_t;

/** The variant that a route is for, as it is written in the config and in labels:
 * "external_event". Static storage. */
const char *ab_slot_label(ab_route_slot_t slot);

/** Counts one record's outcome. */
void ab_ledger_count(ab_ledger_t *ledger, const ab_verdict_t *verdict);

/** Adds more to ledger, member by member. */
void ab_ledger_add(ab_ledger_t *ledger, const ab_ledger_t *more);

uint64_t ab_ledger_routed(const ab_ledger_t *ledger);
uint64_t ab_ledger_dead_lettered(const ab_ledger_t *ledger);

/** consumed equals the sum of the outcomes. */
bool ab_ledger_balanced(const ab_ledger_t *ledger);

#endif
