/* New envelopes: what is built, and what is refused. */
#include "tests/unit/codec/tea_support.h"

#define TIME_MS 1825423711250 /* 2027-11-05T14:08:31.250Z */

#define ID_1 AW_TEST_TEA_ID("1")
#define ID_2 AW_TEST_TEA_ID("2")
#define ID_3 AW_TEST_TEA_ID("3")
#define ID_4 AW_TEST_TEA_ID("4")
#define ID_5 AW_TEST_TEA_ID("5")
#define ID_7 AW_TEST_TEA_ID("7")
#define ID_C AW_TEST_TEA_ID("c")

static aw_span_t span(const char *text)
{
    return aw_span_text_view(text);
}

static const aw_tea_head_t command_head = {.type = "abort",
                                           .id = {(const uint8_t *)ID_1, 36},
                                           .session_id = {(const uint8_t *)ID_2, 36},
                                           .timestamp_ms = TIME_MS};

static void put_empty_object(aw_json_writer_t *json)
{
    aw_json_object_open(json);
    aw_json_object_close(json);
}

static void expect_built(aw_tea_builder_t *builder, const char *expected)
{
    aw_span_t text = AW_SPAN_NULL;
    aw_tea_result_t result;
    int status = aw_tea_builder_finish(builder, &text, &result);
    if (status != AW_OK) {
        fail_msg("%s: %s at %s", aw_status_name(status), aw_test_tea_verdict(&result),
                 result.pointer);
    }
    if (!aw_span_equal(text, span(expected))) {
        fail_msg("%.*s", (int)text.size, (const char *)text.data);
    }
}

static void expect_refused(aw_tea_builder_t *builder, const char *verdict, const char *pointer)
{
    aw_span_t text = span("poison");
    aw_tea_result_t result;
    assert_int_equal(aw_tea_builder_finish(builder, &text, &result), AW_STATUS_INVALID_ARGUMENT);
    assert_string_equal((const char *)text.data, "poison");
    assert_string_equal(aw_test_tea_verdict(&result), verdict);
    assert_string_equal(result.pointer, pointer);
}

static aw_tea_builder_t start(aw_tea_kind_t kind, const aw_tea_head_t *head)
{
    aw_tea_builder_t builder;
    aw_arena_reset(aw_test_tea_arena);
    aw_tea_builder_start(&builder, kind, AW_TEA_EDITION_A, head, aw_test_tea_arena);
    return builder;
}

static void test_build_command_is_canonical(void **state)
{
    (void)state;
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &command_head);
    put_empty_object(&builder.json);
    expect_built(&builder, "{\"commandId\":\"" ID_1 "\",\"payload\":{},"
                           "\"protocolVersion\":\"1.0\",\"sessionId\":\"" ID_2
                           "\",\"timestamp\":\"2027-11-05T14:08:31.250Z\",\"type\":\"abort\"}");
}

static void test_build_event_carries_its_marker_and_metadata(void **state)
{
    (void)state;
    aw_tea_head_t head = command_head;
    head.type = "message_delta";
    head.run_id = span(ID_3);
    head.turn_id = span(ID_4);
    head.sequence = UINT64_MAX;
    aw_tea_builder_t builder = start(AW_TEA_EVENT, &head);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "messageId");
    aw_json_text(&builder.json, ID_5);
    aw_json_key_text(&builder.json, "contentIndex");
    aw_json_uint64(&builder.json, 0);
    aw_json_key_text(&builder.json, "delta");
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "type");
    aw_json_text(&builder.json, "text_delta");
    aw_json_key_text(&builder.json, "text");
    aw_json_text(&builder.json, "Ahoy");
    aw_json_object_close(&builder.json);
    aw_json_object_close(&builder.json);
    aw_tea_builder_metadata(&builder);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "com.kettle");
    aw_json_null(&builder.json);
    aw_json_object_close(&builder.json);
    expect_built(&builder,
                 "{\"compatibility\":\"skippable_observation\",\"eventId\":\"" ID_1
                 "\",\"metadata\":{\"com.kettle\":null},\"payload\":{\"contentIndex\":0,"
                 "\"delta\":{\"text\":\"Ahoy\",\"type\":\"text_delta\"},\"messageId\":\"" ID_5
                 "\"},\"protocolVersion\":\"1.0\",\"runId\":\"" ID_3
                 "\",\"sequence\":\"18446744073709551615\",\"sessionId\":\"" ID_2
                 "\",\"timestamp\":\"2027-11-05T14:08:31.250Z\",\"turnId\":\"" ID_4
                 "\",\"type\":\"message_delta\"}");
}

