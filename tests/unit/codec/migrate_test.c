/* Migration: the registry as it is shipped, and chains of steps that stand in for later ones. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <sys/stat.h>

#include "agentwire/build.h"
#include "codec/state/migrate.h"

static const aw_message_type_t MIGRATED[AW__MIGRATED_COUNT] = {
#define TYPE_OF(message) [AW__MIGRATED_##message] = AW_MESSAGE_##message,
    AW__MIGRATED_LIST(TYPE_OF)
#undef TYPE_OF
};

static const aw_message_t *of_version(aw_message_type_t type, uint32_t version, aw_arena_t *arena)
{
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_builder_init(&builder, type, arena);
    aw_builder_set_uint32(&builder, 1, version);
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    return made;
}

static void test_migrate_current_and_unversioned_messages_come_back_untouched(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
        for (uint32_t version = 0; version <= 1; version++) {
            const aw_message_t *message = of_version(MIGRATED[i], version, arena);
            const aw_message_t *migrated = NULL;
            aw_error_t error = AW_ERROR_INIT;
            assert_int_equal(aw_state_migrate(message, arena, &migrated, &error), AW_OK);
            assert_ptr_equal(migrated, message);
            assert_int_equal(aw_test_value(migrated, 1, 0).as.uint32, version);
            assert_int_equal(error.status, AW_OK);
        }
    }
    aw_arena_free(arena);
}

static void test_migrate_newer_version_is_its_own_error(void **state)
{
    (void)state;
    static const uint32_t versions[] = {AW_STATE_SCHEMA_VERSION + 1, 15, 16, 17, 1000, UINT32_MAX};
    aw_arena_t *arena = aw_arena_new(0);
    for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
        for (size_t j = 0; j < sizeof versions / sizeof versions[0]; j++) {
            const aw_message_t *message = of_version(MIGRATED[i], versions[j], arena);
            const aw_message_t *migrated = NULL;
            aw_error_t error = AW_ERROR_INIT;
            assert_int_equal(aw_state_migrate(message, arena, &migrated, &error),
                             AW_STATUS_VERSION_NEWER);
            assert_null(migrated);
            assert_int_equal(error.status, AW_STATUS_VERSION_NEWER);
            assert_string_equal(error.field, "state_schema_version");
        }
    }
    aw_arena_free(arena);
}

static void test_migrate_every_other_message_is_an_argument_error(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    unsigned others = 0;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        bool migrates = false;
        for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
            migrates = migrates || MIGRATED[i] == (aw_message_type_t)type;
        }
        if (!migrates) {
            const aw_message_t *migrated = NULL;
            const aw_message_t *message =
                aw_test_decode((aw_message_type_t)type, AW_SPAN_NULL, arena);
            assert_int_equal(aw_state_migrate(message, arena, &migrated, NULL),
                             AW_STATUS_INVALID_ARGUMENT);
            assert_null(migrated);
            others++;
        }
    }
    assert_int_equal(others, AW_MESSAGE_COUNT - 3);
    aw_arena_free(arena);
}

/* What raising AW_STATE_SCHEMA_VERSION asks for. */
static void test_migrate_every_version_has_its_steps_and_its_golden_folder(void **state)
{
    (void)state;
    assert_int_equal(aw__migrations.current, AW_STATE_SCHEMA_VERSION);
    for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
        for (uint32_t version = 0; version < AW__STATE_VERSION_MAX; version++) {
            const bool wanted = version >= 1 && version < AW_STATE_SCHEMA_VERSION;
            if ((aw__migrations.steps[i][version] != NULL) != wanted) {
                fail_msg("%s: a step from version %u is %s", aw_message_type_name(MIGRATED[i]),
                         (unsigned)version, wanted ? "missing" : "one too many");
            }
        }
    }
    for (uint32_t version = 1; version <= AW_STATE_SCHEMA_VERSION; version++) {
        char path[64];
        struct stat found;
        snprintf(path, sizeof path, "golden/wire/v%u", (unsigned)version);
        if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
            fail_msg("%s is missing: what version %u looks like is to be frozen there", path,
                     (unsigned)version);
        }
    }
}

/* Steps that stand in for real ones: each adds its version to a number and writes the next one. */
static unsigned steps_taken;

