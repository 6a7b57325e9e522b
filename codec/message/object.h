#ifndef CODEC_MESSAGE_OBJECT_H
#define CODEC_MESSAGE_OBJECT_H

#include <protobuf-c/protobuf-c.h>

#include "codec/message/schema.h"

/** A run of unknown fields, as the bytes that arrived. The runs of a message form a ring. */
typedef struct aw__run {
    struct aw__run *next;
    aw_span_t bytes;
} aw__run_t;

/** What stands before each of protobuf-c's structs. */
struct aw_message {
    aw__run_t *last_run; /* NULL when there is none; its next is the first */
    uint8_t type;
};

_Static_assert(sizeof(struct aw_message) == 16, "the struct behind it is aligned");

static inline aw_message_type_t aw__type(const aw_message_t *message)
{
    return (aw_message_type_t)message->type;
}

/** The struct of a message, and the message of a struct that was made here. */
static inline ProtobufCMessage *aw__body(const aw_message_t *message)
{
    return (ProtobufCMessage *)(message + 1);
}

static inline aw_message_t *aw__of_body(const ProtobufCMessage *body)
{
    return (aw_message_t *)body - 1;
}

/** A new message with every field unset; NULL when the arena gives nothing. */
aw_message_t *aw__message_new(aw_message_type_t type, aw_arena_t *arena);

/** A message with the same fields, whose lists are its own; all else it shares. NULL when the arena
 * gives nothing. */
aw_message_t *aw__message_copy(const aw_message_t *message, aw_arena_t *arena);

/** protobuf-c's description of each message. */
AW__DATA ProtobufCMessageDescriptor *const aw__descriptors[AW_MESSAGE_COUNT];

/** Its description of a field that exists; the next number's is behind it. */
static inline const ProtobufCFieldDescriptor *aw__descriptor(aw_message_type_t type,
                                                             uint32_t number)
{
    return &aw__descriptors[type]->fields[number - 1];
}

/** Where a field lies in a message. */
static inline void *aw__slot(const aw_message_t *message, const ProtobufCFieldDescriptor *field)
{
    return (char *)aw__body(message) + field->offset;
}

/** Where a repeated field's length lies, or a oneof's case. */
static inline void *aw__quantifier(const aw_message_t *message,
                                   const ProtobufCFieldDescriptor *field)
{
    return (char *)aw__body(message) + field->quantifier_offset;
}

/** True for a member of the oneof that is not the one that is set. */
static inline bool aw__is_other_variant(const aw_message_t *message,
                                        const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
           *(const uint32_t *)aw__quantifier(message, field) != field->id;
}

/** Makes this member the one of its oneof that is set. Another one that was is gone. */
void aw__choose(aw_message_t *message, const ProtobufCFieldDescriptor *field);

/** Appends to a repeated field. Return false when the arena gives nothing. */
bool aw__append_message(aw_message_t *message, const ProtobufCFieldDescriptor *field,
                        aw_message_t *element, aw_arena_t *arena);
bool aw__append_bytes(aw_message_t *message, const ProtobufCFieldDescriptor *field, aw_span_t bytes,
                      aw_arena_t *arena);

/** Appends bytes to the unknown fields; joins them to the last run where they follow it in memory.
 */
bool aw__append_unknown(aw_message_t *message, aw_span_t bytes, aw_arena_t *arena);

/** Puts the maps of a message in the reference runtime's order and keeps the last of equal keys.
 * Maps occur in outermost messages only. */
bool aw__sort_maps(aw_message_t *message, aw_arena_t *arena);

/** Between protobuf-c's view of bytes and ours. */
static inline ProtobufCBinaryData aw__binary(aw_span_t bytes)
{
    return (ProtobufCBinaryData){bytes.size, (uint8_t *)bytes.data};
}

static inline aw_span_t aw__span(const ProtobufCBinaryData *binary)
{
    return (aw_span_t){binary->data, binary->len};
}

#endif
