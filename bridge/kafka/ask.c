#include "bridge/kafka/ask.h"

#include <stdio.h>
#include <string.h>

#include "bridge/kafka/errors.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/relay.h"

#define POLL_MS 100

typedef struct sent {
    bool reported;
    rd_kafka_resp_err_t error;
    int32_t partition;
    int64_t offset;
} sent_t;

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    sent_t *sent = message->_private;
    (void)rk;
    (void)opaque;
    *sent = (sent_t){true, message->err, message->partition, message->offset};
}

/* librdkafka would print what it has to say; the outcome says it. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)line;
}

static int set(rd_kafka_conf_t *conf, const char *name, const char *value, char *text)
{
    return rd_kafka_conf_set(conf, name, value, text, AB_ASK_TEXT_MAX) == RD_KAFKA_CONF_OK ? 0 : -1;
}

static rd_kafka_t *make_client(const ab_config_t *config, int timeout_ms, char *ret_text)
{
    char text[AB_HANDLE_TEXT_MAX];
    char timeout[16];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_PROBE};
    rd_kafka_conf_t *conf = ab_handle_conf_new(config, &spec, text, &property);
    if (conf == NULL) {
        (void)snprintf(ret_text, AB_ASK_TEXT_MAX, "%s", text);
        return NULL;
    }
    (void)snprintf(timeout, sizeof(timeout), "%d", timeout_ms);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    if (set(conf, "enable.idempotence", "true", ret_text) != 0 ||
        set(conf, "partitioner", "murmur2", ret_text) != 0 ||
        set(conf, "message.timeout.ms", timeout, ret_text) != 0) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, ret_text, AB_ASK_TEXT_MAX);
    if (client == NULL) {
        rd_kafka_conf_destroy(conf);
    }
    return client;
}

int ab_ask_write(const ab_config_t *config, const char *topic, aw_span_t key, aw_span_t value,
                 int timeout_ms, ab_coordinates_t *ret_at, char ret_text[AB_ASK_TEXT_MAX])
{
    sent_t sent = {.reported = false};
    rd_kafka_t *client = make_client(config, timeout_ms, ret_text);
    if (client == NULL) {
        return AB_EXIT_CONFIG;
    }
    rd_kafka_resp_err_t err = rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data, key.size),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.size), RD_KAFKA_V_OPAQUE(&sent),
        RD_KAFKA_V_END);
    /* message.timeout.ms bounds this: each record gets its report. */
    while (err == RD_KAFKA_RESP_ERR_NO_ERROR && !sent.reported) {
        rd_kafka_poll(client, POLL_MS);
    }
    err = err == RD_KAFKA_RESP_ERR_NO_ERROR ? sent.error : err;
    rd_kafka_destroy(client);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        (void)snprintf(ret_text, AB_ASK_TEXT_MAX, "%s: %s", topic, rd_kafka_err2str(err));
        return ab_error_is_denied(err) ? AB_EXIT_NOT_ALLOWED : AB_EXIT_UNAVAILABLE;
    }
    (void)snprintf(ret_at->topic, sizeof(ret_at->topic), "%s", topic);
    ret_at->partition = sent.partition;
    ret_at->offset = sent.offset;
    return 0;
}
