#ifndef BRIDGE_CLI_LEDGER_EVENT_H
#define BRIDGE_CLI_LEDGER_EVENT_H

#include "bridge/core/event.h"
#include "bridge/core/ledger.h"

/** Emits one "ledger" event: consumed, routed, dead_lettered, dropped, balanced, routed_<variant>
 *  for each variant, dead_lettered_<reason> for each reason with any, and the other counters. A
 *  ledger that does not balance is an error, and the message says so. */
void ab_ledger_emit(const ab_ledger_t *ledger, const ab_sink_t *sink);

#endif
