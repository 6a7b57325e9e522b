#include "tests/unit/codec/support.h"

#include <stdio.h>

/* Scans bytes that are an envelope. */
static aw_envelope_view_t view_of(const char *hex)
{
    aw_envelope_view_t view;
    aw_error_t error = AW_ERROR_INIT;
    assert_int_equal(aw_envelope_scan(aw_test_hex(hex), &view, &error), AW_OK);
    assert_int_equal(error.status, AW_OK);
    return view;
}

static void expect_span(aw_span_t span, const char *text)
{
    if (text == NULL) {
        assert_null(span.data);
        assert_int_equal(span.size, 0);
        return;
    }
    assert_non_null(span.data);
    assert_int_equal(span.size, strlen(text));
    assert_memory_equal(span.data, text, span.size);
}

static void test_envelope_empty_bytes_are_one_without_a_payload(void **state)
{
    (void)state;
    aw_envelope_view_t view = view_of("");
    assert_int_equal(view.variant, AW_VARIANT_NONE);
    assert_int_equal(view.event_time_ms, 0);
    assert_int_equal(view.future_number, 0);
    expect_span(view.entity_key, NULL);
    expect_span(view.external_event, NULL);
    expect_span(view.intent_id, NULL);
    expect_span(view.result_entity_key, NULL);
    expect_span(view.request_id, NULL);
    aw_envelope_view_t of_absent;
    assert_int_equal(aw_envelope_scan(AW_SPAN_NULL, &of_absent, NULL), AW_OK);
    assert_int_equal(of_absent.variant, AW_VARIANT_NONE);
}

static void test_envelope_each_variant_shows_its_own_fields(void **state)
{
    (void)state;
    aw_envelope_view_t view = view_of("0a016b 10e807 1a026162");
    assert_int_equal(view.variant, AW_VARIANT_EXTERNAL_EVENT);
    assert_int_equal(view.event_time_ms, 1000);
    expect_span(view.entity_key, "k");
    expect_span(view.external_event, "ab");
    expect_span(view.intent_id, NULL);

    view = view_of("22 0c 0a0169 1202 6b6b 2a01 70 2001");
    assert_int_equal(view.variant, AW_VARIANT_TOOL_RESULT);
    expect_span(view.intent_id, "i");
    expect_span(view.result_entity_key, "kk");
    expect_span(view.external_event, NULL);
    expect_span(view.request_id, NULL);

    view = view_of("2a 08 0a0169 1001 1a0161");
    assert_int_equal(view.variant, AW_VARIANT_APPROVAL);
    expect_span(view.intent_id, "i");
    expect_span(view.result_entity_key, NULL);

    view = view_of("32 03 0a0172");
    assert_int_equal(view.variant, AW_VARIANT_EXPORT_REQUEST);
    expect_span(view.request_id, "r");
    expect_span(view.intent_id, NULL);
}

static void test_envelope_empty_and_absent_fields_differ(void **state)
{
    (void)state;
    aw_envelope_view_t view = view_of("0a00 1a00");
    expect_span(view.entity_key, "");
    expect_span(view.external_event, "");
    assert_int_equal(view.variant, AW_VARIANT_EXTERNAL_EVENT);
    expect_span(view_of("2200").intent_id, NULL);
    expect_span(view_of("22 02 0a00").intent_id, "");
}

static void test_envelope_last_scalar_wins_and_messages_merge(void **state)
{
    (void)state;
    aw_envelope_view_t view = view_of("1001 1002 0a0161 0a0162 22 03 0a0169 22 03 120165");
    assert_int_equal(view.event_time_ms, 2);
    expect_span(view.entity_key, "b");
    expect_span(view.intent_id, "i");
    expect_span(view.result_entity_key, "e");
    expect_span(view_of("22 03 0a0169 22 03 0a016a").intent_id, "j");
    assert_int_equal(view_of("10 ffffffffffffffffff01").event_time_ms, -1);
}

