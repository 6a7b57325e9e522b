#include "bridge/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Connections that the kernel keeps for us between two rounds of the loop. */
#define BACKLOG 512

const char *ab_http_address_text(const char *host, unsigned port,
                                 char ret_text[AB_HTTP_ADDRESS_MAX])
{
    const bool v6 = strchr(host, ':') != NULL;
    (void)snprintf(ret_text, AB_HTTP_ADDRESS_MAX, v6 ? "[%s]:%u" : "%s:%u", host, port);
    return ret_text;
}

bool ab_http_address(const char *host, unsigned port, struct sockaddr_storage *ret_address,
                     socklen_t *ret_size)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    memset(ret_address, 0, sizeof(*ret_address));
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(ret_address, &v4, sizeof(v4));
        *ret_size = sizeof(v4);
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(ret_address, &v6, sizeof(v6));
        *ret_size = sizeof(v6);
        return true;
    }
    return false;
}

/* The port that a bound socket has. */
static unsigned port_of(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        return 0;
    }
    memcpy(&v4, &address, sizeof(v4));
    memcpy(&v6, &address, sizeof(v6));
    return ntohs(address.ss_family == AF_INET ? v4.sin_port : v6.sin6_port);
}

int ab_http_listen(const char *host, unsigned port, unsigned *ret_port)
{
    const int on = 1;
    const int off = 0;
    struct sockaddr_storage address;
    socklen_t size;
    int error;
    if (!ab_http_address(host, port, &address, &size)) {
        errno = EINVAL;
        return -1;
    }
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    /* A restart must not wait for the connections of the process before it. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        (address.ss_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0) ||
        bind(fd, (const struct sockaddr *)&address, size) != 0 || listen(fd, BACKLOG) != 0) {
        error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    *ret_port = port_of(fd);
    return fd;
}

void ab_http_listen_text(const char *host, unsigned port, int error, char *ret_text, size_t size)
{
    char address[AB_HTTP_ADDRESS_MAX];
    const char *advice;
    switch (error) {
    case EADDRINUSE:
        advice = "the address is in use by another process; stop that one, or choose another "
                 "address or off";
        break;
    case EADDRNOTAVAIL:
        advice = "this machine has no such address; choose one that it has, 0.0.0.0 for all";
        break;
    case EACCES:
        advice = "not allowed; ports below 1024 need a capability, choose a higher one";
        break;
    case EAFNOSUPPORT:
        advice = "this machine has no IPv6; choose an IPv4 address, 0.0.0.0 for all";
        break;
    default:
        advice = strerror(error);
        break;
    }
    (void)snprintf(ret_text, size, "cannot listen on %s (http.listen): %s",
                   ab_http_address_text(host, port, address), advice);
}
