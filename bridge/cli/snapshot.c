#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agentwire/build.h"
#include "agentwire/crypto.h"
#include "agentwire/json.h"
#include "agentwire/snapshot.h"
#include "agentwire/utf8.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/input.h"
#include "bridge/cli/select.h"
#include "bridge/core/dead_letter.h"
#include "bridge/kafka/ask.h"
#include "bridge/kafka/relay.h"
#include "bridge/state/answer.h"

/* Answers are looked for among what was written since then, so that clocks need not agree. */
#define LOOK_BACK_MS 600000
/* Beyond snapshots.max_wait, for everything else on the way. */
#define PATIENCE_MS   10000
#define REQUEST_BYTES 8u

typedef struct snapshot_options {
    const char *file;
    const char *source;
    const char *request_id;
    const char *output;
    bool hex;
    int64_t at_ms;
    int timeout_ms; /* 0: max_wait and some more */
} snapshot_options_t;

/* A request, and all that it takes to find what became of it. */
typedef struct request {
    const ab_config_t *config;
    const snapshot_options_t *options;
    const ab_policy_t *policy; /* of the source that answers */
    aw_span_t key;
    const char *request_id;
    int64_t time_ms;
    int timeout_ms;
    ab_coordinates_t at;
    int64_t sent_ms;
} request_t;

/* ---- sending ---- */

static int build_request(const request_t *request, aw_arena_t *arena, aw_span_t *ret_value)
{
    aw_builder_t export, envelope;
    const aw_message_t *message;
    aw_builder_init(&export, AW_MESSAGE_STATE_EXPORT_REQUEST, arena);
    aw_builder_set_bytes(&export, AW_FIELD_STATE_EXPORT_REQUEST_REQUEST_ID,
                         aw_span_text_view(request->request_id));
    int status = aw_builder_finish(&export, &message);
    if (status != AW_OK) {
        return status;
    }
    aw_builder_init(&envelope, AW_MESSAGE_AGENT_ENVELOPE, arena);
    aw_builder_set_bytes(&envelope, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, request->key);
    aw_builder_set_int64(&envelope, AW_FIELD_AGENT_ENVELOPE_EVENT_TIME_MS, request->time_ms);
    aw_builder_set_message(&envelope, AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST, message);
    status = aw_builder_finish(&envelope, &message);
    return status != AW_OK ? status : aw_message_encode(message, arena, ret_value);
}

static int send_request(request_t *request)
{
    char text[AB_ASK_TEXT_MAX] = "";
    aw_span_t value = AW_SPAN_NULL;
    aw_arena_t *arena = aw_arena_new(0);
    int code = AB_CLI_FATAL;
    if (arena != NULL && build_request(request, arena, &value) == AW_OK) {
        code = ab_ask_write(request->config, request->policy->topic, request->key, value,
                            request->timeout_ms, &request->at, text);
    }
    aw_arena_free(arena);
    if (code != 0) {
        (void)fprintf(stderr, "agent-bridge snapshot: the request cannot be sent: %s\n",
                      text[0] != '\0' ? text : "memory ran out");
    }
    return code;
}

/* ---- showing ---- */

static void put_header(aw_json_writer_t *json, const ab_full_record_t *record, const char *name,
                       const char *header)
{
    const ab_header_t *found = ab_header_last(record, header);
    if (found != NULL && aw_utf8_valid(found->value)) {
        aw_json_key_text(json, name);
        aw_json_string(json, found->value);
    }
}

/* How old the state is, and where it came from. */
static void put_state(aw_json_writer_t *json, const ab_full_record_t *record)
{
    char text[32] = "";
    const ab_header_t *at = ab_header_last(record, AB_HEADER_STATE_AT);
    aw_json_key_text(json, "known");
    aw_json_bool(json, at != NULL);
    put_header(json, record, "state_from", AB_HEADER_STATE_OFFSET);
    if (at != NULL && at->value.size < sizeof(text)) {
        memcpy(text, at->value.data, at->value.size);
        const int64_t at_ms = strtoll(text, NULL, 10);
        aw_json_key_text(json, "state_at_ms");
        aw_json_int64(json, at_ms);
        aw_json_key_text(json, "state_age_ms");
        aw_json_int64(json, ab_wall_ms() - at_ms);
    }
    put_header(json, record, "state_refused", AB_HEADER_STATE_REFUSED);
}

