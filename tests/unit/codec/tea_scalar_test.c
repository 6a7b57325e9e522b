/* Single values of tea-protocol: URLs, timestamps, Base64, amounts, namespaces. */
#include "tests/unit/codec/support.h"

#include <stdio.h>

#include "codec/tea/scalar.h"
#include "codec/tea/url.h"

typedef struct pair {
    const char *input;
    const char *output; /* NULL: refused */
} pair_t;

static void expect_url(const char *input, bool fragment, const char *output)
{
    static uint8_t room[AW__TEA_URL_ROOM];
    size_t size = aw__tea_url_write(aw_span_text_view(input), fragment, room);
    if (output == NULL ? size != 0
                       : !aw_span_equal(aw_span_view(room, size), aw_span_text_view(output))) {
        fail_msg("%s gives %.*s, not %s", input, (int)size, (const char *)room,
                 output != NULL ? output : "nothing");
    }
    if (output != NULL && fragment) {
        /* a serialization is its own serialization */
        size = aw__tea_url_write(aw_span_text_view(output), true, room);
        assert_true(aw_span_equal(aw_span_view(room, size), aw_span_text_view(output)));
    }
}

static void test_url_parts_are_normalized_as_whatwg_says(void **state)
{
    (void)state;
    static const pair_t pairs[] = {
        {"https://a.example/", "https://a.example/"},
        {"https://a.example", "https://a.example/"},
        {"HTTPS://A.Example:443/x", "https://a.example/x"},
        {"http://a.example:80/x", "http://a.example/x"},
        {"http://a.example:443/x", "http://a.example:443/x"},
        {"http://a.example:0080/x", "http://a.example/x"},
        {"http://a.example:8080", "http://a.example:8080/"},
        {"http://a.example:/x", "http://a.example/x"},
        {"http://a.example:65535/", "http://a.example:65535/"},
        {"http://a.example:0/", "http://a.example:0/"},
        {"https:a.example", "https://a.example/"},
        {"https:/a.example/x", "https://a.example/x"},
        {"https:////a.example/x", "https://a.example/x"},
        {"https:\\\\a.example\\x\\..\\y", "https://a.example/y"},
        {"http://a/b/c/../d", "http://a/b/d"},
        {"http://a/b/c/..", "http://a/b/"},
        {"http://a/b/c/../", "http://a/b/"},
        {"http://a/b/.", "http://a/b/"},
        {"http://a/./b", "http://a/b"},
        {"http://a/../../b", "http://a/b"},
        {"http://a/b/%2e%2E/c", "http://a/c"},
        {"http://a/b/.%2e/c", "http://a/c"},
        {"http://a/b/%2e/c", "http://a/b/c"},
        {"http://a/...", "http://a/..."},
        {"http://a//b//", "http://a//b//"},
        {"http://a/b/..//c", "http://a//c"},
        {"http://a/%zz%4", "http://a/%zz%4"},
        {"http://a/\"<>`{}^|~", "http://a/%22%3C%3E%60%7B%7D^|~"},
        {"http://a/\xc3\xa9", "http://a/%C3%A9"},
        {"http://a/?", "http://a/?"},
        {"http://a?b=/../c", "http://a/?b=/../c"},
        {"http://a/?q='\"<>\xe2\x82\xac`{}", "http://a/?q=%27%22%3C%3E%E2%82%AC`{}"},
        {"http://a/#", "http://a/#"},
        {"http://a/#\"<>`{}'\xc3\xa9", "http://a/#%22%3C%3E%60{}'%C3%A9"},
        {"http://a/x#y?z", "http://a/x#y?z"},
        {"http://a#y", "http://a/#y"},
        {"http://@a/", "http://a/"},
        {"http://:@a/", "http://a/"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect_url(pairs[i].input, true, pairs[i].output);
    }
}

static void test_url_hosts_are_normalized_as_whatwg_says(void **state)
{
    (void)state;
    static const pair_t pairs[] = {
        {"http://a%2eb/", "http://a.b/"},
        {"http://%41/", "http://a/"},
        {"http://a_b~!$&'()*+,;=-/", "http://a_b~!$&'()*+,;=-/"},
        {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
        {"http://1.2.3.4/", "http://1.2.3.4/"},
        {"http://1.2.3.4./", "http://1.2.3.4/"},
        {"http://127.1/", "http://127.0.0.1/"},
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://0177.0.0.1/", "http://127.0.0.1/"},
        {"http://2130706433/", "http://127.0.0.1/"},
        {"http://0xffffffff/", "http://255.255.255.255/"},
        {"http://4294967296/", NULL},
        {"http://0x100000000/", NULL},
        {"http://99999999999999999999999/", NULL},
        {"http://1.2.3.256/", NULL},
        {"http://256.1/", NULL},
        {"http://1.2.3.4.5/", NULL},
        {"http://1.2.3.08/", NULL},
        {"http://a.09/", NULL},
        {"http://a.0x/", NULL},
        {"http://0x/", "http://0.0.0.0/"},
        {"http://1.2.3.4a/", "http://1.2.3.4a/"},
        {"http://1..2/", NULL},
        {"http://[::1]/", "http://[::1]/"},
        {"http://[::]/", "http://[::]/"},
        {"http://[1::]/", "http://[1::]/"},
        {"http://[2001:DB8:0:0:1:0:0:1]:80/", "http://[2001:db8::1:0:0:1]/"},
        {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
        {"http://[0:0:0:0:0:0:0:0]/", "http://[::]/"},
        {"http://[1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:7:8]/"},
        {"http://[1:0:3:4:5:6:7:8]/", "http://[1:0:3:4:5:6:7:8]/"},
        {"http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"},
        {"http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"},
        {"http://[1:2:3:4:5:6:7]/", NULL},
        {"http://[1:2:3:4:5:6:7:8:9]/", NULL},
        {"http://[1:2:3:4:5:6:7:8::]/", NULL},
        {"http://[1::2::3]/", NULL},
        {"http://[:1]/", NULL},
        {"http://[1:]/", NULL},
        {"http://[12345::]/", NULL},
        {"http://[g::]/", NULL},
        {"http://[::1.2.3]/", NULL},
        {"http://[::1.2.3.4.5]/", NULL},
        {"http://[::1.2.3.256]/", NULL},
        {"http://[::01.2.3.4]/", NULL},
        {"http://[1:2:3:4:5:6:7:1.2.3.4]/", NULL},
        {"http://[::1%25eth0]/", NULL},
        {"http://[::1/", NULL},
        {"http://[::1]x/", NULL},
        {"http://[]/", NULL},
        {"http://a b/", NULL},
        {"http://a%20b/", NULL},
        {"http://a%00b/", NULL},
        {"http://a%/", NULL},
        {"http://a<b/", NULL},
        {"http://a^b/", NULL},
        {"http://a|b/", NULL},
        {"http://a]/", NULL},
        {"http://\xc3\xa9.example/", NULL},
        {"http://%c3%a9.example/", NULL},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        expect_url(pairs[i].input, true, pairs[i].output);
    }
}

static void test_url_others_are_refused(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "http",
        "http:",
        "http://",
        "https:///",
        "http://?x",
        "http://#x",
        "http://:80/",
        "http://@/",
        "http://a:65536/",
        "http://a:99999999999/",
        "http://a:8x/",
        "http://a:-1/",
        "http://u@a/",
        "http://u:p@a/",
        "http://:p@a/",
        "http://@@a/",
        "http://u:@a/",
        "ftp://a/",
        "file:///x",
        "httpx://a/",
        "httpsx://a/",
        "htt://a/",
        "//a/",
        "/a",
        "a",
        " http://a/",
        "http://a/ ",
        "http://a/b c",
        "http://a/\t",
        "http://a/\x7f",
        "http://a/\xc2\x85",
        "javascript:alert(1)",
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        expect_url(urls[i], true, NULL);
    }
}

static void test_url_page_has_no_fragment(void **state)
{
    (void)state;
    expect_url("https://A.example:443/x?y#now", false, "https://a.example/x?y");
    expect_url("https://a.example/#", false, "https://a.example/");
}

static void test_timestamp_offsets_become_utc(void **state)
{
    (void)state;
    static const pair_t pairs[] = {
        {"2027-11-05T14:08:31.250Z", "2027-11-05T14:08:31.250Z"},
        {"2027-11-05T14:08:31.250+00:00", "2027-11-05T14:08:31.250Z"},
        {"2027-11-05T14:08:31.250-00:00", "2027-11-05T14:08:31.250Z"},
        {"2028-03-01T00:15:00.000+01:00", "2028-02-29T23:15:00.000Z"},
        {"2027-03-01T00:15:00.000+01:00", "2027-02-28T23:15:00.000Z"},
        {"2000-03-01T00:00:00.000+00:01", "2000-02-29T23:59:00.000Z"},
        {"1900-03-01T00:00:00.000+00:01", "1900-02-28T23:59:00.000Z"},
        {"2027-12-31T23:59:60.999-00:01", "2028-01-01T00:00:60.999Z"},
        {"2027-01-01T00:00:00.000+23:59", "2026-12-31T00:01:00.000Z"},
        {"2027-12-31T23:59:59.000-23:59", "2028-01-01T23:58:59.000Z"},
        {"0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z"},
        {"0000-02-29T00:00:00.000Z", "0000-02-29T00:00:00.000Z"},
        {"0000-01-01T00:01:00.000+00:01", "0000-01-01T00:00:00.000Z"},
        {"0000-01-01T00:00:00.000+00:01", NULL},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
        {"9999-12-31T23:58:59.999-00:01", "9999-12-31T23:59:59.999Z"},
        {"9999-12-31T23:59:59.999-00:01", NULL},
        {"2027-02-29T00:00:00.000Z", NULL},
        {"1900-02-29T00:00:00.000Z", NULL},
        {"2027-04-31T00:00:00.000Z", NULL},
        {"2027-00-10T00:00:00.000Z", NULL},
        {"2027-13-10T00:00:00.000Z", NULL},
        {"2027-10-00T00:00:00.000Z", NULL},
        {"2027-11-05T14:60:31.250Z", NULL},
        {"2027-11-05T14:08:31.250+24:00", NULL},
        {"2027-11-05T14:08:31.250+00:60", NULL},
        {"2027-11-05T14:08:31.250+0:000", NULL},
        {"2027-11-05T14:08:31.250Zx", NULL},
        {"2027-11-05T14:08:31.25aZ", NULL},
        {"-027-11-05T14:08:31.250Z", NULL},
        {"2027-11-05T+4:08:31.250Z", NULL},
        {"2027-11-05T14:08:31.250z", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char text[AW_TEA_TIMESTAMP_SIZE + 1] = "untouched";
        bool read = aw__tea_timestamp_read(aw_span_text_view(pairs[i].input), text);
        text[AW_TEA_TIMESTAMP_SIZE] = '\0';
        assert_int_equal(read, pairs[i].output != NULL);
        assert_string_equal(text, read ? pairs[i].output : "untouched");
    }
}

static void test_timestamp_every_day_comes_back_from_milliseconds(void **state)
{
    (void)state;
    static const int64_t day_ms = 86400000;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t ms = -62167219200000 + 11 * 3600000 + 22 * 60000 + 33444; /* 0000-01-01 11:22:33.444 */
    for (int year = 0; year <= 9999; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int month = 1; month <= 12; month++) {
            int length = lengths[month - 1] + (month == 2 && leap);
            for (int day = 1; day <= length; day++, ms += day_ms) {
                char text[AW_TEA_TIMESTAMP_SIZE];
                char expected[40];
                if (day > 1 && day < length) {
                    continue; /* the edges of months tell */
                }
                snprintf(expected, sizeof expected, "%04d-%02d-%02dT11:22:33.444Z", year, month,
                         day);
                assert_true(aw__tea_timestamp_write(ms, text));
                assert_memory_equal(text, expected, sizeof text);
            }
        }
    }
}

static void test_timestamp_outside_four_digit_years_is_not_written(void **state)
{
    (void)state;
    char text[AW_TEA_TIMESTAMP_SIZE];
    static const char last[] = "9999-12-31T23:59:59.999Z";
    static const char before_epoch[] = "1969-12-31T23:59:59.999Z";
    assert_true(aw__tea_timestamp_write(253402300799999, text));
    assert_memory_equal(text, last, sizeof text);
    assert_false(aw__tea_timestamp_write(253402300800000, text));
    assert_true(aw__tea_timestamp_write(-62167219200000, text));
    assert_false(aw__tea_timestamp_write(-62167219200001, text));
    assert_false(aw__tea_timestamp_write(INT64_MAX, text));
    assert_false(aw__tea_timestamp_write(INT64_MIN, text));
    assert_true(aw__tea_timestamp_write(-1, text));
    assert_memory_equal(text, before_epoch, sizeof text);
}

static void test_base64_is_padded_and_has_no_spare_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"AAAA", true},  {"AA==", true},   {"AAA=", true},  {"+/+/", true},  {"VGVhIQ==", true},
        {"AB==", false}, {"AAB=", false},  {"AQ==", true},  {"AAE=", true},  {"A===", false},
        {"====", false}, {"=AAA", false},  {"AA=A", false}, {"AAA", false},  {"A", false},
        {"", false},     {"AAAA=", false}, {"-_-_", false}, {"AA A", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(aw__tea_is_base64(aw_span_text_view(cases[i].text)), cases[i].good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url_parts_are_normalized_as_whatwg_says),
        cmocka_unit_test(test_url_hosts_are_normalized_as_whatwg_says),
        cmocka_unit_test(test_url_others_are_refused),
        cmocka_unit_test(test_url_page_has_no_fragment),
        cmocka_unit_test(test_timestamp_offsets_become_utc),
        cmocka_unit_test(test_timestamp_every_day_comes_back_from_milliseconds),
        cmocka_unit_test(test_timestamp_outside_four_digit_years_is_not_written),
        cmocka_unit_test(test_base64_is_padded_and_has_no_spare_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
