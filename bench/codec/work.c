#include "bench/codec/work.h"

#include <stdlib.h>
#include <string.h>

#include "agentwire/envelope.h"
#include "bench/codec/cpp_runtime.h"
#include "codec/message/gen/beam_agents.pb-c.h"

typedef BeamAgents__V1__AgentEnvelope pbc_envelope_t;

static void require(bool good)
{
    if (!good) {
        abort();
    }
}

/* The compiler must take it that the bytes at pointer are read. */
static void use(const void *pointer)
{
    __asm__ volatile("" : : "r"(pointer) : "memory");
}

static void scan(void *of)
{
    const bench_context_t *context = of;
    aw_envelope_view_t view;
    require(aw_envelope_scan(context->input, &view, NULL) == AW_OK);
    use(&view);
}

static void decode(void *of)
{
    const bench_context_t *context = of;
    const aw_message_t *message;
    aw_arena_reset(context->arena);
    require(aw_message_decode(AW_MESSAGE_AGENT_ENVELOPE, context->input, context->arena, &message,
                              NULL) == AW_OK);
    use(message);
}

static void encode(void *of)
{
    const bench_context_t *context = of;
    aw_span_t bytes;
    aw_arena_reset(context->arena);
    require(aw_message_encode(context->message, context->arena, &bytes) == AW_OK);
    use(bytes.data);
}

static void pbc_unpack(void *of)
{
    const bench_context_t *context = of;
    pbc_envelope_t *message =
        beam_agents__v1__agent_envelope__unpack(NULL, context->input.size, context->input.data);
    require(message != NULL);
    use(message);
    beam_agents__v1__agent_envelope__free_unpacked(message, NULL);
}

static void pbc_pack(void *of)
{
    const bench_context_t *context = of;
    const pbc_envelope_t *message = context->pbc_message;
    require(beam_agents__v1__agent_envelope__get_packed_size(message) == context->input.size);
    beam_agents__v1__agent_envelope__pack(message, context->buffer);
    use(context->buffer);
}

static void cpp_parse(void *of)
{
    const bench_context_t *context = of;
    require(bench_cpp_parse(context->cpp_parsed, context->input.data, context->input.size));
    use(context->cpp_parsed);
}

static void cpp_serialize(void *of)
{
    const bench_context_t *context = of;
    require(bench_cpp_serialize(context->cpp_message, context->buffer, context->input.size) ==
            context->input.size);
    use(context->buffer);
}

static void copy(void *of)
{
    const bench_context_t *context = of;
    memcpy(context->buffer, context->input.data, context->input.size);
    use(context->buffer);
}

const bench_work_t bench_works[BENCH_OPERATION_COUNT] = {
    [BENCH_SCAN] = scan,
    [BENCH_DECODE] = decode,
    [BENCH_ENCODE] = encode,
    [BENCH_PBC_UNPACK] = pbc_unpack,
    [BENCH_PBC_PACK] = pbc_pack,
    [BENCH_CPP_PARSE] = cpp_parse,
    [BENCH_CPP_SERIALIZE] = cpp_serialize,
    [BENCH_MEMCPY] = copy,
};

const char *bench_operation_name(bench_operation_t operation)
{
    static const char *const names[BENCH_OPERATION_COUNT] = {
        "scan",      "decode",        "encode", "protobuf_c_unpack", "protobuf_c_pack",
        "cpp_parse", "cpp_serialize", "memcpy",
    };
    return names[operation];
}

bench_context_t bench_context_open(aw_span_t input)
{
    bench_context_t context = {
        .input = input,
        .arena = aw_arena_new(0),
        .message_arena = aw_arena_new(0),
        .pbc_message = beam_agents__v1__agent_envelope__unpack(NULL, input.size, input.data),
        .cpp_parsed = bench_cpp_new(),
        .cpp_message = bench_cpp_new(),
        .buffer = malloc(input.size),
    };
    require(context.arena != NULL && context.message_arena != NULL && context.buffer != NULL);
    require(context.pbc_message != NULL);
    require(aw_message_decode(AW_MESSAGE_AGENT_ENVELOPE, input, context.message_arena,
                              &context.message, NULL) == AW_OK);
    require(bench_cpp_parse(context.cpp_message, input.data, input.size));
    return context;
}

void bench_context_close(bench_context_t *context)
{
    aw_arena_free(context->arena);
    aw_arena_free(context->message_arena);
    beam_agents__v1__agent_envelope__free_unpacked(context->pbc_message, NULL);
    bench_cpp_free(context->cpp_parsed);
    bench_cpp_free(context->cpp_message);
    free(context->buffer);
}
