#ifndef CODEC_MESSAGE_ENCODE_H
#define CODEC_MESSAGE_ENCODE_H

#include "codec/message/object.h"

/** The size of a message's encoding; SIZE_MAX when it does not fit. */
size_t aw__encoded_size(const aw_message_t *message);

/** Writes the encoding so that it ends before end; returns its first byte. There must be room for
 * what aw__encoded_size() says. */
uint8_t *aw__encode_before(const aw_message_t *message, uint8_t *end);

#endif
