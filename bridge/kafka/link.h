#ifndef BRIDGE_KAFKA_LINK_H
#define BRIDGE_KAFKA_LINK_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdbool.h>

#include "bridge/config/config.h"
#include "bridge/core/event.h"

/** What stands between the clients of a process and the brokers, the more telling the larger. */
typedef enum ab_link_trouble {
    AB_LINK_FINE,
    AB_LINK_UNREACHABLE,  /* nobody answers */
    AB_LINK_TLS_FAILED,   /* a certificate, theirs or ours, or a port that speaks no TLS */
    AB_LINK_LOGIN_REFUSED /* user, password or mechanism */
} ab_link_trouble_t;

/** From this version on librdkafka takes the broker's SCRAM nonce once, as Kafka 4 insists on
 *  (librdkafka PR 4895). */
#define AB_SCRAM_RIGHT_SINCE 0x020601ff

/** Longest sentence about a trouble, NUL included. */
#define AB_LINK_TEXT_MAX 640

/** What the error callbacks of all clients of a process have told. Callable from any thread. */
typedef struct ab_link {
    const ab_config_t *config;
    pthread_mutex_t lock; /* everything below */
    ab_link_trouble_t trouble;
    char reason[384]; /* librdkafka's words for it */
    int64_t at_ms;
    int certificate_error;    /* why a broker's certificate was refused, as OpenSSL numbers it */
    char certificate_of[128]; /* the broker, host:port */
    int64_t certificate_ms;
    int64_t said_ms;
} ab_link_t;

/** Makes an empty one; config must outlive it. */
void ab_link_init(ab_link_t *link, const ab_config_t *config);

void ab_link_clear(ab_link_t *link);

/** Installs what a client's configuration needs so that a refused certificate is explained. The
 * opaque of the client must lead callback to the link: it returns ab_link_certificate(). */
void ab_link_watch_certificates(const ab_link_t *link, rd_kafka_conf_t *conf,
                                int (*callback)(rd_kafka_t *rk, const char *broker,
                                                int32_t broker_id, int *x509_error, int depth,
                                                const char *der, size_t size, char *ret_text,
                                                size_t room, void *opaque));

/** Makes the link the opaque of a client's configuration and all its callbacks, for clients that
 *  have nothing else to hear. */
void ab_link_attach(ab_link_t *link, rd_kafka_conf_t *conf);

/** A broker's certificate was looked at. Returns 1 when it holds, 0 when OpenSSL refuses it. */
int ab_link_certificate(ab_link_t *link, const char *broker, int x509_error);

/** An error callback's error. Returns the trouble that it is, AB_LINK_FINE when it is about
 * something else. */
ab_link_trouble_t ab_link_note(ab_link_t *link, int err, const char *reason);

/** A line of librdkafka's log: from 2.1 on a connection that the other side closes is told nowhere
 * else. */
void ab_link_hear(ab_link_t *link, const char *facility, const char *line);

/** The brokers have answered: what was noted is over. */
void ab_link_works(ab_link_t *link);

/** The most telling trouble of the last 15 seconds. */
ab_link_trouble_t ab_link_now(ab_link_t *link);

/** One sentence of what is wrong and what to do. Returns the trouble it speaks of. */
ab_link_trouble_t ab_link_explain(ab_link_t *link, char ret_text[AB_LINK_TEXT_MAX]);

/** Tells ab_link_explain() as an event, for all clients together at most once in ten seconds:
 * "login_refused", "tls_failed" or "brokers_unreachable". True when it was told. */
bool ab_link_tell(ab_link_t *link, const ab_sink_t *sink);

/** At what level one of librdkafka's own lines is worth telling: what its callbacks tell as well is
 *  for debugging. level is a syslog one. */
ab_level_t ab_link_log_level(int level, const char *facility);

#endif
