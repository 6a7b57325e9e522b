#include "bridge/http/report.h"

#include "agentwire/json.h"
#include "bridge/http/escape.h"

/* A text being written, and the memory it grows in. */
typedef struct report {
    aw_arena_t *arena;
    aw_json_writer_t json;
} report_t;

static bool begin(report_t *report)
{
    report->arena = aw_arena_new(0);
    if (report->arena == NULL) {
        return false;
    }
    aw_json_init_arena(&report->json, AW_JSON_INDENTED, report->arena);
    aw_json_object_open(&report->json);
    return true;
}

/* Closes the object and writes the text. Returns status, or 500 when memory was short. */
static unsigned end(report_t *report, unsigned status, FILE *out)
{
    aw_span_t text;
    aw_json_object_close(&report->json);
    const bool whole = aw_json_finish(&report->json, &text) == AW_OK;
    if (whole) {
        (void)fwrite(text.data, 1, text.size, out);
        (void)fputc('\n', out);
    }
    aw_arena_free(report->arena);
    return whole ? status : 500;
}

static void put_text(aw_json_writer_t *json, const char *key, const char *text)
{
    char clean[AB_HTTP_TEXT_MAX];
    aw_json_key_text(json, key);
    aw_json_text(json, ab_http_clean(text, clean));
}

static void put_bool(aw_json_writer_t *json, const char *key, bool value)
{
    aw_json_key_text(json, key);
    aw_json_bool(json, value);
}

static void put_number(aw_json_writer_t *json, const char *key, uint64_t value)
{
    aw_json_key_text(json, key);
    aw_json_uint64(json, value);
}

static void put_ms(aw_json_writer_t *json, const char *key, double seconds)
{
    put_number(json, key, seconds > 0 ? (uint64_t)(seconds * 1000.0 + 0.5) : 0);
}

/* A wall clock, null for the 0 that means never. */
static void put_time(aw_json_writer_t *json, const char *key, int64_t ms)
{
    aw_json_key_text(json, key);
    if (ms > 0) {
        aw_json_int64(json, ms);
    } else {
        aw_json_null(json);
    }
}

static void open_object(aw_json_writer_t *json, const char *key)
{
    aw_json_key_text(json, key);
    aw_json_object_open(json);
}

/* How many lanes are in each phase. */
static void put_phases(aw_json_writer_t *json, const ab_status_t *status)
{
    open_object(json, "lanes");
    for (int phase = 0; phase < AB_PHASE_COUNT; phase++) {
        uint64_t count = 0;
        for (unsigned i = 0; i < status->lane_count; i++) {
            count += (int)status->lanes[i].phase == phase;
        }
        put_number(json, ab_phase_label((ab_phase_t)phase), count);
    }
    aw_json_object_close(json);
}

unsigned ab_report_live(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    report_t report;
    const bool live = ab_status_alive(status, AB_HTTP_LIVE_SECONDS);
    (void)facts;
    if (!begin(&report)) {
        return 500;
    }
    put_bool(&report.json, "live", live);
    aw_json_key_text(&report.json, "lanes");
    aw_json_array_open(&report.json);
    for (unsigned i = 0; i < status->lane_count; i++) {
        const ab_lane_status_t *lane = &status->lanes[i];
        if (lane->phase != AB_PHASE_ENDED && lane->tick_seconds > AB_HTTP_LIVE_SECONDS) {
            aw_json_object_open(&report.json);
            put_number(&report.json, "lane", i);
            put_ms(&report.json, "tick_ms", lane->tick_seconds);
            aw_json_object_close(&report.json);
        }
    }
    aw_json_array_close(&report.json);
    return end(&report, live ? 200 : 503, out);
}

/* How many sources have both a name and numbers. */
static size_t source_count(const ab_http_facts_t *facts, const ab_status_t *status)
{
    return status->source_count < facts->topic_count ? status->source_count : facts->topic_count;
}

unsigned ab_report_ready(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    report_t report;
    const ab_ready_t ready = ab_status_ready(status);
    if (!begin(&report)) {
        return 500;
    }
    put_bool(&report.json, "ready", ready == AB_READY_READY);
    put_text(&report.json, "code", ab_ready_label(ready));
    put_text(&report.json, "reason", ab_ready_text(ready));
    put_text(&report.json, "phase", ab_relay_phase_label(status->phase));
    put_phases(&report.json, status);
    open_object(&report.json, "stuck_partitions");
    for (size_t i = 0; i < source_count(facts, status); i++) {
        if (status->sources[i].stuck > 0) {
            put_number(&report.json, facts->topics[i], status->sources[i].stuck);
        }
    }
    aw_json_object_close(&report.json);
    return end(&report, ready == AB_READY_READY ? 200 : 503, out);
}

