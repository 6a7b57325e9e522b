#include "bridge/core/dead_letter.h"

#include <assert.h>
#include <stdio.h>

#include "agentwire/build.h"
#include "agentwire/crypto.h"
#include "agentwire/json.h"
#include "agentwire/message.h"
#include "bridge/core/text.h"

/** Texts after ab_text_clean(), NUL included: each byte may have become three. */
#define CLEAN_TOPIC_MAX (3 * AB_TOPIC_MAX + 1)
#define CLEAN_FIELD_MAX (3 * AW_ERROR_FIELD_MAX)
#define CLEAN_TEXT_MAX  (3 * AW_ERROR_TEXT_MAX)
/** "output topic NAME: TEXT", NUL included. */
#define MESSAGE_MAX (sizeof("output topic : ") + CLEAN_TOPIC_MAX + CLEAN_TEXT_MAX)
/** "topic:partition:offset", NUL included. */
#define COORDINATES_MAX (CLEAN_TOPIC_MAX + 2 * AB_DECIMAL_MAX)

/* Names, digits and punctuation of the detail take less than 512 bytes. A quote or a backslash is
 * written as two bytes, where three were counted. */
_Static_assert(512 + 3 * AW_SHA256_HEX_SIZE + COORDINATES_MAX + CLEAN_FIELD_MAX + MESSAGE_MAX <
                   AB_LETTER_DETAIL_MAX,
               "the longest detail fits");

/** The texts that headers borrow; in the arena. */
typedef struct letter_texts {
    char partition[AB_DECIMAL_MAX];
    char offset[AB_DECIMAL_MAX];
    char hops[AB_DECIMAL_MAX];
    char value_size[AB_DECIMAL_MAX];
    char timestamp[AB_DECIMAL_MAX];
    char sha256[AW_SHA256_HEX_SIZE];
    char source[AB_SOURCE_TEXT_MAX];
    char message[MESSAGE_MAX];
} letter_texts_t;

static aw_span_t cut_key(aw_span_t key)
{
    return aw_span_view(key.data, key.size < AB_LETTER_KEY_MAX ? key.size : AB_LETTER_KEY_MAX);
}

size_t ab_source_text(const ab_record_t *record, char ret_text[AB_SOURCE_TEXT_MAX])
{
    size_t size = strnlen(record->topic, AB_TOPIC_MAX);

    memcpy(ret_text, record->topic, size);
    ret_text[size++] = ':';
    size += ab_text_decimal(record->partition, ret_text + size);
    ret_text[size++] = ':';
    size += ab_text_decimal(record->offset, ret_text + size);
    ret_text[size++] = ':';
    return size +
           ab_text_decimal(record->timestamp_type == AB_TIMESTAMP_NONE ? -1 : record->timestamp_ms,
                           ret_text + size);
}

static void write_message(const ab_verdict_t *verdict, const char *output_topic,
                          char ret_text[MESSAGE_MAX])
{
    char topic[CLEAN_TOPIC_MAX];
    char text[CLEAN_TEXT_MAX];

    (void)ab_text_clean(aw_span_text_view(verdict->text), text, sizeof(text));
    if (output_topic == NULL) {
        (void)snprintf(ret_text, MESSAGE_MAX, "%s", text);
        return;
    }
    (void)ab_text_clean(aw_span_view(output_topic, strnlen(output_topic, AB_TOPIC_MAX)), topic,
                        sizeof(topic));
    (void)snprintf(ret_text, MESSAGE_MAX, "output topic %s: %s", topic, text);
}

static int write_texts(const ab_record_t *record, const ab_verdict_t *verdict,
                       const char *output_topic, letter_texts_t *texts)
{
    (void)ab_text_decimal(record->partition, texts->partition);
    (void)ab_text_decimal(record->offset, texts->offset);
    (void)ab_text_decimal(record->hops, texts->hops);
    (void)ab_text_decimal((int64_t)record->value.size, texts->value_size);
    (void)ab_text_decimal(record->timestamp_ms, texts->timestamp);
    (void)ab_source_text(record, texts->source);
    write_message(verdict, output_topic, texts->message);
    return aw_sha256_hex(record->value, texts->sha256);
}

