/* Version 0: what values without a version become, and what of them is refused. */
#include "tests/unit/codec/inbox_support.h"

#include <stdio.h>

static void test_v0_deliver_becomes_a_command(void **state)
{
    (void)state;
    aw_test_inbox_expect_decoded("{\"kind\":\"deliver\",\"payloads\":[]}",
                                 "{\"kind\":\"deliver\",\"payloads\":[]}");
    aw_test_inbox_expect_decoded(
        "{\"version\":0,\"kind\":\"deliver\",\"payloads\":[{\"a\":null}],\"payload\":1,\"x\":2,"
        "\"auth\":null,\"turnPolicy\":9}",
        "{\"auth\":null,\"kind\":\"deliver\",\"payloads\":[{\"a\":null}],\"turnPolicy\":9}");
}

static void test_v0_send_becomes_a_deliver(void **state)
{
    (void)state;
    aw_test_inbox_expect_decoded(
        "{\"kind\":\"send\",\"payload\":{\"message\":\"a\",\"own\":[1]},\"delivery\":"
        "{\"payloadIndex\":\"nine\",\"deliveryId\":\"d\",\"more\":true},\"auth\":null}",
        "{\"auth\":null,\"deliveryMetadata\":[{\"deliveryId\":\"d\",\"more\":true,"
        "\"payloadIndex\":0}],\"kind\":\"deliver\",\"payloads\":[{\"message\":\"a\",\"own\":[1]}]"
        "}");
}

static void test_v0_absent_and_null_auth_stay_different(void **state)
{
    (void)state;
    aw_test_inbox_expect_decoded("{\"kind\":\"send\",\"payload\":{}}",
                                 "{\"kind\":\"deliver\",\"payloads\":[{}]}");
    aw_test_inbox_expect_decoded("{\"kind\":\"send\",\"payload\":{},\"auth\":null}",
                                 "{\"auth\":null,\"kind\":\"deliver\",\"payloads\":[{}]}");
}

static void test_v0_old_shapes_that_are_broken_are_named(void **state)
{
    (void)state;
    static const char *const broken[] = {"{\"kind\":\"deliver\"}",
                                         "{\"kind\":\"deliver\",\"payloads\":{}}",
                                         "{\"kind\":\"deliver\",\"payloads\":[{},[]]}",
                                         "{\"kind\":\"deliver\",\"payloads\":[1],\"version\":0}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        aw_test_inbox_refuse_decoded(broken[i], AW_INBOX_CLASS_LEGACY_DELIVER, "/payloads",
                                     "legacy deliver");
    }
    aw_test_inbox_refuse_decoded("{\"kind\":\"send\"}", AW_INBOX_CLASS_LEGACY_SEND_PAYLOAD,
                                 "/payload", "payload of a legacy send");
    aw_test_inbox_refuse_decoded("{\"kind\":\"send\",\"payload\":null,\"delivery\":null}",
                                 AW_INBOX_CLASS_LEGACY_SEND_PAYLOAD, "/payload", "legacy send");
    aw_test_inbox_refuse_decoded("{\"kind\":\"send\",\"payload\":{},\"delivery\":null}",
                                 AW_INBOX_CLASS_LEGACY_SEND_DELIVERY, "/delivery",
                                 "delivery of a legacy send");
}

static void test_v0_fault_has_its_place_in_the_text(void **state)
{
    (void)state;
    aw_span_t output;
    static const char text[] = "{\"kind\":\"deliver\",\"payloads\":[{},true]}";
    assert_int_equal(aw_test_inbox_decode(text, &output)->offset, strstr(text, "true") - text);
    static const char newer[] = "{ \"version\" : 2, \"kind\":\"send\"}";
    assert_int_equal(aw_test_inbox_decode(newer, &output)->offset, strchr(newer, '2') - newer);
    assert_int_equal(aw_test_inbox_decode("{\"kind\":\"send\"}", &output)->offset, -1);
}

static void test_v0_newer_value_is_never_read_as_an_old_shape(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "\"kind\":\"send\",\"payload\":{}", "\"kind\":\"deliver\",\"payloads\":[{}]",
        "\"kind\":\"clear\"", "\"kind\":\"tow\"", "\"payload\":[]"};
    static const char *const versions[] = {"2", "3", "7", "99", "2.0", "1e9", "9007199254740993"};
    for (size_t body = 0; body < sizeof bodies / sizeof *bodies; body++) {
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
            char text[128];
            snprintf(text, sizeof text, "{%s,\"version\":%s}", bodies[body], versions[i]);
            aw_test_inbox_refuse_decoded(text, AW_INBOX_CLASS_NEWER_VERSION, "/version", "newer");
        }
    }
}

