#ifndef CODEC_WIRE_READER_H
#define CODEC_WIRE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec/base/limits.h"
#include "codec/wire/defect.h"

/* The only code that reads tags, varints, lengths and unknown fields; scan and decode share it,
 * which is why they agree on every input. What it accepts is what upb accepts.
 *
 * Every function moves reader->at behind what it read. On a defect reader->at is the first byte of
 * the item that is wrong, and nothing else is written. */

/** The bytes that are left of the innermost open message. at <= end. */
typedef struct aw__reader {
    const uint8_t *at;
    const uint8_t *end;
} aw__reader_t;

/** The wire types; 6 and 7 do not exist. */
typedef enum aw__wire {
    AW__WIRE_VARINT = 0,
    AW__WIRE_FIXED64 = 1,
    AW__WIRE_BYTES = 2,
    AW__WIRE_GROUP_START = 3,
    AW__WIRE_GROUP_END = 4,
    AW__WIRE_FIXED32 = 5
} aw__wire_t;

/** The parts of a tag. */
#define AW__TAG_NUMBER(tag) ((tag) >> 3)
#define AW__TAG_WIRE(tag)   ((tag)&7u)

static inline size_t aw__reader_left(const aw__reader_t *reader)
{
    return (size_t)(reader->end - reader->at);
}

/** What is left of a varint's bytes when the high bit of each is taken out: eight groups of seven
 * bits are pushed together, lowest byte first. */
