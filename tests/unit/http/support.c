#include "tests/unit/http/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ab_library_t libraries[] = {
    {"librdkafka", "2.0.2", "2.8.0"},
    {"protobuf-c", "1.4.1", "1.4.1"},
};

static const char *const topics[PLANTED_SOURCES] = {"in.one", "<b>&\"'\\\n\xff"};

const ab_http_facts_t planted_facts = {
    .version = "1.2.3",
    .revision = "v1-4-gabc",
    .libraries = libraries,
    .library_count = 2,
    .config_file = "/etc/<i>\"\\\xff.yaml",
    .group = "the-group",
    .instance = "pod-0",
    .guarantee = "at_least_once",
    .topics = topics,
    .topic_count = PLANTED_SOURCES,
    .state_topics = &topics[1],
    .state_topic_count = 1,
    .started_ms = 1700000000123,
};

static void plant_counters(ab_counters_t *counters, uint64_t base)
{
    ab_ledger_t *ledger = &counters->ledger;
    for (uint64_t i = 0; i < AB_SLOT_COUNT; i++) {
        ledger->routed[i] = base + 100 + i;
    }
    for (uint64_t i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        ledger->dead_lettered[i] = base + 200 + i;
    }
    ledger->dropped = base + 300;
    ledger->answered = base + 310;
    for (uint64_t i = 0; i < AB_STATE_VERDICT_COUNT; i++) {
        counters->state_records[i] = base + 800 + i;
    }
    ab_histogram_observe(&counters->barrier_seconds, 0.002);
    ledger->consumed =
        base + 310 + ab_ledger_routed(ledger) + ab_ledger_dead_lettered(ledger) + base + 300;
    ledger->keyless = base + 301;
    ledger->without_source = base + 302;
    ledger->timestamp_zero = base + 303;
    ledger->stale = base + 304;
    ledger->gap = base + 305;
    for (uint64_t i = 0; i < AB_TXN_RESULT_COUNT; i++) {
        counters->transactions[i] = base + 400 + i;
    }
    for (uint64_t i = 0; i < AB_COMMIT_RESULT_COUNT; i++) {
        counters->offset_commits[i] = base + 450 + i;
    }
    counters->breaker_trips = base + 460;
    for (uint64_t i = 0; i < AB_REBALANCE_COUNT; i++) {
        counters->rebalances[i] = base + 500 + i;
    }
    for (uint64_t i = 0; i < AB_CAUSE_COUNT; i++) {
        counters->produce_failures[i] = base + 600 + i;
    }
    counters->lane_restarts = base + 700;
    counters->last_dead_letter_ms = 1700000001500;
    ab_histogram_observe(&counters->transaction_seconds, 0.25);
    ab_histogram_observe(&counters->transaction_seconds, 0.25);
    ab_histogram_observe(&counters->transaction_seconds, 0.001);
    ab_histogram_observe(&counters->transaction_seconds, 7200);
    ab_histogram_observe(&counters->record_age_seconds, 2);
}

static void point_at_tallies(planted_t *planted)
{
    planted->tallies_of[0].items = planted->tallies;
    planted->tallies_of[0].count = sizeof(planted->tallies) / sizeof(planted->tallies[0]);
    planted->status.tallies.sources = planted->tallies_of;
    planted->status.tallies.source_count = 1;
}

void plant(planted_t *planted)
{
    memset(planted, 0, sizeof(*planted));
    for (unsigned i = 0; i < PLANTED_LANES; i++) {
        ab_lane_status_t *lane = &planted->lanes[i];
        lane->phase = i == 0 ? AB_PHASE_RUNNING : AB_PHASE_WAITING;
        lane->joined = true;
        lane->tick_seconds = 0.125 * (i + 1);
        lane->inflight_bytes = 1000 + i;
        plant_counters(&lane->counters, (uint64_t)1000 * i);
        ab_counters_add(&planted->status.total, &lane->counters);
    }
    planted->sources[0] = (ab_source_status_t){.assigned = 31,
                                               .pending = 32,
                                               .stopped = 33,
                                               .open_breakers = 1,
                                               .tripped = {600, 599},
                                               .tripped_reason = AB_REASON_TOMBSTONE,
                                               .lag_records = 35,
                                               .oldest_unfinished_seconds = 36.5};
    planted->sources[1] = (ab_source_status_t){.assigned = 41, .lag_records = 45};
    planted->status.phase = AB_RELAY_PHASE_RUNNING;
    planted->status.uptime_seconds = 93784.25;
    planted->status.lanes = planted->lanes;
    planted->status.lane_count = PLANTED_LANES;
    planted->status.sources = planted->sources;
    planted->status.source_count = PLANTED_SOURCES;
    planted->states[0] = (ab_state_status_t){51, 52, 53, 54, 55, 56};
    planted->status.states = planted->states;
    planted->status.state_count = 1;
    planted->tallies[0] = (ab_tally_t){10, {[AB_OUTCOME_ROUTED] = 6, [AB_OUTCOME_ANSWERED] = 4}};
    planted->tallies[2] = (ab_tally_t){10, {[AB_OUTCOME_DEAD_LETTERED] = 7}};
    point_at_tallies(planted);
}

/* A copy of the planted status in one piece, and whom to tell when it is given back. */
typedef struct copy {
    planted_t planted; /* first: &planted.status is the copy's address */
    source_of_status_t *source;
} copy_t;

static ab_status_t *copy_status(void *opaque)
{
    source_of_status_t *source = opaque;
    atomic_fetch_add(&source->asked, 1);
    copy_t *copy = atomic_load(&source->no_memory) ? NULL : malloc(sizeof(*copy));
    if (copy == NULL) {
        return NULL;
    }
    copy->planted = source->planted;
    copy->planted.status.lanes = copy->planted.lanes;
    copy->planted.status.sources = copy->planted.sources;
    copy->planted.status.states = copy->planted.states;
    point_at_tallies(&copy->planted);
    copy->source = source;
    atomic_fetch_add(&source->out, 1);
    return &copy->planted.status;
}

static void free_copy(ab_status_t *status)
{
    copy_t *copy = (copy_t *)(void *)status;
    atomic_fetch_sub(&copy->source->out, 1);
    free(copy);
}

ab_http_site_t planted_site(source_of_status_t *source)
{
    plant(&source->planted);
    atomic_init(&source->asked, 0);
    atomic_init(&source->out, 0);
    atomic_init(&source->no_memory, false);
    return (ab_http_site_t){planted_facts, {copy_status, free_copy, source}};
}

char *printed_new(void (*print)(FILE *out, const void *opaque), const void *opaque)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out, opaque);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

char *file_text_new(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (file == NULL) {
        fail_msg("%s cannot be read", path);
    }
    if (getdelim(&text, &size, '\0', file) < 0) {
        fail_msg("%s is empty", path);
    }
    assert_int_equal(fclose(file), 0);
    return text;
}
