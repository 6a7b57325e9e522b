#ifndef BRIDGE_CORE_REASON_H
#define BRIDGE_CORE_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Where the cause of a dead letter lies, and so who can do something about it. */
typedef enum ab_severity {
    AB_SEVERITY_PRODUCER, /* the record's producer: its bytes are wrong for every reader */
    AB_SEVERITY_POLICY,   /* the configuration: another one would have let the record pass */
    AB_SEVERITY_BROKER,   /* an output topic and its limits */
    AB_SEVERITY_COUNT
} ab_severity_t;

/** The registry of dead-letter reasons this build can write: identifier, code, severity, can a
 *  redrive help, meaning, what to do. The codes are frozen; the meanings are texts of dead letters
 *  too, so a changed one changes their bytes; docs/reasons.md is generated from this table. */
#define AB_REASON_LIST(X)                                                                          \
    X(TOMBSTONE, "tombstone", PRODUCER, false, "the record's value is NULL",                       \
      "Stop writing tombstones to the source, or set on_tombstone: drop.")                         \
    X(OVERSIZED, "oversized", POLICY, true, "the value is larger than the source's max_value",     \
      "Raise max_value if the size is meant, then redrive.")                                       \
    X(DECODE_TRUNCATED, "decode_truncated", PRODUCER, false,                                       \
      "a tag, varint, fixed value or length runs past the end of its message",                     \
      "Look at the byte at `at` in quarantine; mend the producer.")                                \
    X(DECODE_VARINT, "decode_varint", PRODUCER, false, "a varint is longer than ten bytes",        \
      "Look at the byte at `at` in quarantine; mend the producer.")                                \
    X(DECODE_BAD_TAG, "decode_bad_tag", PRODUCER, false,                                           \
      "a tag is longer than five bytes, above 2^32-1, or has field number 0",                      \
      "Often no protobuf at all, such as JSON or padding; mend the producer.")                     \
    X(DECODE_WIRE_TYPE, "decode_wire_type", PRODUCER, false, "wire types 6 and 7 do not exist",    \
      "Often no protobuf at all, such as text; mend the producer.")                                \
    X(DECODE_GROUP, "decode_group", PRODUCER, false,                                               \
      "a group ends without a start, with another number or not at all, or is nested too deep",    \
      "Often no protobuf at all, such as JSON; mend the producer.")                                \
    X(INVALID_UTF8, "invalid_utf8", PRODUCER, false, "a string field holds ill-formed UTF-8",      \
      "Mend the producer: the field at `field` needs UTF-8, or another type.")                     \
    X(FRAMED_PAYLOAD, "framed_payload", PRODUCER, false,                                           \
      "the value is an envelope behind a schema-registry header",                                  \
      "Let the producer write plain protobuf, without its registry serializer.")                   \
    X(UNKNOWN_VARIANT, "unknown_variant", POLICY, true,                                            \
      "the envelope's payload is of a kind this build does not know",                              \
      "Update agent-bridge and redrive, or name a topic in routes.unknown_variant.")               \
    X(PAYLOAD_NOT_SET, "payload_not_set", PRODUCER, false, "the envelope holds no payload",        \
      "Let the producer set one of the payload's variants.")                                       \
    X(MISSING_ENTITY_KEY, "missing_entity_key", PRODUCER, false, "entity_key is empty",            \
      "Let the producer set entity_key: without it a record belongs to no one.")                   \
    X(KEY_MISMATCH, "key_mismatch", POLICY, true, "two keys of the record differ",                 \
      "Let the producer use entity_key as the record's key, or set on_key_mismatch: ignore.")      \
    X(MISSING_RECORD_KEY, "missing_record_key", POLICY, true, "the record has no key",             \
      "Let the producer use entity_key as the record's key, or set on_null_key: accept.")          \
    X(MISSING_INTENT_ID, "missing_intent_id", PRODUCER, false, "the payload has no intent_id",     \
      "Let the producer copy the intent_id of the ToolIntent that it answers.")                    \
    X(CONTRACT_VIOLATION, "contract_violation", PRODUCER, true,                                    \
      "the external_event breaks the source's contract",                                           \
      "The dead letter names the rule and the place; correct the producer, or the contract.")      \
    X(UNSUPPORTED_VERSION, "unsupported_version", PRODUCER, true,                                  \
      "the external_event is of a version that the contract does not know",                        \
      "Let the producer write version 1, or upgrade the bridge, then redrive.")                    \
    X(HOP_LIMIT, "hop_limit", POLICY, true,                                                        \
      "the record was redriven more often than errors.max_hops",                                   \
      "Find out why it keeps failing before it is redriven once more.")                            \
    X(ROUTE_REFUSED, "route_refused", POLICY, true, "the variant's route is dead_letter",          \
      "Name a topic in the source's routes, then redrive.")                                        \
    X(STATE_UNKNOWN, "state_unknown", POLICY, true, "no state of the key was ever published",      \
      "Redrive once the pipeline has published the key's state, or set snapshots.unknown_key.")    \
    X(STATE_NOT_READY, "state_not_ready", BROKER, true,                                            \
      "the key's state could not be read up to the request within snapshots.max_wait",             \
      "Look for a restore, or a transaction left open on the state topic; then redrive.")          \
    X(PRODUCE_REJECTED, "produce_rejected", BROKER, true, "the output topic refused the record",   \
      "Compare the topic's max.message.bytes and timestamp limits with the record, then redrive.")

/* clang-format off */
typedef enum ab_reason {
    AB_REASON_NONE = 0,
#define AB_REASON_ENUM(id, code, severity, redrive, meaning, remedy) AB_REASON_##id,
    AB_REASON_LIST(AB_REASON_ENUM)
#undef AB_REASON_ENUM
    AB_REASON_COUNT
} ab_reason_t;
/* clang-format on */

/** Longest meaning, bytes without the NUL. */
#define AB_REASON_MEANING_MAX 120u

/** The frozen code, "" for NONE. Static storage. */
const char *ab_reason_code(ab_reason_t reason);

/** What the reason means, one line; "" for NONE. Static storage. */
const char *ab_reason_meaning(ab_reason_t reason);

/** Who can do something about it. PRODUCER for NONE. */
ab_severity_t ab_reason_severity(ab_reason_t reason);

/** True when the same record may pass later, after a change of configuration, version or topic. */
bool ab_reason_redrivable(ab_reason_t reason);

/** "producer", "policy" or "broker". Static storage. */
const char *ab_severity_name(ab_severity_t severity);

/** The index-th code that the agents' own runtime writes to the same kind of topic and that no
 * reason here may ever use; NULL past the last. Static storage. */
const char *ab_reason_reserved(size_t index);

/** Writes docs/reasons.md, reserved names included. */
void ab_reason_print_docs(FILE *out);

#endif
