#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/json.h"
#include "bridge/cli/batch.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"

/** What the command line asks for. */
typedef struct options {
    aw_message_type_t type;
    bool type_given;
    bool hex;
    bool batch;
    const char *path; /* NULL for standard input */
} options_t;

/** Returns AB_CLI_OK or AB_CLI_USAGE. */
static int check_options(const options_t *options)
{
    if (options->batch && (options->type_given || options->hex)) {
        return ab_cli_usage_error(&ab_verb_encode,
                                  "--batch takes no other option: each line names its own type and "
                                  "is answered in one form");
    }
    if (!options->batch && !options->type_given) {
        return ab_cli_usage_error(&ab_verb_encode,
                                  "--type names the message; it is one of " AB_INSPECT_TYPES);
    }
    return AB_CLI_OK;
}

/** Returns AB_CLI_OK or AB_CLI_USAGE. */
static int read_options(int argc, char **argv, options_t *options)
{
    enum { TYPE = 1, HEX, BATCH };
    static const struct option longs[] = {
        {"type", required_argument, NULL, TYPE},
        {"hex", no_argument, NULL, HEX},
        {"batch", no_argument, NULL, BATCH},
        {NULL, 0, NULL, 0},
    };
    for (int result; (result = getopt_long(argc, argv, ":", longs, NULL)) != -1;) {
        switch (result) {
        case TYPE:
            options->type_given = true;
            if (!ab_inspect_type(optarg, &options->type)) {
                return ab_cli_usage_error(
                    &ab_verb_encode, "--type %s: no such message; it is one of " AB_INSPECT_TYPES,
                    optarg);
            }
            break;
        case HEX:
            options->hex = true;
            break;
        case BATCH:
            options->batch = true;
            break;
        default:
            return ab_cli_option_error(&ab_verb_encode, argv, result);
        }
    }
    if (argc - optind > 1) {
        return ab_cli_usage_error(&ab_verb_encode, "one FILE at most, but '%s' follows '%s'",
                                  argv[optind + 1], argv[optind]);
    }
    if (optind < argc && strcmp(argv[optind], "-") != 0) {
        options->path = argv[optind];
    }
    return check_options(options);
}

/** JSON to bytes in the arena. */
static int encode(aw_message_type_t type, aw_span_t text, aw_arena_t *arena, aw_span_t *ret_bytes,
                  aw_error_t *error)
{
    const aw_message_t *message;
    const int status = aw_json_parse(type, text, arena, &message, error);
    return status == AW_OK ? aw_message_encode(message, arena, ret_bytes) : status;
}

static int encode_one(const options_t *options, ab_input_t *input)
{
    int code = ab_input_read(input, options->path, false);
    if (code != AB_CLI_OK) {
        return code;
    }
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    if (arena == NULL) {
        ab_input_complain(input, "out of memory");
        return AB_CLI_FATAL;
    }
    aw_error_t error = AW_ERROR_INIT;
    aw_span_t bytes;
    const int status =
        encode(options->type, aw_span_view(input->data, input->size), arena, &bytes, &error);
    if (status == AW_OK) {
        ab_input_print(bytes, options->hex);
    } else {
        ab_input_complain_error(input, "", status, &error);
        code = ab_input_exit(status);
    }
    aw_arena_free(arena);
    return code;
}

static bool answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                   char ret_message[AB_BATCH_MESSAGE_MAX])
{
    aw_message_type_t type;
    if (!ab_batch_read_type(object, "json", &type, ret_message, AB_BATCH_MESSAGE_MAX)) {
        return false;
    }
    const json_t *json = json_object_get(object, "json");
    const aw_span_t text = aw_span_view(json_string_value(json), json_string_length(json));
    aw_error_t error = AW_ERROR_INIT;
    aw_span_t bytes;
    const int status = encode(type, text, arena, &bytes, &error);
    if (status != AW_OK) {
        ab_batch_write_failure(writer, status, &error);
        return true;
    }
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, true);
    aw_json_key_text(writer, "hex");
    aw_json_hex(writer, bytes);
    return true;
}

static int encode_run(int argc, char **argv)
{
    options_t options = {.type = AW_MESSAGE_AGENT_ENVELOPE};
    int code = read_options(argc, argv, &options);
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_input_t input = {.verb = ab_verb_encode.name, .name = ab_input_name(options.path)};
    if (!options.batch) {
        code = encode_one(&options, &input);
        free(input.data);
        return code;
    }
    int fd = ab_input_open(&input, options.path);
    if (fd < 0) {
        return AB_CLI_NO_INPUT;
    }
    code = ab_batch_run(&input, fd, answer);
    if (options.path != NULL) {
        close(fd);
    }
    return code;
}

static const char help[] =
    "Usage: agent-bridge encode --type TYPE [--hex] [FILE|-]\n"
    "       agent-bridge encode --batch [FILE|-]\n"
    "\n"
    "Reads one message as proto3 JSON, what 'inspect' prints, and writes its deterministic\n"
    "encoding. Reads FILE, or standard input. Both forms of a field's name are taken, null is\n"
    "absent, nothing is filled in; docs/wire.md says what is refused.\n"
    "\n"
    "  --type TYPE   the message; one of MemoryBlob, ToolIntent, ToolResult, TraceEvent,\n"
    "                AgentEnvelope, StateSnapshot, ActivationErrorRecord, Continuation,\n"
    "                LlmCacheBlob, LongTermRecord\n"
    "  --hex         write hex text and a line end\n"
    "  --batch       answer requests line by line, in order, with the text as a string:\n"
    "                  {\"type\":\"ToolResult\",\"json\":\"{\\\"seq\\\":\\\"4\\\"}\"}\n"
    "                each with one line, which is one of\n"
    "                  {\"ok\":true,\"hex\":\"1804\"}\n"
    "                  "
    "{\"ok\":false,\"reason\":\"json_mismatch\",\"offset\":7,\"field\":\"/seq\"}\n"
    "                  {\"ok\":false,\"reason\":\"bad_request\",\"message\":\"...\"}\n"
    "\n"
    "Exit codes: 0 written (with --batch: every line answered), 64 wrong usage, 65 the text is\n"
    "refused (offset, JSON pointer and reason are on stderr) or too large, 66 FILE cannot be\n"
    "read, 70 out of memory, 74 standard output cannot be written.\n";

const ab_verb_t ab_verb_encode = {
    .name = "encode",
    .summary = "make serialized messages out of JSON",
    .help = help,
    .run = encode_run,
};
