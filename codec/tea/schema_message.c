#include "codec/tea/schema.h"

/* Messages and the blocks that they are made of. */

static const aw__tea_rule_t block_text = {.name = "block text",
                                          .form = AW__TEA_FORM_TEXT,
                                          .label = AW_TEA_LABEL_TEXT,
                                          .min = 1,
                                          .max = AW_TEA_BLOCK_TEXT_MAX,
                                          .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t text_fields[] = {
    {AW__TEA_NAMED("text"), .rule = &block_text},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t text_block = AW__TEA_OBJECT("text", text_fields);
static const aw__tea_object_t thinking_block = AW__TEA_OBJECT("thinking", text_fields);
static const aw__tea_object_t contextual_block = AW__TEA_OBJECT("contextual_text", text_fields);

static const aw__tea_rule_t image_data = {.name = "image data",
                                          .form = AW__TEA_FORM_BASE64,
                                          .label = AW_TEA_LABEL_IMAGE,
                                          .min = 1,
                                          .max = AW_TEA_IMAGE_DATA_MAX};
static const aw__tea_rule_t image_reference = {.name = "image reference",
                                               .form = AW__TEA_FORM_TEXT,
                                               .label = AW_TEA_LABEL_IMAGE,
                                               .min = 1,
                                               .max = AW_TEA_IMAGE_REFERENCE_MAX,
                                               .refused = AW__TEA_REFUSE_CONTROLS};
static const aw__tea_rule_t image_type = {.name = "image type",
                                          .form = AW__TEA_FORM_IMAGE_TYPE,
                                          .label = AW_TEA_LABEL_IMAGE,
                                          .rest = AW__TEA_LOWER | AW__TEA_DIGIT | AW__TEA_PLUS |
                                                  AW__TEA_HYPHEN | AW__TEA_DOT};
static const aw__tea_field_t inline_fields[] = {
    {AW__TEA_NAMED("data"), .rule = &image_data},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t inline_source = AW__TEA_OBJECT("inline_base64", inline_fields);
static const aw__tea_field_t reference_fields[] = {
    {AW__TEA_NAMED("reference"), .rule = &image_reference},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t reference_source = AW__TEA_OBJECT("reference", reference_fields);
static const aw__tea_case_t image_source_cases[] = {
    {.object = &inline_source},
    {.object = &reference_source},
};
static const aw__tea_choice_t image_source_choice = {.name = "image source",
                                                     .tag = "type",
                                                     .cases = image_source_cases,
                                                     .count = AW__TEA_COUNT(image_source_cases)};
static const aw__tea_rule_t image_source = {.name = "image source",
                                            .form = AW__TEA_FORM_CHOICE,
                                            .label = AW_TEA_LABEL_IMAGE,
                                            .choice = &image_source_choice,
                                            .allowed = ~0u};
static const aw__tea_field_t image_fields[] = {
    {AW__TEA_NAMED("mimeType"), .rule = &image_type},
    {AW__TEA_NAMED("source"), .rule = &image_source},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t image_block = AW__TEA_OBJECT("image", image_fields);

static const aw__tea_field_t tool_call_fields[] = {
    {AW__TEA_NAMED("arguments"), .rule = &aw__tea_rule_arguments},
    {AW__TEA_NAMED("providerCallId"), .rule = &aw__tea_rule_provider_call,
     .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t tool_call_block = AW__TEA_OBJECT("tool_call", tool_call_fields);

static const aw__tea_field_t hosted_fields[] = {
    {AW__TEA_NAMED("activity"), .rule = &aw__tea_rule_activity},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t hosted_block = AW__TEA_OBJECT("hosted_tool", hosted_fields);

static const aw__tea_field_t citation_block_fields[] = {
    {AW__TEA_NAMED("citation"), .rule = &aw__tea_rule_citation},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t citation_block = AW__TEA_OBJECT("citation", citation_block_fields);

enum block {
    TEXT = 1,
    THINKING = 2,
    IMAGE = 4,
    TOOL_CALL = 8,
    HOSTED_TOOL = 16,
    CITATION = 32,
    CONTEXTUAL_TEXT = 64
};
/* in the order of the bits above */
static const aw__tea_case_t block_cases[] = {
    {.object = &text_block},
    {.object = &thinking_block},
    {.object = &image_block},
    {.object = &tool_call_block},
    {.object = &hosted_block},
    {.object = &citation_block},
    {.object = &contextual_block, .since = AW_TEA_EDITION_B},
};
static const aw__tea_choice_t block_choice = {
    .name = "block", .tag = "type", .cases = block_cases, .count = AW__TEA_COUNT(block_cases)};

static const aw__tea_rule_t user_block = {.name = "user block",
                                          .form = AW__TEA_FORM_CHOICE,
                                          .label = AW_TEA_LABEL_CONTENT,
                                          .choice = &block_choice,
                                          .allowed = TEXT | IMAGE | CONTEXTUAL_TEXT};
static const aw__tea_rule_t assistant_block = {.name = "assistant block",
                                               .form = AW__TEA_FORM_CHOICE,
                                               .label = AW_TEA_LABEL_CONTENT,
                                               .choice = &block_choice,
                                               .allowed = TEXT | THINKING | TOOL_CALL |
                                                          HOSTED_TOOL | CITATION};
static const aw__tea_rule_t result_block = {.name = "result block",
                                            .form = AW__TEA_FORM_CHOICE,
                                            .label = AW_TEA_LABEL_CONTENT,
                                            .choice = &block_choice,
                                            .allowed = TEXT | IMAGE};
static const aw__tea_rule_t user_content = {.name = "user content",
                                            .form = AW__TEA_FORM_LIST,
                                            .label = AW_TEA_LABEL_CONTENT,
                                            .min = 1,
                                            .max = AW_TEA_BLOCKS_MAX,
                                            .item = &user_block};
static const aw__tea_rule_t assistant_content = {.name = "assistant content",
                                                 .form = AW__TEA_FORM_LIST,
                                                 .label = AW_TEA_LABEL_CONTENT,
                                                 .min = 1,
                                                 .max = AW_TEA_BLOCKS_MAX,
                                                 .item = &assistant_block};
const aw__tea_rule_t aw__tea_rule_result_content = {.name = "result content",
                                                    .form = AW__TEA_FORM_LIST,
                                                    .label = AW_TEA_LABEL_CONTENT,
                                                    .min = 1,
                                                    .max = AW_TEA_BLOCKS_MAX,
                                                    .item = &result_block};

static const aw__tea_rule_t stop_reason = {.name = "stop reason",
                                           .form = AW__TEA_FORM_NAME,
                                           .label = AW_TEA_LABEL_STOP_REASON,
                                           .min = 1,
                                           .max = AW_TEA_NAME_MAX,
                                           .first = AW__TEA_LOWER,
                                           .rest = AW__TEA_NAME_REST};

static const aw__tea_field_t user_fields[] = {
    {AW__TEA_NAMED("content"), .rule = &user_content},
    {AW__TEA_NAMED("id"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t user_message = AW__TEA_OBJECT("user", user_fields);

static const aw__tea_field_t assistant_fields[] = {
    {AW__TEA_NAMED("content"), .rule = &assistant_content},
    {AW__TEA_NAMED("id"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("stopReason"), .rule = &stop_reason},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t assistant_message = AW__TEA_OBJECT("assistant", assistant_fields);

static const aw__tea_field_t result_fields[] = {
    {AW__TEA_NAMED("content"), .rule = &aw__tea_rule_result_content},
    {AW__TEA_NAMED("error"), .rule = &aw__tea_rule_tool_failure, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("id"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("isError"), .rule = &aw__tea_rule_bool},
    {AW__TEA_NAMED("timestamp"), .rule = &aw__tea_rule_timestamp},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t result_message =
    AW__TEA_OBJECT("tool_result", result_fields, .relation = AW__TEA_RELATION_TOOL_RESULT);

enum role { USER = 1, ASSISTANT = 2, TOOL_RESULT = 4 };
static const aw__tea_case_t message_cases[] = {
    {.object = &user_message},
    {.object = &assistant_message},
    {.object = &result_message},
};
static const aw__tea_choice_t message_choice = {.name = "message",
                                                .tag = "type",
                                                .cases = message_cases,
                                                .count = AW__TEA_COUNT(message_cases)};
const aw__tea_rule_t aw__tea_rule_any_message = {.name = "message",
                                                 .form = AW__TEA_FORM_CHOICE,
                                                 .label = AW_TEA_LABEL_ROLE,
                                                 .choice = &message_choice,
                                                 .allowed = USER | ASSISTANT | TOOL_RESULT};
const aw__tea_rule_t aw__tea_rule_user_message = {.name = "user message",
                                                  .form = AW__TEA_FORM_CHOICE,
                                                  .label = AW_TEA_LABEL_ROLE,
                                                  .choice = &message_choice,
                                                  .allowed = USER};
