#ifndef BRIDGE_HTTP_HTTP_H
#define BRIDGE_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/core/status.h"

/** The HTTP face of a running bridge, for probes, scrapers and people: read-only, without a login,
 *  and without payloads, entity keys or secrets.
 *
 *  It has one thread of its own, and takes from the rest of the process nothing but the numbers of
 *  an ab_status_t, so that no client can hold up a lane. Clients are bounded in number, per
 * address, in time and in bytes; one too many costs the oldest its connection, never the newest, so
 * that a probe is answered whatever others do (bridge/http/connections.h). */
typedef struct ab_http ab_http_t;

/** A lane whose loop has not turned for so long makes the process dead to /livez. */
#define AB_HTTP_LIVE_SECONDS 30.0

/** One library: the version this program was compiled against, and the one it runs with. */
typedef struct ab_library {
    const char *name; /* "librdkafka" */
    const char *compiled;
    const char *running;
} ab_library_t;

/** Most libraries of one program. */
#define AB_LIBRARIES_MAX 8

/** What does not change while the process runs. Everything is borrowed and outlives the server. */
typedef struct ab_http_facts {
    const char *version;
    const char *revision; /* what git says of the sources, "" where it is not known */
    const ab_library_t *libraries;
    size_t library_count; /* at most AB_LIBRARIES_MAX */
    const char *config_file;
    const char *group;
    const char *instance;
    const char *guarantee;     /* "exactly_once" or "at_least_once" */
    const char *const *topics; /* of the sources, in the order of ab_status_t's */
    size_t topic_count;
    const char *const *state_topics; /* of state.snapshots_from, where requests are answered */
    size_t state_topic_count;
    int64_t started_ms; /* wall clock */
} ab_http_facts_t;

/** Where what does change comes from. Called from the server's thread, one call at a time. */
typedef struct ab_http_provider {
    ab_status_t *(*status)(void *opaque); /* owned by the caller; NULL when memory is short */
    void (*status_free)(ab_status_t *status);
    void *opaque;
} ab_http_provider_t;

/** Everything that is told about one process. */
typedef struct ab_http_site {
    ab_http_facts_t facts;
    ab_http_provider_t provider;
} ab_http_site_t;

/** Why a server did not start. Lives on the caller's stack. */
typedef struct ab_http_trouble {
    bool address;   /* the address cannot be had; otherwise memory, threads or files ran out */
    char text[256]; /* what is wrong and what to do, naming the address and http.listen */
} ab_http_trouble_t;

/** Binds host, an IP address without brackets, and port, 0 for one that is free, and serves site,
 *  which it copies, from then on. Signals that others handle must be blocked before, since a thread
 *  is made. Returns NULL, and then ret_trouble says why; the caller ends the server with
 *  ab_http_stop(). */
ab_http_t *ab_http_start(const char *host, unsigned port, const ab_http_site_t *site,
                         ab_http_trouble_t *ret_trouble);

/** The port that is served. */
unsigned ab_http_port(const ab_http_t *http);

/** Ends every connection and the thread, then frees. Takes NULL. */
void ab_http_stop(ab_http_t *http);

/** The version of the libmicrohttpd that runs. Static storage. */
const char *ab_http_library_version(void);

#endif
