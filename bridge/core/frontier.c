#include "bridge/core/frontier.h"

#include <assert.h>
#include <stdlib.h>

#define CAPACITY_MIN 256u

static ab_done_t *item_of(const ab_frontier_t *frontier, uint64_t ticket)
{
    return &frontier->items[ticket & (frontier->capacity - 1)];
}

void ab_frontier_reset(ab_frontier_t *frontier, int64_t offset)
{
    frontier->first = frontier->next;
    frontier->offset = offset;
    frontier->end = offset;
}

int ab_frontier_reserve(ab_frontier_t *frontier)
{
    if (ab_frontier_waiting(frontier) < frontier->capacity) {
        return 0;
    }
    ab_frontier_t grown = *frontier;
    grown.capacity = frontier->capacity == 0 ? CAPACITY_MIN : frontier->capacity * 2;
    if (grown.capacity > SIZE_MAX / sizeof(*grown.items)) {
        return -1;
    }
    grown.items = malloc(grown.capacity * sizeof(*grown.items));
    if (grown.items == NULL) {
        return -1;
    }
    for (uint64_t ticket = frontier->first; ticket != frontier->next; ticket++) {
        *item_of(&grown, ticket) = *item_of(frontier, ticket);
    }
    free(frontier->items);
    *frontier = grown;
    return 0;
}

uint64_t ab_frontier_add(ab_frontier_t *frontier, int64_t offset)
{
    assert(ab_frontier_waiting(frontier) < frontier->capacity);
    assert(offset >= frontier->end);
    *item_of(frontier, frontier->next) = (ab_done_t){.offset = offset, .waits = 1};
    frontier->end = offset + 1;
    return frontier->next++;
}

void ab_frontier_expect(ab_frontier_t *frontier, uint64_t ticket)
{
    assert(ab_frontier_knows(frontier, ticket));
    item_of(frontier, ticket)->waits++;
}

void ab_frontier_settle(ab_frontier_t *frontier, uint64_t ticket, const ab_done_t *done)
{
    assert(ab_frontier_knows(frontier, ticket));
    ab_done_t *item = item_of(frontier, ticket);
    const int64_t offset = item->offset;
    const uint32_t waits = item->waits;
    *item = *done;
    item->offset = offset;
    item->waits = waits;
    (void)ab_frontier_report(frontier, ticket);
}

bool ab_frontier_knows(const ab_frontier_t *frontier, uint64_t ticket)
{
    return ticket >= frontier->first && ticket < frontier->next;
}

bool ab_frontier_report(ab_frontier_t *frontier, uint64_t ticket)
{
    if (!ab_frontier_knows(frontier, ticket)) {
        return false;
    }
    ab_done_t *item = item_of(frontier, ticket);
    assert(item->waits > 0);
    item->waits--;
    return true;
}

bool ab_frontier_pass(ab_frontier_t *frontier, ab_done_t *ret_done)
{
    if (frontier->first == frontier->next || item_of(frontier, frontier->first)->waits > 0) {
        return false;
    }
    *ret_done = *item_of(frontier, frontier->first++);
    frontier->offset = ret_done->offset + 1;
    return true;
}

size_t ab_frontier_waiting(const ab_frontier_t *frontier)
{
    return (size_t)(frontier->next - frontier->first);
}

void ab_frontier_clear(ab_frontier_t *frontier)
{
    free(frontier->items);
    frontier->items = NULL;
    frontier->capacity = 0;
    ab_frontier_reset(frontier, frontier->offset);
}
