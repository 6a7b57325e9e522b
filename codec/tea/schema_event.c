#include "codec/tea/schema.h"

/* Events: what a session lets its peers observe. */

static const aw__tea_rule_t payload = {.name = "payload", .form = AW__TEA_FORM_PAYLOAD};
static const aw__tea_rule_t marker = {.name = "marker", .form = AW__TEA_FORM_MARKER};
static const aw__tea_rule_t dropped_payload = {.name = "any value",
                                               .form = AW__TEA_FORM_ANY,
                                               .label = AW_TEA_LABEL_BOUNDS,
                                               .max = AW_TEA_UNKNOWN_EVENT_MAX,
                                               .depth = AW_TEA_UNKNOWN_EVENT_DEPTH_MAX};

static const aw__tea_field_t event_fields[] = {
    {AW__TEA_NAMED("compatibility"), .rule = &marker, .presence = AW__TEA_OPTIONAL},
    {AW__TEA_NAMED("eventId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("metadata"), .rule = &aw__tea_rule_metadata, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("payload"), .rule = &payload},
    {AW__TEA_NAMED("protocolVersion"), .rule = &aw__tea_rule_version},
    {AW__TEA_NAMED("runId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("sequence"), .rule = &aw__tea_rule_sequence},
    {AW__TEA_NAMED("sessionId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("turnId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t event =
    AW__TEA_OBJECT("event", event_fields, .relation = AW__TEA_RELATION_EVENT);

static const aw__tea_field_t unknown_fields[] = {
    {AW__TEA_NAMED("eventId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("payload"), .rule = &dropped_payload},
    {AW__TEA_NAMED("protocolVersion"), .rule = &aw__tea_rule_version},
    {AW__TEA_NAMED("runId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("sequence"), .rule = &aw__tea_rule_sequence},
    {AW__TEA_NAMED("sessionId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("turnId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
};
const aw__tea_object_t aw__tea_unknown_event = AW__TEA_OBJECT("unknown event", unknown_fields);

static const aw__tea_object_t run_started = {.name = "run_started"};
static const aw__tea_object_t turn_checkpointed = {.name = "turn_checkpointed"};

static const char *const deltas[] = {"text_delta", "thinking_delta", NULL};
static const aw__tea_rule_t delta_type = {.name = "delta type",
                                          .form = AW__TEA_FORM_WORD,
                                          .label = AW_TEA_LABEL_VARIANT,
                                          .words = deltas};
static const aw__tea_rule_t delta_text = {.name = "delta text",
                                          .form = AW__TEA_FORM_TEXT,
                                          .label = AW_TEA_LABEL_TEXT,
                                          .min = 1,
                                          .max = AW_TEA_DELTA_MAX,
                                          .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t delta_fields[] = {
    {AW__TEA_NAMED("text"), .rule = &delta_text},
    {AW__TEA_NAMED("type"), .rule = &delta_type},
};
static const aw__tea_object_t delta_object = AW__TEA_OBJECT("delta", delta_fields);
static const aw__tea_rule_t delta = {
    .name = "delta", .form = AW__TEA_FORM_OBJECT, .object = &delta_object};
static const aw__tea_field_t message_delta_fields[] = {
    {AW__TEA_NAMED("contentIndex"), .rule = &aw__tea_rule_index},
    {AW__TEA_NAMED("delta"), .rule = &delta},
    {AW__TEA_NAMED("messageId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t message_delta = AW__TEA_OBJECT("message_delta", message_delta_fields);

static const aw__tea_field_t tool_call_fields[] = {
    {AW__TEA_NAMED("arguments"), .rule = &aw__tea_rule_arguments},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
};
static const aw__tea_object_t tool_call_requested =
    AW__TEA_OBJECT("tool_call_requested", tool_call_fields);

static const aw__tea_rule_t approval_item = {.name = "approval item",
                                             .form = AW__TEA_FORM_TEXT,
                                             .label = AW_TEA_LABEL_APPROVAL_ITEMS,
                                             .min = 1,
                                             .max = AW_TEA_APPROVAL_ITEM_MAX,
                                             .refused = AW__TEA_REFUSE_CONTROLS};
static const aw__tea_rule_t approval_items = {.name = "approval items",
                                              .form = AW__TEA_FORM_LIST,
                                              .label = AW_TEA_LABEL_APPROVAL_ITEMS,
                                              .min = 1,
                                              .max = AW_TEA_APPROVAL_ITEMS_MAX,
                                              .item = &approval_item};
static const aw__tea_field_t approval_fields[] = {
    {AW__TEA_NAMED("approvalId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("capabilities"), .rule = &approval_items},
    {AW__TEA_NAMED("expiresAt"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("resources"), .rule = &approval_items},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t approval_requested =
    AW__TEA_OBJECT("approval_requested", approval_fields);

static const aw__tea_rule_t progress_message = {.name = "progress message",
                                                .form = AW__TEA_FORM_TEXT,
                                                .label = AW_TEA_LABEL_PROGRESS,
                                                .min = 1,
                                                .max = AW_TEA_MESSAGE_MAX,
                                                .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_rule_t units = {.name = "units",
                                     .form = AW__TEA_FORM_UINT64,
                                     .label = AW_TEA_LABEL_PROGRESS,
                                     .max = AW_TEA_SAFE_INTEGER_MAX};
static const aw__tea_field_t progress_fields[] = {
    {AW__TEA_NAMED("completedUnits"), .rule = &units},
    {AW__TEA_NAMED("message"), .rule = &progress_message},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("totalUnits"), .rule = &units, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t tool_execution_progress = AW__TEA_OBJECT(
    "tool_execution_progress", progress_fields, .relation = AW__TEA_RELATION_PROGRESS);

static const aw__tea_field_t preview_fields[] = {
    {AW__TEA_NAMED("presentation"), .rule = &aw__tea_rule_presentation},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t tool_execution_preview =
    AW__TEA_OBJECT("tool_execution_preview", preview_fields);

static const aw__tea_field_t hosted_started_fields[] = {
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
};
static const aw__tea_object_t hosted_tool_started =
    AW__TEA_OBJECT("hosted_tool_started", hosted_started_fields);

static const aw__tea_rule_t source_count = {.name = "source count",
                                            .form = AW__TEA_FORM_UINT32,
                                            .label = AW_TEA_LABEL_HOSTED,
                                            .max = AW_TEA_SOURCES_MAX};
static const aw__tea_field_t hosted_completed_fields[] = {
    {AW__TEA_NAMED("arguments"), .rule = &aw__tea_rule_arguments},
    {AW__TEA_NAMED("outcome"), .rule = &aw__tea_rule_outcome},
    {AW__TEA_NAMED("sourceCount"), .rule = &source_count},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
};
static const aw__tea_object_t hosted_tool_completed =
    AW__TEA_OBJECT("hosted_tool_completed", hosted_completed_fields);

static const aw__tea_rule_t attempt = {.name = "attempt",
                                       .form = AW__TEA_FORM_UINT32,
                                       .label = AW_TEA_LABEL_RETRY,
                                       .min = 1,
                                       .max = AW_TEA_INDEX_MAX};
static const aw__tea_rule_t delay = {.name = "delay",
                                     .form = AW__TEA_FORM_UINT64,
                                     .label = AW_TEA_LABEL_RETRY,
                                     .max = AW_TEA_SAFE_INTEGER_MAX};
static const aw__tea_field_t retry_scheduled_fields[] = {
    {AW__TEA_NAMED("attempt"), .rule = &attempt},
    {AW__TEA_NAMED("delayMs"), .rule = &delay},
    {AW__TEA_NAMED("maxRetries"), .rule = &attempt},
    {AW__TEA_NAMED("messageId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t model_retry_scheduled = AW__TEA_OBJECT(
    "model_retry_scheduled", retry_scheduled_fields, .relation = AW__TEA_RELATION_RETRY);
static const aw__tea_field_t retry_started_fields[] = {
    {AW__TEA_NAMED("attempt"), .rule = &attempt},
    {AW__TEA_NAMED("maxRetries"), .rule = &attempt},
    {AW__TEA_NAMED("messageId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t model_retry_started =
    AW__TEA_OBJECT("model_retry_started", retry_started_fields, .relation = AW__TEA_RELATION_RETRY);

static const aw__tea_field_t compacted_fields[] = {
    {AW__TEA_NAMED("compactedThroughMessageId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("summaryMessageId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t session_compacted =
    AW__TEA_OBJECT("session_compacted", compacted_fields);

static const aw__tea_field_t forked_fields[] = {
    {AW__TEA_NAMED("branchId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("fromMessageId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("sourceBranchId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t session_forked = AW__TEA_OBJECT("session_forked", forked_fields);

static const char *const run_statuses[] = {"completed", "cancelled", "failed", "interrupted", NULL};
static const aw__tea_rule_t run_status = {.name = "run status",
                                          .form = AW__TEA_FORM_WORD,
                                          .label = AW_TEA_LABEL_VARIANT,
                                          .words = run_statuses};
static const aw__tea_field_t finished_fields[] = {
    {AW__TEA_NAMED("cost"), .rule = &aw__tea_rule_cost, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("status"), .rule = &run_status},
    {AW__TEA_NAMED("usage"), .rule = &aw__tea_rule_usage, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t run_finished = AW__TEA_OBJECT("run_finished", finished_fields);

static const aw__tea_type_t types[] = {
    {.payload = &run_started, .run = true},
    {.payload = &message_delta, .run = true, .turn = true, .skippable = true},
    {.payload = &tool_call_requested, .run = true, .turn = true},
    {.payload = &approval_requested, .run = true, .turn = true},
    {.payload = &tool_execution_progress, .run = true, .turn = true, .skippable = true},
    {.payload = &tool_execution_preview, .run = true, .turn = true, .skippable = true},
    {.payload = &hosted_tool_started, .run = true, .turn = true, .skippable = true},
    {.payload = &hosted_tool_completed, .run = true, .turn = true, .skippable = true},
    {.payload = &model_retry_scheduled, .run = true, .turn = true, .skippable = true},
    {.payload = &model_retry_started, .run = true, .turn = true, .skippable = true},
    {.payload = &turn_checkpointed, .run = true, .turn = true},
    {.payload = &session_compacted},
    {.payload = &session_forked},
    {.payload = &run_finished, .run = true},
};

const aw__tea_envelope_t aw__tea_events = {
    .object = &event, .types = types, .count = AW__TEA_COUNT(types)};
