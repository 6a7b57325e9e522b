#ifndef BRIDGE_KAFKA_LANE_H
#define BRIDGE_KAFKA_LANE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "bridge/config/config.h"
#include "bridge/core/event.h"
#include "bridge/core/status.h"
#include "bridge/kafka/link.h"
#include "bridge/kafka/topics.h"

/** One lane: a thread with a group consumer and a transactional producer (specs/lane.md). */
typedef struct ab_lane ab_lane_t;

/** What the lanes of a process share; the relay owns it and outlives them. */
typedef struct ab_shared {
    const ab_config_t *config;
    const ab_sink_t *sink;
    ab_topics_t *topics;
    struct ab_stores *stores; /* these two only where export requests are answered */
    rd_kafka_t *ends;         /* asked where logs end; sees what is not committed, never fetches */
    atomic_bool stop;         /* every lane ends at its next record boundary */
    atomic_bool refresh_topics; /* a lane saw a refusal: look at the topics again */
    ab_link_t link;             /* what keeps the clients from the brokers */
    atomic_int denied; /* the last error that said a right is missing; 0: looked into already */
    atomic_bool has_worked;   /* a lane has committed records: the rights that takes were there */
    atomic_bool denied_early; /* the error came before that */
} ab_shared_t;

/** Makes lane number index. NULL when memory is short. */
ab_lane_t *ab_lane_new(ab_shared_t *shared, unsigned index);

/** The thread's function: runs until stop is set or the lane is beyond help. Returns the sysexits
 * code (an ab_exit_t). */
int ab_lane_run(ab_lane_t *lane);

/** The lane's durable ledger now; any thread. */
void ab_lane_ledger(ab_lane_t *lane, ab_ledger_t *ret_ledger);

/** The lane now, and its share of every source added to ret_sources (one per source of the config);
 * any thread. The lane refreshes the sources about once a second. */
void ab_lane_status(ab_lane_t *lane, ab_lane_status_t *ret_status, ab_source_status_t *ret_sources);

/** The lane's share of every state topic added to ret_states (one per topic of
 * state.snapshots_from); any thread. Nothing is added where no export request is answered. */
void ab_lane_states(ab_lane_t *lane, ab_state_status_t *ret_states);

/** The lane's share of every source partition's durable outcomes, added to tallies; any thread. */
void ab_lane_tallies(ab_lane_t *lane, ab_tallies_t *tallies);

/** Takes NULL. Not while ab_lane_run() runs. */
void ab_lane_free(ab_lane_t *lane);

#endif
