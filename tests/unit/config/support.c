#include "tests/unit/config/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char *findings_text_new(const ab_findings_t *findings)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    ab_findings_print(findings, "c", out);
    assert_int_equal(fclose(out), 0);
    return text;
}

void expect_findings(const char *text, const char *wanted)
{
    ab_findings_t findings;
    ab_config_t *config = ab_config_parse("c", text, strlen(text), NULL, &findings);
    char *found = findings_text_new(&findings);
    assert_string_equal(found, wanted);
    assert_true((config == NULL) == (findings.mistakes > 0));
    free(found);
    ab_config_free(config);
}

ab_config_t *expect_config(const char *text)
{
    ab_findings_t findings;
    ab_config_t *config = ab_config_parse("c", text, strlen(text), NULL, &findings);
    char *found = findings_text_new(&findings);
    assert_string_equal(found, "");
    free(found);
    assert_non_null(config);
    return config;
}

char *repeat_new(char letter, size_t count)
{
    char *text = malloc(count + 1);
    assert_non_null(text);
    memset(text, letter, count);
    text[count] = '\0';
    return text;
}

char *text_new(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    return text;
}

char *temporary_file_new(const void *bytes, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char *path = text_new("%s/config-test-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    assert_int_equal(close(file), 0);
    return path;
}
