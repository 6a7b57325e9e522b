#ifndef CODEC_JSON_BIG_H
#define CODEC_JSON_BIG_H

#include <stdbool.h>
#include <stdint.h>

/** Limbs of the largest number that reading or writing a double needs: reading divides by up to
 *  10^1100, which is 3655 bits, and keeps 64 bits more. */
#define AW__BIG_LIMBS 120u

/** An exact natural number. limb[0] is the lowest; count is 0 for zero, and the highest limb is
 *  never 0. Overflow is a bug and asserts: the callers' ranges rule it out. */
typedef struct aw__big {
    uint32_t limb[AW__BIG_LIMBS];
    unsigned count;
} aw__big_t;

void aw__big_set(aw__big_t *big, uint64_t value);

/** big = big * factor + summand. */
void aw__big_scale(aw__big_t *big, uint32_t factor, uint32_t summand);

/** big *= 10^exponent. */
void aw__big_scale10(aw__big_t *big, unsigned exponent);

/** big *= 2^bits. */
void aw__big_shift(aw__big_t *big, unsigned bits);

/** Bits up to the highest one set; 0 for zero. */
unsigned aw__big_bits(const aw__big_t *big);

/** Below, at or above zero as a is below, at or above b. */
int aw__big_compare(const aw__big_t *a, const aw__big_t *b);

/** The same for a + b beside c. */
int aw__big_compare_sum(const aw__big_t *a, const aw__big_t *b, const aw__big_t *c);

/** a -= b, where a is at least b. */
void aw__big_subtract(aw__big_t *a, const aw__big_t *b);

#endif
