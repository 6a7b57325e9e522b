#ifndef BRIDGE_CLI_EXPLAIN_H
#define BRIDGE_CLI_EXPLAIN_H

#include <stdbool.h>

#include "bridge/cli/cli.h"
#include "bridge/config/config.h"
#include "bridge/kafka/reader.h"

/** What the command line asks for. */
typedef struct ab_explain {
    const char *file;     /* the configuration */
    const char *argument; /* RECORD or FILE; NULL with since */
    const char *source;   /* with FILE: the source it is held to be from; NULL: the first */
    const char *key;      /* with FILE: the record's key; NULL: none */
    bool hex, json;
    ab_read_range_t range;
    int timeout_ms;
} ab_explain_t;

/** Most rows of counts: outcomes and reasons, of all sources; what comes beyond is one sum. */
#define AB_EXPLAIN_ROWS_MAX 4096u

/** Runs the verdicts over the sources and prints counts. Returns an exit code. */
int ab_explain_traffic(const ab_explain_t *explain, const ab_config_t *config, ab_reader_t *reader);

#endif