static int print_answer(const request_t *request, const ab_full_record_t *record)
{
    const aw_message_t *message;
    aw_json_writer_t json;
    aw_span_t text = AW_SPAN_NULL;
    aw_arena_t *arena = aw_arena_new(0);
    char *hex = malloc(2 * request->key.size + 1);
    int status = arena != NULL && hex != NULL
                     ? aw_message_decode(AW_MESSAGE_STATE_SNAPSHOT, record->record.value, arena,
                                         &message, NULL)
                     : AW_STATUS_NO_MEMORY;
    if (status == AW_OK) {
        aw_json_init_arena(&json, AW_JSON_INDENTED, arena);
        aw_json_object_open(&json);
        aw_hex_write(request->key, hex);
        aw_json_key_text(&json, "key_hex");
        aw_json_text(&json, hex);
        put_header(&json, record, "request", AB_HEADER_SOURCE);
        put_state(&json, record);
        aw_json_key_text(&json, "snapshot");
        aw_json_message(&json, message, arena);
        aw_json_object_close(&json);
        status = aw_json_finish(&json, &text);
    }
    if (status == AW_OK) {
        (void)fwrite(text.data, 1, text.size, stdout);
        (void)fputc('\n', stdout);
        if (ab_header_last(record, AB_HEADER_STATE_AT) == NULL) {
            (void)fputs("agent-bridge snapshot: no state of this key was ever published\n", stderr);
        }
    } else {
        (void)fprintf(stderr, "agent-bridge snapshot: the answer cannot be shown: %s\n",
                      aw_status_text(status));
    }
    free(hex);
    aw_arena_free(arena);
    return status == AW_OK ? AB_CLI_OK : ab_input_exit(status);
}

static int write_file(const char *path, aw_span_t bytes)
{
    FILE *out = fopen(path, "wb");
    bool good = out != NULL && fwrite(bytes.data, 1, bytes.size, out) == bytes.size;
    good = out != NULL && fclose(out) == 0 && good;
    if (!good) {
        (void)fprintf(stderr, "agent-bridge snapshot: %s: %s\n", path, strerror(errno));
    }
    return good ? AB_CLI_OK : AB_CLI_IO;
}

/* ---- waiting ---- */

/* True when the record's source header names the request. */
static bool is_about(const request_t *request, const ab_full_record_t *record)
{
    ab_coordinates_t at;
    int64_t timestamp;
    const ab_header_t *source = ab_header_last(record, AB_HEADER_SOURCE);
    return source != NULL && ab_source_parse(source->value, &at, &timestamp) &&
           at.partition == request->at.partition && at.offset == request->at.offset &&
           strcmp(at.topic, request->at.topic) == 0;
}

static int take_answer(const request_t *request, const ab_full_record_t *record)
{
    int code = AB_CLI_OK;
    if (request->options->output != NULL) {
        code = write_file(request->options->output, record->record.value);
    }
    return code != AB_CLI_OK ? code : print_answer(request, record);
}

static int take_letter(const ab_full_record_t *record)
{
    const ab_header_t *reason = ab_header_last(record, AB_HEADER_REASON);
    const aw_span_t code = reason != NULL ? reason->value : aw_span_text_view("unknown");
    (void)fprintf(stderr, "agent-bridge snapshot: the request became a dead letter: %.*s\n",
                  (int)code.size, (const char *)code.data);
    return aw_span_equal(code, aw_span_text_view(ab_reason_code(AB_REASON_STATE_NOT_READY)))
               ? AB_EXIT_TEMPORARY
               : AB_CLI_FINDINGS;
}

