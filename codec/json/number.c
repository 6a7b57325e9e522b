#include "codec/json/number.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "codec/json/big.h"

/* The fast paths below lean on each operation being rounded once, to a double. */
_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic is done in doubles");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "a double is IEEE 754 binary64");

/** Digits that always name one double at most, and powers of ten that are doubles exactly. */
#define EXACT_DIGITS 15u
#define EXACT_POWER  22
/** Significant digits of a token that are kept: no half-way point between two doubles has more
 *  (767), and one that stands for all the rest. */
#define KEPT_DIGITS 770u
/** A decimal number of 0.ddd * 10^p is beyond a double with p above the first, zero with p below
 *  the second. */
#define POINT_MAX 310
#define POINT_MIN (-325)
/** Exponents of tokens are counted no further than this. */
#define EXPONENT_MAX 100000000000000000

#define MANTISSA_BITS 52
#define HIDDEN_BIT    ((uint64_t)1 << MANTISSA_BITS)
/** The exponent of a subnormal's last bit, and of the largest double's. */
#define LAST_BIT_MIN (-1074)
#define LAST_BIT_MAX 971

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/** mantissa * 2^exponent, which must be a double; mantissa has 53 bits at most. */
static double double_of(uint64_t mantissa, int exponent)
{
    uint64_t bits = mantissa;
    double value;
    if (mantissa >= HIDDEN_BIT) {
        bits = (mantissa - HIDDEN_BIT) | (uint64_t)(exponent - LAST_BIT_MIN + 1) << MANTISSA_BITS;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

static aw__decimal_t trimmed(uint64_t digits, int exponent)
{
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (aw__decimal_t){digits, exponent};
}

/** Finds the form of a number that has few digits and a modest exponent: the first count of places
 * behind the point at which the nearest whole number divides back to the value. Up to 15 digits
 * that is the shortest form, and the only one of its length. */
static bool shortest_of_few(double value, aw__decimal_t *ret_decimal)
{
    for (int places = 0; places <= EXACT_POWER; places++) {
        double scaled = value * powers[places];
        if (scaled >= powers[EXACT_DIGITS]) {
            return false;
        }
        uint64_t digits = (uint64_t)(scaled + 0.5);
        if (digits != 0 && (double)digits / powers[places] == value) {
            *ret_decimal = trimmed(digits, -places);
            return true;
        }
    }
    return false;
}

/** A double between its neighbours, as fractions over one denominator: value/whole, and how far
 * half the way down and up is. */
typedef struct interval {
    aw__big_t value;
    aw__big_t whole;
    aw__big_t down;
    aw__big_t up;
    bool closed; /* the half-way points read back as the value: its mantissa is even */
} interval_t;

static interval_t interval_of(uint64_t mantissa, int exponent)
{
    /* the neighbour below a power of two is only half as far as the one above */
    bool uneven = mantissa == HIDDEN_BIT && exponent > LAST_BIT_MIN;
    unsigned extra = uneven ? 2 : 1;
    interval_t around = {.closed = (mantissa & 1) == 0};
    aw__big_set(&around.value, mantissa);
    aw__big_set(&around.whole, 1);
    aw__big_set(&around.down, 1);
    aw__big_shift(&around.value, extra);
    aw__big_shift(&around.whole, extra);
    if (exponent >= 0) {
        aw__big_shift(&around.value, (unsigned)exponent);
        aw__big_shift(&around.down, (unsigned)exponent);
    } else {
        aw__big_shift(&around.whole, (unsigned)-exponent);
    }
    around.up = around.down;
    aw__big_shift(&around.up, extra - 1);
    return around;
}

/** True when the value and the way up reach a whole. */
static bool reaches_whole(const interval_t *around)
{
    int order = aw__big_compare_sum(&around->value, &around->up, &around->whole);
    return around->closed ? order >= 0 : order > 0;
}

static void scale_numerators(interval_t *around, unsigned power)
{
    aw__big_scale10(&around->value, power);
    aw__big_scale10(&around->down, power);
    aw__big_scale10(&around->up, power);
}

/** Scales the interval so that the value is between 1/10 and 1 of a whole, and returns p of
 *  0.ddd * 10^p. */
static int scale_below_one(interval_t *around, uint64_t mantissa, int exponent)
{
    /* log10 from the binary logarithm: 1233/4096 is a little below log10(2), so that the estimate
     * is never above p and at most one below it */
    int log2 = exponent + 63 - __builtin_clzll(mantissa);
    int point = log2 >= 0 ? log2 * 1233 / 4096 : -((-log2 * 1234 + 4095) / 4096);
    if (point >= 0) {
        aw__big_scale10(&around->whole, (unsigned)point);
    } else {
        scale_numerators(around, (unsigned)-point);
    }
    while (reaches_whole(around)) {
        aw__big_scale(&around->whole, 10, 0);
        point++;
    }
    return point;
}

/** The next digit: takes it off the value, which is below ten wholes. */
static uint32_t take_digit(interval_t *around)
{
    uint32_t digit = 0;
    while (aw__big_compare(&around->value, &around->whole) >= 0) {
        aw__big_subtract(&around->value, &around->whole);
        digit++;
    }
    return digit;
}

/** Digit by digit with exact numbers, until what is left lies within the way down or up. */
static aw__decimal_t shortest_of_any(double value)
{
    uint64_t bits = bits_of(value);
    int biased = (int)(bits >> MANTISSA_BITS);
    uint64_t mantissa = bits & (HIDDEN_BIT - 1);
    int exponent = LAST_BIT_MIN;
    if (biased > 0) {
        mantissa |= HIDDEN_BIT;
        exponent += biased - 1;
    }
    interval_t around = interval_of(mantissa, exponent);
    int point = scale_below_one(&around, mantissa, exponent);
    uint64_t digits = 0;
    for (int count = 1;; count++) {
        scale_numerators(&around, 1);
        uint32_t digit = take_digit(&around);
        int order = aw__big_compare(&around.value, &around.down);
        bool low = around.closed ? order <= 0 : order < 0;
        bool high = reaches_whole(&around);
        if (low || high) {
            if (low && high) {
                int half = aw__big_compare_sum(&around.value, &around.value, &around.whole);
                high = half > 0 || (half == 0 && digit % 2 == 1);
            }
            return trimmed(digits * 10 + digit + (high ? 1 : 0), point - count);
        }
        digits = digits * 10 + digit;
    }
}

aw__decimal_t aw__decimal_shortest(double value)
{
    aw__decimal_t decimal;
    assert(value > 0 && value <= DBL_MAX);
    return shortest_of_few(value, &decimal) ? decimal : shortest_of_any(value);
}

/** Where a layout goes over to an exponent, and how it writes one. point is p of 0.ddd * 10^p. */
typedef struct layout {
    int point_min;         /* fixed form from here */
    int point_max;         /* to here */
    bool fraction;         /* a whole number ends in ".0" */
    bool plus;             /* a positive exponent has its sign */
    unsigned exponent_min; /* least digits of an exponent */
} layout_t;

static const layout_t layouts[] = {
    [AW_JSON_NUMBERS_TEA] = {-4, 16, true, false, 1},
    [AW_JSON_NUMBERS_ECMASCRIPT] = {-5, 21, false, true, 1},
    [AW_JSON_NUMBERS_PYTHON] = {-3, 16, true, true, 2},
};

static char *put_zeros(char *at, int count)
{
    for (; count > 0; count--) {
        *at++ = '0';
    }
    return at;
}

static char *put_run(char *at, const char *digits, int count)
{
    memcpy(at, digits, (size_t)count);
    return at + count;
}

static char *put_exponent(char *at, const layout_t *layout, int exponent)
{
    char digits[4];
    unsigned count = 0;
    unsigned left = (unsigned)(exponent < 0 ? -exponent : exponent);
    *at++ = 'e';
    if (exponent < 0 || layout->plus) {
        *at++ = exponent < 0 ? '-' : '+';
    }
    for (; left > 0 || count < layout->exponent_min; left /= 10) {
        digits[count++] = (char)('0' + left % 10);
    }
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static char *put_fixed(char *at, const layout_t *layout, const char *digits, int count, int point)
{
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        at = put_zeros(at, -point);
        return put_run(at, digits, count);
    }
    if (count > point) {
        at = put_run(at, digits, point);
        *at++ = '.';
        return put_run(at, digits + point, count - point);
    }
    at = put_run(at, digits, count);
    at = put_zeros(at, point - count);
    if (layout->fraction) {
        *at++ = '.';
        *at++ = '0';
    }
    return at;
}

size_t aw__double_text(double value, aw_json_numbers_t layout_of,
                       char ret_text[AW__DOUBLE_TEXT_MAX])
{
    const layout_t *layout = &layouts[layout_of];
    bool negative = bits_of(value) >> 63 != 0;
    char *at = ret_text;
    if (negative && (value < 0 || layout_of != AW_JSON_NUMBERS_ECMASCRIPT)) {
        *at++ = '-';
    }
    if (value == 0) {
        at = put_fixed(at, layout, "0", 1, 1);
        return (size_t)(at - ret_text);
    }
    aw__decimal_t decimal = aw__decimal_shortest(negative ? -value : value);
    char text[AW__SHORTEST_DIGITS_MAX];
    char *digits = text + sizeof text;
    do {
        assert(digits > text);
        *--digits = (char)('0' + decimal.digits % 10);
        decimal.digits /= 10;
    } while (decimal.digits > 0);
    int count = (int)(text + sizeof text - digits);
    int point = count + decimal.exponent;
    if (point >= layout->point_min && point <= layout->point_max) {
        at = put_fixed(at, layout, digits, count, point);
    } else {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            at = put_run(at, digits + 1, count - 1);
        }
        at = put_exponent(at, layout, point - 1);
    }
    return (size_t)(at - ret_text);
}

/** The byte at an offset, -1 behind the end. */
static int peek(aw_span_t text, size_t at)
{
    return at < text.size ? text.data[at] : -1;
}

/** Moves behind a run of digits; false when there is none. */
static bool pass_digits(aw_span_t text, size_t *at)
{
    const size_t start = *at;
    while (peek(text, *at) >= '0' && peek(text, *at) <= '9') {
        (*at)++;
    }
    return *at > start;
}

bool aw__number_pass(aw_span_t text, size_t *at)
{
    *at += peek(text, *at) == '-';
    if (peek(text, *at) == '0') {
        (*at)++;
    } else if (!pass_digits(text, at)) {
        return false;
    }
    if (peek(text, *at) == '.') {
        (*at)++;
        if (!pass_digits(text, at)) {
            return false;
        }
    }
    if (peek(text, *at) == 'e' || peek(text, *at) == 'E') {
        (*at)++;
        *at += peek(text, *at) == '+' || peek(text, *at) == '-';
        return pass_digits(text, at);
    }
    return true;
}

/** The significant digits of a token and what they are to be multiplied with. */
typedef struct significand {
    uint8_t digit[KEPT_DIGITS];
    unsigned count;
    int64_t exponent; /* value = digits * 10^exponent */
} significand_t;

static void add_digit(significand_t *number, uint8_t digit)
{
    if (number->count == 0 && digit == 0) {
        return;
    }
    if (number->count < KEPT_DIGITS) {
        number->digit[number->count++] = digit;
        return;
    }
    number->exponent++;
    if (digit != 0) {
        number->digit[KEPT_DIGITS - 1] |= 1; /* a little more than what was kept says */
    }
}

static int64_t read_exponent(aw_span_t token, size_t at)
{
    bool negative = token.data[at] == '-';
    int64_t exponent = 0;
    at += token.data[at] == '-' || token.data[at] == '+';
    for (; at < token.size; at++) {
        if (exponent < EXPONENT_MAX) {
            exponent = exponent * 10 + (token.data[at] - '0');
        }
    }
    return negative ? -exponent : exponent;
}

static void read_significand(aw_span_t token, significand_t *number)
{
    bool fraction = false;
    number->digit[KEPT_DIGITS - 1] = 0; /* where all the rest is noted */
    number->count = 0;
    number->exponent = 0;
    for (size_t at = token.data[0] == '-'; at < token.size; at++) {
        uint8_t byte = token.data[at];
        if (byte == '.') {
            fraction = true;
        } else if (byte == 'e' || byte == 'E') {
            number->exponent += read_exponent(token, at + 1);
            break;
        } else {
            number->exponent -= fraction;
            add_digit(number, (uint8_t)(byte - '0'));
        }
    }
    while (number->count > 0 && number->digit[number->count - 1] == 0) {
        number->count--;
        number->exponent++;
    }
}

/** Rounds quotient * 2^exponent, with more behind it where sticky, to a double, half to even.
 *  Returns false when it is beyond the largest. quotient has more than 53 bits. */
static bool round_to_double(uint64_t quotient, int exponent, bool sticky, double *ret_value)
{
    int drop = 64 - __builtin_clzll(quotient) - (MANTISSA_BITS + 1);
    if (exponent + drop < LAST_BIT_MIN) {
        drop = LAST_BIT_MIN - exponent;
    }
    if (drop > 63) {
        *ret_value = 0;
        return true;
    }
    uint64_t mantissa = quotient >> drop;
    uint64_t rest = quotient & (((uint64_t)1 << drop) - 1);
    uint64_t half = (uint64_t)1 << (drop - 1);
    if (rest > half || (rest == half && (sticky || (mantissa & 1) != 0))) {
        mantissa++;
    }
    exponent += drop;
    if (mantissa == HIDDEN_BIT * 2) {
        mantissa = HIDDEN_BIT;
        exponent++;
    }
    if (exponent > LAST_BIT_MAX) {
        return false;
    }
    *ret_value = double_of(mantissa, exponent);
    return true;
}

/** The exact way: divides whole numbers for 56 bits and what is left over. */
static bool read_exactly(const significand_t *number, double *ret_value)
{
    enum { QUOTIENT_BITS = 56 };
    aw__big_t value, whole;
    aw__big_set(&value, 0);
    aw__big_set(&whole, 1);
    for (unsigned i = 0; i < number->count; i++) {
        aw__big_scale(&value, 10, number->digit[i]);
    }
    if (number->exponent >= 0) {
        aw__big_scale10(&value, (unsigned)number->exponent);
    } else {
        aw__big_scale10(&whole, (unsigned)-number->exponent);
    }
    /* value / whole is then at least 2^-1 and below 2 */
    int shift = (int)aw__big_bits(&value) - (int)aw__big_bits(&whole);
    if (shift >= 0) {
        aw__big_shift(&whole, (unsigned)shift);
    } else {
        aw__big_shift(&value, (unsigned)-shift);
    }
    uint64_t quotient = 0;
    for (int bit = 0; bit < QUOTIENT_BITS; bit++) {
        quotient <<= 1;
        if (aw__big_compare(&value, &whole) >= 0) {
            aw__big_subtract(&value, &whole);
            quotient |= 1;
        }
        aw__big_shift(&value, 1);
    }
    return round_to_double(quotient, shift - (QUOTIENT_BITS - 1), value.count > 0, ret_value);
}

static bool read_double(aw_span_t token, double *ret_value)
{
    significand_t number;
    read_significand(token, &number);
    int64_t point = (int64_t)number.count + number.exponent;
    double value = 0;
    if (number.count > 0 && point > POINT_MAX) {
        return false;
    }
    if (number.count > 0 && point >= POINT_MIN) {
        if (number.count <= EXACT_DIGITS && number.exponent >= -EXACT_POWER &&
            number.exponent <= EXACT_POWER) {
            uint64_t digits = 0;
            for (unsigned i = 0; i < number.count; i++) {
                digits = digits * 10 + number.digit[i];
            }
            value = number.exponent < 0 ? (double)digits / powers[-number.exponent]
                                        : (double)digits * powers[number.exponent];
        } else if (!read_exactly(&number, &value)) {
            return false;
        }
    }
    *ret_value = token.data[0] == '-' ? -value : value;
    return true;
}

/** value = value * 10 + digit; false when that is more than 64 bits. */
static bool times_ten_plus(uint64_t *value, uint8_t digit)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
           !__builtin_add_overflow(*value, digit, value);
}

