#ifndef BRIDGE_CLI_DEMO_PLAN_H
#define BRIDGE_CLI_DEMO_PLAN_H

#include "bridge/core/verdict.h"
#include "bridge/kafka/embedded_client.h"

/** The topics of the demo. Those of the routes come in the order of the route slots. */
typedef enum ab_demo_topic {
    AB_DEMO_EVENTS,
    AB_DEMO_RESULTS,
    AB_DEMO_APPROVALS,
    AB_DEMO_ANSWERS, /* to export requests */
    AB_DEMO_ERRORS,
    AB_DEMO_QUARANTINE,
    AB_DEMO_STATES, /* published state, as many partitions as the source */
    AB_DEMO_SOURCE,
    AB_DEMO_TOPIC_COUNT
} ab_demo_topic_t;

#define AB_DEMO_GROUP "agent-bridge-demo"

/** The name of a topic and how many partitions it has. Static storage. */
const char *ab_demo_topic_name(ab_demo_topic_t topic);
int32_t ab_demo_topic_partitions(ab_demo_topic_t topic);

/** Longest configuration text of the demo, NUL included. */
#define AB_DEMO_CONFIG_MAX 2048u

/** Writes the configuration that the demo's relay runs with, state_dir as its state.dir; returns
 * its length. */
size_t ab_demo_config_text(const char *bootstrap, const char *state_dir,
                           char ret_text[AB_DEMO_CONFIG_MAX]);

/** One record, and what has to become of it. */
typedef struct ab_demo_record {
    ab_full_record_t message; /* as it is written; record.offset is where it will be */
    ab_outcome_t outcome;     /* ROUTED, ANSWERED or DEAD_LETTERED */
    ab_route_slot_t slot; /* with ROUTED and ANSWERED; the topic is the demo topic of that number */
    ab_reason_t reason;   /* with DEAD_LETTERED */
    aw_span_t entity_key; /* of what comes out */
    int64_t event_time_ms;             /* of the dead letter */
    aw_span_t answer;                  /* with ANSWERED: the value */
    const struct ab_demo_state *state; /* it is made from; NULL: none was published there */
} ab_demo_record_t;

/** One published state. */
typedef struct ab_demo_state {
    ab_full_record_t message; /* record.offset is where it will be */
    int64_t seq;
    int64_t at_ms; /* its snapshot_at_ms */
} ab_demo_state_t;

/** Records of every variant, some broken in every way there is. The same on every run and every
 *  machine: from a fixed seed, without a clock. */
typedef struct ab_demo_plan ab_demo_plan_t;

/** Makes them. The caller owns the plan. NULL when memory is short. */
ab_demo_plan_t *ab_demo_plan_new(void);

/** The records in the order in which they are written, and how many. They live as long as the
 *  plan. */
const ab_demo_record_t *ab_demo_plan_view(const ab_demo_plan_t *plan, size_t *ret_count);

/** The states that are published before the records are written, likewise. */
const ab_demo_state_t *ab_demo_plan_states_view(const ab_demo_plan_t *plan, size_t *ret_count);

/** Takes NULL. */
void ab_demo_plan_free(ab_demo_plan_t *plan);

#endif
