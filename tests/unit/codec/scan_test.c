#include "tests/unit/codec/support.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "codec/base/limits.h"
#include "codec/message/schema.h"

static void refused(aw_message_type_t type, const char *hex, int status, int64_t offset,
                    const char *field)
{
    aw_test_expect_refused(type, aw_test_guarded(aw_test_hex(hex)), status, offset, field);
}

static void envelope_refused(const char *hex, int status, int64_t offset, const char *field)
{
    refused(AW_MESSAGE_AGENT_ENVELOPE, hex, status, offset, field);
}

static void test_scan_truncated_names_the_first_byte_of_the_item(void **state)
{
    (void)state;
    const int truncated = AW_STATUS_DECODE_TRUNCATED;
    envelope_refused("80", truncated, 0, "");
    envelope_refused("0a0161 8a8080", truncated, 3, "");
    envelope_refused("0a", truncated, 1, "entity_key");
    envelope_refused("0a85", truncated, 1, "entity_key");
    envelope_refused("0a0561", truncated, 1, "entity_key");
    envelope_refused("10", truncated, 1, "event_time_ms");
    envelope_refused("108080", truncated, 1, "event_time_ms");
    envelope_refused("1a0561", truncated, 1, "external_event");
    envelope_refused("09 0102", truncated, 1, "entity_key");
    envelope_refused("7d 010203", truncated, 1, "#15");
    envelope_refused("22 03 0a0561", truncated, 3, "tool_result.intent_id");
    envelope_refused("22 03 9a0605", truncated, 4, "tool_result.#99");
    envelope_refused("22 01 80", truncated, 2, "tool_result");
    /* What follows a message does not lend it bytes. */
    envelope_refused("22 02 0a05 6161616161", truncated, 3, "tool_result.intent_id");
}

static void test_scan_long_varint_names_its_first_byte(void **state)
{
    (void)state;
    const int varint = AW_STATUS_DECODE_VARINT;
    envelope_refused("10 8080808080808080808000", varint, 1, "event_time_ms");
    envelope_refused("0a 8080808080808080808000", varint, 1, "entity_key");
    envelope_refused("2a 0c 10 8080808080808080808000", varint, 3, "approval.approved");
    envelope_refused("78 80808080808080808080", varint, 1, "#15");
}

static void test_scan_bad_tag_names_its_first_byte_and_the_message(void **state)
{
    (void)state;
    const int bad_tag = AW_STATUS_DECODE_BAD_TAG;
    envelope_refused("00", bad_tag, 0, "");
    envelope_refused("0a0161 02 0161", bad_tag, 3, "");
    envelope_refused("8a80808010 00", bad_tag, 0, "");
    envelope_refused("8a8080808000 00", bad_tag, 0, "");
    envelope_refused("32 03 0a 00 04", bad_tag, 4, "export_request");
    envelope_refused("7b 00 7c", bad_tag, 1, "#15");
}

static void test_scan_wire_type_names_the_tag_and_the_field(void **state)
{
    (void)state;
    const int wire_type = AW_STATUS_DECODE_WIRE_TYPE;
    envelope_refused("0e", wire_type, 0, "entity_key");
    envelope_refused("0f", wire_type, 0, "entity_key");
    envelope_refused("5701", wire_type, 0, "#10");
    envelope_refused("22 01 26", wire_type, 2, "tool_result.status");
    envelope_refused("7b 0e 7c", wire_type, 1, "#15");
}

static void test_scan_group_names_the_tag_that_does_not_match(void **state)
{
    (void)state;
    const int group = AW_STATUS_DECODE_GROUP;
    envelope_refused("9403", group, 0, "#50");
    envelope_refused("0a0161 9303 9c03", group, 5, "#50");
    envelope_refused("9303", group, 0, "#50");
    envelope_refused("9303 9b03", group, 2, "#50");
    envelope_refused("22 02 9303 9403", group, 2, "tool_result.#50");
    envelope_refused("22 02 9403", group, 2, "tool_result.#50");
    envelope_refused("0b", group, 0, "entity_key");
    envelope_refused("24", group, 0, "tool_result");
}

static void test_scan_utf8_names_the_first_ill_formed_byte(void **state)
{
    (void)state;
    const int utf8 = AW_STATUS_INVALID_UTF8;
    envelope_refused("22 05 0a 03 6162ff", utf8, 6, "tool_result.intent_id");
    envelope_refused("2a 04 1a 02 c328", utf8, 4, "approval.approver");
    envelope_refused("22 06 0a01ff 0a0161", utf8, 4, "tool_result.intent_id");
    refused(AW_MESSAGE_ACTIVATION_ERROR_RECORD, "12 04 6161e282", utf8, 4, "reason");
}

