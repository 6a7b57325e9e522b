/* The agents' own corpus, read where it lies. Registered only where it is there;
 * $AW_UPSTREAM_GOLDEN says where. */
#include "tests/unit/codec/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "agentwire/intent.h"
#include "agentwire/snapshot.h"

static const struct {
    const char *prefix;
    aw_message_type_t type;
} NAMES[] = {
    {"agent_envelope", AW_MESSAGE_AGENT_ENVELOPE}, {"continuation", AW_MESSAGE_CONTINUATION},
    {"llm_cache_blob", AW_MESSAGE_LLM_CACHE_BLOB}, {"memory_blob", AW_MESSAGE_MEMORY_BLOB},
    {"state_snapshot", AW_MESSAGE_STATE_SNAPSHOT}, {"tool_intent", AW_MESSAGE_TOOL_INTENT},
    {"tool_result", AW_MESSAGE_TOOL_RESULT},       {"trace_event", AW_MESSAGE_TRACE_EVENT},
};

static aw_message_type_t type_of(const char *name)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strncmp(name, NAMES[i].prefix, strlen(NAMES[i].prefix)) == 0) {
            return NAMES[i].type;
        }
    }
    fail_msg("%s: no message of that name", name);
    return AW_MESSAGE_COUNT;
}

static aw_span_t read_blob(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const aw_span_t blob = aw_test_file(path);
    assert_true(blob.size > 0);
    return blob;
}

static void check_file(const char *folder, const char *name)
{
    const aw_span_t input = read_blob(folder, name);
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    const aw_message_t *message = aw_test_decode(type_of(name), aw_test_guarded(input), arena);
    aw_span_t bytes = AW_SPAN_NULL;
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    assert_int_equal(bytes.size, input.size);
    assert_memory_equal(bytes.data, input.data, input.size);
    const bool has_future_field = strstr(name, "future_field") != NULL;
    assert_int_equal(aw_message_unknown_size(message) > 0, has_future_field);
    aw_arena_free(arena);
}

static void test_upstream_every_message_encodes_to_the_bytes_it_came_from(void **state)
{
    (void)state;
    const char *folder = getenv("AW_UPSTREAM_GOLDEN");
    if (folder == NULL) {
        fail_msg("AW_UPSTREAM_GOLDEN is not set; ctest sets it");
        return;
    }
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    unsigned checked = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".bin") == 0) {
            check_file(folder, entry->d_name);
            checked++;
        }
    }
    closedir(listing);
    assert_int_equal(checked, 14);
}

static void test_upstream_signed_intent_is_refused_with_a_wrong_key(void **state)
{
    (void)state;
    char line[512];
    const char *folder = getenv("AW_UPSTREAM_GOLDEN");
    assert_non_null(folder);
    const aw_span_t input = read_blob(folder, "tool_intent_signed.bin");
    aw_arena_t *arena = aw_arena_new(0);
    aw_keyring_t *keyring = NULL;
    const aw_message_t *intent = aw_test_decode(AW_MESSAGE_TOOL_INTENT, input, arena);
    const aw_span_t id = aw_test_value(intent, AW_FIELD_TOOL_INTENT_SIGNING_KEY_ID, 0).as.bytes;
    assert_in_range(id.size, 1, 256);
    snprintf(line, sizeof line, "%.*s=d3Jvbmc=\nother=b25l", (int)id.size, (const char *)id.data);
    assert_int_equal(aw_keyring_new(aw_span_text_view(line), &keyring, NULL), AW_OK);
    assert_int_equal(aw_intent_verify(intent, keyring, arena), AW_STATUS_BAD_SIGNATURE);
    aw_keyring_free(keyring);
    assert_int_equal(aw_keyring_new(aw_span_text_view("other=b25l"), &keyring, NULL), AW_OK);
    assert_int_equal(aw_intent_verify(intent, keyring, arena), AW_STATUS_UNKNOWN_SIGNING_KEY);
    aw_keyring_free(keyring);
    aw_arena_free(arena);
}

/* The agents' own snapshot as published state: another request id changes fields 4 and 9 alone. */
static void test_upstream_snapshot_exported_differs_in_two_fields_alone(void **state)
{
    (void)state;
    const char *folder = getenv("AW_UPSTREAM_GOLDEN");
    assert_non_null(folder);
    const aw_span_t published = read_blob(folder, "state_snapshot.bin");
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    aw_snapshot_view_t view;
    aw_span_t same = AW_SPAN_NULL;
    aw_span_t other = AW_SPAN_NULL;
    assert_int_equal(aw_snapshot_scan(published, &view, NULL), AW_OK);
    assert_int_equal(aw_snapshot_answer(published, view.snapshot_at_ms, view.request_id, arena,
                                        NULL, &same, NULL),
                     AW_OK);
    assert_true(aw_span_equal(same, published));
    assert_int_equal(aw_snapshot_answer(published, view.snapshot_at_ms + 1,
                                        aw_span_text_view("another-request"), arena, NULL, &other,
                                        NULL),
                     AW_OK);
    const aw_message_t *was = aw_test_decode(AW_MESSAGE_STATE_SNAPSHOT, published, arena);
    const aw_message_t *is = aw_test_decode(AW_MESSAGE_STATE_SNAPSHOT, other, arena);
    assert_true(aw_test_value(is, 4, 0).as.int64 == view.snapshot_at_ms + 1);
    assert_true(
        aw_span_equal(aw_test_value(is, 9, 0).as.bytes, aw_span_text_view("another-request")));
    assert_int_equal(
        aw_snapshot_answer(other, view.snapshot_at_ms, view.request_id, arena, NULL, &same, NULL),
        AW_OK);
    assert_true(aw_span_equal(same, published));
    assert_int_equal(aw_test_count(is, 8), aw_test_count(was, 8));
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upstream_signed_intent_is_refused_with_a_wrong_key),
        cmocka_unit_test(test_upstream_every_message_encodes_to_the_bytes_it_came_from),
        cmocka_unit_test(test_upstream_snapshot_exported_differs_in_two_fields_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
