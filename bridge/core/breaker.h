#ifndef BRIDGE_CORE_BREAKER_H
#define BRIDGE_CORE_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/reason.h"

/** While a breaker is open one record is let through so often, and so many good ones in a row
 *  close it (DESIGN section 4). */
#define AB_BREAKER_PROBE_MS 10000u
#define AB_BREAKER_GOOD     20u
/** The window moves on in so many steps. */
#define AB_BREAKER_STEPS 30u

/** When a breaker opens: errors.breaker as written. */
typedef struct ab_breaker_rule {
    bool off;
    unsigned ratio_permille; /* more than this share of what was read became dead letters */
    unsigned min_records;    /* and at least so many were read */
    unsigned window_ms;      /* within this */
    unsigned probe_ms;       /* AB_BREAKER_PROBE_MS; shorter in tests */
} ab_breaker_rule_t;

/** Counts of the window now. */
typedef struct ab_breaker_counts {
    uint64_t read;
    uint64_t dead_lettered;
} ab_breaker_counts_t;

/** The breaker of one source in one lane. Start from {0}. Pure: the caller brings the time, in
 *  milliseconds of a clock that never goes back. */
typedef struct ab_breaker {
    ab_breaker_counts_t steps[AB_BREAKER_STEPS]; /* a ring over the window */
    int64_t step;                                /* number of the newest one since time 0 */
    ab_breaker_counts_t window;                  /* their sum */
    ab_reason_t last_reason;                     /* of the newest dead letter */
    bool open;
    unsigned good;               /* probes in a row that were no dead letters */
    int64_t next_ms;             /* when the next record may be let through */
    ab_breaker_counts_t tripped; /* what opened it */
} ab_breaker_t;

/** What a record changed. */
typedef enum ab_breaker_change {
    AB_BREAKER_SAME,
    AB_BREAKER_OPENED,
    AB_BREAKER_CLOSED
} ab_breaker_change_t;

/** Notes the outcome of one record, reason NONE for one that became no dead letter. While the
 *  breaker is open the record is a probe, and the next one is due a probe_ms later. */
ab_breaker_change_t ab_breaker_note(ab_breaker_t *breaker, const ab_breaker_rule_t *rule,
                                    ab_reason_t reason, int64_t now_ms);

/** True when a record may be read: the breaker is closed, or a probe is due. */
bool ab_breaker_lets_through(const ab_breaker_t *breaker, int64_t now_ms);

#endif
