#ifndef CODEC_TEA_HOST_H
#define CODEC_TEA_HOST_H

#include <stdbool.h>

#include "agentwire/span.h"

/** Most bytes by which a host's serialization is longer than its text. */
#define AW__TEA_HOST_GROWTH 40u

/** Reads the host of an http URL as the WHATWG URL standard does: a name, escapes in it decoded, an
 * IPv4 address in any of its spellings, an IPv6 address in brackets. Writes its serialization, at
 * most host.size + AW__TEA_HOST_GROWTH bytes; returns the length, 0 for what is no host and for a
 * name with characters beyond ASCII. */
size_t aw__tea_host_write(aw_span_t host, uint8_t *ret_text);

#endif
