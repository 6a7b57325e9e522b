#include "tests/unit/codec/support.h"

#include <stdio.h>

#include "codec/wire/reader.h"
#include "codec/wire/writer.h"

static aw__reader_t over(aw_span_t bytes)
{
    return (aw__reader_t){bytes.data, bytes.data + bytes.size};
}

static void expect_varint(const char *hex, uint64_t value, size_t size)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    uint64_t read = 1;
    assert_int_equal(aw__read_varint(&reader, &read), AW__DEFECT_NONE);
    assert_true(read == value);
    assert_int_equal(reader.at - bytes.data, size);
}

static void expect_varint_defect(const char *hex, aw__defect_t defect)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    uint64_t read = 4711;
    assert_int_equal(aw__read_varint(&reader, &read), defect);
    assert_ptr_equal(reader.at, bytes.data);
    assert_true(read == 4711);
}

static void test_varint_of_every_size_is_read(void **state)
{
    (void)state;
    expect_varint("00", 0, 1);
    expect_varint("7f", 127, 1);
    expect_varint("8001", 128, 2);
    expect_varint("ffffffff0f", 0xffffffff, 5);
    expect_varint("ffffffffffffff7f", (UINT64_C(1) << 56) - 1, 8);
    expect_varint("80808080808080808001 ff", UINT64_C(1) << 63, 10);
    expect_varint("ffffffffffffffffff01", UINT64_MAX, 10);
}

static void test_varint_each_bit_lands_in_its_place(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        /* In each of the three ways the reader has, given by what follows. */
        for (size_t behind = 0; behind < 12; behind++) {
            uint8_t buffer[32];
            memset(buffer, 0xff, sizeof buffer);
            uint8_t *end = buffer + 16;
            uint8_t *begin = aw__write_varint(end, UINT64_C(1) << bit);
            assert_int_equal(end - begin, bit / 7 + 1);
            aw__reader_t reader = {begin, end + behind};
            uint64_t value;
            assert_int_equal(aw__read_varint(&reader, &value), AW__DEFECT_NONE);
            assert_true(value == UINT64_C(1) << bit);
            assert_ptr_equal(reader.at, end);
        }
    }
}

/* However many bytes are left behind it, and with its value wanted or not, a varint of any size is
 * read to its end, and one that lacks a byte is truncated. */
static void test_varint_at_any_distance_from_the_end_is_read_or_truncated(void **state)
{
    (void)state;
    for (unsigned size = 1; size <= AW__VARINT_MAX; size++) {
        uint8_t bytes[24];
        memset(bytes, 0xff, sizeof bytes);
        bytes[size - 1] = 0x01;
        const uint64_t low =
            size < AW__VARINT_MAX ? (UINT64_C(1) << 7 * (size - 1)) - 1 : UINT64_MAX >> 1;
        for (size_t left = 0; left <= size + 9; left++) {
            const aw_span_t input = aw_test_guarded((aw_span_t){bytes, left});
            const bool whole = left >= size;
            aw__reader_t wanted = over(input);
            aw__reader_t passed = over(input);
            uint64_t value = 4711;
            const aw__defect_t defect = aw__read_varint(&wanted, &value);
            assert_int_equal(defect, whole ? AW__DEFECT_NONE : AW__DEFECT_VARINT_TRUNCATED);
            assert_int_equal(aw__read_varint(&passed, NULL), defect);
            assert_int_equal(wanted.at - input.data, whole ? size : 0);
            assert_ptr_equal(passed.at, wanted.at);
            assert_true(value == (whole ? low + (UINT64_C(1) << 7 * (size - 1)) : 4711));
        }
    }
}

static void test_varint_tenth_byte_holds_any_bits(void **state)
{
    (void)state;
    expect_varint("80808080808080808002", 0, 10);
    expect_varint("8180808080808080807f", UINT64_C(1) << 63 | 1, 10);
    expect_varint("81808080808080808000 00", 1, 10);
}

static void test_varint_eleventh_byte_refuses(void **state)
{
    (void)state;
    expect_varint_defect("8080808080808080808000", AW__DEFECT_VARINT_LONG);
    expect_varint_defect("80808080808080808080", AW__DEFECT_VARINT_LONG);
    expect_varint_defect("ffffffffffffffffffffffff", AW__DEFECT_VARINT_LONG);
}

static void test_varint_cut_off_is_truncated(void **state)
{
    (void)state;
    expect_varint_defect("", AW__DEFECT_VARINT_TRUNCATED);
    expect_varint_defect("80", AW__DEFECT_VARINT_TRUNCATED);
    expect_varint_defect("ffffffffffffff", AW__DEFECT_VARINT_TRUNCATED);
    expect_varint_defect("ffffffffffffffff", AW__DEFECT_VARINT_TRUNCATED);
    expect_varint_defect("808080808080808080", AW__DEFECT_VARINT_TRUNCATED);
}

