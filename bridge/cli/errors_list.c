#include "bridge/cli/errors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/cli/record_json.h"
#include "bridge/core/text.h"

/* Longest reason that is kept apart, and longest text on a line, NUL included. */
#define REASON_MAX 64
#define TEXT_MAX   256

typedef struct row {
    char source[AB_TOPIC_MAX + 1]; /* "-": of no source of this configuration's group */
    char reason[REASON_MAX];
    uint64_t counts[AB_LETTER_STATE_COUNT];
    int64_t oldest_ms, newest_ms; /* of writing; -1: not known */
} row_t;

/* What the walk collects. */
typedef struct look {
    const ab_errors_t *errors;
    row_t *rows;
    size_t row_count;
    uint64_t totals[AB_LETTER_STATE_COUNT];
    aw_arena_t *arena;
    int code;
} look_t;

static int end_walk(const look_t *look, int code, const ab_letters_t *letters)
{
    if (code != AB_CLI_OK) {
        (void)fprintf(stderr, "agent-bridge errors: %s\n", letters->text);
        return code;
    }
    if (look->code == AB_CLI_OK && look->errors->fail_if_open && look->totals[AB_LETTER_OPEN] > 0) {
        return AB_CLI_FINDINGS;
    }
    return look->code;
}

/* ---- counts ---- */

static row_t *row_of(look_t *look, const char *source, const char *reason)
{
    for (size_t i = 0; i < look->row_count; i++) {
        if (strcmp(look->rows[i].source, source) == 0 &&
            strcmp(look->rows[i].reason, reason) == 0) {
            return &look->rows[i];
        }
    }
    if (look->row_count == AB_ERRORS_ROWS_MAX) { /* the last one is for all that follow */
        source = "-";
        reason = "(others)";
    }
    row_t *row = &look->rows[look->row_count];
    if (look->row_count <= AB_ERRORS_ROWS_MAX && row->source[0] == '\0') {
        *row = (row_t){.oldest_ms = -1, .newest_ms = -1};
        (void)snprintf(row->source, sizeof(row->source), "%s", source);
        (void)snprintf(row->reason, sizeof(row->reason), "%s", reason);
    }
    look->row_count += look->row_count < AB_ERRORS_ROWS_MAX;
    return row;
}

static bool count_letter(void *opaque, const ab_full_record_t *record,
                         const ab_letter_view_t *letter, ab_letter_state_t state)
{
    look_t *look = opaque;
    char reason[REASON_MAX];
    (void)ab_text_clean(letter->reason, reason, sizeof(reason));
    row_t *row =
        row_of(look, letter->ours ? letter->at.topic : "-", reason[0] != '\0' ? reason : "(none)");
    row->counts[state]++;
    look->totals[state]++;
    if (record->record.timestamp_type != AB_TIMESTAMP_NONE) {
        const int64_t ms = record->record.timestamp_ms;
        row->oldest_ms = row->oldest_ms < 0 || ms < row->oldest_ms ? ms : row->oldest_ms;
        row->newest_ms = ms > row->newest_ms ? ms : row->newest_ms;
    }
    return true;
}

static int by_source_and_reason(const void *a, const void *b)
{
    const row_t *left = a;
    const row_t *right = b;
    const int order = strcmp(left->source, right->source);
    return order != 0 ? order : strcmp(left->reason, right->reason);
}

static void print_table(const look_t *look)
{
    size_t width = sizeof("SOURCE") - 1;
    for (size_t i = 0; i < look->row_count; i++) {
        const size_t size = strlen(look->rows[i].source);
        width = size > width && size <= 60 ? size : width;
    }
    (void)printf("%-*s  %-24s %9s %9s %12s  %-24s  %s\n", (int)width, "SOURCE", "REASON", "OPEN",
                 "REDRIVEN", "UNREPLAYABLE", "OLDEST", "NEWEST");
    for (size_t i = 0; i < look->row_count; i++) {
        const row_t *row = &look->rows[i];
        char oldest[AB_TIME_TEXT_MAX], newest[AB_TIME_TEXT_MAX];
        (void)printf("%-*s  %-24s %9" PRIu64 " %9" PRIu64 " %12" PRIu64 "  %-24s  %s\n", (int)width,
                     row->source, row->reason, row->counts[AB_LETTER_OPEN],
                     row->counts[AB_LETTER_REDRIVEN], row->counts[AB_LETTER_UNREPLAYABLE],
                     ab_time_text(row->oldest_ms, oldest), ab_time_text(row->newest_ms, newest));
    }
    (void)printf("%" PRIu64 " open, %" PRIu64 " redriven, %" PRIu64 " unreplayable\n",
                 look->totals[AB_LETTER_OPEN], look->totals[AB_LETTER_REDRIVEN],
                 look->totals[AB_LETTER_UNREPLAYABLE]);
}

static json_t *counts_json(const uint64_t counts[AB_LETTER_STATE_COUNT])
{
    return json_pack("{s:I, s:I, s:I}", "open", (json_int_t)counts[AB_LETTER_OPEN], "redriven",
                     (json_int_t)counts[AB_LETTER_REDRIVEN], "unreplayable",
                     (json_int_t)counts[AB_LETTER_UNREPLAYABLE]);
}

