#ifndef BRIDGE_CONFIG_BIND_H
#define BRIDGE_CONFIG_BIND_H

#include "bridge/config/place.h"
#include "bridge/config/table.h"
#include "bridge/config/tree.h"

/** Which value of the file each row of the table was read from, NULL where it was not written. Of
 * one source, or of everything that is in no source. */
typedef struct ab_written {
    const ab_node_t *nodes[AB_KEYS_MAX];
} ab_written_t;

/** Fills config from the tree by the table: every key found in its place, expanded, parsed, held
 * against its limits and stored; defaults for the rest. Says every mistake on the way and goes on,
 * so a value that was wrong is left at its default, or unset where there is none.
 *
 * config, zeroed by the caller, gets its strings from memory. ret_written gets 1 + source_count
 * items: [0] for the top, [1 + i] for source i; they and the tree live in scratch. Returns 0, or -1
 * when memory is short. */
int ab_config_bind(ab_config_t *config, ab_config_memory_t *memory, const ab_node_t *root,
                   ab_config_memory_t *scratch, ab_findings_t *findings,
                   ab_written_t **ret_written);

/** Checks what no single key can: names used twice, sizes and times that must fit each other. Says
 *  mistakes and warnings. written is from ab_config_bind(). */
void ab_config_check(const ab_config_t *config, const ab_written_t *written,
                     ab_findings_t *findings);

#endif
