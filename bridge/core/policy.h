#ifndef BRIDGE_CORE_POLICY_H
#define BRIDGE_CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The routes of a source, in the order of the envelope's field numbers. */
typedef enum ab_route_slot {
    AB_SLOT_EXTERNAL_EVENT,
    AB_SLOT_TOOL_RESULT,
    AB_SLOT_APPROVAL,
    AB_SLOT_EXPORT_REQUEST,
    AB_SLOT_UNKNOWN_VARIANT,
    AB_SLOT_COUNT
} ab_route_slot_t;

typedef enum ab_route_kind {
    AB_ROUTE_UNSET,
    AB_ROUTE_TOPIC,
    AB_ROUTE_ANSWER, /* of an export request: with the state that was published last */
    AB_ROUTE_DEAD_LETTER,
    AB_ROUTE_DROP
} ab_route_kind_t;

typedef struct ab_route {
    ab_route_kind_t kind;
    const char *topic; /* with AB_ROUTE_TOPIC */
} ab_route_t;

typedef enum ab_partition_by {
    AB_PARTITION_KEY,   /* murmur2 of the key, as the Java clients place it */
    AB_PARTITION_SOURCE /* the source partition's number, modulo the output's count */
} ab_partition_by_t;

/** What an external_event of a source has to be (DESIGN section 8). */
typedef enum ab_contract {
    AB_CONTRACT_OPAQUE,        /* any bytes */
    AB_CONTRACT_TEA,           /* an envelope of tea-protocol 1.0 */
    AB_CONTRACT_SESSION_INBOX, /* a value of the session inbox, of any version that is read here */
    AB_CONTRACT_ACTIVATION_ERROR /* an ActivationErrorRecord of the envelope's entity and time */
} ab_contract_t;

/** What the config says about one source topic; all the verdict needs to know of it. */
typedef struct ab_policy {
    const char *topic;
    ab_route_t routes[AB_SLOT_COUNT];
    bool tombstone_drop;       /* on_tombstone: drop */
    bool key_mismatch_ignore;  /* on_key_mismatch: ignore */
    bool null_key_dead_letter; /* on_null_key: dead_letter */
    ab_partition_by_t partition_by;
    ab_contract_t contract;
    uint64_t max_value_bytes;
    uint32_t max_hops;            /* errors.max_hops */
    const char *errors_topic;     /* where this source's dead letters go */
    const char *quarantine_topic; /* NULL: quarantine is off */
} ab_policy_t;

#endif
