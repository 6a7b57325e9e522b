#include "bridge/core/verdict.h"

#include <assert.h>
#include <stdio.h>

#include "agentwire/status.h"
#include "bridge/core/contract.h"

/* Texts of dead letters that say more than the reason's own meaning. Frozen like those. */
static const char TEXT_RECORD_KEY[] = "the record's key is not the envelope's entity_key";
static const char TEXT_RESULT_KEY[] = "tool_result.entity_key is not the envelope's entity_key";
static const char TEXT_BARE_RESULT[] =
    "the value looks like a bare ToolResult: its producer left out the AgentEnvelope around it";

/** The reason for what the scan refused. */
static ab_reason_t reason_of_status(int status)
{
    switch (status) {
    case AW_STATUS_DECODE_TRUNCATED:
        return AB_REASON_DECODE_TRUNCATED;
    case AW_STATUS_DECODE_VARINT:
        return AB_REASON_DECODE_VARINT;
    case AW_STATUS_DECODE_BAD_TAG:
        return AB_REASON_DECODE_BAD_TAG;
    case AW_STATUS_DECODE_WIRE_TYPE:
        return AB_REASON_DECODE_WIRE_TYPE;
    case AW_STATUS_DECODE_GROUP:
        return AB_REASON_DECODE_GROUP;
    case AW_STATUS_INVALID_UTF8:
        return AB_REASON_INVALID_UTF8;
    case AW_STATUS_FRAMED_PAYLOAD:
        return AB_REASON_FRAMED_PAYLOAD;
    case AW_STATUS_LIMIT_SIZE:
        return AB_REASON_OVERSIZED;
    default:
        assert(false && "the scan returned a status outside its contract");
        return AB_REASON_DECODE_TRUNCATED;
    }
}

static void dead_letter(ab_verdict_t *verdict, ab_reason_t reason, const char *field,
                        const char *text)
{
    verdict->outcome = AB_OUTCOME_DEAD_LETTERED;
    verdict->topic = NULL;
    verdict->reason = reason;
    verdict->at = -1;
    (void)snprintf(verdict->field, sizeof(verdict->field), "%s", field);
    (void)snprintf(verdict->text, sizeof(verdict->text), "%s",
                   text != NULL ? text : ab_reason_meaning(reason));
}

/** Check 4. An unknown variant with a route of its own goes on through the checks. */
static bool check_payload(const ab_record_t *record, const aw_envelope_view_t *view,
                          const ab_policy_t *policy, ab_verdict_t *verdict)
{
    ab_route_kind_t unknown = policy->routes[AB_SLOT_UNKNOWN_VARIANT].kind;
    const char *text = NULL;
    char field[16] = "";

    if (view->variant != AW_VARIANT_NONE) {
        return true;
    }
    if (view->future_number != 0 && (unknown == AB_ROUTE_TOPIC || unknown == AB_ROUTE_DROP)) {
        return true;
    }
    if (aw_envelope_looks_like_result(record->value)) {
        text = TEXT_BARE_RESULT;
    }
    if (view->future_number != 0) {
        (void)snprintf(field, sizeof(field), "#%u", view->future_number);
        dead_letter(verdict, AB_REASON_UNKNOWN_VARIANT, field, text);
    } else {
        dead_letter(verdict, AB_REASON_PAYLOAD_NOT_SET, "", text);
    }
    return false;
}

/** Check 5. */
static bool check_keys(const ab_record_t *record, const aw_envelope_view_t *view,
                       const ab_policy_t *policy, ab_verdict_t *verdict)
{
    if (view->entity_key.size == 0) {
        dead_letter(verdict, AB_REASON_MISSING_ENTITY_KEY, "entity_key", NULL);
        return false;
    }
    if (record->key.data == NULL) {
        if (policy->null_key_dead_letter) {
            dead_letter(verdict, AB_REASON_MISSING_RECORD_KEY, "", NULL);
            return false;
        }
        verdict->keyless = true;
        return true;
    }
    if (aw_span_equal(record->key, view->entity_key)) {
        return true;
    }
    /* In a bare ToolResult the intent_id stands where an envelope has its entity_key: a policy that
     * forgives differing keys would send it off under a key that is no entity's. */
    if (aw_envelope_looks_like_result(record->value)) {
        dead_letter(verdict, AB_REASON_KEY_MISMATCH, "entity_key", TEXT_BARE_RESULT);
        return false;
    }
    if (policy->key_mismatch_ignore) {
        return true;
    }
    dead_letter(verdict, AB_REASON_KEY_MISMATCH, "entity_key", TEXT_RECORD_KEY);
    return false;
}

