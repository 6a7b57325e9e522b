#include "tests/mock/rig.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

/* What a topic takes by Kafka's default, which the relay assumes here. */
#define LIMIT_BYTES 1048588u

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

static void test_limits_record_over_the_limit_is_rejected_and_pointed_to(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_records_t *letters;
    ab_records_t *copies;
    write_envelope(rig, LIMIT_BYTES + 100);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *letter = rig_only(rig, "in.errors", &letters);
    rig_assert_text(rig_header(letter, AB_HEADER_REASON), "produce_rejected");
    rig_assert_text(
        rig_header(letter, AB_HEADER_DLQ_MESSAGE),
        "output topic ev: the record is larger than the output topic's max.message.bytes");
    rig_assert_text(rig_header(letter, AB_HEADER_VALUE_SIZE), "1048688");
    const ab_full_record_t *copy = rig_only(rig, "in.quarantine", &copies);
    uint8_t *written = envelope_of(LIMIT_BYTES + 100);
    assert_int_equal(copy->record.value.size, 8192);
    assert_memory_equal(copy->record.value.data, written, 8192);
    free(written);
    rig_assert_text(rig_header(copy, "__agent_bridge.copy"), "head");
    rig_assert_text(rig_header(copy, AB_HEADER_VALUE_SIZE), "1048688");
    assert_int_equal(rig_size(rig, "ev"), 0);
    ab_records_free(letters);
    ab_records_free(copies);
    rig_close(rig);
}

static void test_limits_record_that_only_fits_without_source_header_goes_without(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_records_t *routed;
    write_envelope(rig, LIMIT_BYTES - 80);
    rig_start(rig);
    rig_await_consumed(rig, 1);
    assert_int_equal(rig_ledger(rig).without_source, 1);
    rig_stop(rig, AB_EXIT_OK);
    const ab_full_record_t *record = rig_only(rig, "ev", &routed);
    assert_int_equal(record->record.value.size, LIMIT_BYTES - 80);
    assert_int_equal(record->header_count, 0);
    ab_records_free(routed);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_record_over_the_limit_is_rejected_and_pointed_to),
        cmocka_unit_test(test_limits_record_that_only_fits_without_source_header_goes_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
