#ifndef BRIDGE_KAFKA_HANDLE_H
#define BRIDGE_KAFKA_HANDLE_H

#include <librdkafka/rdkafka.h>

#include "bridge/config/config.h"

/** The clients a process has: one probe, and per lane one consumer and one transactional producer.
 *  The verbs that look at topics have readers, consumers that are in no group; so has a lane that
 *  answers export requests, for the state topics. */
typedef enum ab_role {
    AB_ROLE_PROBE,
    AB_ROLE_CONSUMER,
    AB_ROLE_PRODUCER,
    AB_ROLE_READER
} ab_role_t;

/** What a client needs beyond the config. */
typedef struct ab_handle_spec {
    ab_role_t role;
    unsigned lane;
    int32_t message_max_bytes; /* producer: the largest of the outputs' limits */
    int32_t batch_bytes;       /* producer: the smallest of them */
    uint64_t prefetch_bytes;   /* reader: bound of what is fetched ahead; 0: memory.per_lane */
    const char *job;           /* producer: of this redrive job, no lane's; NULL: a lane's */
    bool uncommitted;          /* reader: sees records of open and aborted transactions */
    unsigned fetch_wait_ms;    /* reader: longest wait of a fetch for data; 0: librdkafka's own */
} ab_handle_spec_t;

/** Longest text of a handle error, NUL included. */
#define AB_HANDLE_TEXT_MAX 512

/** The librdkafka configuration of one client: the user's properties, then the ones the bridge
 * owns. NULL when a property is refused; ret_text then says which and why, without its value, and
 *  *ret_property points to it (NULL when it is one of the bridge's own).
 *  The caller owns the result: rd_kafka_new() takes it, rd_kafka_conf_destroy() frees it. */
rd_kafka_conf_t *ab_handle_conf_new(const ab_config_t *config, const ab_handle_spec_t *spec,
                                    char ret_text[AB_HANDLE_TEXT_MAX],
                                    const ab_property_t **ret_property);

#endif
