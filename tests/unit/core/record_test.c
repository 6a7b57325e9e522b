#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/record.h"

static const char LONGEST[] =
    "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg"
    "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg"
    "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg"
    "aaaaaaaaaabbbbbbbbbbccccccccccddddddddd";

static void assert_at(const char *text, const char *topic, int32_t partition, int64_t offset)
{
    ab_coordinates_t at = {"", -7, -7};
    assert_true(ab_coordinates_parse(aw_span_text_view(text), &at));
    assert_string_equal(at.topic, topic);
    assert_int_equal(at.partition, partition);
    assert_int_equal(at.offset, offset);
}

static void test_coordinates_of_a_record_are_read(void **state)
{
    char text[300];
    (void)state;
    assert_at("agents.in:3:1042", "agents.in", 3, 1042);
    assert_at("a:0:0", "a", 0, 0);
    assert_at("A_b-c.9:2147483647:9223372036854775807", "A_b-c.9", INT32_MAX, INT64_MAX);
    assert_int_equal(strlen(LONGEST), AB_TOPIC_MAX);
    (void)snprintf(text, sizeof(text), "%s:1:2", LONGEST);
    assert_at(text, LONGEST, 1, 2);
}

static void test_coordinates_that_are_none_leave_the_output_alone(void **state)
{
    static const char *const texts[] = {
        "",
        ":",
        "a",
        "a:",
        "a:1",
        "a:1:",
        ":1:2",
        "a:1:2:",
        "a:1:2:3",
        "a:-1:2",
        "a:1:-2",
        "a:+1:2",
        "a:01:2",
        "a:1:02",
        "a: 1:2",
        "a:1:2 ",
        "a/b:1:2",
        "a:x:2",
        "a:1:x",
        "a:1:2x",
        "\xc3\xa9:1:2",
        "a::2",
        "a b:1:2",
        "a:1::2",
        "a:0x1:2",
        "a:00:2",
        "a:1:2\n",
        "a:2147483648:1",
        "a:1:9223372036854775808",
        "a:1:99999999999999999999",
    };
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ab_coordinates_t at = {"kept", 5, 6};
        assert_false(ab_coordinates_parse(aw_span_text_view(texts[i]), &at));
        assert_string_equal(at.topic, "kept");
        assert_int_equal(at.partition, 5);
        assert_int_equal(at.offset, 6);
    }
    ab_coordinates_t at;
    (void)snprintf(text, sizeof(text), "%sx:1:2", LONGEST);
    assert_false(ab_coordinates_parse(aw_span_text_view(text), &at));
    assert_false(ab_coordinates_parse(AW_SPAN_NULL, &at));
    assert_false(ab_coordinates_parse(aw_span_view("a\0b:1:2", 7), &at));
}

static void test_source_with_its_timestamp_is_read(void **state)
{
    ab_coordinates_t at;
    int64_t timestamp_ms;
    (void)state;
    assert_true(ab_source_parse(aw_span_text_view("in:2:3:1700000000000"), &at, &timestamp_ms));
    assert_string_equal(at.topic, "in");
    assert_int_equal(at.partition, 2);
    assert_int_equal(at.offset, 3);
    assert_int_equal(timestamp_ms, 1700000000000);
    assert_true(ab_source_parse(aw_span_text_view("in:2:3:0"), &at, &timestamp_ms));
    assert_int_equal(timestamp_ms, 0);
    assert_true(ab_source_parse(aw_span_text_view("in:2:3:-1"), &at, &timestamp_ms));
    assert_int_equal(timestamp_ms, -1);
}

static void test_source_that_is_none_leaves_the_outputs_alone(void **state)
{
    static const char *const texts[] = {"",         "in:2:3",    "in:2:3:",   "in:2:3:-2",
                                        "in:2:3:x", "in:2:3:4:", "in:2:3:04", "in:2:3:4 "};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ab_coordinates_t at = {"kept", 5, 6};
        int64_t timestamp_ms = 7;
        assert_false(ab_source_parse(aw_span_text_view(texts[i]), &at, &timestamp_ms));
        assert_string_equal(at.topic, "kept");
        assert_int_equal(timestamp_ms, 7);
    }
}

static void test_header_last_of_a_name_is_the_one(void **state)
{
    const ab_header_t headers[] = {{"a", {(const uint8_t *)"1", 1}},
                                   {"b", {(const uint8_t *)"2", 1}},
                                   {"a", {NULL, 0}},
                                   {"aa", {(const uint8_t *)"4", 1}}};
    const ab_full_record_t record = {.headers = headers, .header_count = 4};
    const ab_full_record_t none = {0};
    (void)state;
    assert_ptr_equal(ab_header_last(&record, "a"), &headers[2]);
    assert_ptr_equal(ab_header_last(&record, "b"), &headers[1]);
    assert_null(ab_header_last(&record, "c"));
    assert_null(ab_header_last(&none, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordinates_of_a_record_are_read),
        cmocka_unit_test(test_coordinates_that_are_none_leave_the_output_alone),
        cmocka_unit_test(test_source_with_its_timestamp_is_read),
        cmocka_unit_test(test_source_that_is_none_leaves_the_outputs_alone),
        cmocka_unit_test(test_header_last_of_a_name_is_the_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
