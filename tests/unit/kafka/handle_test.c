#include "bridge/kafka/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/kafka/properties.h"

static char servers_name[] = "bootstrap.servers";
static char servers[] = "127.0.0.1:1";
static char password_name[] = "sasl.password";
static char linger_name[] = "linger.ms";
static char lingering_name[] = "lingering.ms";
static char protocol_name[] = "security.protocol";
static char protocol[] = "ssl";
static char ca_name[] = "ssl.ca.location";
static char ca[] = "/nonexistent/ca.pem";
static char secret[] = "hunter2-secret";
static ab_property_t kafka_items[] = {{servers_name, servers, 2, 1, false},
                                      {password_name, secret, 3, 1, true}};
static ab_property_t bad_items[] = {{linger_name, secret, 7, 1, false}};
static ab_property_t unknown_items[] = {{lingering_name, secret, 8, 1, false}};
static char group[] = "g";
static char instance[] = "host";

static ab_config_t a_config(void)
{
    return (ab_config_t){
        .kafka = {kafka_items, 2},
        .group = group,
        .instance = instance,
        .transaction_timeout_ms = 15000,
        .memory_per_lane_bytes = 8u << 20,
    };
}

static void assert_property(rd_kafka_conf_t *conf, const char *name, const char *expected)
{
    char value[512];
    size_t size = sizeof(value);
    assert_int_equal(rd_kafka_conf_get(conf, name, value, &size), RD_KAFKA_CONF_OK);
    assert_string_equal(value, expected);
}

/* Whatever the relay's guarantee is, and the same id for every job of a group. */
static void test_producer_of_a_redrive_job_is_transactional_under_the_groups_one_id(void **state)
{
    (void)state;
    ab_config_t config = a_config();
    config.guarantee = AB_AT_LEAST_ONCE;
    const ab_handle_spec_t spec = {.role = AB_ROLE_PRODUCER,
                                   .job = "20261201-011500-1c4f07aa",
                                   .message_max_bytes = 2000000,
                                   .batch_bytes = 200000};
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property;
    rd_kafka_conf_t *conf = ab_handle_conf_new(&config, &spec, text, &property);
    assert_non_null(conf);
    assert_property(conf, "transactional.id", "g.redrive");
    assert_property(conf, "client.id", "agent-bridge.redrive.20261201-011500-1c4f07aa");
    rd_kafka_conf_destroy(conf);
}

static void test_producer_identity_and_limits_are_the_bridges(void **state)
{
    (void)state;
    const ab_config_t config = a_config();
    const ab_handle_spec_t spec = {
        .role = AB_ROLE_PRODUCER, .lane = 3, .message_max_bytes = 2000000, .batch_bytes = 200000};
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property;
    rd_kafka_conf_t *conf = ab_handle_conf_new(&config, &spec, text, &property);
    assert_non_null(conf);
    assert_property(conf, "transactional.id", "g.host.3");
    assert_property(conf, "transaction.timeout.ms", "15000");
    assert_property(conf, "message.max.bytes", "2000000");
    assert_property(conf, "batch.size", "200000");
    assert_property(conf, "enable.idempotence", "true");
    assert_property(conf, "allow.auto.create.topics", "false");
    assert_property(conf, "socket.nagle.disable", "true");
    rd_kafka_conf_destroy(conf);
}

static void test_producer_limits_outside_librdkafkas_range_are_clamped(void **state)
{
    (void)state;
    const ab_config_t config = a_config();
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property;
    const ab_handle_spec_t low = {
        .role = AB_ROLE_PRODUCER, .message_max_bytes = 1, .batch_bytes = 1};
    rd_kafka_conf_t *conf = ab_handle_conf_new(&config, &low, text, &property);
    assert_non_null(conf);
    assert_property(conf, "message.max.bytes", "1000");
    rd_kafka_conf_destroy(conf);
    const ab_handle_spec_t high = {
        .role = AB_ROLE_PRODUCER, .message_max_bytes = INT32_MAX, .batch_bytes = INT32_MAX};
    conf = ab_handle_conf_new(&config, &high, text, &property);
    assert_non_null(conf);
    assert_property(conf, "message.max.bytes", "1000000000");
    rd_kafka_conf_destroy(conf);
}

