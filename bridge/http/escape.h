#ifndef BRIDGE_HTTP_ESCAPE_H
#define BRIDGE_HTTP_ESCAPE_H

#include <stdio.h>

/** Longest text that is shown, bytes with the NUL; what is beyond is left out. */
#define AB_HTTP_TEXT_MAX 1024

/** text as it may stand anywhere: well-formed UTF-8 without control characters
 * (bridge/core/text.h), at most AB_HTTP_TEXT_MAX. Returns ret_text. */
const char *ab_http_clean(const char *text, char ret_text[AB_HTTP_TEXT_MAX]);

/** Writes text as the text or an attribute's value of an HTML page. */
void ab_http_html(const char *text, FILE *out);

/** Writes text as the value of a label in Prometheus' text format, quotes included. */
void ab_http_label(const char *text, FILE *out);

#endif
