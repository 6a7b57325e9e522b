/* The JSON reader: what it takes, what it refuses and where. json_reader_test.py and
 * json_reader_jansson_test.c ask other parsers. */
#include "tests/unit/codec/json_support.h"

#include <stdio.h>

static void expect_malformed(const char *text, int64_t offset, const char *pointer)
{
    aw_test_json_refuse(aw_test_guarded(aw_span_text_view(text)), AW_TEST_JSON_NO_LIMIT,
                        AW__JSON_STRICT, AW_STATUS_MALFORMED_JSON, offset, pointer);
}

static void expect_bytes(aw_span_t text, const char *expected, size_t size)
{
    assert_int_equal(text.size, size);
    assert_memory_equal(text.data, expected, size);
}

static void test_reader_every_kind_has_its_place_and_text(void **state)
{
    (void)state;
    const char *text = " {\"a\" : [null, true,false ,-1.5e3,\"x\",{ },[ ]]\t,\n\"b\":\"\" }\r\n";
    const aw__json_value_t *root = aw_test_json_read(text, AW__JSON_STRICT);
    static const struct {
        aw__json_kind_t kind;
        const char *raw;
        uint32_t height;
    } expected[] = {
        {AW__JSON_NULL, "null", 0},     {AW__JSON_TRUE, "true", 0},    {AW__JSON_FALSE, "false", 0},
        {AW__JSON_NUMBER, "-1.5e3", 0}, {AW__JSON_STRING, "\"x\"", 0}, {AW__JSON_OBJECT, "{ }", 1},
        {AW__JSON_ARRAY, "[ ]", 1},
    };
    assert_int_equal(root->kind, AW__JSON_OBJECT);
    assert_int_equal(root->offset, 1);
    assert_int_equal(root->offset + root->size, strlen(text) - 2);
    assert_int_equal(root->count, 2);
    assert_int_equal(root->height, 3);
    assert_null(root->key.data);
    assert_null(root->next);
    const aw__json_value_t *a = root->first;
    assert_int_equal(a->kind, AW__JSON_ARRAY);
    expect_bytes(a->key, "a", 1);
    assert_int_equal(a->key_offset, 2);
    assert_int_equal(a->count, 7);
    assert_int_equal(a->height, 2);
    const aw__json_value_t *element = a->first;
    for (size_t i = 0; i < 7; i++, element = element->next) {
        assert_int_equal(element->kind, expected[i].kind);
        assert_int_equal(element->height, expected[i].height);
        assert_int_equal(element->size, strlen(expected[i].raw));
        assert_memory_equal(text + element->offset, expected[i].raw, element->size);
        assert_null(element->key.data);
    }
    assert_null(element);
    expect_bytes(a->first->next->next->next->text, "-1.5e3", 6);
    const aw__json_value_t *b = a->next;
    assert_null(b->next);
    assert_int_equal(b->kind, AW__JSON_STRING);
    expect_bytes(b->text, "", 0);
    assert_non_null(b->text.data);
}

static void test_reader_scalar_alone_is_a_text(void **state)
{
    (void)state;
    assert_int_equal(aw_test_json_read("null", AW__JSON_STRICT)->kind, AW__JSON_NULL);
    assert_int_equal(aw_test_json_read(" true\n", AW__JSON_STRICT)->kind, AW__JSON_TRUE);
    assert_int_equal(aw_test_json_read("false", AW__JSON_STRICT)->kind, AW__JSON_FALSE);
    expect_bytes(aw_test_json_read("\t0", AW__JSON_STRICT)->text, "0", 1);
    expect_bytes(aw_test_json_read("\"0\"", AW__JSON_STRICT)->text, "0", 1);
}

static void test_reader_number_token_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const tokens[] = {
        "0",
        "-0",
        "0.0",
        "-0.0e-0",
        "1E+2",
        "1e-999",
        "10",
        "9223372036854775808",
        "18446744073709551616",
        "1.7976931348623157e308",
        "123456789012345678901234567890.50",
    };
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const aw__json_value_t *root = aw_test_json_read(tokens[i], AW__JSON_STRICT);
        assert_int_equal(root->kind, AW__JSON_NUMBER);
        assert_ptr_equal(root->text.data, tokens[i]);
        assert_int_equal(root->text.size, strlen(tokens[i]));
    }
}

