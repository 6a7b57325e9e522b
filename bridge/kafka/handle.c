#include "bridge/kafka/handle.h"

#include <stdio.h>
#include <string.h>

#include "bridge/kafka/properties.h"

/* The range librdkafka takes for message.max.bytes. */
#define MESSAGE_MIN_BYTES 1000
#define MESSAGE_MAX_BYTES 1000000000
/* More than this in prefetch brings nothing (specs/lane.md rule 9). */
#define PREFETCH_MAX_KBYTES 65536

typedef struct owned {
    const char *name;
    const char *value;
} owned_t;

/* Why: specs/lane.md rules 4, 5, 9, 11; docs/configuration.md lists them as refused in a config. */
static const owned_t owned_by_all[] = {
    {"socket.nagle.disable", "true"},
    {"allow.auto.create.topics", "false"},
};
static const owned_t owned_by_consumer[] = {
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},
    {"isolation.level", "read_committed"},
    {"partition.assignment.strategy", "cooperative-sticky"},
    {"check.crcs", "true"},
    {"enable.partition.eof",
     "true"}, /* the end of a log that holds nothing for us counts as read */
};
static const owned_t owned_by_producer[] = {
    {"enable.idempotence", "true"},
};
/* Good values that a user may change. */
static const owned_t preset_of_consumer[] = {
    {"queued.min.messages", "100000"},
    {"fetch.max.bytes", "8388608"},
};
/* A reader is done at the end of the log, and learns of it from a fetch that finds nothing. */
static const owned_t preset_of_reader[] = {
    {"fetch.wait.max.ms", "20"},
};
static const owned_t preset_of_producer[] = {
    {"queue.buffering.max.messages", "1000000"},
    {"queue.buffering.max.kbytes", "1048576"},
};

/* Nobody reads a transaction's records before its commit, which flushes: waiting for company until
 * then costs nothing, and spares the many small requests of a few dead letters. */
static const owned_t preset_of_transactions[] = {
    {"linger.ms", "50"},
};

const char *ab_kafka_version(void)
{
    return rd_kafka_version_str();
}

/* librdkafka's texts repeat the value they refuse; a value may be a secret. */
static void copy_without_value(char *ret_text, size_t room, const char *text, const char *value)
{
    const char *hit = value[0] != '\0' ? strstr(text, value) : NULL;
    if (hit == NULL) {
        snprintf(ret_text, room, "%s", text);
        return;
    }
    snprintf(ret_text, room, "%.*s…%s", (int)(hit - text), text, hit + strlen(value));
    if (strstr(ret_text, value) != NULL) {
        snprintf(ret_text, room, "the value is not one that librdkafka takes");
    }
}

static int set_one(rd_kafka_conf_t *conf, const char *name, const char *value, char *ret_text)
{
    char text[AB_HANDLE_TEXT_MAX];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) == RD_KAFKA_CONF_OK) {
        return 0;
    }
    copy_without_value(ret_text, AB_HANDLE_TEXT_MAX, text, value);
    return -1;
}

static int set_list(rd_kafka_conf_t *conf, const owned_t *list, size_t count, char *ret_text)
{
    for (size_t i = 0; i < count; i++) {
        if (set_one(conf, list[i].name, list[i].value, ret_text) != 0) {
            return -1;
        }
    }
    return 0;
}

#define SET_LIST(conf, list, text)                                                                 \
    set_list((conf), (list), sizeof(list) / sizeof((list)[0]), (text))

static int set_properties(rd_kafka_conf_t *conf, const ab_properties_t *properties, char *ret_text,
                          const ab_property_t **ret_property)
{
    for (size_t i = 0; i < properties->count; i++) {
        const ab_property_t *property = &properties->items[i];
        if (set_one(conf, property->name, property->value, ret_text) != 0) {
            *ret_property = property;
            return -1;
        }
    }
    return 0;
}

static int set_number(rd_kafka_conf_t *conf, const char *name, long long number, char *ret_text)
{
    char value[24];
    snprintf(value, sizeof(value), "%lld", number);
    return set_one(conf, name, value, ret_text);
}

static int set_consumer(rd_kafka_conf_t *conf, const ab_config_t *config,
                        const ab_handle_spec_t *spec, char *ret_text)
{
    if (SET_LIST(conf, owned_by_consumer, ret_text) != 0 ||
        set_one(conf, "group.id", config->group, ret_text) != 0) {
        return -1;
    }
    if (rd_kafka_version() >= 0x020200ff &&
        set_one(conf, "fetch.queue.backoff.ms", "10", ret_text) != 0) {
        return -1;
    }
    if (spec->fetch_wait_ms > 0 &&
        set_number(conf, "fetch.wait.max.ms", spec->fetch_wait_ms, ret_text) != 0) {
        return -1;
    }
    if (spec->uncommitted && set_one(conf, "isolation.level", "read_uncommitted", ret_text) != 0) {
        return -1;
    }
    if (!config->instance_set || spec->role != AB_ROLE_CONSUMER) {
        return 0;
    }
    char member[512];
    snprintf(member, sizeof(member), "%s.%u", config->instance, spec->lane);
    return set_one(conf, "group.instance.id", member, ret_text);
}

