/* Which version the reader of an inbox understands. */
#include "tests/unit/codec/inbox_support.h"

/** A lookup that answers as told and remembers what it was asked. */
typedef struct desk {
    aw_inbox_lookup_t answer;
    const char *run_id;
    char asked[128];
    size_t calls;
} desk_t;

static aw_inbox_lookup_t look_up(void *context, aw_span_t token, aw_span_t *ret_run_id)
{
    desk_t *desk = context;
    desk->calls++;
    assert_true(token.size < sizeof desk->asked);
    memcpy(desk->asked, token.data, token.size);
    desk->asked[token.size] = '\0';
    if (desk->answer == AW_INBOX_LOOKUP_FOUND) {
        *ret_run_id = aw_span_text_view(desk->run_id);
    }
    return desk->answer;
}

static const aw_inbox_result_t *classify(const char *token, const char *metadata, desk_t *desk,
                                         aw_inbox_target_t *ret_target)
{
    static aw_inbox_result_t result;
    const aw_inbox_hook_t hook = {.token = aw_span_text_view(token),
                                  .run_id = aw_span_text_view("run-a"),
                                  .metadata = aw_span_text_view(metadata)};
    assert_int_equal(
        aw_inbox_classify(&hook, look_up, desk, aw_test_inbox_arena, &result, ret_target), AW_OK);
    return &result;
}

static void test_target_names_and_texts_read_back(void **state)
{
    (void)state;
    for (int target = AW_INBOX_TARGET_V0_DELIVER; target <= AW_INBOX_TARGET_V1; target++) {
        aw_inbox_target_t found = AW_INBOX_TARGET_V1;
        aw_inbox_result_t result;
        assert_true(aw_inbox_target_find(
            aw_span_text_view(aw_inbox_target_name((aw_inbox_target_t)target)), &found));
        assert_int_equal(found, target);
        found = AW_INBOX_TARGET_V1;
        assert_int_equal(
            aw_inbox_target_read(aw_span_text_view(aw_inbox_target_text((aw_inbox_target_t)target)),
                                 aw_test_inbox_arena, &result, &found),
            AW_OK);
        assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
        assert_int_equal(found, target);
    }
    aw_inbox_target_t kept = AW_INBOX_TARGET_V0_SEND;
    assert_false(aw_inbox_target_find(aw_span_text_view("v2"), &kept));
    assert_int_equal(kept, AW_INBOX_TARGET_V0_SEND);
    assert_string_equal(aw_inbox_target_name((aw_inbox_target_t)9), "unknown");
    assert_string_equal(aw_inbox_target_text((aw_inbox_target_t)9), "null");
}

static void test_target_of_no_known_version_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        {"{\"version\":2}", "unknown wire version 2"},
        {"{\"version\":\"1\"}", "unknown wire version \"1\""},
        {"{}", "unknown wire version undefined"},
        {"1", "unknown wire version undefined"},
        {"{\"version\":1.5}", "unknown wire version 1.5"},
        {"{\"version\":-1}", "unknown wire version -1"},
        {"{\"version\":0}", "variant undefined"},
        {"{\"version\":0,\"variant\":\"parcel\"}", "variant \"parcel\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        aw_inbox_target_t target = AW_INBOX_TARGET_V0_SEND;
        aw_inbox_result_t result;
        assert_int_equal(aw_inbox_target_read(aw_span_text_view(cases[i].text), aw_test_inbox_arena,
                                              &result, &target),
                         AW_OK);
        assert_int_equal(result.outcome, AW_INBOX_CLASS_UNKNOWN_TARGET);
        assert_non_null(strstr(result.message, cases[i].words));
        assert_int_equal(target, AW_INBOX_TARGET_V0_SEND);
    }
    aw_inbox_target_t target = AW_INBOX_TARGET_V0_SEND;
    aw_inbox_result_t result;
    assert_int_equal(aw_inbox_target_read(AW_SPAN_NULL, aw_test_inbox_arena, &result, &target),
                     AW_OK);
    assert_int_equal(result.outcome, AW_INBOX_CLASS_UNKNOWN_TARGET);
    assert_int_equal(
        aw_inbox_target_read(aw_span_text_view("{"), aw_test_inbox_arena, &result, &target), AW_OK);
    assert_int_equal(result.outcome, AW_INBOX_CLASS_MALFORMED_JSON);
    assert_int_equal(aw_inbox_target_read(aw_span_text_view("{\"version\":1e0}"),
                                          aw_test_inbox_arena, &result, &target),
                     AW_OK);
    assert_int_equal(target, AW_INBOX_TARGET_V1);
    aw_span_t output;
    assert_int_equal(aw_inbox_encode(aw_span_text_view("{}"), (aw_inbox_target_t)9,
                                     aw_test_inbox_arena, &result, &output),
                     AW_STATUS_INVALID_ARGUMENT);
}

