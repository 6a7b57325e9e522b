#include "bridge/core/redrive.h"

#include <assert.h>

#include "bridge/core/dead_letter.h"
#include "bridge/core/text.h"

static const char *const fate_codes[AB_REDRIVE_FATE_COUNT] = {
#define AB_REDRIVE_FATE_CODE(id, code, text) [AB_REDRIVE_##id] = code,
    AB_REDRIVE_FATE_LIST(AB_REDRIVE_FATE_CODE)
#undef AB_REDRIVE_FATE_CODE
};

static const char *const fate_texts[AB_REDRIVE_FATE_COUNT] = {
#define AB_REDRIVE_FATE_TEXT(id, code, text) [AB_REDRIVE_##id] = text,
    AB_REDRIVE_FATE_LIST(AB_REDRIVE_FATE_TEXT)
#undef AB_REDRIVE_FATE_TEXT
};

const char *ab_redrive_fate_code(ab_redrive_fate_t fate)
{
    assert((unsigned)fate < AB_REDRIVE_FATE_COUNT);
    return fate_codes[fate];
}

const char *ab_redrive_fate_text(ab_redrive_fate_t fate)
{
    assert((unsigned)fate < AB_REDRIVE_FATE_COUNT);
    return fate_texts[fate];
}

void ab_selection_init(ab_selection_t *selection)
{
    memset(selection, 0, sizeof(*selection));
    selection->since_ms = INT64_MIN;
    selection->until_ms = INT64_MAX;
}

/** A copy in the pool with a NUL behind it; NULL when there is no room. */
static char *keep(ab_selection_t *selection, aw_span_t bytes)
{
    char *copy = selection->pool + selection->used;

    if (bytes.size >= sizeof(selection->pool) - selection->used) {
        return NULL;
    }
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    copy[bytes.size] = '\0';
    selection->used += bytes.size + 1;
    return copy;
}

static bool add_text(ab_selection_t *selection, const char **list, size_t *count, const char *text)
{
    if (*count == AB_SELECTION_ITEMS_MAX) {
        return false;
    }
    list[*count] = keep(selection, aw_span_text_view(text));
    if (list[*count] == NULL) {
        return false;
    }
    (*count)++;
    return true;
}

bool ab_selection_add_reason(ab_selection_t *selection, const char *code)
{
    return add_text(selection, selection->reasons, &selection->reason_count, code);
}

bool ab_selection_add_source(ab_selection_t *selection, const char *topic)
{
    return add_text(selection, selection->sources, &selection->source_count, topic);
}

bool ab_selection_add_record(ab_selection_t *selection, const ab_coordinates_t *place)
{
    if (selection->record_count == AB_SELECTION_ITEMS_MAX) {
        return false;
    }
    selection->records[selection->record_count++] = *place;
    return true;
}

bool ab_selection_set_key(ab_selection_t *selection, aw_span_t key)
{
    char *copy = keep(selection, key);

    if (copy == NULL) {
        return false;
    }
    selection->key = aw_span_view(copy, key.size);
    return true;
}

static bool holds_text(const char *const *list, size_t count, aw_span_t text)
{
    for (size_t i = 0; i < count; i++) {
        if (aw_span_equal(aw_span_text_view(list[i]), text)) {
            return true;
        }
    }
    return count == 0;
}

static bool same_place(const ab_coordinates_t *a, const ab_coordinates_t *b)
{
    return a->partition == b->partition && a->offset == b->offset &&
           strncmp(a->topic, b->topic, sizeof(a->topic)) == 0;
}

static bool holds_place(const ab_selection_t *selection, const ab_coordinates_t *place,
                        const ab_coordinates_t *source)
{
    for (size_t i = 0; i < selection->record_count; i++) {
        if (same_place(&selection->records[i], place) ||
            same_place(&selection->records[i], source)) {
            return true;
        }
    }
    return selection->record_count == 0;
}

