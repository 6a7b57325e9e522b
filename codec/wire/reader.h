#ifndef CODEC_WIRE_READER_H
#define CODEC_WIRE_READER_H

#include <stddef.h>
#include <stdint.h>

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

static inline size_t aw__reader_left(const aw__reader_t *reader) {
    return (size_t)(reader->end - reader->at);
}

/** A varint of 1 to 10 bytes, modulo 2^64. */
static inline aw__defect_t aw__read_varint(aw__reader_t *reader, uint64_t *ret_value) {
    const uint8_t *at = reader->at;
    size_t left = aw__reader_left(reader);
    if (left > 0 && *at < 0x80) {
        *ret_value = *at;
        reader->at = at + 1;
        return AW__DEFECT_NONE;
    }
    size_t most = left < AW__VARINT_MAX ? left : AW__VARINT_MAX;
    uint64_t value = 0;
    for (size_t i = 0; i < most; i++) {
        value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80) {
            *ret_value = value;
            reader->at = at + i + 1;
            return AW__DEFECT_NONE;
        }
    }
    return most == AW__VARINT_MAX ? AW__DEFECT_VARINT_LONG : AW__DEFECT_VARINT_TRUNCATED;
}

/** A tag of 1 to 5 bytes and at most 2^32-1, in any spelling. Its number is not 0; its wire type
 * may be 6 or 7, which is the caller's to refuse. */
static inline aw__defect_t aw__read_tag(aw__reader_t *reader, uint32_t *ret_tag) {
    const uint8_t *at = reader->at;
    size_t left = aw__reader_left(reader);
    size_t most = left < AW__TAG_MAX ? left : AW__TAG_MAX;
    uint32_t tag = 0;
    for (size_t i = 0; i < most; i++) {
        if (i == AW__TAG_MAX - 1 && at[i] > 0x0f) {
            break;
        }
        tag |= (uint32_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80) {
            if (AW__TAG_NUMBER(tag) == 0) {
                return AW__DEFECT_TAG_ZERO;
            }
            *ret_tag = tag;
            reader->at = at + i + 1;
            return AW__DEFECT_NONE;
        }
    }
    return most == AW__TAG_MAX ? AW__DEFECT_TAG_LONG : AW__DEFECT_TAG_TRUNCATED;
}

/** A length, and makes sure that so many bytes are there. A length is a varint like any other; that
 * it must be below 2^31-1 follows, since no message is larger. */
static inline aw__defect_t aw__read_length(aw__reader_t *reader, size_t *ret_length) {
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
static inline aw__defect_t aw__skip_fixed(aw__reader_t *reader, size_t size) {
    if (size > aw__reader_left(reader)) {
        return AW__DEFECT_FIXED_TRUNCATED;
    }
    reader->at += size;
    return AW__DEFECT_NONE;
}

/** Passes over a group whose start tag, at item, has just been read. nesting is the number of
 * messages open inside the outermost one. A group that is never ended is named by its start. */
aw__defect_t aw__skip_group(aw__reader_t *reader, const uint8_t *item, uint32_t number,
                            unsigned nesting);

/** Passes over the value of a field that means nothing to the schema; its tag, at item, has just
 * been read. The field's bytes are those from item to reader->at. */
static inline aw__defect_t aw__skip_value(aw__reader_t *reader, const uint8_t *item, uint32_t tag,
                                          unsigned nesting) {
    uint64_t value;
    size_t length;
    aw__defect_t defect;
    switch (AW__TAG_WIRE(tag)) {
    case AW__WIRE_VARINT:
        return aw__read_varint(reader, &value);
    case AW__WIRE_FIXED64:
        return aw__skip_fixed(reader, 8);
    case AW__WIRE_BYTES:
        defect = aw__read_length(reader, &length);
        if (defect == AW__DEFECT_NONE) {
            reader->at += length;
        }
        return defect;
    case AW__WIRE_GROUP_START:
        return aw__skip_group(reader, item, AW__TAG_NUMBER(tag), nesting);
    case AW__WIRE_GROUP_END:
        reader->at = item;
        return AW__DEFECT_GROUP_END_ALONE;
    case AW__WIRE_FIXED32:
        return aw__skip_fixed(reader, 4);
    default:
        reader->at = item;
        return AW__DEFECT_WIRE_TYPE;
    }
}

#endif
