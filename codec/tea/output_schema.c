#include <assert.h>
#include <string.h>

#include "codec/json/number.h"
#include "codec/tea/check.h"

/* The schema of a prompt's output format (edition B), held to what Draft 2020-12 says of each
 * keyword's value. What no keyword says by itself (a pattern's grammar, where a local reference
 * leads) is left to who uses the schema. */

/** What the value of a keyword has to be. */
typedef enum shape {
    SCHEMA,
    SCHEMA_LIST, /* one at least */
    SCHEMA_MAP,
    TYPE, /* a type's name, or several different ones */
    LIST,
    NUMBER,
    POSITIVE,
    COUNT, /* a whole number from 0 */
    BOOL,
    STRING,
    REFERENCE,   /* a string that does not lead out of the document */
    STRING_SET,  /* different strings */
    STRING_SETS, /* an object of those */
    BOOLS        /* an object of booleans */
} shape_t;

typedef struct keyword {
    const char *name;
    shape_t shape;
} keyword_t;

/* $defs, definitions: the old name is part of the standard's own schema */
static const keyword_t keywords[] = {
    {"$anchor", STRING},
    {"$comment", STRING},
    {"$defs", SCHEMA_MAP},
    {"$dynamicAnchor", STRING},
    {"$dynamicRef", REFERENCE},
    {"$id", STRING},
    {"$ref", REFERENCE},
    {"$schema", STRING},
    {"$vocabulary", BOOLS},
    {"additionalProperties", SCHEMA},
    {"allOf", SCHEMA_LIST},
    {"anyOf", SCHEMA_LIST},
    {"contains", SCHEMA},
    {"contentEncoding", STRING},
    {"contentMediaType", STRING},
    {"contentSchema", SCHEMA},
    {"definitions", SCHEMA_MAP},
    {"dependentRequired", STRING_SETS},
    {"dependentSchemas", SCHEMA_MAP},
    {"deprecated", BOOL},
    {"description", STRING},
    {"else", SCHEMA},
    {"enum", LIST},
    {"examples", LIST},
    {"exclusiveMaximum", NUMBER},
    {"exclusiveMinimum", NUMBER},
    {"format", STRING},
    {"if", SCHEMA},
    {"items", SCHEMA},
    {"maxContains", COUNT},
    {"maxItems", COUNT},
    {"maxLength", COUNT},
    {"maxProperties", COUNT},
    {"maximum", NUMBER},
    {"minContains", COUNT},
    {"minItems", COUNT},
    {"minLength", COUNT},
    {"minProperties", COUNT},
    {"minimum", NUMBER},
    {"multipleOf", POSITIVE},
    {"not", SCHEMA},
    {"oneOf", SCHEMA_LIST},
    {"pattern", STRING},
    {"patternProperties", SCHEMA_MAP},
    {"prefixItems", SCHEMA_LIST},
    {"properties", SCHEMA_MAP},
    {"propertyNames", SCHEMA},
    {"readOnly", BOOL},
    {"required", STRING_SET},
    {"then", SCHEMA},
    {"title", STRING},
    {"type", TYPE},
    {"unevaluatedItems", SCHEMA},
    {"unevaluatedProperties", SCHEMA},
    {"uniqueItems", BOOL},
    {"writeOnly", BOOL},
};

/** A schema, or a container of schemas, that is being walked through. */
typedef struct frame {
    const aw__json_value_t *next;
    bool of_schemas; /* each child is a schema; else each is a keyword */
} frame_t;

typedef struct walk {
    aw__tea_check_t *check;
    frame_t frames[AW_TEA_SCHEMA_DEPTH_MAX];
    unsigned depth;
} walk_t;

static void enter(walk_t *walk, const aw__json_value_t *container, bool of_schemas)
{
    assert(walk->depth < AW_TEA_SCHEMA_DEPTH_MAX); /* the levels are counted before */
    walk->frames[walk->depth++] = (frame_t){container->first, of_schemas};
}

static bool is_bool(const aw__json_value_t *value)
{
    return value->kind == AW__JSON_TRUE || value->kind == AW__JSON_FALSE;
}

static bool enter_schema(walk_t *walk, const aw__json_value_t *value)
{
    if (value->kind == AW__JSON_OBJECT) {
        enter(walk, value, false);
    }
    return value->kind == AW__JSON_OBJECT || is_bool(value);
}

/** Only strings, and none twice: they are made keys of an object, which is then sorted. */
static bool is_string_set(walk_t *walk, const aw__json_value_t *list)
{
    aw__json_sorter_t sorter = {.capacity = 0};
    aw_arena_t *arena = walk->check->arena;
    aw__json_value_t *set = aw__json_new(arena, AW__JSON_OBJECT);
    if (list->kind != AW__JSON_ARRAY) {
        return false;
    }
    for (const aw__json_value_t *item = list->first; set != NULL && item != NULL;
         item = item->next) {
        if (item->kind != AW__JSON_STRING) {
            return false;
        }
        aw__json_value_t *member = aw__json_new(arena, AW__JSON_NULL);
        if (member == NULL) {
            set = NULL;
            break;
        }
        member->key = item->text;
        aw__json_append(set, member);
    }
    if (set == NULL) {
        walk->check->status = aw_arena_status(arena);
        return false;
    }
    walk->check->status = aw__json_sort(&sorter, set, arena);
    return walk->check->status == AW_OK && sorter.repeated == NULL;
}

