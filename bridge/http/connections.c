#include "bridge/http/connections.h"

#include <string.h>

/* The peer that limits hold for. Whoever has an IPv6 address usually has the 64 bits behind the
 * network's. */
static struct in6_addr peer_of(const struct sockaddr *address)
{
    struct in6_addr peer = {0};
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        peer.s6_addr[10] = 0xff;
        peer.s6_addr[11] = 0xff;
        memcpy(&peer.s6_addr[12], &v4.sin_addr, sizeof(v4.sin_addr));
    } else if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        memcpy(&peer, &v6.sin6_addr, IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? 16 : 8);
    }
    return peer;
}

static bool same_peer(const ab_connection_t *connection, const struct in6_addr *peer)
{
    return memcmp(&connection->peer, peer, sizeof(*peer)) == 0;
}

/* The oldest that is not ending already, of one peer or, with NULL, of all; ret_count says how many
 * there are. */
static ab_connection_t *oldest(ab_connections_t *connections, const struct in6_addr *peer,
                               size_t *ret_count)
{
    ab_connection_t *found = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < AB_CONNECTIONS_MAX; i++) {
        ab_connection_t *item = &connections->items[i];
        if (item->open && !item->ending && (peer == NULL || same_peer(item, peer))) {
            (*ret_count)++;
            found = found == NULL || item->number < found->number ? item : found;
        }
    }
    return found;
}

static ab_connection_t *one_too_many(ab_connections_t *connections, const struct in6_addr *peer)
{
    size_t count;
    ab_connection_t *found = oldest(connections, peer, &count);
    if (count <= AB_CONNECTIONS_PEER_MAX) {
        found = oldest(connections, NULL, &count);
        if (count <= AB_CONNECTIONS_SOFT_MAX) {
            return NULL;
        }
    }
    found->ending = true;
    return found;
}

ab_connection_t *ab_connections_open(ab_connections_t *connections, int fd,
                                     const struct sockaddr *peer, int64_t now_ms,
                                     ab_connection_t **ret_end)
{
    for (size_t i = 0; i < AB_CONNECTIONS_MAX; i++) {
        ab_connection_t *item = &connections->items[i];
        if (!item->open) {
            *item = (ab_connection_t){.fd = fd,
                                      .open = true,
                                      .number = ++connections->opened,
                                      .begun_ms = now_ms,
                                      .peer = peer_of(peer)};
            *ret_end = one_too_many(connections, &item->peer);
            return item;
        }
    }
    return NULL;
}

ab_connection_t *ab_connections_expired(ab_connections_t *connections, int64_t now_ms)
{
    for (size_t i = 0; i < AB_CONNECTIONS_MAX; i++) {
        ab_connection_t *item = &connections->items[i];
        if (item->open && !item->ending && now_ms - item->begun_ms >= AB_CONNECTION_LIFE_MS) {
            item->ending = true;
            return item;
        }
    }
    return NULL;
}

void ab_connections_close(ab_connection_t *connection)
{
    if (connection != NULL) {
        connection->open = false;
    }
}
