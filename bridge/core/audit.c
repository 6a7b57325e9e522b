#include "bridge/core/audit.h"

#include <string.h>

#include "agentwire/status.h"
#include "bridge/core/digest.h"
#include "bridge/core/partition.h"

/* What a sighting is to the source record that it names. */
typedef enum role { ROLE_ROUTED, ROLE_LETTER, ROLE_QUARANTINE, ROLE_NONE, ROLE_COUNT } role_t;

/* What one output must hold of a record. */
typedef struct wanted {
    int output;
    int32_t partition;
    uint64_t key, value, headers;
    int64_t timestamp_ms;
    bool timed; /* the timestamp has to be that */
} wanted_t;

/* One source record, judged. */
typedef struct hearing {
    ab_audit_t *audit;
    size_t source;
    const ab_full_record_t *record;
    ab_verdict_t verdict;
    const ab_sighting_t *seen;
    size_t count;
    size_t found[ROLE_COUNT];
    int route; /* the output that the verdict routes to, -1: none */
} hearing_t;

/* ---- faults ---- */

static void tell(ab_audit_t *audit, const ab_fault_t *fault)
{
    audit->counts.faults[fault->kind]++;
    audit->on_fault(audit->opaque, fault);
}

static void tell_seen(ab_audit_t *audit, ab_fault_kind_t kind, const ab_sighting_t *seen,
                      unsigned parts)
{
    const ab_fault_t fault = {.kind = kind,
                              .source = seen->source,
                              .output = seen->output,
                              .source_partition = seen->source_partition,
                              .partition = seen->partition,
                              .source_offset = seen->source_offset,
                              .offset = seen->offset,
                              .parts = parts,
                              .behind = -1};
    tell(audit, &fault);
}

void ab_audit_stray(ab_audit_t *audit, const ab_sighting_t *seen)
{
    tell_seen(audit, AB_FAULT_UNEXPECTED, seen, 0);
}

/* One that is there once more. */
static void tell_duplicate(ab_audit_t *audit, const ab_sighting_t *seen)
{
    if (audit->duplicates_allowed) {
        audit->duplicates++;
    } else {
        tell_seen(audit, AB_FAULT_DUPLICATE, seen, 0);
    }
}

/* ---- what has to be ---- */

static int32_t partition_for(const ab_audit_t *audit, int output, aw_span_t key,
                             int32_t source_partition, bool by_key)
{
    const int32_t count = audit->outputs[output].partitions;
    if (count <= 0) {
        return 0;
    }
    return by_key && key.data != NULL ? ab_partition_of_key(key, count) : source_partition % count;
}

/* Retention removed the beginning of that partition, and nothing of this source partition that is
 * there is older. */
static bool may_be_gone(const ab_audit_t *audit, int output, int32_t partition)
{
    const ab_audit_output_t *facts = &audit->outputs[output];
    return partition < facts->partitions && facts->parts[partition].first > 0 &&
           facts->parts[partition].last_seen < 0;
}

static wanted_t routed_wanted(const hearing_t *hearing, bool source_header)
{
    const ab_record_t *record = &hearing->record->record;
    const bool by_key =
        hearing->audit->sources[hearing->source].policy->partition_by == AB_PARTITION_KEY;
    char text[AB_SOURCE_TEXT_MAX];
    const ab_header_t header = {AB_HEADER_SOURCE, aw_span_view(text, ab_source_text(record, text))};
    return (wanted_t){
        .output = hearing->route,
        .partition = partition_for(hearing->audit, hearing->route, hearing->verdict.entity_key,
                                   record->partition, by_key),
        .key = ab_digest_of(hearing->verdict.entity_key),
        .value = ab_digest_of(record->value),
        .headers = ab_digest_of_headers(hearing->record->headers, hearing->record->header_count,
                                        &header, source_header ? 1 : 0),
        .timestamp_ms = record->timestamp_ms,
        /* Kafka's clients cannot send 0, and write the time of sending where there is none. */
        .timed = record->timestamp_type != AB_TIMESTAMP_NONE && record->timestamp_ms != 0};
}

static wanted_t letter_wanted(const hearing_t *hearing, const ab_letter_t *letter)
{
    const int output = hearing->audit->sources[hearing->source].errors;
    return (wanted_t){.output = output,
                      .partition = partition_for(hearing->audit, output, letter->key,
                                                 hearing->record->record.partition, true),
                      .key = ab_digest_of(letter->key),
                      .value = ab_digest_of(letter->value),
                      .headers =
                          ab_digest_of_headers(letter->headers, letter->header_count, NULL, 0)};
}

