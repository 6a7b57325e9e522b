#ifndef BRIDGE_CORE_EVENT_H
#define BRIDGE_CORE_EVENT_H

#include <stdint.h>

/** Something worth telling: made by the layers below, written by the edge (bridge/cli/log.c).
 *  Events carry coordinates, reasons and sizes; never payloads, entity keys or secrets. */
typedef enum ab_level {
    AB_LEVEL_ERROR,
    AB_LEVEL_WARNING,
    AB_LEVEL_INFO,
    AB_LEVEL_DEBUG
} ab_level_t;

/** One field of an event: text when it is not NULL, else number. */
typedef struct ab_field {
    const char *name;
    const char *text;
    int64_t number;
} ab_field_t;

#define AB_TEXT(field_name, value)   ((ab_field_t){(field_name), (value), 0})
#define AB_NUMBER(field_name, value) ((ab_field_t){(field_name), NULL, (int64_t)(value)})

/** Most fields of one event. */
#define AB_FIELDS_MAX 24

/** Receives events; called from any thread. fields and all texts are borrowed for the call.
 *  event is a snake_case word from a closed set ("ledger", "dead_letter", …); message says it in
 *  words and, for a warning or an error, what to do next. */
typedef void ab_event_fn(void *opaque, ab_level_t level, const char *event, const char *message,
                         const ab_field_t *fields, unsigned field_count);

/** Where events go. */
typedef struct ab_sink {
    ab_event_fn *emit;
    void *opaque;
} ab_sink_t;

#endif
