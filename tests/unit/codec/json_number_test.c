#include "tests/unit/codec/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/json/big.h"
#include "codec/json/number.h"

/** Doubles that the random tests draw. */
#define RANDOM_COUNT 20000

static aw_span_t token(const char *text)
{
    return aw_span_text_view(text);
}

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/** One double in the three layouts. */
typedef struct vector {
    double value;
    const char *tea;
    const char *ecmascript;
    const char *python;
} vector_t;

static const vector_t vectors[] = {
    {0.0, "0.0", "0", "0.0"},
    {-0.0, "-0.0", "0", "-0.0"},
    {1.0, "1.0", "1", "1.0"},
    {-1.5, "-1.5", "-1.5", "-1.5"},
    {100.0, "100.0", "100", "100.0"},
    {0.1, "0.1", "0.1", "0.1"},
    {0.3, "0.3", "0.3", "0.3"},
    {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
    {-32.5, "-32.5", "-32.5", "-32.5"},
    {1e15, "1000000000000000.0", "1000000000000000", "1000000000000000.0"},
    {1e16, "1e16", "10000000000000000", "1e+16"},
    {1.5e16, "1.5e16", "15000000000000000", "1.5e+16"},
    {9007199254740993.0, "9007199254740992.0", "9007199254740992", "9007199254740992.0"},
    {123456789012345680.0, "1.2345678901234568e17", "123456789012345680", "1.2345678901234568e+17"},
    {1e20, "1e20", "100000000000000000000", "1e+20"},
    {1e21, "1e21", "1e+21", "1e+21"},
    {1.25e21, "1.25e21", "1.25e+21", "1.25e+21"},
    {1e22, "1e22", "1e+22", "1e+22"},
    {1e23, "1e23", "1e+23", "1e+23"},
    {0.001, "0.001", "0.001", "0.001"},
    {0.0001, "0.0001", "0.0001", "0.0001"},
    {0.00001, "0.00001", "0.00001", "1e-05"},
    {0.000012, "0.000012", "0.000012", "1.2e-05"},
    {0.000001, "1e-6", "0.000001", "1e-06"},
    {0.00000125, "1.25e-6", "0.00000125", "1.25e-06"},
    {0.0000001, "1e-7", "1e-7", "1e-07"},
    {1e-10, "1e-10", "1e-10", "1e-10"},
    {1e100, "1e100", "1e+100", "1e+100"},
    /* the powers of two whose nearest neighbours stand unevenly */
    {0x1p-24, "5.960464477539063e-8", "5.960464477539063e-8", "5.960464477539063e-08"},
    {0x1p-44, "5.684341886080802e-14", "5.684341886080802e-14", "5.684341886080802e-14"},
    {0x1p+77, "1.5111572745182865e23", "1.5111572745182865e+23", "1.5111572745182865e+23"},
    {0x1p-1022, "2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"},
    {0x0.fffffffffffffp-1022, "2.225073858507201e-308", "2.225073858507201e-308",
     "2.225073858507201e-308"},
    {0x1p-1074, "5e-324", "5e-324", "5e-324"},
    {0x3p-1074, "1.5e-323", "1.5e-323", "1.5e-323"},
    {DBL_MAX, "1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
    {-DBL_MAX, "-1.7976931348623157e308", "-1.7976931348623157e+308", "-1.7976931348623157e+308"},
    {9.5367431640625e-7, "9.5367431640625e-7", "9.5367431640625e-7", "9.5367431640625e-07"},
    {4.35, "4.35", "4.35", "4.35"},
    {299792458.0, "299792458.0", "299792458", "299792458.0"},
    {1.7976931348623155e308, "1.7976931348623155e308", "1.7976931348623155e+308",
     "1.7976931348623155e+308"},
};

static void expect_text(double value, aw_json_numbers_t layout, const char *expected)
{
    char text[AW__DOUBLE_TEXT_MAX + 1];
    size_t size = aw__double_text(value, layout, text);
    assert_in_range(size, 1, AW__DOUBLE_TEXT_MAX);
    text[size] = '\0';
    assert_string_equal(text, expected);
}

static void test_number_known_doubles_have_their_text_in_each_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        expect_text(vectors[i].value, AW_JSON_NUMBERS_TEA, vectors[i].tea);
        expect_text(vectors[i].value, AW_JSON_NUMBERS_ECMASCRIPT, vectors[i].ecmascript);
        expect_text(vectors[i].value, AW_JSON_NUMBERS_PYTHON, vectors[i].python);
    }
}

