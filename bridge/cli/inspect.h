#ifndef BRIDGE_CLI_INSPECT_H
#define BRIDGE_CLI_INSPECT_H

#include "agentwire/arena.h"
#include "agentwire/envelope.h"
#include "agentwire/error.h"
#include "agentwire/message.h"
#include "agentwire/span.h"
#include "bridge/cli/input.h"

/** Most bytes of memory to decode one message, or to write its JSON. */
#define AB_INSPECT_MEMORY_MAX ((size_t)2 << 30)
/** The ten types that --type and "type" take. */
#define AB_INSPECT_TYPES                                                                           \
    "MemoryBlob, ToolIntent, ToolResult, TraceEvent, AgentEnvelope, StateSnapshot, "               \
    "ActivationErrorRecord, Continuation, LlmCacheBlob, LongTermRecord"

/** Writes "agent-bridge inspect: …" and a line end to stderr. */
void ab_inspect_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Finds one of the ten types by name. Returns false for any other. */
bool ab_inspect_type(const char *name, aw_message_type_t *ret_type);

/** The payload that a decoded AgentEnvelope holds. */
aw_variant_t ab_inspect_variant(const aw_message_t *envelope);

/** Decodes the bytes as decode does, but with the scan's verdict on an AgentEnvelope, which also
 * knows schema-registry framing. Returns what those return. */
int ab_inspect_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                      const aw_message_t **ret_message, aw_error_t *error);

/** Warns on stderr of trace and span ids that are there and not as wide as W3C trace context has
 * them, 16 and 8 bytes. They are carried as they are; other tools may not take them. */
void ab_inspect_warn_ids(const ab_input_t *input, const aw_message_t *message);

/** Answers the requests in fd line by line on stdout until it ends. Returns an exit code. */
int ab_inspect_batch(const ab_input_t *input, int fd);

#endif
