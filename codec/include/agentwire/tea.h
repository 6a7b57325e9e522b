#ifndef AGENTWIRE_TEA_H
#define AGENTWIRE_TEA_H

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/json.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* tea-protocol 1.0: the JSON that peers of the agents speak. docs/tea.md has every type and member.
 *
 * Four envelopes are read, judged and written: commands, events, records and protocol errors. Which
 * one a text is stands nowhere in it; the channel decides. A limit counts the decoded value or its
 * canonical text, never the spelling of the input, and includes its own value. */

/** Containers that may be open at once in one text, the envelope included. */
#define AW_TEA_NESTING_MAX 127u
/** Bytes of a discriminator, a selector, a tool name, a snake code, the code of a hosted tool's
 * error and the names of a continuation. */
#define AW_TEA_NAME_MAX 128u
/** Bytes of steer.text and compact_session.instruction. */
#define AW_TEA_COMMAND_TEXT_MAX 262144u
/** Bytes of a text or thinking block. */
#define AW_TEA_BLOCK_TEXT_MAX 1048576u
/** Bytes of the Base64 text of an inline image. */
#define AW_TEA_IMAGE_DATA_MAX       6291456u
#define AW_TEA_IMAGE_REFERENCE_MAX  1024u
#define AW_TEA_PROVIDER_CALL_ID_MAX 256u
/** Bytes of the canonical text of tool arguments, and containers nested in them. */
#define AW_TEA_ARGUMENTS_MAX       262144u
#define AW_TEA_ARGUMENTS_DEPTH_MAX 32u
/** Blocks of one message or tool result. */
#define AW_TEA_BLOCKS_MAX 256u
/** Bytes of a failure's, a hosted error's, a progress, an interruption's and a protocol error's
 * text. */
#define AW_TEA_MESSAGE_MAX 4096u
/** Bytes of the text of one streaming delta. */
#define AW_TEA_DELTA_MAX 65536u
/** Items of each of an approval's lists, and bytes of one. */
#define AW_TEA_APPROVAL_ITEMS_MAX 64u
#define AW_TEA_APPROVAL_ITEM_MAX  1024u
/** Bytes of the canonical text of an event of unknown type, and containers nested in it. */
#define AW_TEA_UNKNOWN_EVENT_MAX       65536u
#define AW_TEA_UNKNOWN_EVENT_DEPTH_MAX 32u
/** Namespaces of metadata, bytes of its canonical text, containers nested in one value. */
#define AW_TEA_METADATA_NAMESPACES_MAX 16u
#define AW_TEA_METADATA_MAX            16384u
#define AW_TEA_METADATA_DEPTH_MAX      8u
/** Bytes of the canonical text of a continuation's payload, and containers nested in it. */
#define AW_TEA_CONTINUATION_MAX       4194304u
#define AW_TEA_CONTINUATION_DEPTH_MAX 64u
/** Sources of a hosted tool; also the largest sourceCount. */
#define AW_TEA_SOURCES_MAX 64u
/** Bytes of a source's members; of the URL as read and as written. */
#define AW_TEA_SOURCE_URL_MAX     8192u
#define AW_TEA_SOURCE_TITLE_MAX   1024u
#define AW_TEA_SOURCE_SNIPPET_MAX 65536u
#define AW_TEA_CITED_TEXT_MAX     65536u
/** The same of a fetched page: its URLs, title, MIME type, and its body in bytes and characters. */
#define AW_TEA_FETCH_URL_MAX             2048u
#define AW_TEA_FETCH_TITLE_MAX           4096u
#define AW_TEA_FETCH_MIME_MAX            128u
#define AW_TEA_FETCH_BODY_MAX            400000u
#define AW_TEA_FETCH_BODY_CHARACTERS_MAX 100000u
#define AW_TEA_FETCH_REDIRECTS_MAX       10u
#define AW_TEA_REDIRECT_STATUS_MIN       300u
#define AW_TEA_REDIRECT_STATUS_MAX       399u
/** A code change: bytes of path, line and patch, hunks, lines in one hunk and in all. */
#define AW_TEA_CHANGE_PATH_MAX  4096u
#define AW_TEA_CHANGE_HUNKS_MAX 32u
#define AW_TEA_HUNK_LINES_MAX   128u
#define AW_TEA_CHANGE_LINES_MAX 1024u
#define AW_TEA_LINE_TEXT_MAX    1024u
#define AW_TEA_CHANGE_PATCH_MAX 65536u
/** Largest count of tokens or units, largest delay: 2^53 - 1. */
#define AW_TEA_SAFE_INTEGER_MAX 9007199254740991u
/** Largest index, line number, attempt. */
#define AW_TEA_INDEX_MAX UINT32_MAX
/** Largest part of a version. */
#define AW_TEA_VERSION_PART_MAX 65535u
/** Digits of an amount, in all and behind the point. */
#define AW_TEA_AMOUNT_DIGITS_MAX   36u
#define AW_TEA_AMOUNT_FRACTION_MAX 18u
/** Edition B: bytes of the canonical text of an output schema, and its levels, scalars counted too.
 */
