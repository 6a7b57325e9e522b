#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/build.h"
#include "codec/message/object.h"

static aw_arena_t *arena;

static int set_up(void **state)
{
    (void)state;
    arena = aw_arena_new(0);
    return arena != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    aw_arena_free(arena);
    return 0;
}

static const aw_message_t *finish(aw_builder_t *builder)
{
    const aw_message_t *message = NULL;
    assert_int_equal(aw_builder_finish(builder, &message), AW_OK);
    assert_non_null(message);
    return message;
}

static aw_span_t encoded(const aw_message_t *message)
{
    aw_span_t bytes = AW_SPAN_NULL;
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    return bytes;
}

static aw_builder_t begin(aw_message_type_t type)
{
    aw_builder_t builder;
    aw_builder_init(&builder, type, arena);
    return builder;
}

static aw_span_t text(const char *string)
{
    return aw_span_text_view(string);
}

/* The expectations with more than a few bytes are the reference runtime's. */
static void test_build_dead_letter_is_the_references_bytes(void **state)
{
    (void)state;
    aw_builder_t record = begin(AW_MESSAGE_ACTIVATION_ERROR_RECORD);
    aw_builder_set_bytes(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY, text("acct-7"));
    aw_builder_set_bytes(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_REASON,
                         text("decode_truncated"));
    aw_builder_set_bytes(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL,
                         text("{\"at\":17,\"v\":1}"));
    aw_builder_set_int64(&record, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS, 1700000000000);

    aw_builder_t envelope = begin(AW_MESSAGE_AGENT_ENVELOPE);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, text("acct-7"));
    aw_builder_set_int64(&envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 1700000000000);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT,
                         encoded(finish(&record)));
    aw_test_expect_hex(
        encoded(finish(&envelope)),
        "0a06616363742d371080d095ffbc311a320a06616363742d3712106465636f64655f7472756e"
        "63617465641a0f7b226174223a31372c2276223a317d2080d095ffbc31");
}

static void test_build_another_variant_clears_the_one_that_was_set(void **state)
{
    (void)state;
    aw_builder_t result = begin(AW_MESSAGE_TOOL_RESULT);
    aw_builder_set_bytes(&result, AW_FIELD_TOOL_RESULT_INTENT_ID, text("i"));
    const aw_message_t *tool_result = finish(&result);
    aw_builder_t request = begin(AW_MESSAGE_STATE_EXPORT_REQUEST);
    const aw_message_t *export_request = finish(&request);
    aw_builder_t answer = begin(AW_MESSAGE_APPROVAL);
    aw_builder_set_bool(&answer, AW_FIELD_APPROVAL_APPROVED, true);
    const aw_message_t *approval = finish(&answer);

    aw_builder_t envelope = begin(AW_MESSAGE_AGENT_ENVELOPE);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, text("event"));
    aw_builder_set_message(&envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, tool_result);
    aw_test_expect_hex(encoded(finish(&envelope)), "22 03 0a0169");
    aw_builder_set_message(&envelope, AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST, export_request);
    aw_test_expect_hex(encoded(finish(&envelope)), "32 00");
    aw_builder_set_message(&envelope, AW_FIELD_AGENT_ENVELOPE_APPROVAL, approval);
    aw_test_expect_hex(encoded(finish(&envelope)), "2a 02 1001");
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, AW_SPAN_NULL);
    aw_test_expect_hex(encoded(finish(&envelope)), "1a 00");
}

static void test_build_new_message_carries_version_1_and_nothing_else(void **state)
{
    (void)state;
    for (int i = 0; i < AW_MESSAGE_COUNT; i++) {
        const aw_message_type_t type = (aw_message_type_t)i;
        aw_builder_t builder = begin(type);
        aw_field_t first;
        assert_true(aw_field_get(type, 1, &first));
        const bool versioned = strcmp(first.name, "state_schema_version") == 0;
        aw_test_expect_hex(encoded(finish(&builder)), versioned ? "0801" : "");
    }
    aw_builder_t blob = begin(AW_MESSAGE_MEMORY_BLOB);
    aw_builder_set_uint32(&blob, AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION, 0);
    aw_test_expect_hex(encoded(finish(&blob)), "");
}

