#include "bridge/cli/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bridge/config/value.h"
#include "bridge/kafka/properties.h"

#define TIMEOUT_MIN_MS 100u
#define TIMEOUT_MAX_MS 600000u

int64_t ab_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool ab_when_parse(const char *text, int64_t now_ms, int64_t *ret_ms)
{
    uint64_t ago_ms;
    if (ab_duration_parse(text, &ago_ms)) {
        if (now_ms < 0 || ago_ms > (uint64_t)now_ms) {
            return false;
        }
        *ret_ms = now_ms - (int64_t)ago_ms;
        return true;
    }
    return ab_time_parse(text, ret_ms);
}

int ab_select_when(const ab_verb_t *verb, bool is_since, const char *text, ab_read_range_t *range)
{
    int64_t at_ms;
    if (!ab_when_parse(text, ab_wall_ms(), &at_ms)) {
        return ab_cli_usage_error(verb, "%s takes " AB_WHEN_FORMS ": found '%s'",
                                  is_since ? "--since" : "--until", text);
    }
    if (is_since) {
        range->since_ms = at_ms;
        range->has_since = true;
    } else {
        range->until_ms = at_ms;
        range->has_until = true;
    }
    return AB_CLI_OK;
}

int ab_select_record(const ab_verb_t *verb, const char *text, ab_coordinates_t *ret_at)
{
    if (!ab_coordinates_parse(aw_span_text_view(text), ret_at)) {
        return ab_cli_usage_error(
            verb, "'%s' names no record; expected topic:partition:offset, such as agents.in:3:1042",
            text);
    }
    return AB_CLI_OK;
}

int ab_select_timeout(const ab_verb_t *verb, const char *text, int *ret_ms)
{
    uint64_t ms;
    if (!ab_duration_parse(text, &ms) || ms < TIMEOUT_MIN_MS || ms > TIMEOUT_MAX_MS) {
        return ab_cli_usage_error(verb, "--timeout takes 100ms to 10m, such as 10s: found '%s'",
                                  text);
    }
    *ret_ms = (int)ms;
    return AB_CLI_OK;
}

ab_config_t *ab_select_config(const ab_verb_t *verb, const char *option, int *ret_code)
{
    const char *path = ab_config_path_view(option);
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    ab_config_t *config =
        findings != NULL ? ab_config_load(path, ab_kafka_check_properties, findings) : NULL;
    if (findings == NULL) {
        (void)fprintf(stderr, "agent-bridge %s: memory ran out\n", verb->name);
        *ret_code = AB_CLI_FATAL;
    } else if (config == NULL) {
        ab_findings_print(findings, path, stderr);
        (void)fprintf(stderr,
                      "agent-bridge %s: the configuration is refused, nobody was asked. Mend what "
                      "is named above; 'agent-bridge lint' checks it without a broker.\n",
                      verb->name);
        *ret_code = AB_CLI_CONFIG;
    }
    free(findings);
    return config;
}

int ab_select_complain(const ab_verb_t *verb, const ab_reader_t *reader, ab_read_status_t status)
{
    (void)fprintf(stderr, "agent-bridge %s: %s\n", verb->name, ab_reader_text_view(reader));
    return ab_read_exit_code(status);
}
