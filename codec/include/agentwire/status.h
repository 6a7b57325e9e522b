#ifndef AGENTWIRE_STATUS_H
#define AGENTWIRE_STATUS_H

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Every status of the library: identifier, number, name, text.
 *
 * 0 is success, every other is negative. Ranges: caller error -1..-99, bad input -100..-199, limit
 * -200..-299, resource -300..-399, fatal -400..-499. Numbers and names are frozen once released:
 * names of bad wire input are the reasons of dead letters (docs/reasons.md).
 */
#define AW_STATUS_LIST(X)                                                                          \
    X(OK, 0, "ok", "success")                                                                      \
    X(INVALID_ARGUMENT, -1, "invalid_argument", "an argument is outside its contract")             \
    X(UNKNOWN_TYPE, -2, "unknown_type", "no message of that name in beam_agents.v1")               \
    X(INVALID_KEYRING, -3, "invalid_keyring", "a line of the keyring is not key_id=base64(key)")   \
    X(DECODE_TRUNCATED, -101, "decode_truncated",                                                  \
      "a tag, varint, fixed value or length runs past the end of its message")                     \
    X(DECODE_VARINT, -102, "decode_varint", "a varint is longer than ten bytes")                   \
    X(DECODE_BAD_TAG, -103, "decode_bad_tag",                                                      \
      "a tag is longer than five bytes, above 2^32-1, or has field number 0")                      \
    X(DECODE_WIRE_TYPE, -104, "decode_wire_type", "wire types 6 and 7 do not exist")               \
    X(DECODE_GROUP, -105, "decode_group",                                                          \
      "a group ends without a start, with another number, not at all, or is nested too deep")      \
    X(INVALID_UTF8, -106, "invalid_utf8", "a string field holds ill-formed UTF-8")                 \
    X(FRAMED_PAYLOAD, -107, "framed_payload",                                                      \
      "the bytes are an envelope behind a schema-registry header")                                 \
    X(MALFORMED_JSON, -108, "malformed_json", "the text is not JSON")                              \
    X(DUPLICATE_KEY, -109, "duplicate_key", "an object holds a key twice")                         \
    X(UNSIGNED_INTENT, -110, "unsigned_intent", "the intent carries no signature")                 \
    X(BAD_SIGNATURE, -111, "bad_signature",                                                        \
      "the intent's signature is not that of its bytes, or of an unknown scheme")                  \
    X(UNKNOWN_SIGNING_KEY, -112, "unknown_signing_key",                                            \
      "the keyring has no key of the intent's signing_key_id")                                     \
    X(VERSION_NEWER, -113, "version_newer", "a newer program wrote this state")                    \
    X(VERSION_GAP, -114, "version_gap", "no migration step leads on from this state's version")    \
    X(JSON_MISMATCH, -115, "json_mismatch", "the JSON does not fit the message")                   \
    X(LIMIT_DECODE_BYTES, -201, "limit_decode_bytes", "decoding needs more memory than allowed")   \
    X(LIMIT_SIZE, -202, "limit_size", "the input is larger than 2^31-2 bytes")                     \
    X(LIMIT_DEPTH, -203, "limit_depth", "objects and arrays are nested deeper than allowed")       \
    X(NO_MEMORY, -301, "no_memory", "memory could not be allocated")

/** The statuses as AW_OK, AW_ERR_… constants. */
typedef enum aw_status {
#define AW_STATUS_ENUM(id, number, name, text) AW_STATUS_##id = (number),
    AW_STATUS_LIST(AW_STATUS_ENUM)
#undef AW_STATUS_ENUM
} aw_status_t;

#define AW_OK AW_STATUS_OK

/** Marks a function whose status must not be ignored. */
#define AW_CHECKED __attribute__((warn_unused_result))

/** The frozen lower-case name of a status, "unknown" for a number not in the list. Static storage.
 */
const char *aw_status_name(int status);

/** One line that says what the status means. Static storage, never NULL. */
const char *aw_status_text(int status);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
