#ifndef CODEC_INBOX_WIRE_V0_H
#define CODEC_INBOX_WIRE_V0_H

#include "codec/inbox/migration.h"

/** From version 0, everything that was written before values had a version, to version 1. Its two
 * shapes, deliver and send, had writers that checked nothing, so what is needed is checked here:
 * LEGACY_SEND_PAYLOAD, LEGACY_SEND_DELIVERY, LEGACY_DELIVER. */
extern const aw__inbox_migration_t aw__inbox_from_v0;

#endif
