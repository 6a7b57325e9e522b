#include "bridge/core/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int ab_tallies_init(ab_tallies_t *tallies, size_t source_count)
{
    *tallies = (ab_tallies_t){.sources = calloc(source_count, sizeof(*tallies->sources))};
    if (tallies->sources == NULL) {
        return -1;
    }
    tallies->source_count = source_count;
    return 0;
}

void ab_tallies_clear(ab_tallies_t *tallies)
{
    for (size_t s = 0; s < tallies->source_count; s++) {
        free(tallies->sources[s].items);
    }
    free(tallies->sources);
    *tallies = (ab_tallies_t){0};
}

/* Room for so many partitions. False when memory is short. */
static bool grow(struct ab_tallies_of_source *source, size_t count)
{
    if (count <= source->count) {
        return true;
    }
    ab_tally_t *items = realloc(source->items, count * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    memset(items + source->count, 0, (count - source->count) * sizeof(*items));
    source->items = items;
    source->count = count;
    return true;
}

void ab_tallies_count(ab_tallies_t *tallies, size_t source, int32_t partition, ab_outcome_t outcome)
{
    assert(partition >= 0 && outcome < AB_OUTCOME_COUNT);
    if (source < tallies->source_count && grow(&tallies->sources[source], (size_t)partition + 1)) {
        ab_tally_t *tally = &tallies->sources[source].items[partition];
        tally->consumed++;
        tally->outcomes[outcome]++;
    }
}

void ab_tallies_add(ab_tallies_t *tallies, const ab_tallies_t *more)
{
    for (size_t s = 0; s < tallies->source_count && s < more->source_count; s++) {
        const struct ab_tallies_of_source *from = &more->sources[s];
        struct ab_tallies_of_source *to = &tallies->sources[s];
        (void)grow(to, from->count);
        for (size_t p = 0; p < from->count && p < to->count; p++) {
            to->items[p].consumed += from->items[p].consumed;
            for (int i = 0; i < AB_OUTCOME_COUNT; i++) {
                to->items[p].outcomes[i] += from->items[p].outcomes[i];
            }
        }
    }
}

void ab_tallies_reset(ab_tallies_t *tallies)
{
    for (size_t s = 0; s < tallies->source_count; s++) {
        if (tallies->sources[s].count > 0) {
            memset(tallies->sources[s].items, 0,
                   tallies->sources[s].count * sizeof(*tallies->sources[s].items));
        }
    }
}

bool ab_tally_balanced(const ab_tally_t *tally)
{
    uint64_t sum = 0;
    for (int i = 0; i < AB_OUTCOME_COUNT; i++) {
        sum += tally->outcomes[i];
    }
    return tally->consumed == sum;
}
