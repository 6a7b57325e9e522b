#ifndef BRIDGE_KAFKA_CHECK_H
#define BRIDGE_KAFKA_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/config/config.h"

/** How what was looked at stands; the worse the larger. */
typedef enum ab_check_state {
    AB_CHECK_OK,
    AB_CHECK_UNKNOWN, /* it could not be looked at, and the relay does not need it to be */
    AB_CHECK_WARNING,
    AB_CHECK_ERROR,
    AB_CHECK_STATE_COUNT
} ab_check_state_t;

/** One thing that was looked at, or one finding. */
typedef struct ab_check_row {
    ab_check_state_t state;
    const char *check;         /* a snake_case word of a closed set; static storage */
    const char *operation;     /* with check "acl", in Kafka's words, else NULL; static storage */
    const char *resource_type; /* likewise; the resource is the subject */
    bool prefixed;             /* the subject is the beginning of the names that are meant */
    char *subject;             /* a topic, a group, a broker */
    char *text;                /* what is so and, for a finding, what follows and what to do */
} ab_check_row_t;

typedef enum ab_check_outcome {
    AB_CHECK_CONNECTED,
    AB_CHECK_UNREACHABLE, /* no broker answered */
    AB_CHECK_REFUSED      /* TLS or the login failed */
} ab_check_outcome_t;

/** What a check has found. Owned by ab_check_run()'s caller. */
typedef struct ab_check_report {
    ab_check_row_t *rows;
    size_t count, room;
    size_t counts[AB_CHECK_STATE_COUNT];
    ab_check_outcome_t outcome;
    bool incomplete; /* memory ran out, or librdkafka made no client: rows are missing */
    char principal[320];
    char cluster_id[64];
    int brokers;
} ab_check_report_t;

/** Connects and holds the brokers, the topics and the rights against a configuration. Changes
 * nothing (see rights.h). timeout_ms is how long a broker is waited for, and the bound of each
 * question after that. Returns NULL when memory is short. */
ab_check_report_t *ab_check_run(const ab_config_t *config, int timeout_ms);

/** Takes NULL. */
void ab_check_free(ab_check_report_t *report);

/** Appends a row; subject is copied. Returns it, to be filled further, or NULL when memory is short
 * (and the report is then incomplete). */
ab_check_row_t *ab_check_add(ab_check_report_t *report, ab_check_state_t state, const char *check,
                             const char *subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
