#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/message.h"

/** What libFuzzer calls with each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Memory that one input may take, bytes. */
#define FUZZ_MEMORY_MAX ((size_t)256 << 20)

/** Ends the run: the input shows a bug. */
static inline void fuzz_require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/** Two readers say the same of one input. */
static inline void fuzz_require_same_error(const aw_error_t *a, const aw_error_t *b)
{
    fuzz_require(a->status == b->status && a->offset == b->offset &&
                 strcmp(a->field, b->field) == 0 && strcmp(a->text, b->text) == 0);
}

/** The message type that the first byte stands for; the rest is the input. size is not 0. */
static inline aw_message_type_t fuzz_type(const uint8_t *data)
{
    return (aw_message_type_t)(data[0] % AW_MESSAGE_COUNT);
}

#endif
