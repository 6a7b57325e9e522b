/* The classes of input that protobuf-c decides otherwise than the reference runtime, each with what
 * the reference does. Numbers in the names are those of the list they come from; the inputs are
 * also in golden/wire/v1/corpus-2.jsonl, where the reference itself is asked about them. */
#include "tests/unit/codec/support.h"

#include <stdlib.h>

#define ENVELOPE AW_MESSAGE_AGENT_ENVELOPE
#define TRACE    AW_MESSAGE_TRACE_EVENT
#define RESULT   AW_MESSAGE_TOOL_RESULT
#define SNAPSHOT AW_MESSAGE_STATE_SNAPSHOT
#define APPROVAL AW_MESSAGE_APPROVAL
#define INTENT   AW_MESSAGE_TOOL_INTENT
#define CONT     AW_MESSAGE_CONTINUATION

static void gives(aw_message_type_t type, const char *hex, const char *encoding)
{
    aw_test_expect_encoding(type, aw_test_hex(hex), encoding);
}

/* Taken, and encoded as it came. */
static void stays(aw_message_type_t type, const char *hex)
{
    gives(type, hex, hex);
}

static void refused(aw_message_type_t type, const char *hex, int status)
{
    aw_error_t error = AW_ERROR_INIT;
    aw_span_t input = aw_test_hex(hex);
    assert_int_equal(aw_message_scan(type, input, &error), status);
    aw_test_expect_refused(type, input, status, error.offset, error.field);
}

static void test_class_1_oneof_message_given_twice_is_merged(void **state)
{
    (void)state;
    gives(ENVELOPE, "22 05 0a0161 7801 22 05 2002 7a0161", "22 0a 0a0161 2002 7801 7a0161");
    gives(ENVELOPE, "2a 03 0a0161 2a 02 1001", "2a 05 0a0161 1001");
    gives(ENVELOPE, "32 03 0a0161 32 03 0a0162", "32 03 0a0162");
}

static void test_class_2_oneof_message_after_another_variant_is_fresh(void **state)
{
    (void)state;
    gives(ENVELOPE, "22 03 0a0161 2a 02 1001 22 02 2002", "22 02 2002");
    gives(ENVELOPE, "22 05 0a0161 7801 1a00 22 00", "22 00");
}

static void test_class_3_message_given_twice_keeps_scalars_and_unknown_fields(void **state)
{
    (void)state;
    gives(SNAPSHOT, "2a 04 0801 7801 2a 04 1805 7802", "2a 08 0801 1805 7801 7802");
    gives(SNAPSHOT, "32 04 1801 7801 32 00", "32 04 1801 7801");
    gives(SNAPSHOT, "3a 03 320161 3a 02 3200", "3a 00"); /* an explicit empty value overrides */
    gives(SNAPSHOT, "3a 03 220161 3a 03 220162", "3a 06 220161 220162");
}

static void test_class_4_known_field_of_another_wire_type_is_unknown(void **state)
{
    (void)state;
    gives(RESULT, "0805 0a0161", "0a0161 0805");
    stays(RESULT, "1a 0105");
    stays(RESULT, "19 0102030405060708 1d 01020304");
    stays(RESULT, "22 0102 28 01");
}

static void test_class_5_bool_of_another_wire_type_stays_false(void **state)
{
    (void)state;
    static const char *const approvals[] = {"12 0100", "12 00", "15 01000000",
                                            "11 0100000000000000", "13 14"};
    for (size_t i = 0; i < sizeof approvals / sizeof approvals[0]; i++) {
        aw_arena_t *arena = aw_arena_new(0);
        const aw_message_t *approval = aw_test_decode(APPROVAL, aw_test_hex(approvals[i]), arena);
        assert_false(aw_test_value(approval, AW_FIELD_APPROVAL_APPROVED, 0).as.boolean);
        assert_true(aw_message_unknown_size(approval) > 0);
        stays(APPROVAL, approvals[i]);
        aw_arena_free(arena);
    }
}

static void test_class_6_repeated_field_of_another_wire_type_is_unknown(void **state)
{
    (void)state;
    gives(CONT, "2007 220161 25 01020304", "220161 2007 25 01020304");
    stays(AW_MESSAGE_MEMORY_BLOB, "1007 15 01020304");
    stays(SNAPSHOT, "4007");
    stays(TRACE, "4007 45 01020304");
}

static void test_class_7_groups_of_any_number_are_kept_raw(void **state)
{
    (void)state;
    stays(ENVELOPE, "9303 0802 9403");
    stays(ENVELOPE, "0b 0c 13 14 1b 1c 23 24");
    stays(ENVELOPE, "7b 13 1b 1c 14 0a0100 0d 01020304 8a00 00 7c");
    gives(ENVELOPE, "7b 7c 0a0161", "0a0161 7b 7c");
    stays(TRACE, "43 44");
}

