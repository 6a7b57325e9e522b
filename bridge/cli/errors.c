#include "bridge/cli/errors.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bridge/cli/select.h"

typedef int errors_fn(const ab_errors_t *errors, ab_letters_t *letters);

enum { JSON = 1, SINCE, UNTIL, REASON, SOURCE, KEY, FAIL, HEX, RAW, TIMEOUT };

static const struct option longs[] = {
    {"config", required_argument, NULL, 'c'},
    {"json", no_argument, NULL, JSON},
    {"since", required_argument, NULL, SINCE},
    {"until", required_argument, NULL, UNTIL},
    {"reason", required_argument, NULL, REASON},
    {"source", required_argument, NULL, SOURCE},
    {"key", required_argument, NULL, KEY},
    {"fail-if-open", no_argument, NULL, FAIL},
    {"hex", no_argument, NULL, HEX},
    {"raw", no_argument, NULL, RAW},
    {"timeout", required_argument, NULL, TIMEOUT},
    {NULL, 0, NULL, 0},
};

/** One option. Returns AB_CLI_OK or AB_CLI_USAGE. */
static int take_option(int option, char **argv, ab_errors_t *errors)
{
    switch (option) {
    case 'c':
        errors->file = optarg;
        return AB_CLI_OK;
    case JSON:
        errors->json = true;
        return AB_CLI_OK;
    case SINCE:
    case UNTIL:
        return ab_select_when(&ab_verb_errors, option == SINCE, optarg, &errors->range);
    case REASON:
        errors->reason = optarg;
        return AB_CLI_OK;
    case SOURCE:
        errors->source = optarg;
        return AB_CLI_OK;
    case KEY:
        errors->key = optarg;
        return AB_CLI_OK;
    case FAIL:
        errors->fail_if_open = true;
        return AB_CLI_OK;
    case HEX:
    case RAW:
        errors->original_as = option == HEX ? AB_ORIGINAL_HEX : AB_ORIGINAL_RAW;
        return AB_CLI_OK;
    case TIMEOUT:
        return ab_select_timeout(&ab_verb_errors, optarg, &errors->timeout_ms);
    default:
        return ab_cli_option_error(&ab_verb_errors, argv, option);
    }
}

static int read_options(int argc, char **argv, ab_errors_t *errors)
{
    int code = AB_CLI_OK;
    for (int option;
         code == AB_CLI_OK && (option = getopt_long(argc, argv, ":c:", longs, NULL)) != -1;) {
        code = take_option(option, argv, errors);
    }
    return code;
}

/* "list" filters, "show" shows one record; what is for the others is refused. */
static int check_words(const char *what, int argc, char **argv, ab_errors_t *errors)
{
    const bool shows = strcmp(what, "show") == 0;
    const bool lists = strcmp(what, "list") == 0;
    const bool filters = errors->reason != NULL || errors->source != NULL || errors->key != NULL;
    const bool ranges = errors->range.has_since || errors->range.has_until;
    if (filters && !lists) {
        return ab_cli_usage_error(&ab_verb_errors, "--reason, --source and --key are for 'list'");
    }
    if (errors->original_as != AB_ORIGINAL_JSON && !shows) {
        return ab_cli_usage_error(&ab_verb_errors, "--hex and --raw are for 'show'");
    }
    if (shows && (ranges || errors->fail_if_open)) {
        return ab_cli_usage_error(&ab_verb_errors, "'show' is about one record");
    }
    if (argc - optind != (shows ? 1 : 0)) {
        return ab_cli_usage_error(&ab_verb_errors,
                                  shows ? "'show' takes one topic:partition:offset"
                                        : "takes 'list', 'show RECORD' or nothing, not '%s'",
                                  argv[optind]);
    }
    return shows ? ab_select_record(&ab_verb_errors, argv[optind], &errors->at) : AB_CLI_OK;
}

static int look(const ab_errors_t *errors, const char *what, const ab_config_t *config)
{
    const ab_reader_options_t options = {.timeout_ms = errors->timeout_ms};
    char text[AB_READER_TEXT_MAX];
    ab_letters_t letters = {.config = config, .range = errors->range};
    int code;
    letters.reader = ab_reader_new(config, &options, text);
    if (letters.reader == NULL) {
        (void)fprintf(stderr, "agent-bridge errors: %s\n", text);
        return AB_CLI_FATAL;
    }
    if (strcmp(what, "show") == 0) {
        code = ab_errors_show(errors, config, letters.reader);
    } else {
        code = strcmp(what, "list") == 0 ? ab_errors_list(errors, &letters)
                                         : ab_errors_count(errors, &letters);
    }
    ab_reader_free(letters.reader);
    return code;
}

static int errors_run(int argc, char **argv)
{
    ab_errors_t errors = {.timeout_ms = AB_SELECT_TIMEOUT_MS};
    const char *what = "";
    if (argc > 1 && (strcmp(argv[1], "list") == 0 || strcmp(argv[1], "show") == 0)) {
        what = argv[1];
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    int code = read_options(argc, argv, &errors);
    if (code == AB_CLI_OK) {
        code = check_words(what, argc, argv, &errors);
    }
    if (code != AB_CLI_OK) {
        return code;
    }
    ab_config_t *config = ab_select_config(&ab_verb_errors, errors.file, &code);
    if (config != NULL) {
        code = look(&errors, what, config);
        ab_config_free(config);
    }
    return code;
}

const ab_verb_t ab_verb_errors = {
    .name = "errors",
    .summary = "count, list and show dead letters, and what has become of them",
    .help =
        "Usage: agent-bridge errors [-c FILE] [--since WHEN] [--until WHEN] [--json]\n"
        "                           [--fail-if-open]\n"
        "       agent-bridge errors list [-c FILE] [--since WHEN] [--until WHEN] [--reason R]\n"
        "                                [--source TOPIC] [--key KEY] [--json] [--fail-if-open]\n"
        "       agent-bridge errors show [-c FILE] [--hex|--raw] [--json] TOPIC:PARTITION:OFFSET\n"
        "Reads the errors topics of the configuration, and quarantine for what redrives have\n"
        "marked there. Alone it counts the letters by source and reason, with the oldest and the\n"
        "newest; 'list' prints a line for each; 'show' prints one, decoded, with its headers and\n"
        "the original record, from the source or from quarantine. Letters of other writers are\n"
        "shown with what they have. Joins no group and changes nothing.\n"
        "\n"
        "A letter is open, redriven, or unreplayable: its reason is one that no redrive can help\n"
        "(docs/reasons.md), another wrote it, or quarantine is off.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --since WHEN    letters written at WHEN or later: a duration, such as 30m, or a\n"
        "                      time, such as 2026-01-31T00:00:00Z; --until WHEN: before WHEN\n"
        "      --reason R, --source TOPIC, --key KEY   those alone\n"
        "      --fail-if-open  exit code 1 when a letter is open\n"
        "      --hex           the original's value in hex; --raw: its bytes and nothing else\n"
        "      --json          for machines; 'list': an object a line\n"
        "      --timeout D     how long a broker is waited for, 10s by default\n"
        "\n"
        "Exit codes: 0 printed, 1 with --fail-if-open: a letter is open, 64 wrong usage, 69 no\n"
        "broker answers, or topic or record are missing, 70 memory or the temporary file ran out,\n"
        "77 not allowed, 78 the configuration is wrong.\n",
    .run = errors_run,
};