/* The copy header decides how much of the record has to be there. */
static wanted_t quarantine_wanted(const hearing_t *hearing, const ab_letter_t *letter,
                                  const ab_sighting_t *seen)
{
    static const char *const copies[] = {[AB_COPY_NONE] = AB_COPY_TEXT_WHOLE,
                                         [AB_COPY_WHOLE] = AB_COPY_TEXT_WHOLE,
                                         [AB_COPY_HEAD] = AB_COPY_TEXT_HEAD,
                                         [AB_COPY_POINTER] = AB_COPY_TEXT_POINTER};
    const int output = hearing->audit->sources[hearing->source].quarantine;
    const bool pointer = seen->copy == AB_COPY_POINTER;
    aw_span_t key = hearing->record->record.key;
    aw_span_t value = hearing->record->record.value;
    ab_header_t headers[AB_LETTER_HEADERS_MAX + 1];
    memcpy(headers, letter->headers, letter->header_count * sizeof(*headers));
    headers[letter->header_count] =
        (ab_header_t){AB_HEADER_COPY, aw_span_text_view(copies[seen->copy])};
    if (pointer) {
        key.size = key.size > AB_LETTER_KEY_MAX ? AB_LETTER_KEY_MAX : key.size;
        value = aw_span_view("", 0);
    } else if (seen->copy == AB_COPY_HEAD && seen->value_size < value.size) {
        value.size = seen->value_size;
    }
    return (wanted_t){.output = output,
                      .partition = partition_for(hearing->audit, output, key,
                                                 hearing->record->record.partition, true),
                      .key = ab_digest_of(key),
                      .value = ab_digest_of(value),
                      .headers = ab_digest_of_headers(hearing->record->headers,
                                                      pointer ? 0 : hearing->record->header_count,
                                                      headers, letter->header_count + 1)};
}

static unsigned differences(const wanted_t *wanted, const ab_sighting_t *seen)
{
    unsigned parts = 0;
    parts |= wanted->key != seen->key ? AB_PART_OF_KEY : 0;
    parts |= wanted->value != seen->value ? AB_PART_OF_VALUE : 0;
    parts |= wanted->headers != seen->headers ? AB_PART_OF_HEADERS : 0;
    parts |= wanted->timed && !seen->stamped && wanted->timestamp_ms != seen->timestamp_ms
                 ? AB_PART_OF_TIMESTAMP
                 : 0;
    parts |= wanted->partition != seen->partition ? AB_PART_OF_PARTITION : 0;
    return parts;
}

/* ---- one record ---- */

static role_t role_of(const hearing_t *hearing, const ab_sighting_t *seen)
{
    const ab_audit_source_t *source = &hearing->audit->sources[hearing->source];
    if (seen->output == source->quarantine) {
        return ROLE_QUARANTINE;
    }
    if (seen->output == source->errors &&
        (seen->letter || !hearing->audit->outputs[seen->output].route)) {
        return ROLE_LETTER;
    }
    return seen->output == hearing->route ? ROLE_ROUTED : ROLE_NONE;
}

static bool is_original(const ab_audit_t *audit, const ab_sighting_t *seen, size_t count,
                        size_t index)
{
    const size_t step = audit->duplicates_allowed ? 1 : (size_t)-1;
    for (size_t i = index + step; i < count; i += step) {
        if (seen[i].output == seen[index].output && seen[i].letter == seen[index].letter) {
            return false;
        }
    }
    return true;
}

/* A redrive has taken care of its quarantine record. */
static bool is_settled(const ab_sighting_t *seen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (seen[i].marked) {
            return true;
        }
    }
    return false;
}

/* It lies where only a redrive would have put what was dead-lettered before. */
static bool is_redriven(const ab_audit_t *audit, const ab_sighting_t *seen)
{
    return audit->outputs[seen->output].route && !seen->letter;
}

bool ab_audit_is_in_order(const ab_audit_t *audit, const ab_sighting_t *seen, size_t count,
                          size_t index)
{
    return is_original(audit, seen, count, index) &&
           !(is_redriven(audit, &seen[index]) && is_settled(seen, count));
}

