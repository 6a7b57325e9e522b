#include "codec/state/migrate.h"

#include <assert.h>

#include "agentwire/field.h"
#include "codec/base/error.h"

_Static_assert(AW_STATE_SCHEMA_VERSION < AW__STATE_VERSION_MAX, "every version has its place");

/* What a version of 0 counts as. */
#define FIRST_VERSION 1u

const aw__migrations_t aw__migrations = {
    .current = AW_STATE_SCHEMA_VERSION,
    .steps =
        {
#define AW__STEP(message, from_version, function)                                                  \
    [AW__MIGRATED_##message][from_version] = (function),
#include "codec/state/steps.def"
#undef AW__STEP
        },
};

/* AW__MIGRATED_COUNT for a message that does not migrate. */
static aw__migrated_t row_of(aw_message_type_t type)
{
    switch (type) {
#define ROW_OF(message)                                                                            \
    case AW_MESSAGE_##message:                                                                     \
        return AW__MIGRATED_##message;
        AW__MIGRATED_LIST(ROW_OF)
#undef ROW_OF
    default:
        return AW__MIGRATED_COUNT;
    }
}

static uint32_t version_of(const aw_message_t *message)
{
    aw_field_t field;
    const uint32_t number = AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION; /* the same in all three */
    const bool found = aw_field_get(aw_message_type(message), number, &field);
    assert(found && field.kind == AW_KIND_UINT32);
    (void)found;
    const uint32_t version = aw_message_value(message, &field, 0).as.uint32;
    return version != 0 ? version : FIRST_VERSION;
}

int aw__migrate(const aw__migrations_t *migrations, const aw_message_t *message, aw_arena_t *arena,
                const aw_message_t **ret_message, aw_error_t *error)
{
    static const char field[] = "state_schema_version";
    const aw__migrated_t row = row_of(aw_message_type(message));
    if (row == AW__MIGRATED_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL,
                             "this message does not migrate");
    }
    uint32_t version = version_of(message);
    if (version > migrations->current) {
        return aw__error_set(error, AW_STATUS_VERSION_NEWER, -1, field, NULL);
    }
    while (version < migrations->current) {
        const aw__step_t step = migrations->steps[row][version];
        if (step == NULL) {
            return aw__error_set(error, AW_STATUS_VERSION_GAP, -1, field, NULL);
        }
        const int status = step(message, arena, &message);
        if (status != AW_OK) {
            return aw__error_set(error, status, -1, NULL, NULL);
        }
        version++;
        assert(row_of(aw_message_type(message)) == row && version_of(message) == version);
    }
    *ret_message = message;
    return AW_OK;
}

int aw_state_migrate(const aw_message_t *message, aw_arena_t *arena,
                     const aw_message_t **ret_message, aw_error_t *error)
{
    return aw__migrate(&aw__migrations, message, arena, ret_message, error);
}
