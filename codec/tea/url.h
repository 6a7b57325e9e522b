#ifndef CODEC_TEA_URL_H
#define CODEC_TEA_URL_H

#include <stdbool.h>

#include "agentwire/span.h"
#include "agentwire/tea.h"

/** Room for a URL while it is normalized: each byte of the input may become three, a "/" and the
 * digits of a host are added. */
#define AW__TEA_URL_ROOM (3 * AW_TEA_SOURCE_URL_MAX + 64)

/** Reads an absolute http or https URL as the WHATWG URL standard does and writes its
 * serialization: scheme and host in lower case, no default port, dot segments resolved, what must
 * be escaped escaped.
 *
 * Refused: control characters and blanks, other schemes, no host, a user name or password, more
 * than AW_TEA_SOURCE_URL_MAX bytes, and a host with characters beyond ASCII, for which this library
 * has no IDNA tables. With fragment false the fragment is left out. Returns the length of the
 * serialization, 0 for what is refused. */
size_t aw__tea_url_write(aw_span_t text, bool fragment, uint8_t ret_text[AW__TEA_URL_ROOM]);

#endif