#define AW_TEA_SCHEMA_MAX       262144u
#define AW_TEA_SCHEMA_DEPTH_MAX 32u

/** The version that new envelopes carry, and the range that is read. */
#define AW_TEA_VERSION       "1.0"
#define AW_TEA_VERSION_RANGE ">=1.0 <2.0"

/** Characters of an ID. */
#define AW_TEA_ID_SIZE 36u
/** Characters of a timestamp. */
#define AW_TEA_TIMESTAMP_SIZE 24u

/** Which envelope a text holds. */
typedef enum aw_tea_kind {
    AW_TEA_COMMAND,
    AW_TEA_EVENT,
    AW_TEA_RECORD,
    AW_TEA_ERROR,
    AW_TEA_KIND_COUNT
} aw_tea_kind_t;

/** Which state of the protocol: both call themselves 1.0. */
typedef enum aw_tea_edition {
    AW_TEA_EDITION_A, /* the published one: unknown members of commands are ignored */
    AW_TEA_EDITION_B  /* strict commands, prompt.finalOutputFormat, contextual_text blocks */
} aw_tea_edition_t;

/** What became of a text: identifier, number, name, meaning. Numbers and names are frozen. */
#define AW_TEA_CLASS_LIST(X)                                                                       \
    X(OK, 0, "ok", "accepted")                                                                     \
    X(SKIPPABLE, 1, "skippable", "an event of unknown type that says it may be skipped")           \
    X(MALFORMED_JSON, 2, "malformed_json", "the text is no JSON text")                             \
    X(DUPLICATE_KEY, 3, "duplicate_key", "an object has a key twice")                              \
    X(UNSUPPORTED_VERSION, 4, "unsupported_version", "the protocol's major version is not 1")      \
    X(UNSUPPORTED_TYPE, 5, "unsupported_type", "a command or record of unknown type")              \
    X(UNSUPPORTED_STATE_BEARING, 6, "unsupported_state_bearing",                                   \
      "an event of unknown type that must not be skipped")                                         \
    X(INVALID, 7, "invalid", "a rule of the envelope is broken")

typedef enum aw_tea_class {
#define AW_TEA_CLASS_ENUM(id, number, name, meaning) AW_TEA_##id = (number),
    AW_TEA_CLASS_LIST(AW_TEA_CLASS_ENUM)
#undef AW_TEA_CLASS_ENUM
} aw_tea_class_t;

/** Which rule an invalid text breaks: identifier, number, name, meaning. Numbers and names are
 * frozen. */
