#include "codec/message/object.h"

#include "codec/base/size.h"
#include "codec/message/gen/beam_agents.pb-c.h"

/* Lists begin with this many elements and then double; a power of two, since the length alone says
 * when a list is full. */
#define LIST_MIN 4u

const ProtobufCMessageDescriptor *const aw__descriptors[AW_MESSAGE_COUNT] = {
#define AW__ROW(message, kinds, name)                                                              \
    [AW_MESSAGE_##message] = &beam_agents__v1__##name##__descriptor,
#define AW__CHILD(message, number, child)
#include "codec/message/schema.def"
#undef AW__ROW
#undef AW__CHILD
};

aw_message_t *aw__message_new(aw_message_type_t type, aw_arena_t *arena)
{
    const ProtobufCMessageDescriptor *descriptor = aw__descriptors[type];
    aw_message_t *message = aw_arena_calloc(arena, 1, sizeof *message + descriptor->sizeof_message);
    if (message != NULL) {
        message->type = (uint8_t)type;
        aw__body(message)->descriptor = descriptor;
    }
    return message;
}

void aw__choose(aw_message_t *message, const ProtobufCFieldDescriptor *field)
{
    uint32_t *chosen = aw__quantifier(message, field);
    if (*chosen != field->id) {
        *chosen = field->id;
        /* The bytes member is the largest of the union. */
        memset(aw__slot(message, field), 0, sizeof(ProtobufCBinaryData));
    }
}

/* Makes room for one more element at the end of a list. */
static bool list_reserve(void **list, size_t length, size_t element_size, aw_arena_t *arena)
{
    if (length != 0 && (length < LIST_MIN || (length & (length - 1)) != 0)) {
        return true;
    }
    size_t capacity = LIST_MIN;
    size_t size;
    if ((length != 0 && !aw__size_mul(length, 2, &capacity)) ||
        !aw__size_mul(capacity, element_size, &size)) {
        return false;
    }
    void *larger = aw_arena_alloc(arena, size);
    if (larger == NULL) {
        return false;
    }
    if (length != 0) {
        memcpy(larger, *list, length * element_size);
    }
    *list = larger;
    return true;
}

/* Gives a list of a copied message memory of its own, as large as list_reserve() takes it to be, so
 * that what is appended to the copy is not written into the original's spare room. */
static bool list_copy(void **list, size_t length, size_t element_size, aw_arena_t *arena)
{
    size_t capacity = LIST_MIN;
    while (capacity < length) {
        capacity *= 2;
    }
    void *own = aw_arena_calloc(arena, capacity, element_size);
    if (own == NULL) {
        return false;
    }
    memcpy(own, *list, length * element_size);
    *list = own;
    return true;
}

aw_message_t *aw__message_copy(const aw_message_t *message, aw_arena_t *arena)
{
    const ProtobufCMessageDescriptor *descriptor = aw__descriptors[message->type];
    const size_t size = sizeof *message + descriptor->sizeof_message;
    aw_message_t *copy = aw_arena_alloc(arena, size);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, message, size);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            continue;
        }
        const size_t length = *(size_t *)aw__quantifier(copy, field);
        const size_t element_size =
            field->type == PROTOBUF_C_TYPE_MESSAGE ? sizeof(void *) : sizeof(ProtobufCBinaryData);
        void **slot = aw__slot(copy, field);
        if (length > 0 && !list_copy(slot, length, element_size, arena)) {
            return NULL;
        }
    }
    return copy;
}

bool aw__append_message(aw_message_t *message, const ProtobufCFieldDescriptor *field,
                        aw_message_t *element, aw_arena_t *arena)
{
    size_t *length = aw__quantifier(message, field);
    ProtobufCMessage ***slot = aw__slot(message, field);
    void *list = *slot;
    if (!list_reserve(&list, *length, sizeof **slot, arena)) {
        return false;
    }
    *slot = list;
    (*slot)[(*length)++] = aw__body(element);
    return true;
}

bool aw__append_bytes(aw_message_t *message, const ProtobufCFieldDescriptor *field, aw_span_t bytes,
                      aw_arena_t *arena)
{
    size_t *length = aw__quantifier(message, field);
    ProtobufCBinaryData **slot = aw__slot(message, field);
    void *list = *slot;
    if (!list_reserve(&list, *length, sizeof **slot, arena)) {
        return false;
    }
    *slot = list;
    (*slot)[(*length)++] = aw__binary(bytes);
    return true;
}

bool aw__append_unknown(aw_message_t *message, aw_span_t bytes, aw_arena_t *arena)
{
    aw__run_t *last = message->last_run;
    if (last != NULL && last->bytes.data + last->bytes.size == bytes.data) {
        last->bytes.size += bytes.size;
        return true;
    }
    aw__run_t *run = aw_arena_alloc(arena, sizeof *run);
    if (run == NULL) {
        return false;
    }
    run->bytes = bytes;
    run->next = run;
    if (last != NULL) {
        run->next = last->next;
        last->next = run;
    }
    message->last_run = run;
    return true;
}

size_t aw_message_unknown_size(const aw_message_t *message)
{
    size_t size = 0;
    const aw__run_t *run = message->last_run;
    if (run != NULL) {
        do {
            run = run->next;
            size += run->bytes.size;
        } while (run != message->last_run);
    }
    return size;
}

aw_message_type_t aw_message_type(const aw_message_t *message)
{
    return aw__type(message);
}

const char *aw_message_library_version(void)
{
    return protobuf_c_version();
}