static void test_varint_written_is_minimal_and_reads_back(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 100000; round++) {
        uint64_t value = aw_test_random(&random) >> aw_test_random(&random) % 64;
        uint8_t buffer[AW__VARINT_MAX];
        uint8_t *end = buffer + sizeof buffer;
        uint8_t *begin = aw__write_varint(end, value);
        const size_t size = (size_t)(end - begin);
        assert_int_equal(size, aw__varint_size(value));
        assert_true(size == 1 || value >> 7 * (size - 1) != 0);
        aw__reader_t reader = {begin, end};
        uint64_t read;
        assert_int_equal(aw__read_varint(&reader, &read), AW__DEFECT_NONE);
        assert_true(read == value);
        assert_ptr_equal(reader.at, end);
    }
}

static void expect_tag(const char *hex, uint32_t tag, size_t size)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    uint32_t read = 0;
    assert_int_equal(aw__read_tag(&reader, &read), AW__DEFECT_NONE);
    assert_int_equal(read, tag);
    assert_int_equal(reader.at - bytes.data, size);
}

static void expect_tag_defect(const char *hex, aw__defect_t defect)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    uint32_t read = 4711;
    assert_int_equal(aw__read_tag(&reader, &read), defect);
    assert_ptr_equal(reader.at, bytes.data);
    assert_int_equal(read, 4711);
}

static void test_tag_of_one_to_five_bytes_is_read(void **state)
{
    (void)state;
    expect_tag("08", 8, 1);
    expect_tag("7f", 0x7f, 1);
    expect_tag("8001", 128, 2);
    expect_tag("8a80808000", 10, 5);
    expect_tag("ffffffff0f", UINT32_MAX, 5);
}

static void test_tag_above_32_bits_or_five_bytes_is_long(void **state)
{
    (void)state;
    expect_tag_defect("8a80808010", AW__DEFECT_TAG_LONG);
    expect_tag_defect("8a8080808000", AW__DEFECT_TAG_LONG);
    expect_tag_defect("8a80808080", AW__DEFECT_TAG_LONG);
    expect_tag_defect("808080807f", AW__DEFECT_TAG_LONG);
}

static void test_tag_of_number_zero_is_refused_in_any_spelling(void **state)
{
    (void)state;
    for (int wire = 0; wire < 8; wire++) {
        char hex[16];
        snprintf(hex, sizeof hex, "%02x", wire);
        expect_tag_defect(hex, AW__DEFECT_TAG_ZERO);
        snprintf(hex, sizeof hex, "%02x00", 0x80 | wire);
        expect_tag_defect(hex, AW__DEFECT_TAG_ZERO);
        snprintf(hex, sizeof hex, "%02x80808000", 0x80 | wire);
        expect_tag_defect(hex, AW__DEFECT_TAG_ZERO);
    }
}

static void test_tag_cut_off_is_truncated(void **state)
{
    (void)state;
    expect_tag_defect("80", AW__DEFECT_TAG_TRUNCATED);
    expect_tag_defect("8a808080", AW__DEFECT_TAG_TRUNCATED);
}

static void expect_length(const char *hex, aw__defect_t defect, size_t expected)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    size_t length = 4711;
    assert_int_equal(aw__read_length(&reader, &length), defect);
    if (defect == AW__DEFECT_NONE) {
        assert_int_equal(length, expected);
    } else {
        assert_int_equal(length, 4711);
        assert_ptr_equal(reader.at, bytes.data);
    }
}

static void test_length_is_held_against_what_is_left(void **state)
{
    (void)state;
    expect_length("00", AW__DEFECT_NONE, 0);
    expect_length("02 6161", AW__DEFECT_NONE, 2);
    expect_length("81808080808080808000 61", AW__DEFECT_NONE, 1);
    expect_length("81808080808080808002 61", AW__DEFECT_NONE, 1);
    expect_length("03 6161", AW__DEFECT_LENGTH_TRUNCATED, 0);
    expect_length("", AW__DEFECT_LENGTH_TRUNCATED, 0);
    expect_length("80", AW__DEFECT_LENGTH_TRUNCATED, 0);
    expect_length("ffffffff07 61", AW__DEFECT_LENGTH_TRUNCATED, 0);
    expect_length("ffffffffffffffffff01 61", AW__DEFECT_LENGTH_TRUNCATED, 0);
    expect_length("8080808080808080808000", AW__DEFECT_VARINT_LONG, 0);
}

static aw__defect_t pass_over(const char *hex, unsigned nesting, ptrdiff_t *ret_at)
{
    aw_span_t bytes = aw_test_guarded(aw_test_hex(hex));
    aw__reader_t reader = over(bytes);
    uint32_t tag = 0;
    assert_int_equal(aw__read_tag(&reader, &tag), AW__DEFECT_NONE);
    aw__defect_t defect = aw__skip_value(&reader, bytes.data, tag, nesting);
    *ret_at = reader.at - bytes.data;
    return defect;
}

