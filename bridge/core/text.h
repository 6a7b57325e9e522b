#ifndef BRIDGE_CORE_TEXT_H
#define BRIDGE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentwire/span.h"

/** Longest decimal text of a 64-bit number, sign and NUL included. */
#define AB_DECIMAL_MAX 21u

/** Writes a number in decimal digits and a NUL; returns the length without it. No locale, no stdio:
 *  this runs once per routed record. */
size_t ab_text_decimal(int64_t number, char ret_text[AB_DECIMAL_MAX]);

/** Reads a number from 0 to max, all of text in decimal digits. Returns false when it is none,
 *  ret_number untouched. */
bool ab_text_number(aw_span_t text, int64_t max, int64_t *ret_number);

/** Copies text so that it can be shown and logged anywhere: each byte that is not part of
 * well-formed UTF-8, and each control character (U+0000 to U+001F, U+007F to U+009F), becomes
 * U+FFFD.
 *
 * Writes at most capacity - 1 bytes and a NUL, never a part of a character; capacity is at least 1.
 * Returns the length without the NUL. What did not fit is left out.
 */
size_t ab_text_clean(aw_span_t text, char *ret_text, size_t capacity);

#endif
