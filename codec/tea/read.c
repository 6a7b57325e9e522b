#include <assert.h>
#include <string.h>

#include "codec/base/error.h"
#include "codec/json/reader.h"
#include "codec/tea/check.h"
#include "codec/tea/freeform.h"
#include "codec/tea/scalar.h"

/* The steps from a text to a verdict, in the order in which one outranks the other. */

const aw__tea_envelope_t *aw__tea_envelope_of(aw_tea_kind_t kind)
{
    static const aw__tea_envelope_t *const envelopes[AW_TEA_KIND_COUNT] = {
        [AW_TEA_COMMAND] = &aw__tea_commands,
        [AW_TEA_EVENT] = &aw__tea_events,
        [AW_TEA_RECORD] = &aw__tea_records,
        [AW_TEA_ERROR] = &aw__tea_errors,
    };
    assert((unsigned)kind < AW_TEA_KIND_COUNT);
    return envelopes[kind];
}

/** Ends in a verdict that is not about a rule. */
static void refuse(aw__tea_check_t *check, aw_tea_class_t outcome, const aw__json_value_t *at,
                   const char *pointer)
{
    aw_tea_result_t *result = check->result;
    result->outcome = outcome;
    result->offset = at->offset;
    result->pointer_known = strlen(pointer);
    memcpy(result->pointer, pointer, result->pointer_known + 1);
}

/** A rule is broken by a member of the envelope, or by its absence. */
static void refuse_member(aw__tea_check_t *check, aw_tea_label_t label,
                          const aw__json_value_t *root, const char *name)
{
    const aw__json_value_t *member = aw__json_find_text(root, name);
    (void)aw__tea_break(check, label, member != NULL ? member : root, aw_span_text_view(name),
                        false);
}

static bool is_object(aw__tea_check_t *check, const aw__json_value_t *root)
{
    return root->kind == AW__JSON_OBJECT ||
           aw__tea_break(check, AW_TEA_LABEL_ENVELOPE, root, AW_SPAN_NULL, false);
}

/** What protocolVersion says. */
typedef enum version {
    VERSION_GOOD,
    VERSION_OTHER_MAJOR,
    VERSION_BROKEN /* the result says how */
} version_t;

static version_t read_version(aw__tea_check_t *check, const aw__json_value_t *root)
{
    const aw__json_value_t *version = aw__json_find_text(root, "protocolVersion");
    uint32_t major, minor;
    if (version == NULL) {
        refuse_member(check, AW_TEA_LABEL_MISSING, root, "protocolVersion");
        return VERSION_BROKEN;
    }
    if (version->kind != AW__JSON_STRING) {
        refuse_member(check, AW_TEA_LABEL_TYPE, root, "protocolVersion");
        return VERSION_BROKEN;
    }
    if (!aw__tea_version_read(version->text, &major, &minor)) {
        refuse_member(check, AW_TEA_LABEL_VERSION, root, "protocolVersion");
        return VERSION_BROKEN;
    }
    check->result->version = version->text;
    return major == 1 ? VERSION_GOOD : VERSION_OTHER_MAJOR;
}

static const aw__tea_type_t *find_type(const aw__tea_envelope_t *envelope, aw_span_t name)
{
    for (unsigned i = 0; i < envelope->count; i++) {
        if (aw_span_equal(name, aw_span_text_view(envelope->types[i].payload->name))) {
            return &envelope->types[i];
        }
    }
    return NULL;
}

/** Reads the discriminator. Returns false when there is none that is canonical. */
static bool read_type(aw__tea_check_t *check, aw_tea_kind_t kind, const aw__json_value_t *root)
{
    const aw__json_value_t *type = aw__json_find_text(root, "type");
    if (type == NULL || type->kind != AW__JSON_STRING ||
        !aw__tea_is_name(type->text, &aw__tea_rule_discriminator)) {
        refuse_member(check, AW_TEA_LABEL_DISCRIMINATOR, root, "type");
        return false;
    }
    check->type = find_type(aw__tea_envelope_of(kind), type->text);
    check->result->type = type->text;
    return true;
}

