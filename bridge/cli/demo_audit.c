#include "bridge/cli/demo_audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

/* How the bridge marks a record that went to quarantine whole. */
#define HEADER_COPY "__agent_bridge.copy"
#define COPY_WHOLE  "whole"
/* Headers of an answer that was made from a state. */
#define HEADER_STATE_OFFSET "__agent_bridge.state_offset"
#define HEADER_STATE_AT     "__agent_bridge.state_at_ms"

void ab_demo_audit_note(ab_demo_audit_t *audit, const char *format, ...)
{
    if (audit->differences++ < AB_DEMO_LINES_MAX) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(audit->lines[audit->differences - 1], AB_DEMO_LINE_MAX, format, arguments);
        va_end(arguments);
    }
}

/* "topic:partition:offset", for a line. */
typedef struct place {
    char text[AB_TOPIC_MAX + 40];
} place_t;

static place_t place_of(const ab_full_record_t *record)
{
    place_t place;
    (void)snprintf(place.text, sizeof(place.text), "%s:%" PRId32 ":%" PRId64, record->record.topic,
                   record->record.partition, record->record.offset);
    return place;
}

/* Absent and empty are two things here. */
static bool same(aw_span_t a, aw_span_t b)
{
    return (a.data == NULL) == (b.data == NULL) && aw_span_equal(a, b);
}

static bool is_header(const ab_header_t *header, const char *name, const char *value)
{
    return strcmp(header->name, name) == 0 && header->value.data != NULL &&
           aw_span_equal(header->value, aw_span_text_view(value));
}

/* ---- finding the planned record that an output came from ---- */

/* The one at this partition and offset of the source, or NULL. */
static const ab_demo_record_t *planned_at(const ab_demo_audit_t *audit, int32_t partition,
                                          int64_t offset)
{
    size_t count;
    const ab_demo_record_t *records = ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].message.record.partition == partition &&
            records[i].message.record.offset == offset) {
            return &records[i];
        }
    }
    return NULL;
}

/* What the source header of a planned record says. */
static void source_text(const ab_demo_record_t *planned, char *ret_text, size_t room)
{
    const ab_record_t *record = &planned->message.record;
    (void)snprintf(ret_text, room, "%s:%" PRId32 ":%" PRId64 ":%" PRId64, record->topic,
                   record->partition, record->offset, record->timestamp_ms);
}

/* The planned record that header number index names, which has to be the source header; NULL, and a
 * difference noted, when it names none. */
static const ab_demo_record_t *planned_of(ab_demo_audit_t *audit, const ab_full_record_t *output,
                                          size_t index)
{
    const ab_header_t *header = index < output->header_count ? &output->headers[index] : NULL;
    char text[AB_SOURCE_TEXT_MAX];
    char wanted[AB_SOURCE_TEXT_MAX];
    if (header != NULL && strcmp(header->name, AB_HEADER_SOURCE) == 0) {
        (void)snprintf(text, sizeof(text), "%.*s", (int)header->value.size,
                       header->value.data != NULL ? (const char *)header->value.data : "");
        const char *colon = strchr(text, ':');
        const ab_demo_record_t *planned = NULL;
        if (colon != NULL) {
            char *end;
            const long partition = strtol(colon + 1, &end, 10);
            if (*end == ':' && partition >= 0 && partition <= INT32_MAX) {
                planned = planned_at(audit, (int32_t)partition, strtoll(end + 1, NULL, 10));
            }
        }
        if (planned != NULL) {
            source_text(planned, wanted, sizeof(wanted));
            if (is_header(header, AB_HEADER_SOURCE, wanted)) {
                return planned;
            }
        }
    }
    ab_demo_audit_note(audit, "%s: its source header is missing, misplaced or names no record",
                       place_of(output).text);
    return NULL;
}

static size_t index_of(const ab_demo_audit_t *audit, const ab_demo_record_t *planned)
{
    size_t count;
    return (size_t)(planned - ab_demo_plan_view(audit->plan, &count));
}

/* Remembers what was found for a planned record; false, and noted, when that is the second. */
static bool claim(ab_demo_audit_t *audit, const ab_full_record_t **found,
                  const ab_demo_record_t *planned, const ab_full_record_t *output)
{
    const size_t index = index_of(audit, planned);
    if (found[index] != NULL) {
        ab_demo_audit_note(audit, "%s came out twice: %s and %s", place_of(&planned->message).text,
                           place_of(found[index]).text, place_of(output).text);
        return false;
    }
    found[index] = output;
    return true;
}

/* ---- comparing ---- */

static bool note(ab_demo_audit_t *audit, const ab_demo_record_t *planned,
                 const ab_full_record_t *output, const char *what)
{
    ab_demo_audit_note(audit, "%s, from %s: %s", place_of(output).text,
                       place_of(&planned->message).text, what);
    return false;
}

