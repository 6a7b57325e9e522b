#ifndef BRIDGE_CORE_PARTITION_H
#define BRIDGE_CORE_PARTITION_H

#include "agentwire/span.h"

/** The partition the Java clients pick for a key: (murmur2(key) & 0x7fffffff) % count. count >= 1. */
int32_t ab_partition_of_key(aw_span_t key, int32_t count);

#endif
