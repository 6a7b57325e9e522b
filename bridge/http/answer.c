#include "bridge/http/answer.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/http/metrics.h"
#include "bridge/http/page.h"
#include "bridge/http/report.h"

#define TYPE_HTML    "text/html; charset=utf-8"
#define TYPE_JSON    "application/json"
#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_TEXT    "text/plain; charset=utf-8"

static unsigned write_metrics(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    ab_metrics_print(facts, status, out);
    return 200;
}

static unsigned write_page(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    ab_page_print(facts, status, out);
    return 200;
}

static const ab_endpoint_t endpoints[] = {
    {"/", TYPE_HTML, "a page for people", write_page, true},
    {"/livez", TYPE_JSON, "200 while every lane's loop turns, whatever Kafka does", ab_report_live,
     true},
    {"/readyz", TYPE_JSON, "200 when ready, else 503 and why", ab_report_ready, true},
    {"/metrics", TYPE_METRICS, "everything that is counted, for Prometheus", write_metrics, true},
    {"/status", TYPE_JSON, "the same and more as JSON", ab_report_status, true},
    {"/version", TYPE_JSON, "which version this is, and of which libraries", ab_report_version,
     false},
};

const ab_endpoint_t *ab_endpoints_view(size_t *ret_count)
{
    *ret_count = sizeof(endpoints) / sizeof(endpoints[0]);
    return endpoints;
}

static const ab_endpoint_t *find_endpoint(const char *path)
{
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
        if (strcmp(endpoints[i].path, path) == 0) {
            return &endpoints[i];
        }
    }
    return NULL;
}

static unsigned write_not_found(FILE *out)
{
    (void)fputs("nothing is here; these paths are:\n", out);
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
        (void)fprintf(out, "  %-9s %s\n", endpoints[i].path, endpoints[i].summary);
    }
    return 404;
}

static unsigned write_endpoint(const ab_http_site_t *site, const ab_endpoint_t *endpoint,
                               ab_http_answer_t *answer, FILE *out)
{
    ab_status_t *status = NULL;
    if (endpoint->needs_status) {
        status = site->provider.status(site->provider.opaque);
        if (status == NULL) {
            (void)fputs("memory is short\n", out);
            return 503;
        }
    }
    answer->type = endpoint->type;
    const unsigned code = endpoint->write(&site->facts, status, out);
    if (status != NULL) {
        site->provider.status_free(status);
    }
    return code;
}

static unsigned write_answer(const ab_http_site_t *site, const ab_http_request_t *request,
                             ab_http_answer_t *answer, FILE *out)
{
    const ab_endpoint_t *endpoint = find_endpoint(request->path);
    if (endpoint == NULL) {
        return write_not_found(out);
    }
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        answer->allow = "GET, HEAD";
        (void)fputs("everything here is read-only: only GET and HEAD\n", out);
        return 405;
    }
    if (request->has_body) {
        (void)fputs("nothing here takes a body\n", out);
        return 413;
    }
    return write_endpoint(site, endpoint, answer, out);
}

bool ab_http_answer(const ab_http_site_t *site, const ab_http_request_t *request,
                    ab_http_answer_t *ret_answer)
{
    ab_http_answer_t answer = {.type = TYPE_TEXT};
    FILE *out = open_memstream(&answer.body, &answer.size);
    if (out == NULL) {
        return false;
    }
    answer.status = write_answer(site, request, &answer, out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(answer.body);
        return false;
    }
    *ret_answer = answer;
    return true;
}
