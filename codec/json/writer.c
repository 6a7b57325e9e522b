#include "agentwire/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "agentwire/utf8.h"
#include "codec/json/number.h"

/** The first buffer taken from an arena, bytes. */
#define FIRST_CAPACITY 1024u
/** Blanks a level of AW_JSON_INDENTED. */
#define INDENT 2u
/** Longest decimal uint64, and longest decimal int64 with its sign. */
#define DIGITS_MAX 20u

#define WORD_BITS 64u

_Static_assert(AW_JSON_DEPTH_MAX < 2 * WORD_BITS, "a level is a bit of two words");

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** What stands behind the backslash of a character that must be escaped, 'u' for \u00xx; 0 for a
 *  character that stands for itself. */
static const char escapes[256] = {
    ['\b'] = 'b',  ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"',
    ['\\'] = '\\', [0x00] = 'u', [0x01] = 'u', [0x02] = 'u', [0x03] = 'u', [0x04] = 'u',
    [0x05] = 'u',  [0x06] = 'u', [0x07] = 'u', [0x0b] = 'u', [0x0e] = 'u', [0x0f] = 'u',
    [0x10] = 'u',  [0x11] = 'u', [0x12] = 'u', [0x13] = 'u', [0x14] = 'u', [0x15] = 'u',
    [0x16] = 'u',  [0x17] = 'u', [0x18] = 'u', [0x19] = 'u', [0x1a] = 'u', [0x1b] = 'u',
    [0x1c] = 'u',  [0x1d] = 'u', [0x1e] = 'u', [0x1f] = 'u',
};

static void start(aw_json_writer_t *writer, aw_json_style_t style)
{
    *writer = (aw_json_writer_t){.style = style, .status = AW_OK};
}

void aw_json_init_buffer(aw_json_writer_t *writer, aw_json_style_t style, void *buffer,
                         size_t capacity_bytes)
{
    start(writer, style);
    writer->data = buffer;
    writer->capacity = capacity_bytes;
}

void aw_json_init_arena(aw_json_writer_t *writer, aw_json_style_t style, aw_arena_t *arena)
{
    start(writer, style);
    writer->arena = arena;
}

/** Makes room for count bytes more. Doubling keeps the copying linear in the length of the text. */
static bool grow(aw_json_writer_t *writer, size_t count)
{
    if (writer->arena == NULL || count > SIZE_MAX / 2 - writer->size) {
        writer->status = AW_STATUS_LIMIT_SIZE;
        return false;
    }
    size_t capacity = writer->capacity > 0 ? writer->capacity : FIRST_CAPACITY;
    while (capacity - writer->size < count) {
        capacity *= 2;
    }
    uint8_t *data = aw_arena_alloc(writer->arena, capacity);
    if (data == NULL) {
        writer->status = aw_arena_status(writer->arena);
        return false;
    }
    if (writer->size > 0) {
        memcpy(data, writer->data, writer->size);
    }
    writer->data = data;
    writer->capacity = capacity;
    return true;
}

/** The place of count bytes more, or NULL when there was or is trouble. */
static uint8_t *reserve(aw_json_writer_t *writer, size_t count)
{
    if (writer->status != AW_OK) {
        return NULL;
    }
    if (writer->capacity - writer->size < count && !grow(writer, count)) {
        return NULL;
    }
    uint8_t *place = writer->data + writer->size;
    writer->size += count;
    return place;
}

static void put(aw_json_writer_t *writer, const void *bytes, size_t size)
{
    uint8_t *place = reserve(writer, size);
    if (place != NULL && size > 0) {
        memcpy(place, bytes, size);
    }
}

static void put_byte(aw_json_writer_t *writer, char byte)
{
    put(writer, &byte, 1);
}

static void put_line(aw_json_writer_t *writer)
{
    if (writer->style == AW_JSON_INDENTED) {
        put_byte(writer, '\n');
        size_t blanks = (size_t)writer->depth * INDENT;
        uint8_t *place = reserve(writer, blanks);
        if (place != NULL) {
            memset(place, ' ', blanks);
        }
    }
}

/** The bit of the level in hand. */
static bool has_bit(const aw_json_writer_t *writer, const uint64_t words[2])
{
    return (words[writer->depth / WORD_BITS] >> writer->depth % WORD_BITS & 1) != 0;
}

