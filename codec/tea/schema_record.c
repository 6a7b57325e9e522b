#include "codec/tea/schema.h"

/* Records: what a session's log keeps. All must be understood for replay. */

static const aw__tea_rule_t payload = {.name = "payload", .form = AW__TEA_FORM_PAYLOAD};

static const aw__tea_field_t record_fields[] = {
    {AW__TEA_NAMED("branchId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("causationId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("correlationId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("metadata"), .rule = &aw__tea_rule_metadata, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("payload"), .rule = &payload},
    {AW__TEA_NAMED("protocolVersion"), .rule = &aw__tea_rule_version},
    {AW__TEA_NAMED("recordId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("sequence"), .rule = &aw__tea_rule_sequence},
    {AW__TEA_NAMED("sessionId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t record =
    AW__TEA_OBJECT("record", record_fields, .relation = AW__TEA_RELATION_RECORD);

static const aw__tea_field_t created_fields[] = {
    {AW__TEA_NAMED("metadata"), .rule = &aw__tea_rule_metadata, .presence = AW__TEA_OPTIONAL},
    {AW__TEA_NAMED("profileId"), .rule = &aw__tea_rule_profile},
};
static const aw__tea_object_t session_created = AW__TEA_OBJECT("session_created", created_fields);

static const aw__tea_field_t committed_fields[] = {
    {AW__TEA_NAMED("message"), .rule = &aw__tea_rule_any_message}};
static const aw__tea_object_t message_committed =
    AW__TEA_OBJECT("message_committed", committed_fields);

static const aw__tea_field_t configuration_fields[] = {
    {AW__TEA_NAMED("model"), .rule = &aw__tea_rule_model, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("profileId"), .rule = &aw__tea_rule_profile, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("reasoningEffort"), .rule = &aw__tea_rule_effort, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t configuration_changed = AW__TEA_OBJECT(
    "configuration_changed", configuration_fields, .relation = AW__TEA_RELATION_CONFIG);

static const aw__tea_field_t tool_call_fields[] = {
    {AW__TEA_NAMED("arguments"), .rule = &aw__tea_rule_arguments},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
};
static const aw__tea_object_t tool_call_requested =
    AW__TEA_OBJECT("tool_call_requested", tool_call_fields);

static const char *const policies[] = {"allow", "deny", "require_approval", NULL};
static const aw__tea_rule_t policy = {.name = "policy decision",
                                      .form = AW__TEA_FORM_WORD,
                                      .label = AW_TEA_LABEL_VARIANT,
                                      .words = policies};
static const aw__tea_field_t policy_fields[] = {
    {AW__TEA_NAMED("decision"), .rule = &policy},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t policy_decision_recorded =
    AW__TEA_OBJECT("policy_decision_recorded", policy_fields);

static const aw__tea_field_t approval_requested_fields[] = {
    {AW__TEA_NAMED("approvalId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("expiresAt"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t approval_requested =
    AW__TEA_OBJECT("approval_requested", approval_requested_fields);

static const aw__tea_field_t approval_resolved_fields[] = {
    {AW__TEA_NAMED("approvalId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("decision"), .rule = &aw__tea_rule_decision},
};
static const aw__tea_object_t approval_resolved =
    AW__TEA_OBJECT("approval_resolved", approval_resolved_fields);

static const char *const targets[] = {"native", "mcp", "remote", NULL};
static const aw__tea_rule_t target = {.name = "execution target",
                                      .form = AW__TEA_FORM_WORD,
                                      .label = AW_TEA_LABEL_VARIANT,
                                      .words = targets};
static const char *const idempotencies[] = {"idempotent", "non_idempotent", "externally_reconciled",
                                            NULL};
static const aw__tea_rule_t idempotency = {.name = "idempotency",
                                           .form = AW__TEA_FORM_WORD,
                                           .label = AW_TEA_LABEL_VARIANT,
                                           .words = idempotencies};
static const aw__tea_field_t started_fields[] = {
    {AW__TEA_NAMED("executionTarget"), .rule = &target},
    {AW__TEA_NAMED("idempotency"), .rule = &idempotency},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t tool_execution_started =
    AW__TEA_OBJECT("tool_execution_started", started_fields);

static const aw__tea_field_t finished_fields[] = {
    {AW__TEA_NAMED("content"), .rule = &aw__tea_rule_result_content},
    {AW__TEA_NAMED("error"), .rule = &aw__tea_rule_tool_failure, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("isError"), .rule = &aw__tea_rule_bool},
    {AW__TEA_NAMED("presentation"), .rule = &aw__tea_rule_presentation,
     .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t tool_execution_finished = AW__TEA_OBJECT(
    "tool_execution_finished", finished_fields, .relation = AW__TEA_RELATION_FINISHED);

static const aw__tea_field_t tool_interrupted_fields[] = {
    {AW__TEA_NAMED("reason"), .rule = &aw__tea_rule_reason},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t tool_execution_interrupted =
    AW__TEA_OBJECT("tool_execution_interrupted", tool_interrupted_fields);

static const aw__tea_field_t run_interrupted_fields[] = {
    {AW__TEA_NAMED("reason"), .rule = &aw__tea_rule_reason},
    {AW__TEA_NAMED("runId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("turnId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t run_interrupted =
    AW__TEA_OBJECT("run_interrupted", run_interrupted_fields);

static const aw__tea_field_t run_cancelled_fields[] = {
    {AW__TEA_NAMED("runId"), .rule = &aw__tea_rule_id}};
static const aw__tea_object_t run_cancelled = AW__TEA_OBJECT("run_cancelled", run_cancelled_fields);

static const aw__tea_field_t branch_created_fields[] = {
    {AW__TEA_NAMED("branchId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("fromRecordId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("sourceBranchId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t branch_created =
    AW__TEA_OBJECT("branch_created", branch_created_fields);

static const aw__tea_field_t active_branch_fields[] = {
    {AW__TEA_NAMED("branchId"), .rule = &aw__tea_rule_id}};
static const aw__tea_object_t active_branch_changed =
    AW__TEA_OBJECT("active_branch_changed", active_branch_fields);

static const aw__tea_field_t compacted_fields[] = {
    {AW__TEA_NAMED("compactedThroughRecordId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("summary"), .rule = &aw__tea_rule_any_message},
};
static const aw__tea_object_t session_compacted =
    AW__TEA_OBJECT("session_compacted", compacted_fields);

static const char *const actions[] = {"model_request", "wait_for_approval", "finish_run", NULL};
static const aw__tea_rule_t action = {.name = "next action",
                                      .form = AW__TEA_FORM_WORD,
                                      .label = AW_TEA_LABEL_VARIANT,
                                      .words = actions};
static const aw__tea_field_t checkpoint_fields[] = {
    {AW__TEA_NAMED("nextAction"), .rule = &action},
    {AW__TEA_NAMED("runId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("turnId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t turn_checkpointed =
    AW__TEA_OBJECT("turn_checkpointed", checkpoint_fields);

static const aw__tea_type_t types[] = {
    {.payload = &session_created},
    {.payload = &message_committed},
    {.payload = &configuration_changed},
    {.payload = &tool_call_requested},
    {.payload = &policy_decision_recorded},
    {.payload = &approval_requested},
    {.payload = &approval_resolved},
    {.payload = &tool_execution_started},
    {.payload = &tool_execution_finished},
    {.payload = &tool_execution_interrupted},
    {.payload = &run_interrupted},
    {.payload = &run_cancelled},
    {.payload = &branch_created, .branch = true},
    {.payload = &active_branch_changed, .branch = true},
    {.payload = &session_compacted},
    {.payload = &turn_checkpointed},
};

const aw__tea_envelope_t aw__tea_records = {
    .object = &record, .types = types, .count = AW__TEA_COUNT(types)};
