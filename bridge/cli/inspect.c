#include "bridge/cli/inspect.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/field.h"
#include "agentwire/json.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect_contract.h"
#include "bridge/cli/inspect_kafka.h"
#include "bridge/cli/select.h"

/** What the command line asks for. */
typedef struct options {
    aw_message_type_t type;
    bool type_given;
    bool hex;
    bool compact;
    bool errors;
    bool batch;
    const char *contract; /* NULL: the input is a message, not a text under a contract */
    ab_inspect_ask_t ask; /* with contract */
    const char *path;     /* NULL for standard input */
    ab_inspect_kafka_t kafka;
    bool of_kafka; /* an option that is for records in Kafka was given */
} options_t;

/** Refuses options that do not go together. Returns AB_CLI_OK or AB_CLI_USAGE. */
static int check_together(const options_t *options)
{
    bool of_message = options->type_given || options->compact || options->errors;
    const ab_inspect_ask_t *ask = &options->ask;
    bool of_contract = ask->kind != NULL || ask->target != NULL || ask->decode || ask->encode;
    if (options->batch && (of_message || options->hex || options->contract != NULL)) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--batch takes no other option: each line names "
                                  "its own type and is answered in one form");
    }
    if (options->of_kafka && (options->path == NULL || options->batch || options->hex ||
                              options->compact || options->errors || options->contract != NULL)) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "with -c, --partition, --offset, --count, --follow and --timeout "
                                  "it takes a topic, or topic:partition:offset, and --type");
    }
    if (options->errors && options->type != AW_MESSAGE_AGENT_ENVELOPE) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--errors is for --type AgentEnvelope: only that "
                                  "has an external_event to look into");
    }
    if (options->contract != NULL && of_message) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--contract reads a text: --type, --compact and --errors are for "
                                  "messages");
    }
    if (options->contract == NULL && of_contract) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--kind, --decode, --encode and --target are for --contract");
    }
    if (options->contract == NULL) {
        return AB_CLI_OK;
    }
    const ab_inspect_contract_t *contract = ab_inspect_contract_find(options->contract);
    if (contract == NULL) {
        return ab_cli_usage_error(
            &ab_verb_inspect, "--contract %s: no such contract; it is one of " AB_INSPECT_CONTRACTS,
            options->contract);
    }
    return contract->check(ask);
}

/** The long options. */
enum {
    TYPE = 1,
    HEX,
    COMPACT,
    ERRORS,
    BATCH,
    CONTRACT,
    KIND,
    DECODE,
    ENCODE,
    TARGET,
    PARTITION,
    OFFSET,
    COUNT,
    FOLLOW,
    TIMEOUT
};

static const struct option longs[] = {
    {"type", required_argument, NULL, TYPE},
    {"hex", no_argument, NULL, HEX},
    {"compact", no_argument, NULL, COMPACT},
    {"errors", no_argument, NULL, ERRORS},
    {"batch", no_argument, NULL, BATCH},
    {"contract", required_argument, NULL, CONTRACT},
    {"kind", required_argument, NULL, KIND},
    {"decode", no_argument, NULL, DECODE},
    {"encode", no_argument, NULL, ENCODE},
    {"target", required_argument, NULL, TARGET},
    {"config", required_argument, NULL, 'c'},
    {"partition", required_argument, NULL, PARTITION},
    {"offset", required_argument, NULL, OFFSET},
    {"count", required_argument, NULL, COUNT},
    {"follow", no_argument, NULL, FOLLOW},
    {"timeout", required_argument, NULL, TIMEOUT},
    {NULL, 0, NULL, 0},
};

/** One of those that are for records in Kafka. Returns AB_CLI_OK or AB_CLI_USAGE. */
static int read_kafka_option(int option, options_t *options)
{
    options->of_kafka = true;
    switch (option) {
    case PARTITION:
        options->kafka.partition = optarg;
        break;
    case OFFSET:
        options->kafka.offset = optarg;
        break;
    case COUNT:
        options->kafka.count = optarg;
        break;
    case FOLLOW:
        options->kafka.follow = true;
        break;
    case TIMEOUT:
        return ab_select_timeout(&ab_verb_inspect, optarg, &options->kafka.timeout_ms);
    default:
        options->kafka.config = optarg;
        break;
    }
    return AB_CLI_OK;
}

