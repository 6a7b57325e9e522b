#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/config/support.h"

static void test_config_minimal_defaults_set(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(MINIMAL);
    char host[256] = "";
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    assert_string_equal(config->file, "c");
    assert_int_equal(config->kafka.count, 1);
    assert_string_equal(config->kafka.items[0].name, "bootstrap.servers");
    assert_string_equal(config->kafka.items[0].value, "broker:9092");
    assert_int_equal(config->kafka.items[0].line, 1);
    assert_int_equal(config->kafka.items[0].column, 9);
    assert_int_equal(config->consumer.count, 0);
    assert_int_equal(config->producer.count, 0);
    assert_string_equal(config->group, "g");
    assert_string_equal(config->instance, host);
    assert_false(config->instance_set);
    assert_int_equal(config->lanes, 1);
    assert_int_equal(config->source_count, 1);
    assert_int_equal(config->commit_interval_ms, 100);
    assert_int_equal(config->commit_records, 10000);
    assert_int_equal(config->commit_size_bytes, 16 * 1024 * 1024);
    assert_int_equal(config->transaction_timeout_ms, 15000);
    assert_true(config->source_header);
    assert_null(config->errors_topic);
    assert_null(config->quarantine.topic);
    assert_false(config->quarantine.off);
    assert_int_equal(config->max_hops, 3);
    assert_false(config->topics_wait);
    assert_int_equal(config->memory_per_lane_bytes, 64 * 1024 * 1024);
    assert_int_equal(config->stuck_after_ms, 60000);
    assert_string_equal(config->http_listen.host, "127.0.0.1");
    assert_int_equal(config->http_listen.port, 9465);
    assert_false(config->http_listen.off);
    assert_int_equal(config->shutdown_timeout_ms, 20000);
    assert_int_equal(config->log_format, AB_LOG_JSON);
    assert_int_equal(config->log_level, AB_LEVEL_INFO);
    ab_config_free(config);
}

static void test_config_minimal_source_defaults_set(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(MINIMAL);
    const ab_source_t *source = &config->sources[0];
    const ab_policy_t *policy = &source->policy;
    assert_int_equal(source->line, 4);
    assert_int_equal(source->start, AB_START_EARLIEST);
    assert_string_equal(policy->topic, "in");
    static const char *const topics[] = {"ev", "re", "ap", "ex"};
    for (unsigned slot = 0; slot < 4; slot++) {
        assert_int_equal(policy->routes[slot].kind, AB_ROUTE_TOPIC);
        assert_string_equal(policy->routes[slot].topic, topics[slot]);
    }
    assert_int_equal(policy->routes[AB_SLOT_UNKNOWN_VARIANT].kind, AB_ROUTE_DEAD_LETTER);
    assert_null(policy->routes[AB_SLOT_UNKNOWN_VARIANT].topic);
    assert_false(policy->tombstone_drop);
    assert_false(policy->key_mismatch_ignore);
    assert_false(policy->null_key_dead_letter);
    assert_int_equal(policy->partition_by, AB_PARTITION_KEY);
    assert_int_equal(policy->max_value_bytes, 8 * 1024 * 1024);
    assert_int_equal(policy->max_hops, 3);
    assert_string_equal(policy->errors_topic, "in.errors");
    assert_string_equal(policy->quarantine_topic, "in.quarantine");
    ab_config_free(config);
}

