#ifndef AGENTWIRE_FIELD_H
#define AGENTWIRE_FIELD_H

#include "agentwire/message.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Every field of every message: message, field, number, name in the schema, name in proto3 JSON.
 *  Ascending and without a gap within a message. Numbers are frozen. */
#define AW_FIELD_LIST(X)                                                                           \
    X(MEMORY_BLOB, STATE_SCHEMA_VERSION, 1, "state_schema_version", "stateSchemaVersion")          \
    X(MEMORY_BLOB, ENTRIES, 2, "entries", "entries")                                               \
    X(MEMORY_BLOB, TOTAL_VALUE_BYTES, 3, "total_value_bytes", "totalValueBytes")                   \
    X(TOOL_INTENT, INTENT_ID, 1, "intent_id", "intentId")                                          \
    X(TOOL_INTENT, ENTITY_KEY, 2, "entity_key", "entityKey")                                       \
    X(TOOL_INTENT, SEQ, 3, "seq", "seq")                                                           \
    X(TOOL_INTENT, STEP_INDEX, 4, "step_index", "stepIndex")                                       \
    X(TOOL_INTENT, TOOL_NAME, 5, "tool_name", "toolName")                                          \
    X(TOOL_INTENT, ARGS_JSON, 6, "args_json", "argsJson")                                          \
    X(TOOL_INTENT, CREATED_AT_MS, 7, "created_at_ms", "createdAtMs")                               \
    X(TOOL_INTENT, EXPIRES_AT_MS, 8, "expires_at_ms", "expiresAtMs")                               \
    X(TOOL_INTENT, ATTEMPT, 9, "attempt", "attempt")                                               \
    X(TOOL_INTENT, KIND, 10, "kind", "kind")                                                       \
    X(TOOL_INTENT, TRACE_ID, 11, "trace_id", "traceId")                                            \
    X(TOOL_INTENT, SIGNATURE_SCHEME, 12, "signature_scheme", "signatureScheme")                    \
    X(TOOL_INTENT, SIGNING_KEY_ID, 13, "signing_key_id", "signingKeyId")                           \
    X(TOOL_INTENT, SIGNATURE, 14, "signature", "signature")                                        \
    X(TOOL_RESULT, INTENT_ID, 1, "intent_id", "intentId")                                          \
    X(TOOL_RESULT, ENTITY_KEY, 2, "entity_key", "entityKey")                                       \
    X(TOOL_RESULT, SEQ, 3, "seq", "seq")                                                           \
    X(TOOL_RESULT, STATUS, 4, "status", "status")                                                  \
    X(TOOL_RESULT, PAYLOAD, 5, "payload", "payload")                                               \
    X(TOOL_RESULT, ERROR_MESSAGE, 6, "error_message", "errorMessage")                              \
    X(TOOL_RESULT, COMPLETED_AT_MS, 7, "completed_at_ms", "completedAtMs")                         \
    X(TRACE_EVENT, TRACE_ID, 1, "trace_id", "traceId")                                             \
    X(TRACE_EVENT, SPAN_ID, 2, "span_id", "spanId")                                                \
    X(TRACE_EVENT, PARENT_SPAN_ID, 3, "parent_span_id", "parentSpanId")                            \
    X(TRACE_EVENT, ENTITY_KEY, 4, "entity_key", "entityKey")                                       \
    X(TRACE_EVENT, SEQ, 5, "seq", "seq")                                                           \
    X(TRACE_EVENT, STEP_INDEX, 6, "step_index", "stepIndex")                                       \
    X(TRACE_EVENT, EVENT_TYPE, 7, "event_type", "eventType")                                       \
    X(TRACE_EVENT, ATTRIBUTES, 8, "attributes", "attributes")                                      \
    X(TRACE_EVENT, START_MS, 9, "start_ms", "startMs")                                             \
    X(TRACE_EVENT, END_MS, 10, "end_ms", "endMs")                                                  \
    X(AGENT_ENVELOPE, ENTITY_KEY, 1, "entity_key", "entityKey")                                    \
    X(AGENT_ENVELOPE, EVENT_TIME_MS, 2, "event_time_ms", "eventTimeMs")                            \
    X(AGENT_ENVELOPE, EXTERNAL_EVENT, 3, "external_event", "externalEvent")                        \
    X(AGENT_ENVELOPE, TOOL_RESULT, 4, "tool_result", "toolResult")                                 \
    X(AGENT_ENVELOPE, APPROVAL, 5, "approval", "approval")                                         \
    X(AGENT_ENVELOPE, EXPORT_REQUEST, 6, "export_request", "exportRequest")                        \
    X(STATE_SNAPSHOT, STATE_SCHEMA_VERSION, 1, "state_schema_version", "stateSchemaVersion")       \
    X(STATE_SNAPSHOT, ENTITY_KEY, 2, "entity_key", "entityKey")                                    \
    X(STATE_SNAPSHOT, SEQ, 3, "seq", "seq")                                                        \
    X(STATE_SNAPSHOT, SNAPSHOT_AT_MS, 4, "snapshot_at_ms", "snapshotAtMs")                         \
    X(STATE_SNAPSHOT, MEMORY, 5, "memory", "memory")                                               \
    X(STATE_SNAPSHOT, LLM_CACHE, 6, "llm_cache", "llmCache")                                       \
    X(STATE_SNAPSHOT, CONTINUATION, 7, "continuation", "continuation")                             \
    X(STATE_SNAPSHOT, PENDING, 8, "pending", "pending")                                            \
    X(STATE_SNAPSHOT, REQUEST_ID, 9, "request_id", "requestId")                                    \
    X(ACTIVATION_ERROR_RECORD, ENTITY_KEY, 1, "entity_key", "entityKey")                           \
    X(ACTIVATION_ERROR_RECORD, REASON, 2, "reason", "reason")                                      \
    X(ACTIVATION_ERROR_RECORD, DETAIL, 3, "detail", "detail")                                      \
    X(ACTIVATION_ERROR_RECORD, EVENT_TIME_MS, 4, "event_time_ms", "eventTimeMs")                   \
    X(CONTINUATION, STATE_SCHEMA_VERSION, 1, "state_schema_version", "stateSchemaVersion")         \
    X(CONTINUATION, SEQ, 2, "seq", "seq")                                                          \
    X(CONTINUATION, STEP_INDEX, 3, "step_index", "stepIndex")                                      \
    X(CONTINUATION, PENDING_INTENT_IDS, 4, "pending_intent_ids", "pendingIntentIds")               \
    X(CONTINUATION, ADAPTER, 5, "adapter", "adapter")                                              \
    X(CONTINUATION, SNAPSHOT, 6, "snapshot", "snapshot")                                           \
    X(CONTINUATION, SUSPENDED_AT_MS, 7, "suspended_at_ms", "suspendedAtMs")                        \
    X(CONTINUATION, DEADLINE_MS, 8, "deadline_ms", "deadlineMs")                                   \
    X(CONTINUATION, ESCALATIONS, 9, "escalations", "escalations")                                  \
    X(LLM_CACHE_BLOB, STATE_SCHEMA_VERSION, 1, "state_schema_version", "stateSchemaVersion")       \
    X(LLM_CACHE_BLOB, ENTRIES, 2, "entries", "entries")                                            \
    X(LLM_CACHE_BLOB, TOTAL_RESPONSE_BYTES, 3, "total_response_bytes", "totalResponseBytes")       \
    X(LONG_TERM_RECORD, STATE_SCHEMA_VERSION, 1, "state_schema_version", "stateSchemaVersion")     \
    X(LONG_TERM_RECORD, KEY, 2, "key", "key")                                                      \
    X(LONG_TERM_RECORD, VALUE, 3, "value", "value")                                                \
    X(LONG_TERM_RECORD, SEQ, 4, "seq", "seq")                                                      \
    X(LONG_TERM_RECORD, UPDATED_AT_MS, 5, "updated_at_ms", "updatedAtMs")                          \
    X(MEMORY_ENTRY, KEY, 1, "key", "key")                                                          \
    X(MEMORY_ENTRY, VALUE, 2, "value", "value")                                                    \
    X(MEMORY_ENTRY, LAST_ACCESS_MS, 3, "last_access_ms", "lastAccessMs")                           \
    X(ATTRIBUTES_ENTRY, KEY, 1, "key", "key")                                                      \
    X(ATTRIBUTES_ENTRY, VALUE, 2, "value", "value")                                                \
    X(APPROVAL, INTENT_ID, 1, "intent_id", "intentId")                                             \
    X(APPROVAL, APPROVED, 2, "approved", "approved")                                               \
    X(APPROVAL, APPROVER, 3, "approver", "approver")                                               \
    X(APPROVAL, DECIDED_AT_MS, 4, "decided_at_ms", "decidedAtMs")                                  \
    X(STATE_EXPORT_REQUEST, REQUEST_ID, 1, "request_id", "requestId")                              \
    X(LLM_CACHE_ENTRY, CACHE_KEY, 1, "cache_key", "cacheKey")                                      \
    X(LLM_CACHE_ENTRY, RESPONSE, 2, "response", "response")                                        \
    X(LLM_CACHE_ENTRY, RESPONSE_DIGEST, 3, "response_digest", "responseDigest")                    \
    X(LLM_CACHE_ENTRY, CREATED_AT_MS, 4, "created_at_ms", "createdAtMs")                           \
    X(LLM_CACHE_ENTRY, LAST_ACCESS_MS, 5, "last_access_ms", "lastAccessMs")                        \
    X(LLM_CACHE_ENTRY, DIGEST_ONLY, 6, "digest_only", "digestOnly")