static int put_key_facts(aw_json_writer_t *json, aw_span_t key, const char *sha256_name,
                         const char *size_name)
{
    char sha256[AW_SHA256_HEX_SIZE];
    int status;

    if (key.size <= AB_LETTER_KEY_MAX) {
        return AW_OK;
    }
    status = aw_sha256_hex(key, sha256);
    if (status != AW_OK) {
        return status;
    }
    aw_json_key_text(json, sha256_name);
    aw_json_text(json, sha256);
    aw_json_key_text(json, size_name);
    aw_json_uint64(json, key.size);
    return AW_OK;
}

static void put_source(aw_json_writer_t *json, const ab_record_t *record,
                       const letter_texts_t *texts)
{
    char topic[CLEAN_TOPIC_MAX];
    char source[COORDINATES_MAX];

    (void)ab_text_clean(aw_span_view(record->topic, strnlen(record->topic, AB_TOPIC_MAX)), topic,
                        sizeof(topic));
    (void)snprintf(source, sizeof(source), "%s:%s:%s", topic, texts->partition, texts->offset);
    aw_json_key_text(json, "source");
    aw_json_text(json, source);
}

/** Canonical JSON: the members in ascending order. */
static int write_detail(const ab_record_t *record, const ab_verdict_t *verdict,
                        const letter_texts_t *texts, char ret_buffer[AB_LETTER_DETAIL_MAX],
                        aw_span_t *ret_detail)
{
    aw_json_writer_t json;
    char field[CLEAN_FIELD_MAX];
    int status;

    aw_json_init_buffer(&json, AW_JSON_COMPACT, ret_buffer, AB_LETTER_DETAIL_MAX);
    aw_json_object_open(&json);
    if (verdict->at >= 0) {
        aw_json_key_text(&json, "at");
        aw_json_int64(&json, verdict->at);
    }
    status = put_key_facts(&json, verdict->entity_key, "entity_key_sha256", "entity_key_size");
    if (status != AW_OK) {
        return status;
    }
    if (verdict->field[0] != '\0') {
        (void)ab_text_clean(aw_span_text_view(verdict->field), field, sizeof(field));
        aw_json_key_text(&json, "field");
        aw_json_text(&json, field);
    }
    status = put_key_facts(&json, record->key, "record_key_sha256", "record_key_size");
    if (status != AW_OK) {
        return status;
    }
    if (record->value.data != NULL) {
        aw_json_key_text(&json, "sha256");
        aw_json_text(&json, texts->sha256);
        aw_json_key_text(&json, "size");
        aw_json_uint64(&json, record->value.size);
    }
    put_source(&json, record, texts);
    aw_json_key_text(&json, "text");
    aw_json_text(&json, texts->message);
    aw_json_key_text(&json, "v");
    aw_json_int64(&json, AB_LETTER_VERSION);
    aw_json_object_close(&json);
    status = aw_json_finish(&json, ret_detail);
    assert(status == AW_OK); /* every text is clean and bounded, and the bounds fit */
    return status;
}

static int encode_error_record(const ab_verdict_t *verdict, aw_span_t entity_key, aw_span_t detail,
                               aw_arena_t *arena, aw_span_t *ret_bytes)
{
    aw_builder_t builder;
    const aw_message_t *message;
    int status;

    aw_builder_init(&builder, AW_MESSAGE_ACTIVATION_ERROR_RECORD, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY, entity_key);
    aw_builder_set_bytes(&builder, AW_FIELD_ACTIVATION_ERROR_RECORD_REASON,
                         aw_span_text_view(ab_reason_code(verdict->reason)));
    aw_builder_set_bytes(&builder, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL, detail);
    aw_builder_set_int64(&builder, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS,
                         verdict->event_time_ms);
    status = aw_builder_finish(&builder, &message);
    return status != AW_OK ? status : aw_message_encode(message, arena, ret_bytes);
}

