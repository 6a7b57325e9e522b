#ifndef AGENTWIRE_ERROR_H
#define AGENTWIRE_ERROR_H

#include <stdint.h>

/** Longest field path kept, NUL included; the schema's own paths are far shorter. */
#define AW_ERROR_FIELD_MAX 128
/** Longest error text kept, NUL included. */
#define AW_ERROR_TEXT_MAX 160

/** What went wrong, on the caller's stack. Nothing in it is allocated.
 *
 * Every function that takes an aw_error_t * accepts NULL. It is written on failure only, so that
 * the first failure wins when the same struct is passed along and checked once.
 */
typedef struct aw_error {
    int status;                     /* an aw_status_t, negative */
    int64_t offset;                 /* byte offset into the input, -1 when there is none */
    char field[AW_ERROR_FIELD_MAX]; /* path to the item, "" when there is none */
    char text[AW_ERROR_TEXT_MAX];   /* one line for people, valid UTF-8, never payload bytes */
} aw_error_t;

/** The value to start from: status 0, offset -1, empty texts. */
#define AW_ERROR_INIT ((aw_error_t){0, -1, "", ""})

#endif
