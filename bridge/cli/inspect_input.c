#include "bridge/cli/inspect.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "agentwire/field.h"

void ab_inspect_complain(const char *format, ...)
{
    va_list arguments;
    (void)fputs("agent-bridge inspect: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

bool ab_inspect_type(const char *name, aw_message_type_t *ret_type)
{
    aw_message_type_t type;
    if (aw_message_type_find(name, &type) != AW_OK || type >= AW_MESSAGE_TOP_COUNT) {
        return false;
    }
    *ret_type = type;
    return true;
}

/** A field of a message; with message NULL what a message without it gives. */
static aw_value_t value_of(const aw_message_t *message, aw_message_type_t type, uint32_t number)
{
    aw_field_t field;
    bool found = aw_field_get(type, number, &field);
    assert(found);
    return message != NULL ? aw_message_value(message, &field, 0)
                           : (aw_value_t){.kind = field.kind};
}

static aw_span_t bytes_of(const aw_message_t *message, aw_message_type_t type, uint32_t number)
{
    return value_of(message, type, number).as.bytes;
}

/** True when the scan saw what was decoded. */
static bool agree(const aw_envelope_view_t *view, const aw_message_t *envelope)
{
    const aw_message_type_t top = AW_MESSAGE_AGENT_ENVELOPE;
    aw_variant_t variant = ab_inspect_variant(envelope);
    const aw_message_t *payload = NULL;
    if (variant > AW_VARIANT_EXTERNAL_EVENT) {
        payload = value_of(envelope, top, (uint32_t)variant).as.message;
    }
    const aw_message_t *result = variant == AW_VARIANT_TOOL_RESULT ? payload : NULL;
    const aw_message_t *approval = variant == AW_VARIANT_APPROVAL ? payload : NULL;
    const aw_message_t *request = variant == AW_VARIANT_EXPORT_REQUEST ? payload : NULL;
    aw_span_t intent_id =
        approval != NULL ? bytes_of(approval, AW_MESSAGE_APPROVAL, AW_FIELD_APPROVAL_INTENT_ID)
                         : bytes_of(result, AW_MESSAGE_TOOL_RESULT, AW_FIELD_TOOL_RESULT_INTENT_ID);
    return view->variant == variant &&
           view->event_time_ms ==
               value_of(envelope, top, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS).as.int64 &&
           aw_span_equal(view->entity_key,
                         bytes_of(envelope, top, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY)) &&
           aw_span_equal(view->external_event,
                         bytes_of(envelope, top, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT)) &&
           aw_span_equal(view->intent_id, intent_id) &&
           aw_span_equal(view->result_entity_key, bytes_of(result, AW_MESSAGE_TOOL_RESULT,
                                                           AW_FIELD_TOOL_RESULT_ENTITY_KEY)) &&
           aw_span_equal(view->request_id, bytes_of(request, AW_MESSAGE_STATE_EXPORT_REQUEST,
                                                    AW_FIELD_STATE_EXPORT_REQUEST_REQUEST_ID));
}

aw_variant_t ab_inspect_variant(const aw_message_t *envelope)
{
    aw_field_t field;
    for (uint32_t number = 1; aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, number, &field); number++) {
        if (field.oneof && aw_message_count(envelope, &field) > 0) {
            return (aw_variant_t)number;
        }
    }
    return AW_VARIANT_NONE;
}

int ab_inspect_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                      const aw_message_t **ret_message, aw_error_t *error)
{
    if (type != AW_MESSAGE_AGENT_ENVELOPE) {
        return aw_message_decode(type, input, arena, ret_message, error);
    }
    /* The relay goes by the scan, inspect shows what was decoded. The two must agree on every
     * input, and who tests against inspect should see it when they do not. */
    aw_envelope_view_t view;
    const aw_message_t *message;
    int scanned = aw_envelope_scan(input, &view, error);
    int decoded = aw_message_decode(type, input, arena, &message, scanned == AW_OK ? error : NULL);
    if (scanned != AW_OK) {
        assert(decoded != AW_OK);
        return scanned;
    }
    if (decoded == AW_OK) {
        assert(agree(&view, message));
        *ret_message = message;
    }
    return decoded;
}

static void warn_id(const ab_input_t *input, const aw_message_t *message, uint32_t number,
                    size_t width)
{
    aw_field_t field;
    bool found = aw_field_get(aw_message_type(message), number, &field);
    assert(found);
    const size_t size = aw_message_value(message, &field, 0).as.bytes.size;
    if (size != 0 && size != width) {
        ab_inspect_complain("warning: %s: %s has %zu bytes, where trace context has %zu",
                            input->name, field.name, size, width);
    }
}

void ab_inspect_warn_ids(const ab_input_t *input, const aw_message_t *message)
{
    enum { TRACE_ID = 16, SPAN_ID = 8 };
    aw_field_t field;
    switch (aw_message_type(message)) {
    case AW_MESSAGE_TOOL_INTENT:
        warn_id(input, message, AW_FIELD_TOOL_INTENT_TRACE_ID, TRACE_ID);
        break;
    case AW_MESSAGE_TRACE_EVENT:
        warn_id(input, message, AW_FIELD_TRACE_EVENT_TRACE_ID, TRACE_ID);
        warn_id(input, message, AW_FIELD_TRACE_EVENT_SPAN_ID, SPAN_ID);
        warn_id(input, message, AW_FIELD_TRACE_EVENT_PARENT_SPAN_ID, SPAN_ID);
        break;
    case AW_MESSAGE_STATE_SNAPSHOT:
        if (aw_field_get(AW_MESSAGE_STATE_SNAPSHOT, AW_FIELD_STATE_SNAPSHOT_PENDING, &field)) {
            for (size_t i = 0; i < aw_message_count(message, &field); i++) {
                warn_id(input, aw_message_value(message, &field, i).as.message,
                        AW_FIELD_TOOL_INTENT_TRACE_ID, TRACE_ID);
            }
        }
        break;
    default:
        break;
    }
}
