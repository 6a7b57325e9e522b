#ifndef CODEC_STATE_MIGRATE_H
#define CODEC_STATE_MIGRATE_H

#include "agentwire/migrate.h"

/** The messages that migrate. A step for any other has no row to go into and does not compile. */
#define AW__MIGRATED_LIST(X)                                                                       \
    X(MEMORY_BLOB)                                                                                 \
    X(CONTINUATION)                                                                                \
    X(LLM_CACHE_BLOB)

typedef enum aw__migrated {
#define AW__MIGRATED_ENUM(message) AW__MIGRATED_##message,
    AW__MIGRATED_LIST(AW__MIGRATED_ENUM)
#undef AW__MIGRATED_ENUM
        AW__MIGRATED_COUNT
} aw__migrated_t;

/** Makes the message of the next version from one of its version: a pure function, whose result has
 * that version written in it. Writes ret_message on success only. Returns AW_OK or a status, with
 * which the migration ends. */
typedef int (*aw__step_t)(const aw_message_t *message, aw_arena_t *arena,
                          const aw_message_t **ret_message);

/** Highest version that a registry has room for. */
#define AW__STATE_VERSION_MAX 16u

/** The steps by message and by the version they lead on from. */
typedef struct aw__migrations {
    uint32_t current;
    aw__step_t steps[AW__MIGRATED_COUNT][AW__STATE_VERSION_MAX];
} aw__migrations_t;

/** The steps of codec/state/steps.def. */
extern __attribute__((visibility("hidden"))) const aw__migrations_t aw__migrations;

/** aw_state_migrate() over any registry. */
int aw__migrate(const aw__migrations_t *migrations, const aw_message_t *message, aw_arena_t *arena,
                const aw_message_t **ret_message, aw_error_t *error);

#endif
