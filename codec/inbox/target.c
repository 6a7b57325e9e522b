/* Which version the reader of an inbox understands. */
#include <string.h>

#include "codec/inbox/chain.h"
#include "codec/inbox/registry.h"
#include "codec/inbox/text.h"

/** What stands around a run's id in the token of its stable inbox. */
static const char TOKEN_HEAD[] = "eve:session:";
static const char TOKEN_TAIL[] = ":inbox";
/** The largest version that an address may name: 2^53 - 1. */
#define ADDRESS_VERSION_MAX 9007199254740991.0

static const struct {
    const char *name;
    const char *text;
} TARGETS[] = {
    [AW_INBOX_TARGET_V0_DELIVER] = {"v0-deliver", "{\"variant\":\"deliver\",\"version\":0}"},
    [AW_INBOX_TARGET_V0_SEND] = {"v0-send", "{\"variant\":\"send\",\"version\":0}"},
    [AW_INBOX_TARGET_V1] = {"v1", "{\"version\":1}"},
};
enum { TARGET_COUNT = sizeof TARGETS / sizeof *TARGETS };

_Static_assert(TARGET_COUNT == AW_INBOX_VERSION + 2, "a version has no target in TARGETS");

const char *aw_inbox_target_name(aw_inbox_target_t target)
{
    return (size_t)target < TARGET_COUNT ? TARGETS[target].name : "unknown";
}

const char *aw_inbox_target_text(aw_inbox_target_t target)
{
    return (size_t)target < TARGET_COUNT ? TARGETS[target].text : "null";
}

bool aw_inbox_target_find(aw_span_t name, aw_inbox_target_t *ret_target)
{
    for (int i = 0; i < TARGET_COUNT; i++) {
        if (aw_span_equal(name, aw_span_text_view(TARGETS[i].name))) {
            *ret_target = (aw_inbox_target_t)i;
            return true;
        }
    }
    return false;
}

/** The target for a version with a number of its own. */
static aw_inbox_target_t target_of(double version)
{
    return (aw_inbox_target_t)(AW_INBOX_TARGET_V1 + (int)version - 1);
}

/** The number that a value is; false for any other value. */
static bool number_of(const aw__json_value_t *value, double *ret_number)
{
    aw__json_value_t holder = {.kind = AW__JSON_OBJECT, .count = 1};
    if (value == NULL) {
        return false;
    }
    aw__json_value_t member = *value;
    aw__json_value_t *members[] = {&member};
    member.key = aw_span_text_view("version");
    member.next = NULL;
    holder.first = &member;
    holder.sorted = members;
    return aw__chain_version(&holder, ret_number);
}

static void read_target(const aw__json_value_t *value, aw_inbox_result_t *result,
                        aw_inbox_target_t *ret_target)
{
    char quote[AW__INBOX_QUOTE_MAX];
    double version = -1;
    const aw__json_value_t *variant = aw__json_find_text(value, "variant");
    const aw__json_value_t *declared = aw__json_find_text(value, "version");
    if (!aw__chain_version(value, &version) ||
        (version != 0 && !aw__inbox_is_registered(version))) {
        aw__inbox_fail(result, AW_INBOX_CLASS_UNKNOWN_TARGET, declared, "/version",
                       "unknown wire version %s", aw__inbox_quote(declared, quote));
    } else if (version != 0) {
        *ret_target = target_of(version);
    } else if (aw__json_is_text(variant, "deliver")) {
        *ret_target = AW_INBOX_TARGET_V0_DELIVER;
    } else if (aw__json_is_text(variant, "send")) {
        *ret_target = AW_INBOX_TARGET_V0_SEND;
    } else {
        aw__inbox_fail(result, AW_INBOX_CLASS_UNKNOWN_TARGET, variant, "/variant",
                       "unknown wire version 0 of variant %s", aw__inbox_quote(variant, quote));
    }
}

/** Hands out what was found. */
static int finish(const aw__json_maker_t *maker, const aw_inbox_result_t *result,
                  aw_inbox_target_t target, aw_inbox_result_t *ret_result,
                  aw_inbox_target_t *ret_target)
{
    if (maker->status != AW_OK) {
        return maker->status;
    }
    *ret_result = *result;
    if (result->outcome == AW_INBOX_CLASS_OK) {
        *ret_target = target;
    }
    return AW_OK;
}

