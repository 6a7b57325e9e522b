#ifndef CODEC_INBOX_MIGRATION_H
#define CODEC_INBOX_MIGRATION_H

#include "codec/inbox/fault.h"
#include "codec/json/build.h"

/* All that a migration may use: it is a pure function of a value, and knows no encoder, decoder,
 * validator or version but its own. tests/style/inbox.py holds the includes. */

/** One step of a version chain. migrate gets a value of version `from`, never changes it, and
 * returns one that declares version `to`; NULL when the value is at fault, with the result filled,
 * or when the maker was refused memory. */
typedef struct aw__inbox_migration {
    unsigned from;
    unsigned to;
    const aw__json_value_t *(*migrate)(const aw__json_value_t *value, aw__json_maker_t *maker,
                                       aw_inbox_result_t *result);
} aw__inbox_migration_t;

/** True for an object; an array, a scalar and an absent value (NULL) are none. */
static inline bool aw__inbox_is_object(const aw__json_value_t *value)
{
    return value != NULL && value->kind == AW__JSON_OBJECT;
}

#endif