/** Returns AB_CLI_OK or AB_CLI_USAGE. */
static int read_options(int argc, char **argv, options_t *options)
{
    for (int result; (result = getopt_long(argc, argv, ":c:", longs, NULL)) != -1;) {
        if (result == 'c' || (result >= PARTITION && result <= TIMEOUT)) {
            if (read_kafka_option(result, options) != AB_CLI_OK) {
                return AB_CLI_USAGE;
            }
            continue;
        }
        switch (result) {
        case TYPE:
            options->type_given = true;
            if (!ab_inspect_type(optarg, &options->type)) {
                return ab_cli_usage_error(
                    &ab_verb_inspect, "--type %s: no such message; it is one of " AB_INSPECT_TYPES,
                    optarg);
            }
            break;
        case HEX:
            options->hex = true;
            break;
        case COMPACT:
            options->compact = true;
            break;
        case ERRORS:
            options->errors = true;
            break;
        case BATCH:
            options->batch = true;
            break;
        case CONTRACT:
            options->contract = optarg;
            break;
        case KIND:
            options->ask.kind = optarg;
            break;
        case DECODE:
            options->ask.decode = true;
            break;
        case ENCODE:
            options->ask.encode = true;
            break;
        case TARGET:
            options->ask.target = optarg;
            break;
        default:
            return ab_cli_option_error(&ab_verb_inspect, argv, result);
        }
    }
    if (argc - optind > 1) {
        return ab_cli_usage_error(&ab_verb_inspect, "one FILE at most, but '%s' follows '%s'",
                                  argv[optind + 1], argv[optind]);
    }
    if (optind < argc && strcmp(argv[optind], "-") != 0) {
        options->path = argv[optind];
        options->of_kafka |= ab_inspect_names_record(options->path);
    }
    return check_together(options);
}

/** True when the beginning of the bytes is nothing but hex digits and white space. */
static bool looks_like_hex(aw_span_t bytes)
{
    uint8_t decoded[32];
    size_t size, offset;
    if (bytes.size < 2) {
        return false;
    }
    bytes.size = bytes.size < 2 * sizeof decoded ? bytes.size : 2 * sizeof decoded;
    return ab_hex_read(bytes, true, decoded, &size, &offset) != AB_HEX_BAD_DIGIT;
}

/** One more line for what people get wrong most. */
static void hint(const options_t *options, const ab_input_t *input, int status)
{
    aw_span_t bytes = aw_span_view(input->data, input->size);
    if (status == AW_STATUS_LIMIT_DECODE_BYTES) {
        ab_inspect_complain("inspect gives one message %zu MiB", AB_INSPECT_MEMORY_MAX >> 20);
    } else if (!options->hex && looks_like_hex(bytes)) {
        ab_inspect_complain("the input looks like hex text: try --hex");
    } else if (options->type == AW_MESSAGE_AGENT_ENVELOPE && aw_envelope_looks_like_result(bytes)) {
        ab_inspect_complain("the input looks like a bare ToolResult: try --type ToolResult");
    } else if (!options->type_given) {
        ab_inspect_complain("it was read as an AgentEnvelope; --type names another message");
    }
}

/** The ActivationErrorRecord in the envelope's external_event; NULL, with a warning, where there is
 * none. */
static const aw_message_t *error_record(const aw_message_t *envelope, const ab_input_t *input,
                                        aw_arena_t *arena)
{
    aw_field_t field;
    if (!aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, &field) ||
        aw_message_count(envelope, &field) == 0) {
        ab_inspect_complain("warning: %s: --errors: there is no external_event", input->name);
        return NULL;
    }
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *record;
    int status =
        aw_message_decode(AW_MESSAGE_ACTIVATION_ERROR_RECORD,
                          aw_message_value(envelope, &field, 0).as.bytes, arena, &record, &error);
    if (status != AW_OK) {
        ab_input_complain_error(
            input, "warning: --errors: external_event is no ActivationErrorRecord: ", status,
            &error);
        return NULL;
    }
    return record;
}

