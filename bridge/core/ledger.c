#include "bridge/core/ledger.h"

#include <assert.h>

const char *ab_slot_label(ab_route_slot_t slot)
{
    static const char *const labels[AB_SLOT_COUNT] = {
        [AB_SLOT_EXTERNAL_EVENT] = "external_event",
        [AB_SLOT_TOOL_RESULT] = "tool_result",
        [AB_SLOT_APPROVAL] = "approval",
        [AB_SLOT_EXPORT_REQUEST] = "export_request",
        [AB_SLOT_UNKNOWN_VARIANT] = "unknown_variant",
    };
    return (unsigned)slot < AB_SLOT_COUNT ? labels[slot] : "";
}

void ab_ledger_count(ab_ledger_t *ledger, const ab_verdict_t *verdict)
{
    ledger->consumed++;
    switch (verdict->outcome) {
    case AB_OUTCOME_ROUTED:
        ledger->routed[ab_slot_of_variant(verdict->variant)]++;
        if (verdict->keyless) {
            ledger->keyless++;
        }
        break;
    case AB_OUTCOME_ANSWERED:
        ledger->answered++;
        if (verdict->keyless) {
            ledger->keyless++;
        }
        break;
    case AB_OUTCOME_DEAD_LETTERED:
        assert(verdict->reason != AB_REASON_NONE);
        ledger->dead_lettered[verdict->reason]++;
        break;
    case AB_OUTCOME_DROPPED:
        ledger->dropped++;
        break;
    case AB_OUTCOME_COUNT:
        assert(false && "a verdict without an outcome");
        break;
    }
}

void ab_ledger_add(ab_ledger_t *ledger, const ab_ledger_t *more)
{
    ledger->consumed += more->consumed;
    for (unsigned i = 0; i < AB_SLOT_COUNT; i++) {
        ledger->routed[i] += more->routed[i];
    }
    ledger->answered += more->answered;
    for (unsigned i = 0; i < AB_REASON_COUNT; i++) {
        ledger->dead_lettered[i] += more->dead_lettered[i];
    }
    ledger->dropped += more->dropped;
    ledger->keyless += more->keyless;
    ledger->without_source += more->without_source;
    ledger->timestamp_zero += more->timestamp_zero;
    ledger->stale += more->stale;
    ledger->gap += more->gap;
}

uint64_t ab_ledger_routed(const ab_ledger_t *ledger)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < AB_SLOT_COUNT; i++) {
        sum += ledger->routed[i];
    }
    return sum;
}

uint64_t ab_ledger_dead_lettered(const ab_ledger_t *ledger)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < AB_REASON_COUNT; i++) {
        sum += ledger->dead_lettered[i];
    }
    return sum;
}

bool ab_ledger_balanced(const ab_ledger_t *ledger)
{
    return ledger->consumed == ab_ledger_routed(ledger) + ledger->answered +
                                   ab_ledger_dead_lettered(ledger) + ledger->dropped;
}
