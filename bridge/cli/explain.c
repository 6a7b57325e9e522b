#include "bridge/cli/explain.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/status.h"
#include "bridge/cli/explain_checks.h"
#include "bridge/cli/input.h"
#include "bridge/cli/inspect.h"
#include "bridge/cli/record_json.h"
#include "bridge/cli/select.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/partition.h"

enum { SOURCE = 1, KEY, HEX, JSON, SINCE, UNTIL, TIMEOUT };

static const struct option longs[] = {
    {"config", required_argument, NULL, 'c'},
    {"source", required_argument, NULL, SOURCE},
    {"key", required_argument, NULL, KEY},
    {"hex", no_argument, NULL, HEX},
    {"json", no_argument, NULL, JSON},
    {"since", required_argument, NULL, SINCE},
    {"until", required_argument, NULL, UNTIL},
    {"timeout", required_argument, NULL, TIMEOUT},
    {NULL, 0, NULL, 0},
};

static int read_options(int argc, char **argv, ab_explain_t *explain)
{
    int code = AB_CLI_OK;
    for (int option;
         code == AB_CLI_OK && (option = getopt_long(argc, argv, ":c:", longs, NULL)) != -1;) {
        switch (option) {
        case 'c':
            explain->file = optarg;
            break;
        case SOURCE:
            explain->source = optarg;
            break;
        case KEY:
            explain->key = optarg;
            break;
        case HEX:
            explain->hex = true;
            break;
        case JSON:
            explain->json = true;
            break;
        case SINCE:
        case UNTIL:
            code = ab_select_when(&ab_verb_explain, option == SINCE, optarg, &explain->range);
            break;
        case TIMEOUT:
            code = ab_select_timeout(&ab_verb_explain, optarg, &explain->timeout_ms);
            break;
        default:
            return ab_cli_option_error(&ab_verb_explain, argv, option);
        }
    }
    explain->argument = optind < argc ? argv[optind] : NULL;
    if (code == AB_CLI_OK && argc - optind != (explain->range.has_since ? 0 : 1)) {
        return ab_cli_usage_error(&ab_verb_explain,
                                  "takes one RECORD or FILE, or --since and none of them");
    }
    if (code == AB_CLI_OK && explain->range.has_until && !explain->range.has_since) {
        return ab_cli_usage_error(&ab_verb_explain, "--until needs --since");
    }
    return code;
}

/* ---- one record ---- */

static const ab_policy_t *policy_of(const ab_config_t *config, const char *source)
{
    for (size_t i = 0; i < config->source_count; i++) {
        if (source == NULL || strcmp(config->sources[i].policy.topic, source) == 0) {
            return &config->sources[i].policy;
        }
    }
    return NULL;
}

/* What one explanation is made of. */
typedef struct scene {
    const ab_config_t *config;
    const ab_policy_t *policy;
    ab_reader_t *reader; /* NULL: no broker is asked, and partitions stay open */
    ab_full_record_t record;
    ab_verdict_t verdict;
    aw_arena_t *arena;
    aw_json_writer_t json;
} scene_t;

/* Where a record would go; -1 where nobody was asked how many partitions there are. */
static int32_t partition_for(scene_t *scene, const char *topic, aw_span_t key, bool by_key)
{
    int32_t count = 0;
    if (scene->reader == NULL || ab_reader_count(scene->reader, topic, &count) != AB_READ_OK) {
        return -1;
    }
    return by_key && key.data != NULL ? ab_partition_of_key(key, count)
                                      : scene->record.record.partition % count;
}

