#include "agentwire/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/base/limits.h"
#include "codec/base/size.h"

#if defined(__SANITIZE_ADDRESS__)
#define AW_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AW_ARENA_POISON 1
#endif
#endif

#ifdef AW_ARENA_POISON
#include <sanitizer/asan_interface.h>
#define HIDE(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define SHOW(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define HIDE(address, size) ((void)(address), (void)(size))
#define SHOW(address, size) ((void)(address), (void)(size))
#endif

/* A block of memory; its bytes follow the header. */
typedef struct block {
    struct block *older;
    size_t capacity;
} block_t;

_Static_assert(sizeof(block_t) % AW__ARENA_ALIGN == 0, "what follows a block's header is aligned");

struct aw_arena {
    uint8_t *at;      /* the next free byte of the newest block */
    size_t left;      /* free bytes there */
    block_t *newest;  /* NULL before the first piece */
    size_t limit;     /* bytes between two resets, SIZE_MAX for none */
    size_t used;      /* bytes handed out since the last reset, alignment included */
    size_t capacity;  /* of all blocks together */
    size_t next_size; /* capacity of the next ordinary block */
    bool limited;
};

aw_arena_t *aw_arena_new(size_t limit_bytes)
{
    aw_arena_t *arena = calloc(1, sizeof *arena);
    if (arena == NULL) {
        return NULL;
    }
    arena->limit = limit_bytes != 0 ? limit_bytes : SIZE_MAX;
    arena->next_size = AW__ARENA_BLOCK_MIN;
    return arena;
}

static void free_blocks(block_t *block)
{
    while (block != NULL) {
        block_t *older = block->older;
        free(block);
        block = older;
    }
}

void aw_arena_free(aw_arena_t *arena)
{
    if (arena == NULL) {
        return;
    }
    free_blocks(arena->newest);
    free(arena);
}

/* Puts a block of this capacity on top. False when memory is short; the arena is then as before. */
static bool push_block(aw_arena_t *arena, size_t capacity)
{
    size_t size = sizeof(block_t);
    if (!aw__size_add(&size, capacity)) {
        return false;
    }
    block_t *block = malloc(size);
    if (block == NULL) {
        return false;
    }
    block->older = arena->newest;
    block->capacity = capacity;
    arena->newest = block;
    arena->at = (uint8_t *)(block + 1);
    arena->left = capacity;
    arena->capacity += capacity;
    HIDE(arena->at, capacity);
    return true;
}

void aw_arena_reset(aw_arena_t *arena)
{
    block_t *block = arena->newest;
    arena->used = 0;
    arena->limited = false;
    if (block == NULL) {
        return;
    }
    if (block->older != NULL) {
        /* One block as large as all of them serves the next round without asking again, however its
         * pieces are sized. Where that is refused the newest one alone goes on. */
        size_t all = arena->capacity;
        free_blocks(block->older);
        block->older = NULL;
        arena->capacity = block->capacity;
        if (push_block(arena, all)) {
            free(block);
            block = arena->newest;
            block->older = NULL;
            arena->capacity = all;
        }
    }
    arena->at = (uint8_t *)(block + 1);
    arena->left = block->capacity;
    HIDE(arena->at, block->capacity);
}

/* Makes room for size bytes that the newest block has not got. */
static bool grow(aw_arena_t *arena, size_t size)
{
    size_t capacity = arena->next_size;
    if (size > capacity) {
        return push_block(arena, size);
    }
    if (!push_block(arena, capacity)) {
        return false;
    }
    if (arena->next_size < AW__ARENA_BLOCK_MAX) {
        arena->next_size *= 2;
    }
    return true;
}

void *aw_arena_alloc(aw_arena_t *arena, size_t size)
{
    size_t rounded = size != 0 ? size : 1;
    if (!aw__size_add(&rounded, AW__ARENA_ALIGN - 1)) {
        arena->limited = arena->limit != SIZE_MAX;
        return NULL;
    }
    rounded &= ~(AW__ARENA_ALIGN - 1);
    if (rounded > arena->limit - arena->used) {
        arena->limited = true;
        return NULL;
    }
    if (rounded > arena->left && !grow(arena, rounded)) {
        arena->limited = false;
        return NULL;
    }
    uint8_t *piece = arena->at;
    arena->at += rounded;
    arena->left -= rounded;
    arena->used += rounded;
    SHOW(piece, size);
    return piece;
}

void *aw_arena_calloc(aw_arena_t *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!aw__size_mul(count, size, &bytes)) {
        arena->limited = arena->limit != SIZE_MAX;
        return NULL;
    }
    void *piece = aw_arena_alloc(arena, bytes);
    if (piece != NULL) {
        memset(piece, 0, bytes);
    }
    return piece;
}

int aw_arena_status(const aw_arena_t *arena)
{
    return arena->limited ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_NO_MEMORY;
}
