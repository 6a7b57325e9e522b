#ifndef AGENTWIRE_ARENA_H
#define AGENTWIRE_ARENA_H

#include <stddef.h>

#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

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
 *  NULL when the limit or the memory is reached; aw_arena_status() tells which. */
void *aw_arena_alloc(aw_arena_t *arena, size_t size);

/** As aw_arena_alloc(), zeroed. count * size is checked for overflow. */
void *aw_arena_calloc(aw_arena_t *arena, size_t count, size_t size);

/** What the last NULL means: AW_STATUS_LIMIT_DECODE_BYTES when it came from limit_bytes, else
 *  AW_STATUS_NO_MEMORY. Every function of the library that takes an arena returns it so. */
int aw_arena_status(const aw_arena_t *arena);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
