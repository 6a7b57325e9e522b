#include "bridge/http/client.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bridge/http/listen.h"

#define REQUEST_MAX 512

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool complain(char ret_complaint[AB_HTTP_COMPLAINT_MAX], const char *text)
{
    (void)snprintf(ret_complaint, AB_HTTP_COMPLAINT_MAX, "%s", text);
    return false;
}

/* Waits until the socket is ready for events. False with errno ETIMEDOUT when the time is over. */
static bool wait_for(int fd, short events, int64_t deadline_ms)
{
    struct pollfd poller = {.fd = fd, .events = events};
    for (;;) {
        const int64_t left_ms = deadline_ms - now_ms();
        const int ready = left_ms > 0 ? poll(&poller, 1, (int)left_ms) : 0;
        if (ready > 0) {
            return true;
        }
        if (ready == 0) {
            errno = ETIMEDOUT;
            return false;
        }
        if (errno != EINTR) {
            return false;
        }
    }
}

/* Returns a connected socket, or -1 with errno. */
static int connect_to(const char *host, unsigned port, int64_t deadline_ms)
{
    struct sockaddr_storage address;
    socklen_t size;
    int error = 0;
    socklen_t error_size = sizeof(error);
    if (!ab_http_address(host, port, &address, &size)) {
        errno = EINVAL;
        return -1;
    }
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (connect(fd, (const struct sockaddr *)&address, size) == 0) {
        return fd;
    }
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT, deadline_ms) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) == 0) {
        if (error == 0) {
            return fd;
        }
        errno = error;
    }
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* A server that listens everywhere is asked on the loopback address; with "::" that may be either
 * one's. */
static int connect_local(const char *host, unsigned port, int64_t deadline_ms)
{
    if (strcmp(host, "0.0.0.0") == 0) {
        return connect_to("127.0.0.1", port, deadline_ms);
    }
    if (strcmp(host, "::") != 0) {
        return connect_to(host, port, deadline_ms);
    }
    const int fd = connect_to("::1", port, deadline_ms);
    return fd >= 0 ? fd : connect_to("127.0.0.1", port, deadline_ms);
}

static bool send_all(int fd, const char *text, size_t size, int64_t deadline_ms)
{
    while (size > 0) {
        const ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        if (sent > 0) {
            text += sent;
            size -= (size_t)sent;
        } else if (sent < 0 && errno != EINTR &&
                   ((errno != EAGAIN && errno != EWOULDBLOCK) ||
                    !wait_for(fd, POLLOUT, deadline_ms))) {
            return false;
        }
    }
    return true;
}

/* Reads until the other side closes. Returns the bytes read, or -1 with errno; EMSGSIZE when there
 * are more than fit. */
static ssize_t receive_all(int fd, char *data, size_t capacity, int64_t deadline_ms)
{
    size_t size = 0;
    for (;;) {
        char more;
        const bool full = size == capacity;
        const ssize_t got =
            full ? recv(fd, &more, 1, 0) : recv(fd, data + size, capacity - size, 0);
        if (got == 0) {
            return (ssize_t)size;
        }
        if (got > 0) {
            if (full) {
                errno = EMSGSIZE;
                return -1;
            }
            size += (size_t)got;
        } else if (errno != EINTR && ((errno != EAGAIN && errno != EWOULDBLOCK) ||
                                      !wait_for(fd, POLLIN, deadline_ms))) {
            return -1;
        }
    }
}

/* The length of a line without its end; *at moves behind it. SIZE_MAX when it does not end. */
static size_t take_line(const char **at)
{
    const char *line = *at;
    const char *end = strchr(line, '\n');
    if (end == NULL) {
        return SIZE_MAX;
    }
    *at = end + 1;
    return (size_t)(end - line) - (end > line && end[-1] == '\r' ? 1 : 0);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool ab_http_reply_parse(ab_http_reply_t *reply, size_t size)
{
    const char *at = reply->data;
    reply->data[size] = '\0';
    /* HTTP/1.x SP three digits */
    if (memchr(at, '\0', size) != NULL || strncmp(at, "HTTP/1.", 7) != 0 || !is_digit(at[7]) ||
        at[8] != ' ' || at[9] < '1' || at[9] > '5' || !is_digit(at[10]) || !is_digit(at[11]) ||
        is_digit(at[12])) {
        return false;
    }
    const unsigned status = (unsigned)((at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0'));
    size_t line;
    do {
        line = take_line(&at);
    } while (line != 0 && line != SIZE_MAX);
    if (line == SIZE_MAX) {
        return false; /* the headers do not end */
    }
    reply->status = status;
    reply->body = at;
    reply->size = size - (size_t)(at - reply->data);
    return true;
}

bool ab_http_get(const char *host, unsigned port, const char *path, int timeout_ms,
                 ab_http_reply_t *ret_reply, char ret_complaint[AB_HTTP_COMPLAINT_MAX])
{
    char request[REQUEST_MAX];
    char address[AB_HTTP_ADDRESS_MAX];
    const int64_t deadline_ms = now_ms() + timeout_ms;
    const int size = snprintf(request, sizeof(request),
                              "GET %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n", path,
                              ab_http_address_text(host, port, address));
    if (size < 0 || (size_t)size >= sizeof(request)) {
        return complain(ret_complaint, "the path is too long");
    }
    const int fd = connect_local(host, port, deadline_ms);
    if (fd < 0) {
        return complain(ret_complaint, strerror(errno));
    }
    ssize_t got = -1;
    if (send_all(fd, request, (size_t)size, deadline_ms)) {
        got = receive_all(fd, ret_reply->data, AB_HTTP_REPLY_MAX, deadline_ms);
    }
    const int error = errno;
    (void)close(fd);
    if (got < 0) {
        return complain(ret_complaint,
                        error == EMSGSIZE ? "the answer is too long" : strerror(error));
    }
    return ab_http_reply_parse(ret_reply, (size_t)got) ||
           complain(ret_complaint, "what answers does not speak HTTP");
}
