#ifndef CODEC_JSON_VALUE_H
#define CODEC_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

/** What a JSON value is. */
typedef enum aw__json_kind {
    AW__JSON_NULL,
    AW__JSON_FALSE,
    AW__JSON_TRUE,
    AW__JSON_NUMBER,
    AW__JSON_STRING,
    AW__JSON_ARRAY,
    AW__JSON_OBJECT
} aw__json_kind_t;

/** One JSON value: a node of a tree that lives in an arena and borrows from the text it was read
 * from. Readers of a tree take it as const and never change it.
 *
 * The children of a container are first, first->next, and so on, in the order of the text; count
 * says how many. An object's members stand in `sorted` once more, by the bytes of their keys (over
 * the common length, then the shorter first), each key once. */
typedef struct aw__json_value aw__json_value_t;
struct aw__json_value {
    union {
        aw_span_t text; /* STRING: unescaped, may hold NUL; NUMBER: the token as it stands */
        struct {
            aw__json_value_t *first; /* ARRAY, OBJECT: NULL when empty */
            union {
                aw__json_value_t *last;    /* while children are added */
                aw__json_value_t **sorted; /* OBJECT: count pointers, NULL when empty */
            };
        };
    };
    aw_span_t key;          /* of a member, unescaped, may hold NUL; absent elsewhere */
    aw__json_value_t *next; /* the next sibling, or NULL */
    uint32_t offset;        /* of the value's first byte in the text */
    uint32_t size;          /* bytes of the value in the text, brackets and quotes included */
    uint32_t key_offset;    /* of the opening quote of the key */
    uint32_t count;         /* ARRAY, OBJECT: children */
    uint32_t height;        /* containers nested in it, itself included; 0 for a scalar */
    aw__json_kind_t kind;
};

/** The member of an object with this key, or NULL: also for a value that is no object. */
const aw__json_value_t *aw__json_find(const aw__json_value_t *object, aw_span_t key);

/** The same for a key written as a C string. */
const aw__json_value_t *aw__json_find_text(const aw__json_value_t *object, const char *key);

/** True when the value is a string of exactly these characters. NULL is no string. */
bool aw__json_is_text(const aw__json_value_t *value, const char *text);

/** Order of keys: below, at or above 0 as a sorts before, with or behind b. */
int aw__json_key_compare(aw_span_t a, aw_span_t b);

/** A new value without children, key or text, all numbers 0. NULL when the arena refuses. */
aw__json_value_t *aw__json_new(aw_arena_t *arena, aw__json_kind_t kind);

/** Puts a value that belongs to no other container behind the children of this one. An object is
 * complete after aw__json_sort(), which is called once. */
void aw__json_append(aw__json_value_t *container, aw__json_value_t *child);

/** What is known of repeated keys while objects are sorted, and the memory for sorting. Starts as
 * all zeroes; one serves any number of objects of one arena. */
typedef struct aw__json_sorter {
    aw__json_value_t **scratch;
    size_t capacity;
    const aw__json_value_t
        *repeated;       /* the repeated member that stands first in the text, or NULL */
    bool last_of_equals; /* drop all but the last member of a key */
} aw__json_sorter_t;

/** Fills `sorted` of an object whose children are complete. Where keys repeat, sorter->repeated is
 * set; with last_of_equals the earlier ones also leave the object. Takes time n log n.
 * Returns AW_OK, AW_STATUS_LIMIT_DECODE_BYTES or AW_STATUS_NO_MEMORY. */
AW_CHECKED int aw__json_sort(aw__json_sorter_t *sorter, aw__json_value_t *object,
                             aw_arena_t *arena);

/** A JSON pointer (RFC 6901) that grows and shrinks while a tree is walked. It is cut where
 * AW_ERROR_FIELD_MAX ends, at a character's edge; control characters of keys are written as '?', so
 * that it fits an error's field. Starts as all zeroes: "", the whole document. */
typedef struct aw__json_path {
    char text[AW_ERROR_FIELD_MAX]; /* NUL-terminated */
    size_t size;                   /* bytes before the NUL */
    bool is_full;                  /* nothing is added any more */
} aw__json_path_t;

/** Adds "/key" or "/index". */
void aw__json_path_add_key(aw__json_path_t *path, aw_span_t key);
void aw__json_path_add_index(aw__json_path_t *path, size_t index);

/** The pointer to a value read from the same text as root; stops early where it is not below. */
void aw__json_path_find(aw__json_path_t *path, const aw__json_value_t *root,
                        const aw__json_value_t *value);

#endif
