#include "bridge/config/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    struct piece *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
} piece_t;

struct ab_config_memory {
    piece_t *pieces;
    bool failed;
};

ab_config_memory_t *ab_config_memory_new(void)
{
    return calloc(1, sizeof(ab_config_memory_t));
}

void *ab_config_memory_alloc(ab_config_memory_t *memory, size_t size)
{
    piece_t *piece = size <= SIZE_MAX - sizeof(*piece) ? calloc(1, sizeof(*piece) + size) : NULL;
    if (piece == NULL) {
        memory->failed = true;
        return NULL;
    }
    piece->size = size;
    piece->next = memory->pieces;
    memory->pieces = piece;
    return piece->bytes;
}

char *ab_config_memory_text(ab_config_memory_t *memory, const char *text, size_t size)
{
    char *copy = size < SIZE_MAX ? ab_config_memory_alloc(memory, size + 1) : NULL;
    if (copy != NULL && size > 0) {
        memcpy(copy, text, size);
    }
    return copy;
}

bool ab_config_memory_failed(const ab_config_memory_t *memory)
{
    return memory->failed;
}

void ab_config_memory_free(ab_config_memory_t *memory)
{
    if (memory == NULL) {
        return;
    }
    for (piece_t *piece = memory->pieces; piece != NULL;) {
        piece_t *next = piece->next;
        explicit_bzero(piece->bytes, piece->size);
        free(piece);
        piece = next;
    }
    free(memory);
}
