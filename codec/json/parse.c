#include "agentwire/json.h"

#include <assert.h>

#include "agentwire/build.h"
#include "codec/base/base64.h"
#include "codec/base/error.h"
#include "codec/base/limits.h"
#include "codec/json/number.h"
#include "codec/json/reader.h"
#include "codec/json/sorted.h"

/* An object of the text that becomes a message. */
typedef struct frame {
    aw_builder_t builder;
    aw_message_type_t type;
    const aw__json_value_t *member;  /* the next one */
    const aw__json_value_t *element; /* the next one of a list of messages that is being read */
    aw_field_t field;                /* the one whose messages are being read */
    uint32_t seen;                   /* a bit a field number */
    bool has_variant;
} frame_t;

_Static_assert(AW_FIELD_NUMBER_MAX < 32, "a field number is a bit");

/* What is read and how it goes. */
typedef struct parse {
    aw_arena_t *arena;
    const aw__json_value_t *root;
    aw_error_t *error;
    int status;
} parse_t;

/* Ends the reading: this value does not fit. Always false, so that a caller can return it. */
static bool mismatch(parse_t *parse, const aw__json_value_t *value, bool at_key, const char *text)
{
    aw__json_path_t path = {.size = 0};
    aw__json_path_find(&path, parse->root, value);
    const int64_t offset = at_key ? value->key_offset : value->offset;
    parse->status = aw__error_set(parse->error, AW_STATUS_JSON_MISMATCH, offset, path.text, text);
    return false;
}

static bool no_room(parse_t *parse)
{
    parse->status = aw__error_set(parse->error, aw_arena_status(parse->arena), -1, NULL, NULL);
    return false;
}

/* Finds the field that a member names, in either form of its name. */
static bool find_field(aw_message_type_t type, aw_span_t name, aw_field_t *ret_field)
{
    for (uint32_t number = 1; aw_field_get(type, number, ret_field); number++) {
        if (aw_span_equal(name, aw_span_text_view(ret_field->json_name)) ||
            aw_span_equal(name, aw_span_text_view(ret_field->name))) {
            return true;
        }
    }
    return false;
}