/* The first count headers are the record's own, in their order. */
static bool own_headers(const ab_full_record_t *record, const ab_full_record_t *output)
{
    for (size_t i = 0; i < record->header_count; i++) {
        if (i >= output->header_count ||
            strcmp(record->headers[i].name, output->headers[i].name) != 0 ||
            !same(record->headers[i].value, output->headers[i].value)) {
            return false;
        }
    }
    return true;
}

static int32_t partition_of(ab_demo_topic_t topic, aw_span_t key, int32_t source_partition)
{
    const int32_t count = ab_demo_topic_partitions(topic);
    return key.data != NULL ? ab_client_partition_of_key(key, count) : source_partition % count;
}

static void check_written(ab_demo_audit_t *audit)
{
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    size_t found = 0;
    for (size_t i = 0; i < audit->topics->counts[AB_DEMO_SOURCE]; i++) {
        const ab_full_record_t *record = &audit->topics->records[AB_DEMO_SOURCE][i];
        const ab_demo_record_t *wanted =
            planned_at(audit, record->record.partition, record->record.offset);
        found += wanted != NULL;
        if (wanted == NULL || !same(record->record.value, wanted->message.record.value) ||
            !same(record->record.key, wanted->message.record.key) ||
            record->record.timestamp_ms != wanted->message.record.timestamp_ms ||
            record->header_count != wanted->message.header_count ||
            !own_headers(&wanted->message, record)) {
            ab_demo_audit_note(audit, "%s is not what was written there", place_of(record).text);
        }
    }
    if (found != count) {
        ab_demo_audit_note(audit, "%s has %zu of the %zu records that were written",
                           planned->message.record.topic, found, count);
    }
}

/* The state topic is as it was written: answering changes nothing there. */
static void check_published(ab_demo_audit_t *audit)
{
    size_t count;
    const ab_demo_state_t *states = ab_demo_plan_states_view(audit->plan, &count);
    size_t found = 0;
    for (size_t i = 0; i < audit->topics->counts[AB_DEMO_STATES]; i++) {
        const ab_record_t *record = &audit->topics->records[AB_DEMO_STATES][i].record;
        for (size_t s = 0; s < count; s++) {
            const ab_record_t *wanted = &states[s].message.record;
            found += record->partition == wanted->partition && record->offset == wanted->offset &&
                     same(record->key, wanted->key) && same(record->value, wanted->value);
        }
    }
    if (found != count || audit->topics->counts[AB_DEMO_STATES] != count) {
        ab_demo_audit_note(audit,
                           "%s has %zu of the %zu states that were published, and %zu in all",
                           ab_demo_topic_name(AB_DEMO_STATES), found, count,
                           audit->topics->counts[AB_DEMO_STATES]);
    }
}

static bool check_routed(ab_demo_audit_t *audit, const ab_demo_record_t *planned,
                         ab_demo_topic_t topic, const ab_full_record_t *output)
{
    const ab_full_record_t *record = &planned->message;
    bool right = true;
    if (planned->outcome != AB_OUTCOME_ROUTED || (int)planned->slot != (int)topic) {
        return note(audit, planned, output, "does not belong on this topic");
    }
    if (!same(output->record.value, record->record.value)) {
        right = note(audit, planned, output, "the value differs");
    }
    if (!same(output->record.key, planned->entity_key)) {
        right = note(audit, planned, output, "the key is not the entity_key");
    }
    if (output->record.timestamp_ms != record->record.timestamp_ms) {
        right = note(audit, planned, output, "the timestamp differs");
    }
    if (output->header_count != record->header_count + 1 || !own_headers(record, output)) {
        right = note(audit, planned, output, "the headers differ");
    }
    if (output->record.partition != partition_of(topic, planned->entity_key, 0)) {
        right = note(audit, planned, output, "the partition is not the key's");
    }
    return right;
}

static void check_routes(ab_demo_audit_t *audit, ab_demo_topic_t topic)
{
    for (size_t i = 0; i < audit->topics->counts[topic]; i++) {
        const ab_full_record_t *output = &audit->topics->records[topic][i];
        const ab_demo_record_t *planned = planned_of(audit, output, output->header_count - 1);
        if (planned != NULL && claim(audit, audit->outputs, planned, output)) {
            audit->routed += check_routed(audit, planned, topic, output);
        }
    }
}

/* The source header, which has been looked at, and where the state came from. */
static bool answer_headers(const ab_demo_record_t *planned, const ab_full_record_t *output)
{
    char at[32];
    if (planned->state == NULL) {
        return output->header_count == 1;
    }
    (void)snprintf(at, sizeof(at), "%" PRId64, planned->state->at_ms);
    return output->header_count == 3 &&
           is_header(&output->headers[1], HEADER_STATE_OFFSET,
                     place_of(&planned->state->message).text) &&
           is_header(&output->headers[2], HEADER_STATE_AT, at);
}

