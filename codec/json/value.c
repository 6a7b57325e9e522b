#include "codec/json/value.h"

#include <assert.h>
#include <string.h>

/** Longest decimal size_t. */
#define DIGITS_MAX 20u
/** Up to this many members are sorted by insertion: no scratch, and keys of one word are cheap. */
#define INSERTION_MAX 8u

int aw__json_key_compare(aw_span_t a, aw_span_t b)
{
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

const aw__json_value_t *aw__json_find(const aw__json_value_t *object, aw_span_t key)
{
    if (object == NULL || object->kind != AW__JSON_OBJECT) {
        return NULL;
    }
    size_t low = 0;
    size_t high = object->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = aw__json_key_compare(key, object->sorted[middle]->key);
        if (order == 0) {
            return object->sorted[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const aw__json_value_t *aw__json_find_text(const aw__json_value_t *object, const char *key)
{
    return aw__json_find(object, aw_span_text_view(key));
}

bool aw__json_is_text(const aw__json_value_t *value, const char *text)
{
    return value != NULL && value->kind == AW__JSON_STRING &&
           aw_span_equal(value->text, aw_span_text_view(text));
}

aw__json_value_t *aw__json_new(aw_arena_t *arena, aw__json_kind_t kind)
{
    aw__json_value_t *value = aw_arena_calloc(arena, 1, sizeof *value);
    if (value != NULL) {
        value->kind = kind;
    }
    return value;
}

void aw__json_append(aw__json_value_t *container, aw__json_value_t *child)
{
    assert(child->next == NULL);
    if (container->first == NULL) {
        container->first = child;
    } else {
        container->last->next = child;
    }
    container->last = child;
    container->count++;
    if (container->height <= child->height) {
        container->height = child->height + 1;
    }
}

static bool is_sorted(aw__json_value_t *const *members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (aw__json_key_compare(members[i - 1]->key, members[i]->key) > 0) {
            return false;
        }
    }
    return true;
}

static void sort_by_insertion(aw__json_value_t **members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        aw__json_value_t *member = members[i];
        size_t at = i;
        for (; at > 0 && aw__json_key_compare(members[at - 1]->key, member->key) > 0; at--) {
            members[at] = members[at - 1];
        }
        members[at] = member;
    }
}

/** Merges the sorted runs [0, middle) and [middle, count) of from into to. The left one goes first
 * among equals, so that they stay in the order of the text. */
static void merge(aw__json_value_t *const *from, size_t middle, size_t count, aw__json_value_t **to)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool take_left =
            left < middle &&
            (right == count || aw__json_key_compare(from[left]->key, from[right]->key) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/** Merges runs that double in length, from one array into the other and back. */
static void sort_by_merging(aw__json_value_t **members, size_t count, aw__json_value_t **scratch)
{
    aw__json_value_t **from = members;
    aw__json_value_t **to = scratch;
    for (size_t at = 0; at < count; at += INSERTION_MAX) {
        sort_by_insertion(members + at, count - at < INSERTION_MAX ? count - at : INSERTION_MAX);
    }
    for (size_t run = INSERTION_MAX; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            const size_t left = count - at;
            merge(from + at, left < run ? left : run, left < 2 * run ? left : 2 * run, to + at);
        }
        aw__json_value_t **swapped = from;
        from = to;
        to = swapped;
    }
    if (from != members) {
        memcpy(members, from, count * sizeof(*members));
    }
}

static int reserve_scratch(aw__json_sorter_t *sorter, size_t count, aw_arena_t *arena)
{
    if (count <= sorter->capacity) {
        return AW_OK;
    }
    /* doubling keeps all the arrays left behind no larger than the last one */
    const size_t capacity = count > 2 * sorter->capacity ? count : 2 * sorter->capacity;
    aw__json_value_t **scratch = aw_arena_alloc(arena, capacity * sizeof(*scratch));
    if (scratch == NULL) {
        return aw_arena_status(arena);
    }
    sorter->scratch = scratch;
    sorter->capacity = capacity;
    return AW_OK;
}

/** Notes repeated keys; returns whether there are any. */
static bool note_repeated(aw__json_sorter_t *sorter, const aw__json_value_t *object)
{
    bool repeats = false;
    for (size_t i = 1; i < object->count; i++) {
        const aw__json_value_t *member = object->sorted[i];
        if (aw__json_key_compare(object->sorted[i - 1]->key, member->key) != 0) {
            continue;
        }
        repeats = true;
        if (sorter->repeated == NULL || member->key_offset < sorter->repeated->key_offset) {
            sorter->repeated = member;
        }
    }
    return repeats;
}

/** Leaves the last member of each key, in `sorted` and in the list. A dropped one is marked by
 * losing its key. */
static void drop_repeated(aw__json_value_t *object)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        aw__json_value_t *member = object->sorted[i];
        if (i + 1 < object->count &&
            aw__json_key_compare(member->key, object->sorted[i + 1]->key) == 0) {
            member->key = AW_SPAN_NULL;
        } else {
            object->sorted[kept++] = member;
        }
    }
    object->count = kept;
    object->height = 1;
    aw__json_value_t **link = &object->first;
    while (*link != NULL) {
        const aw__json_value_t *member = *link;
        if (member->key.data == NULL) {
            *link = member->next;
            continue;
        }
        if (object->height <= member->height) {
            object->height = member->height + 1;
        }
        link = &(*link)->next;
    }
}