/* One record that would be written. The value is shown where it is not the source's own. */
static void put_write(scene_t *scene, const char *topic, aw_span_t key, bool by_key,
                      const ab_full_record_t *written, bool own_value)
{
    aw_json_writer_t *json = &scene->json;
    const int32_t partition = partition_for(scene, topic, key, by_key);
    aw_json_object_open(json);
    aw_json_key_text(json, "partition");
    if (partition >= 0) {
        aw_json_int64(json, partition);
    } else {
        aw_json_null(json);
    }
    aw_json_key_text(json, "record");
    ab_record_json(json, written, AW_MESSAGE_AGENT_ENVELOPE,
                   own_value ? AB_VALUE_LEFT_OUT : AB_VALUE_DECODED, scene->arena);
    if (own_value) {
        aw_json_key_text(json, "value");
        aw_json_text(json, "the source record's, byte for byte");
    } else {
        aw_json_key_text(json, "value_hex");
        aw_json_hex(json, written->record.value);
    }
    aw_json_object_close(json);
}

/* The record's own headers and more behind them, in the arena; NULL when memory is short. */
static ab_header_t *with_headers(scene_t *scene, const ab_header_t *more, size_t count)
{
    const size_t own = scene->record.header_count;
    ab_header_t *headers = aw_arena_alloc(scene->arena, (own + count + 1) * sizeof(*headers));
    if (headers != NULL) {
        if (own > 0) {
            memcpy(headers, scene->record.headers, own * sizeof(*headers));
        }
        memcpy(headers + own, more, count * sizeof(*headers));
    }
    return headers;
}

static int put_routed(scene_t *scene)
{
    const ab_record_t *record = &scene->record.record;
    char text[AB_SOURCE_TEXT_MAX];
    const ab_header_t source = {AB_HEADER_SOURCE, aw_span_view(text, ab_source_text(record, text))};
    const size_t more = scene->config->source_header ? 1 : 0;
    ab_full_record_t written = {.record = *record,
                                .headers = with_headers(scene, &source, more),
                                .header_count = scene->record.header_count + more};
    written.record.topic = scene->verdict.topic;
    written.record.key = scene->verdict.entity_key;
    if (written.headers == NULL) {
        return AB_CLI_FATAL;
    }
    put_write(scene, scene->verdict.topic, scene->verdict.entity_key,
              scene->policy->partition_by == AB_PARTITION_KEY, &written, true);
    return AB_CLI_OK;
}

static int put_letters(scene_t *scene)
{
    ab_letter_t letter;
    ab_header_t more[AB_LETTER_HEADERS_MAX + 1];
    ab_full_record_t written = {.record = {.topic = scene->policy->errors_topic}};
    if (ab_dead_letter_build(&scene->record.record, &scene->verdict, scene->config->group, NULL,
                             scene->arena, &letter) != AW_OK) {
        return AB_CLI_FATAL;
    }
    written.record.key = letter.key;
    written.record.value = letter.value;
    written.headers = letter.headers;
    written.header_count = letter.header_count;
    put_write(scene, scene->policy->errors_topic, letter.key, true, &written, false);
    if (scene->policy->quarantine_topic == NULL) {
        return AB_CLI_OK;
    }
    memcpy(more, letter.headers, letter.header_count * sizeof(*more));
    more[letter.header_count] =
        (ab_header_t){AB_HEADER_COPY, aw_span_text_view(AB_COPY_TEXT_WHOLE)};
    written =
        (ab_full_record_t){.record = {.topic = scene->policy->quarantine_topic,
                                      .key = scene->record.record.key,
                                      .value = scene->record.record.value},
                           .headers = with_headers(scene, more, letter.header_count + 1),
                           .header_count = scene->record.header_count + letter.header_count + 1};
    if (written.headers == NULL) {
        return AB_CLI_FATAL;
    }
    put_write(scene, scene->policy->quarantine_topic, written.record.key, true, &written, true);
    return AB_CLI_OK;
}

