#ifndef BRIDGE_CONFIG_PLACE_H
#define BRIDGE_CONFIG_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "bridge/config/config.h"

/** Where in the file something stands, and where to say so. Copied freely. */
typedef struct ab_place {
    ab_findings_t *findings;
    unsigned line, column; /* 1-based, 0 when not known */
    char key[AB_FINDING_KEY_MAX];
} ab_place_t;

/** Appends ".name" to the key path. Only letters, digits, '.', '_' and '-' are taken over; the path
 * ends before the first other byte, because `{sasl.password:hunter2}`, a blank forgotten, is a key
 * to YAML. Returns true when all of the name, which is not empty, was taken over. */
bool ab_place_enter(ab_place_t *place, const char *name);

/** Appends "[index]" to the key path. */
void ab_place_enter_item(ab_place_t *place, size_t index);

/** Adds a mistake at the place. */
void ab_place_mistake(const ab_place_t *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Adds a warning at the place. */
void ab_place_warning(const ab_place_t *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Longest text that ab_shown() makes, NUL included. */
#define AB_SHOWN_MAX 68

/** text fit for a message: printable ASCII, anything else as '?', cut after 64 with three dots.
 *  Never for values from under kafka, consumer and producer. Returns ret_shown. */
const char *ab_shown(const char *text, char ret_shown[AB_SHOWN_MAX]);

#endif
