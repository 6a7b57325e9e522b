/* The frozen cases of golden/tea: verdicts and canonical texts that this codec did not make. */
#include "tests/unit/codec/tea_support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static void test_cases_verdicts_and_canonical_texts_are_those_of_the_file(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        const aw_test_tea_case_t *of = &aw_test_tea_cases[i];
        aw_tea_result_t result;
        aw_span_t canonical;
        aw_arena_reset(aw_test_tea_arena);
        assert_int_equal(aw_tea_canonical(of->kind, AW_TEA_EDITION_A, aw_test_guarded(of->input),
                                          aw_test_tea_arena, &result, &canonical),
                         AW_OK);
        if (strcmp(aw_test_tea_verdict(&result), of->expect) != 0) {
            print_error("%s: %s at %s, not %s\n", of->name, aw_test_tea_verdict(&result),
                        result.pointer, of->expect);
            wrong++;
        } else if (!aw_span_equal(canonical, of->canonical)) {
            print_error("%s: %.*s\n   not %.*s\n", of->name, (int)canonical.size, canonical.data,
                        (int)of->canonical.size, of->canonical.data);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_cases_canonical_text_is_its_own_canonical_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        const aw_test_tea_case_t *of = &aw_test_tea_cases[i];
        if (of->canonical.data != NULL) {
            aw_test_tea_expect(of->kind, AW_TEA_EDITION_A, of->canonical, "ok");
        }
    }
}

static void test_cases_canonical_text_says_the_same_to_jansson(void **state)
{
    (void)state;
    /* what jansson itself cannot read, or reads otherwise */
    static const char *const beyond[] = {"freeform_nul_key", "freeform_u64_max",
                                         "freeform_beyond_u64", "freeform_negative_zero",
                                         "freeform_floats"};
    unsigned compared = 0;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        const aw_test_tea_case_t *of = &aw_test_tea_cases[i];
        bool skip = of->canonical.data == NULL;
        for (size_t j = 0; j < sizeof beyond / sizeof beyond[0]; j++) {
            skip = skip || strcmp(of->name, beyond[j]) == 0;
        }
        if (skip || of->kind == AW_TEA_ERROR) {
            continue; /* an error's members stand in an order of their own */
        }
        json_t *tree = json_loadb((const char *)of->canonical.data, of->canonical.size,
                                  JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(tree);
        char *dumped = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
        if (strstr(dumped, "\\u00") == NULL) { /* jansson's escapes are in upper case */
            assert_true(aw_span_equal(aw_span_text_view(dumped), of->canonical));
            compared++;
        }
        free(dumped);
        json_decref(tree);
    }
    assert_in_range(compared, 100, 400);
}

static void test_cases_text_cut_anywhere_is_malformed_and_never_a_crash(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        const aw_test_tea_case_t *of = &aw_test_tea_cases[i];
        if (of->input.size > 2000 || of->canonical.data == NULL) {
            continue;
        }
        for (size_t size = 0; size < of->input.size; size++) {
            aw_span_t cut = aw_test_guarded(aw_span_view(of->input.data, size));
            aw_tea_result_t result = aw_test_tea_check(of->kind, AW_TEA_EDITION_A, cut);
            if (of->input.data[size] == '}' && result.outcome == AW_TEA_OK) {
                fail_msg("%s cut to %zu is accepted", of->name, size);
            }
        }
    }
}

static void test_cases_every_text_as_every_kind_in_both_editions_gets_a_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        for (unsigned kind = 0; kind < AW_TEA_KIND_COUNT; kind++) {
            aw_tea_kind_t of = (aw_tea_kind_t)kind;
            aw_tea_result_t a = aw_test_tea_check(of, AW_TEA_EDITION_A, aw_test_tea_cases[i].input);
            aw_tea_result_t b = aw_test_tea_check(of, AW_TEA_EDITION_B, aw_test_tea_cases[i].input);
            /* the editions differ in commands and in what they hold alone */
            if (of == AW_TEA_EVENT || of == AW_TEA_ERROR) {
                assert_int_equal(a.outcome, b.outcome);
            }
        }
    }
}

static void test_cases_changed_at_random_get_a_verdict_that_holds_still(void **state)
{
    (void)state;
    enum { ROUNDS = 20, ROOM = 4096 };
    uint64_t random = 88;
    unsigned accepted = 0;
    for (size_t i = 0; i < aw_test_tea_count; i++) {
        const aw_test_tea_case_t *of = &aw_test_tea_cases[i];
        for (unsigned round = 0; round < ROUNDS && of->input.size <= ROOM / 2; round++) {
            uint8_t bytes[ROOM];
            memcpy(bytes, of->input.data, of->input.size);
            size_t size = aw_test_mutate(&random, bytes, of->input.size, ROOM);
            aw_span_t text = aw_test_guarded(aw_span_view(bytes, size));
            aw_tea_result_t result = aw_test_tea_check(of->kind, AW_TEA_EDITION_B, text);
            accepted += result.outcome == AW_TEA_OK;
            char verdict[64]; /* a copy: the text of the verdict lives until the next */
            snprintf(verdict, sizeof verdict, "%s", aw_test_tea_verdict(&result));
            aw_test_tea_expect(of->kind, AW_TEA_EDITION_B, text, verdict);
        }
    }
    assert_in_range(accepted, 20, aw_test_tea_count * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_verdicts_and_canonical_texts_are_those_of_the_file),
        cmocka_unit_test(test_cases_canonical_text_is_its_own_canonical_text),
        cmocka_unit_test(test_cases_canonical_text_says_the_same_to_jansson),
        cmocka_unit_test(test_cases_text_cut_anywhere_is_malformed_and_never_a_crash),
        cmocka_unit_test(test_cases_changed_at_random_get_a_verdict_that_holds_still),
        cmocka_unit_test(test_cases_every_text_as_every_kind_in_both_editions_gets_a_verdict),
    };
    return cmocka_run_group_tests(tests, aw_test_tea_set_up, aw_test_tea_tear_down);
}
