#ifndef BRIDGE_CORE_DEAD_LETTER_H
#define BRIDGE_CORE_DEAD_LETTER_H

#include "agentwire/arena.h"
#include "bridge/core/verdict.h"

/** Headers the bridge appends; readers take the last of a name. */
#define AB_HEADER_SOURCE "__agent_bridge.source"
#define AB_HEADER_HOPS   "__agent_bridge.hops"

/** entity_key and the record's key are cut to this in a dead letter, bytes. */
#define AB_LETTER_KEY_MAX 1024u
/** Most bytes of the detail. */
#define AB_LETTER_DETAIL_MAX 4096u
/** Most headers the bridge appends to one record. */
#define AB_LETTER_HEADERS_MAX 16u

/** A record to be written. Everything is borrowed from the arena, the record and static storage. */
typedef struct ab_letter {
    aw_span_t key;   /* data NULL: the Kafka key is NULL */
    aw_span_t value; /* deterministic AgentEnvelope holding an ActivationErrorRecord */
    ab_header_t headers[AB_LETTER_HEADERS_MAX]; /* for the dead letter and the quarantine copy alike */
    size_t header_count;
} ab_letter_t;

/** Builds the dead letter of one record (DESIGN section 3): same record, verdict and group, same bytes.
 *
 * detail_topic, where not NULL, is the output topic that refused (produce_rejected); it goes into the text.
 * Returns AW_OK, or AW_STATUS_NO_MEMORY / AW_STATUS_LIMIT_DECODE_BYTES from the arena.
 */
int ab_dead_letter_build(const ab_record_t *record, const ab_verdict_t *verdict, const char *group,
                         const char *detail_topic, aw_arena_t *arena, ab_letter_t *ret_letter);

/** Longest value of the source header, NUL included: topic:partition:offset:timestamp. */
#define AB_SOURCE_TEXT_MAX (AB_TOPIC_MAX + 11 + 21 + 21 + 4)

/** Writes the value of __agent_bridge.source into ret_text; returns its length. */
size_t ab_source_text(const ab_record_t *record, char ret_text[AB_SOURCE_TEXT_MAX]);

/** The reason for a record that an output refused: the verdict turned into produce_rejected. text is one of
 *  a closed set of static texts. */
void ab_verdict_reject(ab_verdict_t *verdict, const char *text);

#endif
