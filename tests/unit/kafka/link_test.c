#include "bridge/kafka/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CERTIFICATE_FAILED                                                                         \
    "ssl://b:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify "  \
    "failed: broker certificate could not be verified (after 9ms in state SSL_HANDSHAKE)"

static ab_property_t items[] = {{"bootstrap.servers", "b:1", 1, 1, false},
                                {"sasl.mechanism", "SCRAM-SHA-512", 2, 1, false}};
static ab_config_t config = {.kafka = {items, 2}};

typedef struct told {
    unsigned count;
    ab_level_t level;
    char event[40];
    char message[AB_LINK_TEXT_MAX];
} told_t;

static void on_event(void *opaque, ab_level_t level, const char *event, const char *message,
                     const ab_field_t *fields, unsigned count)
{
    told_t *told = opaque;
    (void)fields;
    assert_int_equal(count, 0);
    told->count++;
    told->level = level;
    snprintf(told->event, sizeof(told->event), "%s", event);
    snprintf(told->message, sizeof(told->message), "%s", message);
}

static void assert_says(ab_link_t *link, ab_link_trouble_t trouble, const char *part)
{
    char text[AB_LINK_TEXT_MAX] = "";
    assert_int_equal(ab_link_explain(link, text), trouble);
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}

static void test_note_errors_each_is_told_by_what_it_is(void **state)
{
    static const struct {
        int err;
        const char *reason;
        ab_link_trouble_t trouble;
        const char *says;
    } rows[] = {
        {RD_KAFKA_RESP_ERR__AUTHENTICATION, "x: SASL authentication error", AB_LINK_LOGIN_REFUSED,
         "check sasl.username, sasl.password and sasl.mechanism"},
        {RD_KAFKA_RESP_ERR__SSL,
         "x: SSL handshake failed: error:0A00010B:SSL routines::wrong version number",
         AB_LINK_TLS_FAILED, "does not speak TLS"},
        {RD_KAFKA_RESP_ERR__TRANSPORT,
         "x: error:0A00045C:SSL routines::tlsv13 alert certificate required", AB_LINK_TLS_FAILED,
         "wants a certificate of this client"},
        {RD_KAFKA_RESP_ERR__SSL,
         "x: SSL handshake failed: error:0A000126:SSL routines::unexpected eof while reading",
         AB_LINK_UNREACHABLE, "check security.protocol and the port"},
        {RD_KAFKA_RESP_ERR__TRANSPORT, "x: Connect to ipv4#127.0.0.1:1 failed: Connection refused",
         AB_LINK_UNREACHABLE, "Connection refused)"},
        {RD_KAFKA_RESP_ERR__RESOLVE, "x: Failed to resolve 'h:1'", AB_LINK_UNREACHABLE,
         "check bootstrap.servers"},
        {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down", AB_LINK_UNREACHABLE,
         "no broker answers"},
        {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, "x", AB_LINK_FINE, "no broker answers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ab_link_t link;
        ab_link_init(&link, &config);
        assert_int_equal(ab_link_note(&link, rows[i].err, rows[i].reason), rows[i].trouble);
        assert_int_equal(ab_link_now(&link), rows[i].trouble);
        assert_says(&link, rows[i].trouble, rows[i].says);
        ab_link_clear(&link);
    }
}

static void test_note_several_the_most_telling_stays(void **state)
{
    ab_link_t link;
    (void)state;
    ab_link_init(&link, &config);
    ab_link_note(&link, RD_KAFKA_RESP_ERR__AUTHENTICATION,
                 "x: refused (after 3ms in state AUTH_REQ)");
    ab_link_note(&link, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");
    ab_link_note(&link, RD_KAFKA_RESP_ERR__TRANSPORT, "y: Connection refused");
    ab_link_hear(&link, "FAIL", "[thrd:z]: z: Disconnected");
    assert_says(&link, AB_LINK_LOGIN_REFUSED, "(x: refused)");
    ab_link_works(&link);
    assert_int_equal(ab_link_now(&link), AB_LINK_FINE);
    ab_link_hear(&link, "BROKERFAIL", "[thrd:z]: z: Disconnected");
    assert_int_equal(ab_link_now(&link), AB_LINK_FINE);
    ab_link_hear(&link, "FAIL", "[thrd:z]: z: Disconnected (after 1ms in state UP)");
    assert_says(&link, AB_LINK_UNREACHABLE, "(z: Disconnected)");
    ab_link_clear(&link);
}

static void test_certificate_refused_ones_are_explained_and_never_let_through(void **state)
{
    static const struct {
        int x509_error;
        const char *says;
    } rows[] = {
        {18, "set ssl.ca.location"},      {19, "set ssl.ca.location"},
        {20, "set ssl.ca.location"},      {62, "is for another host name"},
        {64, "is for another host name"}, {10, "has expired"},
        {9, "is not valid yet"},          {23, "is refused"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ab_link_t link;
        ab_link_init(&link, &config);
        assert_int_equal(ab_link_certificate(&link, "b:1", 0), 1);
        assert_int_equal(ab_link_certificate(&link, "b:1", rows[i].x509_error), 0);
        ab_link_note(&link, RD_KAFKA_RESP_ERR__SSL, CERTIFICATE_FAILED);
        assert_says(&link, AB_LINK_TLS_FAILED, rows[i].says);
        assert_says(&link, AB_LINK_TLS_FAILED, "the certificate of b:1 ");
        ab_link_clear(&link);
    }
}

static void test_explain_scram_on_an_old_library_names_the_version(void **state)
{
    ab_link_t link;
    char text[AB_LINK_TEXT_MAX];
    (void)state;
    ab_link_init(&link, &config);
    ab_link_note(&link, RD_KAFKA_RESP_ERR__AUTHENTICATION, "x: refused");
    assert_int_equal(ab_link_explain(&link, text), AB_LINK_LOGIN_REFUSED);
    assert_int_equal(strstr(text, "2.6.1") != NULL, rd_kafka_version() < AB_SCRAM_RIGHT_SINCE);
    items[1].value = "PLAIN";
    assert_int_equal(ab_link_explain(&link, text), AB_LINK_LOGIN_REFUSED);
    assert_null(strstr(text, "2.6.1"));
    items[1].value = "SCRAM-SHA-512";
    ab_link_clear(&link);
}

static void test_tell_a_storm_of_all_clients_is_one_line(void **state)
{
    told_t told = {0};
    const ab_sink_t sink = {on_event, &told};
    ab_link_t link;
    (void)state;
    ab_link_init(&link, &config);
    for (int i = 0; i < 100; i++) {
        ab_link_note(&link, RD_KAFKA_RESP_ERR__AUTHENTICATION, "x: refused");
        ab_link_tell(&link, &sink);
    }
    assert_int_equal(told.count, 1);
    assert_int_equal(told.level, AB_LEVEL_ERROR);
    assert_string_equal(told.event, "login_refused");
    assert_non_null(strstr(told.message, "check sasl.username"));
    link.said_ms -= 10000; /* ten seconds later */
    ab_link_tell(&link, &sink);
    assert_int_equal(told.count, 2);
    ab_link_clear(&link);
}

static void test_log_level_what_callbacks_tell_is_for_debugging(void **state)
{
    (void)state;
    assert_int_equal(ab_link_log_level(3, "FAIL"), AB_LEVEL_DEBUG);
    assert_int_equal(ab_link_log_level(3, "SSLCERTVRFY"), AB_LEVEL_DEBUG);
    assert_int_equal(ab_link_log_level(4, "CONFWARN"), AB_LEVEL_WARNING);
    assert_int_equal(ab_link_log_level(5, "CONFWARN"), AB_LEVEL_DEBUG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_note_errors_each_is_told_by_what_it_is),
        cmocka_unit_test(test_note_several_the_most_telling_stays),
        cmocka_unit_test(test_certificate_refused_ones_are_explained_and_never_let_through),
        cmocka_unit_test(test_explain_scram_on_an_old_library_names_the_version),
        cmocka_unit_test(test_tell_a_storm_of_all_clients_is_one_line),
        cmocka_unit_test(test_log_level_what_callbacks_tell_is_for_debugging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
