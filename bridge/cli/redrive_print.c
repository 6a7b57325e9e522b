#include "bridge/cli/redrive_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "bridge/core/text.h"

/** Between two log lines of progress. */
#define LINE_EVERY_MS 5000
#define BAR_WIDTH     30
#define NUMBER_MAX    32

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_written(ab_redrive_fate_t fate)
{
    return fate == AB_REDRIVE_WRITE || fate == AB_REDRIVE_FORCE;
}

/** A number with a comma for each thousand. */
static const char *grouped(uint64_t number, char ret_text[NUMBER_MAX])
{
    char digits[NUMBER_MAX];
    int size = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *end = ret_text;

    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            *end++ = ',';
        }
        *end++ = digits[i];
    }
    *end = '\0';
    return ret_text;
}

static void place_text(const ab_coordinates_t *place, char ret_text[AB_COORDINATES_TEXT_MAX])
{
    (void)snprintf(ret_text, AB_COORDINATES_TEXT_MAX, "%s:%d:%lld", place->topic,
                   (int)place->partition, (long long)place->offset);
}

void ab_redrive_print_clear(ab_redrive_printer_t *printer)
{
    if (printer->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        printer->drawn = false;
    }
}

static void print_left_json(const ab_redrive_left_t *left, const char *place, const char *source)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "record", place, "source", source,
                               "reason", left->reason, "fate", ab_redrive_fate_code(left->fate),
                               "text", ab_redrive_fate_text(left->fate), "more", left->more);

    if (object != NULL && json_dumpf(object, stdout, JSON_COMPACT) == 0) {
        (void)fputc('\n', stdout);
    }
    json_decref(object);
}

void ab_redrive_print_left(void *opaque, const ab_redrive_left_t *left)
{
    ab_redrive_printer_t *printer = opaque;
    char place[AB_COORDINATES_TEXT_MAX];
    char source[AB_COORDINATES_TEXT_MAX] = "";

    if (printer->quiet) {
        return;
    }
    place_text(&left->place, place);
    if (left->source.topic[0] != '\0') {
        ab_coordinates_t cleaned = left->source;

        (void)ab_text_clean(aw_span_text_view(left->source.topic), cleaned.topic,
                            sizeof(cleaned.topic));
        place_text(&cleaned, source);
    }
    if (printer->json) {
        print_left_json(left, place, source);
        return;
    }
    if (++printer->named > AB_REDRIVE_NAMED_MAX) {
        return;
    }
    ab_redrive_print_clear(printer);
    (void)printf("stays: %s%s%s%s%s%s: %s%s%s\n", place, source[0] != '\0' ? " from " : "", source,
                 left->reason[0] != '\0' ? " (" : "", left->reason,
                 left->reason[0] != '\0' ? ")" : "", ab_redrive_fate_text(left->fate),
                 left->more[0] != '\0' ? ": " : "", left->more);
}

static void draw_bar(ab_redrive_printer_t *printer, const ab_redrive_report_t *report)
{
    uint64_t percent = report->offsets > 0 ? report->read * 100 / report->offsets : 100;
    int filled;
    char bar[BAR_WIDTH + 1];
    char read[NUMBER_MAX];
    char offsets[NUMBER_MAX];
    char written[NUMBER_MAX];
    char left[NUMBER_MAX];

    percent = percent > 100 ? 100 : percent;
    filled = (int)(percent * BAR_WIDTH / 100);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %3d%%  read %s of %s, %s %s, left %s", bar, (int)percent,
                  grouped(report->read, read), grouped(report->offsets, offsets),
                  printer->dry_run ? "would write" : "written", grouped(report->written, written),
                  grouped(report->left, left));
    (void)fflush(stderr);
    printer->drawn = true;
}

static void tell_line(ab_redrive_printer_t *printer, const ab_redrive_report_t *report)
{
    const ab_field_t fields[] = {
        AB_TEXT("job", report->job[0] != '\0' ? report->job : NULL),
        AB_NUMBER("offsets", report->offsets),
        AB_NUMBER("read", report->read),
        AB_NUMBER("selected", report->selected),
        AB_NUMBER("written", report->written),
        AB_NUMBER("left", report->left),
        AB_NUMBER("marked", report->marked),
    };
    int64_t now = now_ms();

    if (printer->told_ms == 0) {
        printer->told_ms = now;
    }
    if (printer->log == NULL || now - printer->told_ms < LINE_EVERY_MS) {
        return;
    }
    printer->told_ms = now;
    ab_log_emit(printer->log, AB_LEVEL_INFO, "redrive_progress", "redriving", fields,
                sizeof(fields) / sizeof(fields[0]));
}

