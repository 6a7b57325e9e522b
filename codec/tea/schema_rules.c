#include "codec/tea/schema.h"

/* What single values have to be, wherever they stand. */

#define SELECTOR_REST (AW__TEA_NAME_REST | AW__TEA_HYPHEN | AW__TEA_DOT | AW__TEA_SLASH)

const aw__tea_rule_t aw__tea_rule_id = {
    .name = "ID", .form = AW__TEA_FORM_ID, .label = AW_TEA_LABEL_ID};

const aw__tea_rule_t aw__tea_rule_sequence = {
    .name = "sequence", .form = AW__TEA_FORM_SEQUENCE, .label = AW_TEA_LABEL_SEQUENCE};

const aw__tea_rule_t aw__tea_rule_timestamp = {
    .name = "timestamp", .form = AW__TEA_FORM_TIMESTAMP, .label = AW_TEA_LABEL_TIMESTAMP};

const aw__tea_rule_t aw__tea_rule_version = {.name = "version",
                                             .form = AW__TEA_FORM_VERSION,
                                             .label = AW_TEA_LABEL_VERSION,
                                             .max = AW_TEA_VERSION_PART_MAX};

const aw__tea_rule_t aw__tea_rule_discriminator = {.name = "discriminator",
                                                   .form = AW__TEA_FORM_NAME,
                                                   .label = AW_TEA_LABEL_DISCRIMINATOR,
                                                   .min = 1,
                                                   .max = AW_TEA_NAME_MAX,
                                                   .first = AW__TEA_NAME_REST,
                                                   .rest = AW__TEA_NAME_REST};

const aw__tea_rule_t aw__tea_rule_tag = {
    .name = "tag", .form = AW__TEA_FORM_TAG, .label = AW_TEA_LABEL_VARIANT};

const aw__tea_rule_t aw__tea_rule_bool = {
    .name = "boolean", .form = AW__TEA_FORM_BOOL, .label = AW_TEA_LABEL_TYPE};

const aw__tea_rule_t aw__tea_rule_index = {.name = "index",
                                           .form = AW__TEA_FORM_UINT32,
                                           .label = AW_TEA_LABEL_TYPE,
                                           .max = AW_TEA_INDEX_MAX};

const aw__tea_rule_t aw__tea_rule_profile = {.name = "profile selector",
                                             .form = AW__TEA_FORM_NAME,
                                             .label = AW_TEA_LABEL_SELECTOR,
                                             .min = 1,
                                             .max = AW_TEA_NAME_MAX,
                                             .first = AW__TEA_LOWER,
                                             .rest = SELECTOR_REST};

static const aw__tea_rule_t provider_selector = {.name = "provider selector",
                                                 .form = AW__TEA_FORM_NAME,
                                                 .label = AW_TEA_LABEL_SELECTOR,
                                                 .min = 1,
                                                 .max = AW_TEA_NAME_MAX,
                                                 .first = AW__TEA_LOWER,
                                                 .rest = SELECTOR_REST};

static const aw__tea_rule_t model_selector = {.name = "model selector",
                                              .form = AW__TEA_FORM_NAME,
                                              .label = AW_TEA_LABEL_SELECTOR,
                                              .min = 1,
                                              .max = AW_TEA_NAME_MAX,
                                              .first = AW__TEA_LOWER,
                                              .rest = SELECTOR_REST | AW__TEA_COLON};

static const aw__tea_field_t model_fields[] = {
    {AW__TEA_NAMED("modelId"), .rule = &model_selector},
    {AW__TEA_NAMED("providerId"), .rule = &provider_selector},
};
static const aw__tea_object_t model_object =
    AW__TEA_OBJECT("model reference", model_fields, .strictness = AW__TEA_STRICT);
const aw__tea_rule_t aw__tea_rule_model = {
    .name = "model reference", .form = AW__TEA_FORM_OBJECT, .object = &model_object};

static const char *const efforts[] = {"off",  "minimal", "low", "medium",
                                      "high", "xhigh",   "max", NULL};
const aw__tea_rule_t aw__tea_rule_effort = {.name = "reasoning effort",
                                            .form = AW__TEA_FORM_WORD,
                                            .label = AW_TEA_LABEL_VARIANT,
                                            .words = efforts};

static const char *const decisions[] = {"allow_once", "allow_session", "deny", NULL};
static const aw__tea_rule_t decision_word = {.name = "decision",
                                             .form = AW__TEA_FORM_WORD,
                                             .label = AW_TEA_LABEL_VARIANT,
                                             .words = decisions};
static const aw__tea_field_t decision_fields[] = {{AW__TEA_NAMED("type"), .rule = &decision_word}};
static const aw__tea_object_t decision_object =
    AW__TEA_OBJECT("approval decision", decision_fields);
const aw__tea_rule_t aw__tea_rule_decision = {
    .name = "approval decision", .form = AW__TEA_FORM_OBJECT, .object = &decision_object};

const aw__tea_rule_t aw__tea_rule_command_text = {.name = "command text",
                                                  .form = AW__TEA_FORM_TEXT,
                                                  .label = AW_TEA_LABEL_TEXT,
                                                  .min = 1,
                                                  .max = AW_TEA_COMMAND_TEXT_MAX,
                                                  .refused = AW__TEA_REFUSE_NUL};

const aw__tea_rule_t aw__tea_rule_reason = {.name = "reason",
                                            .form = AW__TEA_FORM_TEXT,
                                            .label = AW_TEA_LABEL_REASON,
                                            .min = 1,
                                            .max = AW_TEA_MESSAGE_MAX,
                                            .refused = AW__TEA_REFUSE_NUL};

