#include "bridge/cli/verify_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* Topic, partition, offset, NUL. */
#define PLACE_MAX AB_COORDINATES_TEXT_MAX

uint64_t ab_verify_faults(const ab_verify_report_t *report)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < AB_FAULT_COUNT; i++) {
        sum += report->total.faults[i];
    }
    return sum;
}

bool ab_verify_balanced(const ab_audit_counts_t *counts)
{
    return counts->records == counts->routed + counts->answered + counts->dead_lettered +
                                  counts->dropped + counts->expired + counts->missing_outcomes +
                                  counts->unproven;
}

static const char *source_topic(const ab_verify_t *verify, size_t source)
{
    return verify->config->sources[source].policy.topic;
}

/* "topic:partition:offset", or without the offset where there is none. */
static const char *place_text(const char *topic, int32_t partition, int64_t offset,
                              char ret_text[PLACE_MAX])
{
    if (offset >= 0) {
        (void)snprintf(ret_text, PLACE_MAX, "%s:%d:%" PRId64, topic, (int)partition, offset);
    } else {
        (void)snprintf(ret_text, PLACE_MAX, "%s:%d", topic, (int)partition);
    }
    return ret_text;
}

static const char *source_place(const ab_verify_t *verify, const ab_fault_t *fault,
                                char ret_text[PLACE_MAX])
{
    return place_text(source_topic(verify, (size_t)fault->source), fault->source_partition,
                      fault->source_offset, ret_text);
}

static const char *output_place(const ab_verify_t *verify, const ab_fault_t *fault,
                                char ret_text[PLACE_MAX])
{
    return place_text(verify->audit.outputs[fault->output].topic, fault->partition, fault->offset,
                      ret_text);
}

/* ---- words ---- */

void ab_verify_print_fault(const ab_verify_t *verify, const ab_fault_t *fault, FILE *out)
{
    char source[PLACE_MAX], output[PLACE_MAX], parts[AB_FAULT_PARTS_MAX];
    (void)source_place(verify, fault, source);
    (void)output_place(verify, fault, output);
    (void)fprintf(out, "%-10s %s", ab_fault_name(fault->kind), source);
    switch (fault->kind) {
    case AB_FAULT_MISSING:
        (void)fprintf(out, ": nothing of it in %s, where it belongs\n", output);
        break;
    case AB_FAULT_DUPLICATE:
        (void)fprintf(out, ": once more at %s\n", output);
        break;
    case AB_FAULT_ALTERED:
        (void)fprintf(out, ": at %s another %s than it had to have\n", output,
                      ab_fault_parts(fault->parts, parts));
        break;
    case AB_FAULT_REORDERED:
        (void)fprintf(out, ": at %s, behind offset %" PRId64 " of the same key\n", output,
                      fault->behind);
        break;
    case AB_FAULT_UNEXPECTED:
    default:
        (void)fprintf(out, ": named by %s, which this configuration does not write for it\n",
                      output);
        break;
    }
}

static void print_part(const ab_verify_t *verify, const ab_verify_part_t *part, FILE *out)
{
    const ab_audit_counts_t *counts = &part->counts;
    (void)fprintf(out, "%s:%d: ", source_topic(verify, part->source), (int)part->partition);
    if (part->committed < 0) {
        (void)fputs("the group has committed nothing, so that nothing is expected\n", out);
        return;
    }
    (void)fprintf(out,
                  "offsets %" PRId64 " up to %" PRId64 ": %" PRIu64 " records = %" PRIu64
                  " routed + %" PRIu64 " dead-lettered + %" PRIu64 " dropped",
                  part->begin, part->committed, counts->records, counts->routed,
                  counts->dead_lettered, counts->dropped);
    if (counts->answered > 0) {
        (void)fprintf(out, " + %" PRIu64 " answered (not looked at)", counts->answered);
    }
    if (counts->expired > 0) {
        (void)fprintf(out, " + %" PRIu64 " expired", counts->expired);
    }
    if (counts->missing_outcomes > 0) {
        (void)fprintf(out, " + %" PRIu64 " missing", counts->missing_outcomes);
    }
    if (part->first > 0) {
        (void)fprintf(out, "; below %" PRId64 " the source has nothing left", part->first);
    }
    if (part->end > part->committed) {
        (void)fprintf(out, "; %" PRId64 " more are not due yet", part->end - part->committed);
    }
    (void)fputc('\n', out);
}

static void print_note(uint64_t count, const char *text, FILE *out)
{
    if (count > 0) {
        (void)fprintf(out, "%" PRIu64 " %s\n", count, text);
    }
}

static uint64_t redriven(const ab_verify_report_t *report)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < report->part_count; i++) {
        sum += report->parts[i].redriven;
    }
    return sum;
}

