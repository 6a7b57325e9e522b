#ifndef BRIDGE_KAFKA_LANE_STATE_H
#define BRIDGE_KAFKA_LANE_STATE_H

/* What the files of the lane share: lane.c (life), lane_loop.c (records), lane_output.c
 * (producing), lane_commit.c (transactions), lane_plain.c (at_least_once, which has none),
 * lane_assign.c (partitions), lane_breaker.c (sources that stand still), lane_close.c (the
 * consumer's end). One thread uses all of it; only the ledger is read from outside. */

#include <librdkafka/rdkafka.h>
#include <pthread.h>

#include "agentwire/arena.h"
#include "bridge/core/verdict.h"
#include "bridge/kafka/errors.h"
#include "bridge/kafka/lane.h"
#include "bridge/kafka/partitions.h"
#include "bridge/kafka/poison.h"

#define AB_NS_PER_MS      1000000
#define AB_CALL_MS        10000 /* longest single wait in librdkafka */
#define AB_QUIET_MS       5     /* nothing came for so long: commit */
#define AB_COMMIT_GAP_MS  50    /* but not sooner after the last commit: CONCURRENT_TRANSACTIONS */
#define AB_BACKOFF_MIN_MS 100
#define AB_BACKOFF_MAX_MS 10000
#define AB_SAY_EVERY_MS   10000 /* trouble that lasts is said this often */
#define AB_FAILURES_MAX   65536 /* refusals remembered of one transaction; more are found again */

/* A transaction that holds an answer, for which somebody waits, is committed as soon as no record
 * is at hand, whenever the last commit was. One that asks for its partitions while the markers of
 * the one before are being written is told CONCURRENT_TRANSACTIONS, after which librdkafka waits 20
 * ms. To write them takes the brokers a few times as long as to note that they are to be written,
 * which is what the call of the commit waits for: so long the next transaction waits, within
 * bounds. */
#define AB_REST_FACTOR 4
#define AB_REST_MIN_MS 2
#define AB_REST_MAX_MS 20

/* How the current life of the lane's handles goes on. */
typedef enum ab_fate {
    AB_FATE_GO,
    AB_FATE_RECONNECT, /* close in good order and begin anew: a fact changed */
    AB_FATE_REBUILD,   /* the handles are done for */
    AB_FATE_TIMED_OUT, /* the same, because the process stood still too long: nobody's fault */
    AB_FATE_DENIED,    /* the same, because a right is missing */
    AB_FATE_EXIT       /* beyond help: exit_code says why */
} ab_fate_t;

/* One record on its way to an output: the opaque of its delivery report. */
typedef struct ab_sent {
    struct ab_sent *next_free;
    int source;
    int32_t partition;
    int64_t offset;
    uint32_t bytes;
    ab_output_t output;
    uint64_t ticket; /* at_least_once: of its record, in its partition's frontier */
} ab_sent_t;

typedef struct ab_failure {
    ab_sent_t sent;
    rd_kafka_resp_err_t error;
} ab_failure_t;

/* The transaction in hand. In at_least_once, where there are none, what is on its way to the
 * outputs since there was last nothing. */
typedef struct ab_txn {
    bool open;
    bool broken;        /* a call on it failed: abort */
    bool revoked;       /* a partition of it went away while it was being committed */
    bool answers;       /* holds an answer that somebody waits for */
    bool suspect;       /* holds only records that were in a refused batch */
    bool denied;        /* a call on it was refused for want of a right */
    bool unknown_topic; /* a call on it was refused because a topic is gone */
    char member[256];
    uint64_t records;
    uint64_t bytes;
    int64_t begun_ns;
    ab_failure_t *failures;
    size_t failure_count, failure_room;
    int64_t *stamps_ms; /* the timestamps of its records, for their age at the commit */
    size_t stamp_count, stamp_room;
} ab_txn_t;

/* The topics of one source, as indexes into shared->topics; -1 where there is none. */
typedef struct ab_targets {
    int routes[AB_SLOT_COUNT];
    int errors;
    int quarantine;
} ab_targets_t;

