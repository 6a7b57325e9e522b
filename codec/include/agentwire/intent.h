#ifndef AGENTWIRE_INTENT_H
#define AGENTWIRE_INTENT_H

#include "agentwire/keyring.h"
#include "agentwire/message.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** What a ToolIntent asks for. Only the kind APPROVAL asks a person; TOOL, no kind at all and any
 * kind that this build does not know are tool calls. The message must be a ToolIntent. */
bool aw_intent_is_approval(const aw_message_t *intent);

/** The bytes that the signature of a ToolIntent covers: its deterministic encoding without
 * signature_scheme, signing_key_id and signature, but with its unknown fields.
 *
 * ret_bytes lies in the arena and is written on success only. Returns AW_OK;
 * AW_STATUS_INVALID_ARGUMENT for any other message; else what aw_message_encode() does.
 */
AW_CHECKED int aw_intent_signed_bytes(const aw_message_t *intent, aw_arena_t *arena,
                                      aw_span_t *ret_bytes);

/** Signs a ToolIntent with HMAC-SHA256: ret_intent is a copy of it with the three fields set, also
 * where they were set before. It lies in the arena and borrows from the intent and from key_id, and
 * is written on success only.
 *
 * Returns AW_OK; AW_STATUS_INVALID_ARGUMENT for any other message and for an empty key_id or key;
 * AW_STATUS_INVALID_UTF8 for a key_id that is none; else what aw_message_encode() does.
 */
AW_CHECKED int aw_intent_sign(const aw_message_t *intent, aw_span_t key_id, aw_span_t key,
                              aw_arena_t *arena, const aw_message_t **ret_intent);

/** Verifies the signature of a ToolIntent. Compares in constant time.
 *
 * Returns AW_OK when it is the one that the key of its signing_key_id makes;
 * AW_STATUS_UNSIGNED_INTENT when there is no signature, whatever the scheme says;
 * AW_STATUS_BAD_SIGNATURE when the scheme is one that this build does not know, or the signature is
 * wrong; AW_STATUS_UNKNOWN_SIGNING_KEY when the keyring has no such key;
 * AW_STATUS_INVALID_ARGUMENT for any other message; else what aw_message_encode() does.
 */
AW_CHECKED int aw_intent_verify(const aw_message_t *intent, const aw_keyring_t *keyring,
                                aw_arena_t *arena);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