static void test_envelope_another_variant_between_starts_afresh(void **state)
{
    (void)state;
    aw_envelope_view_t view = view_of("22 03 0a0169 2a 00 22 03 120165");
    assert_int_equal(view.variant, AW_VARIANT_TOOL_RESULT);
    expect_span(view.intent_id, NULL);
    expect_span(view.result_entity_key, "e");
    view = view_of("1a0161 22 03 0a0169");
    expect_span(view.external_event, NULL);
    view = view_of("22 03 0a0169 1a0161");
    expect_span(view.external_event, "a");
    expect_span(view.intent_id, NULL);
    /* A payload number under another wire type is no payload. */
    view = view_of("22 03 0a0169 2801 1d01020304 33 34");
    assert_int_equal(view.variant, AW_VARIANT_TOOL_RESULT);
    expect_span(view.intent_id, "i");
    /* Inside of the payload too. */
    expect_span(view_of("22 05 0a0169 0801").intent_id, "i");
    expect_span(view_of("2a 06 0a0169 120161").result_entity_key, NULL);
}

static void test_envelope_future_variant_is_the_first_unknown_number_from_7(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        uint32_t number;
    } cases[] = {
        {"0a0161", 0},
        {"0801 1805", 0},
        {"3a00", 7},
        {"3801", 7},
        {"3d01020304", 7},
        {"3b3c", 7},
        {"3901020304050607 08", 7},
        {"4200 3a00", 8},
        {"22 02 3a00", 0},
        {"f8ffffff0f 01", 536870911},
        {"b200 00", 0},
        {"ba80808000 00", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(view_of(cases[i].hex).future_number, cases[i].number);
    }
}

static void test_envelope_refused_leaves_the_view(void **state)
{
    (void)state;
    aw_envelope_view_t view;
    memset(&view, 0x5a, sizeof view);
    const aw_envelope_view_t before = view;
    static const char *const refused[] = {"0a0161 00", "0a0161 1a05", "22 03 0a01ff",
                                          "00 00000001 0a0161"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_not_equal(aw_envelope_scan(aw_test_hex(refused[i]), &view, NULL), AW_OK);
        assert_memory_equal(&view, &before, sizeof view);
    }
}

static int framed(const char *hex)
{
    aw_envelope_view_t view;
    aw_error_t error = AW_ERROR_INIT;
    int status = aw_envelope_scan(aw_test_guarded(aw_test_hex(hex)), &view, &error);
    assert_int_equal(error.status, status);
    if (status == AW_STATUS_FRAMED_PAYLOAD) {
        assert_int_equal(error.offset, 0);
        assert_string_equal(error.field, "");
    }
    return status;
}

static void test_envelope_behind_a_registry_header_is_framed(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "00 0000002a",                     /* the id alone */
        "00 0000002a 00",                  /* the first message */
        "00 0000002a 0208",                /* [4] */
        "00 0000002a 04 08 00",            /* [4, 0] */
        "00 0000002a 10 0808080808080808", /* eight indexes */
        "00 0000002a 8200 08",             /* an overlong count */
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char hex[128];
        snprintf(hex, sizeof hex, "%s 0a016b 1001 1a0161", headers[i]);
        assert_int_equal(framed(hex), AW_STATUS_FRAMED_PAYLOAD);
        assert_int_equal(framed(headers[i]), AW_STATUS_FRAMED_PAYLOAD);
    }
}

static void test_envelope_what_is_no_registry_header_keeps_its_defect(void **state)
{
    (void)state;
    static const char *const others[] = {
        "00",
        "00 000000",
        "00 0000002a 00 00",                        /* neither from byte 5 nor from byte 6 */
        "00 0000002a 0a05",                         /* what follows is truncated */
        "00 0000002a 12 000000000000000000 0a016b", /* nine indexes */
        "00 0000002a 0308 0a016b",                  /* a negative count */
        "00 0000002a 02",
        "00 0000002a 0280",
        "00 0000002a 808080808080808080808000",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(framed(others[i]), AW_STATUS_DECODE_BAD_TAG);
    }
    assert_int_equal(framed("01 0000002a 0a016b"), AW_STATUS_DECODE_BAD_TAG);
}

