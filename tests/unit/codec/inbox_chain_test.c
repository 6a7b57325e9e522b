/* The version chain by itself, with migrations made for the test. */
#include "tests/unit/codec/inbox_support.h"

#include "codec/inbox/chain.h"
#include "codec/inbox/text.h"
#include "codec/json/sorted.h"

static char order[8]; /* which steps ran */

static const aw__json_value_t *stamp(const aw__json_value_t *value, aw__json_maker_t *maker,
                                     const char *version, char mark)
{
    static const char *const BUT[] = {"version", NULL};
    const char text[] = {mark, '\0'};
    strcat(order, text);
    aw__json_value_t *made = aw__json_make_object(maker);
    aw__json_make_take_all(maker, made, value, BUT);
    if (version != NULL) {
        aw__json_make_put_text(maker, made, "version", aw__json_make_number(maker, version));
    }
    return aw__json_make_end(maker, made);
}

static const aw__json_value_t *to_1(const aw__json_value_t *value, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    (void)result;
    return stamp(value, maker, "1", 'a');
}

static const aw__json_value_t *to_2(const aw__json_value_t *value, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    (void)result;
    return stamp(value, maker, "2", 'b');
}

static const aw__json_value_t *to_3(const aw__json_value_t *value, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    (void)result;
    return stamp(value, maker, "3", 'c');
}

static const aw__json_value_t *to_5(const aw__json_value_t *value, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    (void)result;
    return stamp(value, maker, "5", 'e');
}

static const aw__json_value_t *to_nothing(const aw__json_value_t *value, aw__json_maker_t *maker,
                                          aw_inbox_result_t *result)
{
    (void)result;
    return stamp(value, maker, NULL, 'n');
}

static const aw__json_value_t *fails(const aw__json_value_t *value, aw__json_maker_t *maker,
                                     aw_inbox_result_t *result)
{
    (void)maker;
    aw__inbox_fail(result, AW_INBOX_CLASS_LEGACY_DELIVER, value, "/x", "the mast is broken");
    return NULL;
}

typedef struct expectation {
    aw_inbox_class_t outcome;
    const char *words[3]; /* of the message */
    const char *output;
    const char *order;
} expectation_t;

static void expect(const aw__inbox_migration_t *migrations, size_t count, unsigned target,
                   int initial, const char *text, expectation_t wanted)
{
    const aw__chain_t chain = {.label = "box",
                               .migrations = migrations,
                               .count = count,
                               .target = target,
                               .has_initial = initial >= 0,
                               .initial = initial >= 0 ? (unsigned)initial : 0};
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw__json_maker_init(&maker, aw_test_inbox_arena);
    aw__inbox_accept(&result);
    order[0] = '\0';
    const aw__json_value_t *value = aw__inbox_read(aw_span_text_view(text), &maker, &result);
    const aw__json_value_t *ran = aw__chain_run(&chain, value, &maker, &result);
    assert_int_equal(maker.status, AW_OK);
    assert_int_equal(result.outcome, wanted.outcome);
    assert_string_equal(order, wanted.order != NULL ? wanted.order : "");
    if (wanted.outcome != AW_INBOX_CLASS_OK) {
        assert_null(ran);
        for (size_t i = 0; i < 3 && wanted.words[i] != NULL; i++) {
            if (strstr(result.message, wanted.words[i]) == NULL) {
                print_error("'%s' lacks '%s'\n", result.message, wanted.words[i]);
            }
            assert_non_null(strstr(result.message, wanted.words[i]));
        }
        return;
    }
    aw_span_t output;
    assert_int_equal(
        aw__json_sorted_text(ran, AW_JSON_NUMBERS_ECMASCRIPT, aw_test_inbox_arena, &output), AW_OK);
    assert_true(aw_span_equal(output, aw_span_text_view(wanted.output)));
    /* the value itself is as it was */
    assert_int_equal(
        aw__json_sorted_text(value, AW_JSON_NUMBERS_ECMASCRIPT, aw_test_inbox_arena, &output),
        AW_OK);
    aw__json_value_t *again = aw__inbox_read(aw_span_text_view(text), &maker, &result);
    aw_span_t before;
    assert_int_equal(
        aw__json_sorted_text(again, AW_JSON_NUMBERS_ECMASCRIPT, aw_test_inbox_arena, &before),
        AW_OK);
    assert_true(aw_span_equal(output, before));
}

static void test_chain_steps_run_in_the_order_of_versions(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{2, 3, to_3}, {1, 2, to_2}};
    expect(list, 2, 3, -1, "{\"version\":1,\"x\":7}",
           (expectation_t){.output = "{\"version\":3,\"x\":7}", .order = "bc"});
    expect(list, 2, 3, -1, "{\"version\":2}",
           (expectation_t){.output = "{\"version\":3}", .order = "c"});
    expect(list, 2, 2, -1, "{\"version\":1}",
           (expectation_t){.output = "{\"version\":2}", .order = "b"});
}

