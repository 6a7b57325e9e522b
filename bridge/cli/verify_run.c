#include "bridge/cli/verify_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/status.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/verify_plan.h"
#include "bridge/cli/verify_work.h"

/* How much longer than the transactions' timeout an open one is waited for. */
#define SETTLE_MORE_MS 10000

/* ---- failures ---- */

static int fail(ab_verify_work_t *work, int code, const char *text)
{
    if (work->code == AB_CLI_OK) {
        work->code = code;
        (void)snprintf(work->verify->text, sizeof(work->verify->text), "%s", text);
    }
    return work->code;
}

static int fail_read(ab_verify_work_t *work, ab_read_status_t status)
{
    return fail(work, ab_read_exit_code(status), ab_reader_text_view(work->reader));
}

int ab_verify_fail_memory(ab_verify_work_t *work)
{
    return fail(work, AB_CLI_FATAL, "memory ran out");
}

int ab_verify_fail_sorter(ab_verify_work_t *work, int error)
{
    char text[256];
    if (error == ENOMEM) {
        return ab_verify_fail_memory(work);
    }
    (void)snprintf(text, sizeof(text),
                   "the temporary file in $TMPDIR, or /tmp, cannot be written or read: %s; make "
                   "room there, or look at less with --since",
                   strerror(error));
    return fail(work, AB_CLI_FATAL, text);
}

void ab_verify_add(ab_verify_work_t *work, ab_sorter_t *sorter, const ab_sighting_t *seen)
{
    const int error = ab_sorter_add(sorter, seen);
    if (error != 0) {
        (void)ab_verify_fail_sorter(work, error);
    }
}

/* ---- what the audit tells ---- */

ab_verify_part_t *ab_verify_part_of(ab_verify_t *verify, int source, int32_t partition)
{
    for (size_t i = 0; i < verify->report.part_count; i++) {
        ab_verify_part_t *part = &verify->report.parts[i];
        if (part->source == (size_t)source && part->partition == partition) {
            return part;
        }
    }
    return NULL;
}

void ab_verify_on_fault(void *opaque, const ab_fault_t *fault)
{
    ab_verify_work_t *work = opaque;
    ab_verify_part_t *part =
        ab_verify_part_of(work->verify, fault->source, fault->source_partition);
    if (part != NULL) {
        part->counts.faults[fault->kind]++;
    }
    work->verify->report.total.faults[fault->kind]++;
    work->verify->on_fault(work->verify, fault);
}

static void on_absent(void *opaque, const ab_sighting_t *absent)
{
    ab_verify_work_t *work = opaque;
    ab_verify_add(work, work->absent, absent);
}

/* ---- the frontier ---- */

static bool grow_parts(ab_verify_report_t *report, size_t more)
{
    ab_verify_part_t *parts =
        realloc(report->parts, (report->part_count + more) * sizeof(*report->parts));
    if (parts == NULL) {
        return false;
    }
    memset(parts + report->part_count, 0, more * sizeof(*parts));
    report->parts = parts;
    return true;
}

/* The committed offsets come first: whatever they cover was written before. */
static int learn_source(ab_verify_work_t *work, size_t source)
{
    ab_verify_report_t *report = &work->verify->report;
    const char *topic = work->verify->config->sources[source].policy.topic;
    int32_t count;
    ab_read_status_t status = ab_reader_count(work->reader, topic, &count);
    if (status != AB_READ_OK) {
        return fail_read(work, status);
    }
    int64_t *offsets = calloc((size_t)count, sizeof(*offsets));
    if (offsets == NULL || !grow_parts(report, (size_t)count)) {
        free(offsets);
        return ab_verify_fail_memory(work);
    }
    status = ab_reader_committed(work->reader, topic, count, offsets);
    for (int32_t p = 0; status == AB_READ_OK && p < count; p++) {
        report->parts[report->part_count++] = (ab_verify_part_t){
            .source = source, .partition = p, .committed = offsets[p], .begin = -1, .end = -1};
    }
    free(offsets);
    return status == AB_READ_OK ? AB_CLI_OK : fail_read(work, status);
}

/* ---- the outputs ---- */

