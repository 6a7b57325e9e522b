#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/value.h"
#include "bridge/core/record.h"
#include "tests/unit/config/support.h"

/* Parses text for the key at path; expects success and returns what was read. */
static ab_value_t read_value(const char *path, const char *text)
{
    const ab_key_t *key = ab_key_find(path);
    ab_findings_t findings = {0};
    ab_place_t place = {.findings = &findings};
    ab_value_t value;
    assert_non_null(key);
    if (!ab_value_parse(key, text, &place, &value)) {
        fail_msg("%s refuses %s: %s", path, text, findings.items[0].message);
    }
    assert_int_equal(findings.mistakes, 0);
    return value;
}

/* Expects the refusal with exactly this message, and an output that stays as it was. */
static void refuse_value(const char *path, const char *text, const char *message)
{
    const ab_key_t *key = ab_key_find(path);
    ab_findings_t findings = {0};
    ab_place_t place = {.findings = &findings};
    ab_value_t value, untouched;
    memset(&value, 0x5a, sizeof(value));
    memset(&untouched, 0x5a, sizeof(untouched));
    assert_non_null(key);
    if (ab_value_parse(key, text, &place, &value)) {
        fail_msg("%s takes %s", path, text);
    }
    assert_memory_equal(&value, &untouched, sizeof(value));
    assert_int_equal(findings.mistakes, 1);
    assert_string_equal(findings.items[0].message, message);
}

static void test_value_sizes_with_every_unit_in_bytes(void **state)
{
    (void)state;
    assert_int_equal(read_value("sources[].max_value", "2048B").number, 2048);
    assert_int_equal(read_value("sources[].max_value", "7KiB").number, 7168);
    assert_int_equal(read_value("sources[].max_value", "8MiB").number, 8388608);
    assert_int_equal(read_value("memory.per_lane", "2GiB").number, 2147483648u);
}

static void test_value_durations_with_every_unit_in_ms(void **state)
{
    (void)state;
    assert_int_equal(read_value("delivery.commit_interval", "100ms").number, 100);
    assert_int_equal(read_value("delivery.commit_interval", "2s").number, 2000);
    assert_int_equal(read_value("delivery.commit_interval", "3m").number, 180000);
    refuse_value("delivery.commit_interval", "1h", "expected 1ms to 5m, found `1h`");
}

static void test_value_numbers_not_in_form_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "8",
                                      "8MB",
                                      "8mib",
                                      "8 MiB",
                                      "-8MiB",
                                      "+8MiB",
                                      "8.5MiB",
                                      "MiB",
                                      "08MiB",
                                      "8MiBx",
                                      "0x8MiB",
                                      "8MiB ",
                                      "18446744073709551616B",
                                      "99999999999999999999MiB"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *message = text_new("expected a size, a whole number with B, KiB, MiB or GiB, such as "
                                 "8MiB, found `%s`",
                                 bad[i]);
        refuse_value("memory.per_lane", bad[i], message);
        free(message);
    }
    refuse_value(
        "shutdown.timeout", "20",
        "expected a duration, a whole number with ms, s, m or h, such as 100ms, found `20`");
    refuse_value("lanes", "four", "expected a whole number, found `four`");
    refuse_value("lanes", "1.0", "expected a whole number, found `1.0`");
    refuse_value("lanes", "04", "expected a whole number, found `04`");
}

static void test_value_products_past_64_bits_refused_as_range(void **state)
{
    (void)state;
    refuse_value("memory.per_lane", "18446744073709551615B",
                 "expected 1MiB to 16GiB, found `18446744073709551615B`");
    refuse_value("memory.per_lane", "18446744073709551615GiB",
                 "expected 1MiB to 16GiB, found `18446744073709551615GiB`");
    refuse_value("memory.per_lane", "17179869184GiB", /* 2^64 bytes, 0 to a product that wraps */
                 "expected 1MiB to 16GiB, found `17179869184GiB`");
}

