#include "tests/mock/audit_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/core/dead_letter.h"

/* The demo's audit of a run through the real relay, and of what it would have to find. */

/* ---- copies that may be spoiled ---- */

typedef struct copy {
    const ab_demo_plan_t *plan;
    ab_full_record_t *items[AB_DEMO_TOPIC_COUNT]; /* each with room for one more */
    size_t counts[AB_DEMO_TOPIC_COUNT];
    ab_ledger_t ledger;
    ab_header_t headers[64]; /* of the record whose headers are spoiled */
    uint8_t bytes[4096];     /* of the span that is */
} copy_t;

static copy_t *copy_of(const run_t *run)
{
    copy_t *copy = calloc(1, sizeof(*copy));
    assert_non_null(copy);
    copy->plan = run->plan;
    copy->ledger = run->ledger;
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        const size_t count = run->topics.counts[t];
        copy->counts[t] = count;
        copy->items[t] = calloc(count + 1, sizeof(*copy->items[t]));
        assert_non_null(copy->items[t]);
        memcpy(copy->items[t], run->topics.records[t], count * sizeof(*copy->items[t]));
    }
    return copy;
}

static void free_copy(copy_t *copy)
{
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        free(copy->items[t]);
    }
    free(copy);
}

/* The headers of a record, to be written to. */
static ab_header_t *open_headers(copy_t *copy, ab_full_record_t *record)
{
    assert_true(record->header_count < sizeof(copy->headers) / sizeof(copy->headers[0]));
    memcpy(copy->headers, record->headers, record->header_count * sizeof(copy->headers[0]));
    record->headers = copy->headers;
    return copy->headers;
}

/* The bytes of a span, to be written to. */
static uint8_t *open_bytes(copy_t *copy, aw_span_t *span)
{
    assert_true(span->size > 0 && span->size <= sizeof(copy->bytes));
    memcpy(copy->bytes, span->data, span->size);
    span->data = copy->bytes;
    return copy->bytes;
}

/* The first record of a topic with at least so many headers and a value. */
static ab_full_record_t *record_with(copy_t *copy, ab_demo_topic_t topic, size_t headers)
{
    for (size_t i = 0; i < copy->counts[topic]; i++) {
        ab_full_record_t *record = &copy->items[topic][i];
        if (record->header_count >= headers && record->record.value.size > 0 &&
            record->record.value.size <= sizeof(copy->bytes)) {
            return record;
        }
    }
    fail_msg("no such record");
    return NULL;
}

/* ---- what can go wrong ---- */

static void spoil_value(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_APPROVALS, 1);
    open_bytes(copy, &record->record.value)[record->record.value.size - 1] ^= 1;
}

static void spoil_value_reencoded(copy_t *copy)
{
    /* The unknown field behind the envelope is gone, as if the value had been written anew without
     * it. */
    for (size_t i = 0; i < copy->counts[AB_DEMO_EVENTS]; i++) {
        aw_span_t *value = &copy->items[AB_DEMO_EVENTS][i].record.value;
        if (value->size > 3 && memcmp(value->data + value->size - 3, "\x98\x06\x2a", 3) == 0) {
            value->size -= 3;
            return;
        }
    }
    fail_msg("no value with an unknown field");
}

static void spoil_key(copy_t *copy)
{
    copy->items[AB_DEMO_EVENTS][0].record.key = aw_span_text_view("acct-99");
}

static void spoil_key_absent(copy_t *copy)
{
    copy->items[AB_DEMO_RESULTS][3].record.key = AW_SPAN_NULL;
}

static void spoil_timestamp(copy_t *copy)
{
    copy->items[AB_DEMO_RESULTS][0].record.timestamp_ms++;
}

static void spoil_partition(copy_t *copy)
{
    const int32_t count = ab_demo_topic_partitions(AB_DEMO_EVENTS);
    int32_t *partition = &copy->items[AB_DEMO_EVENTS][5].record.partition;
    *partition = (*partition + 1) % count;
}

static void spoil_header_lost(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_EVENTS, 3);
    memmove(open_headers(copy, record), record->headers + 1,
            --record->header_count * sizeof(*record->headers));
}

static void spoil_header_order(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_EVENTS, 4); /* tag a, tag b, tag a */
    ab_header_t *headers = open_headers(copy, record);
    const ab_header_t first = headers[0];
    headers[0] = headers[1];
    headers[1] = first;
}

static void spoil_header_null(copy_t *copy)
{
    for (size_t i = 0; i < copy->counts[AB_DEMO_RESULTS]; i++) {
        ab_full_record_t *record = &copy->items[AB_DEMO_RESULTS][i];
        if (record->header_count == 4 && strcmp(record->headers[1].name, "null") == 0) {
            assert_null(record->headers[1].value.data);
            open_headers(copy, record)[1].value = aw_span_view("", 0);
            return;
        }
    }
    fail_msg("no record with a NULL header");
}

