/* Prints docs/tea.md out of the tables in codec/tea. */

#include <stdio.h>
#include <string.h>

#include "codec/tea/schema.h"

/** Most objects and rules that the page describes. */
#define SEEN_MAX 128u

/** What was met in the tables and is still to be described, in the order of meeting. */
static const aw__tea_object_t *objects[SEEN_MAX];
static const aw__tea_choice_t *choices[SEEN_MAX];
static size_t object_count;
static size_t choice_count;

static const char HEAD[] =
    "# tea-protocol 1.0\n"
    "\n"
    "<!-- Generated from the tables in codec/tea/: `build/dev/tests/unit/codec/tea_docs` prints "
    "this page. -->\n"
    "\n"
    "Peers of the agents speak tea-protocol JSON: commands, events, records and protocol errors. "
    "`agentwire/tea.h` reads,\n"
    "judges and writes all four; a source with `contract: tea` takes an `external_event` only if "
    "its "
    "bytes are one of them.\n"
    "\n"
    "    agent-bridge inspect --contract tea FILE         the canonical text, or the rule that is "
    "broken "
    "and where\n"
    "\n"
    "## How a text is judged\n"
    "\n"
    "Which kind a text is stands nowhere in it: the channel decides. Under `contract: tea`, where "
    "there is "
    "no such channel,\n"
    "the members `commandId`, `eventId`, `recordId` and `error` each speak for their kind; the "
    "text passes "
    "when one of the\n"
    "kinds that are spoken for accepts it. The first step that fails gives the verdict:\n"
    "\n"
    "1. The text is JSON (RFC 8259) in UTF-8, without a byte-order mark, at most 127 containers "
    "deep, each "
    "number within a\n"
    "   double: else `malformed_json`. Size is the caller's to bound before; the bridge does with "
    "`max_value`.\n"
    "2. No object has a key twice, at any depth, ignored members included: else `duplicate_key`.\n"
    "3. Commands and records: `protocolVersion` is canonical, and its major part is 1: else "
    "`invalid` or\n"
    "   `unsupported_version`; then `type` is known: else `unsupported_type`.\n"
    "   Events: `type` comes first. An unknown one with "
    "`\"compatibility\":\"skippable_observation\"`, at most "
    "65,536 bytes\n"
    "   and 32 containers, of major 1 and with good IDs, sequence and timestamp, is `skippable`; "
    "without the "
    "marker it is\n"
    "   `unsupported_state_bearing`.\n"
    "4. Every rule of the tables below: else `invalid` with a label.\n"
    "\n"
    "A verdict has a class, for `invalid` a label, the byte offset of the fault where it is known, "
    "and a JSON "
    "pointer to the\n"
    "value; a missing member is named as if it were there. The bridge routes `ok` and `skippable` "
    "byte for "
    "byte and\n"
    "dead-letters the rest: `unsupported_version` under that reason, everything else as "
    "`contract_violation`. In a dead letter\n"
    "the pointer ends where names begin that the text itself brought along.\n"
    "\n"
    "Canonical text is compact, members sorted by the bytes of their keys (a protocol error's "
    "stand in the "
    "order of its\n"
    "table), unknown members and empty metadata left out, timestamps in UTC, URLs as WHATWG "
    "serializes them, "
    "doubles in their\n"
    "shortest digits. It is its own canonical text. Host names beyond ASCII are refused: this "
    "library has no "
    "IDNA tables; an\n"
    "`xn--` label passes as it stands.\n"
    "\n"
    "Edition A is the published protocol and the default. Edition B, a switch of the library, "
    "makes commands "
    "strict and adds\n"
    "what the tables mark with (B). Its output schemas are held to the keywords of Draft 2020-12; "
    "patterns and "
    "local\n"
    "references are not followed.\n";

static void print_rows_of_names(void)
{
    printf("\n## Classes\n\n| class | meaning |\n|---|---|\n");
#define ROW(id, number, name, meaning) printf("| `%s` | %s |\n", name, meaning);
    AW_TEA_CLASS_LIST(ROW)
    printf("\n## Labels\n\n| label | meaning |\n|---|---|\n");
    for (int label = AW_TEA_LABEL_NONE + 1; label <= AW_TEA_LABEL_SCHEMA; label++) {
        printf("| `%s` | %s |\n", aw_tea_label_name((aw_tea_label_t)label),
               aw_tea_label_meaning((aw_tea_label_t)label));
    }
#undef ROW
}

