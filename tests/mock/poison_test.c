#include "tests/mock/rig.h"

#include "bridge/core/dead_letter.h"

static void test_poison_record_refused_alone_becomes_a_dead_letter(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_records_t *letters;
    ab_records_t *copies;
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, 1);
    rig_write_value(rig, aw_span_text_view("k"), aw_span_view("\x0a\x01k\x1a\x01v", 6));
    rig_start(rig);
    rig_await_consumed(rig, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *letter = rig_only(rig, "in.errors", &letters);
    rig_assert_text(rig_header(letter, AB_HEADER_REASON), "produce_rejected");
    rig_assert_text(rig_header(letter, AB_HEADER_DLQ_MESSAGE),
                    "output topic ev: the record's timestamp is outside the output topic's range");
    const ab_full_record_t *copy = rig_only(rig, "in.quarantine", &copies);
    assert_memory_equal(copy->record.value.data, "\x0a\x01k\x1a\x01v", 6);
    rig_assert_text(rig_header(copy, "__agent_bridge.copy"), "whole");
    assert_int_equal(rig_size(rig, "ev"), 0);
    ab_records_free(letters);
    ab_records_free(copies);
    rig_close(rig);
}

/* A record too large is written once more without its source header; where it never had one, that
 * would be the same bytes. */
static void check_too_large(const char *settings, uint64_t routed)
{
    rig_t *rig = rig_open(settings);
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
    rig_write_value(rig, aw_span_text_view("k"), aw_span_view("\x0a\x01k\x1a\x01v", 6));
    rig_start(rig);
    rig_await_consumed(rig, 1);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ab_ledger_routed(&ledger), routed);
    assert_int_equal(ledger.without_source, routed);
    assert_int_equal(ledger.dead_lettered[AB_REASON_PRODUCE_REJECTED], 1 - routed);
    rig_stop(rig, AB_EXIT_OK);
    rig_close(rig);
}

static void test_poison_too_large_goes_without_its_source_header(void **state)
{
    (void)state;
    check_too_large("", 1);
}

static void test_poison_too_large_without_source_header_is_refused_once(void **state)
{
    (void)state;
    check_too_large("delivery: {source_header: false}\n", 0);
}

/* The batch is to blame as a whole: its records go out in smaller ones, and none is given up. */
static void test_poison_batch_refused_once_is_routed_in_the_end(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    rig_fail_at(rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_RECORD, 1);
    rig_write(rig, 100);
    rig_start(rig);
    rig_await_all(rig);
    const ab_ledger_t ledger = rig_ledger(rig);
    assert_int_equal(ab_ledger_dead_lettered(&ledger), 0);
    rig_stop(rig, AB_EXIT_OK);
    assert_int_equal(rig_size(rig, "in.errors"), 0);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison_record_refused_alone_becomes_a_dead_letter),
        cmocka_unit_test(test_poison_too_large_goes_without_its_source_header),
        cmocka_unit_test(test_poison_too_large_without_source_header_is_refused_once),
        cmocka_unit_test(test_poison_batch_refused_once_is_routed_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
