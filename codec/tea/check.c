#include "codec/tea/check.h"

#include <assert.h>
#include <string.h>

#include "codec/json/number.h"
#include "codec/tea/freeform.h"
#include "codec/tea/scalar.h"
#include "codec/tea/url.h"

static void add_step(aw__json_path_t *path, const aw__tea_step_t *step)
{
    if (step->name.data != NULL) {
        aw__json_path_add_key(path, step->name);
    } else {
        aw__json_path_add_index(path, step->index);
    }
}

bool aw__tea_break(aw__tea_check_t *check, aw_tea_label_t label, const aw__json_value_t *at,
                   aw_span_t member, bool foreign)
{
    aw_tea_result_t *result = check->result;
    aw__json_path_t path = {.size = 0};
    for (unsigned i = 0; i < check->depth; i++) {
        add_step(&path, &check->path[i]);
    }
    result->pointer_known = path.size;
    if (member.data != NULL) {
        aw__json_path_add_key(&path, member);
    }
    if (!foreign) {
        result->pointer_known = path.size;
    }
    result->outcome = AW_TEA_INVALID;
    result->label = label;
    result->offset = at != NULL ? (int64_t)at->offset : -1;
    memcpy(result->pointer, path.text, sizeof result->pointer);
    return false;
}

/** The value itself breaks a rule. */
static bool broken(aw__tea_check_t *check, aw_tea_label_t label, const aw__json_value_t *value)
{
    return aw__tea_break(check, label, value, AW_SPAN_NULL, false);
}

static bool holds(aw__tea_check_t *check, bool good, aw_tea_label_t label,
                  const aw__json_value_t *value)
{
    return good || broken(check, label, value);
}

static void push(aw__tea_check_t *check, aw_span_t name, size_t index)
{
    assert(check->depth < AW__TEA_PATH_MAX);
    check->path[check->depth++] = (aw__tea_step_t){name, index};
}

bool aw__tea_uint_read(const aw__json_value_t *value, uint64_t max, uint64_t *ret_value)
{
    aw__number_t number;
    if (value->kind != AW__JSON_NUMBER || !aw__number_read(value->text, &number) ||
        number.kind != AW__NUMBER_UINT || number.as.uint > max) {
        return false;
    }
    *ret_value = number.as.uint;
    return true;
}

static bool check_uint(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                       const aw__json_value_t *value)
{
    uint64_t width = UINT64_MAX;
    uint64_t number;
    if (rule->form != AW__TEA_FORM_UINT64) {
        width = rule->form == AW__TEA_FORM_UINT32 ? UINT32_MAX : UINT16_MAX;
    }
    if (!aw__tea_uint_read(value, width, &number)) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    return holds(check, number >= rule->min && number <= rule->max, rule->label, value);
}

static bool is_word(aw_span_t text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (aw_span_equal(text, aw_span_text_view(*words))) {
            return true;
        }
    }
    return false;
}

static bool is_url(aw_span_t text, const aw__tea_rule_t *rule)
{
    uint8_t room[AW__TEA_URL_ROOM];
    if (text.size < rule->min || text.size > rule->max) {
        return false;
    }
    size_t size = aw__tea_url_write(text, rule->form == AW__TEA_FORM_URL, room);
    return size > 0 && size <= rule->max;
}

static bool is_version(aw_span_t text)
{
    uint32_t major, minor;
    return aw__tea_version_read(text, &major, &minor) && major == 1;
}

/** The forms that are strings. */
static bool is_string_of(aw_span_t text, const aw__tea_rule_t *rule)
{
    char timestamp[AW_TEA_TIMESTAMP_SIZE];
    uint64_t sequence;
    switch (rule->form) {
    case AW__TEA_FORM_TEXT:
        return aw__tea_is_text(text, rule);
    case AW__TEA_FORM_BODY:
        return aw__tea_is_text(text, rule) &&
               aw__tea_characters(text) <= AW_TEA_FETCH_BODY_CHARACTERS_MAX;
    case AW__TEA_FORM_NAME:
    case AW__TEA_FORM_MIME:
        return aw__tea_is_name(text, rule);
    case AW__TEA_FORM_WORD:
        return is_word(text, rule->words);
    case AW__TEA_FORM_ID:
        return aw__tea_is_id(text);
    case AW__TEA_FORM_SEQUENCE:
        return aw__tea_sequence_read(text, &sequence);
    case AW__TEA_FORM_TIMESTAMP:
        return aw__tea_timestamp_read(text, timestamp);
    case AW__TEA_FORM_VERSION:
        return is_version(text);
    case AW__TEA_FORM_AMOUNT:
        return aw__tea_is_amount(text);
    case AW__TEA_FORM_BASE64:
        return text.size >= rule->min && text.size <= rule->max && aw__tea_is_base64(text);
    case AW__TEA_FORM_IMAGE_TYPE:
        return aw__tea_is_image_type(text, rule);
    case AW__TEA_FORM_URL:
    case AW__TEA_FORM_PAGE_URL:
        return is_url(text, rule);
    default:
        assert(false && "a form that is no string");
        return false;
    }
}