/** Check 6. */
static bool check_ids(const aw_envelope_view_t *view, ab_verdict_t *verdict)
{
    bool result = view->variant == AW_VARIANT_TOOL_RESULT;

    if (!result && view->variant != AW_VARIANT_APPROVAL) {
        return true;
    }
    if (view->intent_id.size == 0) {
        dead_letter(verdict, AB_REASON_MISSING_INTENT_ID,
                    result ? "tool_result.intent_id" : "approval.intent_id", NULL);
        return false;
    }
    /* on_key_mismatch does not reach this far: the record contradicts itself, whatever its key is.
     */
    if (result && view->result_entity_key.size != 0 &&
        !aw_span_equal(view->result_entity_key, view->entity_key)) {
        dead_letter(verdict, AB_REASON_KEY_MISMATCH, "tool_result.entity_key", TEXT_RESULT_KEY);
        return false;
    }
    return true;
}

/** Check 7. The fault's place in the event becomes one in the record's value. */
static int check_contract(const ab_record_t *record, const aw_envelope_view_t *view,
                          const ab_policy_t *policy, aw_arena_t *scratch, ab_verdict_t *verdict)
{
    ab_breach_t breach;
    int status;

    if (view->variant != AW_VARIANT_EXTERNAL_EVENT || policy->contract == AB_CONTRACT_OPAQUE) {
        return AW_OK; /* most records; a breach has room for a text that is not cleared for them */
    }
    status = ab_contract_check(policy->contract, view, scratch, &breach);
    if (status == AW_OK && breach.reason != AB_REASON_NONE) {
        dead_letter(verdict, breach.reason, breach.field, breach.text);
        if (breach.at >= 0) {
            verdict->at = breach.at + (view->external_event.data - record->value.data);
        }
    }
    return status;
}

/** Check 9. */
static void take_route(const aw_envelope_view_t *view, const ab_policy_t *policy,
                       ab_verdict_t *verdict)
{
    const ab_route_t *route = &policy->routes[ab_slot_of_variant(view->variant)];

    switch (route->kind) {
    case AB_ROUTE_TOPIC:
        verdict->outcome = AB_OUTCOME_ROUTED;
        verdict->topic = route->topic;
        break;
    case AB_ROUTE_ANSWER:
        verdict->outcome = AB_OUTCOME_ANSWERED;
        verdict->request_id = view->request_id;
        break;
    case AB_ROUTE_DROP:
        verdict->outcome = AB_OUTCOME_DROPPED;
        break;
    case AB_ROUTE_UNSET: /* the config has none of these; a record is never lost to one */
    case AB_ROUTE_DEAD_LETTER:
        dead_letter(verdict, AB_REASON_ROUTE_REFUSED, aw_variant_name(view->variant), NULL);
        break;
    }
}

static int judge_envelope(const ab_record_t *record, const aw_envelope_view_t *view,
                          const ab_policy_t *policy, aw_arena_t *scratch, ab_verdict_t *verdict)
{
    int status;

    verdict->variant = view->variant;
    verdict->entity_key = view->entity_key;
    verdict->event_time_ms = view->event_time_ms;
    if (!check_payload(record, view, policy, verdict) ||
        !check_keys(record, view, policy, verdict) || !check_ids(view, verdict)) {
        return AW_OK;
    }
    status = check_contract(record, view, policy, scratch, verdict);
    if (status != AW_OK || verdict->outcome == AB_OUTCOME_DEAD_LETTERED) {
        return status;
    }
    if (record->hops > policy->max_hops) {
        dead_letter(verdict, AB_REASON_HOP_LIMIT, "", NULL);
        return AW_OK;
    }
    take_route(view, policy, verdict);
    return AW_OK;
}

