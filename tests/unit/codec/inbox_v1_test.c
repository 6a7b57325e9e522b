/* Version 1: its shape as a schema and as a check, and the way down to version 0. */
#include "tests/unit/codec/inbox_support.h"

#include <stdio.h>

#include "agentwire/crypto.h"

#define SEND(members)    "{\"kind\":\"send\",\"payload\":{}," members "}"
#define PAYLOAD(members) "{\"kind\":\"send\",\"payload\":{" members "}}"

static void test_v1_schema_is_the_frozen_one(void **state)
{
    (void)state;
    aw_span_t schema;
    assert_int_equal(aw_inbox_schema(1, aw_test_inbox_arena, &schema), AW_OK);
    const aw_span_t frozen = aw_test_file("golden/session-inbox/v1/schema.json");
    if (!aw_span_equal(schema, frozen)) {
        print_error("%.*s\n", (int)schema.size, (const char *)schema.data);
    }
    assert_true(aw_span_equal(schema, frozen));
    aw_span_t none = AW_SPAN_NULL;
    assert_int_equal(aw_inbox_schema(0, aw_test_inbox_arena, &none), AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_inbox_schema(AW_INBOX_VERSION + 1, aw_test_inbox_arena, &none),
                     AW_STATUS_INVALID_ARGUMENT);
    assert_null(none.data);
}

/* the specification pins the canonical text of the schema that it brings along */
static void test_v1_schema_has_the_pinned_hash(void **state)
{
    (void)state;
    char hex[AW_SHA256_HEX_SIZE];
    aw_span_t schema;
    assert_int_equal(aw_inbox_schema(1, aw_test_inbox_arena, &schema), AW_OK);
    assert_int_equal(aw_sha256_hex(schema, hex), AW_OK);
    assert_string_equal(hex, "b355583e3d9e2b8458430776e8c93e802069d306274728325c2b5a7c9125b097");
}

static void test_v1_violation_is_named_with_its_path(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        const char *pointer;
        const char *words;
    } cases[] = {
        {"[]", "", "the command is not an object"},
        {"7", "", "the command is not an object"},
        {"{}", "/kind", "/kind is missing"},
        {"{\"kind\":\"tow\"}", "/kind", "/kind is none of the known words"},
        {"{\"kind\":4}", "/kind", "/kind is none"},
        {"{\"kind\":\"clear\",\"deep\":1}", "/deep", "not a member that this version has"},
        {"{\"kind\":\"reset\",\"reason\":null}", "/reason", "/reason is not a string"},
        {"{\"kind\":\"send\"}", "/payload", "/payload is missing"},
        {"{\"kind\":\"send\",\"payload\":[]}", "/payloads/0", "is not an object"},
        {"{\"kind\":\"deliver\"}", "/payloads", "/payloads is missing"},
        {"{\"kind\":\"deliver\",\"payloads\":null}", "/payloads", "is not a list"},
        {"{\"kind\":\"deliver\",\"payloads\":[{},3]}", "/payloads/1", "is not an object"},
        {SEND("\"delivery\":null"), "/delivery", "/delivery is not an object"},
        {SEND("\"delivery\":{}"), "/deliveryMetadata/0/channelKind", "is missing"},
        {SEND("\"turnPolicy\":\"stop\""), "/turnPolicy", "is none of the known words"},
        {SEND("\"auth\":3"), "/auth", "fits none of the forms"},
        {SEND("\"auth\":{}"), "/auth/attributes", "is missing"},
        {SEND("\"auth\":{\"attributes\":{\"a\":1},\"authenticator\":\"\",\"principalId\":\"\","
              "\"principalType\":\"\"}"),
         "/auth/attributes/a", "fits none of the forms"},
        {SEND("\"auth\":{\"attributes\":{\"a\":[\"x\",2]},\"authenticator\":\"\",\"principalId\":"
              "\"\",\"principalType\":\"\"}"),
         "/auth/attributes/a/1", "is not a string"},
        {SEND("\"caller\":null"), "/caller", "is not an object"},
        {SEND("\"caller\":{\"callId\":\"c\",\"subagentName\":\"s\",\"replyTo\":{\"kind\":\"x\"}}"),
         "/caller/replyTo/kind", "none of the known words"},
        {PAYLOAD("\"message\":[{\"type\":\"text\"}]"), "/payloads/0/message/0/text", "is missing"},
        {PAYLOAD("\"message\":[\"a\"]"), "/payloads/0/message/0", "is not an object"},
        {PAYLOAD("\"message\":7"), "/payloads/0/message", "fits none of the forms"},
        {PAYLOAD("\"message\":[{\"type\":\"text\",\"text\":\"\",\"providerOptions\":{\"p\":[]}}]"),
         "/payloads/0/message/0/providerOptions/p", "is not an object"},
        {PAYLOAD("\"context\":[\"a\",null]"), "/payloads/0/context/1", "is not a string"},
        {PAYLOAD("\"outputSchema\":null"), "/payloads/0/outputSchema", "is not an object"},
        {PAYLOAD("\"task\":{\"views\":[{\"status\":\"working\",\"taskId\":\"t\",\"metadata\":"
                 "{\"kind\":\"k\",\"name\":\"n\",\"agentId\":\"a\"}}]}"),
         "/payloads/0/task/views/0/metadata", "fits none of the forms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        aw_test_inbox_refuse_encoded(cases[i].command, AW_INBOX_CLASS_SCHEMA, cases[i].pointer,
                                     cases[i].words);
        aw_test_inbox_refuse_encoded(cases[i].command, AW_INBOX_CLASS_SCHEMA, cases[i].pointer,
                                     "the produced value does not match wire version 1");
    }
}

