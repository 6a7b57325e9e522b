#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/redrive_print.h"
#include "bridge/cli/select.h"
#include "bridge/core/reason.h"
#include "bridge/core/text.h"
#include "bridge/kafka/relay.h"

/** Most of --rate and --max. */
#define NUMBER_LIMIT INT64_C(1000000000000)

typedef struct redrive_options {
    const char *file;
    const char *resume;
    uint64_t rate;
    int timeout_ms;
    bool json, yes, dry_run;
    bool conditions; /* anything was said that --resume remembers */
    ab_job_t job;
} redrive_options_t;

static atomic_bool stop_asked;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop_asked, true);
}

/* ---- the command line ---- */

static bool is_reason(const char *code)
{
    for (int i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        if (strcmp(ab_reason_code((ab_reason_t)i), code) == 0) {
            return true;
        }
    }
    return false;
}

static int add_reason(redrive_options_t *options, const char *code)
{
    if (!is_reason(code)) {
        return ab_cli_usage_error(&ab_verb_redrive, "'%s' is no reason; docs/reasons.md lists them",
                                  code);
    }
    return ab_selection_add_reason(&options->job.selection, code)
               ? AB_CLI_OK
               : ab_cli_usage_error(&ab_verb_redrive, "too many reasons");
}

static int add_record(redrive_options_t *options, const char *text)
{
    ab_coordinates_t place;

    if (ab_select_record(&ab_verb_redrive, text, &place) != AB_CLI_OK) {
        return AB_CLI_USAGE;
    }
    return ab_selection_add_record(&options->job.selection, &place)
               ? AB_CLI_OK
               : ab_cli_usage_error(&ab_verb_redrive, "at most %u records can be named",
                                    AB_SELECTION_ITEMS_MAX);
}

static int set_to(redrive_options_t *options, const char *word)
{
    ab_job_t *job = &options->job;

    job->topic[0] = '\0';
    if (strcmp(word, "source") == 0) {
        job->to = AB_REDRIVE_TO_SOURCE;
    } else if (strcmp(word, "route") == 0) {
        job->to = AB_REDRIVE_TO_ROUTE;
    } else if (word[0] == '\0' || strlen(word) > AB_TOPIC_MAX) {
        return ab_cli_usage_error(
            &ab_verb_redrive, "--to takes source, route or the name of a topic: found '%s'", word);
    } else {
        job->to = AB_REDRIVE_TO_TOPIC;
        memcpy(job->topic, word, strlen(word) + 1);
    }
    return AB_CLI_OK;
}

static int set_number(const char *name, const char *text, uint64_t *ret_number)
{
    int64_t number;

    if (!ab_text_number(aw_span_text_view(text), NUMBER_LIMIT, &number) || number == 0) {
        return ab_cli_usage_error(&ab_verb_redrive, "%s takes a number from 1 on: found '%s'", name,
                                  text);
    }
    *ret_number = (uint64_t)number;
    return AB_CLI_OK;
}

static int set_when(redrive_options_t *options, bool is_since, const char *text)
{
    ab_read_range_t range = {0};

    if (ab_select_when(&ab_verb_redrive, is_since, text, &range) != AB_CLI_OK) {
        return AB_CLI_USAGE;
    }
    if (is_since) {
        options->job.selection.since_ms = range.since_ms;
    } else {
        options->job.selection.until_ms = range.until_ms;
    }
    return AB_CLI_OK;
}

static int set_resume(redrive_options_t *options, const char *job)
{
    if (!ab_job_id_valid(aw_span_text_view(job))) {
        return ab_cli_usage_error(&ab_verb_redrive, "'%s' is no job id", job);
    }
    options->resume = job;
    return AB_CLI_OK;
}

/** The options that say what the job is to do. */
static int take_condition(int option, redrive_options_t *options)
{
    options->conditions = true;
    switch (option) {
    case 'r':
        return add_reason(options, optarg);
    case 'S':
        return ab_selection_add_source(&options->job.selection, optarg)
                   ? AB_CLI_OK
                   : ab_cli_usage_error(&ab_verb_redrive, "too many sources");
    case 'R':
        return add_record(options, optarg);
    case 'k':
        return ab_selection_set_key(&options->job.selection, aw_span_text_view(optarg))
                   ? AB_CLI_OK
                   : ab_cli_usage_error(&ab_verb_redrive, "the key is too long");
    case 's':
    case 'u':
        return set_when(options, option == 's', optarg);
    case 'o':
        return set_to(options, optarg);
    case 'f':
        options->job.force = true;
        return AB_CLI_OK;
    case 'a':
        options->job.again = true;
        return AB_CLI_OK;
    case 'm':
        return set_number("--max", optarg, &options->job.max);
    default:
        return AB_CLI_FATAL; /* the table and this list differ */
    }
}

