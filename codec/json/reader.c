#include "codec/json/reader.h"

#include <string.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"
#include "codec/base/limits.h"
#include "codec/json/number.h"

/** A token this short and without an exponent is below 10^300, and needs no conversion to know. */
#define SURELY_FINITE_BYTES 300u

/** What may come next. */
typedef enum expected {
    EXPECT_VALUE, /* a value, in an object a member */
    EXPECT_FIRST, /* the same or the end of a container just opened */
    EXPECT_NEXT,  /* a comma, the end of the container, or the end of the text */
    EXPECT_NOTHING
} expected_t;

/** A container that is open has its parent in `next`: the stack needs no memory of its own. */
typedef struct reader {
    aw_span_t text;
    size_t at;
    uint32_t depth_max; /* 0 for none */
    unsigned options;
    aw_arena_t *arena;
    aw_error_t *error;
    aw__json_value_t *root;
    aw__json_value_t *open; /* the innermost open container, NULL outside of all */
    uint32_t depth;         /* containers that are open */
    expected_t expected;
    bool in_child; /* what is read now is a child of open; in an object, its key is known */
    aw_span_t key; /* of the member that is read */
    uint32_t key_offset;
    aw__json_sorter_t sorter;
} reader_t;

/** The pointer to what is being read. Turns the links of the open containers round to walk them
 * from the outermost on: a tree that failed is of no further use. */
static void path_of_open(reader_t *reader, aw__json_path_t *path)
{
    const bool in_child = reader->in_child;
    aw__json_value_t *outer = NULL;
    aw__json_value_t *inner = reader->open;
    while (inner != NULL) {
        aw__json_value_t *parent = inner->next;
        inner->next = outer;
        outer = inner;
        inner = parent;
    }
    for (; outer != NULL; outer = outer->next) {
        const bool is_innermost = outer->next == NULL;
        if (is_innermost && !in_child) {
            return;
        }
        if (outer->kind == AW__JSON_OBJECT) {
            aw__json_path_add_key(path, is_innermost ? reader->key : outer->next->key);
        } else {
            aw__json_path_add_index(path, is_innermost ? outer->count : outer->count - 1);
        }
    }
}

static int fail(reader_t *reader, int status, size_t offset, const char *text)
{
    aw__json_path_t path = {.size = 0};
    path_of_open(reader, &path);
    return aw__error_set(reader->error, status, (int64_t)offset, path.text, text);
}

static int malformed(reader_t *reader, size_t offset, const char *text)
{
    return fail(reader, AW_STATUS_MALFORMED_JSON, offset,
                offset < reader->text.size ? text : "the text ends too early");
}

static int refused(reader_t *reader)
{
    return fail(reader, aw_arena_status(reader->arena), reader->at, NULL);
}

static void skip_blanks(reader_t *reader)
{
    while (reader->at < reader->text.size) {
        const uint8_t byte = reader->text.data[reader->at];
        if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r') {
            return;
        }
        reader->at++;
    }
}

/** The byte at an offset, -1 behind the end. */
static int peek(const reader_t *reader, size_t at)
{
    return at < reader->text.size ? reader->text.data[at] : -1;
}

/** The value of four hex digits, -1 when they are not. *ret_bad is then the first that is none. */
static int read_hex4(const reader_t *reader, size_t at, size_t *ret_bad)
{
    int value = 0;
    for (size_t i = 0; i < 4; i++) {
        const int byte = peek(reader, at + i);
        int digit = -1;
        if (byte >= '0' && byte <= '9') {
            digit = byte - '0';
        } else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f') {
            digit = (byte | 0x20) - 'a' + 10;
        }
        if (digit < 0) {
            *ret_bad = at + i;
            return -1;
        }
        value = value << 4 | digit;
    }
    return value;
}

