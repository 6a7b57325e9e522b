#include "bridge/kafka/redrive.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/core/text.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/redrive_state.h"
#include "bridge/kafka/relay.h"

/* Longest wait for a record, so that a stop is seen. */
#define WAIT_MS 200

int64_t ab_redrive_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int ab_redrive_fail(ab_redrive_t *redrive, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(redrive->text, sizeof(redrive->text), format, arguments);
    va_end(arguments);
    return code;
}

bool ab_redrive_stopping(const ab_redrive_t *redrive)
{
    return redrive->setup.stop != NULL && atomic_load(redrive->setup.stop);
}

const char *ab_redrive_text_view(const ab_redrive_t *redrive)
{
    return redrive->text;
}

static int fail_of_reader(ab_redrive_t *redrive, const ab_reader_t *reader, ab_read_status_t status)
{
    return ab_redrive_fail(redrive, ab_read_exit_code(status), "%s", ab_reader_text_view(reader));
}

/* ---- topics ---- */

static bool is_selected(const ab_redrive_t *redrive, const char *source)
{
    const ab_selection_t *selection = &redrive->job.selection;
    for (size_t i = 0; i < selection->source_count; i++) {
        if (strcmp(selection->sources[i], source) == 0) {
            return true;
        }
    }
    return selection->source_count == 0;
}

static void add_name(ab_redrive_t *redrive, const char *name)
{
    for (size_t i = 0; i < redrive->topic_count; i++) {
        if (strcmp(redrive->names[i], name) == 0) {
            return;
        }
    }
    redrive->names[redrive->topic_count++] = name;
}

static void add_targets(ab_redrive_t *redrive)
{
    if (redrive->job.to == AB_REDRIVE_TO_TOPIC) {
        add_name(redrive, redrive->job.topic);
        return;
    }
    for (size_t s = 0; s < redrive->config->source_count; s++) {
        const ab_policy_t *policy = &redrive->config->sources[s].policy;
        if (!is_selected(redrive, policy->topic)) {
            continue;
        }
        if (redrive->job.to == AB_REDRIVE_TO_SOURCE) {
            add_name(redrive, policy->topic);
        }
        for (size_t slot = 0; redrive->job.to == AB_REDRIVE_TO_ROUTE && slot < AB_SLOT_COUNT;
             slot++) {
            if (policy->routes[slot].kind == AB_ROUTE_TOPIC) {
                add_name(redrive, policy->routes[slot].topic);
            }
        }
    }
}

/* Targets first, then quarantine topics: a topic that is both is one. */
static int name_topics(ab_redrive_t *redrive)
{
    const ab_config_t *config = redrive->config;
    redrive->topic_count = 0;
    add_targets(redrive);
    redrive->target_count = redrive->topic_count;
    for (size_t s = 0; s < config->source_count; s++) {
        const ab_policy_t *policy = &config->sources[s].policy;
        if (policy->quarantine_topic != NULL && is_selected(redrive, policy->topic)) {
            add_name(redrive, policy->quarantine_topic);
        }
    }
    ab_topics_free(redrive->topics);
    redrive->topics = ab_topics_new_outputs(redrive->names, redrive->topic_count);
    return redrive->topics != NULL
               ? 0
               : ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out while starting");
}

size_t ab_redrive_targets(const ab_redrive_t *redrive, const char *const **ret_names)
{
    *ret_names = redrive->names;
    return redrive->target_count;
}

/* ---- life ---- */

static rd_kafka_t *make_probe(ab_redrive_t *redrive, char *ret_text)
{
    const ab_handle_spec_t spec = {.role = AB_ROLE_PROBE};
    const ab_property_t *property;
    rd_kafka_conf_t *conf = ab_handle_conf_new(redrive->config, &spec, ret_text, &property);
    if (conf == NULL) {
        return NULL;
    }
    ab_link_attach(&redrive->link, conf);
    rd_kafka_t *probe = rd_kafka_new(RD_KAFKA_PRODUCER, conf, ret_text, AB_HANDLE_TEXT_MAX);
    if (probe == NULL) {
        rd_kafka_conf_destroy(conf);
    }
    return probe;
}