int aw_inbox_target_read(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                         aw_inbox_target_t *ret_target)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *value =
        text.data != NULL ? aw__inbox_read(text, &maker, &result) : NULL;
    read_target(value, &result, &target); /* a result that is filled already stays */
    return finish(&maker, &result, target, ret_result, ret_target);
}

int aw_inbox_stable_token(aw_span_t run_id, aw_arena_t *arena, aw_span_t *ret_token)
{
    const size_t around = sizeof TOKEN_HEAD - 1 + sizeof TOKEN_TAIL - 1;
    uint8_t *token =
        run_id.size <= SIZE_MAX - around ? aw_arena_alloc(arena, run_id.size + around) : NULL;
    if (token == NULL) {
        return aw_arena_status(arena);
    }
    uint8_t *end = mempcpy(token, TOKEN_HEAD, sizeof TOKEN_HEAD - 1);
    if (run_id.size > 0) {
        end = mempcpy(end, run_id.data, run_id.size);
    }
    memcpy(end, TOKEN_TAIL, sizeof TOKEN_TAIL - 1);
    *ret_token = aw_span_view(token, run_id.size + around);
    return AW_OK;
}

/** A stamp decides by itself; a bad one is never taken for none. */
static void read_stamp(const aw__json_value_t *stamp, aw_inbox_result_t *result,
                       aw_inbox_target_t *ret_target)
{
    char quote[AW__INBOX_QUOTE_MAX];
    double version = -1;
    if (number_of(stamp, &version) && aw__inbox_is_registered(version)) {
        *ret_target = target_of(version);
        return;
    }
    aw__inbox_fail(result, AW_INBOX_CLASS_UNSUPPORTED_TARGET, stamp,
                   "/metadata/sessionInboxWireVersion", "unsupported wire version %s",
                   aw__inbox_quote(stamp, quote));
}

static const char *quote_text(aw_span_t text, char quote[AW__INBOX_QUOTE_MAX])
{
    const aw__json_value_t value = {.kind = AW__JSON_STRING, .text = text};
    return aw__inbox_quote(&value, quote);
}

/** A hook without a stamp: what its run's stable inbox says. */
static int classify_unstamped(const aw_inbox_hook_t *hook, aw_inbox_lookup_fn lookup, void *context,
                              aw_arena_t *arena, aw_inbox_result_t *result,
                              aw_inbox_target_t *ret_target)
{
    aw_span_t stable = AW_SPAN_NULL;
    int status = aw_inbox_stable_token(hook->run_id, arena, &stable);
    if (status != AW_OK) {
        return status;
    }
    *ret_target = AW_INBOX_TARGET_V0_SEND;
    if (aw_span_equal(hook->token, stable)) {
        return AW_OK;
    }
    aw_span_t owner = AW_SPAN_NULL;
    switch (lookup(context, stable, &owner)) {
    case AW_INBOX_LOOKUP_FOUND:
        if (!aw_span_equal(owner, hook->run_id)) {
            char quotes[3][AW__INBOX_QUOTE_MAX];
            aw__inbox_fail(result, AW_INBOX_CLASS_STABLE_OWNER, NULL, "",
                           "the stable inbox %s belongs to run %s, and not to %s",
                           quote_text(stable, quotes[0]), quote_text(owner, quotes[1]),
                           quote_text(hook->run_id, quotes[2]));
        }
        break;
    case AW_INBOX_LOOKUP_NONE:
        *ret_target = AW_INBOX_TARGET_V0_DELIVER;
        break;
    case AW_INBOX_LOOKUP_FAILED:
        aw__inbox_fail(result, AW_INBOX_CLASS_HOOK_LOOKUP, NULL, "",
                       "the stable inbox could not be looked up");
        break;
    }
    return AW_OK;
}

/** The same with the metadata as a value, or NULL. */
static int classify(const aw_inbox_hook_t *hook, const aw__json_value_t *metadata,
                    aw_inbox_lookup_fn lookup, void *context, aw_arena_t *arena,
                    aw_inbox_result_t *result, aw_inbox_target_t *ret_target)
{
    const aw__json_value_t *stamp = aw__json_find_text(metadata, "sessionInboxWireVersion");
    if (stamp != NULL) {
        read_stamp(stamp, result, ret_target);
        return AW_OK;
    }
    return classify_unstamped(hook, lookup, context, arena, result, ret_target);
}

