/* The JSON reader beside jansson. */
#include "tests/unit/codec/json_support.h"

#include <jansson.h>

#include "codec/json/number.h"

/** jansson's value is the same as ours. */
static void expect_same(const json_t *theirs, const aw__json_value_t *ours)
{
    switch (ours->kind) {
    case AW__JSON_NULL:
        assert_true(json_is_null(theirs));
        return;
    case AW__JSON_FALSE:
        assert_true(json_is_false(theirs));
        return;
    case AW__JSON_TRUE:
        assert_true(json_is_true(theirs));
        return;
    case AW__JSON_NUMBER: {
        assert_true(json_is_number(theirs));
        aw__number_t number;
        assert_true(aw__number_read(ours->text, &number));
        const double value = number.kind == AW__NUMBER_DOUBLE ? number.as.real
                             : number.kind == AW__NUMBER_INT  ? (double)number.as.sint
                                                              : (double)number.as.uint;
        assert_true(json_number_value(theirs) == value);
        return;
    }
    case AW__JSON_STRING:
        assert_int_equal(json_string_length(theirs), ours->text.size);
        assert_memory_equal(json_string_value(theirs), ours->text.data, ours->text.size);
        return;
    case AW__JSON_ARRAY:
        assert_int_equal(json_array_size(theirs), ours->count);
        break;
    case AW__JSON_OBJECT:
        assert_int_equal(json_object_size(theirs), ours->count);
        break;
    }
    size_t index = 0;
    for (const aw__json_value_t *child = ours->first; child != NULL; child = child->next) {
        char key[256] = "";
        if (ours->kind == AW__JSON_OBJECT) {
            assert_true(child->key.size < sizeof key);
            memcpy(key, child->key.data, child->key.size);
            expect_same(json_object_get(theirs, key), child);
        } else {
            expect_same(json_array_get(theirs, index++), child);
        }
    }
}

/* jansson differs in what is named here: it cannot hold integers beyond 64 bits and NUL in keys,
 * and loses a raw NUL behind a number or a word. */
static void test_reader_takes_what_jansson_takes(void **state)
{
    (void)state;
    enum { ROUNDS = 200000, CAPACITY = 400 };
    size_t taken = 0;
    size_t refused = 0;
    uint64_t seed = 11;
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t bytes[CAPACITY];
        memcpy(bytes, AW_TEST_JSON_DOCUMENT, sizeof AW_TEST_JSON_DOCUMENT - 1);
        const size_t size =
            aw_test_mutate(&seed, bytes, sizeof AW_TEST_JSON_DOCUMENT - 1, sizeof bytes);
        if (memchr(bytes, 0, size) != NULL) {
            continue;
        }
        const aw__json_value_t *root = NULL;
        json_error_t error;
        json_t *theirs =
            json_loadb((const char *)bytes, size,
                       JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
        int status = aw__json_read(aw_span_view(bytes, size), AW_TEST_JSON_NO_LIMIT,
                                   AW__JSON_STRICT, aw_test_json_arena, &root, NULL);
        if (theirs != NULL) {
            assert_int_equal(status, AW_OK);
            expect_same(theirs, root);
            taken++;
        } else if (status == AW_OK) {
            assert_true(json_error_code(&error) == json_error_numeric_overflow ||
                        json_error_code(&error) == json_error_null_byte_in_key);
        } else {
            refused++;
        }
        json_decref(theirs);
        aw_arena_reset(aw_test_json_arena);
    }
    assert_true(taken > ROUNDS / 50 && refused > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_takes_what_jansson_takes),
    };
    return cmocka_run_group_tests(tests, aw_test_json_set_up, aw_test_json_tear_down);
}
