#ifndef CODEC_JSON_BUILD_H
#define CODEC_JSON_BUILD_H

#include "codec/json/value.h"

/** Makes trees out of parts of others. Lives on the caller's stack.
 *
 * Nothing fails by itself: the first refusal of the arena is kept in status, and everything after
 * it does nothing. Where a value is put, its node is copied and what is below is shared, so that
 * one value may stand in several places; neither tree may be changed afterwards. A copy keeps the
 * offset and size of the text it was read from; what is made anew has size 0. */
typedef struct aw__json_maker {
    aw_arena_t *arena;
    int status; /* AW_OK, AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY */
    aw__json_sorter_t sorter;
} aw__json_maker_t;

/** Starts with nothing refused. */
void aw__json_maker_init(aw__json_maker_t *maker, aw_arena_t *arena);

/** Keeps what the arena refused to the caller itself. */
void aw__json_maker_refuse(aw__json_maker_t *maker);

/** An empty object or array, a string or a number (its token, not copied). NULL after a refusal;
 * every function here takes that NULL as a container and as a value. */
aw__json_value_t *aw__json_make_object(aw__json_maker_t *maker);
aw__json_value_t *aw__json_make_array(aw__json_maker_t *maker);
aw__json_value_t *aw__json_make_string(aw__json_maker_t *maker, aw_span_t text);
aw__json_value_t *aw__json_make_number(aw__json_maker_t *maker, const char *token);
aw__json_value_t *aw__json_make_unsigned(aw__json_maker_t *maker, unsigned number);

/** Adds an element, with its node copied. */
void aw__json_make_add(aw__json_maker_t *maker, aw__json_value_t *array,
                       const aw__json_value_t *value);

/** Adds a member, with the node of its value copied. A value of NULL adds nothing. The object must
 * not have the key yet. */
void aw__json_make_put(aw__json_maker_t *maker, aw__json_value_t *object, aw_span_t key,
                       const aw__json_value_t *value);
void aw__json_make_put_text(aw__json_maker_t *maker, aw__json_value_t *object, const char *key,
                            const aw__json_value_t *value);

/** Adds the member of the same key of another object, where that has it. */
void aw__json_make_take(aw__json_maker_t *maker, aw__json_value_t *object,
                        const aw__json_value_t *from, const char *key);

/** Adds all members of another object but those of the keys; the list ends with NULL. */
void aw__json_make_take_all(aw__json_maker_t *maker, aw__json_value_t *object,
                            const aw__json_value_t *from, const char *const *but);

/** Ends an object: only now its members are found. Returns it, or NULL after a refusal. */
aw__json_value_t *aw__json_make_end(aw__json_maker_t *maker, aw__json_value_t *object);

/** The same where keys may have been put more than once: the last of each stays. */
aw__json_value_t *aw__json_make_end_last(aw__json_maker_t *maker, aw__json_value_t *object);

#endif
