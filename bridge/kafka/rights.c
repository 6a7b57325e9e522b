#include "bridge/kafka/rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "bridge/kafka/handle.h"

/* Above what any broker allows, and the most that librdkafka takes. */
#define TIMEOUT_REFUSED_MS "2147483647"
/* Kafka knows -1, 0 and 1. */
#define ACKS_REFUSED "2"
/* No topic has so many. */
#define PARTITION_REFUSED INT32_MAX
#define POLL_MS           20
#define SLICE_MS          500 /* between two looks for a refusal */

typedef struct asking {
    const ab_config_t *config;
    const ab_topic_t *topics;
    size_t count;
    int timeout_ms;
    ab_right_fn *tell;
    void *opaque;
    rd_kafka_resp_err_t *answers; /* per topic; of its delivery report */
    size_t waiting;               /* reports to come */
} asking_t;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the rights by name ---- */

ab_right_t ab_right_of_transactions(const ab_config_t *config,
                                    char ret_prefix[AB_CONFIG_TOPIC_MAX + 2])
{
    snprintf(ret_prefix, AB_CONFIG_TOPIC_MAX + 2, "%s.", config->group);
    return (ab_right_t){"Write",          "TransactionalId",
                        ret_prefix,       true,
                        AB_RIGHT_MISSING, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED};
}

ab_right_t ab_right_of_group(const ab_config_t *config)
{
    return (ab_right_t){"Read", "Group",          config->group,
                        false,  AB_RIGHT_MISSING, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED};
}

ab_right_t ab_right_of_topic(const ab_topic_t *topic)
{
    return (ab_right_t){
        ab_topic_is_read(topic) ? "Read" : "Write",  "Topic", topic->name, false, AB_RIGHT_MISSING,
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED};
}

static bool is_set(const ab_config_t *config, const char *name)
{
    return ab_property_find(&config->kafka, name) != NULL;
}

void ab_principal_text(const ab_config_t *config, char ret_text[AB_PRINCIPAL_MAX])
{
    const ab_property_t *protocol = ab_property_find(&config->kafka, "security.protocol");
    const ab_property_t *user = ab_property_find(&config->kafka, "sasl.username");
    const char *text = "User:ANONYMOUS";
    if (protocol != NULL && strncasecmp(protocol->value, "sasl_", 5) == 0) {
        if (user != NULL && !user->indirect) {
            snprintf(ret_text, AB_PRINCIPAL_MAX, "User:%s", user->value);
            return;
        }
        text =
            user != NULL ? "the user that sasl.username names" : "the login of the sasl properties";
    } else if (protocol != NULL && strcasecmp(protocol->value, "ssl") == 0 &&
               (is_set(config, "ssl.certificate.location") ||
                is_set(config, "ssl.certificate.pem") || is_set(config, "ssl.keystore.location"))) {
        text = "the subject of the client's certificate";
    }
    snprintf(ret_text, AB_PRINCIPAL_MAX, "%s", text);
}

/* ---- clients that say nothing ---- */

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)line; /* the answer says it */
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    (void)rk;
    (void)err;
    (void)reason;
    (void)opaque;
}

typedef struct setting {
    const char *name;
    const char *value;
} setting_t;

static rd_kafka_t *make_client(const asking_t *asking, rd_kafka_type_t type,
                               const setting_t *settings, size_t count,
                               void (*on_report)(rd_kafka_t *, const rd_kafka_message_t *, void *))
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_PROBE};
    rd_kafka_conf_t *conf = ab_handle_conf_new(asking->config, &spec, text, &property);
    if (conf == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        (void)rd_kafka_conf_set(conf, settings[i].name, settings[i].value, NULL, 0);
    }
    rd_kafka_conf_set_opaque(conf, (void *)(uintptr_t)asking);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (on_report != NULL) {
        rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof(text));
    if (client == NULL) {
        rd_kafka_conf_destroy(conf);
    }
    return client;
}

static void answer(const asking_t *asking, ab_right_t right, ab_right_answer_t answer,
                   rd_kafka_resp_err_t error)
{
    right.answer = answer;
    right.error = error;
    asking->tell(asking->opaque, &right);
}

/* ---- the transactional ids ---- */

static void tell_nobody(void *opaque, const ab_right_t *right)
{
    (void)opaque;
    (void)right;
}

/* ret_kafka: the broker answered as Apache Kafka does. That is wanted with at_least_once, too,
 * which needs no right on transactional ids and tells of none. */
