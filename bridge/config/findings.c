#include "bridge/config/place.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a finding one line of valid UTF-8: no control characters, and no half of a character where
 * the text was cut. */
static void make_line(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
    size_t size = strlen(text);
    size_t start = size;
    while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xc0u) == 0x80u) {
        start--;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (need > 1 && size - (start - 1) < need) {
        text[start - 1] = '\0';
    }
}

/* The slot for one more finding: a mistake takes the place of the last warning when all are taken.
 */
static ab_finding_t *next_slot(ab_findings_t *findings, bool warning)
{
    if (findings->count < AB_FINDINGS_MAX) {
        return &findings->items[findings->count++];
    }
    if (!warning) {
        for (size_t i = AB_FINDINGS_MAX; i > 0; i--) {
            if (findings->items[i - 1].warning) {
                return &findings->items[i - 1];
            }
        }
    }
    return NULL;
}

static void add(ab_findings_t *findings, bool warning, unsigned line, unsigned column,
                const char *key, char *message)
{
    if (warning) {
        findings->warnings++;
    } else {
        findings->mistakes++;
    }
    ab_finding_t *finding = next_slot(findings, warning);
    if (finding == NULL) {
        return;
    }
    finding->warning = warning;
    finding->line = line;
    finding->column = column;
    snprintf(finding->key, sizeof(finding->key), "%s", key);
    make_line(finding->key);
    make_line(message);
    memcpy(finding->message, message, strlen(message) + 1);
}

void ab_findings_add_at(ab_findings_t *findings, bool warning, unsigned line, unsigned column,
                        const char *key, const char *format, ...)
{
    char message[AB_FINDING_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    add(findings, warning, line, column, key, message);
}

void ab_findings_add(ab_findings_t *findings, bool warning, unsigned line, const char *key,
                     const char *format, ...)
{
    char message[AB_FINDING_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    add(findings, warning, line, 0, key, message);
}

void ab_place_mistake(const ab_place_t *place, const char *format, ...)
{
    char message[AB_FINDING_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    add(place->findings, false, place->line, place->column, place->key, message);
}

void ab_place_warning(const ab_place_t *place, const char *format, ...)
{
    char message[AB_FINDING_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    add(place->findings, true, place->line, place->column, place->key, message);
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

bool ab_place_enter(ab_place_t *place, const char *name)
{
    size_t taken = 0;
    while (is_word_byte(name[taken])) {
        taken++;
    }
    size_t size = strlen(place->key);
    snprintf(place->key + size, sizeof(place->key) - size, "%s%.*s",
             size > 0 && taken > 0 ? "." : "",
             (int)(taken < sizeof(place->key) ? taken : sizeof(place->key)), name);
    return taken > 0 && name[taken] == '\0';
}

void ab_place_enter_item(ab_place_t *place, size_t index)
{
    size_t size = strlen(place->key);
    snprintf(place->key + size, sizeof(place->key) - size, "[%zu]", index);
}

const char *ab_shown(const char *text, char ret_shown[AB_SHOWN_MAX])
{
    const size_t most = AB_SHOWN_MAX - sizeof("...");
    size_t size = 0;
    while (size < most && text[size] != '\0') {
        ret_shown[size] = text[size] >= ' ' && text[size] <= '~' ? text[size] : '?';
        size++;
    }
    memcpy(ret_shown + size, text[size] != '\0' ? "..." : "", text[size] != '\0' ? 4 : 1);
    return ret_shown;
}

static int compare_position(const void *left, const void *right)
{
    const ab_finding_t *a = *(const ab_finding_t *const *)left;
    const ab_finding_t *b = *(const ab_finding_t *const *)right;
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return a < b ? -1 : a > b; /* as they were found */
}

size_t ab_findings_sorted(const ab_findings_t *findings,
                          const ab_finding_t *ret_sorted[AB_FINDINGS_MAX])
{
    for (size_t i = 0; i < findings->count; i++) {
        ret_sorted[i] = &findings->items[i];
    }
    if (findings->count > 1) {
        qsort(ret_sorted, findings->count, sizeof(ret_sorted[0]), compare_position);
    }
    return findings->count;
}

void ab_findings_print(const ab_findings_t *findings, const char *file, FILE *out)
{
    const ab_finding_t *sorted[AB_FINDINGS_MAX];
    size_t count = ab_findings_sorted(findings, sorted);
    for (size_t i = 0; i < count; i++) {
        const ab_finding_t *finding = sorted[i];
        fputs(file, out);
        if (finding->line > 0) {
            fprintf(out, ":%u", finding->line);
        }
        if (finding->line > 0 && finding->column > 0) {
            fprintf(out, ":%u", finding->column);
        }
        fprintf(out, ": %s: %s%s%s\n", finding->warning ? "warning" : "error", finding->key,
                finding->key[0] != '\0' ? ": " : "", finding->message);
    }
    size_t hidden = findings->mistakes + findings->warnings - findings->count;
    if (hidden > 0) {
        fprintf(out, "%s: note: %zu more findings are not shown; mend these first\n", file, hidden);
    }
}
