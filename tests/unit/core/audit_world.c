#include "tests/unit/core/audit_world.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/core/partition.h"

static const ab_policy_t POLICY = {
    .topic = "in",
    .routes = {{AB_ROUTE_TOPIC, "ev"},
               {AB_ROUTE_TOPIC, "ev"},
               {AB_ROUTE_DROP, NULL},
               {AB_ROUTE_TOPIC, "ev"},
               {AB_ROUTE_DEAD_LETTER, NULL}},
    .max_value_bytes = 1000,
    .max_hops = 3,
    .errors_topic = "in.errors",
    .quarantine_topic = "in.quarantine",
};

static const ab_header_t OWN = {"own", {(const uint8_t *)"header", 6}};

static void on_fault(void *opaque, const ab_fault_t *fault)
{
    world_t *world = opaque;
    assert_true(world->fault_count < FAULTS_MAX);
    world->faults[world->fault_count++] = *fault;
}

static void on_absent(void *opaque, const ab_sighting_t *absent)
{
    world_t *world = opaque;
    world->absent[world->absent_count++] = *absent;
}

world_t *world_new(void)
{
    static const char *const topics[] = {"ev", "in.errors", "in.quarantine"};
    world_t *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->source = (ab_audit_source_t){&POLICY, {EV, EV, -1, EV, -1}, ERRORS, QUARANTINE, -1};
    for (int i = 0; i < OUTPUTS; i++) {
        world->outputs[i] = (ab_audit_output_t){.topic = topics[i],
                                                .route = i == EV,
                                                .errors = i == ERRORS,
                                                .quarantine = i == QUARANTINE,
                                                .partitions = i == EV ? 2 : 1,
                                                .parts = world->parts[i]};
    }
    world->audit = (ab_audit_t){.group = "g",
                                .sources = &world->source,
                                .source_count = 1,
                                .outputs = world->outputs,
                                .output_count = OUTPUTS,
                                .arena = aw_arena_new(1 << 20),
                                .on_fault = on_fault,
                                .on_absent = on_absent,
                                .opaque = world};
    assert_non_null(world->audit.arena);
    return world;
}

void world_free(world_t *world)
{
    aw_arena_free(world->audit.arena);
    free(world);
}

/* A source record with a payload in this field: 3 is an external_event, 0 none, so that it becomes
 * a dead letter. Returns its number, which is its offset. */
size_t world_add_record(world_t *world, const char *key, uint32_t field)
{
    const size_t number = world->record_count++;
    wire_t *wire = &world->wires[number];
    wire_text(wire, 1, key);
    wire_number(wire, 2, 1000 + number);
    if (field != 0) {
        wire_text(wire, field, field == 3 ? "event" : "");
    }
    world->records[number] = (ab_full_record_t){.record = {.topic = "in",
                                                           .offset = (int64_t)number,
                                                           .timestamp_ms = 5000 + (int64_t)number,
                                                           .timestamp_type = AB_TIMESTAMP_CREATE,
                                                           .key = aw_span_text_view(key),
                                                           .value = wire_view(wire)},
                                                .headers = &OWN,
                                                .header_count = 1};
    return number;
}

void world_put_header(output_t *output, const char *name, aw_span_t value)
{
    output->headers[output->full.header_count++] = (ab_header_t){name, value};
}

/* What the bridge writes for a record to an output; copy is for quarantine. */
output_t *world_make(const world_t *world, size_t number, int topic, const char *copy,
                     const ab_verdict_t *verdict, const char *refused_by)
{
    const ab_full_record_t *source = &world->records[number];
    output_t *output = calloc(1, sizeof(*output));
    assert_non_null(output);
    output->arena = aw_arena_new(1 << 20);
    output->full.headers = output->headers;
    output->full.record.topic = world->outputs[topic].topic;
    output->full.record.timestamp_type = AB_TIMESTAMP_CREATE;
    output->full.record.timestamp_ms = 9999;
    if (topic == EV || (topic == QUARANTINE && strcmp(copy, AB_COPY_TEXT_POINTER) != 0)) {
        world_put_header(output, OWN.name, OWN.value);
    }
    if (topic == EV) {
        const size_t size = ab_source_text(&source->record, output->source);
        output->full.record.key = source->record.key;
        output->full.record.value = source->record.value;
        output->full.record.timestamp_ms = source->record.timestamp_ms;
        output->full.record.partition = ab_partition_of_key(source->record.key, 2);
        world_put_header(output, AB_HEADER_SOURCE, aw_span_view(output->source, size));
        return output;
    }
    assert_int_equal(ab_dead_letter_build(&source->record, verdict, "g", refused_by, output->arena,
                                          &output->letter),
                     0);
    output->full.record.key = topic == ERRORS ? output->letter.key : source->record.key;
    output->full.record.value = topic == ERRORS ? output->letter.value : source->record.value;
    for (size_t i = 0; i < output->letter.header_count; i++) {
        world_put_header(output, output->letter.headers[i].name, output->letter.headers[i].value);
    }
    if (topic == QUARANTINE) {
        world_put_header(output, AB_HEADER_COPY, aw_span_text_view(copy));
        if (strcmp(copy, AB_COPY_TEXT_POINTER) == 0) {
            output->full.record.value = aw_span_view("", 0);
        } else if (strcmp(copy, AB_COPY_TEXT_HEAD) == 0) {
            output->full.record.value.size = 5;
        }
    }
    return output;
}

