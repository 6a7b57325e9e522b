#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/log.h"
#include "bridge/cli/serve.h"
#include "bridge/config/config.h"
#include "bridge/kafka/properties.h"

#define LEDGER_INTERVAL_MS 60000u

/** Loads the configuration, or says on stderr what is wrong with it and what to do. */
static ab_config_t *load_config(const char *path, ab_findings_t *findings)
{
    ab_config_t *config = ab_config_load(path, ab_kafka_check_properties, findings);

    if (config != NULL) {
        return config;
    }
    ab_findings_print(findings, path, stderr);
    if (findings->unreadable) {
        (void)fprintf(
            stderr, "agent-bridge run: no configuration, nothing was started. Name the file with "
                    "-c FILE or in $AGENT_BRIDGE_CONFIG; docs/configuration.md has an example.\n");
    } else {
        (void)fprintf(stderr,
                      "agent-bridge run: the configuration is refused, nothing was started. Mend "
                      "what is named above; 'agent-bridge lint -c %s' checks it again without a "
                      "broker.\n",
                      path);
    }
    return NULL;
}

/** Warnings do not keep the bridge from starting; they belong in the log. */
static void tell_warnings(const ab_findings_t *findings, const ab_config_t *config, ab_log_t *log)
{
    for (size_t i = 0; i < findings->count; i++) {
        const ab_finding_t *finding = &findings->items[i];
        const ab_field_t fields[] = {
            AB_TEXT("config", config->file),
            AB_NUMBER("line", finding->line),
            AB_TEXT("key", finding->key[0] != '\0' ? finding->key : NULL),
        };

        ab_log_emit(log, AB_LEVEL_WARNING, "config_warning", finding->message, fields,
                    sizeof(fields) / sizeof(fields[0]));
    }
}

static int run_config(const char *path, ab_findings_t *findings)
{
    ab_config_t *config = load_config(path, findings);
    ab_log_options_t options = {.fd = STDERR_FILENO};
    ab_log_t *log;
    int code;

    if (config == NULL) {
        return AB_CLI_CONFIG;
    }
    options.format = config->log_format;
    options.level = config->log_level;
    log = ab_log_new(&options);
    if (log == NULL) {
        (void)fputs("agent-bridge run: memory ran out while starting\n", stderr);
        ab_config_free(config);
        return AB_CLI_FATAL;
    }
    tell_warnings(findings, config, log);
    code = ab_serve(config, log, LEDGER_INTERVAL_MS);
    ab_log_free(log);
    ab_config_free(config);
    return code;
}

static int run_run(int argc, char **argv)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    const char *file = NULL;
    ab_findings_t *findings;
    int option;
    int code;

    while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
        if (option != 'c') {
            return ab_cli_option_error(&ab_verb_run, argv, option);
        }
        file = optarg;
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_run, "takes no argument: '%s'; -c FILE names the config",
                                  argv[optind]);
    }
    if (ab_serve_block_signals() != 0) {
        (void)fprintf(stderr, "agent-bridge run: signals cannot be blocked: %s\n", strerror(errno));
        return AB_CLI_FATAL;
    }
    findings = calloc(1, sizeof(*findings));
    if (findings == NULL) {
        (void)fputs("agent-bridge run: memory ran out while starting\n", stderr);
        return AB_CLI_FATAL;
    }
    code = run_config(ab_config_path_view(file), findings);
    free(findings);
    return code;
}

const ab_verb_t ab_verb_run = {
    .name = "run",
    .summary = "relay the sources of a configuration until stopped",
    .help =
        "Usage: agent-bridge run [-c FILE]\n"
        "Relays every source of the configuration: each variant to its topic, what cannot be\n"
        "vouched for to the source's error topic and quarantine, in one transaction with the\n"
        "consumer's offsets; with delivery.guarantee: at_least_once without transactions. Logs "
        "one\n"
        "line per event on stderr. docs/configuration.md describes the configuration,\n"
        "docs/reasons.md the reasons of dead letters.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "\n"
        "Signals: SIGTERM and SIGINT finish the transaction in hand and exit; a second one exits "
        "at\n"
        "once. SIGHUP rereads nothing in this version and is logged.\n"
        "\n"
        "Exit codes: 0 stopped and everything committed, 64 wrong usage, 69 a topic is missing\n"
        "(brokers that do not answer are waited for), 70 fatal, or a dead letter was refused and\n"
        "errors.on_failure is stop, 75 stopped before the transaction in hand was\n"
        "committed (nothing is lost; start again), 76 another process uses the same instance, 77 "
        "not\n"
        "allowed by the brokers, 78 the configuration is wrong.\n",
    .run = run_run,
};
