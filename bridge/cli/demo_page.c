#include "bridge/cli/demo_page.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agentwire/arena.h"
#include "agentwire/envelope.h"
#include "agentwire/field.h"
#include "agentwire/json.h"
#include "agentwire/utf8.h"

#define COLUMNS_MIN 80u
#define COLUMNS_MAX 100u
#define MARGIN      "  "
/* In front of the second line of a row. */
#define INDENT     "      "
#define CUT        "..."
#define LINES_MAX  3u
#define MEMORY_MAX (1024u * 1024u)

typedef enum style { STYLE_TITLE, STYLE_GOOD, STYLE_BAD, STYLE_QUIET, STYLE_COUNT } style_t;

/* What one row of the table shows. */
typedef struct row {
    const char *outcome;
    const char *what;
    uint64_t count;
    style_t style;
} row_t;

static const char *on(const ab_demo_page_t *page, style_t style)
{
    static const char *const codes[STYLE_COUNT] = {"\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[2m"};
    return page->colour ? codes[style] : "";
}

static const char *off(const ab_demo_page_t *page)
{
    return page->colour ? "\x1b[0m" : "";
}

ab_demo_page_t ab_demo_page_of(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    struct winsize size = {0};
    ab_demo_page_t page = {.out = out, .columns = COLUMNS_MAX};
    if (!isatty(fileno(out))) {
        return page;
    }
    page.colour = (no_color == NULL || no_color[0] == '\0') &&
                  (terminal == NULL || strcmp(terminal, "dumb") != 0);
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        size.ws_col < COLUMNS_MAX) {
        page.columns = size.ws_col > COLUMNS_MIN ? size.ws_col : COLUMNS_MIN;
    }
    return page;
}

static void title(const ab_demo_page_t *page, const char *text)
{
    (void)fprintf(page->out, "\n%s%s%s\n", on(page, STYLE_TITLE), text, off(page));
}

