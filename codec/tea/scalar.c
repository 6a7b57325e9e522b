#include "codec/tea/scalar.h"

#include <string.h>

static const uint16_t chars[256] = {
    ['a' ... 'z'] = AW__TEA_LOWER, ['A' ... 'Z'] = AW__TEA_UPPER, ['0' ... '9'] = AW__TEA_DIGIT,
    ['_'] = AW__TEA_UNDERSCORE,    ['-'] = AW__TEA_HYPHEN,        ['.'] = AW__TEA_DOT,
    ['/'] = AW__TEA_SLASH,         [':'] = AW__TEA_COLON,         ['+'] = AW__TEA_PLUS,
    [';'] = AW__TEA_MIME,          ['='] = AW__TEA_MIME,          [' '] = AW__TEA_MIME,
};

static bool all_of(aw_span_t text, size_t at, unsigned set)
{
    for (; at < text.size; at++) {
        if ((chars[text.data[at]] & set) == 0) {
            return false;
        }
    }
    return true;
}

bool aw__tea_is_name(aw_span_t text, const aw__tea_rule_t *rule)
{
    return text.size >= rule->min && text.size <= rule->max &&
           (chars[text.data[0]] & rule->first) != 0 && all_of(text, 1, rule->rest);
}

bool aw__tea_has_control(aw_span_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];
        if (byte < 0x20 || byte == 0x7f) {
            return true;
        }
        if (byte == 0xc2 && text.data[i + 1] < 0xa0) {
            return true; /* U+0080 to U+009F */
        }
    }
    return false;
}

bool aw__tea_is_text(aw_span_t text, const aw__tea_rule_t *rule)
{
    if (text.size < rule->min || text.size > rule->max) {
        return false;
    }
    if (text.size == 0) {
        return true;
    }
    switch (rule->refused) {
    case AW__TEA_REFUSE_NONE:
        return true;
    case AW__TEA_REFUSE_NUL:
        return memchr(text.data, '\0', text.size) == NULL;
    case AW__TEA_REFUSE_NUL_CR:
        return memchr(text.data, '\0', text.size) == NULL &&
               memchr(text.data, '\r', text.size) == NULL;
    case AW__TEA_REFUSE_CONTROLS:
        break;
    }
    return !aw__tea_has_control(text);
}

size_t aw__tea_characters(aw_span_t text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += (text.data[i] & 0xc0) != 0x80;
    }
    return count;
}

bool aw__tea_is_image_type(aw_span_t text, const aw__tea_rule_t *rule)
{
    static const char prefix[] = "image/";
    return text.size >= sizeof prefix && memcmp(text.data, prefix, sizeof prefix - 1) == 0 &&
           all_of(text, sizeof prefix - 1, rule->rest);
}

bool aw__tea_is_id(aw_span_t text)
{
    if (text.size != AW_TEA_ID_SIZE) {
        return false;
    }
    for (size_t i = 0; i < AW_TEA_ID_SIZE; i++) {
        uint8_t byte = text.data[i];
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (byte != '-') {
                return false;
            }
        } else if (!((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'))) {
            return false;
        }
    }
    return text.data[14] == '7';
}

/** A decimal number without a leading zero, up to max. */
static bool read_decimal(aw_span_t text, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (text.size == 0 || (text.size > 1 && text.data[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *ret_value = value;
    return value <= max;
}

bool aw__tea_sequence_read(aw_span_t text, uint64_t *ret_sequence)
{
    uint64_t value;
    if (!read_decimal(text, UINT64_MAX, &value)) {
        return false;
    }
    *ret_sequence = value;
    return true;
}

bool aw__tea_version_read(aw_span_t text, uint32_t *ret_major, uint32_t *ret_minor)
{
    uint64_t major, minor;
    const uint8_t *dot = text.size > 0 ? memchr(text.data, '.', text.size) : NULL;
    if (dot == NULL) {
        return false;
    }
    size_t before = (size_t)(dot - text.data);
    if (!read_decimal(aw_span_view(text.data, before), AW_TEA_VERSION_PART_MAX, &major) ||
        !read_decimal(aw_span_view(dot + 1, text.size - before - 1), AW_TEA_VERSION_PART_MAX,
                      &minor)) {
        return false;
    }
    *ret_major = (uint32_t)major;
    *ret_minor = (uint32_t)minor;
    return true;
}

bool aw__tea_is_amount(aw_span_t text)
{
    size_t whole = 0;
    while (whole < text.size && (chars[text.data[whole]] & AW__TEA_DIGIT) != 0) {
        whole++;
    }
    if (whole == 0 || (whole > 1 && text.data[0] == '0') || whole > AW_TEA_AMOUNT_DIGITS_MAX) {
        return false;
    }
    if (whole == text.size) {
        return true;
    }
    size_t fraction = text.size - whole - 1;
    return text.data[whole] == '.' && fraction > 0 && fraction <= AW_TEA_AMOUNT_FRACTION_MAX &&
           whole + fraction <= AW_TEA_AMOUNT_DIGITS_MAX && all_of(text, whole + 1, AW__TEA_DIGIT) &&
           text.data[text.size - 1] != '0';
}

/** One more than the value of a Base64 digit, 0 for any other byte. */
static const uint8_t base64_values[256] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  63,
    0,  0,  0,  64, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 0,  0,  0,  0,  0,  0,  0,  1,
    2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24, 25, 26, 0,  0,  0,  0,  0,  0,  27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
    40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 0,  0,  0,  0,  0,
};

bool aw__tea_is_base64(aw_span_t text)
{
    if (text.size == 0 || text.size % 4 != 0) {
        return false;
    }
    size_t padding =
        (text.data[text.size - 1] == '=' ? 1u : 0u) + (text.data[text.size - 2] == '=' ? 1u : 0u);
    size_t digits = text.size - padding;
    for (size_t i = 0; i < digits; i++) {
        if (base64_values[text.data[i]] == 0) {
            return false;
        }
    }
    /* the last digit has two bits too many before one '=', four before two */
    unsigned last = base64_values[text.data[digits - 1]] - 1u;
    return (last & ((1u << 2 * padding) - 1)) == 0;
}

bool aw__tea_is_namespace(aw_span_t text)
{
    size_t labels = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != '.') {
            if ((chars[text.data[i]] & (AW__TEA_LOWER | AW__TEA_DIGIT | AW__TEA_HYPHEN)) == 0) {
                return false;
            }
            continue;
        }
        if (i == begin || (chars[text.data[begin]] & AW__TEA_LOWER) == 0 ||
            text.data[i - 1] == '-') {
            return false;
        }
        labels++;
        begin = i + 1;
    }
    return labels >= 2;
}
