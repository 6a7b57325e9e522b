#include "codec/tea/url.h"

#include <string.h>

#include "codec/tea/host.h"
#include "codec/tea/scalar.h"

/** A URL that is being written. */
typedef struct output {
    uint8_t *data;
    size_t size;
} output_t;

static void put_byte(output_t *out, uint8_t byte)
{
    out->data[out->size++] = byte;
}

/** A byte as it is, or as %XX where it is not ASCII or one of escaped. */
static void put_escaped(output_t *out, uint8_t byte, const char *escaped)
{
    static const char hex[] = "0123456789ABCDEF";
    if (byte < 0x80 && strchr(escaped, byte) == NULL) {
        put_byte(out, byte);
        return;
    }
    put_byte(out, '%');
    put_byte(out, (uint8_t)hex[byte >> 4]);
    put_byte(out, (uint8_t)hex[byte & 15]);
}

static bool is_slash(uint8_t byte)
{
    return byte == '/' || byte == '\\';
}

static aw_span_t cut(aw_span_t text, size_t begin, size_t end)
{
    return aw_span_view(text.data + begin, end - begin);
}

/** The length of "http:" or "https:" at the start, in either case; 0 for any other scheme. */
static size_t scheme_size(aw_span_t text, bool *ret_secure)
{
    static const char name[] = "https";
    size_t at = 0;
    while (at < text.size && at < 5 && (text.data[at] | 0x20) == name[at]) {
        at++;
    }
    if (at < 4 || at >= text.size || text.data[at] != ':') {
        return 0;
    }
    *ret_secure = at == 5;
    return at + 1;
}

/** Reads the port behind the host. False when it is none. */
static bool read_port(aw_span_t digits, uint32_t standard, uint32_t *ret_port)
{
    uint32_t port = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return false;
        }
        port = port * 10 + (uint32_t)(digits.data[i] - '0');
        if (port > UINT16_MAX) {
            return false;
        }
    }
    *ret_port = digits.size > 0 ? port : standard;
    return true;
}

/** Where the host ends: at the colon of a port, which none of IPv6's is. */
static size_t host_size(aw_span_t authority)
{
    bool bracket = false;
    for (size_t i = 0; i < authority.size; i++) {
        uint8_t byte = authority.data[i];
        if (byte == ':' && !bracket) {
            return i;
        }
        bracket = byte == '[' || (bracket && byte != ']');
    }
    return authority.size;
}

/** Writes host and port. False when the authority has a user, no host, or a bad one. */
static bool put_authority(output_t *out, aw_span_t authority, bool secure)
{
    uint32_t standard = secure ? 443 : 80;
    uint32_t port = standard;
    for (size_t i = authority.size; i-- > 0;) {
        if (authority.data[i] == '@') {
            /* an empty name with an empty password is no user */
            if (i > 1 || (i == 1 && authority.data[0] != ':')) {
                return false;
            }
            authority = cut(authority, i + 1, authority.size);
            break;
        }
    }
    size_t end = host_size(authority);
    size_t written = aw__tea_host_write(cut(authority, 0, end), out->data + out->size);
    if (written == 0) {
        return false;
    }
    out->size += written;
    if (end < authority.size &&
        !read_port(cut(authority, end + 1, authority.size), standard, &port)) {
        return false;
    }
    if (port != standard) {
        uint32_t divisor = 10000;
        while (port < divisor && divisor > 1) {
            divisor /= 10;
        }
        put_byte(out, ':');
        for (; divisor > 0; divisor /= 10) {
            put_byte(out, (uint8_t)('0' + port / divisor % 10));
        }
    }
    return true;
}

/** How many dots a segment stands for, escaped ones too: 1, 2, or 0 for any other segment. */
static unsigned dots_of(aw_span_t segment)
{
    unsigned dots = 0;
    for (size_t i = 0; i < segment.size; dots++) {
        if (segment.data[i] == '.') {
            i++;
        } else if (segment.size - i >= 3 && segment.data[i] == '%' && segment.data[i + 1] == '2' &&
                   (segment.data[i + 2] | 0x20) == 'e') {
            i += 3;
        } else {
            return 0;
        }
    }
    return dots <= 2 ? dots : 0;
}

/** Writes the path, which begins in a slash or is empty. */
static void put_path(output_t *out, aw_span_t path)
{
    size_t root = out->size; /* each segment is written with the slash before it */
    size_t at = path.size > 0 && is_slash(path.data[0]) ? 1 : 0;
    for (;;) {
        size_t end = at;
        while (end < path.size && !is_slash(path.data[end])) {
            end++;
        }
        aw_span_t segment = cut(path, at, end);
        unsigned dots = dots_of(segment);
        bool last = end == path.size;
        if (dots == 2) {
            while (out->size > root && out->data[--out->size] != '/') {
            }
        }
        if (dots == 0 || last) {
            put_byte(out, '/');
        }
        for (size_t i = 0; dots == 0 && i < segment.size; i++) {
            put_escaped(out, segment.data[i], "\"#<>?`{}");
        }
        if (last) {
            return;
        }
        at = end + 1;
    }
}

static size_t find(aw_span_t text, size_t at, const char *bytes)
{
    while (at < text.size && (text.data[at] == '\0' || strchr(bytes, text.data[at]) == NULL)) {
        at++;
    }
    return at;
}

size_t aw__tea_url_write(aw_span_t text, bool fragment, uint8_t ret_text[AW__TEA_URL_ROOM])
{
    output_t out = {.data = ret_text};
    bool secure = false;
    if (text.size > AW_TEA_SOURCE_URL_MAX || aw__tea_has_control(text) ||
        (text.size > 0 && memchr(text.data, ' ', text.size) != NULL)) {
        return 0;
    }
    size_t at = scheme_size(text, &secure);
    if (at == 0) {
        return 0;
    }
    memcpy(out.data, secure ? "https://" : "http://", secure ? 8 : 7);
    out.size = secure ? 8 : 7;
    while (at < text.size && is_slash(text.data[at])) {
        at++;
    }
    size_t path = find(text, at, "/\\?#");
    size_t query = find(text, path, "?#");
    size_t end = find(text, query, "#");
    if (!put_authority(&out, cut(text, at, path), secure)) {
        return 0;
    }
    put_path(&out, cut(text, path, query));
    for (size_t i = query; i < end; i++) {
        put_escaped(&out, text.data[i], "\"#<>'");
    }
    for (size_t i = end; fragment && i < text.size; i++) {
        put_escaped(&out, text.data[i], "\"<>`");
    }
    return out.size;
}