static void expect_skip(const char *hex, aw__defect_t defect, ptrdiff_t at)
{
    ptrdiff_t stopped;
    assert_int_equal(pass_over(hex, 0, &stopped), defect);
    assert_int_equal(stopped, at);
}

static void test_skip_passes_over_one_value_of_each_wire_type(void **state)
{
    (void)state;
    expect_skip("78 8001 08", AW__DEFECT_NONE, 3);
    expect_skip("79 0102030405060708 08", AW__DEFECT_NONE, 9);
    expect_skip("7a 03 616263 08", AW__DEFECT_NONE, 5);
    expect_skip("7b 0801 7c 08", AW__DEFECT_NONE, 4);
    expect_skip("7d 01020304 08", AW__DEFECT_NONE, 5);
}

static void test_skip_stops_at_the_item_that_is_wrong(void **state)
{
    (void)state;
    expect_skip("78 80", AW__DEFECT_VARINT_TRUNCATED, 1);
    expect_skip("79 01020304050607", AW__DEFECT_FIXED_TRUNCATED, 1);
    expect_skip("7a 03 6162", AW__DEFECT_LENGTH_TRUNCATED, 1);
    expect_skip("7c", AW__DEFECT_GROUP_END_ALONE, 0);
    expect_skip("7d 010203", AW__DEFECT_FIXED_TRUNCATED, 1);
    expect_skip("7e", AW__DEFECT_WIRE_TYPE, 0);
    expect_skip("7f", AW__DEFECT_WIRE_TYPE, 0);
}

static void test_group_defects_are_named_by_their_own_item(void **state)
{
    (void)state;
    expect_skip("7b", AW__DEFECT_GROUP_OPEN, 0);
    expect_skip("7b 0801", AW__DEFECT_GROUP_OPEN, 0);
    expect_skip("7b 13 14", AW__DEFECT_GROUP_OPEN, 0);
    expect_skip("7b 13", AW__DEFECT_GROUP_OPEN, 1);
    expect_skip("7b 13 7c", AW__DEFECT_GROUP_END_OTHER, 2);
    expect_skip("7b 00 7c", AW__DEFECT_TAG_ZERO, 1);
    expect_skip("7b 0e 7c", AW__DEFECT_WIRE_TYPE, 1);
    expect_skip("7b 80", AW__DEFECT_TAG_TRUNCATED, 1);
    expect_skip("7b 0a05 7c", AW__DEFECT_LENGTH_TRUNCATED, 2);
    expect_skip("7b fc00", AW__DEFECT_NONE, 3);
}

/* So many groups inside one another, all of number 15. */
static aw__defect_t skip_groups(unsigned count, unsigned nesting, ptrdiff_t *ret_at)
{
    char hex[4 * 200 + 1] = "";
    for (unsigned i = 0; i < count; i++) {
        memcpy(hex + 2 * i, "7b", 3);
    }
    for (unsigned i = 0; i < count; i++) {
        memcpy(hex + 2 * count + 2 * i, "7c", 3);
    }
    return pass_over(hex, nesting, ret_at);
}

static void test_group_nesting_counts_the_messages_around(void **state)
{
    (void)state;
    for (unsigned nesting = 0; nesting < AW__FRAMES_MAX; nesting++) {
        const unsigned most = AW__NESTING_MAX - nesting;
        ptrdiff_t at;
        assert_int_equal(skip_groups(most - 1, nesting, &at), AW__DEFECT_NONE);
        assert_int_equal(skip_groups(most, nesting, &at), AW__DEFECT_NONE);
        assert_int_equal(at, 2 * most);
        assert_int_equal(skip_groups(most + 1, nesting, &at), AW__DEFECT_NESTING);
        assert_int_equal(at, most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varint_of_every_size_is_read),
        cmocka_unit_test(test_varint_each_bit_lands_in_its_place),
        cmocka_unit_test(test_varint_at_any_distance_from_the_end_is_read_or_truncated),
        cmocka_unit_test(test_varint_tenth_byte_holds_any_bits),
        cmocka_unit_test(test_varint_eleventh_byte_refuses),
        cmocka_unit_test(test_varint_cut_off_is_truncated),
        cmocka_unit_test(test_varint_written_is_minimal_and_reads_back),
        cmocka_unit_test(test_tag_of_one_to_five_bytes_is_read),
        cmocka_unit_test(test_tag_above_32_bits_or_five_bytes_is_long),
        cmocka_unit_test(test_tag_of_number_zero_is_refused_in_any_spelling),
        cmocka_unit_test(test_tag_cut_off_is_truncated),
        cmocka_unit_test(test_length_is_held_against_what_is_left),
        cmocka_unit_test(test_skip_passes_over_one_value_of_each_wire_type),
        cmocka_unit_test(test_skip_stops_at_the_item_that_is_wrong),
        cmocka_unit_test(test_group_defects_are_named_by_their_own_item),
        cmocka_unit_test(test_group_nesting_counts_the_messages_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
