#ifndef CODEC_INBOX_FOLD_H
#define CODEC_INBOX_FOLD_H

#include "codec/json/build.h"

/** The one payload that a list of valid payloads stands for: {} for none, the payload itself for
 * one; of several, lists one after the other, messages joined, of all else the last. NULL when the
 * maker was refused memory. */
const aw__json_value_t *aw__inbox_fold(const aw__json_value_t *payloads, aw__json_maker_t *maker);

#endif
