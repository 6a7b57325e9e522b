#ifndef BRIDGE_STATE_LOAD_H
#define BRIDGE_STATE_LOAD_H

#include "bridge/state/format.h"

/** The effects of a whole topic's records, sorted by key: an external merge sort. What is added
 * goes to an arena of a fixed size; each time that is full it is sorted and written to a file
 * without a name in the store's folder, as a run that holds at most two entries a key; and in the
 * end the runs are merged. Used by store_load.c alone; errors are errno's. */
typedef struct ab_load ab_load_t;

/** What a record did to its key. */
typedef enum ab_load_kind {
    AB_LOAD_STATE, /* it has this state, and no mark */
    AB_LOAD_GONE,  /* it has neither */
    AB_LOAD_MARK   /* it has this mark, and the state it had */
} ab_load_kind_t;

/** One effect. Views. */
typedef struct ab_load_entry {
    ab_load_kind_t kind;
    ab_store_head_t head; /* of AB_LOAD_GONE only the offset */
    aw_span_t name;       /* as ab_store_key_of() makes it */
    aw_span_t bytes;      /* what stands behind the head */
} ab_load_entry_t;

/** What all effects on one key come to. Views that live until ab_load_free(). */
typedef struct ab_load_key {
    aw_span_t name;
    bool has_state, has_mark;
    ab_load_entry_t state, mark;
} ab_load_key_t;

/** The smallest arena, bytes, and the usual one. */
#define AB_LOAD_ARENA_MIN ((size_t)1024)
#define AB_LOAD_ARENA     ((size_t)8 * 1024 * 1024)

/** arena_bytes is at least AB_LOAD_ARENA_MIN. NULL when memory is short. */
ab_load_t *ab_load_new(const char *folder, size_t arena_bytes);

/** Takes NULL. */
void ab_load_free(ab_load_t *load);

/** Adds an effect behind all others; copies it. After an error only ab_load_free() may follow.
 *  Returns 0 or an errno. */
int ab_load_add(ab_load_t *load, const ab_load_entry_t *entry);

/** Ends adding; ab_load_next() may follow. Returns 0 or an errno. */
int ab_load_sort(ab_load_t *load);

bool ab_load_is_sorted(const ab_load_t *load);

/** True when ab_load_next() has given every key. */
bool ab_load_is_over(const ab_load_t *load);

/** The next key in LMDB's order; ab_load_is_over() was false. Returns 0, or EIO when the file does
 *  not hold what was written. */
int ab_load_next(ab_load_t *load, ab_load_key_t *ret_key);

/** Lets go of the memory that the file was read into, which the kernel may keep; views stay good.
 */
void ab_load_let_go(ab_load_t *load);

/** What it uses, and has done. */
typedef struct ab_load_facts {
    size_t memory_bytes;  /* set aside; while it sorts, up to a third of the arena more */
    size_t largest_bytes; /* of the largest entry */
    uint64_t file_bytes;
    size_t runs;
    uint64_t taken; /* entries behind the keys that ab_load_next() gave */
} ab_load_facts_t;

ab_load_facts_t ab_load_facts(const ab_load_t *load);

#endif
