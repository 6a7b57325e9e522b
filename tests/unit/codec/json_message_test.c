#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "agentwire/arena.h"
#include "agentwire/build.h"
#include "agentwire/field.h"
#include "agentwire/json.h"

/** Messages inside of messages, as deep as the schema goes. */
#define DEPTH_MAX 3

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
    return message;
}

static void expect_json(const aw_message_t *message, aw_json_style_t style, const char *expected)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, style, arena);
    aw_json_message(&writer, message, arena);
    aw_span_t text;
    assert_int_equal(aw_json_finish(&writer, &text), AW_OK);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

/** Sets one field to something that is not its default; messages is what built ones are there. */
static void set_field(aw_builder_t *builder, const aw_field_t *field,
                      const aw_message_t *const messages[AW_MESSAGE_COUNT])
{
    const aw_span_t text = aw_span_text_view("x");
    switch (field->kind) {
    case AW_KIND_STRING:
    case AW_KIND_BYTES:
        if (field->repeated) {
            aw_builder_add_bytes(builder, field->number, text);
        } else {
            aw_builder_set_bytes(builder, field->number, text);
        }
        break;
    case AW_KIND_INT64:
        aw_builder_set_int64(builder, field->number, 1);
        break;
    case AW_KIND_UINT32:
        aw_builder_set_uint32(builder, field->number, 1);
        break;
    case AW_KIND_BOOL:
        aw_builder_set_bool(builder, field->number, true);
        break;
    case AW_KIND_ENUM:
        aw_builder_set_enum(builder, field->number, 1);
        break;
    case AW_KIND_MESSAGE:
        if (field->map) {
            aw_builder_put(builder, field->number, text, text);
        } else if (field->repeated) {
            aw_builder_add_message(builder, field->number, messages[field->type]);
        } else {
            aw_builder_set_message(builder, field->number, messages[field->type]);
        }
        break;
    }
}

/** A message of every type with every field set, the inner ones first. Of the oneof the last stays.
 */
static void build_all(const aw_message_t *messages[AW_MESSAGE_COUNT])
{
    for (int round = 0; round < DEPTH_MAX; round++) {
        for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
            aw_builder_t builder;
            aw_builder_init(&builder, (aw_message_type_t)type, arena);
            aw_field_t field;
            for (uint32_t n = 1; aw_field_get((aw_message_type_t)type, n, &field); n++) {
                if (field.kind != AW_KIND_MESSAGE || field.map || messages[field.type] != NULL) {
                    set_field(&builder, &field, messages);
                }
            }
            messages[type] = finish(&builder);
        }
    }
}

static json_t *parse_json(const aw_message_t *message)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_message(&writer, message, arena);
    aw_span_t text;
    assert_int_equal(aw_json_finish(&writer, &text), AW_OK);
    json_t *object = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    return object;
}

/* holds the writer's table of orders against the fields' names */
static void test_message_with_every_field_has_each_key_once_in_ascending_order(void **state)
{
    (void)state;
    const aw_message_t *messages[AW_MESSAGE_COUNT] = {NULL};
    build_all(messages);
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        json_t *object = parse_json(messages[type]);
        const char *before = "";
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value)
        {
            assert_true(strcmp(before, key) < 0);
            before = key;
        }
        size_t expected = 0;
        aw_field_t field;
        for (uint32_t n = 1; aw_field_get((aw_message_type_t)type, n, &field); n++) {
            if (aw_message_count(messages[type], &field) > 0) {
                assert_non_null(json_object_get(object, field.json_name));
                expected++;
            }
        }
        assert_int_equal(json_object_size(object), expected);
        assert_true(expected > 0);
        json_decref(object);
    }
}

static void test_message_with_nothing_set_is_an_empty_object(void **state)
{
    (void)state;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        const aw_message_t *message = NULL;
        aw_error_t error = AW_ERROR_INIT;
        assert_int_equal(aw_message_decode((aw_message_type_t)type, aw_span_text_view(""), arena,
                                           &message, &error),
                         AW_OK);
        expect_json(message, AW_JSON_COMPACT, "{}");
        expect_json(message, AW_JSON_INDENTED, "{}");
    }
}

static void test_message_values_are_written_as_proto3_json(void **state)
{
    (void)state;
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_TOOL_RESULT, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_TOOL_RESULT_INTENT_ID, aw_span_text_view("a\"b"));
    aw_builder_set_bytes(&builder, AW_FIELD_TOOL_RESULT_PAYLOAD, aw_span_text_view("\xff\xfe"));
    aw_builder_set_int64(&builder, AW_FIELD_TOOL_RESULT_SEQ, INT64_MIN);
    aw_builder_set_enum(&builder, AW_FIELD_TOOL_RESULT_STATUS, 4);
    expect_json(finish(&builder), AW_JSON_COMPACT,
                "{\"intentId\":\"a\\\"b\",\"payload\":\"//4=\",\"seq\":\"-9223372036854775808\","
                "\"status\":\"REJECTED\"}");
}

