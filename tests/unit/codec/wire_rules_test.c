/* What the reference runtime does, statement by statement: its limits and rules. Numbers in the
 * names are those of the list they come from. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#define ENVELOPE AW_MESSAGE_AGENT_ENVELOPE
#define TRACE    AW_MESSAGE_TRACE_EVENT
#define RESULT   AW_MESSAGE_TOOL_RESULT
#define SNAPSHOT AW_MESSAGE_STATE_SNAPSHOT
#define APPROVAL AW_MESSAGE_APPROVAL

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

static void test_rule_1_tags_have_five_bytes_and_32_bits(void **state)
{
    (void)state;
    gives(ENVELOPE, "8a80808000 0161", "0a0161");
    refused(ENVELOPE, "8a8080808000 0161", AW_STATUS_DECODE_BAD_TAG);
    refused(ENVELOPE, "8a80808010 0161", AW_STATUS_DECODE_BAD_TAG);
    stays(ENVELOPE, "f8ffffff0f 01");       /* 536,870,911, the largest */
    stays(ENVELOPE, "c0a309 01 f8e109 01"); /* 19000 and 19999 are reserved for nobody here */
    stays(ENVELOPE, "faffffff0f 03 616263");
}

static void test_rule_2_number_zero_is_refused_everywhere(void **state)
{
    (void)state;
    static const char *const tags[] = {"00", "01", "02",   "03",   "04",     "05",
                                       "06", "07", "8000", "8200", "838000", "8580808000"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        char hex[64];
        snprintf(hex, sizeof hex, "0a0161 %s", tags[i]);
        refused(ENVELOPE, hex, AW_STATUS_DECODE_BAD_TAG);
        snprintf(hex, sizeof hex, "7b %s 7c", tags[i]);
        refused(ENVELOPE, hex, AW_STATUS_DECODE_BAD_TAG);
        snprintf(hex, sizeof hex, "22%02x%s", (unsigned)strlen(tags[i]) / 2, tags[i]);
        refused(ENVELOPE, hex, AW_STATUS_DECODE_BAD_TAG);
    }
}

static void test_rule_3_varints_have_ten_bytes_modulo_2_64(void **state)
{
    (void)state;
    gives(ENVELOPE, "10 87808000", "1007");
    gives(ENVELOPE, "10 81808080808080808000", "1001");
    gives(ENVELOPE, "10 8080808080808080807e", "");
    gives(ENVELOPE, "10 80808080808080808003", "10 80808080808080808001");
    refused(ENVELOPE, "10 8180808080808080808000", AW_STATUS_DECODE_VARINT);
    stays(ENVELOPE, "78 81808080808080808000"); /* an unknown one keeps its spelling */
    refused(ENVELOPE, "78 8180808080808080808000", AW_STATUS_DECODE_VARINT);
}

static void test_rule_4_lengths_are_varints_within_the_message(void **state)
{
    (void)state;
    gives(ENVELOPE, "0a 81808080808080808000 61", "0a0161");
    gives(ENVELOPE, "0a 81808080808080808002 61", "0a0161");
    refused(ENVELOPE, "0a 8180808080808080808000 61", AW_STATUS_DECODE_VARINT);
    refused(ENVELOPE, "0a 02 61", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "0a ffffffff07 61", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "0a ffffffffffffffffff01 61", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "22 02 0a01 61", AW_STATUS_DECODE_TRUNCATED);
}

static void test_rule_5_small_kinds_take_what_fits(void **state)
{
    (void)state;
    gives(APPROVAL, "10 05", "1001");
    gives(APPROVAL, "10 80808080808080808001", "1001"); /* bit 63 */
    gives(AW_MESSAGE_MEMORY_BLOB, "08 8180808010", "0801");
    gives(AW_MESSAGE_MEMORY_BLOB, "08 ffffffffffffffffff01", "08 ffffffff0f");
    gives(RESULT, "20 8280808010", "2002");
    gives(RESULT, "20 ffffffff0f", "20 ffffffffffffffffff01");
}

static void test_rule_6_fixed_values_and_wire_types_are_checked(void **state)
{
    (void)state;
    refused(ENVELOPE, "7d 010203", AW_STATUS_DECODE_TRUNCATED);
    refused(ENVELOPE, "79 01020304050607", AW_STATUS_DECODE_TRUNCATED);
    stays(ENVELOPE, "7d 01020304 79 0102030405060708");
    refused(ENVELOPE, "0e", AW_STATUS_DECODE_WIRE_TYPE);
    refused(ENVELOPE, "7e", AW_STATUS_DECODE_WIRE_TYPE);
    refused(ENVELOPE, "7f", AW_STATUS_DECODE_WIRE_TYPE);
    refused(ENVELOPE, "7b 7f 7c", AW_STATUS_DECODE_WIRE_TYPE);
}