static void test_envelope_bare_result_is_told_from_an_envelope(void **state)
{
    (void)state;
    static const char *const results[] = {
        "0a0169 12016b 1809 2001 2a0170 38e807",
        "0a0169 12016b",
        "0a0169 1809",
        "0a0169 2001",
        "0a0169 3801",
        "0a0169 2001 7a0161",
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        assert_true(aw_envelope_looks_like_result(aw_test_guarded(aw_test_hex(results[i]))));
    }
    static const char *const others[] = {
        "",
        "0a0169",                    /* an envelope with a key as well */
        "0a0169 2a0170",             /* an approval as well */
        "12016b 1809",               /* no intent_id */
        "0a00 1809",                 /* an empty one */
        "0a0169 0a00 1809",          /* emptied later */
        "0a016b 10e807 1a0161",      /* an envelope */
        "0a016b 10e807 22030a0169",  /* an envelope with a result */
        "0a0169 12016b 1809 10e807", /* both */
        "0a01ff 1809",               /* refused as a result */
        "0a0169 1809 00",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(aw_envelope_looks_like_result(aw_test_guarded(aw_test_hex(others[i]))));
    }
}

static void test_variant_name_is_the_field_of_the_schema(void **state)
{
    (void)state;
    assert_string_equal(aw_variant_name(AW_VARIANT_NONE), "none");
    assert_string_equal(aw_variant_name(AW_VARIANT_EXTERNAL_EVENT), "external_event");
    assert_string_equal(aw_variant_name(AW_VARIANT_TOOL_RESULT), "tool_result");
    assert_string_equal(aw_variant_name(AW_VARIANT_APPROVAL), "approval");
    assert_string_equal(aw_variant_name(AW_VARIANT_EXPORT_REQUEST), "export_request");
    assert_string_equal(aw_variant_name((aw_variant_t)7), "none");
}

static void test_envelope_view_of_every_golden_input_is_what_decoding_gives(void **state)
{
    (void)state;
    size_t count;
    aw_test_golden_t *golden = aw_test_golden_load(&count);
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (golden[i].type != AW_MESSAGE_AGENT_ENVELOPE || !golden[i].accepted) {
            continue;
        }
        aw_envelope_view_t view;
        assert_int_equal(aw_envelope_scan(golden[i].input, &view, NULL), AW_OK);
        assert_string_equal(aw_variant_name(view.variant), golden[i].variant);
        aw_arena_t *arena = aw_arena_new(0);
        const aw_message_t *message = aw_test_decode(golden[i].type, golden[i].input, arena);
        assert_true(
            aw_span_equal(view.entity_key,
                          aw_test_value(message, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, 0).as.bytes));
        assert_true(view.event_time_ms ==
                    aw_test_value(message, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 0).as.int64);
        aw_arena_free(arena);
        seen++;
    }
    assert_true(seen > 20);
    aw_test_golden_free(golden, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_envelope_empty_bytes_are_one_without_a_payload),
        cmocka_unit_test(test_envelope_each_variant_shows_its_own_fields),
        cmocka_unit_test(test_envelope_empty_and_absent_fields_differ),
        cmocka_unit_test(test_envelope_last_scalar_wins_and_messages_merge),
        cmocka_unit_test(test_envelope_another_variant_between_starts_afresh),
        cmocka_unit_test(test_envelope_future_variant_is_the_first_unknown_number_from_7),
        cmocka_unit_test(test_envelope_refused_leaves_the_view),
        cmocka_unit_test(test_envelope_behind_a_registry_header_is_framed),
        cmocka_unit_test(test_envelope_what_is_no_registry_header_keeps_its_defect),
        cmocka_unit_test(test_envelope_bare_result_is_told_from_an_envelope),
        cmocka_unit_test(test_variant_name_is_the_field_of_the_schema),
        cmocka_unit_test(test_envelope_view_of_every_golden_input_is_what_decoding_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
