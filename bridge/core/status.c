#include "bridge/core/status.h"

#include <stdlib.h>

const double ab_histogram_bounds[AB_HISTOGRAM_BUCKETS] = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300, 1800, 3600};

void ab_histogram_observe(ab_histogram_t *histogram, double seconds)
{
    const double value = seconds > 0 ? seconds : 0;
    size_t bucket = 0;
    while (bucket < AB_HISTOGRAM_BUCKETS && value > ab_histogram_bounds[bucket]) {
        bucket++;
    }
    histogram->counts[bucket]++;
    histogram->count++;
    histogram->sum_seconds += value;
}

void ab_histogram_add(ab_histogram_t *histogram, const ab_histogram_t *more)
{
    for (size_t i = 0; i <= AB_HISTOGRAM_BUCKETS; i++) {
        histogram->counts[i] += more->counts[i];
    }
    histogram->count += more->count;
    histogram->sum_seconds += more->sum_seconds;
}

const char *ab_cause_label(ab_cause_t cause)
{
#define LABEL(id, label) label,
    static const char *const labels[] = {AB_CAUSE_LIST(LABEL)};
    return (unsigned)cause < AB_CAUSE_COUNT ? labels[cause] : "";
}

const char *ab_txn_result_label(ab_txn_result_t result)
{
    static const char *const labels[] = {"committed", "aborted", "fenced"};
    return (unsigned)result < AB_TXN_RESULT_COUNT ? labels[result] : "";
}

const char *ab_commit_result_label(ab_commit_result_t result)
{
    static const char *const labels[] = {"committed", "failed"};
    return (unsigned)result < AB_COMMIT_RESULT_COUNT ? labels[result] : "";
}

const char *ab_rebalance_label(ab_rebalance_t rebalance)
{
    static const char *const labels[] = {"assigned", "revoked", "lost"};
    return (unsigned)rebalance < AB_REBALANCE_COUNT ? labels[rebalance] : "";
}

const char *ab_state_verdict_label(ab_state_verdict_t verdict)
{
    static const char *const labels[] = {AB_STATE_VERDICT_LIST(LABEL)};
    return (unsigned)verdict < AB_STATE_VERDICT_COUNT ? labels[verdict] : "";
}

const char *ab_phase_label(ab_phase_t phase)
{
    static const char *const labels[] = {AB_PHASE_LIST(LABEL)};
    return (unsigned)phase < AB_PHASE_COUNT ? labels[phase] : "";
}

const char *ab_relay_phase_label(ab_relay_phase_t phase)
{
    static const char *const labels[] = {AB_RELAY_PHASE_LIST(LABEL)};
    return (unsigned)phase < AB_RELAY_PHASE_COUNT ? labels[phase] : "";
}

#undef LABEL

const char *ab_ready_label(ab_ready_t ready)
{
#define LABEL(id, label, text) label,
    static const char *const labels[] = {AB_READY_LIST(LABEL)};
#undef LABEL
    return (unsigned)ready < AB_READY_COUNT ? labels[ready] : "";
}

const char *ab_ready_text(ab_ready_t ready)
{
#define TEXT(id, label, text) text,
    static const char *const texts[] = {AB_READY_LIST(TEXT)};
#undef TEXT
    return (unsigned)ready < AB_READY_COUNT ? texts[ready] : "";
}

