/* tea-protocol under `inspect`. */
#include <stdio.h>

#include "agentwire/tea.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"
#include "bridge/cli/inspect_contract.h"

/** The kinds that a request's "kind" takes. */
#define KINDS "command, event, record, error"

static void write_verdict(aw_json_writer_t *writer, const aw_tea_result_t *result,
                          aw_span_t canonical)
{
    bool taken = result->outcome == AW_TEA_OK || result->outcome == AW_TEA_SKIPPABLE;
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, taken);
    aw_json_key_text(writer, "class");
    aw_json_text(writer, aw_tea_class_name(result->outcome));
    if (canonical.data != NULL) {
        aw_json_key_text(writer, "canonical");
        aw_json_string(writer, canonical);
    }
    if (taken) {
        return;
    }
    if (result->label != AW_TEA_LABEL_NONE) {
        aw_json_key_text(writer, "label");
        aw_json_text(writer, aw_tea_label_name(result->label));
    }
    aw_json_key_text(writer, "pointer");
    aw_json_text(writer, result->pointer);
}

static bool answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                   char *ret_message, size_t message_size)
{
    aw_span_t name, input, canonical;
    aw_tea_kind_t kind;
    aw_tea_result_t result;
    if (json_object_size(object) != 3) {
        snprintf(ret_message, message_size,
                 "a request to tea has three members, contract, kind and input");
        return false;
    }
    if (!ab_inspect_member(object, "kind", &name, ret_message, message_size) ||
        !ab_inspect_member(object, "input", &input, ret_message, message_size)) {
        return false;
    }
    if (!aw_tea_kind_find(name, &kind)) {
        snprintf(ret_message, message_size, "kind: no such kind; it is one of " KINDS);
        return false;
    }
    int status = aw_tea_canonical(kind, AW_TEA_EDITION_A, input, arena, &result, &canonical);
    if (status == AW_OK) {
        write_verdict(writer, &result, canonical);
    } else {
        ab_inspect_trouble(writer, status);
    }
    return true;
}

static void complain(const char *file, aw_tea_kind_t kind, const aw_tea_result_t *result)
{
    const char *label = aw_tea_label_name(result->label);
    char place[32] = "";
    if (result->offset >= 0) {
        snprintf(place, sizeof place, " at byte %lld", (long long)result->offset);
    }
    ab_inspect_complain("%s: tea %s: %s%s%s%s%s%s: %s", file, aw_tea_kind_name(kind),
                        aw_tea_class_name(result->outcome), label[0] != '\0' ? ":" : "", label,
                        place, result->pointer[0] != '\0' ? " in " : "", result->pointer,
                        label[0] != '\0' ? aw_tea_label_meaning(result->label)
                                         : aw_tea_class_meaning(result->outcome));
}

static int check(const ab_inspect_ask_t *ask)
{
    aw_tea_kind_t kind;
    if (ask->decode || ask->encode || ask->target != NULL) {
        return ab_cli_usage_error(&ab_verb_inspect, "--decode, --encode and --target are for "
                                                    "--contract session_inbox");
    }
    if (ask->kind != NULL && !aw_tea_kind_find(aw_span_text_view(ask->kind), &kind)) {
        return ab_cli_usage_error(&ab_verb_inspect, "--kind %s: no such kind; it is one of " KINDS,
                                  ask->kind);
    }
    return AB_CLI_OK;
}

static int print(const char *file, const ab_inspect_ask_t *ask, aw_span_t text, aw_arena_t *arena)
{
    aw_tea_kind_t kind = AW_TEA_EVENT;
    aw_tea_result_t result;
    aw_span_t canonical = AW_SPAN_NULL;
    int status = AW_OK;
    if (ask->kind == NULL) {
        status = aw_tea_check_any(AW_TEA_EDITION_A, text, arena, &kind, &result);
    } else {
        (void)aw_tea_kind_find(aw_span_text_view(ask->kind), &kind);
    }
    if (status == AW_OK) {
        status = aw_tea_canonical(kind, AW_TEA_EDITION_A, text, arena, &result, &canonical);
    }
    if (status != AW_OK) {
        return ab_inspect_complain_status(file, status);
    }
    if (result.outcome == AW_TEA_SKIPPABLE) {
        ab_inspect_complain("%s: tea event: skippable: %s; nothing to print", file,
                            aw_tea_class_meaning(result.outcome));
        return AB_CLI_OK;
    }
    if (result.outcome != AW_TEA_OK) {
        complain(file, kind, &result);
        return AB_CLI_DATA;
    }
    fwrite(canonical.data, 1, canonical.size, stdout);
    putchar('\n');
    return AB_CLI_OK;
}

const ab_inspect_contract_t ab_inspect_tea = {
    .name = "tea", .check = check, .print = print, .answer = answer};
