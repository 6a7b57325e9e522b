#ifndef AGENTWIRE_BUILD_H
#define AGENTWIRE_BUILD_H

#include "agentwire/field.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Makes a message of any type, field by field, in an arena.
 *
 *      aw_builder_t record;
 *      aw_builder_init(&record, AW_MESSAGE_ACTIVATION_ERROR_RECORD, arena);
 *      aw_builder_set_bytes(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY, key);
 *      aw_builder_set_int64(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS, time_ms);
 *      const aw_message_t *message;
 *      int status = aw_builder_finish(&record, &message);
 *
 * Lives on the caller's stack; the members are the builder's own. The calls in between return
 * nothing: the first trouble is kept, everything after it is ignored, and aw_builder_finish()
 * reports it.
 *
 * Trouble is AW_STATUS_INVALID_ARGUMENT (the message has no such field, or one of another kind, or
 * the message given is of another type), AW_STATUS_INVALID_UTF8 (a string must be well-formed), and
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY from the arena.
 *
 * A new message carries state_schema_version 1 where it has that field. Nothing else is filled in:
 * no intent_id, no trace_id, no signature.
 */
typedef struct aw_builder {
    aw_message_t *message;
    aw_arena_t *arena;
    int status;
} aw_builder_t;

/** Begins a message. The arena must outlive it. */
void aw_builder_init(aw_builder_t *builder, aw_message_type_t type, aw_arena_t *arena);

/** Begins a message as a copy of another, its unknown fields and its version included, so that some
 * of its fields can be set anew. Strings, bytes and messages inside are borrowed from the original,
 * which stays as it is and must outlive the copy. */
void aw_builder_init_copy(aw_builder_t *builder, const aw_message_t *message, aw_arena_t *arena);

/** Sets a string or bytes field. The span is borrowed, not copied: it must outlive the message. The
 * absent span counts as empty.
 *
 * Here and below: setting a field again replaces it, and setting a member of AgentEnvelope.payload
 * clears the one that was set. */
void aw_builder_set_bytes(aw_builder_t *builder, uint32_t number, aw_span_t value);

/** Set a number or a truth value. An enum takes any number, known or not. */
void aw_builder_set_int64(aw_builder_t *builder, uint32_t number, int64_t value);
void aw_builder_set_uint32(aw_builder_t *builder, uint32_t number, uint32_t value);
void aw_builder_set_bool(aw_builder_t *builder, uint32_t number, bool value);
void aw_builder_set_enum(aw_builder_t *builder, uint32_t number, int32_t value);

/** Sets a message field to a finished message of the field's type, which is borrowed. */
void aw_builder_set_message(aw_builder_t *builder, uint32_t number, const aw_message_t *value);

/** Appends to a list of strings, or to a list of messages. Borrowed, as above. */
void aw_builder_add_bytes(aw_builder_t *builder, uint32_t number, aw_span_t value);
void aw_builder_add_message(aw_builder_t *builder, uint32_t number, const aw_message_t *value);

/** Sets one key of a map. Of equal keys the last counts. */
void aw_builder_put(aw_builder_t *builder, uint32_t number, aw_span_t key, aw_span_t value);

/** Ends the message; the builder must not be used any more. ret_message is written on success only.
 *  Returns AW_OK or the first trouble. */
AW_CHECKED int aw_builder_finish(aw_builder_t *builder, const aw_message_t **ret_message);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