static void test_message_unknown_enum_is_a_number(void **state)
{
    (void)state;
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_TOOL_RESULT, arena);
    aw_builder_set_enum(&builder, AW_FIELD_TOOL_RESULT_STATUS, -7);
    expect_json(finish(&builder), AW_JSON_COMPACT, "{\"status\":-7}");
}

static void test_message_empty_oneof_member_and_submessage_are_shown(void **state)
{
    (void)state;
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_AGENT_ENVELOPE, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, aw_span_text_view(""));
    expect_json(finish(&builder), AW_JSON_COMPACT, "{\"externalEvent\":\"\"}");

    aw_builder_init(&builder, AW_MESSAGE_APPROVAL, arena);
    const aw_message_t *approval = finish(&builder);
    aw_builder_init(&builder, AW_MESSAGE_AGENT_ENVELOPE, arena);
    aw_builder_set_message(&builder, AW_FIELD_AGENT_ENVELOPE_APPROVAL, approval);
    expect_json(finish(&builder), AW_JSON_INDENTED, "{\n  \"approval\": {}\n}");
}

/** A TraceEvent whose map holds these keys, each with itself as the value. */
static const aw_message_t *build_map(const char *const *keys, size_t count)
{
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_TRACE_EVENT, arena);
    for (size_t i = 0; i < count; i++) {
        aw_span_t key = aw_span_text_view(keys[i]);
        aw_builder_put(&builder, AW_FIELD_TRACE_EVENT_ATTRIBUTES, key, key);
    }
    return finish(&builder);
}

/* the encoding has "aa" before "a", and the empty key last */
static void test_message_map_is_sorted_with_the_shorter_key_first(void **state)
{
    (void)state;
    static const char *const keys[] = {"b", "aa", "", "\xc3\xa9", "a", "aaa", "ab"};
    expect_json(
        build_map(keys, sizeof keys / sizeof *keys), AW_JSON_COMPACT,
        "{\"attributes\":{\"\":\"\",\"a\":\"a\",\"aa\":\"aa\",\"aaa\":\"aaa\",\"ab\":\"ab\","
        "\"b\":\"b\",\"\xc3\xa9\":\"\xc3\xa9\"}}");
}

static void test_message_map_without_scratch_memory_fails_the_text(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b", "c"};
    const aw_message_t *message = build_map(keys, sizeof keys / sizeof *keys);
    aw_arena_t *small = aw_arena_new(16);
    assert_non_null(small);
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_message(&writer, message, small);
    aw_span_t text = AW_SPAN_NULL;
    assert_int_equal(aw_json_finish(&writer, &text), AW_STATUS_LIMIT_DECODE_BYTES);
    assert_null(text.data);
    aw_arena_free(small);
}

static void test_message_members_stand_between_others(void **state)
{
    (void)state;
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_STATE_EXPORT_REQUEST, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_EXPORT_REQUEST_REQUEST_ID,
                         aw_span_text_view("r"));
    const aw_message_t *message = finish(&builder);
    char buffer[64];
    aw_json_writer_t writer;
    aw_json_init_buffer(&writer, AW_JSON_COMPACT, buffer, sizeof buffer);
    aw_json_object_open(&writer);
    aw_json_key_text(&writer, "a");
    aw_json_bool(&writer, true);
    aw_json_message_members(&writer, message, arena);
    aw_json_key_text(&writer, "z");
    aw_json_message(&writer, message, arena);
    aw_json_object_close(&writer);
    static const char expected[] = "{\"a\":true,\"requestId\":\"r\",\"z\":{\"requestId\":\"r\"}}";
    aw_span_t text;
    assert_int_equal(aw_json_finish(&writer, &text), AW_OK);
    assert_int_equal(text.size, sizeof expected - 1);
    assert_memory_equal(text.data, expected, text.size);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_message_with_every_field_has_each_key_once_in_ascending_order),
        TEST(test_message_with_nothing_set_is_an_empty_object),
        TEST(test_message_values_are_written_as_proto3_json),
        TEST(test_message_unknown_enum_is_a_number),
        TEST(test_message_empty_oneof_member_and_submessage_are_shown),
        TEST(test_message_map_is_sorted_with_the_shorter_key_first),
        TEST(test_message_map_without_scratch_memory_fails_the_text),
        TEST(test_message_members_stand_between_others),
    };
    return cmocka_run_group_tests_name("json_message", tests, NULL, NULL);
}
