#include "bridge/cli/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/message.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"

/** The first buffer for the lines, and the buffer of the answers, bytes. */
#define BUFFER_SIZE ((size_t)64 << 10)

/** Cuts a descriptor's bytes into lines. */
typedef struct lines {
    int fd;
    const ab_input_t *input;
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
        ab_input_complain(lines->input, "%s: out of memory for a line of over %zu bytes",
                          lines->input->name, lines->end);
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
        ab_input_complain(lines->input, "%s: cannot be read: %s", lines->input->name,
                          strerror(errno));
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
        if (whole || size > AB_BATCH_LINE_MAX) {
            bool skipped = lines->skipping;
            *ret_line = aw_span_view(lines->data + lines->begin, size);
            lines->begin += size + (newline != NULL);
            lines->searched = lines->begin;
            lines->skipping = !whole;
            if (whole) {
                return skipped || size > AB_BATCH_LINE_MAX ? LINE_TOO_LONG : LINE_READ;
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

void ab_batch_write_failure(aw_json_writer_t *writer, int status, const aw_error_t *error)
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

static void write_bad_request(aw_json_writer_t *writer, const char *message)
{
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, false);
    aw_json_key_text(writer, "reason");
    aw_json_text(writer, "bad_request");
    aw_json_key_text(writer, "message");
    aw_json_text(writer, message);
}

bool ab_batch_read_type(const json_t *object, const char *other, aw_message_type_t *ret_type,
                        char *ret_message, size_t message_size)
{
    const json_t *type = json_object_get(object, "type");
    if (!json_is_string(type) || !json_is_string(json_object_get(object, other)) ||
        json_object_size(object) != 2) {
        snprintf(ret_message, message_size,
                 "a request has two members, type and %s, both strings, and no other", other);
        return false;
    }
    const char *name = json_string_value(type);
    if (strlen(name) != json_string_length(type) || !ab_inspect_type(name, ret_type)) {
        snprintf(ret_message, message_size,
                 "type: no such message; it is one of " AB_INSPECT_TYPES);
        return false;
    }
    return true;
}

/** The members of the answer to a line. */
static void write_answer(aw_json_writer_t *writer, ab_batch_answer_t answer, line_kind_t kind,
                         aw_span_t line, aw_arena_t *arena)
{
    char message[AB_BATCH_MESSAGE_MAX];
    if (kind == LINE_TOO_LONG) {
        snprintf(message, sizeof message, "the line is longer than %zu bytes", AB_BATCH_LINE_MAX);
        write_bad_request(writer, message);
        return;
    }
    json_error_t error;
    json_t *object = json_loadb((const char *)line.data, line.size,
                                JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (object == NULL) {
        explain_json(&error, message, sizeof message);
        write_bad_request(writer, message);
    } else if (!answer(writer, object, arena, message)) {
        write_bad_request(writer, message);
    }
    json_decref(object);
}

/** Answers one line. Returns an exit code; anything but AB_CLI_OK ends the batch. */
static int answer_line(ab_batch_answer_t answer, line_kind_t kind, aw_span_t line,
                       aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_object_open(&writer);
    write_answer(&writer, answer, kind, line, arena);
    aw_json_object_close(&writer);
    aw_span_t text;
    int status = aw_json_finish(&writer, &text);
    char small[256];
    if (status != AW_OK) {
        /* the message is fine, but its JSON is too large for the memory that one answer may take */
        aw_json_init_buffer(&writer, AW_JSON_COMPACT, small, sizeof small);
        aw_json_object_open(&writer);
        ab_batch_write_failure(&writer, status, &AW_ERROR_INIT);
        aw_json_object_close(&writer);
        if (aw_json_finish(&writer, &text) != AW_OK) {
            return AB_CLI_FATAL;
        }
    }
    fwrite(text.data, 1, text.size, stdout);
    return putchar('\n') == EOF ? AB_CLI_IO : AB_CLI_OK;
}

int ab_batch_run(const ab_input_t *input, int fd, ab_batch_answer_t answer)
{
    static char buffer[BUFFER_SIZE]; /* outlives the call: main.c closes stdout */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    aw_arena_t *arena = aw_arena_new(AB_BATCH_MEMORY_MAX);
    if (arena == NULL) {
        ab_input_complain(input, "out of memory");
        return AB_CLI_FATAL;
    }
    lines_t lines = {.fd = fd, .input = input};
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
        code = answer_line(answer, kind, line, arena);
        aw_arena_reset(arena);
    }
    free(lines.data);
    aw_arena_free(arena);
    return code;
}
