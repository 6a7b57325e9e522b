/* The limits of the JSON reader, memory that is refused, and texts made to exhaust it. */
#include "tests/unit/codec/json_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/codec/malloc_probe.h"

/** depth containers, arrays and objects in turn, or a number; free it. */
static char *nested(size_t depth)
{
    char *text = malloc(depth * 7 + 2);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < depth; i++) {
        at = stpcpy(at, i % 2 == 0 ? "[" : i + 1 < depth ? "{\"k\":" : "{");
    }
    for (size_t i = depth; i > 0; i--) {
        *at++ = i % 2 == 1 ? ']' : '}';
    }
    strcpy(at, depth == 0 ? "0" : "");
    return text;
}

static void test_reader_depth_is_held_at_its_limit(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1, 2, 3, 32, 127, 1000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (uint32_t depth = limits[i] - 1; depth <= limits[i] + 1; depth++) {
            char *text = nested(depth);
            const aw__json_value_t *root = NULL;
            aw_error_t error = AW_ERROR_INIT;
            int status = aw__json_read(aw_span_text_view(text), limits[i], AW__JSON_STRICT,
                                       aw_test_json_arena, &root, &error);
            if (depth <= limits[i]) {
                assert_int_equal(status, AW_OK);
                assert_int_equal(root->height, depth);
            } else {
                assert_int_equal(status, AW_STATUS_LIMIT_DEPTH);
                assert_int_equal(error.offset, (limits[i] + 1) / 2 + limits[i] / 2 * 5);
                assert_null(root);
            }
            free(text);
        }
        /* containers beside each other are not deeper */
    }
    const aw__json_value_t *root = NULL;
    assert_int_equal(aw__json_read(aw_span_text_view("[[],[],{},{}]"), 2, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, NULL),
                     AW_OK);
    aw_test_json_refuse(aw_span_text_view("[[],[[]]]"), 2, AW__JSON_STRICT, AW_STATUS_LIMIT_DEPTH,
                        5, "/1/0");
}

static void test_reader_depth_of_a_million_needs_no_stack(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    char *text = nested(DEPTH);
    assert_int_equal(aw_test_json_read(text, AW__JSON_STRICT)->height, DEPTH);
    text[strlen(text) - 1] = 'x';
    const aw__json_value_t *root = NULL;
    aw_error_t error = AW_ERROR_INIT;
    assert_int_equal(aw__json_read(aw_span_text_view(text), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, &error),
                     AW_STATUS_MALFORMED_JSON);
    text[strlen(text) / 2] = 'x';
    assert_int_equal(aw__json_read(aw_span_text_view(text), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                                   aw_test_json_arena, &root, NULL),
                     AW_STATUS_MALFORMED_JSON);
    free(text);
}

static void test_reader_text_too_large_is_refused_unread(void **state)
{
    (void)state;
    static const uint8_t byte = '0';
    aw_test_json_refuse((aw_span_t){&byte, (size_t)INT32_MAX}, AW_TEST_JSON_NO_LIMIT,
                        AW__JSON_STRICT, AW_STATUS_LIMIT_SIZE, -1, "");
}

/** A document in which every kind of memory is asked for: values, strings, sorting. */
static const char *large_document(void)
{
    static char text[60000];
    char *at = stpcpy(text, "[");
    for (int object = 0; object < 20; object++) {
        at = stpcpy(at, object == 0 ? "{" : ",{");
        for (int i = 40 + object; i > 0; i--) {
            at += sprintf(at, "\"k\\n%d\":\"v\\u00e9%d\"%s", i * 37 % 101, i, i > 1 ? "," : "}");
        }
    }
    strcpy(at, "]");
    return text;
}

static void test_reader_each_piece_refused_in_turn_is_a_limit_error(void **state)
{
    (void)state;
    const aw_span_t text = aw_span_text_view(large_document());
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    size_t refusals = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16 + limit / 64) {
        aw_arena_t *small = aw_arena_new(limit);
        assert_non_null(small);
        const aw__json_value_t *root = NULL;
        aw_error_t error = AW_ERROR_INIT;
        status = aw__json_read(text, AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT, small, &root, &error);
        assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
        assert_int_equal(error.status, status);
        assert_int_equal(root == NULL, status != AW_OK);
        refusals += status != AW_OK;
        aw_arena_free(small);
    }
    assert_true(refusals > 100);
}

