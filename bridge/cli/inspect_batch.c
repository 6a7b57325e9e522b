#include "bridge/cli/inspect.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/json.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/input.h"
#include "bridge/cli/inspect_contract.h"

/** The first buffer for the lines, and the buffer of the answers, bytes. */
#define BUFFER_SIZE ((size_t)64 << 10)

/** Cuts a descriptor's bytes into lines. */
typedef struct lines {
    int fd;
    const char *name;
    uint8_t *data;
    size_t capacity;
    size_t begin;    /* of the line in hand */
    size_t end;      /* of what was read */
    size_t searched; /* up to here there is no line end */
    bool at_end;     /* the descriptor has no more */
    bool skipping;   /* the line in hand was too long: its rest is thrown away */
    int exit_code;   /* with LINE_FAILED */
} lines_t;

/** One line, or what stands for it. */
typedef enum line_kind {
    LINE_READ,
    LINE_TOO_LONG,
    LINE_NONE, /* there are no more */
    LINE_FAILED
} line_kind_t;

/** A request that can be worked on. */
typedef struct request {
    aw_message_type_t type;
    aw_span_t bytes;
} request_t;

/** Makes room behind the bytes that were read: moves them to the front, or takes more memory. */
static bool make_room(lines_t *lines)
{
    if (lines->begin > 0) {
        memmove(lines->data, lines->data + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->searched -= lines->begin;
        lines->begin = 0;
    }
    if (lines->end < lines->capacity) {
        return true;
    }
    size_t capacity = lines->capacity > 0 ? lines->capacity * 2 : BUFFER_SIZE;
    uint8_t *data = realloc(lines->data, capacity);
    if (data == NULL) {
        ab_inspect_complain("%s: out of memory for a line of over %zu bytes", lines->name,
                            lines->end);
        lines->exit_code = AB_CLI_FATAL;
        return false;
    }
    lines->data = data;
    lines->capacity = capacity;
    return true;
}

/** Reads more. What was answered so far goes out first: the peer may wait for it before it sends
 * on. */
static bool read_more(lines_t *lines)
{
    if (fflush(stdout) != 0) {
        lines->exit_code = AB_CLI_IO; /* main.c says so */
        return false;
    }
    if (!make_room(lines)) {
        return false;
    }
    ssize_t got;
    do {
        got = read(lines->fd, lines->data + lines->end, lines->capacity - lines->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        ab_inspect_complain("%s: cannot be read: %s", lines->name, strerror(errno));
        lines->exit_code = AB_CLI_NO_INPUT;
        return false;
    }
    lines->at_end = got == 0;
    lines->end += (size_t)got;
    return true;
}

/** The next line without its end, good until the next call. A last line may lack its end. */
static line_kind_t next_line(lines_t *lines, aw_span_t *ret_line)
{
    for (;;) {
        uint8_t *newline = NULL;
        if (lines->end > lines->searched) {
            newline = memchr(lines->data + lines->searched, '\n', lines->end - lines->searched);
        }
        size_t size =
            (newline != NULL ? (size_t)(newline - lines->data) : lines->end) - lines->begin;
        bool whole = newline != NULL || (lines->at_end && (size > 0 || lines->skipping));
        if (whole || size > AB_INSPECT_LINE_MAX) {
            bool skipped = lines->skipping;
            *ret_line = aw_span_view(lines->data + lines->begin, size);
            lines->begin += size + (newline != NULL);
            lines->searched = lines->begin;
            lines->skipping = !whole;
            if (whole) {
                return skipped || size > AB_INSPECT_LINE_MAX ? LINE_TOO_LONG : LINE_READ;
            }
            continue;
        }
        if (lines->at_end) {
            return LINE_NONE;
        }
        lines->searched = lines->end;
        if (!read_more(lines)) {
            return LINE_FAILED;
        }
    }
}

/** What is wrong with a line that is no JSON object. Never echoes it: it may hold anything. */
static void explain_json(const json_error_t *error, char *ret_message, size_t size)
{
    const char *what = "the line is no JSON object";
    if (json_error_code(error) == json_error_duplicate_key) {
        what = "the line has a member twice";
    } else if (json_error_code(error) == json_error_invalid_utf8) {
        what = "the line is not UTF-8";
    }
    snprintf(ret_message, size, "%s (byte %d)", what, error->position);
}

/** Decodes the member "hex" into the arena. */
static bool read_hex(const json_t *hex, aw_arena_t *arena, aw_span_t *ret_bytes, char *ret_message,
                     size_t message_size)
{
    aw_span_t digits = aw_span_view(json_string_value(hex), json_string_length(hex));
    uint8_t *bytes = aw_arena_alloc(arena, digits.size / 2 + 1);
    if (bytes == NULL) {
        snprintf(ret_message, message_size, "no memory for %zu hex digits", digits.size);
        return false;
    }
    size_t size, offset;
    switch (ab_hex_read(digits, false, bytes, &size, &offset)) {
    case AB_HEX_OK:
        *ret_bytes = aw_span_view(bytes, size);
        return true;
    case AB_HEX_BAD_DIGIT:
        snprintf(ret_message, message_size, "hex: character %zu is no hex digit", offset);
        return false;
    case AB_HEX_ODD:
        break;
    }
    snprintf(ret_message, message_size, "hex: %zu digits are no whole bytes", digits.size);
    return false;
}

/** Reads the request out of the line's object. */
static bool read_request(const json_t *object, aw_arena_t *arena, request_t *ret_request,
                         char *ret_message, size_t message_size)
{
    const json_t *type = json_object_get(object, "type");
    const json_t *hex = json_object_get(object, "hex");
    if (!json_is_string(type) || !json_is_string(hex) || json_object_size(object) != 2) {
        snprintf(ret_message, message_size,
                 "a request has two members, type and hex, both strings, and no other");
        return false;
    }
    const char *name = json_string_value(type);
    if (strlen(name) != json_string_length(type) || !ab_inspect_type(name, &ret_request->type)) {
        snprintf(ret_message, message_size,
                 "type: no such message; it is one of " AB_INSPECT_TYPES);
        return false;
    }
    return read_hex(hex, arena, &ret_request->bytes, ret_message, message_size);
}

static void write_failure(aw_json_writer_t *writer, int status, const aw_error_t *error)
{
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, false);
    aw_json_key_text(writer, "reason");
    aw_json_text(writer, aw_status_name(status));
    if (error->offset >= 0) {
        aw_json_key_text(writer, "offset");
        aw_json_int64(writer, error->offset);
    }
    if (error->field[0] != '\0') {
        aw_json_key_text(writer, "field");
        aw_json_text(writer, error->field);
    }
}

/** The payload's name; null where none is set. */
static void write_variant(aw_json_writer_t *writer, const aw_message_t *envelope)
{
    aw_variant_t variant = ab_inspect_variant(envelope);
    aw_json_key_text(writer, "variant");
    if (variant != AW_VARIANT_NONE) {
        aw_json_text(writer, aw_variant_name(variant));
    } else {
        aw_json_null(writer);
    }
}

/** The members of the answer to a request. */
static void write_result(aw_json_writer_t *writer, const request_t *request, aw_arena_t *arena)
{
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message;
    aw_span_t encoded;
    int status = ab_inspect_decode(request->type, request->bytes, arena, &message, &error);
    if (status == AW_OK) {
        status = aw_message_encode(message, arena, &encoded);
    }
    if (status != AW_OK) {
        write_failure(writer, status, &error);
        return;
    }
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, true);
    if (request->type == AW_MESSAGE_AGENT_ENVELOPE) {
        write_variant(writer, message);
    }
    aw_json_key_text(writer, "json");
    aw_json_message(writer, message, arena);
    aw_json_key_text(writer, "deterministic_hex");
    aw_json_hex(writer, encoded);
}

