#include "bridge/http/escape.h"

#include "bridge/core/text.h"

const char *ab_http_clean(const char *text, char ret_text[AB_HTTP_TEXT_MAX])
{
    (void)ab_text_clean(aw_span_text_view(text), ret_text, AB_HTTP_TEXT_MAX);
    return ret_text;
}

void ab_http_html(const char *text, FILE *out)
{
    char clean[AB_HTTP_TEXT_MAX];
    for (const char *at = ab_http_clean(text, clean); *at != '\0'; at++) {
        switch (*at) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\'':
            (void)fputs("&#39;", out);
            break;
        default:
            (void)fputc(*at, out);
            break;
        }
    }
}

void ab_http_label(const char *text, FILE *out)
{
    char clean[AB_HTTP_TEXT_MAX];
    (void)fputc('"', out);
    for (const char *at = ab_http_clean(text, clean); *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*at, out);
    }
    (void)fputc('"', out);
}
