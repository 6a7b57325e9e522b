#include "bridge/kafka/topics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/kafka/errors.h"

#define GONE_EVERY_MS 10000

struct ab_topics {
    pthread_mutex_t lock;
    ab_topic_t *items;
    size_t count;
    unsigned version;
    int32_t answered_by; /* the broker that told of a topic last, -1: none yet; the probe's thread
                            only */
};

typedef enum role { ROLE_SOURCE, ROLE_OUTPUT, ROLE_STATE } role_t;

static void add_topic(ab_topics_t *topics, const char *name, role_t role)
{
    if (name == NULL) {
        return;
    }
    int index = ab_topics_find(topics, name);
    if (index < 0) {
        index = (int)topics->count++;
        topics->items[index] =
            (ab_topic_t){.name = name, .max_message_bytes = AB_MESSAGE_BYTES_DEFAULT};
    }
    topics->items[index].source |= role == ROLE_SOURCE;
    topics->items[index].output |= role == ROLE_OUTPUT;
    topics->items[index].state |= role == ROLE_STATE;
}

static ab_topics_t *make_topics(size_t room)
{
    ab_topics_t *topics = calloc(1, sizeof(*topics));
    if (topics == NULL) {
        return NULL;
    }
    topics->items = calloc(room > 0 ? room : 1, sizeof(*topics->items));
    if (topics->items == NULL) {
        free(topics);
        return NULL;
    }
    pthread_mutex_init(&topics->lock, NULL);
    topics->answered_by = -1;
    return topics;
}

ab_topics_t *ab_topics_new_outputs(const char *const *names, size_t count)
{
    ab_topics_t *topics = make_topics(count);
    for (size_t i = 0; topics != NULL && i < count; i++) {
        add_topic(topics, names[i], ROLE_OUTPUT);
    }
    return topics;
}

ab_topics_t *ab_topics_new(const ab_config_t *config)
{
    /* Per source: itself, its routes, its errors topic, its quarantine. Then the state topics, and
     * the answers. */
    ab_topics_t *topics =
        make_topics(config->source_count * (AB_SLOT_COUNT + 3) + config->state_topics.count + 1);
    if (topics == NULL) {
        return NULL;
    }
    for (size_t s = 0; s < config->source_count; s++) {
        const ab_policy_t *policy = &config->sources[s].policy;
        add_topic(topics, policy->topic, ROLE_SOURCE);
        for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
            if (policy->routes[slot].kind == AB_ROUTE_TOPIC) {
                add_topic(topics, policy->routes[slot].topic, ROLE_OUTPUT);
            }
        }
        add_topic(topics, policy->errors_topic, ROLE_OUTPUT);
        add_topic(topics, policy->quarantine_topic, ROLE_OUTPUT);
    }
    for (size_t i = 0; config->answers && i < config->state_topics.count; i++) {
        add_topic(topics, config->state_topics.items[i], ROLE_STATE);
    }
    add_topic(topics, config->answers ? config->snapshots_topic : NULL, ROLE_OUTPUT);
    return topics;
}

void ab_topics_free(ab_topics_t *topics)
{
    if (topics == NULL) {
        return;
    }
    pthread_mutex_destroy(&topics->lock);
    free(topics->items);
    free(topics);
}

size_t ab_topics_count(const ab_topics_t *topics)
{
    return topics->count;
}

