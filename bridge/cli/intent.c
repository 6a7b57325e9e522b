#include "agentwire/intent.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/crypto.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/input.h"
#include "bridge/config/expand.h"
#include "bridge/config/memory.h"

/** Most bytes of memory to decode and sign one intent. */
#define MEMORY_MAX ((size_t)2 << 30)

/** What the command line asks for. */
typedef struct options {
    bool sign;
    bool hex;
    const char *keyring; /* a reference */
    const char *key_id;  /* with sign */
    const char *path;    /* NULL for standard input */
} options_t;

/** The two names that the verb has. */
static bool read_action(int argc, char **argv, options_t *options)
{
    if (argc < 2 || (strcmp(argv[1], "sign") != 0 && strcmp(argv[1], "verify") != 0)) {
        return false;
    }
    options->sign = strcmp(argv[1], "sign") == 0;
    return true;
}

/** Returns AB_CLI_OK or AB_CLI_USAGE. */
static int check_options(const options_t *options)
{
    if (options->keyring == NULL ||
        (strncmp(options->keyring, "file:", 5) != 0 && strncmp(options->keyring, "env:", 4) != 0)) {
        return ab_cli_usage_error(&ab_verb_intent,
                                  "--keyring names where the keys are: file:/path or env:NAME");
    }
    if (options->sign != (options->key_id != NULL)) {
        return ab_cli_usage_error(&ab_verb_intent, options->sign
                                                       ? "sign needs --key-id"
                                                       : "--key-id is for sign: verify takes the "
                                                         "id that the intent names");
    }
    return AB_CLI_OK;
}

/** Returns AB_CLI_OK or AB_CLI_USAGE. argv[1] is the action. */
static int read_options(int argc, char **argv, options_t *options)
{
    enum { KEYRING = 1, KEY_ID, HEX };
    static const struct option longs[] = {
        {"keyring", required_argument, NULL, KEYRING},
        {"key-id", required_argument, NULL, KEY_ID},
        {"hex", no_argument, NULL, HEX},
        {NULL, 0, NULL, 0},
    };
    for (int result; (result = getopt_long(argc, argv, ":", longs, NULL)) != -1;) {
        switch (result) {
        case KEYRING:
            options->keyring = optarg;
            break;
        case KEY_ID:
            options->key_id = optarg;
            break;
        case HEX:
            options->hex = true;
            break;
        default:
            return ab_cli_option_error(&ab_verb_intent, argv, result);
        }
    }
    if (argc - optind > 1) {
        return ab_cli_usage_error(&ab_verb_intent, "one FILE at most, but '%s' follows '%s'",
                                  argv[optind + 1], argv[optind]);
    }
    if (optind < argc && strcmp(argv[optind], "-") != 0) {
        options->path = argv[optind];
    }
    return check_options(options);
}

/** Reads and parses the keyring; NULL when it has complained. */
static aw_keyring_t *open_keyring(const ab_input_t *input, const char *reference)
{
    aw_keyring_t *keyring = NULL;
    aw_error_t error = AW_ERROR_INIT;
    ab_config_memory_t *memory = ab_config_memory_new();
    ab_findings_t *findings = calloc(1, sizeof *findings);
    if (memory == NULL || findings == NULL) {
        ab_input_complain(input, "out of memory");
    } else {
        const ab_place_t place = {.findings = findings};
        const char *text = ab_resolve(memory, reference, &place);
        if (text == NULL) {
            ab_findings_print(findings, "--keyring", stderr);
        } else if (aw_keyring_new(aw_span_text_view(text), &keyring, &error) != AW_OK) {
            ab_input_complain(input, "--keyring: %s at byte %lld: %s", error.field,
                              (long long)error.offset, error.text);
        }
    }
    free(findings);
    ab_config_memory_free(memory); /* wipes the text */
    return keyring;
}

