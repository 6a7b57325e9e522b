#ifndef BRIDGE_CORE_OFFSET_SET_H
#define BRIDGE_CORE_OFFSET_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Offsets of one partition: one bit each, in pages that are there once they hold one. So 100
 *  million offsets in a row take 12.5 MB at most. Start from {.base = the lowest offset}. */
typedef struct ab_offset_set {
    int64_t base; /* offsets below it are never in the set */
    uint64_t **pages;
    size_t page_count;
} ab_offset_set_t;

/** Offsets of one page. */
#define AB_OFFSET_PAGE 32768
/** So far above base an offset may be: 64 billion records of one partition. */
#define AB_OFFSET_SPAN_MAX (INT64_C(1) << 36)

/** Adds an offset. Below base it is left out. Returns 0, or -1 when memory is short or the offset
 *  lies AB_OFFSET_SPAN_MAX or more above base, the set then being as it was. */
int ab_offset_set_add(ab_offset_set_t *set, int64_t offset);

bool ab_offset_set_has(const ab_offset_set_t *set, int64_t offset);

/** Frees the pages; the set is empty then, its base as it was. */
void ab_offset_set_clear(ab_offset_set_t *set);

#endif
