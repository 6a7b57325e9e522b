#include "bridge/core/reason.h"

#include <assert.h>

typedef struct reason_row {
    const char *code;
    ab_severity_t severity;
    bool redrivable;
    const char *meaning;
    const char *remedy;
} reason_row_t;

static const reason_row_t REASONS[AB_REASON_COUNT] = {
    [AB_REASON_NONE] = {"", AB_SEVERITY_PRODUCER, false, "", ""},
#define REASON_ROW(id, code, severity, redrive, meaning, remedy)                                   \
    [AB_REASON_##id] = {code, AB_SEVERITY_##severity, redrive, meaning, remedy},
    AB_REASON_LIST(REASON_ROW)
#undef REASON_ROW
};

#define REASON_FITS(id, code, severity, redrive, meaning, remedy)                                  \
    _Static_assert(sizeof(meaning) - 1 <= AB_REASON_MEANING_MAX,                                   \
                   "the meaning of " code " is too long");
AB_REASON_LIST(REASON_FITS)
#undef REASON_FITS

static const char *const SEVERITIES[AB_SEVERITY_COUNT] = {
    [AB_SEVERITY_PRODUCER] = "producer",
    [AB_SEVERITY_POLICY] = "policy",
    [AB_SEVERITY_BROKER] = "broker",
};

static const char *const RESERVED[] = {
    "activation_error", "activation_timeout",    "budget_exceeded",
    "orphaned_result",  "hitl_timeout",          "ttl_wiped_suspension",
    "ttl_wiped_batch",  "batch_buffer_overflow", "intent_dead_letter",
};

static const reason_row_t *row_of(ab_reason_t reason)
{
    assert((unsigned)reason < AB_REASON_COUNT);
    return &REASONS[reason];
}

const char *ab_reason_code(ab_reason_t reason)
{
    return row_of(reason)->code;
}

const char *ab_reason_meaning(ab_reason_t reason)
{
    return row_of(reason)->meaning;
}

ab_severity_t ab_reason_severity(ab_reason_t reason)
{
    return row_of(reason)->severity;
}

bool ab_reason_redrivable(ab_reason_t reason)
{
    return row_of(reason)->redrivable;
}

const char *ab_severity_name(ab_severity_t severity)
{
    assert((unsigned)severity < AB_SEVERITY_COUNT);
    return SEVERITIES[severity];
}

const char *ab_reason_reserved(size_t index)
{
    return index < sizeof(RESERVED) / sizeof(RESERVED[0]) ? RESERVED[index] : NULL;
}

static const char DOCS_HEAD[] =
    "# Reasons\n"
    "\n"
    "<!-- Generated from the table in bridge/core/reason.h: `agent-bridge version --print-reasons` "
    "prints this page. -->\n"
    "\n"
    "Why a record became a dead letter. The code is the `reason` of the ActivationErrorRecord, "
    "the\n"
    "header `__agent_bridge.reason` and the `reason` of the log's `dead_letter` lines. Codes\n"
    "are frozen: a new cause gets a new code, and no code ever changes its meaning.\n"
    "[dead-letters.md](dead-letters.md) says what a dead letter holds.\n"
    "\n"
    "The cause lies with the `producer` (the bytes are wrong for every reader), with the `policy`\n"
    "(another configuration would have let the record pass) or with the `broker` (an output\n"
    "topic and its limits). *Redrive* says whether the same bytes can pass later, after a change\n"
    "on this side.\n"
    "\n"
    "| code | cause | redrive | meaning | what to do |\n"
    "|---|---|---|---|---|\n";

static const char DOCS_RESERVED[] = "\n"
                                    "## Reserved\n"
                                    "\n"
                                    "These codes belong to the agents' own runtime, which writes "
                                    "ActivationErrorRecords too. agent-bridge\n"
                                    "never writes them:\n"
                                    "\n";

void ab_reason_print_docs(FILE *out)
{
    (void)fputs(DOCS_HEAD, out);
    for (unsigned i = AB_REASON_NONE + 1; i < AB_REASON_COUNT; i++) {
        const reason_row_t *row = &REASONS[i];
        (void)fprintf(out, "| `%s` | %s | %s | %s | %s |\n", row->code,
                      ab_severity_name(row->severity),
                      row->redrivable ? "can help" : "does not help", row->meaning, row->remedy);
    }
    (void)fputs(DOCS_RESERVED, out);
    for (size_t i = 0; ab_reason_reserved(i) != NULL; i++) {
        (void)fprintf(out, "- `%s`\n", ab_reason_reserved(i));
    }
}