static bool check_answer(ab_demo_audit_t *audit, const ab_demo_record_t *planned,
                         const ab_full_record_t *output)
{
    bool right = true;
    if (planned->outcome != AB_OUTCOME_ANSWERED) {
        return note(audit, planned, output, "does not belong on this topic");
    }
    if (!same(output->record.value, planned->answer)) {
        right = note(audit, planned, output, "the answer differs");
    }
    if (!same(output->record.key, planned->entity_key)) {
        right = note(audit, planned, output, "the key is not the entity_key");
    }
    if (!answer_headers(planned, output)) {
        right = note(audit, planned, output, "the headers differ");
    }
    if (output->record.partition != partition_of(AB_DEMO_ANSWERS, planned->entity_key, 0)) {
        right = note(audit, planned, output, "the partition is not the key's");
    }
    return right;
}

static void check_answers(ab_demo_audit_t *audit)
{
    for (size_t i = 0; i < audit->topics->counts[AB_DEMO_ANSWERS]; i++) {
        const ab_full_record_t *output = &audit->topics->records[AB_DEMO_ANSWERS][i];
        const ab_demo_record_t *planned = planned_of(audit, output, 0);
        if (planned != NULL && claim(audit, audit->outputs, planned, output)) {
            audit->answered += check_answer(audit, planned, output);
        }
    }
}

static void check_letters(ab_demo_audit_t *audit)
{
    for (size_t i = 0; i < audit->topics->counts[AB_DEMO_ERRORS]; i++) {
        const ab_full_record_t *letter = &audit->topics->records[AB_DEMO_ERRORS][i];
        const ab_demo_record_t *planned = planned_of(audit, letter, letter->header_count - 1);
        if (planned == NULL || !claim(audit, audit->outputs, planned, letter)) {
            continue;
        }
        const aw_span_t key = planned->entity_key.size > 0 ? planned->entity_key : AW_SPAN_NULL;
        bool right = planned->outcome == AB_OUTCOME_DEAD_LETTERED ||
                     note(audit, planned, letter, "does not belong on this topic");
        right = (same(letter->record.key, key) ||
                 note(audit, planned, letter, "the key is not the entity_key")) &&
                right;
        right = (letter->record.partition ==
                     partition_of(AB_DEMO_ERRORS, key, planned->message.record.partition) ||
                 note(audit, planned, letter, "the partition is not the key's")) &&
                right;
        right = ab_demo_letter_check(audit, planned, letter) && right;
        audit->letters += right;
    }
}

/* The headers behind the record's own are the dead letter's, and the mark of a whole copy. */
static bool appended_headers(const ab_full_record_t *record, const ab_full_record_t *letter,
                             const ab_full_record_t *copy)
{
    const size_t own = record->header_count;
    if (letter == NULL || copy->header_count != own + letter->header_count + 1) {
        return false;
    }
    for (size_t i = 0; i < letter->header_count; i++) {
        if (strcmp(letter->headers[i].name, copy->headers[own + i].name) != 0 ||
            !same(letter->headers[i].value, copy->headers[own + i].value)) {
            return false;
        }
    }
    return is_header(&copy->headers[copy->header_count - 1], HEADER_COPY, COPY_WHOLE);
}

static void check_copies(ab_demo_audit_t *audit)
{
    for (size_t i = 0; i < audit->topics->counts[AB_DEMO_QUARANTINE]; i++) {
        const ab_full_record_t *copy = &audit->topics->records[AB_DEMO_QUARANTINE][i];
        const ab_demo_record_t *planned = planned_of(audit, copy, copy->header_count - 2);
        if (planned == NULL || !claim(audit, audit->copies, planned, copy)) {
            continue;
        }
        const ab_full_record_t *record = &planned->message;
        bool right = true;
        if (!same(copy->record.value, record->record.value)) {
            right = note(audit, planned, copy, "the value differs");
        }
        if (!same(copy->record.key, record->record.key)) {
            right = note(audit, planned, copy, "the key differs");
        }
        if (!own_headers(record, copy) ||
            !appended_headers(record, audit->outputs[index_of(audit, planned)], copy)) {
            right = note(audit, planned, copy, "the headers differ");
        }
        if (copy->record.partition !=
            partition_of(AB_DEMO_QUARANTINE, record->record.key, record->record.partition)) {
            right = note(audit, planned, copy, "the partition is not the key's");
        }
        audit->quarantined += right;
    }
}

/* ---- nothing missing, nothing out of order, nothing counted wrong ---- */

