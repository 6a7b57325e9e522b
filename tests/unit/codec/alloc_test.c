/* Memory: what is asked for, and what happens when it is refused. */
#include "tests/unit/codec/support.h"

#include <stdlib.h>

#include "agentwire/build.h"
#include "agentwire/json.h"
#include "agentwire/snapshot.h"
#include "tests/unit/codec/malloc_probe.h"

static aw_test_golden_t *golden;
static size_t count;

static int set_up(void **state)
{
    (void)state;
    golden = aw_test_golden_load(&count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    aw_test_golden_free(golden, count);
    return 0;
}

static void test_alloc_scan_asks_for_no_memory(void **state)
{
    (void)state;
    const size_t before = aw_test_malloc_calls;
    for (size_t i = 0; i < count; i++) {
        aw_error_t error = AW_ERROR_INIT;
        aw_envelope_view_t view;
        const bool accepted = aw_message_scan(golden[i].type, golden[i].input, &error) == AW_OK;
        assert_int_equal(accepted, golden[i].accepted);
        (void)aw_envelope_looks_like_result(golden[i].input);
        int status = aw_envelope_scan(golden[i].input, &view, &error);
        assert_true(status == AW_OK || status <= AW_STATUS_DECODE_TRUNCATED);
    }
    assert_int_equal(aw_test_malloc_calls, before);
}

static int decode_and_encode(const aw_test_golden_t *of, aw_arena_t *arena)
{
    const aw_message_t *message = NULL;
    aw_error_t error = AW_ERROR_INIT;
    int status = aw_message_decode(of->type, of->input, arena, &message, &error);
    assert_int_equal(error.status, status);
    if (status != AW_OK) {
        assert_null(message);
        return status;
    }
    aw_span_t bytes = AW_SPAN_NULL;
    status = aw_message_encode(message, arena, &bytes);
    if (status != AW_OK) {
        assert_null(bytes.data);
        return status;
    }
    assert_true(aw_span_equal(bytes, of->deterministic));
    return AW_OK;
}

static void test_alloc_decode_and_encode_ask_for_none_in_the_steady_state(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    size_t before = 0;
    for (int round = 0; round < 5; round++) {
        before = round == 2 ? aw_test_malloc_calls : before;
        for (size_t i = 0; i < count; i++) {
            aw_arena_reset(arena);
            assert_int_equal(decode_and_encode(&golden[i], arena) == AW_OK, golden[i].accepted);
        }
    }
    assert_int_equal(aw_test_malloc_calls, before);
    aw_arena_free(arena);
}

static void test_alloc_each_piece_refused_in_turn_is_a_limit_error(void **state)
{
    (void)state;
    unsigned refusals = 0;
    for (size_t i = 0; i < count; i++) {
        if (!golden[i].accepted) {
            continue;
        }
        int status = AW_STATUS_LIMIT_DECODE_BYTES;
        for (size_t limit = 16; status != AW_OK; limit += 16) {
            aw_arena_t *arena = aw_arena_new(limit);
            assert_non_null(arena);
            status = decode_and_encode(&golden[i], arena);
            assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
            refusals += status != AW_OK;
            aw_arena_free(arena);
        }
    }
    assert_true(refusals > count);
}

/* An input that needs many blocks of the arena: lists of each kind, a map, unknown fields. */
static aw_test_golden_t large_input(void)
{
    static uint8_t bytes[40000];
    size_t size = 0;
    while (size + 16 <= sizeof bytes) {
        static const uint8_t pieces[] = {0x42, 0x06, 0x0a, 0x02, 'k',  'k',  0x12, 0x00,
                                         0x42, 0x02, 0x78, 0x01, 0x78, 0x01, 0x28, 0x01};
        memcpy(bytes + size, pieces, sizeof pieces);
        bytes[size + 4] = (uint8_t)('a' + size / 16 % 26);
        bytes[size + 5] = (uint8_t)('a' + size / 416 % 26);
        size += 16;
    }
    return (aw_test_golden_t){.type = AW_MESSAGE_TRACE_EVENT, .input = {bytes, size}};
}

static void test_alloc_each_block_refused_in_turn_is_no_memory(void **state)
{
    (void)state;
    aw_test_golden_t large = large_input();
    aw_arena_t *whole = aw_arena_new(0);
    const aw_message_t *message = aw_test_decode(large.type, large.input, whole);
    assert_int_equal(aw_message_encode(message, whole, &large.deterministic), AW_OK);
    int status = AW_STATUS_NO_MEMORY;
    size_t refusals = 0;
    for (size_t allowed = 0; status != AW_OK; allowed++) {
        aw_arena_t *arena = aw_arena_new(0);
        assert_non_null(arena);
        aw_test_malloc_allowed = allowed;
        status = decode_and_encode(&large, arena);
        aw_test_malloc_allowed = SIZE_MAX;
        assert_true(status == AW_OK || status == AW_STATUS_NO_MEMORY);
        refusals += status != AW_OK;
        aw_arena_free(arena);
    }
    assert_true(refusals > 5);
    aw_arena_free(whole);
}

static int build_everything(aw_arena_t *arena)
{
    aw_builder_t event;
    aw_builder_init(&event, AW_MESSAGE_TRACE_EVENT, arena);
    aw_builder_put(&event, AW_FIELD_TRACE_EVENT_ATTRIBUTES, aw_span_text_view("b"), AW_SPAN_NULL);
    aw_builder_put(&event, AW_FIELD_TRACE_EVENT_ATTRIBUTES, aw_span_text_view("a"), AW_SPAN_NULL);
    const aw_message_t *finished = NULL;
    int status = aw_builder_finish(&event, &finished);
    if (status != AW_OK) {
        assert_null(finished);
        return status;
    }
    aw_builder_t intent;
    aw_builder_t snapshot;
    aw_builder_init(&intent, AW_MESSAGE_TOOL_INTENT, arena);
    aw_builder_init(&snapshot, AW_MESSAGE_STATE_SNAPSHOT, arena);
    status = aw_builder_finish(&intent, &finished);
    if (status == AW_OK) {
        aw_builder_add_message(&snapshot, AW_FIELD_STATE_SNAPSHOT_PENDING, finished);
        status = aw_builder_finish(&snapshot, &finished);
    }
    aw_builder_t continuation;
    aw_builder_init(&continuation, AW_MESSAGE_CONTINUATION, arena);
    aw_builder_add_bytes(&continuation, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS,
                         aw_span_text_view("x"));
    int last = aw_builder_finish(&continuation, &finished);
    return status != AW_OK ? status : last;
}

static void test_alloc_building_with_each_piece_refused_in_turn_says_so(void **state)
{
    (void)state;
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    unsigned refusals = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16) {
        aw_arena_t *arena = aw_arena_new(limit);
        assert_non_null(arena);
        status = build_everything(arena);
        assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
        refusals += status != AW_OK;
        aw_arena_free(arena);
    }
    assert_true(refusals > 20);
}

