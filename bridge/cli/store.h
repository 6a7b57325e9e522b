#ifndef BRIDGE_CLI_STORE_H
#define BRIDGE_CLI_STORE_H

#include <stdbool.h>

#include "agentwire/span.h"
#include "bridge/config/config.h"
#include "bridge/kafka/reader.h"
#include "bridge/state/store.h"

/** What the verb store was asked for. */
typedef struct ab_store_options {
    const char *file; /* of the configuration, or NULL */
    const char *dir;  /* NULL: state.dir of the configuration */
    const char *topic;
    int32_t partition; /* -1: all */
    bool json, keys;
    int timeout_ms;
} ab_store_options_t;

/** Says on stderr what cannot be done to a store, why, and what to do about it. */
void ab_store_complain(const char *topic, int32_t partition, const char *what, const char *text,
                       const char *todo);

/** What to do about a store that cannot be read: damaged, or not. */
const char *ab_store_advice(ab_store_result_t result);

/** To be said when no store was one that was asked for. Returns an exit code: nothing is wrong with
 * a folder without stores, unless some were named. */
int ab_store_none(const ab_store_options_t *options, const char *where);

/** Prints a key: as text where it is some, and as hex in JSON. */
void ab_store_print_key(aw_span_t key, bool json);

/** True when the store is one that was asked for. */
bool ab_store_is_wanted(const ab_store_options_t *options, const char *topic, int32_t partition);

/** Hold each store in dir against its topic. Returns an exit code. */
int ab_store_check(const ab_store_options_t *options, const char *dir, ab_reader_t *reader);

/** Make each store of the configuration anew from its topic. Returns an exit code. */
int ab_store_rebuild(const ab_store_options_t *options, const ab_config_t *config,
                     ab_reader_t *reader);

#endif