static int ask_transactions(const asking_t *caller, bool *ret_kafka)
{
    asking_t quiet = *caller;
    const asking_t *asking = &quiet;
    if (caller->config->guarantee == AB_AT_LEAST_ONCE) {
        quiet.tell = tell_nobody;
    }
    char id[1024];
    char prefix[AB_CONFIG_TOPIC_MAX + 2];
    const ab_right_t right = ab_right_of_transactions(asking->config, prefix);
    /* A lane's id ends in a number: this one is nobody's, so that nobody could be fenced. */
    snprintf(id, sizeof(id), "%s.%s.check", asking->config->group, asking->config->instance);
    const setting_t settings[] = {{"transactional.id", id},
                                  {"transaction.timeout.ms", TIMEOUT_REFUSED_MS}};
    rd_kafka_t *client = make_client(asking, RD_KAFKA_PRODUCER, settings, 2, NULL);
    if (client == NULL) {
        return -1;
    }
    rd_kafka_error_t *error = rd_kafka_init_transactions(client, asking->timeout_ms);
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    rd_kafka_destroy(client);
    *ret_kafka = true;
    switch (code) {
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
        answer(asking, right, AB_RIGHT_GRANTED, RD_KAFKA_RESP_ERR_NO_ERROR);
        break;
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        answer(asking, right, AB_RIGHT_MISSING, code);
        break;
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        *ret_kafka = false;
        answer(asking, right, AB_RIGHT_GRANTED, code);
        break;
    default:
        *ret_kafka = false;
        answer(asking, right, AB_RIGHT_UNKNOWN, code);
        break;
    }
    return 0;
}

/* ---- the group, and reading the sources ---- */

static void answer_source(const asking_t *asking, const char *name, rd_kafka_resp_err_t error)
{
    for (size_t i = 0; i < asking->count; i++) {
        if (!ab_topic_is_read(&asking->topics[i]) || strcmp(asking->topics[i].name, name) != 0) {
            continue;
        }
        const bool granted =
            error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || error == RD_KAFKA_RESP_ERR_NO_ERROR;
        answer(asking, ab_right_of_topic(&asking->topics[i]),
               granted                                                 ? AB_RIGHT_GRANTED
               : error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ? AB_RIGHT_MISSING
                                                                       : AB_RIGHT_UNKNOWN,
               error);
        return;
    }
}

/* Whether the group may be seen: first, because a commit to a coordinator that is refused waits for
 * most of a minute, and its client cannot be closed before. A refusal comes as an error of the
 * consumer; librdkafka goes on looking for a coordinator. */
static rd_kafka_resp_err_t see_group(const asking_t *asking, rd_kafka_t *client, const char *topic)
{
    const int64_t until = now_ms() + asking->timeout_ms;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_topic_partition_list_add(list, topic, 0);
    while (error == RD_KAFKA_RESP_ERR__TIMED_OUT && now_ms() < until) {
        error = rd_kafka_committed(client, list, SLICE_MS);
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 0);
        if (message != NULL && message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) {
            error = message->err;
        }
        if (message != NULL) {
            rd_kafka_message_destroy(message);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

static void answer_group(const asking_t *asking, unsigned which,
                         const rd_kafka_topic_partition_list_t *list, rd_kafka_resp_err_t error)
{
    const bool refused = error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
    const bool asked = list != NULL && !refused;
    if ((which & AB_RIGHTS_GROUP) != 0) {
        answer(asking, ab_right_of_group(asking->config),
               asked     ? AB_RIGHT_GRANTED
               : refused ? AB_RIGHT_MISSING
                         : AB_RIGHT_UNKNOWN,
               error);
    }
    for (size_t i = 0; (which & AB_RIGHTS_TOPICS) != 0 && !asked && i < asking->count; i++) {
        if (ab_topic_is_read(&asking->topics[i]) && asking->topics[i].partitions > 0) {
            answer_source(asking, asking->topics[i].name, error);
        }
    }
    for (int i = 0; (which & AB_RIGHTS_TOPICS) != 0 && asked && i < list->cnt; i++) {
        answer_source(asking, list->elems[i].topic, list->elems[i].err);
    }
}

static int ask_group(const asking_t *asking, unsigned which)
{
    const setting_t settings[] = {{"group.id", asking->config->group},
                                  {"enable.auto.commit", "false"},
                                  {"enable.auto.offset.store", "false"}};
    rd_kafka_t *client = make_client(asking, RD_KAFKA_CONSUMER, settings, 3, NULL);
    if (client == NULL) {
        return -1;
    }
    (void)rd_kafka_poll_set_consumer(client);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(4);
    for (size_t i = 0; i < asking->count; i++) {
        if (ab_topic_is_read(&asking->topics[i]) && asking->topics[i].partitions > 0) {
            rd_kafka_topic_partition_list_add(offsets, asking->topics[i].name, PARTITION_REFUSED)
                ->offset = 0;
        }
    }
    rd_kafka_event_t *event = NULL;
    rd_kafka_resp_err_t error = offsets->cnt > 0
                                    ? see_group(asking, client, offsets->elems[0].topic)
                                    : RD_KAFKA_RESP_ERR__NOENT; /* no source is known */
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        error = rd_kafka_commit_queue(client, offsets, queue, NULL, NULL);
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        event = rd_kafka_queue_poll(queue, asking->timeout_ms);
        error = event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    }
    answer_group(asking, which, event != NULL ? rd_kafka_event_topic_partition_list(event) : NULL,
                 error);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_topic_partition_list_destroy(offsets);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    return 0;
}

/* ---- writing the outputs ---- */

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    asking_t *asking = opaque;
    (void)rk;
    if (message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
        message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
        asking->answers[(uintptr_t)message->_private] = message->err;
    }
    asking->waiting--;
}