static void note_object(const aw__tea_object_t *object)
{
    for (size_t i = 0; i < object_count; i++) {
        if (objects[i] == object) {
            return;
        }
    }
    objects[object_count++] = object;
}

static void note_choice(const aw__tea_choice_t *choice)
{
    for (size_t i = 0; i < choice_count; i++) {
        if (choices[i] == choice) {
            return;
        }
    }
    choices[choice_count++] = choice;
}

static void print_chars(unsigned set)
{
    static const struct {
        unsigned bit;
        const char *text;
    } names[] = {
        {AW__TEA_LOWER, "a-z"},      {AW__TEA_UPPER, "A-Z"}, {AW__TEA_DIGIT, "0-9"},
        {AW__TEA_UNDERSCORE, "_"},   {AW__TEA_HYPHEN, "-"},  {AW__TEA_DOT, "."},
        {AW__TEA_SLASH, "/"},        {AW__TEA_COLON, ":"},   {AW__TEA_PLUS, "+"},
        {AW__TEA_MIME, "; = blank"},
    };
    const char *between = "";
    printf("`");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((set & names[i].bit) != 0) {
            printf("%s%s", between, names[i].text);
            between = " ";
        }
    }
    printf("`");
}

static void print_span(const char *what, uint64_t min, uint64_t max)
{
    if (min == max) {
        printf("%llu %s", (unsigned long long)max, what);
    } else {
        printf("%llu to %llu %s", (unsigned long long)min, (unsigned long long)max, what);
    }
}

static void print_rule(const aw__tea_rule_t *rule);

static void print_text(const aw__tea_rule_t *rule)
{
    static const char *const without[] = {
        [AW__TEA_REFUSE_NONE] = "",
        [AW__TEA_REFUSE_NUL] = ", no U+0000",
        [AW__TEA_REFUSE_NUL_CR] = ", no U+0000, no U+000D",
        [AW__TEA_REFUSE_CONTROLS] = ", no control characters",
    };
    printf("text of ");
    print_span("bytes", rule->min, rule->max);
    if (rule->form == AW__TEA_FORM_BODY) {
        printf(", at most %u characters", AW_TEA_FETCH_BODY_CHARACTERS_MAX);
    }
    printf("%s", without[rule->refused]);
}

static void print_name(const aw__tea_rule_t *rule)
{
    print_span("characters", rule->min, rule->max);
    printf(" of ");
    print_chars(rule->rest);
    if (rule->first != rule->rest) {
        printf(", the first of ");
        print_chars(rule->first);
    }
    if (rule->form == AW__TEA_FORM_MIME) {
        printf(", written in lower case");
    }
}

static void print_words(const aw__tea_rule_t *rule)
{
    for (const char *const *word = rule->words; *word != NULL; word++) {
        printf("%s`%s`", word == rule->words ? "" : ", ", *word);
    }
}

static void print_choice(const aw__tea_rule_t *rule)
{
    const char *between = "";
    printf("%s: ", rule->choice->name);
    note_choice(rule->choice);
    for (unsigned i = 0; i < rule->choice->count; i++) {
        if ((rule->allowed >> i & 1) != 0) {
            printf("%s`%s`%s", between, rule->choice->cases[i].object->name,
                   rule->choice->cases[i].since == AW_TEA_EDITION_B ? " (B)" : "");
            between = ", ";
        }
    }
}

static void print_free(const aw__tea_rule_t *rule)
{
    printf("%s, at most %llu canonical bytes and %u containers",
           rule->form == AW__TEA_FORM_ARGUMENTS ? "any object" : "any value, null too",
           (unsigned long long)rule->max, rule->depth);
}

/** Forms that are said in words. */
static const char *words_of(const aw__tea_rule_t *rule)
{
    switch (rule->form) {
    case AW__TEA_FORM_ID:
        return "ID: lower-case UUID of version 7";
    case AW__TEA_FORM_SEQUENCE:
        return "sequence: 64 bits in decimal, as a string";
    case AW__TEA_FORM_TIMESTAMP:
        return "timestamp: `YYYY-MM-DDTHH:MM:SS.mmm` and `Z` or an offset";
    case AW__TEA_FORM_VERSION:
        return "`1.` and a minor version up to 65535, written as it was read";
    case AW__TEA_FORM_AMOUNT:
        return "decimal number as a string, at most 36 digits, 18 behind the point";
    case AW__TEA_FORM_IMAGE_TYPE:
        return "`image/` and a subtype of `a-z 0-9 + - .`";
    case AW__TEA_FORM_BOOL:
        return "boolean";
    case AW__TEA_FORM_METADATA:
        return "metadata: at most 16 namespaces, 16384 canonical bytes, 8 containers in a value";
    case AW__TEA_FORM_SCHEMA:
        return "JSON schema, at most 262144 canonical bytes and 32 levels";
    case AW__TEA_FORM_NOTHING:
        return "must not be there";
    case AW__TEA_FORM_TAG:
        return "names the type";
    case AW__TEA_FORM_MARKER:
        return "ignored; `skippable_observation` is written for skippable types";
    case AW__TEA_FORM_PAYLOAD:
        return "by type, see below";
    default:
        return NULL;
    }
}

