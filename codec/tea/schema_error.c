#include "codec/tea/schema.h"

/* Protocol errors, whose members stand in an order of their own. */

static const char *const codes[] = {
#define CODE(id, name) name,
    AW_TEA_ERROR_LIST(CODE)
#undef CODE
        NULL};
static const aw__tea_rule_t code = {
    .name = "error code", .form = AW__TEA_FORM_WORD, .label = AW_TEA_LABEL_VARIANT, .words = codes};
static const char *const retries[] = {"never", "immediate", "after_backoff", NULL};
static const aw__tea_rule_t retry = {
    .name = "retry", .form = AW__TEA_FORM_WORD, .label = AW_TEA_LABEL_VARIANT, .words = retries};
static const aw__tea_rule_t message = {.name = "error message",
                                       .form = AW__TEA_FORM_TEXT,
                                       .label = AW_TEA_LABEL_MESSAGE,
                                       .min = 1,
                                       .max = AW_TEA_MESSAGE_MAX,
                                       .refused = AW__TEA_REFUSE_NUL_CR};
static const aw__tea_field_t error_fields[] = {
    {AW__TEA_NAMED("code"), .rule = &code},
    {AW__TEA_NAMED("correlationId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("details"), .rule = &aw__tea_rule_metadata, .presence = AW__TEA_OPTIONAL},
    {AW__TEA_NAMED("message"), .rule = &message},
    {AW__TEA_NAMED("retry"), .rule = &retry},
};
static const aw__tea_object_t error_object =
    AW__TEA_OBJECT("protocol_error", error_fields, .order = "03412");
static const aw__tea_rule_t error = {
    .name = "error", .form = AW__TEA_FORM_OBJECT, .object = &error_object};

static const aw__tea_field_t envelope_fields[] = {
    {AW__TEA_NAMED("error"), .rule = &error},
    {AW__TEA_NAMED("protocolVersion"), .rule = &aw__tea_rule_version},
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t envelope = AW__TEA_OBJECT("error", envelope_fields, .order = "120");

/* the one type; its object is not a payload, but a member of the envelope */
static const aw__tea_type_t types[] = {{.payload = &error_object}};

const aw__tea_envelope_t aw__tea_errors = {
    .object = &envelope, .types = types, .count = AW__TEA_COUNT(types)};
