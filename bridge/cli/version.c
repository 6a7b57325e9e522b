#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/libraries.h"
#include "bridge/core/reason.h"
#include "bridge/http/metrics.h"
#include "bridge/http/report.h"

static void print_text(const ab_library_t *libraries, size_t count)
{
    (void)printf("agent-bridge %s", ab_program_version());
    if (ab_program_revision()[0] != '\0') {
        (void)printf(" (%s)", ab_program_revision());
    }
    (void)putchar('\n');
    for (size_t i = 0; i < count; i++) {
        (void)printf("  %-13s %s", libraries[i].name, libraries[i].running);
        if (strcmp(libraries[i].running, libraries[i].compiled) != 0) {
            (void)printf(" (compiled against %s)", libraries[i].compiled);
        }
        (void)putchar('\n');
    }
}

static int print_json(const ab_library_t *libraries, size_t count)
{
    const ab_http_facts_t facts = {.version = ab_program_version(),
                                   .revision = ab_program_revision(),
                                   .libraries = libraries,
                                   .library_count = count};

    if (ab_report_version(&facts, NULL, stdout) != 200) {
        (void)fputs("agent-bridge version: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    return AB_CLI_OK;
}

/** What is printed. */
typedef enum what { PRINT_TEXT, PRINT_JSON, PRINT_REASONS, PRINT_METRICS } what_t;

static int version_run(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, PRINT_JSON},
                                            {"print-metrics", no_argument, NULL, PRINT_METRICS},
                                            {"print-reasons", no_argument, NULL, PRINT_REASONS},
                                            {NULL, 0, NULL, 0}};
    ab_library_t libraries[AB_LIBRARIES_MAX];
    const size_t count = ab_libraries(libraries);
    what_t what = PRINT_TEXT;
    int option;

    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option != PRINT_JSON && option != PRINT_METRICS && option != PRINT_REASONS) {
            return ab_cli_option_error(&ab_verb_version, argv, option);
        }
        if (what != PRINT_TEXT && (int)what != option) {
            return ab_cli_usage_error(
                &ab_verb_version, "--json, --print-metrics and --print-reasons exclude each other");
        }
        what = (what_t)option;
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_version, "takes no argument: '%s'", argv[optind]);
    }
    switch (what) {
    case PRINT_JSON:
        return print_json(libraries, count);
    case PRINT_METRICS:
        ab_metrics_print_docs(stdout);
        break;
    case PRINT_REASONS:
        ab_reason_print_docs(stdout);
        break;
    case PRINT_TEXT:
        print_text(libraries, count);
        break;
    }
    return AB_CLI_OK;
}

const ab_verb_t ab_verb_version = {
    .name = "version",
    .summary = "say which version this is, and of which libraries",
    .help =
        "Usage: agent-bridge version [--json | --print-metrics | --print-reasons]\n"
        "Prints the version of agent-bridge, the commit it was built from where that is known,\n"
        "and the versions of the libraries it runs with; where a library was another one when\n"
        "agent-bridge was compiled, that version too.\n"
        "\n"
        "  --json            the same as a JSON object: version, commit, and libraries with\n"
        "                    compiled and running of each\n"
        "  --print-metrics   print docs/metrics.md: what /metrics serves\n"
        "  --print-reasons   print docs/reasons.md: the reasons of dead letters that this version\n"
        "                    can write\n"
        "\n"
        "Exit codes: 0 done, 64 wrong usage, 74 standard output could not be written.\n",
    .run = version_run,
};