static bool is_high_half(int code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_half(int code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/** Checks the escape whose backslash is at *at and moves behind it. Returns NULL, or what is wrong,
 * with its offset in *at. */
static const char *check_escape(const reader_t *reader, size_t *at)
{
    const size_t backslash = *at;
    const int letter = peek(reader, backslash + 1);
    if (letter < 0) {
        *at = reader->text.size;
        return "an escape";
    }
    if (letter != 'u') {
        *at = strchr("\"\\/bfnrt", letter) != NULL && letter != 0 ? backslash + 2 : backslash;
        return *at == backslash ? "an escape that JSON does not have" : NULL;
    }
    size_t bad = 0;
    const int code = read_hex4(reader, backslash + 2, &bad);
    if (code < 0) {
        *at = bad < reader->text.size ? backslash : bad;
        return "\\u without four hex digits";
    }
    *at = backslash + 6;
    if (!is_high_half(code) && !is_low_half(code)) {
        return NULL;
    }
    if (is_high_half(code) && peek(reader, *at) == '\\' && peek(reader, *at + 1) == 'u') {
        const int second = read_hex4(reader, *at + 2, &bad);
        if (is_low_half(second)) {
            *at += 6;
            return NULL;
        }
        *at = second < 0 && bad >= reader->text.size ? bad : backslash;
    } else {
        /* a text that ends here may have been going on to the other half */
        const bool may_go_on =
            is_high_half(code) &&
            (peek(reader, *at) < 0 || (peek(reader, *at) == '\\' && peek(reader, *at + 1) < 0));
        *at = may_go_on ? reader->text.size : backslash;
    }
    return "half a surrogate pair";
}

static uint8_t *put_utf8(uint8_t *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (uint8_t)code;
    } else if (code < 0x800) {
        *out++ = (uint8_t)(0xc0 | code >> 6);
        *out++ = (uint8_t)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (uint8_t)(0xe0 | code >> 12);
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *out++ = (uint8_t)(0x80 | (code & 0x3f));
    } else {
        *out++ = (uint8_t)(0xf0 | code >> 18);
        *out++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *out++ = (uint8_t)(0x80 | (code & 0x3f));
    }
    return out;
}

/** Writes the character of the checked escape whose backslash is at *at and moves behind it. */
static uint8_t *put_escape(const reader_t *reader, size_t *at, uint8_t *out)
{
    static const char LETTERS[] = "bfnrt";
    static const char CONTROLS[] = "\b\f\n\r\t";
    const uint8_t letter = reader->text.data[*at + 1];
    if (letter != 'u') {
        const char *found = strchr(LETTERS, letter);
        *at += 2;
        *out++ = found != NULL ? (uint8_t)CONTROLS[found - LETTERS] : letter;
        return out;
    }
    size_t bad = 0;
    uint32_t code = (uint32_t)read_hex4(reader, *at + 2, &bad);
    *at += 6;
    if (is_high_half((int)code)) {
        const uint32_t low = (uint32_t)read_hex4(reader, *at + 2, &bad);
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        *at += 6;
    }
    return put_utf8(out, code);
}

/** An escape is never shorter than its character, so the text's length is enough. */
static int unescape(reader_t *reader, size_t from, size_t to, aw_span_t *ret_text)
{
    uint8_t *start = aw_arena_alloc(reader->arena, to - from);
    if (start == NULL) {
        return refused(reader);
    }
    uint8_t *out = start;
    while (from < to) {
        const uint8_t *run = reader->text.data + from;
        const uint8_t *backslash = memchr(run, '\\', to - from);
        const size_t plain = backslash != NULL ? (size_t)(backslash - run) : to - from;
        memcpy(out, run, plain);
        out += plain;
        from += plain;
        if (backslash != NULL) {
            out = put_escape(reader, &from, out);
        }
    }
    *ret_text = aw_span_view(start, (size_t)(out - start));
    return AW_OK;
}

/** Reads the string whose opening quote is next. */
static int read_string(reader_t *reader, aw_span_t *ret_text)
{
    const uint8_t *data = reader->text.data;
    const size_t start = reader->at + 1;
    size_t at = start;
    bool has_escape = false;
    const char *wrong = NULL;
    while (wrong == NULL) {
        while (at < reader->text.size && data[at] >= 0x20 && data[at] != '"' && data[at] != '\\') {
            at++;
        }
        const int byte = peek(reader, at);
        if (byte == '"') {
            break;
        }
        if (byte == '\\') {
            has_escape = true;
            wrong = check_escape(reader, &at);
        } else {
            wrong = "a control character in a string";
        }
    }
    const aw_span_t body = {data + start, at - start};
    const size_t well_formed = aw_utf8_prefix(body);
    if (well_formed < body.size) {
        return malformed(reader, start + well_formed, "ill-formed UTF-8 in a string");
    }
    if (wrong != NULL) {
        return malformed(reader, at, wrong);
    }
    reader->at = at + 1;
    if (has_escape) {
        return unescape(reader, start, at, ret_text);
    }
    *ret_text = body;
    return AW_OK;
}

/** A new value that begins at offset, in its place. NULL after a failure, with *ret_status set. */
static aw__json_value_t *add_value(reader_t *reader, aw__json_kind_t kind, size_t offset,
                                   int *ret_status)
{
    aw__json_value_t *open = reader->open;
    aw__json_value_t *value = aw__json_new(reader->arena, kind);
    if (value == NULL) {
        *ret_status = refused(reader);
        return NULL;
    }
    value->offset = (uint32_t)offset;
    if (open == NULL) {
        reader->root = value;
        return value;
    }
    if (open->kind == AW__JSON_OBJECT) {
        value->key = reader->key;
        value->key_offset = reader->key_offset;
    }
    aw__json_append(open, value);
    return value;
}

static int read_container(reader_t *reader, aw__json_kind_t kind)
{
    if (reader->depth == reader->depth_max && reader->depth_max != 0) {
        return fail(reader, AW_STATUS_LIMIT_DEPTH, reader->at, NULL);
    }
    int status = AW_OK;
    aw__json_value_t *value = add_value(reader, kind, reader->at, &status);
    if (value == NULL) {
        return status;
    }
    reader->at++;
    value->next = reader->open;
    value->height = 1;
    reader->open = value;
    reader->depth++;
    reader->in_child = false;
    reader->expected = EXPECT_FIRST;
    return AW_OK;
}

/** Closes the innermost container; its bracket is next. */
static int close_container(reader_t *reader)
{
    aw__json_value_t *value = reader->open;
    aw__json_value_t *parent = value->next;
    if (value->kind == AW__JSON_OBJECT) {
        if (aw__json_sort(&reader->sorter, value, reader->arena) != AW_OK) {
            return refused(reader);
        }
    }
    reader->at++;
    value->size = (uint32_t)(reader->at - value->offset);
    value->next = NULL;
    if (parent != NULL && parent->height <= value->height) {
        parent->height = value->height + 1;
    }
    reader->open = parent;
    reader->depth--;
    reader->expected = EXPECT_NEXT;
    return AW_OK;
}

static bool is_finite(aw_span_t token)
{
    if (token.size < SURELY_FINITE_BYTES && memchr(token.data, 'e', token.size) == NULL &&
        memchr(token.data, 'E', token.size) == NULL) {
        return true;
    }
    aw__number_t number;
    return aw__number_read(token, &number);
}

static int read_number(reader_t *reader, aw_span_t *ret_token)
{
    size_t at = reader->at;
    if (!aw__number_pass(reader->text, &at)) {
        return malformed(reader, at, "a digit is missing in a number");
    }
    const aw_span_t token = {reader->text.data + reader->at, at - reader->at};
    if ((reader->options & AW__JSON_ANY_MAGNITUDE) == 0 && !is_finite(token)) {
        return malformed(reader, reader->at, "a number beyond the range of a double");
    }
    reader->at = at;
    *ret_token = token;
    return AW_OK;
}

static int read_word(reader_t *reader, const char *word)
{
    size_t at = reader->at;
    for (; *word != '\0'; word++, at++) {
        if (peek(reader, at) != *word) {
            return malformed(reader, at, "a word that is neither true, false nor null");
        }
    }
    reader->at = at;
    return AW_OK;
}

static int read_scalar(reader_t *reader)
{
    const size_t offset = reader->at;
    const int byte = peek(reader, offset);
    aw__json_kind_t kind = AW__JSON_NUMBER;
    aw_span_t text = AW_SPAN_NULL;
    int status = AW_OK;
    if (byte == '"') {
        kind = AW__JSON_STRING;
        status = read_string(reader, &text);
    } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
        status = read_number(reader, &text);
    } else if (byte == 't') {
        kind = AW__JSON_TRUE;
        status = read_word(reader, "true");
    } else if (byte == 'f') {
        kind = AW__JSON_FALSE;
        status = read_word(reader, "false");
    } else if (byte == 'n') {
        kind = AW__JSON_NULL;
        status = read_word(reader, "null");
    } else if (offset == 0 && byte == 0xef) {
        status = malformed(reader, offset, "a byte-order mark, or no JSON at all");
    } else {
        status = malformed(reader, offset, "a value is missing");
    }
    if (status != AW_OK) {
        return status;
    }
    aw__json_value_t *value = add_value(reader, kind, offset, &status);
    if (value != NULL) {
        value->size = (uint32_t)(reader->at - offset);
        value->text = text;
        reader->expected = EXPECT_NEXT;
    }
    return status;
}

