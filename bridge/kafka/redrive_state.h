#ifndef BRIDGE_KAFKA_REDRIVE_STATE_H
#define BRIDGE_KAFKA_REDRIVE_STATE_H

/* What the files of a redrive job share: redrive.c (the way through quarantine), redrive_judge.c
 * (one record), redrive_producer.c (the transactional
 * id), redrive_write.c (transactions), redrive_report.c (counts), redrive_groups.c (what
 * groups have committed). One thread uses all of it. */

#include <librdkafka/rdkafka.h>

#include "agentwire/arena.h"
#include "bridge/core/offset_set.h"
#include "bridge/kafka/link.h"
#include "bridge/kafka/reader.h"
#include "bridge/kafka/redrive.h"
#include "bridge/kafka/topics.h"

/* Most records of one transaction, and most bytes of them. */
#define AB_REDRIVE_BATCH_MAX   1000u
#define AB_REDRIVE_BATCH_BYTES (8u << 20)
/* Rows of the report that there is always room for. */
#define AB_REDRIVE_COUNTS_FIRST 64u
/* Longest word on why a record is left, NUL included; longer ones are cut. */
#define AB_REDRIVE_MORE_MAX 256
/* A batch, records that stay among it, is written at the latest when its first is so old, and
 * progress without records is committed so often. */
#define AB_REDRIVE_BATCH_MS    500
#define AB_REDRIVE_PROGRESS_MS 2000

/* Longest single wait in a transactional call. */
#define AB_REDRIVE_CALL_MS 10000
/* Between two tries of what the brokers do not take yet. */
#define AB_REDRIVE_RETRY_MIN_MS 20
#define AB_REDRIVE_RETRY_MAX_MS 2000

/* One quarantine partition of the job. */
typedef struct ab_redrive_part {
    const char *topic; /* of the configuration */
    int32_t partition;
    int64_t begin;
    int64_t end;       /* of the job */
    int64_t position;  /* everything below is decided or in the batch */
    int64_t committed; /* everything below is durable, -1: nothing was committed yet */
    uint64_t written;  /* durably, by the whole job */
    ab_offset_set_t marked;
} ab_redrive_part_t;

/* One record on its way. */
typedef struct ab_redrive_item {
    size_t part;
    int64_t offset;
    ab_coordinates_t source;
    int topic; /* index into topics */
    int32_t partition;
    int64_t timestamp_ms;
    aw_span_t key, value;
    uint8_t *bytes; /* what the two lie in */
    rd_kafka_headers_t *headers;
    size_t row; /* of the counts: its reason and target */
} ab_redrive_item_t;

/* A selected record that is not written: counted and told once that is durable, so that what is
 * read once more after a failure is not counted twice. */
typedef struct ab_redrive_rest {
    size_t part;
    ab_redrive_left_t left; /* reason and more point here: */
    char reason[AB_REDRIVE_REASON_MAX];
    char more[AB_REDRIVE_MORE_MAX];
} ab_redrive_rest_t;

struct ab_redrive {
    ab_redrive_setup_t setup;
    const ab_config_t *config;
    ab_job_t job;
    char group[AB_TOPIC_MAX + AB_JOB_ID_MAX + 512]; /* <group>.redrive.<job> */
    ab_link_t link;
    rd_kafka_t *probe;    /* questions */
    rd_kafka_t *producer; /* NULL until the job runs */
    ab_reader_t *reader;
    ab_reader_t *originals; /* made when the first record has to be fetched from its source */
    aw_arena_t *scratch;    /* for verdicts */
    ab_topics_t *topics;    /* targets, then quarantine topics */
    const char **names;     /* of topics */
    size_t target_count, topic_count;
    rd_kafka_topic_t **outputs; /* per topic, while the producer lives */
    bool compresses;

    ab_redrive_part_t *parts;
    size_t part_count;

    ab_redrive_item_t *items; /* the batch */
    size_t item_count;
    size_t item_bytes;
    ab_redrive_rest_t *rests; /* room for two batches: the target may refuse every item */
    size_t rest_count;
    int64_t batch_ms, progress_ms, told_ms, said_ms, begun_ms;
    double debt_ms; /* by which --rate is ahead of the clock */
    bool own;       /* the job began in this process */
    bool unwritten; /* a batch could not be written, though the positions are behind it */

