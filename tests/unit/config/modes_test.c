#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/config/config.h"
#include "tests/unit/config/support.h"

static void test_config_breaker_a_mapping_or_off(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(MINIMAL);
    assert_false(config->breaker.off);
    assert_int_equal(config->breaker.ratio_permille, 500);
    assert_int_equal(config->breaker.min_records, 500);
    assert_int_equal(config->breaker.window_ms, 30000);
    assert_int_equal(config->breaker.probe_ms, AB_BREAKER_PROBE_MS);
    assert_int_equal(config->guarantee, AB_EXACTLY_ONCE);
    assert_false(config->stop_on_failure);
    ab_config_free(config);
    config = expect_config(MINIMAL "errors: {breaker: off, on_failure: stop}\n"
                                   "delivery: {guarantee: at_least_once}\n");
    assert_true(config->breaker.off);
    assert_true(config->stop_on_failure);
    assert_int_equal(config->guarantee, AB_AT_LEAST_ONCE);
    ab_config_free(config);
    config = expect_config(MINIMAL "errors: {breaker: {ratio: 0.25, window: 1m}, max_hops: 1}\n");
    assert_false(config->breaker.off);
    assert_int_equal(config->breaker.ratio_permille, 250);
    assert_int_equal(config->breaker.min_records, 500);
    assert_int_equal(config->breaker.window_ms, 60000);
    assert_int_equal(config->max_hops, 1);
    ab_config_free(config);
    expect_findings(MINIMAL "errors: {breaker: on}\n",
                    "c:6:19: error: errors.breaker: expected a mapping of keys, found a single "
                    "value\n");
    expect_findings(MINIMAL "errors: {breaker: {windows: 1m}}\n",
                    "c:6:20: error: errors.breaker.windows: no such key: expected `window`?\n");
    expect_findings(MINIMAL "errors: {breaker: {ratio: 1}}\n",
                    "c:6:27: error: errors.breaker.ratio: expected a number between 0 and 1 with "
                    "up to three decimals, such as 0.5, found `1`\n");
}

/* No output may be a source: of its own source, of another, through a default, in a ring of two. */
static void test_config_outputs_that_are_sources_refused(void **state)
{
    (void)state;
    expect_findings(MINIMAL "errors: {topic: in}\n",
                    "c:6:17: error: errors.topic: the output `in` is also read as sources[0]: "
                    "records would go in circles, expected another topic\n");
    expect_findings(MINIMAL "errors: {quarantine: in}\n",
                    "c:6:22: error: errors.quarantine: the output `in` is also read as sources[0]: "
                    "records would go in circles, expected another topic\n");
#define ROUTES(topic)                                                                              \
    "    routes: {external_event: " topic ", tool_result: drop, approval: drop, "                  \
    "export_request: drop}\n"
#define TWO(first, first_route, second, second_route)                                              \
    "kafka: {bootstrap.servers: b}\ngroup: g\nsources:\n  - topic: " first                         \
    "\n" ROUTES(first_route) "  - topic: " second "\n" ROUTES(second_route)
    expect_findings(TWO("a", "b", "b", "a"),
                    "c:5:30: error: sources[0].routes.external_event: the output `b` is also read "
                    "as sources[1]: records would go in circles, expected another topic\n"
                    "c:7:30: error: sources[1].routes.external_event: the output `a` is also read "
                    "as sources[0]: records would go in circles, expected another topic\n");
    expect_findings(TWO("a", "x", "a.errors", "y"),
                    "c:4:12: error: sources[0].topic: the output `a.errors` is also read as "
                    "sources[1]: records would go in circles, expected another topic\n");
    expect_findings(TWO("a", "x", "a.quarantine", "y"),
                    "c:4:12: error: sources[0].topic: the output `a.quarantine` is also read as "
                    "sources[1]: records would go in circles, expected another topic\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_breaker_a_mapping_or_off),
        cmocka_unit_test(test_config_outputs_that_are_sources_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