/* A redrive is a matter of transactions whatever the lanes do. */
static bool transacts(const ab_config_t *config, const ab_handle_spec_t *spec)
{
    return config->guarantee == AB_EXACTLY_ONCE || spec->job != NULL;
}

static int set_transactions(rd_kafka_conf_t *conf, const ab_config_t *config,
                            const ab_handle_spec_t *spec, char *ret_text)
{
    char id[1024];
    if (spec->job != NULL) {
        /* One for all jobs of a group: whoever begins fences the one that was there, so that no two
         * can write at once, and each sees every marker of those before it. */
        snprintf(id, sizeof(id), "%s.redrive", config->group);
    } else {
        snprintf(id, sizeof(id), "%s.%s.%u", config->group, config->instance, spec->lane);
    }
    return set_one(conf, "transactional.id", id, ret_text) != 0 ||
                   set_number(conf, "transaction.timeout.ms", config->transaction_timeout_ms,
                              ret_text) != 0
               ? -1
               : 0;
}

static int set_producer(rd_kafka_conf_t *conf, const ab_config_t *config,
                        const ab_handle_spec_t *spec, char *ret_text)
{
    long long largest = spec->message_max_bytes;
    largest = largest < MESSAGE_MIN_BYTES ? MESSAGE_MIN_BYTES : largest;
    largest = largest > MESSAGE_MAX_BYTES ? MESSAGE_MAX_BYTES : largest;
    if (SET_LIST(conf, owned_by_producer, ret_text) != 0 ||
        (transacts(config, spec) && set_transactions(conf, config, spec, ret_text) != 0) ||
        set_number(conf, "message.max.bytes", largest, ret_text) != 0 ||
        set_number(conf, "batch.size", spec->batch_bytes, ret_text) != 0) {
        return -1;
    }
    return 0;
}

/* What the library may prefetch is part of the lane's memory. */
static long long prefetch_kbytes(const ab_config_t *config, const ab_handle_spec_t *spec)
{
    const uint64_t kbytes =
        (spec->prefetch_bytes > 0 ? spec->prefetch_bytes : config->memory_per_lane_bytes) / 1024;
    return kbytes > PREFETCH_MAX_KBYTES ? PREFETCH_MAX_KBYTES
                                        : (kbytes == 0 ? 1 : (long long)kbytes);
}

static int set_role(rd_kafka_conf_t *conf, const ab_config_t *config, const ab_handle_spec_t *spec,
                    char *ret_text, const ab_property_t **ret_property)
{
    char client[640];
    static const char *const roles[] = {"probe", "consumer", "producer", "reader"};
    const bool consumes = spec->role == AB_ROLE_CONSUMER || spec->role == AB_ROLE_READER;
    if (spec->job != NULL) {
        snprintf(client, sizeof(client), "agent-bridge.redrive.%s", spec->job);
    } else {
        snprintf(client, sizeof(client), "agent-bridge.%s.%u", roles[spec->role], spec->lane);
    }
    if (set_one(conf, "client.id", client, ret_text) != 0) {
        return -1;
    }
    if (consumes && (SET_LIST(conf, preset_of_consumer, ret_text) != 0 ||
                     set_number(conf, "queued.max.messages.kbytes", prefetch_kbytes(config, spec),
                                ret_text) != 0)) {
        return -1;
    }
    if (spec->role == AB_ROLE_READER && SET_LIST(conf, preset_of_reader, ret_text) != 0) {
        return -1;
    }
    if (spec->role == AB_ROLE_PRODUCER &&
        (SET_LIST(conf, preset_of_producer, ret_text) != 0 ||
         (transacts(config, spec) && SET_LIST(conf, preset_of_transactions, ret_text) != 0))) {
        return -1;
    }
    if (set_properties(conf, &config->kafka, ret_text, ret_property) != 0) {
        return -1;
    }
    if (spec->role == AB_ROLE_PRODUCER) {
        return set_properties(conf, &config->producer, ret_text, ret_property) != 0 ||
                       set_producer(conf, config, spec, ret_text) != 0
                   ? -1
                   : 0;
    }
    if (consumes) {
        return set_properties(conf, &config->consumer, ret_text, ret_property) != 0 ||
                       set_consumer(conf, config, spec, ret_text) != 0
                   ? -1
                   : 0;
    }
    return 0;
}

rd_kafka_conf_t *ab_handle_conf_new(const ab_config_t *config, const ab_handle_spec_t *spec,
                                    char ret_text[AB_HANDLE_TEXT_MAX],
                                    const ab_property_t **ret_property)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    *ret_property = NULL;
    if (set_role(conf, config, spec, ret_text, ret_property) != 0 ||
        SET_LIST(conf, owned_by_all, ret_text) != 0) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    return conf;
}