static void test_rule_7_group_ends_must_match(void **state)
{
    (void)state;
    refused(ENVELOPE, "7c", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "22 01 7c", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "7b 74", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "7b 0801", AW_STATUS_DECODE_GROUP);
    refused(ENVELOPE, "22 01 7b 7c", AW_STATUS_DECODE_GROUP);
}

/* hex of so many groups of number 15 inside one another, in memory of its own. */
static char *groups(unsigned count)
{
    char *hex = malloc(4 * (size_t)count + 1);
    assert_non_null(hex);
    hex[4 * (size_t)count] = '\0';
    for (size_t i = 0; i < count; i++) {
        memcpy(hex + 2 * i, "7b", 2);
        memcpy(hex + 2 * (count + i), "7c", 2);
    }
    return hex;
}

/* tags before each message around the groups, outermost first. */
static int scan_nested(aw_message_type_t type, const char *const *tags, size_t depth,
                       unsigned count)
{
    char *inner = groups(count);
    for (size_t i = depth; i > 0; i--) {
        const size_t size = strlen(inner) / 2;
        char *outer = malloc(strlen(inner) + 16);
        assert_non_null(outer);
        assert_true(size < 1u << 14);
        sprintf(outer, "%s%02x%02x%s", tags[i - 1], (unsigned)(size & 0x7f) | 0x80,
                (unsigned)(size >> 7), inner);
        free(inner);
        inner = outer;
    }
    aw_span_t input = aw_test_hex(inner);
    free(inner);
    int status = aw_message_scan(type, input, NULL);
    if (status == AW_OK) {
        aw_arena_t *arena = aw_arena_new(0);
        assert_non_null(aw_test_decode(type, input, arena));
        aw_arena_free(arena);
    }
    return status;
}

static void test_rule_8_messages_and_groups_nest_100_deep(void **state)
{
    (void)state;
    static const char *const result[] = {"22"};
    static const char *const entry[] = {"42"};
    static const char *const entries[] = {"2a", "12"};
    static const struct {
        aw_message_type_t type;
        const char *const *tags;
        size_t depth;
    } places[] = {
        {ENVELOPE, NULL, 0}, {ENVELOPE, result, 1}, {TRACE, entry, 1}, {SNAPSHOT, entries, 2}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const unsigned most = 100 - (unsigned)places[i].depth;
        assert_int_equal(scan_nested(places[i].type, places[i].tags, places[i].depth, most), AW_OK);
        assert_int_equal(scan_nested(places[i].type, places[i].tags, places[i].depth, most + 1),
                         AW_STATUS_DECODE_GROUP);
    }
    /* Unknown bytes are not entered, whatever they hold. */
    stays(ENVELOPE, "7a 03 7b7b7b");
}

static void test_rule_9_known_number_of_another_wire_type_is_unknown(void **state)
{
    (void)state;
    stays(ENVELOPE, "0801 12 0161 1805 25 61626364");
    stays(ENVELOPE, "1a0161 18 05"); /* the payload stays external_event */
    stays(ENVELOPE, "1a0161 23 0801 24");
    stays(RESULT, "0d 61626364 3005 3a00");
    stays(AW_MESSAGE_CONTINUATION, "22 0161 20 05");
    stays(SNAPSHOT, "42 00 40 05 2d 61626364");
}

static void test_rule_10_strings_are_utf8_every_time(void **state)
{
    (void)state;
    static const char *const bad[] = {"c080", "eda080", "f4908080", "ff", "e282", "80", "f08080"};
    char hex[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const unsigned size = (unsigned)strlen(bad[i]) / 2;
        snprintf(hex, sizeof hex, "0a%02x%s 0a0161", size, bad[i]); /* overwritten later */
        refused(RESULT, hex, AW_STATUS_INVALID_UTF8);
        snprintf(hex, sizeof hex, "42%02x0a%02x%s", size + 2, size, bad[i]);
        refused(TRACE, hex, AW_STATUS_INVALID_UTF8);
        snprintf(hex, sizeof hex, "42%02x12%02x%s", size + 2, size, bad[i]);
        refused(TRACE, hex, AW_STATUS_INVALID_UTF8);
        snprintf(hex, sizeof hex, "42%02x78010a%02x%s", size + 4, size, bad[i]); /* no entry */
        refused(TRACE, hex, AW_STATUS_INVALID_UTF8);
        snprintf(hex, sizeof hex, "22%02x%s", size, bad[i]);
        refused(AW_MESSAGE_CONTINUATION, hex, AW_STATUS_INVALID_UTF8);
        snprintf(hex, sizeof hex, "2a%02x%s", size, bad[i]); /* bytes may be anything */
        stays(RESULT, hex);
    }
    stays(RESULT, "0a 05 61 00 efbfbe");
}