/* Every number in the table: the limits are taken, one step beyond each is not. */
static void test_value_numbers_at_their_limits_exact(void **state)
{
    (void)state;
    size_t count, checked = 0;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].type != AB_KEY_COUNT && keys[i].type != AB_KEY_SIZE &&
            keys[i].type != AB_KEY_DURATION) {
            continue;
        }
        const char *unit = keys[i].type == AB_KEY_SIZE       ? "B"
                           : keys[i].type == AB_KEY_DURATION ? "ms"
                                                             : "";
        const uint64_t limits[] = {keys[i].min, keys[i].max};
        for (unsigned side = 0; side < 2; side++) {
            for (int step = -1; step <= 1; step++) {
                if (limits[side] == 0 && step < 0) {
                    continue;
                }
                uint64_t number = limits[side] + (uint64_t)(int64_t)step;
                char *text = text_new("%llu%s", (unsigned long long)number, unit);
                if (number >= keys[i].min && number <= keys[i].max) {
                    assert_int_equal(read_value(keys[i].path, text).number, number);
                } else {
                    char low[AB_NUMBER_TEXT_MAX], high[AB_NUMBER_TEXT_MAX];
                    char *message = text_new("expected %s to %s, found `%s`",
                                             ab_number_text(&keys[i], keys[i].min, low),
                                             ab_number_text(&keys[i], keys[i].max, high), text);
                    refuse_value(keys[i].path, text, message);
                    free(message);
                }
                free(text);
                checked++;
            }
        }
    }
    assert_true(checked >= 40);
}

static void test_value_number_texts_in_the_largest_unit(void **state)
{
    (void)state;
    char text[AB_NUMBER_TEXT_MAX];
    const ab_key_t *size = ab_key_find("memory.per_lane");
    const ab_key_t *duration = ab_key_find("shutdown.timeout");
    assert_string_equal(ab_number_text(size, 8388608, text), "8MiB");
    assert_string_equal(ab_number_text(size, 8388609, text), "8388609B");
    assert_string_equal(ab_number_text(size, 0, text), "0B");
    assert_string_equal(ab_number_text(duration, 90000, text), "90s");
    assert_string_equal(ab_number_text(duration, 7200000, text), "2h");
    assert_string_equal(ab_number_text(duration, 1500, text), "1500ms");
    assert_string_equal(ab_number_text(ab_key_find("lanes"), 64, text), "64");
}

static void test_value_topic_lengths_at_the_limit(void **state)
{
    (void)state;
    char *longest = repeat_new('t', AB_CONFIG_TOPIC_MAX + 1);
    assert_true(ab_topic_is_legal(aw_span_text_view("t")));
    assert_true(ab_topic_is_legal(aw_span_text_view(longest + 2)));
    assert_true(ab_topic_is_legal(aw_span_text_view(longest + 1)));
    assert_false(ab_topic_is_legal(aw_span_text_view(longest)));
    assert_false(ab_topic_is_legal(aw_span_text_view("")));
    free(longest);
}

static void test_value_topic_characters_as_kafka_allows(void **state)
{
    (void)state;
    assert_true(ab_topic_is_legal(aw_span_text_view("aZ09._-")));
    assert_true(ab_topic_is_legal(aw_span_text_view("...")));
    static const char *const bad[] = {".",  "..", "a b",      "a/b", "a:b",
                                      "^a", "a*", "\xc3\xa9", "a\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ab_topic_is_legal(aw_span_text_view(bad[i])));
    }
}

static void test_value_topic_illegal_named_with_what_is_legal(void **state)
{
    (void)state;
    refuse_value("sources[].topic", "a b",
                 "expected the name of a topic (1 to 249 letters, digits, dots, underscores or "
                 "dashes), found `a b`");
    refuse_value("sources[].topic", "__consumer_offsets",
                 "expected a topic that is not Kafka's own, found `__consumer_offsets`");
    refuse_value("errors.topic", "__transaction_state",
                 "expected a topic that is not Kafka's own, found `__transaction_state`");
    /* off becomes false where a tool writes the YAML anew; no topic shall come of it */
    refuse_value("errors.quarantine", "false",
                 "expected the name of a topic (1 to 249 letters, digits, dots, underscores or "
                 "dashes) or off, found `false`");
    refuse_value("errors.topic", "off",
                 "expected the name of a topic (1 to 249 letters, digits, dots, underscores or "
                 "dashes), found `off`");
}

static void test_value_quarantine_topic_or_off(void **state)
{
    (void)state;
    assert_null(read_value("errors.quarantine", "off").text);
    assert_string_equal(read_value("errors.quarantine", "q").text, "q");
}

static void test_value_names_bounded_and_plain(void **state)
{
    (void)state;
    char *name = repeat_new('n', 201);
    assert_string_equal(read_value("instance", name + 1).text, name + 1);
    assert_string_equal(read_value("instance", name + 2).text, name + 2);
    char *message =
        text_new("expected 1 to 200 letters, digits, dots, underscores or dashes, found "
                 "`%.64s...`",
                 name);
    refuse_value("instance", name, message);
    refuse_value("group", "",
                 "expected 1 to 249 letters, digits, dots, underscores or dashes, found ``");
    refuse_value("group", "a/b",
                 "expected 1 to 249 letters, digits, dots, underscores or dashes, found `a/b`");
    free(message);
    free(name);
}