bool ab_selection_fits(const ab_selection_t *selection, const ab_coordinates_t *place,
                       int64_t written_ms, const ab_trailer_t *trailer, aw_span_t record_key,
                       aw_span_t entity_key)
{
    return written_ms >= selection->since_ms && written_ms < selection->until_ms &&
           holds_text(selection->reasons, selection->reason_count, trailer->reason) &&
           holds_text(selection->sources, selection->source_count,
                      aw_span_text_view(trailer->source.topic)) &&
           holds_place(selection, place, &trailer->source) &&
           (selection->key.data == NULL ||
            (record_key.data != NULL && aw_span_equal(selection->key, record_key)) ||
            (entity_key.size > 0 && aw_span_equal(selection->key, entity_key)));
}

uint32_t ab_redrive_hops(const ab_trailer_t *trailer)
{
    return trailer->hops < UINT32_MAX ? trailer->hops + 1 : UINT32_MAX;
}

size_t ab_redrive_kept_headers(const ab_header_t *headers, const ab_trailer_t *trailer)
{
    char hops[AB_DECIMAL_MAX];
    const size_t size = ab_text_decimal(trailer->hops, hops);
    const ab_header_t *last;

    if (trailer->own_headers == 0 || trailer->hops == 0) {
        return trailer->own_headers;
    }
    last = &headers[trailer->own_headers - 1];
    return strcmp(last->name, AB_HEADER_HOPS) == 0 &&
                   aw_span_equal(last->value, aw_span_view(hops, size))
               ? trailer->own_headers - 1
               : trailer->own_headers;
}

static ab_redrive_fate_t fate_of(const ab_policy_t *policy, const ab_job_t *job,
                                 const ab_verdict_t *verdict)
{
    if (policy == NULL) {
        return job->force && job->to == AB_REDRIVE_TO_TOPIC ? AB_REDRIVE_FORCE
                                                            : AB_REDRIVE_UNKNOWN_SOURCE;
    }
    if (verdict->outcome == AB_OUTCOME_ROUTED) {
        return AB_REDRIVE_WRITE;
    }
    if (verdict->outcome == AB_OUTCOME_ANSWERED) {
        /* A lane answers, with the state that it holds; it has to come by its source again. */
        return job->to == AB_REDRIVE_TO_ROUTE ? AB_REDRIVE_NO_ROUTE : AB_REDRIVE_WRITE;
    }
    if (job->force) {
        return job->to == AB_REDRIVE_TO_ROUTE ? AB_REDRIVE_NO_ROUTE : AB_REDRIVE_FORCE;
    }
    return verdict->outcome == AB_OUTCOME_DROPPED ? AB_REDRIVE_DROPPED : AB_REDRIVE_REFUSED_AGAIN;
}

int ab_redrive_plan(const ab_record_t *original, const ab_policy_t *policy, const ab_job_t *job,
                    aw_arena_t *scratch, ab_redrive_plan_t *ret_plan)
{
    int status = AW_OK;

    memset(ret_plan, 0, sizeof(*ret_plan));
    if (policy != NULL) {
        status = ab_verdict_of(original, policy, scratch, &ret_plan->verdict);
    }
    if (status != AW_OK) {
        return status;
    }
    ret_plan->fate = fate_of(policy, job, &ret_plan->verdict);
    ret_plan->key = original->key;
    if (ret_plan->fate != AB_REDRIVE_WRITE && ret_plan->fate != AB_REDRIVE_FORCE) {
        return AW_OK;
    }
    switch (job->to) {
    case AB_REDRIVE_TO_SOURCE:
        ret_plan->topic = original->topic;
        break;
    case AB_REDRIVE_TO_ROUTE:
        ret_plan->topic = ret_plan->verdict.topic;
        ret_plan->key = ret_plan->verdict.entity_key;
        ret_plan->by_key = policy->partition_by == AB_PARTITION_KEY;
        ret_plan->source_header = true;
        break;
    case AB_REDRIVE_TO_TOPIC:
        ret_plan->topic = job->topic;
        ret_plan->by_key = original->key.data != NULL;
        break;
    }
    return AW_OK;
}
