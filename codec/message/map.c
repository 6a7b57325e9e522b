#include "codec/message/gen/beam_agents.pb-c.h"
#include "codec/message/object.h"

typedef BeamAgents__V1__TraceEvent__AttributesEntry entry_t;

/* The order of the reference runtime: bytes over the common length, and of two keys of which one
 * begins the other the longer one first. */
static int compare_keys(const entry_t *a, const entry_t *b)
{
    size_t common = a->key.len < b->key.len ? a->key.len : b->key.len;
    int order = common > 0 ? memcmp(a->key.data, b->key.data, common) : 0;
    if (order != 0) {
        return order;
    }
    return (a->key.len < b->key.len) - (a->key.len > b->key.len);
}

/* Merges the sorted halves [0, middle) and [middle, length) of from into to; of equal keys the one
 * from the first half stays before the other. */
static void merge(entry_t **to, entry_t **from, size_t middle, size_t length)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < length; i++) {
        bool take_left =
            left < middle && (right == length || compare_keys(from[left], from[right]) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* A merge sort without recursion; the C library's own sorts are not stable or allocate. Returns the
 * one of the two arrays that holds the result. */
static entry_t **sort_stable(entry_t **entries, entry_t **spare, size_t length)
{
    for (size_t width = 1; width < length; width *= 2) {
        for (size_t start = 0; start < length; start += 2 * width) {
            size_t left = length - start;
            size_t middle = width < left ? width : left;
            size_t both = left - middle < width ? left : middle + width;
            merge(spare + start, entries + start, middle, both);
        }
        entry_t **sorted = spare;
        spare = entries;
        entries = sorted;
    }
    return entries;
}

static bool is_sorted(entry_t **entries, size_t length)
{
    for (size_t i = 1; i < length; i++) {
        if (compare_keys(entries[i - 1], entries[i]) >= 0) {
            return false;
        }
    }
    return true;
}

/* Keeps the last of each run of equal keys; returns how many are left. */
static size_t keep_last(entry_t **entries, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (i + 1 == length || compare_keys(entries[i], entries[i + 1]) != 0) {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

bool aw__sort_maps(aw_message_t *message, aw_arena_t *arena)
{
    if (message->type != AW_MESSAGE_TRACE_EVENT) {
        return true;
    }
    BeamAgents__V1__TraceEvent *event = (BeamAgents__V1__TraceEvent *)aw__body(message);
    size_t length = event->n_attributes;
    if (is_sorted(event->attributes, length)) {
        return true;
    }
    entry_t **spare = aw_arena_calloc(arena, length, sizeof(entry_t *));
    if (spare == NULL) {
        return false;
    }
    event->attributes = sort_stable(event->attributes, spare, length);
    event->n_attributes = keep_last(event->attributes, length);
    return true;
}
