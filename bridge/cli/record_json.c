#include "bridge/cli/record_json.h"

#include <inttypes.h>
#include <time.h>

#include "agentwire/status.h"
#include "agentwire/utf8.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"

const char *ab_time_text(int64_t ms, char ret_text[AB_TIME_TEXT_MAX])
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char date[20];
    if (ms < 0 || gmtime_r(&seconds, &parts) == NULL ||
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        (void)snprintf(ret_text, AB_TIME_TEXT_MAX, "-");
    } else {
        (void)snprintf(ret_text, AB_TIME_TEXT_MAX, "%s.%03dZ", date, (int)(ms % 1000));
    }
    return ret_text;
}

const char *ab_record_place(const ab_record_t *record, char ret_text[AB_COORDINATES_TEXT_MAX])
{
    (void)snprintf(ret_text, AB_COORDINATES_TEXT_MAX, "%s:%d:%" PRId64, record->topic,
                   (int)record->partition, record->offset);
    return ret_text;
}

static void put_bytes(aw_json_writer_t *writer, aw_span_t bytes)
{
    if (bytes.data == NULL) {
        aw_json_null(writer);
    } else if (aw_utf8_valid(bytes)) {
        aw_json_string(writer, bytes);
    } else {
        aw_json_object_open(writer);
        aw_json_key_text(writer, "hex");
        aw_json_hex(writer, bytes);
        aw_json_object_close(writer);
    }
}

void ab_json_bytes(aw_json_writer_t *writer, const char *name, aw_span_t bytes)
{
    aw_json_key_text(writer, name);
    put_bytes(writer, bytes);
}

static void put_headers(aw_json_writer_t *writer, const ab_full_record_t *record)
{
    aw_json_key_text(writer, "headers");
    if (record->headers_unreadable) {
        aw_json_text(writer, "unreadable: over 100,000, or damaged");
        return;
    }
    aw_json_array_open(writer);
    for (size_t i = 0; i < record->header_count; i++) {
        aw_json_array_open(writer);
        put_bytes(writer, aw_span_text_view(record->headers[i].name));
        put_bytes(writer, record->headers[i].value);
        aw_json_array_close(writer);
    }
    aw_json_array_close(writer);
}

static void put_refusal(aw_json_writer_t *writer, int status, const aw_error_t *error,
                        aw_span_t value)
{
    aw_json_key_text(writer, "value_error");
    aw_json_object_open(writer);
    if (error->offset >= 0) {
        aw_json_key_text(writer, "at");
        aw_json_int64(writer, error->offset);
    }
    if (error->field[0] != '\0') {
        aw_json_key_text(writer, "field");
        aw_json_text(writer, error->field);
    }
    aw_json_key_text(writer, "reason");
    aw_json_text(writer, aw_status_name(status));
    aw_json_object_close(writer);
    aw_json_key_text(writer, "value_hex");
    aw_json_hex(writer, value);
}

static void put_value(aw_json_writer_t *writer, aw_message_type_t type, aw_span_t value,
                      aw_arena_t *arena)
{
    const aw_message_t *message;
    aw_error_t error = AW_ERROR_INIT;
    if (value.data == NULL) {
        aw_json_key_text(writer, "value");
        aw_json_null(writer);
        return;
    }
    const int status = ab_inspect_decode(type, value, arena, &message, &error);
    if (status != AW_OK) {
        put_refusal(writer, status, &error, value);
        return;
    }
    aw_json_key_text(writer, "value");
    aw_json_message(writer, message, arena);
}

void ab_record_json(aw_json_writer_t *writer, const ab_full_record_t *record,
                    aw_message_type_t type, ab_value_as_t value_as, aw_arena_t *arena)
{
    static const char *const types[] = {"none", "create", "append"};
    const ab_record_t *facts = &record->record;
    char time[AB_TIME_TEXT_MAX];
    aw_json_object_open(writer);
    put_headers(writer, record);
    ab_json_bytes(writer, "key", facts->key);
    aw_json_key_text(writer, "offset");
    aw_json_int64(writer, facts->offset);
    aw_json_key_text(writer, "partition");
    aw_json_int64(writer, facts->partition);
    if (facts->timestamp_type != AB_TIMESTAMP_NONE) {
        aw_json_key_text(writer, "timestamp");
        aw_json_text(writer, ab_time_text(facts->timestamp_ms, time));
        aw_json_key_text(writer, "timestamp_ms");
        aw_json_int64(writer, facts->timestamp_ms);
    }
    aw_json_key_text(writer, "timestamp_type");
    aw_json_text(writer, types[facts->timestamp_type]);
    aw_json_key_text(writer, "topic");
    aw_json_text(writer, facts->topic);
    if (value_as == AB_VALUE_DECODED) {
        put_value(writer, type, facts->value, arena);
    } else if (value_as == AB_VALUE_HEX) {
        aw_json_key_text(writer, "value_hex");
        if (facts->value.data == NULL) {
            aw_json_null(writer);
        } else {
            aw_json_hex(writer, facts->value);
        }
    }
    aw_json_object_close(writer);
}

int ab_json_line(aw_json_writer_t *writer, FILE *out)
{
    aw_span_t text;
    const int status = aw_json_finish(writer, &text);
    if (status != AW_OK) {
        (void)fprintf(stderr, "agent-bridge: a line of JSON cannot be written: %s\n",
                      aw_status_text(status));
        return AB_CLI_FATAL;
    }
    (void)fwrite(text.data, 1, text.size, out);
    (void)fputc('\n', out);
    return AB_CLI_OK;
}