static int wait_for_answer(const request_t *request, ab_reader_t *reader)
{
    const ab_read_range_t range = {
        .since_ms = request->sent_ms - LOOK_BACK_MS, .has_since = true, .follow = true};
    const char *topics[] = {request->config->snapshots_topic, request->policy->errors_topic};
    ab_full_record_t record;
    ab_read_status_t status = AB_READ_OK;
    for (size_t i = 0; i < 2 && status == AB_READ_OK; i++) {
        status = ab_reader_add_topic(reader, topics[i], &range);
    }
    while (status == AB_READ_OK || status == AB_READ_QUIET) {
        const int64_t left = request->sent_ms + request->timeout_ms - ab_wall_ms();
        if (left <= 0) {
            (void)fprintf(stderr,
                          "agent-bridge snapshot: no answer within %d ms; request %s is at "
                          "%s:%d:%lld and may still be answered\n",
                          request->timeout_ms, request->request_id, request->at.topic,
                          (int)request->at.partition, (long long)request->at.offset);
            return AB_EXIT_TEMPORARY;
        }
        status = ab_reader_next(reader, (int)left, &record);
        if (status == AB_READ_OK && is_about(request, &record)) {
            return strcmp(record.record.topic, topics[0]) == 0 ? take_answer(request, &record)
                                                               : take_letter(&record);
        }
    }
    return ab_select_complain(&ab_verb_snapshot, reader, status);
}

static int ask(request_t *request)
{
    char text[AB_READER_TEXT_MAX];
    const ab_reader_options_t how = {.timeout_ms = request->timeout_ms};
    ab_reader_t *reader = ab_reader_new(request->config, &how, text);
    if (reader == NULL) {
        (void)fprintf(stderr, "agent-bridge snapshot: %s\n", text);
        return AB_CLI_FATAL;
    }
    int code = send_request(request);
    if (code == AB_CLI_OK) {
        request->sent_ms = ab_wall_ms();
        code = wait_for_answer(request, reader);
    }
    ab_reader_free(reader);
    return code;
}

/* ---- the command line ---- */

static const ab_policy_t *answering(const ab_config_t *config, const char *topic)
{
    for (size_t i = 0; i < config->source_count; i++) {
        const ab_policy_t *policy = &config->sources[i].policy;
        if (policy->routes[AB_SLOT_EXPORT_REQUEST].kind == AB_ROUTE_ANSWER &&
            (topic == NULL || strcmp(topic, policy->topic) == 0)) {
            return policy;
        }
    }
    return NULL;
}

static int with_config(const snapshot_options_t *options, aw_span_t key)
{
    uint8_t random[REQUEST_BYTES];
    char request_id[sizeof("snapshot-") + 2 * REQUEST_BYTES] = "snapshot-";
    int code;
    ab_config_t *config = ab_select_config(&ab_verb_snapshot, options->file, &code);
    if (config == NULL) {
        return code;
    }
    request_t request = {.config = config,
                         .options = options,
                         .policy = answering(config, options->source),
                         .key = key,
                         .request_id = options->request_id,
                         .time_ms = options->at_ms,
                         .timeout_ms = options->timeout_ms};
    if (request.timeout_ms == 0) {
        request.timeout_ms = (int)config->snapshots_max_wait_ms + PATIENCE_MS;
    }
    if (request.policy == NULL) {
        (void)fputs("agent-bridge snapshot: no such source of the configuration answers export "
                    "requests; routes.export_request: answer makes one\n",
                    stderr);
        code = AB_CLI_CONFIG;
    } else if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
        code = AB_CLI_FATAL;
    } else {
        aw_hex_write((aw_span_t){random, sizeof(random)}, request_id + strlen("snapshot-"));
        request.request_id = options->request_id != NULL ? options->request_id : request_id;
        code = ask(&request);
    }
    ab_config_free(config);
    return code;
}

