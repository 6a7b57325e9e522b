#ifndef AGENTWIRE_MIGRATE_H
#define AGENTWIRE_MIGRATE_H

#include "agentwire/message.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** The state_schema_version that builders write and that migration leads to. */
#define AW_STATE_SCHEMA_VERSION 1u

/** Brings a decoded MemoryBlob, Continuation or LlmCacheBlob to the current version, one step a
 * version. Version 0, which was written before there were versions, counts as 1.
 *
 * A current message comes back untouched: ret_message is message itself, and a version of 0 stays
 * 0. What a step makes lies in the arena and borrows from the message, so it is good for as long as
 * both are. ret_message is written on success only.
 *
 * Returns AW_OK; AW_STATUS_VERSION_NEWER when the version is above AW_STATE_SCHEMA_VERSION;
 * AW_STATUS_VERSION_GAP when a step is missing; AW_STATUS_INVALID_ARGUMENT for any other message;
 * AW_STATUS_LIMIT_DECODE_BYTES / AW_STATUS_NO_MEMORY from the arena.
 */
AW_CHECKED int aw_state_migrate(const aw_message_t *message, aw_arena_t *arena,
                                const aw_message_t **ret_message, aw_error_t *error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
