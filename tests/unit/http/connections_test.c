#include "bridge/http/connections.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The address of a text, IPv4 or IPv6. */
static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = 4711};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = 4711};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(&address, &v4, sizeof(v4));
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
        memcpy(&address, &v6, sizeof(v6));
    }
    return address;
}

/* Opens one; returns the fd of the one that has to end for it, -1 for none. */
static int open_from(ab_connections_t *connections, int fd, const char *peer, int64_t now_ms)
{
    const struct sockaddr_storage address = address_of(peer);
    ab_connection_t *ended = NULL;
    const ab_connection_t *opened =
        ab_connections_open(connections, fd, (const struct sockaddr *)&address, now_ms, &ended);
    assert_non_null(opened);
    assert_int_equal(opened->fd, fd);
    assert_ptr_not_equal(opened, ended);
    return ended != NULL ? ended->fd : -1;
}

static ab_connection_t *find(ab_connections_t *connections, int fd)
{
    for (size_t i = 0; i < AB_CONNECTIONS_MAX; i++) {
        if (connections->items[i].open && connections->items[i].fd == fd) {
            return &connections->items[i];
        }
    }
    fail_msg("no connection %d", fd);
    return NULL;
}

static void test_connections_one_peer_one_too_many_ends_its_oldest(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    assert_int_equal(open_from(&connections, 1000, "192.0.2.9", 0), -1); /* another one's */
    for (int i = 0; i < (int)AB_CONNECTIONS_PEER_MAX; i++) {
        assert_int_equal(open_from(&connections, i, "192.0.2.1", 0), -1);
    }
    assert_int_equal(open_from(&connections, 100, "192.0.2.1", 0), 0);
    assert_int_equal(open_from(&connections, 101, "192.0.2.1", 0), 1); /* 0 ends already */
    ab_connections_close(find(&connections, 0));
    ab_connections_close(find(&connections, 1));
    ab_connections_close(find(&connections, 2)); /* by itself */
    assert_int_equal(open_from(&connections, 102, "192.0.2.1", 0), -1);
    assert_int_equal(open_from(&connections, 103, "192.0.2.1", 0), 3);
}

static void test_connections_many_peers_one_too_many_ends_the_oldest_of_all(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    char peer[32];
    for (int i = 0; i < (int)AB_CONNECTIONS_SOFT_MAX; i++) {
        (void)snprintf(peer, sizeof(peer), "192.0.2.%d", i);
        assert_int_equal(open_from(&connections, i, peer, 0), -1);
    }
    assert_int_equal(open_from(&connections, 500, "198.51.100.1", 0), 0);
    assert_int_equal(open_from(&connections, 501, "198.51.100.1", 0), 1);
}

static void test_connections_probe_survives_as_many_newer_ones_as_there_is_room(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    for (int i = 0; i < 5000; i++) { /* a crowd of one peer */
        const int ended = open_from(&connections, i, "192.0.2.1", 0);
        if (ended >= 0) {
            ab_connections_close(find(&connections, ended));
        }
    }
    assert_int_equal(open_from(&connections, 9999, "192.0.2.2", 0), -1);
    for (int i = 10000; i < 20000; i++) {
        const int ended = open_from(&connections, i, "192.0.2.1", 0);
        assert_int_not_equal(ended, 9999);
        ab_connections_close(find(&connections, ended));
    }
}

static void test_connections_networks_of_ipv6_are_one_peer(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    char peer[64];
    for (int i = 0; i < (int)AB_CONNECTIONS_PEER_MAX; i++) {
        (void)snprintf(peer, sizeof(peer), "2001:db8:0:1::%x", i);
        assert_int_equal(open_from(&connections, i, peer, 0), -1);
    }
    assert_int_equal(open_from(&connections, 100, "2001:db8:0:2::1", 0), -1);
    assert_int_equal(open_from(&connections, 101, "2001:db8:0:1:ffff::1", 0), 0);
}

static void test_connections_ipv4_in_ipv6_is_the_same_peer_and_not_all_one(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    char peer[64];
    for (int i = 0; i < (int)AB_CONNECTIONS_PEER_MAX; i++) {
        (void)snprintf(peer, sizeof(peer), "::ffff:192.0.2.%d", i);
        assert_int_equal(open_from(&connections, i, peer, 0), -1);
    }
    assert_int_equal(open_from(&connections, 100, "::ffff:192.0.2.200", 0), -1);
    ab_connections_t again = {0};
    for (int i = 0; i < (int)AB_CONNECTIONS_PEER_MAX; i++) {
        (void)open_from(&again, i, "::ffff:192.0.2.1", 0);
    }
    assert_int_equal(open_from(&again, 100, "192.0.2.1", 0), 0);
}

static void test_connections_lived_long_enough_each_told_once(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    (void)open_from(&connections, 1, "192.0.2.1", 0);
    (void)open_from(&connections, 2, "192.0.2.1", 1);
    assert_null(ab_connections_expired(&connections, AB_CONNECTION_LIFE_MS - 1));
    const ab_connection_t *first = ab_connections_expired(&connections, AB_CONNECTION_LIFE_MS);
    assert_non_null(first);
    assert_int_equal(first->fd, 1);
    assert_null(ab_connections_expired(&connections, AB_CONNECTION_LIFE_MS));
    const ab_connection_t *second = ab_connections_expired(&connections, AB_CONNECTION_LIFE_MS + 1);
    assert_non_null(second);
    assert_int_equal(second->fd, 2);
    ab_connections_close(find(&connections, 1));
    (void)open_from(&connections, 3, "192.0.2.1", 20000); /* the place is used again, afresh */
    assert_null(ab_connections_expired(&connections, 20000));
}

static void test_connections_full_refuses(void **state)
{
    (void)state;
    ab_connections_t connections = {0};
    ab_connection_t *ended = NULL;
    for (int i = 0; i < (int)AB_CONNECTIONS_MAX; i++) {
        (void)open_from(&connections, i, "192.0.2.1", 0); /* none of the ended is closed */
    }
    assert_null(ab_connections_open(&connections, 1000, NULL, 0, &ended));
    ab_connections_close(find(&connections, 7));
    assert_non_null(ab_connections_open(&connections, 1000, NULL, 0, &ended));
    ab_connections_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_one_peer_one_too_many_ends_its_oldest),
        cmocka_unit_test(test_connections_many_peers_one_too_many_ends_the_oldest_of_all),
        cmocka_unit_test(test_connections_probe_survives_as_many_newer_ones_as_there_is_room),
        cmocka_unit_test(test_connections_networks_of_ipv6_are_one_peer),
        cmocka_unit_test(test_connections_ipv4_in_ipv6_is_the_same_peer_and_not_all_one),
        cmocka_unit_test(test_connections_lived_long_enough_each_told_once),
        cmocka_unit_test(test_connections_full_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