static void print_rule(const aw__tea_rule_t *rule)
{
    const char *words = words_of(rule);
    if (words != NULL) {
        printf("%s", words);
        return;
    }
    switch (rule->form) {
    case AW__TEA_FORM_TEXT:
    case AW__TEA_FORM_BODY:
        print_text(rule);
        break;
    case AW__TEA_FORM_NAME:
    case AW__TEA_FORM_MIME:
        print_name(rule);
        break;
    case AW__TEA_FORM_WORD:
        print_words(rule);
        break;
    case AW__TEA_FORM_BASE64:
        printf("Base64 with padding, ");
        print_span("characters", rule->min, rule->max);
        break;
    case AW__TEA_FORM_URL:
    case AW__TEA_FORM_PAGE_URL:
        printf("http or https URL, at most %llu bytes%s", (unsigned long long)rule->max,
               rule->form == AW__TEA_FORM_URL ? "" : ", written without its fragment");
        break;
    case AW__TEA_FORM_LIST:
        printf("list of ");
        print_span("", rule->min, rule->max);
        printf(": ");
        print_rule(rule->item);
        break;
    case AW__TEA_FORM_OBJECT:
        printf("%s", rule->object->name);
        note_object(rule->object);
        break;
    case AW__TEA_FORM_CHOICE:
        print_choice(rule);
        break;
    case AW__TEA_FORM_ARGUMENTS:
    case AW__TEA_FORM_ANY:
        print_free(rule);
        break;
    default:
        printf("integer, ");
        print_span("", rule->min, rule->max);
        break;
    }
}

static const char *relation_text(aw__tea_relation_t relation)
{
    static const char *const texts[AW__TEA_RELATION_COUNT] = {
        [AW__TEA_RELATION_COMMAND] =
            "`sessionId` is absent for `create_session` and present for all others "
            "(`session_presence`).",
        [AW__TEA_RELATION_EVENT] = "`runId` and `turnId` are there or not by type (`references`).",
        [AW__TEA_RELATION_RECORD] = "`branchId` equals the payload's where the type says so "
                                    "(`branch`).",
        [AW__TEA_RELATION_TOOL_RESULT] =
            "`error` is there exactly when `isError` (`error_presence`).",
        [AW__TEA_RELATION_FINISHED] =
            "`error` is there exactly when `isError` (`error_presence`), and "
            "then no `presentation` (`presentation`).",
        [AW__TEA_RELATION_CITATION] =
            "`startIndex` and `endIndex` come together, the first below the second (`citation`).",
        [AW__TEA_RELATION_USAGE] =
            "`reasoningTokens` are within `outputTokens`, and the other four "
            "together within 2^53 - 1 (`usage`).",
        [AW__TEA_RELATION_PROGRESS] = "`completedUnits` are within `totalUnits` (`progress`).",
        [AW__TEA_RELATION_RETRY] = "`attempt` is within `maxRetries` (`retry`).",
        [AW__TEA_RELATION_CONFIG] = "At least one of the three is there (`empty_change`).",
        [AW__TEA_RELATION_CHANGE] =
            "`truncation` is there exactly when `truncated`; all hunks together have at most 1024 "
            "lines (`presentation`).",
        [AW__TEA_RELATION_HUNK] =
            "The four numbers are what the lines say: the first number of a side "
            "or 0, and how many it has (`presentation`).",
        [AW__TEA_RELATION_LINE] = "A context line has both numbers, an addition only `newLine`, a "
                                  "deletion only `oldLine`, each from 1 (`presentation`).",
    };
    return texts[relation];
}