static void test_v1_name_out_of_the_text_is_marked(void **state)
{
    (void)state;
    aw_span_t output;
    const aw_inbox_result_t *result = aw_test_inbox_encode(
        SEND("\"auth\":{\"attributes\":{\"secret\":[1]},\"authenticator\":\"\",\"principalId\":"
             "\"\",\"principalType\":\"\"}"),
        AW_INBOX_TARGET_V1, &output);
    assert_string_equal(result->pointer, "/auth/attributes/secret/0");
    assert_int_equal(result->pointer_known, strlen("/auth/attributes"));
    result = aw_test_inbox_encode("{\"kind\":\"clear\",\"x\":1}", AW_INBOX_TARGET_V1, &output);
    assert_int_equal(result->pointer_known, 0);
    result = aw_test_inbox_encode(PAYLOAD("\"context\":[2]"), AW_INBOX_TARGET_V1, &output);
    assert_int_equal(result->pointer_known, strlen("/payloads/0/context/0"));
}

static void test_v1_counters_are_whole_and_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *number;
        const char *written; /* NULL: refused */
    } cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"3.0", "3"},
        {"3e0", "3"},
        {"1.5", NULL},
        {"-1", NULL},
        {"\"1\"", NULL},
        {"9007199254740991", "9007199254740991"},
        {"9007199254740992", NULL},
        {"9.007199254740991e15", "9007199254740991"},
        {"null", NULL},
        {"1e308", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[300];
        snprintf(command, sizeof command,
                 "{\"kind\":\"deliver\",\"payloads\":[],\"deliveryMetadata\":[{\"channelKind\":"
                 "\"k\",\"channelName\":\"n\",\"deliveryId\":\"d\",\"payloadIndex\":%s}]}",
                 cases[i].number);
        if (cases[i].written == NULL) {
            aw_test_inbox_refuse_encoded(command, AW_INBOX_CLASS_SCHEMA,
                                         "/deliveryMetadata/0/payloadIndex", "whole number");
            continue;
        }
        char value[300];
        snprintf(value, sizeof value,
                 "{\"deliveryMetadata\":[{\"channelKind\":\"k\",\"channelName\":\"n\","
                 "\"deliveryId\":\"d\",\"payloadIndex\":%s}],\"kind\":\"deliver\",\"payload\":{},"
                 "\"payloads\":[],\"version\":1}",
                 cases[i].written);
        aw_test_inbox_expect_encoded(command, AW_INBOX_TARGET_V1, value);
    }
}

#define VIEW(usage)                                                                                \
    "{\"task\":{\"views\":[{\"metadata\":{\"kind\":\"k\",\"name\":\"n\"},\"status\":"              \
    "\"working\",\"taskId\":\"t\",\"usage\":" usage "}]}}"
#define USAGE "{\"cacheReadTokens\":0,\"cacheWriteTokens\":1,\"inputTokens\":2,\"outputTokens\":3"

