#include "bridge/kafka/relay_state.h"

#include "bridge/kafka/handle.h"
#include "bridge/state/stores.h"

#define METADATA_MS 500

static void emit(const ab_shared_t *shared, const char *event, const char *message,
                 const ab_field_t *fields, unsigned count)
{
    shared->sink->emit(shared->sink->opaque, AB_LEVEL_ERROR, event, message, fields, count);
}

/* A state partition belongs to the source partition of the same number. */
static bool counts_agree(ab_shared_t *shared)
{
    const ab_config_t *config = shared->config;
    ab_topics_t *topics = shared->topics;
    bool agree = true;
    for (size_t s = 0; s < config->source_count; s++) {
        const ab_policy_t *policy = &config->sources[s].policy;
        const int source = ab_topics_find(topics, policy->topic);
        for (size_t t = 0; t < config->state_topics.count &&
                           policy->routes[AB_SLOT_EXPORT_REQUEST].kind == AB_ROUTE_ANSWER;
             t++) {
            const char *name = config->state_topics.items[t];
            const int32_t wanted = ab_topics_get(topics, (size_t)source).partitions;
            const int32_t found =
                ab_topics_get(topics, (size_t)ab_topics_find(topics, name)).partitions;
            if (found != wanted) {
                const ab_field_t fields[] = {
                    AB_TEXT("source_topic", policy->topic), AB_NUMBER("source_partitions", wanted),
                    AB_TEXT("topic", name), AB_NUMBER("partitions", found)};
                emit(shared, "partitions_differ",
                     "a state topic must have as many partitions as the source it answers for",
                     fields, 4);
                agree = false;
            }
        }
    }
    return agree;
}

static bool make_ends(ab_shared_t *shared, void (*watch)(rd_kafka_conf_t *conf, void *opaque),
                      void *opaque)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_READER, .uncommitted = true};
    rd_kafka_conf_t *conf = ab_handle_conf_new(shared->config, &spec, text, &property);
    if (conf != NULL) {
        watch(conf, opaque);
        shared->ends = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
        if (shared->ends == NULL) {
            rd_kafka_conf_destroy(conf);
        }
    }
    if (shared->ends == NULL) {
        const ab_field_t fields[] = {AB_TEXT("text", text)};
        emit(shared, "client_refused", "librdkafka cannot make a client", fields, 1);
    }
    return shared->ends != NULL;
}

bool ab_relay_state_open(ab_shared_t *shared, void (*watch)(rd_kafka_conf_t *conf, void *opaque),
                         void *opaque)
{
    char text[AB_STORES_TEXT_MAX];
    const ab_config_t *config = shared->config;
    if (!config->answers) {
        return true;
    }
    shared->stores = ab_stores_new(config->state_dir, text);
    if (shared->stores == NULL) {
        const ab_field_t fields[] = {AB_TEXT("dir", config->state_dir), AB_TEXT("text", text)};
        emit(shared, "state_dir_unusable", "the folder of the stores cannot be used", fields, 2);
    }
    return shared->stores != NULL && counts_agree(shared) && make_ends(shared, watch, opaque);
}

/* A topic that gets more partitions holds keys where nobody looks for them: until that is seen they
 * would be answered with what is old. */
void ab_relay_state_look(ab_shared_t *shared, rd_kafka_t *probe)
{
    char text[256];
    const ab_config_t *config = shared->config;
    for (size_t i = 0; config->answers && i < config->state_topics.count; i++) {
        if (atomic_load(&shared->stop)) {
            return; /* each look may take its whole patience */
        }
        const int index = ab_topics_find(shared->topics, config->state_topics.items[i]);
        (void)ab_topics_refresh_one(shared->topics, (size_t)index, probe, METADATA_MS, text,
                                    sizeof(text));
    }
}

void ab_relay_state_close(ab_shared_t *shared)
{
    if (shared->ends != NULL) {
        rd_kafka_destroy_flags(shared->ends, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        shared->ends = NULL;
    }
    ab_stores_free(shared->stores);
    shared->stores = NULL;
}
