#ifndef BRIDGE_CLI_LOG_H
#define BRIDGE_CLI_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "bridge/config/config.h"
#include "bridge/core/event.h"

/** The log: one line per event, JSON or text, the sink of everything that happens in the daemon.
 *
 * A line is at most AB_LOG_LINE_MAX bytes, valid UTF-8 and free of control characters whatever the
 * texts hold; a text that is too long is cut, and a line that would still be too long keeps its
 * message and says "truncated". Any number of threads may write.
 *
 * Logging never stops the work: where the reader of the log stands still, a line waits at most
 * AB_LOG_WAIT_MS, and after that lines are dropped until it moves on; the next line says how many.
 */
typedef struct ab_log ab_log_t;

/** Longest line, newline included. It is PIPE_BUF: a pipe takes a line whole or not at all. */
#define AB_LOG_LINE_MAX 4096u
/** Longest message and longest text of a field, bytes. */
#define AB_LOG_MESSAGE_MAX 1024u
#define AB_LOG_TEXT_MAX    512u
/** Longest wait for a reader of the log that stands still. */
#define AB_LOG_WAIT_MS 1000
/** Dead letters are told at most once per reason and source in this time, librdkafka's own lines
 *  once per facility and client. */
#define AB_LOG_HOLD_MS 10000
/** Most such pairs that are told apart; what is beyond shares one account. */
#define AB_LOG_HELD_MAX 512u

/** Where the log takes the time from. */
typedef struct ab_log_clock {
    int64_t (*wall_ms)(void *opaque);      /* since the epoch */
    int64_t (*monotonic_ms)(void *opaque); /* never goes back */
    void *opaque;
} ab_log_clock_t;

typedef struct ab_log_options {
    int fd; /* stays the caller's */
    ab_log_format_t format;
    ab_level_t level;            /* events below it are left out */
    const ab_log_clock_t *clock; /* NULL: the system's */
} ab_log_options_t;

/** Makes a log. NULL when memory is short. The caller owns it and calls ab_log_free(). */
ab_log_t *ab_log_new(const ab_log_options_t *options);

/** Tells what is still held back, then frees. Takes NULL. Nothing may write to it any more. */
void ab_log_free(ab_log_t *log);

/** The sink to hand to the layers below. Lives as long as the log. */
ab_sink_t ab_log_sink(ab_log_t *log);

/** Writes one event; an ab_event_fn whose opaque is the log. */
void ab_log_emit(void *opaque, ab_level_t level, const char *event, const char *message,
                 const ab_field_t *fields, unsigned field_count);

/** Tells how many lines were held back where the ten seconds are over. Call it every
 *  second. */
void ab_log_tick(ab_log_t *log);

/** Writes one event at once or not at all: takes no lock and never waits, so that it can be the
 *  last thing before _exit() while another thread hangs in the log. */
void ab_log_last_words(const ab_log_t *log, ab_level_t level, const char *event,
                       const char *message);

#endif
