/* What a store costs: records applied a second and a second of CPU while it is loaded, and while a
 * tenth of its keys change again; bytes a key, and how long a look-up takes, for so many keys and
 * so large states. Prints one JSON object.
 *
 *   state_bench FOLDER KEYS STATE_BYTES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bridge/state/answer.h"
#include "bridge/state/store.h"

#define OWNER         1u
#define BATCH_RECORDS 4096u
#define BATCH_BYTES   ((uint64_t)8 * 1024 * 1024)
#define LOOKUPS       20000u
#define STATE_MAX     (1024u * 1024u)
#define KEY_ROOM      32u

static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Keys come in an order that is not the store's. */
static size_t key_of(uint64_t number, uint64_t keys, char *key, size_t room)
{
    const uint64_t scattered = number * UINT64_C(2654435761) % keys;
    return (size_t)snprintf(key, room, "entity-%09llu", (unsigned long long)scattered);
}

/* A snapshot of this key, filled up with an unknown field. */
static aw_span_t snapshot_of(const char *key, size_t key_size, size_t bytes, uint8_t *buffer)
{
    uint8_t *at = buffer;
    *at++ = 0x08;
    *at++ = 1;
    *at++ = 0x12;
    *at++ = (uint8_t)key_size;
    memcpy(at, key, key_size);
    at += key_size;
    const size_t used = (size_t)(at - buffer) + 5;
    const size_t fill = bytes > used ? bytes - used : 0;
    *at++ = 0x52;
    *at++ = (uint8_t)(fill | 0x80);
    *at++ = (uint8_t)(fill >> 7 | 0x80);
    *at++ = (uint8_t)(fill >> 14);
    memset(at, 'x', fill);
    return (aw_span_t){buffer, (size_t)(at - buffer) + fill};
}

/* What a part of the work took. */
typedef struct cost {
    double wall, cpu;
} cost_t;

static cost_t cost_now(void)
{
    return (cost_t){wall_seconds(), cpu_seconds()};
}

static cost_t cost_between(cost_t begun, cost_t ended)
{
    return (cost_t){ended.wall - begun.wall, ended.cpu - begun.cpu};
}

/* The records of a part of the history. */
typedef struct part {
    uint64_t keys;
    size_t bytes;
    uint8_t *buffer;
    int64_t first, end; /* offsets */
} part_t;

static ab_record_t record_of(const part_t *part, int64_t offset, char key[KEY_ROOM])
{
    const size_t size = key_of((uint64_t)offset, part->keys, key, KEY_ROOM);
    return (ab_record_t){.topic = "bench",
                         .offset = offset,
                         .key = aw_span_view(key, size),
                         .value = snapshot_of(key, size, part->bytes, part->buffer)};
}

/* What it costs to make the records, which is no part of the store's work. */
static cost_t measure_making(const part_t *part)
{
    volatile size_t sum = 0;
    const cost_t begun = cost_now();
    for (int64_t offset = part->first; offset < part->end; offset++) {
        char key[KEY_ROOM];
        const ab_record_t record = record_of(part, offset, key);
        sum += record.value.data[record.value.size - 1];
    }
    return cost_between(begun, cost_now());
}

static int apply(ab_store_t *store, const part_t *part)
{
    ab_state_verdict_t verdict;
    uint64_t pending;
    for (int64_t offset = part->first; offset < part->end; offset++) {
        char key[KEY_ROOM];
        const ab_record_t record = record_of(part, offset, key);
        const ab_store_result_t result = ab_store_apply(store, &record, &verdict);
        if (result == AB_STORE_AGAIN) {
            offset = ab_store_next(store) - 1;
            continue;
        }
        if (result != AB_STORE_OK || verdict != AB_STATE_TAKEN) {
            return -1;
        }
        if ((ab_store_pending(store, &pending) >= BATCH_RECORDS || pending >= BATCH_BYTES) &&
            ab_store_commit(store, OWNER, 0) != AB_STORE_OK) {
            return -1;
        }
    }
    return ab_store_commit(store, OWNER, 0) == AB_STORE_OK ? 0 : -1;
}

/* As a lane reads a topic from its start. */
static int load(ab_store_t *store, const part_t *part)
{
    bool done = false;
    if (ab_store_load_begin(store, 0) != AB_STORE_OK || apply(store, part) != 0) {
        return -1;
    }
    while (!done) {
        if (ab_store_load_step(store, OWNER, 0, &done) != AB_STORE_OK) {
            return -1;
        }
    }
    return 0;
}

