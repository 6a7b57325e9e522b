#ifndef BENCH_CODEC_SAMPLE_H
#define BENCH_CODEC_SAMPLE_H

#include <stdbool.h>

#include "agentwire/arena.h"
#include "agentwire/span.h"

/** What the bulk of a sample is. */
typedef enum bench_bulk {
    BENCH_PAYLOAD, /* tool_result.payload: bytes of any value */
    BENCH_ASCII,   /* tool_result.error_message: a string, which the reader must look at */
    BENCH_TEXT,    /* the same, of two- and three-byte characters */
    BENCH_BULK_COUNT
} bench_bulk_t;

/** "payload", "ascii", "text". */
const char *bench_bulk_name(bench_bulk_t bulk);

/** An encoded AgentEnvelope with a tool_result of exactly so many bytes, in the arena. */
aw_span_t bench_sample(bench_bulk_t bulk, size_t size, aw_arena_t *arena);

/** Inputs that ask the scan to do as much as possible for each byte. */
#define BENCH_HOSTILE_COUNT 6u

/** "two_byte_fields", … */
const char *bench_hostile_name(size_t family);

/** About size bytes of one family, as an AgentEnvelope or TraceEvent (is_trace), in the arena. */
aw_span_t bench_hostile(size_t family, size_t size, aw_arena_t *arena, bool *ret_is_trace);

#endif