/* Sets a field of any kind to something that is not its default; children holds built messages. */
static void set_any(aw_builder_t *builder, const aw_field_t *field,
                    const aw_message_t *const *children)
{
    const uint32_t number = field->number;
    switch (field->kind) {
    case AW_KIND_STRING:
    case AW_KIND_BYTES:
        if (field->repeated) {
            aw_builder_add_bytes(builder, number, text("x"));
            aw_builder_add_bytes(builder, number, text("y"));
        } else {
            aw_builder_set_bytes(builder, number, text("x"));
        }
        break;
    case AW_KIND_INT64:
        aw_builder_set_int64(builder, number, INT64_MIN);
        break;
    case AW_KIND_UINT32:
        aw_builder_set_uint32(builder, number, UINT32_MAX);
        break;
    case AW_KIND_BOOL:
        aw_builder_set_bool(builder, number, true);
        break;
    case AW_KIND_ENUM:
        aw_builder_set_enum(builder, number, -7);
        break;
    case AW_KIND_MESSAGE:
        if (field->map) {
            aw_builder_put(builder, number, text("k"), text("v"));
        } else if (field->repeated) {
            aw_builder_add_message(builder, number, children[field->type]);
            aw_builder_add_message(builder, number, children[field->type]);
        } else {
            aw_builder_set_message(builder, number, children[field->type]);
        }
        break;
    }
}

static void test_build_every_field_of_every_message_encodes_as_protobuf_c_does(void **state)
{
    (void)state;
    const aw_message_t *built[AW_MESSAGE_COUNT] = {NULL};
    /* Inner messages come last in the list and hold no others; of the outer ones only StateSnapshot
     * holds outer ones. */
    for (int round = 0; round < 2; round++) {
        for (int i = AW_MESSAGE_COUNT - 1; i >= 0; i--) {
            const aw_message_type_t type = (aw_message_type_t)i;
            if ((type == AW_MESSAGE_STATE_SNAPSHOT || type == AW_MESSAGE_AGENT_ENVELOPE) !=
                (round == 1)) {
                continue;
            }
            aw_builder_t builder = begin(type);
            aw_field_t field;
            for (uint32_t number = 1; aw_field_get(type, number, &field); number++) {
                set_any(&builder, &field, built);
            }
            built[type] = finish(&builder);
            const ProtobufCMessage *body = aw__body(built[type]);
            aw_span_t bytes = encoded(built[type]);
            uint8_t *packed = malloc(bytes.size);
            assert_non_null(packed);
            assert_int_equal(protobuf_c_message_get_packed_size(body), bytes.size);
            assert_int_equal(protobuf_c_message_pack(body, packed), bytes.size);
            assert_memory_equal(packed, bytes.data, bytes.size);
            free(packed);
            assert_true(aw_span_equal(encoded(aw_test_decode(type, bytes, arena)), bytes));
        }
    }
}

static void test_build_map_is_in_the_references_order(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"aa", "0"}, {"a", "2"},        {"b", ""},  {"", "3"},
                                           {"aa", "1"}, {"\xc3\xa9", "4"}, {"ab", "5"}};
    aw_builder_t event = begin(AW_MESSAGE_TRACE_EVENT);
    aw_builder_set_enum(&event, AW_FIELD_TRACE_EVENT_EVENT_TYPE, 3);
    aw_builder_set_int64(&event, AW_FIELD_TRACE_EVENT_START_MS, -1);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        aw_builder_put(&event, AW_FIELD_TRACE_EVENT_ATTRIBUTES, text(pairs[i][0]),
                       text(pairs[i][1]));
    }
    const aw_message_t *message = finish(&event);
    assert_int_equal(aw_test_count(message, AW_FIELD_TRACE_EVENT_ATTRIBUTES), 6);
    aw_test_expect_hex(encoded(message),
                       "3803 42070a0261611201 31 42070a026162120135 42060a0161120132"
                       "42050a01621200 42070a02c3a9120134 42050a00120133 48ffffffffffffffffff01");
}