int aw__json_sort(aw__json_sorter_t *sorter, aw__json_value_t *object, aw_arena_t *arena)
{
    assert(object->kind == AW__JSON_OBJECT);
    object->sorted = NULL;
    if (object->count == 0) {
        return AW_OK;
    }
    aw__json_value_t **members = aw_arena_alloc(arena, object->count * sizeof(*members));
    if (members == NULL) {
        return aw_arena_status(arena);
    }
    size_t count = 0;
    for (aw__json_value_t *member = object->first; member != NULL; member = member->next) {
        members[count++] = member;
    }
    assert(count == object->count);
    if (count <= INSERTION_MAX) {
        sort_by_insertion(members, count);
    } else if (!is_sorted(members, count)) {
        int status = reserve_scratch(sorter, count, arena);
        if (status != AW_OK) {
            return status;
        }
        sort_by_merging(members, count, sorter->scratch);
    }
    object->sorted = members;
    if (note_repeated(sorter, object) && sorter->last_of_equals) {
        drop_repeated(object);
    }
    return AW_OK;
}

static void add_bytes(aw__json_path_t *path, const char *bytes, size_t size)
{
    if (path->is_full || size >= sizeof path->text - path->size) {
        path->is_full = true;
        return;
    }
    memcpy(path->text + path->size, bytes, size);
    path->size += size;
    path->text[path->size] = '\0';
}

/** Bytes of the character that begins with this byte of well-formed UTF-8. */
static size_t character_size(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

void aw__json_path_add_key(aw__json_path_t *path, aw_span_t key)
{
    add_bytes(path, "/", 1);
    for (size_t i = 0; i < key.size && !path->is_full;) {
        const uint8_t byte = key.data[i];
        const size_t size = character_size(byte);
        if (byte == '~') {
            add_bytes(path, "~0", 2);
        } else if (byte == '/') {
            add_bytes(path, "~1", 2);
        } else if (byte < 0x20 || byte == 0x7f) {
            add_bytes(path, "?", 1);
        } else {
            add_bytes(path, (const char *)key.data + i, size);
        }
        i += size;
    }
}

void aw__json_path_add_index(aw__json_path_t *path, size_t index)
{
    char digits[DIGITS_MAX + 1];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    digits[--at] = '/';
    add_bytes(path, digits + at, sizeof digits - at);
}

void aw__json_path_find(aw__json_path_t *path, const aw__json_value_t *root,
                        const aw__json_value_t *value)
{
    const aw__json_value_t *at = root;
    while (at != value && (at->kind == AW__JSON_ARRAY || at->kind == AW__JSON_OBJECT)) {
        size_t index = 0;
        const aw__json_value_t *child = at->first;
        while (child != NULL && child->offset + child->size <= value->offset) {
            child = child->next;
            index++;
        }
        if (child == NULL || child->offset > value->offset) {
            return;
        }
        if (at->kind == AW__JSON_OBJECT) {
            aw__json_path_add_key(path, child->key);
        } else {
            aw__json_path_add_index(path, index);
        }
        at = child;
    }
}
