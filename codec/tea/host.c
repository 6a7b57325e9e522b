#include "codec/tea/host.h"

#include <stdio.h>
#include <string.h>

/** Longest text of an address, NUL included. */
#define ADDRESS_MAX 64u
#define PIECES      8u

static int hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* IPv4 */

/** Reads one part: decimal, octal behind a 0, hexadecimal behind 0x. Values beyond 2^32 stay beyond
 *  it. */
static bool read_part(aw_span_t part, uint64_t *ret_value)
{
    unsigned base = 10;
    size_t at = 0;
    uint64_t value = 0;
    if (part.size == 0) {
        return false;
    }
    if (part.size >= 2 && part.data[0] == '0') {
        bool hex = (part.data[1] | 0x20) == 'x';
        base = hex ? 16 : 8;
        at = hex ? 2 : 1;
    }
    for (; at < part.size; at++) {
        int digit = hex_value(part.data[at]);
        if (digit < 0 || (unsigned)digit >= base) {
            return false;
        }
        if (value <= UINT32_MAX) {
            value = value * base + (unsigned)digit;
        }
    }
    *ret_value = value;
    return true;
}

static aw_span_t last_part(aw_span_t name)
{
    size_t end = name.size;
    if (end > 0 && name.data[end - 1] == '.') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && name.data[begin - 1] != '.') {
        begin--;
    }
    return aw_span_view(name.data + begin, end - begin);
}

/** True when the name can only be an IPv4 address, a good or a bad one. */
static bool ends_in_number(aw_span_t name)
{
    aw_span_t last = last_part(name);
    uint64_t value;
    size_t digits = 0;
    while (digits < last.size && last.data[digits] >= '0' && last.data[digits] <= '9') {
        digits++;
    }
    return last.size > 0 && (digits == last.size || read_part(last, &value));
}

/** Up to four parts, of which the last fills what the others leave. */
static bool read_ipv4(aw_span_t name, uint32_t *ret_address)
{
    uint64_t parts[4];
    size_t count = 0;
    size_t begin = 0;
    if (name.size > 1 && name.data[name.size - 1] == '.') {
        name.size--;
    }
    for (size_t i = 0; i <= name.size; i++) {
        if (i < name.size && name.data[i] != '.') {
            continue;
        }
        if (count == 4 || !read_part(aw_span_view(name.data + begin, i - begin), &parts[count])) {
            return false;
        }
        count++;
        begin = i + 1;
    }
    uint64_t address = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255) {
            return false;
        }
        address |= parts[i] << (24 - 8 * i);
    }
    if (parts[count - 1] >= (uint64_t)1 << (8 * (5 - count))) {
        return false;
    }
    *ret_address = (uint32_t)(address | parts[count - 1]);
    return true;
}

/* IPv6 */

/** The text of an address while it is read. */
typedef struct address {
    aw_span_t text;
    size_t at;
    uint16_t piece[PIECES];
    size_t count;
    size_t gap; /* the piece before which "::" stands; PIECES + 1 without one */
} address_t;

static int peek(const address_t *address, size_t ahead)
{
    return address->at + ahead < address->text.size ? address->text.data[address->at + ahead] : -1;
}

/** Four decimal bytes in place of the last two pieces. */
static bool read_embedded_ipv4(address_t *address)
{
    unsigned bytes[4];
    if (address->count > PIECES - 2) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && peek(address, 0) != '.') {
            return false;
        }
        address->at += i > 0;
        unsigned value = 0;
        size_t digits = 0;
        for (int byte; (byte = peek(address, 0)) >= '0' && byte <= '9'; digits++) {
            if (digits > 0 && value == 0) {
                return false; /* a leading zero */
            }
            value = value * 10 + (unsigned)(byte - '0');
            if (value > 255) {
                return false;
            }
            address->at++;
        }
        if (digits == 0) {
            return false;
        }
        bytes[i] = value;
    }
    address->piece[address->count++] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    address->piece[address->count++] = (uint16_t)(bytes[2] << 8 | bytes[3]);
    return address->at == address->text.size;
}

/** One piece of up to four hexadecimal digits and the colon behind it. */
static bool read_piece(address_t *address)
{
    size_t start = address->at;
    unsigned value = 0;
    for (int byte; address->at - start < 4 && (byte = peek(address, 0)) >= 0;) {
        int digit = hex_value((uint8_t)byte);
        if (digit < 0) {
            break;
        }
        value = value << 4 | (unsigned)digit;
        address->at++;
    }
    if (peek(address, 0) == '.') {
        if (address->at == start) {
            return false;
        }
        address->at = start;
        return read_embedded_ipv4(address);
    }
    if (peek(address, 0) == ':') {
        address->at++;
        if (address->at == address->text.size) {
            return false;
        }
    } else if (peek(address, 0) >= 0) {
        return false;
    }
    address->piece[address->count++] = (uint16_t)value;
    return true;
}

