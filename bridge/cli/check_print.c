#include "bridge/cli/check_print.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "bridge/core/text.h"
#include "bridge/kafka/properties.h"

/** Subjects up to this length share a column; a longer one pushes its own text to the right. */
#define SUBJECT_WIDTH_MAX 40
/** Longest subject and text that are printed, bytes with the NUL. */
#define CELL_MAX 1024

static const char *const state_names[AB_CHECK_STATE_COUNT] = {
    [AB_CHECK_OK] = "ok",
    [AB_CHECK_UNKNOWN] = "unknown",
    [AB_CHECK_WARNING] = "warning",
    [AB_CHECK_ERROR] = "error",
};

/** Texts of the brokers are anybody's: they must not move a terminal's cursor. */
static const char *clean(const char *text, char ret_text[CELL_MAX])
{
    (void)ab_text_clean(aw_span_text_view(text), ret_text, CELL_MAX);
    return ret_text;
}

void ab_check_print_table(const ab_check_report_t *report, FILE *out)
{
    char subject[CELL_MAX], text[CELL_MAX];
    size_t width = 1;
    size_t findings = report->counts[AB_CHECK_WARNING] + report->counts[AB_CHECK_ERROR];

    for (size_t i = 0; i < report->count; i++) {
        size_t size = strlen(report->rows[i].subject);

        if (size > width && size <= SUBJECT_WIDTH_MAX) {
            width = size;
        }
    }
    for (size_t i = 0; i < report->count; i++) {
        const ab_check_row_t *row = &report->rows[i];

        (void)fprintf(out, "%-8s %-13s %-*s  %s\n", state_names[row->state], row->check, (int)width,
                      clean(row->subject, subject), clean(row->text, text));
    }
    if (report->outcome != AB_CHECK_CONNECTED) {
        (void)fputs("\nnot connected, so that nothing else could be looked at\n", out);
        return;
    }
    (void)fprintf(out, "\n%zu finding%s (%zu error%s, %zu warning%s)", findings,
                  findings == 1 ? "" : "s", report->counts[AB_CHECK_ERROR],
                  report->counts[AB_CHECK_ERROR] == 1 ? "" : "s", report->counts[AB_CHECK_WARNING],
                  report->counts[AB_CHECK_WARNING] == 1 ? "" : "s");
    (void)fprintf(out, report->counts[AB_CHECK_UNKNOWN] > 0 ? ", %zu unknown\n" : "\n",
                  report->counts[AB_CHECK_UNKNOWN]);
}

static json_t *text_json(const char *text)
{
    char cleaned[CELL_MAX];

    return json_string(clean(text, cleaned));
}

/** One row; NULL when memory is short. */
static json_t *row_json(const ab_check_report_t *report, const ab_check_row_t *row)
{
    json_t *object =
        json_pack("{s:s, s:s, s:o, s:o}", "state", state_names[row->state], "check", row->check,
                  "subject", text_json(row->subject), "text", text_json(row->text));
    json_t *acl = NULL;

    if (object == NULL || row->operation == NULL) {
        return object;
    }
    acl = json_pack("{s:o, s:s, s:s, s:o, s:s}", "principal", text_json(report->principal),
                    "operation", row->operation, "resource_type", row->resource_type, "resource",
                    text_json(row->subject), "pattern", row->prefixed ? "prefixed" : "literal");
    if (json_object_set_new(object, "acl", acl) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *rows_json(const ab_check_report_t *report)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows != NULL && i < report->count; i++) {
        if (json_array_append_new(rows, row_json(report, &report->rows[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

int ab_check_print_json(const ab_check_report_t *report, const char *config, int exit_code,
                        FILE *out)
{
    static const char *const outcomes[] = {
        [AB_CHECK_CONNECTED] = "connected",
        [AB_CHECK_UNREACHABLE] = "unreachable",
        [AB_CHECK_REFUSED] = "refused",
    };
    json_t *object = json_pack("{s:o, s:s, s:i, s:I, s:I, s:I, s:s, s:i, s:o, s:o}", "config",
                               text_json(config), "outcome", outcomes[report->outcome], "exit_code",
                               exit_code, "errors", (json_int_t)report->counts[AB_CHECK_ERROR],
                               "warnings", (json_int_t)report->counts[AB_CHECK_WARNING], "unknown",
                               (json_int_t)report->counts[AB_CHECK_UNKNOWN], "librdkafka",
                               ab_kafka_version(), "brokers", report->brokers, "cluster_id",
                               text_json(report->cluster_id), "rows", rows_json(report));
    int status;

    if (object == NULL) {
        return -1;
    }
    status = json_dumpf(object, out, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    (void)fputc('\n', out);
    return status == 0 || ferror(out) ? 0 : -1;
}
