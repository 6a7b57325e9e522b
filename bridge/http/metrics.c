#include "bridge/http/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "bridge/http/escape.h"
#include "bridge/http/process.h"

/* One answer to a scraper, while it is written. */
typedef struct scrape {
    const ab_http_facts_t *facts;
    const ab_status_t *status;
    ab_process_t process;
    FILE *out;
} scrape_t;

/* A label and where its values come from. */
typedef struct label {
    const char *name;
    const char *values;               /* of a set that is not closed here: what the values are */
    unsigned first, count;            /* of a closed set, 0 otherwise */
    const char *(*value)(unsigned i); /* the same */
} label_t;

typedef enum metric_type { COUNTER, GAUGE, HISTOGRAM } metric_type_t;

typedef struct metric metric_t;
struct metric {
    const char *name;
    metric_type_t type;
    const label_t *label; /* NULL: none */
    const char *help;
    void (*write)(const scrape_t *scrape, const metric_t *metric);
    size_t offset; /* of what the writer reads, in ab_counters_t or ab_source_status_t */
};

/* ---- labels ---- */

/* The outcomes, in the order of outcome_count(). */
static const char *outcome_value(unsigned i)
{
    static const char *const values[] = {"routed", "answered", "dead_lettered", "dropped"};
    return values[i];
}

static const char *variant_value(unsigned i)
{
    return ab_slot_label((ab_route_slot_t)i);
}

static const char *reason_value(unsigned i)
{
    return ab_reason_code((ab_reason_t)i);
}

static const char *result_value(unsigned i)
{
    return ab_txn_result_label((ab_txn_result_t)i);
}

static const char *commit_value(unsigned i)
{
    return ab_commit_result_label((ab_commit_result_t)i);
}

static const char *guarantee_value(unsigned i)
{
    static const char *const values[] = {"exactly_once", "at_least_once"};
    return values[i];
}

static const char *kind_value(unsigned i)
{
    return ab_rebalance_label((ab_rebalance_t)i);
}

static const char *cause_value(unsigned i)
{
    return ab_cause_label((ab_cause_t)i);
}

static const char *phase_value(unsigned i)
{
    return ab_phase_label((ab_phase_t)i);
}

static const char *verdict_value(unsigned i)
{
    return ab_state_verdict_label((ab_state_verdict_t)i);
}

static const label_t outcome = {"outcome", NULL, 0, 4, outcome_value};
static const label_t variant = {"variant", NULL, 0, AB_SLOT_COUNT, variant_value};
static const label_t reason = {"reason", NULL, AB_REASON_NONE + 1, AB_REASON_COUNT, reason_value};
static const label_t result = {"result", NULL, 0, AB_TXN_RESULT_COUNT, result_value};
static const label_t commit_result = {"result", NULL, 0, AB_COMMIT_RESULT_COUNT, commit_value};
static const label_t guarantee = {"guarantee", NULL, 0, 2, guarantee_value};
static const label_t kind = {"kind", NULL, 0, AB_REBALANCE_COUNT, kind_value};
static const label_t cause = {"cause", NULL, 0, AB_CAUSE_COUNT, cause_value};
static const label_t phase = {"phase", NULL, 0, AB_PHASE_COUNT, phase_value};
static const label_t topic = {"topic", "the source topics of the configuration", 0, 0, NULL};
static const label_t state_topic = {"topic", "the topics of `state.snapshots_from`", 0, 0, NULL};
static const label_t verdict = {"verdict", NULL, 0, AB_STATE_VERDICT_COUNT, verdict_value};
static const label_t le = {"le", "the upper bounds of the buckets", 0, 0, NULL};
static const label_t build = {
    "version", "this program's; beside it `revision`, and a label for each library", 0, 0, NULL};

/* ---- writers ---- */

static void write_value(const scrape_t *scrape, const char *name, uint64_t value)
{
    (void)fprintf(scrape->out, "%s %" PRIu64 "\n", name, value);
}

static void write_labelled(const scrape_t *scrape, const metric_t *metric, const char *value,
                           uint64_t number)
{
    (void)fprintf(scrape->out, "%s{%s=", metric->name, metric->label->name);
    ab_http_label(value, scrape->out);
    (void)fprintf(scrape->out, "} %" PRIu64 "\n", number);
}

/* One counter of the total. */
static void write_counter(const scrape_t *scrape, const metric_t *metric)
{
    uint64_t value;
    memcpy(&value, (const char *)&scrape->status->total + metric->offset, sizeof(value));
    write_value(scrape, metric->name, value);
}

