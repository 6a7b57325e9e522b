#include "bridge/config/config.h"

#include <string.h>

#include "bridge/config/value.h"

static const char introduction[] =
    "# Configuration\n"
    "\n"
    "<!-- Generated from the table in bridge/config/table.c: `agent-bridge lint --print-docs` "
    "prints "
    "this page. -->\n"
    "\n"
    "One YAML file says what the bridge does; JSON will do, since it is YAML too. It is the file "
    "of "
    "`-c FILE`, else\n"
    "of `$AGENT_BRIDGE_CONFIG`, else `/etc/agent-bridge/config.yaml`. It is read once, at the "
    "start: "
    "a change takes a\n"
    "restart. `agent-bridge lint` checks it without a broker and names every mistake at once, with "
    "line and column.\n"
    "\n"
    "This is all that is required:\n"
    "\n"
    "```yaml\n"
    "kafka:\n"
    "  bootstrap.servers: broker:9092\n"
    "group: agent-bridge\n"
    "sources:\n"
    "  - topic: agents.in\n"
    "    routes:\n"
    "      external_event: agents.events\n"
    "      tool_result: agents.results\n"
    "      approval: agents.approvals\n"
    "      export_request: agents.exports\n"
    "```\n"
    "\n"
    "## How values are written\n"
    "\n"
    "- Sizes and durations carry their unit, without a blank: `8MiB` (`B`, `KiB`, `MiB`, `GiB`), "
    "`100ms` (`ms`, `s`, `m`, `h`).\n"
    "- A topic is 1 to 249 letters, digits, dots, underscores or dashes.\n"
    "- A time is RFC 3339 with its zone: `2026-01-31T00:00:00Z`, `2026-01-31T01:00:00.5+01:00`.\n"
    "- In every value, `${VAR}` stands for an environment variable, which must be set; "
    "`${VAR:-default}` has a default for\n"
    "  one that is not set or empty; `${VAR:?text}` refuses that with a text of yours; `$$` is a "
    "dollar. Keys are taken as\n"
    "  they are, and what a variable holds is never read as YAML nor expanded again. Inside YAML's "
    "`{…}` and `[…]` a value\n"
    "  with `${VAR}` needs quotes.\n"
    "- Under `kafka`, `consumer` and `producer` a value may be a reference: `file:/path` is what "
    "the "
    "file holds, without\n"
    "  the newline at its end, `env:NAME` what the variable holds. Variables may stand in the path "
    "(`file:${DIR}/password`).\n"
    "  What is said about a configuration never repeats a value from under these three keys, nor "
    "what "
    "a reference holds.\n"
    "- A key that is not known, a key written twice, anchors, aliases, tags and a second document "
    "are mistakes.\n";

static const char agreement[] =
    "\n## What must fit together\n"
    "\n"
    "- A topic is a source once, and no output is a source: not a route, not `errors.topic`, not "
    "`errors.quarantine`, nor\n"
    "  the topics these default to.\n"
    "- With `export_request: answer` both `snapshots.topic` and `state.snapshots_from` are "
    "written. None of\n"
    "  `state.snapshots_from` is an output, and with several lanes only one source answers.\n"
    "- The quarantine is a topic of its own: neither a route nor a topic for dead letters.\n"
    "- `delivery.commit_interval` is shorter than `delivery.transaction_timeout`.\n"
    "- `max_value` of every source fits into `memory.per_lane`.\n"
    "- The names made by default from a source's (`.errors`, `.quarantine`) are topic names too: "
    "at "
    "most 249 characters.\n"
    "\n"
    "Warnings do not keep the bridge from starting, but make `lint` end with 1: a secret written "
    "into "
    "the file, dead\n"
    "letters on a topic that is also a route, `on_key_mismatch: ignore`.\n";

/* Writes a list of words as code: `a`, `b` or `c`. */
static void print_words(const char *words, FILE *out)
{
    size_t size;
    const char *at = words;
    const char *word;
    while ((word = ab_word_next(&at, &size)) != NULL) {
        const char *between = word == words ? "" : *at == '\0' ? " or " : ", ";
        fprintf(out, "%s`%.*s`", between, (int)size, word);
    }
}

static void print_limits(const ab_key_t *key, FILE *out)
{
    char low[AB_NUMBER_TEXT_MAX], high[AB_NUMBER_TEXT_MAX];
    fprintf(out, "%s to %s", ab_number_text(key, key->min, low),
            ab_number_text(key, key->max, high));
}