/* Judges the sightings of one role: the original by its content, the others as duplicates. */
static void judge_role(hearing_t *hearing, role_t role, const ab_letter_t *letter)
{
    ab_audit_t *audit = hearing->audit;
    for (size_t i = 0; i < hearing->count; i++) {
        const ab_sighting_t *seen = &hearing->seen[i];
        if (role_of(hearing, seen) != role) {
            continue;
        }
        if (!is_original(audit, hearing->seen, hearing->count, i)) {
            tell_duplicate(audit, seen);
            continue;
        }
        const wanted_t wanted = role == ROLE_ROUTED   ? routed_wanted(hearing, true)
                                : role == ROLE_LETTER ? letter_wanted(hearing, letter)
                                                      : quarantine_wanted(hearing, letter, seen);
        const unsigned parts = differences(&wanted, seen);
        if (parts != 0) {
            tell_seen(audit, AB_FAULT_ALTERED, seen, parts);
        }
        if (role == ROLE_QUARANTINE) {
            audit->counts.heads += seen->copy == AB_COPY_HEAD;
            audit->counts.pointers += seen->copy == AB_COPY_POINTER;
        }
    }
}

static void refuse_role(hearing_t *hearing, role_t role)
{
    for (size_t i = 0; i < hearing->count; i++) {
        if (role_of(hearing, &hearing->seen[i]) == role) {
            tell_seen(hearing->audit, AB_FAULT_UNEXPECTED, &hearing->seen[i], 0);
        }
    }
}

/* True when retention may have removed it; else that is a fault. */
static bool excuse(hearing_t *hearing, const wanted_t *wanted)
{
    const ab_record_t *record = &hearing->record->record;
    if (may_be_gone(hearing->audit, wanted->output, wanted->partition)) {
        return true;
    }
    const ab_fault_t fault = {.kind = AB_FAULT_MISSING,
                              .source = (int)hearing->source,
                              .output = wanted->output,
                              .source_partition = record->partition,
                              .partition = wanted->partition,
                              .source_offset = record->offset,
                              .offset = -1,
                              .behind = -1};
    tell(hearing->audit, &fault);
    return false;
}

/* The verdict is a dead letter, or the output refused the record: letter and quarantine. */
static void judge_letter(hearing_t *hearing, const ab_letter_t *letter)
{
    ab_audit_counts_t *counts = &hearing->audit->counts;
    judge_role(hearing, ROLE_LETTER, letter);
    judge_role(hearing, ROLE_QUARANTINE, letter);
    if (hearing->found[ROLE_LETTER] > 0) {
        counts->dead_lettered++;
    } else {
        const wanted_t wanted = letter_wanted(hearing, letter);
        const bool excused = excuse(hearing, &wanted);
        counts->expired += excused;
        counts->missing_outcomes += !excused;
    }
    if (hearing->audit->sources[hearing->source].quarantine >= 0 &&
        hearing->found[ROLE_QUARANTINE] == 0) {
        const ab_sighting_t whole = {.copy = AB_COPY_WHOLE};
        const wanted_t wanted = quarantine_wanted(hearing, letter, &whole);
        (void)excuse(hearing, &wanted);
    }
}

static int build(const hearing_t *hearing, const ab_verdict_t *verdict, const char *refused_by,
                 ab_letter_t *ret_letter)
{
    aw_arena_reset(hearing->audit->arena);
    return ab_dead_letter_build(&hearing->record->record, verdict, hearing->audit->group,
                                refused_by, hearing->audit->arena, ret_letter);
}

/* How many sightings are not what this letter would have made of the record. */
static size_t misfits(hearing_t *hearing, const ab_letter_t *letter)
{
    size_t count = 0;
    for (size_t i = 0; i < hearing->count; i++) {
        const ab_sighting_t *seen = &hearing->seen[i];
        const role_t role = role_of(hearing, seen);
        if (role == ROLE_LETTER || role == ROLE_QUARANTINE) {
            const wanted_t wanted = role == ROLE_LETTER ? letter_wanted(hearing, letter)
                                                        : quarantine_wanted(hearing, letter, seen);
            count += differences(&wanted, seen) != 0;
        }
    }
    return count;
}

/* The output refused it, for one of a few causes: the one that fits best is the one that was. */
static int judge_rejected(hearing_t *hearing)
{
    const char *topic = hearing->audit->outputs[hearing->route].topic;
    ab_verdict_t best = hearing->verdict;
    size_t least = SIZE_MAX;
    ab_letter_t letter;
    int status;
    for (size_t i = 0; i < AB_REFUSAL_COUNT && least > 0; i++) {
        ab_verdict_t rejected = hearing->verdict;
        ab_verdict_reject(&rejected, ab_refusal_text((ab_refusal_t)i));
        status = build(hearing, &rejected, topic, &letter);
        if (status != AW_OK) {
            return status;
        }
        const size_t count = misfits(hearing, &letter);
        if (count < least) {
            least = count;
            best = rejected;
        }
    }
    status = build(hearing, &best, topic, &letter);
    if (status != AW_OK) {
        return status;
    }
    hearing->audit->counts.rejected++;
    judge_letter(hearing, &letter);
    return AW_OK;
}

