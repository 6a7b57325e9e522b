#ifndef TESTS_UNIT_CONFIG_SUPPORT_H
#define TESTS_UNIT_CONFIG_SUPPORT_H

#include "bridge/config/config.h"

/** A configuration with all that is required and nothing more; the last lines are those of the only
 *  source, so that both "    start: latest\n" and "lanes: 2\n" may follow. */
#define MINIMAL                                                                                    \
    "kafka: {bootstrap.servers: 'broker:9092'}\n"                                                  \
    "group: g\n"                                                                                   \
    "sources:\n"                                                                                   \
    "  - topic: in\n"                                                                              \
    "    routes: {external_event: ev, tool_result: re, approval: ap, export_request: ex}\n"
/** The first line behind MINIMAL. */
#define NEXT "6"

/** Parses text and expects exactly these findings, as ab_findings_print() writes them with the file
 *  named "c": "c:6:3: error: lanes: …\n". Frees what was parsed. */
void expect_findings(const char *text, const char *wanted);

/** Parses text and expects no finding at all. The caller frees what it returns. */
ab_config_t *expect_config(const char *text);

/** The findings as text. The caller frees it. */
char *findings_text_new(const ab_findings_t *findings);

/** A string of count times the same letter. The caller frees it. */
char *repeat_new(char letter, size_t count);

/** format and its arguments as text. The caller frees it. */
char *text_new(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Writes a file with these bytes into the folder for temporary files and returns its absolute
 * path. The caller unlinks and frees it. */
char *temporary_file_new(const void *bytes, size_t size);

#endif