/** The numbers by name: AW_FIELD_TOOL_RESULT_INTENT_ID, … */
enum aw_field_number {
#define AW_FIELD_ENUM(message, field, number, name, json_name)                                     \
    AW_FIELD_##message##_##field = (number),
    AW_FIELD_LIST(AW_FIELD_ENUM)
#undef AW_FIELD_ENUM
};

/** Largest field number of any message. */
#define AW_FIELD_NUMBER_MAX 14u

/** What a field holds. A repeated field holds any number of these. */
typedef enum aw_kind {
    AW_KIND_STRING,
    AW_KIND_BYTES,
    AW_KIND_INT64,
    AW_KIND_UINT32,
    AW_KIND_BOOL,
    AW_KIND_ENUM,
    AW_KIND_MESSAGE
} aw_kind_t;

/** One field of the schema. The texts are in static storage. */
typedef struct aw_field {
    aw_message_type_t message; /* whose field this is */
    uint32_t number;
    const char *name;      /* "entity_key" */
    const char *json_name; /* "entityKey" */
    aw_kind_t kind;
    aw_message_type_t type; /* with AW_KIND_MESSAGE: which; the message's own type otherwise */
    bool repeated; /* a list; a map counts as one, of entries with the fields key 1 and value 2 */
    bool map;      /* a map<string, string> */
    bool oneof;    /* a member of AgentEnvelope.payload: there or not there, also when it is zero */
} aw_field_t;

