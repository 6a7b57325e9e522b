#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/demo_audit.h"
#include "bridge/cli/demo_page.h"
#include "bridge/cli/demo_plan.h"
#include "bridge/cli/log.h"
#include "bridge/config/config.h"
#include "bridge/kafka/embedded.h"
#include "bridge/kafka/properties.h"
#include "bridge/kafka/relay.h"

/* The whole demo ends within this, whatever hangs; its parts leave room for each other. */
#define DEMO_MAX_S    15
#define WRITE_MS      3000
#define RELAY_MS      9000
#define STOP_MS       2000
#define READ_MS       3000
#define LOOK_EVERY_MS 20
/* Where the stores of published state lie meanwhile. */
#define STATE_DIR P_tmpdir "/agent-bridge-demo-XXXXXX"

/* All that the demo holds; freed backwards. */
typedef struct demo {
    ab_demo_page_t page;
    ab_demo_plan_t *plan;
    ab_embedded_t *embedded;
    ab_client_t *client;
    ab_findings_t *findings;
    ab_config_t *config;
    char config_text[AB_DEMO_CONFIG_MAX];
    char state_dir[sizeof(STATE_DIR)]; /* empty: not made */
    ab_log_t *log;
    ab_sink_t sink;
    ab_relay_t *relay;
    ab_ledger_t ledger;
    ab_records_t *records[AB_DEMO_TOPIC_COUNT];
    ab_demo_topics_t topics;
    ab_demo_audit_t *audit;
} demo_t;

/* ---- when something hangs ---- */

static void on_alarm(int number)
{
    static const char text[] =
        "agent-bridge demo: not done after 15 seconds; the machine is very busy, or this is a bug: "
        "'agent-bridge demo -v' shows what the relay waits for\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(AB_CLI_FINDINGS);
}

/* ---- steps; each says on stderr why it failed and returns the exit code ---- */

static int fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "agent-bridge demo: %s: %s\n", what, why);
    return AB_CLI_FATAL;
}

static int start_broker(demo_t *demo)
{
    char text[AB_EMBEDDED_TEXT_MAX];
    demo->embedded = ab_embedded_new(1, text);
    if (demo->embedded == NULL) {
        return fail("no embedded broker", text);
    }
    for (int topic = 0; topic < AB_DEMO_TOPIC_COUNT; topic++) {
        if (ab_embedded_add_topic(demo->embedded, ab_demo_topic_name((ab_demo_topic_t)topic),
                                  ab_demo_topic_partitions((ab_demo_topic_t)topic), text) != 0) {
            return fail("no topics", text);
        }
    }
    return AB_CLI_OK;
}

static int make_config(demo_t *demo)
{
    static const char name[] = "the demo's configuration";
    memcpy(demo->state_dir, STATE_DIR, sizeof(STATE_DIR));
    if (mkdtemp(demo->state_dir) == NULL) {
        demo->state_dir[0] = '\0';
        return fail("no folder for published state in " P_tmpdir, strerror(errno));
    }
    const size_t size = ab_demo_config_text(ab_embedded_bootstrap_view(demo->embedded),
                                            demo->state_dir, demo->config_text);
    demo->findings = calloc(1, sizeof(*demo->findings));
    if (demo->findings == NULL) {
        return fail("no configuration", "memory ran out");
    }
    demo->config =
        ab_config_parse(name, demo->config_text, size, ab_kafka_check_properties, demo->findings);
    if (demo->config == NULL) {
        ab_findings_print(demo->findings, name, stderr);
        return fail("no configuration", "it has the mistakes above; this is a bug");
    }
    return AB_CLI_OK;
}

