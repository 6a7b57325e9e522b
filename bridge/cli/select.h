#ifndef BRIDGE_CLI_SELECT_H
#define BRIDGE_CLI_SELECT_H

#include "bridge/cli/cli.h"
#include "bridge/core/record.h"
#include "bridge/kafka/reader.h"

/** How the verbs that read topics take their arguments, so that all of them take them alike. */

/** What --since and --until take, for texts of help and of complaints. */
#define AB_WHEN_FORMS "a duration, such as 30m, or a time, such as 2026-01-31T00:00:00Z"

/** How long a broker is waited for unless --timeout says otherwise. */
#define AB_SELECT_TIMEOUT_MS 10000

/** The wall clock, ms since the epoch. */
int64_t ab_wall_ms(void);

/** Reads a point in time: a duration, which is so long before now_ms, or an RFC 3339 time. False
 *  when it is neither, or lies before 1970; ret_ms is then untouched. */
bool ab_when_parse(const char *text, int64_t now_ms, int64_t *ret_ms);

/** Takes the value of --since or --until into range, the first with is_since. Returns AB_CLI_OK, or
 *  AB_CLI_USAGE after a complaint in the verb's name. */
int ab_select_when(const ab_verb_t *verb, bool is_since, const char *text, ab_read_range_t *range);

/** Takes an argument topic:partition:offset. Returns AB_CLI_OK, or AB_CLI_USAGE after a
 *  complaint in the verb's name. */
int ab_select_record(const ab_verb_t *verb, const char *text, ab_coordinates_t *ret_at);

/** Takes the value of --timeout, 100ms to 10m. Returns AB_CLI_OK, or AB_CLI_USAGE after a
 *  complaint. */
int ab_select_timeout(const ab_verb_t *verb, const char *text, int *ret_ms);

/** Loads the configuration of a verb that connects; option is what -c names, or NULL. Returns it,
 *  or NULL after a complaint, with the exit code in ret_code. The caller frees it with
 *  ab_config_free(). */
ab_config_t *ab_select_config(const ab_verb_t *verb, const char *option, int *ret_code);

/** Says on stderr why a reader failed. Returns the exit code. */
int ab_select_complain(const ab_verb_t *verb, const ab_reader_t *reader, ab_read_status_t status);

#endif