/** A finite double of any magnitude. */
static double random_double(uint64_t *random)
{
    for (;;) {
        double value = double_of_bits(aw_test_random(random));
        if (isfinite(value)) {
            return value;
        }
    }
}

static unsigned digits_of(const char *text)
{
    unsigned count = 0;
    bool leading = true;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9') {
            leading = leading && *text == '0';
            count += !leading;
        }
    }
    return count;
}

/** The text reads back as the value, and no shorter one does. */
static void expect_shortest(double value)
{
    char text[AW__DOUBLE_TEXT_MAX + 1];
    char printed[64];
    text[aw__double_text(value, AW_JSON_NUMBERS_PYTHON, text)] = '\0';
    assert_true(bits_of(strtod(text, NULL)) == bits_of(value));
    if (value == 0) {
        return;
    }
    aw__decimal_t decimal = aw__decimal_shortest(fabs(value));
    snprintf(printed, sizeof printed, "%llue%d", (unsigned long long)decimal.digits,
             decimal.exponent);
    assert_true(strtod(printed, NULL) == fabs(value));
    unsigned count =
        (unsigned)snprintf(printed, sizeof printed, "%llu", (unsigned long long)decimal.digits);
    assert_in_range(count, 1, AW__SHORTEST_DIGITS_MAX);
    assert_true(decimal.digits % 10 != 0);
    assert_true(digits_of(text) <= AW__SHORTEST_DIGITS_MAX);
    if (count > 1) {
        snprintf(printed, sizeof printed, "%.*e", (int)count - 2, value);
        assert_true(strtod(printed, NULL) != value);
    }
}

static void test_number_random_doubles_are_shortest_and_read_back(void **state)
{
    (void)state;
    uint64_t random = 8;
    for (int i = 0; i < RANDOM_COUNT; i++) {
        expect_shortest(random_double(&random));
        expect_shortest((double)(aw_test_random(&random) % 10000000) / 1000);
        expect_shortest((double)aw_test_random(&random));
    }
}

static void test_number_powers_of_two_and_their_neighbours_are_shortest(void **state)
{
    (void)state;
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        double value = ldexp(1, exponent);
        expect_shortest(value);
        expect_shortest(nextafter(value, 0));
        expect_shortest(nextafter(value, DBL_MAX));
    }
}

static double read_double(const char *text)
{
    aw__number_t number;
    assert_true(aw__number_read(token(text), &number));
    assert_int_equal(number.kind, AW__NUMBER_DOUBLE);
    return number.as.real;
}

static void expect_as_strtod(const char *text)
{
    aw__number_t number;
    double expected = strtod(text, NULL);
    if (!isfinite(expected)) {
        assert_false(aw__number_read(token(text), &number));
        return;
    }
    assert_true(bits_of(read_double(text)) == bits_of(expected));
}

static void test_number_seventeen_digits_read_back_every_double(void **state)
{
    (void)state;
    uint64_t random = 17;
    char text[64];
    for (int i = 0; i < RANDOM_COUNT; i++) {
        double value = random_double(&random);
        snprintf(text, sizeof text, "%.16e", value);
        assert_true(bits_of(read_double(text)) == bits_of(value));
    }
}

static void test_number_random_tokens_read_as_strtod_reads_them(void **state)
{
    (void)state;
    uint64_t random = 99;
    char text[96];
    for (int i = 0; i < RANDOM_COUNT; i++) {
        snprintf(text, sizeof text, "%s%llu.%llu%llue%d", aw_test_random(&random) % 2 ? "-" : "",
                 (unsigned long long)(aw_test_random(&random) >> aw_test_random(&random) % 64),
                 (unsigned long long)(aw_test_random(&random) >> aw_test_random(&random) % 64),
                 (unsigned long long)aw_test_random(&random),
                 (int)(aw_test_random(&random) % 700) - 350);
        expect_as_strtod(text);
    }
}

static void test_number_half_way_tokens_are_rounded_to_even(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "9007199254740993.0",
        "9007199254740995.0",
        "9007199254740993.00000000000000000000000000000000000000001",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405301e276",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327208299439634110864354345e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-323",
        "1e-400",
        "-1e-400",
        "1e400",
        "0e400",
        "0.0e99999999999999999999",
        "1e-99999999999999999999",
        "1e99999999999999999999",
        "6.0221407599999999e23",
        "1e23",
        "8.5e22",
        "0.1e1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expect_as_strtod(texts[i]);
    }
}

