#include "bridge/kafka/poison.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_demote_size_goes_rung_by_rung_and_stays_at_the_last(void **state)
{
    (void)state;
    ab_poison_entry_t entry = {0};
    for (unsigned rung = 1; rung <= 4; rung++) {
        ab_poison_demote(&entry, AB_OUTPUT_ROUTE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        const unsigned last = ab_output_last_rung(AB_OUTPUT_ROUTE);
        assert_int_equal(entry.rung[AB_OUTPUT_ROUTE], rung < last ? rung : last);
    }
    assert_int_equal(entry.rung[AB_OUTPUT_LETTER], 0);
    assert_int_equal(entry.rung[AB_OUTPUT_QUARANTINE], 0);
}

static void test_demote_timestamp_no_smaller_record_helps_last_rung_at_once(void **state)
{
    (void)state;
    ab_poison_entry_t entry = {0};
    ab_poison_demote(&entry, AB_OUTPUT_ROUTE, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP);
    assert_int_equal(entry.rung[AB_OUTPUT_ROUTE], ab_output_last_rung(AB_OUTPUT_ROUTE));
    assert_int_equal(entry.error, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP);
}

static void test_memory_many_records_found_and_forgotten_below_an_offset(void **state)
{
    (void)state;
    ab_poison_t poison = {0};
    enum { SOURCES = 3, PARTITIONS = 5, OFFSETS = 400 };
    for (int s = 0; s < SOURCES; s++) {
        for (int32_t p = 0; p < PARTITIONS; p++) {
            for (int64_t o = 0; o < OFFSETS; o++) {
                ab_poison_entry_t *entry = ab_poison_add(&poison, s, p, o * 7);
                assert_non_null(entry);
                entry->rung[AB_OUTPUT_ROUTE] = (uint8_t)((s + p + o) % 2);
            }
        }
    }
    assert_int_equal(poison.count, SOURCES * PARTITIONS * OFFSETS);
    assert_null(ab_poison_find(&poison, 0, 0, 1));
    ab_poison_forget(&poison, 1, 2, 100 * 7);
    for (int s = 0; s < SOURCES; s++) {
        for (int32_t p = 0; p < PARTITIONS; p++) {
            for (int64_t o = 0; o < OFFSETS; o++) {
                const ab_poison_entry_t *entry = ab_poison_find(&poison, s, p, o * 7);
                if (s == 1 && p == 2 && o < 100) {
                    assert_null(entry);
                } else {
                    assert_non_null(entry);
                    assert_int_equal(entry->rung[AB_OUTPUT_ROUTE], (s + p + o) % 2);
                }
            }
        }
    }
    assert_int_equal(poison.count, SOURCES * PARTITIONS * OFFSETS - 100);
    ab_poison_clear(&poison);
}

static void test_memory_the_last_record_forgotten_gives_all_memory_back(void **state)
{
    (void)state;
    ab_poison_t poison = {0};
    assert_non_null(ab_poison_add(&poison, 0, 0, 5));
    assert_ptr_equal(ab_poison_add(&poison, 0, 0, 5), ab_poison_find(&poison, 0, 0, 5));
    assert_int_equal(poison.count, 1);
    ab_poison_forget(&poison, 0, 0, 5); /* below 5: stays */
    assert_int_equal(poison.count, 1);
    ab_poison_forget(&poison, 0, 0, INT64_MAX);
    assert_int_equal(poison.count, 0);
    assert_null(poison.slots);
    assert_null(ab_poison_find(&poison, 0, 0, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demote_size_goes_rung_by_rung_and_stays_at_the_last),
        cmocka_unit_test(test_demote_timestamp_no_smaller_record_helps_last_rung_at_once),
        cmocka_unit_test(test_memory_many_records_found_and_forgotten_below_an_offset),
        cmocka_unit_test(test_memory_the_last_record_forgotten_gives_all_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
