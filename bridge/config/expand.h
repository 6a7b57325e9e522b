#ifndef BRIDGE_CONFIG_EXPAND_H
#define BRIDGE_CONFIG_EXPAND_H

#include "bridge/config/memory.h"
#include "bridge/config/place.h"

/** Expands ${VAR}, ${VAR:-default}, ${VAR:?text} and $$ in one value. What comes out is never
 * expanded again, and no part of it is ever printed. A variable that is not set is a mistake, each
 * one its own. Returns the text, owned by memory, or NULL after at least one mistake (or when
 * memory is short). */
const char *ab_expand(ab_config_memory_t *memory, const char *text, const ab_place_t *place);

/** The value of a librdkafka property: `file:/path` is the file's content without the newline at
 * its end, `env:NAME` the variable's, and anything else is expanded. Variables may stand in the
 * path; content is taken as it is. Whether it is a reference shows in the text as written, so that
 * no password can be mistaken for one. Returns as ab_expand() does. */
const char *ab_resolve(ab_config_memory_t *memory, const char *text, const ab_place_t *place);

/** True when text is written as a reference or takes something from the environment. */
bool ab_is_indirect(const char *text);

/** Reads a whole file into buffer. Returns its size; capacity when it holds as much or more; minus
 * errno when it cannot be read. */
long ab_file_read(const char *path, char *buffer, size_t capacity);

#endif
