#include "bench/codec/sample.h"

#include <assert.h>
#include <stdlib.h>

#include "agentwire/build.h"

const char *bench_bulk_name(bench_bulk_t bulk)
{
    static const char *const names[] = {"payload", "ascii", "text"};
    return names[bulk];
}

static uint8_t *take(aw_arena_t *arena, size_t size)
{
    uint8_t *bytes = aw_arena_alloc(arena, size);
    if (bytes == NULL) {
        abort();
    }
    return bytes;
}

/* So many bytes of the bulk. */
static aw_span_t fill(bench_bulk_t bulk, size_t size, aw_arena_t *arena)
{
    static const char ascii[] = "the gateway did not answer within 30 s, attempt 2 of 3; ";
    static const char text[] = "Шлюз не ответил вовремя。接続がタイムアウトしました。";
    uint8_t *bytes = take(arena, size + sizeof text);
    size_t at = 0;
    if (bulk == BENCH_TEXT) {
        for (; at + sizeof text - 1 <= size; at += sizeof text - 1) {
            memcpy(bytes + at, text, sizeof text - 1);
        }
    }
    for (; at < size; at++) {
        bytes[at] = bulk == BENCH_PAYLOAD ? (uint8_t)(at * 167 + 13)
                                          : (uint8_t)ascii[at % (sizeof ascii - 1)];
    }
    return aw_span_view(bytes, size);
}

static aw_span_t encode(aw_builder_t *builder, aw_arena_t *arena)
{
    const aw_message_t *message;
    aw_span_t bytes;
    if (aw_builder_finish(builder, &message) != AW_OK ||
        aw_message_encode(message, arena, &bytes) != AW_OK) {
        abort();
    }
    return bytes;
}

static aw_span_t with_bulk(bench_bulk_t bulk, size_t size, aw_arena_t *arena)
{
    const aw_span_t key = aw_span_text_view("acct-7");
    const aw_message_t *payload;
    aw_builder_t result;
    aw_builder_t envelope;
    aw_builder_init(&result, AW_MESSAGE_TOOL_RESULT, arena);
    aw_builder_set_bytes(&result, AW_FIELD_TOOL_RESULT_INTENT_ID,
                         aw_span_text_view("9f2c1d7e-55aa-5333-8444-0123456789ab"));
    aw_builder_set_bytes(&result, AW_FIELD_TOOL_RESULT_ENTITY_KEY, key);
    aw_builder_set_int64(&result, AW_FIELD_TOOL_RESULT_SEQ, 42);
    aw_builder_set_enum(&result, AW_FIELD_TOOL_RESULT_STATUS, 1);
    aw_builder_set_bytes(&result,
                         bulk == BENCH_PAYLOAD ? AW_FIELD_TOOL_RESULT_PAYLOAD
                                               : AW_FIELD_TOOL_RESULT_ERROR_MESSAGE,
                         fill(bulk, size, arena));
    aw_builder_set_int64(&result, AW_FIELD_TOOL_RESULT_COMPLETED_AT_MS, 1700000000123);
    if (aw_builder_finish(&result, &payload) != AW_OK) {
        abort();
    }
    aw_builder_init(&envelope, AW_MESSAGE_AGENT_ENVELOPE, arena);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, key);
    aw_builder_set_int64(&envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 1700000000000);
    aw_builder_set_message(&envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, payload);
    return encode(&envelope, arena);
}

aw_span_t bench_sample(bench_bulk_t bulk, size_t size, aw_arena_t *arena)
{
    const size_t around = with_bulk(bulk, 1, arena).size;
    size_t inside = size - around;
    for (;; inside--) { /* lengths of lengths */
        const aw_span_t sample = with_bulk(bulk, inside, arena);
        if (sample.size <= size) {
            return sample;
        }
    }
}

/* The families: a piece of bytes again and again. */
static const struct {
    const char *name;
    const char *piece;
    uint8_t size;
    bool is_trace;
} FAMILIES[BENCH_HOSTILE_COUNT] = {
    {"two_byte_fields", "\x78\x01", 2, false},
    {"empty_groups", "\x7b\x7c", 2, false},
    {"groups_100_deep", NULL, 0, false},
    {"ten_byte_varints", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, false},
    {"one_byte_strings", "\x42\x03\x0a\x01k", 5, true},
    {"empty_map_entries", "\x42\x00", 2, true},
};

const char *bench_hostile_name(size_t family)
{
    return FAMILIES[family].name;
}

aw_span_t bench_hostile(size_t family, size_t size, aw_arena_t *arena, bool *ret_is_trace)
{
    uint8_t deep[200];
    memset(deep, 0x7b, 100);
    memset(deep + 100, 0x7c, 100);
    const bool is_deep = FAMILIES[family].piece == NULL;
    const void *piece = is_deep ? (const void *)deep : FAMILIES[family].piece;
    const size_t piece_size = is_deep ? sizeof deep : FAMILIES[family].size;
    uint8_t *bytes = take(arena, size);
    size_t at = 0;
    for (; size - at >= piece_size; at += piece_size) {
        memcpy(bytes + at, piece, piece_size);
    }
    *ret_is_trace = FAMILIES[family].is_trace;
    return aw_span_view(bytes, at);
}