/* A job holds pointers into itself, so that it is copied by its text. */
static bool copy_job(ab_redrive_t *redrive, const ab_job_t *job)
{
    char text[AB_JOB_TEXT_MAX];
    const size_t size = ab_job_text(job, text);
    return size > 0 && ab_job_parse(aw_span_view(text, size), &redrive->job);
}

ab_redrive_t *ab_redrive_new(const ab_redrive_setup_t *setup, char ret_text[AB_REDRIVE_TEXT_MAX])
{
    ab_redrive_t *redrive = calloc(1, sizeof(*redrive));
    const ab_config_t *config = setup->config;
    (void)snprintf(ret_text, AB_REDRIVE_TEXT_MAX, "memory ran out, or the job is too long");
    if (redrive == NULL) {
        return NULL;
    }
    redrive->setup = *setup;
    redrive->config = config;
    ab_link_init(&redrive->link, config);
    const ab_reader_options_t options = {.timeout_ms = setup->timeout_ms};
    /* Per source: itself or its routes, and its quarantine; one named topic. */
    redrive->names =
        calloc(config->source_count * (AB_SLOT_COUNT + 2) + 1, sizeof(*redrive->names));
    redrive->items = calloc(AB_REDRIVE_BATCH_MAX, sizeof(*redrive->items));
    redrive->counts = calloc(AB_REDRIVE_COUNTS_FIRST, sizeof(*redrive->counts));
    redrive->count_room = AB_REDRIVE_COUNTS_FIRST;
    redrive->rests = calloc(2 * (size_t)AB_REDRIVE_BATCH_MAX, sizeof(*redrive->rests));
    redrive->scratch = aw_arena_new(config->decode_bytes);
    if (redrive->names == NULL || redrive->items == NULL || redrive->counts == NULL ||
        redrive->rests == NULL || redrive->scratch == NULL || !copy_job(redrive, setup->job) ||
        name_topics(redrive) != 0 || (redrive->probe = make_probe(redrive, ret_text)) == NULL ||
        (redrive->reader = ab_reader_new(config, &options, ret_text)) == NULL) {
        ab_redrive_free(redrive);
        return NULL;
    }
    return redrive;
}

static void forget_parts(ab_redrive_t *redrive)
{
    for (size_t i = 0; i < redrive->part_count; i++) {
        ab_offset_set_clear(&redrive->parts[i].marked);
    }
    free(redrive->parts);
    redrive->parts = NULL;
    redrive->part_count = 0;
}

void ab_redrive_free(ab_redrive_t *redrive)
{
    if (redrive == NULL) {
        return;
    }
    ab_redrive_close(redrive);
    ab_reader_free(redrive->reader);
    ab_reader_free(redrive->originals);
    if (redrive->probe != NULL) {
        rd_kafka_destroy(redrive->probe);
    }
    ab_topics_free(redrive->topics);
    forget_parts(redrive);
    ab_link_clear(&redrive->link);
    free(redrive->names);
    free(redrive->items);
    free(redrive->rests);
    aw_arena_free(redrive->scratch);
    free(redrive->counts);
    free(redrive);
}

const ab_redrive_report_t *ab_redrive_report_view(const ab_redrive_t *redrive)
{
    return &redrive->report;
}

/* ---- where to read ---- */

/* Adds the quarantine topics to the reader. */
static int add_quarantine(ab_redrive_t *redrive)
{
    const int64_t since_ms = redrive->job.selection.since_ms;
    const ab_read_range_t range = {.has_since = since_ms != INT64_MIN, .since_ms = since_ms};
    ab_reader_clear(redrive->reader);
    for (size_t s = 0; s < redrive->config->source_count; s++) {
        const ab_policy_t *policy = &redrive->config->sources[s].policy;
        bool known = policy->quarantine_topic == NULL || !is_selected(redrive, policy->topic);
        for (size_t t = 0; t < s && !known; t++) {
            const ab_policy_t *other = &redrive->config->sources[t].policy;
            known = other->quarantine_topic != NULL && is_selected(redrive, other->topic) &&
                    strcmp(other->quarantine_topic, policy->quarantine_topic) == 0;
        }
        if (known) {
            continue;
        }
        const ab_read_status_t status =
            ab_reader_add_topic(redrive->reader, policy->quarantine_topic, &range);
        if (status != AB_READ_OK) {
            return fail_of_reader(redrive, redrive->reader, status);
        }
    }
    return 0;
}

