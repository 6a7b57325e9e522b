#include "bridge/cli/explain.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/status.h"
#include "bridge/cli/letter.h"
#include "bridge/cli/select.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/text.h"
#include "bridge/core/verdict.h"

/* Outputs are looked for so much earlier: a producer's clock may be ahead by that. */
#define EARLIER_MS 3600000

/* One outcome of one source. */
typedef struct row {
    size_t source;
    ab_outcome_t outcome;
    char what[AB_TOPIC_MAX + 1]; /* the topic, or the reason */
    uint64_t here, running;
} row_t;

typedef struct traffic {
    const ab_explain_t *explain;
    const ab_config_t *config;
    ab_reader_t *reader;
    aw_arena_t *arena;
    row_t *rows;
    size_t row_count;
    row_t others;        /* what fits no row any more: headers may hold any reason */
    int64_t **committed; /* per source, per partition */
    int32_t *partitions; /* per source */
    uint64_t records, not_yet;
    int code;
} traffic_t;

static int fail(traffic_t *traffic, ab_read_status_t status)
{
    if (traffic->code == AB_CLI_OK) {
        traffic->code = ab_select_complain(&ab_verb_explain, traffic->reader, status);
    }
    return traffic->code;
}

static void fail_memory(traffic_t *traffic)
{
    if (traffic->code == AB_CLI_OK) {
        (void)fputs("agent-bridge explain: memory ran out\n", stderr);
        traffic->code = AB_CLI_FATAL;
    }
}

static row_t *row_of(traffic_t *traffic, size_t source, ab_outcome_t outcome, const char *what)
{
    for (size_t i = 0; i < traffic->row_count; i++) {
        row_t *row = &traffic->rows[i];
        if (row->source == source && row->outcome == outcome && strcmp(row->what, what) == 0) {
            return row;
        }
    }
    if (traffic->row_count == AB_EXPLAIN_ROWS_MAX) {
        return &traffic->others;
    }
    row_t *row = &traffic->rows[traffic->row_count++];
    *row = (row_t){.source = source, .outcome = outcome};
    (void)snprintf(row->what, sizeof(row->what), "%s", what);
    return row;
}

static bool in_range(const traffic_t *traffic, int64_t timestamp_ms)
{
    const ab_read_range_t *range = &traffic->explain->range;
    return timestamp_ms >= range->since_ms && (!range->has_until || timestamp_ms < range->until_ms);
}

/* ---- what this configuration would do ---- */

static void judge(traffic_t *traffic, size_t source, const ab_full_record_t *record)
{
    ab_verdict_t verdict;
    const ab_record_t *facts = &record->record;
    if (facts->timestamp_type == AB_TIMESTAMP_NONE || !in_range(traffic, facts->timestamp_ms)) {
        return;
    }
    if (facts->offset >= traffic->committed[source][facts->partition]) {
        traffic->not_yet++;
        return;
    }
    aw_arena_reset(traffic->arena);
    if (ab_verdict_of(facts, &traffic->config->sources[source].policy, traffic->arena, &verdict) !=
        AW_OK) {
        fail_memory(traffic);
        return;
    }
    if (record->headers_unreadable && verdict.outcome == AB_OUTCOME_ROUTED) {
        ab_verdict_reject(&verdict, AB_TEXT_HEADERS_UNREADABLE);
    }
    traffic->records++;
    row_of(traffic, source, verdict.outcome,
           verdict.outcome == AB_OUTCOME_ROUTED ? verdict.topic : ab_reason_code(verdict.reason))
        ->here++;
}

static void read_source(traffic_t *traffic, size_t source)
{
    const char *topic = traffic->config->sources[source].policy.topic;
    /* Where reading ends by time, records with earlier timestamps may follow: all are looked at. */
    const ab_read_range_t range = {.has_since = true, .since_ms = traffic->explain->range.since_ms};
    ab_full_record_t record;
    ab_read_status_t status = ab_reader_count(traffic->reader, topic, &traffic->partitions[source]);
    if (status == AB_READ_OK) {
        traffic->committed[source] =
            calloc((size_t)traffic->partitions[source], sizeof(**traffic->committed));
        if (traffic->committed[source] == NULL) {
            fail_memory(traffic);
            return;
        }
        status = ab_reader_committed(traffic->reader, topic, traffic->partitions[source],
                                     traffic->committed[source]);
    }
    ab_reader_clear(traffic->reader);
    if (status == AB_READ_OK) {
        status = ab_reader_add_topic(traffic->reader, topic, &range);
    }
    while (status == AB_READ_OK && traffic->code == AB_CLI_OK &&
           (status = ab_reader_next(traffic->reader, -1, &record)) == AB_READ_OK) {
        if (record.record.partition < traffic->partitions[source]) {
            judge(traffic, source, &record);
        }
    }
    if (status != AB_READ_OK && status != AB_READ_END) {
        (void)fail(traffic, status);
    }
}