/* One message through all that is made of messages. Returns the first refusal. */
static int make_everything(const aw_test_golden_t *of, aw_arena_t *arena)
{
    const aw_message_t *message = NULL;
    const aw_message_t *made = NULL;
    aw_json_writer_t writer;
    aw_span_t text = AW_SPAN_NULL;
    aw_span_t canonical = AW_SPAN_NULL;
    int status = aw_message_decode(of->type, of->input, arena, &message, NULL);
    if (status == AW_OK) {
        aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
        aw_json_message(&writer, message, arena);
        status = aw_json_finish(&writer, &text);
        assert_int_equal(text.data != NULL, status == AW_OK);
    }
    if (status == AW_OK) {
        status = aw_json_parse(of->type, text, arena, &made, NULL);
        assert_int_equal(made != NULL, status == AW_OK);
    }
    if (status == AW_OK) {
        status = aw_json_canonical(text, arena, &canonical, NULL);
        assert_int_equal(canonical.data != NULL, status == AW_OK);
    }
    if (status == AW_OK && of->type == AW_MESSAGE_STATE_SNAPSHOT) {
        aw_span_t answer = AW_SPAN_NULL;
        status = aw_snapshot_answer(of->input, 1, text, arena, NULL, &answer, NULL);
        assert_int_equal(answer.data != NULL, status == AW_OK);
    }
    if (status == AW_OK) {
        aw_span_t empty = AW_SPAN_NULL;
        status = aw_snapshot_empty(of->input, 1, text, arena, &empty);
        assert_int_equal(empty.data != NULL, status == AW_OK);
    }
    return status;
}

static void test_alloc_json_and_answers_with_each_piece_refused_in_turn_say_so(void **state)
{
    (void)state;
    unsigned refusals = 0;
    for (size_t i = 0; i < count; i++) {
        int status = golden[i].accepted ? AW_STATUS_LIMIT_DECODE_BYTES : AW_OK;
        for (size_t limit = 16; status != AW_OK; limit += 16) {
            aw_arena_t *arena = aw_arena_new(limit);
            assert_non_null(arena);
            status = make_everything(&golden[i], arena);
            assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
            refusals += status != AW_OK;
            aw_arena_free(arena);
        }
    }
    assert_true(refusals > count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_scan_asks_for_no_memory),
        cmocka_unit_test(test_alloc_decode_and_encode_ask_for_none_in_the_steady_state),
        cmocka_unit_test(test_alloc_each_piece_refused_in_turn_is_a_limit_error),
        cmocka_unit_test(test_alloc_each_block_refused_in_turn_is_no_memory),
        cmocka_unit_test(test_alloc_json_and_answers_with_each_piece_refused_in_turn_say_so),
        cmocka_unit_test(test_alloc_building_with_each_piece_refused_in_turn_says_so),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