/** Reads a key and its colon. */
static int read_key(reader_t *reader)
{
    if (peek(reader, reader->at) != '"') {
        return malformed(reader, reader->at, "a key is missing");
    }
    reader->key_offset = (uint32_t)reader->at;
    int status = read_string(reader, &reader->key);
    if (status != AW_OK) {
        return status;
    }
    reader->in_child = true;
    skip_blanks(reader);
    if (peek(reader, reader->at) != ':') {
        return malformed(reader, reader->at, "the colon behind a key is missing");
    }
    reader->at++;
    skip_blanks(reader);
    return AW_OK;
}

/** Reads a value, with its key in an object. */
static int read_child(reader_t *reader)
{
    if (reader->open != NULL && reader->open->kind == AW__JSON_OBJECT) {
        int status = read_key(reader);
        if (status != AW_OK) {
            return status;
        }
    }
    reader->in_child = true;
    switch (peek(reader, reader->at)) {
    case '{':
        return read_container(reader, AW__JSON_OBJECT);
    case '[':
        return read_container(reader, AW__JSON_ARRAY);
    default:
        return read_scalar(reader);
    }
}

/** Reads what stands behind a value. */
static int read_next(reader_t *reader)
{
    const int byte = peek(reader, reader->at);
    reader->in_child = false;
    if (reader->open == NULL) {
        if (byte >= 0) {
            return malformed(reader, reader->at, "there is something behind the value");
        }
        reader->expected = EXPECT_NOTHING;
        return AW_OK;
    }
    const bool is_object = reader->open->kind == AW__JSON_OBJECT;
    if (byte == ',') {
        reader->at++;
        reader->expected = EXPECT_VALUE;
        return AW_OK;
    }
    if (byte == (is_object ? '}' : ']')) {
        return close_container(reader);
    }
    return malformed(reader, reader->at,
                     is_object ? "a comma or the end of the object is missing"
                               : "a comma or the end of the array is missing");
}

