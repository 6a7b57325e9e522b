#ifndef BRIDGE_KAFKA_EMBEDDED_H
#define BRIDGE_KAFKA_EMBEDDED_H

/** A Kafka cluster inside this process: librdkafka's mock, on loopback ports that it finds free.
 *
 *  It serves demos and quick tests and proves nothing about exactly-once: a reader sees aborted
 *  records whatever its isolation level is, offsets sent in a transaction are not kept, and a
 *  partition holds its last 5 MiB only. So a relay on it begins where ab_client_commit() said. */
typedef struct ab_embedded ab_embedded_t;

/** Longest text that says why something failed here, NUL included. */
#define AB_EMBEDDED_TEXT_MAX 256u
/** Most brokers of one cluster. */
#define AB_EMBEDDED_BROKERS_MAX 9

/** Starts a cluster of 1 to AB_EMBEDDED_BROKERS_MAX brokers.
 *  The caller owns it. NULL when it cannot be; ret_text then says why. */
ab_embedded_t *ab_embedded_new(int brokers, char ret_text[AB_EMBEDDED_TEXT_MAX]);

/** Where the cluster listens, as a value of bootstrap.servers. Lives as long as the cluster. */
const char *ab_embedded_bootstrap_view(const ab_embedded_t *embedded);

/** Makes a topic of so many partitions. Returns 0, or -1 and says why in ret_text. */
int ab_embedded_add_topic(ab_embedded_t *embedded, const char *topic, int partitions,
                          char ret_text[AB_EMBEDDED_TEXT_MAX]);

/** The mock itself (librdkafka/rdkafka_mock.h), to make it fail on purpose. Lives as long as the
 *  cluster. */
struct rd_kafka_mock_cluster_s *ab_embedded_mock_view(ab_embedded_t *embedded);

/** Stops the brokers and frees. Every client must be gone before. Takes NULL. */
void ab_embedded_free(ab_embedded_t *embedded);

#endif
