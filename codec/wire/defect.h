#ifndef CODEC_WIRE_DEFECT_H
#define CODEC_WIRE_DEFECT_H

#include "agentwire/status.h"

/** What can be wrong with wire bytes: identifier, status, text. Finer than the statuses, so that
 * the text says which item it is; NONE is 0, so that a reader's result can be tested as a truth
 * value. */
#define AW__DEFECT_LIST(X)                                                                         \
    X(NONE, OK, "")                                                                                \
    X(TAG_TRUNCATED, DECODE_TRUNCATED, "tag runs past the end")                                    \
    X(VARINT_TRUNCATED, DECODE_TRUNCATED, "varint runs past the end")                              \
    X(FIXED_TRUNCATED, DECODE_TRUNCATED, "fixed value runs past the end")                          \
    X(LENGTH_TRUNCATED, DECODE_TRUNCATED, "length runs past the end")                              \
    X(VARINT_LONG, DECODE_VARINT, "varint is longer than ten bytes")                               \
    X(TAG_LONG, DECODE_BAD_TAG, "tag is longer than five bytes or above 2^32-1")                   \
    X(TAG_ZERO, DECODE_BAD_TAG, "field number is 0")                                               \
    X(WIRE_TYPE, DECODE_WIRE_TYPE, "wire type is 6 or 7")                                          \
    X(GROUP_END_ALONE, DECODE_GROUP, "group ends without a start")                                 \
    X(GROUP_END_OTHER, DECODE_GROUP, "group ends with another number")                             \
    X(GROUP_OPEN, DECODE_GROUP, "group is not ended")                                              \
    X(NESTING, DECODE_GROUP, "messages and groups are nested more than 100 deep")                  \
    X(UTF8, INVALID_UTF8, "string holds ill-formed UTF-8")

typedef enum aw__defect {
#define AW__DEFECT_ENUM(id, status, text) AW__DEFECT_##id,
    AW__DEFECT_LIST(AW__DEFECT_ENUM)
#undef AW__DEFECT_ENUM
} aw__defect_t;

/** The status a defect is reported as, and the words for it. Static storage. */
int aw__defect_status(aw__defect_t defect);
const char *aw__defect_text(aw__defect_t defect);

#endif
