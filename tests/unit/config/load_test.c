#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/config/expand.h"
#include "tests/unit/config/support.h"

static void test_path_option_before_variable_before_default(void **state)
{
    (void)state;
    setenv("AGENT_BRIDGE_CONFIG", "/from/variable.yaml", 1);
    assert_string_equal(ab_config_path_view("x.yaml"), "x.yaml");
    assert_string_equal(ab_config_path_view(NULL), "/from/variable.yaml");
    setenv("AGENT_BRIDGE_CONFIG", "", 1);
    assert_string_equal(ab_config_path_view(NULL), "/etc/agent-bridge/config.yaml");
    unsetenv("AGENT_BRIDGE_CONFIG");
    assert_string_equal(ab_config_path_view(NULL), "/etc/agent-bridge/config.yaml");
}

static void test_load_example_without_findings(void **state)
{
    (void)state;
    ab_findings_t findings;
    ab_config_t *config = ab_config_load("deploy/examples/minimal.yaml", NULL, &findings);
    assert_non_null(config);
    assert_int_equal(findings.count, 0);
    assert_false(findings.unreadable);
    assert_string_equal(config->file, "deploy/examples/minimal.yaml");
    assert_string_equal(config->sources[0].policy.topic, "agents.in");
    ab_config_free(config);
}

static void test_load_file_with_mistakes_refused(void **state)
{
    (void)state;
    const char *text = MINIMAL "lanes: 0\n";
    char *path = temporary_file_new(text, strlen(text));
    ab_findings_t findings;
    assert_null(ab_config_load(path, NULL, &findings));
    assert_int_equal(findings.mistakes, 1);
    assert_false(findings.unreadable);
    assert_int_equal(findings.items[0].line, 6);
    unlink(path);
    free(path);
}

static void expect_unreadable(const char *path, const char *message)
{
    ab_findings_t findings;
    memset(&findings, 0x5a, sizeof(findings));
    assert_null(ab_config_load(path, NULL, &findings));
    assert_true(findings.unreadable);
    assert_int_equal(findings.mistakes, 1);
    assert_string_equal(findings.items[0].message, message);
}

static void test_load_file_that_cannot_be_read_said(void **state)
{
    (void)state;
    expect_unreadable(
        "/nowhere/config.yaml",
        "cannot be read: No such file or directory; name a configuration with -c FILE "
        "or $AGENT_BRIDGE_CONFIG");
    expect_unreadable("deploy", "cannot be read: Is a directory; name a configuration with -c FILE "
                                "or $AGENT_BRIDGE_CONFIG");
}

static void test_load_file_size_at_the_limit(void **state)
{
    (void)state;
    for (size_t size = AB_CONFIG_FILE_MAX - 1; size <= AB_CONFIG_FILE_MAX + 1; size++) {
        char *hashes = repeat_new('#', size - strlen(MINIMAL));
        char *text = text_new("%s%s", MINIMAL, hashes);
        char *path = temporary_file_new(text, strlen(text));
        ab_findings_t findings;
        ab_config_t *config = ab_config_load(path, NULL, &findings);
        assert_true((config != NULL) == (size <= AB_CONFIG_FILE_MAX));
        if (size > AB_CONFIG_FILE_MAX) {
            assert_string_equal(findings.items[0].message,
                                "larger than 1048576 bytes, the most that is read");
        }
        ab_config_free(config);
        unlink(path);
        free(path);
        free(text);
        free(hashes);
    }
}

static void test_file_read_capacity_never_passed(void **state)
{
    (void)state;
    char *path = temporary_file_new("12345", 5);
    char buffer[8] = "xxxxxxx";
    assert_int_equal(ab_file_read(path, buffer, 4), 4);
    assert_memory_equal(buffer, "1234xxx", 8);
    assert_int_equal(ab_file_read(path, buffer, 5), 5);
    assert_int_equal(ab_file_read(path, buffer, 6), 5);
    assert_memory_equal(buffer, "12345xx", 8);
    unlink(path);
    free(path);
}

static void test_free_nothing_harmless(void **state)
{
    (void)state;
    ab_config_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_option_before_variable_before_default),
        cmocka_unit_test(test_load_example_without_findings),
        cmocka_unit_test(test_load_file_with_mistakes_refused),
        cmocka_unit_test(test_load_file_that_cannot_be_read_said),
        cmocka_unit_test(test_load_file_size_at_the_limit),
        cmocka_unit_test(test_file_read_capacity_never_passed),
        cmocka_unit_test(test_free_nothing_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