static void spoil_header_added(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_EVENTS, 3);
    ab_header_t *headers = open_headers(copy, record);
    headers[record->header_count] = headers[record->header_count - 1];
    headers[record->header_count - 1] = (ab_header_t){"more", aw_span_view("x", 1)};
    record->header_count++;
}

static void spoil_source_header(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_EVENTS, 2);
    open_headers(copy, record)[record->header_count - 1].value =
        aw_span_text_view("agents.in:0:1:1767225600000");
}

static void spoil_source_header_place(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_EVENTS, 3);
    ab_header_t *headers = open_headers(copy, record);
    const ab_header_t last = headers[record->header_count - 1];
    headers[record->header_count - 1] = headers[0];
    headers[0] = last;
}

static void spoil_missing(copy_t *copy)
{
    copy->counts[AB_DEMO_RESULTS]--;
}

static void spoil_doubled(copy_t *copy)
{
    const size_t count = copy->counts[AB_DEMO_RESULTS]++;
    copy->items[AB_DEMO_RESULTS][count] = copy->items[AB_DEMO_RESULTS][0];
    copy->items[AB_DEMO_RESULTS][count].record.offset = 1000;
}

static void spoil_topic(copy_t *copy)
{
    const size_t last = --copy->counts[AB_DEMO_RESULTS];
    copy->items[AB_DEMO_EVENTS][copy->counts[AB_DEMO_EVENTS]++] =
        copy->items[AB_DEMO_RESULTS][last];
}

/* Whether two relayed records have one key and come from the same partition of the source. */
static bool same_key_and_source(const ab_full_record_t *one, const ab_full_record_t *other)
{
    const aw_span_t here = one->headers[one->header_count - 1].value;
    const aw_span_t there = other->headers[other->header_count - 1].value;
    return one->record.partition == other->record.partition &&
           aw_span_equal(one->record.key, other->record.key) &&
           memcmp(here.data, there.data, strlen("agents.in:0:")) == 0;
}

static void spoil_order(copy_t *copy)
{
    /* Which partition is read first changes from run to run: any pair will do. */
    ab_full_record_t *events = copy->items[AB_DEMO_EVENTS];
    for (size_t i = 1; i < copy->counts[AB_DEMO_EVENTS]; i++) {
        for (size_t j = 0; j < i; j++) {
            if (same_key_and_source(&events[j], &events[i])) {
                const int64_t offset = events[j].record.offset;
                events[j].record.offset = events[i].record.offset;
                events[i].record.offset = offset;
                return;
            }
        }
    }
    fail_msg("no two records of one key");
}

static void spoil_letter_bytes(copy_t *copy)
{
    copy->items[AB_DEMO_ERRORS][0].record.value.size--;
}

/* Changes a byte behind a text in the first dead letter that has it; the lengths stay right. */
static void patch_letter(copy_t *copy, const char *text, uint8_t byte)
{
    for (size_t i = 0; i < copy->counts[AB_DEMO_ERRORS]; i++) {
        aw_span_t *value = &copy->items[AB_DEMO_ERRORS][i].record.value;
        const uint8_t *found = memmem(value->data, value->size, text, strlen(text));
        if (found != NULL) {
            const size_t at = (size_t)(found - value->data) + strlen(text);
            assert_int_not_equal(value->data[at], byte);
            open_bytes(copy, value)[at] = byte;
            return;
        }
    }
    fail_msg("no dead letter with '%s'", text);
}

static void spoil_letter_reason(copy_t *copy)
{
    patch_letter(copy, "tombston", 'f');
}

static void spoil_letter_source(copy_t *copy)
{
    patch_letter(copy, "\"source\":\"agents.in:", '9');
}

static void spoil_letter_size(copy_t *copy)
{
    patch_letter(copy, "\"size\":2", '9'); /* 20029 */
}

static void spoil_letter_hash(copy_t *copy)
{
    patch_letter(copy, "\"sha256\":\"", 'z');
}

static void spoil_letter_version(copy_t *copy)
{
    patch_letter(copy, "\"v\":", '2');
}

static void spoil_letter_json(copy_t *copy)
{
    patch_letter(copy, "\"v\":1", ' ');
}

static void spoil_letter_header(copy_t *copy)
{
    ab_full_record_t *letter = &copy->items[AB_DEMO_ERRORS][2];
    open_headers(copy, letter)[6].value = aw_span_text_view("7"); /* the hops */
}

static void spoil_letter_key(copy_t *copy)
{
    copy->items[AB_DEMO_ERRORS][3].record.key = aw_span_text_view("acct-99");
}

static void spoil_letter_missing(copy_t *copy)
{
    copy->counts[AB_DEMO_ERRORS]--;
}

