/* Answers to export requests, against frozen bytes that the reference runtime vouches for. */
#include "tests/unit/codec/support.h"

#include "agentwire/build.h"
#include "agentwire/snapshot.h"

#define CASES "golden/snapshot/v1/cases.jsonl"

typedef struct fixture {
    aw_arena_t *arena;
} fixture_t;

static int set_up(void **state)
{
    static fixture_t fixture;
    fixture.arena = aw_arena_new(0);
    *state = &fixture;
    return fixture.arena != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    aw_arena_free(((fixture_t *)*state)->arena);
    return 0;
}

static aw_span_t bytes_of(const json_t *line, const char *key)
{
    return aw_test_hex(aw_test_text(line, key));
}

static void expect_same(const char *name, const char *what, aw_span_t found, aw_span_t wanted)
{
    if (!aw_span_equal(found, wanted)) {
        fail_msg("%s: %s differs: %zu bytes, wanted %zu", name, what, found.size, wanted.size);
    }
}

static void check_case(const json_t *line, void *opaque)
{
    aw_arena_t *arena = opaque;
    const char *name = aw_test_text(line, "name");
    const json_t *id = json_object_get(line, "request_id");
    const aw_span_t request_id = aw_span_view(json_string_value(id), json_string_length(id));
    const int64_t time_ms = json_integer_value(json_object_get(line, "snapshot_at_ms"));
    const aw_span_t published = aw_test_guarded(bytes_of(line, "published_hex"));
    aw_span_t answer = AW_SPAN_NULL;
    aw_span_t again = AW_SPAN_NULL;
    aw_span_t encoded = AW_SPAN_NULL;
    aw_snapshot_view_t view;
    aw_arena_reset(arena);
    assert_int_equal(aw_snapshot_answer(published, time_ms, request_id, arena, NULL, &answer, NULL),
                     AW_OK);
    expect_same(name, "the answer", answer, bytes_of(line, "answer_hex"));
    const aw_message_t *message = aw_test_decode(AW_MESSAGE_STATE_SNAPSHOT, answer, arena);
    assert_int_equal(aw_message_encode(message, arena, &encoded), AW_OK);
    expect_same(name, "the encoding", encoded, bytes_of(line, "deterministic_hex"));
    assert_int_equal(aw_snapshot_scan(answer, &view, NULL), AW_OK);
    assert_true(view.snapshot_at_ms == time_ms);
    expect_same(name, "request_id", view.request_id, request_id);
    expect_same(name, "entity_key", view.entity_key, aw_test_value(message, 2, 0).as.bytes);
    assert_true(view.seq == aw_test_value(message, 3, 0).as.int64);
    assert_true(view.state_schema_version == aw_test_value(message, 1, 0).as.uint32);
    assert_int_equal(aw_snapshot_answer(answer, time_ms, request_id, arena, NULL, &again, NULL),
                     AW_OK);
    expect_same(name, "the answer of the answer", again, answer);
}

static void test_snapshot_golden_answers_are_the_frozen_bytes(void **state)
{
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    assert_true(aw_test_lines(CASES, check_case, arena) > 200);
}

static void test_snapshot_refused_state_gives_no_answer(void **state)
{
    static const struct {
        const char *hex;
        int status;
    } cases[] = {
        {"0801 12", AW_STATUS_DECODE_TRUNCATED}, {"0801 2a0108", AW_STATUS_DECODE_TRUNCATED},
        {"00", AW_STATUS_DECODE_BAD_TAG},        {"5b", AW_STATUS_DECODE_GROUP},
        {"4a01ff", AW_STATUS_INVALID_UTF8},      {"57", AW_STATUS_DECODE_WIRE_TYPE},
    };
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const aw_span_t input = aw_test_hex(cases[i].hex);
        aw_span_t answer = {(const uint8_t *)"untouched", 9};
        aw_snapshot_view_t view = {.seq = 77};
        aw_error_t error = AW_ERROR_INIT;
        assert_int_equal(
            aw_snapshot_answer(input, 1, aw_span_text_view("r"), arena, NULL, &answer, &error),
            cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_int_equal(answer.size, 9);
        assert_int_equal(aw_snapshot_scan(input, &view, NULL), cases[i].status);
        assert_int_equal(view.seq, 77);
    }
}

static void test_snapshot_request_id_ill_formed_is_refused(void **state)
{
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    const aw_span_t id = aw_test_hex("c328");
    aw_span_t answer = {(const uint8_t *)"untouched", 9};
    assert_int_equal(aw_snapshot_answer(aw_test_hex("0801"), 1, id, arena, NULL, &answer, NULL),
                     AW_STATUS_INVALID_UTF8);
    assert_int_equal(aw_snapshot_empty(aw_test_hex("61"), 1, id, arena, &answer),
                     AW_STATUS_INVALID_UTF8);
    assert_int_equal(answer.size, 9);
}

static void test_snapshot_empty_holds_version_key_time_and_request(void **state)
{
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    aw_span_t answer;
    assert_int_equal(
        aw_snapshot_empty(aw_test_hex("ff00"), 300, aw_span_text_view("r"), arena, &answer), AW_OK);
    aw_test_expect_hex(answer, "0801 1202ff00 20ac02 4a0172");
}