static void test_scan_path_counts_the_elements_before(void **state)
{
    (void)state;
    const int utf8 = AW_STATUS_INVALID_UTF8;
    refused(AW_MESSAGE_STATE_SNAPSHOT, "4200 4200 4200 42 03 0a01ff", utf8, 10,
            "pending[3].intent_id");
    /* The same number under another wire type, or inside of something, is no element. */
    refused(AW_MESSAGE_STATE_SNAPSHOT, "4001 43 4200 44 5a024200 4200 42 03 0a01ff", utf8, 16,
            "pending[1].intent_id");
    refused(AW_MESSAGE_TRACE_EVENT, "4200 4200 42 03 0a01ff", utf8, 8, "attributes[2].key");
    refused(AW_MESSAGE_TRACE_EVENT, "4200 42 06 0a0161 1201ff", utf8, 9, "attributes[1].value");
    refused(AW_MESSAGE_CONTINUATION, "220161 2201ff", utf8, 5, "pending_intent_ids[1]");
    refused(AW_MESSAGE_STATE_SNAPSHOT, "2a 07 1200 12 03 0a01ff", utf8, 8, "memory.entries[1].key");
    refused(AW_MESSAGE_STATE_SNAPSHOT, "32 05 12 03 0a01ff", utf8, 6,
            "llm_cache.entries[0].cache_key");
    refused(AW_MESSAGE_STATE_SNAPSHOT, "3a 05 2203 6161ff", utf8, 6,
            "continuation.pending_intent_ids[0]");
}

static void test_scan_first_defect_in_input_order_decides(void **state)
{
    (void)state;
    envelope_refused("22 05 0a01ff 10 80 00", AW_STATUS_INVALID_UTF8, 4, "tool_result.intent_id");
    envelope_refused("22 02 1080 2a 03 1a01ff", AW_STATUS_DECODE_TRUNCATED, 3,
                     "tool_result.entity_key");
    envelope_refused("22 06 0a01ff 0a01ff", AW_STATUS_INVALID_UTF8, 4, "tool_result.intent_id");
    /* A message whose length does not fit is not entered. */
    envelope_refused("22 06 0a01ff", AW_STATUS_DECODE_TRUNCATED, 1, "tool_result");
}

static void test_scan_text_says_which_item_it_is(void **state)
{
    (void)state;
    aw_error_t error = AW_ERROR_INIT;
    assert_int_equal(
        aw_message_scan(AW_MESSAGE_AGENT_ENVELOPE, aw_test_hex("22 03 0a0561"), &error),
        AW_STATUS_DECODE_TRUNCATED);
    assert_string_equal(error.text, "length runs past the end");
}

static void test_scan_number_that_is_no_type_is_an_argument_error(void **state)
{
    (void)state;
    const int numbers[] = {-1, AW_MESSAGE_COUNT, AW_MESSAGE_COUNT + 1};
    for (size_t i = 0; i < 3; i++) {
        aw_error_t error = AW_ERROR_INIT;
        const aw_message_type_t type = (aw_message_type_t)numbers[i];
        assert_int_equal(aw_message_scan(type, AW_SPAN_NULL, &error), AW_STATUS_INVALID_ARGUMENT);
        assert_int_equal(error.status, AW_STATUS_INVALID_ARGUMENT);
        assert_string_equal(aw_message_type_name(type), "unknown");
    }
}

static void test_scan_absent_and_empty_input_is_a_message(void **state)
{
    (void)state;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        assert_int_equal(aw_message_scan((aw_message_type_t)type, AW_SPAN_NULL, NULL), AW_OK);
        assert_int_equal(
            aw_message_scan((aw_message_type_t)type, aw_test_guarded(AW_SPAN_NULL), NULL), AW_OK);
    }
}

/* An external_event whose bytes are those of a mapping that is never touched but for its first
 * page. */