static void test_target_stamp_decides_without_a_lookup(void **state)
{
    (void)state;
    desk_t desk = {.answer = AW_INBOX_LOOKUP_FAILED};
    aw_inbox_target_t target = AW_INBOX_TARGET_V0_SEND;
    assert_int_equal(
        classify("alias", "{\"sessionInboxWireVersion\":1.0}", &desk, &target)->outcome,
        AW_INBOX_CLASS_OK);
    assert_int_equal(target, AW_INBOX_TARGET_V1);
    static const char *const bad[] = {"0", "2", "1.5", "\"1\"", "null", "true", "{}", "-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char metadata[64] = "{\"sessionInboxWireVersion\":";
        strcat(strcat(metadata, bad[i]), "}");
        target = AW_INBOX_TARGET_V0_SEND;
        const aw_inbox_result_t *result =
            classify("eve:session:run-a:inbox", metadata, &desk, &target);
        assert_int_equal(result->outcome, AW_INBOX_CLASS_UNSUPPORTED_TARGET);
        assert_non_null(strstr(result->message, "unsupported wire version"));
        assert_non_null(strstr(result->message, bad[i]));
        assert_int_equal(target, AW_INBOX_TARGET_V0_SEND);
    }
    assert_int_equal(desk.calls, 0);
}

static void test_target_of_a_stable_inbox_needs_no_lookup(void **state)
{
    (void)state;
    static const char *const markerless[] = {
        NULL, "null", "{}", "[]", "3", "\"x\"", "[{\"sessionInboxWireVersion\":1}]"};
    desk_t desk = {.answer = AW_INBOX_LOOKUP_FAILED};
    for (size_t i = 0; i < sizeof markerless / sizeof *markerless; i++) {
        aw_inbox_target_t target = AW_INBOX_TARGET_V1;
        assert_int_equal(
            classify("eve:session:run-a:inbox", markerless[i], &desk, &target)->outcome,
            AW_INBOX_CLASS_OK);
        assert_int_equal(target, AW_INBOX_TARGET_V0_SEND);
    }
    assert_int_equal(desk.calls, 0);
}

static void test_target_of_a_continuation_is_asked_for_once(void **state)
{
    (void)state;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    desk_t desk = {.answer = AW_INBOX_LOOKUP_FOUND, .run_id = "run-a"};
    assert_int_equal(classify("alias", NULL, &desk, &target)->outcome, AW_INBOX_CLASS_OK);
    assert_int_equal(target, AW_INBOX_TARGET_V0_SEND);
    assert_string_equal(desk.asked, "eve:session:run-a:inbox");
    assert_int_equal(desk.calls, 1);
    desk.answer = AW_INBOX_LOOKUP_NONE;
    assert_int_equal(classify("eve:session:run-b:inbox", NULL, &desk, &target)->outcome,
                     AW_INBOX_CLASS_OK);
    assert_int_equal(target, AW_INBOX_TARGET_V0_DELIVER);
    desk = (desk_t){.answer = AW_INBOX_LOOKUP_FOUND, .run_id = "run-z"};
    const aw_inbox_result_t *result = classify("alias", NULL, &desk, &target);
    assert_int_equal(result->outcome, AW_INBOX_CLASS_STABLE_OWNER);
    assert_non_null(strstr(result->message, "\"eve:session:run-a:inbox\""));
    assert_non_null(strstr(result->message, "\"run-z\""));
    assert_non_null(strstr(result->message, "\"run-a\""));
    desk.answer = AW_INBOX_LOOKUP_FAILED;
    assert_int_equal(classify("alias", NULL, &desk, &target)->outcome, AW_INBOX_CLASS_HOOK_LOOKUP);
    assert_int_equal(classify("alias", "{", &desk, &target)->outcome,
                     AW_INBOX_CLASS_MALFORMED_JSON);
}

static void test_target_address_is_judged(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        aw_inbox_class_t outcome;
    } cases[] = {
        {"{\"sessionId\":\"run-a\",\"version\":1,\"more\":2}", AW_INBOX_CLASS_OK},
        {"{\"sessionId\":\"run-a\",\"version\":2}", AW_INBOX_CLASS_UNSUPPORTED_TARGET},
        {"{\"sessionId\":\"r\",\"version\":9007199254740991}", AW_INBOX_CLASS_UNSUPPORTED_TARGET},
        {"{\"sessionId\":\"r\",\"version\":9007199254740992}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"sessionId\":\"r\",\"version\":0}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"sessionId\":\"r\",\"version\":1.5}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"sessionId\":\"a:b\",\"version\":1}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"sessionId\":\"\",\"version\":1}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"sessionId\":4,\"version\":1}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"{\"version\":1}", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"[]", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"null", AW_INBOX_CLASS_INVALID_ADDRESS},
        {"nul", AW_INBOX_CLASS_MALFORMED_JSON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        aw_inbox_target_t target = AW_INBOX_TARGET_V0_SEND;
        aw_inbox_result_t result;
        assert_int_equal(aw_inbox_address_read(aw_span_text_view(cases[i].text),
                                               aw_test_inbox_arena, &result, &target),
                         AW_OK);
        assert_int_equal(result.outcome, cases[i].outcome);
        assert_int_equal(target, cases[i].outcome == AW_INBOX_CLASS_OK ? AW_INBOX_TARGET_V1
                                                                       : AW_INBOX_TARGET_V0_SEND);
        assert_int_equal(strstr(result.message, "invalid address") != NULL,
                         cases[i].outcome == AW_INBOX_CLASS_INVALID_ADDRESS);
    }
}

static void test_target_text_of_another_form_is_no_question(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"hook\":{}}",
        "{\"hook\":{\"token\":1,\"runId\":\"r\"}}",
        "{\"hook\":{\"token\":\"t\"}}",
        "{\"hook\":{\"token\":\"t\",\"runId\":\"r\"},\"address\":1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        aw_inbox_target_t target = AW_INBOX_TARGET_V1;
        aw_inbox_result_t result;
        assert_int_equal(aw_inbox_classify_text(aw_span_text_view(texts[i]), aw_test_inbox_arena,
                                                &result, &target),
                         AW_STATUS_INVALID_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_names_and_texts_read_back),
        cmocka_unit_test(test_target_of_no_known_version_is_refused),
        cmocka_unit_test(test_target_stamp_decides_without_a_lookup),
        cmocka_unit_test(test_target_of_a_stable_inbox_needs_no_lookup),
        cmocka_unit_test(test_target_of_a_continuation_is_asked_for_once),
        cmocka_unit_test(test_target_address_is_judged),
        cmocka_unit_test(test_target_text_of_another_form_is_no_question),
    };
    return cmocka_run_group_tests(tests, aw_test_inbox_set_up, aw_test_inbox_tear_down);
}
