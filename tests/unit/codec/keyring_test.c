/* Keyrings: what is read, what is refused and where, and that nothing is left behind. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/crypto.h"
#include "agentwire/keyring.h"
#include "codec/base/base64.h"
#include "tests/unit/codec/malloc_probe.h"

static aw_keyring_t *open_keyring(const char *text)
{
    aw_error_t error = AW_ERROR_INIT;
    aw_keyring_t *keyring = NULL;
    if (aw_keyring_new(aw_span_text_view(text), &keyring, &error) != AW_OK) {
        fail_msg("%s: %s", error.field, error.text);
    }
    return keyring;
}

static void expect_key(const aw_keyring_t *keyring, const char *id, const char *key)
{
    aw_span_t found = AW_SPAN_NULL;
    assert_true(aw_keyring_find(keyring, aw_span_text_view(id), &found));
    assert_true(aw_span_equal(found, aw_span_text_view(key)));
}

static void test_keyring_lines_are_ids_and_keys(void **state)
{
    (void)state;
    aw_keyring_t *keyring = open_keyring("# ours\n\na=b25l\r\n  b.2=dHdv  \n\t\nc=dGhyZWU=\n"
                                         "d=_-8\ne=/+8=\n#f=b25l\nschl\xc3\xbcssel=b25l");
    assert_int_equal(aw_keyring_count(keyring), 6);
    expect_key(keyring, "a", "one");
    expect_key(keyring, "b.2", "two");
    expect_key(keyring, "c", "three");
    expect_key(keyring, "d", "\xff\xef");
    expect_key(keyring, "e", "\xff\xef");
    expect_key(keyring, "schl\xc3\xbcssel", "one");
    assert_true(aw_span_equal(aw_keyring_id_view(keyring, 1), aw_span_text_view("b.2")));
    aw_span_t none = AW_SPAN_NULL;
    assert_false(aw_keyring_find(keyring, aw_span_text_view("f"), &none));
    assert_false(aw_keyring_find(keyring, AW_SPAN_NULL, &none));
    assert_null(none.data);
    aw_keyring_free(keyring);
}

static void test_keyring_nothing_is_a_keyring_without_keys(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "  \r\n\t\n", "# a=b25l", "#"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        aw_keyring_t *keyring = open_keyring(texts[i]);
        assert_int_equal(aw_keyring_count(keyring), 0);
        aw_keyring_free(keyring);
    }
    aw_keyring_free(NULL);
}

static void expect_refused(aw_span_t text, const char *field, int64_t offset)
{
    aw_error_t error = AW_ERROR_INIT;
    aw_keyring_t *keyring = NULL;
    assert_int_equal(aw_keyring_new(text, &keyring, &error), AW_STATUS_INVALID_KEYRING);
    assert_null(keyring);
    assert_int_equal(error.status, AW_STATUS_INVALID_KEYRING);
    assert_string_equal(error.field, field);
    assert_int_equal(error.offset, offset);
    assert_true(error.text[0] != '\0');
}

static void test_keyring_wrong_line_is_named_by_number_and_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *field;
        int64_t offset;
    } cases[] = {
        {"secret", "line 1", 0},       {"a=b25l\nsecret\n", "line 2", 7},
        {"=b25l", "line 1", 0},        {"a=", "line 1", 2},
        {"a=====", "line 1", 2},       {"a==b25l", "line 1", 2},
        {"a b=b25l", "line 1", 1},     {"a =b25l", "line 1", 1},
        {"a= b25l", "line 1", 2},      {"a=b2 5l", "line 1", 4},
        {"a=b25l # one", "line 1", 6}, {"a=b", "line 1", 3},
        {"a=b25lb", "line 1", 7},      {"a=b25l\n\na=dHdv", "line 3", 8},
        {"\xff=b25l", "line 1", 0},    {"a\x01=b25l", "line 1", 1},
        {"a\x7f=b25l", "line 1", 1},   {"# x\n  a=\xc3\xa9", "line 2", 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(aw_test_guarded(aw_span_text_view(cases[i].text)), cases[i].field,
                       cases[i].offset);
    }
    expect_refused((aw_span_t){(const uint8_t *)"\0=b25l", 6}, "line 1", 0);
}

static void test_keyring_error_holds_nothing_of_the_keys(void **state)
{
    (void)state;
    aw_error_t error = AW_ERROR_INIT;
    aw_keyring_t *keyring = NULL;
    assert_int_equal(aw_keyring_new(aw_span_text_view("hunter=hunt*er2"), &keyring, &error),
                     AW_STATUS_INVALID_KEYRING);
    assert_null(strstr(error.text, "hunt"));
    assert_null(strstr(error.field, "hunt"));
}

/* "id=" and a key of so many bytes, in text. */
static void write_line(char *text, size_t id_size, size_t key_size)
{
    memset(text, 'i', id_size);
    text[id_size] = '=';
    const size_t digits = (key_size * 4 + 2) / 3;
    memset(text + id_size + 1, 'A', digits);
    text[id_size + 1 + digits] = '\0';
}