static int print_message(const options_t *options, const ab_input_t *input,
                         const aw_message_t *message, aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, options->compact ? AW_JSON_COMPACT : AW_JSON_INDENTED, arena);
    const aw_message_t *record = options->errors ? error_record(message, input, arena) : NULL;
    aw_json_object_open(&writer);
    if (record != NULL) {
        /* sorts before every member of an envelope */
        aw_json_key_text(&writer, "activationErrorRecord");
        aw_json_message(&writer, record, arena);
    }
    aw_json_message_members(&writer, message, arena);
    aw_json_object_close(&writer);
    aw_span_t text;
    int status = aw_json_finish(&writer, &text);
    if (status != AW_OK) {
        ab_input_complain_error(input, "", status, &AW_ERROR_INIT);
        return ab_input_exit(status);
    }
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
    return AB_CLI_OK;
}

static int inspect_one(const options_t *options, ab_input_t *input)
{
    int code = ab_input_read(input, options->path, options->hex);
    if (code != AB_CLI_OK) {
        return code;
    }
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    if (arena == NULL) {
        ab_inspect_complain("out of memory");
        return AB_CLI_FATAL;
    }
    aw_span_t bytes = aw_span_view(input->data, input->size);
    if (options->contract != NULL) {
        code = ab_inspect_contract_find(options->contract)
                   ->print(input->name, &options->ask, bytes, arena);
        aw_arena_free(arena);
        return code;
    }
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message;
    int status = ab_inspect_decode(options->type, bytes, arena, &message, &error);
    if (status == AW_OK) {
        ab_inspect_warn_ids(input, message);
        code = print_message(options, input, message, arena);
    } else {
        ab_input_complain_error(input, "", status, &error);
        hint(options, input, status);
        code = ab_input_exit(status);
    }
    aw_arena_free(arena);
    return code;
}

static int inspect_run(int argc, char **argv)
{
    options_t options = {.type = AW_MESSAGE_AGENT_ENVELOPE,
                         .kafka.timeout_ms = AB_SELECT_TIMEOUT_MS};
    int code = read_options(argc, argv, &options);
    if (code != AB_CLI_OK) {
        return code;
    }
    if (options.of_kafka) {
        options.kafka.place = options.path;
        options.kafka.type = options.type;
        return ab_inspect_kafka_run(&options.kafka);
    }
    ab_input_t input = {.verb = ab_verb_inspect.name, .name = ab_input_name(options.path)};
    if (!options.batch) {
        code = inspect_one(&options, &input);
        free(input.data);
        return code;
    }
    int fd = ab_input_open(&input, options.path);
    if (fd < 0) {
        return AB_CLI_NO_INPUT;
    }
    code = ab_inspect_batch(&input, fd);
    if (options.path != NULL) {
        close(fd);
    }
    return code;
}