static bool produce_one(asking_t *asking, rd_kafka_t *client, size_t index)
{
    static char value[] = "agent-bridge check";
    char timeout[24];
    rd_kafka_topic_conf_t *conf = rd_kafka_topic_conf_new();
    snprintf(timeout, sizeof(timeout), "%d", asking->timeout_ms);
    (void)rd_kafka_topic_conf_set(conf, "acks", ACKS_REFUSED, NULL, 0);
    (void)rd_kafka_topic_conf_set(conf, "message.timeout.ms", timeout, NULL, 0);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, asking->topics[index].name, conf);
    if (topic == NULL) {
        rd_kafka_topic_conf_destroy(conf);
        return false;
    }
    const int result = rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, value, sizeof(value) - 1,
                                        NULL, 0, (void *)(uintptr_t)index);
    rd_kafka_topic_destroy(topic);
    return result == 0;
}

static void answer_outputs(const asking_t *asking)
{
    for (size_t i = 0; i < asking->count; i++) {
        const rd_kafka_resp_err_t error = asking->answers[i];
        if (!asking->topics[i].output || asking->topics[i].partitions <= 0) {
            continue;
        }
        const bool granted =
            error == RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS || error == RD_KAFKA_RESP_ERR_NO_ERROR;
        answer(asking, ab_right_of_topic(&asking->topics[i]),
               granted                                                 ? AB_RIGHT_GRANTED
               : error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ? AB_RIGHT_MISSING
                                                                       : AB_RIGHT_UNKNOWN,
               error);
    }
}

static int ask_outputs(asking_t *asking, bool may_send)
{
    rd_kafka_t *client = make_client(asking, RD_KAFKA_PRODUCER, NULL, 0, on_report);
    asking->answers = calloc(asking->count, sizeof(*asking->answers));
    if (client == NULL || asking->answers == NULL) {
        free(asking->answers);
        if (client != NULL) {
            rd_kafka_destroy(client);
        }
        return -1;
    }
    asking->waiting = 0;
    for (size_t i = 0; i < asking->count; i++) {
        asking->answers[i] =
            may_send ? RD_KAFKA_RESP_ERR__TIMED_OUT : RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED;
        if (may_send && asking->topics[i].output && asking->topics[i].partitions > 0) {
            asking->waiting += produce_one(asking, client, i);
        }
    }
    const int64_t until = now_ms() + asking->timeout_ms;
    while (asking->waiting > 0 && now_ms() < until) {
        rd_kafka_poll(client, POLL_MS);
    }
    (void)rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    (void)rd_kafka_flush(client, POLL_MS);
    answer_outputs(asking);
    rd_kafka_destroy(client);
    free(asking->answers);
    return 0;
}

int ab_rights_ask(const ab_config_t *config, const ab_topic_t *topics, size_t count, unsigned which,
                  int timeout_ms, ab_right_fn *tell, void *opaque)
{
    asking_t asking = {.config = config,
                       .topics = topics,
                       .count = count,
                       .timeout_ms = timeout_ms,
                       .tell = tell,
                       .opaque = opaque};
    bool may_send = true;
    if ((which & AB_RIGHTS_TRANSACTIONS) != 0 && ask_transactions(&asking, &may_send) != 0) {
        return -1;
    }
    if ((which & (AB_RIGHTS_GROUP | AB_RIGHTS_TOPICS)) != 0 && ask_group(&asking, which) != 0) {
        return -1;
    }
    if ((which & AB_RIGHTS_TOPICS) != 0 && ask_outputs(&asking, may_send) != 0) {
        return -1;
    }
    return 0;
}