static const char *config_name(const ab_redrive_t *redrive, const char *topic)
{
    for (size_t s = 0; s < redrive->config->source_count; s++) {
        const char *name = redrive->config->sources[s].policy.quarantine_topic;
        if (name != NULL && strcmp(name, topic) == 0) {
            return name;
        }
    }
    return NULL;
}

/* A new job's partitions, from the beginning to the end as it is now. */
static int take_parts(ab_redrive_t *redrive)
{
    size_t count;
    const ab_reader_part_t *parts = ab_reader_parts_view(redrive->reader, &count);
    forget_parts(redrive);
    redrive->parts = calloc(count + 1, sizeof(*redrive->parts));
    if (redrive->parts == NULL) {
        return ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out");
    }
    redrive->part_count = count;
    for (size_t i = 0; i < count; i++) {
        redrive->parts[i] = (ab_redrive_part_t){.topic = config_name(redrive, parts[i].topic),
                                                .partition = parts[i].partition,
                                                .begin = parts[i].begin,
                                                .end = parts[i].end,
                                                .position = parts[i].begin,
                                                .committed = -1};
    }
    return 0;
}

/* Learns of a job to resume where it writes to, before the producer is made. */
static int look_up(ab_redrive_t *redrive)
{
    bool found = false;
    ab_selection_init(&redrive->job.selection); /* every quarantine topic may be the job's */
    redrive->job.to = AB_REDRIVE_TO_SOURCE;
    int code = add_quarantine(redrive);
    if (code == 0) {
        code = take_parts(redrive);
    }
    if (code == 0) {
        code = ab_redrive_recall(redrive, false, &found);
    }
    if (code == 0 && !found && redrive->own) {
        /* Its first step was undone: nothing was written, so that it begins once more. */
        redrive->setup.resume = NULL;
        found = copy_job(redrive, redrive->setup.job);
    }
    if (code == 0 && !found) {
        code = ab_redrive_fail_unknown(redrive);
    }
    return code != 0 ? code : name_topics(redrive);
}

/* Where to read: once nobody else writes markers, up to where all of them end. */
static int locate(ab_redrive_t *redrive)
{
    int code = add_quarantine(redrive);
    if (code != 0) {
        return code;
    }
    const ab_read_status_t status = ab_reader_settle(
        redrive->reader, redrive->setup.timeout_ms + (int)redrive->config->transaction_timeout_ms);
    if (status != AB_READ_OK) {
        return fail_of_reader(redrive, redrive->reader, status);
    }
    code = take_parts(redrive);
    if (code == 0 && redrive->setup.resume != NULL) {
        bool found = false;
        code = ab_redrive_recall(redrive, true, &found);
        code = code == 0 && !found ? ab_redrive_fail_unknown(redrive) : code;
    }
    redrive->report.offsets = 0;
    redrive->report.read = 0;
    for (size_t i = 0; i < redrive->part_count; i++) {
        ab_redrive_part_t *part = &redrive->parts[i];
        part->marked.base = part->position;
        redrive->report.offsets += (uint64_t)(part->end - part->position);
    }
    return code;
}

/* ---- reading ---- */

static ab_redrive_part_t *part_of(ab_redrive_t *redrive, const ab_record_t *record)
{
    for (size_t i = 0; i < redrive->part_count; i++) {
        ab_redrive_part_t *part = &redrive->parts[i];
        if (part->partition == record->partition && strcmp(part->topic, record->topic) == 0) {
            return part;
        }
    }
    return NULL;
}

/* Lets the reader begin where the job stands, and end where the job ends or where the log does.
 * What came since the job looked, a partition that was added, is not the job's: nothing of it is
 * read. */
static int limit_reader(ab_redrive_t *redrive, bool to_the_end)
{
    size_t count, known = 0;
    const ab_reader_part_t *parts = ab_reader_parts_view(redrive->reader, &count);
    for (size_t i = 0; i < count; i++) {
        const ab_record_t place = {.topic = parts[i].topic, .partition = parts[i].partition};
        const ab_redrive_part_t *part = part_of(redrive, &place);
        known += part != NULL;
        ab_reader_limit(redrive->reader, i, part != NULL ? part->position : 0,
                        part == NULL ? 0
                        : to_the_end ? INT64_MAX
                                     : part->end);
    }
    return known == redrive->part_count
               ? 0
               : ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE,
                                 "a quarantine topic has lost partitions since the job began; was "
                                 "it made anew?");
}