static void print_type(const ab_key_t *key, FILE *out)
{
    switch (key->type) {
    case AB_KEY_SOURCES:
        fprintf(out, "list of %u to %u sources", (unsigned)key->min, (unsigned)key->max);
        break;
    case AB_KEY_PROPERTIES:
        fputs("properties", out);
        break;
    case AB_KEY_PROPERTY:
        fputs("text", out);
        break;
    case AB_KEY_NAME:
        fprintf(out, "name, up to %u characters", (unsigned)key->max);
        break;
    case AB_KEY_TOPIC:
        fputs("topic", out);
        break;
    case AB_KEY_TOPICS:
        fprintf(out, "list of up to %u topics", (unsigned)key->max);
        break;
    case AB_KEY_PATH:
        fprintf(out, "path, up to %u characters", (unsigned)key->max);
        break;
    case AB_KEY_OPTIONAL_TOPIC:
    case AB_KEY_ROUTE:
        fputs(strchr(key->words, '|') != NULL ? "topic, " : "topic or ", out);
        print_words(key->words, out);
        break;
    case AB_KEY_START:
        print_words(key->words, out);
        fputs(", or a time", out);
        break;
    case AB_KEY_WORD:
        print_words(key->words, out);
        break;
    case AB_KEY_LISTEN:
        fputs("address and port, or ", out);
        print_words(key->words, out);
        break;
    case AB_KEY_SECTION:
        fputs("the keys below, or ", out);
        print_words(key->words, out);
        break;
    case AB_KEY_RATIO:
        fputs("number between 0 and 1, up to three decimals", out);
        break;
    case AB_KEY_BOOL:
        fputs("`false` or `true`", out);
        break;
    default:
        fprintf(out, "%s, ",
                key->type == AB_KEY_SIZE       ? "size"
                : key->type == AB_KEY_DURATION ? "duration"
                                               : "number");
        print_limits(key, out);
        break;
    }
}

static void print_row(const ab_key_t *key, FILE *out)
{
    fprintf(out, "| `%s` | ", key->type == AB_KEY_PROPERTY ? key->path : ab_key_name_view(key));
    print_type(key, out);
    if (key->fallback == NULL) {
        fprintf(out, " | %s", ab_key_is_required(key) ? "**required**" : "none");
    } else if (key->fallback[0] == '<') {
        const char *end = strchr(key->fallback, '>');
        fprintf(out, " | *%.*s*%s", (int)(end - key->fallback - 1), key->fallback + 1, end + 1);
    } else {
        fprintf(out, " | `%s`", key->fallback);
    }
    fprintf(out, " | %s |\n", key->help);
}

/* Writes the keys of one section, with its own help above. */
static void print_section(const char *heading, const char *help, const char *prefix, FILE *out)
{
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    fprintf(out, "\n### %s\n\n%s%s| key | value | default | meaning |\n|---|---|---|---|\n",
            heading, help, help[0] != '\0' ? "\n\n" : "");
    for (size_t i = 0; i < count; i++) {
        bool mine = ab_key_is_in(&keys[i], prefix) ||
                    (keys[i].type == AB_KEY_PROPERTY && prefix[0] == '\0');
        const bool bare = keys[i].type == AB_KEY_SECTION && keys[i].words == NULL;
        if (mine && !bare && keys[i].type != AB_KEY_LATER) {
            print_row(&keys[i], out);
        }
    }
}

static void print_owned(FILE *out)
{
    size_t count;
    const ab_owned_t *owned = ab_owned_view(&count);
    fputs(
        "\n## Properties that are refused\n\n"
        "`kafka`, `consumer` and `producer` take librdkafka's properties, as its CONFIGURATION.md "
        "names them, but for\nthese, which the bridge's promises rest on. `bootstrap.servers` "
        "stands under `kafka` only.\n\n"
        "| property | why |\n|---|---|\n",
        out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "| `%s` | %s |\n", owned[i].name, owned[i].why);
    }
}

void ab_config_print_docs(FILE *out)
{
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    fputs(introduction, out);
    fputs("\n## Keys\n", out);
    print_section("At the top", "", "", out);
    for (size_t i = 0; i < count; i++) {
        char heading[64];
        if (keys[i].type == AB_KEY_SOURCES) {
            print_section("`sources`, each member", "", "sources[]", out);
        } else if (keys[i].type == AB_KEY_SECTION) {
            const char *path = keys[i].path;
            bool of_source = strncmp(path, "sources[].", 10) == 0;
            snprintf(heading, sizeof(heading), "`%s`%s", path + (of_source ? 10 : 0),
                     of_source ? ", of a source" : "");
            print_section(heading, keys[i].words == NULL ? keys[i].help : "", path, out);
        }
    }
    print_owned(out);
    fputs(agreement, out);
}