void ab_verify_print(const ab_verify_t *verify, const char *fingerprint, FILE *out)
{
    const ab_verify_report_t *report = &verify->report;
    const ab_audit_counts_t *total = &report->total;
    (void)fprintf(out,
                  "config %s, sha256 %s (of group, sources, guarantee, source header, limits, "
                  "errors and snapshots; nothing under kafka, consumer and producer)\n",
                  verify->config->file, fingerprint);
    for (size_t i = 0; i < report->part_count; i++) {
        print_part(verify, &report->parts[i], out);
    }
    print_note(total->rejected, "of the dead-lettered were refused by their topic", out);
    print_note(total->heads, "in quarantine with the beginning of their value alone", out);
    print_note(total->pointers, "in quarantine as a pointer alone", out);
    print_note(report->without_source, "of the routed have no source header, found by content",
               out);
    print_note(redriven(report), "of the records were redriven to their source", out);
    print_note(total->settled, "of the dead-lettered were redriven since", out);
    print_note(report->redriven_direct + total->redriven_direct,
               "in outputs were redriven straight to there", out);
    print_note(report->markers, "markers of redrives in quarantine", out);
    print_note(report->duplicates, "duplicates, which at_least_once allows", out);
    print_note(report->foreign, "foreign: of other writers or other groups", out);
    print_note(report->source_gone, "in outputs whose source record is gone", out);
    print_note(report->not_yet, "in outputs committed since this began", out);
    if (!ab_verify_balanced(total)) {
        (void)fputs("the counts do not balance: this is a bug of verify, please report it\n", out);
    }
    (void)fprintf(out,
                  "%" PRIu64 " records, %" PRIu64 " missing, %" PRIu64 " duplicate, %" PRIu64
                  " altered, %" PRIu64 " reordered, %" PRIu64 " unexpected, %" PRIu64 " expired\n",
                  total->records, total->faults[AB_FAULT_MISSING],
                  total->faults[AB_FAULT_DUPLICATE], total->faults[AB_FAULT_ALTERED],
                  total->faults[AB_FAULT_REORDERED], total->faults[AB_FAULT_UNEXPECTED],
                  total->expired);
}

/* ---- JSON ---- */

static int write_line(json_t *object, FILE *out)
{
    if (object == NULL) {
        return -1;
    }
    const int status = json_dumpf(object, out, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    (void)fputc('\n', out);
    return status;
}

static json_t *parts_json(unsigned parts)
{
    char text[AB_FAULT_PARTS_MAX];
    json_t *list = json_array();
    for (unsigned bit = 1; list != NULL && bit <= AB_PART_OF_PARTITION; bit <<= 1) {
        if ((parts & bit) != 0 &&
            json_array_append_new(list, json_string(ab_fault_parts(bit, text))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int ab_verify_print_fault_json(const ab_verify_t *verify, const ab_fault_t *fault, FILE *out)
{
    char source[PLACE_MAX], output[PLACE_MAX];
    json_t *object = json_pack("{s:s, s:s, s:s}", "fault", ab_fault_name(fault->kind), "source",
                               source_place(verify, fault, source), "output",
                               output_place(verify, fault, output));
    int failed = 0;
    if (object != NULL && fault->kind == AB_FAULT_ALTERED) {
        failed = json_object_set_new(object, "parts", parts_json(fault->parts));
    }
    if (object != NULL && fault->kind == AB_FAULT_REORDERED) {
        failed = json_object_set_new(object, "behind", json_integer(fault->behind));
    }
    if (failed != 0) {
        json_decref(object);
        return -1;
    }
    return write_line(object, out);
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* What the whole and each partition have in common. */
static json_t *counts_json(const ab_audit_counts_t *counts)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "records",
                  number(counts->records), "routed", number(counts->routed), "dead_lettered",
                  number(counts->dead_lettered), "dropped", number(counts->dropped), "expired",
                  number(counts->expired), "lost", number(counts->missing_outcomes), "rejected",
                  number(counts->rejected), "settled", number(counts->settled), "heads",
                  number(counts->heads), "pointers", number(counts->pointers), "balanced",
                  (int)ab_verify_balanced(counts));
    if (object != NULL && counts->answered > 0) {
        (void)json_object_set_new(object, "answered", number(counts->answered));
    }
    for (unsigned i = 0; object != NULL && i < AB_FAULT_COUNT; i++) {
        if (json_object_set_new(object, ab_fault_name((ab_fault_kind_t)i),
                                number(counts->faults[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *part_json(const ab_verify_t *verify, const ab_verify_part_t *part)
{
    json_t *object = counts_json(&part->counts);
    json_t *more =
        json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "topic",
                  source_topic(verify, part->source), "partition", (int)part->partition, "first",
                  json_integer(part->first), "begin", json_integer(part->begin), "committed",
                  part->committed < 0 ? json_null() : json_integer(part->committed), "end",
                  json_integer(part->end), "redriven", number(part->redriven));
    if (object == NULL || more == NULL || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

static json_t *all_parts_json(const ab_verify_t *verify)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < verify->report.part_count; i++) {
        if (json_array_append_new(list, part_json(verify, &verify->report.parts[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int ab_verify_print_json(const ab_verify_t *verify, const char *fingerprint, int exit_code,
                         FILE *out)
{
    const ab_verify_report_t *report = &verify->report;
    json_t *object = counts_json(&report->total);
    json_t *more = json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "config",
        verify->config->file, "config_sha256", fingerprint, "exit_code", exit_code, "outputs",
        number(report->outputs), "without_source", number(report->without_source), "redriven",
        number(redriven(report)), "redriven_direct",
        number(report->redriven_direct + report->total.redriven_direct), "markers",
        number(report->markers), "allowed_duplicates", number(report->duplicates), "foreign",
        number(report->foreign), "source_gone", number(report->source_gone), "not_yet",
        number(report->not_yet), "temporary_bytes", number(report->temporary_bytes), "partitions",
        all_parts_json(verify));
    if (object == NULL || more == NULL || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    if (object == NULL) {
        return -1;
    }
    return write_line(json_pack("{s:o}", "summary", object), out);
}