static void put_lanes(aw_json_writer_t *json, const ab_status_t *status)
{
    aw_json_key_text(json, "lanes");
    aw_json_array_open(json);
    for (unsigned i = 0; i < status->lane_count; i++) {
        const ab_lane_status_t *lane = &status->lanes[i];
        aw_json_object_open(json);
        put_number(json, "lane", i);
        put_text(json, "phase", ab_phase_label(lane->phase));
        put_bool(json, "joined", lane->joined);
        put_ms(json, "tick_ms", lane->tick_seconds);
        put_number(json, "inflight_bytes", lane->inflight_bytes);
        put_number(json, "consumed_records", lane->counters.ledger.consumed);
        put_number(json, "restarts", lane->counters.lane_restarts);
        aw_json_object_close(json);
    }
    aw_json_array_close(json);
}

/* Why a source stands still, as far as its breaker goes. */
static void put_breaker(aw_json_writer_t *json, const ab_source_status_t *source)
{
    open_object(json, "breaker");
    put_number(json, "open_lanes", source->open_breakers);
    if (source->open_breakers > 0) {
        put_number(json, "read", source->tripped.read);
        put_number(json, "dead_lettered", source->tripped.dead_lettered);
        put_text(json, "last_reason", ab_reason_code(source->tripped_reason));
    }
    aw_json_object_close(json);
}

/* The ledger of each partition that gave records since the start. */
static void put_partitions(aw_json_writer_t *json, const ab_status_t *status, size_t source)
{
    const size_t count =
        source < status->tallies.source_count ? status->tallies.sources[source].count : 0;
    aw_json_key_text(json, "partitions");
    aw_json_array_open(json);
    for (size_t p = 0; p < count; p++) {
        const ab_tally_t *tally = &status->tallies.sources[source].items[p];
        if (tally->consumed == 0) {
            continue;
        }
        aw_json_object_open(json);
        put_number(json, "partition", p);
        put_bool(json, "balanced", ab_tally_balanced(tally));
        put_number(json, "consumed", tally->consumed);
        put_number(json, "routed", tally->outcomes[AB_OUTCOME_ROUTED]);
        put_number(json, "answered", tally->outcomes[AB_OUTCOME_ANSWERED]);
        put_number(json, "dead_lettered", tally->outcomes[AB_OUTCOME_DEAD_LETTERED]);
        put_number(json, "dropped", tally->outcomes[AB_OUTCOME_DROPPED]);
        aw_json_object_close(json);
    }
    aw_json_array_close(json);
}

static void put_sources(aw_json_writer_t *json, const ab_http_facts_t *facts,
                        const ab_status_t *status)
{
    aw_json_key_text(json, "sources");
    aw_json_array_open(json);
    for (size_t i = 0; i < source_count(facts, status); i++) {
        const ab_source_status_t *source = &status->sources[i];
        aw_json_object_open(json);
        put_text(json, "topic", facts->topics[i]);
        put_number(json, "assigned_partitions", source->assigned);
        put_number(json, "pending_partitions", source->pending);
        put_number(json, "stopped_partitions", source->stopped);
        put_number(json, "stuck_partitions", source->stuck);
        put_number(json, "lag_records", source->lag_records);
        put_breaker(json, source);
        put_ms(json, "oldest_unfinished_ms", source->oldest_unfinished_seconds);
        put_partitions(json, status, i);
        aw_json_object_close(json);
    }
    aw_json_array_close(json);
}

static void put_states(aw_json_writer_t *json, const ab_http_facts_t *facts,
                       const ab_status_t *status)
{
    aw_json_key_text(json, "state");
    aw_json_array_open(json);
    for (size_t i = 0; i < status->state_count && i < facts->state_topic_count; i++) {
        const ab_state_status_t *state = &status->states[i];
        aw_json_object_open(json);
        put_text(json, "topic", facts->state_topics[i]);
        put_number(json, "partitions", state->partitions);
        put_number(json, "restoring_partitions", state->restoring);
        put_number(json, "lag_records", state->lag_records);
        put_number(json, "keys", state->keys);
        put_number(json, "marked_keys", state->marked_keys);
        put_number(json, "size_bytes", state->size_bytes);
        aw_json_object_close(json);
    }
    aw_json_array_close(json);
}

