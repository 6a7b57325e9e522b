#include "codec/inbox/chain.h"

#include "codec/json/number.h"

static const char VERSION[] = "version";

bool aw__chain_version(const aw__json_value_t *value, double *ret_version)
{
    const aw__json_value_t *version = aw__json_find_text(value, VERSION);
    aw__number_t number;
    if (version == NULL || version->kind != AW__JSON_NUMBER ||
        !aw__number_read(version->text, &number)) {
        return false;
    }
    switch (number.kind) {
    case AW__NUMBER_UINT:
        *ret_version = (double)number.as.uint;
        break;
    case AW__NUMBER_INT:
        *ret_version = (double)number.as.sint;
        break;
    case AW__NUMBER_DOUBLE:
        *ret_version = number.as.real;
        break;
    }
    return true;
}

/** The same members under the chain's initial version. An array has no members that count. */
static const aw__json_value_t *stamp_initial(const aw__chain_t *chain,
                                             const aw__json_value_t *value, aw__json_maker_t *maker)
{
    static const char *const BUT[] = {VERSION, NULL};
    aw__json_value_t *stamped = aw__json_make_object(maker);
    if (stamped == NULL) {
        return NULL;
    }
    stamped->offset = value->offset;
    stamped->size = value->size;
    aw__json_make_take_all(maker, stamped, value, BUT);
    aw__json_make_put_text(maker, stamped, VERSION, aw__json_make_unsigned(maker, chain->initial));
    return aw__json_make_end(maker, stamped);
}

/** Steps 1 and 2 of the chain: a value that declares a version. */
static const aw__json_value_t *with_version(const aw__chain_t *chain, const aw__json_value_t *value,
                                            aw__json_maker_t *maker, aw_inbox_result_t *result)
{
    double version;
    const aw__json_value_t *member = aw__json_find_text(value, VERSION);
    const bool holds_members = value->kind == AW__JSON_OBJECT || value->kind == AW__JSON_ARRAY;
    if (aw__chain_version(value, &version)) {
        return value;
    }
    if (holds_members && member == NULL && chain->has_initial) {
        return stamp_initial(chain, value, maker);
    }
    aw__inbox_fail(result, AW_INBOX_CLASS_NO_VERSION, member != NULL ? member : value,
                   member != NULL ? "/version" : "", "%s: it has no numeric \"version\" field",
                   chain->label);
    return NULL;
}

/** True for a number of 0 and more without a fraction. From 2^53 on no double has one. */
static bool is_whole(double number)
{
    return number >= 9007199254740992.0 || number == (double)(uint64_t)number;
}

/** Steps 3 and 4: the version is one that can be read. */
static bool is_readable(const aw__chain_t *chain, const aw__json_value_t *value, double version,
                        aw_inbox_result_t *result)
{
    char quote[AW__INBOX_QUOTE_MAX];
    const aw__json_value_t *member = aw__json_find_text(value, VERSION);
    const unsigned minimum = chain->has_initial ? chain->initial : 1;
    if (version < minimum || !is_whole(version)) {
        aw__inbox_fail(result, AW_INBOX_CLASS_BAD_VERSION, member, "/version",
                       "%s: its version %s is not a positive integer", chain->label,
                       aw__inbox_quote(member, quote));
        return false;
    }
    if (version > chain->target) {
        aw__inbox_fail(result, AW_INBOX_CLASS_NEWER_VERSION, member, "/version",
                       "%s: its version %s is newer than %u, the newest that is read here; a newer "
                       "deployment wrote it",
                       chain->label, aw__inbox_quote(member, quote), chain->target);
        return false;
    }
    return true;
}

/** Step 5: one migration. */
static const aw__json_value_t *step(const aw__chain_t *chain, const aw__json_value_t *value,
                                    unsigned current, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    const aw__inbox_migration_t *found = NULL;
    for (size_t i = 0; i < chain->count && found == NULL; i++) {
        found = chain->migrations[i].from == current ? &chain->migrations[i] : NULL;
    }
    if (found == NULL) {
        aw__inbox_fail(result, AW_INBOX_CLASS_NO_MIGRATION, value, "",
                       "%s: no migration leads from version %u to %u", chain->label, current,
                       current + 1);
        return NULL;
    }
    if (found->to != current + 1) {
        aw__inbox_fail(result, AW_INBOX_CLASS_BAD_STEP, value, "",
                       "%s: the migration from version %u to %u does not go one version at a time",
                       chain->label, found->from, found->to);
        return NULL;
    }
    const aw__json_value_t *produced = found->migrate(value, maker, result);
    if (produced == NULL) {
        return NULL;
    }
    double version = -1;
    if (!aw__chain_version(produced, &version) || version != found->to) {
        char quote[AW__INBOX_QUOTE_MAX];
        aw__inbox_fail(result, AW_INBOX_CLASS_BAD_RESULT, value, "",
                       "%s: the migration from version %u to %u made a value of version %s",
                       chain->label, found->from, found->to,
                       aw__inbox_quote(aw__json_find_text(produced, VERSION), quote));
        return NULL;
    }
    return produced;
}

const aw__json_value_t *aw__chain_run(const aw__chain_t *chain, const aw__json_value_t *value,
                                      aw__json_maker_t *maker, aw_inbox_result_t *result)
{
    double version = 0;
    value = with_version(chain, value, maker, result);
    if (value == NULL || !aw__chain_version(value, &version) ||
        !is_readable(chain, value, version, result)) {
        return NULL;
    }
    for (unsigned current = (unsigned)version; value != NULL && current < chain->target;
         current++) {
        value = step(chain, value, current, maker, result);
    }
    return value;
}
