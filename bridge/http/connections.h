#ifndef BRIDGE_HTTP_CONNECTIONS_H
#define BRIDGE_HTTP_CONNECTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/** The open connections of the server, and which of them have to end. Pure: the caller does the
 *  ending and tells the time.
 *
 *  Whoever waits, sends a byte a minute or opens thousands of connections must not keep a probe
 * from its answer. So a connection lives AB_CONNECTION_LIFE_MS at most, whatever it does, and one
 * too many, of one peer or of all, ends the oldest instead of being refused: an answer takes a
 *  millisecond, and nobody has so many newer connections by then. */

/** Most connections at once; the server accepts no more until some are closed. */
#define AB_CONNECTIONS_MAX 128u
/** From here on a new connection ends the oldest. What ends still counts until it is closed; the
 *  rest of AB_CONNECTIONS_MAX is room for that. */
#define AB_CONNECTIONS_SOFT_MAX 64u
/** The same for those of one peer: an IPv4 address, or an IPv6 network of 64 bits. */
#define AB_CONNECTIONS_PEER_MAX 32u
/** How long a connection lives. */
#define AB_CONNECTION_LIFE_MS 10000

typedef struct ab_connection {
    int fd;
    bool open;
    bool ending; /* the caller was told to end it, and has not reported its close yet */
    uint64_t number;
    int64_t begun_ms;
    struct in6_addr peer;
} ab_connection_t;

/** Start from {0}. */
typedef struct ab_connections {
    ab_connection_t items[AB_CONNECTIONS_MAX];
    uint64_t opened; /* since the start */
} ab_connections_t;

/** Takes in a connection that was just accepted; NULL when there are AB_CONNECTIONS_MAX already.
 *  peer may be NULL. Where this is one too many, ret_end is the one to end, else NULL. */
ab_connection_t *ab_connections_open(ab_connections_t *connections, int fd,
                                     const struct sockaddr *peer, int64_t now_ms,
                                     ab_connection_t **ret_end);

/** The next connection that has lived long enough, to be ended; NULL when there is none. */
ab_connection_t *ab_connections_expired(ab_connections_t *connections, int64_t now_ms);

/** It is closed. Takes NULL. */
void ab_connections_close(ab_connection_t *connection);

#endif
