#ifndef BRIDGE_KAFKA_LANE_ANSWER_H
#define BRIDGE_KAFKA_LANE_ANSWER_H

/* How a lane answers export requests: lane_stores.c gets stores going, lane_restore.c keeps them at
 * the end of the state topics, lane_barrier.c asks where these end, lane_answer.c holds requests
 * until their barrier is reached (specs/lane.md). Everything here does nothing in a lane that
 * answers none. */

#include "bridge/kafka/asker.h"
#include "bridge/kafka/lane_state.h"
#include "bridge/state/answer.h"
#include "bridge/state/stores.h"

/** One partition of one state topic, as this lane has it. */
typedef struct ab_state_part {
    unsigned users;    /* source partitions of the lane that need it; 0: not ours */
    ab_store_t *store; /* NULL while it is not borrowed */
    bool looking;      /* the brokers are being asked where its log begins and ends */
    bool assigned;     /* fetched from ab_store_next() on */
    bool delivered;    /* something came since it was assigned, so the library's position counts */
    bool loading;      /* read to its end, and written to its store step by step; not assigned */
    bool restored;     /* has been at the end once since it was assigned */
    bool stopped;      /* the topic's data are damaged: an operator decides */
    int64_t eof;       /* where the log ended when it was last read to its end, -1: not yet */
    int64_t barrier;   /* the end that the last barrier asked for, -1 where it could not be told */
    int64_t first;     /* where it stood, and where the log ended, when it was assigned */
    int64_t last;
    int64_t pending_ns; /* when the first record was applied that is not committed, 0: none */
    int64_t next_try_ns;
    unsigned failed_loads; /* one behind the other */
} ab_state_part_t;

/** One topic of state.snapshots_from. */
typedef struct ab_state_topic {
    const char *name;
    int index; /* into shared->topics */
    ab_state_part_t *parts;
    int32_t count;
} ab_state_topic_t;

/** A request that waits for its barrier. Its partition waits with it. */
typedef struct ab_held {
    struct ab_held *next;
    rd_kafka_message_t *message;
    int source;
    int64_t since_ns;
    int64_t again_ns;                         /* it asks for no other barrier before */
    bool asked;                               /* ends are known */
    int64_t ends[AB_CONFIG_STATE_TOPICS_MAX]; /* to be reached, one a state topic */
} ab_held_t;

struct ab_answers {
    rd_kafka_t *consumer; /* of the state topics; these three are NULL between two lives */
    ab_asker_t *barriers; /* where logs end now, for requests */
    ab_asker_t *lookups;  /* where logs begin and end, for stores to get going */
    ab_state_topic_t topics[AB_CONFIG_STATE_TOPICS_MAX];
    size_t topic_count;
    ab_held_t *held;
    const ab_held_t *released; /* the one whose record is being taken */
    aw_arena_t *arena;
    ab_answer_t answer;   /* to the record in hand; without a value: it is too large to be made */
    bool *told;           /* per source: that a state topic's partition count is not its own */
    int snapshots;        /* index of snapshots.topic in shared->topics */
    bool busy;            /* the state consumer has more than one turn takes */
    bool restoring;       /* a partition is read towards its end: more is on its way */
    bool barrier_slow;    /* the last barrier took longer than is waited for */
    int lookups_most;     /* partitions of the next look-up */
    unsigned loading;     /* partitions that are */
    int64_t next_step_ns; /* of a load, while records wait */
    int64_t next_barrier_ns;
    int64_t next_sweep_ns; /* when every state partition is looked at again */
    int64_t shown_ns;
};

/** Soon, between two tries to get a store going, ms. */
#define AB_STATE_SOON_MS 100

/* lane_stores.c: getting stores going, and giving them up. Partitions are the lane's own. */

/** An event about a state partition. */
void ab_answers_tell(ab_lane_t *lane, ab_level_t level, const char *event, const char *message,
                     const char *topic, int32_t partition, const char *text);

/** Ends fetching and the loan; what was not committed is forgotten. */
void ab_answers_give_back(ab_lane_t *lane, size_t topic, int32_t partition);

