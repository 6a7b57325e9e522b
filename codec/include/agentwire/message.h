#ifndef AGENTWIRE_MESSAGE_H
#define AGENTWIRE_MESSAGE_H

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Every message of protos/beam_agents.proto: identifier and name. The ten that travel on their own
 *  come first, then those that only occur inside of others. */
#define AW_MESSAGE_LIST(X)                                                                         \
    X(MEMORY_BLOB, "MemoryBlob")                                                                   \
    X(TOOL_INTENT, "ToolIntent")                                                                   \
    X(TOOL_RESULT, "ToolResult")                                                                   \
    X(TRACE_EVENT, "TraceEvent")                                                                   \
    X(AGENT_ENVELOPE, "AgentEnvelope")                                                             \
    X(STATE_SNAPSHOT, "StateSnapshot")                                                             \
    X(ACTIVATION_ERROR_RECORD, "ActivationErrorRecord")                                            \
    X(CONTINUATION, "Continuation")                                                                \
    X(LLM_CACHE_BLOB, "LlmCacheBlob")                                                              \
    X(LONG_TERM_RECORD, "LongTermRecord")                                                          \
    X(MEMORY_ENTRY, "MemoryBlob.MemoryEntry")                                                      \
    X(ATTRIBUTES_ENTRY, "TraceEvent.AttributesEntry")                                              \
    X(APPROVAL, "AgentEnvelope.Approval")                                                          \
    X(STATE_EXPORT_REQUEST, "AgentEnvelope.StateExportRequest")                                    \
    X(LLM_CACHE_ENTRY, "LlmCacheBlob.LlmCacheEntry")

typedef enum aw_message_type {
#define AW_MESSAGE_ENUM(id, name) AW_MESSAGE_##id,
    AW_MESSAGE_LIST(AW_MESSAGE_ENUM)
#undef AW_MESSAGE_ENUM
        AW_MESSAGE_COUNT
} aw_message_type_t;

/** Types below this one are the ten top-level messages. */
#define AW_MESSAGE_TOP_COUNT AW_MESSAGE_MEMORY_ENTRY

/** The name within the package, nested ones with a dot; "unknown" for a number that is no type.
 *  Static storage. */
const char *aw_message_type_name(aw_message_type_t type);

/** Finds a type by name, with or without "beam_agents.v1." before it.
 *  Returns AW_OK or AW_STATUS_UNKNOWN_TYPE. */
AW_CHECKED int aw_message_type_find(const char *name, aw_message_type_t *ret_type);

/** A decoded or built message. It lives in an arena, and its strings and bytes borrow from the
 * input it was decoded from (or the spans it was built from): it is good for as long as both are.
 *
 *  agentwire/field.h reads it, agentwire/build.h makes one. Nothing changes it any more, so any
 * number of threads may read it.
 */
typedef struct aw_message aw_message_t;

/** The type of a message. */
aw_message_type_t aw_message_type(const aw_message_t *message);

/** Reads the bytes through without building anything or allocating: says whether the reference
 * runtime (Python protobuf 6.33.6 on upb) would accept them as a message of this type, and if not,
 * which is the first defect in input order, at which offset and in which field.
 *
 * Returns AW_OK; AW_STATUS_DECODE_… or AW_STATUS_INVALID_UTF8; AW_STATUS_LIMIT_SIZE for 2^31-1
 * bytes and more; AW_STATUS_INVALID_ARGUMENT for a number that is no type.
 */
AW_CHECKED int aw_message_scan(aw_message_type_t type, aw_span_t input, aw_error_t *error);

/** Decodes the bytes into a message in the arena. The verdict on the bytes is the scan's, always.
 *
 * Merges as the reference runtime does: the last of a scalar, a message given again into the one
 * that is there, the last of equal map keys, another variant of the payload afresh. Unknown fields
 * are kept.
 *
 * ret_message is written on success only. After a failure the arena holds remains until it is
 * reset. Returns what aw_message_scan() does, or AW_STATUS_LIMIT_DECODE_BYTES / AW_STATUS_NO_MEMORY
 * from the arena.
 */
AW_CHECKED int aw_message_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                                 const aw_message_t **ret_message, aw_error_t *error);

/** Writes the deterministic encoding: what the reference runtime's
 * SerializeToString(deterministic=True) gives for the same message.
 *
 * ret_bytes lies in the arena and is written on success only; an empty encoding is there and empty.
 * Returns AW_OK; AW_STATUS_LIMIT_SIZE when it would be 2^31-1 bytes or more (expanding map entries
 * and negative enums can get there); AW_STATUS_LIMIT_DECODE_BYTES / AW_STATUS_NO_MEMORY from the
 * arena.
 */
AW_CHECKED int aw_message_encode(const aw_message_t *message, aw_arena_t *arena,
                                 aw_span_t *ret_bytes);

/** The version of the protobuf-c whose descriptors the messages stand on. Static storage. */
const char *aw_message_library_version(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
