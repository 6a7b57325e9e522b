#ifndef TESTS_UNIT_CORE_AUDIT_WORLD_H
#define TESTS_UNIT_CORE_AUDIT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/core/audit.h"
#include "bridge/core/dead_letter.h"
#include "tests/unit/core/wire.h"

/* A source and its outputs in memory, written as the bridge writes them, with an audit over them.
 */

/* One source "in" with the outputs "ev" (all variants), "in.errors" and "in.quarantine", of one
 * partition each but for "ev", which has two. */
enum { EV, ERRORS, QUARANTINE, OUTPUTS };

#define RECORDS_MAX 32u
#define FAULTS_MAX  32u

/* Memory for one output record. */
typedef struct output {
    ab_full_record_t full;
    ab_header_t headers[AB_LETTER_HEADERS_MAX + 3];
    char source[AB_SOURCE_TEXT_MAX];
    ab_letter_t letter;
    aw_arena_t *arena;
} output_t;

typedef struct world {
    ab_audit_t audit;
    ab_audit_source_t source;
    ab_audit_output_t outputs[OUTPUTS];
    ab_audit_part_t parts[OUTPUTS][2];
    wire_t wires[RECORDS_MAX];
    ab_full_record_t records[RECORDS_MAX];
    size_t record_count;
    ab_sighting_t seen[RECORDS_MAX * 2];
    size_t seen_count;
    int64_t next[OUTPUTS][2]; /* offsets */
    size_t sights[4];
    ab_fault_t faults[FAULTS_MAX];
    size_t fault_count;
    ab_sighting_t absent[RECORDS_MAX];
    size_t absent_count;
} world_t;

world_t *world_new(void);
void world_free(world_t *world);
/* A few records of each outcome, nothing written of them yet. */
world_t *world_filled(void);

/* A source record with a payload in this field: 3 is an external_event, 0 none, so that it becomes
 * a dead letter. Returns its number, which is its offset. */
size_t world_add_record(world_t *world, const char *key, uint32_t field);

ab_verdict_t world_verdict_of(const world_t *world, size_t number);

/* What the bridge writes for a record to an output; copy is for quarantine. */
output_t *world_make(const world_t *world, size_t number, int topic, const char *copy,
                     const ab_verdict_t *verdict, const char *refused_by);
void world_put_header(output_t *output, const char *name, aw_span_t value);

/* Shows it to the audit as the next one of its partition, and frees it. */
ab_sight_t world_show(world_t *world, output_t *output);

/* All that the bridge writes for a record. */
void world_relay(world_t *world, size_t number);

/* Judges every source record; the counts have to balance. */
void world_judge_all(world_t *world);
/* The same, and there is this one fault. */
void world_assert_only_fault(world_t *world, ab_fault_kind_t kind, int64_t source_offset,
                             int output, unsigned parts);

#endif
