#ifndef BENCH_CODEC_WORK_H
#define BENCH_CODEC_WORK_H

#include "agentwire/arena.h"
#include "agentwire/message.h"
#include "bench/codec/measure.h"

/** What is measured on each sample, ours first. */
typedef enum bench_operation {
    BENCH_SCAN,
    BENCH_DECODE,
    BENCH_ENCODE,
    BENCH_PBC_UNPACK, /* unpack and free */
    BENCH_PBC_PACK,   /* size and pack */
    BENCH_CPP_PARSE,
    BENCH_CPP_SERIALIZE, /* size and serialize */
    BENCH_MEMCPY,
    BENCH_OPERATION_COUNT
} bench_operation_t;

/** "scan", "protobuf_c_unpack", … */
const char *bench_operation_name(bench_operation_t operation);

/** One sample in the form that each operation begins with. */
typedef struct bench_context {
    aw_span_t input;
    aw_arena_t *arena;           /* for what is decoded and encoded, reset each time */
    const aw_message_t *message; /* the sample decoded, in an arena of its own */
    aw_arena_t *message_arena;
    void *pbc_message;
    void *cpp_parsed;
    void *cpp_message;
    uint8_t *buffer; /* as large as the sample */
} bench_context_t;

/** Prepares one sample; whatever fails ends the program. */
bench_context_t bench_context_open(aw_span_t input);
void bench_context_close(bench_context_t *context);

/** The works by operation; each takes a bench_context_t. */
extern const bench_work_t bench_works[BENCH_OPERATION_COUNT];

#endif
