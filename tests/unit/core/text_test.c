#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/text.h"

#define REPLACED "\xef\xbf\xbd"

static void assert_cleaned(const char *text, size_t size, const char *expected)
{
    char clean[256];

    assert_int_equal(ab_text_clean(aw_span_view(text, size), clean, sizeof(clean)),
                     strlen(expected));
    assert_string_equal(clean, expected);
}

static void test_clean_well_formed_text_stays(void **state)
{
    static const char text[] =
        "agents.in \xc2\xa0 \xc3\xa9 \xe2\x82\xac \xef\xbf\xbd \xf4\x8f\xbf\xbf \xed\x9f\xbf";

    (void)state;
    assert_cleaned(text, strlen(text), text);
    assert_cleaned("", 0, "");
    assert_cleaned(NULL, 0, "");
}

static void test_clean_control_characters_are_replaced(void **state)
{
    (void)state;
    assert_cleaned("a\0b", 3, "a" REPLACED "b");
    assert_cleaned("\n\r\t\x1b\x7f", 5, REPLACED REPLACED REPLACED REPLACED REPLACED);
    assert_cleaned("\xc2\x85\xc2\x9f\xc2\xa0", 6, REPLACED REPLACED "\xc2\xa0");
}

static void test_clean_each_ill_formed_byte_is_replaced(void **state)
{
    (void)state;
    assert_cleaned("\x80", 1, REPLACED);
    assert_cleaned("\xc0\xaf", 2, REPLACED REPLACED);              /* overlong slash */
    assert_cleaned("\xe0\x9f\xbf", 3, REPLACED REPLACED REPLACED); /* overlong */
    assert_cleaned("\xed\xa0\x80", 3, REPLACED REPLACED REPLACED); /* surrogate */
    assert_cleaned("\xf4\x90\x80\x80x", 5, REPLACED REPLACED REPLACED REPLACED "x");
    assert_cleaned("\xf0\x8f\xbf\xbf", 4, REPLACED REPLACED REPLACED REPLACED);
    assert_cleaned("\xe2\x82", 2, REPLACED REPLACED); /* cut off */
    assert_cleaned("\xe2\x82z", 3, REPLACED REPLACED "z");
    assert_cleaned("\xff\xfe", 2, REPLACED REPLACED);
}

static void test_clean_full_buffer_ends_between_characters(void **state)
{
    char clean[6];

    (void)state;
    assert_int_equal(ab_text_clean(aw_span_text_view("abcdefgh"), clean, sizeof(clean)), 5);
    assert_string_equal(clean, "abcde");
    assert_int_equal(ab_text_clean(aw_span_text_view("abc\xe2\x82\xac"), clean, sizeof(clean)), 3);
    assert_string_equal(clean, "abc");
    assert_int_equal(ab_text_clean(aw_span_text_view("ab\xe2\x82\xac"), clean, sizeof(clean)), 5);
    assert_string_equal(clean, "ab\xe2\x82\xac");
    assert_int_equal(ab_text_clean(aw_span_text_view("abc"), clean, 1), 0);
    assert_string_equal(clean, "");
}

static void test_decimal_numbers_are_as_printf_writes_them(void **state)
{
    static const int64_t numbers[] = {0,         1,        9, 10, -1, -10, 42, 1700000000000,
                                      INT64_MAX, INT64_MIN};

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char text[AB_DECIMAL_MAX];
        char expected[AB_DECIMAL_MAX];

        (void)snprintf(expected, sizeof(expected), "%" PRId64, numbers[i]);
        assert_int_equal(ab_text_decimal(numbers[i], text), strlen(expected));
        assert_string_equal(text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_well_formed_text_stays),
        cmocka_unit_test(test_clean_control_characters_are_replaced),
        cmocka_unit_test(test_clean_each_ill_formed_byte_is_replaced),
        cmocka_unit_test(test_clean_full_buffer_ends_between_characters),
        cmocka_unit_test(test_decimal_numbers_are_as_printf_writes_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
