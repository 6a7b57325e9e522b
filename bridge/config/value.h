#ifndef BRIDGE_CONFIG_VALUE_H
#define BRIDGE_CONFIG_VALUE_H

#include "bridge/config/place.h"
#include "bridge/config/table.h"

/** One value, read as its key's type says. */
typedef struct ab_value {
    uint64_t number;  /* a count, bytes, milliseconds, a word's number, 0 or 1 of a bool */
    const char *text; /* a name or topic, NULL when a word stands in its place; as given */
    ab_route_kind_t route;
    ab_start_kind_t start;
    int64_t start_time_ms;
    ab_listen_t listen;
} ab_value_t;

/** Reads text as the value of key and holds it against the key's limits. ret_value borrows from
 * text. Returns true, or false after one mistake at place, ret_value untouched. */
bool ab_value_parse(const ab_key_t *key, const char *text, const ab_place_t *place,
                    ab_value_t *ret_value);

/** Reads an RFC 3339 time not before 1970, such as 2026-01-31T00:00:00.5+01:00, as milliseconds
 * since then; what is finer is cut off, a leap second is the next second. False when it is none. */
bool ab_time_parse(const char *text, int64_t *ret_ms);

/** Longest text of ab_number_text(), NUL included. */
#define AB_NUMBER_TEXT_MAX 32

/** A number as its key's type writes it, in the largest unit that fits: "8MiB", "100ms", "3".
 *  Returns ret_text. */
const char *ab_number_text(const ab_key_t *key, uint64_t number, char ret_text[AB_NUMBER_TEXT_MAX]);

/** Walks the words of "a|b|c": returns the next one and moves *at behind it, size in ret_size; NULL
 * at the end. Start with *at = words, which may be NULL. */
const char *ab_word_next(const char **at, size_t *ret_size);

/** The words of a list for a sentence, "a, b or c". Cut when ret_text is too small. Returns
 * ret_text. */
const char *ab_words_text(const char *words, char *ret_text, size_t size);

#endif
