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

/* Where a letter lies, in the order in which letters are told. */
typedef struct place {
    uint32_t source; /* the first one with that errors topic */
    int32_t partition;
    int64_t offset;
} place_t;

/* Two names for one thing: a quarantine record by the digests of its place and of its source, a
 * letter by the digest of its source and its place. The place of a mark has no source. */
typedef struct tie {
    uint64_t key; /* sorted by this */
    union {
        uint64_t source;
        place_t letter;
    } other;
    bool mark; /* a redrive has marked it */
} tie_t;

typedef struct walk {
    ab_letters_t *letters;
    aw_arena_t *arena;
    ab_sorter_t *kept;    /* quarantine records and marks, by place */
    ab_sorter_t *sources; /* marked ones, by source, and letters, by source */
    ab_sorter_t *done;    /* the places of letters that are redriven */
    place_t next_done;
    bool has_done;
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
    return left->mark == right->mark ? 0 : left->mark ? -1 : 1;
}

static int compare_places(const void *a, const void *b)
{
    const place_t *left = a;
    const place_t *right = b;
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    if (left->partition != right->partition) {
        return left->partition < right->partition ? -1 : 1;
    }
    return left->offset == right->offset ? 0 : left->offset < right->offset ? -1 : 1;
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

static void add(walk_t *walk, ab_sorter_t *sorter, const void *item)
{
    const int error = ab_sorter_add(sorter, item);
    if (error != 0) {
        (void)fail_sorter(walk, error);
    }
}

static bool take(walk_t *walk, ab_sorter_t *sorter, void *ret_item)
{
    const int got = ab_sorter_next(sorter, ret_item);
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
        const tie_t tie = {.key = digest_of_place(at.topic, at.partition, at.offset), .mark = true};
        add(walk, walk->kept, &tie);
    } else if (ab_trailer_read(record->headers, record->header_count, &trailer) &&
               trailer.copy != AB_COPY_NONE &&
               aw_span_equal(trailer.group, aw_span_text_view(walk->letters->config->group))) {
        /* A trailer has one. */
        const ab_header_t *source = ab_header_last(record, AB_HEADER_SOURCE);
        const tie_t tie = {.key = digest_of_place(facts->topic, facts->partition, facts->offset),
                           .other.source = ab_digest_of(source->value)};
        add(walk, walk->kept, &tie);
    }
}

static place_t place_of(const walk_t *walk, const ab_record_t *letter)
{
    place_t place = {.partition = letter->partition, .offset = letter->offset};
    while (strcmp(walk->letters->config->sources[place.source].policy.errors_topic,
                  letter->topic) != 0) {
        place.source++;
    }
    return place;
}

static void visit_to_tie(walk_t *walk, const ab_full_record_t *record)
{
    ab_letter_view_t letter;
    aw_arena_reset(walk->arena);
    ab_letter_read(walk->letters->config, record, walk->arena, &letter);
    if (letter.ours) {
        const tie_t tie = {.key = ab_digest_of(letter.source),
                           .other.letter = place_of(walk, &record->record)};
        add(walk, walk->sources, &tie);
    }
}

/* Calls back for each that has the key of a mark. */
static void follow_marks(walk_t *walk, ab_sorter_t *from,
                         void (*on_marked)(walk_t *walk, const tie_t *marked))
{
    tie_t tie;
    uint64_t marked = 0;
    begin(walk, from);
    while (walk->code == AB_CLI_OK && take(walk, from, &tie)) {
        if (tie.mark) {
            marked = tie.key;
        } else if (tie.key == marked) {
            on_marked(walk, &tie);
        }
    }
}

/* Its source is a mark, by which its letter is found. */
static void mark_source(walk_t *walk, const tie_t *kept)
{
    const tie_t tie = {.key = kept->other.source, .mark = true};
    add(walk, walk->sources, &tie);
}

static void mark_letter(walk_t *walk, const tie_t *letter)
{
    add(walk, walk->done, &letter->other.letter);
}

/* ---- telling ---- */

/* Letters are told in the order in which the places of the redriven ones come, so that none of
 * these has to be remembered. */
static bool is_redriven(walk_t *walk, const ab_record_t *letter)
{
    const place_t here = place_of(walk, letter);
    while (walk->has_done && compare_places(&walk->next_done, &here) < 0) {
        walk->has_done = take(walk, walk->done, &walk->next_done);
    }
    return walk->has_done && compare_places(&walk->next_done, &here) == 0;
}

/* One partition of an errors topic, in its order. */
static ab_read_status_t tell_part(walk_t *walk, const char *topic, int32_t partition, bool *go_on)
{
    ab_letters_t *letters = walk->letters;
    ab_full_record_t record;
    ab_reader_clear(letters->reader);
    ab_read_status_t status =
        ab_reader_add_partition(letters->reader, topic, partition, &letters->range);
    while (status == AB_READ_OK && *go_on && walk->code == AB_CLI_OK &&
           (status = ab_reader_next(letters->reader, -1, &record)) == AB_READ_OK) {
        ab_letter_view_t letter;
        aw_arena_reset(walk->arena);
        ab_letter_read(letters->config, &record, walk->arena, &letter);
        *go_on = letters->on_letter(
            letters->opaque, &record, &letter,
            ab_letter_state(letters->config, &letter, is_redriven(walk, &record.record)));
    }
    return status == AB_READ_END ? AB_READ_OK : status;
}

static int tell_all(walk_t *walk)
{
    ab_letters_t *letters = walk->letters;
    bool go_on = true;
    begin(walk, walk->done);
    walk->has_done = walk->code == AB_CLI_OK && take(walk, walk->done, &walk->next_done);
    for (size_t s = 0; s < letters->config->source_count && go_on && walk->code == AB_CLI_OK; s++) {
        const char *topic = topic_of(letters->config, s, true);
        int32_t count = 0;
        if (topic == NULL) {
            continue;
        }
        ab_read_status_t status = ab_reader_count(letters->reader, topic, &count);
        for (int32_t p = 0; status == AB_READ_OK && go_on && p < count; p++) {
            status = tell_part(walk, topic, p, &go_on);
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
    walk.done = ab_sorter_new(sizeof(place_t), compare_places, share, AB_SORTER_FILE_MAX);
    if (walk.arena == NULL || walk.kept == NULL || walk.sources == NULL || walk.done == NULL) {
        (void)fail_sorter(&walk, ENOMEM);
    }
    if (walk.code == AB_CLI_OK) {
        read_all(&walk, false, &all, visit_quarantine);
        follow_marks(&walk, walk.kept, mark_source);
        if (ab_sorter_count(walk.sources) > 0) { /* else no letter can be redriven */
            read_all(&walk, true, &letters->range, visit_to_tie);
        }
        follow_marks(&walk, walk.sources, mark_letter);
    }
    if (walk.code == AB_CLI_OK) {
        (void)tell_all(&walk);
    }
    ab_sorter_free(walk.kept);
    ab_sorter_free(walk.sources);
    ab_sorter_free(walk.done);
    aw_arena_free(walk.arena);
    return walk.code;
}