void ab_redrive_print_progress(void *opaque, const ab_redrive_report_t *report)
{
    ab_redrive_printer_t *printer = opaque;
    const ab_field_t fields[] = {AB_TEXT("job", report->job)};

    if (!printer->begun && !printer->dry_run) {
        /* Once it is remembered, so that whoever reads it can go on with it. */
        printer->begun = true;
        if (printer->log != NULL) {
            ab_log_emit(printer->log, AB_LEVEL_INFO, "redrive_begun",
                        "the job has begun; if it ends early, --resume goes on with it", fields, 1);
            printer->told_ms = now_ms();
        } else {
            (void)fprintf(stderr, "job %s\n", report->job);
        }
    }
    if (printer->bar) {
        draw_bar(printer, report);
    } else {
        tell_line(printer, report);
    }
}

void ab_redrive_print_counts(ab_redrive_printer_t *printer, const ab_redrive_report_t *report,
                             FILE *out)
{
    ab_redrive_print_clear(printer);
    for (int written = 1; written >= 0; written--) {
        for (size_t i = 0; i < report->count; i++) {
            const ab_redrive_count_t *row = &report->counts[i];
            char number[NUMBER_MAX];

            if (row->records == 0 || is_written(row->fate) != (written == 1)) {
                continue;
            }
            (void)fprintf(out, "%12s  %-24s %s%s%s\n", grouped(row->records, number),
                          row->reason[0] != '\0' ? row->reason : "-",
                          is_written(row->fate) ? "to " : "stays: ",
                          is_written(row->fate) ? row->topic : ab_redrive_fate_text(row->fate),
                          row->fate == AB_REDRIVE_FORCE ? " (does not pass; --force)" : "");
        }
    }
}

static json_t *counts_json(const ab_redrive_report_t *report)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows != NULL && i < report->count; i++) {
        const ab_redrive_count_t *row = &report->counts[i];
        json_t *object;

        if (row->records == 0) {
            continue;
        }
        object = json_pack("{s:s, s:s, s:s*, s:I}", "reason", row->reason, "fate",
                           ab_redrive_fate_code(row->fate), "topic",
                           row->topic[0] != '\0' ? row->topic : NULL, "records",
                           (json_int_t)row->records);
        if (json_array_append_new(rows, object) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static int print_end_json(const ab_redrive_printer_t *printer, const ab_redrive_report_t *report,
                          int code, FILE *out)
{
    json_t *object =
        json_pack("{s:s*, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:i}", "job",
                  printer->begun ? report->job : NULL, "dry_run", printer->dry_run, "complete",
                  report->complete, "selected", (json_int_t)report->selected, "written",
                  (json_int_t)report->written, "left", (json_int_t)report->left, "marked",
                  (json_int_t)report->marked, "timestamp_zero", (json_int_t)report->timestamp_zero,
                  "counts", counts_json(report), "exit_code", code);
    int result = object != NULL ? json_dumpf(object, out, JSON_COMPACT) : -1;

    json_decref(object);
    (void)fputc('\n', out);
    return result;
}

int ab_redrive_print_end(ab_redrive_printer_t *printer, const ab_redrive_report_t *report, int code,
                         FILE *out)
{
    char selected[NUMBER_MAX];
    char written[NUMBER_MAX];
    char left[NUMBER_MAX];
    char marked[NUMBER_MAX];

    ab_redrive_print_clear(printer);
    if (printer->json) {
        return print_end_json(printer, report, code, out);
    }
    if (printer->named > AB_REDRIVE_NAMED_MAX) {
        (void)fprintf(out, "stays: and %s more; --json names all\n",
                      grouped(printer->named - AB_REDRIVE_NAMED_MAX, left));
    }
    (void)fprintf(out, "%s records selected: %s %s, %s left, %s redriven before\n",
                  grouped(report->selected, selected), grouped(report->written, written),
                  printer->dry_run ? "would be written" : "written", grouped(report->left, left),
                  grouped(report->marked, marked));
    if (report->timestamp_zero > 0) {
        (void)fprintf(out,
                      "%s of them have a timestamp of 0, which Kafka's clients cannot send: they "
                      "got the time of writing\n",
                      grouped(report->timestamp_zero, left));
    }
    return 0;
}
