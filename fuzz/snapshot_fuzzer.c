/* The first byte is a length and a time, so many bytes are a request id, and the rest is a
 * published state: it is answered exactly when it scans, the answer reads as the state with two
 * fields set, and answered again it is itself. */
#include "agentwire/build.h"
#include "agentwire/field.h"
#include "agentwire/snapshot.h"
#include "agentwire/utf8.h"
#include "fuzz/fuzz.h"

/** Request ids are at most this long, bytes. */
#define ID_MASK 0x1fu

static bool same_view(const aw_snapshot_view_t *a, const aw_snapshot_view_t *b)
{
    return a->state_schema_version == b->state_schema_version && a->seq == b->seq &&
           a->snapshot_at_ms == b->snapshot_at_ms && aw_span_equal(a->entity_key, b->entity_key) &&
           aw_span_equal(a->request_id, b->request_id);
}

static aw_value_t value_of(const aw_message_t *message, uint32_t number)
{
    aw_field_t field;
    fuzz_require(aw_field_get(AW_MESSAGE_STATE_SNAPSHOT, number, &field));
    return aw_message_value(message, &field, 0);
}

/** What is scanned of a state is what is decoded of it. */
static void check_view(const aw_snapshot_view_t *view, const aw_message_t *state)
{
    fuzz_require(view->state_schema_version ==
                 value_of(state, AW_FIELD_STATE_SNAPSHOT_STATE_SCHEMA_VERSION).as.uint32);
    fuzz_require(view->seq == value_of(state, AW_FIELD_STATE_SNAPSHOT_SEQ).as.int64);
    fuzz_require(view->snapshot_at_ms ==
                 value_of(state, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS).as.int64);
    fuzz_require(aw_span_equal(view->entity_key,
                               value_of(state, AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY).as.bytes));
    fuzz_require(aw_span_equal(view->request_id,
                               value_of(state, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID).as.bytes));
}

static void check_answer(aw_span_t published, int64_t time_ms, aw_span_t id, aw_span_t answer,
                         const aw_snapshot_view_t *view, aw_arena_t *arena)
{
    const aw_message_t *state = NULL;
    const aw_message_t *wanted = NULL;
    const aw_message_t *message = NULL;
    aw_span_t wanted_bytes;
    aw_span_t bytes;
    aw_builder_t builder;
    fuzz_require(aw_message_decode(AW_MESSAGE_STATE_SNAPSHOT, published, arena, &state, NULL) ==
                 AW_OK);
    check_view(view, state);
    aw_builder_init_copy(&builder, state, arena);
    aw_builder_set_int64(&builder, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS, time_ms);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID, id);
    fuzz_require(aw_builder_finish(&builder, &wanted) == AW_OK);
    fuzz_require(aw_message_encode(wanted, arena, &wanted_bytes) == AW_OK);
    fuzz_require(aw_message_decode(AW_MESSAGE_STATE_SNAPSHOT, answer, arena, &message, NULL) ==
                 AW_OK);
    fuzz_require(aw_message_encode(message, arena, &bytes) == AW_OK);
    fuzz_require(aw_span_equal(bytes, wanted_bytes));
    fuzz_require(aw_snapshot_answer(answer, time_ms, id, arena, NULL, &bytes, NULL) == AW_OK);
    fuzz_require(aw_span_equal(bytes, answer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size - 1 < (data[0] & ID_MASK)) {
        return 0;
    }
    const aw_span_t id = {data + 1, data[0] & ID_MASK};
    const aw_span_t published = {data + 1 + id.size, size - 1 - id.size};
    const int64_t time_ms = (int64_t)(int8_t)(data[0] & ~ID_MASK) * ((int64_t)1 << id.size);
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_error_t scan_error = AW_ERROR_INIT;
    aw_error_t error = AW_ERROR_INIT;
    aw_snapshot_view_t scanned = {.seq = 0};
    aw_snapshot_view_t view = {.seq = 0};
    aw_span_t answer = AW_SPAN_NULL;
    const int status = aw_message_scan(AW_MESSAGE_STATE_SNAPSHOT, published, &scan_error);
    fuzz_require(aw_snapshot_scan(published, &scanned, &error) == status);
    fuzz_require_same_error(&scan_error, &error);
    const int answered = aw_snapshot_answer(published, time_ms, id, arena, &view, &answer, NULL);
    if (status == AW_OK && aw_utf8_valid(id)) {
        fuzz_require(answered == AW_OK && same_view(&view, &scanned));
        check_answer(published, time_ms, id, answer, &view, arena);
    } else {
        fuzz_require(answered == (status != AW_OK ? status : AW_STATUS_INVALID_UTF8));
        fuzz_require(answer.data == NULL);
    }
    aw_arena_free(arena);
    return 0;
}