typedef void step_fn(aw_builder_t *builder);

static void no_such_field(aw_builder_t *builder)
{
    aw_builder_set_bytes(builder, 15, text("x"));
}

static void number_zero(aw_builder_t *builder)
{
    aw_builder_set_bytes(builder, 0, text("x"));
}

static void number_beyond_rows(aw_builder_t *builder)
{
    aw_builder_set_int64(builder, UINT32_MAX, 1);
}

static void bytes_for_number(aw_builder_t *builder)
{
    aw_builder_set_bytes(builder, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, text("x"));
}

static void uint32_for_int64(aw_builder_t *builder)
{
    aw_builder_set_uint32(builder, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 1);
}

static void bool_for_bytes(aw_builder_t *builder)
{
    aw_builder_set_bool(builder, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, true);
}

static void enum_for_message(aw_builder_t *builder)
{
    aw_builder_set_enum(builder, AW_FIELD_AGENT_ENVELOPE_APPROVAL, 1);
}

static void list_for_single(aw_builder_t *builder)
{
    aw_builder_add_bytes(builder, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, text("x"));
}

static void map_for_single(aw_builder_t *builder)
{
    aw_builder_put(builder, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, text("x"), text("y"));
}

static void no_message(aw_builder_t *builder)
{
    aw_builder_set_message(builder, AW_FIELD_AGENT_ENVELOPE_APPROVAL, NULL);
}

static void message_of_another_type(aw_builder_t *builder)
{
    aw_builder_t other = begin(AW_MESSAGE_TOOL_RESULT);
    aw_builder_set_message(builder, AW_FIELD_AGENT_ENVELOPE_APPROVAL, finish(&other));
}

static void element_of_another_kind(aw_builder_t *builder)
{
    aw_builder_t other = begin(AW_MESSAGE_TOOL_RESULT);
    aw_builder_add_message(builder, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, finish(&other));
}

static void test_build_first_trouble_is_kept_and_reported(void **state)
{
    (void)state;
    static step_fn *const steps[] = {
        no_such_field,    number_zero,    number_beyond_rows,      bytes_for_number,
        uint32_for_int64, bool_for_bytes, enum_for_message,        list_for_single,
        map_for_single,   no_message,     message_of_another_type, element_of_another_kind,
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        aw_builder_t envelope = begin(AW_MESSAGE_AGENT_ENVELOPE);
        aw_builder_set_int64(&envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 5);
        steps[i](&envelope);
        /* Nothing more is done, and another trouble does not take its place. */
        aw_builder_set_int64(&envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 6);
        const aw_message_t *message = NULL;
        assert_int_equal(aw_builder_finish(&envelope, &message), AW_STATUS_INVALID_ARGUMENT);
        assert_null(message);
        assert_true(aw_test_value(envelope.message, 2, 0).as.int64 == 5);
    }
}

static void test_build_type_that_is_none_is_an_argument_error(void **state)
{
    (void)state;
    aw_builder_t builder = begin(AW_MESSAGE_COUNT);
    aw_builder_set_int64(&builder, 2, 5);
    aw_builder_put(&builder, 8, text("k"), text("v"));
    const aw_message_t *message = NULL;
    assert_int_equal(aw_builder_finish(&builder, &message), AW_STATUS_INVALID_ARGUMENT);
    assert_null(message);
}

static int build_with(aw_message_type_t type, uint32_t number, aw_span_t value, bool list)
{
    aw_builder_t builder = begin(type);
    if (list) {
        aw_builder_add_bytes(&builder, number, value);
    } else {
        aw_builder_set_bytes(&builder, number, value);
    }
    const aw_message_t *message = NULL;
    return aw_builder_finish(&builder, &message);
}