static void test_build_prompt_of_one_text(void **state)
{
    (void)state;
    aw_tea_head_t head = command_head;
    head.type = "prompt";
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &head);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "message");
    aw_tea_put_user_message(&builder.json, span(ID_7), span("Hi \xf0\x9f\x8d\xb5"), TIME_MS);
    aw_json_object_close(&builder.json);
    expect_built(&builder, "{\"commandId\":\"" ID_1 "\",\"payload\":{\"message\":{\"content\":"
                           "[{\"text\":\"Hi \xf0\x9f\x8d\xb5\",\"type\":\"text\"}],\"id\":\"" ID_7
                           "\",\"timestamp\":\"2027-11-05T14:08:31.250Z\",\"type\":\"user\"}},"
                           "\"protocolVersion\":\"1.0\",\"sessionId\":\"" ID_2
                           "\",\"timestamp\":\"2027-11-05T14:08:31.250Z\",\"type\":"
                           "\"prompt\"}");
}

static void test_build_what_breaks_a_rule_is_refused_with_its_place(void **state)
{
    (void)state;
    aw_tea_head_t head = command_head;
    head.type = "steer";
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &head);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "text");
    aw_json_text(&builder.json, "");
    aw_json_object_close(&builder.json);
    expect_refused(&builder, "invalid:text", "/payload/text");

    head.type = "run_finished"; /* an event's type */
    builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    expect_refused(&builder, "unsupported_type", "/type");

    head = command_head;
    head.id = span("1");
    builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    expect_refused(&builder, "invalid:id", "/commandId");

    head = command_head;
    head.session_id = AW_SPAN_NULL;
    builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    expect_refused(&builder, "invalid:session_presence", "/sessionId");

    builder = start(AW_TEA_COMMAND, &command_head);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "a");
    aw_json_null(&builder.json);
    aw_json_key_text(&builder.json, "a");
    aw_json_null(&builder.json);
    aw_json_object_close(&builder.json);
    expect_refused(&builder, "duplicate_key", "/payload/a");
}

static void test_build_time_outside_four_digit_years_is_refused(void **state)
{
    (void)state;
    aw_tea_head_t head = command_head;
    aw_span_t text = AW_SPAN_NULL;
    head.timestamp_ms = INT64_MAX;
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    assert_int_equal(aw_tea_builder_finish(&builder, &text, NULL), AW_STATUS_INVALID_ARGUMENT);
    assert_null(text.data);
}

static void test_build_ill_formed_text_is_refused(void **state)
{
    (void)state;
    aw_tea_head_t head = command_head;
    aw_span_t text = AW_SPAN_NULL;
    head.session_id = span("\xff");
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    assert_int_equal(aw_tea_builder_finish(&builder, &text, NULL), AW_STATUS_INVALID_UTF8);
    assert_null(text.data);
}