/* Names and count never change after ab_topics_new(), so that no lock is needed here. */
int ab_topics_find(const ab_topics_t *topics, const char *name)
{
    for (size_t i = 0; i < topics->count; i++) {
        if (strcmp(topics->items[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

ab_topic_t ab_topics_get(ab_topics_t *topics, size_t index)
{
    pthread_mutex_lock(&topics->lock);
    ab_topic_t topic = topics->items[index];
    pthread_mutex_unlock(&topics->lock);
    return topic;
}

void ab_topics_limits(ab_topics_t *topics, int32_t *ret_largest, int32_t *ret_smallest)
{
    int32_t largest = 0;
    int32_t smallest = INT32_MAX;
    pthread_mutex_lock(&topics->lock);
    for (size_t i = 0; i < topics->count; i++) {
        if (!topics->items[i].output) {
            continue;
        }
        const int32_t limit = topics->items[i].max_message_bytes;
        largest = limit > largest ? limit : largest;
        smallest = limit < smallest ? limit : smallest;
    }
    pthread_mutex_unlock(&topics->lock);
    *ret_largest = largest != 0 ? largest : AB_MESSAGE_BYTES_DEFAULT;
    *ret_smallest = smallest != INT32_MAX ? smallest : AB_MESSAGE_BYTES_DEFAULT;
}

unsigned ab_topics_version(ab_topics_t *topics)
{
    return __atomic_load_n(&topics->version, __ATOMIC_ACQUIRE);
}

static void learn(ab_topics_t *topics, int32_t *fact, int32_t value)
{
    pthread_mutex_lock(&topics->lock);
    if (*fact != value) {
        *fact = value;
        __atomic_add_fetch(&topics->version, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&topics->lock);
}

static ab_topic_problem_t problem_of(rd_kafka_resp_err_t err)
{
    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
        err == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION) {
        return AB_TOPIC_MISSING;
    }
    return ab_error_is_denied(err) ? AB_TOPIC_DENIED : AB_TOPIC_UNREACHABLE;
}

ab_topic_problem_t ab_topic_ask(rd_kafka_t *client, const char *name, int timeout_ms,
                                int32_t *ret_partitions, int32_t *ret_broker, char *ret_text,
                                size_t room)
{
    ab_topic_problem_t problem = AB_TOPIC_OK;
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, name, NULL);
    if (handle == NULL) {
        snprintf(ret_text, room, "%s", rd_kafka_err2str(rd_kafka_last_error()));
        return AB_TOPIC_UNREACHABLE;
    }
    rd_kafka_resp_err_t err = rd_kafka_metadata(client, 0, handle, &metadata, timeout_ms);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const struct rd_kafka_metadata_topic *found =
            metadata->topic_cnt == 1 ? &metadata->topics[0] : NULL;
        if (ret_broker != NULL) {
            *ret_broker = metadata->orig_broker_id;
        }
        err = found == NULL ? RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC : found->err;
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR && found->partition_cnt <= 0) {
            err = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        }
        if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            *ret_partitions = found->partition_cnt;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        problem = problem_of(err);
        snprintf(ret_text, room, "%s", rd_kafka_err2str(err));
    }
    rd_kafka_topic_destroy(handle);
    return problem;
}

ab_topic_problem_t ab_topics_refresh_one(ab_topics_t *topics, size_t index, rd_kafka_t *probe,
                                         int timeout_ms, char *ret_text, size_t room)
{
    int32_t partitions = 0;
    const ab_topic_problem_t problem =
        ab_topic_ask(probe, topics->items[index].name, timeout_ms, &partitions,
                     &topics->answered_by, ret_text, room);
    if (problem == AB_TOPIC_OK) {
        learn(topics, &topics->items[index].partitions, partitions);
    }
    return problem;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell_gone(ab_topics_t *topics, size_t index, const ab_sink_t *sink)
{
    ab_topic_t *topic = &topics->items[index];
    const int64_t now = now_ms();
    pthread_mutex_lock(&topics->lock);
    const bool told = topic->gone_told_ms != 0 && now - topic->gone_told_ms < GONE_EVERY_MS;
    topic->gone_told_ms = told ? topic->gone_told_ms : now;
    pthread_mutex_unlock(&topics->lock);
    if (told) {
        return;
    }
    const ab_field_t fields[] = {AB_TEXT("topic", topic->name)};
    sink->emit(
        sink->opaque, AB_LEVEL_ERROR, "topic_gone",
        topic->output
            ? "the topic was there and is gone; what goes to it waits until it is made again"
            : "the topic was there and is gone; nothing is read from it, and when it is made "
              "again it is read after a restart",
        fields, 1);
}

ab_topic_problem_t ab_topics_look(ab_topics_t *topics, size_t index, rd_kafka_t *probe,
                                  int timeout_ms, const ab_sink_t *sink)
{
    char text[256];
    const ab_topic_problem_t problem =
        ab_topics_refresh_one(topics, index, probe, timeout_ms, text, sizeof(text));
    if (problem == AB_TOPIC_MISSING) {
        tell_gone(topics, index, sink);
    }
    return problem;
}

void ab_topics_begin(ab_topics_t *topics, size_t index)
{
    pthread_mutex_lock(&topics->lock);
    topics->items[index].begun = true;
    pthread_mutex_unlock(&topics->lock);
}

static void assume_default(const char *topic, rd_kafka_resp_err_t err, const ab_sink_t *sink)
{
    const ab_field_t fields[] = {AB_TEXT("topic", topic), AB_TEXT("error", rd_kafka_err2name(err)),
                                 AB_NUMBER("assumed_bytes", AB_MESSAGE_BYTES_DEFAULT)};
    sink->emit(sink->opaque, AB_LEVEL_WARNING, "limit_unknown",
               "the topic's max.message.bytes cannot be read (ACL DescribeConfigs on the topic?); "
               "Kafka's default is assumed",
               fields, 3);
}

/* One resource of the answer. */
static void learn_limit(ab_topics_t *topics, const rd_kafka_ConfigResource_t *resource,
                        const ab_sink_t *sink)
{
    const char *name = rd_kafka_ConfigResource_name(resource);
    const int index = ab_topics_find(topics, name);
    if (index < 0) {
        return;
    }
    const rd_kafka_resp_err_t err = rd_kafka_ConfigResource_error(resource);
    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        return; /* told as gone */
    }
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        assume_default(name, err, sink);
        return;
    }
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t i = 0; i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value == NULL ||
            strcmp(rd_kafka_ConfigEntry_name(entries[i]), "max.message.bytes") != 0) {
            continue;
        }
        const long long limit = strtoll(value, NULL, 10);
        if (limit > 0 && limit <= INT32_MAX) {
            learn(topics, &topics->items[index].max_message_bytes, (int32_t)limit);
        }
    }
}

