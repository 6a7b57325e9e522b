#include "tests/mock/rig.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

/* What a topic takes by Kafka's default, which the relay assumes here. */
#define LIMIT_BYTES 1048588u

/* The value of the last header of this name; absent without one. */
static aw_span_t header_of(const ab_full_record_t *record, const char *name)
{
    aw_span_t value = AW_SPAN_NULL;
    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, name) == 0) {
            value = record->headers[i].value;
        }
    }
    return value;
}

static void assert_text(aw_span_t value, const char *wanted)
{
    assert_non_null(value.data);
    assert_int_equal(value.size, strlen(wanted));
    assert_memory_equal(value.data, wanted, value.size);
}

/* The only record of a topic, owned by *ret_records. */
static const ab_full_record_t *only_record(rig_t *rig, const char *topic,
                                           ab_records_t **ret_records)
{
    size_t count;
    *ret_records = rig_read(rig, topic);
    const ab_full_record_t *records = ab_records_view(*ret_records, &count);
    assert_int_equal(count, 1);
    return records;
}

/* An envelope with entity_key "k" and an external_event, size bytes in all. */
static uint8_t *envelope_of(size_t size)
{
    uint8_t *value = malloc(size);
    const size_t event = size - 8;
    assert_non_null(value);
    assert_true(event >= 1u << 14 && event < 1u << 28);
    memset(value, 'x', size);
    memcpy(value, "\x0a\x01k\x1a", 4);
    for (int i = 0; i < 4; i++) { /* the length in four bytes, padded where it needs fewer */
        value[4 + i] = (uint8_t)((event >> (7 * i)) & 0x7f) | (i < 3 ? 0x80 : 0);
    }
    return value;
}

static void write_envelope(rig_t *rig, size_t size)
{
    uint8_t *value = envelope_of(size);
    rig_write_value(rig, aw_span_text_view("k"), aw_span_view(value, size));
    free(value);
}

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
    const ab_full_record_t *letter = only_record(rig, "in.errors", &letters);
    assert_text(header_of(letter, AB_HEADER_REASON), "produce_rejected");
    assert_text(header_of(letter, AB_HEADER_DLQ_MESSAGE),
                "output topic ev: the record's timestamp is outside the output topic's range");
    const ab_full_record_t *copy = only_record(rig, "in.quarantine", &copies);
    assert_memory_equal(copy->record.value.data, "\x0a\x01k\x1a\x01v", 6);
    assert_text(header_of(copy, "__agent_bridge.copy"), "whole");
    assert_int_equal(rig_size(rig, "ev"), 0);
    ab_records_free(letters);
    ab_records_free(copies);
    rig_close(rig);
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

static void test_poison_record_over_the_limit_is_rejected_and_pointed_to(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_records_t *letters;
    ab_records_t *copies;
    write_envelope(rig, LIMIT_BYTES + 100);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *letter = only_record(rig, "in.errors", &letters);
    assert_text(header_of(letter, AB_HEADER_REASON), "produce_rejected");
    assert_text(header_of(letter, AB_HEADER_DLQ_MESSAGE),
                "output topic ev: the record is larger than the output topic's max.message.bytes");
    assert_text(header_of(letter, AB_HEADER_VALUE_SIZE), "1048688");
    const ab_full_record_t *copy = only_record(rig, "in.quarantine", &copies);
    assert_int_equal(copy->record.value.size, 0);
    assert_text(header_of(copy, "__agent_bridge.copy"), "pointer");
    assert_int_equal(rig_size(rig, "ev"), 0);
    ab_records_free(letters);
    ab_records_free(copies);
    rig_close(rig);
}

static void test_poison_record_that_only_fits_without_source_header_goes_without(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_records_t *routed;
    write_envelope(rig, LIMIT_BYTES - 80);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    assert_int_equal(rig_ledger(rig).without_source, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *record = only_record(rig, "ev", &routed);
    assert_int_equal(record->record.value.size, LIMIT_BYTES - 80);
    assert_int_equal(record->header_count, 0);
    ab_records_free(routed);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison_record_refused_alone_becomes_a_dead_letter),
        cmocka_unit_test(test_poison_batch_refused_once_is_routed_in_the_end),
        cmocka_unit_test(test_poison_record_over_the_limit_is_rejected_and_pointed_to),
        cmocka_unit_test(test_poison_record_that_only_fits_without_source_header_goes_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
