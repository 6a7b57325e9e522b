#include "bridge/kafka/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "bridge/kafka/check_facts.h"
#include "bridge/kafka/check_judge.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/link.h"
#include "bridge/kafka/rights.h"

/* Longest text of a row, NUL included. */
#define TEXT_MAX 1024
#define ROUND_MS 1000
#define CALL_MS  5000
/* Rounds in a row that a login or a certificate must end before it is believed. */
#define REFUSALS_MAX 2u

_Static_assert(sizeof(((ab_check_report_t *)0)->principal) >= AB_PRINCIPAL_MAX, "a principal fits");

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the report ---- */

static ab_check_row_t *new_row(ab_check_report_t *report)
{
    if (report->count == report->room) {
        const size_t room = report->room == 0 ? 32 : report->room * 2;
        ab_check_row_t *rows = realloc(report->rows, room * sizeof(*rows));
        if (rows == NULL) {
            return NULL;
        }
        report->rows = rows;
        report->room = room;
    }
    return &report->rows[report->count];
}

ab_check_row_t *ab_check_add(ab_check_report_t *report, ab_check_state_t state, const char *check,
                             const char *subject, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    ab_check_row_t *row = new_row(report);
    if (row != NULL) {
        *row = (ab_check_row_t){
            .state = state, .check = check, .subject = strdup(subject), .text = strdup(text)};
    }
    if (row == NULL || row->subject == NULL || row->text == NULL) {
        if (row != NULL) {
            free(row->subject);
            free(row->text);
        }
        report->incomplete = true;
        return NULL;
    }
    report->count++;
    report->counts[state]++;
    return row;
}

void ab_check_free(ab_check_report_t *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->count; i++) {
        free(report->rows[i].subject);
        free(report->rows[i].text);
    }
    free(report->rows);
    free(report);
}

/* ---- the probe ---- */

static rd_kafka_t *make_probe(const ab_config_t *config, ab_link_t *link)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    const ab_handle_spec_t spec = {.role = AB_ROLE_PROBE};
    rd_kafka_conf_t *conf = ab_handle_conf_new(config, &spec, text, &property);
    if (conf == NULL) {
        return NULL;
    }
    ab_link_attach(link, conf); /* the rows say what came of it */
    rd_kafka_t *probe = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    if (probe == NULL) {
        rd_kafka_conf_destroy(conf);
    }
    return probe;
}

/* ---- the connection ---- */

/* The value of a property for people; a default where it is not written, "set" where it is not to
 * be shown. */
static const char *shown(const ab_config_t *config, const char *name, const char *fallback)
{
    const ab_property_t *property = ab_property_find(&config->kafka, name);
    return property == NULL ? fallback : property->indirect ? "set elsewhere" : property->value;
}

static bool has_value(const ab_config_t *config, const char *name, const char *value)
{
    const ab_property_t *property = ab_property_find(&config->kafka, name);
    return property != NULL && strcasecmp(property->value, value) == 0;
}

static void say_library(const ab_config_t *config, ab_check_report_t *report)
{
    const bool scram = has_value(config, "sasl.mechanism", "SCRAM-SHA-256") ||
                       has_value(config, "sasl.mechanism", "SCRAM-SHA-512") ||
                       has_value(config, "sasl.mechanisms", "SCRAM-SHA-256") ||
                       has_value(config, "sasl.mechanisms", "SCRAM-SHA-512");
    ab_check_add(report, AB_CHECK_OK, "library", "librdkafka", "%s%s", rd_kafka_version_str(),
                 scram && rd_kafka_version() < AB_SCRAM_RIGHT_SINCE
                     ? "; it can log in with SCRAM before Kafka 4 only, 2.6.1 and later can at both"
                     : "");
}

static void say_connection(const ab_config_t *config, ab_check_report_t *report)
{
    const char *servers = shown(config, "bootstrap.servers", "");
    ab_check_add(report, AB_CHECK_OK, "connection", servers, "%s, as %s",
                 shown(config, "security.protocol", "plaintext"), report->principal);
    if (has_value(config, "security.protocol", "sasl_plaintext")) {
        ab_check_add(report, AB_CHECK_WARNING, "connection", servers,
                     "security.protocol is sasl_plaintext: the login and all records cross the "
                     "network unencrypted; use sasl_ssl");
    }
    if (has_value(config, "enable.ssl.certificate.verification", "false")) {
        ab_check_add(report, AB_CHECK_WARNING, "connection", servers,
                     "enable.ssl.certificate.verification is false: whoever answers is taken for "
                     "the broker; set ssl.ca.location instead");
    }
    if (has_value(config, "ssl.endpoint.identification.algorithm", "none")) {
        ab_check_add(report, AB_CHECK_WARNING, "connection", servers,
                     "ssl.endpoint.identification.algorithm is none: any host with a certificate "
                     "of the CA is taken for the broker; remove it for its default, https");
    }
}

static void say_no_connection(const ab_config_t *config, ab_link_t *link, ab_check_report_t *report)
{
    char text[AB_LINK_TEXT_MAX];
    const ab_link_trouble_t trouble = ab_link_explain(link, text);
    const char *check = trouble == AB_LINK_LOGIN_REFUSED ? "login"
                        : trouble == AB_LINK_TLS_FAILED  ? "tls"
                                                         : "connection";
    ab_check_add(report, AB_CHECK_ERROR, check, shown(config, "bootstrap.servers", ""), "%s", text);
    report->outcome = trouble > AB_LINK_UNREACHABLE ? AB_CHECK_REFUSED : AB_CHECK_UNREACHABLE;
}

