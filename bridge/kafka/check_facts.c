#include "bridge/kafka/check_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/kafka/errors.h"

/* ---- what a property says ---- */

typedef enum fact_kind { KIND_NUMBER, KIND_WORD } fact_kind_t;

/* A property, and the word that sets its flag. */
typedef struct property_row {
    const char *name;
    int fact;
    fact_kind_t kind;
    const char *word;
} property_row_t;

static const property_row_t topic_properties[] = {
    {"max.message.bytes", AB_FACT_MAX_MESSAGE_BYTES, KIND_NUMBER, NULL},
    {"retention.ms", AB_FACT_RETENTION_MS, KIND_NUMBER, NULL},
    {"min.insync.replicas", AB_FACT_MIN_INSYNC, KIND_NUMBER, NULL},
    {"message.timestamp.before.max.ms", AB_FACT_BEFORE_MAX_MS, KIND_NUMBER, NULL},
    {"message.timestamp.after.max.ms", AB_FACT_AFTER_MAX_MS, KIND_NUMBER, NULL},
    {"cleanup.policy", AB_FACT_COMPACTS, KIND_WORD, "compact"},
    {"cleanup.policy", AB_FACT_DELETES, KIND_WORD, "delete"},
    {"message.timestamp.type", AB_FACT_APPEND_TIME, KIND_WORD, "LogAppendTime"},
    {"unclean.leader.election.enable", AB_FACT_UNCLEAN, KIND_WORD, "true"},
    {"delete.retention.ms", AB_FACT_TOMBSTONES_MS, KIND_NUMBER, NULL},
};

static const property_row_t broker_properties[] = {
    {"transaction.max.timeout.ms", AB_FACT_TRANSACTION_MAX_MS, KIND_NUMBER, NULL},
    {"transaction.partition.verification.enable", AB_FACT_VERIFIES, KIND_WORD, "true"},
};

/* Kafka's own version where it tells: gone with ZooKeeper in 4.0. */
#define PROTOCOL_VERSION "inter.broker.protocol.version"
#define WITHOUT_IT       "4.0 or later"

static void learn(const property_row_t *rows, size_t count, int64_t *values, const char *name,
                  const char *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) != 0) {
            continue;
        }
        values[rows[i].fact] = rows[i].kind == KIND_NUMBER ? strtoll(value, NULL, 10)
                                                           : strstr(value, rows[i].word) != NULL;
    }
}

void ab_check_learn_topic(ab_topic_facts_t *topic, const char *name, const char *value)
{
    learn(topic_properties, sizeof(topic_properties) / sizeof(topic_properties[0]), topic->values,
          name, value);
    /* Before Kafka 3.6 one property bounds both sides. */
    if (strcmp(name, "message.timestamp.difference.max.ms") == 0) {
        const int64_t limit = strtoll(value, NULL, 10);
        for (int fact = AB_FACT_BEFORE_MAX_MS; fact <= AB_FACT_AFTER_MAX_MS; fact++) {
            if (topic->values[fact] == AB_FACT_UNKNOWN) {
                topic->values[fact] = limit;
            }
        }
    }
}

void ab_check_learn_broker(ab_check_facts_t *facts, ab_broker_facts_t *broker, const char *name,
                           const char *value)
{
    learn(broker_properties, sizeof(broker_properties) / sizeof(broker_properties[0]),
          broker->values, name, value);
    if (strcmp(name, PROTOCOL_VERSION) == 0) {
        snprintf(facts->version, sizeof(facts->version), "%s", value);
    }
}

/* ---- the topics of a configuration ---- */

int ab_check_facts_init(ab_check_facts_t *facts, const ab_config_t *config)
{
    ab_topics_t *topics = ab_topics_new(config);
    memset(facts, 0, sizeof(*facts));
    facts->controller = -1;
    if (topics == NULL) {
        return -1;
    }
    const size_t count = ab_topics_count(topics);
    facts->topics = calloc(count, sizeof(*facts->topics));
    facts->topic_count = facts->topics != NULL ? count : 0;
    for (size_t i = 0; i < facts->topic_count; i++) {
        facts->topics[i].topic = ab_topics_get(topics, i);
        facts->topics[i].problem = AB_TOPIC_UNREACHABLE;
        for (int fact = 0; fact < AB_TOPIC_FACT_COUNT; fact++) {
            facts->topics[i].values[fact] = AB_FACT_UNKNOWN;
        }
    }
    ab_topics_free(topics);
    return facts->topics != NULL ? 0 : -1;
}