static void test_reader_string_is_a_view_unless_it_has_escapes(void **state)
{
    (void)state;
    const char *text = "[\"pl\xc3\xa4in\",\"es\\u00e4ped\"]";
    const aw__json_value_t *plain = aw_test_json_read(text, AW__JSON_STRICT)->first;
    assert_ptr_equal(plain->text.data, text + 2);
    expect_bytes(plain->text, "pl\xc3\xa4in", 6);
    expect_bytes(plain->next->text, "es\xc3\xa4ped", 7);
    assert_false((const char *)plain->next->text.data >= text &&
                 (const char *)plain->next->text.data < text + strlen(text));
}

static void test_reader_every_escape_is_its_character(void **state)
{
    (void)state;
    static const char expected[] = "\"\\/\b\f\n\r\t|\0|A|\x7f|\xc2\x80|\xdf\xbf|\xe0\xa0\x80|"
                                   "\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbf|\xf0\x90\x80\x80|"
                                   "\xf4\x8f\xbf\xbf|\xf0\x9f\x8d\xb5";
    const aw__json_value_t *root = aw_test_json_read(
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t|\\u0000|\\u0041|\\u007F|\\u0080|\\u07ff|\\u0800|"
        "\\uD7FF|\\ue000|\\uFfFf|\\ud800\\udc00|\\uDBFF\\uDFFF|\\ud83c\\uDF75\"",
        AW__JSON_STRICT);
    expect_bytes(root->text, expected, sizeof expected - 1);
    root = aw_test_json_read("{\"\\u0000k\\n\":1}", AW__JSON_STRICT);
    expect_bytes(root->first->key, "\0k\n", 3);
    assert_ptr_equal(aw__json_find(root, aw_span_view("\0k\n", 3)), root->first);
}

/** Texts that break the grammar, with where, and the pointer to what is being read there. */
static const struct {
    const char *text;
    int64_t offset;
    const char *pointer;
} BROKEN[] = {
    {"", 0, ""},
    {" \n", 2, ""},
    {"\xef\xbb\xbf{}", 0, ""},
    {"nul", 3, ""},
    {"nulL", 3, ""},
    {"True", 0, ""},
    {"NaN", 0, ""},
    {"Infinity", 0, ""},
    {"-Infinity", 1, ""},
    {"'a'", 0, ""},
    {"{} {}", 3, ""},
    {"1 2", 2, ""},
    {"01", 1, ""},
    {"-01", 2, ""},
    {"+1", 0, ""},
    {".5", 0, ""},
    {"5.", 2, ""},
    {"5.e1", 2, ""},
    {"1e", 2, ""},
    {"1e+", 3, ""},
    {"-", 1, ""},
    {"0x10", 1, ""},
    {"1_000", 1, ""},
    {"1e309", 0, ""},
    {"[1,-2E400]", 3, "/1"},
    {"[", 1, "/0"},
    {"[1", 2, ""},
    {"[1,", 3, "/1"},
    {"[1,]", 3, "/1"},
    {"[,1]", 1, "/0"},
    {"[1 2]", 3, ""},
    {"[1}", 2, ""},
    {"]", 0, ""},
    {"{", 1, ""},
    {"{\"a\"", 4, "/a"},
    {"{\"a\" 1}", 5, "/a"},
    {"{\"a\":}", 5, "/a"},
    {"{\"a\":1", 6, ""},
    {"{\"a\":1,}", 7, ""},
    {"{\"a\":1,\"b\"}", 10, "/b"},
    {"{,}", 1, ""},
    {"{a:1}", 1, ""},
    {"{1:1}", 1, ""},
    {"{\"a\":1]", 6, ""},
    {"{\"a\":[{\"b/~\":[0,tru]}]}", 19, "/a/0/b~1~0/1"},
    {"[1] // one", 4, ""},
    {"/* */ 1", 0, ""},
    {"[1\v]", 2, ""},
    {"[\xc2\xa0]", 1, "/0"},
    {"\"a", 2, ""},
    {"\"a\nb\"", 2, ""},
    {"\"\x1f\"", 1, ""},
    {"\"\\", 2, ""},
    {"\"\\x41\"", 1, ""},
    {"\"\\'\"", 1, ""},
    {"\"\\u12G4\"", 1, ""},
    {"\"\\u12\"", 1, ""},
    {"\"\\u12", 5, ""},
    {"\"ab\\ud83c\"", 3, ""},
    {"\"ab\\udf75\"", 3, ""},
    {"\"\\ud83c\\ud83c\"", 1, ""},
    {"\"\\ud83c\\n\"", 1, ""},
    {"\"\\ud83cx\"", 1, ""},
    {"\"\\ud83c\\u00\"", 1, ""},
    {"\"\\ud83c", 7, ""},
    {"\"\\ud83c\\", 8, ""},
    {"\"\\ud83c\\u", 9, ""},
    {"\"a\x80\"", 2, ""},
    {"\"\xc0\xaf\"", 1, ""},
    {"\"\xed\xa0\x80\"", 1, ""},
    {"\"\xf4\x90\x80\x80\"", 1, ""},
    {"\"ab\xe2\x82\"", 3, ""},
    {"\"ab\xe2\x82\\n\"", 3, ""},
    {"\"\xff\n\"", 1, ""},
    {"{\"\xff\":1}", 2, ""},
    {"{\"a\":\"\x01\"}", 6, "/a"},
};

