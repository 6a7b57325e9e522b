#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bridge/cli/cli.h"
#include "bridge/config/config.h"
#include "bridge/core/text.h"
#include "bridge/http/client.h"
#include "bridge/http/listen.h"

/** How long a process may take to answer. It answers in a millisecond, or something is wrong. */
#define HEALTH_TIMEOUT_MS 3000
/** Longest reason that is printed, bytes with the NUL. */
#define REASON_MAX 256

/** Where to ask. */
static bool find_listen(const char *path, ab_listen_t *ret_listen, int *ret_code)
{
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    ab_config_t *config;

    if (findings == NULL) {
        (void)fputs("agent-bridge health: memory ran out\n", stderr);
        *ret_code = AB_CLI_FATAL;
        return false;
    }
    config = ab_config_load(path, NULL, findings);
    if (config == NULL) {
        ab_findings_print(findings, path, stderr);
        *ret_code = AB_CLI_CONFIG;
    } else if (config->http_listen.off) {
        (void)fprintf(
            stderr, "agent-bridge health: http.listen is off in %s: nothing can be asked\n", path);
        *ret_code = AB_CLI_CONFIG;
    } else {
        *ret_listen = config->http_listen;
        *ret_code = AB_CLI_OK;
    }
    ab_config_free(config);
    free(findings);
    return *ret_code == AB_CLI_OK;
}

/** The reason in the answer, fit for a terminal, whoever wrote it. */
static void read_reason(const json_t *answer, char ret_reason[REASON_MAX])
{
    const json_t *reason = json_object_get(answer, "reason");

    if (!json_is_string(reason)) {
        ret_reason[0] = '\0';
        return;
    }
    (void)ab_text_clean(aw_span_view(json_string_value(reason), json_string_length(reason)),
                        ret_reason, REASON_MAX);
}

/** Prints what the answer says. False when it is none of agent-bridge's. */
static bool tell(const ab_http_reply_t *reply, bool live, int *ret_code)
{
    json_t *answer = json_loadb(reply->body, reply->size, 0, NULL);
    const json_t *good = json_object_get(answer, live ? "live" : "ready");
    const bool ours = json_is_boolean(good) && (reply->status == 200 || reply->status == 503) &&
                      json_is_true(good) == (reply->status == 200);
    char reason[REASON_MAX];

    if (ours && live) {
        (void)printf("%s\n",
                     json_is_true(good) ? "live" : "not live: the loop of a lane stands still");
    } else if (ours) {
        read_reason(answer, reason);
        (void)printf("%s%s\n", json_is_true(good) ? "" : "not ready: ", reason);
    }
    *ret_code = ours && json_is_true(good) ? AB_CLI_OK : AB_CLI_FINDINGS;
    json_decref(answer);
    return ours;
}

static int ask(const ab_listen_t *listen, bool live)
{
    ab_http_reply_t *reply = calloc(1, sizeof(*reply));
    char complaint[AB_HTTP_COMPLAINT_MAX];
    char address[AB_HTTP_ADDRESS_MAX];
    int code = AB_CLI_UNAVAILABLE;

    (void)ab_http_address_text(listen->host, listen->port, address);
    if (reply == NULL) {
        (void)fputs("agent-bridge health: memory ran out\n", stderr);
        return AB_CLI_FATAL;
    }
    if (!ab_http_get(listen->host, listen->port, live ? "/livez" : "/readyz", HEALTH_TIMEOUT_MS,
                     reply, complaint)) {
        (void)fprintf(stderr,
                      "agent-bridge health: no answer from %s: %s; is 'agent-bridge run' up, with "
                      "this configuration?\n",
                      address, complaint);
    } else if (!tell(reply, live, &code)) {
        (void)fprintf(
            stderr,
            "agent-bridge health: what answers at %s (HTTP status %u) is no agent-bridge; "
            "look for another process on that port\n",
            address, reply->status);
        code = AB_CLI_UNAVAILABLE;
    }
    free(reply);
    return code;
}

static int health_run(int argc, char **argv)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"live", no_argument, NULL, 'l'},
                                            {NULL, 0, NULL, 0}};
    const char *file = NULL;
    bool live = false;
    ab_listen_t listen;
    int option;
    int code;

    while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
        if (option == 'c') {
            file = optarg;
        } else if (option == 'l') {
            live = true;
        } else {
            return ab_cli_option_error(&ab_verb_health, argv, option);
        }
    }
    if (optind < argc) {
        return ab_cli_usage_error(
            &ab_verb_health, "takes no argument: '%s'; -c FILE names the config", argv[optind]);
    }
    return find_listen(ab_config_path_view(file), &listen, &code) ? ask(&listen, live) : code;
}

const ab_verb_t ab_verb_health = {
    .name = "health",
    .summary = "ask a running bridge whether it is ready",
    .help =
        "Usage: agent-bridge health [-c FILE] [--live]\n"
        "Asks the bridge that runs with this configuration, at its http.listen on this machine,\n"
        "for /readyz, and prints 'ready' or why it is not. Made for HEALTHCHECK and for hands; it\n"
        "needs no curl and waits 3 seconds at most.\n"
        "\n"
        "  -c, --config FILE   the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                      /etc/agent-bridge/config.yaml\n"
        "      --live          ask for /livez: whether the lanes' loops turn, whatever Kafka "
        "does.\n"
        "                      A bridge that waits for its brokers is live and not ready\n"
        "\n"
        "Exit codes: 0 ready (or live), 1 not, 64 wrong usage, 69 no answer, 70 memory ran out,\n"
        "78 the configuration is wrong, or its http.listen is off.\n",
    .run = health_run,
};