static void test_value_routes_topic_or_word(void **state)
{
    (void)state;
    ab_value_t value = read_value("sources[].routes.approval", "approvals");
    assert_int_equal(value.route, AB_ROUTE_TOPIC);
    assert_string_equal(value.text, "approvals");
    value = read_value("sources[].routes.approval", "dead_letter");
    assert_int_equal(value.route, AB_ROUTE_DEAD_LETTER);
    assert_null(value.text);
    value = read_value("sources[].routes.approval", "drop");
    assert_int_equal(value.route, AB_ROUTE_DROP);
    assert_null(value.text);
    assert_int_equal(read_value("sources[].routes.unknown_variant", "dead_letter").route,
                     AB_ROUTE_DEAD_LETTER);
    assert_int_equal(read_value("sources[].routes.unknown_variant", "future").route,
                     AB_ROUTE_TOPIC);
    refuse_value("sources[].routes.unknown_variant", "drop",
                 "expected the name of a topic (1 to 249 letters, digits, dots, underscores or "
                 "dashes) or dead_letter, found `drop`");
    refuse_value("sources[].routes.approval", "off",
                 "expected the name of a topic (1 to 249 letters, digits, dots, underscores or "
                 "dashes), dead_letter or drop, found `off`");
}

static void test_value_words_of_later_versions_refused_as_such(void **state)
{
    (void)state;
    refuse_value("sources[].type", "intent", "`intent` is not in this version: expected envelope");
}

static void test_value_ratio_decimals_between_0_and_1(void **state)
{
    (void)state;
    static const char expected[] =
        "expected a number between 0 and 1 with up to three decimals, such as 0.5, found `%s`";
    static const char *const wrong[] = {"0",    "1",      "0.0",    "1.0",  ".5",  "0.",
                                        "0.5%", "0.500 ", "0.1234", "-0.5", "50%", "0.5.1",
                                        "00.5", "0,5",    "5e-1",   ""};
    assert_int_equal(read_value("errors.breaker.ratio", "0.5").number, 500);
    assert_int_equal(read_value("errors.breaker.ratio", "0.001").number, 1);
    assert_int_equal(read_value("errors.breaker.ratio", "0.999").number, 999);
    assert_int_equal(read_value("errors.breaker.ratio", "0.07").number, 70);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *message = text_new(expected, wrong[i]);
        refuse_value("errors.breaker.ratio", wrong[i], message);
        free(message);
    }
}

static void test_value_words_numbered_in_their_order(void **state)
{
    (void)state;
    assert_int_equal(read_value("log.level", "error").number, AB_LEVEL_ERROR);
    assert_int_equal(read_value("log.level", "warning").number, AB_LEVEL_WARNING);
    assert_int_equal(read_value("log.level", "info").number, AB_LEVEL_INFO);
    assert_int_equal(read_value("log.level", "debug").number, AB_LEVEL_DEBUG);
    assert_int_equal(read_value("topics.missing", "fail").number, 0);
    assert_int_equal(read_value("topics.missing", "wait").number, 1);
    assert_int_equal(read_value("delivery.source_header", "false").number, 0);
    assert_int_equal(read_value("delivery.source_header", "true").number, 1);
    refuse_value("log.level", "warn", "expected error, warning, info or debug, found `warn`");
    refuse_value("log.level", "inf", "expected error, warning, info or debug, found `inf`");
    refuse_value("log.level", "info|debug",
                 "expected error, warning, info or debug, found `info|debug`");
    refuse_value("delivery.source_header", "yes", "expected false or true, found `yes`");
    refuse_value("log.format", "JSON", "expected json or text, found `JSON`");
}

static void test_value_start_word_or_time(void **state)
{
    (void)state;
    assert_int_equal(read_value("sources[].start", "earliest").start, AB_START_EARLIEST);
    assert_int_equal(read_value("sources[].start", "latest").start, AB_START_LATEST);
    assert_int_equal(read_value("sources[].start", "committed").start, AB_START_COMMITTED);
    ab_value_t value = read_value("sources[].start", "2026-01-31T00:00:00Z");
    assert_int_equal(value.start, AB_START_TIME);
    assert_int_equal(value.start_time_ms, 1769817600000);
    refuse_value(
        "sources[].start", "2026-01-31",
        "expected earliest, latest, committed, or a time since 1970 with its zone, such as "
        "2026-01-31T00:00:00Z, found `2026-01-31`");
}

