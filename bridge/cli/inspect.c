#include "bridge/cli/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentwire/field.h"
#include "agentwire/json.h"
#include "bridge/cli/cli.h"

/** The first buffer for the input, bytes. */
#define FIRST_CAPACITY ((size_t)64 << 10)

/** What the command line asks for. */
typedef struct options {
    aw_message_type_t type;
    bool type_given;
    bool hex;
    bool compact;
    bool errors;
    bool batch;
    const char *path; /* NULL for standard input */
} options_t;

/** An input file as it was read. */
typedef struct input {
    const char *name;
    uint8_t *data;
    size_t size;
} input_t;

static const char *input_name(const char *path)
{
    return path != NULL ? path : "standard input";
}

/** Returns AB_CLI_OK or AB_CLI_USAGE. */
static int read_options(int argc, char **argv, options_t *options)
{
    enum { TYPE = 1, HEX, COMPACT, ERRORS, BATCH };
    static const struct option longs[] = {
        {"type", required_argument, NULL, TYPE}, {"hex", no_argument, NULL, HEX},
        {"compact", no_argument, NULL, COMPACT}, {"errors", no_argument, NULL, ERRORS},
        {"batch", no_argument, NULL, BATCH},     {NULL, 0, NULL, 0},
    };
    for (int result; (result = getopt_long(argc, argv, ":", longs, NULL)) != -1;) {
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
        default:
            return ab_cli_option_error(&ab_verb_inspect, argv, result);
        }
    }
    if (argc - optind > 1) {
        return ab_cli_usage_error(&ab_verb_inspect, "one FILE at most, but '%s' follows '%s'",
                                  argv[optind + 1], argv[optind]);
    }
    if (options->batch &&
        (options->type_given || options->hex || options->compact || options->errors)) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--batch takes no other option: each line names "
                                  "its own type and is answered in one form");
    }
    if (options->errors && options->type != AW_MESSAGE_AGENT_ENVELOPE) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--errors is for --type AgentEnvelope: only that "
                                  "has an external_event to look into");
    }
    if (optind < argc && strcmp(argv[optind], "-") != 0) {
        options->path = argv[optind];
    }
    return AB_CLI_OK;
}

/** Opens the file, or gives standard input. Returns a descriptor, or -1 when it has complained. */
static int open_input(const char *path)
{
    if (path == NULL) {
        return STDIN_FILENO;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        ab_inspect_complain("%s: cannot be opened: %s", path, strerror(errno));
    }
    return fd;
}

static int complain_too_large(const char *name, size_t limit)
{
    ab_inspect_complain("%s: larger than %zu bytes; inspect reads one message, not a log of them",
                        name, limit);
    return AB_CLI_DATA;
}

/** Makes room for one byte more. Returns AB_CLI_OK or the exit code of a complaint. */
static int grow(input_t *input, size_t *capacity, size_t limit)
{
    if (input->size < *capacity) {
        return AB_CLI_OK;
    }
    if (input->size > limit) {
        return complain_too_large(input->name, limit);
    }
    size_t wanted = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    if (wanted > limit) {
        wanted = limit + 1; /* the one byte that shows there is more */
    }
    uint8_t *data = realloc(input->data, wanted);
    if (data == NULL) {
        ab_inspect_complain("%s: out of memory after %zu bytes", input->name, input->size);
        return AB_CLI_FATAL;
    }
    input->data = data;
    *capacity = wanted;
    return AB_CLI_OK;
}

/** Reads all of fd into memory that the caller frees, also after a failure. */
static int read_all(int fd, size_t limit, input_t *input)
{
    size_t capacity = 0;
    for (;;) {
        int code = grow(input, &capacity, limit);
        if (code != AB_CLI_OK) {
            return code;
        }
        ssize_t got = read(fd, input->data + input->size, capacity - input->size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            ab_inspect_complain("%s: cannot be read: %s", input->name, strerror(errno));
            return AB_CLI_NO_INPUT;
        }
        if (got == 0) {
            return AB_CLI_OK;
        }
        input->size += (size_t)got;
    }
}

/** Turns the hex text into the bytes it stands for, in place. */
static int unhex(input_t *input)
{
    aw_span_t text = aw_span_view(input->data, input->size);
    size_t offset = 0;
    switch (ab_hex_read(text, true, input->data, &input->size, &offset)) {
    case AB_HEX_OK:
        break;
    case AB_HEX_BAD_DIGIT:
        ab_inspect_complain("%s: byte %zu is 0x%02x and no hex digit; --hex takes digits and white "
                            "space only",
                            input->name, offset, text.data[offset]);
        return AB_CLI_DATA;
    case AB_HEX_ODD:
        ab_inspect_complain("%s: an odd number of hex digits: the one at byte %zu is half a byte",
                            input->name, offset);
        return AB_CLI_DATA;
    }
    if (input->size > AB_INSPECT_INPUT_MAX) {
        return complain_too_large(input->name, AB_INSPECT_INPUT_MAX);
    }
    return AB_CLI_OK;
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
static void hint(const options_t *options, const input_t *input, int status)
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

/** Says what is wrong, as "NAME: reason at byte N in field: text". */
static void complain_error(const char *prefix, const char *name, int status,
                           const aw_error_t *error)
{
    char place[32] = "";
    if (error->offset >= 0) {
        snprintf(place, sizeof place, " at byte %lld", (long long)error->offset);
    }
    ab_inspect_complain("%s%s: %s%s%s%s: %s", prefix, name, aw_status_name(status), place,
                        error->field[0] != '\0' ? " in " : "", error->field,
                        error->text[0] != '\0' ? error->text : aw_status_text(status));
}

/** The exit code of a status that is no success. */
static int exit_of(int status)
{
    return status == AW_STATUS_NO_MEMORY ? AB_CLI_FATAL : AB_CLI_DATA;
}

/** The ActivationErrorRecord in the envelope's external_event; NULL, with a warning, where there is
 * none. */
static const aw_message_t *error_record(const aw_message_t *envelope, const char *name,
                                        aw_arena_t *arena)
{
    aw_field_t field;
    if (!aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, &field) ||
        aw_message_count(envelope, &field) == 0) {
        ab_inspect_complain("warning: %s: --errors: there is no external_event", name);
        return NULL;
    }
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *record;
    int status =
        aw_message_decode(AW_MESSAGE_ACTIVATION_ERROR_RECORD,
                          aw_message_value(envelope, &field, 0).as.bytes, arena, &record, &error);
    if (status != AW_OK) {
        complain_error("warning: --errors: external_event is no ActivationErrorRecord: ", name,
                       status, &error);
        return NULL;
    }
    return record;
}