static void test_build_strings_must_be_utf8_and_bytes_need_not(void **state)
{
    (void)state;
    const aw_span_t ill = text("a\xff");
    assert_int_equal(build_with(AW_MESSAGE_APPROVAL, AW_FIELD_APPROVAL_APPROVER, ill, false),
                     AW_STATUS_INVALID_UTF8);
    assert_int_equal(
        build_with(AW_MESSAGE_CONTINUATION, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS, ill, true),
        AW_STATUS_INVALID_UTF8);
    assert_int_equal(
        build_with(AW_MESSAGE_AGENT_ENVELOPE, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, ill, false),
        AW_OK);
    for (int half = 0; half < 2; half++) {
        aw_builder_t event = begin(AW_MESSAGE_TRACE_EVENT);
        aw_builder_put(&event, AW_FIELD_TRACE_EVENT_ATTRIBUTES, half == 0 ? ill : text("k"),
                       half == 1 ? ill : text("v"));
        const aw_message_t *message = NULL;
        assert_int_equal(aw_builder_finish(&event, &message), AW_STATUS_INVALID_UTF8);
    }
}

/* A MemoryBlob of so many entries whose values are this span, which is not read. */
static int encode_entries(aw_span_t value, int entries)
{
    aw_builder_t blob = begin(AW_MESSAGE_MEMORY_BLOB);
    for (int i = 0; i < entries; i++) {
        aw_builder_t entry = begin(AW_MESSAGE_MEMORY_ENTRY);
        aw_builder_set_bytes(&entry, AW_FIELD_MEMORY_ENTRY_VALUE, value);
        aw_builder_add_message(&blob, AW_FIELD_MEMORY_BLOB_ENTRIES, finish(&entry));
    }
    aw_span_t bytes = AW_SPAN_NULL;
    int status = aw_message_encode(finish(&blob), arena, &bytes);
    assert_int_equal(bytes.data != NULL, status == AW_OK);
    return status;
}

static void test_encode_beyond_what_the_reference_writes_is_a_limit_error(void **state)
{
    (void)state;
    const uint8_t byte[1] = {0};
    assert_int_equal(encode_entries((aw_span_t){byte, (size_t)INT32_MAX}, 1), AW_STATUS_LIMIT_SIZE);
    assert_int_equal(encode_entries((aw_span_t){byte, 1u << 30}, 2), AW_STATUS_LIMIT_SIZE);
    assert_int_equal(encode_entries((aw_span_t){byte, SIZE_MAX / 2}, 3), AW_STATUS_LIMIT_SIZE);
    assert_int_equal(encode_entries((aw_span_t){byte, SIZE_MAX}, 1), AW_STATUS_LIMIT_SIZE);
    assert_int_equal(encode_entries((aw_span_t){byte, 1}, 3), AW_OK);
    /* One byte below, at and above the limit; in an arena that has no room for the one that fits.
     */
    for (size_t over = 0; over < 3; over++) {
        aw_arena_t *small = aw_arena_new(4096);
        aw_builder_t entry;
        aw_builder_init(&entry, AW_MESSAGE_MEMORY_ENTRY, small);
        const size_t size = (size_t)INT32_MAX - 1 - 6 - 1 + over;
        aw_builder_set_bytes(&entry, AW_FIELD_MEMORY_ENTRY_VALUE, (aw_span_t){byte, size});
        aw_span_t bytes;
        assert_int_equal(aw_message_encode(finish(&entry), small, &bytes),
                         over < 2 ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_LIMIT_SIZE);
        aw_arena_free(small);
    }
}

/* The ids in a Continuation's list, each one letter. */
static void expect_ids(const aw_message_t *message, const char *letters)
{
    const uint32_t number = AW_FIELD_CONTINUATION_PENDING_INTENT_IDS;
    assert_int_equal(aw_test_count(message, number), strlen(letters));
    for (size_t i = 0; i < strlen(letters); i++) {
        const aw_span_t id = aw_test_value(message, number, i).as.bytes;
        assert_true(aw_span_equal(id, aw_span_view(&letters[i], 1)));
    }
}

static const aw_message_t *with_id(const aw_message_t *message, const char *letter)
{
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_builder_init_copy(&builder, message, arena);
    aw_builder_add_bytes(&builder, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS,
                         aw_span_text_view(letter));
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    return made;
}