static int add_outputs(ab_verify_work_t *work)
{
    ab_audit_t *audit = &work->verify->audit;
    ab_read_range_t range = {0};
    ab_read_status_t status = AB_READ_OK;
    size_t count;
    if (work->options->has_since) {
        const int64_t since_ms = work->options->since_ms - AB_VERIFY_EARLIER_MS;
        range.has_since = true;
        range.since_ms = since_ms > 0 ? since_ms : 0;
    }
    for (size_t i = 0; i < audit->output_count && status == AB_READ_OK; i++) {
        status = ab_reader_add_topic(work->reader, audit->outputs[i].topic, &range);
    }
    if (status == AB_READ_OK) {
        const unsigned wait_ms = work->verify->config->transaction_timeout_ms + SETTLE_MORE_MS;
        status = ab_reader_settle(work->reader, (int)wait_ms);
    }
    if (status != AB_READ_OK) {
        return fail_read(work, status);
    }
    const ab_reader_part_t *parts = ab_reader_parts_view(work->reader, &count);
    for (size_t i = 0; i < count; i++) {
        if (ab_verify_plan_part(audit, parts[i].topic, parts[i].partition, parts[i].first) != 0) {
            return ab_verify_fail_memory(work);
        }
    }
    return AB_CLI_OK;
}

static void sight(ab_verify_work_t *work, size_t output, const ab_full_record_t *record)
{
    ab_verify_report_t *report = &work->verify->report;
    const ab_verify_options_t *options = work->options;
    ab_sighting_t seen;
    int64_t source_ms;
    report->outputs++;
    switch (ab_audit_sight(&work->verify->audit, output, record, &seen, &source_ms)) {
    case AB_SIGHT_OURS:
        if (!options->has_since || source_ms >= options->since_ms) {
            ab_verify_add(work,
                          work->verify->audit.outputs[output].quarantine ? work->kept : work->seen,
                          &seen);
        }
        break;
    case AB_SIGHT_UNNAMED:
        if (!options->has_since || seen.stamped || seen.timestamp_ms >= options->since_ms) {
            ab_verify_add(work, work->unnamed, &seen);
        }
        break;
    case AB_SIGHT_MARKER:
        report->markers++;
        ab_verify_add(work, work->marks, &seen);
        break;
    case AB_SIGHT_FOREIGN:
        report->foreign++;
        break;
    }
}

static int read_outputs(ab_verify_work_t *work)
{
    const ab_audit_t *audit = &work->verify->audit;
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    size_t output = 0;
    while (work->code == AB_CLI_OK &&
           (status = ab_reader_next(work->reader, -1, &record)) == AB_READ_OK) {
        while (strcmp(audit->outputs[output].topic, record.record.topic) != 0) {
            output = (output + 1) % audit->output_count;
        }
        sight(work, output, &record);
    }
    ab_reader_clear(work->reader);
    return status == AB_READ_OK || status == AB_READ_END ? work->code : fail_read(work, status);
}

/* ---- sightings in the order of their sources ---- */

static void advance(ab_verify_work_t *work)
{
    const int got = ab_sorter_next(work->seen, &work->next);
    work->has_next = got > 0;
    if (got < 0) {
        (void)ab_verify_fail_sorter(work, -got);
    }
}

int ab_verify_begin_sightings(ab_verify_work_t *work)
{
    const int error = ab_sorter_begin(work->seen);
    if (error != 0) {
        return ab_verify_fail_sorter(work, error);
    }
    advance(work);
    return work->code;
}

/* Where the next sighting lies to a source record: before it, at it, behind it. */
static int compare_next(const ab_verify_work_t *work, size_t source, int32_t partition,
                        int64_t offset)
{
    const ab_sighting_t *next = &work->next;
    if (next->source != source) {
        return next->source < source ? -1 : 1;
    }
    if (next->source_partition != partition) {
        return next->source_partition < partition ? -1 : 1;
    }
    return next->source_offset == offset ? 0 : next->source_offset < offset ? -1 : 1;
}

/* One whose source record was not met. */
static void judge_stray(ab_verify_work_t *work, const ab_sighting_t *seen, bool hole)
{
    ab_verify_report_t *report = &work->verify->report;
    const ab_verify_part_t *part =
        ab_verify_part_of(work->verify, seen->source, seen->source_partition);
    if (part == NULL) {
        ab_audit_stray(&work->verify->audit, seen);
    } else if (hole || seen->source_offset < part->first || seen->source_offset < part->begin) {
        report->source_gone++;
    } else if (seen->source_offset >= part->committed) {
        report->not_yet++;
    } else {
        ab_audit_stray(&work->verify->audit, seen);
    }
}

/* Takes all sightings before a source record; hole: retention made a hole before it. */
static void pass_to(ab_verify_work_t *work, size_t source, int32_t partition, int64_t offset,
                    bool hole)
{
    while (work->has_next && compare_next(work, source, partition, offset) < 0) {
        const bool here = work->next.source == source && work->next.source_partition == partition;
        judge_stray(work, &work->next, hole && here);
        advance(work);
    }
}

