#include "bridge/core/audit.h"

#include <stdio.h>
#include <string.h>

#include "bridge/core/dead_letter.h"
#include "bridge/core/digest.h"
#include "bridge/core/trailer.h"

/* ---- words and sums ---- */

const char *ab_fault_name(ab_fault_kind_t kind)
{
    static const char *const names[AB_FAULT_COUNT] = {"missing", "duplicate", "altered",
                                                      "reordered", "unexpected"};
    return (unsigned)kind < AB_FAULT_COUNT ? names[kind] : "";
}

const char *ab_fault_parts(unsigned parts, char ret_text[AB_FAULT_PARTS_MAX])
{
    static const char *const names[] = {"key", "value", "headers", "timestamp", "partition"};
    size_t size = 0;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((parts & 1u << i) != 0) {
            size += (size_t)snprintf(ret_text + size, AB_FAULT_PARTS_MAX - size, "%s%s",
                                     size > 0 ? ", " : "", names[i]);
        }
    }
    return ret_text;
}

void ab_audit_counts_add(ab_audit_counts_t *counts, const ab_audit_counts_t *more)
{
    counts->records += more->records;
    counts->routed += more->routed;
    counts->answered += more->answered;
    counts->dead_lettered += more->dead_lettered;
    counts->dropped += more->dropped;
    counts->expired += more->expired;
    counts->missing_outcomes += more->missing_outcomes;
    counts->unproven += more->unproven;
    counts->rejected += more->rejected;
    counts->settled += more->settled;
    counts->redriven_direct += more->redriven_direct;
    counts->heads += more->heads;
    counts->pointers += more->pointers;
    for (unsigned i = 0; i < AB_FAULT_COUNT; i++) {
        counts->faults[i] += more->faults[i];
    }
}

/* ---- orders ---- */

#define COMPARE(member)                                                                            \
    if (left->member != right->member) {                                                           \
        return left->member < right->member ? -1 : 1;                                              \
    }

int ab_sighting_by_source(const void *a, const void *b)
{
    const ab_sighting_t *left = a;
    const ab_sighting_t *right = b;
    COMPARE(source)
    COMPARE(source_partition)
    COMPARE(source_offset)
    COMPARE(output)
    COMPARE(partition)
    COMPARE(offset)
    return 0;
}

int ab_sighting_by_place(const void *a, const void *b)
{
    const ab_sighting_t *left = a;
    const ab_sighting_t *right = b;
    COMPARE(output)
    COMPARE(partition)
    COMPARE(offset)
    return 0;
}

int ab_sighting_by_key(const void *a, const void *b)
{
    const ab_sighting_t *left = a;
    const ab_sighting_t *right = b;
    COMPARE(source)
    COMPARE(source_partition)
    COMPARE(output)
    COMPARE(partition)
    COMPARE(key)
    COMPARE(offset)
    return 0;
}

int ab_sighting_compare_content(const ab_sighting_t *a, const ab_sighting_t *b)
{
    const ab_sighting_t *left = a;
    const ab_sighting_t *right = b;
    COMPARE(output)
    COMPARE(partition)
    COMPARE(key)
    COMPARE(value)
    COMPARE(headers)
    return 0;
}

int ab_sighting_by_content(const void *a, const void *b)
{
    const ab_sighting_t *left = a;
    const ab_sighting_t *right = b;
    const int order = ab_sighting_compare_content(left, right);
    if (order != 0) {
        return order;
    }
    COMPARE(timestamp_ms)
    COMPARE(source)
    COMPARE(source_partition)
    COMPARE(source_offset)
    COMPARE(offset)
    return 0;
}

/* ---- looking at an output ---- */

static size_t last_index(const ab_full_record_t *record, const char *name)
{
    const ab_header_t *found = ab_header_last(record, name);
    return found != NULL ? (size_t)(found - record->headers) : SIZE_MAX;
}

static bool is_text(aw_span_t value, const char *text)
{
    return value.size == strlen(text) && memcmp(value.data, text, value.size) == 0;
}

static ab_copy_t copy_of(const ab_full_record_t *record)
{
    const ab_header_t *copy = ab_header_last(record, AB_HEADER_COPY);
    if (copy == NULL || copy->value.data == NULL) {
        return AB_COPY_NONE;
    }
    return is_text(copy->value, AB_COPY_TEXT_WHOLE)     ? AB_COPY_WHOLE
           : is_text(copy->value, AB_COPY_TEXT_HEAD)    ? AB_COPY_HEAD
           : is_text(copy->value, AB_COPY_TEXT_POINTER) ? AB_COPY_POINTER
                                                        : AB_COPY_NONE;
}

