#ifndef AGENTWIRE_INBOX_H
#define AGENTWIRE_INBOX_H

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The session inbox: values that one program leaves for another, possibly much older or newer one.
 * Every value has a version. encode() writes for the version that the reader declared; decode()
 * reads every version ever written and refuses, by name, what it does not know. docs/inbox.md has
 * the shapes. */

/** The version that is written now, and the highest that is read. */
#define AW_INBOX_VERSION 1
/** Containers that may be open at once in a value; deeper text counts as malformed. */
#define AW_INBOX_NESTING_MAX 120u
/** Longest message of a result, NUL included. */
#define AW_INBOX_MESSAGE_MAX 512

/** What became of a value, a command or a hook: identifier, number, frozen name, meaning. The names
 * are the specification's; malformed_json is what stands before it, and HookLookupError is the
 * failure of the caller's own lookup. */
#define AW_INBOX_CLASS_LIST(X)                                                                     \
    X(OK, 0, "ok", "accepted")                                                                     \
    X(MALFORMED_JSON, 1, "malformed_json", "the text is not JSON, or nested too deep")             \
    X(NO_VERSION, 2, "no-version", "the value is no object, or its version is no number")          \
    X(BAD_VERSION, 3, "bad-version", "the version is not a whole number, or below 0")              \
    X(NEWER_VERSION, 4, "newer-version", "the version is newer than this build reads")             \
    X(NO_MIGRATION, 5, "no-migration", "no migration leads on from a version")                     \
    X(BAD_STEP, 6, "bad-step", "a migration goes more than one version at a time")                 \
    X(BAD_RESULT, 7, "bad-result", "a migration made a value of another version than it says")     \
    X(LEGACY_SEND_PAYLOAD, 8, "legacy-send-payload", "a legacy send has no object as payload")     \
    X(LEGACY_SEND_DELIVERY, 9, "legacy-send-delivery",                                             \
      "a legacy send has a delivery of no object")                                                 \
    X(LEGACY_DELIVER, 10, "legacy-deliver", "a legacy deliver has no list of objects as payloads") \
    X(VERSION_MISMATCH, 11, "version-mismatch", "a migrated value declares another version")       \
    X(UNKNOWN_KIND, 12, "unknown-kind", "the kind is none of this version")                        \
    X(SCHEMA, 13, "schema", "the command does not make a value of the current version")            \
    X(UNKNOWN_TARGET, 14, "unknown-target", "the target is no version that can be written")        \
    X(UNSUPPORTED_TARGET, 15, "unsupported-target", "a reader declares a version not known here")  \
    X(STABLE_OWNER, 16, "stable-owner", "the stable inbox belongs to another run")                 \
    X(INVALID_ADDRESS, 17, "invalid-address", "a saved address is malformed")                      \
    X(HOOK_LOOKUP, 18, "HookLookupError", "the lookup of a hook failed")

typedef enum aw_inbox_class {
#define AW_INBOX_CLASS_ENUM(id, number, name, meaning) AW_INBOX_CLASS_##id = (number),
    AW_INBOX_CLASS_LIST(AW_INBOX_CLASS_ENUM)
#undef AW_INBOX_CLASS_ENUM
} aw_inbox_class_t;

/** The frozen name and the meaning of a class, one line. Static storage. */
const char *aw_inbox_class_name(aw_inbox_class_t outcome);
const char *aw_inbox_class_meaning(aw_inbox_class_t outcome);

/** What the reader of an inbox understands. */
typedef enum aw_inbox_target {
    AW_INBOX_TARGET_V0_DELIVER, /* unstamped values of kind deliver */
    AW_INBOX_TARGET_V0_SEND,    /* unstamped values of kind send: one payload, one delivery */
    AW_INBOX_TARGET_V1
} aw_inbox_target_t;

/** "v0-deliver", "v0-send", "v1". Static storage. */
const char *aw_inbox_target_name(aw_inbox_target_t target);
/** The target of that name. Returns false, and leaves ret_target, for any other name. */
bool aw_inbox_target_find(aw_span_t name, aw_inbox_target_t *ret_target);

/** What was found. Nothing in it is allocated. */
typedef struct aw_inbox_result {
    aw_inbox_class_t outcome;
    int64_t offset; /* byte in the text at which the fault begins, -1 when there is none */
    /** JSON pointer (RFC 6901) to the value at fault; of a command, in the value it makes. "" for
     * the whole. Cut where it does not fit. */
    char pointer[AW_ERROR_FIELD_MAX];
    /** How much of the pointer this library knows by itself: what follows is a name that the text
     * brought along, which logs should not repeat. */
    size_t pointer_known;
    /** One line for people, "" when accepted. It may quote a version or a kind out of the text. */
    char message[AW_INBOX_MESSAGE_MAX];
    /** Of an encoded command: entries of deliveryMetadata that the target has no place for. */
    size_t lost_metadata;
    /** Of an encoded command: payloads that were folded into one for the target, 0 when none were.
     */
    size_t folded_payloads;
} aw_inbox_result_t;