/** The exact decimal text of the point half way between two doubles, with more or less behind it.
 */
static void test_number_exact_half_way_points_are_decided_by_the_last_digit(void **state)
{
    (void)state;
    static char text[1200];
    uint64_t random = 5;
    for (int i = 0; i < 2000; i++) {
        /* a subnormal or small double: its half-way point has over 700 digits */
        uint64_t bits = aw_test_random(&random) >> (11 + aw_test_random(&random) % 40);
        double value = double_of_bits(bits);
        long double half = ((long double)value + (long double)double_of_bits(bits + 1)) / 2;
        int size = snprintf(text, 1100, "%.780Le", half);
        assert_in_range(size, 700, 1099);
        expect_as_strtod(text);
        char *exponent = strchr(text, 'e');
        char tail[16];
        snprintf(tail, sizeof tail, "%s", exponent);
        snprintf(exponent, 64, "0000000000000000001%s", tail);
        expect_as_strtod(text);
    }
}

static void test_number_long_tokens_are_read_in_full(void **state)
{
    (void)state;
    enum { ZEROS = 100000 };
    static char text[ZEROS + 64];
    memcpy(text, "0.", 2);
    memset(text + 2, '0', ZEROS);
    snprintf(text + 2 + ZEROS, 32, "15e%d", ZEROS);
    assert_true(read_double(text) == 0.15);
    text[0] = '1';
    memset(text + 1, '0', ZEROS);
    snprintf(text + 1 + ZEROS, 32, "e-%d", ZEROS);
    assert_true(read_double(text) == 1);
}

static void test_number_integer_tokens_keep_all_64_bits(void **state)
{
    (void)state;
    aw__number_t number;
    assert_true(aw__number_read(token("18446744073709551615"), &number));
    assert_int_equal(number.kind, AW__NUMBER_UINT);
    assert_true(number.as.uint == UINT64_MAX);
    assert_true(aw__number_read(token("0"), &number));
    assert_int_equal(number.kind, AW__NUMBER_UINT);
    assert_true(number.as.uint == 0);
    assert_true(aw__number_read(token("-9223372036854775808"), &number));
    assert_int_equal(number.kind, AW__NUMBER_INT);
    assert_true(number.as.sint == INT64_MIN);
    assert_true(aw__number_read(token("-1"), &number));
    assert_int_equal(number.kind, AW__NUMBER_INT);
    assert_true(number.as.sint == -1);
}

static void test_number_integers_beyond_64_bits_are_doubles(void **state)
{
    (void)state;
    assert_true(read_double("18446744073709551616") == 18446744073709551616.0);
    assert_true(read_double("-9223372036854775809") == -9223372036854775808.0);
    assert_true(bits_of(read_double("-0")) == bits_of(-0.0));
    assert_true(read_double("1.0") == 1 && read_double("1e0") == 1);
}

static void test_number_beyond_a_double_leaves_the_output(void **state)
{
    (void)state;
    aw__number_t number = {.kind = AW__NUMBER_UINT, .as.uint = 77};
    assert_false(aw__number_read(token("1e309"), &number));
    assert_false(aw__number_read(token("-1e400"), &number));
    assert_int_equal(number.kind, AW__NUMBER_UINT);
    assert_true(number.as.uint == 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_known_doubles_have_their_text_in_each_layout),
        cmocka_unit_test(test_number_random_doubles_are_shortest_and_read_back),
        cmocka_unit_test(test_number_powers_of_two_and_their_neighbours_are_shortest),
        cmocka_unit_test(test_number_seventeen_digits_read_back_every_double),
        cmocka_unit_test(test_number_random_tokens_read_as_strtod_reads_them),
        cmocka_unit_test(test_number_half_way_tokens_are_rounded_to_even),
        cmocka_unit_test(test_number_exact_half_way_points_are_decided_by_the_last_digit),
        cmocka_unit_test(test_number_long_tokens_are_read_in_full),
        cmocka_unit_test(test_number_integer_tokens_keep_all_64_bits),
        cmocka_unit_test(test_number_integers_beyond_64_bits_are_doubles),
        cmocka_unit_test(test_number_beyond_a_double_leaves_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
