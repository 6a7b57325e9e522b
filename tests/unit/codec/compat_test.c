/* Messages as programs of schema version 1 wrote them: decoded, migrated, and compared field by
 * field with what the reference runtime reads in them. */
#include "tests/unit/codec/support.h"

#include <dirent.h>
#include <stdio.h>

#include "agentwire/json.h"
#include "agentwire/migrate.h"

#define FOLDER "golden/wire/v1"

static aw_span_t read_input(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, FOLDER "/%s/input.bin", name);
    return aw_test_guarded(aw_test_file(path));
}

static void check_fields(const char *name, const aw_message_t *message, const json_t *wanted,
                         aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_span_t text = AW_SPAN_NULL;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_message(&writer, message, arena);
    assert_int_equal(aw_json_finish(&writer, &text), AW_OK);
    json_t *got = json_loadb((const char *)text.data, text.size, JSON_ALLOW_NUL, NULL);
    assert_non_null(got);
    if (!json_equal(got, wanted)) {
        fail_msg("%s: %.*s", name, (int)text.size, (const char *)text.data);
    }
    json_decref(got);
}

static void check_case(const char *name, unsigned *types)
{
    char path[300];
    snprintf(path, sizeof path, FOLDER "/%s/expect.json", name);
    json_t *expect = json_load_file(path, JSON_ALLOW_NUL, NULL);
    assert_non_null(expect);
    aw_message_type_t type;
    assert_int_equal(aw_message_type_find(aw_test_text(expect, "type"), &type), AW_OK);
    assert_true(aw_test_text(expect, "origin")[0] != '\0');
    aw_arena_t *arena = aw_arena_new(0);
    const aw_message_t *message = aw_test_decode(type, read_input(name), arena);
    const aw_message_t *migrated = message;
    const int status = aw_state_migrate(message, arena, &migrated, NULL);
    assert_string_equal(aw_status_name(status), aw_test_text(expect, "migration"));
    assert_int_equal(aw_message_unknown_size(message),
                     json_integer_value(json_object_get(expect, "unknown_bytes")));
    check_fields(name, migrated, json_object_get(expect, "json"), arena);
    types[type]++;
    aw_arena_free(arena);
    json_decref(expect);
}

static void test_compat_every_folder_is_read_as_it_was_written(void **state)
{
    (void)state;
    unsigned types[AW_MESSAGE_COUNT] = {0};
    DIR *listing = opendir(FOLDER);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strchr(entry->d_name, '.') == NULL) {
            check_case(entry->d_name, types);
        }
    }
    closedir(listing);
    for (int type = 0; type < AW_MESSAGE_TOP_COUNT; type++) {
        assert_true(types[type] >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compat_every_folder_is_read_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
