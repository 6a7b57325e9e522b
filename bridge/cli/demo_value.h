#ifndef BRIDGE_CLI_DEMO_VALUE_H
#define BRIDGE_CLI_DEMO_VALUE_H

#include <stdbool.h>

#include "agentwire/arena.h"
#include "agentwire/build.h"
#include "bridge/core/policy.h"
#include "bridge/core/record.h"

/** What makes the demo's records: chance from a seed, and memory. The first trouble is kept in
 *  failed; what comes after it is worthless, and harmless. */
typedef struct ab_demo_maker {
    aw_arena_t *memory;
    uint64_t random;
    bool failed;
} ab_demo_maker_t;

/** One record in the making. Spans borrow from the maker's memory or from static storage. */
typedef struct ab_demo_draft {
    size_t number; /* from 1 */
    ab_route_slot_t slot;
    aw_span_t entity_key;
    int64_t event_time_ms;
    int64_t timestamp_ms;
    aw_span_t record_key;
    aw_span_t value;
    const ab_header_t *headers;
    size_t header_count;
} ab_demo_draft_t;

/** What distinguishes one tool_result from another. */
typedef struct ab_demo_result {
    aw_span_t intent_id;
    aw_span_t entity_key;
    aw_span_t error_message;
} ab_demo_result_t;

/** Bytes from a literal, which may hold NUL; and a header with such a value. */
#define AB_DEMO_RAW(literal) aw_span_view((literal), sizeof(literal) - 1)
#define AB_DEMO_HEADER(header_name, literal)                                                       \
    {                                                                                              \
        .name = (header_name), .value = {(const uint8_t *)(literal), sizeof(literal) - 1 }         \
    }

/** A number below count, the next one of the seed. */
unsigned ab_demo_pick(ab_demo_maker_t *maker, unsigned count);

/** Room for size bytes, NULL when memory is short. */
uint8_t *ab_demo_take(ab_demo_maker_t *maker, size_t size);

/** Two runs of bytes as one, and a text; absent when memory is short. */
aw_span_t ab_demo_join(ab_demo_maker_t *maker, aw_span_t first, aw_span_t second);
aw_span_t ab_demo_print(ab_demo_maker_t *maker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Begins the draft's envelope, and a ToolResult; and ends either with its bytes. */
void ab_demo_envelope_begin(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                            aw_builder_t *ret_builder);
void ab_demo_result_begin(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                          const ab_demo_result_t *parts, aw_builder_t *ret_builder);
aw_span_t ab_demo_encode(ab_demo_maker_t *maker, aw_builder_t *builder);

/** Whole envelopes. */
aw_span_t ab_demo_event_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                              aw_span_t event);
aw_span_t ab_demo_result_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                               const ab_demo_result_t *parts);
aw_span_t ab_demo_approval_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                                 aw_span_t intent_id);

/** The draft's own intent_id, and a good envelope of the draft's variant. */
aw_span_t ab_demo_intent(ab_demo_maker_t *maker, const ab_demo_draft_t *draft);
aw_span_t ab_demo_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft);

/** A StateSnapshot of the entity with this seq: as it is published, or the answer to the draft's
 *  request, which differs in time and request_id. published is false for the answer about an entity
 *  of which nothing was. */
aw_span_t ab_demo_state_value(ab_demo_maker_t *maker, aw_span_t entity_key, int64_t seq,
                              int64_t at_ms);
aw_span_t ab_demo_answer_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft, bool published,
                               int64_t seq);

/** The same envelope as bytes that no encoder writes: whoever re-encodes on the way gives itself
 *  away. Some drafts stay as they are. */
aw_span_t ab_demo_uncanonical(ab_demo_maker_t *maker, const ab_demo_draft_t *draft);

#endif
