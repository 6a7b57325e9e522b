#ifndef BRIDGE_CLI_LOG_LINE_H
#define BRIDGE_CLI_LOG_LINE_H

#include "bridge/cli/log.h"

/** What one line says. */
typedef struct ab_log_line {
    int64_t wall_ms;
    ab_level_t level;
    const char *event;
    const char *message;
    const ab_field_t *fields;
    unsigned field_count;
    uint64_t held_back; /* told when not 0 */
    uint64_t lost;      /* lines dropped before this one, told when not 0 */
} ab_log_line_t;

/** Formats a line, newline included, no NUL; returns its length, 1 to AB_LOG_LINE_MAX. */
size_t ab_log_line_json(const ab_log_line_t *line, char ret_text[AB_LOG_LINE_MAX]);
size_t ab_log_line_text(const ab_log_line_t *line, char ret_text[AB_LOG_LINE_MAX]);

#endif