static int write_records(demo_t *demo)
{
    char text[AB_CLIENT_TEXT_MAX];
    size_t count, state_count;
    const ab_demo_record_t *planned = ab_demo_plan_view(demo->plan, &count);
    demo->client = ab_client_new(ab_embedded_bootstrap_view(demo->embedded), text);
    if (demo->client == NULL) {
        return fail("no client", text);
    }
    const ab_demo_state_t *states = ab_demo_plan_states_view(demo->plan, &state_count);
    for (size_t i = 0; i < state_count; i++) {
        if (ab_client_write(demo->client, &states[i].message) != 0) {
            return fail("the states cannot be written", ab_client_error_view(demo->client));
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (ab_client_write(demo->client, &planned[i].message) != 0) {
            return fail("the records cannot be written", ab_client_error_view(demo->client));
        }
    }
    /* The offsets too: the embedded broker keeps none that a relay commits, so the group's
     * beginning has to be there before. */
    if (ab_client_flush(demo->client, WRITE_MS) != 0 ||
        ab_client_commit(demo->client, AB_DEMO_GROUP, ab_demo_topic_name(AB_DEMO_SOURCE),
                         ab_demo_topic_partitions(AB_DEMO_SOURCE), 0) != 0) {
        return fail("the records cannot be written", ab_client_error_view(demo->client));
    }
    return AB_CLI_OK;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Lets the relay run until every record has its outcome, or the time is up: then the audit tells
 * what is missing. */
static int run_relay(demo_t *demo)
{
    const int64_t deadline = now_ms() + RELAY_MS;
    size_t count;
    int code = AB_EXIT_OK;
    bool ended = false;
    (void)ab_demo_plan_view(demo->plan, &count);
    demo->relay = ab_relay_new(demo->config, &demo->sink);
    if (demo->relay == NULL || ab_relay_start(demo->relay) != 0) {
        return fail("the relay does not start", "memory or threads ran out");
    }
    do {
        ended = ab_relay_wait(demo->relay, LOOK_EVERY_MS, &code);
        ab_relay_ledger(demo->relay, &demo->ledger);
    } while (!ended && demo->ledger.consumed < count && now_ms() < deadline);
    ab_relay_stop(demo->relay);
    if (!ab_relay_wait(demo->relay, STOP_MS, &code)) {
        return fail("the relay does not stop", "this is a bug; -v shows what it waits for");
    }
    if (code != AB_EXIT_OK) {
        (void)fprintf(stderr, "agent-bridge demo: the relay ended with %d; -v shows why\n", code);
    }
    ab_relay_ledger(demo->relay, &demo->ledger);
    return code == AB_EXIT_OK ? AB_CLI_OK : AB_CLI_FINDINGS;
}

static int read_back(demo_t *demo)
{
    for (int topic = 0; topic < AB_DEMO_TOPIC_COUNT; topic++) {
        if (ab_client_read(demo->client, ab_demo_topic_name((ab_demo_topic_t)topic), READ_MS,
                           &demo->records[topic]) != 0) {
            return fail("a topic cannot be read", ab_client_error_view(demo->client));
        }
        demo->topics.records[topic] =
            ab_records_view(demo->records[topic], &demo->topics.counts[topic]);
    }
    return AB_CLI_OK;
}

static int judge(demo_t *demo)
{
    demo->audit = ab_demo_audit_new(demo->plan, &demo->topics, &demo->ledger);
    if (demo->audit == NULL || ab_demo_page_results(&demo->page, demo->audit, &demo->ledger) != 0) {
        return fail("nothing can be compared", "memory ran out");
    }
    ab_demo_page_end(&demo->page, demo->audit);
    return demo->audit->differences == 0 ? AB_CLI_OK : AB_CLI_FINDINGS;
}

static int run_demo(demo_t *demo)
{
    size_t count;
    int code = start_broker(demo);
    if (code == AB_CLI_OK) {
        code = make_config(demo);
    }
    if (code == AB_CLI_OK) {
        (void)ab_demo_plan_view(demo->plan, &count);
        ab_demo_page_begin(&demo->page, demo->config_text, count);
        code = write_records(demo);
    }
    if (code == AB_CLI_OK) {
        code = run_relay(demo);
    }
    if (code == AB_CLI_OK) {
        code = read_back(demo);
    }
    return code == AB_CLI_OK ? judge(demo) : code;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

static void free_demo(demo_t *demo)
{
    ab_demo_audit_free(demo->audit);
    for (int topic = 0; topic < AB_DEMO_TOPIC_COUNT; topic++) {
        ab_records_free(demo->records[topic]);
    }
    ab_relay_free(demo->relay);
    ab_log_free(demo->log);
    ab_config_free(demo->config);
    free(demo->findings);
    ab_client_free(demo->client);
    ab_embedded_free(demo->embedded);
    ab_demo_plan_free(demo->plan);
    if (demo->state_dir[0] != '\0') {
        (void)nftw(demo->state_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

static int demo_run(int argc, char **argv)
{
    static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    ab_log_options_t log = {.fd = STDERR_FILENO, .format = AB_LOG_TEXT, .level = AB_LEVEL_ERROR};
    demo_t demo = {.page = ab_demo_page_of(stdout)};
    int option;
    int code;
    while ((option = getopt_long(argc, argv, ":v", options, NULL)) != -1) {
        if (option != 'v') {
            return ab_cli_option_error(&ab_verb_demo, argv, option);
        }
        log.level = AB_LEVEL_INFO;
    }
    if (optind < argc) {
        return ab_cli_usage_error(&ab_verb_demo, "takes no argument: '%s'", argv[optind]);
    }
    (void)signal(SIGALRM, on_alarm);
    (void)alarm(DEMO_MAX_S);
    demo.log = ab_log_new(&log);
    demo.plan = ab_demo_plan_new();
    if (demo.log == NULL || demo.plan == NULL) {
        code = fail("it cannot start", "memory ran out");
    } else {
        demo.sink = ab_log_sink(demo.log);
        code = run_demo(&demo);
    }
    free_demo(&demo);
    (void)alarm(0);
    return code;
}

const ab_verb_t ab_verb_demo = {
    .name = "demo",
    .summary = "show a relay at work on an embedded broker, within 15 seconds",
    .help =
        "Usage: agent-bridge demo [-v]\n"
        "Starts a broker in this process, writes a few hundred envelopes of every variant, some "
        "of\n"
        "them broken in every way there is, relays them with the real relay, which answers export\n"
        "requests from state that was published before, reads everything back and compares every\n"
        "byte. Prints what became of them: per outcome and reason the count "
        "and\n"
        "an example, and the ledger. Needs nothing, changes nothing, ends by itself.\n"
        "\n"
        "  -v, --verbose   the relay's log on stderr\n"
        "\n"
        "Colours on a terminal only, and not with NO_COLOR set. The records are the same on every\n"
        "run. The embedded broker is librdkafka's mock: it proves nothing about exactly-once.\n"
        "\n"
        "Exit codes: 0 the ledger balances and every byte arrived as sent, 1 something differs or\n"
        "15 seconds were not enough, 64 wrong usage, 70 memory, threads or sockets ran out.\n",
    .run = demo_run,
};