int aw_inbox_classify(const aw_inbox_hook_t *hook, aw_inbox_lookup_fn lookup, void *context,
                      aw_arena_t *arena, aw_inbox_result_t *ret_result,
                      aw_inbox_target_t *ret_target)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *metadata = NULL;
    if (hook->metadata.data != NULL) {
        metadata = aw__inbox_read(hook->metadata, &maker, &result);
    }
    if (maker.status == AW_OK && result.outcome == AW_INBOX_CLASS_OK) {
        maker.status = classify(hook, metadata, lookup, context, arena, &result, &target);
    }
    return finish(&maker, &result, target, ret_result, ret_target);
}

static bool holds_colon(aw_span_t text)
{
    return text.size > 0 && memchr(text.data, ':', text.size) != NULL;
}

static void read_address(const aw__json_value_t *address, aw_inbox_result_t *result,
                         aw_inbox_target_t *ret_target)
{
    char quote[AW__INBOX_QUOTE_MAX];
    double version = -1;
    const aw__json_value_t *session = aw__json_find_text(address, "sessionId");
    const bool has_session = session != NULL && session->kind == AW__JSON_STRING &&
                             session->text.size > 0 && !holds_colon(session->text);
    if (!has_session || !aw__chain_version(address, &version) || version < 1 ||
        version > ADDRESS_VERSION_MAX || version != (double)(uint64_t)version) {
        aw__inbox_fail(result, AW_INBOX_CLASS_INVALID_ADDRESS, address,
                       has_session ? "/version" : "/sessionId", "invalid address");
    } else if (!aw__inbox_is_registered(version)) {
        const aw__json_value_t *declared = aw__json_find_text(address, "version");
        aw__inbox_fail(result, AW_INBOX_CLASS_UNSUPPORTED_TARGET, declared, "/version",
                       "unsupported wire version %s", aw__inbox_quote(declared, quote));
    } else {
        *ret_target = target_of(version);
    }
}

int aw_inbox_address_read(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                          aw_inbox_target_t *ret_target)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *address = aw__inbox_read(text, &maker, &result);
    if (address != NULL) {
        read_address(address, &result, &target);
    }
    return finish(&maker, &result, target, ret_result, ret_target);
}

/** Answers a lookup with what a text says. */
static aw_inbox_lookup_t look_up_value(void *context, aw_span_t token, aw_span_t *ret_run_id)
{
    const aw__json_value_t *stable = context;
    const aw__json_value_t *run_id = aw__json_find_text(stable, "runId");
    (void)token;
    if (stable != NULL && stable->kind == AW__JSON_NULL) {
        return AW_INBOX_LOOKUP_NONE;
    }
    if (run_id == NULL || run_id->kind != AW__JSON_STRING) {
        return AW_INBOX_LOOKUP_FAILED;
    }
    *ret_run_id = run_id->text;
    return AW_INBOX_LOOKUP_FOUND;
}

static int classify_value(const aw__json_value_t *value, aw_arena_t *arena,
                          aw_inbox_result_t *result, aw_inbox_target_t *ret_target)
{
    const aw__json_value_t *address = aw__json_find_text(value, "address");
    const aw__json_value_t *found = aw__json_find_text(value, "hook");
    if (address != NULL && found == NULL) {
        read_address(address, result, ret_target);
        return AW_OK;
    }
    const aw__json_value_t *token = aw__json_find_text(found, "token");
    const aw__json_value_t *run_id = aw__json_find_text(found, "runId");
    if (address != NULL || token == NULL || token->kind != AW__JSON_STRING || run_id == NULL ||
        run_id->kind != AW__JSON_STRING) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    const aw_inbox_hook_t hook = {.token = token->text, .run_id = run_id->text};
    void *stable = (void *)aw__json_find_text(value, "stableHook");
    return classify(&hook, aw__json_find_text(found, "metadata"), look_up_value, stable, arena,
                    result, ret_target);
}

int aw_inbox_classify_text(aw_span_t text, aw_arena_t *arena, aw_inbox_result_t *ret_result,
                           aw_inbox_target_t *ret_target)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *value = aw__inbox_read(text, &maker, &result);
    if (value != NULL) {
        maker.status = classify_value(value, arena, &result, &target);
    }
    return finish(&maker, &result, target, ret_result, ret_target);
}
