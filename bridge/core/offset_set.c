#include "bridge/core/offset_set.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS  64
#define PAGE_WORDS (AB_OFFSET_PAGE / WORD_BITS)

static int make_room(ab_offset_set_t *set, size_t page)
{
    size_t count = set->page_count == 0 ? 16 : set->page_count;
    uint64_t **pages;

    while (count <= page) {
        count *= 2;
    }
    if (count > set->page_count) {
        pages = realloc(set->pages, count * sizeof(*pages));
        if (pages == NULL) {
            return -1;
        }
        memset(pages + set->page_count, 0, (count - set->page_count) * sizeof(*pages));
        set->pages = pages;
        set->page_count = count;
    }
    if (set->pages[page] == NULL) {
        set->pages[page] = calloc(PAGE_WORDS, sizeof(uint64_t));
        if (set->pages[page] == NULL) {
            return -1;
        }
    }
    return 0;
}

int ab_offset_set_add(ab_offset_set_t *set, int64_t offset)
{
    uint64_t index;

    if (offset < set->base) {
        return 0;
    }
    index = (uint64_t)offset - (uint64_t)set->base;
    if (index >= (uint64_t)AB_OFFSET_SPAN_MAX ||
        make_room(set, (size_t)(index / AB_OFFSET_PAGE)) != 0) {
        return -1;
    }
    set->pages[index / AB_OFFSET_PAGE][index % AB_OFFSET_PAGE / WORD_BITS] |= UINT64_C(1)
                                                                              << index % WORD_BITS;
    return 0;
}

bool ab_offset_set_has(const ab_offset_set_t *set, int64_t offset)
{
    uint64_t index = (uint64_t)offset - (uint64_t)set->base;

    return offset >= set->base && index / AB_OFFSET_PAGE < set->page_count &&
           set->pages[index / AB_OFFSET_PAGE] != NULL &&
           (set->pages[index / AB_OFFSET_PAGE][index % AB_OFFSET_PAGE / WORD_BITS] >>
                index % WORD_BITS &
            1) != 0;
}

void ab_offset_set_clear(ab_offset_set_t *set)
{
    for (size_t i = 0; i < set->page_count; i++) {
        free(set->pages[i]);
    }
    free(set->pages);
    set->pages = NULL;
    set->page_count = 0;
}
