#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/config/expand.h"
#include "tests/unit/config/support.h"

typedef struct fixture {
    ab_config_memory_t *memory;
    ab_findings_t findings;
    ab_place_t place;
} fixture_t;

static int set_up(void **state)
{
    static fixture_t fixture;
    fixture = (fixture_t){.memory = ab_config_memory_new()};
    fixture.place = (ab_place_t){.findings = &fixture.findings, .line = 3, .key = "k"};
    *state = &fixture;
    setenv("T_SET", "value", 1);
    setenv("T_EMPTY", "", 1);
    setenv("T_TRICKY", "${T_SET} $$ file:/x\n- b: 1", 1);
    unsetenv("T_UNSET");
    return fixture.memory != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    ab_config_memory_free(((fixture_t *)*state)->memory);
    return 0;
}

typedef const char *read_fn(ab_config_memory_t *memory, const char *text, const ab_place_t *place);

static void expect_read(fixture_t *fixture, read_fn *read, const char *text, const char *wanted)
{
    const char *value = read(fixture->memory, text, &fixture->place);
    char *found = findings_text_new(&fixture->findings);
    assert_string_equal(found, "");
    assert_string_equal(value, wanted);
    free(found);
}

static void expect_refused(fixture_t *fixture, read_fn *read, const char *text, const char *message)
{
    fixture->findings = (ab_findings_t){0};
    assert_null(read(fixture->memory, text, &fixture->place));
    char *found = findings_text_new(&fixture->findings);
    char *wanted = text_new("c:3: error: k: %s\n", message);
    assert_string_equal(found, wanted);
    free(wanted);
    free(found);
}

static void test_expand_text_without_a_dollar_unchanged(void **state)
{
    expect_read(*state, ab_expand, "", "");
    expect_read(*state, ab_expand, "a {b} } file:/x env:Y", "a {b} } file:/x env:Y");
}

static void test_expand_variables_in_the_text_replaced(void **state)
{
    expect_read(*state, ab_expand, "${T_SET}", "value");
    expect_read(*state, ab_expand, "a-${T_SET}-${T_SET}b", "a-value-valueb");
    expect_read(*state, ab_expand, "${T_EMPTY}", "");
}

static void test_expand_content_never_expanded_again(void **state)
{
    expect_read(*state, ab_expand, "${T_TRICKY}", "${T_SET} $$ file:/x\n- b: 1");
    expect_read(*state, ab_resolve, "${T_TRICKY}", "${T_SET} $$ file:/x\n- b: 1");
}

static void test_expand_defaults_where_unset_or_empty(void **state)
{
    expect_read(*state, ab_expand, "${T_UNSET:-d}", "d");
    expect_read(*state, ab_expand, "${T_EMPTY:-d e:-?}", "d e:-?");
    expect_read(*state, ab_expand, "${T_SET:-d}", "value");
    expect_read(*state, ab_expand, "${T_UNSET:-}x", "x");
    expect_read(*state, ab_expand, "${T_UNSET:-a$$b}", "a$b");
}

static void test_expand_dollar_dollar_is_a_dollar(void **state)
{
    expect_read(*state, ab_expand, "$$", "$");
    expect_read(*state, ab_expand, "a$$$$b", "a$$b");
    expect_read(*state, ab_expand, "$${T_SET}", "${T_SET}");
}

static void test_expand_unset_variables_each_named(void **state)
{
    fixture_t *fixture = *state;
    expect_refused(fixture, ab_expand, "${T_UNSET}",
                   "the environment variable T_UNSET is not set: set it, or write "
                   "${T_UNSET:-default}");
    unsetenv("T_OTHER");
    expect_refused(fixture, ab_expand, "${T_UNSET} and ${T_OTHER}",
                   "the environment variable T_UNSET is not set: set it, or write "
                   "${T_UNSET:-default}\n"
                   "c:3: error: k: the environment variable T_OTHER is not set: set it, or write "
                   "${T_OTHER:-default}");
}

static void test_expand_required_variable_own_text_said(void **state)
{
    fixture_t *fixture = *state;
    expect_read(fixture, ab_expand, "${T_SET:?never said}", "value");
    expect_refused(fixture, ab_expand, "${T_UNSET:?name the group}",
                   "the environment variable T_UNSET is not set or empty: name the group");
    expect_refused(fixture, ab_expand, "${T_EMPTY:?name it}",
                   "the environment variable T_EMPTY is not set or empty: name it");
}