static json_t *row_json(const row_t *row)
{
    json_t *object = counts_json(row->counts);
    json_t *more = json_pack(
        "{s:o, s:s, s:o, s:o}", "source",
        strcmp(row->source, "-") == 0 ? json_null() : json_string(row->source), "reason",
        row->reason, "oldest_ms", row->oldest_ms < 0 ? json_null() : json_integer(row->oldest_ms),
        "newest_ms", row->newest_ms < 0 ? json_null() : json_integer(row->newest_ms));
    if (object == NULL || more == NULL || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

static int print_counts_json(const look_t *look)
{
    json_t *rows = json_array();
    json_t *object = counts_json(look->totals);
    int failed = rows == NULL || object == NULL;
    for (size_t i = 0; failed == 0 && i < look->row_count; i++) {
        failed = json_array_append_new(rows, row_json(&look->rows[i]));
    }
    if (failed == 0) {
        failed = json_object_set(object, "rows", rows);
    }
    if (failed == 0) {
        failed = json_dumpf(object, stdout, JSON_COMPACT | JSON_SORT_KEYS);
        (void)putchar('\n');
    }
    json_decref(rows);
    json_decref(object);
    return failed == 0 ? AB_CLI_OK : AB_CLI_FATAL;
}

int ab_errors_count(const ab_errors_t *errors, ab_letters_t *letters)
{
    look_t look = {.errors = errors};
    look.rows = calloc(AB_ERRORS_ROWS_MAX + 1, sizeof(*look.rows));
    if (look.rows == NULL) {
        (void)fputs("agent-bridge errors: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    letters->on_letter = count_letter;
    letters->opaque = &look;
    const int code = ab_letters_walk(letters);
    if (code == AB_CLI_OK) {
        look.row_count += look.rows[look.row_count].source[0] != '\0';
        qsort(look.rows, look.row_count, sizeof(*look.rows), by_source_and_reason);
        if (errors->json) {
            look.code = print_counts_json(&look);
        } else {
            print_table(&look);
        }
    }
    free(look.rows);
    return end_walk(&look, code, letters);
}

/* ---- the list ---- */

static bool fits(const ab_errors_t *errors, const ab_letter_view_t *letter,
                 const ab_full_record_t *record)
{
    const aw_span_t key = aw_span_text_view(errors->key);
    return (errors->reason == NULL ||
            aw_span_equal(letter->reason, aw_span_text_view(errors->reason))) &&
           (errors->source == NULL ||
            (letter->ours && strcmp(letter->at.topic, errors->source) == 0)) &&
           (errors->key == NULL || aw_span_equal(letter->entity_key, key) ||
            aw_span_equal(record->record.key, key));
}

static void source_text(const ab_letter_view_t *letter, char ret_text[AB_COORDINATES_TEXT_MAX])
{
    if (letter->ours) {
        (void)snprintf(ret_text, AB_COORDINATES_TEXT_MAX, "%s:%d:%" PRId64, letter->at.topic,
                       (int)letter->at.partition, letter->at.offset);
    } else {
        (void)snprintf(ret_text, AB_COORDINATES_TEXT_MAX, "-");
    }
}

static void print_words(const ab_full_record_t *record, const ab_letter_view_t *letter,
                        ab_letter_state_t state)
{
    char place[AB_COORDINATES_TEXT_MAX], source[AB_COORDINATES_TEXT_MAX], time[AB_TIME_TEXT_MAX];
    char reason[REASON_MAX], text[TEXT_MAX];
    (void)ab_text_clean(letter->reason, reason, sizeof(reason));
    (void)ab_text_clean(letter->text, text, sizeof(text));
    source_text(letter, source);
    (void)printf(
        "%s  %-12s  %-20s  %s  from %s  %s\n",
        ab_time_text(
            record->record.timestamp_type == AB_TIMESTAMP_NONE ? -1 : record->record.timestamp_ms,
            time),
        ab_letter_state_name(state), reason, ab_record_place(&record->record, place), source, text);
}

static int print_object(aw_arena_t *arena, const ab_full_record_t *record,
                        const ab_letter_view_t *letter, ab_letter_state_t state)
{
    char place[AB_COORDINATES_TEXT_MAX], source[AB_COORDINATES_TEXT_MAX];
    aw_json_writer_t json;
    aw_arena_reset(arena);
    aw_json_init_arena(&json, AW_JSON_COMPACT, arena);
    source_text(letter, source);
    aw_json_object_open(&json);
    ab_json_bytes(&json, "detail", letter->detail);
    ab_json_bytes(&json, "entity_key", letter->entity_key);
    aw_json_key_text(&json, "letter");
    aw_json_text(&json, ab_record_place(&record->record, place));
    ab_json_bytes(&json, "reason", letter->reason);
    aw_json_key_text(&json, "source");
    if (letter->ours) {
        aw_json_text(&json, source);
    } else {
        aw_json_null(&json);
    }
    aw_json_key_text(&json, "state");
    aw_json_text(&json, ab_letter_state_name(state));
    ab_json_bytes(&json, "text", letter->text);
    aw_json_key_text(&json, "timestamp_ms");
    aw_json_int64(&json, record->record.timestamp_ms);
    aw_json_object_close(&json);
    return ab_json_line(&json, stdout);
}

static bool list_letter(void *opaque, const ab_full_record_t *record,
                        const ab_letter_view_t *letter, ab_letter_state_t state)
{
    look_t *look = opaque;
    if (!fits(look->errors, letter, record)) {
        return true;
    }
    look->totals[state]++;
    if (look->errors->json) {
        look->code = print_object(look->arena, record, letter, state);
    } else {
        print_words(record, letter, state);
    }
    return look->code == AB_CLI_OK && !ferror(stdout);
}

int ab_errors_list(const ab_errors_t *errors, ab_letters_t *letters)
{
    look_t look = {.errors = errors, .arena = aw_arena_new((size_t)1 << 30)};
    if (look.arena == NULL) {
        (void)fputs("agent-bridge errors: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    letters->on_letter = list_letter;
    letters->opaque = &look;
    const int code = ab_letters_walk(letters);
    aw_arena_free(look.arena);
    return end_walk(&look, code, letters);
}
