#ifndef BRIDGE_CORE_VERDICT_H
#define BRIDGE_CORE_VERDICT_H

#include "agentwire/envelope.h"
#include "bridge/core/policy.h"
#include "bridge/core/reason.h"
#include "bridge/core/record.h"

/** What is to happen to one record. */
typedef enum ab_outcome {
    AB_OUTCOME_ROUTED,
    AB_OUTCOME_DEAD_LETTERED,
    AB_OUTCOME_DROPPED,
    AB_OUTCOME_COUNT
} ab_outcome_t;

/** The verdict on one record: a pure function of the record and its source's policy (DESIGN section 3). */
typedef struct ab_verdict {
    ab_outcome_t outcome;
    aw_variant_t variant;     /* NONE when the scan refused or no payload was set */
    const char *topic;        /* with ROUTED: where to, borrowed from the policy */
    aw_span_t entity_key;     /* of the envelope, or the record's key where the scan refused; may be empty */
    int64_t event_time_ms;    /* of the envelope, or the record's timestamp where the scan refused */
    bool keyless;             /* accepted although the record has no key: order depends on the producer */
    ab_reason_t reason;       /* with DEAD_LETTERED, and with DROPPED the check that decided */
    int64_t at;               /* byte offset into the value, -1 when there is none */
    char field[AW_ERROR_FIELD_MAX]; /* path, "" when there is none */
    const char *text;         /* static storage, one line */
} ab_verdict_t;

/** Runs checks 1 to 9. Never fails, allocates nothing. Spans borrow from the record. */
void ab_verdict_of(const ab_record_t *record, const ab_policy_t *policy, ab_verdict_t *ret_verdict);

/** The name of an outcome: "routed", "dead_lettered", "dropped". Static storage. */
const char *ab_outcome_name(ab_outcome_t outcome);

/** Reads the value of an __agent_bridge.hops header: decimal digits. Anything that is not a number, or
 *  is above 2^32-1, counts as UINT32_MAX, so that a forged header can only stop a record, never free it. */
uint32_t ab_hops_parse(aw_span_t value);

#endif
