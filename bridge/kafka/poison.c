#include "bridge/kafka/poison.h"

#include <stdlib.h>

#define CAPACITY_MIN 64u

unsigned ab_output_last_rung(ab_output_t output)
{
    static const unsigned last[AB_OUTPUT_COUNT] = {
        [AB_OUTPUT_ROUTE] = 2, [AB_OUTPUT_LETTER] = 1, [AB_OUTPUT_QUARANTINE] = 3};
    return last[output];
}

void ab_poison_clear(ab_poison_t *poison)
{
    free(poison->slots);
    *poison = (ab_poison_t){NULL, 0, 0};
}

static size_t home_of(const ab_poison_t *poison, int source, int32_t partition, int64_t offset)
{
    uint64_t hash = (uint64_t)offset * 0x9E3779B97F4A7C15u;
    hash ^= ((uint64_t)(uint32_t)partition << 20) ^ (uint64_t)(uint32_t)source;
    hash *= 0xD6E8FEB86659FD93u;
    return (size_t)(hash >> 32) & (poison->capacity - 1);
}

static bool is_record(const ab_poison_entry_t *entry, int source, int32_t partition, int64_t offset)
{
    return entry->source == source && entry->partition == partition && entry->offset == offset;
}

ab_poison_entry_t *ab_poison_find(const ab_poison_t *poison, int source, int32_t partition,
                                  int64_t offset)
{
    if (poison->count == 0) {
        return NULL;
    }
    for (size_t i = home_of(poison, source, partition, offset);;
         i = (i + 1) & (poison->capacity - 1)) {
        ab_poison_entry_t *entry = &poison->slots[i];
        if (entry->source < 0) {
            return NULL;
        }
        if (is_record(entry, source, partition, offset)) {
            return entry;
        }
    }
}

/* The slot for a record that is not in the table, which has room. */
static ab_poison_entry_t *take_slot(ab_poison_t *poison, int source, int32_t partition,
                                    int64_t offset)
{
    size_t i = home_of(poison, source, partition, offset);
    while (poison->slots[i].source >= 0) {
        i = (i + 1) & (poison->capacity - 1);
    }
    poison->slots[i] =
        (ab_poison_entry_t){.source = source, .partition = partition, .offset = offset};
    poison->count++;
    return &poison->slots[i];
}

static int rehash(ab_poison_t *poison, size_t capacity)
{
    const ab_poison_t old = *poison;
    ab_poison_entry_t *slots = malloc(capacity * sizeof(*slots));
    if (slots == NULL) {
        return -1;
    }
    for (size_t i = 0; i < capacity; i++) {
        slots[i].source = -1;
    }
    *poison = (ab_poison_t){slots, capacity, 0};
    for (size_t i = 0; i < old.capacity; i++) {
        const ab_poison_entry_t *entry = &old.slots[i];
        if (entry->source >= 0) {
            *take_slot(poison, entry->source, entry->partition, entry->offset) = *entry;
        }
    }
    free(old.slots);
    return 0;
}

ab_poison_entry_t *ab_poison_add(ab_poison_t *poison, int source, int32_t partition, int64_t offset)
{
    ab_poison_entry_t *found = ab_poison_find(poison, source, partition, offset);
    if (found != NULL) {
        return found;
    }
    if ((poison->count + 1) * 2 > poison->capacity &&
        rehash(poison, poison->capacity != 0 ? poison->capacity * 2 : CAPACITY_MIN) != 0) {
        return NULL;
    }
    return take_slot(poison, source, partition, offset);
}

void ab_poison_demote(ab_poison_entry_t *entry, ab_output_t output, rd_kafka_resp_err_t error)
{
    const unsigned last = ab_output_last_rung(output);
    const bool smaller_helps = error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    entry->error = error;
    if (!smaller_helps) {
        entry->rung[output] = (uint8_t)last;
    } else if (entry->rung[output] < last) {
        entry->rung[output]++;
    }
}

void ab_poison_forget(ab_poison_t *poison, int source, int32_t partition, int64_t below)
{
    if (poison->count == 0) {
        return;
    }
    size_t left = 0;
    for (size_t i = 0; i < poison->capacity; i++) {
        ab_poison_entry_t *entry = &poison->slots[i];
        if (entry->source == source && entry->partition == partition && entry->offset < below) {
            /* A hole would cut a chain: mark it as nobody's, rebuild below. */
            entry->partition = -1;
        } else if (entry->source >= 0 && entry->partition >= 0) {
            left++;
        }
    }
    if (left == poison->count) {
        return;
    }
    if (left == 0) {
        ab_poison_clear(poison);
        return;
    }
    for (size_t i = 0; i < poison->capacity; i++) {
        if (poison->slots[i].source >= 0 && poison->slots[i].partition < 0) {
            poison->slots[i].source = -1;
        }
    }
    /* Failing to rebuild for want of memory costs one more abort, never a record: the entries that
     * a hole hides are found again by being refused again. */
    (void)rehash(poison, poison->capacity);
}