/* What answering export requests takes (lane_answer.h). */
typedef struct ab_answers ab_answers_t;

struct ab_lane {
    ab_shared_t *shared;
    const ab_config_t *config;
    const ab_sink_t *sink;
    unsigned index;

    rd_kafka_t *consumer, *producer;
    rd_kafka_topic_t **outputs; /* per topic of shared->topics; NULL where it is no output */
    ab_topic_t *facts;          /* this lane's copy of the topics' facts */
    ab_targets_t *targets;      /* per source */
    size_t topic_count;
    unsigned facts_version;
    int32_t largest_limit, smallest_limit; /* what the producer was made with */
    bool plain;                            /* at_least_once: no transactions */
    bool compresses;                       /* a batch may come out smaller than its records */

    ab_answers_t *answers; /* NULL where no export request is answered */

    ab_parts_t parts;
    ab_poison_t poison;
    aw_arena_t *arena;   /* dead letters */
    aw_arena_t *scratch; /* contracts */
    ab_txn_t txn;
    ab_ledger_t in_hand;          /* of the transaction */
    ab_tallies_t tallies_in_hand; /* the same by source partition */
    uint64_t run_max;             /* most records of a transaction of suspects */

    rd_kafka_queue_t *commits; /* at_least_once: answers to offset commits */
    bool commit_asked;         /* one is under way */
    int64_t next_commit_ns;    /* when the next is due */
    _Atomic int64_t
        *join_ns;    /* since when the consumer asks its group for a place; 0: it does not */
    uint64_t ticket; /* of the record that is being handed over */

    ab_breaker_t *breakers; /* per source; they outlive the handles */
    bool *held_back;        /* per source: its partitions are paused for its breaker */
    size_t breakers_open;

    ab_sent_t *free_sent;
    struct ab_sent_block {
        struct ab_sent_block *next;
        ab_sent_t items[512];
    } * sent_blocks;
    uint64_t inflight_bytes;
    uint64_t inflight_count;

    bool need_rewind; /* positions are to be taken from the committed offsets before the next record
                       */
    bool after_refusal;      /* the last abort was for a refused batch */
    bool in_callback;        /* inside a rebalance callback: no polling of the consumer */
    bool record_in_hand;     /* delivered by the library, not decided yet */
    bool headers_unreadable; /* of the record in hand */
    bool without_source;     /* the same: routed without the source header */
    bool timestamp_zero;     /* the same: routed with "now" */
    bool idle;               /* no record waited when the consumer was polled last */
    bool committing;
    bool aborting;
    bool had_assignment;
    int64_t rest_ns; /* from a transaction with answers to the next one */
    int64_t last_record_ns, last_commit_ns, last_poll_ns, next_resolve_ns, backoff_until_ns;
    unsigned backoff_ms;
    int64_t said_ns; /* when lasting trouble was last said */

    ab_fate_t fate;
    int exit_code;
    unsigned rivals;    /* fencings by another process */
    unsigned abandoned; /* consumers that could not be destroyed */
    int64_t rival_ns;
    int64_t failed_ns[3]; /* the last rebuilds */

    /* Read from outside: the atomics at any time, the rest under the lock. */
    atomic_int phase; /* an ab_phase_t */
    atomic_bool joined;
    atomic_llong tick_ns; /* when the loop last turned */
    atomic_ullong inflight_shown;
    pthread_mutex_t counters_lock;
    ab_counters_t durable;
    ab_tallies_t tallies;
    ab_source_status_t *sources_shown;
    ab_state_status_t state_shown[AB_CONFIG_STATE_TOPICS_MAX];
    int64_t shown_ns;
};

int64_t ab_lane_now_ns(void);
void ab_lane_sleep_ms(unsigned ms);
bool ab_lane_stopping(const ab_lane_t *lane);

