#ifndef CODEC_TEA_FREEFORM_H
#define CODEC_TEA_FREEFORM_H

#include "codec/json/value.h"

/* Values that tea-protocol carries without looking into them. All are at most AW_TEA_NESTING_MAX
 * containers high. */

/** Bytes of the value's canonical text, counted without writing it. */
uint64_t aw__tea_encoded_size(const aw__json_value_t *value);

/** The longest way from the value down to any value in it, scalars counted: 1 for a scalar. */
unsigned aw__tea_levels(const aw__json_value_t *value);

#endif
