#include "bridge/cli/demo_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "bridge/cli/demo_defect.h"
#include "bridge/core/dead_letter.h"

#define GOOD_COUNT 300u
/* A broken record follows after so many good ones. */
#define GOOD_RUN 14u
#define SEED     0x6167656e74627269u
/* 2026-01-01T00:00:00Z */
#define BASE_MS           1767225600000
#define STEP_MS           1000
#define SOURCE_PARTITIONS 4

typedef struct topic {
    const char *name;
    int32_t partitions;
} topic_t;

/* Keys in all, and those of which a state is published; the others are answered without one. */
#define KEYS       14u
#define STATES_MAX (KEYS - 2)

/* Other counts than the source's, so that a partition is not right by chance. */
static const topic_t topics[AB_DEMO_TOPIC_COUNT] = {
    [AB_DEMO_EVENTS] = {"agents.events", 3},
    [AB_DEMO_RESULTS] = {"agents.results", 3},
    [AB_DEMO_APPROVALS] = {"agents.approvals", 2},
    [AB_DEMO_ANSWERS] = {"agents.answers", 2},
    [AB_DEMO_ERRORS] = {"agents.in.errors", 2},
    [AB_DEMO_QUARANTINE] = {"agents.in.quarantine", 2},
    [AB_DEMO_STATES] = {"agents.snapshots", SOURCE_PARTITIONS},
    [AB_DEMO_SOURCE] = {"agents.in", SOURCE_PARTITIONS},
};

_Static_assert((int)AB_DEMO_EVENTS == (int)AB_SLOT_EXTERNAL_EVENT &&
                   (int)AB_DEMO_RESULTS == (int)AB_SLOT_TOOL_RESULT &&
                   (int)AB_DEMO_APPROVALS == (int)AB_SLOT_APPROVAL &&
                   (int)AB_DEMO_ANSWERS == (int)AB_SLOT_EXPORT_REQUEST,
               "a route's topic has the route's number");

struct ab_demo_plan {
    ab_demo_record_t *records;
    size_t count;
    ab_demo_state_t states[STATES_MAX];
    size_t state_count;
    aw_arena_t *memory;
};

const char *ab_demo_topic_name(ab_demo_topic_t topic)
{
    return topics[topic].name;
}

int32_t ab_demo_topic_partitions(ab_demo_topic_t topic)
{
    return topics[topic].partitions;
}

size_t ab_demo_config_text(const char *bootstrap, const char *state_dir,
                           char ret_text[AB_DEMO_CONFIG_MAX])
{
    return (size_t)snprintf(ret_text, AB_DEMO_CONFIG_MAX,
                            "kafka:\n"
                            "  bootstrap.servers: \"%s\"   # the embedded broker\n"
                            "consumer:\n"
                            "  fetch.wait.max.ms: 10   # it keeps whoever asks in vain so long\n"
                            "group: " AB_DEMO_GROUP "\n"
                            "sources:\n"
                            "  - topic: %s\n"
                            "    max_value: 16KiB\n"
                            "    routes:\n"
                            "      external_event: %s\n"
                            "      tool_result: %s\n"
                            "      approval: %s\n"
                            "      export_request: answer\n"
                            "    # what is refused: %s, and whole in %s\n"
                            "state:\n"
                            "  dir: %s\n"
                            "  snapshots_from: [%s]\n"
                            "snapshots:\n"
                            "  topic: %s\n",
                            bootstrap, topics[AB_DEMO_SOURCE].name, topics[AB_DEMO_EVENTS].name,
                            topics[AB_DEMO_RESULTS].name, topics[AB_DEMO_APPROVALS].name,
                            topics[AB_DEMO_ERRORS].name, topics[AB_DEMO_QUARANTINE].name, state_dir,
                            topics[AB_DEMO_STATES].name, topics[AB_DEMO_ANSWERS].name);
}

/* What is needed while a plan is made. */
typedef struct planner {
    ab_demo_maker_t maker;
    ab_demo_plan_t *plan;
    int64_t next_offset[SOURCE_PARTITIONS];
} planner_t;

/* ---- keys and headers ---- */

static aw_span_t key_of(ab_demo_maker_t *maker, unsigned number)
{
    switch (number) {
    case 0:
        return AB_DEMO_RAW("\x00\xff\xfe binary"); /* a key is bytes */
    case 1:
        return AB_DEMO_RAW("konto-m\xc3\xbcller");
    default:
        return ab_demo_print(maker, "acct-%02u", number);
    }
}