/* An event with the lane's number; up to 8 fields. */
void ab_lane_emit(ab_lane_t *lane, ab_level_t level, const char *event, const char *message,
                  const ab_field_t *fields, unsigned count);
/* True at most once in AB_SAY_EVERY_MS. */
bool ab_lane_may_say(ab_lane_t *lane);
/* Ends this life of the handles. */
void ab_lane_end(ab_lane_t *lane, ab_fate_t fate, int exit_code);
/* A call was refused for want of a right: the relay finds out which, says it and decides. */
void ab_lane_denied(ab_lane_t *lane, rd_kafka_resp_err_t err);
/* A fatal error of the producer or consumer: fenced, timed out, denied, or broken. */
void ab_lane_fatal(ab_lane_t *lane, rd_kafka_resp_err_t err, const char *text);

/* Gives a client's log, errors and certificates to the lane; its opaque is the lane. */
void ab_lane_watch_client(ab_lane_t *lane, rd_kafka_conf_t *conf);

/* lane_status.c */
/* Counts a record that is decided, in hand until ab_lane_count_records(). */
void ab_lane_count(ab_lane_t *lane, int source, int32_t partition, const ab_verdict_t *verdict);
/* Forgets what is in hand. */
void ab_lane_count_nothing(ab_lane_t *lane);
void ab_lane_tick(ab_lane_t *lane, ab_phase_t phase);
void ab_lane_show(
    ab_lane_t *lane); /* refreshes what is shown of the sources, at most once a second */
void ab_lane_note_stamp(ab_lane_t *lane, int64_t timestamp_ms);
/* What is in hand is durable: the ledger, the ages. And the transaction that made it so. */
void ab_lane_count_records(ab_lane_t *lane);
void ab_lane_count_commit(ab_lane_t *lane);
void ab_lane_count_offsets(ab_lane_t *lane, bool committed);
void ab_lane_count_trip(ab_lane_t *lane);
void ab_lane_count_abort(ab_lane_t *lane);
void ab_lane_count_rebalance(ab_lane_t *lane, ab_rebalance_t rebalance);

/* lane_loop.c: one life, from open handles to fate or stop. */
void ab_lane_loop(ab_lane_t *lane);
/* One record, from its verdict to the producer. Its transaction is open afterwards, or it is held,
 * or it will be read again. */
void ab_lane_take(ab_lane_t *lane, rd_kafka_message_t *message, int source, ab_part_t *part);
/* Destroys what the consumer gave while no record can be taken: a record has lost its place and
 * comes again, an error is heard all the same. NULL is allowed. */
void ab_lane_discard(ab_lane_t *lane, rd_kafka_message_t *message);

/* lane_close.c: the end of a consumer. Before it is closed, waits for a first assignment where
 * librdkafka needs one; afterwards destroys it in bounded time, or leaves it behind. */
void ab_lane_settle_consumer(ab_lane_t *lane);
void ab_lane_destroy_consumer(ab_lane_t *lane);

/* lane_output.c */
bool ab_lane_send(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                  ab_verdict_t *verdict, int source);
void ab_lane_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque);
void ab_lane_free_sent(ab_lane_t *lane);
/* Remembers an output's failure for ab_lane_learn_refusals(). */
void ab_lane_note_failure(ab_lane_t *lane, const ab_sent_t *sent, rd_kafka_resp_err_t error);

/* lane_commit.c. In at_least_once: begin notes that there is something on its way; commit waits
 * until it is written; abort only marks it, and ab_plain_serve() does the rest; pin commits. */
bool ab_lane_begin(ab_lane_t *lane);
bool ab_lane_commit(ab_lane_t *lane);
void ab_lane_abort(ab_lane_t *lane);
/* Commits these offsets in a transaction of its own; none may be open. */
bool ab_lane_pin(ab_lane_t *lane, rd_kafka_topic_partition_list_t *offsets);
void ab_lane_rewind(ab_lane_t *lane);
/* Memory is short: what is open is given up, and the record in hand comes again, after a while. */
void ab_lane_come_again(ab_lane_t *lane);
/* Draws the conclusions from what the outputs refused or did not take. */
void ab_lane_learn_refusals(ab_lane_t *lane);
/* Nothing is in hand any more. */
void ab_lane_close_transaction(ab_lane_t *lane);
/* Waits until every record has its delivery report, within the patience of a stop. False when one
 * failed. */