/* Nothing names it: it may have gone without the source header. */
static void ask_for(hearing_t *hearing)
{
    const ab_record_t *record = &hearing->record->record;
    const wanted_t wanted = routed_wanted(hearing, false);
    const ab_sighting_t absent = {.source_offset = record->offset,
                                  .offset = -1,
                                  .timestamp_ms = wanted.timed ? wanted.timestamp_ms : -1,
                                  .key = wanted.key,
                                  .value = wanted.value,
                                  .headers = wanted.headers,
                                  .value_size = (uint32_t)record->value.size,
                                  .source_partition = record->partition,
                                  .partition = wanted.partition,
                                  .source = (uint16_t)hearing->source,
                                  .output = (uint16_t)wanted.output,
                                  .perishable =
                                      may_be_gone(hearing->audit, wanted.output, wanted.partition)};
    hearing->audit->counts.unproven++;
    hearing->audit->on_absent(hearing->audit->opaque, &absent);
}

/* A request that no state could answer, or not in time. Returns AW_OK with *ret_lawful saying
 * whether the letter is one of these, judged then. */
static int judge_unanswered(hearing_t *hearing, bool *ret_lawful)
{
    static const ab_reason_t reasons[] = {AB_REASON_STATE_UNKNOWN, AB_REASON_STATE_NOT_READY};
    *ret_lawful = false;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !*ret_lawful; i++) {
        ab_verdict_t refused = hearing->verdict;
        ab_letter_t letter;
        ab_verdict_refuse_answer(&refused, reasons[i]);
        const int status = build(hearing, &refused, NULL, &letter);
        if (status != AW_OK) {
            return status;
        }
        *ret_lawful = misfits(hearing, &letter) == 0;
        if (*ret_lawful) {
            judge_letter(hearing, &letter);
        }
    }
    return AW_OK;
}

/* An answer is made of state, which is not looked at here: it has to be there, once, under the
 * entity's key in that key's partition. */
static int judge_answered(hearing_t *hearing)
{
    ab_audit_t *audit = hearing->audit;
    const aw_span_t key = hearing->verdict.entity_key;
    const wanted_t wanted = {.output = hearing->route,
                             .partition = partition_for(audit, hearing->route, key,
                                                        hearing->record->record.partition, true),
                             .key = ab_digest_of(key)};
    if (hearing->found[ROLE_ROUTED] == 0 &&
        hearing->found[ROLE_LETTER] + hearing->found[ROLE_QUARANTINE] > 0) {
        bool lawful;
        const int status = judge_unanswered(hearing, &lawful);
        return status != AW_OK || lawful ? status : judge_rejected(hearing);
    }
    if (hearing->found[ROLE_ROUTED] == 0) {
        const bool excused = excuse(hearing, &wanted);
        audit->counts.expired += excused;
        audit->counts.missing_outcomes += !excused;
        return AW_OK;
    }
    for (size_t i = 0; i < hearing->count; i++) {
        const ab_sighting_t *seen = &hearing->seen[i];
        const unsigned parts = differences(&wanted, seen) & (AB_PART_OF_KEY | AB_PART_OF_PARTITION);
        if (role_of(hearing, seen) != ROLE_ROUTED) {
            continue;
        }
        if (!is_original(audit, hearing->seen, hearing->count, i)) {
            tell_duplicate(audit, seen);
        } else if (parts != 0) {
            tell_seen(audit, AB_FAULT_ALTERED, seen, parts);
        }
    }
    audit->counts.answered++;
    refuse_role(hearing, ROLE_LETTER);
    refuse_role(hearing, ROLE_QUARANTINE);
    return AW_OK;
}

static int judge_routed(hearing_t *hearing)
{
    if (hearing->found[ROLE_ROUTED] > 0) {
        hearing->audit->counts.routed++;
        judge_role(hearing, ROLE_ROUTED, NULL);
        refuse_role(hearing, ROLE_LETTER);
        refuse_role(hearing, ROLE_QUARANTINE);
        return AW_OK;
    }
    if (hearing->found[ROLE_LETTER] > 0 || hearing->found[ROLE_QUARANTINE] > 0) {
        return judge_rejected(hearing);
    }
    ask_for(hearing);
    return AW_OK;
}

/* It was dead-lettered, perhaps under another configuration, and redriven since: letter and
 * quarantine record have to be there, once, and key and value of what holds them whole have to be
 * the record's. */
