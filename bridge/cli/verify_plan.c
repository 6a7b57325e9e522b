#include "bridge/cli/verify_plan.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

/* The arena of one dead letter. */
#define ARENA_BYTES (2 * AB_LETTER_ARENA_MAX)

/* The index of an output; it is added when it is not there. -1 for no topic. There is room. */
static int output_of(ab_audit_t *audit, const char *topic)
{
    if (topic == NULL) {
        return -1;
    }
    for (size_t i = 0; i < audit->output_count; i++) {
        if (strcmp(audit->outputs[i].topic, topic) == 0) {
            return (int)i;
        }
    }
    audit->outputs[audit->output_count] = (ab_audit_output_t){.topic = topic};
    return (int)audit->output_count++;
}

static ab_audit_source_t source_of(ab_audit_t *audit, const ab_config_t *config,
                                   const ab_policy_t *policy)
{
    ab_audit_source_t source = {.policy = policy};
    for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
        const ab_route_t *route = &policy->routes[slot];
        source.routes[slot] = output_of(audit, route->kind == AB_ROUTE_TOPIC ? route->topic : NULL);
        if (source.routes[slot] >= 0) {
            audit->outputs[source.routes[slot]].route = true;
        }
    }
    source.snapshots = output_of(audit, config->answers ? config->snapshots_topic : NULL);
    source.errors = output_of(audit, policy->errors_topic);
    source.quarantine = output_of(audit, policy->quarantine_topic);
    audit->outputs[source.errors].errors = true;
    if (source.quarantine >= 0) {
        audit->outputs[source.quarantine].quarantine = true;
    }
    return source;
}

int ab_verify_plan(const ab_config_t *config, ab_audit_t *ret_audit)
{
    ab_audit_source_t *sources = calloc(config->source_count, sizeof(*sources));
    *ret_audit = (ab_audit_t){.group = config->group,
                              .duplicates_allowed = config->guarantee == AB_AT_LEAST_ONCE,
                              .sources = sources};
    /* Per source: its routes, its errors topic, its quarantine, snapshots. */
    ret_audit->outputs =
        calloc(config->source_count * (AB_SLOT_COUNT + 3), sizeof(*ret_audit->outputs));
    ret_audit->arena = aw_arena_new(ARENA_BYTES);
    ret_audit->scratch = aw_arena_new((size_t)config->decode_bytes);
    if (sources == NULL || ret_audit->outputs == NULL || ret_audit->arena == NULL ||
        ret_audit->scratch == NULL) {
        return -1;
    }
    for (size_t i = 0; i < config->source_count; i++) {
        sources[i] = source_of(ret_audit, config, &config->sources[i].policy);
    }
    ret_audit->source_count = config->source_count;
    return 0;
}

int ab_verify_plan_part(ab_audit_t *audit, const char *topic, int32_t partition, int64_t first)
{
    ab_audit_output_t *output = &audit->outputs[output_of(audit, topic)];
    ab_audit_part_t *parts = realloc(output->parts, ((size_t)partition + 1) * sizeof(*parts));
    if (parts == NULL) {
        return -1;
    }
    parts[partition] = (ab_audit_part_t){.first = first, .last_seen = -1};
    output->parts = parts;
    output->partitions = partition + 1;
    return 0;
}

void ab_verify_plan_clear(ab_audit_t *audit)
{
    for (size_t i = 0; i < audit->output_count; i++) {
        free(audit->outputs[i].parts);
    }
    free(audit->outputs);
    free((void *)(uintptr_t)audit->sources);
    aw_arena_free(audit->arena);
    aw_arena_free(audit->scratch);
    *audit = (ab_audit_t){0};
}
