#ifndef BRIDGE_CLI_REDRIVE_PRINT_H
#define BRIDGE_CLI_REDRIVE_PRINT_H

#include <stdio.h>

#include "bridge/cli/log.h"
#include "bridge/kafka/redrive.h"

/** Most records that are named on paper; --json names all. */
#define AB_REDRIVE_NAMED_MAX 20u

/** What a redrive shows while it runs and at its end. */
typedef struct ab_redrive_printer {
    bool json;
    bool dry_run;
    bool quiet; /* records that stay are not named: the same come again */
    bool bar;   /* standard error is a terminal */
    bool drawn; /* a bar stands on the line */
    bool begun; /* the job's id was told */
    uint64_t named;
    int64_t told_ms;
    ab_log_t *log; /* where there is no terminal */
} ab_redrive_printer_t;

/** Calls back of ab_redrive_setup_t; opaque is the printer. */
void ab_redrive_print_left(void *opaque, const ab_redrive_left_t *left);
void ab_redrive_print_progress(void *opaque, const ab_redrive_report_t *report);

/** Takes the bar away, before anything else is written to the terminal. */
void ab_redrive_print_clear(ab_redrive_printer_t *printer);

/** What becomes of the selected records, by reason and target. */
void ab_redrive_print_counts(ab_redrive_printer_t *printer, const ab_redrive_report_t *report,
                             FILE *out);

/** The last line, or with json the last object. code is the exit code. Returns 0, or -1 when memory
 *  is short. */
int ab_redrive_print_end(ab_redrive_printer_t *printer, const ab_redrive_report_t *report, int code,
                         FILE *out);

#endif