/** The same, and no new try for so long. */
void ab_answers_try_again(ab_lane_t *lane, size_t topic, int32_t partition, unsigned wait_ms);

/** A call on the partition's store went wrong. */
void ab_answers_trouble(ab_lane_t *lane, size_t topic, int32_t partition, ab_store_result_t result);

/** Commits the store. False after trouble, which has been seen to. */
bool ab_answers_commit(ab_lane_t *lane, size_t topic, int32_t partition);

/** Opens one store whose turn it is, one a turn, since it asks the disk; and lets those be fetched
 * of which the brokers have told where to begin. True when there was one to open. */
bool ab_answers_open_one(ab_lane_t *lane, int64_t now);

/** A partition whose store is loaded has been read to its end: it is fetched no more until all of
 * it is written. */
void ab_answers_begin_load(ab_lane_t *lane, size_t topic, int32_t partition);

/** Writes some of it. True when that was the last, and the partition is fetched again. */
bool ab_answers_load_some(ab_lane_t *lane, size_t topic, int32_t partition);

/** The store cannot be used any more: it is made anew. */
void ab_answers_rebuild(ab_lane_t *lane, size_t topic, int32_t partition, const char *why);

/** The state partition of this number, NULL when the lane has none. */
ab_state_part_t *ab_answers_part(const ab_lane_t *lane, size_t topic, int32_t partition);

/* lane_restore.c */

/** A source partition comes to the lane, or leaves it: so do the state partitions that belong to
 *  it. Leaving commits what was applied. */
void ab_answers_gain(ab_lane_t *lane, int source, int32_t partition);
void ab_answers_lose(ab_lane_t *lane, int source, int32_t partition);

/** Once a turn: applies what the state consumer has, for a bounded time, opens stores whose turn it
 *  is, and shows how they stand. */
void ab_answers_serve(ab_lane_t *lane);

/** True when everything below end has been applied, and can be looked up. */
bool ab_answers_reached(ab_lane_t *lane, size_t topic, int32_t partition, int64_t end);

/** Makes the state consumer of a life; ends it, giving every store back. */
bool ab_answers_connect(ab_lane_t *lane);
void ab_answers_disconnect(ab_lane_t *lane);

/* lane_barrier.c */

/** The ends that the request at offset waits for, into held: those of the last barrier where that
 *  covers it, else of a fresh one, which is waited for a little where wait says so. False while
 *  they are not known. */
bool ab_answers_find_ends(ab_lane_t *lane, int source, int32_t partition, int64_t offset, bool wait,
                          ab_held_t *held);

/** True when the request at offset, which is about to be taken, needs a barrier that is not known
 *  yet, and that has been asked for: there is time for something else. */
bool ab_answers_ask_ahead(ab_lane_t *lane, int source, int32_t partition, int64_t offset);

/* lane_answer.c */

/** Makes what a lane needs to answer; 0, or -1 when memory is short. */
int ab_answers_new(ab_lane_t *lane);
void ab_answers_free(ab_lane_t *lane);

/** An export request that is to be answered: true when lane->answers->answer is its answer, or when
 *  the verdict has become a dead letter; false when the request is held, and the message with it.
 */
bool ab_answers_take(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                     int source, ab_part_t *part, ab_verdict_t *verdict);

/** Takes the held requests whose barrier is reached, or whose time is over. */
void ab_answers_release(ab_lane_t *lane);

/** How long the loop may wait for a record, ms, at most most_ms. */
int ab_answers_patience_ms(const ab_lane_t *lane, int most_ms);

/** True when the message is held and must not be destroyed. */
bool ab_answers_holds(const ab_lane_t *lane, const rd_kafka_message_t *message);

/** Forgets every held request; each is read again. Their partitions are resumed. */
void ab_answers_drop(ab_lane_t *lane);

/** Forgets the request that this partition holds, which is not the lane's any more. */
void ab_answers_drop_one(ab_lane_t *lane, int source, int32_t partition);

#endif
