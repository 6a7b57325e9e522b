#ifndef CODEC_BASE_ERROR_H
#define CODEC_BASE_ERROR_H

#include "agentwire/error.h"
#include "agentwire/status.h"

/** Fills an error unless it holds one already, and returns status, so that a failing function can
 * end in one line. error and field may be NULL; text NULL stands for the status's own text. What
 * does not fit is cut at a character's edge. */
int aw__error_set(aw_error_t *error, int status, int64_t offset, const char *field,
                  const char *text);

#endif