static void judge_settled(hearing_t *hearing)
{
    const ab_audit_source_t *source = &hearing->audit->sources[hearing->source];
    const ab_record_t *record = &hearing->record->record;
    ab_audit_counts_t *counts = &hearing->audit->counts;
    const uint64_t value = ab_digest_of(record->value);
    bool has_letter = false;
    for (size_t i = 0; i < hearing->count; i++) {
        const ab_sighting_t *seen = &hearing->seen[i];
        if (is_redriven(hearing->audit, seen)) {
            counts->redriven_direct++;
        } else if (!is_original(hearing->audit, hearing->seen, hearing->count, i)) {
            tell_duplicate(hearing->audit, seen);
        }
        const bool whole = is_redriven(hearing->audit, seen) || seen->copy == AB_COPY_WHOLE;
        if (whole && seen->value != value) {
            tell_seen(hearing->audit, AB_FAULT_ALTERED, seen, AB_PART_OF_VALUE);
        }
        has_letter |= seen->output == source->errors && seen->copy == AB_COPY_NONE;
    }
    counts->settled++;
    counts->dead_lettered += has_letter;
    if (!has_letter) {
        const aw_span_t key = record->key;
        const wanted_t wanted = {.output = source->errors,
                                 .partition = partition_for(hearing->audit, source->errors, key,
                                                            record->partition, true)};
        const bool excused = excuse(hearing, &wanted);
        counts->expired += excused;
        counts->missing_outcomes += !excused;
    }
}

static void note_places(ab_audit_t *audit, const ab_sighting_t *seen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ab_audit_part_t *part = &audit->outputs[seen[i].output].parts[seen[i].partition];
        if (!ab_audit_is_in_order(audit, seen, count, i)) {
            continue;
        }
        if (seen[i].offset < part->last_seen) {
            audit->disordered = true;
        } else {
            part->last_seen = seen[i].offset;
        }
    }
}

static int judge(hearing_t *hearing)
{
    ab_letter_t letter;
    if (is_settled(hearing->seen, hearing->count)) {
        judge_settled(hearing);
        return AW_OK;
    }
    refuse_role(hearing, ROLE_NONE);
    switch (hearing->verdict.outcome) {
    case AB_OUTCOME_ROUTED:
        return judge_routed(hearing);
    case AB_OUTCOME_ANSWERED:
        return judge_answered(hearing);
    case AB_OUTCOME_DEAD_LETTERED: {
        const int status = build(hearing, &hearing->verdict, NULL, &letter);
        if (status == AW_OK) {
            judge_letter(hearing, &letter);
        }
        return status;
    }
    case AB_OUTCOME_DROPPED:
    default:
        hearing->audit->counts.dropped++;
        refuse_role(hearing, ROLE_LETTER);
        refuse_role(hearing, ROLE_QUARANTINE);
        return AW_OK;
    }
}

int ab_audit_judge(ab_audit_t *audit, size_t source, const ab_full_record_t *record,
                   const ab_sighting_t *seen, size_t count)
{
    hearing_t hearing = {.audit = audit,
                         .source = source,
                         .record = record,
                         .seen = seen,
                         .count = count,
                         .route = -1};
    audit->counts.records++;
    if (audit->scratch != NULL) {
        aw_arena_reset(audit->scratch);
    }
    int status = ab_verdict_of(&record->record, audit->sources[source].policy, audit->scratch,
                               &hearing.verdict);
    if (status != AW_OK) {
        return status;
    }
    if (record->headers_unreadable && hearing.verdict.outcome == AB_OUTCOME_ROUTED) {
        ab_verdict_reject(&hearing.verdict, AB_TEXT_HEADERS_UNREADABLE);
    }
    if (hearing.verdict.outcome == AB_OUTCOME_ROUTED) {
        hearing.route = audit->sources[source].routes[ab_slot_of_variant(hearing.verdict.variant)];
    } else if (hearing.verdict.outcome == AB_OUTCOME_ANSWERED) {
        hearing.route = audit->sources[source].snapshots;
    }
    for (size_t i = 0; i < count; i++) {
        hearing.found[role_of(&hearing, &seen[i])]++;
    }
    status = judge(&hearing);
    note_places(audit, seen, count);
    return status;
}

void ab_audit_begin(ab_audit_t *audit)
{
    audit->counts = (ab_audit_counts_t){0};
    for (size_t i = 0; i < audit->output_count; i++) {
        for (int32_t p = 0; p < audit->outputs[i].partitions; p++) {
            audit->outputs[i].parts[p].last_seen = -1;
        }
    }
}
