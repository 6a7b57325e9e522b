#ifndef BRIDGE_KAFKA_REDRIVE_H
#define BRIDGE_KAFKA_REDRIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/core/redrive.h"

/** A redrive job: reads quarantine, judges each selected record with the present configuration, and
 *  writes what passes. One Kafka transaction holds the records, a marker for each on the quarantine
 *  topic, and the job's progress as offsets of the group <group>.redrive.<job>.
 *
 *  All jobs of a group share one transactional id, <group>.redrive. Who begins fences the job that
 *  was there, waits for what it had committed, reads every marker up to the end, and only then
 *  writes: so overlapping jobs double nothing, whoever dies when. */
typedef struct ab_redrive ab_redrive_t;

/** Longest sentence about a failure, NUL included. */
#define AB_REDRIVE_TEXT_MAX 1024
/** Longest reason that is told apart, NUL included; longer ones are cut. */
#define AB_REDRIVE_REASON_MAX 64
/** Most combinations of reason, fate and target that are counted apart; the rest is one. */
#define AB_REDRIVE_COUNTS_MAX 4096

/** A selected record that is not written. */
typedef struct ab_redrive_left {
    ab_coordinates_t place;  /* in quarantine */
    ab_coordinates_t source; /* topic "" where the headers do not tell */
    const char *reason;      /* why it is a dead letter, "" likewise */
    ab_redrive_fate_t fate;
    const char *more; /* why it would be one again, or what the target said; "" */
} ab_redrive_left_t;

/** How many records of a reason met a fate. */
typedef struct ab_redrive_count {
    char reason[AB_REDRIVE_REASON_MAX];
    ab_redrive_fate_t fate;
    char topic[AB_TOPIC_MAX + 1]; /* where they go, "" where they do not */
    uint64_t records;
} ab_redrive_count_t;

/** What a job has done so far. */
typedef struct ab_redrive_report {
    char job[AB_JOB_ID_MAX];
    uint64_t offsets; /* there are to read, gaps counted */
    uint64_t read;    /* of them */
    uint64_t selected;
    uint64_t written; /* durably; in a survey: would be written */
    uint64_t left;    /* selected and neither written nor marked before */
    uint64_t marked;  /* selected and redriven before */
    uint64_t
        timestamp_zero; /* written with "now" because Kafka's clients cannot send timestamp 0 */
    bool complete;      /* everything selected was decided, or --max is reached */
    const ab_redrive_count_t *counts; /* of this process */
    size_t count;
} ab_redrive_report_t;

/** What a job is made of. Everything is borrowed for its life. */
typedef struct ab_redrive_setup {
    const ab_config_t *config;
    const ab_job_t *job;     /* what to do; with resume its conditions are not looked at */
    const char *resume;      /* the job to go on with, NULL: a new one */
    uint64_t rate;           /* records a second, 0: as fast as it goes */
    int timeout_ms;          /* how long a broker is waited for */
    const atomic_bool *stop; /* set: end at the next transaction's end */
    const ab_sink_t *sink;   /* trouble that lasts */
    void (*on_left)(void *opaque, const ab_redrive_left_t *left);
    void (*on_progress)(void *opaque, const ab_redrive_report_t *report);
    void *opaque;
} ab_redrive_setup_t;

/** Makes a job and its clients; connects later. NULL when librdkafka or memory refuse, or the job
 *  has no text (ab_job_text()); ret_text then says why. */
ab_redrive_t *ab_redrive_new(const ab_redrive_setup_t *setup, char ret_text[AB_REDRIVE_TEXT_MAX]);

/** Takes NULL. */
void ab_redrive_free(ab_redrive_t *redrive);

/** Reads and judges, and writes nothing. Returns an exit code, 0 when all was read. */
int ab_redrive_survey(ab_redrive_t *redrive);

/** Does the job. Returns an exit code: 0 when it is complete (records may be left), 65 when the job
 *  to resume is not known, 75 when it was stopped before that, 76 when another job took over, or
 *  another of ab_exit_t. Once, and not after a failed survey. */
int ab_redrive_run(ab_redrive_t *redrive);

/** One sentence about what failed. Borrowed. */
const char *ab_redrive_text_view(const ab_redrive_t *redrive);

/** Borrowed; changes as the job goes on. */
const ab_redrive_report_t *ab_redrive_report_view(const ab_redrive_t *redrive);

/** The consumer groups that have committed offsets for a topic, the bridge's own and those of jobs
 *  left out: calls back for each. Returns 0, or an exit code when they cannot be told. */
int ab_redrive_groups(ab_redrive_t *redrive, const char *topic,
                      void (*on_group)(void *opaque, const char *group), void *opaque);

/** The topics that the job may write to, as names; borrowed. */
size_t ab_redrive_targets(const ab_redrive_t *redrive, const char *const **ret_names);

#endif