static void test_reader_text_outside_of_the_grammar_is_refused_where_it_breaks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        expect_malformed(BROKEN[i].text, BROKEN[i].offset, BROKEN[i].pointer);
    }
    static const char nul[] = "[\"a\0b\"]";
    aw_test_json_refuse(aw_span_view(nul, sizeof nul - 1), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                        AW_STATUS_MALFORMED_JSON, 3, "/0");
    static const char behind[] = "[]\0";
    aw_test_json_refuse(aw_span_view(behind, sizeof behind - 1), AW_TEST_JSON_NO_LIMIT,
                        AW__JSON_STRICT, AW_STATUS_MALFORMED_JSON, 2, "");
    aw_test_json_refuse(AW_SPAN_NULL, AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                        AW_STATUS_MALFORMED_JSON, 0, "");
}

static void test_reader_every_prefix_of_a_document_ends_too_early(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof AW_TEST_JSON_DOCUMENT - 1; size++) {
        const aw__json_value_t *root = NULL;
        aw_error_t error = AW_ERROR_INIT;
        const aw_span_t prefix = aw_test_guarded(aw_span_view(AW_TEST_JSON_DOCUMENT, size));
        int status = aw__json_read(prefix, AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, &error);
        assert_int_equal(status, AW_STATUS_MALFORMED_JSON);
        assert_null(root);
        /* half a character is where it begins, all else is where the text ends */
        assert_int_equal(error.offset, AW_TEST_JSON_DOCUMENT[size] == '\xa9' ? size - 1 : size);
    }
    assert_int_equal(aw_test_json_read(AW_TEST_JSON_DOCUMENT, AW__JSON_STRICT)->count, 3);
}

static void test_reader_repeated_key_is_found_at_every_depth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
        const char *pointer;
    } cases[] = {
        {"{\"a\":1,\"a\":1}", 7, "/a"},
        {"{\"a\":1,\"\\u0061\":2}", 7, "/a"},
        {"{\"\":1,\"b\":2,\"\":3}", 12, "/"},
        {"{\"x\":[[0,{\"k\":1,\"l\":{},\"k\":2}]]}", 23, "/x/0/1/k"},
        /* the first in the text, though its object closes last */
        {"{\"a\":0,\"a\":{\"b\":1,\"b\":2}}", 7, "/a"},
        {"{\"a\":0,\"b\":{\"b\":1,\"b\":2},\"a\":1}", 18, "/b/b"},
        {"{\"a\":1,\"a\":2,\"a\":3}", 7, "/a"},
        {"{\"\xc3\xa9\":1,\"\\u00e9\":2}", 8, "/\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        aw_test_json_refuse(aw_span_text_view(cases[i].text), AW_TEST_JSON_NO_LIMIT,
                            AW__JSON_STRICT, AW_STATUS_DUPLICATE_KEY, cases[i].offset,
                            cases[i].pointer);
    }
    const aw__json_value_t *root = aw_test_json_read(
        "{\"a\":1,\"A\":{\"a\":2},\"aa\":[{\"a\":3},{\"a\":4}]}", AW__JSON_STRICT);
    assert_int_equal(root->count, 3);
}