static void check_complete(ab_demo_audit_t *audit)
{
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        const bool dead = planned[i].outcome == AB_OUTCOME_DEAD_LETTERED;
        const place_t place = place_of(&planned[i].message);
        if (audit->outputs[i] == NULL) {
            ab_demo_audit_note(
                audit, "%s never came to %s", place.text,
                ab_demo_topic_name(dead ? AB_DEMO_ERRORS : (ab_demo_topic_t)planned[i].slot));
        }
        if (dead && audit->copies[i] == NULL) {
            ab_demo_audit_note(audit, "%s never came to %s", place.text,
                               ab_demo_topic_name(AB_DEMO_QUARANTINE));
        }
    }
}

/* Of two records with one key in one partition of the source, the later comes later, where both go
 * to the same topic. */
static void check_order(ab_demo_audit_t *audit)
{
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            const ab_full_record_t *first = audit->outputs[i];
            const ab_full_record_t *second = audit->outputs[j];
            if (first == NULL || second == NULL ||
                strcmp(first->record.topic, second->record.topic) != 0 ||
                first->record.partition != second->record.partition ||
                planned[i].message.record.partition != planned[j].message.record.partition ||
                !same(planned[i].entity_key, planned[j].entity_key)) {
                continue;
            }
            if (first->record.offset > second->record.offset) {
                ab_demo_audit_note(audit, "%s was overtaken by %s",
                                   place_of(&planned[i].message).text,
                                   place_of(&planned[j].message).text);
            }
        }
    }
}

static void check_count(ab_demo_audit_t *audit, const char *what, uint64_t counted,
                        uint64_t planned)
{
    if (counted != planned) {
        ab_demo_audit_note(audit, "the ledger counts %" PRIu64 " %s, not %" PRIu64, counted, what,
                           planned);
    }
}

static void check_ledger(ab_demo_audit_t *audit, const ab_ledger_t *ledger)
{
    ab_ledger_t wanted = {0};
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (planned[i].outcome != AB_OUTCOME_DEAD_LETTERED) {
            wanted.answered += planned[i].outcome == AB_OUTCOME_ANSWERED;
            wanted.routed[planned[i].slot] += planned[i].outcome == AB_OUTCOME_ROUTED;
            wanted.keyless += planned[i].message.record.key.data == NULL;
        } else {
            wanted.dead_lettered[planned[i].reason]++;
        }
    }
    if (!ab_ledger_balanced(ledger)) {
        ab_demo_audit_note(audit, "the ledger does not balance");
    }
    check_count(audit, "consumed", ledger->consumed, count);
    check_count(audit, "answered", ledger->answered, wanted.answered);
    check_count(audit, "dropped", ledger->dropped, 0);
    check_count(audit, "keyless", ledger->keyless, wanted.keyless);
    check_count(audit, "without_source", ledger->without_source, 0);
    check_count(audit, "timestamp_zero", ledger->timestamp_zero, 0);
    check_count(audit, "gap", ledger->gap, 0);
    for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
        check_count(audit,
                    slot < AB_SLOT_UNKNOWN_VARIANT ? ab_demo_topic_name((ab_demo_topic_t)slot)
                                                   : "unknown variants",
                    ledger->routed[slot], wanted.routed[slot]);
    }
    for (int reason = 0; reason < AB_REASON_COUNT; reason++) {
        check_count(audit, ab_reason_code((ab_reason_t)reason), ledger->dead_lettered[reason],
                    wanted.dead_lettered[reason]);
    }
}

ab_demo_audit_t *ab_demo_audit_new(const ab_demo_plan_t *plan, const ab_demo_topics_t *topics,
                                   const ab_ledger_t *ledger)
{
    ab_demo_audit_t *audit = calloc(1, sizeof(*audit));
    size_t count;
    (void)ab_demo_plan_view(plan, &count);
    if (audit == NULL) {
        return NULL;
    }
    audit->plan = plan;
    audit->topics = topics;
    audit->outputs = calloc(count, sizeof(*audit->outputs));
    audit->copies = calloc(count, sizeof(*audit->copies));
    if (audit->outputs == NULL || audit->copies == NULL) {
        ab_demo_audit_free(audit);
        return NULL;
    }
    check_written(audit);
    check_published(audit);
    for (int topic = AB_DEMO_EVENTS; topic <= AB_DEMO_APPROVALS; topic++) {
        check_routes(audit, (ab_demo_topic_t)topic);
    }
    check_answers(audit);
    check_letters(audit);
    check_copies(audit);
    check_complete(audit);
    check_order(audit);
    check_ledger(audit, ledger);
    return audit;
}

void ab_demo_audit_free(ab_demo_audit_t *audit)
{
    if (audit == NULL) {
        return;
    }
    free(audit->outputs);
    free(audit->copies);
    free(audit);
}