/* An array of counters of the total, as long as the label has values. */
static void write_counters(const scrape_t *scrape, const metric_t *metric)
{
    const char *base = (const char *)&scrape->status->total + metric->offset;
    for (unsigned i = metric->label->first; i < metric->label->count; i++) {
        uint64_t value;
        memcpy(&value, base + i * sizeof(value), sizeof(value));
        write_labelled(scrape, metric, metric->label->value(i), value);
    }
}

static void write_outcomes(const scrape_t *scrape, const metric_t *metric)
{
    const ab_ledger_t *ledger = &scrape->status->total.ledger;
    const uint64_t counts[] = {ab_ledger_routed(ledger), ledger->answered,
                               ab_ledger_dead_lettered(ledger), ledger->dropped};
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        write_labelled(scrape, metric, metric->label->value(i), counts[i]);
    }
}

static void write_histogram(const scrape_t *scrape, const metric_t *metric)
{
    ab_histogram_t histogram;
    uint64_t below = 0;
    memcpy(&histogram, (const char *)&scrape->status->total + metric->offset, sizeof(histogram));
    for (size_t i = 0; i < AB_HISTOGRAM_BUCKETS; i++) {
        below += histogram.counts[i];
        (void)fprintf(scrape->out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", metric->name,
                      ab_histogram_bounds[i], below);
    }
    (void)fprintf(scrape->out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", metric->name,
                  histogram.count);
    (void)fprintf(scrape->out, "%s_sum %.15g\n", metric->name, histogram.sum_seconds);
    (void)fprintf(scrape->out, "%s_count %" PRIu64 "\n", metric->name, histogram.count);
}

/* How many sources have both a name and numbers. */
static size_t source_count(const scrape_t *scrape)
{
    return scrape->status->source_count < scrape->facts->topic_count ? scrape->status->source_count
                                                                     : scrape->facts->topic_count;
}

static void write_partitions(const scrape_t *scrape, const metric_t *metric)
{
    for (size_t i = 0; i < source_count(scrape); i++) {
        uint32_t value;
        memcpy(&value, (const char *)&scrape->status->sources[i] + metric->offset, sizeof(value));
        write_labelled(scrape, metric, scrape->facts->topics[i], value);
    }
}

static void write_guarantee(const scrape_t *scrape, const metric_t *metric)
{
    for (unsigned i = 0; i < metric->label->count; i++) {
        const char *value = metric->label->value(i);
        write_labelled(scrape, metric, value, strcmp(value, scrape->facts->guarantee) == 0);
    }
}

static void write_lag(const scrape_t *scrape, const metric_t *metric)
{
    for (size_t i = 0; i < source_count(scrape); i++) {
        write_labelled(scrape, metric, scrape->facts->topics[i],
                       scrape->status->sources[i].lag_records);
    }
}

static void write_oldest(const scrape_t *scrape, const metric_t *metric)
{
    for (size_t i = 0; i < source_count(scrape); i++) {
        (void)fprintf(scrape->out, "%s{%s=", metric->name, metric->label->name);
        ab_http_label(scrape->facts->topics[i], scrape->out);
        (void)fprintf(scrape->out, "} %.15g\n",
                      scrape->status->sources[i].oldest_unfinished_seconds);
    }
}

/* One number of each state topic. */
static void write_state(const scrape_t *scrape, const metric_t *metric)
{
    for (size_t i = 0; i < scrape->status->state_count && i < scrape->facts->state_topic_count;
         i++) {
        uint64_t value;
        memcpy(&value, (const char *)&scrape->status->states[i] + metric->offset, sizeof(value));
        write_labelled(scrape, metric, scrape->facts->state_topics[i], value);
    }
}

static void write_restoring(const scrape_t *scrape, const metric_t *metric)
{
    for (size_t i = 0; i < scrape->status->state_count && i < scrape->facts->state_topic_count;
         i++) {
        write_labelled(scrape, metric, scrape->facts->state_topics[i],
                       scrape->status->states[i].restoring);
    }
}

static void write_phases(const scrape_t *scrape, const metric_t *metric)
{
    for (unsigned i = 0; i < metric->label->count; i++) {
        uint64_t lanes = 0;
        for (unsigned lane = 0; lane < scrape->status->lane_count; lane++) {
            lanes += (unsigned)scrape->status->lanes[lane].phase == i;
        }
        write_labelled(scrape, metric, metric->label->value(i), lanes);
    }
}

