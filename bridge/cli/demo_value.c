#include "bridge/cli/demo_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096u

/* splitmix64 */
static uint64_t next_random(ab_demo_maker_t *maker)
{
    uint64_t z = maker->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned ab_demo_pick(ab_demo_maker_t *maker, unsigned count)
{
    return (unsigned)(next_random(maker) % count);
}

uint8_t *ab_demo_take(ab_demo_maker_t *maker, size_t size)
{
    uint8_t *room = aw_arena_alloc(maker->memory, size + 1);
    maker->failed = maker->failed || room == NULL;
    return room;
}

aw_span_t ab_demo_join(ab_demo_maker_t *maker, aw_span_t first, aw_span_t second)
{
    uint8_t *both = ab_demo_take(maker, first.size + second.size);
    if (both == NULL || first.data == NULL || second.data == NULL) {
        return AW_SPAN_NULL;
    }
    memcpy(both, first.data, first.size);
    memcpy(both + first.size, second.data, second.size);
    return aw_span_view(both, first.size + second.size);
}

aw_span_t ab_demo_print(ab_demo_maker_t *maker, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return ab_demo_join(maker, aw_span_view(text, (size_t)size), AB_DEMO_RAW(""));
}

aw_span_t ab_demo_encode(ab_demo_maker_t *maker, aw_builder_t *builder)
{
    const aw_message_t *message;
    aw_span_t bytes;
    if (aw_builder_finish(builder, &message) != AW_OK ||
        aw_message_encode(message, maker->memory, &bytes) != AW_OK) {
        maker->failed = true;
        return AB_DEMO_RAW("");
    }
    return bytes;
}

static void set_message(ab_demo_maker_t *maker, aw_builder_t *envelope, uint32_t number,
                        aw_builder_t *inner)
{
    const aw_message_t *message;
    if (aw_builder_finish(inner, &message) != AW_OK) {
        maker->failed = true;
        return;
    }
    aw_builder_set_message(envelope, number, message);
}

/* ---- envelopes ---- */

void ab_demo_envelope_begin(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                            aw_builder_t *ret_builder)
{
    aw_builder_init(ret_builder, AW_MESSAGE_AGENT_ENVELOPE, maker->memory);
    aw_builder_set_bytes(ret_builder, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, draft->entity_key);
    aw_builder_set_int64(ret_builder, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, draft->event_time_ms);
}

aw_span_t ab_demo_event_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft, aw_span_t event)
{
    aw_builder_t envelope;
    ab_demo_envelope_begin(maker, draft, &envelope);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, event);
    return ab_demo_encode(maker, &envelope);
}

/* What an external_event carries is opaque: text, any bytes, or nothing at all. */
static aw_span_t some_event(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    if (draft->number % 29 == 0) {
        return AB_DEMO_RAW("");
    }
    if (draft->number % 5 == 0) {
        const size_t size = 1 + ab_demo_pick(maker, 1500);
        uint8_t *bytes = ab_demo_take(maker, size);
        for (size_t i = 0; bytes != NULL && i < size; i++) {
            bytes[i] = (uint8_t)next_random(maker);
        }
        return aw_span_view(bytes, size);
    }
    return ab_demo_print(maker, "{\"type\":\"message\",\"n\":%zu}", draft->number);
}

void ab_demo_result_begin(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                          const ab_demo_result_t *parts, aw_builder_t *ret_builder)
{
    aw_builder_init(ret_builder, AW_MESSAGE_TOOL_RESULT, maker->memory);
    aw_builder_set_bytes(ret_builder, AW_FIELD_TOOL_RESULT_INTENT_ID, parts->intent_id);
    aw_builder_set_bytes(ret_builder, AW_FIELD_TOOL_RESULT_ENTITY_KEY, parts->entity_key);
    aw_builder_set_int64(ret_builder, AW_FIELD_TOOL_RESULT_SEQ, (int64_t)draft->number);
    /* 5 is a status of the future: an open enum keeps it. */
    aw_builder_set_enum(ret_builder, AW_FIELD_TOOL_RESULT_STATUS, (int32_t)ab_demo_pick(maker, 6));
    aw_builder_set_bytes(ret_builder, AW_FIELD_TOOL_RESULT_ERROR_MESSAGE, parts->error_message);
}

aw_span_t ab_demo_result_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                               const ab_demo_result_t *parts)
{
    aw_builder_t envelope;
    aw_builder_t result;
    ab_demo_envelope_begin(maker, draft, &envelope);
    ab_demo_result_begin(maker, draft, parts, &result);
    aw_builder_set_bytes(&result, AW_FIELD_TOOL_RESULT_PAYLOAD,
                         ab_demo_print(maker, "{\"rows\":%u}", ab_demo_pick(maker, 100)));
    aw_builder_set_int64(&result, AW_FIELD_TOOL_RESULT_COMPLETED_AT_MS, draft->event_time_ms - 40);
    set_message(maker, &envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, &result);
    return ab_demo_encode(maker, &envelope);
}

