#include "codec/base/base64.h"

/* The six bits of a character, more than 63 for one that is none. */
static uint32_t digit_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - (uint32_t)'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - (uint32_t)'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - (uint32_t)'0' + 52;
    }
    if (c == '+' || c == '-') {
        return 62;
    }
    return c == '/' || c == '_' ? 63 : 64;
}

/* How many characters stand before the padding; the padding must make whole quads. */
static size_t without_padding(aw_span_t text)
{
    size_t size = text.size;
    if (size % 4 == 0) {
        for (size_t most = 2; most > 0 && size > 0 && text.data[size - 1] == '='; most--) {
            size--;
        }
    }
    return size;
}

bool aw__base64_decode(aw_span_t text, uint8_t *ret_bytes, size_t *ret_size, size_t *ret_offset)
{
    const size_t digits = without_padding(text);
    uint32_t bits = 0; /* those that are not written yet are the lowest */
    unsigned count = 0;
    size_t size = 0;
    for (size_t i = 0; i < digits; i++) {
        const uint32_t value = digit_value(text.data[i]);
        if (value > 63) {
            *ret_offset = i;
            return false;
        }
        bits = bits << 6 | value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            ret_bytes[size++] = (uint8_t)(bits >> count);
        }
    }
    if (digits % 4 == 1) { /* six bits are no byte */
        *ret_offset = text.size;
        return false;
    }
    *ret_size = size;
    return true;
}
