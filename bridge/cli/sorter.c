#include "bridge/cli/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Least items that are read from a run at once. */
#define CHUNK_MIN ((size_t)64)
#define PATH_ROOM 4096

/* One sorted stretch of the file, or, with offset -1, what is still in memory. */
typedef struct run {
    int64_t offset; /* of its first item in the file */
    uint64_t count; /* its items */
    uint64_t taken; /* of them, read into the chunk */
    uint8_t *chunk;
    size_t held, used; /* items in the chunk, and of them given out */
} run_t;

struct ab_sorter {
    size_t item_size;
    int (*compare)(const void *a, const void *b);
    uint64_t file_max;
    uint64_t count;
    uint8_t *items; /* not in the file yet */
    size_t held, room;
    bool sorted; /* begun: nothing is added any more */
    int fd;      /* -1: no file yet */
    uint64_t file_bytes;
    run_t *runs;
    size_t run_count, run_room;
    uint8_t *chunks; /* of all runs */
    size_t *heap;    /* runs that have an item left, the least on top */
    size_t heap_count;
};

ab_sorter_t *ab_sorter_new(size_t item_size, int (*compare)(const void *a, const void *b),
                           size_t memory_bytes, uint64_t file_max_bytes)
{
    ab_sorter_t *sorter = calloc(1, sizeof(*sorter));
    const size_t bytes = memory_bytes > AB_SORTER_MEMORY_MIN ? memory_bytes : AB_SORTER_MEMORY_MIN;
    if (sorter == NULL) {
        return NULL;
    }
    sorter->item_size = item_size;
    sorter->compare = compare;
    sorter->file_max = file_max_bytes;
    sorter->room = bytes / item_size;
    sorter->fd = -1;
    sorter->items = malloc(sorter->room * item_size);
    if (sorter->items == NULL) {
        free(sorter);
        return NULL;
    }
    return sorter;
}

void ab_sorter_free(ab_sorter_t *sorter)
{
    if (sorter == NULL) {
        return;
    }
    if (sorter->fd >= 0) {
        (void)close(sorter->fd);
    }
    free(sorter->items);
    free(sorter->runs);
    free(sorter->chunks);
    free(sorter->heap);
    free(sorter);
}

uint64_t ab_sorter_count(const ab_sorter_t *sorter)
{
    return sorter->count;
}

uint64_t ab_sorter_file_bytes(const ab_sorter_t *sorter)
{
    return sorter->file_bytes;
}

/* A file without a name. Returns 0 or an errno. */
static int open_file(ab_sorter_t *sorter)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_ROOM];
    const int size = snprintf(path, sizeof(path), "%s/agent-bridge-XXXXXX",
                              folder != NULL && *folder != '\0' ? folder : "/tmp");
    if (size < 0 || (size_t)size >= sizeof(path)) {
        return ENAMETOOLONG;
    }
    sorter->fd = mkostemp(path, O_CLOEXEC);
    if (sorter->fd < 0) {
        return errno;
    }
    (void)unlink(path);
    return 0;
}