static bool check_metadata(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                           const aw__json_value_t *value)
{
    if (value->kind != AW__JSON_OBJECT) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    if (value->count > AW_TEA_METADATA_NAMESPACES_MAX) {
        return broken(check, rule->label, value);
    }
    for (const aw__json_value_t *child = value->first; child != NULL; child = child->next) {
        if (!aw__tea_is_namespace(child->key) || child->height > rule->depth) {
            return aw__tea_break(check, rule->label, child, child->key, true);
        }
    }
    return holds(check, aw__tea_encoded_size(value) <= rule->max, rule->label, value);
}

/** Any value of so much canonical text and so many containers. The height is known for nothing and
 * bounds the walk that counts the bytes. */
static bool check_free(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                       const aw__json_value_t *value)
{
    bool good = (rule->form == AW__TEA_FORM_ANY || value->kind == AW__JSON_OBJECT) &&
                value->height <= rule->depth && aw__tea_encoded_size(value) <= rule->max;
    return holds(check, good, rule->label, value);
}

static bool check_schema(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                         const aw__json_value_t *value)
{
    if (value->kind != AW__JSON_OBJECT) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    bool good = aw__tea_levels(value) <= rule->depth && aw__tea_encoded_size(value) <= rule->max &&
                aw__tea_is_schema(check, value);
    return holds(check, good, rule->label, value);
}

static bool check_value(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                        const aw__json_value_t *value);

static bool check_list(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                       const aw__json_value_t *value)
{
    if (value->kind != AW__JSON_ARRAY) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    if (value->count < rule->min || value->count > rule->max) {
        return broken(check, rule->label, value);
    }
    size_t index = 0;
    for (const aw__json_value_t *item = value->first; item != NULL; item = item->next) {
        push(check, AW_SPAN_NULL, index++);
        if (!check_value(check, rule->item, item)) {
            return false;
        }
        check->depth--;
    }
    return true;
}

const aw__tea_case_t *aw__tea_case_of(const aw__tea_choice_t *choice, aw_tea_edition_t edition,
                                      const aw__json_value_t *value)
{
    const aw__json_value_t *tag = aw__json_find_text(value, choice->tag);
    for (unsigned i = 0; tag != NULL && i < choice->count; i++) {
        if (choice->cases[i].since <= edition &&
            aw__json_is_text(tag, choice->cases[i].object->name)) {
            return &choice->cases[i];
        }
    }
    return NULL;
}

static bool check_choice(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                         const aw__json_value_t *value)
{
    const aw__tea_choice_t *choice = rule->choice;
    aw_span_t name = aw_span_text_view(choice->tag);
    if (value->kind != AW__JSON_OBJECT) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    const aw__json_value_t *tag = aw__json_find(value, name);
    if (tag == NULL) {
        return aw__tea_break(check, AW_TEA_LABEL_MISSING, value, name, false);
    }
    if (tag->kind != AW__JSON_STRING) {
        return aw__tea_break(check, AW_TEA_LABEL_TYPE, tag, name, false);
    }
    const aw__tea_case_t *found = aw__tea_case_of(choice, check->edition, value);
    if (found == NULL) {
        return aw__tea_break(check, AW_TEA_LABEL_VARIANT, tag, name, false);
    }
    if ((rule->allowed >> (found - choice->cases) & 1) == 0) {
        return aw__tea_break(check, rule->label, tag, name, false);
    }
    return aw__tea_check_object(check, found->object, value);
}