void ab_counters_add(ab_counters_t *counters, const ab_counters_t *more)
{
    ab_ledger_add(&counters->ledger, &more->ledger);
    for (size_t i = 0; i < AB_TXN_RESULT_COUNT; i++) {
        counters->transactions[i] += more->transactions[i];
    }
    for (size_t i = 0; i < AB_COMMIT_RESULT_COUNT; i++) {
        counters->offset_commits[i] += more->offset_commits[i];
    }
    counters->breaker_trips += more->breaker_trips;
    for (size_t i = 0; i < AB_REBALANCE_COUNT; i++) {
        counters->rebalances[i] += more->rebalances[i];
    }
    for (size_t i = 0; i < AB_CAUSE_COUNT; i++) {
        counters->produce_failures[i] += more->produce_failures[i];
    }
    counters->lane_restarts += more->lane_restarts;
    for (size_t i = 0; i < AB_STATE_VERDICT_COUNT; i++) {
        counters->state_records[i] += more->state_records[i];
    }
    ab_histogram_add(&counters->barrier_seconds, &more->barrier_seconds);
    ab_histogram_add(&counters->transaction_seconds, &more->transaction_seconds);
    ab_histogram_add(&counters->record_age_seconds, &more->record_age_seconds);
    if (more->last_dead_letter_ms > counters->last_dead_letter_ms) {
        counters->last_dead_letter_ms = more->last_dead_letter_ms;
    }
}

void ab_source_status_add(ab_source_status_t *status, const ab_source_status_t *share)
{
    status->assigned += share->assigned;
    status->pending += share->pending;
    status->stopped += share->stopped;
    status->stuck += share->stuck;
    status->open_breakers += share->open_breakers;
    status->tripped.read += share->tripped.read;
    status->tripped.dead_lettered += share->tripped.dead_lettered;
    if (share->tripped_reason != AB_REASON_NONE) {
        status->tripped_reason = share->tripped_reason;
    }
    status->lag_records += share->lag_records;
    if (share->oldest_unfinished_seconds > status->oldest_unfinished_seconds) {
        status->oldest_unfinished_seconds = share->oldest_unfinished_seconds;
    }
}

void ab_state_status_add(ab_state_status_t *status, const ab_state_status_t *share)
{
    status->partitions += share->partitions;
    status->restoring += share->restoring;
    status->lag_records += share->lag_records;
    status->keys += share->keys;
    status->marked_keys += share->marked_keys;
    status->size_bytes += share->size_bytes;
}

ab_status_t *ab_status_new(unsigned lanes, unsigned sources, unsigned states)
{
    ab_status_t *status = calloc(1, sizeof(*status));
    if (status == NULL) {
        return NULL;
    }
    status->lanes = calloc(lanes + 1, sizeof(*status->lanes));
    status->sources = calloc(sources + 1, sizeof(*status->sources));
    status->states = calloc(states + 1, sizeof(*status->states));
    if (status->lanes == NULL || status->sources == NULL || status->states == NULL ||
        ab_tallies_init(&status->tallies, sources + 1) != 0) {
        ab_status_free(status);
        return NULL;
    }
    status->lane_count = lanes;
    status->source_count = sources;
    status->state_count = states;
    return status;
}

void ab_status_free(ab_status_t *status)
{
    if (status == NULL) {
        return;
    }
    free(status->lanes);
    free(status->sources);
    free(status->states);
    ab_tallies_clear(&status->tallies);
    free(status);
}

bool ab_status_alive(const ab_status_t *status, double limit_seconds)
{
    for (unsigned i = 0; i < status->lane_count; i++) {
        if (status->lanes[i].phase != AB_PHASE_ENDED &&
            status->lanes[i].tick_seconds > limit_seconds) {
            return false;
        }
    }
    return true;
}

ab_ready_t ab_status_ready(const ab_status_t *status)
{
    switch (status->phase) {
    case AB_RELAY_PHASE_CONNECTING:
        return AB_READY_CONNECTING;
    case AB_RELAY_PHASE_WAITING_TOPICS:
        return AB_READY_WAITING_TOPICS;
    case AB_RELAY_PHASE_RUNNING:
        break;
    default:
        return AB_READY_STOPPING;
    }
    for (unsigned i = 0; i < status->lane_count; i++) {
        if (!status->lanes[i].joined) {
            return AB_READY_JOINING;
        }
    }
    for (unsigned i = 0; i < status->source_count; i++) {
        if (status->sources[i].stuck > 0) {
            return AB_READY_STUCK;
        }
    }
    return AB_READY_READY;
}
