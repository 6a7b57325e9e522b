#ifndef BRIDGE_KAFKA_RELAY_H
#define BRIDGE_KAFKA_RELAY_H

#include <stdbool.h>

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/core/status.h"

/** The relay: the lanes of one process, from config to commit. One at a time per process is usual.
 */
typedef struct ab_relay ab_relay_t;

/** How a relay ended, as a sysexits code. */
typedef enum ab_exit {
    AB_EXIT_OK = 0,
    AB_EXIT_UNAVAILABLE = 69, /* a topic is missing; brokers that are away are waited for */
    AB_EXIT_FATAL = 70,       /* a lane failed three times in a minute, or on_failure: stop */
    AB_EXIT_TEMPORARY = 75,   /* stopped before the transaction in hand was committed */
    AB_EXIT_FENCED = 76,      /* another process uses the same instance */
    AB_EXIT_NOT_ALLOWED = 77, /* an ACL or a login is missing */
    AB_EXIT_CONFIG = 78 /* librdkafka refuses a property, start: committed found nothing, … */
} ab_exit_t;

/** Makes a relay. config and sink must outlive it. NULL when memory is short. */
ab_relay_t *ab_relay_new(const ab_config_t *config, const ab_sink_t *sink);

/** Starts the lanes' threads and returns at once. */
int ab_relay_start(ab_relay_t *relay);

/** Asks every lane to stop at its next record boundary; any thread, also a signal's. */
void ab_relay_stop(ab_relay_t *relay);

/** Waits up to timeout_ms (-1: for ever) until all lanes have ended. Returns true and the exit code
 * then. */
bool ab_relay_wait(ab_relay_t *relay, int timeout_ms, int *ret_exit);

/** The sum of the lanes' durable ledgers now. */
void ab_relay_ledger(ab_relay_t *relay, ab_ledger_t *ret_ledger);

/** Everything the relay says of itself now; any thread. The caller frees it with
 * ab_relay_status_free(). NULL when memory is short. */
ab_status_t *ab_relay_status(ab_relay_t *relay);

/** Takes NULL. */
void ab_relay_status_free(ab_status_t *status);

/** Waits for the lanes, then frees. Takes NULL. */
void ab_relay_free(ab_relay_t *relay);

#endif