const aw__tea_rule_t aw__tea_rule_tool_name = {.name = "tool name",
                                               .form = AW__TEA_FORM_NAME,
                                               .label = AW_TEA_LABEL_TOOL_NAME,
                                               .min = 1,
                                               .max = AW_TEA_NAME_MAX,
                                               .first = AW__TEA_LOWER,
                                               .rest = AW__TEA_NAME_REST | AW__TEA_HYPHEN |
                                                       AW__TEA_DOT};

const aw__tea_rule_t aw__tea_rule_provider_call = {.name = "provider call identifier",
                                                   .form = AW__TEA_FORM_TEXT,
                                                   .label = AW_TEA_LABEL_PROVIDER_ID,
                                                   .min = 1,
                                                   .max = AW_TEA_PROVIDER_CALL_ID_MAX,
                                                   .refused = AW__TEA_REFUSE_CONTROLS};

const aw__tea_rule_t aw__tea_rule_arguments = {.name = "arguments",
                                               .form = AW__TEA_FORM_ARGUMENTS,
                                               .label = AW_TEA_LABEL_ARGUMENTS,
                                               .max = AW_TEA_ARGUMENTS_MAX,
                                               .depth = AW_TEA_ARGUMENTS_DEPTH_MAX};

const aw__tea_rule_t aw__tea_rule_metadata = {.name = "metadata",
                                              .form = AW__TEA_FORM_METADATA,
                                              .label = AW_TEA_LABEL_METADATA,
                                              .max = AW_TEA_METADATA_MAX,
                                              .depth = AW_TEA_METADATA_DEPTH_MAX};

static const aw__tea_rule_t token_count = {.name = "token count",
                                           .form = AW__TEA_FORM_UINT64,
                                           .label = AW_TEA_LABEL_USAGE,
                                           .max = AW_TEA_SAFE_INTEGER_MAX};

static const aw__tea_field_t usage_fields[] = {
    {AW__TEA_NAMED("cacheReadTokens"), .rule = &token_count, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("cacheWriteTokens"), .rule = &token_count, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("inputTokens"), .rule = &token_count},
    {AW__TEA_NAMED("outputTokens"), .rule = &token_count},
    {AW__TEA_NAMED("reasoningTokens"), .rule = &token_count, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t usage_object =
    AW__TEA_OBJECT("usage", usage_fields, .relation = AW__TEA_RELATION_USAGE);
const aw__tea_rule_t aw__tea_rule_usage = {
    .name = "usage", .form = AW__TEA_FORM_OBJECT, .object = &usage_object};

static const aw__tea_rule_t amount = {.name = "amount",
                                      .form = AW__TEA_FORM_AMOUNT,
                                      .label = AW_TEA_LABEL_COST,
                                      .max = AW_TEA_AMOUNT_DIGITS_MAX};
static const aw__tea_rule_t currency = {.name = "currency",
                                        .form = AW__TEA_FORM_NAME,
                                        .label = AW_TEA_LABEL_COST,
                                        .min = 3,
                                        .max = 3,
                                        .first = AW__TEA_UPPER,
                                        .rest = AW__TEA_UPPER};
static const char *const cost_units[] = {"major_currency", NULL};
static const aw__tea_rule_t cost_unit = {
    .name = "unit", .form = AW__TEA_FORM_WORD, .label = AW_TEA_LABEL_VARIANT, .words = cost_units};
static const aw__tea_field_t cost_fields[] = {
    {AW__TEA_NAMED("amount"), .rule = &amount},
    {AW__TEA_NAMED("currency"), .rule = &currency},
    {AW__TEA_NAMED("unit"), .rule = &cost_unit},
};
static const aw__tea_object_t cost_object = AW__TEA_OBJECT("cost", cost_fields);
const aw__tea_rule_t aw__tea_rule_cost = {
    .name = "cost", .form = AW__TEA_FORM_OBJECT, .object = &cost_object};

static const aw__tea_rule_t format_schema = {.name = "JSON schema",
                                             .form = AW__TEA_FORM_SCHEMA,
                                             .label = AW_TEA_LABEL_SCHEMA,
                                             .max = AW_TEA_SCHEMA_MAX,
                                             .depth = AW_TEA_SCHEMA_DEPTH_MAX};
static const aw__tea_field_t json_object_fields[] = {
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag}};
static const aw__tea_object_t json_object_format =
    AW__TEA_OBJECT("json_object", json_object_fields, .strictness = AW__TEA_STRICT);
static const aw__tea_field_t json_schema_fields[] = {
    {AW__TEA_NAMED("schema"), .rule = &format_schema},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t json_schema_format =
    AW__TEA_OBJECT("json_schema", json_schema_fields, .strictness = AW__TEA_STRICT);
static const aw__tea_case_t format_cases[] = {
    {.object = &json_object_format},
    {.object = &json_schema_format},
};
static const aw__tea_choice_t format_choice = {.name = "output format",
                                               .tag = "type",
                                               .cases = format_cases,
                                               .count = AW__TEA_COUNT(format_cases)};
const aw__tea_rule_t aw__tea_rule_output_format = {.name = "output format",
                                                   .form = AW__TEA_FORM_CHOICE,
                                                   .label = AW_TEA_LABEL_VARIANT,
                                                   .choice = &format_choice,
                                                   .allowed = ~0u};
