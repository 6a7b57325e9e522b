#include "bridge/kafka/partitions.h"

#include <stdlib.h>
#include <string.h>

int ab_parts_init(ab_parts_t *parts, const ab_config_t *config)
{
    *parts = (ab_parts_t){.config = config, .source_count = config->source_count};
    parts->sources = calloc(config->source_count, sizeof(*parts->sources));
    return parts->sources != NULL ? 0 : -1;
}

void ab_parts_clear(ab_parts_t *parts)
{
    for (size_t s = 0; parts->sources != NULL && s < parts->source_count; s++) {
        for (int32_t p = 0; p < parts->sources[s].count; p++) {
            ab_frontier_clear(&parts->sources[s].items[p].frontier);
        }
        free(parts->sources[s].items);
    }
    free(parts->sources);
    parts->sources = NULL;
}

int ab_parts_source(ab_parts_t *parts, const char *topic)
{
    const ab_source_t *sources = parts->config->sources;
    if (strcmp(sources[parts->last_source].policy.topic, topic) == 0) {
        return (int)parts->last_source;
    }
    for (size_t s = 0; s < parts->source_count; s++) {
        if (strcmp(sources[s].policy.topic, topic) == 0) {
            parts->last_source = s;
            return (int)s;
        }
    }
    return -1;
}

ab_part_t *ab_parts_get(const ab_parts_t *parts, int source, int32_t partition)
{
    if (source < 0 || partition < 0 || partition >= parts->sources[source].count) {
        return NULL;
    }
    return &parts->sources[source].items[partition];
}

static int grow(struct ab_parts_of_source *list, int32_t partition)
{
    if (partition < 0 || partition >= AB_PARTITIONS_MAX) {
        return -1;
    }
    if (partition < list->count) {
        return 0;
    }
    const int32_t count = partition + 1;
    ab_part_t *items = realloc(list->items, (size_t)count * sizeof(*items));
    if (items == NULL) {
        return -1;
    }
    memset(items + list->count, 0, (size_t)(count - list->count) * sizeof(*items));
    list->items = items;
    list->count = count;
    return 0;
}

static void count_state(ab_parts_t *parts, ab_part_state_t state, int step)
{
    size_t *counter = state == AB_PART_PENDING ? &parts->pending
                      : state == AB_PART_HELD  ? &parts->held
                                               : NULL;
    if (counter != NULL) {
        *counter += (size_t)step;
    }
}

int ab_parts_set(ab_parts_t *parts, int source, int32_t partition, ab_part_state_t state)
{
    struct ab_parts_of_source *list = &parts->sources[source];
    if (grow(list, partition) != 0) {
        return -1;
    }
    ab_part_t *part = &list->items[partition];
    count_state(parts, part->state, -1);
    count_state(parts, state, 1);
    if (state == AB_PART_NONE || state == AB_PART_PENDING) {
        ab_frontier_clear(&part->frontier); /* late reports name tickets that it does not know */
        *part = (ab_part_t){.state = state, .end = -1, .frontier = part->frontier};
    }
    part->state = state;
    return 0;
}

void ab_parts_reset(ab_parts_t *parts)
{
    for (size_t s = 0; s < parts->source_count; s++) {
        for (int32_t p = 0; p < parts->sources[s].count; p++) {
            (void)ab_parts_set(parts, (int)s, p, AB_PART_NONE);
        }
    }
    parts->pending = 0;
    parts->held = 0;
}
