#ifndef CODEC_INBOX_REGISTRY_H
#define CODEC_INBOX_REGISTRY_H

#include "codec/inbox/migration.h"

/** The versions that values declare: contiguous from 1, the last is written. Only ever added to. A
 * new one needs wire_v<N>.{h,c} with its shape, a migration in the module of the version before, an
 * encoder (encode.c), a target, golden/session-inbox/v<N> and tests/unit/codec/inbox_v<N>_test.c;
 * what lies here is frozen then by scripts/freeze_inbox.py. tests/style/inbox.py says what is
 * missing. */
#define AW__INBOX_VERSIONS(X) X(1)

/** What values are called in messages. */
#define AW__INBOX_LABEL "session inbox payload"

enum {
#define COUNT(version) +1
    AW__INBOX_VERSION_COUNT = 0 AW__INBOX_VERSIONS(COUNT)
#undef COUNT
};
_Static_assert(AW__INBOX_VERSION_COUNT == AW_INBOX_VERSION,
               "the versions are not contiguous up to the one that the public header names");

/** True for a version that values declare and readers may be asked to read. */
static inline bool aw__inbox_is_registered(double version)
{
#define IS(number) || version == (number)
    return false AW__INBOX_VERSIONS(IS);
#undef IS
}

#endif
