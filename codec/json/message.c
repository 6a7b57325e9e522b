#include "agentwire/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/field.h"
#include "codec/base/limits.h"

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

/** A message that is being written. */
typedef struct frame {
    const aw_message_t *message;
    const char *order; /* the fields that are still to come */
    aw_field_t field;  /* the one in hand, when it holds messages: */
    size_t count;      /* how many, 0 with no such field in hand */
    size_t index;      /* the next one */
} frame_t;

/** One entry of a map<string, string>. */
typedef struct map_entry {
    aw_span_t key;
    aw_span_t value;
} map_entry_t;

static uint32_t digit_value(char digit)
{
    return digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)(digit - 'a' + 10);
}

static frame_t frame_of(const aw_message_t *message)
{
    return (frame_t){.message = message, .order = field_order[aw_message_type(message)]};
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
            writer->status = aw_arena_status(scratch);
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

/** A value that is no message. */
static void write_scalar(aw_json_writer_t *writer, const aw_field_t *field, aw_value_t value)
{
    switch (value.kind) {
    case AW_KIND_STRING:
        aw_json_string(writer, value.as.bytes);
        break;
    case AW_KIND_BYTES:
        aw_json_base64(writer, value.as.bytes);
        break;
    case AW_KIND_INT64:
        aw_json_int64_string(writer, value.as.int64);
        break;
    case AW_KIND_UINT32:
        aw_json_uint64(writer, value.as.uint32);
        break;
    case AW_KIND_BOOL:
        aw_json_bool(writer, value.as.boolean);
        break;
    case AW_KIND_ENUM: {
        const char *name = aw_field_enum_name(field, value.as.enumeration);
        if (name != NULL) {
            aw_json_text(writer, name);
        } else {
            aw_json_int64(writer, value.as.enumeration);
        }
        break;
    }
    case AW_KIND_MESSAGE:
        assert(false); /* the walk goes into messages itself */
        break;
    }
}

/** Opens the frame's next field: writes its key, and all of it unless it holds messages, which the
 * walk then goes through one by one. */
static void write_field(aw_json_writer_t *writer, frame_t *frame, aw_arena_t *scratch)
{
    aw_field_t *field = &frame->field;
    bool found = aw_field_get(aw_message_type(frame->message), digit_value(*frame->order), field);
    assert(found);
    frame->order++;
    size_t count = aw_message_count(frame->message, field);
    if (count == 0) {
        return;
    }
    aw_json_key_text(writer, field->json_name);
    if (field->map) {
        write_map(writer, frame->message, field, count, scratch);
        return;
    }
    if (field->repeated) {
        aw_json_array_open(writer);
    }
    if (field->kind == AW_KIND_MESSAGE) {
        frame->count = count;
        frame->index = 0;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        write_scalar(writer, field, aw_message_value(frame->message, field, i));
    }
    if (field->repeated) {
        aw_json_array_close(writer);
    }
}

void aw_json_message_members(aw_json_writer_t *writer, const aw_message_t *message,
                             aw_arena_t *scratch)
{
    frame_t frames[AW__FRAMES_MAX];
    size_t depth = 1;
    frames[0] = frame_of(message);
    while (depth > 0) {
        frame_t *frame = &frames[depth - 1];
        if (frame->index < frame->count) {
            aw_value_t value = aw_message_value(frame->message, &frame->field, frame->index++);
            assert(depth < AW__FRAMES_MAX);
            frames[depth++] = frame_of(value.as.message);
            aw_json_object_open(writer);
        } else if (frame->count > 0) {
            frame->count = 0;
            frame->index = 0;
            if (frame->field.repeated) {
                aw_json_array_close(writer);
            }
        } else if (*frame->order != '\0') {
            write_field(writer, frame, scratch);
        } else {
            depth--;
            if (depth > 0) {
                aw_json_object_close(writer);
            }
        }
    }
}

void aw_json_message(aw_json_writer_t *writer, const aw_message_t *message, aw_arena_t *scratch)
{
    aw_json_object_open(writer);
    aw_json_message_members(writer, message, scratch);
    aw_json_object_close(writer);
}