static bool check_value(aw__tea_check_t *check, const aw__tea_rule_t *rule,
                        const aw__json_value_t *value)
{
    switch (rule->form) {
    case AW__TEA_FORM_BOOL:
        return holds(check, value->kind == AW__JSON_TRUE || value->kind == AW__JSON_FALSE,
                     AW_TEA_LABEL_TYPE, value);
    case AW__TEA_FORM_UINT16:
    case AW__TEA_FORM_UINT32:
    case AW__TEA_FORM_UINT64:
        return check_uint(check, rule, value);
    case AW__TEA_FORM_LIST:
        return check_list(check, rule, value);
    case AW__TEA_FORM_OBJECT:
        return aw__tea_check_object(check, rule->object, value);
    case AW__TEA_FORM_PAYLOAD:
        return aw__tea_check_object(check, check->type->payload, value);
    case AW__TEA_FORM_CHOICE:
        return check_choice(check, rule, value);
    case AW__TEA_FORM_ARGUMENTS:
    case AW__TEA_FORM_ANY:
        return check_free(check, rule, value);
    case AW__TEA_FORM_METADATA:
        return check_metadata(check, rule, value);
    case AW__TEA_FORM_SCHEMA:
        return check_schema(check, rule, value);
    case AW__TEA_FORM_NOTHING:
        return broken(check, rule->label, value);
    case AW__TEA_FORM_TAG:
    case AW__TEA_FORM_MARKER:
        return true;
    default:
        break;
    }
    if (value->kind != AW__JSON_STRING) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    return holds(check, is_string_of(value->text, rule), rule->label, value);
}

const aw__json_value_t *aw__tea_match(const aw__tea_object_t *object, aw_tea_edition_t edition,
                                      const aw__json_value_t *value,
                                      const aw__json_value_t *ret_members[AW__TEA_FIELDS_MAX])
{
    const aw__json_value_t *unknown = NULL;
    size_t at = 0;
    for (unsigned i = 0; i < object->count; i++) {
        const aw__tea_field_t *field = &object->fields[i];
        ret_members[i] = NULL;
        if (field->since > edition) {
            continue;
        }
        for (; at < value->count; at++) {
            const aw__json_value_t *member = value->sorted[at];
            int order =
                aw__json_key_compare(member->key, aw_span_view(field->name, field->name_size));
            if (order < 0) {
                unknown = unknown == NULL ? member : unknown;
                continue;
            }
            if (order == 0) {
                bool absent = member->kind == AW__JSON_NULL && field->presence == AW__TEA_NULLABLE;
                ret_members[i] = absent ? NULL : member;
                at++;
            }
            break;
        }
    }
    return unknown == NULL && at < value->count ? value->sorted[at] : unknown;
}

static bool is_strict(const aw__tea_check_t *check, const aw__tea_object_t *object)
{
    return object->strictness == AW__TEA_STRICT ||
           (object->strictness == AW__TEA_STRICT_IN_B && check->edition == AW_TEA_EDITION_B);
}

bool aw__tea_check_object(aw__tea_check_t *check, const aw__tea_object_t *object,
                          const aw__json_value_t *value)
{
    const aw__json_value_t *members[AW__TEA_FIELDS_MAX];
    if (value->kind != AW__JSON_OBJECT) {
        return broken(check, AW_TEA_LABEL_TYPE, value);
    }
    assert(object->count <= AW__TEA_FIELDS_MAX);
    const aw__json_value_t *unknown = aw__tea_match(object, check->edition, value, members);
    if (unknown != NULL && is_strict(check, object)) {
        return aw__tea_break(check, AW_TEA_LABEL_UNKNOWN_FIELD, unknown, unknown->key, true);
    }
    for (unsigned i = 0; i < object->count; i++) {
        const aw__tea_field_t *field = &object->fields[i];
        aw_span_t name = aw_span_view(field->name, field->name_size);
        if (members[i] != NULL) {
            push(check, name, 0);
            if (!check_value(check, field->rule, members[i])) {
                return false;
            }
            check->depth--;
        } else if (field->presence == AW__TEA_REQUIRED && field->since <= check->edition) {
            return aw__tea_break(check, AW_TEA_LABEL_MISSING, value, name, false);
        }
    }
    return aw__tea_check_relation(check, object->relation, value);
}