/** Reads a value of any known version.
 *
 * ret_output is the normalized command as canonical text (compact, members sorted, numbers as
 * ECMAScript writes them), in the arena; absent unless the outcome is OK. A value that declares the
 * current version is trusted: its members are taken as they are. Of equal keys the last one counts.
 *
 * Returns AW_OK when there is a result, whatever it is; else AW_STATUS_LIMIT_SIZE,
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY, and nothing is written. */
AW_CHECKED int aw_inbox_decode(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                               aw_span_t *ret_output);

/** The same without the output. */
AW_CHECKED int aw_inbox_check(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result);

/** Turns a command into the value that the target's reader understands, after it was validated as a
 * value of the current version. ret_output as above. Outcomes: OK, MALFORMED_JSON, SCHEMA.
 * Returns as aw_inbox_decode(). */
AW_CHECKED int aw_inbox_encode(aw_span_t command, aw_inbox_target_t target, aw_arena_t *arena,
                               aw_inbox_result_t *ret_result, aw_span_t *ret_output);

/** Reads a target written as JSON: {"version":1}, {"version":0,"variant":"deliver"} or "send". The
 * absent span is no target. Outcomes: OK, UNKNOWN_TARGET, MALFORMED_JSON; ret_target is written
 * when it is OK. Returns as aw_inbox_decode(). */
AW_CHECKED int aw_inbox_target_read(aw_span_t text, aw_arena_t *arena,
                                    aw_inbox_result_t *ret_result, aw_inbox_target_t *ret_target);

/** The same target as canonical JSON. Static storage. */
const char *aw_inbox_target_text(aw_inbox_target_t target);

/** A hook as it was found. */
typedef struct aw_inbox_hook {
    aw_span_t token;
    aw_span_t run_id;
    aw_span_t metadata; /* JSON text; absent when the hook has none */
} aw_inbox_hook_t;

/** What a lookup of a hook by its token found. */
typedef enum aw_inbox_lookup {
    AW_INBOX_LOOKUP_FOUND, /* and *ret_run_id is set; it has to outlive the classification */
    AW_INBOX_LOOKUP_NONE,
    AW_INBOX_LOOKUP_FAILED
} aw_inbox_lookup_t;

typedef aw_inbox_lookup_t (*aw_inbox_lookup_fn)(void *context, aw_span_t token,
                                                aw_span_t *ret_run_id);

/** Tells which target the reader behind a hook understands. lookup is called at most once, and only
 * where the answer depends on it: with the stable token of the hook's run.
 * Outcomes: OK, UNSUPPORTED_TARGET, STABLE_OWNER, HOOK_LOOKUP, MALFORMED_JSON (the metadata);
 * ret_target is written when it is OK. Returns as aw_inbox_decode(). */
AW_CHECKED int aw_inbox_classify(const aw_inbox_hook_t *hook, aw_inbox_lookup_fn lookup,
                                 void *context, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                                 aw_inbox_target_t *ret_target);

/** Tells the target of a saved address, JSON text. Outcomes: OK, INVALID_ADDRESS,
 * UNSUPPORTED_TARGET, MALFORMED_JSON. Otherwise as aw_inbox_classify(). */
AW_CHECKED int aw_inbox_address_read(aw_span_t text, aw_arena_t *arena,
                                     aw_inbox_result_t *ret_result, aw_inbox_target_t *ret_target);

/** Classifies what a JSON text describes: {"hook":{"token","runId","metadata"},"stableHook":…},
 * where stableHook answers the lookup ({"runId":…}, null for none, {"failure":…}, and left out for
 * a lookup that fails too), or {"address":…}. A text of another form is AW_STATUS_INVALID_ARGUMENT.
 */
AW_CHECKED int aw_inbox_classify_text(aw_span_t text, aw_arena_t *arena,
                                      aw_inbox_result_t *ret_result, aw_inbox_target_t *ret_target);

/** The stable inbox token of a run, in the arena. Returns AW_OK, AW_STATUS_LIMIT_DECODE_BYTES or
 * AW_STATUS_NO_MEMORY. */
AW_CHECKED int aw_inbox_stable_token(aw_span_t run_id, aw_arena_t *arena, aw_span_t *ret_token);

/** The JSON Schema of the values of a version, canonical text, in the arena. It is frozen.
 * Returns AW_OK, AW_STATUS_INVALID_ARGUMENT (no such version; 0 never had one),
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY. */
AW_CHECKED int aw_inbox_schema(int version, aw_arena_t *arena, aw_span_t *ret_text);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