void ab_check_facts_clear(ab_check_facts_t *facts)
{
    free(facts->topics);
    facts->topics = NULL;
    facts->topic_count = 0;
}

/* ---- metadata ---- */

static void learn_partitions(ab_topic_facts_t *facts, const struct rd_kafka_metadata_topic *found)
{
    facts->topic.partitions = found->partition_cnt;
    facts->copies = INT32_MAX;
    facts->in_sync = INT32_MAX;
    facts->leaderless = 0;
    for (int i = 0; i < found->partition_cnt; i++) {
        const struct rd_kafka_metadata_partition *partition = &found->partitions[i];
        facts->copies =
            partition->replica_cnt < facts->copies ? partition->replica_cnt : facts->copies;
        facts->in_sync = partition->isr_cnt < facts->in_sync ? partition->isr_cnt : facts->in_sync;
        facts->leaderless += partition->leader < 0;
    }
}

static void learn_brokers(ab_check_facts_t *facts, const struct rd_kafka_metadata *metadata)
{
    facts->broker_count = metadata->broker_cnt;
    for (int i = 0; i < metadata->broker_cnt && i < AB_CHECK_BROKERS_MAX; i++) {
        facts->brokers[i] = (ab_broker_facts_t){.id = metadata->brokers[i].id};
        for (int fact = 0; fact < AB_BROKER_FACT_COUNT; fact++) {
            facts->brokers[i].values[fact] = AB_FACT_UNKNOWN;
        }
    }
}

ab_topic_problem_t ab_check_ask_topic(ab_check_facts_t *facts, size_t index, rd_kafka_t *probe,
                                      int timeout_ms)
{
    ab_topic_facts_t *topic = &facts->topics[index];
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(probe, topic->topic.name, NULL);
    topic->problem = AB_TOPIC_UNREACHABLE;
    topic->error = handle == NULL ? rd_kafka_last_error()
                                  : rd_kafka_metadata(probe, 0, handle, &metadata, timeout_ms);
    if (topic->error == RD_KAFKA_RESP_ERR_NO_ERROR && metadata != NULL) {
        const struct rd_kafka_metadata_topic *found =
            metadata->topic_cnt == 1 ? &metadata->topics[0] : NULL;
        topic->error = found == NULL ? RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC : found->err;
        if (topic->error == RD_KAFKA_RESP_ERR_NO_ERROR && found->partition_cnt > 0) {
            topic->problem = AB_TOPIC_OK;
            learn_partitions(topic, found);
        } else {
            topic->problem = ab_error_is_denied(topic->error) ? AB_TOPIC_DENIED : AB_TOPIC_MISSING;
        }
        learn_brokers(facts, metadata);
        rd_kafka_metadata_destroy(metadata);
    }
    if (handle != NULL) {
        rd_kafka_topic_destroy(handle);
    }
    return topic->problem;
}

/* ---- properties ---- */

/* One DescribeConfigs request. Returns its event, NULL without an answer. Takes the resources. */
static rd_kafka_event_t *describe(rd_kafka_t *probe, rd_kafka_ConfigResource_t **resources,
                                  size_t count, int32_t broker, int timeout_ms)
{
    char text[128];
    rd_kafka_queue_t *queue = rd_kafka_queue_new(probe);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(probe, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof(text));
    if (broker >= 0) {
        (void)rd_kafka_AdminOptions_set_broker(options, broker, text, sizeof(text));
    }
    rd_kafka_DescribeConfigs(probe, resources, count, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    rd_kafka_ConfigResource_destroy_array(resources, count);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    return event;
}

static rd_kafka_resp_err_t resources_of(const rd_kafka_event_t *event,
                                        const rd_kafka_ConfigResource_t ***ret_resources,
                                        size_t *ret_count)
{
    *ret_count = 0;
    if (event == NULL) {
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    }
    const rd_kafka_DescribeConfigs_result_t *result =
        rd_kafka_event_DescribeConfigs_result((rd_kafka_event_t *)(uintptr_t)event);
    const rd_kafka_resp_err_t error = rd_kafka_event_error((rd_kafka_event_t *)(uintptr_t)event);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && result != NULL) {
        *ret_resources = rd_kafka_DescribeConfigs_result_resources(result, ret_count);
    }
    return error;
}