static void test_build_copies_grow_without_touching_the_original_or_each_other(void **state)
{
    (void)state;
    const aw_message_t *message =
        aw_test_decode(AW_MESSAGE_CONTINUATION, aw_test_hex("7801 220161 1005"), arena);
    const char *letters = "a";
    static const char *const more[] = {"ab", "abc", "abcd", "abcde", "abcdef"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        const aw_message_t *other = with_id(message, "z");
        const aw_message_t *next = with_id(message, &more[i][strlen(letters)]);
        assert_int_equal(aw_test_count(other, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS),
                         strlen(letters) + 1);
        expect_ids(message, letters);
        expect_ids(next, more[i]);
        assert_int_equal(aw_message_unknown_size(next), 2);
        assert_int_equal(aw_test_value(next, AW_FIELD_CONTINUATION_SEQ, 0).as.int64, 5);
        /* A copy keeps the version it has, and gets none. */
        assert_int_equal(aw_test_value(next, 1, 0).as.uint32, 0);
        message = next;
        letters = more[i];
    }
}

static void test_build_copy_of_an_envelope_takes_another_variant(void **state)
{
    (void)state;
    const aw_message_t *message =
        aw_test_decode(AW_MESSAGE_AGENT_ENVELOPE, aw_test_hex("0a0161 2203 0a0169 7801"), arena);
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_span_t bytes = AW_SPAN_NULL;
    aw_builder_init_copy(&builder, message, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, aw_span_text_view("x"));
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    assert_int_equal(aw_message_encode(made, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, "0a0161 1a0178 7801");
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, "0a0161 2203 0a0169 7801");
}

static void test_build_copy_of_a_map_is_sorted_and_keeps_the_last(void **state)
{
    (void)state;
    const aw_message_t *message = aw_test_decode(
        AW_MESSAGE_TRACE_EVENT, aw_test_hex("4206 0a0162 120131 4206 0a0161 120132"), arena);
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_span_t bytes = AW_SPAN_NULL;
    aw_builder_init_copy(&builder, message, arena);
    aw_builder_put(&builder, AW_FIELD_TRACE_EVENT_ATTRIBUTES, aw_span_text_view("a"),
                   aw_span_text_view("3"));
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    assert_int_equal(aw_message_encode(made, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, "4206 0a0161 120133 4206 0a0162 120131");
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, "4206 0a0161 120132 4206 0a0162 120131");
}

static void test_build_copy_without_memory_is_a_limit_error(void **state)
{
    (void)state;
    const aw_message_t *message =
        aw_test_decode(AW_MESSAGE_CONTINUATION, aw_test_hex("220161"), arena);
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    unsigned refused = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16) {
        aw_arena_t *small = aw_arena_new(limit);
        aw_builder_t builder;
        const aw_message_t *made = NULL;
        aw_builder_init_copy(&builder, message, small);
        status = aw_builder_finish(&builder, &made);
        assert_int_equal(made != NULL, status == AW_OK);
        refused += status == AW_STATUS_LIMIT_DECODE_BYTES;
        aw_arena_free(small);
    }
    assert_true(refused > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_dead_letter_is_the_references_bytes),
        cmocka_unit_test(test_build_another_variant_clears_the_one_that_was_set),
        cmocka_unit_test(test_build_new_message_carries_version_1_and_nothing_else),
        cmocka_unit_test(test_build_every_field_of_every_message_encodes_as_protobuf_c_does),
        cmocka_unit_test(test_build_map_is_in_the_references_order),
        cmocka_unit_test(test_build_first_trouble_is_kept_and_reported),
        cmocka_unit_test(test_build_type_that_is_none_is_an_argument_error),
        cmocka_unit_test(test_build_strings_must_be_utf8_and_bytes_need_not),
        cmocka_unit_test(test_build_copies_grow_without_touching_the_original_or_each_other),
        cmocka_unit_test(test_build_copy_of_an_envelope_takes_another_variant),
        cmocka_unit_test(test_build_copy_of_a_map_is_sorted_and_keeps_the_last),
        cmocka_unit_test(test_build_copy_without_memory_is_a_limit_error),
        cmocka_unit_test(test_encode_beyond_what_the_reference_writes_is_a_limit_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