static int write_all(int fd, const uint8_t *data, size_t size, uint64_t offset)
{
    while (size > 0) {
        const ssize_t done = pwrite(fd, data, size, (off_t)offset);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : EIO;
        }
        data += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

static int read_all(int fd, uint8_t *data, size_t size, uint64_t offset)
{
    while (size > 0) {
        const ssize_t done = pread(fd, data, size, (off_t)offset);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : EIO;
        }
        data += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

static int add_run(ab_sorter_t *sorter, int64_t offset, uint64_t count)
{
    if (sorter->run_count == sorter->run_room) {
        const size_t room = sorter->run_room == 0 ? 16 : sorter->run_room * 2;
        run_t *runs = realloc(sorter->runs, room * sizeof(*runs));
        if (runs == NULL) {
            return ENOMEM;
        }
        sorter->runs = runs;
        sorter->run_room = room;
    }
    sorter->runs[sorter->run_count++] = (run_t){.offset = offset, .count = count};
    return 0;
}

/* Moves what is in memory into the file, as a run. */
static int spill(ab_sorter_t *sorter)
{
    const size_t bytes = sorter->held * sorter->item_size;
    if (sorter->file_bytes + bytes > sorter->file_max) {
        return EFBIG;
    }
    int error = sorter->fd < 0 ? open_file(sorter) : 0;
    qsort(sorter->items, sorter->held, sorter->item_size, sorter->compare);
    if (error == 0) {
        error = write_all(sorter->fd, sorter->items, bytes, sorter->file_bytes);
    }
    if (error == 0) {
        error = add_run(sorter, (int64_t)sorter->file_bytes, sorter->held);
    }
    if (error == 0) {
        sorter->file_bytes += bytes;
        sorter->held = 0;
    }
    return error;
}

int ab_sorter_add(ab_sorter_t *sorter, const void *item)
{
    if (sorter->held == sorter->room) {
        const int error = spill(sorter);
        if (error != 0) {
            return error;
        }
    }
    memcpy(sorter->items + sorter->held * sorter->item_size, item, sorter->item_size);
    sorter->held++;
    sorter->count++;
    return 0;
}

static const uint8_t *head_of(const ab_sorter_t *sorter, size_t run)
{
    return sorter->runs[run].chunk + sorter->runs[run].used * sorter->item_size;
}

/* Fills the chunk of a run that has given all it held. */
static int refill(ab_sorter_t *sorter, run_t *run, size_t chunk_items)
{
    const uint64_t left = run->count - run->taken;
    const size_t wanted = left < chunk_items ? (size_t)left : chunk_items;
    const int error = read_all(sorter->fd, run->chunk, wanted * sorter->item_size,
                               (uint64_t)run->offset + run->taken * (uint64_t)sorter->item_size);
    if (error == 0) {
        run->taken += wanted;
        run->held = wanted;
        run->used = 0;
    }
    return error;
}

static size_t chunk_items(const ab_sorter_t *sorter)
{
    const size_t fair = sorter->run_count > 0 ? sorter->room / sorter->run_count : sorter->room;
    return fair > CHUNK_MIN ? fair : CHUNK_MIN;
}

static void sift_down(ab_sorter_t *sorter, size_t at)
{
    size_t *heap = sorter->heap;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < sorter->heap_count;
             child++) {
            if (sorter->compare(head_of(sorter, heap[child]), head_of(sorter, heap[least])) < 0) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        const size_t run = heap[at];
        heap[at] = heap[least];
        heap[least] = run;
        at = least;
    }
}

/* Memory becomes the last run, or all there is. */
static int settle(ab_sorter_t *sorter)
{
    sorter->sorted = true;
    if (sorter->run_count > 0) {
        const int error = sorter->held > 0 ? spill(sorter) : 0;
        if (error != 0) {
            return error;
        }
        free(sorter->items);
        sorter->items = NULL;
        sorter->chunks = malloc(sorter->run_count * chunk_items(sorter) * sorter->item_size);
        sorter->heap = malloc(sorter->run_count * sizeof(*sorter->heap));
        return sorter->chunks != NULL && sorter->heap != NULL ? 0 : ENOMEM;
    }
    qsort(sorter->items, sorter->held, sorter->item_size, sorter->compare);
    const int error = add_run(sorter, -1, sorter->held);
    sorter->heap = malloc(sizeof(*sorter->heap));
    return error == 0 && sorter->heap == NULL ? ENOMEM : error;
}

int ab_sorter_begin(ab_sorter_t *sorter)
{
    int error = sorter->sorted ? 0 : settle(sorter);
    const size_t items = chunk_items(sorter);
    sorter->heap_count = 0;
    for (size_t i = 0; error == 0 && i < sorter->run_count; i++) {
        run_t *run = &sorter->runs[i];
        run->taken = 0;
        if (run->offset < 0) {
            run->chunk = sorter->items;
            run->taken = run->count;
            run->held = (size_t)run->count;
            run->used = 0;
        } else {
            run->chunk = sorter->chunks + i * items * sorter->item_size;
            error = refill(sorter, run, items);
        }
        if (error == 0 && run->held > 0) {
            sorter->heap[sorter->heap_count++] = i;
        }
    }
    for (size_t i = sorter->heap_count / 2; error == 0 && i > 0; i--) {
        sift_down(sorter, i - 1);
    }
    return error;
}

int ab_sorter_next(ab_sorter_t *sorter, void *ret_item)
{
    if (sorter->heap_count == 0) {
        return 0;
    }
    run_t *run = &sorter->runs[sorter->heap[0]];
    memcpy(ret_item, head_of(sorter, sorter->heap[0]), sorter->item_size);
    run->used++;
    if (run->used == run->held) {
        if (run->taken == run->count) {
            sorter->heap[0] = sorter->heap[--sorter->heap_count];
        } else {
            const int error = refill(sorter, run, chunk_items(sorter));
            if (error != 0) {
                return -error;
            }
        }
    }
    sift_down(sorter, 0);
    return 1;
}
