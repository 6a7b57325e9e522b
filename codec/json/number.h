#ifndef CODEC_JSON_NUMBER_H
#define CODEC_JSON_NUMBER_H

#include "agentwire/json.h"
#include "agentwire/span.h"

/** Most decimal digits that the shortest form of a double has. */
#define AW__SHORTEST_DIGITS_MAX 17u

/** Longest text of a double in any layout, bytes: a sign, "0.", five zeros and 17 digits, rounded
 * up. */
#define AW__DOUBLE_TEXT_MAX 32u

/** A positive decimal number: digits * 10^exponent, the last digit not 0. */
typedef struct aw__decimal {
    uint64_t digits; /* up to AW__SHORTEST_DIGITS_MAX of them */
    int exponent;
} aw__decimal_t;

/** The shortest decimal number that reads back as this double, and of those the one nearest to it
 *  (of two equally near ones the one with the even last digit). value is finite and above zero. */
aw__decimal_t aw__decimal_shortest(double value);

/** Writes a finite double in a layout, without a NUL; returns the length. Zero keeps its sign in
 * every layout but ECMAScript's. */
size_t aw__double_text(double value, aw_json_numbers_t layout, char ret_text[AW__DOUBLE_TEXT_MAX]);

/** Moves *at behind the number of JSON's grammar that begins there. Returns false, with *at at the
 * byte that is missing, when it breaks off or none begins. */
bool aw__number_pass(aw_span_t text, size_t *at);

/** What a number token stands for. */
typedef enum aw__number_kind {
    AW__NUMBER_UINT,  /* an integer token of 0 .. 2^64-1 */
    AW__NUMBER_INT,   /* an integer token of -2^63 .. -1 */
    AW__NUMBER_DOUBLE /* everything else, -0 included */
} aw__number_kind_t;

typedef struct aw__number {
    aw__number_kind_t kind;
    union {
        uint64_t uint;
        int64_t sint;
        double real; /* correctly rounded, half to even; finite */
    } as;
} aw__number_t;

/** Reads a token that follows the JSON grammar of numbers. Locale plays no part; the time is linear
 * in the token. Returns false, and leaves ret_number, when the magnitude is beyond a double. */
bool aw__number_read(aw_span_t token, aw__number_t *ret_number);

/** Reads a decimal number that follows JSON's grammar (`7`, `-0`, `1.50e1`) and is whole, exactly:
 * no digit is lost to a double on the way. Returns false, and leaves both, when the text is no such
 * number or its magnitude is above 2^64-1. Zero is never negative. Time is linear in the text. */
bool aw__number_whole(aw_span_t text, bool *ret_negative, uint64_t *ret_magnitude);

#endif