static int take_option(int option, char **argv, snapshot_options_t *options)
{
    switch (option) {
    case 'c':
        options->file = optarg;
        return AB_CLI_OK;
    case 'o':
        options->output = optarg;
        return AB_CLI_OK;
    case 'x':
        options->hex = true;
        return AB_CLI_OK;
    case 's':
        options->source = optarg;
        return AB_CLI_OK;
    case 'r':
        options->request_id = optarg;
        return aw_utf8_valid(aw_span_text_view(optarg))
                   ? AB_CLI_OK
                   : ab_cli_usage_error(&ab_verb_snapshot, "--request-id is not UTF-8");
    case 'a':
        return ab_when_parse(optarg, ab_wall_ms(), &options->at_ms)
                   ? AB_CLI_OK
                   : ab_cli_usage_error(&ab_verb_snapshot,
                                        "--at takes " AB_WHEN_FORMS ": found '%s'", optarg);
    case 't':
        return ab_select_timeout(&ab_verb_snapshot, optarg, &options->timeout_ms);
    default:
        return ab_cli_option_error(&ab_verb_snapshot, argv, option);
    }
}

static int snapshot_run(int argc, char **argv)
{
    static const struct option known[] = {{"config", required_argument, NULL, 'c'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"hex", no_argument, NULL, 'x'},
                                          {"source", required_argument, NULL, 's'},
                                          {"request-id", required_argument, NULL, 'r'},
                                          {"at", required_argument, NULL, 'a'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
    snapshot_options_t options = {.at_ms = ab_wall_ms()};
    int option;
    while ((option = getopt_long(argc, argv, ":c:o:", known, NULL)) != -1) {
        const int code = take_option(option, argv, &options);
        if (code != AB_CLI_OK) {
            return code;
        }
    }
    if (optind + 1 != argc || argv[optind][0] == '\0') {
        return ab_cli_usage_error(&ab_verb_snapshot, "takes one argument, the entity's key");
    }
    char *text = argv[optind];
    aw_span_t key = aw_span_text_view(text);
    if (options.hex) {
        size_t size, offset;
        if (ab_hex_read(key, false, (uint8_t *)text, &size, &offset) != AB_HEX_OK) {
            return ab_cli_usage_error(&ab_verb_snapshot, "the key is no hex: '%s'", text);
        }
        key.size = size;
    }
    return with_config(&options, key);
}

const ab_verb_t ab_verb_snapshot = {
    .name = "snapshot",
    .summary = "ask a running bridge for the published state of one key",
    .help =
        "Usage: agent-bridge snapshot KEY [--hex] [-o FILE] [OPTION]...\n"
        "Sends an export request for the entity KEY to a source that answers, waits for the "
        "answer\n"
        "on snapshots.topic, and prints it as JSON: the StateSnapshot, the topic, partition and\n"
        "offset it was published at, and how old it is. A bridge with this configuration must be\n"
        "running; its pipeline need not. Where no state of the key was ever published, 'known' is\n"
        "false and a line on stderr says so.\n"
        "\n"
        "      --hex              KEY is written in hex digits\n"
        "  -o, --output FILE      also write the snapshot's bytes, as the agents' replay reads "
        "them\n"
        "      --request-id R     the request's id; a random one by default\n"
        "      --at T             the answer's snapshot_at_ms; now by default. T is a duration "
        "back\n"
        "                         from now, or a time, such as 2026-01-31T00:00:00Z\n"
        "      --source TOPIC     the source to ask; the first that answers by default\n"
        "      --timeout D        how long to wait; snapshots.max_wait and 10s by default\n"
        "  -c, --config FILE      the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                         /etc/agent-bridge/config.yaml\n"
        "\n"
        "Exit codes: 0 answered, 1 the request became a dead letter, 64 wrong usage, 69 no broker\n"
        "answers, 70 memory ran out, 74 FILE cannot be written, 75 no answer in time, or the "
        "state\n"
        "is not ready, 77 not allowed, 78 the configuration is wrong or answers nothing.\n",
    .run = snapshot_run,
};
