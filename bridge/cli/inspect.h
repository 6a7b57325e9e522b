#ifndef BRIDGE_CLI_INSPECT_H
#define BRIDGE_CLI_INSPECT_H

#include "agentwire/arena.h"
#include "agentwire/envelope.h"
#include "agentwire/error.h"
#include "agentwire/message.h"
#include "agentwire/span.h"

/** Most bytes of one message that inspect reads: eight times what a source takes by default. */
#define AB_INSPECT_INPUT_MAX ((size_t)64 << 20)
/** Most bytes of text around it: two digits a byte, and as much again for white space. */
#define AB_INSPECT_TEXT_MAX (4 * AB_INSPECT_INPUT_MAX)
/** Most bytes of memory to decode one message, or to write its JSON. */
#define AB_INSPECT_MEMORY_MAX ((size_t)2 << 30)
/** Most bytes of one line of `inspect --batch`. */
#define AB_INSPECT_LINE_MAX ((size_t)16 << 20)

/** The ten types that --type and "type" take. */
#define AB_INSPECT_TYPES                                                                           \
    "MemoryBlob, ToolIntent, ToolResult, TraceEvent, AgentEnvelope, StateSnapshot, "               \
    "ActivationErrorRecord, Continuation, LlmCacheBlob, LongTermRecord"

/** Writes "agent-bridge inspect: …" and a line end to stderr. */
void ab_inspect_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Where hex text is wrong. */
typedef enum ab_hex_trouble {
    AB_HEX_OK,
    AB_HEX_BAD_DIGIT, /* offset is that of the character */
    AB_HEX_ODD        /* half a byte is left over; offset is that of the last digit */
} ab_hex_trouble_t;

/** Turns hex digits of either case into bytes, with white space between them skipped where blanks
 * is true.
 *
 *  bytes takes text.size / 2 bytes and may be the text's own memory. ret_size is written on
 * success, ret_offset otherwise. */
ab_hex_trouble_t ab_hex_read(aw_span_t text, bool blanks, uint8_t *bytes, size_t *ret_size,
                             size_t *ret_offset);

/** Finds one of the ten types by name. Returns false for any other. */
bool ab_inspect_type(const char *name, aw_message_type_t *ret_type);

/** The payload that a decoded AgentEnvelope holds. */
aw_variant_t ab_inspect_variant(const aw_message_t *envelope);

/** Decodes the bytes as decode does, but with the scan's verdict on an AgentEnvelope, which also
 * knows schema-registry framing. Returns what those return. */
int ab_inspect_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                      const aw_message_t **ret_message, aw_error_t *error);

/** Answers the requests in fd line by line on stdout until it ends. name is the file's, for
 * complaints. Returns an exit code. */
int ab_inspect_batch(int fd, const char *name);

#endif
