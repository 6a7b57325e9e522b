#ifndef BRIDGE_HTTP_REPORT_H
#define BRIDGE_HTTP_REPORT_H

#include <stdio.h>

#include "bridge/http/http.h"

/** The answers in JSON, each one object and a newline. They return the HTTP status: 200, 503 where
 *  the process is not alive or not ready, 500 where memory is short and nothing was written.
 *
 *  Members are only ever added. Durations are whole milliseconds. */

/** {"live":…,"lanes":[{"lane":0,"tick_ms":12},…]}: only the lanes that stand still are listed. */
unsigned ab_report_live(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

/** {"ready":…,"code":"joining","reason":"…","phase":"running","lanes":{"running":1,…},
 *  "stuck_partitions":{"topic":2}}: only topics with a stuck partition are listed. */
unsigned ab_report_ready(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

/** Everything that is known. */
unsigned ab_report_status(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

/** As `agent-bridge version --json` prints it. status is not used and may be NULL. */
unsigned ab_report_version(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

#endif