static void write_inflight(const scrape_t *scrape, const metric_t *metric)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < scrape->status->lane_count; i++) {
        bytes += scrape->status->lanes[i].inflight_bytes;
    }
    write_value(scrape, metric->name, bytes);
}

static void write_last_dead_letter(const scrape_t *scrape, const metric_t *metric)
{
    (void)fprintf(scrape->out, "%s %.15g\n", metric->name,
                  (double)scrape->status->total.last_dead_letter_ms / 1000.0);
}

static void write_ready(const scrape_t *scrape, const metric_t *metric)
{
    write_value(scrape, metric->name, ab_status_ready(scrape->status) == AB_READY_READY);
}

/* A library's name as a label's: "protobuf_c". */
static void write_label_name(const char *name, FILE *out)
{
    for (const char *at = name; *at != '\0'; at++) {
        (void)fputc(*at == '-' ? '_' : *at, out);
    }
}

static void write_build(const scrape_t *scrape, const metric_t *metric)
{
    const ab_http_facts_t *facts = scrape->facts;
    (void)fprintf(scrape->out, "%s{version=", metric->name);
    ab_http_label(facts->version, scrape->out);
    (void)fputs(",revision=", scrape->out);
    ab_http_label(facts->revision, scrape->out);
    for (size_t i = 0; i < facts->library_count; i++) {
        (void)fputc(',', scrape->out);
        write_label_name(facts->libraries[i].name, scrape->out);
        (void)fputc('=', scrape->out);
        ab_http_label(facts->libraries[i].running, scrape->out);
    }
    (void)fputs("} 1\n", scrape->out);
}

static void write_start_time(const scrape_t *scrape, const metric_t *metric)
{
    (void)fprintf(scrape->out, "%s %.15g\n", metric->name,
                  (double)scrape->facts->started_ms / 1000.0);
}

static void write_resident(const scrape_t *scrape, const metric_t *metric)
{
    if (scrape->process.has_memory) {
        write_value(scrape, metric->name, scrape->process.resident_bytes);
    }
}

static void write_virtual(const scrape_t *scrape, const metric_t *metric)
{
    if (scrape->process.has_memory) {
        write_value(scrape, metric->name, scrape->process.virtual_bytes);
    }
}

static void write_open_fds(const scrape_t *scrape, const metric_t *metric)
{
    if (scrape->process.has_open_fds) {
        write_value(scrape, metric->name, scrape->process.open_fds);
    }
}

static void write_max_fds(const scrape_t *scrape, const metric_t *metric)
{
    if (scrape->process.has_max_fds) {
        write_value(scrape, metric->name, scrape->process.max_fds);
    }
}

static void write_cpu(const scrape_t *scrape, const metric_t *metric)
{
    if (scrape->process.has_cpu) {
        (void)fprintf(scrape->out, "%s %.15g\n", metric->name, scrape->process.cpu_seconds);
    }
}

/* ---- the table ---- */

#define OF_TOTAL(member)  offsetof(ab_counters_t, member)
#define OF_SOURCE(member) offsetof(ab_source_status_t, member)
#define OF_STATE(member)  offsetof(ab_state_status_t, member)
#define OF_NOTHING        0

