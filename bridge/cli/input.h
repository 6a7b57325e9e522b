#ifndef BRIDGE_CLI_INPUT_H
#define BRIDGE_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentwire/error.h"
#include "agentwire/span.h"

/** Most bytes of one message that a verb reads: eight times what a source takes by default. */
#define AB_INPUT_MAX ((size_t)64 << 20)
/** Most bytes of text around it: two digits a byte, and as much again for white space. */
#define AB_INPUT_TEXT_MAX (4 * AB_INPUT_MAX)

/** An input file of a verb, as it was read. data is the caller's to free, also after a failure. */
typedef struct ab_input {
    const char *verb; /* who complains */
    const char *name;
    uint8_t *data;
    size_t size;
} ab_input_t;

/** What an input is called in complaints; path NULL is standard input. */
const char *ab_input_name(const char *path);

/** Opens the file, or gives standard input. Returns a descriptor, or -1 when it has complained. */
int ab_input_open(const ab_input_t *input, const char *path);

/** Reads one message: all of the file, or the bytes that its hex text stands for. Returns AB_CLI_OK
 * or, when it has complained, an exit code. */
int ab_input_read(ab_input_t *input, const char *path, bool hex);

/** Writes bytes to stdout: as they are, or as hex text with a line end. main.c reports trouble. */
void ab_input_print(aw_span_t bytes, bool hex);

/** Writes "agent-bridge VERB: …" and a line end to stderr. */
void ab_input_complain(const ab_input_t *input, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Says what is wrong, as "prefix NAME: reason at byte N in field: text". */
void ab_input_complain_error(const ab_input_t *input, const char *prefix, int status,
                             const aw_error_t *error);

/** The exit code of a status that is no success. */
int ab_input_exit(int status);

/** Where hex text is wrong. */
typedef enum ab_hex_trouble {
    AB_HEX_OK,
    AB_HEX_BAD_DIGIT, /* offset is that of the character */
    AB_HEX_ODD        /* half a byte is left over; offset is that of the last digit */
} ab_hex_trouble_t;

/** Turns hex digits of either case into bytes, with white space between them skipped where blanks
 * is true.
 *
 *  bytes takes text.size / 2 bytes and may be the text's own memory. ret_size is written on
 * success, ret_offset otherwise. */
ab_hex_trouble_t ab_hex_read(aw_span_t text, bool blanks, uint8_t *bytes, size_t *ret_size,
                             size_t *ret_offset);

#endif
