#ifndef BRIDGE_CLI_LETTER_H
#define BRIDGE_CLI_LETTER_H

#include "agentwire/arena.h"
#include "bridge/config/config.h"
#include "bridge/core/record.h"

/** What stands in one record of an errors topic, whoever wrote it. Spans borrow
 *  from the record and the arena. */
typedef struct ab_letter_view {
    bool ours;            /* has the headers of a letter of this group, and they name a source */
    bool readable;        /* the value is an envelope with an ActivationErrorRecord */
    ab_coordinates_t at;  /* of the source, with ours */
    aw_span_t source;     /* the value of the source header, with ours */
    aw_span_t reason;     /* of the header, else of the value; may be empty */
    aw_span_t entity_key; /* of the value, else the record's key */
    aw_span_t detail;     /* of the value: JSON of ours, any text of others */
    aw_span_t text;       /* for people: __dlq.errors.message, else the detail */
} ab_letter_view_t;

/** Reads a record as a letter. Never fails: what cannot be read stays empty. */
void ab_letter_read(const ab_config_t *config, const ab_full_record_t *record, aw_arena_t *arena,
                    ab_letter_view_t *ret_letter);

/** What can be done about a letter. */
typedef enum ab_letter_state {
    AB_LETTER_OPEN,
    AB_LETTER_REDRIVEN,     /* a redrive has taken care of it */
    AB_LETTER_UNREPLAYABLE, /* no redrive can help: its reason, another's letter, no quarantine */
    AB_LETTER_STATE_COUNT
} ab_letter_state_t;

/** The word for it. Static storage. */
const char *ab_letter_state_name(ab_letter_state_t state);

/** The state of a letter, given whether its quarantine record is marked. */
ab_letter_state_t ab_letter_state(const ab_config_t *config, const ab_letter_view_t *letter,
                                  bool marked);

#endif