#define AW_TEA_LABEL_LIST(X)                                                                       \
    X(NONE, 0, "", "no rule is broken")                                                            \
    X(ENVELOPE, 1, "envelope", "the text is no object")                                            \
    X(MISSING, 2, "missing", "a required member is missing")                                       \
    X(TYPE, 3, "type", "a value has the wrong JSON type, or an integer does not fit its width")    \
    X(VERSION, 4, "version", "protocolVersion is no version of this protocol")                     \
    X(DISCRIMINATOR, 5, "discriminator", "type is missing or no name of a type")                   \
    X(ID, 6, "id", "an ID is no lower-case UUID of version 7")                                     \
    X(SEQUENCE, 7, "sequence", "a sequence is no decimal number of 64 bits in a string")           \
    X(TIMESTAMP, 8, "timestamp", "a timestamp is not of the form YYYY-MM-DDTHH:MM:SS.mmmZ")        \
    X(VARIANT, 9, "variant", "a nested type or a word is not one of those that exist")             \
    X(UNKNOWN_FIELD, 10, "unknown_field", "a strict object has a member that it must not have")    \
    X(SESSION_PRESENCE, 11, "session_presence", "sessionId is there or missing against the type")  \
    X(ROLE, 12, "role", "the message is not of the role that the command takes")                   \
    X(SELECTOR, 13, "selector", "a profile, provider or model selector is malformed")              \
    X(TEXT, 14, "text", "a text is empty, too long or holds a character that it must not")         \
    X(METADATA, 15, "metadata", "metadata has a bad namespace, or is too large or too deep")       \
    X(CONTENT, 16, "content", "a message has no blocks, too many, or one that its role forbids")   \
    X(IMAGE, 17, "image", "an image has a malformed type, data or reference")                      \
    X(TOOL_NAME, 18, "tool_name", "a tool's name is malformed")                                    \
    X(PROVIDER_ID, 19, "provider_id", "a provider's call identifier is malformed")                 \
    X(ARGUMENTS, 20, "arguments", "tool arguments are no object, too large or too deep")           \
    X(STOP_REASON, 21, "stop_reason", "a stop reason is no snake_case code")                       \
    X(TOOL_FAILURE, 22, "tool_failure", "a tool failure has a malformed code or message")          \
    X(ERROR_PRESENCE, 23, "error_presence", "error and isError contradict each other")             \
    X(PRESENTATION, 24, "presentation", "a tool's presentation breaks a rule of its own")          \
    X(SOURCE, 25, "source", "a source has a malformed URL, title or snippet")                      \
    X(CITATION, 26, "citation", "a citation has half a range, an empty one, or a malformed text")  \
    X(CONTINUATION, 27, "continuation", "a continuation is malformed, too large or too deep")      \
    X(HOSTED, 28, "hosted", "a hosted tool's outcome or sources break a rule")                     \
    X(USAGE, 29, "usage", "token counts are too large or contradict each other")                   \
    X(COST, 30, "cost", "an amount or currency is malformed")                                      \
    X(REFERENCES, 31, "references", "runId or turnId is there or missing against the type")        \
    X(APPROVAL_ITEMS, 32, "approval_items", "an approval's list is empty, too long or malformed")  \
    X(PROGRESS, 33, "progress", "a progress has a malformed message or impossible units")          \
    X(RETRY, 34, "retry", "a retry has an impossible attempt or delay")                            \
    X(BRANCH, 35, "branch", "the envelope's branchId is not the payload's")                        \
    X(EMPTY_CHANGE, 36, "empty_change", "a configuration change changes nothing")                  \
    X(REASON, 37, "reason", "an interruption's reason is malformed")                               \
    X(MESSAGE, 38, "message", "a protocol error's message is malformed")                           \
    X(BOUNDS, 39, "bounds", "an event of unknown type is too large or too deep")                   \
    X(COMPATIBILITY, 40, "compatibility", "compatibility is none of the two markers")              \
    X(SCHEMA, 41, "schema", "an output schema is invalid, too large or too deep")

typedef enum aw_tea_label {
#define AW_TEA_LABEL_ENUM(id, number, name, meaning) AW_TEA_LABEL_##id = (number),
    AW_TEA_LABEL_LIST(AW_TEA_LABEL_ENUM)
#undef AW_TEA_LABEL_ENUM
} aw_tea_label_t;