static void print_field(const aw__tea_field_t *field)
{
    static const char *const presences[] = {
        [AW__TEA_REQUIRED] = "required",
        [AW__TEA_NULLABLE] = "nullable",
        [AW__TEA_OPTIONAL] = "optional",
    };
    printf("| `%s`%s | %s%s | ", field->name, field->since == AW_TEA_EDITION_B ? " (B)" : "",
           presences[field->presence],
           field->absent == AW__TEA_WRITE_NULL         ? ", written as null"
           : field->absent == AW__TEA_WRITE_EMPTY_LIST ? ", written as []"
                                                       : "");
    print_rule(field->rule);
    bool has_label = field->rule->label != AW_TEA_LABEL_NONE &&
                     field->rule->label != AW_TEA_LABEL_TYPE &&
                     field->rule->form != AW__TEA_FORM_TAG;
    printf(" | %s%s%s |\n", has_label ? "`" : "",
           has_label ? aw_tea_label_name(field->rule->label) : "", has_label ? "`" : "");
}

static void print_object(const aw__tea_object_t *object)
{
    if (object->count == 0) {
        printf("\nNo members: `{}`.\n");
    } else {
        printf("\n| member | presence | rule | label |\n|---|---|---|---|\n");
        for (unsigned i = 0; i < object->count; i++) {
            unsigned field = object->order != NULL ? (unsigned)(object->order[i] - '0') : i;
            print_field(&object->fields[field]);
        }
    }
    if (object->relation != AW__TEA_RELATION_NONE) {
        printf("\n%s\n", relation_text(object->relation));
    }
    if (object->strictness == AW__TEA_STRICT) {
        printf("\nStrict: any other member is refused (`unknown_field`).\n");
    }
}

static const char *need_text(bool has)
{
    return has ? "must" : "must not";
}

static void print_types(aw_tea_kind_t kind, const aw__tea_envelope_t *envelope)
{
    if (kind == AW_TEA_ERROR) {
        return; /* its one type is its own object */
    }
    if (kind == AW_TEA_EVENT) {
        printf("\n| type | skippable | `runId` | `turnId` |\n|---|---|---|---|\n");
        for (unsigned i = 0; i < envelope->count; i++) {
            const aw__tea_type_t *type = &envelope->types[i];
            printf("| `%s` | %s | %s | %s |\n", type->payload->name, type->skippable ? "yes" : "no",
                   need_text(type->run), need_text(type->turn));
        }
    }
    for (unsigned i = 0; i < envelope->count; i++) {
        const aw__tea_type_t *type = &envelope->types[i];
        printf("\n### %s `%s`\n", aw_tea_kind_name(kind), type->payload->name);
        print_object(type->payload);
        if (type->branch) {
            printf("\nThe envelope's `branchId` must be there and equal the payload's.\n");
        }
    }
}

int main(void)
{
    static const char *const heads[AW_TEA_KIND_COUNT] = {
        [AW_TEA_COMMAND] = "Commands",
        [AW_TEA_EVENT] = "Events",
        [AW_TEA_RECORD] = "Records",
        [AW_TEA_ERROR] = "Protocol errors",
    };
    printf("%s", HEAD);
    print_rows_of_names();
    printf(
        "\n## Members\n\n"
        "Presence: a *nullable* member may be absent or null, which is the same; an *optional* one "
        "may "
        "be absent, but null is\nof the wrong type (`type`). Unknown members are ignored and not "
        "written, but in strict objects; edition B makes command\nenvelopes and their payloads "
        "strict. A wrong JSON type is `type`, a missing member `missing`. Limits are inclusive "
        "and\n"
        "count the decoded value or its canonical text.\n");
    for (unsigned kind = 0; kind < AW_TEA_KIND_COUNT; kind++) {
        const aw__tea_envelope_t *envelope = aw__tea_envelope_of((aw_tea_kind_t)kind);
        printf("\n## %s\n", heads[kind]);
        print_object(envelope->object);
        print_types((aw_tea_kind_t)kind, envelope);
    }
    printf("\n## Objects inside\n");
    size_t shown_objects = 0;
    size_t shown_choices = 0;
    while (shown_objects < object_count || shown_choices < choice_count) {
        if (shown_choices < choice_count) {
            const aw__tea_choice_t *choice = choices[shown_choices++];
            for (unsigned i = 0; i < choice->count; i++) {
                printf("\n### %s `%s`%s\n", choice->name, choice->cases[i].object->name,
                       choice->cases[i].since == AW_TEA_EDITION_B ? " (B)" : "");
                print_object(choice->cases[i].object);
            }
        } else {
            const aw__tea_object_t *object = objects[shown_objects++];
            printf("\n### %s\n", object->name);
            print_object(object);
        }
    }
    return 0;
}
