#include <assert.h>

#include "codec/json/sorted.h"
#include "codec/tea/check.h"
#include "codec/tea/scalar.h"
#include "codec/tea/url.h"

/* Canonical text of what was found good. */

static void put_value(aw_json_writer_t *json, const aw__tea_check_t *check,
                      const aw__tea_rule_t *rule, const aw__json_value_t *value);

static void put_uint(aw_json_writer_t *json, const aw__json_value_t *value)
{
    uint64_t number;
    bool read = aw__tea_uint_read(value, UINT64_MAX, &number);
    assert(read);
    aw_json_uint64(json, number);
}

static void put_timestamp(aw_json_writer_t *json, aw_span_t text)
{
    char utc[AW_TEA_TIMESTAMP_SIZE];
    bool read = aw__tea_timestamp_read(text, utc);
    assert(read);
    aw_json_string(json, aw_span_view(utc, sizeof utc));
}

static void put_mime(aw_json_writer_t *json, aw_span_t text)
{
    uint8_t lower[AW_TEA_FETCH_MIME_MAX];
    assert(text.size <= sizeof lower);
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];
        lower[i] = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
    }
    aw_json_string(json, aw_span_view(lower, text.size));
}

static void put_url(aw_json_writer_t *json, aw_span_t text, bool fragment)
{
    uint8_t room[AW__TEA_URL_ROOM];
    size_t size = aw__tea_url_write(text, fragment, room);
    assert(size > 0);
    aw_json_string(json, aw_span_view(room, size));
}

static void put_list(aw_json_writer_t *json, const aw__tea_check_t *check,
                     const aw__tea_rule_t *rule, const aw__json_value_t *value)
{
    aw_json_array_open(json);
    for (const aw__json_value_t *item = value->first; item != NULL; item = item->next) {
        put_value(json, check, rule->item, item);
    }
    aw_json_array_close(json);
}

static void put_choice(aw_json_writer_t *json, const aw__tea_check_t *check,
                       const aw__tea_rule_t *rule, const aw__json_value_t *value)
{
    const aw__tea_case_t *found = aw__tea_case_of(rule->choice, check->edition, value);
    assert(found != NULL);
    aw__tea_put_object(json, check, found->object, value);
}

static void put_value(aw_json_writer_t *json, const aw__tea_check_t *check,
                      const aw__tea_rule_t *rule, const aw__json_value_t *value)
{
    switch (rule->form) {
    case AW__TEA_FORM_BOOL:
        aw_json_bool(json, value->kind == AW__JSON_TRUE);
        break;
    case AW__TEA_FORM_UINT16:
    case AW__TEA_FORM_UINT32:
    case AW__TEA_FORM_UINT64:
        put_uint(json, value);
        break;
    case AW__TEA_FORM_LIST:
        put_list(json, check, rule, value);
        break;
    case AW__TEA_FORM_OBJECT:
        aw__tea_put_object(json, check, rule->object, value);
        break;
    case AW__TEA_FORM_PAYLOAD:
        aw__tea_put_object(json, check, check->type->payload, value);
        break;
    case AW__TEA_FORM_CHOICE:
        put_choice(json, check, rule, value);
        break;
    case AW__TEA_FORM_ARGUMENTS:
    case AW__TEA_FORM_ANY:
    case AW__TEA_FORM_METADATA:
    case AW__TEA_FORM_SCHEMA:
        aw__json_write_sorted(json, value, AW_JSON_NUMBERS_TEA);
        break;
    case AW__TEA_FORM_TIMESTAMP:
        put_timestamp(json, value->text);
        break;
    case AW__TEA_FORM_MIME:
        put_mime(json, value->text);
        break;
    case AW__TEA_FORM_URL:
    case AW__TEA_FORM_PAGE_URL:
        put_url(json, value->text, rule->form == AW__TEA_FORM_URL);
        break;
    default:
        aw_json_string(json, value->text);
        break;
    }
}

/** The member of a field, its key included, or nothing. */
static void put_field(aw_json_writer_t *json, const aw__tea_check_t *check,
                      const aw__tea_field_t *field, const aw__json_value_t *value)
{
    aw_span_t name = aw_span_view(field->name, field->name_size);
    if (field->rule->form == AW__TEA_FORM_MARKER) {
        if (check->type->skippable) {
            aw_json_key(json, name);
            aw_json_text(json, "skippable_observation");
        }
        return;
    }
    if (value == NULL) {
        if (field->absent == AW__TEA_WRITE_NOTHING) {
            return;
        }
        aw_json_key(json, name);
        if (field->absent == AW__TEA_WRITE_NULL) {
            aw_json_null(json);
        } else {
            aw_json_array_open(json);
            aw_json_array_close(json);
        }
        return;
    }
    if (field->rule->form == AW__TEA_FORM_METADATA && value->count == 0) {
        return;
    }
    aw_json_key(json, name);
    put_value(json, check, field->rule, value);
}

void aw__tea_put_object(aw_json_writer_t *json, const aw__tea_check_t *check,
                        const aw__tea_object_t *object, const aw__json_value_t *value)
{
    const aw__json_value_t *members[AW__TEA_FIELDS_MAX];
    (void)aw__tea_match(object, check->edition, value, members);
    aw_json_object_open(json);
    for (unsigned i = 0; i < object->count; i++) {
        unsigned field = object->order != NULL ? (unsigned)(object->order[i] - '0') : i;
        put_field(json, check, &object->fields[field], members[field]);
    }
    aw_json_object_close(json);
}
