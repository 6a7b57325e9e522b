#include "bridge/cli/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/ledger_event.h"
#include "bridge/cli/libraries.h"
#include "bridge/cli/watchdog.h"
#include "bridge/http/http.h"
#include "bridge/http/listen.h"
#include "bridge/kafka/relay.h"

/** How soon the end of a relay is noticed: while it runs, and once it was asked to stop. */
#define RUNNING_TICK_MS  200
#define STOPPING_TICK_MS 20
/** How often the log is asked for dead letters held back. */
#define LOG_TICK_MS 1000

/** A relay that is being served. */
typedef struct service {
    const ab_config_t *config;
    ab_log_t *log;
    ab_sink_t sink;
    ab_relay_t *relay;
    ab_http_t *http; /* NULL: off, or not started */
    ab_library_t libraries[AB_LIBRARIES_MAX];
    const char *topics[AB_CONFIG_SOURCES_MAX];
    ab_watchdog_t *watchdog;
    sigset_t signals;
    bool stopping;
} service_t;

static void served_signals(sigset_t *ret_signals)
{
    (void)sigemptyset(ret_signals);
    (void)sigaddset(ret_signals, SIGTERM);
    (void)sigaddset(ret_signals, SIGINT);
    (void)sigaddset(ret_signals, SIGHUP);
}

