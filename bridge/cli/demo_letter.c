#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/arena.h"
#include "agentwire/crypto.h"
#include "agentwire/envelope.h"
#include "agentwire/field.h"
#include "bridge/cli/demo_audit.h"
#include "bridge/core/dead_letter.h"

#define MEMORY_MAX (1024u * 1024u)
#define TEXT_MAX   512u

/* A dead letter, taken apart. */
typedef struct letter {
    ab_demo_audit_t *audit;
    const ab_demo_record_t *planned;
    const ab_full_record_t *record;
    aw_arena_t *memory;
    aw_span_t detail;
    bool right;
} letter_t;

static void differ(letter_t *letter, const char *what)
{
    const ab_record_t *output = &letter->record->record;
    const ab_record_t *source = &letter->planned->message.record;
    ab_demo_audit_note(letter->audit,
                       "%s:%" PRId32 ":%" PRId64 ", from %s:%" PRId32 ":%" PRId64 ": %s",
                       output->topic, output->partition, output->offset, source->topic,
                       source->partition, source->offset, what);
    letter->right = false;
}

static void expect(letter_t *letter, bool right, const char *what)
{
    if (!right) {
        differ(letter, what);
    }
}

/* The message, where the bytes are its deterministic encoding; else NULL. */
static const aw_message_t *decode(letter_t *letter, aw_message_type_t type, aw_span_t bytes)
{
    const aw_message_t *message;
    aw_span_t again;
    if (aw_message_decode(type, bytes, letter->memory, &message, NULL) != AW_OK ||
        aw_message_encode(message, letter->memory, &again) != AW_OK ||
        !aw_span_equal(bytes, again)) {
        return NULL;
    }
    return message;
}

static aw_value_t value_of(const aw_message_t *message, uint32_t number)
{
    aw_field_t field;
    aw_value_t value = {.kind = AW_KIND_BYTES};
    if (aw_field_get(aw_message_type(message), number, &field)) {
        value = aw_message_value(message, &field, 0);
    }
    return value;
}

/* Envelope, external_event, ActivationErrorRecord; leaves the detail. */
static void check_value(letter_t *letter)
{
    const ab_demo_record_t *planned = letter->planned;
    aw_envelope_view_t view = {0};
    if (aw_envelope_scan(letter->record->record.value, &view, NULL) != AW_OK ||
        view.variant != AW_VARIANT_EXTERNAL_EVENT ||
        decode(letter, AW_MESSAGE_AGENT_ENVELOPE, letter->record->record.value) == NULL) {
        differ(letter, "is no deterministic AgentEnvelope with an external_event");
        return;
    }
    const aw_message_t *error =
        decode(letter, AW_MESSAGE_ACTIVATION_ERROR_RECORD, view.external_event);
    if (error == NULL) {
        differ(letter, "holds no deterministic ActivationErrorRecord");
        return;
    }
    expect(letter,
           aw_span_equal(view.entity_key, planned->entity_key) &&
               aw_span_equal(value_of(error, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY).as.bytes,
                             planned->entity_key),
           "the entity_key differs");
    expect(letter,
           view.event_time_ms == planned->event_time_ms &&
               value_of(error, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS).as.int64 ==
                   planned->event_time_ms,
           "the event_time_ms differs");
    expect(letter,
           aw_span_equal(value_of(error, AW_FIELD_ACTIVATION_ERROR_RECORD_REASON).as.bytes,
                         aw_span_text_view(ab_reason_code(planned->reason))),
           "the reason differs");
    letter->detail = value_of(error, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL).as.bytes;
}

static bool text_is(const json_t *object, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, key));
    return wanted == NULL ? text == NULL : text != NULL && strcmp(text, wanted) == 0;
}

static void check_detail(letter_t *letter, const json_t *detail)
{
    const ab_record_t *source = &letter->planned->message.record;
    const json_t *size = json_object_get(detail, "size");
    char text[TEXT_MAX];
    char sha256[AW_SHA256_HEX_SIZE] = "";
    char *canonical = json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS);
    expect(letter,
           canonical != NULL && aw_span_equal(letter->detail, aw_span_text_view(canonical)) &&
               letter->detail.size <= AB_LETTER_DETAIL_MAX,
           "the detail is no canonical JSON of at most 4096 bytes");
    free(canonical);
    (void)snprintf(text, sizeof(text), "%s:%" PRId32 ":%" PRId64, source->topic, source->partition,
                   source->offset);
    expect(letter, text_is(detail, "source", text), "the detail names another source");
    expect(letter, json_integer_value(json_object_get(detail, "v")) == AB_LETTER_VERSION,
           "the detail is of another version");
    expect(letter, json_string_length(json_object_get(detail, "text")) > 0,
           "the detail has no text");
    if (source->value.data == NULL) {
        expect(letter, size == NULL && text_is(detail, "sha256", NULL),
               "the detail describes a value where there is none");
        return;
    }
    expect(letter,
           json_is_integer(size) && json_integer_value(size) == (json_int_t)source->value.size,
           "the detail has another size");
    expect(letter,
           aw_sha256_hex(source->value, sha256) == AW_OK && text_is(detail, "sha256", sha256),
           "the detail has another sha256");
}

