#include <assert.h>
#include <string.h>

#include "codec/tea/check.h"

/* Rules between members. The members are good by themselves, so numbers are read without looking
 * back; null counts as absent in all of them. */

static const aw__json_value_t *member(const aw__json_value_t *object, const char *name)
{
    const aw__json_value_t *value = aw__json_find_text(object, name);
    return value != NULL && value->kind != AW__JSON_NULL ? value : NULL;
}

/** A member that its object must have. */
static const aw__json_value_t *required(const aw__json_value_t *object, const char *name)
{
    const aw__json_value_t *value = member(object, name);
    assert(value != NULL);
    return value;
}

/** The number of a member, 0 where it is absent. */
static uint64_t number(const aw__json_value_t *object, const char *name)
{
    const aw__json_value_t *value = member(object, name);
    uint64_t result = 0;
    return value != NULL && aw__tea_uint_read(value, UINT64_MAX, &result) ? result : 0;
}

/** The rule is broken at a member: at its value, or at the object where it is absent. */
static bool broken(aw__tea_check_t *check, aw_tea_label_t label, const aw__json_value_t *object,
                   const char *name)
{
    const aw__json_value_t *value = aw__json_find_text(object, name);
    return aw__tea_break(check, label, value != NULL ? value : object, aw_span_text_view(name),
                         false);
}

static bool check_command(aw__tea_check_t *check, const aw__json_value_t *envelope)
{
    return check->type->session == (member(envelope, "sessionId") != NULL) ||
           broken(check, AW_TEA_LABEL_SESSION_PRESENCE, envelope, "sessionId");
}

static bool check_event(aw__tea_check_t *check, const aw__json_value_t *envelope)
{
    if (check->type->run != (member(envelope, "runId") != NULL)) {
        return broken(check, AW_TEA_LABEL_REFERENCES, envelope, "runId");
    }
    return check->type->turn == (member(envelope, "turnId") != NULL) ||
           broken(check, AW_TEA_LABEL_REFERENCES, envelope, "turnId");
}

static bool check_record(aw__tea_check_t *check, const aw__json_value_t *envelope)
{
    if (!check->type->branch) {
        return true;
    }
    const aw__json_value_t *outer = member(envelope, "branchId");
    const aw__json_value_t *inner = member(member(envelope, "payload"), "branchId");
    return (outer != NULL && inner != NULL && aw_span_equal(outer->text, inner->text)) ||
           broken(check, AW_TEA_LABEL_BRANCH, envelope, "branchId");
}

static bool check_tool_result(aw__tea_check_t *check, const aw__json_value_t *result)
{
    return (required(result, "isError")->kind == AW__JSON_TRUE) ==
               (member(result, "error") != NULL) ||
           broken(check, AW_TEA_LABEL_ERROR_PRESENCE, result, "error");
}

static bool check_finished(aw__tea_check_t *check, const aw__json_value_t *finished)
{
    if (!check_tool_result(check, finished)) {
        return false;
    }
    return member(finished, "error") == NULL || member(finished, "presentation") == NULL ||
           broken(check, AW_TEA_LABEL_PRESENTATION, finished, "presentation");
}

static bool check_citation(aw__tea_check_t *check, const aw__json_value_t *citation)
{
    bool start = member(citation, "startIndex") != NULL;
    bool end = member(citation, "endIndex") != NULL;
    if (start != end) {
        return broken(check, AW_TEA_LABEL_CITATION, citation, start ? "endIndex" : "startIndex");
    }
    return !start || number(citation, "startIndex") < number(citation, "endIndex") ||
           broken(check, AW_TEA_LABEL_CITATION, citation, "endIndex");
}

static bool check_usage(aw__tea_check_t *check, const aw__json_value_t *usage)
{
    /* four safe integers stay far below 2^64 */
    uint64_t sum = number(usage, "inputTokens") + number(usage, "outputTokens") +
                   number(usage, "cacheReadTokens") + number(usage, "cacheWriteTokens");
    if (number(usage, "reasoningTokens") > number(usage, "outputTokens")) {
        return broken(check, AW_TEA_LABEL_USAGE, usage, "reasoningTokens");
    }
    return sum <= AW_TEA_SAFE_INTEGER_MAX ||
           aw__tea_break(check, AW_TEA_LABEL_USAGE, usage, AW_SPAN_NULL, false);
}