static void test_rule_11_same_variant_merges_and_another_starts_afresh(void **state)
{
    (void)state;
    gives(ENVELOPE, "22 04 0a0261 62 22 02 2002", "22 06 0a026162 2002");
    gives(ENVELOPE, "22 03 0a0161 2a 00 22 02 2002", "22 02 2002");
    gives(ENVELOPE, "22 03 0a0161 1a00 22 02 2002", "22 02 2002");
    gives(ENVELOPE, "1a0161 2200", "2200");
    gives(ENVELOPE, "2200 1a00", "1a00");
    gives(SNAPSHOT, "2a 02 0801 2a 02 1805", "2a 04 0801 1805");
    gives(SNAPSHOT, "2a 04 1202 0a00 2a 04 1202 1005", "2a 06 1200 1202 1005");
    gives(ENVELOPE, "0a0161 0a0162 1005 1000 0a00", "");
    gives(RESULT, "0a0161 0a00", "");
}

static void test_rule_12_map_keys_ascend_but_longer_ones_come_first(void **state)
{
    (void)state;
    gives(TRACE, "42 02 0a00 42 03 0a0161 42 04 0a02 6161 42 03 0a0162 42 04 0a02 c3a9",
          "42 06 0a026161 1200 42 05 0a0161 1200 42 05 0a0162 1200 42 06 0a02c3a9 1200 "
          "42 04 0a00 1200");
    gives(TRACE, "42 05 0a0161 1200 42 06 0a026162 1200 42 07 0a03616263 1200",
          "42 07 0a03616263 1200 42 06 0a026162 1200 42 05 0a0161 1200");
}

static void test_rule_13_map_entry_halves_and_repetitions(void **state)
{
    (void)state;
    gives(TRACE, "42 06 0a0161 0a0162", "42 05 0a0162 1200");
    gives(TRACE, "42 06 120161 120162", "42 05 0a00 120162");
    gives(TRACE, "42 00", "42 04 0a00 1200");
    gives(TRACE, "42 03 0a0161", "42 05 0a0161 1200");
    gives(TRACE, "42 06 0a0161 120162 42 06 0a0161 120163", "42 06 0a0161 120163");
}

static void test_rule_14_unknown_fields_stay_raw_behind_the_known(void **state)
{
    (void)state;
    gives(ENVELOPE, "9806 05 0a0161 9a86808000 8100 61 1005",
          "0a0161 1005 9806 05 9a86808000 8100 61");
    gives(ENVELOPE, "22 02 7801 22 05 0a0161 7802", "22 07 0a0161 7801 7802");
    gives(SNAPSHOT, "2a 04 7801 0801 7803 2a 02 7802", "2a 06 0801 7801 7802 7803");
}

static void test_rule_15_encoding_is_minimal_and_keeps_presence(void **state)
{
    (void)state;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        gives((aw_message_type_t)type, "", "");
    }
    gives(ENVELOPE, "8a00 8100 61 9000 8100", "0a0161 1001");
    stays(ENVELOPE, "1a00");
    stays(ENVELOPE, "2200");
    stays(ENVELOPE, "2a00");
    stays(ENVELOPE, "3200");
    stays(SNAPSHOT, "2a00 3200 3a00 4200 4200");
    gives(RESULT, "20 feffffff0f", "20 feffffffffffffffff01");
    gives(RESULT, "1800 2000 2a00 3200", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule_1_tags_have_five_bytes_and_32_bits),
        cmocka_unit_test(test_rule_2_number_zero_is_refused_everywhere),
        cmocka_unit_test(test_rule_3_varints_have_ten_bytes_modulo_2_64),
        cmocka_unit_test(test_rule_4_lengths_are_varints_within_the_message),
        cmocka_unit_test(test_rule_5_small_kinds_take_what_fits),
        cmocka_unit_test(test_rule_6_fixed_values_and_wire_types_are_checked),
        cmocka_unit_test(test_rule_7_group_ends_must_match),
        cmocka_unit_test(test_rule_8_messages_and_groups_nest_100_deep),
        cmocka_unit_test(test_rule_9_known_number_of_another_wire_type_is_unknown),
        cmocka_unit_test(test_rule_10_strings_are_utf8_every_time),
        cmocka_unit_test(test_rule_11_same_variant_merges_and_another_starts_afresh),
        cmocka_unit_test(test_rule_12_map_keys_ascend_but_longer_ones_come_first),
        cmocka_unit_test(test_rule_13_map_entry_halves_and_repetitions),
        cmocka_unit_test(test_rule_14_unknown_fields_stay_raw_behind_the_known),
        cmocka_unit_test(test_rule_15_encoding_is_minimal_and_keeps_presence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
