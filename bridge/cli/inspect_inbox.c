/* The session inbox under `inspect`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/inbox.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"
#include "bridge/cli/inspect_contract.h"

/** The targets that --target takes. */
#define TARGETS "v1, v0-deliver, v0-send"

static int check(const ab_inspect_ask_t *ask)
{
    aw_inbox_target_t target;
    if (ask->kind != NULL) {
        return ab_cli_usage_error(&ab_verb_inspect, "--kind is for --contract tea");
    }
    if (ask->decode && ask->encode) {
        return ab_cli_usage_error(&ab_verb_inspect, "--decode or --encode, not both");
    }
    if (!ask->encode) {
        return ask->target == NULL
                   ? AB_CLI_OK
                   : ab_cli_usage_error(&ab_verb_inspect, "--target is for --encode");
    }
    if (ask->target == NULL) {
        return ab_cli_usage_error(&ab_verb_inspect,
                                  "--encode needs --target, which is one of " TARGETS);
    }
    if (!aw_inbox_target_find(aw_span_text_view(ask->target), &target)) {
        return ab_cli_usage_error(
            &ab_verb_inspect, "--target %s: no such target; it is one of " TARGETS, ask->target);
    }
    return AB_CLI_OK;
}

/** What the target's reader will not get, for people: it is no fault. */
static void tell_losses(const char *file, const char *target, const aw_inbox_result_t *result)
{
    if (result->folded_payloads > 0) {
        ab_inspect_complain("note: %s: %s holds one payload: %zu were folded into one", file,
                            target, result->folded_payloads);
    }
    if (result->lost_metadata > 0) {
        ab_inspect_complain("note: %s: %s holds one delivery: %zu of deliveryMetadata are lost",
                            file, target, result->lost_metadata);
    }
}

static int print(const char *file, const ab_inspect_ask_t *ask, aw_span_t text, aw_arena_t *arena)
{
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw_inbox_result_t result;
    aw_span_t output;
    int status;
    if (ask->encode && aw_inbox_target_find(aw_span_text_view(ask->target), &target)) {
        status = aw_inbox_encode(text, target, arena, &result, &output);
    } else {
        status = aw_inbox_decode(text, arena, &result, &output);
    }
    if (status != AW_OK) {
        return ab_inspect_complain_status(file, status);
    }
    if (result.outcome != AW_INBOX_CLASS_OK) {
        char place[32] = "";
        if (result.offset >= 0) {
            snprintf(place, sizeof place, " at byte %lld", (long long)result.offset);
        }
        ab_inspect_complain(
            "%s: session_inbox: %s%s%s%s: %s", file, aw_inbox_class_name(result.outcome), place,
            result.pointer[0] != '\0' ? " in " : "", result.pointer, result.message);
        return AB_CLI_DATA;
    }
    tell_losses(file, aw_inbox_target_name(target), &result);
    fwrite(output.data, 1, output.size, stdout);
    putchar('\n');
    return AB_CLI_OK;
}

/** A request of `inspect --batch`. */
typedef struct request {
    aw_span_t op;
    aw_span_t input;
    const json_t *target; /* NULL when it names none */
} request_t;

static bool is_op(const request_t *request, const char *op)
{
    return aw_span_equal(request->op, aw_span_text_view(op));
}

static bool read_request(const json_t *object, request_t *ret_request, char *ret_message,
                         size_t message_size)
{
    if (!ab_inspect_member(object, "op", &ret_request->op, ret_message, message_size) ||
        !ab_inspect_member(object, "input", &ret_request->input, ret_message, message_size)) {
        return false;
    }
    if (!is_op(ret_request, "decode") && !is_op(ret_request, "encode") &&
        !is_op(ret_request, "classify")) {
        snprintf(ret_message, message_size,
                 "op: no such operation; it is one of decode, encode, "
                 "classify");
        return false;
    }
    ret_request->target = json_object_get(object, "target");
    if (json_object_size(object) != (ret_request->target != NULL ? 4 : 3)) {
        snprintf(ret_message, message_size,
                 "a request to session_inbox has the members contract, op, input, and target where "
                 "op is encode, and no other");
        return false;
    }
    return true;
}

/** The target is judged before the input is looked at. */
static int encode(const request_t *request, aw_arena_t *arena, aw_inbox_result_t *result,
                  aw_span_t *ret_output)
{
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    char *text = request->target != NULL ? json_dumps(request->target, JSON_ENCODE_ANY) : NULL;
    if (request->target != NULL && text == NULL) {
        return AW_STATUS_NO_MEMORY;
    }
    int status = aw_inbox_target_read(aw_span_text_view(text), arena, result, &target);
    free(text);
    if (status != AW_OK || result->outcome != AW_INBOX_CLASS_OK) {
        return status;
    }
    return aw_inbox_encode(request->input, target, arena, result, ret_output);
}

static int classify(const request_t *request, aw_arena_t *arena, aw_inbox_result_t *result,
                    aw_span_t *ret_output)
{
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    int status = aw_inbox_classify_text(request->input, arena, result, &target);
    if (status == AW_OK && result->outcome == AW_INBOX_CLASS_OK) {
        *ret_output = aw_span_text_view(aw_inbox_target_text(target));
    }
    return status;
}

static void write_result(aw_json_writer_t *writer, const aw_inbox_result_t *result,
                         aw_span_t output)
{
    const bool accepted = result->outcome == AW_INBOX_CLASS_OK;
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, accepted);
    aw_json_key_text(writer, "class");
    aw_json_text(writer, aw_inbox_class_name(result->outcome));
    aw_json_key_text(writer, accepted ? "output" : "message");
    aw_json_string(writer, accepted ? output : aw_span_text_view(result->message));
}

static bool answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                   char *ret_message, size_t message_size)
{
    request_t request;
    aw_inbox_result_t result;
    aw_span_t output = AW_SPAN_NULL;
    int status;
    if (!read_request(object, &request, ret_message, message_size)) {
        return false;
    }
    if (is_op(&request, "encode")) {
        status = encode(&request, arena, &result, &output);
    } else if (request.target != NULL) {
        snprintf(ret_message, message_size, "target is for op encode");
        return false;
    } else if (is_op(&request, "decode")) {
        status = aw_inbox_decode(request.input, arena, &result, &output);
    } else {
        status = classify(&request, arena, &result, &output);
    }
    if (status == AW_STATUS_INVALID_ARGUMENT) {
        snprintf(ret_message, message_size,
                 "input: it has to describe a hook with token and runId, or an address");
        return false;
    }
    if (status == AW_OK) {
        write_result(writer, &result, output);
    } else {
        ab_inspect_trouble(writer, status);
    }
    return true;
}

const ab_inspect_contract_t ab_inspect_inbox = {
    .name = "session_inbox", .check = check, .print = print, .answer = answer};