static int raise_version(const aw_message_t *message, aw_arena_t *arena, uint32_t version,
                         const aw_message_t **ret_message)
{
    static const uint32_t numbers[AW_MESSAGE_COUNT] = {
        [AW_MESSAGE_MEMORY_BLOB] = AW_FIELD_MEMORY_BLOB_TOTAL_VALUE_BYTES,
        [AW_MESSAGE_CONTINUATION] = AW_FIELD_CONTINUATION_SEQ,
        [AW_MESSAGE_LLM_CACHE_BLOB] = AW_FIELD_LLM_CACHE_BLOB_TOTAL_RESPONSE_BYTES,
    };
    const uint32_t number = numbers[aw_message_type(message)];
    aw_builder_t builder;
    steps_taken++;
    aw_builder_init_copy(&builder, message, arena);
    aw_builder_set_uint32(&builder, 1, version);
    aw_builder_set_int64(&builder, number,
                         aw_test_value(message, number, 0).as.int64 * 10 + version);
    return aw_builder_finish(&builder, ret_message);
}

static int step_to_2(const aw_message_t *message, aw_arena_t *arena,
                     const aw_message_t **ret_message)
{
    return raise_version(message, arena, 2, ret_message);
}

static int step_to_3(const aw_message_t *message, aw_arena_t *arena,
                     const aw_message_t **ret_message)
{
    return raise_version(message, arena, 3, ret_message);
}

static int step_without_memory(const aw_message_t *message, aw_arena_t *arena,
                               const aw_message_t **ret_message)
{
    (void)message;
    (void)arena;
    (void)ret_message;
    return AW_STATUS_NO_MEMORY;
}

static const aw__migrations_t THREE = {
    .current = 3,
    .steps = {{NULL, step_to_2, step_to_3},
              {NULL, step_to_2, step_to_3},
              {NULL, step_to_2, step_to_3}},
};

static void test_migrate_chain_takes_each_step_once_and_in_order(void **state)
{
    (void)state;
    static const struct {
        uint32_t version;
        unsigned steps;
        int64_t sum;
    } cases[] = {{0, 2, 23}, {1, 2, 23}, {2, 1, 3}, {3, 0, 0}};
    /* No field, then an unknown one, which every step keeps. */
    static const char *const numbers[AW__MIGRATED_COUNT] = {"7801", "8001 05", "7a00"};
    for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
            aw_arena_t *arena = aw_arena_new(0);
            char hex[32];
            snprintf(hex, sizeof hex, "08%02x %s", (unsigned)cases[j].version, numbers[i]);
            const aw_message_t *message = aw_test_decode(MIGRATED[i], aw_test_hex(hex), arena);
            const size_t unknown = aw_message_unknown_size(message);
            const aw_message_t *migrated = NULL;
            steps_taken = 0;
            assert_int_equal(aw__migrate(&THREE, message, arena, &migrated, NULL), AW_OK);
            assert_int_equal(steps_taken, cases[j].steps);
            assert_int_equal(aw_test_value(migrated, 1, 0).as.uint32, 3);
            assert_int_equal(aw_message_unknown_size(migrated), unknown);
            assert_int_equal(migrated == message, cases[j].steps == 0);
            const uint32_t sum = MIGRATED[i] == AW_MESSAGE_CONTINUATION ? 2 : 3;
            assert_int_equal(aw_test_value(migrated, sum, 0).as.int64, cases[j].sum);
            assert_int_equal(aw_test_value(message, 1, 0).as.uint32, cases[j].version);
            aw_arena_free(arena);
        }
    }
}

static void test_migrate_missing_or_failing_step_ends_the_chain(void **state)
{
    (void)state;
    static const aw__migrations_t gap = {
        .current = 3,
        .steps = {{NULL, step_to_2, NULL}, {NULL, NULL, step_to_3}, {NULL, step_without_memory}},
    };
    static const int statuses[] = {AW_STATUS_VERSION_GAP, AW_STATUS_VERSION_GAP,
                                   AW_STATUS_NO_MEMORY};
    aw_arena_t *arena = aw_arena_new(0);
    for (unsigned i = 0; i < AW__MIGRATED_COUNT; i++) {
        aw_error_t error = AW_ERROR_INIT;
        const aw_message_t *migrated = NULL;
        const aw_message_t *message = of_version(MIGRATED[i], 0, arena);
        assert_int_equal(aw__migrate(&gap, message, arena, &migrated, &error), statuses[i]);
        assert_int_equal(error.status, statuses[i]);
        assert_null(migrated);
    }
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_migrate_current_and_unversioned_messages_come_back_untouched),
        cmocka_unit_test(test_migrate_newer_version_is_its_own_error),
        cmocka_unit_test(test_migrate_every_other_message_is_an_argument_error),
        cmocka_unit_test(test_migrate_every_version_has_its_steps_and_its_golden_folder),
        cmocka_unit_test(test_migrate_chain_takes_each_step_once_and_in_order),
        cmocka_unit_test(test_migrate_missing_or_failing_step_ends_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
