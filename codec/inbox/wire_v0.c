#include "codec/inbox/wire_v0.h"

/* Frozen: codec/inbox/FROZEN has its hash. */

/** Sets or overwrites the version that the step leads to. */
static void put_version(aw__json_maker_t *maker, aw__json_value_t *object)
{
    aw__json_make_put_text(maker, object, "version", aw__json_make_number(maker, "1"));
}

static const aw__json_value_t *migrate_other(const aw__json_value_t *value, aw__json_maker_t *maker)
{
    static const char *const BUT[] = {"version", NULL};
    aw__json_value_t *made = aw__json_make_object(maker);
    aw__json_make_take_all(maker, made, value, BUT);
    put_version(maker, made);
    return aw__json_make_end(maker, made);
}

static const aw__json_value_t *migrate_deliver(const aw__json_value_t *value,
                                               aw__json_maker_t *maker, aw_inbox_result_t *result)
{
    const aw__json_value_t *payloads = aw__json_find_text(value, "payloads");
    if (payloads == NULL || payloads->kind != AW__JSON_ARRAY) {
        aw__inbox_fail(result, AW_INBOX_CLASS_LEGACY_DELIVER, payloads, "/payloads",
                       "session inbox payload: a legacy deliver has no list of payloads");
        return NULL;
    }
    for (const aw__json_value_t *at = payloads->first; at != NULL; at = at->next) {
        if (!aw__inbox_is_object(at)) {
            aw__inbox_fail(result, AW_INBOX_CLASS_LEGACY_DELIVER, at, "/payloads",
                           "session inbox payload: one of the payloads of a legacy deliver is no "
                           "object");
            return NULL;
        }
    }
    return migrate_other(value, maker);
}

/** The list of one metadata entry that a delivery becomes. */
static const aw__json_value_t *metadata_of(const aw__json_value_t *delivery,
                                           aw__json_maker_t *maker)
{
    static const char *const BUT[] = {"payloadIndex", NULL};
    aw__json_value_t *entry = aw__json_make_object(maker);
    aw__json_make_take_all(maker, entry, delivery, BUT);
    aw__json_make_put_text(maker, entry, "payloadIndex", aw__json_make_number(maker, "0"));
    aw__json_value_t *list = aw__json_make_array(maker);
    aw__json_make_add(maker, list, aw__json_make_end(maker, entry));
    return list;
}

static const aw__json_value_t *migrate_send(const aw__json_value_t *value, aw__json_maker_t *maker,
                                            aw_inbox_result_t *result)
{
    static const char *const KEPT[] = {"auth", "caller", "requestId", "taskDeliveryId",
                                       "turnPolicy"};
    const aw__json_value_t *payload = aw__json_find_text(value, "payload");
    const aw__json_value_t *delivery = aw__json_find_text(value, "delivery");
    if (!aw__inbox_is_object(payload)) {
        aw__inbox_fail(result, AW_INBOX_CLASS_LEGACY_SEND_PAYLOAD, payload, "/payload",
                       "session inbox payload: the payload of a legacy send is no object");
        return NULL;
    }
    if (delivery != NULL && !aw__inbox_is_object(delivery)) {
        aw__inbox_fail(result, AW_INBOX_CLASS_LEGACY_SEND_DELIVERY, delivery, "/delivery",
                       "session inbox payload: the delivery of a legacy send is no object");
        return NULL;
    }
    aw__json_value_t *made = aw__json_make_object(maker);
    aw__json_value_t *payloads = aw__json_make_array(maker);
    aw__json_make_add(maker, payloads, payload);
    aw__json_make_put_text(maker, made, "kind",
                           aw__json_make_string(maker, aw_span_text_view("deliver")));
    put_version(maker, made);
    aw__json_make_put_text(maker, made, "payloads", payloads);
    aw__json_make_put_text(maker, made, "payload", payload);
    if (delivery != NULL) {
        aw__json_make_put_text(maker, made, "deliveryMetadata", metadata_of(delivery, maker));
    }
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        aw__json_make_take(maker, made, value, KEPT[i]);
    }
    return aw__json_make_end(maker, made);
}

static const aw__json_value_t *migrate(const aw__json_value_t *value, aw__json_maker_t *maker,
                                       aw_inbox_result_t *result)
{
    const aw__json_value_t *kind = aw__json_find_text(value, "kind");
    if (aw__json_is_text(kind, "send")) {
        return migrate_send(value, maker, result);
    }
    if (aw__json_is_text(kind, "deliver")) {
        return migrate_deliver(value, maker, result);
    }
    return migrate_other(value, maker);
}

const aw__inbox_migration_t aw__inbox_from_v0 = {.from = 0, .to = 1, .migrate = migrate};