static void test_class_8_group_that_does_not_end_in_its_message_is_refused(void **state)
{
    (void)state;
    refused(ENVELOPE, "0c", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "0b 14", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "0b", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "22 01 7b 0a00 7c", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "7b 22 01 7c", AW_STATUS_DECODE_GROUP);
}

static void test_class_9_field_number_zero_is_refused_in_two_bytes_too(void **state)
{
    (void)state;
    refused(ENVELOPE, "8000", AW_STATUS_DECODE_BAD_TAG);
    refused(ENVELOPE, "7b 8000 00 7c", AW_STATUS_DECODE_BAD_TAG);
}

static void test_class_10_tag_above_32_bits_is_refused(void **state)
{
    (void)state;
    refused(ENVELOPE, "8a80808010 00", AW_STATUS_DECODE_BAD_TAG);
    refused(ENVELOPE, "faffffff1f 00", AW_STATUS_DECODE_BAD_TAG);
    stays(ENVELOPE, "faffffff0f 00");
}

static void test_class_11_overlong_tag_counts_up_to_five_bytes(void **state)
{
    (void)state;
    gives(ENVELOPE, "8a00 0161", "0a0161");
    gives(ENVELOPE, "8a8000 0161", "0a0161");
    gives(ENVELOPE, "8a808000 0161", "0a0161");
    gives(ENVELOPE, "8a80808000 0161", "0a0161");
    refused(ENVELOPE, "8a8080808000 0161", AW_STATUS_DECODE_BAD_TAG);
}

static void test_class_12_length_of_up_to_ten_bytes_is_taken(void **state)
{
    (void)state;
    gives(ENVELOPE, "0a 818080808000 61", "0a0161");
    gives(ENVELOPE, "0a 8180808080808000 61", "0a0161");
    gives(ENVELOPE, "0a 81808080808080808000 61", "0a0161");
    gives(ENVELOPE, "0a 8180808080808080807e 61", "0a0161"); /* modulo 2^64 */
    refused(ENVELOPE, "0a 8180808080808080808000 61", AW_STATUS_DECODE_VARINT);
}

static void test_class_13_length_past_the_message_is_refused(void **state)
{
    (void)state;
    refused(ENVELOPE, "0a 02 61", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "0a ffffffff07", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "0a 8080808008", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "0a ffffffffffffffffff01", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "22 03 0a02 61 62", AW_STATUS_DECODE_TRUNCATED);
}

static void test_class_14_bool_is_judged_over_64_bits(void **state)
{
    (void)state;
    gives(APPROVAL, "10 80808080808080808002", "");
    gives(APPROVAL, "10 80808080808080808003", "1001");
    gives(APPROVAL, "10 8080808010", "1001"); /* 2^32: not zero, though its low half is */
}

static void test_class_15_small_kinds_keep_their_low_32_bits(void **state)
{
    (void)state;
    gives(INTENT, "20 8580808010", "2005");
    gives(INTENT, "50 8280808010", "5002");
    gives(INTENT, "50 ffffffff0f", "50 ffffffffffffffffff01");
    stays(INTENT, "50 80808080f8ffffffff01");
    stays(INTENT, "5063");
    gives(INTENT, "5000 2000 1800", "");
}

static void test_class_16_ill_formed_text_is_refused_wherever_it_stands(void **state)
{
    (void)state;
    refused(RESULT, "0a 01 ff 0a0161", AW_STATUS_INVALID_UTF8);
    refused(CONT, "220161 22 02 c0af", AW_STATUS_INVALID_UTF8);
    refused(TRACE, "42 05 0a 03 eda080", AW_STATUS_INVALID_UTF8);
    refused(TRACE, "42 04 12 02 c328", AW_STATUS_INVALID_UTF8);
    refused(TRACE, "42 05 0a 01 80 7801", AW_STATUS_INVALID_UTF8);
}

static void test_class_17_nul_in_strings_is_kept(void **state)
{
    (void)state;
    stays(RESULT, "0a 03 610062");
    stays(TRACE, "42 0a 0a 03 610062 12 03 620063");
}

static void test_class_18_equal_map_keys_leave_the_last(void **state)
{
    (void)state;
    gives(TRACE, "42 06 0a0161 120131 42 06 0a0162 120132 42 06 0a0161 120133",
          "42 06 0a0161 120133 42 06 0a0162 120132");
    gives(TRACE, "42 02 1200 42 03 120131", "42 05 0a00 120131");
}

