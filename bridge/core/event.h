#ifndef BRIDGE_CORE_EVENT_H
#define BRIDGE_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/** Something worth telling: made by the layers below, written by the edge (bridge/cli/log.c).
 *  Events carry coordinates, reasons and sizes; never payloads, entity keys or secrets. */
typedef enum ab_level {
    AB_LEVEL_ERROR,
    AB_LEVEL_WARNING,
    AB_LEVEL_INFO,
    AB_LEVEL_DEBUG
} ab_level_t;

typedef enum ab_field_kind { AB_FIELD_TEXT, AB_FIELD_NUMBER, AB_FIELD_FLAG } ab_field_kind_t;

/** One field of an event. Names are snake_case literals, and never ts, level, event or message. */
typedef struct ab_field {
    const char *name;
    ab_field_kind_t kind;
    const char *text; /* with AB_FIELD_TEXT; NULL: the field is left out */
    int64_t number;   /* with AB_FIELD_NUMBER; with AB_FIELD_FLAG 0 or 1 */
} ab_field_t;

#define AB_TEXT(field_name, value) ((ab_field_t){(field_name), AB_FIELD_TEXT, (value), 0})
#define AB_NUMBER(field_name, value)                                                               \
    ((ab_field_t){(field_name), AB_FIELD_NUMBER, NULL, (int64_t)(value)})
#define AB_FLAG(field_name, value)                                                                 \
    ((ab_field_t){(field_name), AB_FIELD_FLAG, NULL, (value) ? 1 : 0})

/** Most fields of one event. The ledger line, with every reason in it, is the longest. */
#define AB_FIELDS_MAX 48

/** Receives events; called from any thread. fields and all texts are borrowed for the call.
 *  event is a snake_case word from a closed set ("ledger", "dead_letter", …); message says it in
 *  words and, for a warning or an error, what to do next.
 *
 *  A "dead_letter" event has the text fields "reason" and "source_topic": by them the log holds
 *  back what would come more often than once in ten seconds. */
typedef void ab_event_fn(void *opaque, ab_level_t level, const char *event, const char *message,
                         const ab_field_t *fields, unsigned field_count);

/** Where events go. */
typedef struct ab_sink {
    ab_event_fn *emit;
    void *opaque;
} ab_sink_t;

#endif
