#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/config/config.h"
#include "bridge/config/table.h"

/* Beginnings of the paths that decide what becomes of a record. Nothing under kafka, consumer and
 * producer, where secrets are, and nothing that differs from one machine to the next. */
static const char *const covered[] = {
    "group",      "sources[].",          "delivery.guarantee", "limits.", "delivery.source_header",
    "snapshots.", "state.snapshots_from"};
/* Among them, what says where and how fast, not what. */
static const char *const left_out[] = {"sources[].start", "snapshots.max_wait"};

static bool begins(const char *path, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(path, list[i], strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_covered(const ab_key_t *key)
{
    return key->size > 0 && begins(key->path, covered, sizeof(covered) / sizeof(covered[0])) &&
           !begins(key->path, left_out, sizeof(left_out) / sizeof(left_out[0]));
}

static unsigned long long number_at(const void *slot, size_t size)
{
    if (size == sizeof(bool)) {
        return *(const bool *)slot;
    }
    return size == sizeof(uint32_t) ? *(const uint32_t *)slot : *(const uint64_t *)slot;
}

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

static void print_value(const ab_key_t *key, const void *target, FILE *out)
{
    const void *slot = (const char *)target + key->offset;
    switch (key->type) {
    case AB_KEY_NAME:
    case AB_KEY_TOPIC:
        (void)fprintf(out, "%s=%s\n", key->path, or_none(*(const char *const *)slot));
        break;
    case AB_KEY_TOPICS: {
        /* In the order of the file, which decides; none leaves no line. */
        const ab_topic_list_t *topics = slot;
        for (size_t i = 0; i < topics->count; i++) {
            (void)fprintf(out, "%s[%zu]=%s\n", key->path, i, topics->items[i]);
        }
        break;
    }
    case AB_KEY_OPTIONAL_TOPIC: {
        const ab_optional_topic_t *topic = slot;
        (void)fprintf(out, "%s=%d:%s\n", key->path, topic->off, or_none(topic->topic));
        break;
    }
    case AB_KEY_ROUTE: {
        const ab_route_t *route = slot;
        (void)fprintf(out, "%s=%d:%s\n", key->path, (int)route->kind, or_none(route->topic));
        break;
    }
    case AB_KEY_WORD:
    case AB_KEY_BOOL:
    case AB_KEY_COUNT:
    case AB_KEY_SIZE:
    case AB_KEY_DURATION:
        (void)fprintf(out, "%s=%llu\n", key->path, number_at(slot, key->size));
        break;
    default:
        break; /* sections, and what is not covered */
    }
}

/* What the defaults of errors have become. */
static void print_policy(const ab_policy_t *policy, FILE *out)
{
    (void)fprintf(out, "errors.topic=%s\nerrors.quarantine=%s\nerrors.max_hops=%u\n",
                  policy->errors_topic, or_none(policy->quarantine_topic), policy->max_hops);
}

static void print_covered(const ab_config_t *config, FILE *out)
{
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        if (is_covered(&keys[i]) && strncmp(keys[i].path, "sources[].", 10) != 0) {
            print_value(&keys[i], config, out);
        }
    }
    for (size_t s = 0; s < config->source_count; s++) {
        for (size_t i = 0; i < count; i++) {
            if (is_covered(&keys[i]) && strncmp(keys[i].path, "sources[].", 10) == 0) {
                print_value(&keys[i], &config->sources[s], out);
            }
        }
        print_policy(&config->sources[s].policy, out);
    }
}

int ab_config_fingerprint(const ab_config_t *config, char ret_hex[AW_SHA256_HEX_SIZE])
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return -1;
    }
    print_covered(config, out);
    int status = fclose(out) == 0 ? 0 : -1;
    if (status == 0 && aw_sha256_hex(aw_span_view(text, size), ret_hex) != AW_OK) {
        status = -1;
    }
    free(text);
    return status;
}