typedef int work_fn(ab_store_t *store, const part_t *part);

/* The cost of a part without that of its records. */
static int measure(ab_store_t *store, work_fn *work, const part_t *part, cost_t *ret_cost)
{
    const cost_t making = measure_making(part);
    const cost_t begun = cost_now();
    if (work(store, part) != 0) {
        return -1;
    }
    *ret_cost = cost_between(making, cost_between(begun, cost_now()));
    return 0;
}

static double rate(const part_t *part, double seconds)
{
    return (double)(part->end - part->first) / seconds;
}

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a;
    const double other = *(const double *)b;
    return one < other ? -1 : one > other;
}

/* Microseconds from the look-up to the answer's bytes. */
static int look_up(ab_store_t *store, uint64_t keys, double *ret_median, double *ret_p99)
{
    double *times = calloc(LOOKUPS, sizeof(*times));
    aw_arena_t *arena = aw_arena_new(AB_ANSWER_ARENA_MAX);
    int result = times != NULL && arena != NULL ? 0 : -1;
    for (unsigned i = 0; result == 0 && i < LOOKUPS; i++) {
        char key[KEY_ROOM];
        ab_answer_t answer;
        ab_answer_source_t source = {.topic = "bench", .found = true};
        const aw_span_t name =
            aw_span_view(key, key_of((uint64_t)i * 7919 % keys, keys, key, sizeof(key)));
        const ab_record_t record = {.topic = "requests", .key = name};
        const ab_verdict_t verdict = {.outcome = AB_OUTCOME_ANSWERED,
                                      .entity_key = name,
                                      .request_id = aw_span_text_view("request"),
                                      .event_time_ms = 1};
        aw_arena_reset(arena);
        const double begun = wall_seconds();
        if (ab_store_get(store, name, &source.entry) != AB_STORE_OK ||
            ab_answer_build(&record, &verdict, &source, 1, arena, &answer) != 0) {
            result = -1;
        }
        times[i] = (wall_seconds() - begun) * 1e6;
    }
    if (result == 0) {
        qsort(times, LOOKUPS, sizeof(*times), by_size);
        *ret_median = times[LOOKUPS / 2];
        *ret_p99 = times[LOOKUPS * 99 / 100];
    }
    free(times);
    aw_arena_free(arena);
    return result;
}

/* Fills an empty store, reads on, looks up, and says what it took. */
static int run(ab_store_t *store, uint64_t keys, size_t bytes, uint8_t *buffer)
{
    double median, p99;
    cost_t loaded, updated;
    const part_t all = {keys, bytes, buffer, 0, (int64_t)keys};
    const part_t again = {keys, bytes, buffer, (int64_t)keys, (int64_t)(keys + (keys + 9) / 10)};
    if (measure(store, load, &all, &loaded) != 0) {
        return -1;
    }
    const ab_store_facts_t facts = ab_store_facts(store);
    if (measure(store, apply, &again, &updated) != 0 || look_up(store, keys, &median, &p99) != 0) {
        return -1;
    }
    (void)printf("{\"keys\": %llu, \"state_bytes\": %zu, \"applied_per_second\": %.0f, "
                 "\"applied_per_cpu_second\": %.0f, \"updated_per_second\": %.0f, "
                 "\"updated_per_cpu_second\": %.0f, \"store_bytes_per_key\": %.1f, "
                 "\"answer_median_us\": %.1f, \"answer_p99_us\": %.1f}\n",
                 (unsigned long long)facts.keys, bytes, rate(&all, loaded.wall),
                 rate(&all, loaded.cpu), rate(&again, updated.wall), rate(&again, updated.cpu),
                 (double)facts.size_bytes / (double)facts.keys, median, p99);
    return 0;
}

int main(int argc, char **argv)
{
    char text[AB_STORE_TEXT_MAX];
    ab_store_t *store = NULL;
    ab_store_found_t found;
    if (argc != 4) {
        return 64;
    }
    const uint64_t keys = strtoull(argv[2], NULL, 10);
    const size_t bytes = strtoull(argv[3], NULL, 10);
    uint8_t *buffer = malloc(STATE_MAX);
    int result = -1;
    if (buffer != NULL && bytes <= STATE_MAX - 64 && keys > 0 &&
        ab_store_open(argv[1], "bench", 0, &store, &found, text) == AB_STORE_OK) {
        ab_store_set_owner(store, OWNER);
        result = run(store, keys, bytes, buffer);
    }
    ab_store_close(store);
    free(buffer);
    return result == 0 ? 0 : 1;
}