static const metric_t metrics[] = {
    {"agent_bridge_consumed_records_total", COUNTER, NULL,
     "Records read from the sources whose outcome is committed.", write_counter,
     OF_TOTAL(ledger.consumed)},
    {"agent_bridge_records_total", COUNTER, &outcome,
     "Records by committed outcome; together as many as were consumed.", write_outcomes,
     OF_NOTHING},
    {"agent_bridge_routed_records_total", COUNTER, &variant,
     "Records routed to the topic of their variant.", write_counters, OF_TOTAL(ledger.routed)},
    {"agent_bridge_dead_lettered_records_total", COUNTER, &reason,
     "Records that became dead letters.", write_counters, OF_TOTAL(ledger.dead_lettered)},
    {"agent_bridge_keyless_records_total", COUNTER, NULL,
     "Routed records that had no record key, so that their order is what the producer made it.",
     write_counter, OF_TOTAL(ledger.keyless)},
    {"agent_bridge_without_source_records_total", COUNTER, NULL,
     "Routed records too large for the source header, which went without it.", write_counter,
     OF_TOTAL(ledger.without_source)},
    {"agent_bridge_timestamp_zero_records_total", COUNTER, NULL,
     "Routed records with timestamp 0, which Kafka's clients cannot send; they got the time of "
     "writing.",
     write_counter, OF_TOTAL(ledger.timestamp_zero)},
    {"agent_bridge_stale_records_total", COUNTER, NULL,
     "Records that the client library delivered again; ignored, not consumed.", write_counter,
     OF_TOTAL(ledger.stale)},
    {"agent_bridge_gap_records_total", COUNTER, NULL,
     "Offsets that retention took away before they were read.", write_counter,
     OF_TOTAL(ledger.gap)},
    {"agent_bridge_transactions_total", COUNTER, &result, "Transactions by how they ended.",
     write_counters, OF_TOTAL(transactions)},
    {"agent_bridge_transaction_duration_seconds", HISTOGRAM, &le,
     "Committed transactions, from their beginning to the end of the commit.", write_histogram,
     OF_TOTAL(transaction_seconds)},
    {"agent_bridge_record_age_seconds", HISTOGRAM, &le,
     "Records, from their timestamp to the commit of their outcome.", write_histogram,
     OF_TOTAL(record_age_seconds)},
    {"agent_bridge_lag_records", GAUGE, &topic,
     "Offsets between the committed frontier and the end, over the partitions held here.",
     write_lag, OF_NOTHING},
    {"agent_bridge_oldest_unfinished_seconds", GAUGE, &topic,
     "Age of the oldest record without a committed outcome, 0 when there is none.", write_oldest,
     OF_NOTHING},
    {"agent_bridge_assigned_partitions", GAUGE, &topic, "Partitions held by this process.",
     write_partitions, OF_SOURCE(assigned)},
    {"agent_bridge_pending_partitions", GAUGE, &topic,
     "Partitions held and not read yet, because where to begin is being settled.", write_partitions,
     OF_SOURCE(pending)},
    {"agent_bridge_stopped_partitions", GAUGE, &topic,
     "Partitions held and not read on until an operator decides; the log says why.",
     write_partitions, OF_SOURCE(stopped)},
    {"agent_bridge_stuck_partitions", GAUGE, &topic,
     "Partitions with lag that have not moved for health.stuck_after.", write_partitions,
     OF_SOURCE(stuck)},
    {"agent_bridge_state_records_total", COUNTER, &verdict,
     "Records of state topics that were applied to the stores, those of a restore included; all "
     "but "
     "`taken` left their key as it was, and marked.",
     write_counters, OF_TOTAL(state_records)},
    {"agent_bridge_barrier_wait_seconds", HISTOGRAM, &le,
     "Export requests, from their arrival until all state written before them was read, or until "
     "snapshots.max_wait.",
     write_histogram, OF_TOTAL(barrier_seconds)},
    {"agent_bridge_state_keys", GAUGE, &state_topic,
     "Keys with a state, over the stores held here.", write_state, OF_STATE(keys)},
    {"agent_bridge_state_marked_keys", GAUGE, &state_topic,
     "Keys whose last state record was refused.", write_state, OF_STATE(marked_keys)},
    {"agent_bridge_state_size_bytes", GAUGE, &state_topic, "Size of the stores on disk.",
     write_state, OF_STATE(size_bytes)},
    {"agent_bridge_state_lag_records", GAUGE, &state_topic,
     "Offsets of the topic that are not applied yet; what is left of a restore.", write_state,
     OF_STATE(lag_records)},
    {"agent_bridge_state_restoring_partitions", GAUGE, &state_topic,
     "Stores held here that have not been at the end of their topic yet.", write_restoring,
     OF_NOTHING},
    {"agent_bridge_inflight_bytes", GAUGE, NULL,
     "Bytes on their way to the outputs; memory.per_lane bounds those of each lane.",
     write_inflight, OF_NOTHING},
    {"agent_bridge_last_dead_letter_timestamp_seconds", GAUGE, NULL,
     "When the last dead letter was committed, 0 while there is none.", write_last_dead_letter,
     OF_NOTHING},
    {"agent_bridge_produce_failures_total", COUNTER, &cause,
     "Records that an output refused or did not take; each is tried again, or becomes a dead "
     "letter "
     "as produce_rejected.",
     write_counters, OF_TOTAL(produce_failures)},
    {"agent_bridge_guarantee", GAUGE, &guarantee, "1 for the delivery.guarantee in force, else 0.",
     write_guarantee, OF_NOTHING},
    {"agent_bridge_offset_commits_total", COUNTER, &commit_result,
     "Commits of offsets outside transactions: one a second with at_least_once.", write_counters,
     OF_TOTAL(offset_commits)},
    {"agent_bridge_open_breakers", GAUGE, &topic,
     "Lanes in which the source stands still because too many of its records became dead letters.",
     write_partitions, OF_SOURCE(open_breakers)},
    {"agent_bridge_breaker_trips_total", COUNTER, NULL, "Times that a breaker opened.",
     write_counter, OF_TOTAL(breaker_trips)},
    {"agent_bridge_rebalances_total", COUNTER, &kind,
     "Changes of the group's assignment, counted by each lane.", write_counters,
     OF_TOTAL(rebalances)},
    {"agent_bridge_lane_restarts_total", COUNTER, NULL,
     "Times that a lane made its Kafka clients anew after a failure.", write_counter,
     OF_TOTAL(lane_restarts)},
    {"agent_bridge_lanes", GAUGE, &phase, "Lanes by what they are doing.", write_phases,
     OF_NOTHING},
    {"agent_bridge_ready", GAUGE, NULL, "1 when /readyz answers 200, else 0.", write_ready,
     OF_NOTHING},
    {"agent_bridge_build_info", GAUGE, &build,
     "Always 1; the labels are the versions of the program and of the libraries it runs with.",
     write_build, OF_NOTHING},
    {"process_start_time_seconds", GAUGE, NULL, "When the process started, since the epoch.",
     write_start_time, OF_NOTHING},
    {"process_cpu_seconds_total", COUNTER, NULL, "CPU time of the process, user and system.",
     write_cpu, OF_NOTHING},
    {"process_resident_memory_bytes", GAUGE, NULL, "Resident memory of the process.",
     write_resident, OF_NOTHING},
    {"process_virtual_memory_bytes", GAUGE, NULL, "Virtual memory of the process.", write_virtual,
     OF_NOTHING},
    {"process_open_fds", GAUGE, NULL, "Open file descriptors of the process.", write_open_fds,
     OF_NOTHING},
    {"process_max_fds", GAUGE, NULL, "The limit of open file descriptors.", write_max_fds,
     OF_NOTHING},
};

