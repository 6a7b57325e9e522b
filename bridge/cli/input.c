#include "bridge/cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/status.h"
#include "bridge/cli/cli.h"

/** The first buffer for the input, bytes. */
#define FIRST_CAPACITY ((size_t)64 << 10)

void ab_input_complain(const ab_input_t *input, const char *format, ...)
{
    va_list arguments;
    (void)fprintf(stderr, "agent-bridge %s: ", input->verb);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

void ab_input_complain_error(const ab_input_t *input, const char *prefix, int status,
                             const aw_error_t *error)
{
    char place[32] = "";
    if (error->offset >= 0) {
        snprintf(place, sizeof place, " at byte %lld", (long long)error->offset);
    }
    ab_input_complain(input, "%s%s: %s%s%s%s: %s", prefix, input->name, aw_status_name(status),
                      place, error->field[0] != '\0' ? " in " : "", error->field,
                      error->text[0] != '\0' ? error->text : aw_status_text(status));
}

int ab_input_exit(int status)
{
    return status == AW_STATUS_NO_MEMORY ? AB_CLI_FATAL : AB_CLI_DATA;
}

const char *ab_input_name(const char *path)
{
    return path != NULL ? path : "standard input";
}

int ab_input_open(const ab_input_t *input, const char *path)
{
    if (path == NULL) {
        return STDIN_FILENO;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        ab_input_complain(input, "%s: cannot be opened: %s", path, strerror(errno));
    }
    return fd;
}

static int complain_too_large(const ab_input_t *input, size_t limit)
{
    ab_input_complain(input, "%s: larger than %zu bytes; %s reads one message, not a log of them",
                      input->name, limit, input->verb);
    return AB_CLI_DATA;
}

/** Makes room for one byte more. Returns AB_CLI_OK or the exit code of a complaint. */
static int grow(ab_input_t *input, size_t *capacity, size_t limit)
{
    if (input->size < *capacity) {
        return AB_CLI_OK;
    }
    if (input->size > limit) {
        return complain_too_large(input, limit);
    }
    size_t wanted = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    if (wanted > limit) {
        wanted = limit + 1; /* the one byte that shows there is more */
    }
    uint8_t *data = realloc(input->data, wanted);
    if (data == NULL) {
        ab_input_complain(input, "%s: out of memory after %zu bytes", input->name, input->size);
        return AB_CLI_FATAL;
    }
    input->data = data;
    *capacity = wanted;
    return AB_CLI_OK;
}

static int read_all(ab_input_t *input, int fd, size_t limit)
{
    size_t capacity = 0;
    for (;;) {
        int code = grow(input, &capacity, limit);
        if (code != AB_CLI_OK) {
            return code;
        }
        ssize_t got = read(fd, input->data + input->size, capacity - input->size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            ab_input_complain(input, "%s: cannot be read: %s", input->name, strerror(errno));
            return AB_CLI_NO_INPUT;
        }
        if (got == 0) {
            return AB_CLI_OK;
        }
        input->size += (size_t)got;
    }
}

/** Turns the hex text into the bytes it stands for, in place. */
static int unhex(ab_input_t *input)
{
    aw_span_t text = aw_span_view(input->data, input->size);
    size_t offset = 0;
    switch (ab_hex_read(text, true, input->data, &input->size, &offset)) {
    case AB_HEX_OK:
        break;
    case AB_HEX_BAD_DIGIT:
        ab_input_complain(input,
                          "%s: byte %zu is 0x%02x and no hex digit; --hex takes digits and white "
                          "space only",
                          input->name, offset, text.data[offset]);
        return AB_CLI_DATA;
    case AB_HEX_ODD:
        ab_input_complain(input,
                          "%s: an odd number of hex digits: the one at byte %zu is half a byte",
                          input->name, offset);
        return AB_CLI_DATA;
    }
    return input->size > AB_INPUT_MAX ? complain_too_large(input, AB_INPUT_MAX) : AB_CLI_OK;
}

int ab_input_read(ab_input_t *input, const char *path, bool hex)
{
    int fd = ab_input_open(input, path);
    if (fd < 0) {
        return AB_CLI_NO_INPUT;
    }
    int code = read_all(input, fd, hex ? AB_INPUT_TEXT_MAX : AB_INPUT_MAX);
    if (path != NULL) {
        close(fd);
    }
    return code == AB_CLI_OK && hex ? unhex(input) : code;
}

/** The value of a hex digit, -1 for any other character. */
static int digit_value(uint8_t character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    uint8_t lower = character | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool is_blank(uint8_t character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

ab_hex_trouble_t ab_hex_read(aw_span_t text, bool blanks, uint8_t *bytes, size_t *ret_size,
                             size_t *ret_offset)
{
    size_t size = 0;
    size_t last = 0;
    int high = -1;
    for (size_t i = 0; i < text.size; i++) {
        int value = digit_value(text.data[i]);
        if (value < 0) {
            if (blanks && is_blank(text.data[i])) {
                continue;
            }
            *ret_offset = i;
            return AB_HEX_BAD_DIGIT;
        }
        if (high < 0) {
            high = value;
            last = i;
        } else {
            bytes[size++] = (uint8_t)(high << 4 | value);
            high = -1;
        }
    }
    if (high >= 0) {
        *ret_offset = last;
        return AB_HEX_ODD;
    }
    *ret_size = size;
    return AB_HEX_OK;
}

void ab_input_print(aw_span_t bytes, bool hex)
{
    if (!hex) {
        (void)fwrite(bytes.data, 1, bytes.size, stdout);
        return;
    }
    for (size_t i = 0; i < bytes.size; i++) {
        printf("%02x", bytes.data[i]);
    }
    putchar('\n');
}