/* Notes which records are marked: from where the job stands to the end of the log, since a marker
 * lies behind its record. */
static int collect_marks(ab_redrive_t *redrive)
{
    ab_full_record_t record;
    ab_read_status_t status;
    const int code = limit_reader(redrive, true);
    if (code != 0) {
        return code;
    }
    while ((status = ab_reader_next(redrive->reader, WAIT_MS, &record)) == AB_READ_OK ||
           status == AB_READ_QUIET) {
        char job[AB_JOB_ID_MAX];
        ab_coordinates_t marked;
        if (ab_redrive_stopping(redrive)) {
            return ab_redrive_fail(redrive, AB_EXIT_TEMPORARY, "stopped");
        }
        if (status == AB_READ_QUIET || !ab_marker_read(&record, &marked, job)) {
            continue;
        }
        ab_redrive_part_t *part = part_of(redrive, &record.record);
        if (part != NULL && ab_offset_set_add(&part->marked, marked.offset) != 0) {
            return ab_redrive_fail(redrive, AB_EXIT_FATAL,
                                   "memory ran out while reading which records are marked");
        }
    }
    return status == AB_READ_END ? 0 : fail_of_reader(redrive, redrive->reader, status);
}

static uint64_t written_by_job(const ab_redrive_t *redrive)
{
    uint64_t written = 0;
    for (size_t i = 0; i < redrive->part_count; i++) {
        written += redrive->parts[i].written;
    }
    return written;
}

static bool max_reached(const ab_redrive_t *redrive, bool writes)
{
    const uint64_t pending = writes ? redrive->item_count : redrive->report.written;
    return redrive->job.max > 0 && written_by_job(redrive) + pending >= redrive->job.max;
}

/* Puts a selected record that is to be written into the batch, and notes any other. */
static int take_choice(ab_redrive_t *redrive, ab_redrive_part_t *part, int64_t offset,
                       const ab_redrive_choice_t *choice, bool writes)
{
    const size_t index = (size_t)(part - redrive->parts);
    if (choice->fate == AB_REDRIVE_WRITE || choice->fate == AB_REDRIVE_FORCE) {
        if (writes) {
            return ab_redrive_put(redrive, index, offset, choice);
        }
        redrive->report.selected++;
        redrive->report.written++;
        (void)ab_redrive_count(redrive, choice->trailer.reason, choice->fate, choice->plan.topic,
                               1);
        return 0;
    }
    char reason[AB_REDRIVE_REASON_MAX];
    (void)ab_text_clean(choice->trailer.reason, reason, sizeof(reason));
    ab_redrive_left_t left = {.source = choice->trailer.source,
                              .reason = reason,
                              .fate = choice->fate,
                              .more = choice->more != NULL ? choice->more : ""};
    (void)snprintf(left.place.topic, sizeof(left.place.topic), "%s", part->topic);
    left.place.partition = part->partition;
    left.place.offset = offset;
    ab_redrive_leave(redrive, index, &left);
    return 0;
}

static int take_record(ab_redrive_t *redrive, const ab_full_record_t *record, bool writes)
{
    ab_redrive_part_t *part = part_of(redrive, &record->record);
    ab_redrive_choice_t choice;
    int code = 0;
    if (part == NULL || record->record.offset < part->position) {
        return 0;
    }
    if (ab_redrive_judge(redrive, part, record, &choice, &code)) {
        code = take_choice(redrive, part, record->record.offset, &choice, writes);
    }
    if (code == 0) {
        redrive->report.read += (uint64_t)(record->record.offset + 1 - part->position);
        part->position = record->record.offset + 1;
    }
    return code;
}

static bool is_due(const ab_redrive_t *redrive)
{
    const int64_t now = ab_redrive_now_ms();
    return redrive->item_count + redrive->rest_count > 0
               ? now - redrive->batch_ms >= AB_REDRIVE_BATCH_MS
               : now - redrive->progress_ms >= AB_REDRIVE_PROGRESS_MS;
}

