#include "codec/tea/schema.h"

/* Commands: what a peer asks of a session. */

static const aw__tea_rule_t payload = {.name = "payload", .form = AW__TEA_FORM_PAYLOAD};

static const aw__tea_field_t command_fields[] = {
    {AW__TEA_NAMED("commandId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("payload"), .rule = &payload},
    {AW__TEA_NAMED("protocolVersion"), .rule = &aw__tea_rule_version},
    {AW__TEA_NAMED("sessionId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t command =
    AW__TEA_OBJECT("command", command_fields, .strictness = AW__TEA_STRICT_IN_B,
                   .relation = AW__TEA_RELATION_COMMAND);

static const aw__tea_field_t create_session_fields[] = {
    {AW__TEA_NAMED("metadata"), .rule = &aw__tea_rule_metadata, .presence = AW__TEA_OPTIONAL},
    {AW__TEA_NAMED("profileId"), .rule = &aw__tea_rule_profile},
};
static const aw__tea_object_t create_session =
    AW__TEA_OBJECT("create_session", create_session_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t prompt_fields[] = {
    {AW__TEA_NAMED("finalOutputFormat"), .rule = &aw__tea_rule_output_format,
     .presence = AW__TEA_NULLABLE, .since = AW_TEA_EDITION_B},
    {AW__TEA_NAMED("message"), .rule = &aw__tea_rule_user_message},
};
static const aw__tea_object_t prompt =
    AW__TEA_OBJECT("prompt", prompt_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t steer_fields[] = {
    {AW__TEA_NAMED("text"), .rule = &aw__tea_rule_command_text}};
static const aw__tea_object_t steer =
    AW__TEA_OBJECT("steer", steer_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t follow_up_fields[] = {
    {AW__TEA_NAMED("message"), .rule = &aw__tea_rule_user_message}};
static const aw__tea_object_t follow_up =
    AW__TEA_OBJECT("follow_up", follow_up_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_object_t no_members = {.name = "abort", .strictness = AW__TEA_STRICT_IN_B};

static const aw__tea_field_t resolve_fields[] = {
    {AW__TEA_NAMED("approvalId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("decision"), .rule = &aw__tea_rule_decision},
};
static const aw__tea_object_t resolve_approval =
    AW__TEA_OBJECT("resolve_approval", resolve_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t set_model_fields[] = {
    {AW__TEA_NAMED("model"), .rule = &aw__tea_rule_model}};
static const aw__tea_object_t set_model =
    AW__TEA_OBJECT("set_model", set_model_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t set_effort_fields[] = {
    {AW__TEA_NAMED("reasoningEffort"), .rule = &aw__tea_rule_effort}};
static const aw__tea_object_t set_effort =
    AW__TEA_OBJECT("set_reasoning_effort", set_effort_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t set_profile_fields[] = {
    {AW__TEA_NAMED("profileId"), .rule = &aw__tea_rule_profile}};
static const aw__tea_object_t set_profile =
    AW__TEA_OBJECT("set_profile", set_profile_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t compact_fields[] = {{AW__TEA_NAMED("instruction"),
                                                  .rule = &aw__tea_rule_command_text,
                                                  .presence = AW__TEA_NULLABLE}};
static const aw__tea_object_t compact_session =
    AW__TEA_OBJECT("compact_session", compact_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_field_t fork_fields[] = {
    {AW__TEA_NAMED("branchId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("fromMessageId"), .rule = &aw__tea_rule_id},
};
static const aw__tea_object_t fork_session =
    AW__TEA_OBJECT("fork_session", fork_fields, .strictness = AW__TEA_STRICT_IN_B);

static const aw__tea_type_t types[] = {
    {.payload = &create_session},
    {.payload = &prompt, .session = true},
    {.payload = &steer, .session = true},
    {.payload = &follow_up, .session = true},
    {.payload = &no_members, .session = true},
    {.payload = &resolve_approval, .session = true},
    {.payload = &set_model, .session = true},
    {.payload = &set_effort, .session = true},
    {.payload = &set_profile, .session = true},
    {.payload = &compact_session, .session = true},
    {.payload = &fork_session, .session = true},
};

const aw__tea_envelope_t aw__tea_commands = {
    .object = &command, .types = types, .count = AW__TEA_COUNT(types)};
