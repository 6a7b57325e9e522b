#include "bridge/state/load.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_ROOM 4096
/* So much is written at once. */
#define BUFFER_ROOM ((size_t)64 * 1024)
#define ALIGNMENT   8u

/* An entry as it lies in the arena and in the file: this, the name, the bytes, and what is missing
 * to a multiple of ALIGNMENT. The file never outlives the process, so numbers are the machine's. */
typedef struct entry {
    int64_t offset;
    uint32_t check, size; /* of the head */
    uint32_t bytes_size;
    uint16_t name_size;
    uint16_t kind;
} entry_t;

_Static_assert(sizeof(entry_t) % ALIGNMENT == 0, "entries lie one behind the other");
_Static_assert(sizeof(off_t) >= sizeof(uint64_t), "the file may be large");

/* What is sorted: entries of the arena. */
typedef struct slot {
    uint64_t prefix; /* of the name, behind what all names of the arena begin with */
    const entry_t *entry;
} slot_t;

/* A run, and where its merging stands. The last one is the arena itself, and has slots. */
typedef struct run {
    uint64_t at, end; /* in the file */
    const slot_t *slot, *slots_end;
} run_t;

/* The first entry of each run that has one left, the least name and then the oldest run on top. */
typedef struct node {
    const entry_t *entry;
    size_t run;
} node_t;

struct ab_load {
    uint8_t *arena; /* entries from its start, slots from its end */
    size_t arena_bytes, used, count;
    size_t largest;
    run_t *runs;
    size_t run_count, run_room;
    int file; /* -1: everything fitted so far */
    uint64_t file_bytes;
    uint8_t *buffer;
    size_t buffered;
    const uint8_t *map;
    node_t *heap;
    size_t heap_count;
    uint64_t taken;
    bool sorted;
    char path[PATH_ROOM];
};

ab_load_t *ab_load_new(const char *folder, size_t arena_bytes)
{
    ab_load_t *load = calloc(1, sizeof(*load));
    if (load == NULL) {
        return NULL;
    }
    load->file = -1;
    load->arena_bytes = arena_bytes / sizeof(slot_t) * sizeof(slot_t);
    load->arena = malloc(load->arena_bytes);
    if (load->arena == NULL ||
        snprintf(load->path, sizeof(load->path), "%s", folder) >= PATH_ROOM) {
        ab_load_free(load);
        return NULL;
    }
    return load;
}

void ab_load_free(ab_load_t *load)
{
    if (load == NULL) {
        return;
    }
    if (load->map != NULL) {
        (void)munmap((void *)(uintptr_t)load->map, (size_t)load->file_bytes);
    }
    if (load->file >= 0) {
        close(load->file);
    }
    free(load->heap);
    free(load->runs);
    free(load->buffer);
    free(load->arena);
    free(load);
}

/* ---- entries ---- */