static void test_build_id_is_one_of_the_protocol(void **state)
{
    (void)state;
    static const uint8_t ones[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    char id[AW_TEA_ID_SIZE + 1];
    aw_tea_id_make(0x0198a7c41d01, ones, id);
    assert_string_equal(id, "0198a7c4-1d01-7fff-bfff-ffffffffffff");
    aw_tea_head_t head = command_head;
    head.id = span(id);
    aw_span_t text;
    aw_tea_builder_t builder = start(AW_TEA_COMMAND, &head);
    put_empty_object(&builder.json);
    assert_int_equal(aw_tea_builder_finish(&builder, &text, NULL), AW_OK);
}

#define ERROR_HEAD "{\"protocolVersion\":\"1.0\",\"type\":\"protocol_error\",\"error\":"

static void expect_answer(aw_tea_kind_t kind, const char *text, const char *expected)
{
    aw_tea_result_t result = aw_test_tea_check(kind, AW_TEA_EDITION_A, span(text));
    aw_span_t answer = AW_SPAN_NULL;
    assert_int_equal(aw_tea_error_answer(kind, &result, AW_SPAN_NULL, aw_test_tea_arena, &answer),
                     AW_OK);
    if (!aw_span_equal(answer, span(expected))) {
        fail_msg("%.*s", (int)answer.size, (const char *)answer.data);
    }
    aw_test_tea_expect(AW_TEA_ERROR, AW_TEA_EDITION_A,
                       aw_test_tea_text("%.*s", (int)answer.size, (const char *)answer.data), "ok");
}

static void test_error_answers_are_those_of_the_table(void **state)
{
    (void)state;
    expect_answer(AW_TEA_COMMAND, "{\"protocolVersion\":\"2.7\",\"type\":\"abort\"}",
                  ERROR_HEAD
                  "{\"code\":\"unsupported_protocol_version\",\"message\":\"the protocol "
                  "version is not supported\",\"retry\":\"never\",\"details\":{"
                  "\"dev.tea-rs.protocol\":{\"receivedProtocol\":\"2.7\","
                  "\"supportedProtocol\":\">=1.0 <2.0\"}}}}");
    expect_answer(AW_TEA_COMMAND, "{\"protocolVersion\":\"1.0\",\"type\":\"warp_drive\"}",
                  ERROR_HEAD "{\"code\":\"unsupported_command\",\"message\":\"the command type is "
                             "not known\",\"retry\":\"never\",\"details\":{\"dev.tea-rs.protocol\":"
                             "{\"supportedProtocol\":\">=1.0 <2.0\",\"unsupportedType\":"
                             "\"warp_drive\"}}}}");
    expect_answer(AW_TEA_RECORD, "{\"protocolVersion\":\"1.0\",\"type\":\"warp_drive\"}",
                  ERROR_HEAD
                  "{\"code\":\"unsupported_record\",\"message\":\"the record type is not "
                  "known\",\"retry\":\"never\",\"details\":{\"dev.tea-rs.protocol\":{"
                  "\"supportedProtocol\":\">=1.0 <2.0\",\"unsupportedType\":"
                  "\"warp_drive\"}}}}");
    expect_answer(AW_TEA_COMMAND, "{\"protocolVersion\":\"1.0\",\"type\":\"abort\"}",
                  ERROR_HEAD "{\"code\":\"invalid_command\",\"message\":\"the command is not "
                             "valid\",\"retry\":\"never\"}}");
    expect_answer(AW_TEA_RECORD, "{\"protocolVersion\":\"1.0\",\"type\":\"run_cancelled\"}",
                  ERROR_HEAD "{\"code\":\"invalid_input\",\"message\":\"the record is not valid\","
                             "\"retry\":\"never\"}}");
    expect_answer(AW_TEA_COMMAND, "{",
                  ERROR_HEAD "{\"code\":\"invalid_command\",\"message\":\"the command is not "
                             "valid\",\"retry\":\"never\"}}");
}

/* Whatever a text holds where it should not, its answer repeats none of it. */
static void test_error_answers_carry_nothing_of_the_text(void **state)
{
    (void)state;
    static const char secret[] = "hunter2";
    static const char *const texts[] = {
        "{\"protocolVersion\":\"hunter2\",\"type\":\"abort\"}",
        "{\"protocolVersion\":\"1.0\",\"type\":\"hunter2 \"}",
        "{\"protocolVersion\":\"2.0\",\"type\":\"hunter2\"}",
        "{\"protocolVersion\":\"1.0\",\"type\":\"abort\",\"commandId\":\"hunter2\"}",
        "{\"protocolVersion\":\"1.0\",\"type\":\"abort\",\"hunter2\":1,\"hunter2\":2}",
        "{\"hunter2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        aw_tea_result_t result =
            aw_test_tea_check(AW_TEA_COMMAND, AW_TEA_EDITION_A, span(texts[i]));
        aw_span_t answer;
        assert_int_equal(
            aw_tea_error_answer(AW_TEA_COMMAND, &result, AW_SPAN_NULL, aw_test_tea_arena, &answer),
            AW_OK);
        assert_null(memmem(answer.data, answer.size, secret, sizeof secret - 1));
    }
}

static void test_error_read_and_written_again_loses_all_that_is_not_its_own(void **state)
{
    (void)state;
    static const char *const extras[] = {"stack",   "source", "cause",
                                         "headers", "body",   "authorization"};
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        aw_span_t text = aw_test_tea_text(
            "{\"%s\":\"hunter2\",\"protocolVersion\":\"1.0\",\"type\":\"protocol_error\",\"error\":"
            "{"
            "\"code\":\"internal\",\"%s\":{\"at\":\"hunter2\"},\"message\":\"x\",\"retry\":"
            "\"never\"}}",
            extras[i], extras[i]);
        aw_tea_result_t result;
        aw_span_t canonical;
        aw_arena_reset(aw_test_tea_arena);
        assert_int_equal(aw_tea_canonical(AW_TEA_ERROR, AW_TEA_EDITION_A, text, aw_test_tea_arena,
                                          &result, &canonical),
                         AW_OK);
        assert_true(aw_span_equal(
            canonical,
            span(ERROR_HEAD "{\"code\":\"internal\",\"message\":\"x\",\"retry\":\"never\"}}")));
    }
}