/** The options that say how it is done. */
static int take_option(int option, char **argv, redrive_options_t *options)
{
    switch (option) {
    case 'c':
        options->file = optarg;
        return AB_CLI_OK;
    case 'J':
        return set_resume(options, optarg);
    case 'p':
        return set_number("--rate", optarg, &options->rate);
    case 't':
        return ab_select_timeout(&ab_verb_redrive, optarg, &options->timeout_ms);
    case 'j':
        options->json = true;
        return AB_CLI_OK;
    case 'y':
        options->yes = true;
        return AB_CLI_OK;
    case 'd':
        options->dry_run = true;
        return AB_CLI_OK;
    case ':':
    case '?':
        return ab_cli_option_error(&ab_verb_redrive, argv, option);
    default:
        return take_condition(option, options);
    }
}

static int read_options(int argc, char **argv, redrive_options_t *options)
{
    static const struct option list[] = {
        {"config", required_argument, NULL, 'c'},  {"reason", required_argument, NULL, 'r'},
        {"source", required_argument, NULL, 'S'},  {"record", required_argument, NULL, 'R'},
        {"key", required_argument, NULL, 'k'},     {"since", required_argument, NULL, 's'},
        {"until", required_argument, NULL, 'u'},   {"to", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},         {"again", no_argument, NULL, 'a'},
        {"max", required_argument, NULL, 'm'},     {"rate", required_argument, NULL, 'p'},
        {"resume", required_argument, NULL, 'J'},  {"dry-run", no_argument, NULL, 'd'},
        {"yes", no_argument, NULL, 'y'},           {"json", no_argument, NULL, 'j'},
        {"timeout", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
    char text[AB_JOB_TEXT_MAX];
    int option;

    ab_selection_init(&options->job.selection);
    options->timeout_ms = AB_SELECT_TIMEOUT_MS;
    while ((option = getopt_long(argc, argv, ":c:", list, NULL)) != -1) {
        int code = take_option(option, argv, options);

        if (code != AB_CLI_OK) {
            return code;
        }
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_redrive, "takes no argument: '%s'", argv[optind]);
    }
    if (ab_job_text(&options->job, text) == 0) {
        return ab_cli_usage_error(&ab_verb_redrive,
                                  "the conditions are too long to be remembered with the job; "
                                  "name fewer records, or a shorter key");
    }
    if (options->resume != NULL && options->conditions) {
        return ab_cli_usage_error(&ab_verb_redrive,
                                  "--resume goes on with what the job was begun with; a "
                                  "condition, --to, --force, --again or --max needs a new job");
    }
    if (!options->yes && !options->dry_run && !isatty(STDIN_FILENO)) {
        return ab_cli_usage_error(&ab_verb_redrive,
                                  "there is no terminal to ask at: --dry-run shows what would be "
                                  "written, --yes writes it");
    }
    return AB_CLI_OK;
}

/** A source that is named has to be one, some source has to have a quarantine, and what is written
 *  must not look like a dead letter. */
static int check_topics(const ab_config_t *config, const ab_job_t *job)
{
    const ab_selection_t *selection = &job->selection;
    size_t kept = 0;

    for (size_t i = 0; i < selection->source_count; i++) {
        bool found = false;

        for (size_t s = 0; s < config->source_count && !found; s++) {
            found = strcmp(config->sources[s].policy.topic, selection->sources[i]) == 0;
        }
        if (!found) {
            return ab_cli_usage_error(&ab_verb_redrive, "%s is no source of this configuration",
                                      selection->sources[i]);
        }
    }
    for (size_t s = 0; s < config->source_count; s++) {
        const ab_policy_t *policy = &config->sources[s].policy;

        kept += policy->quarantine_topic != NULL;
        if (strcmp(job->topic, policy->errors_topic) == 0 ||
            (policy->quarantine_topic != NULL &&
             strcmp(job->topic, policy->quarantine_topic) == 0)) {
            return ab_cli_usage_error(&ab_verb_redrive, "%s is a topic of dead letters",
                                      job->topic);
        }
    }
    if (kept == 0) {
        (void)fputs("agent-bridge redrive: errors.quarantine is off, so that there is nothing to "
                    "redrive from; the originals are in the sources alone\n",
                    stderr);
        return AB_CLI_CONFIG;
    }
    return AB_CLI_OK;
}

/* ---- asking ---- */

typedef struct names {
    FILE *out;
    unsigned count;
} names_t;

static void print_group(void *opaque, const char *group)
{
    names_t *names = opaque;

    (void)fprintf(names->out, "%s%s", names->count++ > 0 ? ", " : "", group);
}

/** Who else gets what is about to be written. */
static void print_readers(ab_redrive_t *redrive, FILE *out)
{
    const ab_redrive_report_t *report = ab_redrive_report_view(redrive);
    const char *const *targets;
    size_t count = ab_redrive_targets(redrive, &targets);

    for (size_t i = 0; i < count; i++) {
        names_t names = {out, 0};
        bool used = false;

        for (size_t r = 0; r < report->count; r++) {
            used |=
                strcmp(report->counts[r].topic, targets[i]) == 0 && report->counts[r].records > 0;
        }
        if (!used) {
            continue;
        }
        (void)fprintf(out, "other consumer groups of %s: ", targets[i]);
        if (ab_redrive_groups(redrive, targets[i], print_group, &names) != 0) {
            (void)fprintf(out, "%snot known (%s)", names.count > 0 ? ", the rest " : "",
                          ab_redrive_text_view(redrive));
        } else if (names.count == 0) {
            (void)fputs("none", out);
        }
        (void)fputc('\n', out);
    }
}

static bool ask(ab_redrive_t *redrive)
{
    const ab_redrive_report_t *report = ab_redrive_report_view(redrive);
    char answer[16];

    print_readers(redrive, stderr);
    (void)fputs("Those groups get these records too, and what they made of them before comes "
                "again. The\norder of a key holds among these records; newer records of the key "
                "went before them.\n",
                stderr);
    (void)fprintf(stderr, "Write %llu records? [y/N] ", (unsigned long long)report->written);
    (void)fflush(stderr);
    return fgets(answer, sizeof(answer), stdin) != NULL &&
           (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

/* ---- doing ---- */

static int complain(ab_redrive_printer_t *printer, const ab_redrive_t *redrive, int code)
{
    const ab_redrive_report_t *report = ab_redrive_report_view(redrive);

    ab_redrive_print_clear(printer);
    (void)fprintf(stderr, "agent-bridge redrive: %s\n", ab_redrive_text_view(redrive));
    if (printer->begun && !report->complete) {
        (void)fprintf(stderr,
                      "agent-bridge redrive: what was written is marked; 'agent-bridge redrive "
                      "--resume %s' goes on\n",
                      report->job);
    }
    return code;
}

static int finish(ab_redrive_printer_t *printer, const ab_redrive_t *redrive, int code)
{
    const ab_redrive_report_t *report = ab_redrive_report_view(redrive);

    if (code == AB_CLI_OK && report->left > 0) {
        code = AB_CLI_FINDINGS;
    }
    if (!printer->json) {
        ab_redrive_print_counts(printer, report, stdout);
    }
    if (ab_redrive_print_end(printer, report, code, stdout) != 0) {
        (void)fputs("agent-bridge redrive: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    return code;
}

static int survey(ab_redrive_t *redrive, const redrive_options_t *options,
                  ab_redrive_printer_t *printer, bool *ret_go_on)
{
    int code;

    *ret_go_on = false;
    printer->dry_run = true;
    printer->quiet = !options->dry_run;
    code = ab_redrive_survey(redrive);
    ab_redrive_print_clear(printer);
    if (code != AB_CLI_OK) {
        return complain(printer, redrive, code);
    }
    if (options->dry_run) {
        if (!options->json) {
            print_readers(redrive, stdout);
        }
        return finish(printer, redrive, code);
    }
    ab_redrive_print_counts(printer, ab_redrive_report_view(redrive), stderr);
    if (ab_redrive_report_view(redrive)->written == 0) {
        return finish(printer, redrive, code);
    }
    if (!ask(redrive)) {
        (void)fputs("nothing was written\n", stderr);
        return AB_CLI_OK;
    }
    printer->dry_run = false;
    printer->quiet = false;
    *ret_go_on = true;
    return AB_CLI_OK;
}

static int do_job(ab_redrive_t *redrive, const redrive_options_t *options,
                  ab_redrive_printer_t *printer)
{
    bool go_on = true;
    int code = AB_CLI_OK;

    if (options->dry_run || !options->yes) {
        code = survey(redrive, options, printer, &go_on);
    }
    if (!go_on) {
        return code;
    }
    code = ab_redrive_run(redrive);
    if (code != AB_CLI_OK) {
        complain(printer, redrive, code);
        return printer->begun ? finish(printer, redrive, code) : code;
    }
    return finish(printer, redrive, code);
}

static int redrive_config(const ab_config_t *config, const redrive_options_t *options)
{
    const ab_log_options_t log_options = {
        .fd = STDERR_FILENO, .format = config->log_format, .level = config->log_level};
    ab_redrive_printer_t printer = {.json = options->json, .bar = isatty(STDERR_FILENO)};
    ab_log_t *log = ab_log_new(&log_options);
    char text[AB_REDRIVE_TEXT_MAX];
    ab_redrive_t *redrive;
    ab_sink_t sink;
    int code;

    if (log == NULL) {
        (void)fputs("agent-bridge redrive: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    sink = ab_log_sink(log);
    printer.log = printer.bar ? NULL : log;
    const ab_redrive_setup_t setup = {.config = config,
                                      .job = &options->job,
                                      .resume = options->resume,
                                      .rate = options->rate,
                                      .timeout_ms = options->timeout_ms,
                                      .stop = &stop_asked,
                                      .sink = &sink,
                                      .on_left = ab_redrive_print_left,
                                      .on_progress = ab_redrive_print_progress,
                                      .opaque = &printer};
    redrive = ab_redrive_new(&setup, text);
    if (redrive == NULL) {
        (void)fprintf(stderr, "agent-bridge redrive: %s\n", text);
        code = AB_CLI_CONFIG;
    } else {
        code = do_job(redrive, options, &printer);
    }
    ab_redrive_free(redrive);
    ab_log_free(log);
    return code;
}

static int redrive_run(int argc, char **argv)
{
    redrive_options_t *options = calloc(1, sizeof(*options));
    const struct sigaction action = {.sa_handler = on_signal};
    ab_config_t *config = NULL;
    int code;

    if (options == NULL) {
        (void)fputs("agent-bridge redrive: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    code = read_options(argc, argv, options);
    if (code == AB_CLI_OK) {
        config = ab_select_config(&ab_verb_redrive, options->file, &code);
    }
    if (config != NULL) {
        code = check_topics(config, &options->job);
    }
    if (config != NULL && code == AB_CLI_OK) {
        (void)sigaction(SIGINT, &action, NULL);
        (void)sigaction(SIGTERM, &action, NULL);
        code = redrive_config(config, options);
    }
    ab_config_free(config);
    free(options);
    return code;
}

const ab_verb_t ab_verb_redrive = {
    .name = "redrive",
    .summary = "write quarantined records again that pass now",
    .help =
        "Usage: agent-bridge redrive [-c FILE] [CONDITION]... [--to source|route|TOPIC]\n"
        "                            [--dry-run | --yes] [--force] [--again] [--rate N] [--max N]\n"
        "                            [--json] [--timeout D]\n"
        "       agent-bridge redrive [-c FILE] --resume JOB [--dry-run | --yes] [--rate N] ...\n"
        "Reads quarantine, judges each selected record with the present configuration, and writes\n"
        "those that pass, as they were but for a header that counts redrives. The rest stays and\n"
        "is named. Records, progress and a marker for each record commit in one transaction, so\n"
        "that a job killed at any point can be resumed and no record is written twice. Shows what\n"
        "it would do and asks, unless --yes. docs/redrive.md tells more.\n"
        "\n"
        "Conditions; a record has to fit every kind that is given, and one of each kind:\n"
        "      --reason CODE     why it became a dead letter\n"
        "      --source TOPIC    where it came from\n"
        "      --record T:P:O    its place, in quarantine or in the source\n"
        "      --key KEY         the record's key, or the entity's\n"
        "      --since WHEN      dead-lettered at that time or later\n"
        "      --until WHEN      dead-lettered before that time\n"
        "WHEN is " AB_WHEN_FORMS ".\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --to WHERE      source (default): the topic it came from, so that the bridge and\n"
        "                      every other reader get it again; route: straight to the topic of "
        "its\n"
        "                      route; or the name of a topic\n"
        "      --dry-run       only count, by reason and target\n"
        "      --yes           do not ask\n"
        "      --force         write also what does not pass (a route needs a verdict that "
        "routes)\n"
        "      --again         write also what was redriven before\n"
        "      --rate N        at most N records a second\n"
        "      --max N         at most N records in all\n"
        "      --resume JOB    go on with a job that ended early\n"
        "      --json          an object for each record that stays, one at the end\n"
        "      --timeout D     how long a broker is waited for, 10s by default\n"
        "\n"
        "Exit codes: 0 everything selected was written, 1 records stay, 64 wrong usage, 65 no "
        "such\n"
        "job, 69 no broker answers or a topic is missing, 70 fatal, 75 stopped (resume it), 76\n"
        "another redrive of the group took over (resume it), 77 not allowed, 78 the configuration\n"
        "is wrong.\n",
    .run = redrive_run,
};
