#include "bridge/cli/explain_checks.h"

#include <string.h>

#include "agentwire/status.h"
#include "bridge/cli/record_json.h"

static const char *word_of(ab_check_step_t step)
{
#define WORD(id, word, text) word,
    static const char *const words[] = {AB_CHECK_STEP_LIST(WORD)};
#undef WORD
    return words[step];
}

static const char *question_of(ab_check_step_t step)
{
#define QUESTION(id, word, text) text,
    static const char *const questions[] = {AB_CHECK_STEP_LIST(QUESTION)};
#undef QUESTION
    return questions[step];
}

ab_check_step_t ab_check_step_of(const ab_verdict_t *verdict)
{
    switch (verdict->reason) {
    case AB_REASON_TOMBSTONE:
        return AB_STEP_TOMBSTONE;
    case AB_REASON_OVERSIZED:
        return AB_STEP_SIZE;
    case AB_REASON_DECODE_TRUNCATED:
    case AB_REASON_DECODE_VARINT:
    case AB_REASON_DECODE_BAD_TAG:
    case AB_REASON_DECODE_WIRE_TYPE:
    case AB_REASON_DECODE_GROUP:
    case AB_REASON_INVALID_UTF8:
    case AB_REASON_FRAMED_PAYLOAD:
        return AB_STEP_WIRE;
    case AB_REASON_UNKNOWN_VARIANT:
    case AB_REASON_PAYLOAD_NOT_SET:
        return AB_STEP_PAYLOAD;
    case AB_REASON_MISSING_ENTITY_KEY:
    case AB_REASON_MISSING_RECORD_KEY:
        return AB_STEP_KEYS;
    case AB_REASON_KEY_MISMATCH: /* the field says which two keys differ */
        return strcmp(verdict->field, "tool_result.entity_key") == 0 ? AB_STEP_IDS : AB_STEP_KEYS;
    case AB_REASON_MISSING_INTENT_ID:
        return AB_STEP_IDS;
    case AB_REASON_CONTRACT_VIOLATION:
    case AB_REASON_UNSUPPORTED_VERSION:
        return AB_STEP_CONTRACT;
    case AB_REASON_HOP_LIMIT:
        return AB_STEP_HOPS;
    case AB_REASON_ROUTE_REFUSED:
        return AB_STEP_ROUTE;
    case AB_REASON_NONE:
    case AB_REASON_PRODUCE_REJECTED: /* the verdict was to route; its topic took it not */
    default:
        return AB_STEP_COUNT;
    }
}

static const char *route_text(const ab_policy_t *policy, aw_variant_t variant)
{
    const ab_route_t *route = &policy->routes[ab_slot_of_variant(variant)];
    switch (route->kind) {
    case AB_ROUTE_TOPIC:
        return route->topic;
    case AB_ROUTE_DROP:
        return "drop";
    case AB_ROUTE_DEAD_LETTER:
        return "dead_letter";
    case AB_ROUTE_UNSET:
    default:
        return "not set";
    }
}

static const char *contract_text(ab_contract_t contract)
{
    switch (contract) {
    case AB_CONTRACT_TEA:
        return "tea";
    case AB_CONTRACT_SESSION_INBOX:
        return "session_inbox";
    case AB_CONTRACT_ACTIVATION_ERROR:
        return "activation_error";
    case AB_CONTRACT_OPAQUE:
    default:
        return "opaque";
    }
}

static void put_number(aw_json_writer_t *writer, const char *name, uint64_t number)
{
    aw_json_key_text(writer, name);
    aw_json_uint64(writer, number);
}

static void put_text(aw_json_writer_t *writer, const char *name, const char *text)
{
    aw_json_key_text(writer, name);
    aw_json_text(writer, text);
}

/* What a check looked at; view is what the scan saw, NULL where it refused. */
static void put_seen(aw_json_writer_t *writer, ab_check_step_t step, const ab_record_t *record,
                     const ab_policy_t *policy, const aw_envelope_view_t *view)
{
    switch (step) {
    case AB_STEP_TOMBSTONE:
        put_text(writer, "on_tombstone", policy->tombstone_drop ? "drop" : "dead_letter");
        break;
    case AB_STEP_SIZE:
        put_number(writer, "max_value", policy->max_value_bytes);
        put_number(writer, "size", record->value.size);
        break;
    case AB_STEP_PAYLOAD:
        if (view != NULL && view->future_number != 0) {
            put_number(writer, "future_number", view->future_number);
        }
        put_text(writer, "variant", view != NULL ? aw_variant_name(view->variant) : "none");
        break;
    case AB_STEP_KEYS:
        ab_json_bytes(writer, "entity_key", view != NULL ? view->entity_key : AW_SPAN_NULL);
        ab_json_bytes(writer, "record_key", record->key);
        break;
    case AB_STEP_IDS:
        ab_json_bytes(writer, "intent_id", view != NULL ? view->intent_id : AW_SPAN_NULL);
        ab_json_bytes(writer, "result_entity_key",
                      view != NULL ? view->result_entity_key : AW_SPAN_NULL);
        break;
    case AB_STEP_CONTRACT:
        put_text(writer, "contract", contract_text(policy->contract));
        break;
    case AB_STEP_HOPS:
        put_number(writer, "hops", record->hops);
        put_number(writer, "max_hops", policy->max_hops);
        break;
    case AB_STEP_ROUTE:
        put_text(writer, "route",
                 route_text(policy, view != NULL ? view->variant : AW_VARIANT_NONE));
        break;
    case AB_STEP_WIRE:
    case AB_STEP_COUNT:
    default:
        break;
    }
}

void ab_checks_json(aw_json_writer_t *writer, const ab_record_t *record, const ab_policy_t *policy,
                    const ab_verdict_t *verdict)
{
    const ab_check_step_t ended = ab_check_step_of(verdict);
    aw_envelope_view_t view;
    const bool scanned =
        record->value.data != NULL && aw_envelope_scan(record->value, &view, NULL) == AW_OK;
    aw_json_array_open(writer);
    for (ab_check_step_t step = AB_STEP_TOMBSTONE; step < AB_STEP_COUNT; step++) {
        aw_json_object_open(writer);
        put_text(writer, "asks", question_of(step));
        put_text(writer, "check", word_of(step));
        put_text(writer, "result",
                 step < ended    ? "passed"
                 : step == ended ? "failed"
                                 : "not_reached");
        if (step <= ended) {
            put_seen(writer, step, record, policy, scanned ? &view : NULL);
        }
        aw_json_object_close(writer);
    }
    aw_json_array_close(writer);
}