static void test_class_19_map_is_written_in_the_references_order(void **state)
{
    (void)state;
    gives(TRACE, "42 05 0a0162 1200 42 04 0a00 1200 42 06 0a026161 1200 42 05 0a0161 1200",
          "42 06 0a026161 1200 42 05 0a0161 1200 42 05 0a0162 1200 42 04 0a00 1200");
}

static void test_class_20_both_halves_of_a_map_entry_are_written(void **state)
{
    (void)state;
    gives(TRACE, "42 00", "42 04 0a00 1200");
    gives(TRACE, "42 02 0a00", "42 04 0a00 1200");
    gives(TRACE, "42 03 120161", "42 05 0a00 120161");
}

static void test_class_21_map_entry_with_unknown_fields_is_an_unknown_field(void **state)
{
    (void)state;
    stays(TRACE, "42 08 0a0161 120162 7801");
    gives(TRACE, "42 08 7801 0a0161 120162", "42 08 0a0161 120162 7801");
    gives(TRACE, "42 06 7801 0a00 1200", "42 02 7801"); /* empty halves are left out */
    gives(TRACE, "42 02 0801", "42 02 0801");           /* a key of another wire type */
    gives(TRACE, "c280808000 82808000 0801", "42 02 0801");
    /* It counts as an unknown field in arrival order, and not as an entry. */
    gives(TRACE, "7801 42 05 0a0161 7805 7802 42 03 0a0161",
          "42 05 0a0161 1200 7801 42 05 0a0161 7805 7802");

    aw_arena_t *arena = aw_arena_new(0);
    const aw_message_t *event =
        aw_test_decode(TRACE, aw_test_hex("42 05 0a0161 7805 42 03 0a0162"), arena);
    assert_int_equal(aw_test_count(event, AW_FIELD_TRACE_EVENT_ATTRIBUTES), 1);
    assert_int_equal(aw_message_unknown_size(event), 7);
    aw_arena_free(arena);
}

static void test_class_22_unknown_fields_keep_their_spelling(void **state)
{
    (void)state;
    stays(ENVELOPE, "f880808000 8100");
    stays(ENVELOPE, "fa8000 8180808000 61");
    stays(ENVELOPE, "fb00 888000 818000 fc8000");
}

static void test_class_23_unknown_fields_stand_behind_the_known_at_every_level(void **state)
{
    (void)state;
    gives(SNAPSHOT, "7801 2a 0f 7802 12 05 7803 0a016b 7804 0801 1002",
          "2a 0f 0801 12 05 0a016b 7803 7802 7804 1002 7801");
    gives(SNAPSHOT, "42 05 7801 0a0161", "42 05 0a0161 7801");
}

static void test_class_24_no_repeated_field_can_be_packed(void **state)
{
    (void)state;
    aw_field_t field;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        for (uint32_t number = 1; aw_field_get((aw_message_type_t)type, number, &field); number++) {
            assert_true(!field.repeated || field.kind == AW_KIND_STRING ||
                        field.kind == AW_KIND_MESSAGE);
        }
    }
}

/* Length-delimited bytes inside one another, however deep: nothing enters what it does not know. */
static void test_class_25_depth_of_unknown_bytes_costs_nothing(void **state)
{
    (void)state;
    enum { DEPTH = 400000, EACH = 5 };
    uint8_t *bytes = malloc((size_t)DEPTH * EACH);
    assert_non_null(bytes);
    for (size_t i = 0; i < DEPTH; i++) {
        const size_t inside = (DEPTH - 1 - i) * EACH;
        uint8_t *at = bytes + i * EACH;
        at[0] = 0x7a;
        for (size_t j = 0; j < 4; j++) {
            at[1 + j] = (uint8_t)((inside >> 7 * j & 0x7f) | (j < 3 ? 0x80 : 0));
        }
    }
    const aw_span_t input = {bytes, (size_t)DEPTH * EACH};
    aw_arena_t *arena = aw_arena_new(4096);
    const aw_message_t *message = aw_test_decode(ENVELOPE, input, arena);
    assert_int_equal(aw_message_unknown_size(message), input.size);
    aw_arena_free(arena);
    free(bytes);
}

