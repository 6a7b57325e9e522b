#include "tests/unit/codec/tea_support.h"

#include <stdio.h>
#include <stdlib.h>

#define CASES_MAX 600u
#define TEXTS     4u

aw_test_tea_case_t *aw_test_tea_cases;
size_t aw_test_tea_count;
aw_arena_t *aw_test_tea_arena;

static char *texts[TEXTS];
static unsigned next_text;

static aw_span_t copy_of(const json_t *text)
{
    size_t size = json_string_length(text);
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, json_string_value(text), size + 1);
    return aw_span_view(copy, size);
}

static void load_case(const json_t *row, void *opaque)
{
    (void)opaque;
    assert_in_range(aw_test_tea_count, 0, CASES_MAX - 1);
    aw_test_tea_case_t *into = &aw_test_tea_cases[aw_test_tea_count++];
    const json_t *canonical = json_object_get(row, "canonical");
    snprintf(into->name, sizeof into->name, "%s", aw_test_text(row, "name"));
    snprintf(into->expect, sizeof into->expect, "%s", aw_test_text(row, "expect"));
    assert_true(aw_tea_kind_find(aw_span_text_view(aw_test_text(row, "kind")), &into->kind));
    into->input = copy_of(json_object_get(row, "input"));
    into->canonical = json_is_string(canonical) ? copy_of(canonical) : AW_SPAN_NULL;
}

int aw_test_tea_set_up(void **state)
{
    (void)state;
    aw_test_tea_cases = calloc(CASES_MAX, sizeof *aw_test_tea_cases);
    assert_non_null(aw_test_tea_cases);
    assert_int_equal(aw_test_lines("golden/tea/v1/tea-cases.jsonl", load_case, NULL), 396);
    aw_test_tea_arena = aw_arena_new(0);
    assert_non_null(aw_test_tea_arena);
    for (unsigned i = 0; i < TEXTS; i++) {
        texts[i] = malloc(AW_TEST_TEA_ROOM);
        assert_non_null(texts[i]);
    }
    return 0;
}

int aw_test_tea_tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        free((void *)aw_test_tea_cases[i].input.data);
        free((void *)aw_test_tea_cases[i].canonical.data);
    }
    free(aw_test_tea_cases);
    aw_arena_free(aw_test_tea_arena);
    for (unsigned i = 0; i < TEXTS; i++) {
        free(texts[i]);
    }
    return 0;
}

const aw_test_tea_case_t *aw_test_tea_find(const char *name)
{
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        if (strcmp(aw_test_tea_cases[i].name, name) == 0) {
            return &aw_test_tea_cases[i];
        }
    }
    fail_msg("no case %s", name);
    return NULL;
}

const char *aw_test_tea_verdict(const aw_tea_result_t *result)
{
    static char text[64];
    snprintf(text, sizeof text, "%s%s%s", aw_tea_class_name(result->outcome),
             result->label != AW_TEA_LABEL_NONE ? ":" : "", aw_tea_label_name(result->label));
    return text;
}

aw_tea_result_t aw_test_tea_check(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text)
{
    aw_tea_result_t result;
    aw_arena_reset(aw_test_tea_arena);
    assert_int_equal(aw_tea_check(kind, edition, text, aw_test_tea_arena, &result), AW_OK);
    assert_true((result.label != AW_TEA_LABEL_NONE) == (result.outcome == AW_TEA_INVALID));
    assert_true(result.offset >= -1 && result.offset <= (int64_t)text.size);
    assert_in_range(result.pointer_known, 0, strlen(result.pointer));
    return result;
}

void aw_test_tea_expect(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text,
                        const char *verdict)
{
    aw_tea_result_t result = aw_test_tea_check(kind, edition, text);
    if (strcmp(aw_test_tea_verdict(&result), verdict) != 0) {
        fail_msg("%s at %s, not %s: %.*s", aw_test_tea_verdict(&result), result.pointer, verdict,
                 (int)(text.size < 400 ? text.size : 400), (const char *)text.data);
    }
    aw_span_t canonical, again;
    assert_int_equal(aw_tea_canonical(kind, edition, text, aw_test_tea_arena, &result, &canonical),
                     AW_OK);
    assert_string_equal(aw_test_tea_verdict(&result), verdict);
    assert_int_equal(canonical.data != NULL, result.outcome == AW_TEA_OK);
    if (canonical.data != NULL) {
        assert_int_equal(
            aw_tea_canonical(kind, edition, canonical, aw_test_tea_arena, &result, &again), AW_OK);
        assert_string_equal(aw_test_tea_verdict(&result), "ok");
        assert_true(aw_span_equal(canonical, again));
    }
}

static char *take_text(void)
{
    return texts[next_text++ % TEXTS];
}

aw_span_t aw_test_tea_text(const char *format, ...)
{
    char *text = take_text();
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, AW_TEST_TEA_ROOM, format, arguments);
    va_end(arguments);
    assert_in_range(size, 0, AW_TEST_TEA_ROOM - 1);
    return aw_span_view(text, (size_t)size);
}

const char *aw_test_tea_run(char byte, size_t count)
{
    char *text = take_text();
    assert_in_range(count, 0, AW_TEST_TEA_ROOM - 1);
    memset(text, byte, count);
    text[count] = '\0';
    return text;
}

aw_span_t aw_test_tea_envelope(aw_tea_kind_t kind, const char *members, const char *type,
                               const char *payload)
{
    static const char *const of_session[] = {"session_compacted", "session_forked"};
    static const char *const of_run[] = {"run_started", "run_finished"};
    const char *heads[AW_TEA_KIND_COUNT] = {
        [AW_TEA_COMMAND] = "\"commandId\":\"" AW_TEST_TEA_ID("1") "\",",
        [AW_TEA_EVENT] = "\"eventId\":\"" AW_TEST_TEA_ID("1") "\",\"sequence\":\"12\",",
        [AW_TEA_RECORD] = "\"recordId\":\"" AW_TEST_TEA_ID("1") "\",\"sequence\":\"12\",",
    };
    bool session = strcmp(type, "create_session") != 0;
    bool run = kind == AW_TEA_EVENT;
    bool turn = kind == AW_TEA_EVENT;
    for (size_t i = 0; i < 2; i++) {
        run = run && strcmp(type, of_session[i]) != 0;
        turn = turn && strcmp(type, of_session[i]) != 0 && strcmp(type, of_run[i]) != 0;
    }
    return aw_test_tea_text("{\"protocolVersion\":\"1.0\",%s%s%s%s%s\"timestamp\":"
                            "\"" AW_TEST_TEA_TIMESTAMP "\",\"type\":\"%s\",\"payload\":%s}",
                            heads[kind], members,
                            session ? "\"sessionId\":\"" AW_TEST_TEA_ID("2") "\"," : "",
                            run ? "\"runId\":\"" AW_TEST_TEA_ID("3") "\"," : "",
                            turn ? "\"turnId\":\"" AW_TEST_TEA_ID("4") "\"," : "", type, payload);
}
