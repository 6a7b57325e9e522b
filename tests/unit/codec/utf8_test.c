#include "tests/unit/codec/support.h"

#include <stdlib.h>

#include "agentwire/utf8.h"

/* The table of well-formed sequences of the Unicode standard, row by row: an oracle that has
 * nothing in common with the automaton. Returns the length of the sequence at the start of text, 0
 * when there is none. */
static size_t sequence_at(const uint8_t *text, size_t size)
{
    static const struct {
        uint8_t lead_from, lead_to, second_from, second_to;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (text[0] < rows[i].lead_from || text[0] > rows[i].lead_to) {
            continue;
        }
        const size_t length = rows[i].length;
        if (length > size) {
            return 0;
        }
        if (length > 1 && (text[1] < rows[i].second_from || text[1] > rows[i].second_to)) {
            return 0;
        }
        for (size_t k = 2; k < length; k++) {
            if (text[k] < 0x80 || text[k] > 0xbf) {
                return 0;
            }
        }
        return length;
    }
    return 0;
}

static size_t expected_prefix(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = sequence_at(text + at, size - at);
        if (length == 0) {
            break;
        }
        at += length;
    }
    return at;
}

static void test_utf8_every_three_bytes_are_judged_right(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 1u << 24; code++) {
        const uint8_t text[3] = {(uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
        if (text[0] < 0xc0 && text[0] % 0x40 != 0) {
            code |= 0xffff; /* one of each kind that begins no longer sequence is enough */
        } else if (aw_utf8_prefix((aw_span_t){text, 3}) != expected_prefix(text, 3)) {
            fail_msg("%02x %02x %02x", text[0], text[1], text[2]);
        }
    }
}

static void test_utf8_every_edge_of_four_bytes_is_judged_right(void **state)
{
    (void)state;
    static const uint8_t edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                    0xa0, 0xbf, 0xc0, 0xf0, 0xff};
    enum { EDGES = sizeof edges };
    for (uint32_t lead = 0xe0; lead < 256; lead++) {
        for (uint32_t second = 0; second < 256; second++) {
            for (uint32_t rest = 0; rest < EDGES * EDGES; rest++) {
                const uint8_t text[4] = {(uint8_t)lead, (uint8_t)second, edges[rest / EDGES],
                                         edges[rest % EDGES]};
                for (size_t size = 1; size <= 4; size++) {
                    assert_int_equal(aw_utf8_prefix((aw_span_t){text, size}),
                                     expected_prefix(text, size));
                }
            }
        }
    }
}

static const char *const FILLERS[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
static const char *const ILL_FORMED[] = {
    "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
    "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
    "\xff",         "\xc3(",        "\xe2\x82(",        "\xf0\x9f\x98(",    "\xc3",
    "\xe2\x82",     "\xe2",         "\xf0\x9f\x98",     "\xf0\x9f",         "\xf0",
};

/* Writes characters of one kind, so many bytes and not one more; what does not fit is made of x. */
static void fill(uint8_t *text, size_t size, const char *filler)
{
    const size_t step = strlen(filler);
    size_t at = size % step;
    memset(text, 'x', at);
    for (; at < size; at += step) {
        memcpy(text + at, filler, step);
    }
}

static void test_utf8_ill_formed_at_any_place_is_found_there(void **state)
{
    (void)state;
    enum { LONGEST = 140 };
    for (size_t f = 0; f < sizeof FILLERS / sizeof FILLERS[0]; f++) {
        for (size_t i = 0; i < sizeof ILL_FORMED / sizeof ILL_FORMED[0]; i++) {
            const size_t length = strlen(ILL_FORMED[i]);
            for (size_t before = 0; before + length <= LONGEST; before++) {
                uint8_t text[2 * LONGEST];
                fill(text, before, FILLERS[f]);
                memcpy(text + before, ILL_FORMED[i], length);
                memset(text + before + length, 'y', LONGEST);
                assert_int_equal(aw_utf8_prefix((aw_span_t){text, before + length}), before);
                assert_int_equal(aw_utf8_prefix((aw_span_t){text, before + LONGEST / 2}), before);
            }
        }
    }
}

static void test_utf8_well_formed_of_any_size_is_whole(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof FILLERS / sizeof FILLERS[0]; f++) {
        for (size_t size = 0; size <= 200; size++) {
            uint8_t text[200];
            fill(text, size, FILLERS[f]);
            aw_span_t guarded = aw_test_guarded((aw_span_t){text, size});
            assert_int_equal(aw_utf8_prefix(guarded), size);
            assert_true(aw_utf8_valid(guarded));
        }
    }
}

static void test_utf8_random_bytes_are_judged_as_by_the_table(void **state)
{
    (void)state;
    static const uint8_t likely[] = {0x41, 0x41, 0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xf0, 0xf4};
    uint64_t random = 7;
    for (int round = 0; round < 200000; round++) {
        uint8_t text[100];
        const size_t size = (size_t)(aw_test_random(&random) % sizeof text);
        memset(text, 'x', sizeof text);
        for (int changes = (int)(aw_test_random(&random) % 6); size > 0 && changes > 0; changes--) {
            uint64_t dice = aw_test_random(&random);
            text[(dice >> 32) % size] = likely[dice % sizeof likely];
        }
        assert_int_equal(aw_utf8_prefix((aw_span_t){text, size}), expected_prefix(text, size));
    }
}

static void test_utf8_absent_and_empty_are_well_formed(void **state)
{
    (void)state;
    assert_true(aw_utf8_valid(AW_SPAN_NULL));
    assert_true(aw_utf8_valid(aw_span_text_view("")));
    assert_int_equal(aw_utf8_prefix(AW_SPAN_NULL), 0);
}

static void test_utf8_noncharacters_and_nul_are_well_formed(void **state)
{
    (void)state;
    static const uint8_t text[] = "a\0\xef\xbf\xbe\xef\xbf\xbf\xf4\x8f\xbf\xbf";
    assert_true(aw_utf8_valid((aw_span_t){text, sizeof text}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_every_three_bytes_are_judged_right),
        cmocka_unit_test(test_utf8_every_edge_of_four_bytes_is_judged_right),
        cmocka_unit_test(test_utf8_ill_formed_at_any_place_is_found_there),
        cmocka_unit_test(test_utf8_well_formed_of_any_size_is_whole),
        cmocka_unit_test(test_utf8_random_bytes_are_judged_as_by_the_table),
        cmocka_unit_test(test_utf8_absent_and_empty_are_well_formed),
        cmocka_unit_test(test_utf8_noncharacters_and_nul_are_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