static const char full[] = "kafka:\n"
                           "  bootstrap.servers: a:1,b:2\n"
                           "  client.id: bridge\n"
                           "consumer: {fetch.min.bytes: 10}\n"
                           "producer:\n"
                           "  linger.ms: 5\n"
                           "  compression.type: zstd\n"
                           "group: the-group\n"
                           "instance: pod-0\n"
                           "lanes: 4\n"
                           "sources:\n"
                           "  - topic: one\n"
                           "    type: envelope\n"
                           "    start: latest\n"
                           "    routes:\n"
                           "      external_event: o1\n"
                           "      tool_result: dead_letter\n"
                           "      approval: drop\n"
                           "      export_request: o1\n"
                           "      unknown_variant: future\n"
                           "    on_tombstone: drop\n"
                           "    on_key_mismatch: dead_letter\n"
                           "    on_null_key: dead_letter\n"
                           "    partition: source\n"
                           "    max_value: 1MiB\n    contract: tea\n"
                           "  - {topic: two, start: '2026-01-31T00:00:00Z', routes: "
                           "{external_event: o2, tool_result: o2,\n"
                           "     approval: o2, export_request: o2}}\n"
                           "delivery:\n"
                           "  guarantee: exactly_once\n"
                           "  commit_interval: 1s\n"
                           "  commit_records: 500\n"
                           "  commit_size: 2MiB\n"
                           "  transaction_timeout: 30s\n"
                           "  source_header: false\n"
                           "errors: {topic: bad, quarantine: kept, max_hops: 7}\n"
                           "topics: {missing: wait}\n"
                           "memory: {per_lane: 128MiB}\n"
                           "health: {stuck_after: 90s}\n"
                           "http: {listen: '[::]:80'}\n"
                           "shutdown: {timeout: 5s}\n"
                           "log: {format: text, level: debug}\n"
                           "limits: {decode_bytes: 3MiB}\n";

static void test_config_every_key_written_stored(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(full);
    assert_int_equal(config->kafka.count, 2);
    assert_string_equal(config->kafka.items[1].value, "bridge");
    assert_int_equal(config->kafka.items[1].line, 3);
    assert_string_equal(config->consumer.items[0].name, "fetch.min.bytes");
    assert_string_equal(config->consumer.items[0].value, "10");
    assert_int_equal(config->producer.count, 2);
    assert_string_equal(config->group, "the-group");
    assert_string_equal(config->instance, "pod-0");
    assert_true(config->instance_set);
    assert_int_equal(config->lanes, 4);
    assert_int_equal(config->commit_interval_ms, 1000);
    assert_int_equal(config->commit_records, 500);
    assert_int_equal(config->commit_size_bytes, 2 * 1024 * 1024);
    assert_int_equal(config->transaction_timeout_ms, 30000);
    assert_false(config->source_header);
    assert_true(config->topics_wait);
    assert_int_equal(config->memory_per_lane_bytes, 128 * 1024 * 1024);
    assert_int_equal(config->decode_bytes, 3 * 1024 * 1024);
    assert_int_equal(config->stuck_after_ms, 90000);
    assert_string_equal(config->http_listen.host, "::");
    assert_int_equal(config->http_listen.port, 80);
    assert_int_equal(config->shutdown_timeout_ms, 5000);
    assert_int_equal(config->log_format, AB_LOG_TEXT);
    assert_int_equal(config->log_level, AB_LEVEL_DEBUG);
    ab_config_free(config);
}

static void test_config_every_source_key_written_stored(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(full);
    assert_int_equal(config->source_count, 2);
    const ab_policy_t *one = &config->sources[0].policy;
    assert_int_equal(config->sources[0].start, AB_START_LATEST);
    assert_int_equal(one->routes[AB_SLOT_TOOL_RESULT].kind, AB_ROUTE_DEAD_LETTER);
    assert_int_equal(one->routes[AB_SLOT_APPROVAL].kind, AB_ROUTE_DROP);
    assert_string_equal(one->routes[AB_SLOT_UNKNOWN_VARIANT].topic, "future");
    assert_true(one->tombstone_drop);
    assert_false(one->key_mismatch_ignore);
    assert_true(one->null_key_dead_letter);
    assert_int_equal(one->partition_by, AB_PARTITION_SOURCE);
    assert_int_equal(one->max_value_bytes, 1024 * 1024);
    assert_int_equal(one->contract, AB_CONTRACT_TEA);
    const ab_source_t *two = &config->sources[1];
    assert_int_equal(two->line, 27);
    assert_int_equal(two->policy.contract, AB_CONTRACT_OPAQUE);
    assert_int_equal(two->start, AB_START_TIME);
    assert_int_equal(two->start_time_ms, 1769817600000);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(config->sources[i].policy.errors_topic, "bad");
        assert_string_equal(config->sources[i].policy.quarantine_topic, "kept");
        assert_int_equal(config->sources[i].policy.max_hops, 7);
    }
    ab_config_free(config);
}

