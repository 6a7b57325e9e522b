#include <string.h>

#include "codec/tea/check.h"

/* Which part of a JSON pointer is made of names that the tables have. The pointer of a key that
 * stands twice is found before anything is known of the text's type, so all tables are asked. */

/** Longest index that counts as one; a longer run of digits may be anything. */
#define INDEX_DIGITS_MAX 4u

static bool object_has(const aw__tea_object_t *object, aw_span_t name);

static bool rule_has(const aw__tea_rule_t *rule, aw_span_t name)
{
    switch (rule->form) {
    case AW__TEA_FORM_LIST:
        return rule_has(rule->item, name);
    case AW__TEA_FORM_OBJECT:
        return object_has(rule->object, name);
    case AW__TEA_FORM_CHOICE:
        for (unsigned i = 0; i < rule->choice->count; i++) {
            if (object_has(rule->choice->cases[i].object, name)) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

static bool object_has(const aw__tea_object_t *object, aw_span_t name)
{
    for (unsigned i = 0; i < object->count; i++) {
        const aw__tea_field_t *field = &object->fields[i];
        if (aw_span_equal(name, aw_span_view(field->name, field->name_size)) ||
            rule_has(field->rule, name)) {
            return true;
        }
    }
    return false;
}

static bool is_known(aw_span_t name)
{
    for (unsigned kind = 0; kind < AW_TEA_KIND_COUNT; kind++) {
        const aw__tea_envelope_t *envelope = aw__tea_envelope_of((aw_tea_kind_t)kind);
        if (object_has(envelope->object, name)) {
            return true;
        }
        for (unsigned i = 0; i < envelope->count; i++) {
            if (object_has(envelope->types[i].payload, name)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_index(aw_span_t name)
{
    size_t digits = 0;
    while (digits < name.size && name.data[digits] >= '0' && name.data[digits] <= '9') {
        digits++;
    }
    return digits > 0 && digits == name.size && digits <= INDEX_DIGITS_MAX;
}

size_t aw__tea_known_prefix(const char *pointer)
{
    size_t known = 0;
    while (pointer[known] == '/') {
        size_t size = strcspn(pointer + known + 1, "/");
        aw_span_t name = aw_span_view(pointer + known + 1, size);
        if (!is_index(name) && !is_known(name)) {
            break;
        }
        known += 1 + size;
    }
    return known;
}
