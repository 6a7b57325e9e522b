#include "bridge/kafka/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/kafka/embedded.h"
#include "bridge/kafka/embedded_client.h"

static void assert_principal(ab_property_t *items, size_t count, const char *expected)
{
    const ab_config_t config = {.kafka = {items, count}};
    char text[AB_PRINCIPAL_MAX] = "";
    ab_principal_text(&config, text);
    assert_string_equal(text, expected);
}

static void test_principal_each_login_is_named_or_described(void **state)
{
    ab_property_t plain[] = {{"sasl.username", "u", 1, 1, false}};
    ab_property_t named[] = {{"security.protocol", "SASL_SSL", 1, 1, false},
                             {"sasl.username", "u", 1, 1, false}};
    ab_property_t hidden[] = {{"security.protocol", "sasl_plaintext", 1, 1, false},
                              {"sasl.username", "hidden-name", 1, 1, true}};
    ab_property_t token[] = {{"security.protocol", "sasl_ssl", 1, 1, false}};
    ab_property_t certificate[] = {{"security.protocol", "ssl", 1, 1, false},
                                   {"ssl.keystore.location", "k", 1, 1, false}};
    (void)state;
    assert_principal(NULL, 0, "User:ANONYMOUS");
    assert_principal(plain, 1, "User:ANONYMOUS");
    assert_principal(named, 2, "User:u");
    assert_principal(hidden, 2, "the user that sasl.username names");
    assert_principal(token, 1, "the login of the sasl properties");
    assert_principal(certificate, 2, "the subject of the client's certificate");
    assert_principal(certificate, 1, "User:ANONYMOUS");
}

static void test_rights_by_name_are_those_of_kafkas_acls(void **state)
{
    const ab_config_t config = {.group = "g"};
    const ab_topic_t source = {.name = "in", .source = true};
    const ab_topic_t output = {.name = "out", .output = true};
    char prefix[AB_CONFIG_TOPIC_MAX + 2];
    (void)state;
    const ab_right_t ids = ab_right_of_transactions(&config, prefix);
    assert_string_equal(ids.operation, "Write");
    assert_string_equal(ids.resource_type, "TransactionalId");
    assert_string_equal(ids.resource, "g.");
    assert_true(ids.prefixed);
    assert_string_equal(ab_right_of_group(&config).resource, "g");
    assert_string_equal(ab_right_of_group(&config).operation, "Read");
    assert_string_equal(ab_right_of_topic(&source).operation, "Read");
    assert_string_equal(ab_right_of_topic(&output).operation, "Write");
}

typedef struct answers {
    size_t counts[3];
} answers_t;

static void on_right(void *opaque, const ab_right_t *right)
{
    answers_t *answers = opaque;
    answers->counts[right->answer]++;
}

/* librdkafka's mock does not refuse what Kafka refuses: it would take the record that asks for
 * Write. So it must not be sent one. */
static void test_ask_brokers_that_refuse_nothing_are_sent_no_record(void **state)
{
    char text[AB_EMBEDDED_TEXT_MAX] = "";
    ab_embedded_t *embedded = ab_embedded_new(1, text);
    (void)state;
    assert_non_null(embedded);
    assert_int_equal(ab_embedded_add_topic(embedded, "in", 2, text), 0);
    assert_int_equal(ab_embedded_add_topic(embedded, "out", 2, text), 0);
    ab_property_t items[] = {
        {"bootstrap.servers", ab_embedded_bootstrap_view(embedded), 1, 1, false}};
    const ab_config_t config = {.kafka = {items, 1}, .group = "g", .instance = "i"};
    const ab_topic_t topics[] = {{.name = "in", .source = true, .partitions = 2},
                                 {.name = "out", .output = true, .partitions = 2},
                                 {.name = "gone", .output = true, .partitions = 0}};
    answers_t answers = {{0}};
    assert_int_equal(ab_rights_ask(&config, topics, 3,
                                   AB_RIGHTS_TRANSACTIONS | AB_RIGHTS_GROUP | AB_RIGHTS_TOPICS,
                                   10000, on_right, &answers),
                     0);
    assert_int_equal(answers.counts[AB_RIGHT_GRANTED], 3); /* ids, group, in */
    assert_int_equal(answers.counts[AB_RIGHT_UNKNOWN], 1); /* out */
    assert_int_equal(answers.counts[AB_RIGHT_MISSING], 0);
    ab_client_t *client = ab_client_new(ab_embedded_bootstrap_view(embedded), text);
    assert_non_null(client);
    ab_records_t *records;
    size_t count = 1;
    assert_int_equal(ab_client_read(client, "out", 10000, &records), 0);
    (void)ab_records_view(records, &count);
    assert_int_equal(count, 0);
    ab_records_free(records);
    ab_client_free(client);
    ab_embedded_free(embedded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_principal_each_login_is_named_or_described),
        cmocka_unit_test(test_rights_by_name_are_those_of_kafkas_acls),
        cmocka_unit_test(test_ask_brokers_that_refuse_nothing_are_sent_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
