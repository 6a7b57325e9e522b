#include "bridge/cli/letter.h"

#include <string.h>

#include "agentwire/field.h"
#include "agentwire/message.h"
#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/reason.h"

static aw_span_t header_value(const ab_full_record_t *record, const char *name)
{
    const ab_header_t *header = ab_header_last(record, name);
    return header != NULL && header->value.data != NULL ? header->value : aw_span_view("", 0);
}

static aw_span_t bytes_of(const aw_message_t *message, aw_message_type_t type, uint32_t number)
{
    aw_field_t field;
    if (!aw_field_get(type, number, &field) || aw_message_count(message, &field) == 0) {
        return aw_span_view("", 0);
    }
    return aw_message_value(message, &field, 0).as.bytes;
}

/* The ActivationErrorRecord in the envelope, NULL when the value is none. */
static const aw_message_t *decode(aw_span_t value, aw_arena_t *arena)
{
    const aw_message_t *envelope;
    const aw_message_t *error;
    aw_field_t field;
    if (value.data == NULL ||
        aw_message_decode(AW_MESSAGE_AGENT_ENVELOPE, value, arena, &envelope, NULL) != AW_OK) {
        return NULL;
    }
    if (!aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, &field) ||
        aw_message_count(envelope, &field) == 0) {
        return NULL;
    }
    const int status =
        aw_message_decode(AW_MESSAGE_ACTIVATION_ERROR_RECORD,
                          aw_message_value(envelope, &field, 0).as.bytes, arena, &error, NULL);
    return status == AW_OK ? error : NULL;
}

void ab_letter_read(const ab_config_t *config, const ab_full_record_t *record, aw_arena_t *arena,
                    ab_letter_view_t *ret_letter)
{
    const aw_message_type_t type = AW_MESSAGE_ACTIVATION_ERROR_RECORD;
    const aw_message_t *error = decode(record->record.value, arena);
    int64_t source_ms;
    *ret_letter = (ab_letter_view_t){.source = header_value(record, AB_HEADER_SOURCE),
                                     .reason = header_value(record, AB_HEADER_REASON),
                                     .entity_key = record->record.key,
                                     .detail = aw_span_view("", 0),
                                     .text = header_value(record, AB_HEADER_DLQ_MESSAGE)};
    ret_letter->ours = ret_letter->reason.size > 0 &&
                       aw_span_equal(header_value(record, AB_HEADER_DLQ_GROUP),
                                     aw_span_text_view(config->group)) &&
                       ab_source_parse(ret_letter->source, &ret_letter->at, &source_ms);
    if (error != NULL) {
        ret_letter->readable = true;
        ret_letter->entity_key = bytes_of(error, type, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY);
        ret_letter->detail = bytes_of(error, type, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL);
        if (ret_letter->reason.size == 0) {
            ret_letter->reason = bytes_of(error, type, AW_FIELD_ACTIVATION_ERROR_RECORD_REASON);
        }
    }
    if (ret_letter->text.size == 0) {
        ret_letter->text = ret_letter->detail;
    }
}

const char *ab_letter_state_name(ab_letter_state_t state)
{
    static const char *const names[AB_LETTER_STATE_COUNT] = {"open", "redriven", "unreplayable"};
    return (unsigned)state < AB_LETTER_STATE_COUNT ? names[state] : "";
}

static bool reason_helps(aw_span_t code)
{
    for (int i = 0; i < AB_REASON_COUNT; i++) {
        if (aw_span_equal(code, aw_span_text_view(ab_reason_code((ab_reason_t)i)))) {
            return ab_reason_redrivable((ab_reason_t)i);
        }
    }
    return false;
}

ab_letter_state_t ab_letter_state(const ab_config_t *config, const ab_letter_view_t *letter,
                                  bool marked)
{
    if (marked) {
        return AB_LETTER_REDRIVEN;
    }
    if (!letter->ours || !reason_helps(letter->reason)) {
        return AB_LETTER_UNREPLAYABLE;
    }
    for (size_t i = 0; i < config->source_count; i++) {
        if (strcmp(config->sources[i].policy.topic, letter->at.topic) == 0) {
            return config->sources[i].policy.quarantine_topic != NULL ? AB_LETTER_OPEN
                                                                      : AB_LETTER_UNREPLAYABLE;
        }
    }
    return AB_LETTER_UNREPLAYABLE;
}