static void test_expand_malformed_refused_without_repeating_it(void **state)
{
    fixture_t *fixture = *state;
    const char *forms =
        "expected ${VAR}, ${VAR:-default} or ${VAR:?text} behind a dollar; write $$ "
        "for a dollar itself";
    static const char *const bad[] = {"${}",      "${1A}",       "${T_SET-x}", "${T_SET:+x}",
                                      "${T SET}", "${hunter-2}", "${T_SET:}",  "${:-x}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_refused(fixture, ab_expand, bad[i], forms);
    }
    expect_refused(fixture, ab_expand, "a${T_SET",
                   "${ without its }; write $$ for a dollar itself");
    const char *lone = "a dollar that begins no ${VAR}; write $$ for a dollar itself";
    expect_refused(fixture, ab_expand, "pa$word", lone);
    expect_refused(fixture, ab_expand, "word$", lone);
    expect_refused(fixture, ab_expand, "$$$", lone);
    const char *in_default = "a default holds no variable: write $$ for a dollar";
    expect_refused(fixture, ab_expand, "${T_UNSET:-$T_SET}", in_default);
    expect_refused(fixture, ab_expand, "${T_UNSET:-x$}", in_default);
}

static void test_expand_name_lengths_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    char *name = repeat_new('N', 128);
    setenv(name + 1, "long", 1);
    char *text = text_new("${%s}", name + 1);
    expect_read(fixture, ab_expand, text, "long");
    free(text);
    text = text_new("${%s}", name);
    expect_refused(
        fixture, ab_expand, text,
        "expected ${VAR}, ${VAR:-default} or ${VAR:?text} behind a dollar; write $$ for a "
        "dollar itself");
    free(text);
    unsetenv(name + 1);
    free(name);
}

static void test_expand_result_size_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    char *value = repeat_new('v', AB_CONFIG_VALUE_MAX + 1);
    for (unsigned less = 0; less <= 2; less++) {
        setenv("T_LONG", value + less, 1);
        if (less == 0) {
            expect_refused(fixture, ab_expand, "${T_LONG}", "the value is longer than 65536 bytes");
            expect_refused(fixture, ab_resolve, "env:T_LONG",
                           "the environment variable T_LONG is longer than 65536 bytes");
            fixture->findings = (ab_findings_t){0};
        } else {
            expect_read(fixture, ab_expand, "${T_LONG}", value + less);
            expect_read(fixture, ab_resolve, "env:T_LONG", value + less);
        }
    }
    expect_refused(fixture, ab_expand, "${T_LONG}xy", "the value is longer than 65536 bytes");
    unsetenv("T_LONG");
    free(value);
}

static void test_resolve_variable_taken_as_it_is(void **state)
{
    expect_read(*state, ab_resolve, "env:T_SET", "value");
    expect_read(*state, ab_resolve, "env:T_TRICKY", "${T_SET} $$ file:/x\n- b: 1");
    expect_read(*state, ab_resolve, "x${T_SET}", "xvalue");
}

static void test_resolve_variable_missing_refused(void **state)
{
    fixture_t *fixture = *state;
    expect_refused(fixture, ab_resolve, "env:T_UNSET",
                   "the environment variable T_UNSET is not set");
    expect_refused(fixture, ab_resolve, "env:T_EMPTY", "the environment variable T_EMPTY is empty");
    const char *no_name = "expected the name of an environment variable behind `env:`";
    expect_refused(fixture, ab_resolve, "env:", no_name);
    expect_refused(fixture, ab_resolve, "env:hunter 2", no_name);
    expect_refused(fixture, ab_resolve, "env:${T_SET}", no_name);
}

/* Expects the value read from a file with these bytes. */
static void expect_content(fixture_t *fixture, const char *bytes, size_t size, const char *wanted)
{
    char *path = temporary_file_new(bytes, size);
    char *text = text_new("file:%s", path);
    expect_read(fixture, ab_resolve, text, wanted);
    unlink(path);
    free(text);
    free(path);
}

static void test_resolve_file_content_without_its_last_newline(void **state)
{
    expect_content(*state, "secret", 6, "secret");
    expect_content(*state, "secret\n", 7, "secret");
    expect_content(*state, "secret\r\n", 8, "secret");
    expect_content(*state, "se\ncret\n\n", 9, "se\ncret\n");
    expect_content(*state, " ${T_SET} $ ", 12, " ${T_SET} $ ");
    expect_content(*state, "\r", 1, "\r");
}

