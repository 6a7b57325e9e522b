#ifndef BRIDGE_CLI_WATCHDOG_H
#define BRIDGE_CLI_WATCHDOG_H

#include "bridge/cli/log.h"

/** Ends the process when shutting down takes too long, whatever hangs: librdkafka can, in closing a
 *  consumer and in destroying a handle. A thread of its own that waits for nothing but the time. */
typedef struct ab_watchdog ab_watchdog_t;

/** Starts the thread, unarmed. log is used for its last words and must outlive the watchdog. NULL
 *  when memory or threads are short. Signals that others handle must be blocked before. */
ab_watchdog_t *ab_watchdog_new(const ab_log_t *log);

/** In timeout_ms the process exits with code, unless the watchdog is freed before. Armed again,
 *  only the code changes: the time runs from the first call. */
void ab_watchdog_arm(ab_watchdog_t *watchdog, unsigned timeout_ms, int code);

/** Disarms, ends the thread, frees. Takes NULL. */
void ab_watchdog_free(ab_watchdog_t *watchdog);

#endif