bool ab_lane_flush(ab_lane_t *lane);
/* The member id of the consumer now; "" when it is in no group. */
void ab_lane_member(ab_lane_t *lane, char *ret_member, size_t room);
/* Polls the consumer when that has not been for long, so that a wait does not cost the membership.
 */
void ab_lane_keep_membership(ab_lane_t *lane);
/* Seeks each of these, again until all are done. False when that is not to be had: the lane is then
 * built anew. */
bool ab_lane_seek(ab_lane_t *lane, rd_kafka_topic_partition_list_t *list);
/* Moves offsets up to the library's positions, which have passed the markers behind the last
 * records. The caller vouches that all that was passed was decided. */
void ab_lane_pass_markers(ab_lane_t *lane, rd_kafka_topic_partition_list_t *offsets);
/* Suspects came through: more of them at once the next time. */
void ab_lane_trust(ab_lane_t *lane);

/* lane_plain.c: at_least_once */
/* Makes join_ns, which the client's threads write, also after the lane has ended: it is freed with
 * the client, or never. Without transactions only; without memory, joins go unseen. */
void ab_plain_watch_joins(ab_lane_t *lane, rd_kafka_conf_t *conf);
void ab_plain_on_delivery(ab_lane_t *lane, const ab_sent_t *sent, rd_kafka_resp_err_t err);
/* The record is about to be handed over; afterwards, what it was. False: memory is short. */
bool ab_plain_open(ab_lane_t *lane, ab_part_t *part, const ab_record_t *record);
void ab_plain_settle(ab_lane_t *lane, int source, ab_part_t *part, const ab_record_t *record,
                     const ab_verdict_t *verdict);
/* One output of the record in hand is on its way. */
void ab_plain_expect(ab_lane_t *lane, const ab_sent_t *sent);
/* True while a failure waits for the rest to be reported. */
bool ab_plain_failing(const ab_lane_t *lane);
/* Then: waits a little, and goes back to the frontier when nothing is on its way any more. */
void ab_plain_serve(ab_lane_t *lane);
/* After each turn: counts what became durable, commits offsets when that is due. */
void ab_plain_turn(ab_lane_t *lane, bool idle);
/* Waits until all is written; false when some of it was not. */
bool ab_plain_drain(ab_lane_t *lane);
/* Commits the frontier and waits for the answer, at most AB_CALL_MS. */
bool ab_plain_commit_now(ab_lane_t *lane);
/* The same for these offsets. */
bool ab_plain_commit_list(ab_lane_t *lane, const rd_kafka_topic_partition_list_t *offsets);

/* lane_breaker.c */
/* Shows a record that was taken to its source's breaker. */
void ab_lane_judge(ab_lane_t *lane, int source, ab_part_t *part, int64_t offset,
                   ab_reason_t reason);
/* True when the source's breaker lets no record through now. */
bool ab_lane_is_held_back(const ab_lane_t *lane, int source);
/* Pauses every partition of the source that is fetched. */
void ab_lane_hold_back(ab_lane_t *lane, int source);
/* Lets sources read whose next probe is due. */
void ab_lane_probe(ab_lane_t *lane);

/* lane_assign.c */
void ab_lane_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                          rd_kafka_topic_partition_list_t *partitions, void *opaque);
void ab_lane_resolve(ab_lane_t *lane);
/* The consumer says the offset asked for is out of range. */
void ab_lane_on_gap(ab_lane_t *lane, int source, int32_t partition, int64_t offset);
/* The partition stands still until an operator decides. */
void ab_lane_stop_partition(ab_lane_t *lane, int source, int32_t partition, const char *message,
                            const char *error);

#endif