static void test_reader_each_block_refused_in_turn_is_no_memory(void **state)
{
    (void)state;
    const aw_span_t text = aw_span_text_view(large_document());
    int status = AW_STATUS_NO_MEMORY;
    size_t refusals = 0;
    for (size_t allowed = 0; status != AW_OK; allowed++) {
        aw_arena_t *fresh = aw_arena_new(0);
        assert_non_null(fresh);
        const aw__json_value_t *root = NULL;
        aw_error_t error = AW_ERROR_INIT;
        aw_test_malloc_allowed = allowed;
        status = aw__json_read(text, AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT, fresh, &root, &error);
        aw_test_malloc_allowed = SIZE_MAX;
        assert_true(status == AW_OK || status == AW_STATUS_NO_MEMORY);
        assert_int_equal(error.status, status);
        assert_int_equal(root == NULL, status != AW_OK);
        refusals += status != AW_OK;
        aw_arena_free(fresh);
    }
    assert_true(refusals > 3);
}

static void test_reader_steady_state_asks_for_no_memory(void **state)
{
    (void)state;
    const char *text = large_document();
    size_t before = 0;
    for (int round = 0; round < 5; round++) {
        before = round == 2 ? aw_test_malloc_calls : before;
        aw_arena_reset(aw_test_json_arena);
        (void)aw_test_json_read(text, AW__JSON_STRICT);
    }
    assert_int_equal(aw_test_malloc_calls, before);
}

/* Texts that make a careless reader quadratic: the test's timeout holds them. */
static void test_reader_hostile_texts_are_read_in_linear_time(void **state)
{
    (void)state;
    enum { SIZE = 16 * 1024 * 1024 };
    char *text = malloc(SIZE + 64);
    assert_non_null(text);
    /* one string of escapes */
    text[0] = '"';
    for (size_t i = 1; i + 6 < SIZE; i += 6) {
        memcpy(text + i, "\\u00e9", 6);
        text[i + 6] = '\0';
    }
    strcat(text, "\"");
    assert_int_equal(aw_test_json_read(text, AW__JSON_STRICT)->kind, AW__JSON_STRING);
    aw_arena_reset(aw_test_json_arena);
    /* one number */
    memset(text, '7', SIZE);
    text[SIZE] = '\0';
    text[1] = '.';
    assert_int_equal(aw_test_json_read(text, AW__JSON_STRICT)->text.size, SIZE);
    /* one object with keys in falling order that differ at their ends only */
    char *at = text;
    *at++ = '{';
    for (unsigned i = 200000; i > 0; i--) {
        at += sprintf(at, "\"%060u\":0%s", i, i > 1 ? "," : "}");
    }
    assert_int_equal(aw_test_json_read(text, AW__JSON_STRICT)->count, 200000);
    aw_arena_reset(aw_test_json_arena);
    /* many members of one key */
    at = text;
    *at++ = '{';
    for (unsigned i = 200000; i > 0; i--) {
        at = stpcpy(at, i > 1 ? "\"k\":0," : "\"k\":0}");
    }
    assert_int_equal(aw_test_json_read(text, AW__JSON_LAST_OF_EQUALS)->count, 1);
    aw_test_json_refuse(aw_span_text_view(text), AW_TEST_JSON_NO_LIMIT, AW__JSON_STRICT,
                        AW_STATUS_DUPLICATE_KEY, 7, "/k");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_depth_is_held_at_its_limit),
        cmocka_unit_test(test_reader_depth_of_a_million_needs_no_stack),
        cmocka_unit_test(test_reader_text_too_large_is_refused_unread),
        cmocka_unit_test(test_reader_each_piece_refused_in_turn_is_a_limit_error),
        cmocka_unit_test(test_reader_each_block_refused_in_turn_is_no_memory),
        cmocka_unit_test(test_reader_steady_state_asks_for_no_memory),
        cmocka_unit_test(test_reader_hostile_texts_are_read_in_linear_time),
    };
    return cmocka_run_group_tests(tests, aw_test_json_set_up, aw_test_json_tear_down);
}