/** All rules of the envelope. */
static void check_all(aw__tea_check_t *check, aw_tea_kind_t kind, const aw__json_value_t *root)
{
    aw_tea_result_t *result = check->result;
    if (!aw__tea_check_object(check, aw__tea_envelope_of(kind)->object, root)) {
        return;
    }
    const aw__json_value_t *sequence = aw__json_find_text(root, "sequence");
    if ((kind == AW_TEA_EVENT || kind == AW_TEA_RECORD) &&
        !aw__tea_sequence_read(sequence->text, &result->sequence)) {
        assert(false && "a good envelope has a good sequence");
    }
    const aw__json_value_t *version = aw__json_find_text(root, "protocolVersion");
    result->version = version->text;
}

/** Commands and records: a wrong major outranks an unknown type, that outranks everything else. */
static void judge_strict(aw__tea_check_t *check, aw_tea_kind_t kind, const aw__json_value_t *root)
{
    version_t version = read_version(check, root);
    if (version == VERSION_OTHER_MAJOR) {
        refuse(check, AW_TEA_UNSUPPORTED_VERSION, aw__json_find_text(root, "protocolVersion"),
               "/protocolVersion");
    }
    if (version != VERSION_GOOD || !read_type(check, kind, root)) {
        return;
    }
    if (check->type == NULL) {
        refuse(check, AW_TEA_UNSUPPORTED_TYPE, aw__json_find_text(root, "type"), "/type");
        return;
    }
    check_all(check, kind, root);
}

/** An event of unknown type may be skipped only when it says so and is sound as far as it is
 * known. */
static void judge_unknown_event(aw__tea_check_t *check, const aw__json_value_t *root)
{
    const aw__json_value_t *type = aw__json_find_text(root, "type");
    const aw__json_value_t *marker = aw__json_find_text(root, "compatibility");
    if (root->height > AW_TEA_UNKNOWN_EVENT_DEPTH_MAX ||
        aw__tea_encoded_size(root) > AW_TEA_UNKNOWN_EVENT_MAX) {
        (void)aw__tea_break(check, AW_TEA_LABEL_BOUNDS, root, AW_SPAN_NULL, false);
        return;
    }
    if (marker == NULL || aw__json_is_text(marker, "required_state_bearing")) {
        refuse(check, AW_TEA_UNSUPPORTED_STATE_BEARING, type, "/type");
        return;
    }
    if (!aw__json_is_text(marker, "skippable_observation")) {
        refuse_member(check, AW_TEA_LABEL_COMPATIBILITY, root, "compatibility");
        return;
    }
    version_t version = read_version(check, root);
    if (version == VERSION_OTHER_MAJOR) {
        refuse_member(check, AW_TEA_LABEL_VERSION, root, "protocolVersion");
    }
    if (version != VERSION_GOOD || !aw__tea_check_object(check, &aw__tea_unknown_event, root)) {
        return;
    }
    bool read =
        aw__tea_sequence_read(aw__json_find_text(root, "sequence")->text, &check->result->sequence);
    assert(read);
    check->result->outcome = AW_TEA_SKIPPABLE;
}

void aw__tea_judge(aw_tea_kind_t kind, const aw__json_value_t *root, aw__tea_check_t *check)
{
    if (!is_object(check, root)) {
        return;
    }
    if (kind == AW_TEA_COMMAND || kind == AW_TEA_RECORD) {
        judge_strict(check, kind, root);
        return;
    }
    if (!read_type(check, kind, root)) {
        return;
    }
    if (check->type != NULL) {
        check_all(check, kind, root);
    } else if (kind == AW_TEA_EVENT) {
        judge_unknown_event(check, root);
    } else {
        refuse_member(check, AW_TEA_LABEL_DISCRIMINATOR, root, "type");
    }
}

/** Parses. Returns AW_OK when there is a tree, or when the text's own fault is the verdict:
 * *ret_root is NULL then. */
static int parse(aw_span_t text, aw_arena_t *arena, aw_tea_result_t *result,
                 const aw__json_value_t **ret_root)
{
    aw_error_t error = AW_ERROR_INIT;
    int status = aw__json_read(text, AW_TEA_NESTING_MAX, AW__JSON_STRICT, arena, ret_root, &error);
    switch (status) {
    case AW_OK:
        return AW_OK;
    case AW_STATUS_MALFORMED_JSON:
    case AW_STATUS_LIMIT_DEPTH:
        result->outcome = AW_TEA_MALFORMED_JSON;
        break;
    case AW_STATUS_DUPLICATE_KEY:
        result->outcome = AW_TEA_DUPLICATE_KEY;
        break;
    default:
        return status;
    }
    result->offset = error.offset;
    memcpy(result->pointer, error.field, sizeof result->pointer);
    result->pointer_known = aw__tea_known_prefix(result->pointer);
    *ret_root = NULL;
    return AW_OK;
}