/* Takes all sightings of one source record into the group. */
void ab_verify_gather(ab_verify_work_t *work, size_t source, int32_t partition, int64_t offset)
{
    work->group_count = 0;
    while (work->has_next && compare_next(work, source, partition, offset) == 0) {
        if (work->group_count == work->group_room && work->group_room < AB_VERIFY_COPIES_MAX) {
            const size_t room = work->group_room == 0 ? 16 : work->group_room * 2;
            ab_sighting_t *group = realloc(work->group, room * sizeof(*group));
            if (group == NULL) {
                (void)ab_verify_fail_memory(work);
                return;
            }
            work->group = group;
            work->group_room = room;
        }
        if (work->group_count < work->group_room) {
            work->group[work->group_count++] = work->next;
        } else if (work->verify->audit.duplicates_allowed) {
            work->verify->audit.duplicates++;
        } else {
            const ab_fault_t fault = {.kind = AB_FAULT_DUPLICATE,
                                      .source = (int)source,
                                      .output = work->next.output,
                                      .source_partition = partition,
                                      .partition = work->next.partition,
                                      .source_offset = offset,
                                      .offset = work->next.offset,
                                      .behind = -1};
            ab_verify_on_fault(work, &fault);
        }
        advance(work);
    }
}

/* ---- the sources ---- */

/* Where the group began, as far as that can be known. */
static int64_t begin_of(const ab_verify_work_t *work, const ab_reader_part_t *log)
{
    const ab_source_t *source = &work->verify->config->sources[work->part->source];
    if (source->start == AB_START_EARLIEST || source->start == AB_START_TIME) {
        return log->begin;
    }
    /* Nobody remembers where the log ended then: the first record that was seen is the first that
     * is expected. */
    if (work->has_next && work->next.source == work->part->source &&
        work->next.source_partition == work->part->partition) {
        return work->next.source_offset > log->begin ? work->next.source_offset : log->begin;
    }
    return work->part->committed > log->begin ? work->part->committed : log->begin;
}

static int open_part(ab_verify_work_t *work)
{
    ab_verify_part_t *part = work->part;
    const ab_source_t *source = &work->verify->config->sources[part->source];
    ab_read_range_t range = {0};
    size_t count;
    if (source->start == AB_START_TIME) {
        range.has_since = true;
        range.since_ms = source->start_time_ms;
    }
    if (work->options->has_since &&
        (!range.has_since || range.since_ms < work->options->since_ms)) {
        range.has_since = true;
        range.since_ms = work->options->since_ms;
    }
    ab_reader_clear(work->reader);
    const ab_read_status_t status =
        ab_reader_add_partition(work->reader, source->policy.topic, part->partition, &range);
    if (status != AB_READ_OK) {
        return fail_read(work, status);
    }
    const ab_reader_part_t *log = ab_reader_parts_view(work->reader, &count);
    pass_to(work, part->source, part->partition, INT64_MIN, false);
    part->first = log->first;
    part->begin = begin_of(work, log);
    part->end = log->stable;
    ab_reader_limit(work->reader, 0, part->begin, part->committed);
    return work->code;
}

static void judge_record(ab_verify_work_t *work, const ab_full_record_t *record)
{
    const ab_record_t *facts = &record->record;
    if (work->options->has_since && (facts->timestamp_type == AB_TIMESTAMP_NONE ||
                                     facts->timestamp_ms < work->options->since_ms)) {
        return;
    }
    ab_verify_gather(work, work->part->source, facts->partition, facts->offset);
    work->part->redriven += facts->hops > 0;
    if (work->code == AB_CLI_OK && ab_audit_judge(&work->verify->audit, work->part->source, record,
                                                  work->group, work->group_count) != AW_OK) {
        (void)ab_verify_fail_memory(work);
    }
}

static int read_part(ab_verify_work_t *work)
{
    ab_audit_t *audit = &work->verify->audit;
    ab_verify_part_t *part = work->part;
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    uint64_t gone = 0;
    size_t count;
    ab_audit_begin(audit);
    while (work->code == AB_CLI_OK &&
           (status = ab_reader_next(work->reader, -1, &record)) == AB_READ_OK) {
        const ab_reader_part_t *log = ab_reader_parts_view(work->reader, &count);
        pass_to(work, part->source, part->partition, record.record.offset, log->gone != gone);
        gone = log->gone;
        judge_record(work, &record);
    }
    if (status != AB_READ_OK && status != AB_READ_END) {
        return fail_read(work, status);
    }
    pass_to(work, part->source, part->partition, INT64_MAX,
            ab_reader_parts_view(work->reader, &count)->gone != gone);
    memcpy(audit->counts.faults, part->counts.faults, sizeof(part->counts.faults));
    part->counts = audit->counts;
    return work->code;
}

