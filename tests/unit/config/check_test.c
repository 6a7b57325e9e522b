#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/config/support.h"

/* Lines 1 and 2 of every configuration here. */
#define HEAD "kafka: {bootstrap.servers: b}\ngroup: g\n"
/* A source on one line, its routes all to one topic. */
#define SOURCE(topic, out)                                                                         \
    "  - {topic: " topic ", routes: {external_event: " out ", tool_result: " out                   \
    ", approval: " out ", export_request: " out "}}\n"

static void test_check_output_that_is_a_source_refused(void **state)
{
    (void)state;
    expect_findings(
        HEAD "sources:\n" SOURCE(
            "a", "drop") "  - topic: b\n"
                         "    routes: {external_event: o, tool_result: a, approval: b,\n"
                         "             export_request: o, unknown_variant: a}\n",
        "c:6:46: error: sources[1].routes.tool_result: the output `a` is also read as "
        "sources[0]: records would go in circles, expected another topic\n"
        "c:6:59: error: sources[1].routes.approval: the output `b` is also read as "
        "sources[1]: records would go in circles, expected another topic\n"
        "c:7:50: error: sources[1].routes.unknown_variant: the output `a` is also read "
        "as sources[0]: records would go in circles, expected another topic\n");
}

static void test_check_source_named_twice_refused(void **state)
{
    (void)state;
    expect_findings(HEAD "sources:\n" SOURCE("a", "o") SOURCE("b", "o") SOURCE("a", "o"),
                    "c:6:13: error: sources[2].topic: read twice, here and as sources[0]: remove "
                    "one\n");
}

static void test_check_errors_topics_that_are_sources_refused(void **state)
{
    (void)state;
    expect_findings(
        HEAD "sources:\n" SOURCE("a", "o") SOURCE("b", "o") "errors: {topic: a, quarantine: b}\n",
        "c:6:17: error: errors.topic: the output `a` is also read as sources[0]: records "
        "would go in circles, expected another topic\n"
        "c:6:32: error: errors.quarantine: the output `b` is also read as sources[1]: "
        "records would go in circles, expected another topic\n");
    expect_findings(HEAD "sources:\n" SOURCE("a", "o") SOURCE("a.errors", "o")
                        SOURCE("a.quarantine", "o"),
                    "c:4:13: error: sources[0].topic: the output `a.errors` is also read as "
                    "sources[1]: records would go in circles, expected another topic\n"
                    "c:4:13: error: sources[0].topic: the output `a.quarantine` is also read as "
                    "sources[2]: records would go in circles, expected another topic\n");
}

static void test_check_quarantine_that_is_the_errors_topic_refused(void **state)
{
    (void)state;
    expect_findings(HEAD "sources:\n" SOURCE("a", "o")
                        SOURCE("b", "o") "errors: {topic: bad, quarantine: bad}\n",
                    "c:6:34: error: errors.quarantine: the quarantine `bad` is also the topic for "
                    "dead letters of sources[0]: expected another topic\n");
    expect_findings(HEAD "sources:\n" SOURCE("a", "o")
                        SOURCE("b", "o") "errors: {quarantine: b.errors}\n",
                    "c:6:22: error: errors.quarantine: the quarantine `b.errors` is also the topic "
                    "for dead letters of sources[1]: expected another topic\n");
    expect_findings(HEAD "sources:\n" SOURCE("a", "o") "errors: {topic: a.quarantine}\n",
                    "c:4:13: error: sources[0].topic: the quarantine `a.quarantine` is also the "
                    "topic for dead letters of sources[0]: expected another topic\n");
}

static void test_check_quarantine_that_is_a_route_refused(void **state)
{
    (void)state;
    expect_findings(HEAD "sources:\n" SOURCE("a", "o") SOURCE("b", "p") "errors: {quarantine: p}\n",
                    "c:6:22: error: errors.quarantine: the quarantine `p` is also a route of "
                    "sources[1]: expected another topic\n");
    expect_findings(
        HEAD "sources:\n" SOURCE("a", "b.quarantine") SOURCE("b", "p"),
        "c:5:13: error: sources[1].topic: the quarantine `b.quarantine` is also a route "
        "of sources[0]: expected another topic\n");
}

static void test_check_quarantine_off_collides_with_nothing(void **state)
{
    (void)state;
    ab_config_free(
        expect_config(HEAD "sources:\n" SOURCE("a", "a.quarantine") "errors: {quarantine: off}\n"));
}

static void test_check_errors_topic_that_is_a_route_warned_about(void **state)
{
    (void)state;
    expect_findings(HEAD "sources:\n" SOURCE("a", "o") SOURCE("b", "p") "errors: {topic: p}\n",
                    "c:6:17: warning: errors.topic: dead letters share `p` with records routed by "
                    "sources[1]: readers tell them apart by their headers only\n");
}

/* A source whose name has the length, and what follows. */
static char *long_source_new(size_t length, const char *more)
{
    char *topic = repeat_new('t', length);
    char *text = text_new(HEAD "sources:\n  - {topic: %s, routes: {external_event: o, tool_result: "
                               "o, approval: o, export_request: o}}\n%s",
                          topic, more);
    free(topic);
    return text;
}