/* The hops of the record's last header that counts them, "0" without one. */
static aw_span_t hops_of(const ab_full_record_t *record)
{
    aw_span_t hops = aw_span_text_view("0");
    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, AB_HEADER_HOPS) == 0) {
            hops = record->headers[i].value;
        }
    }
    return hops;
}

/* Every header, in this order; the text is the detail's. */
static void check_headers(letter_t *letter, const char *text)
{
    const ab_record_t *source = &letter->planned->message.record;
    const bool has_value = source->value.data != NULL;
    char partition[24], offset[24], size[24], timestamp[24], place[AB_SOURCE_TEXT_MAX];
    char sha256[AW_SHA256_HEX_SIZE] = "";
    (void)snprintf(partition, sizeof(partition), "%" PRId32, source->partition);
    (void)snprintf(offset, sizeof(offset), "%" PRId64, source->offset);
    (void)snprintf(size, sizeof(size), "%zu", source->value.size);
    (void)snprintf(timestamp, sizeof(timestamp), "%" PRId64, source->timestamp_ms);
    (void)snprintf(place, sizeof(place), "%s:%s:%s:%s", source->topic, partition, offset,
                   timestamp);
    if (has_value && aw_sha256_hex(source->value, sha256) != AW_OK) {
        differ(letter, "its value cannot be hashed: memory ran out");
        return;
    }
    const struct {
        const char *name;
        aw_span_t value;
        bool there;
    } wanted[] = {
        {AB_HEADER_DLQ_TOPIC, aw_span_text_view(source->topic), true},
        {AB_HEADER_DLQ_PARTITION, aw_span_text_view(partition), true},
        {AB_HEADER_DLQ_OFFSET, aw_span_text_view(offset), true},
        {AB_HEADER_DLQ_GROUP, aw_span_text_view(AB_DEMO_GROUP), true},
        {AB_HEADER_DLQ_MESSAGE, aw_span_text_view(text), true},
        {AB_HEADER_REASON, aw_span_text_view(ab_reason_code(letter->planned->reason)), true},
        {AB_HEADER_HOPS, hops_of(&letter->planned->message), true},
        {AB_HEADER_SHA256, aw_span_text_view(sha256), has_value},
        {AB_HEADER_VALUE_SIZE, aw_span_text_view(size), has_value},
        {AB_HEADER_TIMESTAMP, aw_span_text_view(timestamp), true},
        {AB_HEADER_TIMESTAMP_TYPE, aw_span_text_view("create"), true},
        {AB_HEADER_SOURCE, aw_span_text_view(place), true},
    };
    size_t next = 0;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (!wanted[i].there) {
            continue;
        }
        const ab_header_t *header = &letter->record->headers[next];
        if (next++ >= letter->record->header_count || strcmp(header->name, wanted[i].name) != 0 ||
            !aw_span_equal(header->value, wanted[i].value)) {
            char line[TEXT_MAX];
            (void)snprintf(line, sizeof(line), "header %zu is not the right %s", next,
                           wanted[i].name);
            differ(letter, line);
            return;
        }
    }
    expect(letter, next == letter->record->header_count, "has headers too many");
}

bool ab_demo_letter_check(ab_demo_audit_t *audit, const ab_demo_record_t *planned,
                          const ab_full_record_t *record)
{
    letter_t letter = {.audit = audit, .planned = planned, .record = record, .right = true};
    letter.memory = aw_arena_new(MEMORY_MAX);
    if (letter.memory == NULL) {
        differ(&letter, "cannot be checked: memory ran out");
        return false;
    }
    check_value(&letter);
    if (letter.right) {
        json_t *detail = json_loadb((const char *)letter.detail.data, letter.detail.size,
                                    JSON_REJECT_DUPLICATES, NULL);
        const char *text = json_string_value(json_object_get(detail, "text"));
        check_detail(&letter, detail);
        check_headers(&letter, text != NULL ? text : "");
        json_decref(detail);
    }
    aw_arena_free(letter.memory);
    return letter.right;
}
