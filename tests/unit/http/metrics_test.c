#include "bridge/http/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/http/support.h"

static void print_metrics(FILE *out, const void *opaque)
{
    const planted_t *planted = opaque;
    ab_metrics_print(&planted_facts, &planted->status, out);
}

/* The whole answer for a planted relay; the caller frees it. */
static char *scrape_new(const planted_t *planted)
{
    return printed_new(print_metrics, planted);
}

/* True when text has this very line. */
static bool has_line(const char *text, const char *line)
{
    const size_t size = strlen(line);
    for (const char *at = strstr(text, line); at != NULL; at = strstr(at + 1, line)) {
        if ((at == text || at[-1] == '\n') && at[size] == '\n') {
            return true;
        }
    }
    return false;
}

static void expect_line(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void expect_line(const char *text, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (!has_line(text, line)) {
        fail_msg("no line '%s' in:\n%s", line, text);
    }
}

static void test_metrics_planted_counters_each_under_its_own_name(void **state)
{
    (void)state;
    planted_t planted;
    plant(&planted);
    char *text = scrape_new(&planted);
    const ab_ledger_t *ledger = &planted.status.total.ledger;
    expect_line(text, "agent_bridge_consumed_records_total %llu",
                (unsigned long long)ledger->consumed);
    expect_line(text, "agent_bridge_records_total{outcome=\"routed\"} %llu",
                (unsigned long long)ab_ledger_routed(ledger));
    expect_line(text, "agent_bridge_records_total{outcome=\"dead_lettered\"} %llu",
                (unsigned long long)ab_ledger_dead_lettered(ledger));
    expect_line(text, "agent_bridge_records_total{outcome=\"dropped\"} 1600");
    expect_line(text, "agent_bridge_keyless_records_total 1602");
    expect_line(text, "agent_bridge_without_source_records_total 1604");
    expect_line(text, "agent_bridge_timestamp_zero_records_total 1606");
    expect_line(text, "agent_bridge_stale_records_total 1608");
    expect_line(text, "agent_bridge_gap_records_total 1610");
    expect_line(text, "agent_bridge_lane_restarts_total 2400");
    expect_line(text, "agent_bridge_breaker_trips_total 1920");
    expect_line(text, "agent_bridge_guarantee{guarantee=\"exactly_once\"} 0");
    expect_line(text, "agent_bridge_guarantee{guarantee=\"at_least_once\"} 1");
    expect_line(text, "agent_bridge_inflight_bytes 2001");
    expect_line(text, "agent_bridge_last_dead_letter_timestamp_seconds 1700000001.5");
    expect_line(text, "process_start_time_seconds 1700000000.123");
    expect_line(text, "agent_bridge_build_info{version=\"1.2.3\",revision=\"v1-4-gabc\","
                      "librdkafka=\"2.8.0\",protobuf_c=\"1.4.1\"} 1");
    free(text);
}

static void test_metrics_closed_sets_every_value_with_its_own_number(void **state)
{
    (void)state;
    planted_t planted;
    plant(&planted);
    char *text = scrape_new(&planted);
    for (int i = 0; i < AB_SLOT_COUNT; i++) {
        expect_line(text, "agent_bridge_routed_records_total{variant=\"%s\"} %d",
                    ab_slot_label((ab_route_slot_t)i), 1200 + 2 * i);
    }
    for (int i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        expect_line(text, "agent_bridge_dead_lettered_records_total{reason=\"%s\"} %d",
                    ab_reason_code((ab_reason_t)i), 1400 + 2 * i);
    }
    for (int i = 0; i < AB_TXN_RESULT_COUNT; i++) {
        expect_line(text, "agent_bridge_transactions_total{result=\"%s\"} %d",
                    ab_txn_result_label((ab_txn_result_t)i), 1800 + 2 * i);
    }
    for (int i = 0; i < AB_COMMIT_RESULT_COUNT; i++) {
        expect_line(text, "agent_bridge_offset_commits_total{result=\"%s\"} %d",
                    ab_commit_result_label((ab_commit_result_t)i), 1900 + 2 * i);
    }
    for (int i = 0; i < AB_REBALANCE_COUNT; i++) {
        expect_line(text, "agent_bridge_rebalances_total{kind=\"%s\"} %d",
                    ab_rebalance_label((ab_rebalance_t)i), 2000 + 2 * i);
    }
    for (int i = 0; i < AB_CAUSE_COUNT; i++) {
        expect_line(text, "agent_bridge_produce_failures_total{cause=\"%s\"} %d",
                    ab_cause_label((ab_cause_t)i), 2200 + 2 * i);
    }
    for (int i = 0; i < AB_PHASE_COUNT; i++) {
        expect_line(text, "agent_bridge_lanes{phase=\"%s\"} %d", ab_phase_label((ab_phase_t)i),
                    i == AB_PHASE_RUNNING || i == AB_PHASE_WAITING ? 1 : 0);
    }
    assert_null(strstr(text, "=\"\"")); /* NONE is no reason */
    free(text);
}

static void test_metrics_relay_that_did_nothing_shows_every_reason_as_0(void **state)
{
    (void)state;
    const planted_t nothing = {.status.phase = AB_RELAY_PHASE_CONNECTING};
    char *text = scrape_new(&nothing);
    for (int i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        expect_line(text, "agent_bridge_dead_lettered_records_total{reason=\"%s\"} 0",
                    ab_reason_code((ab_reason_t)i));
    }
    expect_line(text, "agent_bridge_last_dead_letter_timestamp_seconds 0");
    expect_line(text, "agent_bridge_ready 0");
    free(text);
}

static void test_metrics_ready_follows_the_readiness(void **state)
{
    (void)state;
    planted_t planted;
    plant(&planted);
    char *text = scrape_new(&planted);
    expect_line(text, "agent_bridge_ready 1");
    free(text);
    planted.sources[1].stuck = 1;
    text = scrape_new(&planted);
    expect_line(text, "agent_bridge_ready 0");
    free(text);
}

static void test_metrics_sources_labelled_by_topic_and_escaped(void **state)
{
    (void)state;
    planted_t planted;
    plant(&planted);
    planted.sources[1].stuck = 44;
    char *text = scrape_new(&planted);
    expect_line(text, "agent_bridge_assigned_partitions{topic=\"in.one\"} 31");
    expect_line(text, "agent_bridge_pending_partitions{topic=\"in.one\"} 32");
    expect_line(text, "agent_bridge_stopped_partitions{topic=\"in.one\"} 33");
    expect_line(text, "agent_bridge_stuck_partitions{topic=\"in.one\"} 0");
    expect_line(text, "agent_bridge_open_breakers{topic=\"in.one\"} 1");
    expect_line(text, "agent_bridge_lag_records{topic=\"in.one\"} 35");
    expect_line(text, "agent_bridge_oldest_unfinished_seconds{topic=\"in.one\"} 36.5");
    /* The quote and the backslash are escaped; the newline and the byte that is no UTF-8 are not
     * let through. */
    expect_line(text, "agent_bridge_stuck_partitions{topic=\"<b>&\\\"'\\\\\xef\xbf\xbd\xef\xbf\xbd"
                      "\"} 44");
    free(text);
}

static void test_metrics_histograms_cumulative_up_to_infinity(void **state)
{
    (void)state;
    planted_t planted;
    plant(&planted); /* two lanes: 0.001 twice, 0.25 four times, 7200 twice */
    char *text = scrape_new(&planted);
    static const char name[] = "agent_bridge_transaction_duration_seconds";
    expect_line(text, "%s_bucket{le=\"0.001\"} 2", name);
    expect_line(text, "%s_bucket{le=\"0.0025\"} 2", name);
    expect_line(text, "%s_bucket{le=\"0.1\"} 2", name);
    expect_line(text, "%s_bucket{le=\"0.25\"} 6", name);
    expect_line(text, "%s_bucket{le=\"3600\"} 6", name);
    expect_line(text, "%s_bucket{le=\"+Inf\"} 8", name);
    expect_line(text, "%s_sum 14401.002", name);
    expect_line(text, "%s_count 8", name);
    expect_line(text, "agent_bridge_record_age_seconds_bucket{le=\"1\"} 0");
    expect_line(text, "agent_bridge_record_age_seconds_bucket{le=\"2.5\"} 2");
    free(text);
}

static void test_metrics_process_what_the_kernel_says_is_plausible(void **state)
{
    (void)state;
    static const char *const names[] = {"process_resident_memory_bytes",
                                        "process_virtual_memory_bytes", "process_open_fds",
                                        "process_max_fds", "process_cpu_seconds_total"};
    planted_t planted;
    plant(&planted);
    char *text = scrape_new(&planted);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char start[64];
        (void)snprintf(start, sizeof(start), "\n%s ", names[i]);
        const char *line = strstr(text, start);
        if (line == NULL) {
            fail_msg("no %s", names[i]);
        } else {
            const double value = strtod(line + strlen(start), NULL);
            assert_true(value >= (i < 4 ? 1 : 0));
        }
    }
    free(text);
}

static void print_docs(FILE *out, const void *opaque)
{
    (void)opaque;
    ab_metrics_print_docs(out);
}

static void test_metrics_docs_equal_the_committed_page(void **state)
{
    (void)state;
    char *page = file_text_new("docs/metrics.md");
    char *text = printed_new(print_docs, NULL);
    if (strcmp(page, text) != 0) {
        fail_msg("docs/metrics.md is not what the table says: write it anew with "
                 "`agent-bridge version --print-metrics > docs/metrics.md`");
    }
    free(text);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_planted_counters_each_under_its_own_name),
        cmocka_unit_test(test_metrics_closed_sets_every_value_with_its_own_number),
        cmocka_unit_test(test_metrics_relay_that_did_nothing_shows_every_reason_as_0),
        cmocka_unit_test(test_metrics_ready_follows_the_readiness),
        cmocka_unit_test(test_metrics_sources_labelled_by_topic_and_escaped),
        cmocka_unit_test(test_metrics_histograms_cumulative_up_to_infinity),
        cmocka_unit_test(test_metrics_process_what_the_kernel_says_is_plausible),
        cmocka_unit_test(test_metrics_docs_equal_the_committed_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
