/* ab_serve() over a relay that does what the command line says: what a real one does only when
 * something in it hangs or fails. Driven by serve_test.py.
 *
 *     serve_probe NAME=VALUE...
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/cli/serve.h"
#include "tests/cli/fake_relay.h"

static char config_file[] = "probe.yaml";

static int number_of(int argc, char **argv, const char *name, int otherwise)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, strlen(name)) == 0 && argv[i][strlen(name)] == '=') {
            return (int)strtol(argv[i] + strlen(name) + 1, NULL, 10);
        }
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    ab_config_t config = {
        .file = config_file,
        .group = "group",
        .instance = "host",
        .lanes = 1,
        .http_listen = {.host = "127.0.0.1",
                        .port = (unsigned)number_of(argc, argv, "http_port", 0),
                        .off = number_of(argc, argv, "http_port", 0) == 0},
        .shutdown_timeout_ms = (unsigned)number_of(argc, argv, "timeout_ms", 10000),
    };
    ab_log_options_t options = {.fd = STDERR_FILENO, .level = AB_LEVEL_INFO};
    ab_log_t *log = ab_log_new(&options);
    int code;

    if (log == NULL || ab_serve_block_signals() != 0) {
        return 99;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    fake_relay_plan = (fake_relay_plan_t){
        .own_end_ms = number_of(argc, argv, "own_end_ms", -1),
        .own_exit = number_of(argc, argv, "own_exit", 0),
        .stop_ms = number_of(argc, argv, "stop_ms", 50),
        .stop_exit = number_of(argc, argv, "stop_exit", 0),
        .start_fails = number_of(argc, argv, "start_fails", 0) != 0,
        .lane_stands = number_of(argc, argv, "lane_stands", 0) != 0,
        .free_hangs = number_of(argc, argv, "free_hangs", 0) != 0,
        .flood_lines = (unsigned)number_of(argc, argv, "flood_lines", 0),
    };
    if (number_of(argc, argv, "signal_first", 0) != 0) {
        (void)raise(SIGTERM); /* what arrives between blocking and serving */
    }
    code = ab_serve(&config, log, (unsigned)number_of(argc, argv, "ledger_ms", 60000));
    ab_log_free(log);
    return code;
}
