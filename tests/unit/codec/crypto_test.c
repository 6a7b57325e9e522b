#include "tests/unit/codec/support.h"

#include "agentwire/crypto.h"

static void expect_digest(aw_span_t input, const char *hex)
{
    char text[AW_SHA256_HEX_SIZE];
    assert_int_equal(aw_sha256_hex(input, text), AW_OK);
    assert_string_equal(text, hex);
    uint8_t digest[AW_SHA256_SIZE];
    assert_int_equal(aw_sha256(input, digest), AW_OK);
    aw_test_expect_hex(aw_span_view(digest, sizeof digest), hex);
}

/* The examples of FIPS 180-2. */
static void test_sha256_known_inputs_give_known_digests(void **state)
{
    (void)state;
    static uint8_t million[1000000];
    memset(million, 'a', sizeof million);
    expect_digest(aw_span_text_view(""),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_digest(aw_span_text_view("abc"),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_digest(aw_span_text_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect_digest(aw_span_view(million, sizeof million),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_sha256_absent_input_counts_as_empty(void **state)
{
    (void)state;
    expect_digest(AW_SPAN_NULL, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_hex_every_byte_is_two_small_digits(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        const uint8_t bytes[2] = {(uint8_t)byte, (uint8_t)~byte};
        char hex[5] = "zzzz";
        aw_hex_write(aw_span_view(bytes, 2), hex);
        aw_test_expect_hex(aw_span_view(bytes, 2), hex);
        assert_int_equal(strlen(hex), 4);
    }
    char nothing[2] = "zz";
    aw_hex_write(AW_SPAN_NULL, nothing);
    assert_int_equal(nothing[0], '\0');
    assert_int_equal(nothing[1], 'z');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_known_inputs_give_known_digests),
        cmocka_unit_test(test_sha256_absent_input_counts_as_empty),
        cmocka_unit_test(test_hex_every_byte_is_two_small_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