static bool check_progress(aw__tea_check_t *check, const aw__json_value_t *progress)
{
    return member(progress, "totalUnits") == NULL ||
           number(progress, "completedUnits") <= number(progress, "totalUnits") ||
           broken(check, AW_TEA_LABEL_PROGRESS, progress, "completedUnits");
}

static bool check_retry(aw__tea_check_t *check, const aw__json_value_t *retry)
{
    return number(retry, "attempt") <= number(retry, "maxRetries") ||
           broken(check, AW_TEA_LABEL_RETRY, retry, "attempt");
}

static bool check_config(aw__tea_check_t *check, const aw__json_value_t *change)
{
    return member(change, "model") != NULL || member(change, "profileId") != NULL ||
           member(change, "reasoningEffort") != NULL ||
           aw__tea_break(check, AW_TEA_LABEL_EMPTY_CHANGE, change, AW_SPAN_NULL, false);
}

static bool check_change(aw__tea_check_t *check, const aw__json_value_t *change)
{
    bool truncated = required(change, "truncated")->kind == AW__JSON_TRUE;
    if (truncated != (member(change, "truncation") != NULL)) {
        return broken(check, AW_TEA_LABEL_PRESENTATION, change, "truncation");
    }
    uint64_t lines = 0;
    for (const aw__json_value_t *hunk = required(change, "hunks")->first; hunk != NULL;
         hunk = hunk->next) {
        lines += required(hunk, "lines")->count;
    }
    return lines <= AW_TEA_CHANGE_LINES_MAX ||
           broken(check, AW_TEA_LABEL_PRESENTATION, change, "hunks");
}

/** start and count must be what the lines of the side say. */
static bool check_side(aw__tea_check_t *check, const aw__json_value_t *hunk, const char *side,
                       const char *start, const char *count)
{
    uint64_t first = 0;
    uint64_t found = 0;
    for (const aw__json_value_t *line = required(hunk, "lines")->first; line != NULL;
         line = line->next) {
        if (member(line, side) != NULL) {
            first = found++ == 0 ? number(line, side) : first;
        }
    }
    if (number(hunk, start) != first) {
        return broken(check, AW_TEA_LABEL_PRESENTATION, hunk, start);
    }
    return number(hunk, count) == found || broken(check, AW_TEA_LABEL_PRESENTATION, hunk, count);
}

static bool check_line(aw__tea_check_t *check, const aw__json_value_t *line)
{
    const aw__json_value_t *kind = required(line, "kind");
    bool has_old = !aw__json_is_text(kind, "addition");
    bool has_new = !aw__json_is_text(kind, "deletion");
    /* a line that must be there is at least 1; one that must not be has no number at all */
    if (has_old ? number(line, "oldLine") == 0 : member(line, "oldLine") != NULL) {
        return broken(check, AW_TEA_LABEL_PRESENTATION, line, "oldLine");
    }
    if (has_new ? number(line, "newLine") == 0 : member(line, "newLine") != NULL) {
        return broken(check, AW_TEA_LABEL_PRESENTATION, line, "newLine");
    }
    return true;
}

bool aw__tea_check_relation(aw__tea_check_t *check, aw__tea_relation_t relation,
                            const aw__json_value_t *value)
{
    switch (relation) {
    case AW__TEA_RELATION_COMMAND:
        return check_command(check, value);
    case AW__TEA_RELATION_EVENT:
        return check_event(check, value);
    case AW__TEA_RELATION_RECORD:
        return check_record(check, value);
    case AW__TEA_RELATION_TOOL_RESULT:
        return check_tool_result(check, value);
    case AW__TEA_RELATION_FINISHED:
        return check_finished(check, value);
    case AW__TEA_RELATION_CITATION:
        return check_citation(check, value);
    case AW__TEA_RELATION_USAGE:
        return check_usage(check, value);
    case AW__TEA_RELATION_PROGRESS:
        return check_progress(check, value);
    case AW__TEA_RELATION_RETRY:
        return check_retry(check, value);
    case AW__TEA_RELATION_CONFIG:
        return check_config(check, value);
    case AW__TEA_RELATION_CHANGE:
        return check_change(check, value);
    case AW__TEA_RELATION_HUNK:
        return check_side(check, value, "oldLine", "oldStart", "oldLines") &&
               check_side(check, value, "newLine", "newStart", "newLines");
    case AW__TEA_RELATION_LINE:
        return check_line(check, value);
    case AW__TEA_RELATION_NONE:
    case AW__TEA_RELATION_COUNT:
        break;
    }
    return true;
}