static void test_reader_broken_syntax_is_told_before_a_repeated_key(void **state)
{
    (void)state;
    expect_malformed("{\"a\":1,\"a\":2,}", 13, "");
    expect_malformed("[{\"a\":1,\"a\":2},1e999]", 15, "/1");
    expect_malformed("{\"a\":1,\"a\":2}x", 13, "");
}

static void test_reader_last_of_equal_keys_stays_where_asked(void **state)
{
    (void)state;
    const aw__json_value_t *root = aw_test_json_read(
        "{\"b\":1,\"a\":2,\"b\":3,\"c\":4,\"\\u0062\":[5],\"a\":6,\"d\":{\"x\":0,\"x\":7}}",
        AW__JSON_LAST_OF_EQUALS);
    static const char *const keys[] = {"c", "b", "a", "d"};
    assert_int_equal(root->count, 4);
    const aw__json_value_t *member = root->first;
    for (size_t i = 0; i < 4; i++, member = member->next) {
        expect_bytes(member->key, keys[i], 1);
        assert_ptr_equal(aw__json_find_text(root, keys[i]), member);
    }
    assert_null(member);
    expect_bytes(aw__json_find_text(root, "a")->text, "6", 1);
    assert_int_equal(aw__json_find_text(root, "b")->kind, AW__JSON_ARRAY);
    const aw__json_value_t *inner = aw__json_find_text(root, "d");
    assert_int_equal(inner->count, 1);
    expect_bytes(inner->first->text, "7", 1);
    assert_int_equal(root->height, 2);
}

static void test_reader_dropped_members_do_not_count_for_the_height(void **state)
{
    (void)state;
    assert_int_equal(aw_test_json_read("{\"a\":[[[0]]],\"a\":1}", AW__JSON_LAST_OF_EQUALS)->height,
                     1);
    assert_int_equal(
        aw_test_json_read("[{\"a\":[[[0]]],\"a\":[],\"b\":2}]", AW__JSON_LAST_OF_EQUALS)->height,
        3);
}

static void test_reader_any_magnitude_is_read_where_asked(void **state)
{
    (void)state;
    expect_bytes(aw_test_json_read("-1e400", AW__JSON_ANY_MAGNITUDE)->text, "-1e400", 6);
    enum { DIGITS = 400 };
    char text[DIGITS + 1] = "";
    memset(text, '9', DIGITS);
    expect_malformed(text, 0, "");
    assert_int_equal(aw_test_json_read(text, AW__JSON_ANY_MAGNITUDE)->text.size, DIGITS);
    memset(text, '0', DIGITS);
    text[1] = '.';
    assert_int_equal(aw_test_json_read(text, AW__JSON_STRICT)->text.size, DIGITS);
}

static void test_reader_members_are_sorted_and_found(void **state)
{
    (void)state;
    enum { COUNT_MAX = 300, TEXT_MAX = COUNT_MAX * 40 };
    static char text[TEXT_MAX];
    uint64_t seed = 7;
    for (size_t count = 0; count < COUNT_MAX; count++) {
        char *at = stpcpy(text, "{");
        for (size_t i = 0; i < count; i++) {
            const unsigned long long key = aw_test_random(&seed) % 5000;
            at += snprintf(at, 40, "%s\"%llx%s\":%zu", i > 0 ? "," : "", key * key,
                           key % 3 == 0 ? "\\u0000" : "", i);
        }
        strcpy(at, "}");
        const aw__json_value_t *root = aw_test_json_read(text, AW__JSON_LAST_OF_EQUALS);
        assert_true(root->count <= count);
        size_t listed = 0;
        for (const aw__json_value_t *member = root->first; member != NULL; member = member->next) {
            assert_ptr_equal(aw__json_find(root, member->key), member);
            listed++;
        }
        assert_int_equal(listed, root->count);
        for (size_t i = 1; i < root->count; i++) {
            assert_true(aw__json_key_compare(root->sorted[i - 1]->key, root->sorted[i]->key) < 0);
        }
        assert_null(aw__json_find_text(root, "absent"));
        aw_arena_reset(aw_test_json_arena);
    }
    assert_null(aw__json_find_text(NULL, "a"));
    assert_null(aw__json_find_text(aw_test_json_read("[1]", AW__JSON_STRICT), "a"));
    assert_true(aw__json_key_compare(aw_span_text_view("a"), aw_span_text_view("aa")) < 0);
    assert_true(aw__json_key_compare(aw_span_text_view("\xef\xbf\xae"),
                                     aw_span_text_view("\xf0\x9f\x8d\xb5")) < 0);
}

