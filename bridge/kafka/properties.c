#include "bridge/kafka/properties.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bridge/kafka/handle.h"

/* A path may be repeated in a message, any other value may be a secret. */
static bool is_path(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".location") == 0;
}

/* librdkafka only says that OpenSSL did not like the file. */
static void judge_file(const ab_property_t *property, const char *key, ab_findings_t *findings)
{
    const bool file = is_path(property->name) && strncmp(property->name, "ssl.", 4) == 0 &&
                      strcmp(property->value, "probe") != 0; /* a word of ssl.ca.location */
    if (file && access(property->value, R_OK) != 0) {
        ab_findings_add_at(findings, false, property->line, property->column, key,
                           "the file cannot be read: %s", strerror(errno));
    }
}

static void judge(const ab_properties_t *properties, const char *section, rd_kafka_conf_t *conf,
                  ab_findings_t *findings)
{
    for (size_t i = 0; i < properties->count; i++) {
        const ab_property_t *property = &properties->items[i];
        char text[AB_HANDLE_TEXT_MAX];
        char key[256];
        rd_kafka_conf_res_t result =
            rd_kafka_conf_set(conf, property->name, property->value, text, sizeof(text));
        snprintf(key, sizeof(key), "%s.%s", section, property->name);
        if (result == RD_KAFKA_CONF_OK) {
            judge_file(property, key, findings);
        } else if (result == RD_KAFKA_CONF_UNKNOWN) {
            ab_findings_add_at(
                findings, false, property->line, property->column, key,
                "librdkafka %s has no property of this name; its CONFIGURATION.md lists them",
                rd_kafka_version_str());
        } else {
            ab_findings_add_at(
                findings, false, property->line, property->column, key,
                "librdkafka %s refuses this value; its CONFIGURATION.md gives the type and range",
                rd_kafka_version_str());
        }
    }
}

static bool repeats_value(const char *text, const ab_properties_t *properties)
{
    for (size_t i = 0; i < properties->count; i++) {
        const ab_property_t *property = &properties->items[i];
        if (property->value[0] != '\0' && !is_path(property->name) &&
            strstr(text, property->value) != NULL) {
            return true;
        }
    }
    return false;
}

/* Some faults show only when a client is made: a CA file that is missing, two properties that do
 * not go together. Without bootstrap servers the client has nobody to talk to. */
static void judge_whole(const ab_config_t *config, rd_kafka_type_t type, const char *section,
                        const ab_properties_t *own, ab_findings_t *findings)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const ab_properties_t *lists[] = {&config->kafka, own};
    char text[AB_HANDLE_TEXT_MAX];
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            const ab_property_t *property = &lists[l]->items[i];
            if (strcmp(property->name, "bootstrap.servers") != 0) {
                rd_kafka_conf_set(conf, property->name, property->value, NULL, 0);
            }
        }
    }
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof(text));
    if (handle != NULL) {
        rd_kafka_destroy(handle);
        return;
    }
    rd_kafka_conf_destroy(conf);
    const bool secret = repeats_value(text, lists[0]) || repeats_value(text, lists[1]);
    ab_findings_add(findings, false, 0, section, "librdkafka cannot make a client of these: %s",
                    secret ? "two properties do not go together, or a file cannot be read" : text);
}

int ab_kafka_check_properties(const ab_config_t *config, ab_findings_t *findings)
{
    const size_t before = findings->mistakes;
    const ab_properties_t *lists[] = {&config->kafka, &config->consumer, &config->producer};
    static const char *const sections[] = {"kafka", "consumer", "producer"};
    for (size_t i = 0; i < 3; i++) {
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        judge(lists[i], sections[i], conf, findings);
        rd_kafka_conf_destroy(conf);
    }
    if (findings->mistakes == before) {
        judge_whole(config, RD_KAFKA_CONSUMER, "consumer", &config->consumer, findings);
        judge_whole(config, RD_KAFKA_PRODUCER, "producer", &config->producer, findings);
    }
    return 0;
}
