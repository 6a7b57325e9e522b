#ifndef BRIDGE_CORE_REASON_H
#define BRIDGE_CORE_REASON_H

#include <stdbool.h>
#include <stdio.h>

typedef enum ab_severity { AB_SEVERITY_PRODUCER, AB_SEVERITY_POLICY, AB_SEVERITY_BROKER } ab_severity_t;

/** The registry of dead-letter reasons this build can write: identifier, code, severity, can a redrive
 *  help, meaning. The codes are frozen; docs/reasons.md is generated from this table. */
#define AB_REASON_LIST(X)                                                                          \
    X(TOMBSTONE, "tombstone", PRODUCER, false, "the record's value is NULL")                       \
    X(OVERSIZED, "oversized", POLICY, true, "the value is larger than the source's max_value")     \
    X(DECODE_TRUNCATED, "decode_truncated", PRODUCER, false, "runs past the end of its message")    \
    X(DECODE_VARINT, "decode_varint", PRODUCER, false, "a varint is longer than ten bytes")        \
    X(DECODE_BAD_TAG, "decode_bad_tag", PRODUCER, false, "not a tag")                               \
    X(DECODE_WIRE_TYPE, "decode_wire_type", PRODUCER, false, "wire type 6 or 7")                    \
    X(DECODE_GROUP, "decode_group", PRODUCER, false, "a group does not match")                     \
    X(INVALID_UTF8, "invalid_utf8", PRODUCER, false, "a string holds ill-formed UTF-8")            \
    X(FRAMED_PAYLOAD, "framed_payload", PRODUCER, false, "an envelope behind a registry header")   \
    X(UNKNOWN_VARIANT, "unknown_variant", POLICY, true, "a payload this build does not know")      \
    X(PAYLOAD_NOT_SET, "payload_not_set", PRODUCER, false, "the envelope holds no payload")        \
    X(MISSING_ENTITY_KEY, "missing_entity_key", PRODUCER, false, "entity_key is empty")            \
    X(KEY_MISMATCH, "key_mismatch", POLICY, true, "two keys of the record differ")                 \
    X(MISSING_RECORD_KEY, "missing_record_key", POLICY, true, "the record has no key")             \
    X(MISSING_INTENT_ID, "missing_intent_id", PRODUCER, false, "no intent_id")                     \
    X(HOP_LIMIT, "hop_limit", POLICY, true, "redriven more often than errors.max_hops")            \
    X(ROUTE_REFUSED, "route_refused", POLICY, true, "the variant's route is dead_letter")          \
    X(PRODUCE_REJECTED, "produce_rejected", BROKER, true, "the output topic refused the record")

typedef enum ab_reason {
    AB_REASON_NONE = 0,
#define AB_REASON_ENUM(id, code, severity, redrive, meaning) AB_REASON_##id,
    AB_REASON_LIST(AB_REASON_ENUM)
#undef AB_REASON_ENUM
    AB_REASON_COUNT
} ab_reason_t;

/** The frozen code, "" for NONE. Static storage. */
const char *ab_reason_code(ab_reason_t reason);

/** Writes docs/reasons.md, reserved names included. */
void ab_reason_print_docs(FILE *out);

#endif
