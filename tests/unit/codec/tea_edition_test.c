/* Edition B, and what the tables promise. */
#include "tests/unit/codec/tea_support.h"

#include <stdio.h>

#include "codec/json/value.h"
#include "codec/tea/schema.h"

#define ID "\"" AW_TEST_TEA_ID("7") "\""
#define MESSAGE(block)                                                                             \
    "{\"type\":\"user\",\"id\":" ID ",\"timestamp\":\"" AW_TEST_TEA_TIMESTAMP                      \
    "\",\"content\":[" block "]}"
#define TEXT         "{\"type\":\"text\",\"text\":\"x\"}"
#define PROMPT(more) "{\"message\":" MESSAGE(TEXT) more "}"
#define SCHEMA(schema)                                                                             \
    PROMPT(",\"finalOutputFormat\":{\"type\":\"json_schema\",\"schema\":" schema "}")

/** One command and its verdicts in both editions. */
typedef struct row {
    const char *members;
    const char *type;
    const char *payload;
    const char *a;
    const char *b;
} row_t;

static void expect_rows(const row_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        aw_span_t text =
            aw_test_tea_envelope(AW_TEA_COMMAND, rows[i].members, rows[i].type, rows[i].payload);
        aw_test_tea_expect(AW_TEA_COMMAND, AW_TEA_EDITION_A, text, rows[i].a);
        aw_test_tea_expect(AW_TEA_COMMAND, AW_TEA_EDITION_B, text, rows[i].b);
    }
}

static void test_edition_differences_are_those_of_the_description(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {"\"lantern\":1,", "abort", "{}", "ok", "invalid:unknown_field"},
        {"", "abort", "{\"reason\":\"fog\"}", "ok", "invalid:unknown_field"},
        {"", "steer", "{\"text\":\"x\",\"tone\":1}", "ok", "invalid:unknown_field"},
        {"\"metadata\":{},", "abort", "{}", "ok", "invalid:unknown_field"},
        {"", "prompt",
         "{\"message\":{\"draft\":1,\"type\":\"user\",\"id\":" ID
         ",\"timestamp\":\"" AW_TEST_TEA_TIMESTAMP
         "\",\"content\":[{\"type\":\"text\",\"text\":\"x\",\"lang\":\"en\"}]}}",
         "ok", "ok"},
        {"", "resolve_approval",
         "{\"approvalId\":" ID ",\"decision\":{\"type\":\"deny\",\"because\":1}}", "ok", "ok"},
        {"", "prompt", PROMPT(",\"finalOutputFormat\":{\"type\":\"json_object\"}"), "ok", "ok"},
        {"", "prompt", PROMPT(",\"finalOutputFormat\":null"), "ok", "ok"},
        {"", "prompt", PROMPT(",\"finalOutputFormat\":{\"type\":\"json_object\",\"x\":1}"), "ok",
         "invalid:unknown_field"},
        {"", "prompt", PROMPT(",\"finalOutputFormat\":{\"type\":\"json_schema\"}"), "ok",
         "invalid:missing"},
        {"", "prompt", PROMPT(",\"finalOutputFormat\":{\"type\":\"yaml\"}"), "ok",
         "invalid:variant"},
        {"", "prompt", SCHEMA("[1]"), "ok", "invalid:type"},
        {"", "prompt", SCHEMA("{\"type\":7}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"$ref\":\"https://schemas.example/x.json\"}"), "ok",
         "invalid:schema"},
        {"", "prompt", PROMPT(",\"finalOutputForma\":1"), "ok", "invalid:unknown_field"},
        {"", "follow_up", PROMPT(",\"finalOutputFormat\":{\"type\":\"json_object\"}"), "ok",
         "invalid:unknown_field"},
        {"", "prompt", "{\"message\":" MESSAGE("{\"type\":\"contextual_text\",\"text\":\"x\"}") "}",
         "invalid:variant", "ok"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void test_edition_contextual_text_is_for_users_only(void **state)
{
    (void)state;
    aw_span_t text = aw_test_tea_envelope(
        AW_TEA_RECORD, "", "message_committed",
        "{\"message\":{\"type\":\"assistant\",\"id\":" ID ",\"timestamp\":\"" AW_TEST_TEA_TIMESTAMP
        "\",\"stopReason\":\"refusal\",\"content\":[{\"type\":\"contextual_text\",\"text\":\"x\"}]}"
        "}");
    aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A, text, "invalid:variant");
    aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_B, text, "invalid:content");
}

static void test_edition_b_output_format_is_written_and_a_drops_it(void **state)
{
    (void)state;
    static const char format[] = "{\"schema\":{\"type\":\"string\"},\"type\":\"json_schema\"}";
    aw_span_t text =
        aw_test_tea_envelope(AW_TEA_COMMAND, "", "prompt", SCHEMA("{\"type\":\"string\"}"));
    for (unsigned edition = AW_TEA_EDITION_A; edition <= AW_TEA_EDITION_B; edition++) {
        aw_tea_result_t result;
        aw_span_t canonical;
        aw_arena_reset(aw_test_tea_arena);
        assert_int_equal(aw_tea_canonical(AW_TEA_COMMAND, (aw_tea_edition_t)edition, text,
                                          aw_test_tea_arena, &result, &canonical),
                         AW_OK);
        bool has = memmem(canonical.data, canonical.size, format, sizeof format - 1) != NULL;
        assert_int_equal(has, edition == AW_TEA_EDITION_B);
    }
}

