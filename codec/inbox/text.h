#ifndef CODEC_INBOX_TEXT_H
#define CODEC_INBOX_TEXT_H

#include "codec/inbox/fault.h"
#include "codec/json/build.h"

/** The tree of a text, of equal keys the last. NULL with the result MALFORMED_JSON, or with the
 * maker's status set: AW_STATUS_LIMIT_SIZE, AW_STATUS_LIMIT_DECODE_BYTES, AW_STATUS_NO_MEMORY. The
 * tree is the caller's alone and may be changed. */
aw__json_value_t *aw__inbox_read(aw_span_t text, aw__json_maker_t *maker,
                                 aw_inbox_result_t *result);

/** Hands out a result and, where it is OK, the canonical text of value. Returns the maker's status,
 * or that of the writing; nothing is written unless it is AW_OK. */
AW_CHECKED int aw__inbox_finish(const aw__json_maker_t *maker, const aw_inbox_result_t *result,
                                const aw__json_value_t *value, aw_inbox_result_t *ret_result,
                                aw_span_t *ret_output);

#endif
