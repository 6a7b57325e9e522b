#include "bridge/kafka/embedded.h"

#include <assert.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAUSE_NS 2000000

struct ab_embedded {
    rd_kafka_t *handle; /* connects to nothing: the mock's house-keeping hangs on it */
    rd_kafka_mock_cluster_t *mock;
    int brokers;
};

ab_embedded_t *ab_embedded_new(int brokers, char ret_text[AB_EMBEDDED_TEXT_MAX])
{
    assert(brokers >= 1 && brokers <= AB_EMBEDDED_BROKERS_MAX);
    ab_embedded_t *embedded = calloc(1, sizeof(*embedded));
    if (embedded == NULL) {
        snprintf(ret_text, AB_EMBEDDED_TEXT_MAX, "memory ran out");
        return NULL;
    }
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    /* What the mock has to say is about itself: that it is experimental, that a client went away.
     */
    rd_kafka_conf_set_log_cb(conf, NULL);
    embedded->brokers = brokers;
    embedded->handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, ret_text, AB_EMBEDDED_TEXT_MAX);
    if (embedded->handle == NULL) {
        rd_kafka_conf_destroy(conf);
        free(embedded);
        return NULL;
    }
    embedded->mock = rd_kafka_mock_cluster_new(embedded->handle, brokers);
    if (embedded->mock == NULL) {
        snprintf(ret_text, AB_EMBEDDED_TEXT_MAX,
                 "the mock cluster cannot listen on loopback: are sockets or threads used up?");
        rd_kafka_destroy(embedded->handle);
        free(embedded);
        return NULL;
    }
    return embedded;
}

const char *ab_embedded_bootstrap_view(const ab_embedded_t *embedded)
{
    return rd_kafka_mock_cluster_bootstraps(embedded->mock);
}

int ab_embedded_add_topic(ab_embedded_t *embedded, const char *topic, int partitions,
                          char ret_text[AB_EMBEDDED_TEXT_MAX])
{
    /* In librdkafka 2.0 a call that comes while the mock's thread is just done with the last one
     * does not wake it, and waits out its second of sleep. */
    const struct timespec pause = {0, PAUSE_NS};
    const rd_kafka_resp_err_t err =
        rd_kafka_mock_topic_create(embedded->mock, topic, partitions, embedded->brokers);
    nanosleep(&pause, NULL);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        snprintf(ret_text, AB_EMBEDDED_TEXT_MAX, "the topic %s cannot be made: %s", topic,
                 rd_kafka_err2str(err));
        return -1;
    }
    return 0;
}

struct rd_kafka_mock_cluster_s *ab_embedded_mock_view(ab_embedded_t *embedded)
{
    return embedded->mock;
}

void ab_embedded_free(ab_embedded_t *embedded)
{
    if (embedded == NULL) {
        return;
    }
    rd_kafka_mock_cluster_destroy(embedded->mock);
    rd_kafka_destroy(embedded->handle);
    free(embedded);
}
