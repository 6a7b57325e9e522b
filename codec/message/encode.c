#include "codec/message/encode.h"

#include <assert.h>

#include "codec/base/limits.h"
#include "codec/wire/writer.h"

/* The slots of the generated structs, by kind. */
static inline const ProtobufCBinaryData *as_bytes(const void *slot)
{
    return slot;
}

static inline ProtobufCMessage *as_body(const void *slot)
{
    return *(ProtobufCMessage *const *)slot;
}

static inline const ProtobufCBinaryData *as_bytes_list(const void *slot)
{
    return *(ProtobufCBinaryData *const *)slot;
}

static inline ProtobufCMessage *const *as_body_list(const void *slot)
{
    return *(ProtobufCMessage *const *const *)slot;
}

/* The 64 bits that a number's varint holds; 0 is not written. A negative enum is written as the
 * 64-bit number it is, in ten bytes. */
static inline uint64_t as_bits(char kind, const void *slot)
{
    switch (kind) {
    case 'i':
        return (uint64_t) * (const int64_t *)slot;
    case 'u':
        return *(const uint32_t *)slot;
    case 'e':
        return (uint64_t)(int64_t) * (const int32_t *)slot;
    default:
        return *(const protobuf_c_boolean *)slot != 0;
    }
}

/* Sizes are sums that stop at SIZE_MAX, so that they can be judged once, at the end. */
static inline size_t plus(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/* A tag, a length and so many bytes. */
static inline size_t framed_size(size_t size)
{
    return plus(1 + aw__varint_size(size), size);
}

/* A map entry is written whole, its empty half or halves included. */
static size_t entry_size(const aw_message_t *entry)
{
    const ProtobufCFieldDescriptor *fields = aw__descriptor(AW_MESSAGE_ATTRIBUTES_ENTRY, 1);
    return plus(framed_size(as_bytes(aw__slot(entry, &fields[0]))->len),
                framed_size(as_bytes(aw__slot(entry, &fields[1]))->len));
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the schema nests messages, which is three. */

static size_t list_size(const void *slot, size_t length, char kind)
{
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        size_t element;
        if (kind == 'S') {
            element = as_bytes_list(slot)[i].len;
        } else {
            const aw_message_t *message = aw__of_body(as_body_list(slot)[i]);
            element = kind == 'P' ? entry_size(message) : aw__encoded_size(message);
        }
        size = plus(size, framed_size(element));
    }
    return size;
}

/* What a field takes that is no list; 0 when it is not written. A member of the oneof is written
 * when it is the one that is set, any other when it differs from its default. */
static inline size_t field_size(const ProtobufCFieldDescriptor *field, const void *slot, char kind)
{
    const bool always = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    switch (kind) {
    case 's':
    case 'b':
        return always || as_bytes(slot)->len > 0 ? framed_size(as_bytes(slot)->len) : 0;
    case 'm':
        return as_body(slot) != NULL ? framed_size(aw__encoded_size(aw__of_body(as_body(slot))))
                                     : 0;
    default: {
        const uint64_t bits = as_bits(kind, slot);
        return bits != 0 ? 1 + aw__varint_size(bits) : 0;
    }
    }
}

size_t aw__encoded_size(const aw_message_t *message)
{
    const ProtobufCFieldDescriptor *field = aw__descriptor(aw__type(message), 1);
    size_t size = message->last_run != NULL ? aw_message_unknown_size(message) : 0;
    for (const char *kind = &aw__rows[message->type].kinds[1]; *kind != '\0'; kind++, field++) {
        const void *slot = aw__slot(message, field);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size = plus(size, list_size(slot, *(size_t *)aw__quantifier(message, field), *kind));
        } else if (!aw__is_other_variant(message, field)) {
            size = plus(size, field_size(field, slot, *kind));
        }
    }
    return size;
}

static uint8_t *write_entry(const aw_message_t *entry, uint8_t *at)
{
    const ProtobufCFieldDescriptor *fields = aw__descriptor(AW_MESSAGE_ATTRIBUTES_ENTRY, 1);
    at = aw__write_bytes(at, 2, aw__span(aw__slot(entry, &fields[1])));
    return aw__write_bytes(at, 1, aw__span(aw__slot(entry, &fields[0])));
}

/* A message under a number, as a map entry where kind is P. */
static uint8_t *write_message(const aw_message_t *message, uint32_t number, char kind, uint8_t *end)
{
    uint8_t *at = kind == 'P' ? write_entry(message, end) : aw__encode_before(message, end);
    at = aw__write_varint(at, (size_t)(end - at));
    return aw__write_tag(at, number, AW__WIRE_BYTES);
}

static uint8_t *write_list(const void *slot, size_t length, uint32_t number, char kind, uint8_t *at)
{
    for (size_t i = length; i > 0; i--) {
        if (kind == 'S') {
            at = aw__write_bytes(at, number, aw__span(&as_bytes_list(slot)[i - 1]));
        } else {
            at = write_message(aw__of_body(as_body_list(slot)[i - 1]), number, kind, at);
        }
    }
    return at;
}

/* Writes what field_size() counts. */
static inline uint8_t *write_field(const ProtobufCFieldDescriptor *field, const void *slot,
                                   char kind, uint8_t *at)
{
    const bool always = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    switch (kind) {
    case 's':
    case 'b':
        return always || as_bytes(slot)->len > 0
                   ? aw__write_bytes(at, field->id, aw__span(as_bytes(slot)))
                   : at;
    case 'm':
        return as_body(slot) != NULL
                   ? write_message(aw__of_body(as_body(slot)), field->id, kind, at)
                   : at;
    default: {
        const uint64_t bits = as_bits(kind, slot);
        return bits != 0 ? aw__write_tag(aw__write_varint(at, bits), field->id, AW__WIRE_VARINT)
                         : at;
    }
    }
}

/* The unknown fields as they came, in arrival order. */
static uint8_t *write_unknown(const aw_message_t *message, uint8_t *end)
{
    const aw__run_t *run = message->last_run;
    if (run == NULL) {
        return end;
    }
    uint8_t *begin = end - aw_message_unknown_size(message);
    uint8_t *at = begin;
    do {
        run = run->next;
        memcpy(at, run->bytes.data, run->bytes.size);
        at += run->bytes.size;
    } while (run != message->last_run);
    return begin;
}

uint8_t *aw__encode_before(const aw_message_t *message, uint8_t *end)
{
    uint8_t *at = write_unknown(message, end);
    const ProtobufCMessageDescriptor *descriptor = aw__descriptors[message->type];
    const char *kinds = aw__rows[message->type].kinds;
    for (uint32_t number = descriptor->n_fields; number >= 1; number--) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[number - 1];
        const void *slot = aw__slot(message, field);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            const size_t length = *(size_t *)aw__quantifier(message, field);
            at = write_list(slot, length, number, kinds[number], at);
        } else if (!aw__is_other_variant(message, field)) {
            at = write_field(field, slot, kinds[number], at);
        }
    }
    return at;
}

/* NOLINTEND(misc-no-recursion) */

int aw_message_encode(const aw_message_t *message, aw_arena_t *arena, aw_span_t *ret_bytes)
{
    size_t size = aw__encoded_size(message);
    if (size > AW__INPUT_MAX) {
        return AW_STATUS_LIMIT_SIZE;
    }
    uint8_t *bytes = aw_arena_alloc(arena, size);
    if (bytes == NULL) {
        return aw_arena_status(arena);
    }
    uint8_t *at = aw__encode_before(message, bytes + size);
    assert(at == bytes);
    (void)at;
    *ret_bytes = (aw_span_t){bytes, size};
    return AW_OK;
}