static void test_config_quarantine_off_leaves_none(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(MINIMAL "errors: {quarantine: off}\n");
    assert_true(config->quarantine.off);
    assert_null(config->sources[0].policy.quarantine_topic);
    assert_string_equal(config->sources[0].policy.errors_topic, "in.errors");
    ab_config_free(config);
}

static void test_config_empty_sections_are_defaults(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(MINIMAL "delivery:\nconsumer:\nproducer: {}\nlog: ~\n");
    assert_int_equal(config->commit_records, 10000);
    assert_int_equal(config->log_level, AB_LEVEL_INFO);
    ab_config_free(config);
}

static void test_config_json_accepted(void **state)
{
    (void)state;
    ab_config_t *config = expect_config(
        "{\"kafka\":{\"bootstrap.servers\":\"b:1\"},\"group\":\"g\",\"lanes\":2,\n"
        "\t\"sources\":[{\"topic\":\"in\",\"routes\":{\"external_event\":\"a\",\"tool_result\":"
        "\"b\",\n"
        "\"approval\":\"c\",\"export_request\":\"d\"}}],\"delivery\":{\"source_header\":false}}");
    assert_int_equal(config->lanes, 2);
    assert_false(config->source_header);
    ab_config_free(config);
}

static void test_config_variables_expanded_in_any_value(void **state)
{
    (void)state;
    setenv("T_LANES", "3", 1);
    setenv("T_TOPIC", "bad", 1);
    ab_config_t *config =
        expect_config(MINIMAL "lanes: ${T_LANES}\n"
                              "errors: {topic: \"${T_TOPIC}.${T_NONE:-letters}\"}\n");
    assert_int_equal(config->lanes, 3);
    assert_string_equal(config->errors_topic, "bad.letters");
    ab_config_free(config);
    setenv("T_LANES", "3\ngroup: other", 1); /* text, not YAML */
    expect_findings(MINIMAL "lanes: ${T_LANES}\n",
                    "c:6:8: error: lanes: expected a whole number, found `3?group: other`\n");
}

static void test_config_empty_file_told_what_is_required(void **state)
{
    (void)state;
    expect_findings(
        "# nothing\n",
        "c: error: holds no configuration\n"
        "c: error: kafka.bootstrap.servers: required, and missing: expected host:port of "
        "a broker\n"
        "c: error: group: required, and missing\n"
        "c: error: sources: required, and missing: expected a list of topics to read\n");
}