static int read_sources(ab_verify_work_t *work)
{
    ab_verify_report_t *report = &work->verify->report;
    for (size_t i = 0; i < report->part_count && work->code == AB_CLI_OK; i++) {
        work->part = &report->parts[i];
        if (open_part(work) == AB_CLI_OK) {
            (void)read_part(work);
        }
    }
    while (work->has_next && work->code == AB_CLI_OK) {
        judge_stray(work, &work->next, false);
        advance(work);
    }
    return work->code;
}

/* ---- all of it ---- */

static void sum_up(ab_verify_work_t *work)
{
    ab_verify_report_t *report = &work->verify->report;
    ab_audit_counts_t faults = report->total;
    report->total = (ab_audit_counts_t){0};
    for (size_t i = 0; i < report->part_count; i++) {
        ab_audit_counts_add(&report->total, &report->parts[i].counts);
    }
    /* Some are of no partition that is there. */
    memcpy(report->total.faults, faults.faults, sizeof(faults.faults));
    report->duplicates = work->verify->audit.duplicates;
    report->temporary_bytes += ab_sorter_file_bytes(work->seen) + ab_sorter_file_bytes(work->kept) +
                               ab_sorter_file_bytes(work->marks) +
                               ab_sorter_file_bytes(work->unnamed) +
                               ab_sorter_file_bytes(work->absent);
}

/* A sorter with a share of memory.per_lane. */
static ab_sorter_t *new_sorter(ab_verify_work_t *work, int (*compare)(const void *, const void *),
                               size_t share)
{
    ab_sorter_t *sorter = ab_sorter_new(sizeof(ab_sighting_t), compare,
                                        (size_t)work->verify->config->memory_per_lane_bytes / share,
                                        AB_SORTER_FILE_MAX);
    if (sorter == NULL) {
        (void)ab_verify_fail_memory(work);
    }
    return sorter;
}

static int prepare(ab_verify_work_t *work)
{
    const ab_config_t *config = work->verify->config;
    const ab_reader_options_t options = {.timeout_ms = work->options->timeout_ms};
    char text[AB_READER_TEXT_MAX];
    if (ab_verify_plan(config, &work->verify->audit) != 0) {
        return ab_verify_fail_memory(work);
    }
    work->verify->audit.on_fault = ab_verify_on_fault;
    work->verify->audit.on_absent = on_absent;
    work->verify->audit.opaque = work;
    work->reader = ab_reader_new(config, &options, text);
    if (work->reader == NULL) {
        return fail(work, AB_CLI_CONFIG, text);
    }
    work->seen = new_sorter(work, ab_sighting_by_source, 2);
    work->kept = new_sorter(work, ab_sighting_by_place, 8);
    work->marks = new_sorter(work, ab_sighting_by_place, 8);
    work->unnamed = new_sorter(work, ab_sighting_by_content, 4);
    work->absent = new_sorter(work, ab_sighting_by_content, 4);
    return work->code;
}

int ab_verify_run(ab_verify_t *verify, const ab_verify_options_t *options)
{
    ab_verify_work_t work = {.verify = verify, .options = options};
    int code = prepare(&work);
    for (size_t s = 0; s < verify->config->source_count && code == AB_CLI_OK; s++) {
        code = learn_source(&work, s);
    }
    int (*const steps[])(ab_verify_work_t *) = {add_outputs,          read_outputs,
                                                ab_verify_join_marks, ab_verify_begin_sightings,
                                                read_sources,         ab_verify_match_unnamed,
                                                ab_verify_check_order};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && code == AB_CLI_OK; i++) {
        code = steps[i](&work);
    }
    if (code == AB_CLI_OK) {
        sum_up(&work);
    }
    ab_reader_free(work.reader);
    ab_sorter_free(work.kept);
    ab_sorter_free(work.marks);
    ab_sorter_free(work.seen);
    ab_sorter_free(work.unnamed);
    ab_sorter_free(work.absent);
    free(work.group);
    return code;
}

void ab_verify_clear(ab_verify_t *verify)
{
    ab_verify_plan_clear(&verify->audit);
    free(verify->report.parts);
    verify->report.parts = NULL;
    verify->report.part_count = 0;
}