static void test_edition_b_schemas_keywords_are_held_to_the_draft(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {"", "prompt", SCHEMA("{}"), "ok", "ok"},
        {"", "prompt",
         SCHEMA("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":"
                "[\"object\",\"null\"],\"properties\":{\"type\":{\"type\":\"integer\",\"minimum\":"
                "-1.5,\"multipleOf\":0.5},\"x\":true},\"required\":[\"x\"],"
                "\"additionalProperties\":false,\"$defs\":{\"d\":{\"enum\":[1,null]}},\"anyOf\":"
                "[{\"$ref\":\"#/$defs/d\"}],\"maxProperties\":2.0,\"unheard\":7}"),
         "ok", "ok"},
        {"", "prompt", SCHEMA("{\"type\":\"text\"}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"type\":[]}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"type\":[\"null\",\"null\"]}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"properties\":{\"x\":1}}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"properties\":{\"x\":{\"items\":[]}}}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"allOf\":[]}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"allOf\":[{\"minLength\":-1}]}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"minLength\":1.5}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"multipleOf\":0}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"required\":[\"a\",\"a\"]}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"required\":\"a\"}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"dependentRequired\":{\"a\":[1]}}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"enum\":1}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"uniqueItems\":1}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"$vocabulary\":{\"u\":1}}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"not\":{\"$dynamicRef\":\"FILE:///x\"}}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"$ref\":\"other.json\"}"), "ok", "ok"},
        {"", "prompt", SCHEMA("{\"$ref\":\"HtTpS://x\"}"), "ok", "invalid:schema"},
        {"", "prompt", SCHEMA("{\"$ref\":\"file\\u001a\"}"), "ok", "ok"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void test_edition_b_schema_has_32_levels_and_262144_bytes(void **state)
{
    (void)state;
    for (unsigned levels = 31; levels <= 33; levels++) {
        /* {"x": and arrays below it, the innermost holding a number: two levels around them */
        aw_span_t format = aw_test_tea_text(
            "{\"message\":" MESSAGE(TEXT) ",\"finalOutputFormat\":{\"type\":\"json_schema\","
                                          "\"schema\":{\"x\":%s1%s}}}",
            aw_test_tea_run('[', levels - 2), aw_test_tea_run(']', levels - 2));
        aw_test_tea_expect(
            AW_TEA_COMMAND, AW_TEA_EDITION_B,
            aw_test_tea_envelope(AW_TEA_COMMAND, "", "prompt", (const char *)format.data),
            levels <= 32 ? "ok" : "invalid:schema");
    }
    for (unsigned size = 262143; size <= 262145; size++) {
        aw_span_t format = aw_test_tea_text(
            "{\"message\":" MESSAGE(TEXT) ",\"finalOutputFormat\":{\"type\":\"json_schema\","
                                          "\"schema\":{\"x\":\"%s\"}}}",
            aw_test_tea_run('x', size - 8));
        aw_test_tea_expect(
            AW_TEA_COMMAND, AW_TEA_EDITION_B,
            aw_test_tea_envelope(AW_TEA_COMMAND, "", "prompt", (const char *)format.data),
            size <= 262144 ? "ok" : "invalid:schema");
    }
}

/* 20,000 different names: what looks at each pair of them would not be done in this test's time. */
static void test_edition_b_many_names_are_compared_in_little_time(void **state)
{
    (void)state;
    enum { NAMES = 20000 };
    for (unsigned repeats = 0; repeats <= 1; repeats++) {
        static char names[NAMES * 10];
        size_t size = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            size += (size_t)snprintf(names + size, sizeof names - size, "%s\"%x\"",
                                     i > 0 ? "," : "", i + 1 < NAMES || repeats == 0 ? i : 0);
        }
        aw_span_t format = aw_test_tea_text("{\"message\":%s,\"finalOutputFormat\":{\"type\":"
                                            "\"json_schema\",\"schema\":{\"required\":[%s]}}}",
                                            MESSAGE(TEXT), names);
        aw_test_tea_expect(
            AW_TEA_COMMAND, AW_TEA_EDITION_B,
            aw_test_tea_envelope(AW_TEA_COMMAND, "", "prompt", (const char *)format.data),
            repeats == 0 ? "ok" : "invalid:schema");
    }
}

/** Each refusal of memory on the way to the end of a schema is a status, never a verdict. */
static void test_edition_b_schema_refused_memory_is_no_verdict(void **state)
{
    (void)state;
    aw_span_t text = aw_test_tea_envelope(
        AW_TEA_COMMAND, "", "prompt",
        SCHEMA("{\"required\":[\"a\",\"b\",\"c\"],\"type\":[\"null\",\"object\"]}"));
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    for (size_t limit = 16; status != AW_OK; limit += 16) {
        aw_arena_t *arena = aw_arena_new(limit);
        aw_tea_result_t result;
        assert_non_null(arena);
        status = aw_tea_check(AW_TEA_COMMAND, AW_TEA_EDITION_B, text, arena, &result);
        assert_true(status == AW_STATUS_LIMIT_DECODE_BYTES || result.outcome == AW_TEA_OK);
        aw_arena_free(arena);
    }
}

/* The tables lean on an order that the compiler does not hold. */

static void check_object(const aw__tea_object_t *object);

static void check_rule(const aw__tea_rule_t *rule)
{
    assert_non_null(rule);
    assert_non_null(rule->name);
    switch (rule->form) {
    case AW__TEA_FORM_OBJECT:
        check_object(rule->object);
        break;
    case AW__TEA_FORM_LIST:
        assert_true(rule->min <= rule->max && rule->label != AW_TEA_LABEL_NONE);
        check_rule(rule->item);
        break;
    case AW__TEA_FORM_CHOICE:
        for (unsigned i = 0; i < rule->choice->count; i++) {
            check_object(rule->choice->cases[i].object);
        }
        break;
    case AW__TEA_FORM_WORD:
        assert_non_null(rule->words);
        break;
    case AW__TEA_FORM_TEXT:
    case AW__TEA_FORM_BODY:
    case AW__TEA_FORM_BASE64:
    case AW__TEA_FORM_URL:
    case AW__TEA_FORM_PAGE_URL:
        assert_true(rule->max > 0 && rule->label != AW_TEA_LABEL_NONE);
        break;
    case AW__TEA_FORM_NAME:
    case AW__TEA_FORM_MIME:
        assert_true(rule->min > 0 && rule->max > 0 && rule->first != 0 && rule->rest != 0);
        break;
    default:
        break;
    }
}

static void check_object(const aw__tea_object_t *object)
{
    assert_in_range(object->count, 0, AW__TEA_FIELDS_MAX);
    for (unsigned i = 0; i < object->count; i++) {
        const aw__tea_field_t *field = &object->fields[i];
        assert_int_equal(strlen(field->name), field->name_size);
        if (i > 0 && aw__json_key_compare(aw_span_text_view(object->fields[i - 1].name),
                                          aw_span_text_view(field->name)) >= 0) {
            fail_msg("%s: %s does not sort behind %s", object->name, field->name,
                     object->fields[i - 1].name);
        }
        check_rule(field->rule);
    }
    if (object->order != NULL) {
        assert_int_equal(strlen(object->order), object->count);
        for (unsigned i = 0; i < object->count; i++) {
            assert_non_null(strchr(object->order, (int)('0' + i)));
        }
    }
}

static void test_edition_tables_are_sorted_and_whole(void **state)
{
    (void)state;
    static const unsigned types[AW_TEA_KIND_COUNT] = {11, 14, 16, 1};
    for (unsigned kind = 0; kind < AW_TEA_KIND_COUNT; kind++) {
        const aw__tea_envelope_t *envelope = aw__tea_envelope_of((aw_tea_kind_t)kind);
        check_object(envelope->object);
        assert_int_equal(envelope->count, types[kind]);
        for (unsigned i = 0; i < envelope->count; i++) {
            check_object(envelope->types[i].payload);
        }
    }
    check_object(&aw__tea_unknown_event);
}

static void test_edition_names_are_unique_words(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= AW_TEA_LABEL_SCHEMA; i++) {
        const char *name = aw_tea_label_name((aw_tea_label_t)i);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        assert_true(strlen(name) > 0 && strlen(aw_tea_label_meaning((aw_tea_label_t)i)) > 0);
        for (unsigned j = 1; j < i; j++) {
            assert_string_not_equal(name, aw_tea_label_name((aw_tea_label_t)j));
        }
    }
    assert_string_equal(aw_tea_class_name(AW_TEA_INVALID), "invalid");
    assert_string_equal(aw_tea_class_name(AW_TEA_UNSUPPORTED_STATE_BEARING),
                        "unsupported_state_bearing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edition_differences_are_those_of_the_description),
        cmocka_unit_test(test_edition_contextual_text_is_for_users_only),
        cmocka_unit_test(test_edition_b_output_format_is_written_and_a_drops_it),
        cmocka_unit_test(test_edition_b_schemas_keywords_are_held_to_the_draft),
        cmocka_unit_test(test_edition_b_schema_has_32_levels_and_262144_bytes),
        cmocka_unit_test(test_edition_b_many_names_are_compared_in_little_time),
        cmocka_unit_test(test_edition_b_schema_refused_memory_is_no_verdict),
        cmocka_unit_test(test_edition_tables_are_sorted_and_whole),
        cmocka_unit_test(test_edition_names_are_unique_words),
    };
    return cmocka_run_group_tests(tests, aw_test_tea_set_up, aw_test_tea_tear_down);
}
