/* The first byte names a message, the rest is read as one, and migrated twice: by the steps there
 * are, and by steps that stand in for two later versions. */
#include "agentwire/build.h"
#include "codec/state/migrate.h"
#include "fuzz/fuzz.h"

static int raise_version(const aw_message_t *message, aw_arena_t *arena, uint32_t version,
                         const aw_message_t **ret_message)
{
    aw_builder_t builder;
    aw_builder_init_copy(&builder, message, arena);
    aw_builder_set_uint32(&builder, 1, version);
    return aw_builder_finish(&builder, ret_message);
}

static int to_2(const aw_message_t *message, aw_arena_t *arena, const aw_message_t **ret_message)
{
    return raise_version(message, arena, 2, ret_message);
}

static int to_3(const aw_message_t *message, aw_arena_t *arena, const aw_message_t **ret_message)
{
    return raise_version(message, arena, 3, ret_message);
}

static const aw__migrations_t THREE = {
    .current = 3,
    .steps = {{NULL, to_2, to_3}, {NULL, to_2, to_3}, {NULL, to_2, to_3}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const aw_message_type_t type = fuzz_type(data);
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    const aw_message_t *message = NULL;
    const aw_message_t *migrated = NULL;
    if (aw_message_decode(type, (aw_span_t){data + 1, size - 1}, arena, &message, NULL) == AW_OK) {
        const int status = aw_state_migrate(message, arena, &migrated, NULL);
        fuzz_require(status == AW_OK ? migrated == message : migrated == NULL);
        migrated = NULL;
        if (aw__migrate(&THREE, message, arena, &migrated, NULL) == AW_OK) {
            fuzz_require(aw_message_unknown_size(migrated) == aw_message_unknown_size(message));
            fuzz_require(aw_message_type(migrated) == type);
        }
    }
    aw_arena_free(arena);
    return 0;
}
