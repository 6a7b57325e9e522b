#ifndef BRIDGE_HTTP_ANSWER_H
#define BRIDGE_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bridge/http/http.h"

/** What is answered to which request. Pure: knows no socket and no libmicrohttpd. */

/** One path. */
typedef struct ab_endpoint {
    const char *path;
    const char *type;    /* Content-Type */
    const char *summary; /* what is there, for people */
    /** Writes the body and returns the HTTP status. status is NULL for those that need none. */
    unsigned (*write)(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);
    bool needs_status;
} ab_endpoint_t;

/** All paths, the page for people first. Static storage. */
const ab_endpoint_t *ab_endpoints_view(size_t *ret_count);

/** One request, as far as it matters. Borrowed. */
typedef struct ab_http_request {
    const char *method;
    const char *path; /* without the query */
    bool has_body;
} ab_http_request_t;

/** One answer. */
typedef struct ab_http_answer {
    unsigned status;
    const char *type;  /* Content-Type; static storage */
    const char *allow; /* the Allow header, NULL for none; static storage */
    char *body;        /* of the caller, who calls free() */
    size_t size;
} ab_http_answer_t;

/** Makes the answer to a request. False when memory is short, and then there is none. */
bool ab_http_answer(const ab_http_site_t *site, const ab_http_request_t *request,
                    ab_http_answer_t *ret_answer);

#endif