static aw_span_t some_key(ab_demo_maker_t *maker)
{
    return key_of(maker, ab_demo_pick(maker, KEYS));
}

#define HEADER(name, literal)                                                                      \
    {                                                                                              \
        (name),                                                                                    \
        {                                                                                          \
            (const uint8_t *)(literal), sizeof(literal) - 1                                        \
        }                                                                                          \
    }

static void add_headers(ab_demo_draft_t *draft)
{
    static const ab_header_t traced[] = {
        AB_DEMO_HEADER("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        AB_DEMO_HEADER("content-type", "application/x-protobuf"),
    };
    static const ab_header_t doubled[] = {AB_DEMO_HEADER("tag", "a"), AB_DEMO_HEADER("tag", "b"),
                                          AB_DEMO_HEADER("tag", "a")};
    static const ab_header_t hollow[] = {
        AB_DEMO_HEADER("empty", ""), {"null", {NULL, 0}}, AB_DEMO_HEADER("empty", "")};
    /* What a record carries that a bridge has written before; readers take the last of a name. */
    static const ab_header_t passed[] = {
        AB_DEMO_HEADER(AB_HEADER_SOURCE, "elsewhere:0:7:1767225599000"),
        AB_DEMO_HEADER(AB_HEADER_HOPS, "2")};
    static const ab_header_t binary[] = {AB_DEMO_HEADER("bin", "\x00\x01\xff\x80"),
                                         AB_DEMO_HEADER("x", "1")};
    static const struct {
        const ab_header_t *items;
        size_t count;
    } sets[] = {{NULL, 0}, {traced, 2}, {doubled, 3}, {hollow, 3}, {passed, 2}, {binary, 2}};
    const size_t set = draft->number % (sizeof(sets) / sizeof(sets[0]));
    draft->headers = sets[set].items;
    draft->header_count = sets[set].count;
}

_Static_assert(AB_DEMO_DEFECT_COUNT *GOOD_RUN <= GOOD_COUNT, "every defect finds its place");

/* ---- the plan ---- */

static ab_route_slot_t some_slot(ab_demo_maker_t *maker)
{
    const unsigned percent = ab_demo_pick(maker, 100);
    return percent < 45   ? AB_SLOT_EXTERNAL_EVENT
           : percent < 70 ? AB_SLOT_TOOL_RESULT
           : percent < 90 ? AB_SLOT_APPROVAL
                          : AB_SLOT_EXPORT_REQUEST;
}

static ab_demo_draft_t begin_draft(planner_t *planner, ab_route_slot_t slot)
{
    const size_t number = planner->plan->count + 1;
    ab_demo_draft_t draft = {.number = number,
                             .slot = slot,
                             .entity_key = some_key(&planner->maker),
                             .event_time_ms = BASE_MS + (int64_t)number * STEP_MS};
    draft.timestamp_ms = draft.event_time_ms + ab_demo_pick(&planner->maker, 250);
    draft.record_key = draft.entity_key;
    draft.value = ab_demo_value(&planner->maker, &draft);
    add_headers(&draft);
    return draft;
}

static ab_demo_record_t *append(planner_t *planner, const ab_demo_draft_t *draft)
{
    const int32_t count = topics[AB_DEMO_SOURCE].partitions;
    ab_demo_record_t *record = &planner->plan->records[planner->plan->count++];
    ab_record_t *facts = &record->message.record;
    *record = (ab_demo_record_t){.slot = draft->slot,
                                 .entity_key = draft->entity_key,
                                 .event_time_ms = draft->event_time_ms};
    facts->topic = topics[AB_DEMO_SOURCE].name;
    facts->partition = draft->record_key.data != NULL
                           ? ab_client_partition_of_key(draft->record_key, count)
                           : (int32_t)(draft->number % (size_t)count);
    facts->offset = planner->next_offset[facts->partition]++;
    facts->timestamp_ms = draft->timestamp_ms;
    facts->timestamp_type = AB_TIMESTAMP_CREATE;
    facts->key = draft->record_key;
    facts->value = draft->value;
    record->message.headers = draft->headers;
    record->message.header_count = draft->header_count;
    return record;
}

/* ---- published state ---- */

static void add_state(planner_t *planner, unsigned number, int64_t next_offset[SOURCE_PARTITIONS])
{
    ab_demo_plan_t *plan = planner->plan;
    ab_demo_state_t *state = &plan->states[plan->state_count++];
    ab_record_t *record = &state->message.record;
    state->seq = 100 + (int64_t)number;
    state->at_ms = BASE_MS - STEP_MS * (int64_t)number;
    record->topic = topics[AB_DEMO_STATES].name;
    record->key = key_of(&planner->maker, number);
    record->value = ab_demo_state_value(&planner->maker, record->key, state->seq, state->at_ms);
    record->partition = ab_client_partition_of_key(record->key, SOURCE_PARTITIONS);
    record->offset = next_offset[record->partition]++;
    record->timestamp_ms = state->at_ms;
    record->timestamp_type = AB_TIMESTAMP_CREATE;
}

/* The state that a request is answered from: that of its key in the partition of its own number. A
 * request without a record key may lie in another one, where nothing is known of its entity. */
static const ab_demo_state_t *state_for(const ab_demo_plan_t *plan, const ab_demo_record_t *request)
{
    for (size_t i = 0; i < plan->state_count; i++) {
        const ab_record_t *state = &plan->states[i].message.record;
        if (state->partition == request->message.record.partition &&
            aw_span_equal(state->key, request->entity_key)) {
            return &plan->states[i];
        }
    }
    return NULL;
}

/* ---- the records ---- */

static void add_good(planner_t *planner)
{
    ab_demo_draft_t draft = begin_draft(planner, some_slot(&planner->maker));
    draft.value = ab_demo_uncanonical(&planner->maker, &draft);
    if (draft.number % 25 == 0) {
        draft.record_key = AW_SPAN_NULL; /* accepted, and counted as keyless */
    }
    ab_demo_record_t *record = append(planner, &draft);
    record->outcome = AB_OUTCOME_ROUTED;
    if (draft.slot == AB_SLOT_EXPORT_REQUEST) {
        record->outcome = AB_OUTCOME_ANSWERED;
        record->state = state_for(planner->plan, record);
        record->answer = ab_demo_answer_value(&planner->maker, &draft, record->state != NULL,
                                              record->state != NULL ? record->state->seq : 0);
    }
}

static void add_broken(planner_t *planner, const ab_demo_defect_t *defect)
{
    ab_demo_draft_t draft = begin_draft(planner, defect->slot);
    defect->spoil(&planner->maker, &draft);
    if (defect->unread) {
        draft.entity_key = draft.record_key;
        draft.event_time_ms = draft.timestamp_ms;
    }
    ab_demo_record_t *record = append(planner, &draft);
    record->outcome = AB_OUTCOME_DEAD_LETTERED;
    record->reason = defect->reason;
}

ab_demo_plan_t *ab_demo_plan_new(void)
{
    ab_demo_plan_t *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return NULL;
    }
    plan->records = calloc(GOOD_COUNT + AB_DEMO_DEFECT_COUNT, sizeof(*plan->records));
    plan->memory = aw_arena_new(0);
    planner_t planner = {.maker = {.memory = plan->memory, .random = SEED}, .plan = plan};
    planner.maker.failed = plan->records == NULL || plan->memory == NULL;
    int64_t next_offset[SOURCE_PARTITIONS] = {0};
    for (unsigned number = 0; number < STATES_MAX && !planner.maker.failed; number++) {
        add_state(&planner, number, next_offset);
    }
    for (size_t i = 0; i < GOOD_COUNT && !planner.maker.failed; i++) {
        add_good(&planner);
        if (i % GOOD_RUN == GOOD_RUN - 1 && i / GOOD_RUN < AB_DEMO_DEFECT_COUNT) {
            add_broken(&planner, ab_demo_defect_view(i / GOOD_RUN));
        }
    }
    if (planner.maker.failed) {
        ab_demo_plan_free(plan);
        return NULL;
    }
    return plan;
}

const ab_demo_record_t *ab_demo_plan_view(const ab_demo_plan_t *plan, size_t *ret_count)
{
    *ret_count = plan->count;
    return plan->records;
}

const ab_demo_state_t *ab_demo_plan_states_view(const ab_demo_plan_t *plan, size_t *ret_count)
{
    *ret_count = plan->state_count;
    return plan->states;
}

void ab_demo_plan_free(ab_demo_plan_t *plan)
{
    if (plan == NULL) {
        return;
    }
    aw_arena_free(plan->memory);
    free(plan->records);
    free(plan);
}