void ab_demo_page_begin(const ab_demo_page_t *page, const char *config, size_t records)
{
    (void)fprintf(
        page->out,
        "%sagent-bridge demo%s: the real relay on an embedded broker, all in this process.\n",
        on(page, STYLE_TITLE), off(page));
    title(page, "The configuration");
    for (const char *line = config; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        (void)fprintf(page->out, MARGIN "%.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
    title(page, "The run");
    (void)fprintf(page->out,
                  MARGIN
                  "%zu records are written to %s, some of them broken, and relayed.\n" MARGIN
                  "(About five seconds: the broker lets a new group wait three for its members.)\n",
                  records, ab_demo_topic_name(AB_DEMO_SOURCE));
    (void)fflush(page->out);
}

/* ---- rows ---- */

/* How much of a text that does not fit goes on a line of so much room: up to a comma, else a colon
 * or a blank, where there is one near the end; never a part of a character. */
static size_t break_at(aw_span_t text, size_t room)
{
    static const char marks[] = ",: ";
    for (const char *mark = marks; *mark != '\0'; mark++) {
        for (size_t size = room; size > room / 2; size--) {
            if (text.data[size - 1] == (uint8_t)*mark) {
                return size;
            }
        }
    }
    return aw_utf8_prefix(aw_span_view(text.data, room));
}

/* JSON behind the indent, on as many lines as it takes; what is very long is cut. */
static void print_json(const ab_demo_page_t *page, aw_span_t text)
{
    const size_t room = page->columns - strlen(INDENT);
    for (unsigned line = 1; text.size > 0; line++) {
        const bool fits = text.size <= room;
        const bool cut = !fits && line == LINES_MAX;
        const size_t size = fits ? text.size : break_at(text, cut ? room - strlen(CUT) : room);
        (void)fprintf(page->out, "%s" INDENT "%.*s%s%s\n", on(page, STYLE_QUIET), (int)size,
                      (const char *)text.data, cut ? CUT : "", off(page));
        text = cut ? AW_SPAN_NULL : aw_span_view(text.data + size, text.size - size);
    }
}

static void print_row(const ab_demo_page_t *page, const row_t *row, const ab_full_record_t *from,
                      const ab_full_record_t *to)
{
    (void)fprintf(page->out, MARGIN "%s%-13s%s %-18s %3" PRIu64, on(page, row->style), row->outcome,
                  off(page), row->what, row->count);
    if (from != NULL && to != NULL) {
        /* Not the offset: in which order the partitions of the source are read is chance. */
        (void)fprintf(page->out, "  %s:%" PRId32 ":%" PRId64 " -> %s:%" PRId32, from->record.topic,
                      from->record.partition, from->record.offset, to->record.topic,
                      to->record.partition);
    }
    (void)fputc('\n', page->out);
}

/* The message as JSON; false when it is none or memory is short. */
static bool message_json(aw_message_type_t id, aw_span_t value, aw_arena_t *memory,
                         aw_span_t *ret_text)
{
    const aw_message_t *message;
    aw_json_writer_t json;
    if (aw_message_decode(id, value, memory, &message, NULL) != AW_OK) {
        return false;
    }
    aw_json_init_arena(&json, AW_JSON_COMPACT, memory);
    aw_json_message(&json, message, memory);
    return aw_json_finish(&json, ret_text) == AW_OK;
}

/* True for what came out of this slot and has something to show. */
static bool is_example(const ab_demo_audit_t *audit, size_t index, ab_route_slot_t slot)
{
    size_t count;
    const ab_demo_record_t *planned = &ab_demo_plan_view(audit->plan, &count)[index];
    aw_envelope_view_t view = {0};
    return planned->outcome == AB_OUTCOME_ROUTED && planned->slot == slot &&
           audit->outputs[index] != NULL &&
           aw_envelope_scan(audit->outputs[index]->record.value, &view, NULL) == AW_OK &&
           (view.variant != AW_VARIANT_EXTERNAL_EVENT || view.external_event.size > 0);
}

/* The shortest envelope of this slot; false when none came out. */
static bool shortest_envelope(const ab_demo_audit_t *audit, ab_route_slot_t slot,
                              aw_arena_t *memory, size_t *ret_index, aw_span_t *ret_text)
{
    size_t count;
    size_t best = SIZE_MAX;
    (void)ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_example(audit, i, slot) &&
            (best == SIZE_MAX ||
             audit->outputs[i]->record.value.size < audit->outputs[best]->record.value.size)) {
            best = i;
        }
    }
    if (best == SIZE_MAX || !message_json(AW_MESSAGE_AGENT_ENVELOPE,
                                          audit->outputs[best]->record.value, memory, ret_text)) {
        return false;
    }
    *ret_index = best;
    return true;
}

/* The detail of a dead letter; absent when it cannot be read. */
static aw_span_t detail_of(const ab_full_record_t *letter, aw_arena_t *memory)
{
    aw_envelope_view_t view = {0};
    const aw_message_t *record;
    aw_field_t field;
    if (aw_envelope_scan(letter->record.value, &view, NULL) != AW_OK ||
        view.variant != AW_VARIANT_EXTERNAL_EVENT ||
        aw_message_decode(AW_MESSAGE_ACTIVATION_ERROR_RECORD, view.external_event, memory, &record,
                          NULL) != AW_OK ||
        !aw_field_get(AW_MESSAGE_ACTIVATION_ERROR_RECORD, AW_FIELD_ACTIVATION_ERROR_RECORD_DETAIL,
                      &field)) {
        return AW_SPAN_NULL;
    }
    return aw_message_value(record, &field, 0).as.bytes;
}

/* What tells two details apart: the place and the words. The rest is the same for all. */
static void print_detail(const ab_demo_page_t *page, aw_span_t detail)
{
    static const char *const members[] = {"at", "field", "text"};
    json_t *whole = json_loadb((const char *)detail.data, detail.size, 0, NULL);
    json_t *shown = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *member = json_object_get(whole, members[i]);
        if (member != NULL) {
            (void)json_object_set(shown, members[i], member);
        }
    }
    char *text = json_dumps(shown, JSON_COMPACT | JSON_SORT_KEYS);
    print_json(page, aw_span_text_view(text != NULL ? text : ""));
    free(text);
    json_decref(shown);
    json_decref(whole);
}

