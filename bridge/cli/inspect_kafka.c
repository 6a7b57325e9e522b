#include "bridge/cli/inspect_kafka.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/cli/inspect.h"
#include "bridge/cli/record_json.h"
#include "bridge/cli/select.h"

/* How soon a --follow sees a signal. */
#define FOLLOW_MS 200

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

bool ab_inspect_names_record(const char *argument)
{
    ab_coordinates_t at;
    return ab_coordinates_parse(aw_span_text_view(argument), &at);
}

/* What the command line says, as numbers. */
typedef struct wanted {
    ab_coordinates_t at;
    bool one;                         /* just that record */
    int64_t partition, offset, count; /* -1: not given */
} wanted_t;

/* A number not below 0; -1 for no text. False when it is none. */
static bool read_number(const char *text, int64_t most, int64_t *ret_number)
{
    char *end;
    if (text == NULL) {
        *ret_number = -1;
        return true;
    }
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number > most) {
        return false;
    }
    *ret_number = number;
    return true;
}

static int read_wanted(const ab_inspect_kafka_t *options, wanted_t *ret_wanted)
{
    const ab_verb_t *verb = &ab_verb_inspect;
    ret_wanted->one = ab_coordinates_parse(aw_span_text_view(options->place), &ret_wanted->at);
    if (!read_number(options->partition, INT32_MAX, &ret_wanted->partition)) {
        return ab_cli_usage_error(verb, "--partition takes a number: found '%s'",
                                  options->partition);
    }
    if (!read_number(options->offset, INT64_MAX, &ret_wanted->offset)) {
        return ab_cli_usage_error(verb, "--offset takes a number: found '%s'", options->offset);
    }
    if (!read_number(options->count, INT64_MAX, &ret_wanted->count)) {
        return ab_cli_usage_error(verb, "--count takes a number: found '%s'", options->count);
    }
    if (ret_wanted->one && (ret_wanted->partition >= 0 || ret_wanted->offset >= 0 ||
                            ret_wanted->count >= 0 || options->follow)) {
        return ab_cli_usage_error(verb,
                                  "'%s' is one record; --partition, --offset, --count and "
                                  "--follow are for a topic",
                                  options->place);
    }
    if (ret_wanted->offset >= 0 && ret_wanted->partition < 0) {
        return ab_cli_usage_error(verb, "--offset needs --partition: each has offsets of its own");
    }
    return AB_CLI_OK;
}

static int print(const ab_inspect_kafka_t *options, const ab_full_record_t *record,
                 aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_arena_reset(arena);
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    ab_record_json(&writer, record, options->type, AB_VALUE_DECODED, arena);
    return ab_json_line(&writer, stdout);
}

static int read_one(const ab_inspect_kafka_t *options, const wanted_t *wanted, ab_reader_t *reader,
                    aw_arena_t *arena)
{
    ab_full_record_t record;
    const ab_read_status_t status = ab_reader_fetch(reader, &wanted->at, &record);
    return status == AB_READ_OK ? print(options, &record, arena)
                                : ab_select_complain(&ab_verb_inspect, reader, status);
}

static ab_read_status_t add(const ab_inspect_kafka_t *options, const wanted_t *wanted,
                            ab_reader_t *reader)
{
    const ab_read_range_t range = {.follow = options->follow};
    if (wanted->partition < 0) {
        return ab_reader_add_topic(reader, options->place, &range);
    }
    const ab_read_status_t status =
        ab_reader_add_partition(reader, options->place, (int32_t)wanted->partition, &range);
    if (status == AB_READ_OK && wanted->offset >= 0) {
        ab_reader_begin_at(reader, 0, wanted->offset);
    }
    return status;
}

static int read_topic(const ab_inspect_kafka_t *options, const wanted_t *wanted,
                      ab_reader_t *reader, aw_arena_t *arena)
{
    ab_full_record_t record;
    int code = AB_CLI_OK;
    ab_read_status_t status = add(options, wanted, reader);
    for (int64_t told = 0; (status == AB_READ_OK || status == AB_READ_QUIET) && code == AB_CLI_OK &&
                           !stopped && (wanted->count < 0 || told < wanted->count);) {
        status = ab_reader_next(reader, options->follow ? FOLLOW_MS : -1, &record);
        if (status == AB_READ_OK) {
            code = print(options, &record, arena);
            told++;
        } else if (status == AB_READ_QUIET) {
            (void)fflush(stdout);
        }
        if (ferror(stdout)) {
            break;
        }
    }
    if (status == AB_READ_OK || status == AB_READ_QUIET || status == AB_READ_END) {
        return code;
    }
    return ab_select_complain(&ab_verb_inspect, reader, status);
}

static void listen_to_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

int ab_inspect_kafka_run(const ab_inspect_kafka_t *options)
{
    const ab_reader_options_t reading = {.timeout_ms = options->timeout_ms};
    char text[AB_READER_TEXT_MAX];
    wanted_t wanted = {0};
    int code = read_wanted(options, &wanted);
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_config_t *config = ab_select_config(&ab_verb_inspect, options->config, &code);
    if (config == NULL) {
        return code;
    }
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    ab_reader_t *reader = ab_reader_new(config, &reading, text);
    if (reader == NULL || arena == NULL) {
        ab_inspect_complain("%s", reader == NULL ? text : "out of memory");
        code = AB_CLI_FATAL;
    } else {
        listen_to_signals();
        code = wanted.one ? read_one(options, &wanted, reader, arena)
                          : read_topic(options, &wanted, reader, arena);
    }
    ab_reader_free(reader);
    aw_arena_free(arena);
    ab_config_free(config);
    return code;
}
