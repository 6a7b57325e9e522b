#ifndef BRIDGE_STATE_ANSWER_H
#define BRIDGE_STATE_ANSWER_H

#include "agentwire/arena.h"
#include "bridge/core/verdict.h"
#include "bridge/state/store.h"

/** Headers of an answer, beside the source header. */
#define AB_HEADER_STATE_OFFSET  "__agent_bridge.state_offset"
#define AB_HEADER_STATE_AT      "__agent_bridge.state_at_ms"
#define AB_HEADER_STATE_REFUSED "__agent_bridge.state_refused"

/** Most headers of one answer. */
#define AB_ANSWER_HEADERS_MAX 4u

/** Most bytes of arena one answer takes: the largest state, a request id as large as a Kafka record
 *  may be, and the headers' texts. */
#define AB_ANSWER_ARENA_MAX ((size_t)192 * 1024 * 1024)

/** What one state topic knows of the key. */
typedef struct ab_answer_source {
    const char *topic;
    int32_t partition;
    ab_state_entry_t entry;
    bool found; /* false: the topic knows nothing of the key */
} ab_answer_source_t;

/** The answer to one export request; all of it lies in the arena or is borrowed from the record. */
typedef struct ab_answer {
    aw_span_t value;
    bool known; /* false: no state of the key was ever published */
    ab_header_t headers[AB_ANSWER_HEADERS_MAX];
    size_t header_count;
} ab_answer_t;

/** Makes the answer: from the first source that has a state of the key, or the one without state.
 *  verdict->outcome is AB_OUTCOME_ANSWERED. Same record, verdict and sources, same bytes.
 *
 *  Returns AW_OK; a bad-input status when the stored state does not decode, which a sound store
 *  never has; AW_STATUS_LIMIT_SIZE, AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY. */
int ab_answer_build(const ab_record_t *record, const ab_verdict_t *verdict,
                    const ab_answer_source_t *sources, size_t source_count, aw_arena_t *arena,
                    ab_answer_t *ret_answer);

#endif
