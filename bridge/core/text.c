#include "bridge/core/text.h"

#include <assert.h>

#include "agentwire/utf8.h"

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

bool ab_text_number(aw_span_t text, int64_t max, int64_t *ret_number)
{
    int64_t number = 0;

    if (text.size == 0) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        int64_t digit = text.data[i] - '0';

        if (digit < 0 || digit > 9 || number > (max - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return true;
}

/** The length of the character that begins with this byte, in text known to be well-formed. */
static size_t character_size(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static bool is_control(const uint8_t *character, size_t size)
{
    return (size == 1 && (character[0] < 0x20 || character[0] == 0x7f)) ||
           (size == 2 && character[0] == 0xc2 && character[1] < 0xa0);
}

size_t ab_text_clean(aw_span_t text, char *ret_text, size_t capacity)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t well_formed_to = aw_utf8_prefix(text);
    size_t size = 0;

    assert(capacity >= 1);
    for (size_t i = 0; i < text.size;) {
        bool good = i < well_formed_to;
        size_t taken = good ? character_size(text.data[i]) : 1;
        bool replaced = !good || is_control(text.data + i, taken);
        size_t given = replaced ? sizeof(replacement) - 1 : taken;

        if (given > capacity - 1 - size) {
            break;
        }
        memcpy(ret_text + size, replaced ? (const void *)replacement : text.data + i, given);
        size += given;
        i += taken;
        if (!good) {
            well_formed_to = i + aw_utf8_prefix(aw_span_view(text.data + i, text.size - i));
        }
    }
    ret_text[size] = '\0';
    return size;
}
