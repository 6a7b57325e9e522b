#ifndef AGENTWIRE_SPAN_H
#define AGENTWIRE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A borrowed run of bytes: not NUL-terminated, may hold any byte.
 *
 * data NULL means "absent" (a Kafka tombstone, a missing key); data set with size 0 means "there
 * and empty". The two are different everywhere in this library. A span never owns: the holder of
 * the bytes says how long they live.
 */
typedef struct aw_span {
    const uint8_t *data;
    size_t size; /* bytes */
} aw_span_t;

/** The absent span. */
#define AW_SPAN_NULL ((aw_span_t){NULL, 0})

/** A span over size bytes at data; NULL stays absent. Lives as long as data. */
static inline aw_span_t aw_span_view(const void *data, size_t size)
{
    return (aw_span_t){(const uint8_t *)data, data != NULL ? size : 0};
}

/** A span over a C string without its NUL. Lives as long as text. */
static inline aw_span_t aw_span_text_view(const char *text)
{
    return aw_span_view(text, text != NULL ? strlen(text) : 0);
}

/** True when both hold the same bytes; an absent span equals an empty one here. */
static inline bool aw_span_equal(aw_span_t a, aw_span_t b)
{
    return a.size == b.size && (a.size == 0 || (a.data != NULL && b.data != NULL &&
                                                memcmp(a.data, b.data, a.size) == 0));
}

#endif
