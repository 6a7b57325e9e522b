#ifndef AGENTWIRE_JSON_H
#define AGENTWIRE_JSON_H

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/message.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Deepest nesting of objects and arrays one writer keeps: as deep as tea-protocol reads. */
#define AW_JSON_DEPTH_MAX 127u

/** How the text is laid out. Both are what Python's json.dumps(…, ensure_ascii=False) prints. */
typedef enum aw_json_style {
    AW_JSON_COMPACT, /* separators=(",", ":"): no blank anywhere */
    AW_JSON_INDENTED /* indent=2: a member a line, ": " behind keys, {} and [] when empty */
} aw_json_style_t;

/** How a double is laid out. The digits are always the shortest that read back as the same double;
 *  they differ in where the exponent begins and in how a whole number looks. */
typedef enum aw_json_numbers {
    AW_JSON_NUMBERS_TEA,        /* tea-protocol 1.0: 100.0 1e16 0.00001 1e-6 -0.0 */
    AW_JSON_NUMBERS_ECMASCRIPT, /* Number::toString: 100 10000000000000000 0.00001 0.000001 1e-7 0
                                 */
    AW_JSON_NUMBERS_PYTHON      /* repr: 100.0 1e+16 1e-05 1e-06 -0.0 */
} aw_json_numbers_t;

/** Writes one JSON text, call by call, into a buffer of the caller or one that grows in an arena.
 *
 * Lives on the caller's stack; the members are the writer's own. Calls never fail by themselves:
 * the first trouble is kept, everything after it is ignored, and aw_json_finish() reports it. Calls
 * in an order that makes no JSON text (a value without its key, a close without its open), and more
 * than AW_JSON_DEPTH_MAX open at once, are bugs and assert.
 *
 * Keys are written in the order given: who wants canonical JSON opens an object, gives its keys in
 * ascending byte order, each once, and uses AW_JSON_COMPACT. The text is always valid UTF-8, and
 * holds no NUL: control characters below U+0020, the quote and the backslash are escaped (\b \f \n
 * \r \t, else \u00xx in lower case), everything else is written as it is.
 */
typedef struct aw_json_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    aw_arena_t *arena;      /* NULL: the buffer is the caller's and does not grow */
    uint64_t has_member[2]; /* bit n: level n holds a member already */
    uint64_t is_object[2];  /* bit n: level n is an object */
    unsigned depth;
    aw_json_style_t style;
    bool after_key;
    int status;
} aw_json_writer_t;

/** Starts a text in a caller's buffer, which must outlive the text. Too small:
 * AW_STATUS_LIMIT_SIZE. */
void aw_json_init_buffer(aw_json_writer_t *writer, aw_json_style_t style, void *buffer,
                         size_t capacity_bytes);

/** Starts a text in memory taken from the arena, valid until the arena is reset or freed. A text of
 * n bytes takes up to 4n bytes from the arena, since growing leaves the smaller buffers behind. */
void aw_json_init_arena(aw_json_writer_t *writer, aw_json_style_t style, aw_arena_t *arena);

/** Opens and closes an object or an array, as a value at the place where the writer stands. */
void aw_json_object_open(aw_json_writer_t *writer);
void aw_json_object_close(aw_json_writer_t *writer);
void aw_json_array_open(aw_json_writer_t *writer);
void aw_json_array_close(aw_json_writer_t *writer);

/** The key of the next value. Ill-formed UTF-8: AW_STATUS_INVALID_UTF8, as with every text below.
 */
void aw_json_key(aw_json_writer_t *writer, aw_span_t key);

/** The same for a C string of well-formed UTF-8, a literal as a rule. */
void aw_json_key_text(aw_json_writer_t *writer, const char *key);

/** A string value of any well-formed UTF-8, NUL included. The absent span is "". */
void aw_json_string(aw_json_writer_t *writer, aw_span_t text);
void aw_json_text(aw_json_writer_t *writer, const char *text);

/** A number in decimal digits. */
void aw_json_int64(aw_json_writer_t *writer, int64_t value);
void aw_json_uint64(aw_json_writer_t *writer, uint64_t value);

/** A double in one of the layouts, as short as it can be. Not finite: AW_STATUS_INVALID_ARGUMENT.
 */
void aw_json_double(aw_json_writer_t *writer, double value, aw_json_numbers_t layout);

/** An int64 as proto3 JSON writes it: a string of decimal digits. */
void aw_json_int64_string(aw_json_writer_t *writer, int64_t value);

