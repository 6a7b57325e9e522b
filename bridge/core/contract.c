#include "bridge/core/contract.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "agentwire/field.h"
#include "agentwire/inbox.h"
#include "agentwire/message.h"
#include "agentwire/status.h"
#include "agentwire/tea.h"

/** Takes over where the fault is. What follows the known part is a name out of the event. */
static void place_of(ab_breach_t *breach, int64_t offset, const char *pointer, size_t known)
{
    assert(known < sizeof(breach->field));
    breach->at = offset;
    memcpy(breach->field, pointer, known);
    breach->field[known] = '\0';
}

static void breach_of_tea(ab_breach_t *breach, const aw_tea_result_t *result, const char *kind)
{
    const char *label = aw_tea_label_name(result->label);

    breach->reason = result->outcome == AW_TEA_UNSUPPORTED_VERSION ? AB_REASON_UNSUPPORTED_VERSION
                                                                   : AB_REASON_CONTRACT_VIOLATION;
    place_of(breach, result->offset, result->pointer, result->pointer_known);
    (void)snprintf(breach->text, sizeof(breach->text), "tea %s: %s%s%s: %s", kind,
                   aw_tea_class_name(result->outcome), label[0] != '\0' ? ":" : "", label,
                   label[0] != '\0' ? aw_tea_label_meaning(result->label)
                                    : aw_tea_class_meaning(result->outcome));
}

static int check_tea(aw_span_t event, aw_arena_t *scratch, ab_breach_t *breach)
{
    aw_tea_kind_t kind;
    aw_tea_result_t result;
    int status = aw_tea_check_any(AW_TEA_EDITION_A, event, scratch, &kind, &result);

    if (status != AW_OK) {
        return status;
    }
    if (result.outcome != AW_TEA_OK && result.outcome != AW_TEA_SKIPPABLE) {
        breach_of_tea(breach, &result, aw_tea_kind_name(kind));
    }
    return AW_OK;
}

static int check_session_inbox(aw_span_t event, aw_arena_t *scratch, ab_breach_t *breach)
{
    aw_inbox_result_t result;
    int status = aw_inbox_check(event, scratch, &result);

    if (status != AW_OK || result.outcome == AW_INBOX_CLASS_OK) {
        return status;
    }
    breach->reason = result.outcome == AW_INBOX_CLASS_NEWER_VERSION ? AB_REASON_UNSUPPORTED_VERSION
                                                                    : AB_REASON_CONTRACT_VIOLATION;
    place_of(breach, result.offset, result.pointer, result.pointer_known);
    (void)snprintf(breach->text, sizeof(breach->text), "session_inbox: %s: %s",
                   aw_inbox_class_name(result.outcome), aw_inbox_class_meaning(result.outcome));
    return AW_OK;
}

static void break_activation_error(ab_breach_t *breach, const char *field, const char *text)
{
    breach->reason = AB_REASON_CONTRACT_VIOLATION;
    (void)snprintf(breach->field, sizeof(breach->field), "external_event%s%s",
                   field[0] != '\0' ? "." : "", field);
    (void)snprintf(breach->text, sizeof(breach->text), "activation_error: %s", text);
}

/** The agents' runtime writes its errors so: the record in external_event is about the envelope. */
static int check_activation_error(const aw_envelope_view_t *envelope, aw_arena_t *scratch,
                                  ab_breach_t *breach)
{
    const aw_message_type_t type = AW_MESSAGE_ACTIVATION_ERROR_RECORD;
    const aw_message_t *record;
    aw_error_t error = AW_ERROR_INIT;
    aw_field_t key, time;
    int status = aw_message_decode(type, envelope->external_event, scratch, &record, &error);

    if (status == AW_STATUS_NO_MEMORY || status == AW_STATUS_LIMIT_DECODE_BYTES) {
        return status;
    }
    if (status != AW_OK) {
        break_activation_error(breach, error.field, aw_status_text(status));
        breach->at = error.offset;
        return AW_OK;
    }
    (void)aw_field_get(type, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY, &key);
    (void)aw_field_get(type, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS, &time);
    if (!aw_span_equal(aw_message_value(record, &key, 0).as.bytes, envelope->entity_key)) {
        break_activation_error(breach, "entity_key", "its entity_key is not the envelope's");
    } else if (aw_message_value(record, &time, 0).as.int64 != envelope->event_time_ms) {
        break_activation_error(breach, "event_time_ms", "its event_time_ms is not the envelope's");
    }
    return AW_OK;
}

int ab_contract_check(ab_contract_t contract, const aw_envelope_view_t *envelope,
                      aw_arena_t *scratch, ab_breach_t *ret_breach)
{
    ab_breach_t breach = {.reason = AB_REASON_NONE, .at = -1};
    int status = AW_OK;

    switch (contract) {
    case AB_CONTRACT_OPAQUE:
        break;
    case AB_CONTRACT_TEA:
        status = check_tea(envelope->external_event, scratch, &breach);
        break;
    case AB_CONTRACT_SESSION_INBOX:
        status = check_session_inbox(envelope->external_event, scratch, &breach);
        break;
    case AB_CONTRACT_ACTIVATION_ERROR:
        status = check_activation_error(envelope, scratch, &breach);
        break;
    }
    if (status == AW_STATUS_LIMIT_DECODE_BYTES || status == AW_STATUS_LIMIT_SIZE) {
        breach.reason = AB_REASON_CONTRACT_VIOLATION;
        (void)snprintf(breach.text, sizeof(breach.text),
                       "the check of the contract needs more memory than limits.decode_bytes");
        status = AW_OK;
    }
    assert(status == AW_OK || status == AW_STATUS_NO_MEMORY);
    if (status == AW_OK) {
        *ret_breach = breach;
    }
    return status;
}