static void test_consumer_never_trusts_the_librarys_offsets(void **state)
{
    (void)state;
    ab_config_t config = a_config();
    const ab_handle_spec_t spec = {.role = AB_ROLE_CONSUMER, .lane = 1};
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property;
    rd_kafka_conf_t *conf = ab_handle_conf_new(&config, &spec, text, &property);
    assert_non_null(conf);
    assert_property(conf, "group.id", "g");
    assert_property(conf, "isolation.level", "read_committed");
    assert_property(conf, "enable.auto.commit", "false");
    assert_property(conf, "enable.auto.offset.store", "false");
    assert_property(conf, "auto.offset.reset", "error");
    assert_property(conf, "partition.assignment.strategy", "cooperative-sticky");
    assert_property(conf, "queued.max.messages.kbytes", "8192"); /* within memory.per_lane */
    char member[64];
    size_t size = sizeof(member); /* unset: librdkafka says "unknown" */
    assert_int_equal(rd_kafka_conf_get(conf, "group.instance.id", member, &size),
                     RD_KAFKA_CONF_UNKNOWN);
    rd_kafka_conf_destroy(conf);
    config.instance_set = true;
    conf = ab_handle_conf_new(&config, &spec, text, &property);
    assert_property(conf, "group.instance.id", "host.1");
    rd_kafka_conf_destroy(conf);
}

static void test_refused_value_is_named_and_never_repeated(void **state)
{
    (void)state;
    ab_config_t config = a_config();
    config.producer = (ab_properties_t){bad_items, 1};
    const ab_handle_spec_t spec = {
        .role = AB_ROLE_PRODUCER, .message_max_bytes = 1000000, .batch_bytes = 1000000};
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property = NULL;
    assert_null(ab_handle_conf_new(&config, &spec, text, &property));
    assert_ptr_equal(property, &bad_items[0]);
    assert_true(text[0] != '\0');
    assert_null(strstr(text, "hunter2"));
}

static void test_check_each_mistake_has_its_line_and_no_value(void **state)
{
    (void)state;
    ab_config_t config = a_config();
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    assert_non_null(findings);
    config.consumer = (ab_properties_t){unknown_items, 1};
    config.producer = (ab_properties_t){bad_items, 1};
    assert_int_equal(ab_kafka_check_properties(&config, findings), 0);
    assert_int_equal(findings->mistakes, 2);
    assert_int_equal(findings->items[0].line, 8);
    assert_string_equal(findings->items[0].key, "consumer.lingering.ms");
    assert_int_equal(findings->items[1].line, 7);
    assert_string_equal(findings->items[1].key, "producer.linger.ms");
    for (size_t i = 0; i < findings->count; i++) {
        assert_null(strstr(findings->items[i].message, "hunter2"));
    }
    free(findings);
}

static void test_check_good_properties_and_a_missing_ca_file(void **state)
{
    (void)state;
    static ab_property_t tls[] = {{protocol_name, protocol, 4, 1, false},
                                  {ca_name, ca, 5, 1, false}};
    ab_config_t config = a_config();
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    assert_non_null(findings);
    assert_int_equal(ab_kafka_check_properties(&config, findings), 0);
    assert_int_equal(findings->mistakes, 0);
    config.consumer = (ab_properties_t){tls, 2};
    assert_int_equal(ab_kafka_check_properties(&config, findings), 0);
    assert_int_equal(findings->mistakes, 1);
    assert_string_equal(findings->items[0].key, "consumer.ssl.ca.location");
    assert_int_equal(findings->items[0].line, 5);
    assert_non_null(strstr(findings->items[0].message, "No such file"));
    assert_null(strstr(findings->items[0].message, "hunter2"));
    free(findings);
}

static void test_reader_is_in_no_group_and_bounded(void **state)
{
    (void)state;
    ab_config_t config = a_config();
    config.instance_set = true;
    ab_handle_spec_t spec = {.role = AB_ROLE_READER, .prefetch_bytes = 4u << 20};
    char text[AB_HANDLE_TEXT_MAX] = "";
    const ab_property_t *property;
    for (int uncommitted = 0; uncommitted < 2; uncommitted++) {
        spec.uncommitted = uncommitted == 1;
        rd_kafka_conf_t *conf = ab_handle_conf_new(&config, &spec, text, &property);
        assert_non_null(conf);
        char member[64];
        size_t size = sizeof(member);
        assert_int_equal(rd_kafka_conf_get(conf, "group.instance.id", member, &size),
                         RD_KAFKA_CONF_UNKNOWN);
        assert_property(conf, "isolation.level",
                        uncommitted ? "read_uncommitted" : "read_committed");
        assert_property(conf, "queued.max.messages.kbytes", "4096");
        assert_property(conf, "enable.auto.commit", "false");
        rd_kafka_conf_destroy(conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_producer_of_a_redrive_job_is_transactional_under_the_groups_one_id),
        cmocka_unit_test(test_producer_identity_and_limits_are_the_bridges),
        cmocka_unit_test(test_producer_limits_outside_librdkafkas_range_are_clamped),
        cmocka_unit_test(test_consumer_never_trusts_the_librarys_offsets),
        cmocka_unit_test(test_reader_is_in_no_group_and_bounded),
        cmocka_unit_test(test_refused_value_is_named_and_never_repeated),
        cmocka_unit_test(test_check_each_mistake_has_its_line_and_no_value),
        cmocka_unit_test(test_check_good_properties_and_a_missing_ca_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
