#include "codec/json/whole.h"

/* Exponents stop here: no text is long enough to make up for more. */
#define EXPONENT_MAX INT64_C(1000000000000)

/* The digits that count, from the first to the last that is not 0. */
typedef struct digits {
    uint64_t value;   /* of those before the zeros in hand */
    bool too_large;   /* the value is more than 64 bits */
    int64_t zeros;    /* seen behind them, counted on once another digit comes */
    int64_t fraction; /* digits behind the point, those zeros included */
} digits_t;

static void times_ten_plus(digits_t *digits, uint64_t digit)
{
    digits->too_large = digits->too_large ||
                        __builtin_mul_overflow(digits->value, 10, &digits->value) ||
                        __builtin_add_overflow(digits->value, digit, &digits->value);
}

static void add_digit(digits_t *digits, uint8_t digit)
{
    if (digit == '0') {
        digits->zeros += digits->value != 0 || digits->too_large;
        return;
    }
    for (; digits->zeros > 0 && !digits->too_large; digits->zeros--) {
        times_ten_plus(digits, 0);
    }
    digits->zeros = 0;
    times_ten_plus(digits, (uint64_t)(digit - '0'));
}

/* Passes over a run of decimal digits, which may be empty. Returns how many there were. */
static size_t take_digits(aw_span_t *text, digits_t *digits)
{
    size_t count = 0;
    for (; count < text->size && text->data[count] >= '0' && text->data[count] <= '9'; count++) {
        add_digit(digits, text->data[count]);
    }
    text->data += count;
    text->size -= count;
    return count;
}

static bool take(aw_span_t *text, char wanted)
{
    if (text->size == 0 || text->data[0] != (uint8_t)wanted) {
        return false;
    }
    text->data++;
    text->size--;
    return true;
}

/* An exponent behind its letter; one that is beyond all sense stops at EXPONENT_MAX. */
static bool take_exponent(aw_span_t *text, int64_t *ret_exponent)
{
    const bool negative = take(text, '-');
    if (!negative) {
        (void)take(text, '+');
    }
    int64_t exponent = 0;
    size_t count = 0;
    for (; text->size > 0 && text->data[0] >= '0' && text->data[0] <= '9'; count++) {
        exponent = exponent * 10 + (text->data[0] - '0');
        exponent = exponent < EXPONENT_MAX ? exponent : EXPONENT_MAX;
        text->data++;
        text->size--;
    }
    *ret_exponent = negative ? -exponent : exponent;
    return count > 0;
}

bool aw__whole_read(aw_span_t text, bool *ret_negative, uint64_t *ret_magnitude)
{
    digits_t digits = {.value = 0};
    int64_t exponent = 0;
    const bool minus = take(&text, '-');
    const bool leading_zero = text.size > 0 && text.data[0] == '0';
    const size_t whole = take_digits(&text, &digits);
    if (whole == 0 || (leading_zero && whole > 1)) {
        return false;
    }
    if (take(&text, '.')) {
        digits.fraction = (int64_t)take_digits(&text, &digits);
        if (digits.fraction == 0) {
            return false;
        }
    }
    if ((take(&text, 'e') || take(&text, 'E')) && !take_exponent(&text, &exponent)) {
        return false;
    }
    if (text.size > 0) {
        return false;
    }
    int64_t zeros = digits.zeros + exponent - digits.fraction; /* to put behind the value */
    if (digits.value == 0 && !digits.too_large) {
        zeros = 0;
    }
    for (; zeros > 0 && !digits.too_large; zeros--) {
        times_ten_plus(&digits, 0);
    }
    if (zeros < 0 || digits.too_large) {
        return false;
    }
    *ret_negative = minus && digits.value != 0;
    *ret_magnitude = digits.value;
    return true;
}
