#ifndef BRIDGE_CORE_DIGEST_H
#define BRIDGE_CORE_DIGEST_H

#include "bridge/core/record.h"

/** A digest of 64 bits that tells contents apart: SipHash-2-4 under a fixed key. It finds damage
 * and mistakes; it is no proof against an adversary, who has sha256 in the dead letters for that.
 */
typedef struct ab_digest {
    uint64_t v[4];
    uint64_t tail;  /* the bytes that fill no word yet, the first one lowest */
    uint64_t total; /* bytes so far */
} ab_digest_t;

void ab_digest_init(ab_digest_t *digest);

/** Takes size bytes in; data may be NULL when size is 0. */
void ab_digest_add(ab_digest_t *digest, const void *data, size_t size);

/** The digest of what was taken in, which is used up by that. */
uint64_t ab_digest_end(ab_digest_t *digest);

/** The digest of a key or a value. 0 stands for the absent one, and for nothing else. */
uint64_t ab_digest_of(aw_span_t bytes);

/** The digest of a list of headers and, behind it, another: names, values, their order, and which
 *  of them are NULL. Either may be empty. */
uint64_t ab_digest_of_headers(const ab_header_t *headers, size_t count, const ab_header_t *more,
                              size_t more_count);

#endif