static inline uint64_t aw__varint_pack(uint64_t bytes)
{
    bytes = (bytes & UINT64_C(0x007f007f007f007f)) | (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
    bytes = (bytes & UINT64_C(0x00003fff00003fff)) | (bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (bytes & UINT64_C(0x000000000fffffff)) | (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
}

/** Eight bytes as a number whose lowest byte is the first. */
static inline uint64_t aw__load_little(const uint8_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/** The same where fewer than eight bytes are left: those that lack are zero. Two loads that overlap
 * do for any number from four, three single bytes for any below. */
static inline uint64_t aw__load_short(const uint8_t *at, size_t left)
{
    if (left < sizeof(uint32_t)) {
        return left == 0 ? 0
                         : (uint64_t)at[0] | (uint64_t)at[left / 2] << 8 * (left / 2) |
                               (uint64_t)at[left - 1] << 8 * (left - 1);
    }
    uint32_t first;
    uint32_t last;
    memcpy(&first, at, sizeof first);
    memcpy(&last, at + left - sizeof last, sizeof last);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    first = __builtin_bswap32(first);
    last = __builtin_bswap32(last);
#endif
    return first | (uint64_t)last << 8 * (left - sizeof last);
}

/** A varint as it was read, in two registers. */
typedef struct aw__long_varint {
    uint64_t value;
    uint32_t size;   /* bytes */
    uint32_t defect; /* an aw__defect_t; the rest counts only when there is none */
} aw__long_varint_t;

/** What aw__read_varint() does with a varint whose first eight bytes do not end it. */
aw__long_varint_t aw__read_long_varint(const uint8_t *at, const uint8_t *end);

/** A varint of 1 to 10 bytes, modulo 2^64. Where the value is not wanted, and so need not be put
 * together, ret_value is NULL. */
__attribute__((always_inline)) static inline aw__defect_t aw__read_varint(aw__reader_t *reader,
                                                                          uint64_t *ret_value)
{
    const uint8_t *at = reader->at;
    const size_t left = aw__reader_left(reader);
    if (__builtin_expect(left > 0 && at[0] < 0x80, 1)) {
        if (ret_value != NULL) {
            *ret_value = at[0];
        }
        reader->at = at + 1;
        return AW__DEFECT_NONE;
    }
    if (left > 1 && at[1] < 0x80) {
        if (ret_value != NULL) {
            *ret_value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        }
        reader->at = at + 2;
        return AW__DEFECT_NONE;
    }
    const bool whole = left >= sizeof(uint64_t);
    const uint64_t bytes = whole ? aw__load_little(at) : aw__load_short(at, left);
    const uint64_t stops = ~bytes & UINT64_C(0x8080808080808080);
    if (__builtin_expect(stops == 0, 0)) {
        const aw__long_varint_t read = aw__read_long_varint(at, reader->end);
        if (read.defect == AW__DEFECT_NONE) {
            if (ret_value != NULL) {
                *ret_value = read.value;
            }
            reader->at = at + read.size;
        }
        return (aw__defect_t)read.defect;
    }
    const size_t size = (size_t)__builtin_ctzll(stops) / 8 + 1;
    if (!whole && size > left) { /* the stop is one of the zeros that stand for what lacks */
        return AW__DEFECT_VARINT_TRUNCATED;
    }
    if (ret_value != NULL) {
        /* Keeps what is below the first high bit that is not set; the bits above it that a stop
         * leaves are high bits that are not set either. */
        *ret_value = aw__varint_pack(bytes & (stops - 1));
    }
    reader->at = at + size;
    return AW__DEFECT_NONE;
}

/** A tag as it was read, in one register. */
typedef struct aw__long_tag {
    uint32_t tag;
    uint16_t size;   /* bytes */
    uint16_t defect; /* an aw__defect_t; the rest counts only when there is none */
} aw__long_tag_t;

/** What aw__read_tag() does with a tag that is not one plain byte. Takes and gives values, so that
 * a caller's reader stays in registers. */
aw__long_tag_t aw__read_long_tag(const uint8_t *at, const uint8_t *end);

/** A tag of 1 to 5 bytes and at most 2^32-1, in any spelling. Its number is not 0; its wire type
 * may be 6 or 7, which is the caller's to refuse. There must be a byte left. */
static inline aw__defect_t aw__read_tag(aw__reader_t *reader, uint32_t *ret_tag)
{
    const uint8_t *at = reader->at;
    if (__builtin_expect((uint8_t)(*at - 8) < 0x78, 1)) {
        *ret_tag = *at;
        reader->at = at + 1;
        return AW__DEFECT_NONE;
    }
    const aw__long_tag_t read = aw__read_long_tag(at, reader->end);
    if (read.defect != AW__DEFECT_NONE) {
        return (aw__defect_t)read.defect;
    }
    *ret_tag = read.tag;
    reader->at = at + read.size;
    return AW__DEFECT_NONE;
}

/** A length, and makes sure that so many bytes are there. A length is a varint like any other; that
 * it must be below 2^31-1 follows, since no message is larger. */
static inline aw__defect_t aw__read_length(aw__reader_t *reader, size_t *ret_length)
{
    const uint8_t *start = reader->at;
    uint64_t length;
    aw__defect_t defect = aw__read_varint(reader, &length);
    if (defect != AW__DEFECT_NONE) {
        return defect == AW__DEFECT_VARINT_TRUNCATED ? AW__DEFECT_LENGTH_TRUNCATED : defect;
    }
    if (length > aw__reader_left(reader)) {
        reader->at = start;
        return AW__DEFECT_LENGTH_TRUNCATED;
    }
    *ret_length = (size_t)length;
    return AW__DEFECT_NONE;
}

/** Passes over size bytes of a fixed value. */
static inline aw__defect_t aw__skip_fixed(aw__reader_t *reader, size_t size)
{
    if (size > aw__reader_left(reader)) {
        return AW__DEFECT_FIXED_TRUNCATED;
    }
    reader->at += size;
    return AW__DEFECT_NONE;
}

/** Passes over a value that is no group: of a varint, fixed or length-delimited field, whose tag
 * has just been read. Any other wire type is AW__DEFECT_WIRE_TYPE, where the reader stands. */
static inline aw__defect_t aw__skip_plain(aw__reader_t *reader, uint32_t tag)
{
    size_t length;
    aw__defect_t defect;
    switch (AW__TAG_WIRE(tag)) {
    case AW__WIRE_VARINT:
        return aw__read_varint(reader, NULL);
    case AW__WIRE_FIXED64:
        return aw__skip_fixed(reader, 8);
    case AW__WIRE_BYTES:
        defect = aw__read_length(reader, &length);
        if (defect == AW__DEFECT_NONE) {
            reader->at += length;
        }
        return defect;
    case AW__WIRE_FIXED32:
        return aw__skip_fixed(reader, 4);
    default:
        return AW__DEFECT_WIRE_TYPE;
    }
}

/** Passes over a group whose start tag, at item, has just been read. nesting is the number of
 * messages open inside the outermost one. A group that is never ended is named by its start. */
aw__defect_t aw__skip_group(aw__reader_t *reader, const uint8_t *item, uint32_t number,
                            unsigned nesting);

/** Passes over the value of a field that means nothing to the schema; its tag, at item, has just
 * been read. The field's bytes are those from item to reader->at. */
static inline aw__defect_t aw__skip_value(aw__reader_t *reader, const uint8_t *item, uint32_t tag,
                                          unsigned nesting)
{
    aw__defect_t defect;
    switch (AW__TAG_WIRE(tag)) {
    case AW__WIRE_GROUP_START: {
        aw__reader_t group = *reader; /* a copy, so that the caller's stays in registers */
        defect = aw__skip_group(&group, item, AW__TAG_NUMBER(tag), nesting);
        reader->at = group.at;
        return defect;
    }
    case AW__WIRE_GROUP_END:
        reader->at = item;
        return AW__DEFECT_GROUP_END_ALONE;
    default:
        defect = aw__skip_plain(reader, tag);
        reader->at = defect == AW__DEFECT_WIRE_TYPE ? item : reader->at;
        return defect;
    }
}

#endif
