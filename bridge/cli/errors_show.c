#include "bridge/cli/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/crypto.h"
#include "agentwire/status.h"
#include "bridge/cli/inspect.h"
#include "bridge/cli/record_json.h"
#include "bridge/cli/select.h"
#include "bridge/core/dead_letter.h"

/* The quarantine record is written right after its letter; clocks and batches may turn that round
 * by this much. */
#define AROUND_MS 60000

/* What must be remembered of the letter while other records are read. */
typedef struct known {
    ab_coordinates_t at;
    char source[AB_SOURCE_TEXT_MAX];
    char sha256[AW_SHA256_HEX_SIZE]; /* "" for a tombstone */
    int64_t written_ms;
    bool has_time;
} known_t;

static bool header_is(const ab_full_record_t *record, const char *name, const char *text)
{
    const ab_header_t *header = ab_header_last(record, name);
    return header != NULL && aw_span_equal(header->value, aw_span_text_view(text));
}

static void copy_header(const ab_full_record_t *record, const char *name, char *ret_text,
                        size_t room)
{
    const ab_header_t *header = ab_header_last(record, name);
    const size_t size = header != NULL && header->value.data != NULL ? header->value.size : 0;
    ret_text[0] = '\0';
    if (size > 0 && size < room) {
        memcpy(ret_text, header->value.data, size);
        ret_text[size] = '\0';
    }
}

static bool is_original(const ab_full_record_t *record, const known_t *known)
{
    char sha256[AW_SHA256_HEX_SIZE];
    if (record->record.value.data == NULL || known->sha256[0] == '\0') {
        return record->record.value.data == NULL && known->sha256[0] == '\0';
    }
    return aw_sha256_hex(record->record.value, sha256) == AW_OK &&
           strcmp(sha256, known->sha256) == 0;
}

static const char *quarantine_of(const ab_config_t *config, const char *source)
{
    for (size_t i = 0; i < config->source_count; i++) {
        if (strcmp(config->sources[i].policy.topic, source) == 0) {
            return config->sources[i].policy.quarantine_topic;
        }
    }
    return NULL;
}

/* In the source, where it still is, else in quarantine. NOTHING where it is in neither, or not
 * whole; the reader's text says more. */
static ab_read_status_t find_original(const ab_config_t *config, ab_reader_t *reader,
                                      const known_t *known, ab_full_record_t *ret_record)
{
    const char *quarantine = quarantine_of(config, known->at.topic);
    ab_read_range_t range = {.has_since = known->has_time};
    ab_read_status_t status = ab_reader_fetch(reader, &known->at, ret_record);
    if (status == AB_READ_OK && is_original(ret_record, known)) {
        return AB_READ_OK;
    }
    if ((status != AB_READ_OK && status != AB_READ_NOTHING && status != AB_READ_MISSING) ||
        quarantine == NULL) {
        return status == AB_READ_OK ? AB_READ_NOTHING : status;
    }
    range.since_ms = known->written_ms > AROUND_MS ? known->written_ms - AROUND_MS : 0;
    ab_reader_clear(reader);
    status = ab_reader_add_topic(reader, quarantine, &range);
    while (status == AB_READ_OK &&
           (status = ab_reader_next(reader, -1, ret_record)) == AB_READ_OK) {
        if (header_is(ret_record, AB_HEADER_SOURCE, known->source) &&
            header_is(ret_record, AB_HEADER_COPY, AB_COPY_TEXT_WHOLE)) {
            return AB_READ_OK;
        }
    }
    return status == AB_READ_END ? AB_READ_NOTHING : status;
}

static void put_letter(aw_json_writer_t *json, const ab_config_t *config,
                       const ab_full_record_t *record, aw_arena_t *arena)
{
    ab_letter_view_t letter;
    ab_letter_read(config, record, arena, &letter);
    ab_json_bytes(json, "detail", letter.detail);
    ab_json_bytes(json, "entity_key", letter.entity_key);
    aw_json_key_text(json, "letter");
    ab_record_json(json, record, AW_MESSAGE_AGENT_ENVELOPE, AB_VALUE_DECODED, arena);
}

/* The original's part; complains where there is none. */
static int put_original(const ab_errors_t *errors, const ab_config_t *config, ab_reader_t *reader,
                        const known_t *known, aw_json_writer_t *json, aw_arena_t *arena)
{
    ab_full_record_t original;
    const ab_read_status_t status = find_original(config, reader, known, &original);
    if (status != AB_READ_OK && status != AB_READ_NOTHING && status != AB_READ_MISSING) {
        return ab_select_complain(&ab_verb_errors, reader, status);
    }
    if (errors->original_as == AB_ORIGINAL_RAW) {
        if (status != AB_READ_OK) {
            (void)fputs("agent-bridge errors: the original is neither in its source nor, whole, in "
                        "quarantine\n",
                        stderr);
            return ab_read_exit_code(AB_READ_NOTHING);
        }
        (void)fwrite(original.record.value.data, 1, original.record.value.size, stdout);
        return AB_CLI_OK;
    }
    aw_json_key_text(json, "original");
    if (status == AB_READ_OK) {
        ab_record_json(json, &original, AW_MESSAGE_AGENT_ENVELOPE,
                       errors->original_as == AB_ORIGINAL_HEX ? AB_VALUE_HEX : AB_VALUE_DECODED,
                       arena);
    } else {
        aw_json_null(json);
    }
    return AB_CLI_OK;
}

static int show(const ab_errors_t *errors, const ab_config_t *config, ab_reader_t *reader,
                aw_arena_t *arena)
{
    ab_full_record_t record;
    aw_json_writer_t json;
    known_t known = {0};
    int64_t source_ms;
    int code = AB_CLI_OK;
    const ab_read_status_t status = ab_reader_fetch(reader, &errors->at, &record);
    if (status != AB_READ_OK) {
        return ab_select_complain(&ab_verb_errors, reader, status);
    }
    aw_json_init_arena(&json, errors->json ? AW_JSON_COMPACT : AW_JSON_INDENTED, arena);
    aw_json_object_open(&json);
    put_letter(&json, config, &record, arena);
    copy_header(&record, AB_HEADER_SOURCE, known.source, sizeof(known.source));
    copy_header(&record, AB_HEADER_SHA256, known.sha256, sizeof(known.sha256));
    known.has_time = record.record.timestamp_type != AB_TIMESTAMP_NONE;
    known.written_ms = record.record.timestamp_ms;
    if (ab_source_parse(aw_span_text_view(known.source), &known.at, &source_ms)) {
        code = put_original(errors, config, reader, &known, &json, arena);
    } else if (errors->original_as == AB_ORIGINAL_RAW) {
        (void)fputs("agent-bridge errors: the record names no source\n", stderr);
        code = ab_read_exit_code(AB_READ_NOTHING);
    }
    if (code != AB_CLI_OK || errors->original_as == AB_ORIGINAL_RAW) {
        return code;
    }
    aw_json_object_close(&json);
    return ab_json_line(&json, stdout);
}

int ab_errors_show(const ab_errors_t *errors, const ab_config_t *config, ab_reader_t *reader)
{
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    if (arena == NULL) {
        (void)fputs("agent-bridge errors: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    const int code = show(errors, config, reader, arena);
    aw_arena_free(arena);
    return code;
}
