#ifndef BRIDGE_CLI_VERIFY_PLAN_H
#define BRIDGE_CLI_VERIFY_PLAN_H

#include "bridge/config/config.h"
#include "bridge/core/audit.h"

/** Fills in the sources and the outputs of an audit from a configuration, which must outlive it;
 *  nothing is known of the outputs' partitions yet. Returns 0, or -1 when memory is short. Cleared
 *  with ab_verify_plan_clear() either way. */
int ab_verify_plan(const ab_config_t *config, ab_audit_t *ret_audit);

/** Learns of one partition of an output, in ascending order, and of the first offset it still has.
 *  Returns 0, or -1 when memory is short. */
int ab_verify_plan_part(ab_audit_t *audit, const char *topic, int32_t partition, int64_t first);

/** Frees what the two have made. */
void ab_verify_plan_clear(ab_audit_t *audit);

#endif
