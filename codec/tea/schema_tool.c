#include "codec/tea/schema.h"

/* Hosted tools, citations, sources, continuations and presentations. */

static const aw__tea_rule_t failure_code = {.name = "snake code",
                                            .form = AW__TEA_FORM_NAME,
                                            .label = AW_TEA_LABEL_TOOL_FAILURE,
                                            .min = 1,
                                            .max = AW_TEA_NAME_MAX,
                                            .first = AW__TEA_LOWER,
                                            .rest = AW__TEA_NAME_REST};
static const aw__tea_rule_t failure_message = {.name = "failure message",
                                               .form = AW__TEA_FORM_TEXT,
                                               .label = AW_TEA_LABEL_TOOL_FAILURE,
                                               .min = 1,
                                               .max = AW_TEA_MESSAGE_MAX,
                                               .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t failure_fields[] = {
    {AW__TEA_NAMED("code"), .rule = &failure_code},
    {AW__TEA_NAMED("message"), .rule = &failure_message},
};
static const aw__tea_object_t failure_object = AW__TEA_OBJECT("tool failure", failure_fields);
const aw__tea_rule_t aw__tea_rule_tool_failure = {
    .name = "tool failure", .form = AW__TEA_FORM_OBJECT, .object = &failure_object};

static const aw__tea_rule_t hosted_code = {
    .name = "hosted error code",
    .form = AW__TEA_FORM_NAME,
    .label = AW_TEA_LABEL_HOSTED,
    .min = 1,
    .max = AW_TEA_NAME_MAX,
    .first = AW__TEA_NAME_REST | AW__TEA_HYPHEN | AW__TEA_DOT,
    .rest = AW__TEA_NAME_REST | AW__TEA_HYPHEN | AW__TEA_DOT};
static const aw__tea_rule_t hosted_message = {.name = "hosted error message",
                                              .form = AW__TEA_FORM_TEXT,
                                              .label = AW_TEA_LABEL_HOSTED,
                                              .min = 1,
                                              .max = AW_TEA_MESSAGE_MAX,
                                              .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t hosted_error_fields[] = {
    {AW__TEA_NAMED("code"), .rule = &hosted_code},
    {AW__TEA_NAMED("message"), .rule = &hosted_message},
};
static const aw__tea_object_t hosted_error_object =
    AW__TEA_OBJECT("hosted error", hosted_error_fields);
static const aw__tea_rule_t hosted_error = {
    .name = "hosted error", .form = AW__TEA_FORM_OBJECT, .object = &hosted_error_object};
static const aw__tea_rule_t no_hosted_error = {
    .name = "nothing", .form = AW__TEA_FORM_NOTHING, .label = AW_TEA_LABEL_HOSTED};

static const aw__tea_field_t outcome_error_fields[] = {
    {AW__TEA_NAMED("error"), .rule = &hosted_error},
    {AW__TEA_NAMED("status"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t outcome_error = AW__TEA_OBJECT("error", outcome_error_fields);
static const aw__tea_field_t outcome_success_fields[] = {
    {AW__TEA_NAMED("error"), .rule = &no_hosted_error, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("status"), .rule = &aw__tea_rule_tag},
};
static const aw__tea_object_t outcome_success = AW__TEA_OBJECT("success", outcome_success_fields);
static const aw__tea_case_t outcome_cases[] = {
    {.object = &outcome_success},
    {.object = &outcome_error},
};
static const aw__tea_choice_t outcome_choice = {.name = "outcome",
                                                .tag = "status",
                                                .cases = outcome_cases,
                                                .count = AW__TEA_COUNT(outcome_cases)};
const aw__tea_rule_t aw__tea_rule_outcome = {.name = "outcome",
                                             .form = AW__TEA_FORM_CHOICE,
                                             .label = AW_TEA_LABEL_HOSTED,
                                             .choice = &outcome_choice,
                                             .allowed = ~0u};

static const aw__tea_rule_t source_url = {.name = "source URL",
                                          .form = AW__TEA_FORM_URL,
                                          .label = AW_TEA_LABEL_SOURCE,
                                          .min = 1,
                                          .max = AW_TEA_SOURCE_URL_MAX};
static const aw__tea_rule_t source_title = {.name = "source title",
                                            .form = AW__TEA_FORM_TEXT,
                                            .label = AW_TEA_LABEL_SOURCE,
                                            .min = 1,
                                            .max = AW_TEA_SOURCE_TITLE_MAX,
                                            .refused = AW__TEA_REFUSE_CONTROLS};
static const aw__tea_rule_t source_snippet = {.name = "source snippet",
                                              .form = AW__TEA_FORM_TEXT,
                                              .label = AW_TEA_LABEL_SOURCE,
                                              .min = 1,
                                              .max = AW_TEA_SOURCE_SNIPPET_MAX,
                                              .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t source_fields[] = {
    {AW__TEA_NAMED("snippet"), .rule = &source_snippet, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("title"), .rule = &source_title, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("url"), .rule = &source_url},
};
static const aw__tea_object_t source_object = AW__TEA_OBJECT("source", source_fields);
const aw__tea_rule_t aw__tea_rule_source = {
    .name = "source", .form = AW__TEA_FORM_OBJECT, .object = &source_object};

static const aw__tea_rule_t continuation_name = {.name = "continuation name",
                                                 .form = AW__TEA_FORM_NAME,
                                                 .label = AW_TEA_LABEL_CONTINUATION,
                                                 .min = 1,
                                                 .max = AW_TEA_NAME_MAX,
                                                 .first = AW__TEA_LOWER,
                                                 .rest = AW__TEA_NAME_REST | AW__TEA_HYPHEN |
                                                         AW__TEA_DOT};
static const aw__tea_rule_t continuation_payload = {.name = "continuation payload",
                                                    .form = AW__TEA_FORM_ANY,
                                                    .label = AW_TEA_LABEL_CONTINUATION,
                                                    .max = AW_TEA_CONTINUATION_MAX,
                                                    .depth = AW_TEA_CONTINUATION_DEPTH_MAX};
static const aw__tea_field_t continuation_fields[] = {
    {AW__TEA_NAMED("format"), .rule = &continuation_name},
    {AW__TEA_NAMED("payload"), .rule = &continuation_payload},
    {AW__TEA_NAMED("provider"), .rule = &continuation_name},
};
static const aw__tea_object_t continuation_object =
    AW__TEA_OBJECT("continuation", continuation_fields);
static const aw__tea_rule_t continuation = {
    .name = "continuation", .form = AW__TEA_FORM_OBJECT, .object = &continuation_object};

static const aw__tea_rule_t cited_text = {.name = "cited text",
                                          .form = AW__TEA_FORM_TEXT,
                                          .label = AW_TEA_LABEL_CITATION,
                                          .min = 1,
                                          .max = AW_TEA_CITED_TEXT_MAX,
                                          .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_field_t citation_fields[] = {
    {AW__TEA_NAMED("citedText"), .rule = &cited_text, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("continuation"), .rule = &continuation, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("endIndex"), .rule = &aw__tea_rule_index, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("source"), .rule = &aw__tea_rule_source},
    {AW__TEA_NAMED("startIndex"), .rule = &aw__tea_rule_index, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t citation_object =
    AW__TEA_OBJECT("citation", citation_fields, .relation = AW__TEA_RELATION_CITATION);
const aw__tea_rule_t aw__tea_rule_citation = {
    .name = "citation", .form = AW__TEA_FORM_OBJECT, .object = &citation_object};

static const aw__tea_rule_t sources = {.name = "sources",
                                       .form = AW__TEA_FORM_LIST,
                                       .label = AW_TEA_LABEL_HOSTED,
                                       .max = AW_TEA_SOURCES_MAX,
                                       .item = &aw__tea_rule_source};
static const aw__tea_field_t activity_fields[] = {
    {AW__TEA_NAMED("arguments"), .rule = &aw__tea_rule_arguments},
    {AW__TEA_NAMED("continuation"), .rule = &continuation, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("outcome"), .rule = &aw__tea_rule_outcome},
    {AW__TEA_NAMED("providerCallId"), .rule = &aw__tea_rule_provider_call},
    {AW__TEA_NAMED("sources"), .rule = &sources},
    {AW__TEA_NAMED("toolCallId"), .rule = &aw__tea_rule_id},
    {AW__TEA_NAMED("toolName"), .rule = &aw__tea_rule_tool_name},
};
static const aw__tea_object_t activity_object =
    AW__TEA_OBJECT("hosted tool activity", activity_fields);
const aw__tea_rule_t aw__tea_rule_activity = {
    .name = "hosted tool activity", .form = AW__TEA_FORM_OBJECT, .object = &activity_object};

/* code_change */

static const aw__tea_rule_t line_number = {.name = "line number",
                                           .form = AW__TEA_FORM_UINT32,
                                           .label = AW_TEA_LABEL_PRESENTATION,
                                           .max = AW_TEA_INDEX_MAX};
static const aw__tea_rule_t first_line = {.name = "first line",
                                          .form = AW__TEA_FORM_UINT32,
                                          .label = AW_TEA_LABEL_PRESENTATION,
                                          .min = 1,
                                          .max = AW_TEA_INDEX_MAX};
static const char *const line_kinds[] = {"context", "addition", "deletion", NULL};
static const aw__tea_rule_t line_kind = {.name = "line kind",
                                         .form = AW__TEA_FORM_WORD,
                                         .label = AW_TEA_LABEL_VARIANT,
                                         .words = line_kinds};
static const aw__tea_rule_t line_text = {.name = "line text",
                                         .form = AW__TEA_FORM_TEXT,
                                         .label = AW_TEA_LABEL_PRESENTATION,
                                         .max = AW_TEA_LINE_TEXT_MAX};
static const aw__tea_field_t line_fields[] = {
    {AW__TEA_NAMED("kind"), .rule = &line_kind},
    {AW__TEA_NAMED("newLine"), .rule = &line_number, .presence = AW__TEA_NULLABLE,
     .absent = AW__TEA_WRITE_NULL},
    {AW__TEA_NAMED("oldLine"), .rule = &line_number, .presence = AW__TEA_NULLABLE,
     .absent = AW__TEA_WRITE_NULL},
    {AW__TEA_NAMED("text"), .rule = &line_text},
};
static const aw__tea_object_t line_object = AW__TEA_OBJECT(
    "line", line_fields, .strictness = AW__TEA_STRICT, .relation = AW__TEA_RELATION_LINE);
static const aw__tea_rule_t line = {
    .name = "line", .form = AW__TEA_FORM_OBJECT, .object = &line_object};
static const aw__tea_rule_t lines = {.name = "lines",
                                     .form = AW__TEA_FORM_LIST,
                                     .label = AW_TEA_LABEL_PRESENTATION,
                                     .min = 1,
                                     .max = AW_TEA_HUNK_LINES_MAX,
                                     .item = &line};

static const aw__tea_field_t hunk_fields[] = {
    {AW__TEA_NAMED("lines"), .rule = &lines},
    {AW__TEA_NAMED("newLines"), .rule = &line_number},
    {AW__TEA_NAMED("newStart"), .rule = &line_number},
    {AW__TEA_NAMED("oldLines"), .rule = &line_number},
    {AW__TEA_NAMED("oldStart"), .rule = &line_number},
};
static const aw__tea_object_t hunk_object = AW__TEA_OBJECT(
    "hunk", hunk_fields, .strictness = AW__TEA_STRICT, .relation = AW__TEA_RELATION_HUNK);
static const aw__tea_rule_t hunk = {
    .name = "hunk", .form = AW__TEA_FORM_OBJECT, .object = &hunk_object};
static const aw__tea_rule_t hunks = {.name = "hunks",
                                     .form = AW__TEA_FORM_LIST,
                                     .label = AW_TEA_LABEL_PRESENTATION,
                                     .max = AW_TEA_CHANGE_HUNKS_MAX,
                                     .item = &hunk};

static const char *const change_kinds[] = {"create", "update", "delete", NULL};
static const aw__tea_rule_t change_kind = {.name = "change kind",
                                           .form = AW__TEA_FORM_WORD,
                                           .label = AW_TEA_LABEL_VARIANT,
                                           .words = change_kinds};
static const char *const change_cuts[] = {"hunks", "lines", "line_bytes", "patch_bytes", NULL};
static const aw__tea_rule_t change_cut = {.name = "what was cut",
                                          .form = AW__TEA_FORM_WORD,
                                          .label = AW_TEA_LABEL_VARIANT,
                                          .words = change_cuts};
static const aw__tea_rule_t change_path = {.name = "path",
                                           .form = AW__TEA_FORM_TEXT,
                                           .label = AW_TEA_LABEL_PRESENTATION,
                                           .min = 1,
                                           .max = AW_TEA_CHANGE_PATH_MAX,
                                           .refused = AW__TEA_REFUSE_NUL};
static const aw__tea_rule_t change_patch = {.name = "patch",
                                            .form = AW__TEA_FORM_TEXT,
                                            .label = AW_TEA_LABEL_PRESENTATION,
                                            .max = AW_TEA_CHANGE_PATCH_MAX};
static const aw__tea_field_t change_fields[] = {
    {AW__TEA_NAMED("firstChangedLine"), .rule = &first_line, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("hunks"), .rule = &hunks},
    {AW__TEA_NAMED("kind"), .rule = &change_kind},
    {AW__TEA_NAMED("patch"), .rule = &change_patch, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("path"), .rule = &change_path},
    {AW__TEA_NAMED("truncated"), .rule = &aw__tea_rule_bool},
    {AW__TEA_NAMED("truncation"), .rule = &change_cut, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t change_object =
    AW__TEA_OBJECT("code change", change_fields, .strictness = AW__TEA_STRICT,
                   .relation = AW__TEA_RELATION_CHANGE);
static const aw__tea_rule_t change = {
    .name = "code change", .form = AW__TEA_FORM_OBJECT, .object = &change_object};

/* web_fetch */

static const aw__tea_rule_t page_url = {.name = "page URL",
                                        .form = AW__TEA_FORM_PAGE_URL,
                                        .label = AW_TEA_LABEL_PRESENTATION,
                                        .min = 1,
                                        .max = AW_TEA_FETCH_URL_MAX};
static const aw__tea_rule_t page_title = {.name = "page title",
                                          .form = AW__TEA_FORM_TEXT,
                                          .label = AW_TEA_LABEL_PRESENTATION,
                                          .min = 1,
                                          .max = AW_TEA_FETCH_TITLE_MAX,
                                          .refused = AW__TEA_REFUSE_CONTROLS};
static const aw__tea_rule_t page_mime = {
    .name = "MIME type",
    .form = AW__TEA_FORM_MIME,
    .label = AW_TEA_LABEL_PRESENTATION,
    .min = 1,
    .max = AW_TEA_FETCH_MIME_MAX,
    .first = AW__TEA_LOWER | AW__TEA_UPPER | AW__TEA_DIGIT | AW__TEA_SLASH | AW__TEA_DOT |
             AW__TEA_PLUS | AW__TEA_HYPHEN | AW__TEA_MIME,
    .rest = AW__TEA_LOWER | AW__TEA_UPPER | AW__TEA_DIGIT | AW__TEA_SLASH | AW__TEA_DOT |
            AW__TEA_PLUS | AW__TEA_HYPHEN | AW__TEA_MIME};
static const aw__tea_rule_t page_body = {.name = "page body",
                                         .form = AW__TEA_FORM_BODY,
                                         .label = AW_TEA_LABEL_PRESENTATION,
                                         .max = AW_TEA_FETCH_BODY_MAX,
                                         .refused = AW__TEA_REFUSE_NUL};
static const char *const page_cuts[] = {"compressed_bytes", "decoded_bytes", "body_characters",
                                        "parser_complexity", NULL};
static const aw__tea_rule_t page_cut = {.name = "what was cut",
                                        .form = AW__TEA_FORM_WORD,
                                        .label = AW_TEA_LABEL_VARIANT,
                                        .words = page_cuts};
static const aw__tea_rule_t redirect_status = {.name = "redirect status",
                                               .form = AW__TEA_FORM_UINT16,
                                               .label = AW_TEA_LABEL_PRESENTATION,
                                               .min = AW_TEA_REDIRECT_STATUS_MIN,
                                               .max = AW_TEA_REDIRECT_STATUS_MAX};
static const aw__tea_field_t redirect_fields[] = {
    {AW__TEA_NAMED("from"), .rule = &page_url},
    {AW__TEA_NAMED("status"), .rule = &redirect_status},
    {AW__TEA_NAMED("to"), .rule = &page_url},
};
static const aw__tea_object_t redirect_object =
    AW__TEA_OBJECT("redirect", redirect_fields, .strictness = AW__TEA_STRICT);
static const aw__tea_rule_t redirect = {
    .name = "redirect", .form = AW__TEA_FORM_OBJECT, .object = &redirect_object};
static const aw__tea_rule_t redirects = {.name = "redirects",
                                         .form = AW__TEA_FORM_LIST,
                                         .label = AW_TEA_LABEL_PRESENTATION,
                                         .max = AW_TEA_FETCH_REDIRECTS_MAX,
                                         .item = &redirect};
static const aw__tea_field_t fetch_fields[] = {
    {AW__TEA_NAMED("body"), .rule = &page_body},
    {AW__TEA_NAMED("finalUrl"), .rule = &page_url},
    {AW__TEA_NAMED("mimeType"), .rule = &page_mime},
    {AW__TEA_NAMED("redirects"), .rule = &redirects, .presence = AW__TEA_OPTIONAL,
     .absent = AW__TEA_WRITE_EMPTY_LIST},
    {AW__TEA_NAMED("requestedUrl"), .rule = &page_url},
    {AW__TEA_NAMED("title"), .rule = &page_title, .presence = AW__TEA_NULLABLE},
    {AW__TEA_NAMED("truncation"), .rule = &page_cut, .presence = AW__TEA_NULLABLE},
};
static const aw__tea_object_t fetch_object =
    AW__TEA_OBJECT("web fetch", fetch_fields, .strictness = AW__TEA_STRICT);
static const aw__tea_rule_t fetch = {
    .name = "web fetch", .form = AW__TEA_FORM_OBJECT, .object = &fetch_object};

static const aw__tea_field_t shown_change_fields[] = {
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
    {AW__TEA_NAMED("value"), .rule = &change},
};
static const aw__tea_object_t shown_change = AW__TEA_OBJECT("code_change", shown_change_fields);
static const aw__tea_field_t shown_fetch_fields[] = {
    {AW__TEA_NAMED("type"), .rule = &aw__tea_rule_tag},
    {AW__TEA_NAMED("value"), .rule = &fetch},
};
static const aw__tea_object_t shown_fetch = AW__TEA_OBJECT("web_fetch", shown_fetch_fields);
static const aw__tea_case_t presentation_cases[] = {
    {.object = &shown_change},
    {.object = &shown_fetch},
};
static const aw__tea_choice_t presentation_choice = {.name = "presentation",
                                                     .tag = "type",
                                                     .cases = presentation_cases,
                                                     .count = AW__TEA_COUNT(presentation_cases)};
const aw__tea_rule_t aw__tea_rule_presentation = {.name = "presentation",
                                                  .form = AW__TEA_FORM_CHOICE,
                                                  .label = AW_TEA_LABEL_PRESENTATION,
                                                  .choice = &presentation_choice,
                                                  .allowed = ~0u};
