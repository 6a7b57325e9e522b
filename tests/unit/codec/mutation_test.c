/* Bytes changed by chance, the same on every run: scan, envelope scan and decoder agree on each,
 * nothing is read beyond the end, and what is accepted has one encoding. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS    200000
#define INPUT_MAX 2048

static unsigned outcomes[-AW_STATUS_FRAMED_PAYLOAD + 1];

static void check_envelope(aw_span_t input, int status)
{
    aw_envelope_view_t view;
    aw_error_t error = AW_ERROR_INIT;
    int seen = aw_envelope_scan(input, &view, &error);
    if (seen == AW_STATUS_FRAMED_PAYLOAD) {
        assert_int_equal(status, AW_STATUS_DECODE_BAD_TAG);
        assert_int_equal(input.data[0], 0);
        return;
    }
    assert_int_equal(seen, status);
}

/* What was decoded and what the envelope scan saw are the same. */
static void check_view(aw_span_t input, const aw_message_t *envelope)
{
    aw_envelope_view_t view;
    assert_int_equal(aw_envelope_scan(input, &view, NULL), AW_OK);
    uint32_t set = 0;
    for (uint32_t number = 3; number <= 6; number++) {
        set = aw_test_count(envelope, number) > 0 ? number : set;
    }
    assert_int_equal(view.variant, set);
    assert_true(view.event_time_ms == aw_test_value(envelope, 2, 0).as.int64);
    assert_true(aw_span_equal(view.entity_key, aw_test_value(envelope, 1, 0).as.bytes));
    assert_true(aw_span_equal(view.external_event, aw_test_value(envelope, 3, 0).as.bytes));
    if (set < AW_VARIANT_TOOL_RESULT) {
        assert_null(view.intent_id.data);
        assert_null(view.request_id.data);
        return;
    }
    const aw_message_t *payload = aw_test_value(envelope, set, 0).as.message;
    aw_span_t first = aw_test_value(payload, 1, 0).as.bytes;
    assert_true(
        aw_span_equal(set == AW_VARIANT_EXPORT_REQUEST ? view.request_id : view.intent_id, first));
    if (set == AW_VARIANT_TOOL_RESULT) {
        assert_true(
            aw_span_equal(view.result_entity_key,
                          aw_test_value(payload, AW_FIELD_TOOL_RESULT_ENTITY_KEY, 0).as.bytes));
    }
}

static void check_accepted(aw_message_type_t type, aw_span_t input, const aw_message_t *message,
                           aw_arena_t *arena)
{
    if (type == AW_MESSAGE_AGENT_ENVELOPE) {
        check_view(input, message);
    }
    aw_span_t bytes = AW_SPAN_NULL;
    aw_span_t same = AW_SPAN_NULL;
    const aw_message_t *again = NULL;
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    assert_int_equal(aw_message_decode(type, bytes, arena, &again, NULL), AW_OK);
    assert_int_equal(aw_message_encode(again, arena, &same), AW_OK);
    assert_true(aw_span_equal(bytes, same));
}

static void check(aw_message_type_t type, aw_span_t input, aw_arena_t *arena)
{
    aw_error_t scan_error = AW_ERROR_INIT;
    aw_error_t decode_error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    const int status = aw_message_scan(type, input, &scan_error);
    assert_int_equal(aw_message_decode(type, input, arena, &message, &decode_error), status);
    aw_test_expect_same_error(&decode_error, &scan_error);
    outcomes[-status]++;
    if (type == AW_MESSAGE_AGENT_ENVELOPE) {
        check_envelope(input, status);
    }
    if (status == AW_OK) {
        check_accepted(type, input, message, arena);
        return;
    }
    assert_null(message);
    assert_in_range(scan_error.offset, 0, input.size);
}

static void test_mutation_scan_and_decode_agree_and_encoding_is_a_fixed_point(void **state)
{
    (void)state;
    size_t count;
    aw_test_golden_t *golden = aw_test_golden_load(&count);
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    uint64_t random = 20240817;
    for (int round = 0; round < ROUNDS; round++) {
        const aw_test_golden_t *seed = &golden[aw_test_random(&random) % count];
        uint8_t bytes[INPUT_MAX];
        assert_true(seed->input.size < INPUT_MAX);
        memcpy(bytes, seed->input.data, seed->input.size);
        const size_t size = aw_test_mutate(&random, bytes, seed->input.size, INPUT_MAX);
        /* Now and then as a message that it is not. */
        const uint64_t dice = aw_test_random(&random);
        const aw_message_type_t type =
            dice % 8 == 0 ? (aw_message_type_t)(dice / 8 % AW_MESSAGE_COUNT) : seed->type;
        aw_arena_reset(arena);
        check(type, aw_test_guarded((aw_span_t){bytes, size}), arena);
    }
    for (int status = AW_STATUS_DECODE_TRUNCATED; status >= AW_STATUS_INVALID_UTF8; status--) {
        assert_true(outcomes[-status] > ROUNDS / 1000);
    }
    assert_true(outcomes[AW_OK] > ROUNDS / 10);
    aw_arena_free(arena);
    aw_test_golden_free(golden, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutation_scan_and_decode_agree_and_encoding_is_a_fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