static int read_step(reader_t *reader)
{
    skip_blanks(reader);
    if (reader->expected == EXPECT_NEXT) {
        return read_next(reader);
    }
    if (reader->expected == EXPECT_FIRST) {
        const int end = reader->open->kind == AW__JSON_OBJECT ? '}' : ']';
        if (peek(reader, reader->at) == end) {
            return close_container(reader);
        }
    }
    return read_child(reader);
}

int aw__json_read(aw_span_t text, uint32_t depth_max, unsigned options, aw_arena_t *arena,
                  const aw__json_value_t **ret_root, aw_error_t *error)
{
    reader_t reader = {
        .text = text,
        .depth_max = depth_max,
        .options = options,
        .arena = arena,
        .error = error,
        .expected = EXPECT_VALUE,
        .sorter = {.last_of_equals = (options & AW__JSON_LAST_OF_EQUALS) != 0},
    };
    if (text.size > AW__JSON_TEXT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL,
                             "the JSON text is larger than allowed");
    }
    while (reader.expected != EXPECT_NOTHING) {
        int status = read_step(&reader);
        if (status != AW_OK) {
            return status;
        }
    }
    const aw__json_value_t *repeated = reader.sorter.repeated;
    if (repeated != NULL && !reader.sorter.last_of_equals) {
        aw__json_path_t path = {.size = 0};
        aw__json_path_find(&path, reader.root, repeated);
        return aw__error_set(error, AW_STATUS_DUPLICATE_KEY, repeated->key_offset, path.text, NULL);
    }
    *ret_root = reader.root;
    return AW_OK;
}