static void test_config_every_mistake_reported_at_once(void **state)
{
    (void)state;
    unsetenv("T_UNSET");
    expect_findings(
        "kafka: {acks: all}\n"
        "lanes: 65\n"
        "sources:\n"
        "  - topic: a b\n"
        "    strat: latest\n"
        "    routes:\n"
        "      approval: answer\n"
        "      tool_result: ~\n"
        "delivery: {commit_interval: 5, guarantee: at_most_once}\n"
        "errors: off\n"
        "log: {level: '${T_UNSET}'}\n"
        "http: {listen: x}\n",
        "c:1:1: error: group: required, and missing\n"
        "c:1:8: error: kafka.bootstrap.servers: required, and missing: expected host:port of a "
        "broker\n"
        "c:1:9: error: kafka.acks: not for the file: the bridge always waits for all replicas\n"
        "c:2:8: error: lanes: expected 1 to 64, found `65`\n"
        "c:4:12: error: sources[0].topic: expected the name of a topic (1 to 249 letters, digits, "
        "dots, underscores or dashes), found `a b`\n"
        "c:5:5: error: sources[0].strat: no such key: expected `start`?\n"
        "c:7:7: error: sources[0].routes.external_event: required, and missing\n"
        "c:7:7: error: sources[0].routes.export_request: required, and missing\n"
        "c:7:17: error: sources[0].routes.approval: expected the name of a topic (1 to 249 "
        "letters, "
        "digits, dots, underscores or dashes), dead_letter or drop, found `answer`\n"
        "c:8:20: error: sources[0].routes.tool_result: expected a single value, found nothing\n"
        "c:9:29: error: delivery.commit_interval: expected a duration, a whole number with ms, s, "
        "m "
        "or h, such as 100ms, found `5`\n"
        "c:9:43: error: delivery.guarantee: expected exactly_once or at_least_once, found "
        "`at_most_once`\n"
        "c:10:9: error: errors: expected a mapping of keys, found a single value\n"
        "c:11:14: error: log.level: the environment variable T_UNSET is not set: set it, or write "
        "${T_UNSET:-default}\n"
        "c:12:16: error: http.listen: expected an IP address and a port from 1 to 65535, such as "
        "127.0.0.1:9465, 0.0.0.0:9465 or [::1]:9465, or off, found `x`\n");
}

static void test_config_unknown_keys_nearest_named(void **state)
{
    (void)state;
    expect_findings(MINIMAL "grup: x\n", "c:6:1: error: grup: no such key: expected `group`?\n");
    expect_findings(MINIMAL "max_hops: 3\n",
                    "c:6:1: error: max_hops: no such key here: expected it as `errors.max_hops`\n");
    expect_findings(MINIMAL "delivery: {commit-interval: 5ms}\n",
                    "c:6:12: error: delivery.commit-interval: no such key: expected "
                    "`commit_interval`?\n");
    expect_findings(MINIMAL "sasl.mechanisms: PLAIN\n",
                    "c:6:1: error: sasl.mechanisms: no such key: properties of librdkafka are "
                    "expected under `kafka`, `consumer` or `producer`\n");
    expect_findings(MINIMAL "log: {colour: true}\n",
                    "c:6:7: error: log.colour: no such key: expected one of format, level\n");
    expect_findings(MINIMAL "frobnicate: 1\n",
                    "c:6:1: error: frobnicate: no such key: expected one of kafka, consumer, "
                    "producer, group, instance, lanes, sources, delivery, errors, topics, memory, "
                    "health, http, shutdown, log, state, snapshots, limits\n");
    expect_findings(
        MINIMAL "    frobnicate: 1\n",
        "c:6:5: error: sources[0].frobnicate: no such key: expected one of topic, type, "
        "start, routes, on_tombstone, on_key_mismatch, on_null_key, partition, "
        "max_value, contract\n");
}

static void test_config_later_keys_refused_as_such(void **state)
{
    (void)state;
    expect_findings(MINIMAL "errors: {on_failure: skip}\n",
                    "c:6:22: error: errors.on_failure: expected block or stop, found `skip`\n");
}

static void test_config_wrong_shapes_named(void **state)
{
    (void)state;
    expect_findings("just words\n",
                    "c:1:1: error: expected a mapping of keys, found a single value\n"
                    "c:1:1: error: kafka.bootstrap.servers: required, and missing: "
                    "expected host:port of a broker\n"
                    "c:1:1: error: group: required, and missing\n"
                    "c:1:1: error: sources: required, and missing: expected a list "
                    "of topics to read\n");
    expect_findings(MINIMAL "lanes: [1]\n", "c:6:8: error: lanes: expected a single value, found a "
                                            "list: remove the key for its default\n");
    expect_findings(MINIMAL "log: {level: {}}\n",
                    "c:6:14: error: log.level: expected a single value, found a mapping of keys: "
                    "remove the key for its default\n");
    expect_findings(
        MINIMAL "instance:\n",
        "c:6:10: error: instance: expected a single value, found nothing: remove the key "
        "for its default\n");
    expect_findings(MINIMAL "consumer: 5\n", "c:6:11: error: consumer: expected a mapping of "
                                             "librdkafka's properties, found a single value\n");
    expect_findings(MINIMAL "memory: []\n",
                    "c:6:9: error: memory: expected a mapping of keys, found a list\n");
}