static void test_error_has_an_answer_for_refused_commands_and_records_only(void **state)
{
    (void)state;
    aw_span_t answer = span("poison");
    aw_tea_result_t good = {.outcome = AW_TEA_OK};
    aw_tea_result_t bad = {.outcome = AW_TEA_INVALID, .label = AW_TEA_LABEL_ID};
    static const struct {
        aw_tea_kind_t kind;
        bool is_good;
    } cases[] = {{AW_TEA_COMMAND, true}, {AW_TEA_EVENT, false}, {AW_TEA_ERROR, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(aw_tea_error_answer(cases[i].kind, cases[i].is_good ? &good : &bad,
                                             AW_SPAN_NULL, aw_test_tea_arena, &answer),
                         AW_STATUS_INVALID_ARGUMENT);
        assert_string_equal((const char *)answer.data, "poison");
    }
}

static void test_error_every_code_and_retry_is_built(void **state)
{
    (void)state;
    aw_span_t text;
    for (unsigned code = 0; code < AW_TEA_ERROR_COUNT; code++) {
        for (unsigned retry = 0; retry < AW_TEA_RETRY_COUNT; retry++) {
            aw_arena_reset(aw_test_tea_arena);
            assert_int_equal(aw_tea_error_build((aw_tea_error_code_t)code, span("no echo"),
                                                (aw_tea_retry_t)retry, span(ID_C),
                                                aw_test_tea_arena, &text),
                             AW_OK);
        }
    }
    assert_true(aw_span_equal(text, span(ERROR_HEAD
                                         "{\"code\":\"internal\",\"message\":\"no echo\",\"retry\":"
                                         "\"after_backoff\",\"correlationId\":\"" ID_C "\"}}")));
    assert_int_equal(aw_tea_error_build(AW_TEA_ERROR_INTERNAL, span("a\rb"), AW_TEA_RETRY_NEVER,
                                        AW_SPAN_NULL, aw_test_tea_arena, &text),
                     AW_STATUS_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_command_is_canonical),
        cmocka_unit_test(test_build_event_carries_its_marker_and_metadata),
        cmocka_unit_test(test_build_prompt_of_one_text),
        cmocka_unit_test(test_build_what_breaks_a_rule_is_refused_with_its_place),
        cmocka_unit_test(test_build_time_outside_four_digit_years_is_refused),
        cmocka_unit_test(test_build_ill_formed_text_is_refused),
        cmocka_unit_test(test_build_id_is_one_of_the_protocol),
        cmocka_unit_test(test_error_answers_are_those_of_the_table),
        cmocka_unit_test(test_error_answers_carry_nothing_of_the_text),
        cmocka_unit_test(test_error_read_and_written_again_loses_all_that_is_not_its_own),
        cmocka_unit_test(test_error_has_an_answer_for_refused_commands_and_records_only),
        cmocka_unit_test(test_error_every_code_and_retry_is_built),
    };
    return cmocka_run_group_tests(tests, aw_test_tea_set_up, aw_test_tea_tear_down);
}
