#ifndef BRIDGE_KAFKA_CHECK_FACTS_H
#define BRIDGE_KAFKA_CHECK_FACTS_H

#include "bridge/kafka/topics.h"

/** A value that the brokers have not told. */
#define AB_FACT_UNKNOWN INT64_MIN

/** The properties of a topic that matter. Flags are 0 or 1. */
typedef enum ab_topic_fact {
    AB_FACT_MAX_MESSAGE_BYTES,
    AB_FACT_RETENTION_MS, /* -1: for ever */
    AB_FACT_MIN_INSYNC,
    AB_FACT_BEFORE_MAX_MS, /* INT64_MAX: no limit */
    AB_FACT_AFTER_MAX_MS,
    AB_FACT_COMPACTS,
    AB_FACT_DELETES,
    AB_FACT_APPEND_TIME,
    AB_FACT_UNCLEAN,
    AB_FACT_TOMBSTONES_MS, /* delete.retention.ms */
    AB_TOPIC_FACT_COUNT
} ab_topic_fact_t;

/** The properties of a broker that matter. */
typedef enum ab_broker_fact {
    AB_FACT_TRANSACTION_MAX_MS,
    AB_FACT_VERIFIES, /* transaction.partition.verification.enable */
    AB_BROKER_FACT_COUNT
} ab_broker_fact_t;

/** What the brokers told of one topic. */
typedef struct ab_topic_facts {
    ab_topic_t topic;
    ab_topic_problem_t problem; /* with another than OK nothing below is known */
    int copies, in_sync;        /* of the partition that has the fewest */
    int leaderless;             /* partitions without a leader */
    rd_kafka_resp_err_t error;  /* why the properties are not known */
    int64_t values[AB_TOPIC_FACT_COUNT];
} ab_topic_facts_t;

/** What one broker told of itself. */
typedef struct ab_broker_facts {
    int32_t id;
    rd_kafka_resp_err_t error; /* why the properties are not known */
    int64_t values[AB_BROKER_FACT_COUNT];
} ab_broker_facts_t;

/** Most brokers that are asked for their properties. */
#define AB_CHECK_BROKERS_MAX 64

/** Longest version text, NUL included. */
#define AB_CHECK_VERSION_MAX 48

/** All that was learned. Start from {0}. */
typedef struct ab_check_facts {
    ab_topic_facts_t *topics;
    size_t topic_count;
    ab_broker_facts_t brokers[AB_CHECK_BROKERS_MAX];
    int broker_count;   /* of the cluster, also those that were not asked */
    int32_t controller; /* -1: not known */
    char cluster_id[64];
    char version[AB_CHECK_VERSION_MAX]; /* of Kafka, as far as its properties give it away */
} ab_check_facts_t;

/** Takes the topics from a configuration, nothing known of them yet. Returns 0, or -1 when memory
 * is short. */
int ab_check_facts_init(ab_check_facts_t *facts, const ab_config_t *config);

/** Frees what is inside. */
void ab_check_facts_clear(ab_check_facts_t *facts);

/** Asks for partitions and copies of one topic, and for the brokers. The problem is in the facts;
 *  also returned. */
ab_topic_problem_t ab_check_ask_topic(ab_check_facts_t *facts, size_t index, rd_kafka_t *probe,
                                      int timeout_ms);

/** Asks for the properties of all topics that are there, and of every broker. Needs
 * ab_check_ask_topic() of each topic before. */
void ab_check_ask_properties(ab_check_facts_t *facts, rd_kafka_t *probe, int timeout_ms);

/** One property of a topic, as DescribeConfigs gives it. */
void ab_check_learn_topic(ab_topic_facts_t *topic, const char *name, const char *value);

/** One property of a broker; also learns the version. */
void ab_check_learn_broker(ab_check_facts_t *facts, ab_broker_facts_t *broker, const char *name,
                           const char *value);

#endif
