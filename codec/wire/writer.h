#ifndef CODEC_WIRE_WRITER_H
#define CODEC_WIRE_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agentwire/span.h"
#include "codec/wire/reader.h"

/* Writes minimal wire bytes from the end to the beginning, so that the length of a message is known
 * when it is to be written and needs no place to be kept. Every function returns the new beginning;
 * that there is room is the caller's to know. */

/** Bytes of a varint: one for each seven bits, and one for zero. */
static inline size_t aw__varint_size(uint64_t value)
{
    const unsigned top = 63u - (unsigned)__builtin_clzll(value | 1);
    return (top * 9 + 73) / 64; /* top / 7 + 1 without the division */
}

static inline uint8_t *aw__write_varint(uint8_t *at, uint64_t value)
{
    at -= aw__varint_size(value);
    uint8_t *next = at;
    while (value >= 0x80) {
        *next++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *next = (uint8_t)value;
    return at;
}

/** A tag of a number below 16, which is one byte. */
static inline uint8_t *aw__write_tag(uint8_t *at, uint32_t number, aw__wire_t wire)
{
    at--;
    *at = (uint8_t)(number << 3 | (uint32_t)wire);
    return at;
}

static inline uint8_t *aw__write_raw(uint8_t *at, aw_span_t bytes)
{
    at -= bytes.size;
    if (bytes.size > 0) {
        memcpy(at, bytes.data, bytes.size);
    }
    return at;
}

/** A length-delimited field. */
static inline uint8_t *aw__write_bytes(uint8_t *at, uint32_t number, aw_span_t bytes)
{
    at = aw__write_raw(at, bytes);
    at = aw__write_varint(at, bytes.size);
    return aw__write_tag(at, number, AW__WIRE_BYTES);
}

#endif
