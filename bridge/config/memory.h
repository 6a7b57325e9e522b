#ifndef BRIDGE_CONFIG_MEMORY_H
#define BRIDGE_CONFIG_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** What owns the strings and lists of a configuration: given out piece by piece, freed at once. */
typedef struct ab_config_memory ab_config_memory_t;

/** Makes one. NULL when memory is short. */
ab_config_memory_t *ab_config_memory_new(void);

/** size zeroed bytes, aligned for any type, valid until ab_config_memory_free().
 *  NULL when memory is short; ab_config_memory_failed() stays true from then on. */
void *ab_config_memory_alloc(ab_config_memory_t *memory, size_t size);

/** A copy of size bytes with a NUL behind them. NULL when memory is short. */
char *ab_config_memory_text(ab_config_memory_t *memory, const char *text, size_t size);

/** True once an allocation has failed, so that a caller may ask once at the end. */
bool ab_config_memory_failed(const ab_config_memory_t *memory);

/** Overwrites every piece, since some hold passwords, and frees them. Takes NULL. */
void ab_config_memory_free(ab_config_memory_t *memory);

#endif