/** Reads an integer token other than -0 into 64 bits. */
static bool read_integer(aw_span_t token, aw__number_t *ret_number)
{
    bool negative = token.data[0] == '-';
    uint64_t value = 0;
    for (size_t at = negative; at < token.size; at++) {
        uint8_t digit = (uint8_t)(token.data[at] - '0');
        if (digit > 9 || !times_ten_plus(&value, digit)) {
            return false;
        }
    }
    if (!negative) {
        *ret_number = (aw__number_t){.kind = AW__NUMBER_UINT, .as.uint = value};
        return true;
    }
    if (value == 0 || value > (uint64_t)INT64_MAX + 1) {
        return false;
    }
    *ret_number = (aw__number_t){.kind = AW__NUMBER_INT, .as.sint = -(int64_t)(value - 1) - 1};
    return true;
}

bool aw__number_read(aw_span_t token, aw__number_t *ret_number)
{
    double value;
    assert(token.size > 0);
    if (read_integer(token, ret_number)) {
        return true;
    }
    if (!read_double(token, &value)) {
        return false;
    }
    *ret_number = (aw__number_t){.kind = AW__NUMBER_DOUBLE, .as.real = value};
    return true;
}

bool aw__number_whole(aw_span_t text, bool *ret_negative, uint64_t *ret_magnitude)
{
    significand_t number;
    uint64_t value = 0;
    size_t end = 0;
    if (!aw__number_pass(text, &end) || end < text.size) {
        return false;
    }
    read_significand(text, &number);
    for (unsigned i = 0; i < number.count; i++) {
        if (!times_ten_plus(&value, number.digit[i])) {
            return false;
        }
    }
    /* the last digit is not 0: what has a fraction is not whole, and zeros soon overflow */
    for (; value > 0 && number.exponent != 0; number.exponent--) {
        if (number.exponent < 0 || !times_ten_plus(&value, 0)) {
            return false;
        }
    }
    *ret_negative = text.data[0] == '-' && value > 0;
    *ret_magnitude = value;
    return true;
}