static ab_topic_facts_t *find_topic(ab_check_facts_t *facts, const char *name)
{
    for (size_t i = 0; i < facts->topic_count; i++) {
        if (strcmp(facts->topics[i].topic.name, name) == 0) {
            return &facts->topics[i];
        }
    }
    return NULL;
}

static void learn_topic_properties(ab_check_facts_t *facts,
                                   const rd_kafka_ConfigResource_t *resource)
{
    ab_topic_facts_t *topic = find_topic(facts, rd_kafka_ConfigResource_name(resource));
    size_t count = 0;
    if (topic == NULL) {
        return;
    }
    topic->error = rd_kafka_ConfigResource_error(resource);
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t i = 0; topic->error == RD_KAFKA_RESP_ERR_NO_ERROR && i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value != NULL) {
            ab_check_learn_topic(topic, rd_kafka_ConfigEntry_name(entries[i]), value);
        }
    }
}

static void ask_topic_properties(ab_check_facts_t *facts, rd_kafka_t *probe, int timeout_ms)
{
    const rd_kafka_ConfigResource_t **found = NULL;
    rd_kafka_ConfigResource_t **resources = calloc(facts->topic_count, sizeof(*resources));
    size_t count = 0;
    size_t found_count = 0;
    for (size_t i = 0; resources != NULL && i < facts->topic_count; i++) {
        if (facts->topics[i].problem == AB_TOPIC_OK) {
            facts->topics[i].error = RD_KAFKA_RESP_ERR__TIMED_OUT;
            resources[count++] =
                rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, facts->topics[i].topic.name);
        }
    }
    if (count > 0) {
        rd_kafka_event_t *event =
            describe(probe, resources, count, facts->brokers[0].id, timeout_ms);
        const rd_kafka_resp_err_t error = resources_of(event, &found, &found_count);
        for (size_t i = 0; error != RD_KAFKA_RESP_ERR_NO_ERROR && i < facts->topic_count; i++) {
            facts->topics[i].error = error;
        }
        for (size_t i = 0; i < found_count; i++) {
            learn_topic_properties(facts, found[i]);
        }
        if (event != NULL) {
            rd_kafka_event_destroy(event);
        }
    }
    free(resources);
}

static void ask_broker_properties(ab_check_facts_t *facts, ab_broker_facts_t *broker,
                                  rd_kafka_t *probe, int timeout_ms)
{
    char id[16];
    const rd_kafka_ConfigResource_t **found = NULL;
    size_t found_count = 0;
    size_t count = 0;
    snprintf(id, sizeof(id), "%d", (int)broker->id);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, id);
    rd_kafka_event_t *event = describe(probe, &resource, 1, -1, timeout_ms);
    broker->error = resources_of(event, &found, &found_count);
    if (found_count == 1) {
        broker->error = rd_kafka_ConfigResource_error(found[0]);
        const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(found[0], &count);
        if (count > 0 && facts->version[0] == '\0') {
            snprintf(facts->version, sizeof(facts->version), "%s", WITHOUT_IT);
        }
        for (size_t i = 0; i < count; i++) {
            const char *value = rd_kafka_ConfigEntry_value(entries[i]);
            if (value != NULL) {
                ab_check_learn_broker(facts, broker, rd_kafka_ConfigEntry_name(entries[i]), value);
            }
        }
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
}

void ab_check_ask_properties(ab_check_facts_t *facts, rd_kafka_t *probe, int timeout_ms)
{
    char *cluster_id = rd_kafka_clusterid(probe, 0);
    if (cluster_id != NULL) {
        snprintf(facts->cluster_id, sizeof(facts->cluster_id), "%s", cluster_id);
        rd_kafka_mem_free(probe, cluster_id);
    }
    facts->controller = rd_kafka_controllerid(probe, 0);
    ask_topic_properties(facts, probe, timeout_ms);
    for (int i = 0; i < facts->broker_count && i < AB_CHECK_BROKERS_MAX; i++) {
        ask_broker_properties(facts, &facts->brokers[i], probe, timeout_ms);
        if (ab_error_is_denied(facts->brokers[i].error)) {
            /* One right holds for all of them. */
            for (i++; i < facts->broker_count && i < AB_CHECK_BROKERS_MAX; i++) {
                facts->brokers[i].error = facts->brokers[0].error;
            }
        }
    }
}
