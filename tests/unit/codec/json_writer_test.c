#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agentwire/arena.h"
#include "agentwire/json.h"
#include "agentwire/utf8.h"

static char buffer[4096];

static aw_json_writer_t start(aw_json_style_t style)
{
    aw_json_writer_t writer;
    aw_json_init_buffer(&writer, style, buffer, sizeof buffer);
    return writer;
}

static void expect_text(const aw_json_writer_t *writer, const char *expected)
{
    aw_span_t text;
    assert_int_equal(aw_json_finish(writer, &text), AW_OK);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

/** The same calls for both styles. */
static void write_sample(aw_json_writer_t *writer)
{
    aw_json_object_open(writer);
    aw_json_key_text(writer, "a");
    aw_json_array_open(writer);
    aw_json_int64(writer, -1);
    aw_json_object_open(writer);
    aw_json_object_close(writer);
    aw_json_array_open(writer);
    aw_json_array_close(writer);
    aw_json_array_close(writer);
    aw_json_key_text(writer, "b");
    aw_json_object_open(writer);
    aw_json_key_text(writer, "c");
    aw_json_bool(writer, true);
    aw_json_key_text(writer, "d");
    aw_json_bool(writer, false);
    aw_json_object_close(writer);
    aw_json_key_text(writer, "e");
    aw_json_null(writer);
    aw_json_object_close(writer);
}

static void test_writer_compact_has_no_blank(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    write_sample(&writer);
    expect_text(&writer, "{\"a\":[-1,{},[]],\"b\":{\"c\":true,\"d\":false},\"e\":null}");
}

/* what Python's json.dumps(value, indent=2) prints for the same value */
static void test_writer_indented_is_laid_out_as_pythons(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_INDENTED);
    write_sample(&writer);
    expect_text(&writer, "{\n  \"a\": [\n    -1,\n    {},\n    []\n  ],\n  \"b\": {\n"
                         "    \"c\": true,\n    \"d\": false\n  },\n  \"e\": null\n}");
}

static void test_writer_scalar_alone_is_a_text(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_INDENTED);
    aw_json_text(&writer, "x");
    expect_text(&writer, "\"x\"");
}

static void test_writer_numbers_at_their_limits_are_exact(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_array_open(&writer);
    aw_json_int64(&writer, INT64_MIN);
    aw_json_int64(&writer, INT64_MAX);
    aw_json_int64(&writer, 0);
    aw_json_uint64(&writer, UINT64_MAX);
    aw_json_uint64(&writer, 0);
    aw_json_int64_string(&writer, INT64_MIN);
    aw_json_int64_string(&writer, 10);
    aw_json_array_close(&writer);
    expect_text(&writer, "[-9223372036854775808,9223372036854775807,0,18446744073709551615,0,"
                         "\"-9223372036854775808\",\"10\"]");
}

static void test_writer_escapes_what_json_must_and_nothing_else(void **state)
{
    (void)state;
    static const char expected[] =
        "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e"
        "\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a"
        "\\u001b\\u001c\\u001d\\u001e\\u001f !\\\"#$%&'()*+,-./0123456789:;<=>?@"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f\"";
    uint8_t ascii[128];
    for (size_t i = 0; i < sizeof ascii; i++) {
        ascii[i] = (uint8_t)i;
    }
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_string(&writer, aw_span_view(ascii, sizeof ascii));
    expect_text(&writer, expected);
}

static void test_writer_other_characters_stand_as_they_are(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_text(&writer, "\xc3\xa9\xe2\x80\xa8\xef\xbf\xbf\xf4\x8f\xbf\xbf\n");
    expect_text(&writer, "\"\xc3\xa9\xe2\x80\xa8\xef\xbf\xbf\xf4\x8f\xbf\xbf\\n\"");
}

static void test_writer_absent_string_is_empty(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_array_open(&writer);
    aw_json_string(&writer, AW_SPAN_NULL);
    aw_json_base64(&writer, AW_SPAN_NULL);
    aw_json_hex(&writer, AW_SPAN_NULL);
    aw_json_array_close(&writer);
    expect_text(&writer, "[\"\",\"\",\"\"]");
}

static void test_writer_bytes_are_base64_with_padding_or_hex(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0xfb, 0xff, 0x00, 0x3e};
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_array_open(&writer);
    for (size_t size = 1; size <= sizeof bytes; size++) {
        aw_json_base64(&writer, aw_span_view(bytes, size));
    }
    aw_json_hex(&writer, aw_span_view(bytes, sizeof bytes));
    aw_json_array_close(&writer);
    expect_text(&writer, "[\"+w==\",\"+/8=\",\"+/8A\",\"+/8APg==\",\"fbff003e\"]");
}

static void test_writer_ill_formed_text_fails_and_keeps_the_output(void **state)
{
    (void)state;
    static const char *const texts[] = {"\x80", "a\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        aw_span_t text = aw_span_text_view("poison");
        aw_json_writer_t writer = start(AW_JSON_COMPACT);
        aw_json_object_open(&writer);
        aw_json_key_text(&writer, i % 2 == 0 ? texts[i] : "key");
        aw_json_text(&writer, texts[i]);
        aw_json_object_close(&writer);
        assert_int_equal(aw_json_finish(&writer, &text), AW_STATUS_INVALID_UTF8);
        assert_string_equal((const char *)text.data, "poison");
    }
}

