#include "tests/unit/codec/support.h"

#include <stdio.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"
#include "codec/wire/defect.h"

typedef struct listed {
    int number;
    const char *name;
    const char *text;
} listed_t;

static const listed_t LISTED[] = {
#define LIST(id, number, name, text) {number, name, text},
    AW_STATUS_LIST(LIST)
#undef LIST
};
enum { LISTED_COUNT = sizeof LISTED / sizeof LISTED[0] };

static void test_status_every_listed_has_its_name_and_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < LISTED_COUNT; i++) {
        assert_string_equal(aw_status_name(LISTED[i].number), LISTED[i].name);
        assert_string_equal(aw_status_text(LISTED[i].number), LISTED[i].text);
        assert_int_equal(strspn(LISTED[i].name, "abcdefghijklmnopqrstuvwxyz_0123456789"),
                         strlen(LISTED[i].name));
        assert_true(strlen(LISTED[i].text) < AW_ERROR_TEXT_MAX);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(LISTED[i].number, LISTED[j].number);
            assert_string_not_equal(LISTED[i].name, LISTED[j].name);
        }
    }
}

/* What is wrong with bytes, besides decode_…. */
static const char *const BAD_INPUT[] = {
    "invalid_utf8",  "framed_payload",      "malformed_json", "duplicate_key", "unsigned_intent",
    "bad_signature", "unknown_signing_key", "version_newer",  "version_gap",   "json_mismatch",
};

static void test_status_numbers_lie_in_their_ranges(void **state)
{
    (void)state;
    assert_int_equal(AW_OK, 0);
    for (size_t i = 0; i < LISTED_COUNT; i++) {
        const int number = LISTED[i].number;
        const char *name = LISTED[i].name;
        bool bad_input = strncmp(name, "decode_", 7) == 0;
        for (size_t j = 0; j < sizeof BAD_INPUT / sizeof BAD_INPUT[0]; j++) {
            bad_input = bad_input || strcmp(name, BAD_INPUT[j]) == 0;
        }
        assert_true(number <= 0 && number > -500);
        assert_int_equal(bad_input, number <= -100 && number > -200);
        assert_int_equal(strncmp(name, "limit_", 6) == 0, number <= -200 && number > -300);
    }
}

static void test_status_unlisted_number_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(aw_status_name(-99999), "unknown");
    assert_string_equal(aw_status_name(1), "unknown");
    assert_non_null(aw_status_text(-99999));
}

static void test_defect_every_one_has_a_bad_input_status_and_a_text(void **state)
{
    (void)state;
    assert_int_equal(aw__defect_status(AW__DEFECT_NONE), AW_OK);
    for (int defect = AW__DEFECT_NONE + 1; defect <= AW__DEFECT_UTF8; defect++) {
        int status = aw__defect_status((aw__defect_t)defect);
        assert_in_range(-status, 100, 199);
        assert_true(aw__defect_text((aw__defect_t)defect)[0] != '\0');
    }
}

static void test_error_first_one_wins(void **state)
{
    (void)state;
    aw_error_t error = AW_ERROR_INIT;
    assert_int_equal(error.offset, -1);
    assert_int_equal(aw__error_set(&error, AW_STATUS_DECODE_VARINT, 17, "tool_result.seq", "first"),
                     AW_STATUS_DECODE_VARINT);
    assert_int_equal(aw__error_set(&error, AW_STATUS_NO_MEMORY, 18, "other", "second"),
                     AW_STATUS_NO_MEMORY);
    assert_int_equal(error.status, AW_STATUS_DECODE_VARINT);
    assert_int_equal(error.offset, 17);
    assert_string_equal(error.field, "tool_result.seq");
    assert_string_equal(error.text, "first");
}

static void test_error_null_is_allowed_everywhere(void **state)
{
    (void)state;
    assert_int_equal(aw__error_set(NULL, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL),
                     AW_STATUS_LIMIT_SIZE);
    aw_error_t error = AW_ERROR_INIT;
    assert_int_equal(aw__error_set(&error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL),
                     AW_STATUS_LIMIT_SIZE);
    assert_string_equal(error.field, "");
    assert_string_equal(error.text, aw_status_text(AW_STATUS_LIMIT_SIZE));
}

/* A text of so many three-byte characters behind so many plain ones. */
static void fill(char *text, size_t plain, size_t wide)
{
    memset(text, 'x', plain);
    for (size_t i = 0; i < wide; i++) {
        memcpy(text + plain + 3 * i, "\xe2\x82\xac", 3);
    }
    text[plain + 3 * wide] = '\0';
}

static void test_error_long_texts_are_cut_at_a_character(void **state)
{
    (void)state;
    char text[1024];
    for (size_t plain = 0; plain < 4; plain++) {
        fill(text, plain, 200);
        aw_error_t error = AW_ERROR_INIT;
        (void)aw__error_set(&error, AW_STATUS_NO_MEMORY, 0, text, text);
        const size_t field_size = strlen(error.field);
        const size_t text_size = strlen(error.text);
        assert_in_range(field_size, sizeof error.field - 4, sizeof error.field - 1);
        assert_in_range(text_size, sizeof error.text - 4, sizeof error.text - 1);
        assert_true(aw_utf8_valid(aw_span_text_view(error.field)));
        assert_true(aw_utf8_valid(aw_span_text_view(error.text)));
        assert_memory_equal(error.text, text, text_size);
    }
}

static void test_error_text_of_the_largest_size_is_whole(void **state)
{
    (void)state;
    for (size_t size = AW_ERROR_TEXT_MAX - 2; size <= AW_ERROR_TEXT_MAX; size++) {
        char text[AW_ERROR_TEXT_MAX + 1];
        memset(text, 'y', size);
        text[size] = '\0';
        aw_error_t error = AW_ERROR_INIT;
        (void)aw__error_set(&error, AW_STATUS_NO_MEMORY, 0, NULL, text);
        assert_int_equal(strlen(error.text), size < AW_ERROR_TEXT_MAX ? size : size - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_every_listed_has_its_name_and_text),
        cmocka_unit_test(test_status_numbers_lie_in_their_ranges),
        cmocka_unit_test(test_status_unlisted_number_is_unknown),
        cmocka_unit_test(test_defect_every_one_has_a_bad_input_status_and_a_text),
        cmocka_unit_test(test_error_first_one_wins),
        cmocka_unit_test(test_error_null_is_allowed_everywhere),
        cmocka_unit_test(test_error_long_texts_are_cut_at_a_character),
        cmocka_unit_test(test_error_text_of_the_largest_size_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
