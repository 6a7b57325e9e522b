#include "agentwire/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/field.h"

/** The fields of each message in the order of their JSON names, a hexadecimal digit a field number.
 *  The unit test holds it against the names. */
static const char *const field_order[AW_MESSAGE_COUNT] = {
    [AW_MESSAGE_MEMORY_BLOB] = "213",
    [AW_MESSAGE_TOOL_INTENT] = "697281a3ecd45b",
    [AW_MESSAGE_TOOL_RESULT] = "7261534",
    [AW_MESSAGE_TRACE_EVENT] = "8a47352961",
    [AW_MESSAGE_AGENT_ENVELOPE] = "512634",
    [AW_MESSAGE_STATE_SNAPSHOT] = "726589341",
    [AW_MESSAGE_ACTIVATION_ERROR_RECORD] = "3142",
    [AW_MESSAGE_CONTINUATION] = "589426137",
    [AW_MESSAGE_LLM_CACHE_BLOB] = "213",
    [AW_MESSAGE_LONG_TERM_RECORD] = "24153",
    [AW_MESSAGE_MEMORY_ENTRY] = "132",
    [AW_MESSAGE_ATTRIBUTES_ENTRY] = "12",
    [AW_MESSAGE_APPROVAL] = "2341",
    [AW_MESSAGE_STATE_EXPORT_REQUEST] = "1",
    [AW_MESSAGE_LLM_CACHE_ENTRY] = "146523",
};

_Static_assert(AW_FIELD_NUMBER_MAX <= 15, "a field number is one hexadecimal digit");

/** One entry of a map<string, string>. */
typedef struct map_entry {
    aw_span_t key;
    aw_span_t value;
} map_entry_t;

static uint32_t digit_value(char digit)
{
    return digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)(digit - 'a' + 10);
}

/** By code points, which UTF-8's bytes sort alike; a key before those that it begins. The map's own
 *  order, that of the encoding, has it behind them. */
static int compare_keys(const void *left, const void *right)
{
    const aw_span_t *a = &((const map_entry_t *)left)->key;
    const aw_span_t *b = &((const map_entry_t *)right)->key;
    size_t common = a->size < b->size ? a->size : b->size;
    int order = common > 0 ? memcmp(a->data, b->data, common) : 0;
    if (order != 0) {
        return order;
    }
    return (a->size > b->size) - (a->size < b->size);
}

static void write_map(aw_json_writer_t *writer, const aw_message_t *message,
                      const aw_field_t *field, size_t count, aw_arena_t *scratch)
{
    aw_field_t key, value;
    bool found = aw_field_get(field->type, AW_FIELD_ATTRIBUTES_ENTRY_KEY, &key) &&
                 aw_field_get(field->type, AW_FIELD_ATTRIBUTES_ENTRY_VALUE, &value);
    assert(found);
    map_entry_t *entries = aw_arena_calloc(scratch, count, sizeof *entries);
    if (entries == NULL) {
        count = 0;
        if (writer->status == AW_OK) {
            writer->status =
                aw_arena_limited(scratch) ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const aw_message_t *entry = aw_message_value(message, field, i).as.message;
        entries[i].key = aw_message_value(entry, &key, 0).as.bytes;
        entries[i].value = aw_message_value(entry, &value, 0).as.bytes;
    }
    if (count > 1) {
        qsort(entries, count, sizeof *entries, compare_keys);
    }
    aw_json_object_open(writer);
    for (size_t i = 0; i < count; i++) {
        aw_json_key(writer, entries[i].key);
        aw_json_string(writer, entries[i].value);
    }
    aw_json_object_close(writer);
}

static void write_value(aw_json_writer_t *writer, const aw_field_t *field, const aw_value_t *value,
                        aw_arena_t *scratch)
{
    switch (value->kind) {
    case AW_KIND_STRING:
        aw_json_string(writer, value->as.bytes);
        break;
    case AW_KIND_BYTES:
        aw_json_base64(writer, value->as.bytes);
        break;
    case AW_KIND_INT64:
        aw_json_int64_string(writer, value->as.int64);
        break;
    case AW_KIND_UINT32:
        aw_json_uint64(writer, value->as.uint32);
        break;
    case AW_KIND_BOOL:
        aw_json_bool(writer, value->as.boolean);
        break;
    case AW_KIND_ENUM: {
        const char *name = aw_field_enum_name(field, value->as.enumeration);
        if (name != NULL) {
            aw_json_text(writer, name);
        } else {
            aw_json_int64(writer, value->as.enumeration);
        }
        break;
    }
    case AW_KIND_MESSAGE:
        aw_json_message(writer, value->as.message, scratch);
        break;
    }
}

static void write_field(aw_json_writer_t *writer, const aw_message_t *message,
                        const aw_field_t *field, aw_arena_t *scratch)
{
    size_t count = aw_message_count(message, field);
    if (count == 0) {
        return;
    }
    aw_json_key_text(writer, field->json_name);
    if (field->map) {
        write_map(writer, message, field, count, scratch);
        return;
    }
    if (field->repeated) {
        aw_json_array_open(writer);
    }
    for (size_t i = 0; i < count; i++) {
        aw_value_t value = aw_message_value(message, field, i);
        write_value(writer, field, &value, scratch);
    }
    if (field->repeated) {
        aw_json_array_close(writer);
    }
}

void aw_json_message_members(aw_json_writer_t *writer, const aw_message_t *message,
                             aw_arena_t *scratch)
{
    aw_message_type_t type = aw_message_type(message);
    for (const char *digit = field_order[type]; *digit != '\0'; digit++) {
        aw_field_t field;
        bool found = aw_field_get(type, digit_value(*digit), &field);
        assert(found);
        write_field(writer, message, &field, scratch);
    }
}

void aw_json_message(aw_json_writer_t *writer, const aw_message_t *message, aw_arena_t *scratch)
{
    aw_json_object_open(writer);
    aw_json_message_members(writer, message, scratch);
    aw_json_object_close(writer);
}
