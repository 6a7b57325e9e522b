#ifndef CODEC_BASE_SIZE_H
#define CODEC_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/** Adds b to *sum. Returns false, and leaves *sum, when the result does not fit. */
static inline bool aw__size_add(size_t *sum, size_t b)
{
    size_t result;
    if (__builtin_add_overflow(*sum, b, &result)) {
        return false;
    }
    *sum = result;
    return true;
}

/** Multiplies. Returns false, and leaves *ret_product, when the result does not fit. */
static inline bool aw__size_mul(size_t a, size_t b, size_t *ret_product)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *ret_product = product;
    return true;
}

#endif