static void set_bit(const aw_json_writer_t *writer, uint64_t words[2], bool value)
{
    uint64_t bit = (uint64_t)1 << writer->depth % WORD_BITS;
    uint64_t *word = &words[writer->depth / WORD_BITS];
    *word = value ? *word | bit : *word & ~bit;
}

/** The comma and the line before a member or an element. */
static void put_separator(aw_json_writer_t *writer)
{
    if (has_bit(writer, writer->has_member)) {
        put_byte(writer, ',');
    }
    set_bit(writer, writer->has_member, true);
    put_line(writer);
}

/** What must stand before a value, wherever it is. */
static void before_value(aw_json_writer_t *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    assert(!has_bit(writer, writer->is_object)); /* a member needs its key */
    if (writer->depth > 0) {
        put_separator(writer);
    } else {
        assert(!has_bit(writer, writer->has_member)); /* a text is one value */
        set_bit(writer, writer->has_member, true);
    }
}

static void open_level(aw_json_writer_t *writer, char bracket, bool object)
{
    before_value(writer);
    put_byte(writer, bracket);
    assert(writer->depth < AW_JSON_DEPTH_MAX);
    writer->depth++;
    set_bit(writer, writer->has_member, false);
    set_bit(writer, writer->is_object, object);
}

static void close_level(aw_json_writer_t *writer, char bracket, bool object)
{
    assert(writer->depth > 0 && !writer->after_key);
    assert(has_bit(writer, writer->is_object) == object);
    bool has_member = has_bit(writer, writer->has_member);
    writer->depth--;
    if (has_member) {
        put_line(writer);
    }
    put_byte(writer, bracket);
}

void aw_json_object_open(aw_json_writer_t *writer)
{
    open_level(writer, '{', true);
}

void aw_json_object_close(aw_json_writer_t *writer)
{
    close_level(writer, '}', true);
}

void aw_json_array_open(aw_json_writer_t *writer)
{
    open_level(writer, '[', false);
}

void aw_json_array_close(aw_json_writer_t *writer)
{
    close_level(writer, ']', false);
}

static void put_escape(aw_json_writer_t *writer, uint8_t byte, char escape)
{
    if (escape == 'u') {
        const char text[] = {'\\', 'u', '0', '0', hex_digits[byte >> 4], hex_digits[byte & 15]};
        put(writer, text, sizeof text);
    } else {
        const char text[] = {'\\', escape};
        put(writer, text, sizeof text);
    }
}

/** A text with its quotes. Runs without escapes are copied at once. */
static void put_string(aw_json_writer_t *writer, aw_span_t text)
{
    if (writer->status == AW_OK && !aw_utf8_valid(text)) {
        writer->status = AW_STATUS_INVALID_UTF8;
    }
    put_byte(writer, '"');
    size_t run = 0;
    for (size_t i = 0; i < text.size; i++) {
        char escape = escapes[text.data[i]];
        if (escape != 0) {
            put(writer, text.data + run, i - run);
            put_escape(writer, text.data[i], escape);
            run = i + 1;
        }
    }
    if (run < text.size) {
        put(writer, text.data + run, text.size - run);
    }
    put_byte(writer, '"');
}

void aw_json_key(aw_json_writer_t *writer, aw_span_t key)
{
    assert(has_bit(writer, writer->is_object) && !writer->after_key);
    put_separator(writer);
    put_string(writer, key);
    put(writer, ": ", writer->style == AW_JSON_INDENTED ? 2 : 1);
    writer->after_key = true;
}

void aw_json_key_text(aw_json_writer_t *writer, const char *key)
{
    aw_json_key(writer, aw_span_text_view(key));
}

void aw_json_string(aw_json_writer_t *writer, aw_span_t text)
{
    before_value(writer);
    put_string(writer, text);
}

void aw_json_text(aw_json_writer_t *writer, const char *text)
{
    aw_json_string(writer, aw_span_text_view(text));
}

/** Decimal digits into the end of text; returns where they begin. */
static size_t digits_of(uint64_t value, char text[DIGITS_MAX])
{
    size_t at = DIGITS_MAX;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return at;
}