static int encode_envelope(const ab_verdict_t *verdict, aw_span_t entity_key, aw_span_t event,
                           aw_arena_t *arena, aw_span_t *ret_bytes)
{
    aw_builder_t builder;
    const aw_message_t *message;
    int status;

    aw_builder_init(&builder, AW_MESSAGE_AGENT_ENVELOPE, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, entity_key);
    aw_builder_set_int64(&builder, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, verdict->event_time_ms);
    aw_builder_set_bytes(&builder, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, event);
    status = aw_builder_finish(&builder, &message);
    return status != AW_OK ? status : aw_message_encode(message, arena, ret_bytes);
}

static void add_header(ab_letter_t *letter, const char *name, const char *text)
{
    assert(letter->header_count < AB_LETTER_HEADERS_MAX);
    letter->headers[letter->header_count++] = (ab_header_t){name, aw_span_text_view(text)};
}

/** In this order, which is part of the format. */
static void add_headers(const ab_record_t *record, const ab_verdict_t *verdict, const char *group,
                        const letter_texts_t *texts, ab_letter_t *letter)
{
    add_header(letter, AB_HEADER_DLQ_TOPIC, record->topic);
    add_header(letter, AB_HEADER_DLQ_PARTITION, texts->partition);
    add_header(letter, AB_HEADER_DLQ_OFFSET, texts->offset);
    add_header(letter, AB_HEADER_DLQ_GROUP, group);
    add_header(letter, AB_HEADER_DLQ_MESSAGE, texts->message);
    add_header(letter, AB_HEADER_REASON, ab_reason_code(verdict->reason));
    add_header(letter, AB_HEADER_HOPS, texts->hops);
    if (record->value.data != NULL) {
        add_header(letter, AB_HEADER_SHA256, texts->sha256);
        add_header(letter, AB_HEADER_VALUE_SIZE, texts->value_size);
    }
    if (record->timestamp_type != AB_TIMESTAMP_NONE) {
        add_header(letter, AB_HEADER_TIMESTAMP, texts->timestamp);
        add_header(letter, AB_HEADER_TIMESTAMP_TYPE,
                   record->timestamp_type == AB_TIMESTAMP_APPEND ? "append" : "create");
    }
    add_header(letter, AB_HEADER_SOURCE, texts->source);
}

int ab_dead_letter_build(const ab_record_t *record, const ab_verdict_t *verdict, const char *group,
                         const char *output_topic, aw_arena_t *arena, ab_letter_t *ret_letter)
{
    letter_texts_t *texts = aw_arena_alloc(arena, sizeof(*texts));
    aw_span_t key = cut_key(verdict->entity_key);
    char buffer[AB_LETTER_DETAIL_MAX];
    ab_letter_t letter = {.key = key.size != 0 ? key : AW_SPAN_NULL};
    aw_span_t detail;
    aw_span_t event;
    int status;

    assert(verdict->outcome == AB_OUTCOME_DEAD_LETTERED && verdict->reason != AB_REASON_NONE);
    if (texts == NULL) {
        return aw_arena_status(arena);
    }
    status = write_texts(record, verdict, output_topic, texts);
    if (status == AW_OK) {
        status = write_detail(record, verdict, texts, buffer, &detail);
    }
    if (status == AW_OK) {
        status = encode_error_record(verdict, key, detail, arena, &event);
    }
    if (status == AW_OK) {
        status = encode_envelope(verdict, key, event, arena, &letter.value);
    }
    if (status != AW_OK) {
        return status;
    }
    add_headers(record, verdict, group, texts, &letter);
    *ret_letter = letter;
    return AW_OK;
}
