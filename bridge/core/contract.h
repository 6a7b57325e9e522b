#ifndef BRIDGE_CORE_CONTRACT_H
#define BRIDGE_CORE_CONTRACT_H

#include "agentwire/arena.h"
#include "agentwire/envelope.h"
#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"
#include "bridge/core/policy.h"
#include "bridge/core/reason.h"

/** How an external_event breaks its source's contract. */
typedef struct ab_breach {
    ab_reason_t reason; /* NONE: it keeps the contract */
    int64_t at;         /* byte of the event at which the fault begins, -1 when there is none */
    char field[AW_ERROR_FIELD_MAX]; /* JSON pointer of names that the contract knows, may be "" */
    char text[AW_ERROR_TEXT_MAX];   /* what is wrong; nothing of the event itself */
} ab_breach_t;

/** Holds the external_event of an envelope to a contract; it checks and never rewrites.
 *
 * scratch is the memory to check in, which the caller resets; NULL will do for OPAQUE. An event
 * whose check needs more than scratch may take breaks the contract: nobody can vouch for it.
 * Returns AW_OK, or AW_STATUS_NO_MEMORY, and then ret_breach is untouched. */
AW_CHECKED int ab_contract_check(ab_contract_t contract, const aw_envelope_view_t *envelope,
                                 aw_arena_t *scratch, ab_breach_t *ret_breach);

#endif
