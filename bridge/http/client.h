#ifndef BRIDGE_HTTP_CLIENT_H
#define BRIDGE_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/** The least of an HTTP client: one GET to a server of our own, bounded in time and in bytes. */

/** Longest answer, headers included. */
#define AB_HTTP_REPLY_MAX 65536u

/** One answer. */
typedef struct ab_http_reply {
    unsigned status;  /* 100 to 599 */
    const char *body; /* in data, with a NUL behind it */
    size_t size;      /* of the body */
    char data[AB_HTTP_REPLY_MAX + 1];
} ab_http_reply_t;

/** Longest complaint, NUL included. */
#define AB_HTTP_COMPLAINT_MAX 160

/** Asks host, an IP address without brackets, for path. "0.0.0.0" and "::" stand for the loopback
 *  addresses. Returns true when there was an answer, whatever its status; false after timeout_ms,
 * or when nothing or no HTTP is spoken there, and then ret_complaint says which. */
bool ab_http_get(const char *host, unsigned port, const char *path, int timeout_ms,
                 ab_http_reply_t *ret_reply, char ret_complaint[AB_HTTP_COMPLAINT_MAX]);

/** Reads the size bytes in reply->data as a whole answer. False when they are none. */
bool ab_http_reply_parse(ab_http_reply_t *reply, size_t size);

#endif
