#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "tests/unit/core/letter.h"

#define CASES_FILE "golden/dead-letter/v1/cases.jsonl"
/** Fewer cases than this means that the file was not read to its end. */
#define CASES_MIN 40

/** The bytes of hexadecimal text, to be freed; the absent span for JSON null. */
static aw_span_t bytes_of(const json_t *hex)
{
    const char *text = json_string_value(hex);
    size_t size = json_string_length(hex) / 2;
    uint8_t *bytes;

    if (json_is_null(hex)) {
        return AW_SPAN_NULL;
    }
    assert_non_null(text);
    bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {text[2 * i], text[2 * i + 1], '\0'};
        char *end;

        bytes[i] = (uint8_t)strtoul(digits, &end, 16);
        assert_ptr_equal(end, digits + 2);
    }
    return aw_span_view(bytes, size);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    assert_non_null(text);
    return text;
}

static int64_t number_of(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

static ab_route_t route_of(const json_t *policy, const char *name)
{
    const char *text = text_of(policy, name);

    if (strcmp(text, "dead_letter") == 0) {
        return (ab_route_t){AB_ROUTE_DEAD_LETTER, NULL};
    }
    return (ab_route_t){AB_ROUTE_TOPIC, text};
}

static ab_policy_t policy_of(const json_t *policy)
{
    return (ab_policy_t){
        .topic = "agents.in",
        .routes = {route_of(policy, "external_event"), route_of(policy, "tool_result"),
                   route_of(policy, "approval"), route_of(policy, "export_request"),
                   route_of(policy, "unknown_variant")},
        .tombstone_drop = strcmp(text_of(policy, "on_tombstone"), "drop") == 0,
        .key_mismatch_ignore = strcmp(text_of(policy, "on_key_mismatch"), "ignore") == 0,
        .null_key_dead_letter = strcmp(text_of(policy, "on_null_key"), "dead_letter") == 0,
        .max_value_bytes = (uint64_t)number_of(policy, "max_value"),
        .max_hops = (uint32_t)number_of(policy, "max_hops"),
    };
}

static ab_timestamp_type_t timestamp_type_of(const char *name)
{
    if (strcmp(name, "create") == 0) {
        return AB_TIMESTAMP_CREATE;
    }
    if (strcmp(name, "append") == 0) {
        return AB_TIMESTAMP_APPEND;
    }
    assert_string_equal(name, "none");
    return AB_TIMESTAMP_NONE;
}

static ab_record_t record_of(const json_t *record)
{
    return (ab_record_t){
        .topic = text_of(record, "topic"),
        .partition = (int32_t)number_of(record, "partition"),
        .offset = number_of(record, "offset"),
        .timestamp_ms = number_of(record, "timestamp_ms"),
        .timestamp_type = timestamp_type_of(text_of(record, "timestamp_type")),
        .key = bytes_of(json_object_get(record, "key_hex")),
        .value = bytes_of(json_object_get(record, "value_hex")),
        .hops = (uint32_t)number_of(record, "hops"),
    };
}

static void assert_verdict(const ab_verdict_t *verdict, const json_t *expected)
{
    const json_t *at = json_object_get(expected, "at");

    assert_int_equal(verdict->outcome, AB_OUTCOME_DEAD_LETTERED);
    assert_string_equal(ab_reason_code(verdict->reason), text_of(expected, "reason"));
    assert_int_equal(verdict->at, json_is_null(at) ? -1 : json_integer_value(at));
    assert_string_equal(verdict->field, text_of(expected, "field"));
}

static void assert_letter(const ab_letter_t *letter, const json_t *expected, aw_arena_t *arena)
{
    aw_span_t key = bytes_of(json_object_get(expected, "key_hex"));
    aw_span_t value = bytes_of(json_object_get(expected, "value_hex"));
    const json_t *headers = json_object_get(expected, "headers");

    assert_span_text(letter_view(letter, arena).detail, text_of(expected, "detail"));
    assert_same_span(letter->key, key);
    assert_same_span(letter->value, value);
    assert_int_equal(letter->header_count, json_array_size(headers));
    for (size_t i = 0; i < letter->header_count; i++) {
        const json_t *header = json_array_get(headers, i);

        assert_header(letter, i, json_string_value(json_array_get(header, 0)),
                      json_string_value(json_array_get(header, 1)));
    }
    free((void *)key.data);
    free((void *)value.data);
}

static void check_case(const json_t *test_case, aw_arena_t *arena)
{
    ab_record_t record = record_of(json_object_get(test_case, "record"));
    ab_policy_t policy = policy_of(json_object_get(test_case, "policy"));
    const json_t *expected = json_object_get(test_case, "letter");
    const char *output = json_string_value(json_object_get(test_case, "output_topic"));
    ab_verdict_t verdict;
    ab_letter_t letter;

    print_message("%s\n", text_of(test_case, "name"));
    assert_int_equal(ab_verdict_of(&record, &policy, NULL, &verdict), AW_OK);
    if (output != NULL) {
        assert_int_equal(verdict.outcome, AB_OUTCOME_ROUTED);
        ab_verdict_reject(&verdict, text_of(test_case, "output_text"));
    }
    assert_verdict(&verdict, expected);
    assert_int_equal(ab_dead_letter_build(&record, &verdict, text_of(test_case, "group"), output,
                                          arena, &letter),
                     AW_OK);
    assert_letter(&letter, expected, arena);
    free((void *)record.key.data);
    free((void *)record.value.data);
}

static void test_golden_every_frozen_record_gives_its_frozen_letter(void **state)
{
    FILE *file = fopen(CASES_FILE, "r");
    aw_arena_t *arena = aw_arena_new(0);
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;

    (void)state;
    assert_non_null(file);
    assert_non_null(arena);
    while (getline(&line, &capacity, file) > 0) {
        json_error_t error;
        json_t *test_case = json_loads(line, JSON_ALLOW_NUL, &error);

        assert_non_null(test_case);
        check_case(test_case, arena);
        json_decref(test_case);
        aw_arena_reset(arena);
        count++;
    }
    assert_true(count >= CASES_MIN);
    free(line);
    aw_arena_free(arena);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_every_frozen_record_gives_its_frozen_letter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
