#include <getopt.h>
#include <stdio.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/select.h"
#include "bridge/cli/verify_print.h"
#include "bridge/cli/verify_run.h"

/* Faults that are printed for people; --json prints all. */
#define FAULTS_SHOWN 100u

typedef struct options {
    const char *file;
    bool json;
    ab_read_range_t range;
    int timeout_ms;
} options_t;

/* What the printing of faults remembers. */
typedef struct printer {
    bool json;
    uint64_t told;
    bool failed; /* memory */
} printer_t;

/** AB_CLI_OK, or AB_CLI_USAGE after a complaint. */
static int read_options(int argc, char **argv, options_t *ret_options)
{
    static const struct option longs[] = {{"config", required_argument, NULL, 'c'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"since", required_argument, NULL, 's'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
    int code = AB_CLI_OK;
    for (int option;
         code == AB_CLI_OK && (option = getopt_long(argc, argv, ":c:", longs, NULL)) != -1;) {
        switch (option) {
        case 'c':
            ret_options->file = optarg;
            break;
        case 'j':
            ret_options->json = true;
            break;
        case 's':
            code = ab_select_when(&ab_verb_verify, true, optarg, &ret_options->range);
            break;
        case 't':
            code = ab_select_timeout(&ab_verb_verify, optarg, &ret_options->timeout_ms);
            break;
        default:
            return ab_cli_option_error(&ab_verb_verify, argv, option);
        }
    }
    if (code == AB_CLI_OK && optind < argc) {
        return ab_cli_usage_error(
            &ab_verb_verify, "takes no argument: '%s'; -c FILE names the config", argv[optind]);
    }
    return code;
}

static void on_fault(ab_verify_t *verify, const ab_fault_t *fault)
{
    printer_t *printer = verify->opaque;
    printer->told++;
    if (printer->json) {
        printer->failed |= ab_verify_print_fault_json(verify, fault, stdout) != 0;
    } else if (printer->told <= FAULTS_SHOWN) {
        ab_verify_print_fault(verify, fault, stdout);
    }
}

static int print_result(const ab_verify_t *verify, const printer_t *printer)
{
    char fingerprint[AW_SHA256_HEX_SIZE];
    const int code =
        ab_verify_faults(&verify->report) > 0 || !ab_verify_balanced(&verify->report.total)
            ? AB_CLI_FINDINGS
            : AB_CLI_OK;
    bool failed = printer->failed || ab_config_fingerprint(verify->config, fingerprint) != 0;
    if (!failed && printer->json) {
        failed = ab_verify_print_json(verify, fingerprint, code, stdout) != 0;
    } else if (!failed) {
        if (printer->told > FAULTS_SHOWN) {
            (void)printf("and %llu more; --json names all of them\n",
                         (unsigned long long)(printer->told - FAULTS_SHOWN));
        }
        ab_verify_print(verify, fingerprint, stdout);
    }
    if (failed) {
        (void)fputs("agent-bridge verify: memory ran out; the list is not complete\n", stderr);
        return AB_CLI_FATAL;
    }
    return code;
}

static int verify_run(int argc, char **argv)
{
    options_t options = {.timeout_ms = AB_SELECT_TIMEOUT_MS};
    int code = read_options(argc, argv, &options);
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_config_t *config = ab_select_config(&ab_verb_verify, options.file, &code);
    if (config == NULL) {
        return code;
    }
    printer_t printer = {.json = options.json};
    ab_verify_t verify = {.config = config, .on_fault = on_fault, .opaque = &printer};
    const ab_verify_options_t wanted = {.has_since = options.range.has_since,
                                        .since_ms = options.range.since_ms,
                                        .timeout_ms = options.timeout_ms};
    code = ab_verify_run(&verify, &wanted);
    if (code == AB_CLI_OK) {
        code = print_result(&verify, &printer);
    } else {
        (void)fprintf(stderr, "agent-bridge verify: %s\n", verify.text);
    }
    ab_verify_clear(&verify);
    ab_config_free(config);
    return code;
}

const ab_verb_t ab_verb_verify = {
    .name = "verify",
    .summary = "prove that each source record has its outcome once, unaltered, in order",
    .help =
        "Usage: agent-bridge verify [-c FILE] [--since WHEN] [--json] [--timeout D]\n"
        "Reads the sources and all outputs as a read_committed reader does, works out the verdict\n"
        "of every source record again, and names each record that is missing, there twice,\n"
        "altered, out of its key's order, or where it does not belong. Only records up to the\n"
        "offsets that the group had committed when it began are expected. Joins no group, changes\n"
        "nothing, and may run beside running bridges. Needs the configuration that they ran with.\n"
        "docs/guarantees.md says what it looks at and what it cannot see.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --since WHEN    only source records with a timestamp not before WHEN: a duration,\n"
        "                      such as 30m, or a time, such as 2026-01-31T00:00:00Z\n"
        "      --json          one JSON object a line: each fault, and last {\"summary\":...}\n"
        "      --timeout D     how long a broker is waited for, 10s by default\n"
        "\n"
        "What does not fit into memory.per_lane is sorted in a temporary file in $TMPDIR, or "
        "/tmp:\n"
        "about 80 bytes for each output record, 32 GiB at most.\n"
        "\n"
        "Exit codes: 0 everything is as it has to be, 1 faults, 64 wrong usage, 69 no broker\n"
        "answers or a topic is missing, 70 memory or the temporary file ran out, 75 a transaction\n"
        "stays open, 77 not allowed, 78 the configuration is wrong.\n",
    .run = verify_run,
};