int ab_serve_block_signals(void)
{
    sigset_t signals;

    served_signals(&signals);
    errno = pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return errno == 0 ? 0 : -1;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(service_t *service, ab_level_t level, const char *event, const char *message,
                 const ab_field_t *fields, unsigned field_count)
{
    service->sink.emit(service->sink.opaque, level, event, message, fields, field_count);
}

static void tell_ledger(service_t *service)
{
    ab_ledger_t ledger;

    ab_relay_ledger(service->relay, &ledger);
    ab_ledger_emit(&ledger, &service->sink);
}

static void stop(service_t *service, int number)
{
    const ab_field_t fields[] = {
        AB_TEXT("signal", number == SIGTERM ? "SIGTERM" : "SIGINT"),
        AB_NUMBER("timeout_ms", service->config->shutdown_timeout_ms),
    };

    if (service->stopping) {
        ab_log_last_words(service->log, AB_LEVEL_ERROR, "stopped_at_once",
                          "a second signal: the process exits without waiting, and what was not "
                          "committed is done again at the next start");
        _exit(AB_EXIT_TEMPORARY);
    }
    /* The watchdog first: from here on nothing can keep the process, not even the log. */
    ab_watchdog_arm(service->watchdog, service->config->shutdown_timeout_ms, AB_EXIT_TEMPORARY);
    ab_relay_stop(service->relay);
    service->stopping = true;
    tell(service, AB_LEVEL_INFO, "stopping",
         "no more records are taken; the transaction in hand is committed", fields, 2);
}

/** Waits up to wait_ms for a signal and acts on it. */
static void serve_signal(service_t *service, int wait_ms)
{
    struct timespec wait = {wait_ms / 1000, (long)(wait_ms % 1000) * 1000000};
    int number = sigtimedwait(&service->signals, NULL, &wait);

    if (number == SIGTERM || number == SIGINT) {
        stop(service, number);
    } else if (number == SIGHUP) {
        tell(service, AB_LEVEL_WARNING, "sighup_ignored",
             "SIGHUP rereads nothing in this version; restart the process to apply a changed "
             "configuration",
             NULL, 0);
    }
}

/** Serves until the relay has ended; returns its exit code. */
static int serve_until_end(service_t *service, unsigned ledger_interval_ms)
{
    int64_t ledger_due_ms = monotonic_ms() + ledger_interval_ms;
    int64_t log_due_ms = monotonic_ms() + LOG_TICK_MS;
    int code = AB_EXIT_FATAL;

    while (!ab_relay_wait(service->relay, 0, &code)) {
        int64_t now_ms;

        serve_signal(service, service->stopping ? STOPPING_TICK_MS : RUNNING_TICK_MS);
        now_ms = monotonic_ms();
        if (now_ms >= log_due_ms) {
            ab_log_tick(service->log);
            log_due_ms = now_ms + LOG_TICK_MS;
        }
        if (now_ms >= ledger_due_ms) {
            tell_ledger(service);
            ledger_due_ms = now_ms + ledger_interval_ms;
        }
    }
    return code;
}

static void tell_started(service_t *service)
{
    const ab_config_t *config = service->config;
    const ab_field_t fields[] = {
        AB_TEXT("version", ab_program_version()),
        AB_TEXT("config", config->file),
        AB_TEXT("group", config->group),
        AB_TEXT("instance", config->instance),
        AB_NUMBER("lanes", config->lanes),
        AB_NUMBER("sources", config->source_count),
        AB_NUMBER("pid", getpid()),
    };

    tell(service, AB_LEVEL_INFO, "started", "the lanes are starting", fields,
         sizeof(fields) / sizeof(fields[0]));
}

static void tell_stopped(service_t *service, int code)
{
    const ab_field_t fields[] = {AB_NUMBER("exit_code", code)};

    tell(service, code == AB_EXIT_OK ? AB_LEVEL_INFO : AB_LEVEL_ERROR, "stopped",
         code == AB_EXIT_OK ? "everything taken has its outcome and is committed"
                            : "the relay ended early; the lines before say why and what to do",
         fields, 1);
}

static int no_resources(service_t *service)
{
    tell(service, AB_LEVEL_ERROR, "start_failed",
         "memory or threads ran out while starting; raise the limits of the process or lower lanes",
         NULL, 0);
    return AB_EXIT_FATAL;
}

/* ---- what is told over HTTP ---- */

static ab_status_t *relay_status(void *opaque)
{
    return ab_relay_status(opaque);
}

static int64_t wall_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ab_http_site_t site_of(service_t *service)
{
    const ab_config_t *config = service->config;

    for (size_t i = 0; i < config->source_count; i++) {
        service->topics[i] = config->sources[i].policy.topic;
    }
    return (ab_http_site_t){
        .facts = {.version = ab_program_version(),
                  .revision = ab_program_revision(),
                  .libraries = service->libraries,
                  .library_count = ab_libraries(service->libraries),
                  .config_file = config->file,
                  .group = config->group,
                  .instance = config->instance,
                  .guarantee = ab_guarantee_word(config),
                  .topics = service->topics,
                  .topic_count = config->source_count,
                  .state_topics = config->state_topics.items,
                  .state_topic_count = config->answers ? config->state_topics.count : 0,
                  .started_ms = wall_ms()},
        .provider = {relay_status, ab_relay_status_free, service->relay},
    };
}

/* Before the relay, so that a probe is answered while no broker is. Returns AB_EXIT_OK, or the exit
 * code after saying why. */
static int start_http(service_t *service)
{
    const ab_listen_t *listen = &service->config->http_listen;
    const ab_http_site_t site = site_of(service);
    ab_http_trouble_t trouble;
    char address[AB_HTTP_ADDRESS_MAX];

    if (listen->off) {
        return AB_EXIT_OK;
    }
    service->http = ab_http_start(listen->host, listen->port, &site, &trouble);
    if (service->http == NULL) {
        tell(service, AB_LEVEL_ERROR, "http_refused", trouble.text, NULL, 0);
        return trouble.address ? AB_EXIT_CONFIG : AB_EXIT_FATAL;
    }
    const ab_field_t fields[] = {
        AB_TEXT("address", ab_http_address_text(listen->host, listen->port, address))};
    tell(service, AB_LEVEL_INFO, "http_listening",
         "/livez, /readyz, /metrics, /status, /version and a page for people are served", fields,
         1);
    return AB_EXIT_OK;
}

int ab_serve(const ab_config_t *config, ab_log_t *log, unsigned ledger_interval_ms)
{
    service_t service = {.config = config, .log = log, .sink = ab_log_sink(log)};
    int code;

    served_signals(&service.signals);
    service.watchdog = ab_watchdog_new(log);
    service.relay = ab_relay_new(config, &service.sink);
    if (service.watchdog == NULL || service.relay == NULL) {
        code = no_resources(&service);
        goto done;
    }
    tell_started(&service);
    code = start_http(&service);
    if (code != AB_EXIT_OK) {
        goto done;
    }
    if (ab_relay_start(service.relay) != 0) {
        code = no_resources(&service);
        ab_relay_stop(service.relay);
        ab_watchdog_arm(service.watchdog, config->shutdown_timeout_ms, code);
        goto done;
    }
    code = serve_until_end(&service, ledger_interval_ms);
    /* The outcome stands: should tidying up hang, the process still ends, with this code. */
    ab_watchdog_arm(service.watchdog, config->shutdown_timeout_ms, code);
    tell_ledger(&service);
    tell_stopped(&service, code);

done:
    ab_http_stop(service.http); /* it asks the relay */
    ab_relay_free(service.relay);
    ab_watchdog_free(service.watchdog);
    return code;
}
