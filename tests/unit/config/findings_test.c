#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/place.h"
#include "tests/unit/config/support.h"

static void expect_text(const ab_findings_t *findings, const char *wanted)
{
    char *text = findings_text_new(findings);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_findings_any_order_printed_by_position(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    ab_findings_add_at(&findings, false, 7, 3, "b", "second of %d", 4);
    ab_findings_add_at(&findings, true, 7, 1, "a", "first");
    ab_findings_add(&findings, false, 9, "c", "without a column");
    ab_findings_add(&findings, false, 0, "", "the file as a whole");
    ab_findings_add_at(&findings, false, 7, 3, "d", "found later at the same place");
    assert_int_equal(findings.mistakes, 4);
    assert_int_equal(findings.warnings, 1);
    expect_text(&findings, "c: error: the file as a whole\n"
                           "c:7:1: warning: a: first\n"
                           "c:7:3: error: b: second of 4\n"
                           "c:7:3: error: d: found later at the same place\n"
                           "c:9: error: c: without a column\n");
}

static void test_findings_one_below_the_limit_all_kept(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    for (unsigned i = 0; i < AB_FINDINGS_MAX - 1; i++) {
        ab_findings_add(&findings, false, i + 1, "k", "m");
    }
    assert_int_equal(findings.count, AB_FINDINGS_MAX - 1);
    ab_findings_add(&findings, false, 100, "k", "m");
    assert_int_equal(findings.count, AB_FINDINGS_MAX);
    char *text = findings_text_new(&findings);
    assert_null(strstr(text, "not shown"));
    free(text);
}

static void test_findings_over_the_limit_counted_and_said(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    for (unsigned i = 0; i < AB_FINDINGS_MAX + 1; i++) {
        ab_findings_add(&findings, false, i + 1, "k", "m");
    }
    assert_int_equal(findings.count, AB_FINDINGS_MAX);
    assert_int_equal(findings.mistakes, AB_FINDINGS_MAX + 1);
    char *text = findings_text_new(&findings);
    const char *last = "c: note: 1 more findings are not shown; mend these first\n";
    assert_string_equal(text + strlen(text) - strlen(last), last);
    free(text);
}

static void test_findings_full_of_warnings_mistake_takes_the_last(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    ab_findings_add(&findings, false, 1, "k", "kept");
    for (unsigned i = 1; i < AB_FINDINGS_MAX; i++) {
        ab_findings_add(&findings, true, i + 1, "k", "m");
    }
    ab_findings_add(&findings, false, 500, "new", "mistake");
    ab_findings_add(&findings, true, 501, "new", "warning");
    assert_int_equal(findings.count, AB_FINDINGS_MAX);
    assert_string_equal(findings.items[0].message, "kept");
    assert_string_equal(findings.items[AB_FINDINGS_MAX - 1].key, "new");
    assert_string_equal(findings.items[AB_FINDINGS_MAX - 1].message, "mistake");
}

static void test_findings_long_texts_cut_between_characters(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    char *a = repeat_new('a', AB_FINDING_MESSAGE_MAX - 3);
    /* Room for 2 bytes: é fits, € does not, and neither does half of it. */
    ab_findings_add(&findings, false, 1, "k", "%s\xc3\xa9", a);
    ab_findings_add(&findings, false, 1, "k", "%s\xe2\x82\xac", a);
    ab_findings_add(&findings, false, 1, "k", "%sb\xf0\x9f\x98\x80", a);
    assert_int_equal(strlen(findings.items[0].message), AB_FINDING_MESSAGE_MAX - 1);
    assert_string_equal(findings.items[1].message, a);
    assert_int_equal(strlen(findings.items[2].message), AB_FINDING_MESSAGE_MAX - 2);
    assert_int_equal(findings.items[2].message[AB_FINDING_MESSAGE_MAX - 3], 'b');
    free(a);
}

static void test_findings_control_characters_stay_one_line(void **state)
{
    (void)state;
    ab_findings_t findings = {0};
    ab_findings_add(&findings, false, 1, "k", "%s", "a\nb\x1b[1m\x7f");
    expect_text(&findings, "c:1: error: k: a?b?[1m?\n");
}

static void test_place_names_and_items_make_a_path(void **state)
{
    (void)state;
    ab_place_t place = {0};
    assert_true(ab_place_enter(&place, "sources"));
    ab_place_enter_item(&place, 12);
    assert_true(ab_place_enter(&place, "a.b_c-D9"));
    assert_string_equal(place.key, "sources[12].a.b_c-D9");
    assert_false(ab_place_enter(&place, ""));
    assert_string_equal(place.key, "sources[12].a.b_c-D9");
}

static void test_place_name_with_a_colon_rest_not_shown(void **state)
{
    (void)state;
    ab_place_t place = {0};
    assert_false(ab_place_enter(&place, "sasl.password:hunter2"));
    assert_string_equal(place.key, "sasl.password");
}

static void test_place_path_too_long_cut(void **state)
{
    (void)state;
    ab_place_t place = {0};
    char *name = repeat_new('n', 200);
    assert_true(ab_place_enter(&place, name));
    ab_place_enter_item(&place, 1);
    assert_true(ab_place_enter(&place, "x"));
    assert_int_equal(strlen(place.key), AB_FINDING_KEY_MAX - 1);
    free(name);
}

static void test_shown_texts_printable_and_short(void **state)
{
    (void)state;
    char shown[AB_SHOWN_MAX];
    char *long_text = repeat_new('x', 65);
    assert_string_equal(ab_shown("", shown), "");
    assert_string_equal(ab_shown("a b\t\x80\n", shown), "a b???");
    assert_int_equal(strlen(ab_shown(long_text + 1, shown)), 64);
    assert_string_equal(shown, long_text + 1);
    assert_int_equal(strlen(ab_shown(long_text, shown)), 67);
    assert_string_equal(shown + 64, "...");
    free(long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings_any_order_printed_by_position),
        cmocka_unit_test(test_findings_one_below_the_limit_all_kept),
        cmocka_unit_test(test_findings_over_the_limit_counted_and_said),
        cmocka_unit_test(test_findings_full_of_warnings_mistake_takes_the_last),
        cmocka_unit_test(test_findings_long_texts_cut_between_characters),
        cmocka_unit_test(test_findings_control_characters_stay_one_line),
        cmocka_unit_test(test_place_names_and_items_make_a_path),
        cmocka_unit_test(test_place_name_with_a_colon_rest_not_shown),
        cmocka_unit_test(test_place_path_too_long_cut),
        cmocka_unit_test(test_shown_texts_printable_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
