#ifndef BRIDGE_CORE_PARTITION_H
#define BRIDGE_CORE_PARTITION_H

#include "agentwire/span.h"

/** The hash of the Java clients' partitioner, as the 32 bits of its signed result. */
uint32_t ab_murmur2(aw_span_t bytes);

/** The partition the Java clients pick for a key: (murmur2(key) & 0x7fffffff) % count.
 *  count is at least 1. */
int32_t ab_partition_of_key(aw_span_t key, int32_t count);

#endif
