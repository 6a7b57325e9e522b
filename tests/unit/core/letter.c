#include "tests/unit/core/letter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "agentwire/field.h"

static const aw_message_t *decode(aw_message_type_t type, aw_span_t bytes, aw_arena_t *arena)
{
    const aw_message_t *message;
    aw_span_t again;

    assert_int_equal(aw_message_decode(type, bytes, arena, &message, NULL), AW_OK);
    assert_int_equal(aw_message_encode(message, arena, &again), AW_OK);
    assert_true(aw_span_equal(bytes, again));
    assert_int_equal(aw_message_unknown_size(message), 0);
    return message;
}

static aw_value_t value_of(const aw_message_t *message, uint32_t number)
{
    aw_field_t field;

    assert_true(aw_field_get(aw_message_type(message), number, &field));
    return aw_message_value(message, &field, 0);
}

letter_view_t letter_view(const ab_letter_t *letter, aw_arena_t *arena)
{
    const aw_message_t *envelope = decode(AW_MESSAGE_AGENT_ENVELOPE, letter->value, arena);
    aw_span_t event = value_of(envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT).as.bytes;
    const aw_message_t *record = decode(AW_MESSAGE_ACTIVATION_ERROR_RECORD, event, arena);
    letter_view_t view = {
        .entity_key = value_of(record, AW_FIELD_ACTIVATION_ERROR_RECORD_ENTITY_KEY).as.bytes,
        .reason = value_of(record, AW_FIELD_ACTIVATION_ERROR_RECORD_REASON).as.bytes,
        .detail = value_of(record, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL).as.bytes,
        .event_time_ms = value_of(record, AW_FIELD_ACTIVATION_ERROR_RECORD_EVENT_TIME_MS).as.int64,
    };

    assert_true(aw_span_equal(view.entity_key,
                              value_of(envelope, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY).as.bytes));
    assert_true(aw_span_equal(view.entity_key, letter->key));
    assert_true(view.event_time_ms ==
                value_of(envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS).as.int64);
    return view;
}

size_t letter_size(const ab_letter_t *letter)
{
    size_t size = letter->key.size + letter->value.size;

    for (size_t i = 0; i < letter->header_count; i++) {
        size += strlen(letter->headers[i].name) + letter->headers[i].value.size;
    }
    return size;
}

void assert_same_span(aw_span_t a, aw_span_t b)
{
    if (a.data == NULL || b.data == NULL) {
        assert_ptr_equal(a.data, b.data);
        return;
    }
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

void assert_span_text(aw_span_t span, const char *text)
{
    assert_int_equal(span.size, strlen(text));
    assert_memory_equal(span.data, text, span.size);
}

void assert_header(const ab_letter_t *letter, size_t index, const char *name, const char *text)
{
    assert_true(index < letter->header_count);
    assert_string_equal(letter->headers[index].name, name);
    assert_span_text(letter->headers[index].value, text);
}

void assert_letters_equal(const ab_letter_t *a, const ab_letter_t *b)
{
    assert_same_span(a->key, b->key);
    assert_same_span(a->value, b->value);
    assert_int_equal(a->header_count, b->header_count);
    for (size_t i = 0; i < a->header_count; i++) {
        assert_string_equal(a->headers[i].name, b->headers[i].name);
        assert_same_span(a->headers[i].value, b->headers[i].value);
    }
}