/* every size of the caller's buffer from none up to the one that fits */
static void test_writer_full_buffer_is_reported_and_never_passed(void **state)
{
    (void)state;
    static const char expected[] = "{\"a\":[-1,{},[]],\"b\":{\"c\":true,\"d\":false},\"e\":null}";
    const size_t needed = sizeof expected - 1;
    for (size_t capacity = 0; capacity <= needed; capacity++) {
        memset(buffer, '#', sizeof buffer);
        aw_json_writer_t writer;
        aw_json_init_buffer(&writer, AW_JSON_COMPACT, buffer, capacity);
        write_sample(&writer);
        aw_span_t text = AW_SPAN_NULL;
        int status = aw_json_finish(&writer, &text);
        assert_int_equal(status, capacity < needed ? AW_STATUS_LIMIT_SIZE : AW_OK);
        assert_int_equal(text.size, capacity < needed ? 0 : needed);
        for (size_t i = capacity; i < sizeof buffer; i++) {
            assert_int_equal(buffer[i], '#');
        }
    }
}

static void test_writer_arena_buffer_grows_with_the_text(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_array_open(&writer);
    for (int i = 0; i < COUNT; i++) {
        aw_json_int64(&writer, i % 10);
    }
    aw_json_array_close(&writer);
    aw_span_t text;
    assert_int_equal(aw_json_finish(&writer, &text), AW_OK);
    assert_int_equal(text.size, 2 * COUNT + 1);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(text.data[2 * i], i == 0 ? '[' : ',');
        assert_int_equal(text.data[2 * i + 1], '0' + i % 10);
    }
    assert_int_equal(text.data[2 * COUNT], ']');
    aw_arena_free(arena);
}

static void test_writer_arena_limit_is_reported(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(8192);
    assert_non_null(arena);
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_hex(&writer, aw_span_view(buffer, sizeof buffer));
    aw_span_t text = AW_SPAN_NULL;
    assert_int_equal(aw_json_finish(&writer, &text), AW_STATUS_LIMIT_DECODE_BYTES);
    assert_null(text.data);
    aw_arena_free(arena);
}

/** Opens depth arrays and closes them again. */
static void nest(aw_json_writer_t *writer, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++) {
        aw_json_array_open(writer);
    }
    for (unsigned i = 0; i < depth; i++) {
        aw_json_array_close(writer);
    }
}

static void test_writer_deepest_nesting_is_written(void **state)
{
    (void)state;
    char expected[2 * AW_JSON_DEPTH_MAX + 1] = "";
    memset(expected, '[', AW_JSON_DEPTH_MAX);
    memset(expected + AW_JSON_DEPTH_MAX, ']', AW_JSON_DEPTH_MAX);
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    nest(&writer, AW_JSON_DEPTH_MAX);
    expect_text(&writer, expected);
}

static void test_writer_doubles_stand_in_the_layout_asked_for(void **state)
{
    (void)state;
    aw_json_writer_t writer = start(AW_JSON_COMPACT);
    aw_json_array_open(&writer);
    aw_json_double(&writer, 1e16, AW_JSON_NUMBERS_TEA);
    aw_json_double(&writer, 1e16, AW_JSON_NUMBERS_ECMASCRIPT);
    aw_json_double(&writer, 1e16, AW_JSON_NUMBERS_PYTHON);
    aw_json_array_close(&writer);
    expect_text(&writer, "[1e16,10000000000000000,1e+16]");
}

static void test_writer_double_that_is_not_finite_fails_and_keeps_the_output(void **state)
{
    (void)state;
    static const double values[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        aw_span_t text = aw_span_text_view("poison");
        aw_json_writer_t writer = start(AW_JSON_COMPACT);
        aw_json_double(&writer, values[i], AW_JSON_NUMBERS_TEA);
        assert_int_equal(aw_json_finish(&writer, &text), AW_STATUS_INVALID_ARGUMENT);
        assert_string_equal((const char *)text.data, "poison");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_compact_has_no_blank),
        cmocka_unit_test(test_writer_indented_is_laid_out_as_pythons),
        cmocka_unit_test(test_writer_scalar_alone_is_a_text),
        cmocka_unit_test(test_writer_numbers_at_their_limits_are_exact),
        cmocka_unit_test(test_writer_escapes_what_json_must_and_nothing_else),
        cmocka_unit_test(test_writer_other_characters_stand_as_they_are),
        cmocka_unit_test(test_writer_absent_string_is_empty),
        cmocka_unit_test(test_writer_bytes_are_base64_with_padding_or_hex),
        cmocka_unit_test(test_writer_ill_formed_text_fails_and_keeps_the_output),
        cmocka_unit_test(test_writer_full_buffer_is_reported_and_never_passed),
        cmocka_unit_test(test_writer_arena_buffer_grows_with_the_text),
        cmocka_unit_test(test_writer_arena_limit_is_reported),
        cmocka_unit_test(test_writer_deepest_nesting_is_written),
        cmocka_unit_test(test_writer_doubles_stand_in_the_layout_asked_for),
        cmocka_unit_test(test_writer_double_that_is_not_finite_fails_and_keeps_the_output),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
