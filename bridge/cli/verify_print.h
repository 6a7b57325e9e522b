#ifndef BRIDGE_CLI_VERIFY_PRINT_H
#define BRIDGE_CLI_VERIFY_PRINT_H

#include <stdio.h>

#include "bridge/cli/verify_run.h"

/** Writes one fault as a line of words. */
void ab_verify_print_fault(const ab_verify_t *verify, const ab_fault_t *fault, FILE *out);

/** The same as one JSON object on a line. Returns 0, or -1 when memory is short. */
int ab_verify_print_fault_json(const ab_verify_t *verify, const ab_fault_t *fault, FILE *out);

/** Writes what was looked at and what was found; fingerprint is that of the configuration. The last
 *  line is the result. */
void ab_verify_print(const ab_verify_t *verify, const char *fingerprint, FILE *out);

/** The same as one JSON object on a line, {"summary":…}. Returns 0, or -1 when memory is short. */
int ab_verify_print_json(const ab_verify_t *verify, const char *fingerprint, int exit_code,
                         FILE *out);

/** How many faults there are. */
uint64_t ab_verify_faults(const ab_verify_report_t *report);

/** Every source record has an outcome, or is named as missing. */
bool ab_verify_balanced(const ab_audit_counts_t *counts);

#endif