static void test_resolve_file_path_may_hold_variables(void **state)
{
    fixture_t *fixture = *state;
    char *path = temporary_file_new("secret", 6);
    char *slash = strrchr(path, '/');
    char *text = text_new("file:${T_FOLDER}%s", slash);
    *slash = '\0';
    setenv("T_FOLDER", path, 1);
    expect_read(fixture, ab_resolve, text, "secret");
    *slash = '/';
    unlink(path);
    unsetenv("T_FOLDER");
    free(text);
    free(path);
}

static void test_resolve_file_size_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    char *content = repeat_new('s', AB_CONFIG_VALUE_MAX + 1);
    expect_content(fixture, content, AB_CONFIG_VALUE_MAX - 1, content + 2);
    expect_content(fixture, content, AB_CONFIG_VALUE_MAX, content + 1);
    char *path = temporary_file_new(content, AB_CONFIG_VALUE_MAX + 1);
    char *text = text_new("file:%s", path);
    char *message = text_new("the file %s is longer than 65536 bytes", path);
    expect_refused(fixture, ab_resolve, text, message);
    unlink(path);
    free(message);
    free(text);
    free(path);
    free(content);
}

static void expect_content_refused(fixture_t *fixture, const char *bytes, size_t size,
                                   const char *why)
{
    char *path = temporary_file_new(bytes, size);
    char *text = text_new("file:%s", path);
    char *message = text_new("the file %s %s", path, why);
    expect_refused(fixture, ab_resolve, text, message);
    unlink(path);
    free(message);
    free(text);
    free(path);
}

static void test_resolve_file_without_a_usable_value_refused(void **state)
{
    expect_content_refused(*state, "", 0, "is empty");
    expect_content_refused(*state, "\n", 1, "is empty");
    expect_content_refused(*state, "\r\n", 2, "is empty");
    expect_content_refused(*state, "a\0b", 3, "holds a NUL byte, which no value can");
}

static void test_resolve_file_that_cannot_be_read_refused(void **state)
{
    fixture_t *fixture = *state;
    expect_refused(fixture, ab_resolve, "file:/nowhere/at/all",
                   "cannot read the file /nowhere/at/all: No such file or directory");
    expect_refused(fixture, ab_resolve, "file:/", "cannot read the file /: Is a directory");
    setenv("T_FOLDER", "/nowhere-secret", 1); /* shown as written, not what it stands for */
    expect_refused(fixture, ab_resolve, "file:${T_FOLDER}/x",
                   "cannot read the file ${T_FOLDER}/x: No such file or directory");
    unsetenv("T_FOLDER");
    const char *relative = "expected an absolute path behind `file:`, such as file:/run/secret";
    expect_refused(fixture, ab_resolve, "file:", relative);
    expect_refused(fixture, ab_resolve, "file:hunter2", relative);
    expect_refused(fixture, ab_resolve, "file:${T_UNSET}",
                   "the environment variable T_UNSET is not set: set it, or write "
                   "${T_UNSET:-default}");
}

static void test_indirect_texts_told_from_literal_ones(void **state)
{
    (void)state;
    assert_true(ab_is_indirect("file:/x"));
    assert_true(ab_is_indirect("env:X"));
    assert_true(ab_is_indirect("a${X}"));
    assert_false(ab_is_indirect("hunter2"));
    assert_false(ab_is_indirect(" file:/x"));
    assert_false(ab_is_indirect("$$"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_expand_text_without_a_dollar_unchanged),
        TEST(test_expand_variables_in_the_text_replaced),
        TEST(test_expand_content_never_expanded_again),
        TEST(test_expand_defaults_where_unset_or_empty),
        TEST(test_expand_dollar_dollar_is_a_dollar),
        TEST(test_expand_unset_variables_each_named),
        TEST(test_expand_required_variable_own_text_said),
        TEST(test_expand_malformed_refused_without_repeating_it),
        TEST(test_expand_name_lengths_at_the_limit),
        TEST(test_expand_result_size_at_the_limit),
        TEST(test_resolve_variable_taken_as_it_is),
        TEST(test_resolve_variable_missing_refused),
        TEST(test_resolve_file_content_without_its_last_newline),
        TEST(test_resolve_file_path_may_hold_variables),
        TEST(test_resolve_file_size_at_the_limit),
        TEST(test_resolve_file_without_a_usable_value_refused),
        TEST(test_resolve_file_that_cannot_be_read_refused),
        TEST(test_indirect_texts_told_from_literal_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