static void print_routed(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                         const ab_ledger_t *ledger, aw_arena_t *memory)
{
    static const aw_variant_t variants[] = {AW_VARIANT_EXTERNAL_EVENT, AW_VARIANT_TOOL_RESULT,
                                            AW_VARIANT_APPROVAL};
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    for (size_t slot = 0; slot < sizeof(variants) / sizeof(variants[0]); slot++) {
        const row_t row = {ab_outcome_name(AB_OUTCOME_ROUTED), aw_variant_name(variants[slot]),
                           ledger->routed[slot], STYLE_GOOD};
        size_t index;
        aw_span_t text;
        if (shortest_envelope(audit, (ab_route_slot_t)slot, memory, &index, &text)) {
            print_row(page, &row, &planned[index].message, audit->outputs[index]);
            print_json(page, text);
        } else {
            print_row(page, &row, NULL, NULL);
        }
    }
}

/* The shortest answer that was made from a state. */
static void print_answered(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                           const ab_ledger_t *ledger, aw_arena_t *memory)
{
    const row_t row = {ab_outcome_name(AB_OUTCOME_ANSWERED),
                       aw_variant_name(AW_VARIANT_EXPORT_REQUEST), ledger->answered, STYLE_GOOD};
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (planned[i].outcome == AB_OUTCOME_ANSWERED && planned[i].state != NULL &&
            audit->outputs[i] != NULL &&
            (best == count ||
             audit->outputs[i]->record.value.size < audit->outputs[best]->record.value.size)) {
            best = i;
        }
    }
    aw_span_t text;
    if (best < count && message_json(AW_MESSAGE_STATE_SNAPSHOT, audit->outputs[best]->record.value,
                                     memory, &text)) {
        print_row(page, &row, &planned[best].message, audit->outputs[best]);
        print_json(page, text);
    } else {
        print_row(page, &row, NULL, NULL);
    }
}

/* The first planned record of this reason that came out; NULL when there is none. */
static const ab_demo_record_t *first_letter(const ab_demo_audit_t *audit, ab_reason_t reason,
                                            const ab_full_record_t **ret_letter)
{
    size_t count;
    const ab_demo_record_t *planned = ab_demo_plan_view(audit->plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (planned[i].outcome == AB_OUTCOME_DEAD_LETTERED && planned[i].reason == reason &&
            audit->outputs[i] != NULL) {
            *ret_letter = audit->outputs[i];
            return &planned[i];
        }
    }
    return NULL;
}

static void print_dead(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                       const ab_ledger_t *ledger, aw_arena_t *memory)
{
    for (int reason = 0; reason < AB_REASON_COUNT; reason++) {
        const row_t row = {ab_outcome_name(AB_OUTCOME_DEAD_LETTERED),
                           ab_reason_code((ab_reason_t)reason), ledger->dead_lettered[reason],
                           STYLE_BAD};
        const ab_full_record_t *letter = NULL;
        const ab_demo_record_t *planned = first_letter(audit, (ab_reason_t)reason, &letter);
        if (row.count == 0 && planned == NULL) {
            continue;
        }
        print_row(page, &row, planned != NULL ? &planned->message : NULL, letter);
        if (letter != NULL) {
            print_detail(page, detail_of(letter, memory));
        }
    }
}