static bool is_type_name(const aw__json_value_t *value)
{
    static const char *const names[] = {"array",  "boolean", "integer", "null",
                                        "number", "object",  "string"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (aw__json_is_text(value, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_type(walk_t *walk, const aw__json_value_t *value)
{
    if (value->kind != AW__JSON_ARRAY) {
        return is_type_name(value);
    }
    for (const aw__json_value_t *item = value->first; item != NULL; item = item->next) {
        if (!is_type_name(item)) {
            return false;
        }
    }
    return value->count > 0 && is_string_set(walk, value);
}

static bool is_number_of(const aw__json_value_t *value, shape_t shape)
{
    aw__number_t number;
    if (value->kind != AW__JSON_NUMBER || !aw__number_read(value->text, &number)) {
        return false;
    }
    double real = number.as.real;
    if (number.kind == AW__NUMBER_UINT) {
        real = (double)number.as.uint;
    } else if (number.kind == AW__NUMBER_INT) {
        real = (double)number.as.sint;
    }
    /* every double from 2^53 on is whole */
    bool whole = real >= 0x1p53 || (real >= 0 && real == (double)(uint64_t)real);
    return shape == NUMBER || (shape == POSITIVE ? real > 0 : whole);
}

static bool leads_out(aw_span_t reference)
{
    static const char *const schemes[] = {"http:", "https:", "file:"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t size = strlen(schemes[i]);
        size_t at = 0;
        while (at < size && at < reference.size &&
               (reference.data[at] == (uint8_t)schemes[i][at] ||
                (schemes[i][at] != ':' && (reference.data[at] | 0x20) == schemes[i][at]))) {
            at++;
        }
        if (at == size) {
            return true;
        }
    }
    return false;
}

static bool is_object_of(walk_t *walk, const aw__json_value_t *value,
                         bool (*is_good)(walk_t *, const aw__json_value_t *))
{
    if (value->kind != AW__JSON_OBJECT) {
        return false;
    }
    for (const aw__json_value_t *child = value->first; child != NULL; child = child->next) {
        if (!is_good(walk, child)) {
            return false;
        }
    }
    return true;
}

static bool is_flag(walk_t *walk, const aw__json_value_t *value)
{
    (void)walk;
    return is_bool(value);
}

/** Judges the value of a keyword; schemas in it are entered and judged by the walk. */
static bool check_keyword(walk_t *walk, shape_t shape, const aw__json_value_t *value)
{
    switch (shape) {
    case SCHEMA:
        return enter_schema(walk, value);
    case SCHEMA_LIST:
        if (value->kind != AW__JSON_ARRAY || value->count == 0) {
            return false;
        }
        enter(walk, value, true);
        return true;
    case SCHEMA_MAP:
        if (value->kind != AW__JSON_OBJECT) {
            return false;
        }
        enter(walk, value, true);
        return true;
    case TYPE:
        return is_type(walk, value);
    case LIST:
        return value->kind == AW__JSON_ARRAY;
    case NUMBER:
    case POSITIVE:
    case COUNT:
        return is_number_of(value, shape);
    case BOOL:
        return is_bool(value);
    case STRING:
        return value->kind == AW__JSON_STRING;
    case REFERENCE:
        return value->kind == AW__JSON_STRING && !leads_out(value->text);
    case STRING_SET:
        return is_string_set(walk, value);
    case STRING_SETS:
        return is_object_of(walk, value, is_string_set);
    case BOOLS:
        break;
    }
    return is_object_of(walk, value, is_flag);
}

static const keyword_t *keyword_of(aw_span_t name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (aw_span_equal(name, aw_span_text_view(keywords[i].name))) {
            return &keywords[i];
        }
    }
    return NULL;
}

bool aw__tea_is_schema(aw__tea_check_t *check, const aw__json_value_t *schema)
{
    walk_t walk = {.check = check};
    if (!enter_schema(&walk, schema)) {
        return false;
    }
    while (walk.depth > 0) {
        frame_t *frame = &walk.frames[walk.depth - 1];
        const aw__json_value_t *child = frame->next;
        if (child == NULL) {
            walk.depth--;
            continue;
        }
        frame->next = child->next;
        if (frame->of_schemas) {
            if (!enter_schema(&walk, child)) {
                return false;
            }
            continue;
        }
        const keyword_t *keyword = keyword_of(child->key);
        if (keyword != NULL && !check_keyword(&walk, keyword->shape, child)) {
            return false;
        }
    }
    return true;
}
