#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/config/support.h"

#define ANSWERING                                                                                  \
    "kafka: {bootstrap.servers: 'broker:9092'}\ngroup: g\nsources:\n  - topic: in\n"               \
    "    routes: {external_event: ev, tool_result: re, approval: ap, export_request: answer}\n"    \
    "snapshots: {topic: sn}\n"

static void fingerprint_of(const char *text, char ret_hex[AW_SHA256_HEX_SIZE])
{
    ab_findings_t findings;
    ab_config_t *config = ab_config_parse("c", text, strlen(text), NULL, &findings);
    assert_non_null(config);
    assert_int_equal(ab_config_fingerprint(config, ret_hex), 0);
    assert_int_equal(strlen(ret_hex), AW_SHA256_HEX_SIZE - 1);
    ab_config_free(config);
}

static void test_fingerprint_what_decides_an_outcome_changes_it(void **state)
{
    static const char *const texts[] = {
        MINIMAL,
        MINIMAL "    on_tombstone: drop\n",
        MINIMAL "    on_key_mismatch: ignore\n",
        MINIMAL "    on_null_key: dead_letter\n",
        MINIMAL "    partition: source\n",
        MINIMAL "    max_value: 1MiB\n",
        MINIMAL "    contract: tea\n",
        MINIMAL "limits: {decode_bytes: 65MiB}\n",
        MINIMAL "errors: {topic: e}\n",
        MINIMAL "errors: {quarantine: q}\n",
        MINIMAL "errors: {quarantine: off}\n",
        MINIMAL "errors: {max_hops: 4}\n",
        MINIMAL "delivery: {source_header: false}\n",
        MINIMAL "  - topic: in2\n    routes: {external_event: ev, tool_result: re, approval: ap, "
                "export_request: ex}\n",
        "kafka: {bootstrap.servers: 'broker:9092'}\ngroup: h\nsources:\n  - topic: in\n"
        "    routes: {external_event: ev, tool_result: re, approval: ap, export_request: ex}\n",
        "kafka: {bootstrap.servers: 'broker:9092'}\ngroup: g\nsources:\n  - topic: in\n"
        "    routes: {external_event: ev, tool_result: re, approval: ap, export_request: drop}\n",
        ANSWERING "state: {snapshots_from: [s1]}\n",
        ANSWERING "state: {snapshots_from: [s1, s2]}\n",
        ANSWERING "state: {snapshots_from: [s2, s1]}\n",
        ANSWERING "state: {snapshots_from: [s3]}\n",
    };
    enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
    char found[COUNT][AW_SHA256_HEX_SIZE];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        fingerprint_of(texts[i], found[i]);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(found[i], found[j]);
        }
    }
}

static void test_fingerprint_what_decides_nothing_leaves_it(void **state)
{
    static const char *const texts[] = {
        MINIMAL "    start: latest\n",
        MINIMAL "lanes: 3\n",
        MINIMAL "instance: another\n",
        MINIMAL "memory: {per_lane: 65MiB}\n",
        MINIMAL "delivery: {commit_interval: 50ms}\n",
        MINIMAL "producer: {sasl.password: secret}\n",
        MINIMAL "errors: {topic: in.errors, quarantine: in.quarantine, max_hops: 3}\n",
        MINIMAL "    max_value: 8MiB\n",
        "kafka: {bootstrap.servers: 'elsewhere:9092', sasl.password: secret}\ngroup: g\nsources:\n"
        "  - topic: in\n"
        "    routes: {external_event: ev, tool_result: re, approval: ap, export_request: ex}\n",
    };
    char plain[AW_SHA256_HEX_SIZE], found[AW_SHA256_HEX_SIZE];
    (void)state;
    fingerprint_of(MINIMAL, plain);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        fingerprint_of(texts[i], found);
        assert_string_equal(found, plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint_what_decides_an_outcome_changes_it),
        cmocka_unit_test(test_fingerprint_what_decides_nothing_leaves_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
