#include "bridge/cli/log_line.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "agentwire/json.h"
#include "bridge/core/text.h"

/** RFC 3339 with milliseconds, NUL included. */
#define TIME_MAX 40

/* The shortened line must always fit: cleaned text holds no control characters, so that JSON at
 * most doubles it (quotes and backslashes). */
_Static_assert(2 * AB_LOG_MESSAGE_MAX + 2 * AB_LOG_TEXT_MAX + 512 <= AB_LOG_LINE_MAX,
               "a line without its fields fits");

static const char *level_name(ab_level_t level)
{
    static const char *const names[] = {
        [AB_LEVEL_ERROR] = "error",
        [AB_LEVEL_WARNING] = "warning",
        [AB_LEVEL_INFO] = "info",
        [AB_LEVEL_DEBUG] = "debug",
    };

    assert((unsigned)level < sizeof(names) / sizeof(names[0]));
    return names[level];
}

static void format_time(int64_t wall_ms, char ret_text[TIME_MAX])
{
    int64_t ms = wall_ms % 1000;
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    size_t size;

    if (ms < 0) {
        ms += 1000;
        seconds--;
    }
    if (gmtime_r(&seconds, &parts) == NULL) {
        (void)snprintf(ret_text, TIME_MAX, "%s", "1970-01-01T00:00:00.000Z");
        return;
    }
    size = strftime(ret_text, TIME_MAX, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(ret_text + size, TIME_MAX - size, ".%03dZ", (int)ms);
}

static void json_clean(aw_json_writer_t *json, const char *text, size_t max)
{
    char clean[AB_LOG_MESSAGE_MAX + 1];
    size_t size;

    assert(max <= AB_LOG_MESSAGE_MAX);
    size = ab_text_clean(aw_span_text_view(text), clean, max + 1);
    aw_json_string(json, aw_span_view(clean, size));
}

static void json_field(aw_json_writer_t *json, const ab_field_t *field)
{
    if (field->kind == AB_FIELD_TEXT && field->text == NULL) {
        return;
    }
    aw_json_key_text(json, field->name);
    switch (field->kind) {
    case AB_FIELD_TEXT:
        json_clean(json, field->text, AB_LOG_TEXT_MAX);
        break;
    case AB_FIELD_NUMBER:
        aw_json_int64(json, field->number);
        break;
    case AB_FIELD_FLAG:
        aw_json_bool(json, field->number != 0);
        break;
    }
}

static int json_line(const ab_log_line_t *line, bool whole, char ret_text[AB_LOG_LINE_MAX],
                     size_t *ret_size)
{
    aw_json_writer_t json;
    aw_span_t text;
    char when[TIME_MAX];
    int status;

    format_time(line->wall_ms, when);
    aw_json_init_buffer(&json, AW_JSON_COMPACT, ret_text, AB_LOG_LINE_MAX - 1);
    aw_json_object_open(&json);
    aw_json_key_text(&json, "ts");
    aw_json_text(&json, when);
    aw_json_key_text(&json, "level");
    aw_json_text(&json, level_name(line->level));
    aw_json_key_text(&json, "event");
    json_clean(&json, line->event, AB_LOG_TEXT_MAX);
    aw_json_key_text(&json, "message");
    json_clean(&json, line->message, AB_LOG_MESSAGE_MAX);
    for (unsigned i = 0; whole && i < line->field_count; i++) {
        json_field(&json, &line->fields[i]);
    }
    if (!whole) {
        json_field(&json, &AB_FLAG("truncated", true));
    }
    if (line->held_back != 0) {
        json_field(&json, &AB_NUMBER("held_back", line->held_back));
    }
    if (line->lost != 0) {
        json_field(&json, &AB_NUMBER("lost_lines", line->lost));
    }
    aw_json_object_close(&json);
    status = aw_json_finish(&json, &text);
    if (status == AW_OK) {
        ret_text[text.size] = '\n';
        *ret_size = text.size + 1;
    }
    return status;
}

size_t ab_log_line_json(const ab_log_line_t *line, char ret_text[AB_LOG_LINE_MAX])
{
    size_t size = 0;

    if (json_line(line, true, ret_text, &size) != AW_OK &&
        json_line(line, false, ret_text, &size) != AW_OK) {
        ret_text[size++] = '\n';
    }
    return size;
}

/** A line of text that grows up to AB_LOG_LINE_MAX - 1 and notes when it would have been longer. */
typedef struct text_line {
    char *text;
    size_t size;
    bool full;
} text_line_t;

static void put(text_line_t *out, const char *text, size_t size)
{
    if (out->full || size > AB_LOG_LINE_MAX - 1 - out->size) {
        out->full = true;
        return;
    }
    memcpy(out->text + out->size, text, size);
    out->size += size;
}

static void put_text(text_line_t *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_clean(text_line_t *out, const char *text, size_t max)
{
    char clean[AB_LOG_MESSAGE_MAX + 1];
    size_t size = ab_text_clean(aw_span_text_view(text), clean, max + 1);

    put(out, clean, size);
}

/** A value, in quotes where a reader would otherwise split it. */
static void put_value(text_line_t *out, const char *text)
{
    char clean[AB_LOG_TEXT_MAX + 1];
    size_t size = ab_text_clean(aw_span_text_view(text), clean, sizeof(clean));

    if (size != 0 && strpbrk(clean, " \"\\=") == NULL) {
        put(out, clean, size);
        return;
    }
    put_text(out, "\"");
    for (size_t i = 0; i < size; i++) {
        if (clean[i] == '"' || clean[i] == '\\') {
            put_text(out, "\\");
        }
        put(out, &clean[i], 1);
    }
    put_text(out, "\"");
}

static void put_field(text_line_t *out, const ab_field_t *field)
{
    char number[AB_DECIMAL_MAX];
    size_t size;

    if (field->kind == AB_FIELD_TEXT && field->text == NULL) {
        return;
    }
    put_text(out, " ");
    put_text(out, field->name);
    put_text(out, "=");
    switch (field->kind) {
    case AB_FIELD_TEXT:
        put_value(out, field->text);
        break;
    case AB_FIELD_NUMBER:
        size = ab_text_decimal(field->number, number);
        put(out, number, size);
        break;
    case AB_FIELD_FLAG:
        put_text(out, field->number != 0 ? "true" : "false");
        break;
    }
}

static bool text_line(const ab_log_line_t *line, bool whole, text_line_t *out)
{
    char when[TIME_MAX];

    out->size = 0;
    out->full = false;
    format_time(line->wall_ms, when);
    put_text(out, when);
    put_text(out, " ");
    put_text(out, level_name(line->level));
    put_text(out, " ");
    put_clean(out, line->event, AB_LOG_TEXT_MAX);
    put_text(out, ": ");
    put_clean(out, line->message, AB_LOG_MESSAGE_MAX);
    for (unsigned i = 0; whole && i < line->field_count; i++) {
        put_field(out, &line->fields[i]);
    }
    if (!whole) {
        put_field(out, &AB_FLAG("truncated", true));
    }
    if (line->held_back != 0) {
        put_field(out, &AB_NUMBER("held_back", line->held_back));
    }
    if (line->lost != 0) {
        put_field(out, &AB_NUMBER("lost_lines", line->lost));
    }
    return !out->full;
}

size_t ab_log_line_text(const ab_log_line_t *line, char ret_text[AB_LOG_LINE_MAX])
{
    text_line_t out = {ret_text, 0, false};

    if (!text_line(line, true, &out)) {
        (void)text_line(line, false, &out);
    }
    ret_text[out.size++] = '\n';
    return out.size;
}
