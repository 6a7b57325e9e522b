#include "agentwire/field.h"

#include <assert.h>

#include "codec/message/object.h"

const char *aw_field_enum_name(const aw_field_t *field, int32_t value)
{
    if (field->kind != AW_KIND_ENUM) {
        return NULL;
    }
    const ProtobufCFieldDescriptor *described = aw__descriptor(field->message, field->number);
    const ProtobufCEnumValue *found =
        protobuf_c_enum_descriptor_get_value(described->descriptor, value);
    return found != NULL ? found->name : NULL;
}

bool aw_field_enum_find(const aw_field_t *field, aw_span_t name, int32_t *ret_value)
{
    if (field->kind != AW_KIND_ENUM) {
        return false;
    }
    const ProtobufCEnumDescriptor *described =
        aw__descriptor(field->message, field->number)->descriptor;
    for (unsigned i = 0; i < described->n_values; i++) {
        if (aw_span_equal(name, aw_span_text_view(described->values[i].name))) {
            *ret_value = described->values[i].value;
            return true;
        }
    }
    return false;
}

/* Element number index of a list, or the one value of a field that is none. */
static aw_value_t value_at(const aw_field_t *field, const void *slot, size_t index)
{
    aw_value_t value = {.kind = field->kind};
    switch (field->kind) {
    case AW_KIND_STRING:
    case AW_KIND_BYTES: {
        const ProtobufCBinaryData *bytes =
            field->repeated ? *(ProtobufCBinaryData *const *)slot + index : slot;
        value.as.bytes = aw__span(bytes);
        break;
    }
    case AW_KIND_INT64:
        value.as.int64 = *(const int64_t *)slot;
        break;
    case AW_KIND_UINT32:
        value.as.uint32 = *(const uint32_t *)slot;
        break;
    case AW_KIND_BOOL:
        value.as.boolean = *(const protobuf_c_boolean *)slot != 0;
        break;
    case AW_KIND_ENUM:
        value.as.enumeration = *(const int32_t *)slot;
        break;
    case AW_KIND_MESSAGE: {
        const ProtobufCMessage *body = field->repeated
                                           ? (*(ProtobufCMessage *const *const *)slot)[index]
                                           : *(ProtobufCMessage *const *)slot;
        value.as.message = body != NULL ? aw__of_body(body) : NULL;
        break;
    }
    }
    return value;
}

static bool is_default(const aw_value_t *value)
{
    switch (value->kind) {
    case AW_KIND_STRING:
    case AW_KIND_BYTES:
        return value->as.bytes.size == 0;
    case AW_KIND_INT64:
        return value->as.int64 == 0;
    case AW_KIND_UINT32:
        return value->as.uint32 == 0;
    case AW_KIND_BOOL:
        return !value->as.boolean;
    case AW_KIND_ENUM:
        return value->as.enumeration == 0;
    case AW_KIND_MESSAGE:
        return value->as.message == NULL;
    }
    return true;
}

size_t aw_message_count(const aw_message_t *message, const aw_field_t *field)
{
    assert(aw__type(message) == field->message);
    const ProtobufCFieldDescriptor *described = aw__descriptor(field->message, field->number);
    if (field->repeated) {
        return *(const size_t *)aw__quantifier(message, described);
    }
    if (field->oneof) {
        return aw__is_other_variant(message, described) ? 0 : 1;
    }
    aw_value_t value = value_at(field, aw__slot(message, described), 0);
    return is_default(&value) ? 0 : 1;
}

aw_value_t aw_message_value(const aw_message_t *message, const aw_field_t *field, size_t index)
{
    static const uint8_t nothing[1] = {0};
    assert(aw__type(message) == field->message);
    assert(index == 0 || index < aw_message_count(message, field));
    aw_value_t value = {.kind = field->kind, .as.bytes = AW_SPAN_NULL};
    if (index < aw_message_count(message, field) || !(field->repeated || field->oneof)) {
        const ProtobufCFieldDescriptor *described = aw__descriptor(field->message, field->number);
        value = value_at(field, aw__slot(message, described), index);
    }
    if ((field->kind == AW_KIND_STRING || field->kind == AW_KIND_BYTES) &&
        value.as.bytes.data == NULL) {
        value.as.bytes.data = nothing;
    }
    return value;
}
