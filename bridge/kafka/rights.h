#ifndef BRIDGE_KAFKA_RIGHTS_H
#define BRIDGE_KAFKA_RIGHTS_H

#include "bridge/config/config.h"
#include "bridge/kafka/topics.h"

/** What the brokers say about a right. */
typedef enum ab_right_answer {
    AB_RIGHT_GRANTED,
    AB_RIGHT_MISSING,
    AB_RIGHT_UNKNOWN /* they could not be asked: error says why */
} ab_right_answer_t;

/** One right that the relay needs, in the words of Kafka's ACLs. Strings are borrowed. */
typedef struct ab_right {
    const char *operation;     /* "Read" */
    const char *resource_type; /* "Topic" */
    const char *resource;
    bool prefixed; /* the resource is the beginning of the names that are meant */
    ab_right_answer_t answer;
    rd_kafka_resp_err_t error; /* what the brokers answered where the right is not granted */
} ab_right_t;

/** Receives a right; borrowed for the call. */
typedef void ab_right_fn(void *opaque, const ab_right_t *right);

/** Which rights are asked for. */
#define AB_RIGHTS_TRANSACTIONS 1u /* Write on the transactional ids */
#define AB_RIGHTS_GROUP        2u /* Read on the group */
#define AB_RIGHTS_TOPICS       4u /* Read on the sources, Write on the outputs */

/** Asks the brokers for the rights in which, and tells each answer. Of topics, those with a
 * partition count of 0 are left out. Takes up to three times timeout_ms. Returns 0, or -1 when
 * memory is short or librdkafka makes no client.
 *
 * Nothing is changed by asking, since every request is one that Kafka refuses after it has looked
 * at the rights and before it does anything: an offset of a partition that does not exist, a
 * transaction timeout above every limit for a transactional id that no lane has, a record with an
 * acks that there is not. The last is sent only where the broker refused the one before it as
 * Apache Kafka does, or where AB_RIGHTS_TRANSACTIONS is not asked for. */
int ab_rights_ask(const ab_config_t *config, const ab_topic_t *topics, size_t count, unsigned which,
                  int timeout_ms, ab_right_fn *tell, void *opaque);

/** The right on the transactional ids of every lane, as one that is missing. ret_prefix holds its
 * resource. */
ab_right_t ab_right_of_transactions(const ab_config_t *config,
                                    char ret_prefix[AB_CONFIG_TOPIC_MAX + 2]);

/** The right on the group, as one that is missing. */
ab_right_t ab_right_of_group(const ab_config_t *config);

/** The right on a topic, as one that is missing: Read on a source, Write on an output. Either
 * brings Describe. */
ab_right_t ab_right_of_topic(const ab_topic_t *topic);

/** Longest principal, NUL included. */
#define AB_PRINCIPAL_MAX 320

/** Whom the brokers see: "User:name", or in words where only they know. Never a value from a file
 *  or the environment. */
void ab_principal_text(const ab_config_t *config, char ret_text[AB_PRINCIPAL_MAX]);

#endif
