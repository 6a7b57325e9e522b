#ifndef CODEC_JSON_READER_H
#define CODEC_JSON_READER_H

#include "codec/json/value.h"

/** What is done with more than the grammar says. */
typedef enum aw__json_option {
    AW__JSON_STRICT = 0,
    /** Of equal keys of an object the last one stays, as in most parsers; else they are refused. */
    AW__JSON_LAST_OF_EQUALS = 1,
    /** A number beyond the range of a double is read (its token is); else it is refused. */
    AW__JSON_ANY_MAGNITUDE = 2
} aw__json_option_t;

/** Reads one JSON text (RFC 8259, nothing beyond) into a tree.
 *
 * Blanks (space, tab, LF, CR) may stand before and behind the value, which may be of any kind.
 * Refused as AW_STATUS_MALFORMED_JSON: a byte-order mark, ill-formed UTF-8, raw bytes below 0x20 in
 * a string, half a surrogate pair in escapes, a number beyond the range of a double (unless
 * AW__JSON_ANY_MAGNITUDE; underflow is none), anything behind the value. \u0000 is fine, in keys
 * too. Equal keys, compared after unescaping, are AW_STATUS_DUPLICATE_KEY (unless
 * AW__JSON_LAST_OF_EQUALS), at every depth; they are judged when the syntax of the whole text is
 * found good.
 *
 * ret_root and all below it live in the arena, and borrow strings without escapes, keys and number
 * tokens from the text: valid while both are. It is untouched on failure. Time is linear in the
 * text, but for keys, which are sorted; there is no recursion, and no locale is asked. A value
 * takes 64 bytes of the arena, a member 8 more, a string with escapes at most its length in the
 * text.
 *
 * depth_max is how many containers may be open at once, the outermost is the first; 0 is no limit.
 * A text has at most AW__JSON_TEXT_MAX bytes.
 *
 * error has the byte offset of the first offending item in the text (its size when it ends too
 * early; the quote of the second of two equal keys; the first of these by position) and in `field`
 * the JSON pointer to the value, as far as it is known.
 *
 * Returns AW_OK, AW_STATUS_MALFORMED_JSON, AW_STATUS_DUPLICATE_KEY, AW_STATUS_LIMIT_SIZE,
 * AW_STATUS_LIMIT_DEPTH, AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY (from the arena). */
AW_CHECKED int aw__json_read(aw_span_t text, uint32_t depth_max, unsigned options,
                             aw_arena_t *arena, const aw__json_value_t **ret_root,
                             aw_error_t *error);

#endif