/* The source of ours that its last source header names; -1 when there is none. */
static int named_source(const ab_audit_t *audit, const ab_full_record_t *record,
                        ab_coordinates_t *ret_at, int64_t *ret_source_ms)
{
    const ab_header_t *header = ab_header_last(record, AB_HEADER_SOURCE);
    if (header == NULL || !ab_source_parse(header->value, ret_at, ret_source_ms)) {
        return -1;
    }
    for (size_t i = 0; i < audit->source_count; i++) {
        if (strcmp(audit->sources[i].policy->topic, ret_at->topic) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool of_another_group(const ab_audit_t *audit, const ab_full_record_t *record)
{
    const ab_header_t *group = ab_header_last(record, AB_HEADER_DLQ_GROUP);
    return group == NULL || !is_text(group->value, audit->group);
}

ab_sight_t ab_audit_sight(const ab_audit_t *audit, size_t output, const ab_full_record_t *record,
                          ab_sighting_t *ret_seen, int64_t *ret_source_ms)
{
    const ab_audit_output_t *facts = &audit->outputs[output];
    const size_t hops = last_index(record, AB_HEADER_HOPS);
    const size_t named = last_index(record, AB_HEADER_SOURCE);
    char job[AB_JOB_ID_MAX];
    ab_coordinates_t at;
    int64_t source_ms = -1;
    int source = named_source(audit, record, &at, &source_ms);
    ab_sighting_t seen = {
        .source_offset = -1,
        .offset = record->record.offset,
        .timestamp_ms = record->record.timestamp_ms,
        .value_size = (uint32_t)record->record.value.size,
        .source_partition = -1,
        .partition = record->record.partition,
        .output = (uint16_t)output,
        .copy = (uint8_t)copy_of(record),
        .letter = ab_header_last(record, AB_HEADER_REASON) != NULL,
        .stamped = record->record.timestamp_type == AB_TIMESTAMP_APPEND,
        /* A redrive puts its header last; what a relay routes has the source header behind it. */
        .redriven = hops != SIZE_MAX && (named == SIZE_MAX || hops > named)};
    if (facts->quarantine && ab_marker_read(record, &at, job)) {
        *ret_seen = seen; /* of the place that it marks */
        ret_seen->partition = at.partition;
        ret_seen->offset = at.offset;
        return AB_SIGHT_MARKER;
    }
    if (seen.redriven) {
        source = -1; /* the source header is of an earlier journey */
    }
    if (source >= 0 && (facts->quarantine || (facts->errors && !facts->route)) &&
        of_another_group(audit, record)) {
        return AB_SIGHT_FOREIGN;
    }
    if (source < 0 && !facts->route) {
        return AB_SIGHT_FOREIGN;
    }
    seen.key = ab_digest_of(record->record.key);
    seen.value = ab_digest_of(record->record.value);
    seen.headers = ab_digest_of_headers(record->headers, record->header_count, NULL, 0);
    if (source >= 0) {
        seen.source = (uint16_t)source;
        seen.source_partition = at.partition;
        seen.source_offset = at.offset;
        *ret_source_ms = source_ms;
    }
    *ret_seen = seen;
    return source >= 0 ? AB_SIGHT_OURS : AB_SIGHT_UNNAMED;
}

/* ---- the order per key ---- */

static bool same_line(const ab_sighting_t *a, const ab_sighting_t *b)
{
    return a->source == b->source && a->source_partition == b->source_partition &&
           a->output == b->output && a->partition == b->partition && a->key == b->key;
}

void ab_audit_follow(ab_audit_t *audit, ab_audit_order_t *order, const ab_sighting_t *seen)
{
    if (seen->key == 0) {
        return; /* without a key nothing was promised */
    }
    if (order->highest < 0 || !same_line(&order->last, seen)) {
        order->highest = seen->source_offset;
    } else if (seen->source_offset < order->highest) {
        const ab_fault_t fault = {.kind = AB_FAULT_REORDERED,
                                  .source = seen->source,
                                  .output = seen->output,
                                  .source_partition = seen->source_partition,
                                  .partition = seen->partition,
                                  .source_offset = seen->source_offset,
                                  .offset = seen->offset,
                                  .behind = order->highest};
        audit->counts.faults[AB_FAULT_REORDERED]++;
        audit->on_fault(audit->opaque, &fault);
    } else {
        order->highest = seen->source_offset;
    }
    order->last = *seen;
}
