#include "bridge/cli/letters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/sorter.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/digest.h"
#include "bridge/core/trailer.h"

#define ARENA_BYTES ((size_t)1 << 30)

/* Two names for one thing: a quarantine record by its place and by its source, a letter by its
 * source and by its place. Digests; the place of a mark has no source. */
typedef struct tie {
    uint64_t key; /* sorted by this */
    uint64_t other;
    uint64_t mark; /* 1: a redrive has marked it */
} tie_t;

typedef struct walk {
    ab_letters_t *letters;
    aw_arena_t *arena;
    ab_sorter_t *kept;    /* quarantine records and marks, by place */
    ab_sorter_t *sources; /* marked ones, by source, and letters, by source */
    ab_sorter_t *done;    /* letters that are redriven, by place in the order of reading */
    int code;
} walk_t;

/* Marks come before what they mark. */
static int compare_ties(const void *a, const void *b)
{
    const tie_t *left = a;
    const tie_t *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    if (left->mark != right->mark) {
        return left->mark > right->mark ? -1 : 1;
    }
    return left->other == right->other ? 0 : left->other < right->other ? -1 : 1;
}

static int fail(walk_t *walk, int code, const char *text)
{
    if (walk->code == AB_CLI_OK) {
        walk->code = code;
        (void)snprintf(walk->letters->text, sizeof(walk->letters->text), "%s", text);
    }
    return walk->code;
}

static int fail_sorter(walk_t *walk, int error)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "%s: %s; --since looks at less",
                   error == ENOMEM ? "memory" : "the temporary file in $TMPDIR, or /tmp",
                   strerror(error));
    return fail(walk, AB_CLI_FATAL, text);
}

static void add(walk_t *walk, ab_sorter_t *sorter, tie_t tie)
{
    const int error = ab_sorter_add(sorter, &tie);
    if (error != 0) {
        (void)fail_sorter(walk, error);
    }
}

static bool take(walk_t *walk, ab_sorter_t *sorter, tie_t *ret_tie)
{
    const int got = ab_sorter_next(sorter, ret_tie);
    if (got < 0) {
        (void)fail_sorter(walk, -got);
    }
    return got > 0;
}

static void begin(walk_t *walk, ab_sorter_t *sorter)
{
    const int error = ab_sorter_begin(sorter);
    if (error != 0) {
        (void)fail_sorter(walk, error);
    }
}

/* ---- reading ---- */

typedef void visit_fn(walk_t *walk, const ab_full_record_t *record);

/* Topics of the same kind, each once. */
static const char *topic_of(const ab_config_t *config, size_t source, bool errors)
{
    const ab_policy_t *policy = &config->sources[source].policy;
    const char *topic = errors ? policy->errors_topic : policy->quarantine_topic;
    for (size_t i = 0; topic != NULL && i < source; i++) {
        const ab_policy_t *other = &config->sources[i].policy;
        const char *before = errors ? other->errors_topic : other->quarantine_topic;
        if (before != NULL && strcmp(before, topic) == 0) {
            return NULL;
        }
    }
    return topic;
}

static int read_part(walk_t *walk, visit_fn *visit)
{
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    while (walk->code == AB_CLI_OK &&
           (status = ab_reader_next(walk->letters->reader, -1, &record)) == AB_READ_OK) {
        visit(walk, &record);
    }
    if (status != AB_READ_OK && status != AB_READ_END) {
        return fail(walk, ab_read_exit_code(status), ab_reader_text_view(walk->letters->reader));
    }
    return walk->code;
}

/* Every topic of a kind, all partitions of one at once. */
static void read_all(walk_t *walk, bool errors, const ab_read_range_t *range, visit_fn *visit)
{
    const ab_config_t *config = walk->letters->config;
    ab_reader_t *reader = walk->letters->reader;
    for (size_t s = 0; s < config->source_count && walk->code == AB_CLI_OK; s++) {
        const char *topic = topic_of(config, s, errors);
        if (topic == NULL) {
            continue;
        }
        ab_reader_clear(reader);
        const ab_read_status_t status = ab_reader_add_topic(reader, topic, range);
        if (status != AB_READ_OK) {
            (void)fail(walk, ab_read_exit_code(status), ab_reader_text_view(reader));
        } else {
            (void)read_part(walk, visit);
        }
    }
    ab_reader_clear(reader);
}

static uint64_t digest_of_place(const char *topic, int32_t partition, int64_t offset)
{
    char text[AB_COORDINATES_TEXT_MAX];
    const int size = snprintf(text, sizeof(text), "%s:%d:%" PRId64, topic, (int)partition, offset);
    return ab_digest_of(aw_span_view(text, (size_t)size));
}

static void visit_quarantine(walk_t *walk, const ab_full_record_t *record)
{
    const ab_record_t *facts = &record->record;
    char job[AB_JOB_ID_MAX];
    ab_coordinates_t at;
    ab_trailer_t trailer;
    if (ab_marker_read(record, &at, job)) {
        add(walk, walk->kept, (tie_t){digest_of_place(at.topic, at.partition, at.offset), 0, 1});
    } else if (ab_trailer_read(record->headers, record->header_count, &trailer) &&
               trailer.copy != AB_COPY_NONE &&
               aw_span_equal(trailer.group, aw_span_text_view(walk->letters->config->group))) {
        /* A trailer has one. */
        const ab_header_t *source = ab_header_last(record, AB_HEADER_SOURCE);
        add(walk, walk->kept,
            (tie_t){digest_of_place(facts->topic, facts->partition, facts->offset),
                    ab_digest_of(source->value), 0});
    }
}