static void test_v1_usage_is_stripped_in_both_copies(void **state)
{
    (void)state;
    aw_test_inbox_expect_encoded(
        "{\"kind\":\"send\",\"payload\":" VIEW(USAGE ",\"costUsd\":1,\"a\":{}}") "}",
        AW_INBOX_TARGET_V1,
        "{\"kind\":\"deliver\",\"payload\":" VIEW(USAGE "}") ",\"payloads\":[" VIEW(
            USAGE "}") "],\"version\":1}");
}

static void test_v1_caller_is_projected_at_its_own_level_only(void **state)
{
    (void)state;
    aw_test_inbox_expect_encoded(
        SEND(
            "\"caller\":{\"zz\":1,\"callId\":\"c\",\"replyTo\":{\"kind\":\"hook\",\"token\":\"t\"},"
            "\"subagentName\":\"s\",\"aa\":2}"),
        AW_INBOX_TARGET_V1,
        "{\"caller\":{\"callId\":\"c\",\"replyTo\":{\"kind\":\"hook\",\"token\":\"t\"},"
        "\"subagentName\":\"s\"},\"kind\":\"deliver\",\"payload\":{},\"payloads\":[{}],"
        "\"version\":1}");
    aw_test_inbox_refuse_encoded(
        "{\"kind\":\"clear\",\"caller\":{\"callId\":\"c\",\"subagentName\":\"s\",\"replyTo\":"
        "{\"kind\":\"hook\",\"token\":\"t\",\"x\":1}}}",
        AW_INBOX_CLASS_SCHEMA, "/caller/replyTo/x", "not a member");
}

