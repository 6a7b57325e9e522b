#ifndef CODEC_INBOX_WIRE_V1_H
#define CODEC_INBOX_WIRE_V1_H

#include "codec/inbox/shape.h"

/** Everything that a value of version 1 may be, and two parts that encoding looks at by themselves.
 * The names are those of the schema's $defs. */
extern const aw__shape_t aw__inbox_v1;
extern const aw__shape_t aw__inbox_v1_caller;

/** The schema's own address, title and description. */
extern const char aw__inbox_v1_id[];
extern const char aw__inbox_v1_title[];
extern const char aw__inbox_v1_description[];

#endif