/* Asks for one topic until a broker answers, the time is over, or login or certificate were refused
 * often enough. */
static bool connect_to(ab_check_facts_t *facts, rd_kafka_t *probe, ab_link_t *link, int timeout_ms)
{
    const int64_t until = now_ms() + timeout_ms;
    unsigned refusals = 0;
    while (refusals < REFUSALS_MAX) {
        const int64_t left = until - now_ms();
        if (left <= 0) {
            return false;
        }
        if (ab_check_ask_topic(facts, 0, probe, left < ROUND_MS ? (int)left : ROUND_MS) !=
            AB_TOPIC_UNREACHABLE) {
            return true;
        }
        rd_kafka_poll(probe, 0);
        refusals = ab_link_now(link) > AB_LINK_UNREACHABLE ? refusals + 1 : 0;
    }
    return false;
}

/* ---- rights ---- */

typedef struct rights {
    ab_check_report_t *report;
    size_t granted;
} rights_t;

static void on_right(void *opaque, const ab_right_t *right)
{
    rights_t *rights = opaque;
    ab_check_row_t *row = NULL;
    switch (right->answer) {
    case AB_RIGHT_GRANTED:
        rights->granted++;
        return;
    case AB_RIGHT_MISSING:
        row = ab_check_add(rights->report, AB_CHECK_ERROR, "acl", right->resource,
                           "%s lacks %s on %s %s%s; allow it", rights->report->principal,
                           right->operation, right->resource_type, right->resource,
                           right->prefixed ? " (prefixed)" : "");
        break;
    case AB_RIGHT_UNKNOWN:
    default:
        row = ab_check_add(rights->report, AB_CHECK_UNKNOWN, "acl", right->resource,
                           "whether %s has %s on %s %s%s could not be found out (%s)",
                           rights->report->principal, right->operation, right->resource_type,
                           right->resource, right->prefixed ? " (prefixed)" : "",
                           rd_kafka_err2name(right->error));
        break;
    }
    if (row != NULL) {
        row->operation = right->operation;
        row->resource_type = right->resource_type;
        row->prefixed = right->prefixed;
    }
}

static void check_rights(const ab_config_t *config, const ab_check_facts_t *facts, int timeout_ms,
                         ab_check_report_t *report)
{
    rights_t rights = {.report = report};
    ab_topic_t *topics = calloc(facts->topic_count, sizeof(*topics));
    const unsigned all = AB_RIGHTS_TRANSACTIONS | AB_RIGHTS_GROUP | AB_RIGHTS_TOPICS;
    for (size_t i = 0; topics != NULL && i < facts->topic_count; i++) {
        topics[i] = facts->topics[i].topic;
    }
    if (topics == NULL || ab_rights_ask(config, topics, facts->topic_count, all, timeout_ms,
                                        on_right, &rights) != 0) {
        report->incomplete = true;
    }
    free(topics);
    if (rights.granted > 0) {
        ab_check_add(report, AB_CHECK_OK, "acl", config->group,
                     "%zu right%s granted, of Read on sources and group, Write on outputs%s",
                     rights.granted, rights.granted == 1 ? " is" : "s are",
                     config->guarantee == AB_EXACTLY_ONCE ? " and transactional ids" : "");
    }
}

/* ---- all of it ---- */

static void ask_and_judge(const ab_config_t *config, ab_check_facts_t *facts, rd_kafka_t *probe,
                          int timeout_ms, ab_check_report_t *report)
{
    const int call_ms = timeout_ms < CALL_MS ? timeout_ms : CALL_MS;
    for (size_t i = 1; i < facts->topic_count; i++) {
        (void)ab_check_ask_topic(facts, i, probe, call_ms);
    }
    ab_check_ask_properties(facts, probe, call_ms);
    snprintf(report->cluster_id, sizeof(report->cluster_id), "%s", facts->cluster_id);
    report->brokers = facts->broker_count;
    ab_check_judge(config, facts, report);
    check_rights(config, facts, call_ms, report);
}

ab_check_report_t *ab_check_run(const ab_config_t *config, int timeout_ms)
{
    ab_link_t link;
    ab_check_facts_t facts;
    ab_check_report_t *report = calloc(1, sizeof(*report));
    if (report == NULL || ab_check_facts_init(&facts, config) != 0) {
        ab_check_free(report);
        return NULL;
    }
    ab_link_init(&link, config);
    ab_principal_text(config, report->principal);
    rd_kafka_t *probe = make_probe(config, &link);
    say_library(config, report);
    if (probe == NULL) {
        report->incomplete = true;
    } else if (connect_to(&facts, probe, &link, timeout_ms)) {
        say_connection(config, report);
        ask_and_judge(config, &facts, probe, timeout_ms, report);
    } else {
        say_no_connection(config, &link, report);
    }
    if (probe != NULL) {
        rd_kafka_destroy(probe);
    }
    ab_link_clear(&link);
    ab_check_facts_clear(&facts);
    return report;
}
