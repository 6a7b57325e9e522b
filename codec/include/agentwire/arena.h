#ifndef AGENTWIRE_ARENA_H
#define AGENTWIRE_ARENA_H

#include <stddef.h>

#pragma GCC visibility push(default)

/** Memory that is given out piece by piece and taken back all at once.
 *
 * One arena serves one thread. After aw_arena_reset() the blocks stay, so a loop that resets once a
 * record allocates nothing in its steady state.
 */
typedef struct aw_arena aw_arena_t;

/** Makes an arena that hands out at most limit_bytes between two resets (0: no limit).
 *  Returns NULL when memory is short. The caller owns it and calls aw_arena_free(). */
aw_arena_t *aw_arena_new(size_t limit_bytes);

/** Gives everything back. Takes NULL. */
void aw_arena_free(aw_arena_t *arena);

/** Forgets every piece handed out; the memory is kept for the next round. */
void aw_arena_reset(aw_arena_t *arena);

/** size bytes aligned to 16, uninitialised, valid until reset or free.
 *  NULL when the limit or the memory is reached; aw_arena_limited() tells which. */
void *aw_arena_alloc(aw_arena_t *arena, size_t size);

/** As aw_arena_alloc(), zeroed. count * size is checked for overflow. */
void *aw_arena_calloc(aw_arena_t *arena, size_t count, size_t size);

/** 1 when the last NULL came from limit_bytes, 0 when the system refused memory. */
int aw_arena_limited(const aw_arena_t *arena);

#pragma GCC visibility pop

#endif
