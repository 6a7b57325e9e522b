/* Every frozen input, and every beginning of it, right before a page that cannot be read: no reader
 * reads a byte too many, scan and decoder agree, and a text or a state that is cut off is refused
 * by all who read it. */
#include "tests/unit/codec/support.h"

#include <dirent.h>
#include <stdio.h>

#include "agentwire/inbox.h"
#include "agentwire/json.h"
#include "agentwire/snapshot.h"
#include "agentwire/tea.h"

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
    aw_test_expect_same_error(&decode_error, &scan_error);
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

static void check_all(aw_message_type_t type, aw_span_t whole, aw_arena_t *arena)
{
    for (size_t size = 0; size <= whole.size; size++) {
        check(type, aw_test_guarded((aw_span_t){whole.data, size}), arena);
    }
}

static void check_prefixes(const json_t *line, void *opaque)
{
    aw_message_type_t type;
    assert_int_equal(aw_message_type_find(aw_test_text(line, "type"), &type), AW_OK);
    check_all(type, aw_test_hex(aw_test_text(line, "hex")), opaque);
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

static void test_prefix_of_every_frozen_folder_is_judged_within_its_bytes(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    DIR *listing = opendir("golden/wire/v1");
    assert_non_null(arena);
    assert_non_null(listing);
    const unsigned before = looked_at;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[300];
        aw_message_type_t type;
        if (strchr(entry->d_name, '.') != NULL) {
            continue;
        }
        snprintf(path, sizeof path, "golden/wire/v1/%s/expect.json", entry->d_name);
        json_t *expect = json_load_file(path, JSON_ALLOW_NUL, NULL);
        assert_non_null(expect);
        assert_int_equal(aw_message_type_find(aw_test_text(expect, "type"), &type), AW_OK);
        json_decref(expect);
        snprintf(path, sizeof path, "golden/wire/v1/%s/input.bin", entry->d_name);
        check_all(type, aw_test_file(path), arena);
    }
    closedir(listing);
    assert_true(looked_at > before + 1000);
    aw_arena_free(arena);
}

static void check_answers(const json_t *line, void *opaque)
{
    aw_arena_t *arena = opaque;
    const aw_span_t whole = aw_test_hex(aw_test_text(line, "published_hex"));
    for (size_t size = 0; size <= whole.size; size++) {
        const aw_span_t state = aw_test_guarded((aw_span_t){whole.data, size});
        aw_snapshot_view_t view;
        aw_span_t answer = AW_SPAN_NULL;
        aw_error_t error = AW_ERROR_INIT;
        aw_error_t scan_error = AW_ERROR_INIT;
        aw_arena_reset(arena);
        looked_at++;
        const int status = aw_message_scan(AW_MESSAGE_STATE_SNAPSHOT, state, &scan_error);
        assert_int_equal(aw_snapshot_answer(state, 1, AW_SPAN_NULL, arena, &view, &answer, &error),
                         status);
        aw_test_expect_same_error(&error, &scan_error);
        assert_int_equal(answer.data != NULL, status == AW_OK);
    }
}

static void test_prefix_of_every_published_state_is_answered_within_its_bytes(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    const unsigned before = looked_at;
    aw_test_lines("golden/snapshot/v1/cases.jsonl", check_answers, arena);
    assert_true(looked_at > before + 10000);
    aw_arena_free(arena);
}

/* The texts of tea-protocol and of the session inbox that are short enough to cut everywhere. */
static void check_texts(const json_t *line, void *opaque)
{
    enum { TEXT_MAX = 2000 };
    aw_arena_t *arena = opaque;
    const json_t *input = json_object_get(line, "input");
    const aw_span_t whole = aw_span_view(json_string_value(input), json_string_length(input));
    assert_non_null(whole.data);
    for (size_t size = 0; size <= whole.size && whole.size <= TEXT_MAX; size++) {
        const aw_span_t text = aw_test_guarded((aw_span_t){whole.data, size});
        aw_span_t canonical = AW_SPAN_NULL;
        aw_tea_kind_t kind;
        aw_tea_result_t tea;
        aw_inbox_result_t inbox;
        aw_arena_reset(arena);
        looked_at++;
        const bool is_json = aw_json_canonical(text, arena, &canonical, NULL) == AW_OK;
        assert_int_equal(aw_tea_check_any(AW_TEA_EDITION_B, text, arena, &kind, &tea), AW_OK);
        assert_in_range(tea.offset + 1, 0, size + 1);
        assert_int_equal(aw_inbox_check(text, arena, &inbox), AW_OK);
        assert_in_range(inbox.offset + 1, 0, size + 1);
        if (!is_json) {
            assert_true(tea.outcome == AW_TEA_MALFORMED_JSON ||
                        tea.outcome == AW_TEA_DUPLICATE_KEY);
        }
    }
}

static void test_prefix_of_every_frozen_text_is_judged_within_its_bytes(void **state)
{
    (void)state;
    static const char *const files[] = {"golden/tea/v1/tea-cases.jsonl",
                                        "golden/session-inbox/v1/cases.jsonl"};
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const unsigned before = looked_at;
        aw_test_lines(files[i], check_texts, arena);
        assert_true(looked_at > before + 10000);
    }
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_of_every_frozen_input_is_judged_within_its_bytes),
        cmocka_unit_test(test_prefix_of_every_frozen_folder_is_judged_within_its_bytes),
        cmocka_unit_test(test_prefix_of_every_published_state_is_answered_within_its_bytes),
        cmocka_unit_test(test_prefix_of_every_frozen_text_is_judged_within_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