static void test_scan_largest_input_is_taken_and_one_more_is_not(void **state)
{
    (void)state;
    const size_t mapped = (size_t)INT32_MAX + 1;
    uint8_t *bytes = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    for (size_t size = AW__INPUT_MAX - 1; size <= AW__INPUT_MAX + 1; size++) {
        const size_t length = size - 6;
        bytes[0] = 0x1a;
        for (unsigned i = 0; i < 5; i++) {
            bytes[1 + i] = (uint8_t)((length >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0));
        }
        const int expected = size <= AW__INPUT_MAX ? AW_OK : AW_STATUS_LIMIT_SIZE;
        aw_error_t error = AW_ERROR_INIT;
        aw_envelope_view_t view;
        assert_int_equal(aw_envelope_scan((aw_span_t){bytes, size}, &view, &error), expected);
        assert_int_equal(error.status, expected);
        assert_int_equal(error.offset, -1);
        if (expected == AW_OK) {
            assert_int_equal(view.external_event.size, length);
        }
        aw_arena_t *arena = aw_arena_new(0);
        assert_non_null(arena);
        const aw_message_t *message;
        assert_int_equal(aw_message_decode(AW_MESSAGE_AGENT_ENVELOPE, (aw_span_t){bytes, size},
                                           arena, &message, NULL),
                         expected);
        aw_arena_free(arena);
    }
    assert_int_equal(munmap(bytes, mapped), 0);
}

/* How many messages a message of each type may have open, itself included. */
static void measure_depths(unsigned ret_depths[AW_MESSAGE_COUNT])
{
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        ret_depths[type] = 1;
    }
    /* A type that held itself would still grow in the last round. */
    for (int round = 0; round < AW_MESSAGE_COUNT; round++) {
        for (int i = 0; i < AW_MESSAGE_COUNT; i++) {
            const aw_message_type_t type = (aw_message_type_t)i;
            aw_field_t field;
            for (uint32_t number = 1; aw_field_get(type, number, &field); number++) {
                if (field.kind == AW_KIND_MESSAGE && ret_depths[i] <= ret_depths[field.type]) {
                    ret_depths[i] = ret_depths[field.type] + 1;
                }
            }
        }
    }
}

static void test_scan_frames_hold_the_deepest_message_of_the_schema(void **state)
{
    (void)state;
    unsigned depths[AW_MESSAGE_COUNT];
    measure_depths(depths);
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        assert_true(depths[type] <= AW__FRAMES_MAX);
    }
    assert_int_equal(depths[AW_MESSAGE_STATE_SNAPSHOT], 3);
}

static void test_scan_every_prefix_of_every_golden_input_reads_no_further(void **state)
{
    (void)state;
    size_t count;
    aw_test_golden_t *golden = aw_test_golden_load(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t size = 0; size <= golden[i].input.size; size++) {
            aw_span_t prefix = aw_test_guarded((aw_span_t){golden[i].input.data, size});
            aw_error_t error = AW_ERROR_INIT;
            int status = aw_message_scan(golden[i].type, prefix, &error);
            assert_int_equal(status, error.status);
            assert_true(status == AW_OK || (error.offset >= 0 && error.offset <= (int64_t)size));
            if (golden[i].type == AW_MESSAGE_AGENT_ENVELOPE) {
                aw_envelope_view_t view;
                int seen = aw_envelope_scan(prefix, &view, NULL);
                assert_true(seen == status || seen == AW_STATUS_FRAMED_PAYLOAD);
                (void)aw_envelope_looks_like_result(prefix);
            }
        }
    }
    aw_test_golden_free(golden, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_truncated_names_the_first_byte_of_the_item),
        cmocka_unit_test(test_scan_long_varint_names_its_first_byte),
        cmocka_unit_test(test_scan_bad_tag_names_its_first_byte_and_the_message),
        cmocka_unit_test(test_scan_wire_type_names_the_tag_and_the_field),
        cmocka_unit_test(test_scan_group_names_the_tag_that_does_not_match),
        cmocka_unit_test(test_scan_utf8_names_the_first_ill_formed_byte),
        cmocka_unit_test(test_scan_path_counts_the_elements_before),
        cmocka_unit_test(test_scan_first_defect_in_input_order_decides),
        cmocka_unit_test(test_scan_text_says_which_item_it_is),
        cmocka_unit_test(test_scan_number_that_is_no_type_is_an_argument_error),
        cmocka_unit_test(test_scan_absent_and_empty_input_is_a_message),
        cmocka_unit_test(test_scan_largest_input_is_taken_and_one_more_is_not),
        cmocka_unit_test(test_scan_frames_hold_the_deepest_message_of_the_schema),
        cmocka_unit_test(test_scan_every_prefix_of_every_golden_input_reads_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