static void test_keyring_limits_hold_at_their_edges(void **state)
{
    (void)state;
    static char text[(size_t)1024 * 1024 + 2];
    static const struct {
        size_t id_size;
        size_t key_size;
        bool good;
    } edges[] = {{255, 1, true},  {256, 1, true},  {257, 1, false},
                 {1, 1023, true}, {1, 1024, true}, {1, 1025, false}};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        write_line(text, edges[i].id_size, edges[i].key_size);
        if (edges[i].good) {
            aw_keyring_free(open_keyring(text));
        } else {
            expect_refused(aw_span_text_view(text), "line 1", edges[i].id_size == 1 ? 2 : 0);
        }
    }
    size_t size = 0;
    for (unsigned i = 0; i < 1024; i++) {
        size += (size_t)sprintf(text + size, "k%u=b25l\n", i);
    }
    aw_keyring_t *full = open_keyring(text);
    assert_int_equal(aw_keyring_count(full), 1024);
    aw_keyring_free(full);
    memcpy(text + size, "more=b25l", 10);
    expect_refused(aw_span_text_view(text), "line 1025", (int64_t)size);

    memset(text, '#', sizeof text - 1);
    expect_refused(aw_span_text_view(text), "line 1", 0);
    text[sizeof text - 2] = '\0';
    aw_keyring_free(open_keyring(text));
}

static void test_keyring_memory_that_is_freed_holds_no_key(void **state)
{
    (void)state;
    static const char key[] = "a-key-that-must-not-stay";
    static char text[] = "k=YS1rZXktdGhhdC1tdXN0LW5vdC1zdGF5";
    aw_keyring_t *keyring = open_keyring(text);
    expect_key(keyring, "k", key);
    aw_test_freed_search = key;
    aw_keyring_free(keyring);
    /* Refused after a good line: that one's key is gone as well. */
    static const char bad[] = "k=YS1rZXktdGhhdC1tdXN0LW5vdC1zdGF5\nx";
    aw_keyring_t *none = NULL;
    assert_int_equal(aw_keyring_new(aw_span_text_view(bad), &none, NULL),
                     AW_STATUS_INVALID_KEYRING);
    aw_test_freed_search = NULL;
    assert_int_equal(aw_test_freed_found, 0);
    assert_true(aw_test_freed_looked >= 2);
}

static void test_keyring_memory_refused_says_so(void **state)
{
    (void)state;
    aw_error_t error = AW_ERROR_INIT;
    aw_keyring_t *keyring = NULL;
    aw_test_malloc_allowed = 0;
    int status = aw_keyring_new(aw_span_text_view("a=b25l"), &keyring, &error);
    aw_test_malloc_allowed = SIZE_MAX;
    assert_int_equal(status, AW_STATUS_NO_MEMORY);
    assert_int_equal(error.status, AW_STATUS_NO_MEMORY);
    assert_null(keyring);
}

static void test_base64_text_is_decoded_or_refused_where_it_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *hex; /* NULL: refused */
        size_t offset;
    } cases[] = {
        {"", "", 0},           {"AA==", "00", 0},     {"AA", "00", 0},       {"AAE=", "0001", 0},
        {"AAE", "0001", 0},    {"AAEC", "000102", 0}, {"+/+/", "fbffbf", 0}, {"-_-_", "fbffbf", 0},
        {"+_-/", "fbffbf", 0}, {"AB", "00", 0}, /* bits left over */
        {"A", NULL, 1},        {"AAECA", NULL, 5},    {"=", NULL, 0},        {"====", NULL, 0},
        {"AA=", NULL, 2},      {"A===", NULL, 1},     {"AAE==", NULL, 3},    {"AAEC=", NULL, 4},
        {"AA==AAEC", NULL, 2}, {"A A=", NULL, 1},     {"AA\n=", NULL, 2},    {"AA*C", NULL, 2},
        {"\xc3\xa9", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[16];
        size_t size = 99;
        size_t offset = 99;
        const aw_span_t text = aw_test_guarded(aw_span_text_view(cases[i].text));
        const bool good = aw__base64_decode(text, bytes, &size, &offset);
        assert_int_equal(good, cases[i].hex != NULL);
        assert_int_equal(offset, good ? 99 : cases[i].offset);
        if (good) {
            assert_true(size <= aw__base64_capacity(text.size));
            aw_test_expect_hex((aw_span_t){bytes, size}, cases[i].hex);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyring_lines_are_ids_and_keys),
        cmocka_unit_test(test_keyring_nothing_is_a_keyring_without_keys),
        cmocka_unit_test(test_keyring_wrong_line_is_named_by_number_and_byte),
        cmocka_unit_test(test_keyring_error_holds_nothing_of_the_keys),
        cmocka_unit_test(test_keyring_limits_hold_at_their_edges),
        cmocka_unit_test(test_keyring_memory_that_is_freed_holds_no_key),
        cmocka_unit_test(test_keyring_memory_refused_says_so),
        cmocka_unit_test(test_base64_text_is_decoded_or_refused_where_it_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
