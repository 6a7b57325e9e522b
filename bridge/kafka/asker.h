#ifndef BRIDGE_KAFKA_ASKER_H
#define BRIDGE_KAFKA_ASKER_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/** Asks the brokers where logs begin and end, on a thread of its own: the call waits for as long as
 *  they do not answer, or a partition has no leader, and a lane must not. One question at a time.
 *  But for that thread it is used by one. */
typedef struct ab_asker ab_asker_t;

/** What became of a question. Both lists hold its partitions, in its order. */
typedef struct ab_asker_answer {
    rd_kafka_resp_err_t error;             /* of the question as a whole: nothing was told */
    rd_kafka_topic_partition_list_t *low;  /* where the logs begin; NULL where that was not asked */
    rd_kafka_topic_partition_list_t *high; /* where they end; both with an error for each */
    int64_t took_ns;                       /* the brokers */
} ab_asker_answer_t;

/** Asks through client, which is borrowed and outlives the asker; each of the two calls takes at
 *  most timeout_ms. NULL when memory is short or no thread is to be had. */
ab_asker_t *ab_asker_new(rd_kafka_t *client, int timeout_ms);

/** Waits for the call that is under way. Takes NULL. */
void ab_asker_free(ab_asker_t *asker);

/** True when a question may be asked: the answer to the one before was taken. */
bool ab_asker_is_idle(ab_asker_t *asker);

/** Asks where the logs of the list's partitions end, and, if lows, begin. The asker is idle; it
 *  steals the list. */
void ab_asker_ask_take(ab_asker_t *asker, rd_kafka_topic_partition_list_t *list, bool lows);

/** Takes the answer, waiting for it at most wait_ns. False while there is none; ret_answer is
 *  untouched then. The caller owns the answer: ab_asker_answer_clear(). */
bool ab_asker_hear(ab_asker_t *asker, int64_t wait_ns, ab_asker_answer_t *ret_answer);

void ab_asker_answer_clear(ab_asker_answer_t *answer);

#endif