static void test_v0_unknown_kind_is_quoted(void **state)
{
    (void)state;
    aw_test_inbox_refuse_decoded("{\"kind\":\"t\\u0000w\"}", AW_INBOX_CLASS_UNKNOWN_KIND, "/kind",
                                 "unrecognized kind \"t\\u0000w\"");
    aw_test_inbox_refuse_decoded("{}", AW_INBOX_CLASS_UNKNOWN_KIND, "/kind",
                                 "unrecognized kind undefined");
    aw_test_inbox_refuse_decoded("[]", AW_INBOX_CLASS_UNKNOWN_KIND, "/kind",
                                 "unrecognized kind undefined");
    aw_test_inbox_refuse_decoded("{\"kind\":{\"b\":1,\"a\":2.50}}", AW_INBOX_CLASS_UNKNOWN_KIND,
                                 "/kind", "unrecognized kind {\"a\":2.5,\"b\":1}");
    char text[400] = "{\"kind\":\"";
    for (size_t i = 0; i < 150; i++) {
        strcat(text, "\xc3\xa9");
    }
    strcat(text, "\"}");
    aw_test_inbox_refuse_decoded(text, AW_INBOX_CLASS_UNKNOWN_KIND, "/kind", "\xc3\xa9\"...");
}

static void test_v0_text_that_is_no_json_is_told_apart(void **state)
{
    (void)state;
    aw_span_t output;
    aw_test_inbox_refuse_decoded("{\"kind\":", AW_INBOX_CLASS_MALFORMED_JSON, "/kind", "byte 8");
    assert_int_equal(aw_test_inbox_decode("{\"kind\":", &output)->offset, 8);
    assert_int_equal(aw_test_inbox_decode("{\"kind\":", &output)->pointer_known, 0);
    aw_test_inbox_refuse_decoded("", AW_INBOX_CLASS_MALFORMED_JSON, "", "");
    aw_test_inbox_refuse_decoded("{\"kind\":\"\\ud800\"}", AW_INBOX_CLASS_MALFORMED_JSON, "/kind",
                                 "surrogate");
    aw_test_inbox_refuse_decoded("{\"a\":1e400}", AW_INBOX_CLASS_MALFORMED_JSON, "/a", "range");
}

static void test_v0_nesting_is_held_at_its_limit(void **state)
{
    (void)state;
    for (size_t depth = AW_INBOX_NESTING_MAX - 1; depth <= AW_INBOX_NESTING_MAX + 1; depth++) {
        char text[3 * AW_INBOX_NESTING_MAX + 64] = "{\"kind\":\"send\",\"payload\":{\"x\":";
        for (size_t i = 2; i < depth; i++) {
            strcat(text, "[");
        }
        for (size_t i = 2; i < depth; i++) {
            strcat(text, "]");
        }
        strcat(text, "}}");
        aw_span_t output;
        const bool taken = aw_test_inbox_decode(text, &output)->outcome == AW_INBOX_CLASS_OK;
        assert_int_equal(taken, depth <= AW_INBOX_NESTING_MAX);
        /* the payload of a send goes one level down into a list, and has to be readable there */
        const aw_inbox_class_t written =
            aw_test_inbox_encode(text, AW_INBOX_TARGET_V1, &output)->outcome;
        assert_int_equal(written, depth < AW_INBOX_NESTING_MAX    ? AW_INBOX_CLASS_OK
                                  : depth == AW_INBOX_NESTING_MAX ? AW_INBOX_CLASS_SCHEMA
                                                                  : AW_INBOX_CLASS_MALFORMED_JSON);
        if (written == AW_INBOX_CLASS_OK) {
            aw_inbox_result_t result;
            assert_int_equal(aw_inbox_check(output, aw_test_inbox_arena, &result), AW_OK);
            assert_int_equal(result.outcome, AW_INBOX_CLASS_OK);
        }
    }
}

static void test_v0_of_equal_keys_the_last_counts(void **state)
{
    (void)state;
    aw_test_inbox_expect_decoded(
        "{\"kind\":\"tow\",\"kind\":\"clear\",\"version\":9,\"version\":1}",
        "{\"kind\":\"clear\"}");
}

static void test_v0_numbers_are_doubles_as_ecmascript_writes_them(void **state)
{
    (void)state;
    aw_test_inbox_expect_decoded(
        "{\"kind\":\"send\",\"payload\":{\"n\":[3.0,-0,9007199254740993,1e21,1e-7,0.1,-1.50]}}",
        "{\"kind\":\"deliver\",\"payloads\":[{\"n\":[3,0,9007199254740992,1e+21,1e-7,0.1,-1.5]}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v0_deliver_becomes_a_command),
        cmocka_unit_test(test_v0_send_becomes_a_deliver),
        cmocka_unit_test(test_v0_absent_and_null_auth_stay_different),
        cmocka_unit_test(test_v0_old_shapes_that_are_broken_are_named),
        cmocka_unit_test(test_v0_fault_has_its_place_in_the_text),
        cmocka_unit_test(test_v0_newer_value_is_never_read_as_an_old_shape),
        cmocka_unit_test(test_v0_unknown_kind_is_quoted),
        cmocka_unit_test(test_v0_text_that_is_no_json_is_told_apart),
        cmocka_unit_test(test_v0_nesting_is_held_at_its_limit),
        cmocka_unit_test(test_v0_of_equal_keys_the_last_counts),
        cmocka_unit_test(test_v0_numbers_are_doubles_as_ecmascript_writes_them),
    };
    return cmocka_run_group_tests(tests, aw_test_inbox_set_up, aw_test_inbox_tear_down);
}