static void test_v1_messages_are_folded_pairwise(void **state)
{
    (void)state;
    static const struct {
        const char *messages[4];
        const char *folded; /* NULL: no message */
    } cases[] = {
        {{"\"a\"", "\"b\"", NULL}, "\"a\\n\\nb\""},
        {{"\"\"", "\"\"", NULL}, "\"\\n\\n\""},
        {{"", "\"b\"", "", NULL}, "\"b\""},
        {{"", "", NULL}, NULL},
        {{"[]", "[]", NULL}, "[]"},
        {{"\"\"", "[]", NULL}, "[]"},
        {{"[]", "\"\"", "\"x\"", NULL}, "[{\"text\":\"x\",\"type\":\"text\"}]"},
        {{"\"a\"", "\"b\"", "[]", NULL}, "[{\"text\":\"a\\n\\nb\",\"type\":\"text\"}]"},
        {{"", "[{\"text\":\"p\",\"type\":\"text\"}]", "\"a\"", "\"b\""},
         "[{\"text\":\"p\",\"type\":\"text\"},{\"text\":\"a\",\"type\":\"text\"},"
         "{\"text\":\"b\",\"type\":\"text\"}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[1000] = "{\"kind\":\"deliver\",\"payloads\":[";
        char value[1000] = "{\"kind\":\"send\",\"payload\":{";
        size_t count = 0;
        for (; count < 4 && cases[i].messages[count] != NULL; count++) {
            const char *message = cases[i].messages[count];
            strcat(strcat(command, count > 0 ? ",{" : "{"), message[0] != 0 ? "\"message\":" : "");
            strcat(strcat(command, message), "}");
        }
        strcat(command, "]}");
        if (cases[i].folded != NULL) {
            strcat(strcat(value, "\"message\":"), cases[i].folded);
        }
        strcat(value, "}}");
        aw_test_inbox_expect_encoded(command, AW_INBOX_TARGET_V0_SEND, value);
        aw_span_t output;
        assert_int_equal(
            aw_test_inbox_encode(command, AW_INBOX_TARGET_V0_SEND, &output)->folded_payloads,
            count);
    }
}

static void test_v1_what_an_old_reader_has_no_place_for_is_counted(void **state)
{
    (void)state;
    static const char many[] =
        "{\"kind\":\"deliver\",\"payloads\":[{},{},{}],\"deliveryMetadata\":["
        "{\"channelKind\":\"k\",\"channelName\":\"n\",\"deliveryId\":\"b\",\"payloadIndex\":1},"
        "{\"channelKind\":\"k\",\"channelName\":\"n\",\"deliveryId\":\"a\",\"payloadIndex\":-0},"
        "{\"channelKind\":\"k\",\"channelName\":\"n\",\"deliveryId\":\"c\",\"payloadIndex\":0}]}";
    aw_span_t output;
    const aw_inbox_result_t *result = aw_test_inbox_encode(many, AW_INBOX_TARGET_V0_SEND, &output);
    assert_int_equal(result->lost_metadata, 2);
    assert_int_equal(result->folded_payloads, 3);
    aw_test_inbox_expect_encoded(many, AW_INBOX_TARGET_V0_SEND,
                                 "{\"delivery\":{\"channelKind\":\"k\",\"channelName\":\"n\","
                                 "\"deliveryId\":\"a\"},\"kind\":\"send\",\"payload\":{}}");
    for (int target = AW_INBOX_TARGET_V0_DELIVER; target <= AW_INBOX_TARGET_V1; target++) {
        if (target != AW_INBOX_TARGET_V0_SEND) {
            result = aw_test_inbox_encode(many, (aw_inbox_target_t)target, &output);
            assert_int_equal(result->lost_metadata, 0);
            assert_int_equal(result->folded_payloads, 0);
        }
    }
    result = aw_test_inbox_encode("{\"kind\":\"send\",\"payload\":{}}", AW_INBOX_TARGET_V0_SEND,
                                  &output);
    assert_int_equal(result->lost_metadata + result->folded_payloads, 0);
}

/* the incident that the whole design exists for: a reader that knows only kind "send" */
static void test_v1_old_reader_gets_the_kind_it_knows(void **state)
{
    (void)state;
    aw_span_t output;
    assert_int_equal(aw_test_inbox_encode("{\"kind\":\"send\",\"payload\":{\"message\":\"m\"}}",
                                          AW_INBOX_TARGET_V0_SEND, &output)
                         ->outcome,
                     AW_INBOX_CLASS_OK);
    assert_non_null(memmem(output.data, output.size, "\"kind\":\"send\"", 13));
    assert_null(memmem(output.data, output.size, "version", 7));
    (void)aw_test_inbox_encode("{\"kind\":\"send\",\"payload\":{\"message\":\"m\"}}",
                               AW_INBOX_TARGET_V1, &output);
    assert_null(memmem(output.data, output.size, "\"kind\":\"send\"", 13));
}

static void test_v1_every_class_has_a_name_and_stands_in_the_docs(void **state)
{
    (void)state;
    static const aw_inbox_class_t listed[] = {
#define LISTED(id, number, name, meaning) AW_INBOX_CLASS_##id,
        AW_INBOX_CLASS_LIST(LISTED)
#undef LISTED
    };
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        assert_int_equal(listed[i], i);
        assert_true(strlen(aw_inbox_class_meaning(listed[i])) < AW_ERROR_TEXT_MAX / 2);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(aw_inbox_class_name(listed[i]), aw_inbox_class_name(listed[j]));
        }
    }
    const aw_span_t page = aw_test_file("docs/inbox.md");
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        char row[256];
        const int size =
            snprintf(row, sizeof row, "\n| `%s` | %s |\n", aw_inbox_class_name(listed[i]),
                     aw_inbox_class_meaning(listed[i]));
        assert_non_null(memmem(page.data, page.size, row, (size_t)size));
    }
    assert_string_equal(aw_inbox_class_name((aw_inbox_class_t)99), "unknown");
    assert_non_null(aw_inbox_class_meaning((aw_inbox_class_t)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_schema_is_the_frozen_one),
        cmocka_unit_test(test_v1_schema_has_the_pinned_hash),
        cmocka_unit_test(test_v1_violation_is_named_with_its_path),
        cmocka_unit_test(test_v1_name_out_of_the_text_is_marked),
        cmocka_unit_test(test_v1_counters_are_whole_and_bounded),
        cmocka_unit_test(test_v1_usage_is_stripped_in_both_copies),
        cmocka_unit_test(test_v1_caller_is_projected_at_its_own_level_only),
        cmocka_unit_test(test_v1_messages_are_folded_pairwise),
        cmocka_unit_test(test_v1_what_an_old_reader_has_no_place_for_is_counted),
        cmocka_unit_test(test_v1_old_reader_gets_the_kind_it_knows),
        cmocka_unit_test(test_v1_every_class_has_a_name_and_stands_in_the_docs),
    };
    return cmocka_run_group_tests(tests, aw_test_inbox_set_up, aw_test_inbox_tear_down);
}