static void spoil_quarantine_value(copy_t *copy)
{
    ab_full_record_t *record = record_with(copy, AB_DEMO_QUARANTINE, 1);
    open_bytes(copy, &record->record.value)[0] ^= 1;
}

static void spoil_quarantine_tombstone(copy_t *copy)
{
    for (size_t i = 0; i < copy->counts[AB_DEMO_QUARANTINE]; i++) {
        ab_full_record_t *record = &copy->items[AB_DEMO_QUARANTINE][i];
        if (record->record.value.data == NULL) {
            record->record.value = aw_span_view("", 0);
            return;
        }
    }
    fail_msg("no tombstone in quarantine");
}

static void spoil_quarantine_mark(copy_t *copy)
{
    ab_full_record_t *record = &copy->items[AB_DEMO_QUARANTINE][0];
    open_headers(copy, record)[record->header_count - 1].value = aw_span_text_view("pointer");
}

static void spoil_quarantine_missing(copy_t *copy)
{
    copy->counts[AB_DEMO_QUARANTINE]--;
}

/* The first answer that was made from a state, or from none. */
static ab_full_record_t *some_answer(copy_t *copy, bool known)
{
    for (size_t i = 0; i < copy->counts[AB_DEMO_ANSWERS]; i++) {
        ab_full_record_t *answer = &copy->items[AB_DEMO_ANSWERS][i];
        if ((answer->header_count == 3) == known) {
            return answer;
        }
    }
    fail_msg("no such answer");
    return NULL;
}

static void spoil_answer(copy_t *copy)
{
    some_answer(copy, true)->record.value.size--;
}

static void spoil_answer_unknown(copy_t *copy)
{
    some_answer(copy, false)->record.value = some_answer(copy, true)->record.value;
}

static void spoil_answer_key(copy_t *copy)
{
    some_answer(copy, true)->record.key = aw_span_text_view("acct-99");
}

static void spoil_answer_headers(copy_t *copy)
{
    some_answer(copy, true)->header_count--;
}

static void spoil_answer_place(copy_t *copy)
{
    ab_full_record_t *answer = some_answer(copy, true);
    open_headers(copy, answer)[1].value = aw_span_text_view("agents.snapshots:0:99");
}

static void spoil_answer_missing(copy_t *copy)
{
    copy->counts[AB_DEMO_ANSWERS]--;
}

static void spoil_states(copy_t *copy)
{
    copy->items[AB_DEMO_STATES][0].record.value = AW_SPAN_NULL;
}

static void spoil_ledger_answered(copy_t *copy)
{
    copy->ledger.answered--;
    copy->ledger.routed[AB_SLOT_APPROVAL]++;
}

static void spoil_source(copy_t *copy)
{
    copy->items[AB_DEMO_SOURCE][9].record.timestamp_ms++;
}

static void spoil_source_missing(copy_t *copy)
{
    copy->counts[AB_DEMO_SOURCE]--;
}

static void spoil_ledger(copy_t *copy)
{
    copy->ledger.routed[AB_SLOT_APPROVAL]--;
}

static void spoil_ledger_moved(copy_t *copy)
{
    copy->ledger.dead_lettered[AB_REASON_TOMBSTONE]--;
    copy->ledger.dead_lettered[AB_REASON_OVERSIZED]++;
}

static const struct {
    void (*spoil)(copy_t *copy);
    const char *words; /* of a line that the audit has to have */
} plants[] = {
    {spoil_value, "the value differs"},
    {spoil_value_reencoded, "the value differs"},
    {spoil_key, "the key is not the entity_key"},
    {spoil_key_absent, "the key is not the entity_key"},
    {spoil_timestamp, "the timestamp differs"},
    {spoil_partition, "the partition is not the key's"},
    {spoil_header_lost, "the headers differ"},
    {spoil_header_order, "the headers differ"},
    {spoil_header_null, "the headers differ"},
    {spoil_header_added, "the headers differ"},
    {spoil_source_header, "source header is missing, misplaced or names no record"},
    {spoil_source_header_place, "source header is missing, misplaced or names no record"},
    {spoil_missing, "never came to agents.results"},
    {spoil_doubled, "came out twice"},
    {spoil_topic, "does not belong on this topic"},
    {spoil_order, "was overtaken by"},
    {spoil_letter_bytes, "is no deterministic AgentEnvelope"},
    {spoil_letter_reason, "the reason differs"},
    {spoil_letter_source, "the detail names another source"},
    {spoil_letter_size, "the detail has another size"},
    {spoil_letter_hash, "the detail has another sha256"},
    {spoil_letter_version, "the detail is of another version"},
    {spoil_letter_json, "the detail is no canonical JSON"},
    {spoil_letter_header, "header 7 is not the right __agent_bridge.hops"},
    {spoil_letter_key, "the key is not the entity_key"},
    {spoil_letter_missing, "never came to agents.in.errors"},
    {spoil_quarantine_value, "the value differs"},
    {spoil_quarantine_tombstone, "the value differs"},
    {spoil_quarantine_mark, "the headers differ"},
    {spoil_quarantine_missing, "never came to agents.in.quarantine"},
    {spoil_answer, "the answer differs"},
    {spoil_answer_unknown, "the answer differs"},
    {spoil_answer_key, "the key is not the entity_key"},
    {spoil_answer_headers, "the headers differ"},
    {spoil_answer_place, "the headers differ"},
    {spoil_answer_missing, "never came to agents.answers"},
    {spoil_states, "11 of the 12 states that were published"},
    {spoil_ledger_answered, "answered, not"},
    {spoil_source, "is not what was written there"},
    {spoil_source_missing, "of the 321 records that were written"},
    {spoil_ledger, "the ledger does not balance"},
    {spoil_ledger_moved, "the ledger counts 0 tombstone, not 1"},
};