aw_span_t ab_demo_approval_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft,
                                 aw_span_t intent_id)
{
    aw_builder_t envelope;
    aw_builder_t approval;
    ab_demo_envelope_begin(maker, draft, &envelope);
    aw_builder_init(&approval, AW_MESSAGE_APPROVAL, maker->memory);
    aw_builder_set_bytes(&approval, AW_FIELD_APPROVAL_INTENT_ID, intent_id);
    aw_builder_set_bool(&approval, AW_FIELD_APPROVAL_APPROVED, ab_demo_pick(maker, 2) == 1);
    aw_builder_set_bytes(&approval, AW_FIELD_APPROVAL_APPROVER, AB_DEMO_RAW("dana"));
    aw_builder_set_int64(&approval, AW_FIELD_APPROVAL_DECIDED_AT_MS, draft->event_time_ms - 7);
    set_message(maker, &envelope, AW_FIELD_AGENT_ENVELOPE_APPROVAL, &approval);
    return ab_demo_encode(maker, &envelope);
}

static aw_span_t request_id(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    return ab_demo_print(maker, "export-%zu", draft->number);
}

static aw_span_t snapshot(ab_demo_maker_t *maker, aw_span_t entity_key, int64_t seq, int64_t at_ms,
                          aw_span_t request)
{
    aw_builder_t builder;
    aw_builder_init(&builder, AW_MESSAGE_STATE_SNAPSHOT, maker->memory);
    aw_builder_set_uint32(&builder, AW_FIELD_STATE_SNAPSHOT_STATE_SCHEMA_VERSION, 1);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY, entity_key);
    aw_builder_set_int64(&builder, AW_FIELD_STATE_SNAPSHOT_SEQ, seq);
    aw_builder_set_int64(&builder, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS, at_ms);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID, request);
    return ab_demo_encode(maker, &builder);
}

/* An unknown field, number 99, which an answer keeps. */
#define STATE_END AB_DEMO_RAW("\x98\x06\x2a")

aw_span_t ab_demo_state_value(ab_demo_maker_t *maker, aw_span_t entity_key, int64_t seq,
                              int64_t at_ms)
{
    return ab_demo_join(maker, snapshot(maker, entity_key, seq, at_ms, AW_SPAN_NULL), STATE_END);
}

aw_span_t ab_demo_answer_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft, bool published,
                               int64_t seq)
{
    const aw_span_t known = snapshot(maker, draft->entity_key, published ? seq : 0,
                                     draft->event_time_ms, request_id(maker, draft));
    return published ? ab_demo_join(maker, known, STATE_END) : known;
}

static aw_span_t export_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    aw_builder_t envelope;
    aw_builder_t request;
    ab_demo_envelope_begin(maker, draft, &envelope);
    aw_builder_init(&request, AW_MESSAGE_STATE_EXPORT_REQUEST, maker->memory);
    aw_builder_set_bytes(&request, AW_FIELD_STATE_EXPORT_REQUEST_REQUEST_ID,
                         request_id(maker, draft));
    set_message(maker, &envelope, AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST, &request);
    return ab_demo_encode(maker, &envelope);
}

aw_span_t ab_demo_intent(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    return ab_demo_print(maker, "intent-%zu", draft->number);
}

aw_span_t ab_demo_value(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    const ab_demo_result_t parts = {
        .intent_id = ab_demo_intent(maker, draft),
        .entity_key = draft->number % 2 == 0 ? draft->entity_key : AW_SPAN_NULL,
        .error_message =
            draft->number % 3 == 0 ? AB_DEMO_RAW("no such table: caf\xc3\xa9s") : AW_SPAN_NULL,
    };
    switch (draft->slot) {
    case AB_SLOT_TOOL_RESULT:
        return ab_demo_result_value(maker, draft, &parts);
    case AB_SLOT_APPROVAL:
        return ab_demo_approval_value(maker, draft, parts.intent_id);
    case AB_SLOT_EXPORT_REQUEST:
        return export_value(maker, draft);
    default:
        return ab_demo_event_value(maker, draft, some_event(maker, draft));
    }
}

aw_span_t ab_demo_uncanonical(ab_demo_maker_t *maker, const ab_demo_draft_t *draft)
{
    switch (draft->number % 6) {
    case 1: /* an unknown field: number 99 */
        return ab_demo_join(maker, draft->value, AB_DEMO_RAW("\x98\x06\x2a"));
    case 2: /* an event_time_ms that is overwritten later, in more bytes than it needs */
        return ab_demo_join(maker, AB_DEMO_RAW("\x10\x81\x80\x00"), draft->value);
    case 3: /* an unknown group around a varint */
        return ab_demo_join(maker, AB_DEMO_RAW("\xa3\x06\x08\x01\xa4\x06"), draft->value);
    default:
        return draft->value;
    }
}