/* MINIMAL without its sources. */
#define HEAD "kafka: {bootstrap.servers: b}\ngroup: g\n"

static void test_config_sources_that_are_no_list_named(void **state)
{
    (void)state;
    expect_findings(HEAD "sources: []\n",
                    "c:3:10: error: sources: expected 1 to 256 sources, found 0\n");
    expect_findings(
        HEAD "sources: {topic: x}\n",
        "c:3:10: error: sources: expected a list of sources, found a mapping of keys\n");
    expect_findings(HEAD "sources: in\n",
                    "c:3:10: error: sources: expected a list of sources, found a single value\n");
    expect_findings(HEAD "sources: [in]\n",
                    "c:3:11: error: sources[0]: expected a mapping of keys, found a single value\n"
                    "c:3:11: error: sources[0].topic: required, and missing\n"
                    "c:3:11: error: sources[0].routes.external_event: required, and missing\n"
                    "c:3:11: error: sources[0].routes.tool_result: required, and missing\n"
                    "c:3:11: error: sources[0].routes.approval: required, and missing\n"
                    "c:3:11: error: sources[0].routes.export_request: required, and missing\n");
}

static void test_config_sources_at_the_limit(void **state)
{
    (void)state;
    for (size_t count = AB_CONFIG_SOURCES_MAX - 1; count <= AB_CONFIG_SOURCES_MAX + 1; count++) {
        char *text = NULL;
        size_t text_size;
        FILE *out = open_memstream(&text, &text_size);
        fputs(HEAD "sources:\n", out);
        for (size_t i = 0; i < count; i++) {
            fprintf(out,
                    "  - {topic: in%zu, routes: {external_event: o, tool_result: o, approval: o, "
                    "export_request: o}}\n",
                    i);
        }
        assert_int_equal(fclose(out), 0);
        if (count <= AB_CONFIG_SOURCES_MAX) {
            ab_config_t *config = expect_config(text);
            assert_int_equal(config->source_count, count);
            ab_config_free(config);
        } else {
            expect_findings(text, "c:4:3: error: sources: expected 1 to 256 sources, found 257\n");
        }
        free(text);
    }
}

static void test_config_properties_at_the_limit(void **state)
{
    (void)state;
    for (size_t count = AB_CONFIG_PROPERTIES_MAX - 1; count <= AB_CONFIG_PROPERTIES_MAX + 1;
         count++) {
        char *text = NULL;
        size_t text_size;
        FILE *out = open_memstream(&text, &text_size);
        fputs(MINIMAL "consumer:\n", out);
        for (size_t i = 0; i < count; i++) {
            fprintf(out, "  p%zu: x\n", i);
        }
        assert_int_equal(fclose(out), 0);
        if (count <= AB_CONFIG_PROPERTIES_MAX) {
            ab_config_t *config = expect_config(text);
            assert_int_equal(config->consumer.count, count);
            ab_config_free(config);
        } else {
            expect_findings(text, "c:7:3: error: consumer: more than 256 properties\n");
        }
        free(text);
    }
}

static void test_config_file_size_at_the_limit(void **state)
{
    (void)state;
    for (size_t size = AB_CONFIG_FILE_MAX - 1; size <= AB_CONFIG_FILE_MAX + 1; size++) {
        char *hashes = repeat_new('#', size - strlen(MINIMAL));
        char *text = text_new("%s%s", MINIMAL, hashes);
        if (size <= AB_CONFIG_FILE_MAX) {
            ab_config_free(expect_config(text));
        } else {
            expect_findings(text, "c: error: larger than 1048576 bytes, the most that is read\n");
        }
        free(text);
        free(hashes);
    }
}