#define METRIC_COUNT (sizeof(metrics) / sizeof(metrics[0]))

static const char *type_text(metric_type_t type)
{
    return type == COUNTER ? "counter" : type == GAUGE ? "gauge" : "histogram";
}

void ab_metrics_print(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    scrape_t scrape = {.facts = facts, .status = status, .out = out};
    ab_process_read(&scrape.process);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help,
                      metrics[i].name, type_text(metrics[i].type));
        metrics[i].write(&scrape, &metrics[i]);
    }
}

/* ---- the documentation ---- */

static const char introduction[] =
    "# Metrics\n"
    "\n"
    "<!-- Generated from the table in bridge/http/metrics.c: `agent-bridge version "
    "--print-metrics`\n"
    "prints this page. -->\n"
    "\n"
    "`/metrics` at `http.listen` speaks Prometheus' text format 0.0.4. Names, types and labels "
    "are\n"
    "a promise: a dashboard made for one version works with the next. A label's values come from "
    "a\n"
    "closed set, every one there from the start with 0, or are topics of the configuration; never\n"
    "from records.\n"
    "\n"
    "Counters begin at 0 with the process. Those of records count what is committed: a record\n"
    "whose transaction was aborted is counted when it is done again. Gauges of partitions are at\n"
    "most a second old.\n"
    "\n"
    "| metric | type | label | meaning |\n"
    "|---|---|---|---|\n";

void ab_metrics_print_docs(FILE *out)
{
    static const label_t *const labels[] = {
        &outcome, &variant, &reason,  &result, &commit_result, &guarantee, &kind,
        &cause,   &phase,   &verdict, &topic,  &state_topic,   &le,        &build};
    (void)fputs(introduction, out);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const label_t *label = metrics[i].label;
        (void)fprintf(out, "| `%s` | %s | %s%s%s | %s |\n", metrics[i].name,
                      type_text(metrics[i].type), label != NULL ? "`" : "",
                      label != NULL ? label->name : "", label != NULL ? "`" : "", metrics[i].help);
    }
    (void)fputs("\n## Labels\n\n| label | values |\n|---|---|\n", out);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        (void)fprintf(out, "| `%s`%s | %s", labels[i]->name,
                      labels[i] == &commit_result ? " of `agent_bridge_offset_commits_total`" : "",
                      labels[i]->values != NULL ? labels[i]->values : "");
        for (unsigned v = labels[i]->first; v < labels[i]->count; v++) {
            (void)fprintf(out, "%s`%s`", v == labels[i]->first ? "" : ", ", labels[i]->value(v));
        }
        (void)fputs(" |\n", out);
    }
    (void)fputs("\nThe reasons are those of [reasons.md](reasons.md).\n", out);
}
