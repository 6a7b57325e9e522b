#ifndef BRIDGE_HTTP_METRICS_H
#define BRIDGE_HTTP_METRICS_H

#include <stdio.h>

#include "bridge/http/http.h"

/** Writes every metric in Prometheus' text format 0.0.4. A label's values come from a closed set,
 * or are names of the configuration; each value of a closed set is there from the start, with 0.
 *  Names, types and labels are frozen in golden/metrics. */
void ab_metrics_print(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

/** Writes docs/metrics.md, all of it, from the table. */
void ab_metrics_print_docs(FILE *out);

#endif
