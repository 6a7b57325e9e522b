#include "bridge/core/breaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const ab_breaker_rule_t RULE = {
    .ratio_permille = 500, .min_records = 500, .window_ms = 30000, .probe_ms = AB_BREAKER_PROBE_MS};
#define BAD  AB_REASON_TOMBSTONE
#define GOOD AB_REASON_NONE

/* Notes count records, one every gap_ms; true when the breaker opened. */
static bool note_many(ab_breaker_t *breaker, ab_reason_t reason, unsigned count, int64_t *now_ms,
                      int64_t gap_ms)
{
    for (unsigned i = 0; i < count; i++) {
        *now_ms += gap_ms;
        if (ab_breaker_note(breaker, &RULE, reason, *now_ms) == AB_BREAKER_OPENED) {
            return true;
        }
    }
    return false;
}

static void test_breaker_one_and_ten_percent_never_open_it(void **state)
{
    (void)state;
    for (unsigned percent = 1; percent <= 10; percent += 9) {
        ab_breaker_t breaker = {0};
        srand(percent);
        for (int64_t i = 0; i < 500000; i++) { /* from 10 a second to 10,000 */
            const bool bad = (unsigned)rand() % 100 < percent;
            const int64_t now = i < 10000 ? i * 100 : 1000000 + i / 10;
            assert_int_equal(ab_breaker_note(&breaker, &RULE, bad ? BAD : GOOD, now),
                             AB_BREAKER_SAME);
        }
        assert_true(ab_breaker_lets_through(&breaker, 0));
    }
}

static void test_breaker_nothing_but_poison_opens_it_at_min_records(void **state)
{
    (void)state;
    ab_breaker_t breaker = {0};
    int64_t now = 77;
    assert_false(note_many(&breaker, BAD, 499, &now, 0));
    assert_true(note_many(&breaker, BAD, 1, &now, 0));
    assert_int_equal(breaker.tripped.read, 500);
    assert_int_equal(breaker.tripped.dead_lettered, 500);
    assert_int_equal(breaker.last_reason, BAD);
}

/* A long good past does not delay it by more than the window. */
static void test_breaker_poison_after_good_records_opens_it_within_one_window(void **state)
{
    (void)state;
    static const int64_t gaps_ms[] = {1, 10, 50};
    for (size_t i = 0; i < sizeof(gaps_ms) / sizeof(gaps_ms[0]); i++) {
        ab_breaker_t breaker = {0};
        int64_t now = 123456;
        assert_false(note_many(&breaker, GOOD, 100000, &now, gaps_ms[i]));
        const int64_t begun = now;
        assert_true(note_many(&breaker, BAD, 100000, &now, gaps_ms[i]));
        assert_true(now - begun <= 30000);
    }
}

static void test_breaker_exactly_half_or_too_few_in_the_window_keep_it_closed(void **state)
{
    (void)state;
    ab_breaker_t breaker = {0};
    int64_t now = 0;
    for (unsigned i = 0; i < 2000; i++) {
        assert_false(note_many(&breaker, GOOD, 1, &now, 0));
        assert_false(note_many(&breaker, BAD, 1, &now, 0));
    }
    ab_breaker_t slow = {0};
    assert_false(note_many(&slow, BAD, 5000, &now, 100)); /* 300 in any window */
}

static void open_it(ab_breaker_t *breaker, int64_t *now_ms)
{
    assert_true(note_many(breaker, BAD, 500, now_ms, 1));
    assert_false(ab_breaker_lets_through(breaker, *now_ms));
}

static void test_breaker_open_lets_one_record_through_every_ten_seconds(void **state)
{
    (void)state;
    ab_breaker_t breaker = {0};
    int64_t now = 0;
    open_it(&breaker, &now);
    for (unsigned i = 0; i < 100; i++) {
        assert_false(ab_breaker_lets_through(&breaker, now + 9999));
        now += 10000;
        assert_true(ab_breaker_lets_through(&breaker, now));
        assert_int_equal(ab_breaker_note(&breaker, &RULE, BAD, now), AB_BREAKER_SAME);
    }
}

static void test_breaker_twenty_good_probes_in_a_row_close_it(void **state)
{
    (void)state;
    ab_breaker_t breaker = {0};
    int64_t now = 0;
    open_it(&breaker, &now);
    for (unsigned i = 0; i < 19; i++) {
        now += 10000;
        assert_int_equal(ab_breaker_note(&breaker, &RULE, GOOD, now), AB_BREAKER_SAME);
    }
    now += 10000;
    assert_int_equal(ab_breaker_note(&breaker, &RULE, BAD, now), AB_BREAKER_SAME);
    for (unsigned i = 0; i < 19; i++) {
        now += 10000;
        assert_int_equal(ab_breaker_note(&breaker, &RULE, GOOD, now), AB_BREAKER_SAME);
    }
    now += 10000;
    assert_int_equal(ab_breaker_note(&breaker, &RULE, GOOD, now), AB_BREAKER_CLOSED);
    assert_true(ab_breaker_lets_through(&breaker, now));
    /* The window begins anew. */
    assert_false(note_many(&breaker, BAD, 499, &now, 0));
    assert_true(note_many(&breaker, BAD, 1, &now, 0));
}

static void test_breaker_off_never_opens(void **state)
{
    (void)state;
    const ab_breaker_rule_t off = {.off = true, .ratio_permille = 1, .min_records = 1};
    ab_breaker_t breaker = {0};
    for (int64_t i = 0; i < 10000; i++) {
        assert_int_equal(ab_breaker_note(&breaker, &off, BAD, i), AB_BREAKER_SAME);
    }
    assert_true(ab_breaker_lets_through(&breaker, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaker_one_and_ten_percent_never_open_it),
        cmocka_unit_test(test_breaker_nothing_but_poison_opens_it_at_min_records),
        cmocka_unit_test(test_breaker_poison_after_good_records_opens_it_within_one_window),
        cmocka_unit_test(test_breaker_exactly_half_or_too_few_in_the_window_keep_it_closed),
        cmocka_unit_test(test_breaker_open_lets_one_record_through_every_ten_seconds),
        cmocka_unit_test(test_breaker_twenty_good_probes_in_a_row_close_it),
        cmocka_unit_test(test_breaker_off_never_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