static void test_config_owned_properties_refused_with_their_reason(void **state)
{
    (void)state;
    expect_findings(
        MINIMAL "consumer: {group.id: x, auto.offset.reset: earliest}\n"
                "producer: {enable.auto.x: y, dr_cb: z, bootstrap.servers: other}\n",
        "c:6:12: error: consumer.group.id: not for the file: it is the key `group`\n"
        "c:6:25: error: consumer.auto.offset.reset: not for the file: the key `start` of each "
        "source "
        "says where reading begins\n"
        "c:7:12: error: producer.enable.auto.x: not for the file: the bridge commits offsets "
        "itself, "
        "with the outputs they belong to\n"
        "c:7:30: error: producer.dr_cb: not for the file: callbacks are not set from a file\n"
        "c:7:40: error: producer.bootstrap.servers: write it under `kafka`: all clients use one "
        "cluster\n");
}

static void test_config_property_shapes_named(void **state)
{
    (void)state;
    expect_findings(
        "kafka:\n"
        "  bootstrap.servers: ''\n"
        "  debug: [a]\n"
        "  client.id:\n"
        "  sasl.password:hunter2: x\n"
        "group: g\n"
        "sources: [{topic: in, routes: {external_event: o, tool_result: o, approval: o, "
        "export_request: o}}]\n",
        "c:2:22: error: kafka.bootstrap.servers: expected host:port of a broker, found "
        "nothing\n"
        "c:3:10: error: kafka.debug: expected a single value, found a list\n"
        "c:4:13: error: kafka.client.id: expected a single value, found nothing\n"
        "c:5:3: error: kafka.sasl.password: no name of a property: expected `name: "
        "value`, with a blank behind the colon\n");
}

/* No message repeats what stands under kafka, consumer and producer, whatever is wrong with it. */
static void test_config_secrets_never_in_a_message(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "kafka: {bootstrap.servers: b, sasl.password:hunter2}\n",
        "kafka: {bootstrap.servers: b, \"sasl.password=hunter2\": x}\n",
        "kafka: {bootstrap.servers: b, sasl.password: [hunter2]}\n",
        "kafka: {bootstrap.servers: b, sasl.password: {hunter2: hunter2}}\n",
        "kafka: {bootstrap.servers: b, sasl.password: &hunter2 hunter2}\n",
        "kafka: {bootstrap.servers: b, sasl.password: *hunter2}\n",
        "kafka: {bootstrap.servers: b, sasl.password: !hunter2 hunter2}\n",
        "kafka: {bootstrap.servers: b, sasl.password: hunter2, sasl.password: hunter2}\n",
        "kafka: {bootstrap.servers: b, sasl.password: 'hunter2$'}\n",
        "kafka: {bootstrap.servers: b, sasl.password: '${hunter2'}\n",
        "kafka: {bootstrap.servers: b, sasl.password: '${x hunter2}'}\n",
        "kafka: {bootstrap.servers: b, sasl.password: \"hunter2\\0\"}\n",
        "kafka: {bootstrap.servers: b, sasl.password: 'file:hunter2'}\n",
        "kafka: {bootstrap.servers: b, sasl.password: 'env:hunter2 x'}\n",
        "kafka: {bootstrap.servers: b, acks: hunter2}\n",
        "kafka: hunter2\n",
        "kafka: [hunter2]\n",
        "kafka:\n  bootstrap.servers: b\n  sasl.password:hunter2\n  x: y\n",
        "kafka:\n  bootstrap.servers: b\n  sasl.password: 'hunter2\n",
        "kafka:\n  bootstrap.servers: b\n  sasl.password: @hunter2\n",
        "kafka:\n  bootstrap.servers: b\nsasl.password: hunter2\n",
        "kafka:\n  bootstrap.servers: b\n  sasl.password: hunter2\n",
        "{kafka: {bootstrap.servers: b}, sasl.password:hunter2}\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ab_findings_t findings;
        ab_config_t *config = ab_config_parse("c", texts[i], strlen(texts[i]), NULL, &findings);
        assert_null(config);
        char *found = findings_text_new(&findings);
        if (strstr(found, "hunter2") != NULL) {
            fail_msg("%s\n%s", texts[i], found);
        }
        free(found);
    }
}

