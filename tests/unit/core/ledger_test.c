#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/core/ledger.h"

static ab_verdict_t verdict_of(ab_outcome_t outcome, aw_variant_t variant, ab_reason_t reason)
{
    return (ab_verdict_t){.outcome = outcome, .variant = variant, .reason = reason};
}

static void test_ledger_each_outcome_is_counted_once(void **state)
{
    ab_ledger_t ledger = {0};
    ab_verdict_t routed = verdict_of(AB_OUTCOME_ROUTED, AW_VARIANT_APPROVAL, AB_REASON_NONE);
    ab_verdict_t future = verdict_of(AB_OUTCOME_ROUTED, AW_VARIANT_NONE, AB_REASON_NONE);
    ab_verdict_t dead =
        verdict_of(AB_OUTCOME_DEAD_LETTERED, AW_VARIANT_NONE, AB_REASON_DECODE_VARINT);
    ab_verdict_t dropped = verdict_of(AB_OUTCOME_DROPPED, AW_VARIANT_NONE, AB_REASON_TOMBSTONE);

    (void)state;
    ab_ledger_count(&ledger, &routed);
    ab_ledger_count(&ledger, &routed);
    ab_ledger_count(&ledger, &future);
    ab_ledger_count(&ledger, &dead);
    ab_ledger_count(&ledger, &dropped);
    assert_int_equal(ledger.consumed, 5);
    assert_int_equal(ledger.routed[AB_SLOT_APPROVAL], 2);
    assert_int_equal(ledger.routed[AB_SLOT_UNKNOWN_VARIANT], 1);
    assert_int_equal(ledger.dead_lettered[AB_REASON_DECODE_VARINT], 1);
    assert_int_equal(ledger.dropped, 1);
    assert_int_equal(ab_ledger_routed(&ledger), 3);
    assert_int_equal(ab_ledger_dead_lettered(&ledger), 1);
    assert_true(ab_ledger_balanced(&ledger));
}

static void test_ledger_keyless_counts_what_was_routed_only(void **state)
{
    ab_ledger_t ledger = {0};
    ab_verdict_t routed = verdict_of(AB_OUTCOME_ROUTED, AW_VARIANT_APPROVAL, AB_REASON_NONE);
    ab_verdict_t dead =
        verdict_of(AB_OUTCOME_DEAD_LETTERED, AW_VARIANT_APPROVAL, AB_REASON_HOP_LIMIT);

    (void)state;
    routed.keyless = true;
    dead.keyless = true;
    ab_ledger_count(&ledger, &routed);
    ab_ledger_count(&ledger, &dead);
    assert_int_equal(ledger.keyless, 1);
}

static void test_ledger_add_sums_every_member(void **state)
{
    /* Every member is a uint64_t, so each can be reached by its place, also one added later. */
    ab_ledger_t a = {0};
    ab_ledger_t b = {0};
    uint64_t *a_words = (uint64_t *)&a;
    uint64_t *b_words = (uint64_t *)&b;

    (void)state;
    _Static_assert(sizeof(ab_ledger_t) % sizeof(uint64_t) == 0, "counters only");
    for (size_t i = 0; i < sizeof(a) / sizeof(uint64_t); i++) {
        a_words[i] = i;
        b_words[i] = 1000 * (i + 1);
    }
    ab_ledger_add(&a, &b);
    for (size_t i = 0; i < sizeof(a) / sizeof(uint64_t); i++) {
        assert_int_equal(a_words[i], i + 1000 * (i + 1));
    }
}

static void test_ledger_missing_outcome_is_not_balanced(void **state)
{
    ab_ledger_t ledger = {.consumed = 3, .dropped = 1};

    (void)state;
    ledger.routed[AB_SLOT_TOOL_RESULT] = 1;
    assert_false(ab_ledger_balanced(&ledger));
    ledger.dead_lettered[AB_REASON_OVERSIZED] = 1;
    assert_true(ab_ledger_balanced(&ledger));
    ledger.dead_lettered[AB_REASON_OVERSIZED] = 2;
    assert_false(ab_ledger_balanced(&ledger));
}

static void test_ledger_stale_and_gap_do_not_enter_the_balance(void **state)
{
    ab_ledger_t ledger = {.stale = 7, .gap = 9, .without_source = 2, .timestamp_zero = 1};

    (void)state;
    assert_true(ab_ledger_balanced(&ledger));
}

static void test_ledger_slots_each_has_its_own_label(void **state)
{
    (void)state;
    for (int i = 0; i < AB_SLOT_COUNT; i++) {
        assert_string_not_equal(ab_slot_label((ab_route_slot_t)i), "");
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(ab_slot_label((ab_route_slot_t)i),
                                    ab_slot_label((ab_route_slot_t)j));
        }
    }
    assert_string_equal(ab_slot_label(AB_SLOT_TOOL_RESULT), "tool_result");
    assert_string_equal(ab_slot_label(AB_SLOT_COUNT), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger_each_outcome_is_counted_once),
        cmocka_unit_test(test_ledger_keyless_counts_what_was_routed_only),
        cmocka_unit_test(test_ledger_add_sums_every_member),
        cmocka_unit_test(test_ledger_missing_outcome_is_not_balanced),
        cmocka_unit_test(test_ledger_stale_and_gap_do_not_enter_the_balance),
        cmocka_unit_test(test_ledger_slots_each_has_its_own_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
