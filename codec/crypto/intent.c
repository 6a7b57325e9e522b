#include "agentwire/intent.h"

#include <assert.h>

#include "agentwire/build.h"
#include "agentwire/crypto.h"

/* ToolIntent.SignatureScheme and .Kind; the schema's test holds the numbers. */
#define SCHEME_HMAC_SHA256 1
#define KIND_APPROVAL      2

static aw_value_t value_of(const aw_message_t *intent, uint32_t number)
{
    aw_field_t field;
    const bool found = aw_field_get(AW_MESSAGE_TOOL_INTENT, number, &field);
    assert(found);
    (void)found;
    return aw_message_value(intent, &field, 0);
}

bool aw_intent_is_approval(const aw_message_t *intent)
{
    return value_of(intent, AW_FIELD_TOOL_INTENT_KIND).as.enumeration == KIND_APPROVAL;
}

static void set_signature(aw_builder_t *builder, int32_t scheme, aw_span_t key_id,
                          aw_span_t signature)
{
    aw_builder_set_enum(builder, AW_FIELD_TOOL_INTENT_SIGNATURE_SCHEME, scheme);
    aw_builder_set_bytes(builder, AW_FIELD_TOOL_INTENT_SIGNING_KEY_ID, key_id);
    aw_builder_set_bytes(builder, AW_FIELD_TOOL_INTENT_SIGNATURE, signature);
}

int aw_intent_signed_bytes(const aw_message_t *intent, aw_arena_t *arena, aw_span_t *ret_bytes)
{
    if (aw_message_type(intent) != AW_MESSAGE_TOOL_INTENT) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    aw_builder_t builder;
    const aw_message_t *bare;
    aw_builder_init_copy(&builder, intent, arena);
    set_signature(&builder, 0, AW_SPAN_NULL, AW_SPAN_NULL);
    const int status = aw_builder_finish(&builder, &bare);
    return status == AW_OK ? aw_message_encode(bare, arena, ret_bytes) : status;
}

static int make_signature(const aw_message_t *intent, aw_span_t key, aw_arena_t *arena,
                          uint8_t ret_mac[AW_SHA256_SIZE])
{
    aw_span_t bytes;
    const int status = aw_intent_signed_bytes(intent, arena, &bytes);
    return status == AW_OK ? aw_hmac_sha256(key, bytes, ret_mac) : status;
}

int aw_intent_sign(const aw_message_t *intent, aw_span_t key_id, aw_span_t key, aw_arena_t *arena,
                   const aw_message_t **ret_intent)
{
    if (key_id.size == 0 || key.size == 0) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    uint8_t mac[AW_SHA256_SIZE];
    const int status = make_signature(intent, key, arena, mac);
    if (status != AW_OK) {
        return status;
    }
    aw_builder_t builder;
    aw_builder_init_copy(&builder, intent, arena);
    uint8_t *signature = aw_arena_alloc(arena, sizeof mac);
    if (signature == NULL) {
        return aw_arena_status(arena);
    }
    memcpy(signature, mac, sizeof mac);
    set_signature(&builder, SCHEME_HMAC_SHA256, key_id, aw_span_view(signature, sizeof mac));
    return aw_builder_finish(&builder, ret_intent);
}

int aw_intent_verify(const aw_message_t *intent, const aw_keyring_t *keyring, aw_arena_t *arena)
{
    if (aw_message_type(intent) != AW_MESSAGE_TOOL_INTENT) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    const aw_span_t signature = value_of(intent, AW_FIELD_TOOL_INTENT_SIGNATURE).as.bytes;
    const int32_t scheme = value_of(intent, AW_FIELD_TOOL_INTENT_SIGNATURE_SCHEME).as.enumeration;
    const aw_span_t key_id = value_of(intent, AW_FIELD_TOOL_INTENT_SIGNING_KEY_ID).as.bytes;
    if (signature.size == 0) {
        return AW_STATUS_UNSIGNED_INTENT;
    }
    if (scheme != SCHEME_HMAC_SHA256) {
        return AW_STATUS_BAD_SIGNATURE;
    }
    aw_span_t key;
    if (!aw_keyring_find(keyring, key_id, &key)) {
        return AW_STATUS_UNKNOWN_SIGNING_KEY;
    }
    uint8_t mac[AW_SHA256_SIZE];
    const int status = make_signature(intent, key, arena, mac);
    if (status != AW_OK) {
        return status;
    }
    return aw_bytes_equal_secret(signature, aw_span_view(mac, sizeof mac))
               ? AW_OK
               : AW_STATUS_BAD_SIGNATURE;
}