static void visit_to_tie(walk_t *walk, const ab_full_record_t *record)
{
    ab_letter_view_t letter;
    aw_arena_reset(walk->arena);
    ab_letter_read(walk->letters->config, record, walk->arena, &letter);
    if (letter.ours) {
        const ab_record_t *facts = &record->record;
        add(walk, walk->sources,
            (tie_t){ab_digest_of(letter.source),
                    digest_of_place(facts->topic, facts->partition, facts->offset), 0});
    }
}

/* Of what is tied to a mark, the other name: as a mark where it is a source, to be found by it. */
static void follow_marks(walk_t *walk, ab_sorter_t *from, ab_sorter_t *to)
{
    tie_t tie;
    uint64_t marked = 0;
    begin(walk, from);
    while (walk->code == AB_CLI_OK && take(walk, from, &tie)) {
        if (tie.mark != 0) {
            marked = tie.key;
        } else if (tie.key == marked) {
            add(walk, to, (tie_t){tie.other, 0, 1});
        }
    }
}

/* ---- the letters that are redriven, as a sorted list that fits no memory ---- */

/* Letters come in an order of their own, so that each is looked up: the digests are read into
 * memory, 8 bytes for each redriven letter. */
typedef struct redriven {
    uint64_t *items;
    size_t count;
} redriven_t;

static bool is_redriven(const redriven_t *redriven, uint64_t place)
{
    size_t low = 0, high = redriven->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (redriven->items[middle] < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < redriven->count && redriven->items[low] == place;
}

static redriven_t load_redriven(walk_t *walk)
{
    redriven_t redriven = {0};
    tie_t tie;
    begin(walk, walk->done);
    const size_t count = (size_t)ab_sorter_count(walk->done);
    redriven.items = malloc((count + 1) * sizeof(*redriven.items));
    if (redriven.items == NULL) {
        (void)fail_sorter(walk, ENOMEM);
        return redriven;
    }
    while (walk->code == AB_CLI_OK && redriven.count < count && take(walk, walk->done, &tie)) {
        redriven.items[redriven.count++] = tie.key;
    }
    return redriven;
}

/* One partition of an errors topic, in its order. */
static ab_read_status_t tell_part(walk_t *walk, const redriven_t *redriven, const char *topic,
                                  int32_t partition, bool *go_on)
{
    ab_letters_t *letters = walk->letters;
    ab_full_record_t record;
    ab_reader_clear(letters->reader);
    ab_read_status_t status =
        ab_reader_add_partition(letters->reader, topic, partition, &letters->range);
    while (status == AB_READ_OK && *go_on &&
           (status = ab_reader_next(letters->reader, -1, &record)) == AB_READ_OK) {
        ab_letter_view_t letter;
        aw_arena_reset(walk->arena);
        ab_letter_read(letters->config, &record, walk->arena, &letter);
        const uint64_t place = digest_of_place(topic, partition, record.record.offset);
        *go_on = letters->on_letter(
            letters->opaque, &record, &letter,
            ab_letter_state(letters->config, &letter, is_redriven(redriven, place)));
    }
    return status == AB_READ_END ? AB_READ_OK : status;
}

static int tell_all(walk_t *walk, const redriven_t *redriven)
{
    ab_letters_t *letters = walk->letters;
    bool go_on = true;
    for (size_t s = 0; s < letters->config->source_count && go_on && walk->code == AB_CLI_OK; s++) {
        const char *topic = topic_of(letters->config, s, true);
        int32_t count = 0;
        if (topic == NULL) {
            continue;
        }
        ab_read_status_t status = ab_reader_count(letters->reader, topic, &count);
        for (int32_t p = 0; status == AB_READ_OK && go_on && p < count; p++) {
            status = tell_part(walk, redriven, topic, p, &go_on);
        }
        if (status != AB_READ_OK) {
            (void)fail(walk, ab_read_exit_code(status), ab_reader_text_view(letters->reader));
        }
    }
    ab_reader_clear(letters->reader);
    return walk->code;
}

int ab_letters_walk(ab_letters_t *letters)
{
    const ab_read_range_t all = {0};
    const size_t share = (size_t)letters->config->memory_per_lane_bytes / 4;
    walk_t walk = {.letters = letters, .arena = aw_arena_new(ARENA_BYTES)};
    walk.kept = ab_sorter_new(sizeof(tie_t), compare_ties, share, AB_SORTER_FILE_MAX);
    walk.sources = ab_sorter_new(sizeof(tie_t), compare_ties, share, AB_SORTER_FILE_MAX);
    walk.done = ab_sorter_new(sizeof(tie_t), compare_ties, share, AB_SORTER_FILE_MAX);
    if (walk.arena == NULL || walk.kept == NULL || walk.sources == NULL || walk.done == NULL) {
        (void)fail_sorter(&walk, ENOMEM);
    }
    if (walk.code == AB_CLI_OK) {
        read_all(&walk, false, &all, visit_quarantine);
        follow_marks(&walk, walk.kept, walk.sources);
        if (ab_sorter_count(walk.sources) > 0) { /* else no letter can be redriven */
            read_all(&walk, true, &letters->range, visit_to_tie);
        }
        follow_marks(&walk, walk.sources, walk.done);
    }
    redriven_t redriven = {0};
    if (walk.code == AB_CLI_OK) {
        redriven = load_redriven(&walk);
        (void)tell_all(&walk, &redriven);
    }
    free(redriven.items);
    ab_sorter_free(walk.kept);
    ab_sorter_free(walk.sources);
    ab_sorter_free(walk.done);
    aw_arena_free(walk.arena);
    return walk.code;
}