/* From where the partitions stand to the job's end. */
static int read_selected(ab_redrive_t *redrive, bool writes)
{
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    int code = 0;
    while (code == 0 && !max_reached(redrive, writes)) {
        if (ab_redrive_stopping(redrive)) {
            return ab_redrive_fail(redrive, AB_EXIT_TEMPORARY, "stopped");
        }
        status = ab_reader_next(redrive->reader, WAIT_MS, &record);
        if (status == AB_READ_OK) {
            code = take_record(redrive, &record, writes);
        } else if (status != AB_READ_QUIET) {
            break;
        }
        if (code == 0 && writes && (ab_redrive_batch_full(redrive) || is_due(redrive))) {
            code = ab_redrive_flush(redrive);
        }
        ab_redrive_tell(redrive, false);
    }
    if (code != 0) {
        return code;
    }
    if (status == AB_READ_END) {
        for (size_t i = 0; i < redrive->part_count; i++) {
            redrive->parts[i].position = redrive->parts[i].end;
        }
        redrive->report.read = redrive->report.offsets;
    } else if (status != AB_READ_OK && status != AB_READ_QUIET) {
        return fail_of_reader(redrive, redrive->reader, status);
    }
    redrive->report.complete = true;
    return 0;
}

static int walk(ab_redrive_t *redrive, bool writes)
{
    int code = redrive->job.again ? 0 : collect_marks(redrive);
    if (code == 0) {
        code = add_quarantine(redrive);
    }
    if (code == 0) {
        code = limit_reader(redrive, false);
    }
    if (code != 0) {
        return code;
    }
    code = read_selected(redrive, writes);
    if (writes && !redrive->unwritten && (code == 0 || code == AB_EXIT_TEMPORARY)) {
        /* What has been decided is kept, also when the job is stopped; but a batch that could not
         * be written is decided no more, and no position behind it may be. */
        const bool complete = redrive->report.complete;
        const int flushed = ab_redrive_flush(redrive);
        code = flushed != 0 ? flushed : code;
        redrive->report.complete = complete && flushed == 0;
    }
    ab_redrive_tell(redrive, true);
    return code;
}

static void start_report(ab_redrive_t *redrive)
{
    memset(&redrive->report, 0, sizeof(redrive->report));
    redrive->report.counts = redrive->counts; /* there is room from a survey before */
    redrive->last_count = 0;
}

int ab_redrive_survey(ab_redrive_t *redrive)
{
    start_report(redrive);
    int code = redrive->setup.resume != NULL ? look_up(redrive) : 0;
    if (code == 0) {
        code = locate(redrive);
    }
    return code != 0 ? code : walk(redrive, false);
}

/* One life of the producer. */
static int run_once(ab_redrive_t *redrive)
{
    redrive->unwritten = false;
    int code = redrive->setup.resume != NULL ? look_up(redrive) : 0;
    if (code == 0) {
        code = ab_redrive_open(redrive);
    }
    if (code == 0) {
        code = locate(redrive);
    }
    if (code == 0) {
        /* Remembered before the first record, so that it can be resumed whatever happens. */
        code = ab_redrive_flush(redrive);
    }
    if (code == 0) {
        ab_redrive_tell(redrive, true);
        code = walk(redrive, true);
    }
    ab_redrive_settle_rests(redrive, false);
    ab_redrive_close(redrive);
    return code;
}

int ab_redrive_run(ab_redrive_t *redrive)
{
    char *job = redrive->report.job;
    start_report(redrive);
    redrive->own = redrive->setup.resume == NULL;
    if (!redrive->own) {
        (void)snprintf(job, AB_JOB_ID_MAX, "%s", redrive->setup.resume);
    } else {
        ab_redrive_make_id(job);
    }
    (void)snprintf(redrive->group, sizeof(redrive->group), "%s.redrive.%s", redrive->config->group,
                   job);
    for (;;) {
        const int code = run_once(redrive);
        if (!redrive->interrupted || ab_redrive_stopping(redrive)) {
            return code;
        }
        /* The brokers were away, or they or this process stood still for longer than a transaction
         * may last. That is nobody's fault: the job goes on as it would after a crash. */
        ab_redrive_pause_ms(AB_REDRIVE_RETRY_MAX_MS);
        redrive->setup.resume = job;
        redrive->interrupted = false;
    }
}
