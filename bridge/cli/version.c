#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agentwire/crypto.h"
#include "agentwire/json.h"
#include "agentwire/message.h"
#include "bridge/cli/cli.h"
#include "bridge/config/config.h"
#include "bridge/core/reason.h"
#include "bridge/kafka/properties.h"
#include "git_describe.h"

/** Longest output of --json, bytes. */
#define VERSION_JSON_MAX 4096

/** One library: the version this program was compiled against, and the one it runs with. */
typedef struct library {
    const char *name;
    const char *compiled;
    const char *running;
} library_t;

#define LIBRARIES_MAX 8

static size_t list_libraries(library_t ret_libraries[LIBRARIES_MAX])
{
    const library_t libraries[] = {
        {"jansson", AB_BUILT_JANSSON, jansson_version_str()},
        {"librdkafka", AB_BUILT_RDKAFKA, ab_kafka_version()},
        {"libyaml", AB_BUILT_YAML, ab_config_yaml_version()},
        {"openssl", AB_BUILT_CRYPTO, aw_crypto_library_version()},
        {"protobuf-c", AB_BUILT_PROTOBUF_C, aw_message_library_version()},
    };

    memcpy(ret_libraries, libraries, sizeof(libraries));
    return sizeof(libraries) / sizeof(libraries[0]);
}

static void print_text(const library_t *libraries, size_t count)
{
    (void)printf("agent-bridge %s", AB_VERSION);
    if (AB_GIT_DESCRIBE[0] != '\0') {
        (void)printf(" (%s)", AB_GIT_DESCRIBE);
    }
    (void)putchar('\n');
    for (size_t i = 0; i < count; i++) {
        (void)printf("  %-11s %s", libraries[i].name, libraries[i].running);
        if (strcmp(libraries[i].running, libraries[i].compiled) != 0) {
            (void)printf(" (compiled against %s)", libraries[i].compiled);
        }
        (void)putchar('\n');
    }
}

static int print_json(const library_t *libraries, size_t count)
{
    char buffer[VERSION_JSON_MAX];
    aw_json_writer_t json;
    aw_span_t text;

    aw_json_init_buffer(&json, AW_JSON_INDENTED, buffer, sizeof(buffer));
    aw_json_object_open(&json);
    if (AB_GIT_DESCRIBE[0] != '\0') {
        aw_json_key_text(&json, "commit");
        aw_json_text(&json, AB_GIT_DESCRIBE);
    }
    aw_json_key_text(&json, "libraries");
    aw_json_object_open(&json);
    for (size_t i = 0; i < count; i++) {
        aw_json_key_text(&json, libraries[i].name);
        aw_json_object_open(&json);
        aw_json_key_text(&json, "compiled");
        aw_json_text(&json, libraries[i].compiled);
        aw_json_key_text(&json, "running");
        aw_json_text(&json, libraries[i].running);
        aw_json_object_close(&json);
    }
    aw_json_object_close(&json);
    aw_json_key_text(&json, "version");
    aw_json_text(&json, AB_VERSION);
    aw_json_object_close(&json);
    if (aw_json_finish(&json, &text) != AW_OK) {
        (void)fputs("agent-bridge version: a library's version text is not usable\n", stderr);
        return AB_CLI_FATAL;
    }
    (void)fwrite(text.data, 1, text.size, stdout);
    (void)putchar('\n');
    return AB_CLI_OK;
}

static int version_run(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"print-reasons", no_argument, NULL, 'r'},
                                            {NULL, 0, NULL, 0}};
    library_t libraries[LIBRARIES_MAX];
    size_t count = list_libraries(libraries);
    bool json = false;
    bool reasons = false;
    int option;

    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option != 'j' && option != 'r') {
            return ab_cli_option_error(&ab_verb_version, argv, option);
        }
        json = json || option == 'j';
        reasons = reasons || option == 'r';
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_version, "takes no argument: '%s'", argv[optind]);
    }
    if (json && reasons) {
        return ab_cli_usage_error(&ab_verb_version,
                                  "--json and --print-reasons exclude each other");
    }
    if (reasons) {
        ab_reason_print_docs(stdout);
        return AB_CLI_OK;
    }
    if (json) {
        return print_json(libraries, count);
    }
    print_text(libraries, count);
    return AB_CLI_OK;
}

const ab_verb_t ab_verb_version = {
    .name = "version",
    .summary = "say which version this is, and of which libraries",
    .help =
        "Usage: agent-bridge version [--json | --print-reasons]\n"
        "Prints the version of agent-bridge, the commit it was built from where that is known,\n"
        "and the versions of the libraries it runs with; where a library was another one when\n"
        "agent-bridge was compiled, that version too.\n"
        "\n"
        "  --json            the same as a JSON object: version, commit, and libraries with\n"
        "                    compiled and running of each\n"
        "  --print-reasons   print docs/reasons.md: the reasons of dead letters that this version\n"
        "                    can write\n"
        "\n"
        "Exit codes: 0 done, 64 wrong usage, 74 standard output could not be written.\n",
    .run = version_run,
};