/* Unknown fields take next to nothing, elements of two bytes take as much as the arena allows. */
static void test_class_26_memory_for_small_fields_is_bounded(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i += 2) {
        bytes[i] = 0x78;
        bytes[i + 1] = 0x01;
    }
    aw_arena_t *small = aw_arena_new(4096);
    (void)aw_test_decode(ENVELOPE, (aw_span_t){bytes, SIZE}, small);
    for (size_t i = 0; i < SIZE; i += 2) {
        bytes[i] = 0x12;
        bytes[i + 1] = 0x00;
    }
    const aw_message_t *message = NULL;
    aw_arena_reset(small);
    assert_int_equal(
        aw_message_decode(AW_MESSAGE_MEMORY_BLOB, (aw_span_t){bytes, SIZE}, small, &message, NULL),
        AW_STATUS_LIMIT_DECODE_BYTES);
    assert_null(message);
    aw_arena_t *enough = aw_arena_new((size_t)64 * SIZE); /* 64 times the input */
    (void)aw_test_decode(AW_MESSAGE_MEMORY_BLOB, (aw_span_t){bytes, SIZE}, enough);
    aw_arena_free(small);
    aw_arena_free(enough);
    free(bytes);
}

/* Under UndefinedBehaviorSanitizer a shift too far would end the test. */
static void test_class_27_largest_tags_and_varints_shift_nothing_out(void **state)
{
    (void)state;
    stays(ENVELOPE, "f8ffffff0f ffffffffffffffffff7f");
    stays(ENVELOPE, "fdffffff0f 01020304");
    refused(ENVELOPE, "ffffffff7f", AW_STATUS_DECODE_BAD_TAG);
    refused(ENVELOPE, "ffffffffff0f", AW_STATUS_DECODE_BAD_TAG);
}

static void test_class_28_number_of_fields_has_no_limit_of_its_own(void **state)
{
    (void)state;
    enum { COUNT = 1 << 21 };
    uint8_t *bytes = malloc((size_t)2 * COUNT);
    assert_non_null(bytes);
    for (size_t i = 0; i < COUNT; i++) {
        bytes[2 * i] = 0x10;
        bytes[2 * i + 1] = (uint8_t)(i & 0x7f);
    }
    aw_arena_t *arena = aw_arena_new(4096);
    const aw_message_t *message =
        aw_test_decode(ENVELOPE, (aw_span_t){bytes, (size_t)2 * COUNT}, arena);
    assert_int_equal(aw_test_value(message, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, 0).as.int64,
                     (COUNT - 1) & 0x7f);
    aw_arena_free(arena);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_1_oneof_message_given_twice_is_merged),
        cmocka_unit_test(test_class_2_oneof_message_after_another_variant_is_fresh),
        cmocka_unit_test(test_class_3_message_given_twice_keeps_scalars_and_unknown_fields),
        cmocka_unit_test(test_class_4_known_field_of_another_wire_type_is_unknown),
        cmocka_unit_test(test_class_5_bool_of_another_wire_type_stays_false),
        cmocka_unit_test(test_class_6_repeated_field_of_another_wire_type_is_unknown),
        cmocka_unit_test(test_class_7_groups_of_any_number_are_kept_raw),
        cmocka_unit_test(test_class_8_group_that_does_not_end_in_its_message_is_refused),
        cmocka_unit_test(test_class_9_field_number_zero_is_refused_in_two_bytes_too),
        cmocka_unit_test(test_class_10_tag_above_32_bits_is_refused),
        cmocka_unit_test(test_class_11_overlong_tag_counts_up_to_five_bytes),
        cmocka_unit_test(test_class_12_length_of_up_to_ten_bytes_is_taken),
        cmocka_unit_test(test_class_13_length_past_the_message_is_refused),
        cmocka_unit_test(test_class_14_bool_is_judged_over_64_bits),
        cmocka_unit_test(test_class_15_small_kinds_keep_their_low_32_bits),
        cmocka_unit_test(test_class_16_ill_formed_text_is_refused_wherever_it_stands),
        cmocka_unit_test(test_class_17_nul_in_strings_is_kept),
        cmocka_unit_test(test_class_18_equal_map_keys_leave_the_last),
        cmocka_unit_test(test_class_19_map_is_written_in_the_references_order),
        cmocka_unit_test(test_class_20_both_halves_of_a_map_entry_are_written),
        cmocka_unit_test(test_class_21_map_entry_with_unknown_fields_is_an_unknown_field),
        cmocka_unit_test(test_class_22_unknown_fields_keep_their_spelling),
        cmocka_unit_test(test_class_23_unknown_fields_stand_behind_the_known_at_every_level),
        cmocka_unit_test(test_class_24_no_repeated_field_can_be_packed),
        cmocka_unit_test(test_class_25_depth_of_unknown_bytes_costs_nothing),
        cmocka_unit_test(test_class_26_memory_for_small_fields_is_bounded),
        cmocka_unit_test(test_class_27_largest_tags_and_varints_shift_nothing_out),
        cmocka_unit_test(test_class_28_number_of_fields_has_no_limit_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
