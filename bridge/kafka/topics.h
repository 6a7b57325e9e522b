#ifndef BRIDGE_KAFKA_TOPICS_H
#define BRIDGE_KAFKA_TOPICS_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "bridge/config/config.h"

/** What Kafka assumes for max.message.bytes where DescribeConfigs is refused. */
#define AB_MESSAGE_BYTES_DEFAULT 1048588

/** What the bridge knows of one topic it reads or writes. */
typedef struct ab_topic {
    const char *name; /* borrowed from the config */
    bool source;
    bool output;
    bool state;                /* read for the state of its keys */
    int32_t partitions;        /* 0 until the brokers have told */
    int32_t max_message_bytes; /* outputs only */
    bool begun;                /* sources only: a lane of this process has read from it */
    int64_t gone_told_ms;      /* when it was last told that the topic is gone, 0: never */
} ab_topic_t;

/** True when the bridge reads the topic. */
static inline bool ab_topic_is_read(const ab_topic_t *topic)
{
    return topic->source || topic->state;
}

/** Why a topic could not be learned. */
typedef enum ab_topic_problem {
    AB_TOPIC_OK,
    AB_TOPIC_MISSING,
    AB_TOPIC_DENIED,
    AB_TOPIC_UNREACHABLE
} ab_topic_problem_t;

/** Asks the brokers for the partition count of any topic; never creates it. *ret_partitions is
 *  written on OK, ret_text with why not otherwise; *ret_broker, where not NULL, whenever a broker
 *  answered. */
ab_topic_problem_t ab_topic_ask(rd_kafka_t *client, const char *name, int timeout_ms,
                                int32_t *ret_partitions, int32_t *ret_broker, char *ret_text,
                                size_t room);

/** The topics of a configuration, shared by the lanes; every access copies under a lock. */
typedef struct ab_topics ab_topics_t;

/** Collects every source and output of the config, each once. NULL when memory is short. */
ab_topics_t *ab_topics_new(const ab_config_t *config);

/** The same for topics by name, all of them outputs. The names are borrowed. */
ab_topics_t *ab_topics_new_outputs(const char *const *names, size_t count);

/** Takes NULL. */
void ab_topics_free(ab_topics_t *topics);

size_t ab_topics_count(const ab_topics_t *topics);

/** The index of a name, or -1. */
int ab_topics_find(const ab_topics_t *topics, const char *name);

/** A copy of one topic's facts. */
ab_topic_t ab_topics_get(ab_topics_t *topics, size_t index);

/** The largest and the smallest limit of the outputs, bytes. */
void ab_topics_limits(ab_topics_t *topics, int32_t *ret_largest, int32_t *ret_smallest);

/** Goes up whenever a refresh changed a fact. */
unsigned ab_topics_version(ab_topics_t *topics);

/** Asks the brokers for one topic's partition count; never creates it. */
ab_topic_problem_t ab_topics_refresh_one(ab_topics_t *topics, size_t index, rd_kafka_t *probe,
                                         int timeout_ms, char *ret_text, size_t room);

/** As ab_topics_refresh_one(), for a topic that was there before: one that is gone is told, at most
 * every ten seconds. */
ab_topic_problem_t ab_topics_look(ab_topics_t *topics, size_t index, rd_kafka_t *probe,
                                  int timeout_ms, const ab_sink_t *sink);

/** Notes that a lane reads from a source, and so that the group has offsets for it. */
void ab_topics_begin(ab_topics_t *topics, size_t index);

/** Asks for max.message.bytes of every output, in one request. Where it is refused the default
 * stays. Returns false when the brokers did not answer in time. */
bool ab_topics_refresh_limits(ab_topics_t *topics, rd_kafka_t *probe, int timeout_ms,
                              const ab_sink_t *sink);

#endif