static ab_demo_audit_t *audit_of(const copy_t *copy, ab_demo_topics_t *topics)
{
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        topics->records[t] = copy->items[t];
        topics->counts[t] = copy->counts[t];
    }
    ab_demo_audit_t *audit = ab_demo_audit_new(copy->plan, topics, &copy->ledger);
    assert_non_null(audit);
    return audit;
}

static void test_audit_what_the_relay_did_has_no_difference(void **state)
{
    const run_t *run = *state;
    ab_demo_audit_t *audit = ab_demo_audit_new(run->plan, &run->topics, &run->ledger);
    assert_non_null(audit);
    for (size_t i = 0; i < audit->differences && i < AB_DEMO_LINES_MAX; i++) {
        print_error("%s\n", audit->lines[i]);
    }
    assert_int_equal(audit->differences, 0);
    assert_int_equal(audit->routed + audit->answered, 300);
    assert_in_range(audit->answered, 20, 50);
    assert_int_equal(audit->letters, 21);
    assert_int_equal(audit->quarantined, 21);
    ab_demo_audit_free(audit);
}

static void test_audit_every_planted_difference_is_found(void **state)
{
    const run_t *run = *state;
    for (size_t p = 0; p < sizeof(plants) / sizeof(plants[0]); p++) {
        copy_t *copy = copy_of(run);
        ab_demo_topics_t topics;
        plants[p].spoil(copy);
        ab_demo_audit_t *audit = audit_of(copy, &topics);
        bool found = false;
        for (size_t i = 0; i < audit->differences && i < AB_DEMO_LINES_MAX; i++) {
            found = found || strstr(audit->lines[i], plants[p].words) != NULL;
        }
        if (!found) {
            fail_msg("plant %zu, '%s': not found among %zu differences, the first '%s'", p,
                     plants[p].words, audit->differences, audit->lines[0]);
        }
        ab_demo_audit_free(audit);
        free_copy(copy);
    }
}

static void test_audit_empty_topics_miss_every_record(void **state)
{
    const run_t *run = *state;
    const ab_demo_topics_t nothing = {.counts = {0}};
    const ab_ledger_t ledger = {0};
    size_t count;
    (void)ab_demo_plan_view(run->plan, &count);
    ab_demo_audit_t *audit = ab_demo_audit_new(run->plan, &nothing, &ledger);
    assert_non_null(audit);
    assert_true(audit->differences > count);
    assert_int_equal(audit->routed + audit->answered + audit->letters + audit->quarantined, 0);
    ab_demo_audit_free(audit);
}

/* Two plans are the same to the last byte: nothing in them comes from a clock or an address. */
static void test_plan_made_twice_is_the_same(void **state)
{
    const run_t *run = *state;
    ab_demo_plan_t *again = ab_demo_plan_new();
    size_t count, count_again;
    const ab_demo_record_t *one = ab_demo_plan_view(run->plan, &count);
    const ab_demo_record_t *two = ab_demo_plan_view(again, &count_again);
    assert_int_equal(count, count_again);
    for (size_t i = 0; i < count; i++) {
        const ab_record_t *a = &one[i].message.record;
        const ab_record_t *b = &two[i].message.record;
        assert_true(aw_span_equal(a->value, b->value) && aw_span_equal(a->key, b->key));
        assert_true(a->partition == b->partition && a->offset == b->offset &&
                    a->timestamp_ms == b->timestamp_ms);
        assert_ptr_equal(one[i].message.headers, two[i].message.headers);
    }
    ab_demo_plan_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audit_what_the_relay_did_has_no_difference),
        cmocka_unit_test(test_audit_every_planted_difference_is_found),
        cmocka_unit_test(test_audit_empty_topics_miss_every_record),
        cmocka_unit_test(test_plan_made_twice_is_the_same),
    };
    return cmocka_run_group_tests(tests, audit_run_open, audit_run_close);
}
