#ifndef AGENTWIRE_KEYRING_H
#define AGENTWIRE_KEYRING_H

#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Secret keys by id. Never changes once made, so any number of threads may use it. */
typedef struct aw_keyring aw_keyring_t;

/** Makes a keyring of lines key_id=base64(key).
 *
 * Blanks around a line are ignored, and so is a carriage return before its end, an empty line and
 * one that begins with #. The id is everything before the first = sign: 1 to 256 bytes of UTF-8
 * without blanks and control characters. The key has 1 to 1024 bytes, in either alphabet of base64,
 * padded or not. An id may stand once only. At most 1024 keys and 1 MiB of text. No line at all is
 * a keyring without keys.
 *
 * The text is copied, so the caller can and should wipe its own (aw_bytes_wipe()). ret_keyring is
 * written on success only; the caller owns it and calls aw_keyring_free().
 *
 * Returns AW_OK, AW_STATUS_NO_MEMORY, or AW_STATUS_INVALID_KEYRING with the offset of what is wrong
 * and "line N" as the field. The error's text never holds anything of the keyring's.
 */
AW_CHECKED int aw_keyring_new(aw_span_t text, aw_keyring_t **ret_keyring, aw_error_t *error);

/** Wipes and frees the keys. Takes NULL. */
void aw_keyring_free(aw_keyring_t *keyring);

/** How many keys there are. */
size_t aw_keyring_count(const aw_keyring_t *keyring);

/** The id of key number index, below aw_keyring_count(), in the order of the text. Borrowed from
 * the keyring. */
aw_span_t aw_keyring_id_view(const aw_keyring_t *keyring, size_t index);

/** Finds the key of an id. Returns false, and leaves ret_key, when there is none. ret_key borrows
 * from the keyring. */
bool aw_keyring_find(const aw_keyring_t *keyring, aw_span_t key_id, aw_span_t *ret_key);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