static void test_value_times_of_rfc3339_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } times[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.001Z", 1},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T23:00:00-01:00", 0},
        {"1985-04-12T23:20:50.52Z", 482196050520},
        {"1996-12-19T16:39:57-08:00", 851042397000},
        {"1990-12-31T23:59:60Z", 662688000000},
        {"1937-01-01T12:00:27.87+00:20", -1},
        {"2000-02-29t12:00:00z", 951825600000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2024-03-01T00:00:00Z", 1709251200000},
        {"2026-12-31T23:59:59.9999Z", 1798761599999},
        {"2100-03-01T00:00:00Z", 4107542400000},
        {"9999-12-31T23:59:59Z", 253402300799000},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        int64_t ms = 77;
        bool good = ab_time_parse(times[i].text, &ms);
        assert_int_equal(good, times[i].ms >= 0);
        assert_int_equal(ms, times[i].ms >= 0 ? times[i].ms : 77);
    }
}

static void test_value_times_malformed_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026",
        "2026-01-31",
        "2026-01-31T00:00:00",
        "2026-01-31 00:00:00Z",
        "2026-01-31T00:00Z",
        "2026-1-31T00:00:00Z",
        "2026-00-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T00:60:00Z",
        "2026-01-31T00:00:61Z",
        "2026-01-31T00:00:00.Z",
        "2026-01-31T00:00:00,5Z",
        "2026-01-31T00:00:00+24:00",
        "2026-01-31T00:00:00+01:60",
        "2026-01-31T00:00:00+0100",
        "2026-01-31T00:00:00Zx",
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00+00:01",
        "0000-01-01T00:00:00Z",
        "-026-01-31T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ms = 77;
        if (ab_time_parse(bad[i], &ms)) {
            fail_msg("%s was read", bad[i]);
        }
        assert_int_equal(ms, 77);
    }
}

static void test_value_listen_address_and_port_or_off(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        unsigned port;
    } good[] = {
        {"127.0.0.1:9465", "127.0.0.1", 9465},
        {"0.0.0.0:1", "0.0.0.0", 1},
        {"localhost:65535", "127.0.0.1", 65535},
        {"[::]:9465", "::", 9465},
        {"[::1]:80", "::1", 80},
        {"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:1",
         "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 1},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ab_value_t value = read_value("http.listen", good[i].text);
        assert_false(value.listen.off);
        assert_string_equal(value.listen.host, good[i].host);
        assert_int_equal(value.listen.port, good[i].port);
    }
    ab_value_t off = read_value("http.listen", "off");
    assert_true(off.listen.off);
    assert_int_equal(off.listen.port, 0);
}

static void test_value_listen_not_in_form_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ":",
        "9465",
        ":9465",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:09465",
        "127.0.0.1:+1",
        "127.0.0.1:94 65",
        "127.0.0.1:9465x",
        "127.0.0.1 :9465",
        "127.0.0:9465",
        "256.0.0.1:9465",
        "::1:9465",
        "[::1]",
        "[::1]9465",
        "[::1:9465",
        "::1]:9465",
        "[]:9465",
        "[:9465",
        "[127.0.0.1]:9465",
        "[localhost]:9465",
        "[fe80::1%eth0]:9465",
        "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1",
        "bridge.example:9465",
        "http://127.0.0.1:9465",
        "Off",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *message = text_new("expected an IP address and a port from 1 to 65535, such as "
                                 "127.0.0.1:9465, 0.0.0.0:9465 or [::1]:9465, or off, found `%s`",
                                 bad[i]);
        refuse_value("http.listen", bad[i], message);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_sizes_with_every_unit_in_bytes),
        cmocka_unit_test(test_value_durations_with_every_unit_in_ms),
        cmocka_unit_test(test_value_numbers_not_in_form_refused),
        cmocka_unit_test(test_value_products_past_64_bits_refused_as_range),
        cmocka_unit_test(test_value_numbers_at_their_limits_exact),
        cmocka_unit_test(test_value_number_texts_in_the_largest_unit),
        cmocka_unit_test(test_value_topic_lengths_at_the_limit),
        cmocka_unit_test(test_value_topic_characters_as_kafka_allows),
        cmocka_unit_test(test_value_topic_illegal_named_with_what_is_legal),
        cmocka_unit_test(test_value_quarantine_topic_or_off),
        cmocka_unit_test(test_value_names_bounded_and_plain),
        cmocka_unit_test(test_value_routes_topic_or_word),
        cmocka_unit_test(test_value_words_of_later_versions_refused_as_such),
        cmocka_unit_test(test_value_ratio_decimals_between_0_and_1),
        cmocka_unit_test(test_value_words_numbered_in_their_order),
        cmocka_unit_test(test_value_start_word_or_time),
        cmocka_unit_test(test_value_times_of_rfc3339_read),
        cmocka_unit_test(test_value_times_malformed_refused),
        cmocka_unit_test(test_value_listen_address_and_port_or_off),
        cmocka_unit_test(test_value_listen_not_in_form_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
