#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/cli/select.h"

#define NOW_MS 1700000000000

static const ab_verb_t VERB = {.name = "test"};

static void test_when_a_duration_is_so_long_ago(void **state)
{
    int64_t at_ms = 0;
    (void)state;
    assert_true(ab_when_parse("30m", NOW_MS, &at_ms));
    assert_int_equal(at_ms, NOW_MS - 1800000);
    assert_true(ab_when_parse("0s", NOW_MS, &at_ms));
    assert_int_equal(at_ms, NOW_MS);
    assert_true(ab_when_parse("1700000000000ms", NOW_MS, &at_ms));
    assert_int_equal(at_ms, 0);
}

static void test_when_a_time_is_that_time(void **state)
{
    int64_t at_ms = 0;
    (void)state;
    assert_true(ab_when_parse("2023-11-14T22:13:20Z", NOW_MS, &at_ms));
    assert_int_equal(at_ms, 1700000000000);
    assert_true(ab_when_parse("2023-11-14T23:13:20.5+01:00", NOW_MS, &at_ms));
    assert_int_equal(at_ms, 1700000000500);
}

static void test_when_anything_else_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "30",
                                        "m",
                                        "-30m",
                                        "30 m",
                                        "30d",
                                        "2023-11-14",
                                        "now",
                                        "1h30m",
                                        "1700000000001ms",
                                        "99999999999999999999h",
                                        "2023-11-14T22:13:20"};
    int64_t at_ms = 42;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(ab_when_parse(texts[i], NOW_MS, &at_ms));
        assert_int_equal(at_ms, 42);
    }
}

static void test_select_since_and_until_fill_their_own_half(void **state)
{
    ab_read_range_t range = {0};
    (void)state;
    assert_int_equal(ab_select_when(&VERB, true, "2023-11-14T22:13:20Z", &range), AB_CLI_OK);
    assert_true(range.has_since);
    assert_false(range.has_until);
    assert_int_equal(range.since_ms, 1700000000000);
    assert_int_equal(ab_select_when(&VERB, false, "1h", &range), AB_CLI_OK);
    assert_true(range.has_until);
    assert_true(range.until_ms > range.since_ms);
    assert_int_equal(ab_select_when(&VERB, false, "soon", &range), AB_CLI_USAGE);
}

static void test_select_record_and_timeout_are_checked(void **state)
{
    ab_coordinates_t at;
    int ms = 5;
    (void)state;
    assert_int_equal(ab_select_record(&VERB, "in:1:2", &at), AB_CLI_OK);
    assert_int_equal(ab_select_record(&VERB, "in:1", &at), AB_CLI_USAGE);
    assert_int_equal(ab_select_timeout(&VERB, "99ms", &ms), AB_CLI_USAGE);
    assert_int_equal(ab_select_timeout(&VERB, "601s", &ms), AB_CLI_USAGE);
    assert_int_equal(ms, 5);
    assert_int_equal(ab_select_timeout(&VERB, "100ms", &ms), AB_CLI_OK);
    assert_int_equal(ms, 100);
    assert_int_equal(ab_select_timeout(&VERB, "10m", &ms), AB_CLI_OK);
    assert_int_equal(ms, 600000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_a_duration_is_so_long_ago),
        cmocka_unit_test(test_when_a_time_is_that_time),
        cmocka_unit_test(test_when_anything_else_is_refused),
        cmocka_unit_test(test_select_since_and_until_fill_their_own_half),
        cmocka_unit_test(test_select_record_and_timeout_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
