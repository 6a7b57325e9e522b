#ifndef CODEC_INBOX_SHAPE_H
#define CODEC_INBOX_SHAPE_H

#include "codec/inbox/fault.h"
#include "codec/json/build.h"

/* A shape says what a JSON value has to be. Shapes are constant tables; values are checked by them
 * and their JSON Schema is written from them, so that neither can differ from the other. */

typedef enum aw__shape_kind {
    AW__SHAPE_ANY,
    AW__SHAPE_STRING,
    AW__SHAPE_NUMBER,
    AW__SHAPE_COUNTER, /* a whole number of 0 .. 2^53-1, however it is spelled */
    AW__SHAPE_BOOLEAN,
    AW__SHAPE_NULL,
    AW__SHAPE_OBJECT,  /* of any members */
    AW__SHAPE_VERSION, /* the number `version` */
    AW__SHAPE_CONST,   /* the string `word` */
    AW__SHAPE_ENUM,    /* one of `words` */
    AW__SHAPE_LIST,    /* of `of` */
    AW__SHAPE_MAP,     /* an object whose values are all `of` */
    AW__SHAPE_RECORD,  /* an object with `members` */
    AW__SHAPE_ANY_OF,  /* the first of `choices` that fits */
    AW__SHAPE_ONE_OF   /* records that the member `tag` tells apart */
} aw__shape_kind_t;

/** What becomes of a member that a record does not list. */
typedef enum aw__shape_policy {
    AW__SHAPE_STRICT,   /* the value is refused */
    AW__SHAPE_LOOSE,    /* it is kept */
    AW__SHAPE_STRIPPING /* it is removed */
} aw__shape_policy_t;

typedef struct aw__shape aw__shape_t;

/** A member of a record. Required ones stand in the order in which the schema lists them. */
typedef struct aw__shape_member {
    const char *key;
    const aw__shape_t *shape;
    const char *description; /* beside its shape in the schema, or NULL */
    bool required;
} aw__shape_member_t;

struct aw__shape {
    aw__shape_kind_t kind;
    aw__shape_policy_t policy;
    unsigned version;
    const char *def;         /* its name in the schema's $defs; NULL: written where it is used */
    const char *description; /* in the schema, or NULL */
    const char *tag;
    const char *word;
    const char *const *words;          /* ends with NULL */
    const aw__shape_t *of;             /* NULL: any value */
    const aw__shape_t *const *choices; /* ends with NULL */
    const aw__shape_member_t *members; /* ends with a key of NULL */
};

/** Where a value stands in a document, with the faults found. */
typedef struct aw__shape_check {
    aw__json_path_t path;
    size_t known; /* of the path, as far as this library knows its names; set with the first that it
                     does not know */
    bool is_known;
    aw_inbox_result_t *result;
} aw__shape_check_t;

/** Starts a check at the whole document, or at one of its members. */
void aw__shape_check_init(aw__shape_check_t *check, const char *member, aw_inbox_result_t *result);

/** Checks a value and removes what STRIPPING records do not list, in place. False when it breaks
 * the shape; the result is then SCHEMA, with the path and the reason of the first violation.
 * Recursion goes as deep as shapes are nested, never as deep as a value is. */
bool aw__shape_check(aw__shape_check_t *check, const aw__shape_t *shape, aw__json_value_t *value);

/** The same for a record, under another policy of its own level. */
bool aw__shape_check_record(aw__shape_check_t *check, const aw__shape_t *shape,
                            aw__shape_policy_t policy, aw__json_value_t *value);

/** The JSON Schema (draft 2020-12) of a document of this shape, with its address, title and
 * description. NULL when the maker was refused memory. */
const aw__json_value_t *aw__shape_schema(aw__json_maker_t *maker, const aw__shape_t *root,
                                         const char *id, const char *title,
                                         const char *description);

#endif