static void test_snapshot_arena_full_says_so(void **state)
{
    (void)state;
    aw_arena_t *small = aw_arena_new(16);
    uint8_t state_bytes[40] = {0x52, 38};
    aw_span_t answer = {(const uint8_t *)"untouched", 9};
    assert_non_null(small);
    assert_int_equal(aw_snapshot_answer((aw_span_t){state_bytes, 40}, 1, AW_SPAN_NULL, small, NULL,
                                        &answer, NULL),
                     AW_STATUS_LIMIT_DECODE_BYTES);
    assert_int_equal(answer.size, 9);
    aw_arena_free(small);
}

/* Fails unless the answer reads as the published state with two fields set, and the view says what
 * they were. */
static void expect_two_fields_set(aw_span_t published, aw_span_t answer,
                                  const aw_snapshot_view_t *view, aw_arena_t *arena)
{
    const aw_message_t *was = aw_test_decode(AW_MESSAGE_STATE_SNAPSHOT, published, arena);
    const aw_message_t *is = aw_test_decode(AW_MESSAGE_STATE_SNAPSHOT, answer, arena);
    const aw_message_t *wanted = NULL;
    aw_span_t wanted_bytes;
    aw_span_t bytes;
    aw_builder_t builder;
    assert_true(view->snapshot_at_ms == aw_test_value(was, 4, 0).as.int64);
    assert_true(aw_span_equal(view->request_id, aw_test_value(was, 9, 0).as.bytes));
    assert_true(aw_span_equal(view->entity_key, aw_test_value(was, 2, 0).as.bytes));
    aw_builder_init_copy(&builder, was, arena);
    aw_builder_set_int64(&builder, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS, 1);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID, aw_span_text_view("r"));
    assert_int_equal(aw_builder_finish(&builder, &wanted), AW_OK);
    assert_int_equal(aw_message_encode(wanted, arena, &wanted_bytes), AW_OK);
    assert_int_equal(aw_message_encode(is, arena, &bytes), AW_OK);
    assert_true(aw_span_equal(bytes, wanted_bytes));
}

static void test_snapshot_fields_out_of_order_are_grouped_by_number(void **state)
{
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    aw_snapshot_view_t view;
    aw_span_t answer;
    /* two pieces of a number apart and next to each other, unknown ones between and around */
    assert_int_equal(
        aw_snapshot_answer(aw_test_hex("5201aa 42020a00 2a020801 4a0178 42030a0161 1805 0901020304"
                                       "05060708 42020a00 2a00 2007 120161 0801 500b 2008 53 54"),
                           1, aw_span_text_view("r"), arena, &view, &answer, NULL),
        AW_OK);
    aw_test_expect_hex(answer, "0801 120161 1805 2001 2a020801 2a00 42020a00 42030a0161 42020a00 "
                               "4a0172 5201aa 090102030405060708 500b 53 54");
    assert_int_equal(view.state_schema_version, 1);
    assert_true(view.seq == 5 && view.snapshot_at_ms == 8);
    assert_true(aw_span_equal(view.request_id, aw_span_text_view("x")));
}

/* As a fuzzer would: whatever the bytes are, the answer is made exactly when they scan, it keeps
 * what it must keep, and nothing is read beyond the end. */
static void test_snapshot_mutated_states_keep_all_but_two_fields(void **state)
{
    enum { ROUNDS = 100000, SIZE_MAX_BYTES = 512 };
    aw_arena_t *arena = ((fixture_t *)*state)->arena;
    static const char seed_hex[] = "0801 120161 1805 2007 2a060801 12020a00 32020801 3a020801 "
                                   "42020a00 4a0178 5201aa 53 0801 54 2107060504030201aa";
    uint64_t random = 7;
    unsigned made = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t buffer[SIZE_MAX_BYTES];
        const aw_span_t seed = aw_test_hex(seed_hex);
        memcpy(buffer, seed.data, seed.size);
        const size_t size = aw_test_mutate(&random, buffer, seed.size, sizeof(buffer));
        const aw_span_t input = aw_test_guarded((aw_span_t){buffer, size});
        aw_span_t first = AW_SPAN_NULL;
        aw_span_t second = AW_SPAN_NULL;
        aw_arena_reset(arena);
        aw_snapshot_view_t view;
        aw_error_t scan_error = AW_ERROR_INIT;
        aw_error_t error = AW_ERROR_INIT;
        const int scanned = aw_message_scan(AW_MESSAGE_STATE_SNAPSHOT, input, &scan_error);
        const int status =
            aw_snapshot_answer(input, 1, aw_span_text_view("r"), arena, &view, &first, &error);
        assert_int_equal(status, scanned);
        aw_test_expect_same_error(&error, &scan_error);
        if (status != AW_OK) {
            continue;
        }
        made++;
        expect_two_fields_set(input, first, &view, arena);
        assert_int_equal(
            aw_snapshot_answer(first, 1, aw_span_text_view("r"), arena, NULL, &second, NULL),
            AW_OK);
        assert_true(aw_span_equal(first, second));
    }
    assert_true(made > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot_golden_answers_are_the_frozen_bytes),
        cmocka_unit_test(test_snapshot_refused_state_gives_no_answer),
        cmocka_unit_test(test_snapshot_request_id_ill_formed_is_refused),
        cmocka_unit_test(test_snapshot_empty_holds_version_key_time_and_request),
        cmocka_unit_test(test_snapshot_arena_full_says_so),
        cmocka_unit_test(test_snapshot_fields_out_of_order_are_grouped_by_number),
        cmocka_unit_test(test_snapshot_mutated_states_keep_all_but_two_fields),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
