#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/core/reason.h"

#define DOCS_MAX (64u * 1024u)

/** The codes as released. A code is never removed, renamed or moved to another meaning; a new one
 *  is added here by hand, which is the moment to think twice. */
static const char *const FROZEN[] = {
    "tombstone",           "oversized",          "decode_truncated",  "decode_varint",
    "decode_bad_tag",      "decode_wire_type",   "decode_group",      "invalid_utf8",
    "framed_payload",      "unknown_variant",    "payload_not_set",   "missing_entity_key",
    "key_mismatch",        "missing_record_key", "missing_intent_id", "contract_violation",
    "unsupported_version", "hop_limit",          "route_refused",     "state_unknown",
    "state_not_ready",     "produce_rejected",
};

static void test_reason_codes_are_the_frozen_ones(void **state)
{
    (void)state;
    assert_string_equal(ab_reason_code(AB_REASON_NONE), "");
    assert_int_equal(AB_REASON_COUNT - 1, sizeof(FROZEN) / sizeof(FROZEN[0]));
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        assert_string_equal(ab_reason_code((ab_reason_t)i), FROZEN[i - 1]);
    }
}

static void test_reason_codes_are_unique_words(void **state)
{
    (void)state;
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        const char *code = ab_reason_code((ab_reason_t)i);

        assert_int_equal(strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(code));
        assert_true(strlen(code) > 0);
        for (unsigned j = 1; j < i; j++) {
            assert_string_not_equal(code, ab_reason_code((ab_reason_t)j));
        }
    }
}

static void test_reason_codes_never_equal_reserved_ones(void **state)
{
    size_t reserved = 0;

    (void)state;
    for (; ab_reason_reserved(reserved) != NULL; reserved++) {
        for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
            assert_string_not_equal(ab_reason_reserved(reserved), ab_reason_code((ab_reason_t)i));
        }
    }
    assert_int_equal(reserved, 9);
}

static void test_reason_rows_say_what_they_mean(void **state)
{
    (void)state;
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        const char *meaning = ab_reason_meaning((ab_reason_t)i);

        assert_true(strlen(meaning) > 0 && strlen(meaning) <= AB_REASON_MEANING_MAX);
        /* A '|' would break the table of the docs, a control character the one-line texts. */
        assert_null(strpbrk(meaning, "|\n\r\t"));
        assert_true(strlen(ab_severity_name(ab_reason_severity((ab_reason_t)i))) > 0);
    }
    assert_false(ab_reason_redrivable(AB_REASON_DECODE_VARINT));
    assert_true(ab_reason_redrivable(AB_REASON_PRODUCE_REJECTED));
    assert_string_equal(ab_severity_name(ab_reason_severity(AB_REASON_PRODUCE_REJECTED)), "broker");
    assert_string_equal(ab_severity_name(ab_reason_severity(AB_REASON_HOP_LIMIT)), "policy");
    assert_string_equal(ab_severity_name(ab_reason_severity(AB_REASON_TOMBSTONE)), "producer");
}

static size_t read_file(FILE *file, char *ret_text)
{
    size_t size = fread(ret_text, 1, DOCS_MAX, file);

    assert_true(size < DOCS_MAX);
    ret_text[size] = '\0';
    (void)fclose(file);
    return size;
}

static void test_reason_docs_are_what_the_table_gives(void **state)
{
    static char written[DOCS_MAX];
    static char committed[DOCS_MAX];
    FILE *docs = tmpfile();
    FILE *file = fopen("docs/reasons.md", "r");

    (void)state;
    assert_non_null(docs);
    assert_non_null(file);
    ab_reason_print_docs(docs);
    rewind(docs);
    assert_true(read_file(docs, written) > 0);
    (void)read_file(file, committed);
    if (strcmp(written, committed) != 0) {
        print_error("docs/reasons.md is not what bridge/core/reason.h says: run agent-bridge "
                    "version --print-reasons\n");
    }
    assert_string_equal(written, committed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reason_codes_are_the_frozen_ones),
        cmocka_unit_test(test_reason_codes_are_unique_words),
        cmocka_unit_test(test_reason_codes_never_equal_reserved_ones),
        cmocka_unit_test(test_reason_rows_say_what_they_mean),
        cmocka_unit_test(test_reason_docs_are_what_the_table_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