static const char help[] =
    "Usage: agent-bridge inspect [--type TYPE] [--hex] [--compact] [--errors] [FILE|-]\n"
    "       agent-bridge inspect --contract tea [--kind KIND] [--hex] [FILE|-]\n"
    "       agent-bridge inspect --contract session_inbox [--decode] [--hex] [FILE|-]\n"
    "       agent-bridge inspect --contract session_inbox --encode --target TARGET [--hex] "
    "[FILE|-]\n"
    "       agent-bridge inspect --batch [FILE|-]\n"
    "       agent-bridge inspect [-c FILE] [--type TYPE] TOPIC:PARTITION:OFFSET\n"
    "       agent-bridge inspect -c FILE [--type TYPE] [--partition N] [--offset N] [--count N]\n"
    "                            [--follow] TOPIC\n"
    "\n"
    "Prints one serialized message as proto3 JSON, with its keys sorted: what Python's\n"
    "json_format.MessageToJson(m, indent=2, sort_keys=True, ensure_ascii=False) prints.\n"
    "Reads FILE, or standard input; or records in Kafka, each printed as a line of JSON with its\n"
    "coordinates, timestamp, key, headers and decoded value: one record, or a topic to the end it\n"
    "has now. It reads committed records, joins no group and commits nothing.\n"
    "\n"
    "  --type TYPE   the message, AgentEnvelope if not given; one of MemoryBlob, ToolIntent,\n"
    "                ToolResult, TraceEvent, AgentEnvelope, StateSnapshot, ActivationErrorRecord,\n"
    "                Continuation, LlmCacheBlob, LongTermRecord\n"
    "  --hex         the input is hex text; white space in it is skipped\n"
    "  --compact     one line without blanks\n"
    "  --errors      also decode the ActivationErrorRecord that a dead letter carries in\n"
    "                external_event, and print it as the member activationErrorRecord; a warning\n"
    "                on stderr where there is none\n"
    "  --contract C  read a text as an external_event under the contract C (tea or\n"
    "                session_inbox) and print its canonical form, or say which rule it breaks\n"
    "                and where\n"
    "  --kind KIND   tea: which envelope it is: command, event, record or error; found out by its\n"
    "                members where not given\n"
    "  --decode      session_inbox: read a stored value of any version and print the command that\n"
    "                it holds; what is done where nothing else is asked for\n"
    "  --encode      session_inbox: read a command and print the value for a reader of --target\n"
    "  --target T    v1, v0-deliver or v0-send; what that has no place for is told on stderr\n"
    "  --batch       answer requests line by line, in order:\n"
    "                  {\"type\":\"AgentEnvelope\",\"hex\":\"0a06...\"}\n"
    "                each with one line, which is one of\n"
    "                  "
    "{\"ok\":true,\"variant\":\"approval\",\"json\":{...},\"deterministic_hex\":\"...\"}\n"
    "                  "
    "{\"ok\":false,\"reason\":\"decode_truncated\",\"offset\":17,\"field\":\"...\"}\n"
    "                  {\"ok\":false,\"reason\":\"bad_request\",\"message\":\"...\"}\n"
    "                variant is there for AgentEnvelope only, and null where no payload is set;\n"
    "                field is left out where the defect is in no field. A text is asked about as\n"
    "                  {\"contract\":\"tea\",\"kind\":\"event\",\"input\":\"{...}\"}\n"
    "                and answered with\n"
    "                  {\"ok\":true,\"class\":\"ok\",\"canonical\":\"{...}\"}\n"
    "                  "
    "{\"ok\":false,\"class\":\"invalid\",\"label\":\"timestamp\",\"pointer\":\"/timestamp\"}\n"
    "                and for the session inbox (op decode, encode with a target, or classify) as\n"
    "                  {\"contract\":\"session_inbox\",\"op\":\"decode\",\"input\":\"{...}\"}\n"
    "                with\n"
    "                  {\"ok\":true,\"class\":\"ok\",\"output\":\"{...}\"}\n"
    "                  {\"ok\":false,\"class\":\"newer-version\",\"message\":\"...\"}\n"
    "  -c, --config FILE   where the brokers are; else $AGENT_BRIDGE_CONFIG, else\n"
    "                      /etc/agent-bridge/config.yaml\n"
    "  --partition N       this partition of the topic alone; --offset N: from there on\n"
    "  --count N           so many records at most\n"
    "  --follow            go on with what is written, until a signal\n"
    "  --timeout D         how long a broker is waited for, 10s by default\n"
    "\n"
    "Exit codes: 0 printed (with --batch: every line answered), 64 wrong usage, 65 the bytes are\n"
    "refused (offset, field and reason are on stderr) or too large, 66 FILE cannot be read,\n"
    "69 no broker answers, or the record or the topic is not there, 70 out of memory, 74 standard\n"
    "output cannot be written, 77 not allowed, 78 the configuration is wrong. docs/wire.md says\n"
    "more.\n";

const ab_verb_t ab_verb_inspect = {
    .name = "inspect",
    .summary = "print serialized messages, files or records in Kafka, as JSON",
    .help = help,
    .run = inspect_run,
};
