#ifndef TESTS_UNIT_CORE_LETTER_H
#define TESTS_UNIT_CORE_LETTER_H

#include "agentwire/arena.h"
#include "bridge/core/dead_letter.h"

/** What a dead letter's value says, read back with the codec. Borrows from the letter. */
typedef struct letter_view {
    aw_span_t entity_key; /* the same in the envelope and in the record */
    aw_span_t reason;
    aw_span_t detail;
    int64_t event_time_ms; /* likewise */
} letter_view_t;

/** Decodes envelope -> external_event -> ActivationErrorRecord and fails the test where that does
 * not work, where the two disagree, or where the bytes are not the deterministic ones. */
letter_view_t letter_view(const ab_letter_t *letter, aw_arena_t *arena);

/** Bytes of key, value and headers. */
size_t letter_size(const ab_letter_t *letter);

/** Both absent, or the same bytes. */
void assert_same_span(aw_span_t a, aw_span_t b);
void assert_span_text(aw_span_t span, const char *text);
void assert_header(const ab_letter_t *letter, size_t index, const char *name, const char *text);
void assert_letters_equal(const ab_letter_t *a, const ab_letter_t *b);

#endif
