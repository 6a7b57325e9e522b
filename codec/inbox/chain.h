#ifndef CODEC_INBOX_CHAIN_H
#define CODEC_INBOX_CHAIN_H

#include "codec/inbox/migration.h"

/** What leads from any version of a value to one version. */
typedef struct aw__chain {
    const char *label;                       /* what messages begin with */
    const aw__inbox_migration_t *migrations; /* in any order; of two with one `from` the first */
    size_t count;
    unsigned target;
    bool has_initial; /* a value without a version has the version `initial` */
    unsigned initial; /* also the lowest version there is; 1 without it */
} aw__chain_t;

/** Brings a value to the chain's target version, one step at a time. A value that is there already
 * comes back itself. NULL when the result was filled or the maker was refused memory; the value is
 * never changed. Outcomes: NO_VERSION, BAD_VERSION, NEWER_VERSION, NO_MIGRATION, BAD_STEP,
 * BAD_RESULT, and those of the migrations. */
const aw__json_value_t *aw__chain_run(const aw__chain_t *chain, const aw__json_value_t *value,
                                      aw__json_maker_t *maker, aw_inbox_result_t *result);

/** The number that a value declares as its version. False when it declares none. */
bool aw__chain_version(const aw__json_value_t *value, double *ret_version);

#endif
