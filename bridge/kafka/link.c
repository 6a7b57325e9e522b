#include "bridge/kafka/link.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define SAY_EVERY_MS 10000
/* What was told longer ago says nothing of now. */
#define FRESH_MS 15000

/* Numbers of OpenSSL's verification errors, X509_V_ERR_* of <openssl/x509_vfy.h>, part of its ABI
 * and what librdkafka hands to its callback. */
enum {
    NO_ISSUER = 2,
    NOT_YET_VALID = 9,
    EXPIRED = 10,
    SELF_SIGNED = 18,
    SELF_SIGNED_IN_CHAIN = 19,
    NO_LOCAL_ISSUER = 20,
    UNVERIFIED_LEAF = 21,
    HOST_MISMATCH = 62,
    ADDRESS_MISMATCH = 64
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void ab_link_init(ab_link_t *link, const ab_config_t *config)
{
    memset(link, 0, sizeof(*link));
    link->config = config;
    pthread_mutex_init(&link->lock, NULL);
}

void ab_link_clear(ab_link_t *link)
{
    pthread_mutex_destroy(&link->lock);
}

void ab_link_watch_certificates(const ab_link_t *link, rd_kafka_conf_t *conf,
                                int (*callback)(rd_kafka_t *rk, const char *broker,
                                                int32_t broker_id, int *x509_error, int depth,
                                                const char *der, size_t size, char *ret_text,
                                                size_t room, void *opaque))
{
    const ab_property_t *verify =
        ab_property_find(&link->config->kafka, "enable.ssl.certificate.verification");
    if (verify == NULL || strcasecmp(verify->value, "true") == 0) {
        /* Refused by a librdkafka without TLS, which then has no certificates either. */
        (void)rd_kafka_conf_set_ssl_cert_verify_cb(conf, callback);
    }
}

int ab_link_certificate(ab_link_t *link, const char *broker, int x509_error)
{
    if (x509_error == 0) {
        return 1;
    }
    pthread_mutex_lock(&link->lock);
    link->certificate_error = x509_error;
    link->certificate_ms = now_ms();
    snprintf(link->certificate_of, sizeof(link->certificate_of), "%s", broker);
    pthread_mutex_unlock(&link->lock);
    return 0;
}

static bool speaks_of_tls(const char *reason)
{
    return strstr(reason, "SSL routines") != NULL || strstr(reason, "SSL handshake") != NULL;
}

/* The other side went away in the middle of the handshake: it speaks no TLS, or it is a balancer
 * with nothing behind it yet, which is no reason to give up. */
static bool hung_up(const char *reason)
{
    static const char *const words[] = {"unexpected eof", "Disconnected", "Connection reset",
                                        "Broken pipe"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(reason, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static ab_link_trouble_t trouble_of(int err, const char *reason)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
        return AB_LINK_LOGIN_REFUSED;
    case RD_KAFKA_RESP_ERR__SSL:
        return hung_up(reason) ? AB_LINK_UNREACHABLE : AB_LINK_TLS_FAILED;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
        /* An alert from the other side comes when the handshake is over for this one. */
        return speaks_of_tls(reason) && !hung_up(reason) ? AB_LINK_TLS_FAILED : AB_LINK_UNREACHABLE;
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        return AB_LINK_UNREACHABLE;
    default:
        return AB_LINK_FINE;
    }
}

/* Without "(after 3ms in state CONNECT, 1 identical error(s) suppressed)". */
static void keep_reason(ab_link_t *link, const char *reason)
{
    const char *end = strstr(reason, " (after ");
    snprintf(link->reason, sizeof(link->reason), "%.*s",
             (int)(end != NULL ? (size_t)(end - reason) : strlen(reason)), reason);
}

ab_link_trouble_t ab_link_note(ab_link_t *link, int err, const char *reason)
{
    const ab_link_trouble_t trouble = trouble_of(err, reason);
    const int64_t now = now_ms();
    pthread_mutex_lock(&link->lock);
    if (now - link->at_ms > FRESH_MS) {
        link->trouble = AB_LINK_FINE;
    }
    /* "all brokers are down" follows the error that says why. */
    const bool bare = err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
    if (trouble > link->trouble || (trouble == link->trouble && !bare)) {
        link->trouble = trouble;
        link->at_ms = now;
        keep_reason(link, reason);
    }
    pthread_mutex_unlock(&link->lock);
    return trouble;
}

void ab_link_hear(ab_link_t *link, const char *facility, const char *line)
{
    if (strcmp(facility, "FAIL") != 0) {
        return;
    }
    /* "[thrd:name]: text" */
    const char *text = strstr(line, "]: ");
    pthread_mutex_lock(&link->lock);
    if (link->trouble <= AB_LINK_UNREACHABLE || now_ms() - link->at_ms > FRESH_MS) {
        link->trouble = AB_LINK_UNREACHABLE;
        link->at_ms = now_ms();
        keep_reason(link, text != NULL ? text + 3 : line);
    }
    pthread_mutex_unlock(&link->lock);
}

void ab_link_works(ab_link_t *link)
{
    pthread_mutex_lock(&link->lock);
    link->trouble = AB_LINK_FINE;
    link->certificate_error = 0;
    pthread_mutex_unlock(&link->lock);
}

ab_link_trouble_t ab_link_now(ab_link_t *link)
{
    pthread_mutex_lock(&link->lock);
    const ab_link_trouble_t trouble =
        now_ms() - link->at_ms > FRESH_MS ? AB_LINK_FINE : link->trouble;
    pthread_mutex_unlock(&link->lock);
    return trouble;
}

/* ---- words ---- */

static const char *certificate_text(int x509_error)
{
    switch (x509_error) {
    case NO_ISSUER:
    case SELF_SIGNED:
    case SELF_SIGNED_IN_CHAIN:
    case NO_LOCAL_ISSUER:
    case UNVERIFIED_LEAF:
        return "is signed by no CA that this client trusts; set ssl.ca.location to the CA that "
               "signed the brokers' certificates";
    case HOST_MISMATCH:
    case ADDRESS_MISMATCH:
        return "is for another host name; connect by a name that it holds (bootstrap.servers, the "
               "brokers' advertised.listeners), or give the broker a certificate that holds this "
               "one";
    case EXPIRED:
        return "has expired; the broker needs a new one";
    case NOT_YET_VALID:
        return "is not valid yet; compare the clocks of this machine and of the broker";
    default:
        return "is refused";
    }
}

/* Without a certificate that was refused here: what OpenSSL's words hint at. */
static const char *handshake_text(const char *reason)
{
    if (strstr(reason, "alert") != NULL) {
        return "the broker breaks the TLS handshake off: it wants a certificate of this client, or "
               "does not trust the one it got (ssl.certificate.location, ssl.key.location, "
               "ssl.keystore.location)";
    }
    if (strstr(reason, "wrong version") != NULL) {
        return "the port does not speak TLS; check the port in bootstrap.servers and "
               "security.protocol";
    }
    return "TLS cannot be set up with the broker; check security.protocol and the ssl properties";
}

static void explain_tls(const ab_link_t *link, char *ret_text)
{
    if (link->certificate_error == 0) {
        snprintf(ret_text, AB_LINK_TEXT_MAX, "%s (%s)", handshake_text(link->reason), link->reason);
        return;
    }
    snprintf(ret_text, AB_LINK_TEXT_MAX, "the certificate of %s %s (OpenSSL's error %d)",
             link->certificate_of, certificate_text(link->certificate_error),
             link->certificate_error);
}

static void explain_login(const ab_link_t *link, char *ret_text)
{
    const ab_property_t *mechanism = ab_property_find(&link->config->kafka, "sasl.mechanism");
    if (mechanism == NULL) {
        mechanism = ab_property_find(&link->config->kafka, "sasl.mechanisms");
    }
    const bool old = rd_kafka_version() < AB_SCRAM_RIGHT_SINCE && mechanism != NULL &&
                     strncasecmp(mechanism->value, "SCRAM-", 6) == 0;
    snprintf(ret_text, AB_LINK_TEXT_MAX,
             "the brokers refuse the login; check sasl.username, sasl.password and "
             "sasl.mechanism%s%s (%s)",
             old ? ". This librdkafka cannot log in with SCRAM at Kafka 4, which takes 2.6.1 or "
                   "later: take such a one, another mechanism or a client certificate. It is "
                 : "",
             old ? rd_kafka_version_str() : "", link->reason);
}

static void explain_unreachable(const ab_link_t *link, char *ret_text)
{
    const char *hint = hung_up(link->reason)
                           ? "what answers hangs up on this client; check security.protocol and "
                             "the port in bootstrap.servers"
                           : "no broker answers; check bootstrap.servers and the network";
    if (link->reason[0] != '\0' && link->trouble != AB_LINK_FINE) {
        snprintf(ret_text, AB_LINK_TEXT_MAX, "%s (%s)", hint, link->reason);
    } else {
        snprintf(ret_text, AB_LINK_TEXT_MAX, "%s", hint);
    }
}

ab_link_trouble_t ab_link_explain(ab_link_t *link, char ret_text[AB_LINK_TEXT_MAX])
{
    pthread_mutex_lock(&link->lock);
    const ab_link_trouble_t trouble =
        now_ms() - link->at_ms > FRESH_MS ? AB_LINK_FINE : link->trouble;
    if (now_ms() - link->certificate_ms > FRESH_MS) {
        link->certificate_error = 0;
    }
    switch (trouble) {
    case AB_LINK_TLS_FAILED:
        explain_tls(link, ret_text);
        break;
    case AB_LINK_LOGIN_REFUSED:
        explain_login(link, ret_text);
        break;
    default:
        explain_unreachable(link, ret_text);
        break;
    }
    pthread_mutex_unlock(&link->lock);
    return trouble;
}

static bool may_say(ab_link_t *link)
{
    const int64_t now = now_ms();
    pthread_mutex_lock(&link->lock);
    const bool may = link->said_ms == 0 || now - link->said_ms >= SAY_EVERY_MS;
    if (may) {
        link->said_ms = now;
    }
    pthread_mutex_unlock(&link->lock);
    return may;
}

bool ab_link_tell(ab_link_t *link, const ab_sink_t *sink)
{
    static const char *const events[] = {
        [AB_LINK_FINE] = "brokers_unreachable",
        [AB_LINK_UNREACHABLE] = "brokers_unreachable",
        [AB_LINK_TLS_FAILED] = "tls_failed",
        [AB_LINK_LOGIN_REFUSED] = "login_refused",
    };
    char text[AB_LINK_TEXT_MAX];
    if (!may_say(link)) {
        return false;
    }
    const ab_link_trouble_t trouble = ab_link_explain(link, text);
    sink->emit(sink->opaque, trouble > AB_LINK_UNREACHABLE ? AB_LEVEL_ERROR : AB_LEVEL_WARNING,
               events[trouble], text, NULL, 0);
    return true;
}

ab_level_t ab_link_log_level(int level, const char *facility)
{
    /* Connections that fail, transactions that fail, partitions refused by one: the error callback,
     * the calls' results and the delivery reports say the same. */
    static const char *const told[] = {"FAIL",     "ERROR", "SSLCERTVRFY", "TXNERR",
                                       "ADDPARTS", "FATAL", "GETPID"};
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        if (strcmp(facility, told[i]) == 0) {
            return AB_LEVEL_DEBUG;
        }
    }
    return level <= 4 ? AB_LEVEL_WARNING : AB_LEVEL_DEBUG;
}

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *line)
{
    (void)level;
    ab_link_hear(rd_kafka_opaque(rk), facility, line);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    (void)rk;
    (void)ab_link_note(opaque, err, reason);
}

static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t broker_id, int *x509_error,
                          int depth, const char *der, size_t size, char *ret_text, size_t room,
                          void *opaque)
{
    (void)rk;
    (void)broker_id;
    (void)depth;
    (void)der;
    (void)size;
    (void)ret_text;
    (void)room;
    return ab_link_certificate(opaque, broker, *x509_error);
}

void ab_link_attach(ab_link_t *link, rd_kafka_conf_t *conf)
{
    rd_kafka_conf_set_opaque(conf, link);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    ab_link_watch_certificates(link, conf, on_certificate);
}