static bool read_ipv6(aw_span_t text, uint16_t ret_piece[PIECES])
{
    address_t address = {.text = text, .gap = PIECES + 1};
    if (peek(&address, 0) == ':') {
        if (peek(&address, 1) != ':') {
            return false;
        }
        address.at = 2;
        address.gap = 0;
    }
    while (peek(&address, 0) >= 0) {
        if (address.count == PIECES) {
            return false;
        }
        if (peek(&address, 0) == ':') {
            if (address.gap <= PIECES) {
                return false;
            }
            address.at++;
            address.gap = address.count;
            continue;
        }
        if (!read_piece(&address)) {
            return false;
        }
    }
    if (address.gap > PIECES) {
        if (address.count != PIECES) {
            return false;
        }
        address.gap = PIECES;
    } else if (address.count == PIECES) {
        return false;
    }
    size_t behind = address.count - address.gap;
    memset(ret_piece, 0, PIECES * sizeof ret_piece[0]);
    memcpy(ret_piece, address.piece, address.gap * sizeof ret_piece[0]);
    memcpy(ret_piece + PIECES - behind, address.piece + address.gap, behind * sizeof ret_piece[0]);
    return true;
}

/** The first longest run of two or more zero pieces; its length, 0 when there is none. */
static size_t longest_zeros(const uint16_t piece[PIECES], size_t *ret_begin)
{
    size_t longest = 1;
    size_t begin = 0;
    for (size_t i = 0; i < PIECES; i++) {
        begin = piece[i] != 0 ? i + 1 : begin;
        if (i + 1 - begin > longest) {
            longest = i + 1 - begin;
            *ret_begin = begin;
        }
    }
    return longest > 1 ? longest : 0;
}

static size_t write_ipv6(const uint16_t piece[PIECES], uint8_t *ret_text)
{
    char text[ADDRESS_MAX] = "[";
    size_t size = 1;
    size_t begin = PIECES;
    size_t zeros = longest_zeros(piece, &begin);
    for (size_t i = 0; i < PIECES;) {
        if (zeros > 0 && i == begin) {
            size += (size_t)snprintf(text + size, ADDRESS_MAX - size, i == 0 ? "::" : ":");
            i += zeros;
            continue;
        }
        size += (size_t)snprintf(text + size, ADDRESS_MAX - size, i + 1 < PIECES ? "%x:" : "%x",
                                 piece[i]);
        i++;
    }
    text[size++] = ']';
    memcpy(ret_text, text, size);
    return size;
}

/** Lower case, escapes decoded. 0 when a character is left that no name may have. */
static size_t write_name(aw_span_t host, uint8_t *ret_text)
{
    size_t size = 0;
    for (size_t i = 0; i < host.size; i++) {
        uint8_t byte = host.data[i];
        if (byte == '%' && host.size - i >= 3 && hex_value(host.data[i + 1]) >= 0 &&
            hex_value(host.data[i + 2]) >= 0) {
            byte = (uint8_t)(hex_value(host.data[i + 1]) << 4 | hex_value(host.data[i + 2]));
            i += 2;
        }
        if (byte <= ' ' || byte >= 0x7f || strchr("#%/:<>?@[\\]^|", byte) != NULL) {
            return 0;
        }
        ret_text[size++] = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
    }
    return size;
}

size_t aw__tea_host_write(aw_span_t host, uint8_t *ret_text)
{
    uint16_t piece[PIECES];
    uint32_t address;
    if (host.size > 0 && host.data[0] == '[') {
        if (host.size < 2 || host.data[host.size - 1] != ']' ||
            !read_ipv6(aw_span_view(host.data + 1, host.size - 2), piece)) {
            return 0;
        }
        return write_ipv6(piece, ret_text);
    }
    size_t size = write_name(host, ret_text);
    aw_span_t name = aw_span_view(ret_text, size);
    if (size == 0 || !ends_in_number(name)) {
        return size;
    }
    if (!read_ipv4(name, &address)) {
        return 0;
    }
    char text[ADDRESS_MAX];
    int length = snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                          address >> 8 & 255, address & 255);
    memcpy(ret_text, text, (size_t)length);
    return (size_t)length;
}
