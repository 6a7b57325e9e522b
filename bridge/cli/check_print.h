#ifndef BRIDGE_CLI_CHECK_PRINT_H
#define BRIDGE_CLI_CHECK_PRINT_H

#include <stdio.h>

#include "bridge/kafka/check.h"

/** Prints a report as a table for people, and its sum. */
void ab_check_print_table(const ab_check_report_t *report, FILE *out);

/** Prints a report as one JSON object on a line. config is the file that was checked, exit_code
 *  what the verb ends with. Returns 0, or -1 when memory is short. */
int ab_check_print_json(const ab_check_report_t *report, const char *config, int exit_code,
                        FILE *out);

#endif