/** true, false, null. */
void aw_json_bool(aw_json_writer_t *writer, bool value);
void aw_json_null(aw_json_writer_t *writer);

/** Bytes as a string: standard base64 with padding, or lower-case hex. */
void aw_json_base64(aw_json_writer_t *writer, aw_span_t bytes);
void aw_json_hex(aw_json_writer_t *writer, aw_span_t bytes);

/** A message as proto3 JSON: what Python's json_format.MessageToJson(…, sort_keys=True,
 *  ensure_ascii=False) prints for it, in the writer's style.
 *
 *  Keys are lowerCamelCase and sorted; int64 and bytes are strings, the latter base64; an enum is
 * its value's name, or a number where the schema has none; defaults, empty lists and unknown fields
 * are left out; a message that is there and empty is {}. Map entries are sorted by key.
 *
 *  scratch holds the sorted entries of a map while they are written; trouble there becomes the
 *  writer's. It may be the writer's own arena. */
void aw_json_message(aw_json_writer_t *writer, const aw_message_t *message, aw_arena_t *scratch);

/** The members of the same object without its braces, for an object that has members before or
 * behind them. */
void aw_json_message_members(aw_json_writer_t *writer, const aw_message_t *message,
                             aw_arena_t *scratch);

/** Ends the text. Every object and array must be closed and one value written.
 *
 * ret_text borrows from the buffer or the arena and is written on success only; no NUL follows it.
 * Returns AW_OK, AW_STATUS_LIMIT_SIZE (the caller's buffer is full, or the text passes SIZE_MAX),
 * AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY (from the arena), AW_STATUS_INVALID_UTF8,
 * AW_STATUS_INVALID_ARGUMENT (a double that is not finite).
 */
AW_CHECKED int aw_json_finish(const aw_json_writer_t *writer, aw_span_t *ret_text);

/** Reads a message out of its proto3 JSON.
 *
 * What the mapping says is taken: both forms of a field's name; null for an absent field, though
 * not inside lists and maps; integers as numbers or as strings of one, as long as the value is
 * whole (`1.0`, `"1e3"`) and in range; an enum by name or by number, known or not; bytes in either
 * alphabet of base64, with all of its padding or none. Nothing is filled in: a version that the
 * text does not have is 0.
 *
 * Refused as AW_STATUS_JSON_MISMATCH: a name the message does not have; one field under both names;
 * two variants of payload; a value of another type, an array for an object included; an integer
 * string that JSON would not take as a number (`5_0`, `+5`, `05`, blanks); base64 with anything
 * else in it. The error's field is the JSON pointer to the value. Everything that JSON itself does
 * not allow is AW_STATUS_MALFORMED_JSON, a key that stands twice AW_STATUS_DUPLICATE_KEY, at every
 * depth.
 *
 * The message lies in the arena and borrows from the text. ret_message is written on success only.
 * Returns AW_OK or one of these; AW_STATUS_LIMIT_SIZE for 2^31-1 bytes and more;
 * AW_STATUS_LIMIT_DEPTH above AW_JSON_DEPTH_MAX; AW_STATUS_INVALID_ARGUMENT for a number that is no
 * type; AW_STATUS_LIMIT_DECODE_BYTES / AW_STATUS_NO_MEMORY from the arena. */
AW_CHECKED int aw_json_parse(aw_message_type_t type, aw_span_t text, aw_arena_t *arena,
                             const aw_message_t **ret_message, aw_error_t *error);

/** Writes any JSON text in its canonical form: no blanks, members sorted by the bytes of their
 * keys, characters as they are, escapes only where JSON needs one. An integer of 64 bits keeps its
 * digits; any other number is the shortest that reads back as the same double, laid out as
 * AW_JSON_NUMBERS_TEA. A text that is canonical stays as it is.
 *
 * ret_text lies in the arena and is written on success only. Returns AW_OK,
 * AW_STATUS_MALFORMED_JSON, AW_STATUS_DUPLICATE_KEY (at any depth), AW_STATUS_LIMIT_SIZE,
 * AW_STATUS_LIMIT_DEPTH above AW_JSON_DEPTH_MAX, AW_STATUS_LIMIT_DECODE_BYTES /
 * AW_STATUS_NO_MEMORY from the arena. */
AW_CHECKED int aw_json_canonical(aw_span_t text, aw_arena_t *arena, aw_span_t *ret_text,
                                 aw_error_t *error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