/* ---- what the running one did ---- */

static void note(traffic_t *traffic, const ab_full_record_t *record)
{
    const ab_header_t *header = ab_header_last(record, AB_HEADER_SOURCE);
    const ab_header_t *reason = ab_header_last(record, AB_HEADER_REASON);
    const ab_header_t *group = ab_header_last(record, AB_HEADER_DLQ_GROUP);
    ab_coordinates_t at;
    int64_t source_ms;
    char what[AB_TOPIC_MAX + 1];
    if (header == NULL || !ab_source_parse(header->value, &at, &source_ms) ||
        !in_range(traffic, source_ms)) {
        return;
    }
    const bool letter = reason != NULL && group != NULL &&
                        aw_span_equal(group->value, aw_span_text_view(traffic->config->group));
    for (size_t s = 0; s < traffic->config->source_count; s++) {
        if (strcmp(traffic->config->sources[s].policy.topic, at.topic) != 0 ||
            at.partition >= traffic->partitions[s] ||
            at.offset >= traffic->committed[s][at.partition]) {
            continue;
        }
        /* Whoever may write to the topic chose the reason: it is shown in a terminal and in JSON.
         */
        (void)ab_text_clean(letter ? reason->value : aw_span_text_view(record->record.topic), what,
                            sizeof(what));
        row_of(traffic, s, letter ? AB_OUTCOME_DEAD_LETTERED : AB_OUTCOME_ROUTED, what)->running++;
    }
}

