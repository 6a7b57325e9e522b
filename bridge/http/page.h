#ifndef BRIDGE_HTTP_PAGE_H
#define BRIDGE_HTTP_PAGE_H

#include <stdio.h>

#include "bridge/http/http.h"

/** Writes the page for people: HTML that needs nothing else, no script, no picture, no font, and
 *  loads itself anew every few seconds. */
void ab_page_print(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out);

#endif
