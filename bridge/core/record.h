#ifndef BRIDGE_CORE_RECORD_H
#define BRIDGE_CORE_RECORD_H

#include "agentwire/span.h"

/** Longest topic name Kafka allows, bytes. */
#define AB_TOPIC_MAX 249

typedef enum ab_timestamp_type {
    AB_TIMESTAMP_NONE,
    AB_TIMESTAMP_CREATE,
    AB_TIMESTAMP_APPEND
} ab_timestamp_type_t;

/** One header. A NULL value and an empty one are different. */
typedef struct ab_header {
    const char *name; /* NUL-terminated; may hold no NUL inside when we write it */
    aw_span_t value;
} ab_header_t;

/** One Kafka record as the verdict sees it. Borrowed: lives as long as the message under it. */
typedef struct ab_record {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t timestamp_ms; /* 0 when timestamp_type is NONE */
    ab_timestamp_type_t timestamp_type;
    aw_span_t key;   /* data NULL: no key */
    aw_span_t value; /* data NULL: tombstone */
    uint32_t hops;   /* ab_hops_parse() of the last __agent_bridge.hops header; 0 without one */
} ab_record_t;

#endif