/* An output of some source that no source before it, and no route before it, has too. */
static bool is_first(const ab_config_t *config, size_t source, size_t slot, const char *topic)
{
    for (size_t s = 0; s <= source; s++) {
        const ab_policy_t *policy = &config->sources[s].policy;
        for (size_t i = 0; i < (s == source ? slot : AB_SLOT_COUNT + 1u); i++) {
            const char *other = i == AB_SLOT_COUNT ? policy->errors_topic : policy->routes[i].topic;
            if (other != NULL && strcmp(other, topic) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void read_outputs(traffic_t *traffic)
{
    const int64_t since_ms = traffic->explain->range.since_ms - EARLIER_MS;
    const ab_read_range_t range = {.has_since = true, .since_ms = since_ms > 0 ? since_ms : 0};
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    ab_reader_clear(traffic->reader);
    for (size_t s = 0; s < traffic->config->source_count; s++) {
        const ab_policy_t *policy = &traffic->config->sources[s].policy;
        for (size_t i = 0; i <= AB_SLOT_COUNT && status == AB_READ_OK; i++) {
            const char *topic = i == AB_SLOT_COUNT ? policy->errors_topic : policy->routes[i].topic;
            if (topic != NULL && is_first(traffic->config, s, i, topic)) {
                status = ab_reader_add_topic(traffic->reader, topic, &range);
            }
        }
    }
    while (status == AB_READ_OK && traffic->code == AB_CLI_OK &&
           (status = ab_reader_next(traffic->reader, -1, &record)) == AB_READ_OK) {
        note(traffic, &record);
    }
    if (status != AB_READ_OK && status != AB_READ_END) {
        (void)fail(traffic, status);
    }
}

/* ---- the result ---- */

static int by_source_and_outcome(const void *a, const void *b)
{
    const row_t *left = a;
    const row_t *right = b;
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    if (left->outcome != right->outcome) {
        return left->outcome < right->outcome ? -1 : 1;
    }
    return strcmp(left->what, right->what);
}

static const char *source_topic(const traffic_t *traffic, const row_t *row)
{
    return traffic->config->sources[row->source].policy.topic;
}

/* A dropped record leaves nothing behind that could be counted, and answers are not read. */
static bool leaves_headers(const row_t *row)
{
    return row->outcome == AB_OUTCOME_ROUTED || row->outcome == AB_OUTCOME_DEAD_LETTERED;
}

static bool has_others(const traffic_t *traffic)
{
    return traffic->others.here + traffic->others.running > 0;
}

static void print_table(const traffic_t *traffic)
{
    (void)printf("%12s %12s  OUTCOME\n", "THIS CONFIG", "RUNNING");
    for (size_t i = 0; i < traffic->row_count; i++) {
        const row_t *row = &traffic->rows[i];
        char running[24];
        (void)snprintf(running, sizeof(running), "%" PRIu64, row->running);
        (void)printf("%12" PRIu64 " %12s  %s: %s %s\n", row->here,
                     !leaves_headers(row) ? "-" : running, source_topic(traffic, row),
                     ab_outcome_name(row->outcome), row->what);
    }
    if (has_others(traffic)) {
        (void)printf("%12" PRIu64 " %12" PRIu64 "  others, beyond %u outcomes\n",
                     traffic->others.here, traffic->others.running, AB_EXPLAIN_ROWS_MAX);
    }
    (void)printf("%" PRIu64 " records", traffic->records);
    if (traffic->not_yet > 0) {
        (void)printf(", and %" PRIu64 " that the group has not committed yet", traffic->not_yet);
    }
    (void)putchar('\n');
}

static json_t *row_json(const traffic_t *traffic, const row_t *row)
{
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:o}", "source", source_topic(traffic, row), "outcome",
                  ab_outcome_name(row->outcome), "this_config", (json_int_t)row->here, "running",
                  !leaves_headers(row) ? json_null() : json_integer((json_int_t)row->running));
    const char *name = row->outcome == AB_OUTCOME_ROUTED ? "topic" : "reason";
    if (object != NULL && row->what[0] != '\0' &&
        json_object_set_new(object, name, json_string(row->what)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int print_json(const traffic_t *traffic)
{
    json_t *rows = json_array();
    int failed = rows == NULL;
    for (size_t i = 0; failed == 0 && i < traffic->row_count; i++) {
        failed = json_array_append_new(rows, row_json(traffic, &traffic->rows[i]));
    }
    json_t *object = failed == 0
                         ? json_pack("{s:I, s:I, s:O}", "records", (json_int_t)traffic->records,
                                     "not_yet", (json_int_t)traffic->not_yet, "rows", rows)
                         : NULL;
    json_decref(rows);
    if (object != NULL && has_others(traffic) &&
        json_object_set_new(object, "others",
                            json_pack("{s:I, s:I}", "this_config", (json_int_t)traffic->others.here,
                                      "running", (json_int_t)traffic->others.running)) != 0) {
        json_decref(object);
        object = NULL;
    }
    if (object == NULL) {
        return AB_CLI_FATAL;
    }
    (void)json_dumpf(object, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(object);
    return AB_CLI_OK;
}

int ab_explain_traffic(const ab_explain_t *explain, const ab_config_t *config, ab_reader_t *reader)
{
    traffic_t traffic = {.explain = explain, .config = config, .reader = reader};
    traffic.arena = aw_arena_new((size_t)config->decode_bytes);
    traffic.rows = calloc(AB_EXPLAIN_ROWS_MAX, sizeof(*traffic.rows));
    traffic.committed = calloc(config->source_count, sizeof(*traffic.committed));
    traffic.partitions = calloc(config->source_count, sizeof(*traffic.partitions));
    if (traffic.arena == NULL || traffic.rows == NULL || traffic.committed == NULL ||
        traffic.partitions == NULL) {
        fail_memory(&traffic);
    }
    for (size_t s = 0; s < config->source_count && traffic.code == AB_CLI_OK; s++) {
        read_source(&traffic, s);
    }
    if (traffic.code == AB_CLI_OK) {
        read_outputs(&traffic);
    }
    if (traffic.code == AB_CLI_OK) {
        qsort(traffic.rows, traffic.row_count, sizeof(*traffic.rows), by_source_and_outcome);
        if (explain->json) {
            traffic.code = print_json(&traffic);
        } else {
            print_table(&traffic);
        }
    }
    for (size_t s = 0; traffic.committed != NULL && s < config->source_count; s++) {
        free(traffic.committed[s]);
    }
    free(traffic.committed);
    free(traffic.partitions);
    free(traffic.rows);
    aw_arena_free(traffic.arena);
    return traffic.code;
}
