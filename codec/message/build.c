#include "agentwire/build.h"

#include "agentwire/migrate.h"
#include "agentwire/utf8.h"
#include "codec/message/object.h"

static void fail(aw_builder_t *builder, int status)
{
    if (builder->status == AW_OK) {
        builder->status = status;
    }
}

static void require_room(aw_builder_t *builder, bool done)
{
    if (!done) {
        fail(builder, aw_arena_status(builder->arena));
    }
}

/* protobuf-c's description of the field when its kind is one of those asked for; NULL, and the
 * builder has failed, when not. */
static const ProtobufCFieldDescriptor *find_field(aw_builder_t *builder, uint32_t number,
                                                  const char *kinds)
{
    if (builder->status != AW_OK) {
        return NULL;
    }
    aw_message_type_t type = aw__type(builder->message);
    char kind = number > 0 ? aw__kind(type, number) : '\0';
    if (kind == '\0' || strchr(kinds, kind) == NULL) {
        fail(builder, AW_STATUS_INVALID_ARGUMENT);
        return NULL;
    }
    return aw__descriptor(type, number);
}

/* Where a field that is no list is to be written. */
static void *open_slot(aw_builder_t *builder, uint32_t number, const char *kinds)
{
    const ProtobufCFieldDescriptor *field = find_field(builder, number, kinds);
    if (field == NULL) {
        return NULL;
    }
    if (aw__in_oneof(aw__type(builder->message), number)) {
        aw__choose(builder->message, field);
    }
    return aw__slot(builder->message, field);
}

/* Strings must be well-formed, bytes may be anything. */
static bool check_text(aw_builder_t *builder, uint32_t number, aw_span_t value)
{
    char kind = aw__kind(aw__type(builder->message), number);
    if (kind == 'b' || aw_utf8_valid(value)) {
        return true;
    }
    fail(builder, AW_STATUS_INVALID_UTF8);
    return false;
}

static bool check_type(aw_builder_t *builder, uint32_t number, const aw_message_t *value)
{
    if (value != NULL && value->type == aw__children[builder->message->type][number]) {
        return true;
    }
    fail(builder, AW_STATUS_INVALID_ARGUMENT);
    return false;
}

void aw_builder_init(aw_builder_t *builder, aw_message_type_t type, aw_arena_t *arena)
{
    *builder = (aw_builder_t){NULL, arena, AW_OK};
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        fail(builder, AW_STATUS_INVALID_ARGUMENT);
        return;
    }
    builder->message = aw__message_new(type, arena);
    require_room(builder, builder->message != NULL);
    /* Its number is 1 wherever it occurs. */
    const char *first = aw__field_name(type, AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION);
    if (builder->message != NULL && strcmp(first, "state_schema_version") == 0) {
        aw_builder_set_uint32(builder, AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION,
                              AW_STATE_SCHEMA_VERSION);
    }
}

void aw_builder_init_copy(aw_builder_t *builder, const aw_message_t *message, aw_arena_t *arena)
{
    *builder = (aw_builder_t){aw__message_copy(message, arena), arena, AW_OK};
    require_room(builder, builder->message != NULL);
}

void aw_builder_set_bytes(aw_builder_t *builder, uint32_t number, aw_span_t value)
{
    ProtobufCBinaryData *slot = open_slot(builder, number, "sb");
    if (slot != NULL && check_text(builder, number, value)) {
        *slot = aw__binary(value);
    }
}

void aw_builder_set_int64(aw_builder_t *builder, uint32_t number, int64_t value)
{
    int64_t *slot = open_slot(builder, number, "i");
    if (slot != NULL) {
        *slot = value;
    }
}

void aw_builder_set_uint32(aw_builder_t *builder, uint32_t number, uint32_t value)
{
    uint32_t *slot = open_slot(builder, number, "u");
    if (slot != NULL) {
        *slot = value;
    }
}

void aw_builder_set_bool(aw_builder_t *builder, uint32_t number, bool value)
{
    protobuf_c_boolean *slot = open_slot(builder, number, "t");
    if (slot != NULL) {
        *slot = value;
    }
}

void aw_builder_set_enum(aw_builder_t *builder, uint32_t number, int32_t value)
{
    int32_t *slot = open_slot(builder, number, "e");
    if (slot != NULL) {
        *slot = value;
    }
}

void aw_builder_set_message(aw_builder_t *builder, uint32_t number, const aw_message_t *value)
{
    ProtobufCMessage **slot = open_slot(builder, number, "m");
    if (slot != NULL && check_type(builder, number, value)) {
        *slot = aw__body(value);
    }
}

void aw_builder_add_bytes(aw_builder_t *builder, uint32_t number, aw_span_t value)
{
    const ProtobufCFieldDescriptor *field = find_field(builder, number, "S");
    if (field != NULL && check_text(builder, number, value)) {
        require_room(builder, aw__append_bytes(builder->message, field, value, builder->arena));
    }
}

void aw_builder_add_message(aw_builder_t *builder, uint32_t number, const aw_message_t *value)
{
    const ProtobufCFieldDescriptor *field = find_field(builder, number, "M");
    if (field != NULL && check_type(builder, number, value)) {
        require_room(builder, aw__append_message(builder->message, field,
                                                 aw__of_body(aw__body(value)), builder->arena));
    }
}

void aw_builder_put(aw_builder_t *builder, uint32_t number, aw_span_t key, aw_span_t value)
{
    const ProtobufCFieldDescriptor *field = find_field(builder, number, "P");
    if (field == NULL) {
        return;
    }
    aw_builder_t entry;
    aw_builder_init(&entry, AW_MESSAGE_ATTRIBUTES_ENTRY, builder->arena);
    aw_builder_set_bytes(&entry, AW_FIELD_ATTRIBUTES_ENTRY_KEY, key);
    aw_builder_set_bytes(&entry, AW_FIELD_ATTRIBUTES_ENTRY_VALUE, value);
    if (entry.status != AW_OK) {
        fail(builder, entry.status);
        return;
    }
    require_room(builder,
                 aw__append_message(builder->message, field, entry.message, builder->arena));
}

int aw_builder_finish(aw_builder_t *builder, const aw_message_t **ret_message)
{
    if (builder->status == AW_OK) {
        require_room(builder, aw__sort_maps(builder->message, builder->arena));
    }
    if (builder->status == AW_OK) {
        *ret_message = builder->message;
    }
    return builder->status;
}