static void test_config_secret_from_outside_kept_and_unsaid(void **state)
{
    (void)state;
    char *path = temporary_file_new("hunter2\n", 8);
    setenv("T_SECRET", "hunter3", 1);
    char *text = text_new(MINIMAL "consumer: {sasl.password: 'file:%s', ssl.key.password: "
                                  "env:T_SECRET, ssl.keystore.password: 'x${T_SECRET}'}\n",
                          path);
    ab_config_t *config = expect_config(text);
    assert_string_equal(config->consumer.items[0].value, "hunter2");
    assert_string_equal(config->consumer.items[1].value, "hunter3");
    assert_string_equal(config->consumer.items[2].value, "xhunter3");
    ab_config_free(config);
    unlink(path);
    unsetenv("T_SECRET");
    free(text);
    free(path);
}

static void test_config_secret_in_the_file_warned_about(void **state)
{
    (void)state;
    expect_findings(MINIMAL "producer: {sasl.password: hunter2, sasl.username: me}\n",
                    "c:6:27: warning: producer.sasl.password: a secret written into the file: "
                    "`file:/path` and `env:NAME` keep it out\n");
}

static int note_check(const ab_config_t *config, ab_findings_t *findings)
{
    assert_int_equal(config->kafka.count, 1);
    ab_findings_add(findings, false, config->kafka.items[0].line, "kafka.x", "from the check");
    return 0;
}

static int fail_check(const ab_config_t *config, ab_findings_t *findings)
{
    (void)config;
    (void)findings;
    return -1;
}

static void test_config_check_called_next_to_other_mistakes(void **state)
{
    (void)state;
    ab_findings_t findings;
    const char *text = MINIMAL "lanes: 0\n";
    assert_null(ab_config_parse("c", text, strlen(text), note_check, &findings));
    char *found = findings_text_new(&findings);
    assert_string_equal(found, "c:1: error: kafka.x: from the check\n"
                               "c:6:8: error: lanes: expected 1 to 64, found `0`\n");
    free(found);
    assert_null(ab_config_parse("c", MINIMAL, strlen(MINIMAL), fail_check, &findings));
    found = findings_text_new(&findings);
    assert_string_equal(found, "c: error: out of memory\n");
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_minimal_defaults_set),
        cmocka_unit_test(test_config_minimal_source_defaults_set),
        cmocka_unit_test(test_config_every_key_written_stored),
        cmocka_unit_test(test_config_every_source_key_written_stored),
        cmocka_unit_test(test_config_quarantine_off_leaves_none),
        cmocka_unit_test(test_config_empty_sections_are_defaults),
        cmocka_unit_test(test_config_json_accepted),
        cmocka_unit_test(test_config_variables_expanded_in_any_value),
        cmocka_unit_test(test_config_empty_file_told_what_is_required),
        cmocka_unit_test(test_config_every_mistake_reported_at_once),
        cmocka_unit_test(test_config_unknown_keys_nearest_named),
        cmocka_unit_test(test_config_later_keys_refused_as_such),
        cmocka_unit_test(test_config_wrong_shapes_named),
        cmocka_unit_test(test_config_sources_that_are_no_list_named),
        cmocka_unit_test(test_config_sources_at_the_limit),
        cmocka_unit_test(test_config_properties_at_the_limit),
        cmocka_unit_test(test_config_file_size_at_the_limit),
        cmocka_unit_test(test_config_owned_properties_refused_with_their_reason),
        cmocka_unit_test(test_config_property_shapes_named),
        cmocka_unit_test(test_config_secrets_never_in_a_message),
        cmocka_unit_test(test_config_secret_from_outside_kept_and_unsaid),
        cmocka_unit_test(test_config_secret_in_the_file_warned_about),
        cmocka_unit_test(test_config_check_called_next_to_other_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
