/* Writing values for the version that a reader declared. */
#include "codec/inbox/fold.h"
#include "codec/inbox/registry.h"
#include "codec/inbox/shape.h"
#include "codec/inbox/text.h"
#include "codec/inbox/wire_v1.h"

/** The members that every delivery has in common, in commands and in all versions. */
static const char *const COMMON[] = {"auth", "caller", "requestId", "taskDeliveryId", "turnPolicy"};

static void take_common(aw__json_maker_t *maker, aw__json_value_t *object,
                        const aw__json_value_t *from)
{
    for (size_t i = 0; i < sizeof COMMON / sizeof *COMMON; i++) {
        aw__json_make_take(maker, object, from, COMMON[i]);
    }
}

static void put_kind(aw__json_maker_t *maker, aw__json_value_t *object, const char *kind)
{
    aw__json_make_put_text(maker, object, "kind",
                           aw__json_make_string(maker, aw_span_text_view(kind)));
}

static void put_version(aw__json_maker_t *maker, aw__json_value_t *object)
{
    aw__json_make_put_text(maker, object, "version",
                           aw__json_make_unsigned(maker, AW_INBOX_VERSION));
}

/** Removes from the caller what it does not list, at its own level only, and checks the rest. */
static bool project_caller(const aw__json_value_t *command, aw_inbox_result_t *result)
{
    aw__shape_check_t check;
    /* the tree was read for this call alone, so that it may be changed */
    aw__json_value_t *caller = (aw__json_value_t *)aw__json_find_text(command, "caller");
    aw__shape_check_init(&check, "caller", result);
    return caller == NULL ||
           aw__shape_check_record(&check, &aw__inbox_v1_caller, AW__SHAPE_STRIPPING, caller);
}

/** The value that a send stands for, without its mirror. */
static aw__json_value_t *build_send(const aw__json_value_t *command, aw__json_maker_t *maker,
                                    aw_inbox_result_t *result)
{
    static const char *const BUT[] = {"payloadIndex", NULL};
    const aw__json_value_t *payload = aw__json_find_text(command, "payload");
    const aw__json_value_t *delivery = aw__json_find_text(command, "delivery");
    if (payload == NULL || (delivery != NULL && delivery->kind != AW__JSON_OBJECT)) {
        aw__inbox_fail(result, AW_INBOX_CLASS_SCHEMA, payload == NULL ? command : delivery,
                       payload == NULL ? "/payload" : "/delivery",
                       "the produced value does not match wire version %d: %s", AW_INBOX_VERSION,
                       payload == NULL ? "/payload is missing" : "/delivery is not an object");
        return NULL;
    }
    aw__json_value_t *value = aw__json_make_object(maker);
    aw__json_value_t *payloads = aw__json_make_array(maker);
    aw__json_make_add(maker, payloads, payload);
    put_kind(maker, value, "deliver");
    put_version(maker, value);
    aw__json_make_put_text(maker, value, "payloads", payloads);
    if (delivery != NULL) {
        aw__json_value_t *entry = aw__json_make_object(maker);
        aw__json_value_t *metadata = aw__json_make_array(maker);
        aw__json_make_take_all(maker, entry, delivery, BUT);
        aw__json_make_put_text(maker, entry, "payloadIndex", aw__json_make_unsigned(maker, 0));
        aw__json_make_add(maker, metadata, aw__json_make_end(maker, entry));
        aw__json_make_put_text(maker, value, "deliveryMetadata", metadata);
    }
    take_common(maker, value, command);
    return aw__json_make_end(maker, value);
}

/** The value that a command stands for, without its mirror, not yet validated. */
static aw__json_value_t *build(const aw__json_value_t *command, aw__json_maker_t *maker,
                               aw_inbox_result_t *result)
{
    static const char *const BUT[] = {"version", NULL};
    static const char *const BUT_MIRROR[] = {"version", "payload", NULL};
    const aw__json_value_t *kind = aw__json_find_text(command, "kind");
    if (aw__json_is_text(kind, "send")) {
        return build_send(command, maker, result);
    }
    aw__json_value_t *value = aw__json_make_object(maker);
    aw__json_make_take_all(maker, value, command,
                           aw__json_is_text(kind, "deliver") ? BUT_MIRROR : BUT);
    put_version(maker, value);
    return aw__json_make_end(maker, value);
}

/** The whole value of the current version; NULL with the result filled, or the status set. */
static const aw__json_value_t *encode_current(const aw__json_value_t *command,
                                              aw__json_maker_t *maker, aw_inbox_result_t *result)
{
    static const char *const NONE[] = {NULL};
    aw__shape_check_t check;
    if (command->kind != AW__JSON_OBJECT) {
        aw__inbox_fail(result, AW_INBOX_CLASS_SCHEMA, command, "",
                       "the produced value does not match wire version %d: the command is not an "
                       "object",
                       AW_INBOX_VERSION);
        return NULL;
    }
    if (!project_caller(command, result)) {
        return NULL;
    }
    aw__json_value_t *value = build(command, maker, result);
    aw__shape_check_init(&check, NULL, result);
    if (value == NULL || !aw__shape_check(&check, &aw__inbox_v1, value)) {
        return NULL;
    }
    if (value->height > AW_INBOX_NESTING_MAX) {
        /* a payload goes one level down into its list: nothing is written that could not be read */
        aw__inbox_fail(
            result, AW_INBOX_CLASS_SCHEMA, command, "",
            "the produced value does not match wire version %d: it is nested deeper than "
            "%u",
            AW_INBOX_VERSION, AW_INBOX_NESTING_MAX);
        return NULL;
    }
    if (!aw__json_is_text(aw__json_find_text(value, "kind"), "deliver")) {
        return value;
    }
    aw__json_value_t *whole = aw__json_make_object(maker);
    aw__json_make_take_all(maker, whole, value, NONE);
    aw__json_make_put_text(maker, whole, "payload",
                           aw__inbox_fold(aw__json_find_text(value, "payloads"), maker));
    return aw__json_make_end(maker, whole);
}

