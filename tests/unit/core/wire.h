#ifndef TESTS_UNIT_CORE_WIRE_H
#define TESTS_UNIT_CORE_WIRE_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agentwire/span.h"

/** Wire bytes put together by hand, so that the tests of the verdict do not lean on the codec's own
 *  encoder. */
typedef struct wire {
    uint8_t data[4096];
    size_t size;
} wire_t;

static inline void wire_byte(wire_t *wire, uint64_t byte)
{
    assert(wire->size < sizeof(wire->data));
    wire->data[wire->size++] = (uint8_t)byte;
}

static inline void wire_varint(wire_t *wire, uint64_t value)
{
    while (value >= 0x80) {
        wire_byte(wire, (value & 0x7f) | 0x80);
        value >>= 7;
    }
    wire_byte(wire, value);
}

static inline void wire_number(wire_t *wire, uint32_t field, uint64_t value)
{
    wire_varint(wire, (uint64_t)field << 3);
    wire_varint(wire, value);
}

static inline void wire_bytes(wire_t *wire, uint32_t field, const void *bytes, size_t size)
{
    wire_varint(wire, (uint64_t)field << 3 | 2);
    wire_varint(wire, size);
    for (size_t i = 0; i < size; i++) {
        wire_byte(wire, ((const uint8_t *)bytes)[i]);
    }
}

static inline void wire_text(wire_t *wire, uint32_t field, const char *text)
{
    wire_bytes(wire, field, text, strlen(text));
}

static inline void wire_message(wire_t *wire, uint32_t field, const wire_t *message)
{
    wire_bytes(wire, field, message->data, message->size);
}

/** Lives as long as the wire. */
static inline aw_span_t wire_view(const wire_t *wire)
{
    return aw_span_view(wire->data, wire->size);
}

#endif