static int sign(const options_t *options, const ab_input_t *input, const aw_message_t *intent,
                const aw_keyring_t *keyring, aw_arena_t *arena)
{
    const aw_span_t key_id = aw_span_text_view(options->key_id);
    const aw_message_t *made;
    aw_span_t key;
    aw_span_t bytes;
    if (!aw_keyring_find(keyring, key_id, &key)) {
        ab_input_complain(input, "the keyring has no key '%s'", options->key_id);
        return AB_CLI_DATA;
    }
    int status = aw_intent_sign(intent, key_id, key, arena, &made);
    if (status == AW_OK) {
        status = aw_message_encode(made, arena, &bytes);
    }
    if (status != AW_OK) {
        ab_input_complain_error(input, "", status, &AW_ERROR_INIT);
        return ab_input_exit(status);
    }
    ab_input_print(bytes, options->hex);
    return AB_CLI_OK;
}

static int verify(const ab_input_t *input, const aw_message_t *intent, const aw_keyring_t *keyring,
                  aw_arena_t *arena)
{
    const int status = aw_intent_verify(intent, keyring, arena);
    switch (status) {
    case AW_OK:
        puts("good");
        return AB_CLI_OK;
    case AW_STATUS_UNSIGNED_INTENT:
    case AW_STATUS_BAD_SIGNATURE:
    case AW_STATUS_UNKNOWN_SIGNING_KEY:
        puts(aw_status_name(status));
        ab_input_complain(input, "%s: %s", input->name, aw_status_text(status));
        return AB_CLI_FINDINGS;
    default:
        ab_input_complain_error(input, "", status, &AW_ERROR_INIT);
        return ab_input_exit(status);
    }
}

static int do_intent(const options_t *options, const ab_input_t *input, const aw_keyring_t *keyring,
                     aw_arena_t *arena)
{
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *intent;
    const int status = aw_message_decode(
        AW_MESSAGE_TOOL_INTENT, aw_span_view(input->data, input->size), arena, &intent, &error);
    if (status != AW_OK) {
        ab_input_complain_error(input, "", status, &error);
        return ab_input_exit(status);
    }
    return options->sign ? sign(options, input, intent, keyring, arena)
                         : verify(input, intent, keyring, arena);
}

static int intent_run(int argc, char **argv)
{
    options_t options = {0};
    if (!read_action(argc, argv, &options)) {
        return ab_cli_usage_error(&ab_verb_intent, "what to do: sign or verify");
    }
    int code = read_options(argc - 1, argv + 1, &options);
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_input_t input = {.verb = ab_verb_intent.name, .name = ab_input_name(options.path)};
    aw_keyring_t *keyring = open_keyring(&input, options.keyring);
    if (keyring == NULL) {
        return AB_CLI_CONFIG;
    }
    aw_arena_t *arena = aw_arena_new(MEMORY_MAX);
    code = ab_input_read(&input, options.path, options.hex);
    if (code == AB_CLI_OK && arena == NULL) {
        ab_input_complain(&input, "out of memory");
        code = AB_CLI_FATAL;
    }
    if (code == AB_CLI_OK) {
        code = do_intent(&options, &input, keyring, arena);
    }
    aw_arena_free(arena);
    aw_keyring_free(keyring);
    free(input.data);
    return code;
}

static const char help[] =
    "Usage: agent-bridge intent sign --keyring REF --key-id ID [--hex] [FILE|-]\n"
    "       agent-bridge intent verify --keyring REF [--hex] [FILE|-]\n"
    "\n"
    "Signs one serialized ToolIntent with HMAC-SHA256 and writes the signed one, or verifies the\n"
    "signature of one and prints good, unsigned_intent, bad_signature or unknown_signing_key.\n"
    "Reads FILE, or standard input. What is signed is the deterministic encoding without fields\n"
    "12, 13 and 14, with unknown fields kept; docs/wire.md says more.\n"
    "\n"
    "  --keyring REF   where the keys are: file:/path or env:NAME. A line is key_id=base64(key);\n"
    "                  empty lines and those that begin with # are ignored\n"
    "  --key-id ID     the key to sign with\n"
    "  --hex           input, and what sign writes, are hex text\n"
    "\n"
    "Exit codes: 0 signed, or the signature is good; 1 it is not; 64 wrong usage; 65 the bytes\n"
    "are no ToolIntent, or the keyring has no such key to sign with; 66 FILE cannot be read;\n"
    "70 out of memory; 74 standard output cannot be written; 78 the keyring cannot be read.\n";

const ab_verb_t ab_verb_intent = {
    .name = "intent",
    .summary = "sign and verify ToolIntents",
    .help = help,
    .run = intent_run,
};