/* One detail as it is, with its member a line. */
static void print_whole(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                        aw_arena_t *memory)
{
    const ab_full_record_t *letter = NULL;
    const ab_demo_record_t *planned = first_letter(audit, AB_REASON_INVALID_UTF8, &letter);
    if (planned == NULL) {
        return;
    }
    const aw_span_t detail = detail_of(letter, memory);
    json_t *json = json_loadb((const char *)detail.data, detail.size, 0, NULL);
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);
    title(page, "The detail of one dead letter, whole (never payload bytes)");
    for (const char *line = text != NULL ? text : ""; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        (void)fprintf(page->out, "%.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
    free(text);
    json_decref(json);
}

int ab_demo_page_results(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                         const ab_ledger_t *ledger)
{
    const row_t dropped = {ab_outcome_name(AB_OUTCOME_DROPPED), "no route says drop",
                           ledger->dropped, STYLE_QUIET};
    aw_arena_t *memory = aw_arena_new(MEMORY_MAX);
    if (memory == NULL) {
        return -1;
    }
    title(page, "What became of them");
    (void)fprintf(page->out, "%s" MARGIN "%-13s %-16s %5s  %s%s\n", on(page, STYLE_QUIET),
                  "outcome", "what", "count", "one of them", off(page));
    print_routed(page, audit, ledger, memory);
    print_answered(page, audit, ledger, memory);
    print_dead(page, audit, ledger, memory);
    print_row(page, &dropped, NULL, NULL);
    print_whole(page, audit, memory);
    title(page, "The ledger");
    (void)fprintf(page->out,
                  MARGIN "%" PRIu64 " consumed = %" PRIu64 " routed + %" PRIu64
                         " answered + %" PRIu64 " dead_lettered + %" PRIu64 " dropped:\n" MARGIN
                         "%s\n",
                  ledger->consumed, ab_ledger_routed(ledger), ledger->answered,
                  ab_ledger_dead_lettered(ledger), ledger->dropped,
                  ab_ledger_balanced(ledger) ? "it balances" : "IT DOES NOT BALANCE");
    (void)fprintf(page->out,
                  MARGIN "%" PRIu64 " of the routed and answered came without a record key\n",
                  ledger->keyless);
    aw_arena_free(memory);
    return 0;
}

/* ---- the end ---- */

static void print_verdict(const ab_demo_page_t *page, const ab_demo_audit_t *audit)
{
    size_t count;
    (void)ab_demo_plan_view(audit->plan, &count);
    title(page, "Read back and compared with what was sent");
    (void)fprintf(
        page->out,
        MARGIN
        "%zu routed: value, key, headers in their order, timestamp, partition (murmur2)\n" MARGIN
        "%zu answers: published state under the request's time and id, key, headers\n" MARGIN
        "%zu dead letters: decoded, reason, detail, source, every header\n" MARGIN
        "%zu in quarantine: the record byte for byte\n",
        audit->routed, audit->answered, audit->letters, audit->quarantined);
    if (audit->differences == 0) {
        (void)fprintf(page->out,
                      MARGIN
                      "%sEvery byte arrived as sent, each record once, each key in order.%s\n",
                      on(page, STYLE_GOOD), off(page));
        return;
    }
    (void)fprintf(page->out, MARGIN "%s%zu differences:%s\n", on(page, STYLE_BAD),
                  audit->differences, off(page));
    for (size_t i = 0; i < audit->differences && i < AB_DEMO_LINES_MAX; i++) {
        (void)fprintf(page->out, MARGIN MARGIN "%s\n", audit->lines[i]);
    }
    if (audit->differences > AB_DEMO_LINES_MAX) {
        (void)fprintf(page->out, MARGIN MARGIN "and %zu more\n",
                      audit->differences - AB_DEMO_LINES_MAX);
    }
}

void ab_demo_page_end(const ab_demo_page_t *page, const ab_demo_audit_t *audit)
{
    print_verdict(page, audit);
    title(page, "What this does not show");
    (void)fputs(MARGIN
                "Exactly-once: the embedded broker keeps no offsets of a transaction, and\n" MARGIN
                "shows aborted records to everyone. 'make test' proves it on a real Apache\n" MARGIN
                "Kafka, with kill -9 and rebalances, and counts every record.\n",
                page->out);
    title(page, "What to try next");
    if (strchr(program_invocation_name, '/') != NULL) {
        (void)fprintf(page->out, MARGIN "(agent-bridge is %s here)\n", program_invocation_name);
    }
    (void)fputs(
        MARGIN
        "make broker                         an Apache Kafka on loopback\n" MARGIN
        "agent-bridge lint -c config.yaml    every mistake at once, without a broker\n" MARGIN
        "agent-bridge run -c config.yaml     relay until SIGTERM\n" MARGIN
        "agent-bridge inspect --errors FILE  a dead letter as JSON\n" MARGIN
        "docs/configuration.md               every key; begin with the text above\n",
        page->out);
}