/** A reader of the current version gets the value as it is. */
static const aw__json_value_t *to_v1(const aw__json_value_t *value, aw__json_maker_t *maker,
                                     aw_inbox_result_t *result)
{
    (void)maker;
    (void)result;
    return value;
}

static const aw__json_value_t *to_v0_deliver(const aw__json_value_t *value, aw__json_maker_t *maker,
                                             aw_inbox_result_t *result)
{
    static const char *const BUT[] = {"version", "payload", NULL};
    (void)result;
    aw__json_value_t *made = aw__json_make_object(maker);
    aw__json_make_take_all(maker, made, value, BUT);
    return aw__json_make_end(maker, made);
}

/** True for a metadata entry of the first payload; -0 and 0.0 are 0 too. */
static bool is_first(const aw__json_value_t *entry)
{
    static const aw__shape_t ZERO = {.kind = AW__SHAPE_VERSION, .version = 0};
    aw_inbox_result_t ignored;
    aw__shape_check_t check;
    aw__inbox_accept(&ignored);
    aw__shape_check_init(&check, NULL, &ignored);
    aw__json_value_t *index = (aw__json_value_t *)aw__json_find_text(entry, "payloadIndex");
    return aw__shape_check(&check, &ZERO, index);
}

/** This reader knows one payload and one delivery: what has no place is counted. */
static const aw__json_value_t *to_v0_send(const aw__json_value_t *value, aw__json_maker_t *maker,
                                          aw_inbox_result_t *result)
{
    static const char *const BUT[] = {"payloadIndex", NULL};
    if (!aw__json_is_text(aw__json_find_text(value, "kind"), "deliver")) {
        return to_v0_deliver(value, maker, result);
    }
    const aw__json_value_t *metadata = aw__json_find_text(value, "deliveryMetadata");
    const aw__json_value_t *first = metadata != NULL ? metadata->first : NULL;
    while (first != NULL && !is_first(first)) {
        first = first->next;
    }
    const size_t payloads = aw__json_find_text(value, "payloads")->count;
    result->lost_metadata = metadata != NULL ? metadata->count - (first != NULL) : 0;
    result->folded_payloads = payloads > 1 ? payloads : 0;
    aw__json_value_t *made = aw__json_make_object(maker);
    put_kind(maker, made, "send");
    aw__json_make_take(maker, made, value, "payload");
    if (first != NULL) {
        aw__json_value_t *delivery = aw__json_make_object(maker);
        aw__json_make_take_all(maker, delivery, first, BUT);
        aw__json_make_put_text(maker, made, "delivery", aw__json_make_end(maker, delivery));
    }
    take_common(maker, made, value);
    return aw__json_make_end(maker, made);
}

typedef const aw__json_value_t *(*encoder_t)(const aw__json_value_t *value, aw__json_maker_t *maker,
                                             aw_inbox_result_t *result);

/** From the current version's valid value to each target's. */
static const encoder_t ENCODERS[] = {
    [AW_INBOX_TARGET_V0_DELIVER] = to_v0_deliver,
    [AW_INBOX_TARGET_V0_SEND] = to_v0_send,
    [AW_INBOX_TARGET_V1] = to_v1,
};

_Static_assert(sizeof ENCODERS / sizeof *ENCODERS == AW_INBOX_VERSION + 2,
               "a version has no encoder in ENCODERS");

int aw_inbox_encode(aw_span_t command, aw_inbox_target_t target, aw_arena_t *arena,
                    aw_inbox_result_t *ret_result, aw_span_t *ret_output)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    if ((size_t)target >= sizeof ENCODERS / sizeof *ENCODERS) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *value = aw__inbox_read(command, &maker, &result);
    value = value != NULL ? encode_current(value, &maker, &result) : NULL;
    value = value != NULL ? ENCODERS[target](value, &maker, &result) : NULL;
    return aw__inbox_finish(&maker, &result, value, ret_result, ret_output);
}

int aw_inbox_schema(int version, aw_arena_t *arena, aw_span_t *ret_text)
{
    aw__json_maker_t maker;
    aw_inbox_result_t result;
    if (version != AW_INBOX_VERSION) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    aw__json_maker_init(&maker, arena);
    aw__inbox_accept(&result);
    const aw__json_value_t *schema = aw__shape_schema(&maker, &aw__inbox_v1, aw__inbox_v1_id,
                                                      aw__inbox_v1_title, aw__inbox_v1_description);
    return aw__inbox_finish(&maker, &result, schema, &result, ret_text);
}
