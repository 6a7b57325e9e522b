#ifndef CODEC_BASE_LIMITS_H
#define CODEC_BASE_LIMITS_H

#include <stdint.h>

/* Every limit of the codec. Those of the wire are the reference runtime's; they are part of what is
 * accepted and refused, so none of them may be changed for comfort. */

/** Largest message, bytes: one less than what the reference refuses. */
#define AW__INPUT_MAX ((size_t)INT32_MAX - 1)

/** Longest varint and longest tag, bytes. */
#define AW__VARINT_MAX 10u
#define AW__TAG_MAX    5u

/** Messages and groups that may be open inside the outermost message. */
#define AW__NESTING_MAX 100u

/** Messages that may be open at once, the outermost one included: what the schema needs (3), and
 * one more for a level that a later schema may add. */
#define AW__FRAMES_MAX 4u

/** First block of an arena and the step at which its blocks stop doubling, bytes. */
#define AW__ARENA_BLOCK_MIN ((size_t)4096)
#define AW__ARENA_BLOCK_MAX ((size_t)1024 * 1024)

/** Alignment of everything an arena hands out, bytes. */
#define AW__ARENA_ALIGN ((size_t)16)

/** Message indexes that a schema-registry header may list. */
#define AW__FRAMING_INDEXES_MAX 8u

/** Largest JSON text, bytes: offsets in it are kept in 32 bits. */
#define AW__JSON_TEXT_MAX ((size_t)INT32_MAX - 1)

/** Keys of a keyring, and bytes of its text, of a key's id and of a key. */
#define AW__KEYRING_KEYS_MAX 1024u
#define AW__KEYRING_TEXT_MAX ((size_t)1024 * 1024)
#define AW__KEY_ID_MAX       ((size_t)256)
#define AW__KEY_MAX          ((size_t)1024)

#endif