static void test_reader_equal_text_is_told_from_other_values(void **state)
{
    (void)state;
    const aw__json_value_t *root =
        aw_test_json_read("[\"ab\",\"a\",\"ab\\u0000\",1]", AW__JSON_STRICT);
    const aw__json_value_t *element = root->first;
    assert_true(aw__json_is_text(element, "ab"));
    assert_false(aw__json_is_text(element->next, "ab"));
    assert_false(aw__json_is_text(element->next->next, "ab"));
    assert_false(aw__json_is_text(element->next->next->next, "1"));
    assert_false(aw__json_is_text(NULL, ""));
}

static void test_reader_pointer_is_cut_at_a_character(void **state)
{
    (void)state;
    char text[400] = "{\"";
    for (size_t i = 0; i < 70; i++) {
        strcat(text, "\xc3\xa9");
    }
    strcat(text, "\":{\"b\\u0001\":x");
    aw_error_t error = AW_ERROR_INIT;
    const aw__json_value_t *root = NULL;
    assert_int_equal(aw__json_read(aw_span_text_view(text), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, &error),
                     AW_STATUS_MALFORMED_JSON);
    assert_int_equal(strlen(error.field), AW_ERROR_FIELD_MAX - 1);
    for (size_t i = 1; i < strlen(error.field); i++) {
        assert_int_equal((uint8_t)error.field[i], i % 2 == 1 ? 0xc3 : 0xa9);
    }
    expect_malformed("{\"b\\u0001\x7f\":x", 12, "/b??");
}

static void test_reader_first_error_of_a_caller_stays(void **state)
{
    (void)state;
    aw_error_t error = {.status = AW_STATUS_UNKNOWN_TYPE, .offset = 5, .field = "f", .text = "t"};
    const aw__json_value_t *root = NULL;
    assert_int_equal(aw__json_read(aw_span_text_view("x"), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, &error),
                     AW_STATUS_MALFORMED_JSON);
    assert_int_equal(error.status, AW_STATUS_UNKNOWN_TYPE);
    assert_string_equal(error.text, "t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_every_kind_has_its_place_and_text),
        cmocka_unit_test(test_reader_scalar_alone_is_a_text),
        cmocka_unit_test(test_reader_number_token_stays_as_it_is),
        cmocka_unit_test(test_reader_string_is_a_view_unless_it_has_escapes),
        cmocka_unit_test(test_reader_every_escape_is_its_character),
        cmocka_unit_test(test_reader_text_outside_of_the_grammar_is_refused_where_it_breaks),
        cmocka_unit_test(test_reader_every_prefix_of_a_document_ends_too_early),
        cmocka_unit_test(test_reader_repeated_key_is_found_at_every_depth),
        cmocka_unit_test(test_reader_broken_syntax_is_told_before_a_repeated_key),
        cmocka_unit_test(test_reader_last_of_equal_keys_stays_where_asked),
        cmocka_unit_test(test_reader_dropped_members_do_not_count_for_the_height),
        cmocka_unit_test(test_reader_any_magnitude_is_read_where_asked),
        cmocka_unit_test(test_reader_members_are_sorted_and_found),
        cmocka_unit_test(test_reader_equal_text_is_told_from_other_values),
        cmocka_unit_test(test_reader_pointer_is_cut_at_a_character),
        cmocka_unit_test(test_reader_first_error_of_a_caller_stays),
    };
    return cmocka_run_group_tests(tests, aw_test_json_set_up, aw_test_json_tear_down);
}