/* Shows it to the audit as the next one of its partition, and frees it. */
ab_sight_t world_show(world_t *world, output_t *output)
{
    int topic = 0;
    int64_t source_ms = 0;
    ab_sighting_t seen = {0};
    while (strcmp(world->outputs[topic].topic, output->full.record.topic) != 0) {
        topic++;
    }
    output->full.record.offset = world->next[topic][output->full.record.partition]++;
    const ab_sight_t sight =
        ab_audit_sight(&world->audit, (size_t)topic, &output->full, &seen, &source_ms);
    world->sights[sight]++;
    if (sight == AB_SIGHT_OURS) {
        world->seen[world->seen_count++] = seen;
    }
    aw_arena_free(output->arena);
    free(output);
    return sight;
}

ab_verdict_t world_verdict_of(const world_t *world, size_t number)
{
    ab_verdict_t verdict;
    assert_int_equal(
        ab_verdict_of(&world->records[number].record, world->source.policy, NULL, &verdict), 0);
    return verdict;
}

/* All that the bridge writes for a record. */
void world_relay(world_t *world, size_t number)
{
    const ab_verdict_t verdict = world_verdict_of(world, number);
    if (verdict.outcome == AB_OUTCOME_ROUTED || verdict.outcome == AB_OUTCOME_ANSWERED) {
        (void)world_show(world, world_make(world, number, EV, NULL, NULL, NULL));
    } else if (verdict.outcome == AB_OUTCOME_DEAD_LETTERED) {
        (void)world_show(world, world_make(world, number, ERRORS, NULL, &verdict, NULL));
        (void)world_show(world,
                         world_make(world, number, QUARANTINE, AB_COPY_TEXT_WHOLE, &verdict, NULL));
    }
}

void world_judge_all(world_t *world)
{
    size_t at = 0;
    ab_audit_order_t order = {.highest = -1};
    qsort(world->seen, world->seen_count, sizeof(*world->seen), ab_sighting_by_source);
    ab_audit_begin(&world->audit);
    ab_sighting_t originals[RECORDS_MAX * 2];
    size_t original_count = 0;
    for (size_t i = 0; i < world->record_count; i++) {
        size_t count = 0;
        while (at + count < world->seen_count &&
               world->seen[at + count].source_offset == (int64_t)i) {
            count++;
        }
        assert_int_equal(
            ab_audit_judge(&world->audit, 0, &world->records[i], world->seen + at, count), 0);
        for (size_t k = 0; k < count; k++) {
            if (ab_audit_is_in_order(&world->audit, world->seen + at, count, k)) {
                originals[original_count++] = world->seen[at + k];
            }
        }
        at += count;
    }
    assert_int_equal(at, world->seen_count);
    if (world->audit.disordered) {
        qsort(originals, original_count, sizeof(*originals), ab_sighting_by_key);
        for (size_t i = 0; i < original_count; i++) {
            ab_audit_follow(&world->audit, &order, &originals[i]);
        }
    }
    const ab_audit_counts_t *counts = &world->audit.counts;
    assert_int_equal(counts->records, counts->routed + counts->answered + counts->dead_lettered +
                                          counts->dropped + counts->expired +
                                          counts->missing_outcomes + counts->unproven);
}

void world_assert_only_fault(world_t *world, ab_fault_kind_t kind, int64_t source_offset,
                             int output, unsigned parts)
{
    world_judge_all(world);
    assert_int_equal(world->fault_count, 1);
    assert_int_equal(world->faults[0].kind, kind);
    assert_int_equal(world->faults[0].source_offset, source_offset);
    assert_int_equal(world->faults[0].output, output);
    assert_int_equal(world->faults[0].parts, parts);
    assert_int_equal(world->audit.counts.faults[kind], 1);
}

/* A few records of each outcome. */
world_t *world_filled(void)
{
    static const uint32_t fields[] = {3, 0, 3, 6, 3, 0, 3, 3};
    static const char *const keys[] = {"a", "b", "a", "b", "b", "a", "a", "c"};
    world_t *world = world_new();
    for (size_t i = 0; i < 8; i++) {
        (void)world_add_record(world, keys[i], fields[i]);
    }
    return world;
}
