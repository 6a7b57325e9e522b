#ifndef CODEC_TEA_SCALAR_H
#define CODEC_TEA_SCALAR_H

#include "codec/tea/schema.h"

/* Single strings, judged by their form. All take any bytes of well-formed UTF-8. */

/** True when the text has min to max bytes, the first of the rule's first characters, the others of
 * its rest. */
bool aw__tea_is_name(aw_span_t text, const aw__tea_rule_t *rule);

/** True when the text has min to max bytes and none of the refused characters. */
bool aw__tea_is_text(aw_span_t text, const aw__tea_rule_t *rule);

/** Unicode characters in a text. */
size_t aw__tea_characters(aw_span_t text);

/** True for a control character (U+0000 to U+001F, U+007F to U+009F) anywhere in the text. */
bool aw__tea_has_control(aw_span_t text);

/** True for "image/" and at least one of the rest characters. */
bool aw__tea_is_image_type(aw_span_t text, const aw__tea_rule_t *rule);

/** True for a lower-case hyphenated UUID of version 7; the variant is not looked at. */
bool aw__tea_is_id(aw_span_t text);

/** Reads a sequence: digits without a leading zero that fit 64 bits. */
bool aw__tea_sequence_read(aw_span_t text, uint64_t *ret_sequence);

/** Reads "major.minor", both canonical and 16 bits wide. */
bool aw__tea_version_read(aw_span_t text, uint32_t *ret_major, uint32_t *ret_minor);

/** Reads a timestamp of any offset and writes it in UTC, without a NUL. Returns false for what is
 * no timestamp and for an instant outside the years 0000 to 9999. */
bool aw__tea_timestamp_read(aw_span_t text, char ret_text[AW_TEA_TIMESTAMP_SIZE]);

/** Writes milliseconds since the epoch. Returns false outside the years 0000 to 9999. */
bool aw__tea_timestamp_write(int64_t timestamp_ms, char ret_text[AW_TEA_TIMESTAMP_SIZE]);

/** True for a decimal number without sign, exponent, leading zero or trailing fraction zero, of few
 * enough digits. */
bool aw__tea_is_amount(aw_span_t text);

/** True for standard Base64 with all its padding and no bit that is not used. */
bool aw__tea_is_base64(aw_span_t text);

/** True for a metadata namespace: two or more labels of a-z 0-9 -, from a letter to no hyphen. */
bool aw__tea_is_namespace(aw_span_t text);

#endif