static size_t size_of(size_t name_size, size_t bytes_size)
{
    const size_t size = sizeof(entry_t) + name_size + bytes_size;
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static const uint8_t *name_of(const entry_t *entry)
{
    return (const uint8_t *)(entry + 1);
}

static int compare_names(const entry_t *one, const entry_t *other)
{
    const size_t shared = one->name_size < other->name_size ? one->name_size : other->name_size;
    const int order = memcmp(name_of(one), name_of(other), shared);
    return order != 0 ? order : (int)one->name_size - (int)other->name_size;
}

static entry_t head_of(const ab_load_entry_t *entry)
{
    return (entry_t){entry->head.offset,         entry->head.check,
                     entry->head.size,           (uint32_t)entry->bytes.size,
                     (uint16_t)entry->name.size, (uint16_t)entry->kind};
}

static ab_load_entry_t view_of(const entry_t *entry)
{
    return (ab_load_entry_t){(ab_load_kind_t)entry->kind,
                             {entry->offset, entry->check, entry->size},
                             {name_of(entry), entry->name_size},
                             {name_of(entry) + entry->name_size, entry->bytes_size}};
}

/* ---- the file ---- */

static int make_file(ab_load_t *load)
{
    char path[PATH_ROOM + sizeof(AB_STORE_LOAD_FILE) + 1];
    load->buffer = malloc(BUFFER_ROOM);
    if (load->buffer == NULL) {
        return ENOMEM;
    }
    load->file = open(load->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (load->file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        return load->file >= 0 ? 0 : errno;
    }
    /* A file system without nameless files. A kill between these two leaves an empty one, which the
     * next load, or the store's removal, takes away. */
    (void)snprintf(path, sizeof(path), "%s/" AB_STORE_LOAD_FILE, load->path);
    if (unlink(path) != 0 && errno != ENOENT) {
        return errno;
    }
    load->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return load->file < 0 || unlink(path) != 0 ? errno : 0;
}

static int write_out(ab_load_t *load, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(load->file, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : EIO;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

static int drain(ab_load_t *load)
{
    const size_t size = load->buffered;
    load->buffered = 0;
    return write_out(load, load->buffer, size);
}

static int put(ab_load_t *load, const void *bytes, size_t size)
{
    int error = 0;
    load->file_bytes += size;
    if (size > BUFFER_ROOM - load->buffered) {
        error = drain(load);
    }
    if (error != 0 || size > BUFFER_ROOM) {
        return error != 0 ? error : write_out(load, bytes, size);
    }
    memcpy(load->buffer + load->buffered, bytes, size);
    load->buffered += size;
    return 0;
}

/* ---- runs ---- */

/* The slots grow towards the arena's start. */
static slot_t *slots_of(const ab_load_t *load)
{
    return (slot_t *)(void *)(load->arena + load->arena_bytes) - load->count;
}

static int compare_slots(const void *a, const void *b)
{
    const slot_t *one = a;
    const slot_t *other = b;
    if (one->prefix != other->prefix) {
        return one->prefix < other->prefix ? -1 : 1;
    }
    const int order = compare_names(one->entry, other->entry);
    /* Of one key, by arrival. */
    return order != 0 ? order : (one->entry > other->entry) - (one->entry < other->entry);
}

/* How many bytes all names begin with. */
static size_t shared_by_all(const slot_t *slots, size_t count)
{
    const entry_t *first = slots[0].entry;
    size_t shared = first->name_size;
    for (size_t i = 1; i < count; i++) {
        const entry_t *entry = slots[i].entry;
        shared = shared < entry->name_size ? shared : entry->name_size;
        while (memcmp(name_of(first), name_of(entry), shared) != 0) {
            shared--;
        }
    }
    return shared;
}

/* The eight bytes of a name from a place on, as a number that sorts like them. */
static uint64_t prefix_of(const entry_t *entry, size_t from)
{
    uint64_t prefix = 0;
    for (size_t i = from; i < from + 8; i++) {
        prefix = prefix << 8 | (i < entry->name_size ? name_of(entry)[i] : 0);
    }
    return prefix;
}

/* Leaves of each key, of which slots hold all in order, what earlier entries have no say in. */
static size_t collapse(slot_t *slots, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, first = 0; i < count; i++) {
        const entry_t *entry = slots[i].entry;
        if (kept == first || compare_names(slots[first].entry, entry) != 0) {
            first = kept;
        } else if (entry->kind != AB_LOAD_MARK) {
            kept = first;
        } else if (slots[kept - 1].entry->kind == AB_LOAD_MARK) {
            kept--;
        }
        slots[kept++] = slots[i];
    }
    return kept;
}

/* Sorts the arena's slots and leaves as many as are still needed. They move to the arena's end,
 * where those of ab_load_add() would stand. */
static void sort_arena(ab_load_t *load)
{
    slot_t *slots = slots_of(load);
    if (load->count == 0) {
        return;
    }
    const size_t shared = shared_by_all(slots, load->count);
    for (size_t i = 0; i < load->count; i++) {
        slots[i].prefix = prefix_of(slots[i].entry, shared);
    }
    qsort(slots, load->count, sizeof(*slots), compare_slots);
    const size_t kept = collapse(slots, load->count);
    load->count = kept;
    memmove(slots_of(load), slots, kept * sizeof(*slots));
}

static int begin_run(ab_load_t *load)
{
    int error = 0;
    if (load->run_count == load->run_room) {
        const size_t room = load->run_room > 0 ? 2 * load->run_room : 64;
        run_t *runs = realloc(load->runs, room * sizeof(*runs));
        if (runs == NULL) {
            return ENOMEM;
        }
        load->runs = runs;
        load->run_room = room;
    }
    if (load->file < 0) {
        error = make_file(load);
    }
    load->runs[load->run_count] = (run_t){.at = load->file_bytes, .end = load->file_bytes};
    return error;
}

static void end_run(ab_load_t *load)
{
    load->runs[load->run_count++].end = load->file_bytes;
}

/* Writes the arena as a run, and empties it. */
static int write_run(ab_load_t *load)
{
    int error = 0;
    if (load->count == 0) {
        return 0;
    }
    sort_arena(load);
    const slot_t *slots = slots_of(load);
    error = begin_run(load);
    for (size_t i = 0; error == 0 && i < load->count; i++) {
        const entry_t *entry = slots[i].entry;
        error = put(load, entry, size_of(entry->name_size, entry->bytes_size));
    }
    if (error == 0) {
        end_run(load);
        load->used = 0;
        load->count = 0;
    }
    return error;
}

/* An entry that is larger than the arena. */
static int write_alone(ab_load_t *load, const ab_load_entry_t *entry)
{
    static const uint8_t nothing[ALIGNMENT] = {0};
    const entry_t head = head_of(entry);
    const size_t plain = sizeof(head) + entry->name.size + entry->bytes.size;
    int error = begin_run(load);
    error = error != 0 ? error : put(load, &head, sizeof(head));
    error = error != 0 ? error : put(load, entry->name.data, entry->name.size);
    error = error != 0 ? error : put(load, entry->bytes.data, entry->bytes.size);
    error = error != 0 ? error
                       : put(load, nothing, size_of(entry->name.size, entry->bytes.size) - plain);
    if (error == 0) {
        end_run(load);
    }
    return error;
}

static bool fits(const ab_load_t *load, size_t size)
{
    const size_t taken = load->used + load->count * sizeof(slot_t);
    return size + sizeof(slot_t) <= load->arena_bytes - taken;
}

int ab_load_add(ab_load_t *load, const ab_load_entry_t *entry)
{
    if (entry->bytes.size > UINT32_MAX / 2) {
        return EFBIG;
    }
    const size_t size = size_of(entry->name.size, entry->bytes.size);
    load->largest = size > load->largest ? size : load->largest;
    if (!fits(load, size)) {
        const int error = write_run(load);
        if (error != 0 || !fits(load, size)) {
            return error != 0 ? error : write_alone(load, entry);
        }
    }
    uint8_t *at = load->arena + load->used;
    const entry_t head = head_of(entry);
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), entry->name.data, entry->name.size);
    if (entry->bytes.size > 0) {
        memcpy(at + sizeof(head) + entry->name.size, entry->bytes.data, entry->bytes.size);
    }
    /* What is written is known to the last byte. */
    memset(at + sizeof(head) + entry->name.size + entry->bytes.size, 0,
           size - sizeof(head) - entry->name.size - entry->bytes.size);
    load->used += size;
    load->count++;
    slots_of(load)->entry = (const entry_t *)(const void *)at;
    return 0;
}

/* ---- merging ---- */

static bool is_before(const node_t *one, const node_t *other)
{
    assert(one->entry != NULL && other->entry != NULL);
    const int order = compare_names(one->entry, other->entry);
    return order != 0 ? order < 0 : one->run < other->run;
}

static void sift_down(ab_load_t *load, size_t at)
{
    const node_t moved = load->heap[at];
    for (size_t child; (child = 2 * at + 1) < load->heap_count; at = child) {
        if (child + 1 < load->heap_count && is_before(&load->heap[child + 1], &load->heap[child])) {
            child++;
        }
        if (is_before(&moved, &load->heap[child])) {
            break;
        }
        load->heap[at] = load->heap[child];
    }
    load->heap[at] = moved;
}

/* The next entry of a run; NULL in *ret_entry at its end. */
static int read_entry(ab_load_t *load, run_t *run, const entry_t **ret_entry)
{
    *ret_entry = NULL;
    if (run->slot != run->slots_end) {
        *ret_entry = (run->slot++)->entry;
        return 0;
    }
    if (run->at == run->end) {
        return 0;
    }
    const size_t left = (size_t)(run->end - run->at);
    const entry_t *entry = (const entry_t *)(const void *)(load->map + run->at);
    if (left < sizeof(*entry) || entry->name_size == 0 || entry->name_size > AB_STORE_KEY_MAX ||
        entry->kind > AB_LOAD_MARK || size_of(entry->name_size, entry->bytes_size) > left) {
        return EIO;
    }
    run->at += size_of(entry->name_size, entry->bytes_size);
    *ret_entry = entry;
    return 0;
}

static int map_file(ab_load_t *load)
{
    if (load->file < 0) {
        return 0;
    }
    const int error = drain(load);
    if (error != 0 || load->file_bytes > SIZE_MAX) {
        return error != 0 ? error : EFBIG;
    }
    void *map = mmap(NULL, (size_t)load->file_bytes, PROT_READ, MAP_SHARED, load->file, 0);
    if (map == MAP_FAILED) {
        return errno;
    }
    load->map = map;
    return 0;
}

int ab_load_sort(ab_load_t *load)
{
    sort_arena(load);
    int error = map_file(load);
    /* The arena is the newest run. */
    run_t *runs = realloc(load->runs, (load->run_count + 1) * sizeof(*runs));
    load->heap = calloc(load->run_count + 1, sizeof(*load->heap));
    load->runs = runs != NULL ? runs : load->runs;
    if (error != 0 || runs == NULL || load->heap == NULL) {
        return error != 0 ? error : ENOMEM;
    }
    runs[load->run_count] =
        (run_t){.slot = slots_of(load), .slots_end = slots_of(load) + load->count};
    for (size_t i = 0; error == 0 && i <= load->run_count; i++) {
        const entry_t *entry;
        error = read_entry(load, &runs[i], &entry);
        if (error == 0 && entry != NULL) {
            load->heap[load->heap_count++] = (node_t){entry, i};
        }
    }
    for (size_t i = load->heap_count / 2; i-- > 0;) {
        sift_down(load, i);
    }
    load->sorted = true;
    return error;
}

bool ab_load_is_sorted(const ab_load_t *load)
{
    return load->sorted;
}

bool ab_load_is_over(const ab_load_t *load)
{
    return load->sorted && load->heap_count == 0;
}

int ab_load_next(ab_load_t *load, ab_load_key_t *ret_key)
{
    assert(load->heap_count > 0);
    const entry_t *first = load->heap[0].entry;
    const entry_t *state = NULL;
    const entry_t *mark = NULL;
    do {
        node_t *top = &load->heap[0];
        assert(top->entry != NULL);
        const bool marks = top->entry->kind == AB_LOAD_MARK;
        mark = marks ? top->entry : NULL;
        state = marks ? state : top->entry;
        const int error = read_entry(load, &load->runs[top->run], &top->entry);
        if (error != 0) {
            return error;
        }
        if (top->entry == NULL) {
            *top = load->heap[--load->heap_count];
        }
        sift_down(load, 0);
        load->taken++;
    } while (load->heap_count > 0 && compare_names(load->heap[0].entry, first) == 0);
    ab_load_key_t key = {.name = {name_of(first), first->name_size}};
    if (state != NULL && state->kind == AB_LOAD_STATE) {
        key.has_state = true;
        key.state = view_of(state);
    }
    if (mark != NULL) {
        key.has_mark = true;
        key.mark = view_of(mark);
    }
    *ret_key = key;
    return 0;
}

void ab_load_let_go(ab_load_t *load)
{
    if (load->map != NULL) {
        /* Of a shared map this drops the mapping only: what is looked at again is mapped again. */
        (void)madvise((void *)(uintptr_t)load->map, (size_t)load->file_bytes, MADV_DONTNEED);
    }
}

ab_load_facts_t ab_load_facts(const ab_load_t *load)
{
    return (ab_load_facts_t){
        .memory_bytes = sizeof(*load) + load->arena_bytes + load->run_room * sizeof(run_t) +
                        (load->heap != NULL ? (load->run_count + 1) * sizeof(node_t) : 0) +
                        (load->buffer != NULL ? BUFFER_ROOM : 0),
        .largest_bytes = load->largest,
        .file_bytes = load->file_bytes,
        .runs = load->run_count,
        .taken = load->taken};
}