static void put_ledger(aw_json_writer_t *json, const ab_ledger_t *ledger)
{
    open_object(json, "ledger");
    put_bool(json, "balanced", ab_ledger_balanced(ledger));
    put_number(json, "consumed", ledger->consumed);
    open_object(json, "outcomes");
    put_number(json, "routed", ab_ledger_routed(ledger));
    put_number(json, "answered", ledger->answered);
    put_number(json, "dead_lettered", ab_ledger_dead_lettered(ledger));
    put_number(json, "dropped", ledger->dropped);
    aw_json_object_close(json);
    open_object(json, "routed");
    for (int slot = 0; slot < AB_SLOT_COUNT; slot++) {
        put_number(json, ab_slot_label((ab_route_slot_t)slot), ledger->routed[slot]);
    }
    aw_json_object_close(json);
    open_object(json, "dead_lettered");
    for (int reason = AB_REASON_NONE + 1; reason < AB_REASON_COUNT; reason++) {
        put_number(json, ab_reason_code((ab_reason_t)reason), ledger->dead_lettered[reason]);
    }
    aw_json_object_close(json);
    put_number(json, "keyless", ledger->keyless);
    put_number(json, "without_source", ledger->without_source);
    put_number(json, "timestamp_zero", ledger->timestamp_zero);
    put_number(json, "stale", ledger->stale);
    put_number(json, "gap", ledger->gap);
    aw_json_object_close(json);
}

static void put_counters(aw_json_writer_t *json, const ab_counters_t *total)
{
    open_object(json, "transactions");
    for (int i = 0; i < AB_TXN_RESULT_COUNT; i++) {
        put_number(json, ab_txn_result_label((ab_txn_result_t)i), total->transactions[i]);
    }
    aw_json_object_close(json);
    open_object(json, "offset_commits");
    for (int i = 0; i < AB_COMMIT_RESULT_COUNT; i++) {
        put_number(json, ab_commit_result_label((ab_commit_result_t)i), total->offset_commits[i]);
    }
    aw_json_object_close(json);
    put_number(json, "breaker_trips", total->breaker_trips);
    open_object(json, "rebalances");
    for (int i = 0; i < AB_REBALANCE_COUNT; i++) {
        put_number(json, ab_rebalance_label((ab_rebalance_t)i), total->rebalances[i]);
    }
    aw_json_object_close(json);
    open_object(json, "produce_failures");
    for (int i = 0; i < AB_CAUSE_COUNT; i++) {
        put_number(json, ab_cause_label((ab_cause_t)i), total->produce_failures[i]);
    }
    aw_json_object_close(json);
    put_number(json, "lane_restarts", total->lane_restarts);
    open_object(json, "state_records");
    for (int i = 0; i < AB_STATE_VERDICT_COUNT; i++) {
        put_number(json, ab_state_verdict_label((ab_state_verdict_t)i), total->state_records[i]);
    }
    aw_json_object_close(json);
    put_time(json, "last_dead_letter_ms", total->last_dead_letter_ms);
}

static void put_version(aw_json_writer_t *json, const ab_http_facts_t *facts)
{
    if (facts->revision[0] != '\0') {
        put_text(json, "commit", facts->revision);
    }
    open_object(json, "libraries");
    for (size_t i = 0; i < facts->library_count; i++) {
        open_object(json, facts->libraries[i].name);
        put_text(json, "compiled", facts->libraries[i].compiled);
        put_text(json, "running", facts->libraries[i].running);
        aw_json_object_close(json);
    }
    aw_json_object_close(json);
    put_text(json, "version", facts->version);
}

unsigned ab_report_status(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    report_t report;
    const ab_ready_t ready = ab_status_ready(status);
    if (!begin(&report)) {
        return 500;
    }
    aw_json_writer_t *json = &report.json;
    put_text(json, "phase", ab_relay_phase_label(status->phase));
    put_bool(json, "live", ab_status_alive(status, AB_HTTP_LIVE_SECONDS));
    put_bool(json, "ready", ready == AB_READY_READY);
    put_text(json, "code", ab_ready_label(ready));
    put_text(json, "reason", ab_ready_text(ready));
    put_text(json, "group", facts->group);
    put_text(json, "instance", facts->instance);
    put_text(json, "guarantee", facts->guarantee);
    put_text(json, "config", facts->config_file);
    put_time(json, "started_ms", facts->started_ms);
    put_ms(json, "uptime_ms", status->uptime_seconds);
    put_lanes(json, status);
    put_sources(json, facts, status);
    put_states(json, facts, status);
    put_ledger(json, &status->total.ledger);
    put_counters(json, &status->total);
    put_version(json, facts);
    return end(&report, 200, out);
}

unsigned ab_report_version(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    report_t report;
    (void)status;
    if (!begin(&report)) {
        return 500;
    }
    put_version(&report.json, facts);
    return end(&report, 200, out);
}