    /* Of the transaction in hand, filled by delivery reports. */
    bool refused;        /* a record was, for what it is */
    bool marker_refused; /* of quarantine */
    rd_kafka_resp_err_t refusal, trouble;
    bool interrupted; /* the coordinator has ended it by itself, or never begun it */

    ab_redrive_report_t report;
    ab_redrive_count_t *counts;
    size_t count_room, last_count;
    char text[AB_REDRIVE_TEXT_MAX];
};

/* One selected record. */
typedef struct ab_redrive_choice {
    ab_redrive_fate_t fate;
    ab_trailer_t trailer;      /* all 0 with FOREIGN */
    ab_full_record_t original; /* where it could be had; its headers are its own */
    ab_redrive_plan_t plan;    /* with WRITE and FORCE */
    const char *more;
} ab_redrive_choice_t;

/* redrive.c */
int64_t ab_redrive_now_ms(void);
/* Writes the text of a failure. Returns code. */
int ab_redrive_fail(ab_redrive_t *redrive, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ab_redrive_stopping(const ab_redrive_t *redrive);

/* redrive_judge.c: false for a record that is not selected, or a marker. *ret_code is 0, or why the
 * job cannot go on. */
bool ab_redrive_judge(ab_redrive_t *redrive, ab_redrive_part_t *part,
                      const ab_full_record_t *record, ab_redrive_choice_t *ret_choice,
                      int *ret_code);

/* redrive_producer.c */
/* Makes the producer and takes the transactional id: what a job before had begun is settled. */
int ab_redrive_open(ab_redrive_t *redrive);
void ab_redrive_close(ab_redrive_t *redrive);
void ab_redrive_pause_ms(int64_t ms);
/* Says what keeps the job from going on, now and then. */
void ab_redrive_say(ab_redrive_t *redrive, const char *call, const char *name, const char *text);
/* Fenced, denied, or broken: the text says it. Return the exit code. */
int ab_redrive_fail_for_good(ab_redrive_t *redrive, rd_kafka_resp_err_t err, const char *text);
int ab_redrive_fail_stopped(ab_redrive_t *redrive);
/* No such job is remembered. */
int ab_redrive_fail_unknown(ab_redrive_t *redrive);

/* redrive_write.c */
void ab_redrive_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque);
void ab_redrive_empty_batch(ab_redrive_t *redrive);
/* Puts a record that is to be written into the batch. */
int ab_redrive_put(ab_redrive_t *redrive, size_t part, int64_t offset,
                   const ab_redrive_choice_t *choice);
bool ab_redrive_batch_full(const ab_redrive_t *redrive);
/* Writes the batch, and the positions of all partitions, durably. Not after it has failed: the
 * records are then read once more. */
int ab_redrive_flush(ab_redrive_t *redrive);

/* redrive_report.c */
/* A new job's id: the time, and a number for those of one second. */
void ab_redrive_make_id(char ret_id[AB_JOB_ID_MAX]);
/* The row of a reason, fate and target; counted by add records. */
size_t ab_redrive_count(ab_redrive_t *redrive, aw_span_t reason, ab_redrive_fate_t fate,
                        const char *topic, uint64_t add);
/* Notes a record that is not written; reason and more of left are copied. */
void ab_redrive_leave(ab_redrive_t *redrive, size_t part, const ab_redrive_left_t *left);
/* Counts and tells what was noted: all of it, or what lies below the committed positions, and
 * forgets it. */
void ab_redrive_settle_rests(ab_redrive_t *redrive, bool all);
void ab_redrive_tell(ab_redrive_t *redrive, bool now);

/* redrive_groups.c: the job's committed positions into the parts, and what it is to do; stable: not
 * while a transaction of it is open. *ret_found says whether there were any. */
int ab_redrive_recall(ab_redrive_t *redrive, bool stable, bool *ret_found);

#endif
