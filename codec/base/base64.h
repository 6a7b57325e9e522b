#ifndef CODEC_BASE_BASE64_H
#define CODEC_BASE_BASE64_H

#include "agentwire/span.h"

/** Most bytes that so many characters of base64 hold. */
static inline size_t aw__base64_capacity(size_t characters)
{
    return characters / 4 * 3 + (characters % 4 * 3) / 4;
}

/** Decodes base64 in the standard or the URL-safe alphabet, with its whole padding or with none.
 * Nothing else may stand in the text, no blank either; bits left over are ignored.
 *
 * ret_bytes has room for aw__base64_capacity(text.size) bytes; it may be text.data. Returns true
 * and writes *ret_size, or false and writes *ret_offset, the first character that does not fit
 * (text.size where something is missing); ret_bytes then holds anything. */
bool aw__base64_decode(aw_span_t text, uint8_t *ret_bytes, size_t *ret_size, size_t *ret_offset);

#endif