/** What was found in one text. */
typedef struct aw_tea_result {
    aw_tea_class_t outcome;
    aw_tea_label_t label; /* NONE unless outcome is AW_TEA_INVALID */
    int64_t offset;       /* byte in the text at which the fault begins, -1 when there is none */
    /** JSON pointer (RFC 6901) to the value at fault, "" for the whole text; a member that is
     * missing is named as if it were there. Cut where it does not fit. */
    char pointer[AW_ERROR_FIELD_MAX];
    /** How much of the pointer this library knows by itself: what follows is a name that the text
     *  brought along (an unknown member, a namespace), which logs should not repeat. */
    size_t pointer_known;
    aw_span_t type;    /* the discriminator when it is a canonical one, else absent */
    aw_span_t version; /* protocolVersion when it is a canonical one, else absent */
    uint64_t sequence; /* of an event or record with outcome OK or SKIPPABLE, else 0 */
} aw_tea_result_t;

/** "command", "event", "record", "error". Static storage. */
const char *aw_tea_kind_name(aw_tea_kind_t kind);
/** The kind of that name. Returns false, and leaves ret_kind, for any other name. */
bool aw_tea_kind_find(aw_span_t name, aw_tea_kind_t *ret_kind);

/** The frozen name of a class or label and what it means, one line. Static storage. */
const char *aw_tea_class_name(aw_tea_class_t outcome);
const char *aw_tea_class_meaning(aw_tea_class_t outcome);
const char *aw_tea_label_name(aw_tea_label_t label);
const char *aw_tea_label_meaning(aw_tea_label_t label);

/** Judges one text: syntax, uniqueness of keys, version and type, then every rule of the type.
 *
 * Takes time and memory linear in the text, from the arena; there is no cap on the text's size but
 * 2^31-2 bytes, so the caller applies its own before. ret_result borrows from text and arena.
 * Returns AW_OK when there is a verdict, whatever it is; else AW_STATUS_LIMIT_SIZE,
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY, and ret_result is untouched. */
AW_CHECKED int aw_tea_check(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text,
                            aw_arena_t *arena, aw_tea_result_t *ret_result);

/** The same, and the canonical text of what was accepted: compact, members sorted (a protocol
 * error's in its fixed order), unknown members left out. It lives in the arena; absent unless
 * the outcome is AW_TEA_OK. A canonical text is its own canonical text. */
AW_CHECKED int aw_tea_canonical(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text,
                                aw_arena_t *arena, aw_tea_result_t *ret_result,
                                aw_span_t *ret_canonical);

/** Judges a text whose kind the channel does not tell. The members commandId, eventId and recordId,
 * and error, each speak for a kind; the first kind in the order of the enumeration that is spoken
 * for and accepts the text is taken, else the first that is spoken for, else AW_TEA_EVENT.
 * Otherwise as aw_tea_check(). */
AW_CHECKED int aw_tea_check_any(aw_tea_edition_t edition, aw_span_t text, aw_arena_t *arena,
                                aw_tea_kind_t *ret_kind, aw_tea_result_t *ret_result);

/** Writes the members of a new envelope but for its payload; absent spans are left out. */
typedef struct aw_tea_head {
    const char *type; /* the discriminator; not of a protocol error */
    aw_span_t id;     /* commandId, eventId or recordId */
    aw_span_t session_id;
    aw_span_t run_id;         /* events */
    aw_span_t turn_id;        /* events */
    aw_span_t causation_id;   /* records */
    aw_span_t correlation_id; /* records */
    aw_span_t branch_id;      /* records */
    uint64_t sequence;        /* events and records */
    int64_t timestamp_ms;     /* since the epoch, UTC; not of a protocol error */
} aw_tea_head_t;

/** Builds one envelope. Lives on the caller's stack; start it, write the payload (of a protocol
 * error: the error object) as one value through `json`, then finish. */
typedef struct aw_tea_builder {
    aw_json_writer_t json;
    aw_tea_kind_t kind;
    aw_tea_edition_t edition;
    aw_arena_t *arena;
} aw_tea_builder_t;

/** Starts an envelope with protocolVersion 1.0 and the head's members, and stands behind the key of
 * the payload. The head is read at once. */
void aw_tea_builder_start(aw_tea_builder_t *builder, aw_tea_kind_t kind, aw_tea_edition_t edition,
                          const aw_tea_head_t *head, aw_arena_t *arena);

/** Goes on, behind the payload, to the value of the envelope's metadata. Events and records only.
 */
void aw_tea_builder_metadata(aw_tea_builder_t *builder);

