#include "bridge/config/table.h"

#include <string.h>

#include "bridge/config/config.h"

static const ab_owned_t owned[] = {
    {"group.id", "it is the key `group`"},
    {"group.instance.id", "it is made from the key `instance`"},
    {"transactional.id", "it is made from the keys `group` and `instance` and the lane's number"},
    {"transaction.timeout.ms", "it is the key `delivery.transaction_timeout`"},
    {"metadata.broker.list", "write it as `bootstrap.servers`"},
    {"isolation.level", "the bridge reads committed records only"},
    {"auto.offset.reset", "the key `start` of each source says where reading begins"},
    {"enable.auto.*", "the bridge commits offsets itself, with the outputs they belong to"},
    {"auto.commit.*", "the bridge commits offsets itself, with the outputs they belong to"},
    {"offset.store.*", "the bridge commits offsets itself, with the outputs they belong to"},
    {"enable.partition.eof", "the bridge sets it"},
    {"group.protocol", "the bridge relies on the classic protocol"},
    {"partition.assignment.strategy", "the bridge relies on cooperative-sticky assignment"},
    {"partitioner", "the key `partition` of each source says where records go"},
    {"queuing.strategy", "the bridge relies on first in, first out: anything else breaks order"},
    {"max.in.flight*", "the bridge sets it, so that no retry changes the order"},
    {"enable.idempotence", "the bridge always switches it on"},
    {"enable.gapless.guarantee", "the bridge sets it"},
    {"acks", "the bridge always waits for all replicas"},
    {"request.required.acks", "the bridge always waits for all replicas"},
    {"delivery.report.only.error", "the bridge counts every delivery"},
    {"allow.auto.create.topics", "topics are never created; see the key `topics.missing`"},
    {"message.max.bytes", "the bridge learns it from the output topics"},
    {"batch.size", "the bridge learns it from the output topics"},
    {"socket.nagle.disable", "the bridge always sets it"},
    {"log.queue", "the bridge writes the log itself; see `log`"},
    {"enabled_events", "the bridge takes events through callbacks"},
    {"*_cb", "callbacks are not set from a file"},
    {"opaque", "callbacks are not set from a file"},
    {"default_topic_conf", "write topic properties by their own names"},
};

static const char *const secrets[] = {"sasl.password", "ssl.key.password", "ssl.key.pem",
                                      "ssl.keystore.password", "sasl.oauthbearer.client.secret"};

const ab_owned_t *ab_owned_view(size_t *ret_count)
{
    *ret_count = sizeof(owned) / sizeof(owned[0]);
    return owned;
}

static bool matches(const char *pattern, const char *name)
{
    size_t size = strlen(pattern);
    size_t name_size = strlen(name);
    if (pattern[size - 1] == '*') {
        return strncmp(name, pattern, size - 1) == 0;
    }
    if (pattern[0] == '*') {
        return name_size >= size - 1 && strcmp(name + name_size - (size - 1), pattern + 1) == 0;
    }
    return strcmp(name, pattern) == 0;
}

const ab_owned_t *ab_owned_find(const char *name)
{
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        if (matches(owned[i].name, name)) {
            return &owned[i];
        }
    }
    return NULL;
}

bool ab_property_is_secret(const char *name)
{
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strcmp(secrets[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const ab_property_t *ab_property_find(const ab_properties_t *properties, const char *name)
{
    for (size_t i = 0; i < properties->count; i++) {
        if (strcmp(properties->items[i].name, name) == 0) {
            return &properties->items[i];
        }
    }
    return NULL;
}
