#include "bridge/state/answer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "agentwire/snapshot.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/text.h"

/* reason:topic:partition:offset */
#define COORDINATES_MAX (32u + AB_TOPIC_MAX + 2u * AB_DECIMAL_MAX)

static int add_header(ab_answer_t *answer, aw_arena_t *arena, const char *name, const char *text)
{
    const size_t size = strlen(text);
    char *copy = aw_arena_alloc(arena, size + 1);
    if (copy == NULL) {
        return aw_arena_status(arena);
    }
    assert(answer->header_count < AB_ANSWER_HEADERS_MAX);
    memcpy(copy, text, size + 1);
    answer->headers[answer->header_count++] = (ab_header_t){name, aw_span_view(copy, size)};
    return AW_OK;
}

static int add_coordinates(ab_answer_t *answer, aw_arena_t *arena, const char *name,
                           const char *reason, const ab_answer_source_t *source, int64_t offset)
{
    char text[COORDINATES_MAX];
    (void)snprintf(text, sizeof(text), "%s%s%s:%d:%lld", reason, reason[0] != '\0' ? ":" : "",
                   source->topic, (int)source->partition, (long long)offset);
    return add_header(answer, arena, name, text);
}

/* The value of an answer with state, and where the state is from. */
static int answer_known(const ab_verdict_t *verdict, const ab_answer_source_t *source,
                        aw_arena_t *arena, ab_answer_t *answer)
{
    aw_snapshot_view_t view;
    char text[AB_DECIMAL_MAX];
    int status = aw_snapshot_answer(source->entry.value, verdict->event_time_ms,
                                    verdict->request_id, arena, &view, &answer->value, NULL);
    if (status == AW_OK) {
        status = add_coordinates(answer, arena, AB_HEADER_STATE_OFFSET, "", source,
                                 source->entry.offset);
    }
    if (status == AW_OK) {
        (void)ab_text_decimal(view.snapshot_at_ms, text);
        status = add_header(answer, arena, AB_HEADER_STATE_AT, text);
    }
    return status;
}

/* The source that has a state; without one the first that has a mark; NULL when none knows. */
static const ab_answer_source_t *pick(const ab_answer_source_t *sources, size_t count)
{
    const ab_answer_source_t *marked = NULL;
    for (size_t i = 0; i < count; i++) {
        if (sources[i].found && sources[i].entry.value.data != NULL) {
            return &sources[i];
        }
        if (sources[i].found && marked == NULL) {
            marked = &sources[i];
        }
    }
    return marked;
}

int ab_answer_build(const ab_record_t *record, const ab_verdict_t *verdict,
                    const ab_answer_source_t *sources, size_t source_count, aw_arena_t *arena,
                    ab_answer_t *ret_answer)
{
    ab_answer_t answer = {.known = false};
    char text[AB_SOURCE_TEXT_MAX];
    const ab_answer_source_t *source = pick(sources, source_count);
    assert(verdict->outcome == AB_OUTCOME_ANSWERED);
    (void)ab_source_text(record, text);
    int status = add_header(&answer, arena, AB_HEADER_SOURCE, text);
    if (status == AW_OK && source != NULL && source->entry.value.data != NULL) {
        answer.known = true;
        status = answer_known(verdict, source, arena, &answer);
    } else if (status == AW_OK) {
        status = aw_snapshot_empty(verdict->entity_key, verdict->event_time_ms, verdict->request_id,
                                   arena, &answer.value);
    }
    if (status == AW_OK && source != NULL && source->entry.mark != AB_STATE_TAKEN) {
        status = add_coordinates(&answer, arena, AB_HEADER_STATE_REFUSED,
                                 ab_state_verdict_label(source->entry.mark), source,
                                 source->entry.mark_offset);
    }
    if (status == AW_OK) {
        *ret_answer = answer;
    }
    return status;
}
