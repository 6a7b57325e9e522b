#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "bridge/cli/check_print.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/select.h"
#include "bridge/kafka/relay.h"

typedef struct check_options {
    const char *file;
    bool json;
    int timeout_ms;
} check_options_t;

static int exit_code_of(const ab_check_report_t *report)
{
    if (report->outcome == AB_CHECK_UNREACHABLE) {
        return AB_EXIT_UNAVAILABLE;
    }
    if (report->outcome == AB_CHECK_REFUSED) {
        return AB_EXIT_NOT_ALLOWED;
    }
    if (report->counts[AB_CHECK_WARNING] + report->counts[AB_CHECK_ERROR] > 0) {
        return AB_CLI_FINDINGS;
    }
    return AB_CLI_OK;
}

static int check_config(const ab_config_t *config, const check_options_t *options)
{
    ab_check_report_t *report = ab_check_run(config, options->timeout_ms);
    int code = AB_CLI_FATAL;

    if (report == NULL || report->incomplete) {
        (void)fputs("agent-bridge check: memory or threads ran out; nothing is printed, since rows "
                    "would be missing\n",
                    stderr);
    } else {
        code = exit_code_of(report);
        if (!options->json) {
            ab_check_print_table(report, stdout);
        } else if (ab_check_print_json(report, config->file, code, stdout) != 0) {
            (void)fputs("agent-bridge check: memory ran out\n", stderr);
            code = AB_CLI_FATAL;
        }
    }
    ab_check_free(report);
    return code;
}

/** AB_CLI_OK, or AB_CLI_USAGE after a complaint. */
static int read_options(int argc, char **argv, check_options_t *ret_options)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
        if (option == 'c') {
            ret_options->file = optarg;
        } else if (option == 'j') {
            ret_options->json = true;
        } else if (option != 't') {
            return ab_cli_option_error(&ab_verb_check, argv, option);
        } else if (ab_select_timeout(&ab_verb_check, optarg, &ret_options->timeout_ms) != 0) {
            return AB_CLI_USAGE;
        }
    }
    if (optind < argc) {
        return ab_cli_usage_error(
            &ab_verb_check, "takes no argument: '%s'; -c FILE names the config", argv[optind]);
    }
    return AB_CLI_OK;
}

static int check_run(int argc, char **argv)
{
    check_options_t options = {.timeout_ms = AB_SELECT_TIMEOUT_MS};
    int code = read_options(argc, argv, &options);
    ab_config_t *config;

    if (code != AB_CLI_OK) {
        return code;
    }
    config = ab_select_config(&ab_verb_check, options.file, &code);
    if (config != NULL) {
        code = check_config(config, &options);
    }
    ab_config_free(config);
    return code;
}

const ab_verb_t ab_verb_check = {
    .name = "check",
    .summary = "hold brokers, topics and ACLs against a configuration",
    .help =
        "Usage: agent-bridge check [-c FILE] [--json] [--timeout D]\n"
        "Connects as 'run' would and looks at what it needs: brokers, topics, partitions, sizes,\n"
        "timestamps, retention, replicas and the rights to use them. A line for each thing looked\n"
        "at and each finding, with what follows from it and what to do: ok, unknown (it could not\n"
        "be looked at and the relay does not need it to be), warning, error. It changes nothing\n"
        "and joins no group, so that it may be run beside a running bridge. docs/check.md\n"
        "says what is checked, and lists the ACLs.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --json          one JSON object instead of the table\n"
        "      --timeout D     how long a broker is waited for, 10s by default\n"
        "\n"
        "Exit codes: 0 nothing to complain about, 1 findings, 64 wrong usage, 69 no broker\n"
        "answers, 70 memory or threads ran out, 77 the login or a certificate is refused, 78 the\n"
        "configuration is wrong.\n",
    .run = check_run,
};
