#ifndef CODEC_JSON_WHOLE_H
#define CODEC_JSON_WHOLE_H

#include "agentwire/span.h"

/** Reads a decimal number that follows JSON's grammar (`7`, `-0`, `1.50e1`) and is whole, exactly:
 * no digit is lost to a double on the way. Returns false, and leaves both, when the text is no such
 * number or its magnitude is above 2^64-1. Zero is never negative. Time is linear in the text. */
bool aw__whole_read(aw_span_t text, bool *ret_negative, uint64_t *ret_magnitude);

#endif
