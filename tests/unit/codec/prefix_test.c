/* Every frozen input, and every beginning of it, right before a page that cannot be read: scan,
 * decoder, encoder and JSON read no byte too many, and scan and decoder agree. */
#include "tests/unit/codec/support.h"

#include "agentwire/json.h"

static unsigned looked_at;

static void check(aw_message_type_t type, aw_span_t input, aw_arena_t *arena)
{
    aw_error_t scan_error = AW_ERROR_INIT;
    aw_error_t decode_error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    aw_arena_reset(arena);
    looked_at++;
    const int status = aw_message_scan(type, input, &scan_error);
    assert_int_equal(aw_message_decode(type, input, arena, &message, &decode_error), status);
    assert_memory_equal(&scan_error, &decode_error, sizeof scan_error);
    if (status != AW_OK) {
        assert_null(message);
        assert_in_range(scan_error.offset, 0, input.size);
        return;
    }
    aw_span_t bytes = AW_SPAN_NULL;
    aw_json_writer_t writer;
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_message(&writer, message, arena);
    assert_int_equal(aw_json_finish(&writer, &bytes), AW_OK);
}

static void check_prefixes(const json_t *line, void *opaque)
{
    aw_arena_t *arena = opaque;
    aw_message_type_t type;
    assert_int_equal(aw_message_type_find(aw_test_text(line, "type"), &type), AW_OK);
    const aw_span_t whole = aw_test_hex(aw_test_text(line, "hex"));
    for (size_t size = 0; size <= whole.size; size++) {
        check(type, aw_test_guarded((aw_span_t){whole.data, size}), arena);
    }
}

static void test_prefix_of_every_frozen_input_is_judged_within_its_bytes(void **state)
{
    (void)state;
    static const char *const files[] = {"golden/wire/v1/cases.jsonl", "golden/wire/v1/corpus.jsonl",
                                        "golden/wire/v1/corpus-2.jsonl"};
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const unsigned before = looked_at;
        aw_test_lines(files[i], check_prefixes, arena);
        assert_true(looked_at > before + 500);
    }
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_of_every_frozen_input_is_judged_within_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