/** Finds a field of a message by its number; the numbers run from 1 without a gap, so that
 *
 *      for (uint32_t number = 1; aw_field_get(type, number, &field); number++)
 *
 *  visits all of them. Returns false, and leaves ret_field, when there is none. */
bool aw_field_get(aw_message_type_t type, uint32_t number, aw_field_t *ret_field);

/** The name of an enum field's value; NULL when the schema has none for it (enums are open) or the
 * field is no enum. Static storage. */
const char *aw_field_enum_name(const aw_field_t *field, int32_t value);

/** Finds the number of an enum field's value by its name, written as in the schema. Returns false,
 * and leaves ret_value, when there is none. */
bool aw_field_enum_find(const aw_field_t *field, aw_span_t name, int32_t *ret_value);

/** One value of a field. The member that counts is the one of the field's kind. */
typedef struct aw_value {
    aw_kind_t kind;
    union {
        aw_span_t bytes; /* STRING and BYTES; never absent */
        int64_t int64;
        uint32_t uint32;
        bool boolean;
        int32_t enumeration;
        const aw_message_t *message;
    } as;
} aw_value_t;

/** How many values a message holds for a field of its type.
 *
 * A list or map: its length. A message or a member of the oneof: 1 when it is there, else 0. Any
 * other: 1 when it differs from its default, else 0, since proto3 does not tell the two apart. Map
 * entries are those that the reference runtime has, in the order of its deterministic encoding:
 * keys bytewise, but of two of which one begins the other the longer first.
 */
size_t aw_message_count(const aw_message_t *message, const aw_field_t *field);

/** Value number index of a field, below aw_message_count(). A field that holds none gives its
 * default at index 0: zero, false, empty, a NULL message. Borrowed: lives as long as the message.
 */
aw_value_t aw_message_value(const aw_message_t *message, const aw_field_t *field, size_t index);

/** The number of bytes of unknown fields in this message itself, not in the ones inside it. */
size_t aw_message_unknown_size(const aw_message_t *message);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
