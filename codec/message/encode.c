#include "codec/message/encode.h"

#include <assert.h>

#include "codec/base/limits.h"
#include "codec/wire/writer.h"

/* Sizes are sums that stop at SIZE_MAX, so that they can be judged once, at the end. */
static size_t plus(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* A tag, a length and so many bytes. */
static size_t framed_size(size_t size) {
    return plus(1 + aw__varint_size(size), size);
}

static size_t bytes_size(const ProtobufCBinaryData *bytes) {
    return framed_size(bytes->len);
}

/* A map entry is written whole, its empty half or halves included. */
static size_t entry_size(const aw_message_t *entry) {
    size_t size = 0;
    for (uint32_t number = 1; number <= 2; number++) {
        size =
            plus(size, bytes_size(aw__slot(entry, aw__descriptor(aw_message_type(entry), number))));
    }
    return size;
}

/* A negative enum is written as the 64-bit number it is, in ten bytes. */
static uint64_t enum_bits(const void *slot) {
    return (uint64_t)(int64_t) * (const int32_t *)slot;
}

/* The 64 bits that a number's varint holds; 0 is not written. */
static uint64_t number_bits(char kind, const void *slot) {
    switch (kind) {
    case 'i':
        return (uint64_t) * (const int64_t *)slot;
    case 'u':
        return *(const uint32_t *)slot;
    case 'e':
        return enum_bits(slot);
    default:
        return *(const protobuf_c_boolean *)slot != 0;
    }
}

/* Whether a field that is no list and no number is written: a member of the oneof when it is the
 * one that is set, any other when it is not empty or not NULL. */
static bool is_written(const aw_message_t *message, const ProtobufCFieldDescriptor *field,
                       char kind, uint32_t number) {
    if (aw__in_oneof(aw_message_type(message), number)) {
        return *(const uint32_t *)aw__quantifier(message, field) == number;
    }
    const void *slot = aw__slot(message, field);
    if (kind == 'm') {
        return *(ProtobufCMessage *const *)slot != NULL;
    }
    return ((const ProtobufCBinaryData *)slot)->len > 0;
}

static size_t list_size(const aw_message_t *message, const ProtobufCFieldDescriptor *field,
                        char kind) {
    const size_t length = *(const size_t *)aw__quantifier(message, field);
    const void *slot = aw__slot(message, field);
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        if (kind == 'S') {
            size = plus(size, bytes_size(*(ProtobufCBinaryData *const *)slot + i));
            continue;
        }
        const aw_message_t *element = aw__of_body((*(ProtobufCMessage *const *const *)slot)[i]);
        size =
            plus(size, framed_size(kind == 'P' ? entry_size(element) : aw__encoded_size(element)));
    }
    return size;
}

static size_t field_size(const aw_message_t *message, uint32_t number, char kind) {
    const ProtobufCFieldDescriptor *field = aw__descriptor(aw_message_type(message), number);
    const void *slot = aw__slot(message, field);
    switch (kind) {
    case 'S':
    case 'M':
    case 'P':
        return list_size(message, field, kind);
    case 's':
    case 'b':
        return is_written(message, field, kind, number) ? bytes_size(slot) : 0;
    case 'm':
        if (!is_written(message, field, kind, number)) {
            return 0;
        }
        return framed_size(aw__encoded_size(aw__of_body(*(ProtobufCMessage *const *)slot)));
    default: {
        uint64_t bits = number_bits(kind, slot);
        return bits != 0 ? 1 + aw__varint_size(bits) : 0;
    }
    }
}

/* Calls itself, by way of field_size(), only where the schema nests messages. */
size_t aw__encoded_size(const aw_message_t *message) {
    const aw__row_t *row = &aw__rows[message->type];
    size_t size = aw_message_unknown_size(message);
    for (uint32_t number = 1; row->kinds[number] != '\0'; number++) {
        size = plus(size, field_size(message, number, row->kinds[number]));
    }
    return size;
}

static uint8_t *write_entry(const aw_message_t *entry, uint8_t *end) {
    for (uint32_t number = 2; number >= 1; number--) {
        const ProtobufCFieldDescriptor *field = aw__descriptor(aw_message_type(entry), number);
        end = aw__write_bytes(end, number, aw__span(aw__slot(entry, field)));
    }
    return end;
}

/* A message under a number, as a map entry where kind is P. */
static uint8_t *write_message(const aw_message_t *message, uint32_t number, char kind,
                              uint8_t *end) {
    uint8_t *at = kind == 'P' ? write_entry(message, end) : aw__encode_before(message, end);
    at = aw__write_varint(at, (size_t)(end - at));
    return aw__write_tag(at, number, AW__WIRE_BYTES);
}

static uint8_t *write_list(const aw_message_t *message, const ProtobufCFieldDescriptor *field,
                           char kind, uint8_t *end) {
    const void *slot = aw__slot(message, field);
    for (size_t i = *(const size_t *)aw__quantifier(message, field); i > 0; i--) {
        if (kind == 'S') {
            const ProtobufCBinaryData *bytes = *(ProtobufCBinaryData *const *)slot + i - 1;
            end = aw__write_bytes(end, field->id, aw__span(bytes));
        } else {
            ProtobufCMessage *element = (*(ProtobufCMessage *const *const *)slot)[i - 1];
            end = write_message(aw__of_body(element), field->id, kind, end);
        }
    }
    return end;
}

static uint8_t *write_field(const aw_message_t *message, uint32_t number, char kind, uint8_t *end) {
    const ProtobufCFieldDescriptor *field = aw__descriptor(aw_message_type(message), number);
    const void *slot = aw__slot(message, field);
    switch (kind) {
    case 'S':
    case 'M':
    case 'P':
        return write_list(message, field, kind, end);
    case 's':
    case 'b':
        if (!is_written(message, field, kind, number)) {
            return end;
        }
        return aw__write_bytes(end, number, aw__span(slot));
    case 'm':
        if (!is_written(message, field, kind, number)) {
            return end;
        }
        return write_message(aw__of_body(*(ProtobufCMessage *const *)slot), number, kind, end);
    default: {
        uint64_t bits = number_bits(kind, slot);
        if (bits == 0) {
            return end;
        }
        return aw__write_tag(aw__write_varint(end, bits), number, AW__WIRE_VARINT);
    }
    }
}

/* The unknown fields as they came, in arrival order. */
static uint8_t *write_unknown(const aw_message_t *message, uint8_t *end) {
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

uint8_t *aw__encode_before(const aw_message_t *message, uint8_t *end) {
    const aw__row_t *row = &aw__rows[message->type];
    uint8_t *at = write_unknown(message, end);
    uint32_t number = 1;
    while (row->kinds[number] != '\0') {
        number++;
    }
    while (--number >= 1) {
        at = write_field(message, number, row->kinds[number], at);
    }
    return at;
}

int aw_message_encode(const aw_message_t *message, aw_arena_t *arena, aw_span_t *ret_bytes) {
    size_t size = aw__encoded_size(message);
    if (size > AW__INPUT_MAX) {
        return AW_STATUS_LIMIT_SIZE;
    }
    uint8_t *bytes = aw_arena_alloc(arena, size);
    if (bytes == NULL) {
        return aw__arena_status(arena);
    }
    uint8_t *at = aw__encode_before(message, bytes + size);
    assert(at == bytes);
    (void)at;
    *ret_bytes = (aw_span_t){bytes, size};
    return AW_OK;
}