static void put_int64(aw_json_writer_t *writer, int64_t value)
{
    char text[DIGITS_MAX];
    /* -INT64_MIN does not exist; its absolute value does as a uint64_t */
    size_t at = digits_of(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, text);
    if (value < 0) {
        text[--at] = '-';
    }
    put(writer, text + at, DIGITS_MAX - at);
}

void aw_json_int64(aw_json_writer_t *writer, int64_t value)
{
    before_value(writer);
    put_int64(writer, value);
}

void aw_json_uint64(aw_json_writer_t *writer, uint64_t value)
{
    char text[DIGITS_MAX];
    size_t at = digits_of(value, text);
    before_value(writer);
    put(writer, text + at, DIGITS_MAX - at);
}

void aw_json_double(aw_json_writer_t *writer, double value, aw_json_numbers_t layout)
{
    char text[AW__DOUBLE_TEXT_MAX];
    if (!isfinite(value)) {
        writer->status = writer->status == AW_OK ? AW_STATUS_INVALID_ARGUMENT : writer->status;
        value = 0;
    }
    size_t size = aw__double_text(value, layout, text);
    before_value(writer);
    put(writer, text, size);
}

void aw_json_int64_string(aw_json_writer_t *writer, int64_t value)
{
    before_value(writer);
    put_byte(writer, '"');
    put_int64(writer, value);
    put_byte(writer, '"');
}

void aw_json_bool(aw_json_writer_t *writer, bool value)
{
    before_value(writer);
    put(writer, value ? "true" : "false", value ? 4 : 5);
}

void aw_json_null(aw_json_writer_t *writer)
{
    before_value(writer);
    put(writer, "null", 4);
}

/** Three bytes are four digits; what is left over is filled up with '='. */
static void encode_base64(aw_span_t bytes, uint8_t *out)
{
    size_t i = 0;
    for (; bytes.size - i >= 3; i += 3) {
        uint32_t three =
            (uint32_t)bytes.data[i] << 16 | (uint32_t)bytes.data[i + 1] << 8 | bytes.data[i + 2];
        *out++ = (uint8_t)base64_digits[three >> 18];
        *out++ = (uint8_t)base64_digits[three >> 12 & 63];
        *out++ = (uint8_t)base64_digits[three >> 6 & 63];
        *out++ = (uint8_t)base64_digits[three & 63];
    }
    size_t left = bytes.size - i;
    if (left > 0) {
        uint32_t three = (uint32_t)bytes.data[i] << 16;
        if (left == 2) {
            three |= (uint32_t)bytes.data[i + 1] << 8;
        }
        *out++ = (uint8_t)base64_digits[three >> 18];
        *out++ = (uint8_t)base64_digits[three >> 12 & 63];
        *out++ = (uint8_t)(left == 2 ? base64_digits[three >> 6 & 63] : '=');
        *out = '=';
    }
}

void aw_json_base64(aw_json_writer_t *writer, aw_span_t bytes)
{
    /* below a quarter of SIZE_MAX neither product overflows, and no object is larger */
    assert(bytes.size < SIZE_MAX / 4);
    before_value(writer);
    put_byte(writer, '"');
    uint8_t *out = reserve(writer, (bytes.size + 2) / 3 * 4);
    if (out != NULL) {
        encode_base64(bytes, out);
    }
    put_byte(writer, '"');
}

void aw_json_hex(aw_json_writer_t *writer, aw_span_t bytes)
{
    assert(bytes.size < SIZE_MAX / 4);
    before_value(writer);
    put_byte(writer, '"');
    uint8_t *out = reserve(writer, bytes.size * 2);
    if (out != NULL) {
        for (size_t i = 0; i < bytes.size; i++) {
            *out++ = (uint8_t)hex_digits[bytes.data[i] >> 4];
            *out++ = (uint8_t)hex_digits[bytes.data[i] & 15];
        }
    }
    put_byte(writer, '"');
}

int aw_json_finish(const aw_json_writer_t *writer, aw_span_t *ret_text)
{
    assert(writer->depth == 0 && (writer->has_member[0] & 1u) != 0);
    if (writer->status != AW_OK) {
        return writer->status;
    }
    *ret_text = aw_span_view(writer->data, writer->size);
    return AW_OK;
}
