#include "codec/json/big.h"

#include <assert.h>
#include <string.h>

#define LIMB_BITS 32u

void aw__big_set(aw__big_t *big, uint64_t value)
{
    big->limb[0] = (uint32_t)value;
    big->limb[1] = (uint32_t)(value >> LIMB_BITS);
    big->count = big->limb[1] != 0 ? 2 : big->limb[0] != 0;
}

static void push_limb(aw__big_t *big, uint32_t limb)
{
    assert(big->count < AW__BIG_LIMBS);
    big->limb[big->count++] = limb;
}

void aw__big_scale(aw__big_t *big, uint32_t factor, uint32_t summand)
{
    uint64_t carry = summand;
    for (unsigned i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry != 0) {
        push_limb(big, (uint32_t)carry);
    }
}

void aw__big_scale10(aw__big_t *big, unsigned exponent)
{
    for (; exponent >= 9; exponent -= 9) {
        aw__big_scale(big, 1000000000, 0);
    }
    for (; exponent > 0; exponent--) {
        aw__big_scale(big, 10, 0);
    }
}

void aw__big_shift(aw__big_t *big, unsigned bits)
{
    unsigned limbs = bits / LIMB_BITS;
    if (big->count == 0) {
        return;
    }
    aw__big_scale(big, (uint32_t)1 << bits % LIMB_BITS, 0);
    assert(big->count + limbs <= AW__BIG_LIMBS);
    memmove(big->limb + limbs, big->limb, big->count * sizeof big->limb[0]);
    memset(big->limb, 0, limbs * sizeof big->limb[0]);
    big->count += limbs;
}

unsigned aw__big_bits(const aw__big_t *big)
{
    if (big->count == 0) {
        return 0;
    }
    return big->count * LIMB_BITS - (unsigned)__builtin_clz(big->limb[big->count - 1]);
}

int aw__big_compare(const aw__big_t *a, const aw__big_t *b)
{
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (unsigned i = a->count; i-- > 0;) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i] ? -1 : 1;
        }
    }
    return 0;
}

int aw__big_compare_sum(const aw__big_t *a, const aw__big_t *b, const aw__big_t *c)
{
    aw__big_t sum;
    uint64_t carry = 0;
    unsigned count = a->count > b->count ? a->count : b->count;
    for (unsigned i = 0; i < count; i++) {
        carry += (uint64_t)(i < a->count ? a->limb[i] : 0) + (i < b->count ? b->limb[i] : 0);
        sum.limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    sum.count = count;
    if (carry != 0) {
        push_limb(&sum, (uint32_t)carry);
    }
    return aw__big_compare(&sum, c);
}

void aw__big_subtract(aw__big_t *a, const aw__big_t *b)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < a->count; i++) {
        uint64_t take = borrow + (i < b->count ? b->limb[i] : 0);
        borrow = a->limb[i] < take;
        a->limb[i] = (uint32_t)(a->limb[i] - take);
    }
    assert(borrow == 0);
    while (a->count > 0 && a->limb[a->count - 1] == 0) {
        a->count--;
    }
}