/* A number, or a string that holds one, whose value is whole and lies from min to max. */
static bool read_whole(const aw__json_value_t *value, int64_t min, uint64_t max, int64_t *ret_value)
{
    bool negative;
    uint64_t magnitude;
    if ((value->kind != AW__JSON_NUMBER && value->kind != AW__JSON_STRING) ||
        !aw__number_whole(value->text, &negative, &magnitude)) {
        return false;
    }
    if (negative ? magnitude > 0 - (uint64_t)min : magnitude > max) {
        return false;
    }
    *ret_value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

static bool set_int64(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                      const aw__json_value_t *value)
{
    int64_t number;
    if (!read_whole(value, INT64_MIN, INT64_MAX, &number)) {
        return mismatch(parse, value, false,
                        "expected a whole number of 64 bits, or a string of one");
    }
    aw_builder_set_int64(builder, field->number, number);
    return true;
}

static bool set_uint32(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                       const aw__json_value_t *value)
{
    int64_t number;
    if (!read_whole(value, 0, UINT32_MAX, &number)) {
        return mismatch(parse, value, false,
                        "expected a whole number from 0 to 4294967295, or a string of one");
    }
    aw_builder_set_uint32(builder, field->number, (uint32_t)number);
    return true;
}

/* A name that the schema has, or any number: enums are open. */
static bool set_enum(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                     const aw__json_value_t *value)
{
    int32_t named;
    int64_t number;
    if (value->kind == AW__JSON_STRING && aw_field_enum_find(field, value->text, &named)) {
        aw_builder_set_enum(builder, field->number, named);
        return true;
    }
    if (!read_whole(value, INT32_MIN, INT32_MAX, &number)) {
        return mismatch(parse, value, false,
                        "expected a name of the enum, or a whole number of 32 bits");
    }
    aw_builder_set_enum(builder, field->number, (int32_t)number);
    return true;
}

static bool set_base64(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                       const aw__json_value_t *value)
{
    aw_span_t bytes;
    size_t offset;
    if (value->kind != AW__JSON_STRING) {
        return mismatch(parse, value, false, "expected a string of base64");
    }
    uint8_t *room = aw_arena_alloc(parse->arena, aw__base64_capacity(value->text.size));
    if (room == NULL) {
        return no_room(parse);
    }
    if (!aw__base64_decode(value->text, room, &bytes.size, &offset)) {
        return mismatch(parse, value, false, "the string is no base64");
    }
    bytes.data = room;
    aw_builder_set_bytes(builder, field->number, bytes);
    return true;
}

/* A value of a field that holds no messages: the field's own, or an element of its list. */
static bool set_scalar(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                       const aw__json_value_t *value)
{
    switch (field->kind) {
    case AW_KIND_STRING:
        if (value->kind != AW__JSON_STRING) {
            return mismatch(parse, value, false, "expected a string");
        }
        if (field->repeated) {
            aw_builder_add_bytes(builder, field->number, value->text);
        } else {
            aw_builder_set_bytes(builder, field->number, value->text);
        }
        return true;
    case AW_KIND_BYTES:
        return set_base64(parse, builder, field, value);
    case AW_KIND_INT64:
        return set_int64(parse, builder, field, value);
    case AW_KIND_UINT32:
        return set_uint32(parse, builder, field, value);
    case AW_KIND_ENUM:
        return set_enum(parse, builder, field, value);
    default:
        if (value->kind != AW__JSON_TRUE && value->kind != AW__JSON_FALSE) {
            return mismatch(parse, value, false, "expected true or false");
        }
        aw_builder_set_bool(builder, field->number, value->kind == AW__JSON_TRUE);
        return true;
    }
}

static bool set_map(parse_t *parse, aw_builder_t *builder, const aw_field_t *field,
                    const aw__json_value_t *object)
{
    if (object->kind != AW__JSON_OBJECT) {
        return mismatch(parse, object, false, "expected an object of strings");
    }
    for (const aw__json_value_t *value = object->first; value != NULL; value = value->next) {
        if (value->kind != AW__JSON_STRING) {
            return mismatch(parse, value, false, "expected a string");
        }
        aw_builder_put(builder, field->number, value->key, value->text);
    }
    return true;
}

static bool set_list(parse_t *parse, frame_t *frame, const aw_field_t *field,
                     const aw__json_value_t *array)
{
    if (array->kind != AW__JSON_ARRAY) {
        return mismatch(parse, array, false, "expected an array");
    }
    if (field->kind == AW_KIND_MESSAGE) {
        frame->field = *field;
        frame->element = array->first;
        return true;
    }
    for (const aw__json_value_t *value = array->first; value != NULL; value = value->next) {
        if (!set_scalar(parse, &frame->builder, field, value)) {
            return false;
        }
    }
    return true;
}

/* Begins a message with the members of an object. */
static bool open_frame(parse_t *parse, frame_t *frame, aw_message_type_t type,
                       const aw__json_value_t *object)
{
    if (object->kind != AW__JSON_OBJECT) {
        return mismatch(parse, object, false, "expected an object");
    }
    *frame = (frame_t){.type = type, .member = object->first};
    aw_builder_init(&frame->builder, type, parse->arena);
    aw_field_t first;
    if (aw_field_get(type, AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION, &first) &&
        strcmp(first.name, "state_schema_version") == 0) {
        aw_builder_set_uint32(&frame->builder, first.number, 0); /* what the text says, no more */
    }
    return true;
}

/* Finds the field of a member and sees to it that none comes twice. Returns false when that ends
 * the reading. */
static bool enter_member(parse_t *parse, frame_t *frame, const aw__json_value_t *member,
                         aw_field_t *ret_field)
{
    if (!find_field(frame->type, member->key, ret_field)) {
        return mismatch(parse, member, true, "the message has no field of this name");
    }
    const uint32_t bit = UINT32_C(1) << ret_field->number;
    if ((frame->seen & bit) != 0) {
        return mismatch(parse, member, true, "the field stands here under both of its names");
    }
    frame->seen |= bit;
    if (ret_field->oneof && member->kind != AW__JSON_NULL) {
        if (frame->has_variant) {
            return mismatch(parse, member, true, "a second variant of payload");
        }
        frame->has_variant = true;
    }
    return true;
}

/* Reads one member. *ret_inner is the object of the message that it holds, which is to be read
 * next; NULL when there is none. */
static bool read_member(parse_t *parse, frame_t *frame, const aw__json_value_t *member,
                        const aw__json_value_t **ret_inner)
{
    aw_field_t field;
    if (!enter_member(parse, frame, member, &field)) {
        return false;
    }
    if (member->kind == AW__JSON_NULL) {
        return true; /* null is absent */
    }
    if (field.map) {
        return set_map(parse, &frame->builder, &field, member);
    }
    if (field.repeated) {
        return set_list(parse, frame, &field, member);
    }
    if (field.kind == AW_KIND_MESSAGE) {
        frame->field = field;
        *ret_inner = member;
        return true;
    }
    return set_scalar(parse, &frame->builder, &field, member);
}

/* Gives a finished message to the field of the frame around it. */
static void give(frame_t *around, const aw_message_t *message)
{
    if (around->field.repeated) {
        aw_builder_add_message(&around->builder, around->field.number, message);
    } else {
        aw_builder_set_message(&around->builder, around->field.number, message);
    }
}

/* Walks the tree with a stack as deep as the schema. */
static bool read_message(parse_t *parse, aw_message_type_t type, const aw_message_t **ret_message)
{
    frame_t frames[AW__FRAMES_MAX];
    size_t depth = 1;
    if (!open_frame(parse, &frames[0], type, parse->root)) {
        return false;
    }
    while (depth > 0) {
        frame_t *frame = &frames[depth - 1];
        const aw__json_value_t *inner = NULL;
        if (frame->element != NULL) {
            inner = frame->element;
            frame->element = inner->next;
        } else if (frame->member != NULL) {
            const aw__json_value_t *member = frame->member;
            frame->member = member->next;
            if (!read_member(parse, frame, member, &inner)) {
                return false;
            }
        } else {
            const int status = aw_builder_finish(&frame->builder, ret_message);
            if (status != AW_OK) {
                parse->status = aw__error_set(parse->error, status, -1, NULL, NULL);
                return false;
            }
            depth--;
            if (depth > 0) {
                give(&frames[depth - 1], *ret_message);
            }
        }
        if (inner != NULL) {
            assert(depth < AW__FRAMES_MAX);
            if (!open_frame(parse, &frames[depth], frame->field.type, inner)) {
                return false;
            }
            depth++;
        }
    }
    return true;
}

int aw_json_parse(aw_message_type_t type, aw_span_t text, aw_arena_t *arena,
                  const aw_message_t **ret_message, aw_error_t *error)
{
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL, NULL);
    }
    parse_t parse = {.arena = arena, .error = error, .status = AW_OK};
    const int status =
        aw__json_read(text, AW_JSON_DEPTH_MAX, AW__JSON_ANY_MAGNITUDE, arena, &parse.root, error);
    if (status != AW_OK) {
        return status;
    }
    const aw_message_t *message;
    if (!read_message(&parse, type, &message)) {
        return parse.status;
    }
    *ret_message = message;
    return AW_OK;
}

int aw_json_canonical(aw_span_t text, aw_arena_t *arena, aw_span_t *ret_text, aw_error_t *error)
{
    const aw__json_value_t *root;
    int status = aw__json_read(text, AW_JSON_DEPTH_MAX, AW__JSON_STRICT, arena, &root, error);
    if (status != AW_OK) {
        return status;
    }
    status = aw__json_sorted_text(root, AW_JSON_NUMBERS_TEA, arena, ret_text);
    return status == AW_OK ? AW_OK : aw__error_set(error, status, -1, NULL, NULL);
}