int ab_verdict_of(const ab_record_t *record, const ab_policy_t *policy, aw_arena_t *scratch,
                  ab_verdict_t *ret_verdict)
{
    aw_envelope_view_t view;
    aw_error_t error = AW_ERROR_INIT;
    int status;

    ret_verdict->outcome = AB_OUTCOME_DROPPED;
    ret_verdict->variant = AW_VARIANT_NONE;
    ret_verdict->topic = NULL;
    ret_verdict->entity_key = record->key;
    ret_verdict->request_id = AW_SPAN_NULL;
    ret_verdict->event_time_ms =
        record->timestamp_type == AB_TIMESTAMP_NONE ? 0 : record->timestamp_ms;
    ret_verdict->keyless = false;
    ret_verdict->reason = AB_REASON_NONE;
    ret_verdict->at = -1;
    ret_verdict->field[0] = '\0';
    ret_verdict->text[0] = '\0';
    if (record->value.data == NULL) {
        dead_letter(ret_verdict, AB_REASON_TOMBSTONE, "", NULL);
        if (policy->tombstone_drop) {
            ret_verdict->outcome = AB_OUTCOME_DROPPED;
        }
        return AW_OK;
    }
    if (record->value.size > policy->max_value_bytes) {
        dead_letter(ret_verdict, AB_REASON_OVERSIZED, "", NULL);
        return AW_OK;
    }
    status = aw_envelope_scan(record->value, &view, &error);
    if (status != AW_OK) {
        dead_letter(ret_verdict, reason_of_status(status), error.field, error.text);
        ret_verdict->at = error.offset;
        return AW_OK;
    }
    return judge_envelope(record, &view, policy, scratch, ret_verdict);
}

const char *ab_refusal_text(ab_refusal_t refusal)
{
    static const char *const texts[AB_REFUSAL_COUNT] = {
        [AB_REFUSAL_SIZE] = "the record is larger than the output topic's max.message.bytes",
        [AB_REFUSAL_TIMESTAMP] = "the record's timestamp is outside the output topic's range",
        [AB_REFUSAL_RULES] = "the output topic's rules refuse the record",
        [AB_REFUSAL_OTHER] = "the output topic refused the record",
    };

    assert((unsigned)refusal < AB_REFUSAL_COUNT);
    return texts[refusal];
}

void ab_verdict_reject(ab_verdict_t *verdict, const char *text)
{
    dead_letter(verdict, AB_REASON_PRODUCE_REJECTED, "", text);
}

void ab_verdict_refuse_answer(ab_verdict_t *verdict, ab_reason_t reason)
{
    assert(reason == AB_REASON_STATE_UNKNOWN || reason == AB_REASON_STATE_NOT_READY);
    dead_letter(verdict, reason, "", NULL);
}

ab_route_slot_t ab_slot_of_variant(aw_variant_t variant)
{
    switch (variant) {
    case AW_VARIANT_EXTERNAL_EVENT:
        return AB_SLOT_EXTERNAL_EVENT;
    case AW_VARIANT_TOOL_RESULT:
        return AB_SLOT_TOOL_RESULT;
    case AW_VARIANT_APPROVAL:
        return AB_SLOT_APPROVAL;
    case AW_VARIANT_EXPORT_REQUEST:
        return AB_SLOT_EXPORT_REQUEST;
    case AW_VARIANT_NONE:
        break;
    }
    return AB_SLOT_UNKNOWN_VARIANT;
}

const char *ab_outcome_name(ab_outcome_t outcome)
{
    static const char *const names[AB_OUTCOME_COUNT] = {
        [AB_OUTCOME_ROUTED] = "routed",
        [AB_OUTCOME_ANSWERED] = "answered",
        [AB_OUTCOME_DEAD_LETTERED] = "dead_lettered",
        [AB_OUTCOME_DROPPED] = "dropped",
    };

    assert((unsigned)outcome < AB_OUTCOME_COUNT);
    return names[outcome];
}

uint32_t ab_hops_parse(aw_span_t value)
{
    uint64_t number = 0;

    if (value.size == 0) {
        return UINT32_MAX;
    }
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return UINT32_MAX;
        }
        number = number * 10 + (uint64_t)(value.data[i] - '0');
        if (number >= UINT32_MAX) {
            return UINT32_MAX;
        }
    }
    return (uint32_t)number;
}
