#ifndef BRIDGE_CORE_RECORD_H
#define BRIDGE_CORE_RECORD_H

#include <stdbool.h>

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

/** A whole record: what the verdict sees, and the headers. Borrowed like the record. */
typedef struct ab_full_record {
    ab_record_t record;
    const ab_header_t *headers;
    size_t header_count;
    bool headers_unreadable; /* there are some, and the client cannot read them */
} ab_full_record_t;

/** The last header of a name, as readers of the bridge's headers take it; NULL without one. */
const ab_header_t *ab_header_last(const ab_full_record_t *record, const char *name);

/** True for a name that Kafka takes for a topic: 1 to AB_TOPIC_MAX letters, digits, '.', '_' and
 *  '-', not "." or "..". What comes out of a record is no name before this. */
bool ab_topic_is_legal(aw_span_t name);

/** Where a record lies. */
typedef struct ab_coordinates {
    char topic[AB_TOPIC_MAX + 1];
    int32_t partition;
    int64_t offset;
} ab_coordinates_t;

/** Longest text of coordinates, NUL included. */
#define AB_COORDINATES_TEXT_MAX (AB_TOPIC_MAX + 11 + 20 + 3)

/** Reads "topic:partition:offset", decimal digits and no sign. False when it is none; ret_at is
 *  then untouched. */
bool ab_coordinates_parse(aw_span_t text, ab_coordinates_t *ret_at);

/** Reads "topic:partition:offset:timestamp", the value of __agent_bridge.source; the timestamp is
 *  -1 for a record that has none. False when it is none; the outputs are then untouched. */
bool ab_source_parse(aw_span_t text, ab_coordinates_t *ret_at, int64_t *ret_timestamp_ms);

#endif