/** Ends the envelope and gives its canonical text, which lives in the arena.
 *
 * What aw_tea_check() would not accept is not built: the status is then
 * AW_STATUS_INVALID_ARGUMENT and ret_result (NULL allowed) says why; ret_text is untouched. Also
 * AW_STATUS_INVALID_UTF8, AW_STATUS_LIMIT_DECODE_BYTES, AW_STATUS_NO_MEMORY and
 * AW_STATUS_LIMIT_SIZE, then without a result. */
AW_CHECKED int aw_tea_builder_finish(aw_tea_builder_t *builder, aw_span_t *ret_text,
                                     aw_tea_result_t *ret_result);

/** Values that payloads are made of, written where the writer stands: a timestamp of years 0000 to
 * 9999 (else the status becomes AW_STATUS_INVALID_ARGUMENT), a sequence, a text block, and a user
 * message of one text block. */
void aw_tea_put_timestamp(aw_json_writer_t *json, int64_t timestamp_ms);
void aw_tea_put_sequence(aw_json_writer_t *json, uint64_t sequence);
void aw_tea_put_text_block(aw_json_writer_t *json, aw_span_t text);
void aw_tea_put_user_message(aw_json_writer_t *json, aw_span_t id, aw_span_t text,
                             int64_t timestamp_ms);

/** Writes a UUID of version 7 out of a time (its low 48 bits) and ten random bytes; the caller
 * brings both, since this library has neither. */
void aw_tea_id_make(uint64_t timestamp_ms, const uint8_t random[10],
                    char ret_text[AW_TEA_ID_SIZE + 1]);

/** The stable codes of protocol errors and when to try again. The names are the enumerators' own in
 * lower case. */
#define AW_TEA_ERROR_LIST(X)                                                                       \
    X(UNSUPPORTED_COMMAND, "unsupported_command")                                                  \
    X(UNSUPPORTED_RECORD, "unsupported_record")                                                    \
    X(UNSUPPORTED_PROTOCOL_VERSION, "unsupported_protocol_version")                                \
    X(INVALID_COMMAND, "invalid_command")                                                          \
    X(INVALID_INPUT, "invalid_input")                                                              \
    X(SEQUENCE_CONFLICT, "sequence_conflict")                                                      \
    X(RATE_LIMITED, "rate_limited")                                                                \
    X(PROVIDER_UNAVAILABLE, "provider_unavailable")                                                \
    X(CANCELLED, "cancelled")                                                                      \
    X(INTERNAL, "internal")

typedef enum aw_tea_error_code {
#define AW_TEA_ERROR_ENUM(id, name) AW_TEA_ERROR_##id,
    AW_TEA_ERROR_LIST(AW_TEA_ERROR_ENUM)
#undef AW_TEA_ERROR_ENUM
        AW_TEA_ERROR_COUNT
} aw_tea_error_code_t;

typedef enum aw_tea_retry {
    AW_TEA_RETRY_NEVER,
    AW_TEA_RETRY_IMMEDIATE,
    AW_TEA_RETRY_AFTER_BACKOFF,
    AW_TEA_RETRY_COUNT
} aw_tea_retry_t;

/** Builds a protocol error without details. message is one of the caller's own, plain and
 * technical: no payload, no path, no header, no provider's answer. correlation_id may be absent.
 * Returns as aw_tea_builder_finish(). */
AW_CHECKED int aw_tea_error_build(aw_tea_error_code_t code, aw_span_t message, aw_tea_retry_t retry,
                                  aw_span_t correlation_id, aw_arena_t *arena, aw_span_t *ret_text);

/** Builds the protocol error that answers a refused command or record. It carries the version or
 * the type where those are what was refused, and nothing else of the text: no pointer, no
 * diagnostic. Returns AW_STATUS_INVALID_ARGUMENT for an event or an error, which have no such
 * answer, and for a result that refuses nothing; else as aw_tea_builder_finish(). */
AW_CHECKED int aw_tea_error_answer(aw_tea_kind_t kind, const aw_tea_result_t *result,
                                   aw_span_t correlation_id, aw_arena_t *arena,
                                   aw_span_t *ret_text);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
