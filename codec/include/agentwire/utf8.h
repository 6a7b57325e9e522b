#ifndef AGENTWIRE_UTF8_H
#define AGENTWIRE_UTF8_H

#include "agentwire/span.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** How many bytes at the start of text are well-formed UTF-8 (RFC 3629: no surrogates, no overlong
 * forms, nothing above U+10FFFF; NUL and U+FFFE are fine): text.size when all of it is, else the
 * offset of the first byte of the first ill-formed sequence, as Python's UnicodeDecodeError.start
 * counts it. */
size_t aw_utf8_prefix(aw_span_t text);

/** True when all of text is well-formed. The absent and the empty span are. */
bool aw_utf8_valid(aw_span_t text);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
