#ifndef BRIDGE_HTTP_LISTEN_H
#define BRIDGE_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/** Room for "[address]:port", NUL included. */
#define AB_HTTP_ADDRESS_MAX 64

/** host and port as they are written in http.listen. Returns ret_text. */
const char *ab_http_address_text(const char *host, unsigned port,
                                 char ret_text[AB_HTTP_ADDRESS_MAX]);

/** An IP address without brackets and a port as a socket's address. False when it is none. */
bool ab_http_address(const char *host, unsigned port, struct sockaddr_storage *ret_address,
                     socklen_t *ret_size);

/** Binds and listens, without ever blocking. "::" takes IPv4 as well. Returns the socket and, in
 *  ret_port, the port, or -1 with errno. */
int ab_http_listen(const char *host, unsigned port, unsigned *ret_port);

/** What to do about errno after ab_http_listen(), in words that name the address and http.listen.
 */
void ab_http_listen_text(const char *host, unsigned port, int error, char *ret_text, size_t size);

#endif