static void put_verdict(scene_t *scene)
{
    const ab_verdict_t *verdict = &scene->verdict;
    aw_json_writer_t *json = &scene->json;
    aw_json_key_text(json, "verdict");
    aw_json_object_open(json);
    if (verdict->at >= 0) {
        aw_json_key_text(json, "at");
        aw_json_int64(json, verdict->at);
    }
    if (verdict->field[0] != '\0') {
        aw_json_key_text(json, "field");
        aw_json_text(json, verdict->field);
    }
    aw_json_key_text(json, "outcome");
    aw_json_text(json, ab_outcome_name(verdict->outcome));
    if (verdict->reason != AB_REASON_NONE) {
        aw_json_key_text(json, "reason");
        aw_json_text(json, ab_reason_code(verdict->reason));
        aw_json_key_text(json, "text");
        aw_json_text(json, verdict->text);
    }
    if (verdict->topic != NULL) {
        aw_json_key_text(json, "topic");
        aw_json_text(json, verdict->topic);
    }
    aw_json_object_close(json);
}

static int explain_record(const ab_explain_t *explain, scene_t *scene)
{
    aw_arena_t *scratch = aw_arena_new((size_t)scene->config->decode_bytes);
    int code = AB_CLI_OK;
    if (scratch == NULL ||
        ab_verdict_of(&scene->record.record, scene->policy, scratch, &scene->verdict) != AW_OK) {
        aw_arena_free(scratch);
        return AB_CLI_FATAL;
    }
    if (scene->record.headers_unreadable && scene->verdict.outcome == AB_OUTCOME_ROUTED) {
        ab_verdict_reject(&scene->verdict, AB_TEXT_HEADERS_UNREADABLE);
    }
    aw_json_init_arena(&scene->json, explain->json ? AW_JSON_COMPACT : AW_JSON_INDENTED,
                       scene->arena);
    aw_json_object_open(&scene->json);
    aw_json_key_text(&scene->json, "checks");
    ab_checks_json(&scene->json, &scene->record.record, scene->policy, &scene->verdict);
    put_verdict(scene);
    aw_json_key_text(&scene->json, "writes");
    aw_json_array_open(&scene->json);
    if (scene->verdict.outcome == AB_OUTCOME_ROUTED) {
        code = put_routed(scene);
    } else if (scene->verdict.outcome == AB_OUTCOME_DEAD_LETTERED) {
        code = put_letters(scene);
    }
    aw_json_array_close(&scene->json);
    aw_json_object_close(&scene->json);
    aw_arena_free(scratch);
    return code == AB_CLI_OK ? ab_json_line(&scene->json, stdout) : code;
}

/* ---- where it comes from ---- */

/* A record of Kafka: copied, since its partitions are asked for with the same reader. */
static int from_kafka(scene_t *scene, const ab_coordinates_t *at, ab_reader_t *writes)
{
    const ab_read_status_t status = ab_reader_fetch(scene->reader, at, &scene->record);
    if (status != AB_READ_OK) {
        return ab_select_complain(&ab_verb_explain, scene->reader, status);
    }
    scene->reader = writes;
    return AB_CLI_OK;
}

static int explain_from_kafka(const ab_explain_t *explain, const ab_coordinates_t *at,
                              scene_t *scene)
{
    const ab_reader_options_t options = {.timeout_ms = explain->timeout_ms};
    char text[AB_READER_TEXT_MAX];
    scene->policy = policy_of(scene->config, at->topic);
    if (scene->policy == NULL) {
        return ab_cli_usage_error(&ab_verb_explain, "%s is no source of %s", at->topic,
                                  scene->config->file);
    }
    /* Two: what the first has given lives until it is asked again. */
    ab_reader_t *reader = ab_reader_new(scene->config, &options, text);
    ab_reader_t *asked = ab_reader_new(scene->config, &options, text);
    int code = AB_CLI_FATAL;
    if (reader == NULL || asked == NULL) {
        (void)fprintf(stderr, "agent-bridge explain: %s\n", text);
    } else {
        scene->reader = reader;
        code = from_kafka(scene, at, asked);
        code = code == AB_CLI_OK ? explain_record(explain, scene) : code;
    }
    ab_reader_free(reader);
    ab_reader_free(asked);
    return code;
}