static void test_chain_value_at_the_target_comes_back_whole(void **state)
{
    (void)state;
    expect(NULL, 0, 3, -1, "{\"version\":3.0,\"more\":[1,{}]}",
           (expectation_t){.output = "{\"more\":[1,{}],\"version\":3}"});
}

static void test_chain_version_is_a_number_or_absent_with_an_initial(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{0, 1, to_1}};
    const expectation_t none = {.outcome = AW_INBOX_CLASS_NO_VERSION,
                                .words = {"box: ", "no numeric \"version\" field"}};
    const expectation_t bad = {.outcome = AW_INBOX_CLASS_BAD_VERSION,
                               .words = {"box: ", "not a positive integer"}};
    expect(list, 1, 1, -1, "{}", none);
    expect(list, 1, 1, -1, "{\"version\":0}", bad);
    expect(list, 1, 1, 0, "{\"x\":1}",
           (expectation_t){.output = "{\"version\":1,\"x\":1}", .order = "a"});
    expect(list, 1, 1, 0, "{\"version\":null}", none);
    expect(list, 1, 1, 0, "{\"version\":\"1\"}", none);
    expect(list, 1, 1, 0, "3", none);
    expect(list, 1, 1, 0, "\"version\"", none);
    expect(list, 1, 1, 0, "[7]", (expectation_t){.output = "{\"version\":1}", .order = "a"});
    expect(list, 1, 1, -1, "[7]", none);
    expect(list, 1, 1, 0, "{\"version\":0.5}", bad);
    expect(list, 1, 1, 0, "{\"version\":-1}", bad);
    expect(list, 1, 1, 0, "{\"version\":1e300}",
           (expectation_t){.outcome = AW_INBOX_CLASS_NEWER_VERSION,
                           .words = {"1e+300", "newer", " 1,"}});
}

static void test_chain_newer_version_names_both(void **state)
{
    (void)state;
    expect(NULL, 0, 41, -1, "{\"version\":42}",
           (expectation_t){.outcome = AW_INBOX_CLASS_NEWER_VERSION,
                           .words = {"version 42 is newer than 41", "newer deployment", "box: "}});
}

static void test_chain_gap_names_both_versions(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{0, 1, to_1}};
    expect(list, 1, 2, 0, "{\"version\":0}",
           (expectation_t){.outcome = AW_INBOX_CLASS_NO_MIGRATION,
                           .words = {"box: ", "from version 1 to 2"},
                           .order = "a"});
}

static void test_chain_step_of_two_is_not_run(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{0, 2, to_2}};
    expect(list, 1, 2, 0, "{}",
           (expectation_t){.outcome = AW_INBOX_CLASS_BAD_STEP,
                           .words = {"box: ", "from version 0 to 2", "one version at a time"}});
}

static void test_chain_wrong_stamp_is_told(void **state)
{
    (void)state;
    static const aw__inbox_migration_t five[] = {{0, 1, to_5}};
    static const aw__inbox_migration_t nothing[] = {{0, 1, to_nothing}};
    expect(five, 1, 1, 0, "{}",
           (expectation_t){.outcome = AW_INBOX_CLASS_BAD_RESULT,
                           .words = {"box: ", "from version 0 to 1", "of version 5"},
                           .order = "e"});
    expect(nothing, 1, 1, 0, "{}",
           (expectation_t){.outcome = AW_INBOX_CLASS_BAD_RESULT,
                           .words = {"box: ", "of version undefined"},
                           .order = "n"});
}

static void test_chain_error_of_a_step_comes_out_unchanged(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{0, 1, fails}};
    expect(
        list, 1, 1, 0, "{}",
        (expectation_t){.outcome = AW_INBOX_CLASS_LEGACY_DELIVER, .words = {"the mast is broken"}});
}

static void test_chain_first_of_two_steps_is_used(void **state)
{
    (void)state;
    static const aw__inbox_migration_t list[] = {{0, 1, to_1}, {0, 1, fails}};
    expect(list, 2, 1, 0, "{}", (expectation_t){.output = "{\"version\":1}", .order = "a"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_steps_run_in_the_order_of_versions),
        cmocka_unit_test(test_chain_value_at_the_target_comes_back_whole),
        cmocka_unit_test(test_chain_version_is_a_number_or_absent_with_an_initial),
        cmocka_unit_test(test_chain_newer_version_names_both),
        cmocka_unit_test(test_chain_gap_names_both_versions),
        cmocka_unit_test(test_chain_step_of_two_is_not_run),
        cmocka_unit_test(test_chain_wrong_stamp_is_told),
        cmocka_unit_test(test_chain_error_of_a_step_comes_out_unchanged),
        cmocka_unit_test(test_chain_first_of_two_steps_is_used),
    };
    return cmocka_run_group_tests(tests, aw_test_inbox_set_up, aw_test_inbox_tear_down);
}
