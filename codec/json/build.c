#include "codec/json/build.h"

#include <assert.h>
#include <stdio.h>

/** Decimal digits of an unsigned, NUL included. */
#define UNSIGNED_TEXT_MAX 11u

void aw__json_maker_init(aw__json_maker_t *maker, aw_arena_t *arena)
{
    *maker = (aw__json_maker_t){.arena = arena, .status = AW_OK};
}

void aw__json_maker_refuse(aw__json_maker_t *maker)
{
    if (maker->status == AW_OK) {
        maker->status = aw_arena_status(maker->arena);
    }
}

static aw__json_value_t *make(aw__json_maker_t *maker, aw__json_kind_t kind)
{
    if (maker->status != AW_OK) {
        return NULL;
    }
    aw__json_value_t *value = aw__json_new(maker->arena, kind);
    if (value == NULL) {
        aw__json_maker_refuse(maker);
        return NULL;
    }
    value->height = kind >= AW__JSON_ARRAY ? 1 : 0;
    return value;
}

aw__json_value_t *aw__json_make_object(aw__json_maker_t *maker)
{
    return make(maker, AW__JSON_OBJECT);
}

aw__json_value_t *aw__json_make_array(aw__json_maker_t *maker)
{
    return make(maker, AW__JSON_ARRAY);
}

aw__json_value_t *aw__json_make_string(aw__json_maker_t *maker, aw_span_t text)
{
    aw__json_value_t *value = make(maker, AW__JSON_STRING);
    if (value != NULL) {
        value->text = text;
    }
    return value;
}

aw__json_value_t *aw__json_make_number(aw__json_maker_t *maker, const char *token)
{
    aw__json_value_t *value = make(maker, AW__JSON_NUMBER);
    if (value != NULL) {
        value->text = aw_span_text_view(token);
    }
    return value;
}

aw__json_value_t *aw__json_make_unsigned(aw__json_maker_t *maker, unsigned number)
{
    char *token = aw_arena_alloc(maker->arena, UNSIGNED_TEXT_MAX);
    if (token == NULL) {
        aw__json_maker_refuse(maker);
        return NULL;
    }
    (void)snprintf(token, UNSIGNED_TEXT_MAX, "%u", number);
    return aw__json_make_number(maker, token);
}

/** A node of its own for the same value. */
static aw__json_value_t *copy(aw__json_maker_t *maker, const aw__json_value_t *value)
{
    aw__json_value_t *node = value != NULL ? make(maker, value->kind) : NULL;
    if (node != NULL) {
        *node = *value;
        node->next = NULL;
        node->key = AW_SPAN_NULL;
        node->key_offset = 0;
    }
    return node;
}

void aw__json_make_add(aw__json_maker_t *maker, aw__json_value_t *array,
                       const aw__json_value_t *value)
{
    aw__json_value_t *node = copy(maker, value);
    if (node != NULL && array != NULL) {
        aw__json_append(array, node);
    }
}

void aw__json_make_put(aw__json_maker_t *maker, aw__json_value_t *object, aw_span_t key,
                       const aw__json_value_t *value)
{
    aw__json_value_t *node = copy(maker, value);
    if (node != NULL && object != NULL) {
        node->key = key;
        aw__json_append(object, node);
    }
}

void aw__json_make_put_text(aw__json_maker_t *maker, aw__json_value_t *object, const char *key,
                            const aw__json_value_t *value)
{
    aw__json_make_put(maker, object, aw_span_text_view(key), value);
}

void aw__json_make_take(aw__json_maker_t *maker, aw__json_value_t *object,
                        const aw__json_value_t *from, const char *key)
{
    aw__json_make_put_text(maker, object, key, aw__json_find_text(from, key));
}

static bool is_listed(aw_span_t key, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        if (aw_span_equal(key, aw_span_text_view(*keys))) {
            return true;
        }
    }
    return false;
}

void aw__json_make_take_all(aw__json_maker_t *maker, aw__json_value_t *object,
                            const aw__json_value_t *from, const char *const *but)
{
    if (from == NULL || from->kind != AW__JSON_OBJECT) {
        return;
    }
    for (const aw__json_value_t *member = from->first; member != NULL; member = member->next) {
        if (!is_listed(member->key, but)) {
            aw__json_make_put(maker, object, member->key, member);
        }
    }
}

/** Ends an object; what is repeated stays in the sorter. */
static aw__json_value_t *end(aw__json_maker_t *maker, aw__json_value_t *object, bool last_of_equals)
{
    if (maker->status != AW_OK || object == NULL) {
        return NULL;
    }
    maker->sorter.repeated = NULL;
    maker->sorter.last_of_equals = last_of_equals;
    maker->status = aw__json_sort(&maker->sorter, object, maker->arena);
    return maker->status == AW_OK ? object : NULL;
}

aw__json_value_t *aw__json_make_end(aw__json_maker_t *maker, aw__json_value_t *object)
{
    aw__json_value_t *ended = end(maker, object, false);
    assert(ended == NULL || maker->sorter.repeated == NULL); /* a key put twice is a bug */
    return ended;
}

aw__json_value_t *aw__json_make_end_last(aw__json_maker_t *maker, aw__json_value_t *object)
{
    return end(maker, object, true);
}
