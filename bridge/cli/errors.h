#ifndef BRIDGE_CLI_ERRORS_H
#define BRIDGE_CLI_ERRORS_H

#include <stdbool.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/letters.h"

/** Most rows of counts; what comes later is summed up in one more. */
#define AB_ERRORS_ROWS_MAX 1024u

/** How `errors show` prints the original. */
typedef enum ab_original_as { AB_ORIGINAL_JSON, AB_ORIGINAL_HEX, AB_ORIGINAL_RAW } ab_original_as_t;

/** What the command line asks for. */
typedef struct ab_errors {
    const char *file; /* the configuration */
    bool json, fail_if_open;
    const char *reason, *source, *key; /* what to list; NULL: all */
    ab_read_range_t range;
    int timeout_ms;
    ab_original_as_t original_as;
    ab_coordinates_t at; /* what to show */
} ab_errors_t;

/** Prints the counts, a row for each source and reason. Returns an exit code. */
int ab_errors_count(const ab_errors_t *errors, ab_letters_t *letters);

/** Prints a line for each letter that fits. Returns an exit code. */
int ab_errors_list(const ab_errors_t *errors, ab_letters_t *letters);

/** Prints one letter and its original. Returns an exit code. */
int ab_errors_show(const ab_errors_t *errors, const ab_config_t *config, ab_reader_t *reader);

#endif