static int explain_from_file(const ab_explain_t *explain, scene_t *scene)
{
    const char *path = strcmp(explain->argument, "-") == 0 ? NULL : explain->argument;
    ab_input_t input = {.verb = ab_verb_explain.name, .name = ab_input_name(path)};
    scene->policy = policy_of(scene->config, explain->source);
    if (scene->policy == NULL) {
        return ab_cli_usage_error(&ab_verb_explain, "%s is no source of %s", explain->source,
                                  scene->config->file);
    }
    int code = ab_input_read(&input, path, explain->hex);
    if (code == AB_CLI_OK) {
        scene->record.record = (ab_record_t){
            .topic = scene->policy->topic,
            .key = aw_span_text_view(explain->key),
            .value = input.size > 0 ? aw_span_view(input.data, input.size) : aw_span_view("", 0)};
        code = explain_record(explain, scene);
    }
    free(input.data);
    return code;
}

static int explain_with(const ab_explain_t *explain, const ab_config_t *config)
{
    const ab_reader_options_t options = {.timeout_ms = explain->timeout_ms};
    char text[AB_READER_TEXT_MAX];
    ab_coordinates_t at;
    int code;
    if (explain->range.has_since) {
        ab_reader_t *reader = ab_reader_new(config, &options, text);
        if (reader == NULL) {
            (void)fprintf(stderr, "agent-bridge explain: %s\n", text);
            return AB_CLI_FATAL;
        }
        code = ab_explain_traffic(explain, config, reader);
        ab_reader_free(reader);
        return code;
    }
    scene_t scene = {.config = config, .arena = aw_arena_new(AB_INSPECT_MEMORY_MAX)};
    if (scene.arena == NULL) {
        (void)fputs("agent-bridge explain: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    code = ab_coordinates_parse(aw_span_text_view(explain->argument), &at)
               ? explain_from_kafka(explain, &at, &scene)
               : explain_from_file(explain, &scene);
    aw_arena_free(scene.arena);
    return code;
}

static int explain_run(int argc, char **argv)
{
    ab_explain_t explain = {.timeout_ms = AB_SELECT_TIMEOUT_MS};
    int code = read_options(argc, argv, &explain);
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_config_t *config = ab_select_config(&ab_verb_explain, explain.file, &code);
    if (config != NULL) {
        code = explain_with(&explain, config);
        ab_config_free(config);
    }
    return code;
}

const ab_verb_t ab_verb_explain = {
    .name = "explain",
    .summary = "say what a configuration makes of a record, check by check, or of all traffic",
    .help =
        "Usage: agent-bridge explain [-c FILE] [--json] TOPIC:PARTITION:OFFSET\n"
        "       agent-bridge explain [-c FILE] [--source TOPIC] [--key KEY] [--hex] [--json] "
        "FILE|-\n"
        "       agent-bridge explain [-c FILE] --since WHEN [--until WHEN] [--json]\n"
        "Prints the checks of the verdict one by one with the values that they saw, the verdict,\n"
        "and the records that would be written, as JSON. Writes nothing. The record is one of a\n"
        "source in Kafka, or a value in FILE, which needs no broker.\n"
        "With --since it runs the verdicts of this configuration over the sources and prints the\n"
        "counts of each outcome and reason, beside those of what the running configuration made\n"
        "of the same records, by the headers of its outputs: the dry run of a new configuration.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --source TOPIC  with FILE: the source whose policies hold, the first if not given\n"
        "      --key KEY       with FILE: the record's key, none if not given\n"
        "      --hex           FILE is hex text\n"
        "      --json          one line; with --since: an object\n"
        "      --since WHEN    source records with a timestamp from WHEN on: a duration, such as\n"
        "                      30m, or a time, such as 2026-01-31T00:00:00Z; --until WHEN: before\n"
        "      --timeout D     how long a broker is waited for, 10s by default\n"
        "\n"
        "What a topic's size or timestamp limits refuse is not foreseen. Exit codes: 0 printed,\n"
        "64 wrong usage, 65 FILE is too large or no hex, 66 FILE cannot be read, 69 no broker\n"
        "answers or the record is not there, 70 memory ran out, 77 not allowed, 78 the\n"
        "configuration is wrong.\n",
    .run = explain_run,
};