int aw__tea_read(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text, aw_arena_t *arena,
                 aw_tea_result_t *ret_result, const aw__json_value_t **ret_root,
                 aw__tea_check_t *ret_check)
{
    aw_tea_result_t result = {.outcome = AW_TEA_OK, .offset = -1};
    aw__tea_check_t check = {.edition = edition, .result = &result, .arena = arena};
    const aw__json_value_t *root;
    int status = parse(text, arena, &result, &root);
    if (status != AW_OK) {
        return status;
    }
    if (root != NULL) {
        aw__tea_judge(kind, root, &check);
    }
    if (check.status != AW_OK) {
        return check.status;
    }
    *ret_result = result;
    check.result = ret_result;
    *ret_check = check;
    *ret_root = root;
    return AW_OK;
}

int aw_tea_check(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text, aw_arena_t *arena,
                 aw_tea_result_t *ret_result)
{
    const aw__json_value_t *root;
    aw__tea_check_t check;
    return aw__tea_read(kind, edition, text, arena, ret_result, &root, &check);
}

int aw_tea_canonical(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text,
                     aw_arena_t *arena, aw_tea_result_t *ret_result, aw_span_t *ret_canonical)
{
    const aw__json_value_t *root;
    aw_tea_result_t result;
    aw__tea_check_t check;
    aw_span_t canonical = AW_SPAN_NULL;
    int status = aw__tea_read(kind, edition, text, arena, &result, &root, &check);
    if (status == AW_OK && result.outcome == AW_TEA_OK) {
        aw_json_writer_t json;
        aw_json_init_arena(&json, AW_JSON_COMPACT, arena);
        aw__tea_put_object(&json, &check, aw__tea_envelope_of(kind)->object, root);
        status = aw_json_finish(&json, &canonical);
    }
    if (status != AW_OK) {
        return status;
    }
    *ret_result = result;
    *ret_canonical = canonical;
    return AW_OK;
}

/** The member that speaks for a kind. */
static const char *const speakers[AW_TEA_KIND_COUNT] = {
    [AW_TEA_COMMAND] = "commandId",
    [AW_TEA_EVENT] = "eventId",
    [AW_TEA_RECORD] = "recordId",
    [AW_TEA_ERROR] = "error",
};

static bool passes(aw_tea_class_t outcome)
{
    return outcome == AW_TEA_OK || outcome == AW_TEA_SKIPPABLE;
}

int aw_tea_check_any(aw_tea_edition_t edition, aw_span_t text, aw_arena_t *arena,
                     aw_tea_kind_t *ret_kind, aw_tea_result_t *ret_result)
{
    aw_tea_result_t first = {.outcome = AW_TEA_OK, .offset = -1};
    aw_tea_kind_t first_kind = AW_TEA_KIND_COUNT;
    const aw__json_value_t *root;
    int status = parse(text, arena, &first, &root);
    if (status != AW_OK) {
        return status;
    }
    for (unsigned kind = 0; root != NULL && kind < AW_TEA_KIND_COUNT; kind++) {
        aw_tea_result_t result = {.outcome = AW_TEA_OK, .offset = -1};
        aw__tea_check_t check = {.edition = edition, .result = &result, .arena = arena};
        if (aw__json_find_text(root, speakers[kind]) == NULL) {
            continue;
        }
        aw__tea_judge((aw_tea_kind_t)kind, root, &check);
        if (check.status != AW_OK) {
            return check.status;
        }
        if (first_kind == AW_TEA_KIND_COUNT || passes(result.outcome)) {
            first = result;
            first_kind = (aw_tea_kind_t)kind;
        }
        if (passes(result.outcome)) {
            break;
        }
    }
    if (root != NULL && first_kind == AW_TEA_KIND_COUNT) {
        aw__tea_check_t check = {.edition = edition, .result = &first, .arena = arena};
        aw__tea_judge(AW_TEA_EVENT, root, &check);
    }
    *ret_kind = first_kind < AW_TEA_KIND_COUNT ? first_kind : AW_TEA_EVENT;
    *ret_result = first;
    return AW_OK;
}