static void write_bad_request(aw_json_writer_t *writer, const char *message)
{
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, false);
    aw_json_key_text(writer, "reason");
    aw_json_text(writer, "bad_request");
    aw_json_key_text(writer, "message");
    aw_json_text(writer, message);
}

/** The members of the answer to a line. */
static void write_answer(aw_json_writer_t *writer, line_kind_t kind, aw_span_t line,
                         aw_arena_t *arena)
{
    char message[512];
    if (kind == LINE_TOO_LONG) {
        snprintf(message, sizeof message, "the line is longer than %zu bytes", AB_INSPECT_LINE_MAX);
        write_bad_request(writer, message);
        return;
    }
    json_error_t error;
    json_t *object = json_loadb((const char *)line.data, line.size,
                                JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    request_t request;
    if (object == NULL) {
        explain_json(&error, message, sizeof message);
        write_bad_request(writer, message);
    } else if (json_object_get(object, "contract") != NULL) {
        if (!ab_inspect_contract_answer(writer, object, arena, message, sizeof message)) {
            write_bad_request(writer, message);
        }
    } else if (!read_request(object, arena, &request, message, sizeof message)) {
        write_bad_request(writer, message);
    } else {
        write_result(writer, &request, arena);
    }
    json_decref(object);
}

/** Answers one line. Returns an exit code; anything but AB_CLI_OK ends the batch. */
static int answer(line_kind_t kind, aw_span_t line, aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_object_open(&writer);
    write_answer(&writer, kind, line, arena);
    aw_json_object_close(&writer);
    aw_span_t text;
    int status = aw_json_finish(&writer, &text);
    char small[256];
    if (status != AW_OK) {
        /* the message is fine, but its JSON is too large for the memory that one answer may take */
        aw_json_init_buffer(&writer, AW_JSON_COMPACT, small, sizeof small);
        aw_json_object_open(&writer);
        write_failure(&writer, status, &AW_ERROR_INIT);
        aw_json_object_close(&writer);
        if (aw_json_finish(&writer, &text) != AW_OK) {
            return AB_CLI_FATAL;
        }
    }
    fwrite(text.data, 1, text.size, stdout);
    return putchar('\n') == EOF ? AB_CLI_IO : AB_CLI_OK;
}

int ab_inspect_batch(int fd, const char *name)
{
    static char buffer[BUFFER_SIZE]; /* outlives the call: main.c closes stdout */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    if (arena == NULL) {
        ab_inspect_complain("out of memory");
        return AB_CLI_FATAL;
    }
    lines_t lines = {.fd = fd, .name = name};
    int code = AB_CLI_OK;
    while (code == AB_CLI_OK) {
        aw_span_t line = AW_SPAN_NULL;
        line_kind_t kind = next_line(&lines, &line);
        if (kind == LINE_NONE) {
            break;
        }
        if (kind == LINE_FAILED) {
            code = lines.exit_code;
            break;
        }
        code = answer(kind, line, arena);
        aw_arena_reset(arena);
    }
    free(lines.data);
    aw_arena_free(arena);
    return code;
}
