#ifndef BRIDGE_CORE_VERDICT_H
#define BRIDGE_CORE_VERDICT_H

#include "agentwire/arena.h"
#include "agentwire/envelope.h"
#include "agentwire/status.h"
#include "bridge/core/policy.h"
#include "bridge/core/reason.h"
#include "bridge/core/record.h"

/** What is to happen to one record. */
typedef enum ab_outcome {
    AB_OUTCOME_ROUTED,
    AB_OUTCOME_ANSWERED,
    AB_OUTCOME_DEAD_LETTERED,
    AB_OUTCOME_DROPPED,
    AB_OUTCOME_COUNT
} ab_outcome_t;

/** The verdict on one record: a pure function of the record and its source's policy (DESIGN
 *  section 3). */
typedef struct ab_verdict {
    ab_outcome_t outcome;
    aw_variant_t variant;  /* NONE when the value was not read or holds no payload we know */
    const char *topic;     /* with ROUTED: where to, borrowed from the policy */
    aw_span_t entity_key;  /* may be empty */
    aw_span_t request_id;  /* with ANSWERED; may be empty */
    int64_t event_time_ms; /* since the epoch */
    bool keyless;          /* passed check 5 without a record key: its order is the producer's */
    ab_reason_t reason;    /* with DEAD_LETTERED; with DROPPED NONE where a route says drop */
    int64_t at;            /* byte offset into the value, -1 when there is none */
    char field[AW_ERROR_FIELD_MAX]; /* path, "" when there is none */
    char text[AW_ERROR_TEXT_MAX];   /* one line that says what is wrong, "" without a reason */
} ab_verdict_t;

/** Runs checks 1 to 9. Spans borrow from the record, the topic from the policy.
 *
 *  scratch is the memory for a contract's check; the caller resets it. It may be NULL where the
 *  policy's contract is OPAQUE: nothing is allocated then.
 *
 *  Where the value was not read or was refused (checks 1 to 3), entity_key is the record's key and
 *  event_time_ms the record's timestamp, 0 when it has none: nothing is taken from bytes that did
 *  not parse. A future variant with a topic of its own goes through the checks like any other.
 *
 *  Returns AW_OK, or AW_STATUS_NO_MEMORY when the system refused memory for scratch: the record is
 *  then to be judged again later, and ret_verdict is of no use. */
AW_CHECKED int ab_verdict_of(const ab_record_t *record, const ab_policy_t *policy,
                             aw_arena_t *scratch, ab_verdict_t *ret_verdict);

/** The text of a record that cannot be forwarded as it came. Frozen like the reasons' meanings. */
#define AB_TEXT_HEADERS_UNREADABLE "the record's headers cannot be read: over 100,000, or damaged"

/** Why an output refuses a record, as far as dead letters tell it apart. */
typedef enum ab_refusal {
    AB_REFUSAL_SIZE,
    AB_REFUSAL_TIMESTAMP,
    AB_REFUSAL_RULES,
    AB_REFUSAL_OTHER,
    AB_REFUSAL_COUNT
} ab_refusal_t;

/** The text of it. Frozen like the reasons' meanings. Static storage. */
const char *ab_refusal_text(ab_refusal_t refusal);

/** Turns the verdict on a record that an output refused into produce_rejected. text says why,
 *  comes from a closed set, is cut to AW_ERROR_TEXT_MAX, and may be NULL. */
void ab_verdict_reject(ab_verdict_t *verdict, const char *text);

/** Turns the verdict on an export request that was to be answered into a dead letter: reason is
 *  STATE_UNKNOWN or STATE_NOT_READY. */
void ab_verdict_refuse_answer(ab_verdict_t *verdict, ab_reason_t reason);

/** The route that serves a variant: UNKNOWN_VARIANT for NONE. */
ab_route_slot_t ab_slot_of_variant(aw_variant_t variant);

/** The name of an outcome: "routed", "answered", "dead_lettered", "dropped". Static storage. */
const char *ab_outcome_name(ab_outcome_t outcome);

/** Reads the value of an __agent_bridge.hops header: decimal digits. Anything that is not a number,
 *  or is above 2^32-1, counts as UINT32_MAX, so that a forged header can only stop a record, never
 *  free it. */
uint32_t ab_hops_parse(aw_span_t value);

#endif
