#include "bridge/http/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bridge/http/answer.h"
#include "bridge/http/connections.h"
#include "bridge/http/listen.h"

/* Bytes that a connection's request line, headers and answer's headers take together. */
#define CONNECTION_BYTES ((size_t)32 * 1024)
/* A connection on which nothing moves is closed so soon. */
#define IDLE_SECONDS 5u
/* How often connections that have lived long enough are looked for. */
#define TICK_MS 250

/* libmicrohttpd is driven by the one thread here, so that nothing needs a lock: connections are
 * only touched between two of its rounds and in its callbacks. */
struct ab_http {
    ab_http_site_t site;
    struct MHD_Daemon *daemon;
    int epoll_fd; /* the daemon's */
    int wake_fd;
    atomic_bool stop;
    pthread_t thread;
    unsigned port;
    ab_connections_t connections;
};

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *ab_http_library_version(void)
{
    return MHD_get_version();
}

/* ---- connections ---- */

/* Ends a connection from outside: libmicrohttpd sees the end of the stream, and closes it. */
static void end_connection(const ab_connection_t *connection)
{
    (void)shutdown(connection->fd, SHUT_RDWR);
}

static void open_connection(ab_http_t *http, struct MHD_Connection *connection,
                            void **socket_context)
{
    const union MHD_ConnectionInfo *socket_info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *peer_info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    ab_connection_t *one_too_many = NULL;
    *socket_context = NULL;
    if (socket_info == NULL) {
        return;
    }
    *socket_context = ab_connections_open(&http->connections, socket_info->connect_fd,
                                          peer_info != NULL ? peer_info->client_addr : NULL,
                                          now_ms(), &one_too_many);
    if (*socket_context == NULL) {
        (void)shutdown(socket_info->connect_fd, SHUT_RDWR);
    } else if (one_too_many != NULL) {
        end_connection(one_too_many);
    }
}

static void on_connection(void *opaque, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(opaque, connection, socket_context);
    } else {
        ab_connections_close(*socket_context);
        *socket_context = NULL;
    }
}

/* ---- requests ---- */

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return (length != NULL && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != NULL;
}

static bool add_headers(struct MHD_Response *response, const ab_http_answer_t *answer)
{
    const char *const headers[][2] = {
        {"Content-Type", answer->type},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy",
         "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'"},
        /* A request a connection: what bounds the one then bounds the other. */
        {"Connection", "close"},
        {"Allow", answer->allow},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (headers[i][1] != NULL &&
            MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES) {
            return false;
        }
    }
    return true;
}

static enum MHD_Result on_request(void *opaque, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, /* NOLINT(readability-non-const-parameter) */
                                  void **request_context)
{
    const ab_http_t *http = opaque;
    const ab_http_request_t request = {method, url, has_body(connection)};
    ab_http_answer_t answer;
    enum MHD_Result queued = MHD_NO;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request_context;
    if (!ab_http_answer(&http->site, &request, &answer)) {
        return MHD_NO; /* memory is short: the connection is closed */
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer.size, answer.body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(answer.body);
        return MHD_NO;
    }
    if (add_headers(response, &answer)) {
        queued = MHD_queue_response(connection, answer.status, response);
    }
    MHD_destroy_response(response);
    return queued;
}

/* ---- the thread ---- */

static int wait_ms(struct MHD_Daemon *daemon)
{
    unsigned long long timeout_ms;
    return MHD_get_timeout(daemon, &timeout_ms) == MHD_YES && timeout_ms < TICK_MS ? (int)timeout_ms
                                                                                   : TICK_MS;
}

static void *serve(void *opaque)
{
    ab_http_t *http = opaque;
    struct pollfd pollers[] = {{.fd = http->epoll_fd, .events = POLLIN},
                               {.fd = http->wake_fd, .events = POLLIN}};
    while (!atomic_load(&http->stop)) {
        const ab_connection_t *connection;
        (void)poll(pollers, 2, wait_ms(http->daemon));
        (void)MHD_run(http->daemon);
        while ((connection = ab_connections_expired(&http->connections, now_ms())) != NULL) {
            end_connection(connection);
        }
    }
    return NULL;
}

/* ---- start and stop ---- */

static struct MHD_Daemon *start_daemon(ab_http_t *http, int listen_fd)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET,
        (MHD_socket)listen_fd, MHD_OPTION_CONNECTION_LIMIT, AB_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, (void *)http,
        MHD_OPTION_END);
}

/* Makes everything but the socket. Returns false with what was made in http. */
static bool start_serving(ab_http_t *http, int listen_fd)
{
    http->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->wake_fd < 0) {
        (void)close(listen_fd);
        return false;
    }
    http->daemon = start_daemon(http, listen_fd); /* the socket is the daemon's from here on */
    if (http->daemon == NULL) {
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) {
        return false;
    }
    http->epoll_fd = info->epoll_fd;
    return pthread_create(&http->thread, NULL, serve, http) == 0;
}

static void free_http(ab_http_t *http)
{
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
    }
    if (http->wake_fd >= 0) {
        (void)close(http->wake_fd);
    }
    free(http);
}

ab_http_t *ab_http_start(const char *host, unsigned port, const ab_http_site_t *site,
                         ab_http_trouble_t *ret_trouble)
{
    ab_http_t *http = calloc(1, sizeof(*http));
    ret_trouble->address = false;
    (void)snprintf(ret_trouble->text, sizeof(ret_trouble->text),
                   "memory, threads or files ran out while starting to listen (http.listen); raise "
                   "the limits of the process");
    if (http == NULL) {
        return NULL;
    }
    http->site = *site;
    http->wake_fd = -1;
    const int listen_fd = ab_http_listen(host, port, &http->port);
    if (listen_fd < 0) {
        ret_trouble->address = errno != EMFILE && errno != ENFILE && errno != ENOMEM;
        ab_http_listen_text(host, port, errno, ret_trouble->text, sizeof(ret_trouble->text));
        free_http(http);
        return NULL;
    }
    if (!start_serving(http, listen_fd)) {
        free_http(http);
        return NULL;
    }
    return http;
}

unsigned ab_http_port(const ab_http_t *http)
{
    return http->port;
}

void ab_http_stop(ab_http_t *http)
{
    const uint64_t one = 1;
    if (http == NULL) {
        return;
    }
    atomic_store(&http->stop, true);
    /* Should it fail, the thread looks by itself within TICK_MS. */
    if (write(http->wake_fd, &one, sizeof(one)) < 0) {
        errno = 0;
    }
    (void)pthread_join(http->thread, NULL);
    free_http(http);
}
