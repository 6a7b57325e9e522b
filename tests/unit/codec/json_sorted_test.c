/* Trees written back as text, with sorted members. */
#include "tests/unit/codec/json_support.h"

#include <stdlib.h>

#include "codec/json/sorted.h"

static void expect_text(const aw__json_value_t *value, aw_json_numbers_t layout,
                        const char *expected)
{
    aw_span_t text = AW_SPAN_NULL;
    assert_int_equal(aw__json_sorted_text(value, layout, aw_test_json_arena, &text), AW_OK);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

static void test_sorted_members_stand_by_the_bytes_of_their_keys(void **state)
{
    (void)state;
    const aw__json_value_t *root = aw_test_json_read(
        "{\"b\":1,\"a\":{\"z\":[],\"\":{}},\"B\":[{\"y\":null,\"x\":true},false,\"\\u00e9\\/\\n\"],"
        "\"a.b\":5,\"a-b\":6,\"ab\":7,\"\\u00e9\":8,\"\\uffee\":9,\"\\ud83c\\udf75\":10,"
        "\"\\u0000\":11}",
        AW__JSON_STRICT);
    expect_text(root, AW_JSON_NUMBERS_TEA,
                "{\"\\u0000\":11,\"B\":[{\"x\":true,\"y\":null},false,\"\xc3\xa9/\\n\"],"
                "\"a\":{\"\":{},\"z\":[]},\"a-b\":6,\"a.b\":5,\"ab\":7,\"b\":1,\"\xc3\xa9\":8,"
                "\"\xef\xbf\xae\":9,\"\xf0\x9f\x8d\xb5\":10}");
    expect_text(root->first->next, AW_JSON_NUMBERS_TEA, "{\"\":{},\"z\":[]}");
    expect_text(root->first, AW_JSON_NUMBERS_TEA, "1");
}

static void test_sorted_numbers_follow_their_layout(void **state)
{
    (void)state;
    const aw__json_value_t *root =
        aw_test_json_read("[18446744073709551615,-9223372036854775808,9007199254740993,-0,1.0,1e2,"
                          "0.1,1e21,1e-7,18446744073709551616]",
                          AW__JSON_STRICT);
    expect_text(root, AW_JSON_NUMBERS_TEA,
                "[18446744073709551615,-9223372036854775808,9007199254740993,-0.0,1.0,100.0,0.1,"
                "1e21,1e-7,1.8446744073709552e19]");
    expect_text(root, AW_JSON_NUMBERS_ECMASCRIPT,
                "[18446744073709552000,-9223372036854776000,9007199254740992,0,1,100,0.1,1e+21,"
                "1e-7,18446744073709552000]");
    root = aw_test_json_read("[1e999]", AW__JSON_ANY_MAGNITUDE);
    aw_span_t text = AW_SPAN_NULL;
    assert_int_equal(aw__json_sorted_text(root, AW_JSON_NUMBERS_TEA, aw_test_json_arena, &text),
                     AW_STATUS_INVALID_ARGUMENT);
    assert_null(text.data);
}

static void test_sorted_text_is_its_own_sorted_text(void **state)
{
    (void)state;
    aw_span_t first = AW_SPAN_NULL;
    aw_span_t second = AW_SPAN_NULL;
    const aw__json_value_t *root = aw_test_json_read(AW_TEST_JSON_DOCUMENT, AW__JSON_STRICT);
    assert_int_equal(aw__json_sorted_text(root, AW_JSON_NUMBERS_TEA, aw_test_json_arena, &first),
                     AW_OK);
    assert_int_equal(aw__json_read(first, AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, NULL),
                     AW_OK);
    assert_int_equal(aw__json_sorted_text(root, AW_JSON_NUMBERS_TEA, aw_test_json_arena, &second),
                     AW_OK);
    assert_true(aw_span_equal(first, second));
}

static void test_sorted_depth_is_held_at_the_writers(void **state)
{
    (void)state;
    char text[2 * AW_JSON_DEPTH_MAX + 3] = "";
    memset(text, '[', AW_JSON_DEPTH_MAX);
    memset(text + AW_JSON_DEPTH_MAX, ']', AW_JSON_DEPTH_MAX);
    expect_text(aw_test_json_read(text, AW__JSON_STRICT), AW_JSON_NUMBERS_TEA, text);
    memset(text, '[', AW_JSON_DEPTH_MAX + 1);
    memset(text + AW_JSON_DEPTH_MAX + 1, ']', AW_JSON_DEPTH_MAX + 1);
    aw_span_t written = AW_SPAN_NULL;
    const aw__json_value_t *root = aw_test_json_read(text, AW__JSON_STRICT);
    assert_int_equal(aw__json_sorted_text(root, AW_JSON_NUMBERS_TEA, aw_test_json_arena, &written),
                     AW_STATUS_LIMIT_DEPTH);
    assert_null(written.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted_members_stand_by_the_bytes_of_their_keys),
        cmocka_unit_test(test_sorted_numbers_follow_their_layout),
        cmocka_unit_test(test_sorted_text_is_its_own_sorted_text),
        cmocka_unit_test(test_sorted_depth_is_held_at_the_writers),
    };
    return cmocka_run_group_tests(tests, aw_test_json_set_up, aw_test_json_tear_down);
}