/* What came of the request. True when the brokers have spoken: also a refusal of the whole request
 * is an answer, and no later one will be better. */
static bool learn_limits(ab_topics_t *topics, rd_kafka_event_t *event, const ab_sink_t *sink)
{
    const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
    const rd_kafka_resp_err_t err = rd_kafka_event_error(event);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR || result == NULL) {
        if (ab_error_is_unanswered(err)) {
            return false;
        }
        for (size_t i = 0; i < topics->count; i++) {
            if (topics->items[i].output) {
                assume_default(topics->items[i].name, err, sink);
            }
        }
        return true;
    }
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_DescribeConfigs_result_resources(result, &count);
    for (size_t i = 0; i < count; i++) {
        learn_limit(topics, resources[i], sink);
    }
    return true;
}

bool ab_topics_refresh_limits(ab_topics_t *topics, rd_kafka_t *probe, int timeout_ms,
                              const ab_sink_t *sink)
{
    bool answered = false;
    size_t count = 0;
    rd_kafka_ConfigResource_t **resources = calloc(topics->count, sizeof(*resources));
    rd_kafka_queue_t *queue = rd_kafka_queue_new(probe);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(probe, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    char text[128];
    if (resources == NULL ||
        rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof(text)) != 0) {
        goto done;
    }
    /* librdkafka would ask the controller, which need not be known or near; any broker knows. */
    if (topics->answered_by >= 0) {
        (void)rd_kafka_AdminOptions_set_broker(options, topics->answered_by, text, sizeof(text));
    }
    for (size_t i = 0; i < topics->count; i++) {
        if (topics->items[i].output) {
            resources[count++] =
                rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topics->items[i].name);
        }
    }
    if (count == 0) {
        answered = true;
        goto done;
    }
    rd_kafka_DescribeConfigs(probe, resources, count, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    if (event == NULL) {
        goto done;
    }
    answered = learn_limits(topics, event, sink);
    rd_kafka_event_destroy(event);
done:
    rd_kafka_ConfigResource_destroy_array(resources, count);
    free(resources);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    return answered;
}
