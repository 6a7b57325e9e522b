#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/cli/cli.h"
#include "bridge/config/config.h"
#include "bridge/kafka/properties.h"

typedef struct lint_options {
    const char *file; /* NULL: where the configuration usually is */
    bool json;
    bool docs;
} lint_options_t;

/* Prints one finding as a JSON object on a line. Returns 0, or -1 when memory is short. */
static int print_json_line(const ab_finding_t *finding, const char *file)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "file", file, "severity",
                               finding->warning ? "warning" : "error", "key", finding->key,
                               "message", finding->message);
    if (object == NULL) { /* a name of a file need not be UTF-8; all else is */
        object = json_pack("{s:n, s:s, s:s, s:s}", "file", "severity",
                           finding->warning ? "warning" : "error", "key", finding->key, "message",
                           finding->message);
    }
    if (object == NULL) {
        return -1;
    }
    if (finding->line > 0) {
        (void)json_object_set_new(object, "line", json_integer(finding->line));
    }
    if (finding->line > 0 && finding->column > 0) {
        (void)json_object_set_new(object, "column", json_integer(finding->column));
    }
    int status = json_dumpf(object, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    (void)putchar('\n');
    return status;
}

/* Errors of standard output are main's to report. */
static int print_json(const ab_findings_t *findings, const char *file)
{
    const ab_finding_t *sorted[AB_FINDINGS_MAX];
    size_t count = ab_findings_sorted(findings, sorted);
    for (size_t i = 0; i < count; i++) {
        if (print_json_line(sorted[i], file) != 0 && !ferror(stdout)) {
            (void)fputs("agent-bridge lint: out of memory\n", stderr);
            return AB_CLI_FATAL;
        }
    }
    return AB_CLI_OK;
}

static int print_text(const ab_findings_t *findings, const char *file)
{
    ab_findings_print(findings, file, stdout);
    if (findings->mistakes + findings->warnings == 0) {
        (void)printf("%s: no findings\n", file);
    }
    return AB_CLI_OK;
}

static int lint_file(const char *file, bool json, ab_findings_t *findings)
{
    ab_config_free(ab_config_load(file, ab_kafka_check_properties, findings));
    if (findings->unreadable) {
        (void)fprintf(stderr, "agent-bridge lint: %s %s\n", file, findings->items[0].message);
        return AB_CLI_NO_INPUT;
    }
    int status = json ? print_json(findings, file) : print_text(findings, file);
    if (status != AB_CLI_OK) {
        return status;
    }
    return findings->mistakes + findings->warnings > 0 ? AB_CLI_FINDINGS : AB_CLI_OK;
}

/* Returns AB_CLI_OK, or AB_CLI_USAGE after a complaint. */
static int read_options(int argc, char **argv, lint_options_t *ret_options)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"print-docs", no_argument, NULL, 'd'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            ret_options->file = optarg;
            break;
        case 'j':
            ret_options->json = true;
            break;
        case 'd':
            ret_options->docs = true;
            break;
        default:
            return ab_cli_option_error(&ab_verb_lint, argv, option);
        }
    }
    if (optind < argc && ret_options->file == NULL) {
        ret_options->file = argv[optind++];
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_lint, "takes one file: '%s' is one more", argv[optind]);
    }
    if (ret_options->docs && (ret_options->json || ret_options->file != NULL)) {
        return ab_cli_usage_error(&ab_verb_lint, "--print-docs goes with nothing else");
    }
    return AB_CLI_OK;
}

static int lint_run(int argc, char **argv)
{
    lint_options_t options = {0};
    int status = read_options(argc, argv, &options);
    if (status != AB_CLI_OK) {
        return status;
    }
    if (options.docs) {
        ab_config_print_docs(stdout);
        return AB_CLI_OK;
    }
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    if (findings == NULL) {
        (void)fputs("agent-bridge lint: out of memory\n", stderr);
        return AB_CLI_FATAL;
    }
    status = lint_file(ab_config_path_view(options.file), options.json, findings);
    free(findings);
    return status;
}

const ab_verb_t ab_verb_lint = {
    .name = "lint",
    .summary = "check a configuration, without a broker",
    .help =
        "Usage: agent-bridge lint [--json] [[-c] FILE]\n"
        "       agent-bridge lint --print-docs\n"
        "Checks a configuration without connecting to anything and prints all that is wrong with\n"
        "it, a line each: FILE:LINE:COLUMN: error: KEY: what is wrong and what was expected. An\n"
        "error keeps 'agent-bridge run' from starting, a warning does not. Environment variables\n"
        "and files that the configuration refers to are read, so check where it will run; no\n"
        "value from them, nor any under kafka, consumer and producer, is printed.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --json          a JSON object a line: file, line, column, severity, key, message;\n"
        "                      line and column are left out where there is none\n"
        "      --print-docs    print docs/configuration.md, every key with its default and limits\n"
        "\n"
        "Exit codes: 0 nothing to complain about, 1 errors or warnings, 64 wrong usage, 66 the\n"
        "file cannot be read, 70 memory ran out, 74 standard output could not be written.\n",
    .run = lint_run,
};
