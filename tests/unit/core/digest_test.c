#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/digest.h"

static uint64_t digest_of(const uint8_t *bytes, size_t size, size_t cut)
{
    ab_digest_t digest;
    ab_digest_init(&digest);
    ab_digest_add(&digest, bytes, cut);
    ab_digest_add(&digest, bytes + cut, size - cut);
    return ab_digest_end(&digest);
}

/* SipHash-2-4 of 00, 00 01, 00 01 02, …: the first values of the authors' reference, and that of
 * the 15 bytes in appendix A of the paper. */
static void test_digest_is_siphash_of_the_published_vectors(void **state)
{
    static const uint64_t expected[] = {0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
                                        0x85676696d7fb7e2d};
    uint8_t bytes[64];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)i;
    }
    for (size_t size = 0; size < 4; size++) {
        assert_true(digest_of(bytes, size, 0) == expected[size]);
    }
    for (size_t cut = 0; cut <= 15; cut++) {
        assert_true(digest_of(bytes, 15, cut) == 0xa129ca6149be45e5);
    }
}

static void test_digest_does_not_depend_on_how_the_bytes_come(void **state)
{
    uint8_t bytes[100];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * 37);
    }
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        for (size_t cut = 0; cut <= size; cut++) {
            assert_true(digest_of(bytes, size, cut) == digest_of(bytes, size, 0));
        }
    }
}

static void test_digest_absent_empty_and_changed_differ(void **state)
{
    (void)state;
    assert_true(ab_digest_of(AW_SPAN_NULL) == 0);
    assert_true(ab_digest_of(aw_span_text_view("")) != 0);
    assert_true(ab_digest_of(aw_span_text_view("ab")) != ab_digest_of(aw_span_text_view("aB")));
    assert_true(ab_digest_of(aw_span_text_view("ab")) == ab_digest_of(aw_span_text_view("ab")));
}

#define HEADER(name, text)                                                                         \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            (const uint8_t *)(text), sizeof(text) - 1                                              \
        }                                                                                          \
    }

static void test_digest_of_headers_sees_every_difference(void **state)
{
    static const ab_header_t lists[][2] = {
        {HEADER("a", "1"), HEADER("b", "2")}, {HEADER("b", "2"), HEADER("a", "1")},
        {HEADER("a", "1"), HEADER("b", "3")}, {HEADER("a", "1"), HEADER("c", "2")},
        {HEADER("a", "1"), HEADER("b", "")},  {HEADER("a", "1"), {"b", {NULL, 0}}},
        {HEADER("a1", ""), HEADER("b", "2")}, {HEADER("", "a1"), HEADER("b", "2")},
    };
    uint64_t seen[sizeof(lists) / sizeof(lists[0]) + 1];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        seen[count++] = ab_digest_of_headers(lists[i], 2, NULL, 0);
        /* In one list or in two. */
        assert_true(ab_digest_of_headers(lists[i], 1, lists[i] + 1, 1) == seen[count - 1]);
        assert_true(ab_digest_of_headers(NULL, 0, lists[i], 2) == seen[count - 1]);
    }
    seen[count++] = ab_digest_of_headers(lists[0], 1, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            assert_true(seen[i] != seen[j]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest_is_siphash_of_the_published_vectors),
        cmocka_unit_test(test_digest_does_not_depend_on_how_the_bytes_come),
        cmocka_unit_test(test_digest_absent_empty_and_changed_differ),
        cmocka_unit_test(test_digest_of_headers_sees_every_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
