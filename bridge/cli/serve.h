#ifndef BRIDGE_CLI_SERVE_H
#define BRIDGE_CLI_SERVE_H

#include "bridge/cli/log.h"
#include "bridge/config/config.h"

/** Blocks the signals that ab_serve() handles: SIGTERM, SIGINT and SIGHUP. Call it early, before
 *  any thread is made: what arrives from then on waits for ab_serve(). 0, or -1 with errno. */
int ab_serve_block_signals(void);

/** Runs the relay until it ends or a signal ends it, in the calling thread; returns the exit code.
 *
 *  SIGTERM and SIGINT stop the relay; shutdown.timeout later the process exits with
 *  AB_EXIT_TEMPORARY if it has not ended, whatever hangs, and at once at a second such signal.
 *  SIGHUP is told and ignored. Every ledger_interval_ms, and at the end, the ledger is told. */
int ab_serve(const ab_config_t *config, ab_log_t *log, unsigned ledger_interval_ms);

#endif