static int print_message(const options_t *options, const char *name, const aw_message_t *message,
                         aw_arena_t *arena)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, options->compact ? AW_JSON_COMPACT : AW_JSON_INDENTED, arena);
    const aw_message_t *record = options->errors ? error_record(message, name, arena) : NULL;
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
        complain_error("", name, status, &AW_ERROR_INIT);
        return exit_of(status);
    }
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
    return AB_CLI_OK;
}

static int inspect_one(const options_t *options, int fd, input_t *input)
{
    int code = read_all(fd, options->hex ? AB_INSPECT_TEXT_MAX : AB_INSPECT_INPUT_MAX, input);
    if (code == AB_CLI_OK && options->hex) {
        code = unhex(input);
    }
    if (code != AB_CLI_OK) {
        return code;
    }
    aw_arena_t *arena = aw_arena_new(AB_INSPECT_MEMORY_MAX);
    if (arena == NULL) {
        ab_inspect_complain("out of memory");
        return AB_CLI_FATAL;
    }
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message;
    int status = ab_inspect_decode(options->type, aw_span_view(input->data, input->size), arena,
                                   &message, &error);
    if (status == AW_OK) {
        code = print_message(options, input->name, message, arena);
    } else {
        complain_error("", input->name, status, &error);
        hint(options, input, status);
        code = exit_of(status);
    }
    aw_arena_free(arena);
    return code;
}

static int inspect_run(int argc, char **argv)
{
    options_t options = {.type = AW_MESSAGE_AGENT_ENVELOPE};
    int code = read_options(argc, argv, &options);
    if (code != AB_CLI_OK) {
        return code;
    }
    int fd = open_input(options.path);
    if (fd < 0) {
        return AB_CLI_NO_INPUT;
    }
    if (options.batch) {
        code = ab_inspect_batch(fd, input_name(options.path));
    } else {
        input_t input = {.name = input_name(options.path)};
        code = inspect_one(&options, fd, &input);
        free(input.data);
    }
    if (options.path != NULL) {
        close(fd);
    }
    return code;
}

static const char help[] =
    "Usage: agent-bridge inspect [--type TYPE] [--hex] [--compact] [--errors] [FILE|-]\n"
    "       agent-bridge inspect --batch [FILE|-]\n"
    "\n"
    "Prints one serialized message as proto3 JSON, with its keys sorted: what Python's\n"
    "json_format.MessageToJson(m, indent=2, sort_keys=True, ensure_ascii=False) prints.\n"
    "Reads FILE, or standard input.\n"
    "\n"
    "  --type TYPE   the message, AgentEnvelope if not given; one of MemoryBlob, ToolIntent,\n"
    "                ToolResult, TraceEvent, AgentEnvelope, StateSnapshot, ActivationErrorRecord,\n"
    "                Continuation, LlmCacheBlob, LongTermRecord\n"
    "  --hex         the input is hex text; white space in it is skipped\n"
    "  --compact     one line without blanks\n"
    "  --errors      also decode the ActivationErrorRecord that a dead letter carries in\n"
    "                external_event, and print it as the member activationErrorRecord; a warning\n"
    "                on stderr where there is none\n"
    "  --batch       answer requests line by line, in order:\n"
    "                  {\"type\":\"AgentEnvelope\",\"hex\":\"0a06...\"}\n"
    "                each with one line, which is one of\n"
    "                  "
    "{\"ok\":true,\"variant\":\"approval\",\"json\":{...},\"deterministic_hex\":\"...\"}\n"
    "                  "
    "{\"ok\":false,\"reason\":\"decode_truncated\",\"offset\":17,\"field\":\"...\"}\n"
    "                  {\"ok\":false,\"reason\":\"bad_request\",\"message\":\"...\"}\n"
    "                variant is there for AgentEnvelope only, and null where no payload is set;\n"
    "                field is left out where the defect is in no field\n"
    "\n"
    "Exit codes: 0 printed (with --batch: every line answered), 64 wrong usage, 65 the bytes are\n"
    "refused (offset, field and reason are on stderr) or too large, 66 FILE cannot be read,\n"
    "70 out of memory, 74 standard output cannot be written. docs/wire.md has all of it.\n";

const ab_verb_t ab_verb_inspect = {
    .name = "inspect",
    .summary = "print serialized messages as JSON",
    .help = help,
    .run = inspect_run,
};
