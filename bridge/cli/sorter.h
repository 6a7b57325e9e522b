#ifndef BRIDGE_CLI_SORTER_H
#define BRIDGE_CLI_SORTER_H

#include <stddef.h>
#include <stdint.h>

/** Sorts more items than memory holds: what does not fit is written in sorted runs to one temporary
 *  file, which has no name and is gone with the process, and merged when it is read. */
typedef struct ab_sorter ab_sorter_t;

/** Most bytes of one temporary file. Over 400 million sightings of 80 bytes. */
#define AB_SORTER_FILE_MAX ((uint64_t)32 << 30)
/** Least memory of a sorter, bytes. */
#define AB_SORTER_MEMORY_MIN ((size_t)1 << 16)

/** Makes a sorter of items of item_size bytes, in the order of compare (as for qsort). It holds
 *  memory_bytes of them and, while it sorts, as much again; file_max_bytes bounds its file, which
 *  lies in $TMPDIR or /tmp. NULL when memory is short. */
ab_sorter_t *ab_sorter_new(size_t item_size, int (*compare)(const void *a, const void *b),
                           size_t memory_bytes, uint64_t file_max_bytes);

/** Takes NULL. */
void ab_sorter_free(ab_sorter_t *sorter);

/** Takes a copy of one item. Not after ab_sorter_begin(). Returns 0, or the errno of what failed:
 *  EFBIG when the file is at its limit. */
int ab_sorter_add(ab_sorter_t *sorter, const void *item);

/** Begins to give the items from the first on, also a second time. Returns 0 or an errno. */
int ab_sorter_begin(ab_sorter_t *sorter);

/** Gives the next item. Returns 1, 0 when there is none left, or a negative errno. */
int ab_sorter_next(ab_sorter_t *sorter, void *ret_item);

/** How many items were added. */
uint64_t ab_sorter_count(const ab_sorter_t *sorter);

/** Bytes in its file. */
uint64_t ab_sorter_file_bytes(const ab_sorter_t *sorter);

#endif