static void test_check_names_made_by_default_at_the_limit(void **state)
{
    (void)state;
    /* .quarantine is 11 characters, .errors is 7. */
    for (size_t length = 237; length <= 239; length++) {
        char *text = long_source_new(length, "");
        if (length <= 238) {
            ab_config_free(expect_config(text));
        } else {
            expect_findings(text,
                            "c:4:13: error: sources[0].topic: too long for `errors.quarantine` "
                            "to be made from it (250 of at most 249 characters): write "
                            "`errors.quarantine`\n");
        }
        free(text);
    }
    for (size_t length = 241; length <= 243; length++) {
        char *text = long_source_new(length, "errors: {quarantine: q}\n");
        if (length <= 242) {
            ab_config_free(expect_config(text));
        } else {
            expect_findings(text, "c:4:13: error: sources[0].topic: too long for `errors.topic` to "
                                  "be made from it (250 of at most 249 characters): write "
                                  "`errors.topic`\n");
        }
        free(text);
    }
    char *text = long_source_new(249, "errors: {quarantine: q, topic: e}\n");
    ab_config_free(expect_config(text));
    free(text);
}

static void test_check_commit_interval_below_transaction_timeout(void **state)
{
    (void)state;
    ab_config_free(
        expect_config(MINIMAL "delivery: {commit_interval: 1999ms, transaction_timeout: 2s}\n"));
    expect_findings(MINIMAL "delivery: {commit_interval: 2s, transaction_timeout: 2s}\n",
                    "c:6:29: error: delivery.commit_interval: 2s is not shorter than "
                    "`delivery.transaction_timeout`, 2s: transactions would time out before they "
                    "commit\n");
    expect_findings(MINIMAL "delivery: {commit_interval: 2001ms, transaction_timeout: 2s}\n",
                    "c:6:29: error: delivery.commit_interval: 2001ms is not shorter than "
                    "`delivery.transaction_timeout`, 2s: transactions would time out before they "
                    "commit\n");
    expect_findings(MINIMAL "delivery: {commit_interval: 15s}\n",
                    "c:6:29: error: delivery.commit_interval: 15s is not shorter than "
                    "`delivery.transaction_timeout`, 15s: transactions would time out before they "
                    "commit\n");
}

static void test_check_max_value_within_memory_per_lane(void **state)
{
    (void)state;
    ab_config_free(expect_config(MINIMAL "    max_value: 1048575B\nmemory: {per_lane: 1MiB}\n"));
    ab_config_free(expect_config(MINIMAL "    max_value: 1MiB\nmemory: {per_lane: 1MiB}\n"));
    expect_findings(MINIMAL "    max_value: 1048577B\nmemory: {per_lane: 1MiB}\n",
                    "c:6:16: error: sources[0].max_value: 1048577B do not fit into "
                    "`memory.per_lane`, 1MiB: expected at most that\n");
    expect_findings(
        MINIMAL "memory: {per_lane: 4MiB}\n", /* the default does not fit either */
        "c:4: error: sources[0].max_value: 8MiB do not fit into `memory.per_lane`, 4MiB: "
        "expected at most that\n");
}

static void test_check_key_mismatch_ignored_warned_about(void **state)
{
    (void)state;
    expect_findings(MINIMAL "    on_key_mismatch: ignore\n",
                    "c:6:22: warning: sources[0].on_key_mismatch: with `ignore` the order of an "
                    "entity's records is not promised\n");
}

/* What could not be read makes no second complaint. */
static void test_check_unread_values_not_compared(void **state)
{
    (void)state;
    expect_findings(HEAD "sources:\n" SOURCE("'a b'", "o") SOURCE("'a b'", "o"),
                    "c:4:13: error: sources[0].topic: expected the name of a topic (1 to 249 "
                    "letters, digits, dots, underscores or dashes), found `a b`\n"
                    "c:5:13: error: sources[1].topic: expected the name of a topic (1 to 249 "
                    "letters, digits, dots, underscores or dashes), found `a b`\n");
    expect_findings(
        MINIMAL "delivery: {transaction_timeout: 0s}\n",
        "c:6:33: error: delivery.transaction_timeout: expected 1s to 15m, found `0s`\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_output_that_is_a_source_refused),
        cmocka_unit_test(test_check_source_named_twice_refused),
        cmocka_unit_test(test_check_errors_topics_that_are_sources_refused),
        cmocka_unit_test(test_check_quarantine_that_is_the_errors_topic_refused),
        cmocka_unit_test(test_check_quarantine_that_is_a_route_refused),
        cmocka_unit_test(test_check_quarantine_off_collides_with_nothing),
        cmocka_unit_test(test_check_errors_topic_that_is_a_route_warned_about),
        cmocka_unit_test(test_check_names_made_by_default_at_the_limit),
        cmocka_unit_test(test_check_commit_interval_below_transaction_timeout),
        cmocka_unit_test(test_check_max_value_within_memory_per_lane),
        cmocka_unit_test(test_check_key_mismatch_ignored_warned_about),
        cmocka_unit_test(test_check_unread_values_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
