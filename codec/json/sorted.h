#ifndef CODEC_JSON_SORTED_H
#define CODEC_JSON_SORTED_H

#include "agentwire/json.h"
#include "codec/json/value.h"

/** Writes a tree where the writer stands, the members of every object in the order of their keys'
 * bytes. No recursion; a tree deeper than the writer keeps is AW_STATUS_LIMIT_DEPTH.
 *
 * Numbers: with AW_JSON_NUMBERS_ECMASCRIPT each is the double nearest to it; with the others an
 * integer token of 64 bits keeps its digits, and only the rest are doubles. A token beyond the
 * range of a double is AW_STATUS_INVALID_ARGUMENT. Every object in the tree must be sorted. */
void aw__json_write_sorted(aw_json_writer_t *writer, const aw__json_value_t *value,
                           aw_json_numbers_t layout);

/** The whole text of a tree, compact, in the arena; it takes what aw_json_init_arena() says.
 * Returns AW_OK, AW_STATUS_LIMIT_DEPTH, AW_STATUS_INVALID_ARGUMENT (a number),
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY; ret_text is then untouched. */
AW_CHECKED int aw__json_sorted_text(const aw__json_value_t *value, aw_json_numbers_t layout,
                                    aw_arena_t *arena, aw_span_t *ret_text);

#endif
