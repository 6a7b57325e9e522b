#ifndef BRIDGE_CORE_DEAD_LETTER_H
#define BRIDGE_CORE_DEAD_LETTER_H

#include "agentwire/arena.h"
#include "bridge/core/verdict.h"

/** Headers the bridge appends; readers take the last of a name. */
#define AB_HEADER_SOURCE         "__agent_bridge.source"
#define AB_HEADER_REASON         "__agent_bridge.reason"
#define AB_HEADER_HOPS           "__agent_bridge.hops"
#define AB_HEADER_SHA256         "__agent_bridge.sha256"
#define AB_HEADER_VALUE_SIZE     "__agent_bridge.value_size"
#define AB_HEADER_TIMESTAMP      "__agent_bridge.source_timestamp"
#define AB_HEADER_TIMESTAMP_TYPE "__agent_bridge.source_timestamp_type"
#define AB_HEADER_COPY           "__agent_bridge.copy"     /* of quarantine: AB_COPY_TEXT_… */
#define AB_HEADER_REDRIVEN       "__agent_bridge.redriven" /* of a redrive's marker there */
#define AB_HEADER_DLQ_TOPIC      "__dlq.errors.topic"
#define AB_HEADER_DLQ_PARTITION  "__dlq.errors.partition"
#define AB_HEADER_DLQ_OFFSET     "__dlq.errors.offset"
#define AB_HEADER_DLQ_GROUP      "__dlq.errors.group"
#define AB_HEADER_DLQ_MESSAGE    "__dlq.errors.message"

/** What a quarantine record holds of its source: all of it, the beginning of its value, nothing but
 *  where it lies. */
#define AB_COPY_TEXT_WHOLE   "whole"
#define AB_COPY_TEXT_HEAD    "head"
#define AB_COPY_TEXT_POINTER "pointer"

/** The same as a number. */
typedef enum ab_copy {
    AB_COPY_NONE, /* a dead letter: its value is no copy */
    AB_COPY_WHOLE,
    AB_COPY_HEAD,   /* the value is cut */
    AB_COPY_POINTER /* neither value nor headers, and the key is cut */
} ab_copy_t;

/** The version of the format, "v" of the detail. It goes up with any change of the bytes. */
#define AB_LETTER_VERSION 1
/** entity_key is cut to this in a dead letter, and so is the record's key, bytes. */
#define AB_LETTER_KEY_MAX 1024u
/** Most bytes of the detail. */
#define AB_LETTER_DETAIL_MAX 4096u
/** Most headers the bridge appends to one record. */
#define AB_LETTER_HEADERS_MAX 16u

/** A record to be written (docs/dead-letters.md). Everything is borrowed: from the arena, the
 *  record, the group's name and static storage. */
typedef struct ab_letter {
    aw_span_t key;   /* data NULL: the Kafka key is NULL */
    aw_span_t value; /* deterministic AgentEnvelope holding an ActivationErrorRecord */
    /* For the dead letter and, behind the record's own, for the quarantine copy. */
    ab_header_t headers[AB_LETTER_HEADERS_MAX];
    size_t header_count;
} ab_letter_t;

/** Builds the dead letter of one record: same record, verdict and group, same bytes.
 *
 *  verdict->outcome is AB_OUTCOME_DEAD_LETTERED. output_topic, where not NULL, is the topic that
 *  refused the record (produce_rejected); it goes into the text. The value is hashed whole.
 *
 *  Returns AW_OK, or AW_STATUS_NO_MEMORY / AW_STATUS_LIMIT_DECODE_BYTES from the arena, of which it
 *  takes less than AB_LETTER_ARENA_MAX whatever the record is. */
int ab_dead_letter_build(const ab_record_t *record, const ab_verdict_t *verdict, const char *group,
                         const char *output_topic, aw_arena_t *arena, ab_letter_t *ret_letter);

/** Most bytes of arena one dead letter takes. */
#define AB_LETTER_ARENA_MAX (32u * 1024u)

/** Longest value of the source header, NUL included: topic:partition:offset:timestamp. */
#define AB_SOURCE_TEXT_MAX (AB_TOPIC_MAX + 11 + 21 + 21 + 4)

/** Writes the value of __agent_bridge.source into ret_text; returns its length. The timestamp of a
 *  record that has none is -1, as Kafka itself writes it. */
size_t ab_source_text(const ab_record_t *record, char ret_text[AB_SOURCE_TEXT_MAX]);

#endif
