#include "bridge/http/page.h"

#include <inttypes.h>

#include "bridge/http/answer.h"
#include "bridge/http/escape.h"

#define RELOAD_SECONDS 5

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"refresh\" content=\"%d\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>agent-bridge</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:1.5rem auto;padding:0 1rem}\n"
    "h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:1.5rem 0 .3rem}\n"
    ".state{padding:.4rem .8rem;border-radius:.3rem;color:#fff;margin:.8rem 0}\n"
    ".good{background:#1a7f37}.bad{background:#b42318}\n"
    "table{border-collapse:collapse}\n"
    "th,td{padding:.15rem .9rem .15rem 0;text-align:left;vertical-align:top}\n"
    "th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "tbody tr{border-top:1px solid #8884}\n"
    "</style>\n"
    "</head>\n"
    "<body>\n";

static void print_heading(const char *text, FILE *out)
{
    (void)fprintf(out, "<h2>%s</h2>\n", text);
}

/* A row of a name and a text. */
static void print_text(const char *name, const char *text, FILE *out)
{
    (void)fprintf(out, "<tr><td>%s</td><td>", name);
    ab_http_html(text, out);
    (void)fputs("</td></tr>\n", out);
}

/* A row of a name and a number. */
static void print_number(const char *name, uint64_t number, FILE *out)
{
    (void)fprintf(out, "<tr><td>%s</td><td class=\"n\">%" PRIu64 "</td></tr>\n", name, number);
}

/* Seconds as people say them: "3 d 4 h", "2 m 5 s". */
static void duration_text(double seconds, char ret_text[64])
{
    const uint64_t whole = (uint64_t)(seconds > 0 ? seconds : 0);
    if (whole >= 86400) {
        (void)snprintf(ret_text, 64, "%" PRIu64 " d %" PRIu64 " h", whole / 86400,
                       whole % 86400 / 3600);
    } else if (whole >= 3600) {
        (void)snprintf(ret_text, 64, "%" PRIu64 " h %" PRIu64 " m", whole / 3600,
                       whole % 3600 / 60);
    } else if (whole >= 60) {
        (void)snprintf(ret_text, 64, "%" PRIu64 " m %" PRIu64 " s", whole / 60, whole % 60);
    } else {
        (void)snprintf(ret_text, 64, "%.1f s", seconds > 0 ? seconds : 0);
    }
}

static void print_state(const ab_status_t *status, FILE *out)
{
    const ab_ready_t ready = ab_status_ready(status);
    const bool live = ab_status_alive(status, AB_HTTP_LIVE_SECONDS);
    const bool good = ready == AB_READY_READY && live;
    (void)fprintf(out, "<p class=\"state %s\">", good ? "good" : "bad");
    (void)fputs(good                      ? "Ready"
                : ready == AB_READY_READY ? "Ready, but not live"
                                          : "Not ready: ",
                out);
    if (ready != AB_READY_READY) {
        ab_http_html(ab_ready_text(ready), out);
    }
    (void)fputs("</p>\n", out);
}

static void print_process(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    char uptime[64];
    duration_text(status->uptime_seconds, uptime);
    (void)fputs("<table><tbody>\n", out);
    print_text("version", facts->version, out);
    if (facts->revision[0] != '\0') {
        print_text("commit", facts->revision, out);
    }
    print_text("config", facts->config_file, out);
    print_text("group", facts->group, out);
    print_text("instance", facts->instance, out);
    print_text("guarantee", facts->guarantee, out);
    print_text("phase", ab_relay_phase_label(status->phase), out);
    print_text("up", uptime, out);
    (void)fputs("</tbody></table>\n", out);
}

static void print_sources(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    print_heading("Sources", out);
    (void)fputs("<table><thead><tr><th>topic</th><th>partitions</th><th>pending</th>"
                "<th>stopped</th><th>stuck</th><th>open breakers</th><th>lag</th><th>oldest "
                "unfinished</th></tr></thead>"
                "<tbody>\n",
                out);
    for (size_t i = 0; i < status->source_count && i < facts->topic_count; i++) {
        const ab_source_status_t *source = &status->sources[i];
        char age[64];
        duration_text(source->oldest_unfinished_seconds, age);
        (void)fputs("<tr><td>", out);
        ab_http_html(facts->topics[i], out);
        (void)fprintf(out,
                      "</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu32
                      "</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu32
                      "</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu64
                      "</td><td class=\"n\">%s</td></tr>\n",
                      source->assigned, source->pending, source->stopped, source->stuck,
                      source->open_breakers, source->lag_records, age);
    }
    (void)fputs("</tbody></table>\n", out);
}

static void print_states(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    if (status->state_count == 0) {
        return;
    }
    print_heading("Published state", out);
    (void)fputs("<table><thead><tr><th>topic</th><th>partitions</th><th>restoring</th>"
                "<th>lag</th><th>keys</th><th>marked</th><th>bytes</th></tr></thead><tbody>\n",
                out);
    for (size_t i = 0; i < status->state_count && i < facts->state_topic_count; i++) {
        const ab_state_status_t *state = &status->states[i];
        (void)fputs("<tr><td>", out);
        ab_http_html(facts->state_topics[i], out);
        (void)fprintf(out,
                      "</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu32
                      "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                      "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                      "</td></tr>\n",
                      state->partitions, state->restoring, state->lag_records, state->keys,
                      state->marked_keys, state->size_bytes);
    }
    (void)fputs("</tbody></table>\n", out);
}

static void print_ledger(const ab_counters_t *total, FILE *out)
{
    const ab_ledger_t *ledger = &total->ledger;
    print_heading("Records since the start", out);
    (void)fputs("<table><tbody>\n", out);
    print_number("consumed", ledger->consumed, out);
    print_number("routed", ab_ledger_routed(ledger), out);
    print_number("answered", ledger->answered, out);
    print_number("dead-lettered", ab_ledger_dead_lettered(ledger), out);
    print_number("dropped", ledger->dropped, out);
    print_text("balance",
               ab_ledger_balanced(ledger) ? "every record has one outcome"
                                          : "does not balance: a bug, keep the log and report it",
               out);
    (void)fputs("</tbody></table>\n", out);
    print_heading("Routed by variant", out);
    (void)fputs("<table><tbody>\n", out);
    for (int slot = 0; slot < AB_SLOT_COUNT; slot++) {
        print_number(ab_slot_label((ab_route_slot_t)slot), ledger->routed[slot], out);
    }
    (void)fputs("</tbody></table>\n", out);
    if (ab_ledger_dead_lettered(ledger) == 0) {
        return;
    }
    print_heading("Dead letters by reason", out);
    (void)fputs("<table><tbody>\n", out);
    for (int i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        if (ledger->dead_lettered[i] > 0) {
            const ab_reason_t reason = (ab_reason_t)i;
            (void)fprintf(out, "<tr><td>%s</td><td class=\"n\">%" PRIu64 "</td><td>",
                          ab_reason_code(reason), ledger->dead_lettered[i]);
            ab_http_html(ab_reason_meaning(reason), out);
            (void)fputs("</td></tr>\n", out);
        }
    }
    (void)fputs("</tbody></table>\n", out);
}

static void print_lanes(const ab_status_t *status, FILE *out)
{
    print_heading("Lanes", out);
    (void)fputs("<table><thead><tr><th>lane</th><th>phase</th><th>loop turned</th>"
                "<th>bytes in flight</th><th>transactions</th><th>aborted</th><th>restarts</th>"
                "</tr></thead><tbody>\n",
                out);
    for (unsigned i = 0; i < status->lane_count; i++) {
        const ab_lane_status_t *lane = &status->lanes[i];
        const uint64_t *transactions = lane->counters.transactions;
        char age[64];
        duration_text(lane->tick_seconds, age);
        (void)fprintf(
            out,
            "<tr><td>%u</td><td>%s</td><td class=\"n\">%s ago</td><td class=\"n\">%" PRIu64
            "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
            "</td><td class=\"n\">%" PRIu64 "</td></tr>\n",
            i, ab_phase_label(lane->phase), age, lane->inflight_bytes,
            transactions[AB_TXN_COMMITTED],
            transactions[AB_TXN_ABORTED] + transactions[AB_TXN_FENCED],
            lane->counters.lane_restarts);
    }
    (void)fputs("</tbody></table>\n", out);
}

static void print_paths(FILE *out)
{
    size_t count;
    const ab_endpoint_t *endpoints = ab_endpoints_view(&count);
    print_heading("For machines", out);
    (void)fputs("<table><tbody>\n", out);
    for (size_t i = 1; i < count; i++) {
        (void)fprintf(out, "<tr><td><a href=\"%s\">%s</a></td><td>", endpoints[i].path,
                      endpoints[i].path);
        ab_http_html(endpoints[i].summary, out);
        (void)fputs("</td></tr>\n", out);
    }
    (void)fputs("</tbody></table>\n", out);
}

void ab_page_print(const ab_http_facts_t *facts, const ab_status_t *status, FILE *out)
{
    (void)fprintf(out, head, RELOAD_SECONDS);
    (void)fputs("<h1>agent-bridge</h1>\n", out);
    print_state(status, out);
    print_process(facts, status, out);
    print_sources(facts, status, out);
    print_states(facts, status, out);
    print_ledger(&status->total, out);
    print_lanes(status, out);
    print_paths(out);
    (void)fputs("</body>\n</html>\n", out);
}
