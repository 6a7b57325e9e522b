#ifndef BRIDGE_CLI_EXPLAIN_CHECKS_H
#define BRIDGE_CLI_EXPLAIN_CHECKS_H

#include "agentwire/json.h"
#include "bridge/core/verdict.h"

/** The checks of a verdict, as they are run (DESIGN section 3): word, and what it asks. */
#define AB_CHECK_STEP_LIST(X)                                                                      \
    X(TOMBSTONE, "tombstone", "the value is not NULL")                                             \
    X(SIZE, "size", "the value is no larger than max_value")                                       \
    X(WIRE, "wire", "the bytes parse as an AgentEnvelope")                                         \
    X(PAYLOAD, "payload", "the envelope holds a payload that is known, or has a route")            \
    X(KEYS, "keys", "entity_key is there, and the record's key is the same")                       \
    X(IDS, "ids", "intent_id is there, and tool_result.entity_key does not differ")                \
    X(CONTRACT, "contract", "the external_event keeps its contract")                               \
    X(HOPS, "hops", "the record was not redriven too often")                                       \
    X(ROUTE, "route", "the variant has a route that takes it")

typedef enum ab_check_step {
#define AB_CHECK_STEP_ENUM(id, word, text) AB_STEP_##id,
    AB_CHECK_STEP_LIST(AB_CHECK_STEP_ENUM)
#undef AB_CHECK_STEP_ENUM
        AB_STEP_COUNT
} ab_check_step_t;

/** The check that ended a verdict: the one that the reason is of, AB_STEP_COUNT when all passed. A
 *  dropped tombstone ended at the first, too. */
ab_check_step_t ab_check_step_of(const ab_verdict_t *verdict);

/** Writes the checks as an array: word, result (passed, failed, not_reached), and the values that
 *  it saw. */
void ab_checks_json(aw_json_writer_t *writer, const ab_record_t *record, const ab_policy_t *policy,
                    const ab_verdict_t *verdict);

#endif
