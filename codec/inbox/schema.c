/* JSON Schema written from shapes. */
#include "codec/inbox/shape.h"

#include <stdio.h>
#include <string.h>

/** The definitions met so far. */
typedef struct defs {
    aw__json_maker_t *maker;
    aw__json_value_t *object;
} defs_t;

static const aw__json_value_t *schema_of(defs_t *defs, const aw__shape_t *shape,
                                         const char *description);

static void put_word(aw__json_maker_t *maker, aw__json_value_t *object, const char *key,
                     const char *text)
{
    if (text != NULL) {
        aw__json_make_put_text(maker, object, key,
                               aw__json_make_string(maker, aw_span_text_view(text)));
    }
}

static void put_flag(aw__json_maker_t *maker, aw__json_value_t *object, const char *key, bool flag)
{
    const aw__json_value_t value = {.kind = flag ? AW__JSON_TRUE : AW__JSON_FALSE};
    aw__json_make_put_text(maker, object, key, &value);
}

static void put_number(aw__json_maker_t *maker, aw__json_value_t *object, const char *key,
                       const char *token)
{
    aw__json_make_put_text(maker, object, key, aw__json_make_number(maker, token));
}

static void put_words(aw__json_maker_t *maker, aw__json_value_t *object, const char *const *words)
{
    aw__json_value_t *list = aw__json_make_array(maker);
    for (; *words != NULL; words++) {
        aw__json_make_add(maker, list, aw__json_make_string(maker, aw_span_text_view(*words)));
    }
    aw__json_make_put_text(maker, object, "enum", list);
}

static void put_choices(defs_t *defs, aw__json_value_t *object, const char *key,
                        const aw__shape_t *shape)
{
    aw__json_value_t *list = aw__json_make_array(defs->maker);
    for (const aw__shape_t *const *at = shape->choices; *at != NULL; at++) {
        aw__json_make_add(defs->maker, list, schema_of(defs, *at, NULL));
    }
    aw__json_make_put_text(defs->maker, object, key, list);
}

static void put_record(defs_t *defs, aw__json_value_t *object, const aw__shape_t *shape)
{
    aw__json_maker_t *maker = defs->maker;
    aw__json_value_t *required = aw__json_make_array(maker);
    aw__json_value_t *properties = aw__json_make_object(maker);
    for (const aw__shape_member_t *member = shape->members; member->key != NULL; member++) {
        aw__json_make_put_text(maker, properties, member->key,
                               schema_of(defs, member->shape, member->description));
        if (member->required) {
            aw__json_make_add(maker, required,
                              aw__json_make_string(maker, aw_span_text_view(member->key)));
        }
    }
    if (shape->policy != AW__SHAPE_STRIPPING) {
        put_flag(maker, object, "additionalProperties", shape->policy == AW__SHAPE_LOOSE);
    }
    if (required != NULL && required->count > 0) {
        aw__json_make_put_text(maker, object, "required", required);
    }
    aw__json_make_put_text(maker, object, "properties", aw__json_make_end(maker, properties));
}

/** The words for a value of one simple kind. */
static const char *type_of(aw__shape_kind_t kind)
{
    switch (kind) {
    case AW__SHAPE_STRING:
    case AW__SHAPE_CONST:
    case AW__SHAPE_ENUM:
        return "string";
    case AW__SHAPE_NUMBER:
    case AW__SHAPE_VERSION:
        return "number";
    case AW__SHAPE_COUNTER:
        return "integer";
    case AW__SHAPE_BOOLEAN:
        return "boolean";
    case AW__SHAPE_NULL:
        return "null";
    case AW__SHAPE_OBJECT:
    case AW__SHAPE_MAP:
    case AW__SHAPE_RECORD:
        return "object";
    case AW__SHAPE_LIST:
        return "array";
    default:
        return NULL;
    }
}

static void put_shape(defs_t *defs, aw__json_value_t *object, const aw__shape_t *shape)
{
    aw__json_maker_t *maker = defs->maker;
    put_word(maker, object, "type", type_of(shape->kind));
    switch (shape->kind) {
    case AW__SHAPE_COUNTER:
        put_number(maker, object, "minimum", "0");
        put_number(maker, object, "maximum", "9007199254740991");
        break;
    case AW__SHAPE_VERSION:
        aw__json_make_put_text(maker, object, "const",
                               aw__json_make_unsigned(maker, shape->version));
        break;
    case AW__SHAPE_CONST:
        put_word(maker, object, "const", shape->word);
        break;
    case AW__SHAPE_ENUM:
        put_words(maker, object, shape->words);
        break;
    case AW__SHAPE_LIST:
        if (shape->of != NULL) {
            aw__json_make_put_text(maker, object, "items", schema_of(defs, shape->of, NULL));
        }
        break;
    case AW__SHAPE_MAP:
        aw__json_make_put_text(maker, object, "additionalProperties",
                               schema_of(defs, shape->of, NULL));
        break;
    case AW__SHAPE_RECORD:
        put_record(defs, object, shape);
        break;
    case AW__SHAPE_ANY_OF:
        put_choices(defs, object, "anyOf", shape);
        break;
    case AW__SHAPE_ONE_OF:
        put_choices(defs, object, "oneOf", shape);
        break;
    default:
        break;
    }
}

/** True when $defs has the name already. It is sorted only when it is complete. */
static bool is_defined(const defs_t *defs, const char *name)
{
    const aw__json_value_t *at = defs->object != NULL ? defs->object->first : NULL;
    while (at != NULL && !aw_span_equal(at->key, aw_span_text_view(name))) {
        at = at->next;
    }
    return at != NULL;
}

static const aw__json_value_t *reference_to(defs_t *defs, const aw__shape_t *shape)
{
    static const char PREFIX[] = "#/$defs/";
    aw__json_maker_t *maker = defs->maker;
    if (!is_defined(defs, shape->def)) {
        aw__json_value_t *object = aw__json_make_object(maker);
        put_word(maker, object, "description", shape->description);
        put_shape(defs, object, shape);
        aw__json_make_put_text(maker, defs->object, shape->def, aw__json_make_end(maker, object));
    }
    const size_t size = sizeof PREFIX - 1 + strlen(shape->def);
    char *text = aw_arena_alloc(maker->arena, size + 1);
    if (text == NULL) {
        aw__json_maker_refuse(maker);
        return NULL;
    }
    (void)snprintf(text, size + 1, "%s%s", PREFIX, shape->def);
    return aw__json_make_string(maker, aw_span_view(text, size));
}

static const aw__json_value_t *schema_of(defs_t *defs, const aw__shape_t *shape,
                                         const char *description)
{
    aw__json_maker_t *maker = defs->maker;
    aw__json_value_t *object = aw__json_make_object(maker);
    put_word(maker, object, "description", description);
    if (shape->def != NULL) {
        aw__json_make_put_text(maker, object, "$ref", reference_to(defs, shape));
    } else {
        put_shape(defs, object, shape);
    }
    return aw__json_make_end(maker, object);
}

const aw__json_value_t *aw__shape_schema(aw__json_maker_t *maker, const aw__shape_t *root,
                                         const char *id, const char *title, const char *description)
{
    defs_t defs = {.maker = maker, .object = aw__json_make_object(maker)};
    aw__json_value_t *schema = aw__json_make_object(maker);
    put_word(maker, schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put_word(maker, schema, "$id", id);
    put_word(maker, schema, "title", title);
    put_word(maker, schema, "description", description);
    put_shape(&defs, schema, root);
    aw__json_make_put_text(maker, schema, "$defs", aw__json_make_end(maker, defs.object));
    return aw__json_make_end(maker, schema);
}
