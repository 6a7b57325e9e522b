#ifndef BRIDGE_KAFKA_RELAY_STATE_H
#define BRIDGE_KAFKA_RELAY_STATE_H

#include "bridge/kafka/lane.h"

/** What a process needs to answer export requests, beside its lanes: the folder of the stores, and
 * a client that is asked where logs end. Everything here does nothing where none is answered. */

/** Opens both, once the topics are known; watch gives the client its callbacks. False after saying
 *  why not: the folder cannot be used, or a state topic and its source differ in their numbers of
 *  partitions. */
bool ab_relay_state_open(ab_shared_t *shared, void (*watch)(rd_kafka_conf_t *conf, void *opaque),
                         void *opaque);

/** Asks how many partitions the state topics have now. */
void ab_relay_state_look(ab_shared_t *shared, rd_kafka_t *probe);

/** Closes both; no lane runs any more. */
void ab_relay_state_close(ab_shared_t *shared);

#endif
