#include "bridge/core/text.h"

#include <assert.h>

size_t ab_text_decimal(int64_t number, char ret_text[AB_DECIMAL_MAX])
{
    char digits[AB_DECIMAL_MAX];
    size_t count = 0;
    size_t size = 0;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (number < 0) {
        ret_text[size++] = '-';
    }
    while (count > 0) {
        ret_text[size++] = digits[--count];
    }
    ret_text[size] = '\0';
    return size;
}

/** The length of the well-formed character at the head of text (RFC 3629), 0 when there is none. */
static size_t character_size(aw_span_t text)
{
    const uint8_t *p = text.data;
    uint8_t low = 0x80;
    uint8_t high = 0xbf;
    size_t size;

    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return 0;
    }
    size = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (text.size < size) {
        return 0;
    }
    /* The second byte's range keeps out overlong forms, surrogates and what lies above U+10FFFF. */
    if (p[0] == 0xe0) {
        low = 0xa0;
    } else if (p[0] == 0xed) {
        high = 0x9f;
    } else if (p[0] == 0xf0) {
        low = 0x90;
    } else if (p[0] == 0xf4) {
        high = 0x8f;
    }
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf) {
            return 0;
        }
    }
    return size;
}

static bool is_control(const uint8_t *character, size_t size)
{
    return (size == 1 && (character[0] < 0x20 || character[0] == 0x7f)) ||
           (size == 2 && character[0] == 0xc2 && character[1] < 0xa0);
}

size_t ab_text_clean(aw_span_t text, char *ret_text, size_t capacity)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t size = 0;

    assert(capacity >= 1);
    for (size_t i = 0; i < text.size;) {
        aw_span_t rest = aw_span_view(text.data + i, text.size - i);
        size_t taken = character_size(rest);
        const void *from = rest.data;
        size_t given = taken;

        if (taken == 0 || is_control(rest.data, taken)) {
            taken = taken == 0 ? 1 : taken;
            from = replacement;
            given = sizeof(replacement) - 1;
        }
        if (given > capacity - 1 - size) {
            break;
        }
        memcpy(ret_text + size, from, given);
        size += given;
        i += taken;
    }
    ret_text[size] = '\0';
    return size;
}
