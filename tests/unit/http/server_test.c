#include "bridge/http/http.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/http/client.h"
#include "bridge/http/connections.h"
#include "bridge/http/listen.h"
#include "tests/unit/http/support.h"

#define PATIENCE_MS 20000

/* Starts a server on a free port of host. */
static ab_http_t *start(const char *host, source_of_status_t *source)
{
    const ab_http_site_t site = planted_site(source);
    ab_http_trouble_t trouble;
    ab_http_t *http = ab_http_start(host, 0, &site, &trouble);
    if (http == NULL) {
        fail_msg("%s", trouble.text);
    }
    return http;
}

static void expect_status(const char *host, unsigned port, const char *path, unsigned status)
{
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = calloc(1, sizeof(*reply));
    assert_non_null(reply);
    if (!ab_http_get(host, port, path, PATIENCE_MS, reply, complaint)) {
        fail_msg("%s: %s", path, complaint);
    }
    assert_int_equal(reply->status, status);
    free(reply);
}

static int connect_to(unsigned port)
{
    struct sockaddr_storage address;
    socklen_t size;
    assert_true(ab_http_address("127.0.0.1", port, &address, &size));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
    return fd;
}

/* True when the other side closes within the patience. */
static bool is_closed(int fd, int patience_ms)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&poller, 1, patience_ms) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

static void test_server_answers_each_path_on_the_port_it_names(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    const unsigned port = ab_http_port(http);
    assert_true(port > 0);
    static const char *const paths[] = {"/",        "/livez",  "/readyz",
                                        "/metrics", "/status", "/version"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        expect_status("127.0.0.1", port, paths[i], 200);
    }
    expect_status("127.0.0.1", port, "/metrics?name[]=x", 200);
    expect_status("127.0.0.1", port, "/%6civez", 200);
    expect_status("127.0.0.1", port, "/nothing", 404);
    ab_http_stop(http);
    assert_int_equal(atomic_load(&source.out), 0);
}

static void test_server_wildcards_reached_on_the_loopback_address(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_t *http = start("0.0.0.0", &source);
    expect_status("0.0.0.0", ab_http_port(http), "/livez", 200);
    ab_http_stop(http);
    const ab_http_site_t site = planted_site(&source);
    ab_http_trouble_t trouble;
    http = ab_http_start("::", 0, &site, &trouble);
    if (http == NULL) { /* a machine without IPv6 is told so */
        assert_non_null(strstr(trouble.text, "no IPv6"));
        return;
    }
    expect_status("::", ab_http_port(http), "/livez", 200);
    expect_status("127.0.0.1", ab_http_port(http), "/livez", 200);
    ab_http_stop(http);
}

static void test_server_address_in_use_named_with_the_key(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    const ab_http_site_t site = planted_site(&source);
    ab_http_trouble_t trouble;
    char address[AB_HTTP_ADDRESS_MAX];
    assert_null(ab_http_start("127.0.0.1", ab_http_port(http), &site, &trouble));
    assert_true(trouble.address);
    assert_non_null(strstr(trouble.text, "in use"));
    assert_non_null(strstr(trouble.text, "http.listen"));
    assert_non_null(
        strstr(trouble.text, ab_http_address_text("127.0.0.1", ab_http_port(http), address)));
    ab_http_stop(http);
}

static void test_server_foreign_address_refused_as_such(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    ab_http_trouble_t trouble;
    assert_null(ab_http_start("203.0.113.7", 9465, &site, &trouble));
    assert_true(trouble.address);
    assert_non_null(strstr(trouble.text, "203.0.113.7:9465"));
    assert_non_null(strstr(trouble.text, "no such address"));
}

static void test_server_port_free_again_after_the_stop(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    const unsigned port = ab_http_port(http);
    expect_status("127.0.0.1", port, "/livez", 200);
    ab_http_stop(http);
    const ab_http_site_t site = planted_site(&source);
    ab_http_trouble_t trouble;
    http = ab_http_start("127.0.0.1", port, &site, &trouble);
    assert_non_null(http);
    expect_status("127.0.0.1", port, "/livez", 200);
    ab_http_stop(http);
    ab_http_stop(NULL);
}

static void test_server_stop_ends_clients_that_wait(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    const int idle = connect_to(ab_http_port(http));
    const int halfway = connect_to(ab_http_port(http));
    assert_int_equal(send(halfway, "GET /livez HT", 13, MSG_NOSIGNAL), 13);
    expect_status("127.0.0.1", ab_http_port(http), "/livez", 200); /* both are accepted by now */
    ab_http_stop(http);
    assert_true(is_closed(idle, 0));
    assert_true(is_closed(halfway, 0));
    (void)close(idle);
    (void)close(halfway);
}

static void test_server_crowd_of_idle_clients_ends_its_oldest_and_a_probe_is_answered(void **state)
{
    (void)state;
    enum { CROWD = 300 };
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    const unsigned port = ab_http_port(http);
    int crowd[CROWD];
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = connect_to(port);
        if (i % 50 == 49) {
            expect_status("127.0.0.1", port, "/livez", 200);
        }
    }
    expect_status("127.0.0.1", port, "/readyz", 200);
    for (int i = 0; i < CROWD - (int)AB_CONNECTIONS_PEER_MAX; i++) {
        assert_true(is_closed(crowd[i], PATIENCE_MS));
    }
    assert_false(is_closed(crowd[CROWD - 1], 0)); /* the newest has its time */
    ab_http_stop(http);
    for (int i = 0; i < CROWD; i++) {
        (void)close(crowd[i]);
    }
}

typedef struct asker {
    pthread_t thread;
    unsigned port;
    unsigned answered;
} asker_t;

static void *ask_many(void *opaque)
{
    asker_t *asker = opaque;
    static const char *const paths[] = {"/metrics", "/status", "/", "/livez"};
    char complaint[AB_HTTP_COMPLAINT_MAX];
    ab_http_reply_t *reply = calloc(1, sizeof(*reply));
    for (unsigned i = 0; i < 100 && reply != NULL; i++) {
        asker->answered +=
            ab_http_get("127.0.0.1", asker->port, paths[i % 4], PATIENCE_MS, reply, complaint) &&
            reply->status == 200;
    }
    free(reply);
    return NULL;
}

static void test_server_clients_side_by_side_all_answered(void **state)
{
    (void)state;
    enum { ASKERS = 4 };
    source_of_status_t source;
    ab_http_t *http = start("127.0.0.1", &source);
    asker_t askers[ASKERS] = {0};
    for (int i = 0; i < ASKERS; i++) {
        askers[i].port = ab_http_port(http);
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_many, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        assert_int_equal(askers[i].answered, 100);
    }
    ab_http_stop(http);
    assert_int_equal(atomic_load(&source.asked), 400);
    assert_int_equal(atomic_load(&source.out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_answers_each_path_on_the_port_it_names),
        cmocka_unit_test(test_server_wildcards_reached_on_the_loopback_address),
        cmocka_unit_test(test_server_address_in_use_named_with_the_key),
        cmocka_unit_test(test_server_foreign_address_refused_as_such),
        cmocka_unit_test(test_server_port_free_again_after_the_stop),
        cmocka_unit_test(test_server_stop_ends_clients_that_wait),
        cmocka_unit_test(test_server_crowd_of_idle_clients_ends_its_oldest_and_a_probe_is_answered),
        cmocka_unit_test(test_server_clients_side_by_side_all_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
