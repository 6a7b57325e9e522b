#include "bridge/core/partition.h"

#include <assert.h>

/* org.apache.kafka.common.utils.Utils.murmur2(): Austin Appleby's MurmurHash2 with a fixed seed. */
#define MURMUR2_SEED  UINT32_C(0x9747b28c)
#define MURMUR2_M     UINT32_C(0x5bd1e995)
#define MURMUR2_SHIFT 24

static uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t ab_murmur2(aw_span_t bytes)
{
    const uint8_t *p = bytes.data;
    size_t left = bytes.size;
    uint32_t hash = MURMUR2_SEED ^ (uint32_t)bytes.size;

    for (; left >= 4; left -= 4, p += 4) {
        uint32_t word = load_le32(p) * MURMUR2_M;
        word ^= word >> MURMUR2_SHIFT;
        hash = (hash * MURMUR2_M) ^ (word * MURMUR2_M);
    }
    if (left == 3) {
        hash ^= (uint32_t)p[2] << 16;
    }
    if (left >= 2) {
        hash ^= (uint32_t)p[1] << 8;
    }
    if (left >= 1) {
        hash = (hash ^ p[0]) * MURMUR2_M;
    }
    hash = (hash ^ hash >> 13) * MURMUR2_M;
    return hash ^ hash >> 15;
}

int32_t ab_partition_of_key(aw_span_t key, int32_t count)
{
    assert(count >= 1);
    /* Java masks the sign away (Utils.toPositive), so that -1 is not partition 1. */
    return (int32_t)(ab_murmur2(key) & UINT32_C(0x7fffffff)) % count;
}
