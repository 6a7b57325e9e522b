#include "tests/unit/codec/json_support.h"

aw_arena_t *aw_test_json_arena;

int aw_test_json_set_up(void **state)
{
    (void)state;
    aw_test_json_arena = aw_arena_new(0);
    return aw_test_json_arena == NULL;
}

int aw_test_json_tear_down(void **state)
{
    (void)state;
    aw_arena_free(aw_test_json_arena);
    return 0;
}

const aw__json_value_t *aw_test_json_read(const char *text, unsigned options)
{
    const aw__json_value_t *root = NULL;
    aw_error_t error = AW_ERROR_INIT;
    int status = aw__json_read(aw_span_text_view(text), AW_TEST_JSON_NO_LIMIT, options,
                               aw_test_json_arena, &root, &error);
    if (status != AW_OK) {
        print_error("%s: %s at %ld\n", text, error.text, (long)error.offset);
    }
    assert_int_equal(status, AW_OK);
    assert_int_equal(error.status, AW_OK);
    assert_non_null(root);
    return root;
}

void aw_test_json_refuse(aw_span_t text, uint32_t depth_max, unsigned options, int status,
                         int64_t offset, const char *pointer)
{
    static const aw__json_value_t POISON = {.kind = AW__JSON_TRUE};
    const aw__json_value_t *root = &POISON;
    aw_error_t error = AW_ERROR_INIT;
    int refused = aw__json_read(text, depth_max, options, aw_test_json_arena, &root, &error);
    if (refused != status || error.offset != offset || strcmp(error.field, pointer) != 0) {
        print_error("%.*s: %s at %ld in '%s' (%s)\n", (int)(text.size < 200 ? text.size : 200),
                    (const char *)text.data, aw_status_name(refused), (long)error.offset,
                    error.field, error.text);
    }
    assert_int_equal(refused, status);
    assert_int_equal(error.status, status);
    assert_int_equal(error.offset, offset);
    assert_string_equal(error.field, pointer);
    assert_ptr_equal(root, &POISON);
    assert_int_equal(aw__json_read(text, depth_max, options, aw_test_json_arena, &root, NULL),
                     status);
}
