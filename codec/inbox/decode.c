/* Reading values of every version. This file knows the chain, the registry and the migrations, and
 * no shape: a declared current version is trusted. */
#include "codec/inbox/chain.h"
#include "codec/inbox/registry.h"
#include "codec/inbox/text.h"
#include "codec/inbox/wire_v0.h"
#include "codec/json/sorted.h"

/** A step for each version, from 0 on. */
static const aw__inbox_migration_t *const STEPS[] = {&aw__inbox_from_v0};

enum { STEP_COUNT = sizeof STEPS / sizeof *STEPS };

_Static_assert(STEP_COUNT == AW_INBOX_VERSION,
               "a migration to the highest version is missing in STEPS");

/** What a decoded command has of each kind's members. */
typedef struct kind {
    const char *name;
    const char *const *members; /* ends with NULL */
} kind_t;

static const char *const DELIVER_MEMBERS[] = {"auth",       "caller",    "deliveryMetadata",
                                              "payloads",   "requestId", "taskDeliveryId",
                                              "turnPolicy", NULL};
static const char *const RESET_MEMBERS[] = {"reason", NULL};
static const char *const CANCEL_MEMBERS[] = {"taskId", "turnId", NULL};
static const char *const NO_MEMBERS[] = {NULL};

static const kind_t KINDS[] = {
    {"deliver", DELIVER_MEMBERS}, {"session-timeout", NO_MEMBERS}, {"clear", NO_MEMBERS},
    {"compact", NO_MEMBERS},      {"reset", RESET_MEMBERS},        {"cancel", CANCEL_MEMBERS},
};

static const kind_t *find_kind(const aw__json_value_t *kind)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (aw__json_is_text(kind, KINDS[i].name)) {
            return &KINDS[i];
        }
    }
    return NULL;
}

/** The normalized command of a value of the current version. NULL as the chain's. */
static const aw__json_value_t *normalize(const aw__json_value_t *value, aw__json_maker_t *maker,
                                         aw_inbox_result_t *result)
{
    char quote[AW__INBOX_QUOTE_MAX];
    double version = -1;
    if (!aw__chain_version(value, &version) || version != AW_INBOX_VERSION) {
        aw__inbox_fail(result, AW_INBOX_CLASS_VERSION_MISMATCH, value, "/version",
                       AW__INBOX_LABEL ": it declares version %s where %d is expected",
                       aw__inbox_quote(aw__json_find_text(value, "version"), quote),
                       AW_INBOX_VERSION);
        return NULL;
    }
    const aw__json_value_t *name = aw__json_find_text(value, "kind");
    const kind_t *kind = find_kind(name);
    if (kind == NULL) {
        aw__inbox_fail(result, AW_INBOX_CLASS_UNKNOWN_KIND, name, "/kind",
                       AW__INBOX_LABEL ": unrecognized kind %s", aw__inbox_quote(name, quote));
        return NULL;
    }
    aw__json_value_t *command = aw__json_make_object(maker);
    aw__json_make_put_text(maker, command, "kind", name);
    for (const char *const *member = kind->members; *member != NULL; member++) {
        aw__json_make_take(maker, command, value, *member);
    }
    return aw__json_make_end(maker, command);
}

/** The decoded command; NULL with the result filled, or the status set. */
static const aw__json_value_t *decode(aw_span_t text, aw__json_maker_t *maker,
                                      aw_inbox_result_t *result)
{
    aw__inbox_migration_t migrations[STEP_COUNT];
    const aw__chain_t chain = {
        .label = AW__INBOX_LABEL,
        .migrations = migrations,
        .count = STEP_COUNT,
        .target = AW_INBOX_VERSION,
        .has_initial = true,
        .initial = 0,
    };
    for (size_t i = 0; i < STEP_COUNT; i++) {
        migrations[i] = *STEPS[i];
    }
    const aw__json_value_t *value = aw__inbox_read(text, maker, result);
    value = value != NULL ? aw__chain_run(&chain, value, maker, result) : NULL;
    return value != NULL ? normalize(value, maker, result) : NULL;
}

int aw_inbox_decode(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                    aw_span_t *ret_output)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *command = decode(text, &maker, &result);
    return aw__inbox_finish(&maker, &result, command, ret_result, ret_output);
}

int aw_inbox_check(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    (void)decode(text, &maker, &result);
    if (maker.status == AW_OK) {
        *ret_result = result;
    }
    return maker.status;
}
