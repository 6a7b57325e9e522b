#include "codec/tea/freeform.h"

#include <assert.h>

#include "agentwire/tea.h"
#include "codec/json/number.h"

/** A container that is being walked through. */
typedef struct frame {
    const aw__json_value_t *container;
    const aw__json_value_t *next;
} frame_t;

/** The containers that are open, the innermost last. */
typedef struct walk {
    frame_t frames[AW_TEA_NESTING_MAX];
    unsigned depth;
} walk_t;

static bool is_container(const aw__json_value_t *value)
{
    return value->kind == AW__JSON_ARRAY || value->kind == AW__JSON_OBJECT;
}

static void enter(walk_t *walk, const aw__json_value_t *container)
{
    assert(walk->depth < AW_TEA_NESTING_MAX);
    walk->frames[walk->depth++] = (frame_t){container, container->first};
}

/** Bytes that a byte of a string takes in canonical text. */
static unsigned escaped_size(uint8_t byte)
{
    if (byte >= 0x20) {
        return byte == '"' || byte == '\\' ? 2 : 1;
    }
    return (byte >= '\b' && byte <= '\r' && byte != '\v') ? 2 : 6;
}

static uint64_t string_size(aw_span_t text)
{
    uint64_t size = 2;
    for (size_t i = 0; i < text.size; i++) {
        size += escaped_size(text.data[i]);
    }
    return size;
}

static uint64_t number_size(aw_span_t token)
{
    char text[AW__DOUBLE_TEXT_MAX];
    aw__number_t number;
    bool read = aw__number_read(token, &number);
    assert(read); /* the reader refuses numbers beyond a double */
    if (number.kind != AW__NUMBER_DOUBLE) {
        return token.size; /* an integer token is canonical as it stands */
    }
    return aw__double_text(number.as.real, AW_JSON_NUMBERS_TEA, text);
}

/** Of a value without what is in it: of a container its brackets and the commas between. */
static uint64_t own_size(const aw__json_value_t *value)
{
    switch (value->kind) {
    case AW__JSON_NULL:
    case AW__JSON_TRUE:
        return 4;
    case AW__JSON_FALSE:
        return 5;
    case AW__JSON_NUMBER:
        return number_size(value->text);
    case AW__JSON_STRING:
        return string_size(value->text);
    case AW__JSON_ARRAY:
    case AW__JSON_OBJECT:
        break;
    }
    return value->count > 0 ? 1 + (uint64_t)value->count : 2;
}

uint64_t aw__tea_encoded_size(const aw__json_value_t *value)
{
    walk_t walk = {.depth = 0};
    uint64_t size = own_size(value);
    if (is_container(value)) {
        enter(&walk, value);
    }
    while (walk.depth > 0) {
        frame_t *frame = &walk.frames[walk.depth - 1];
        const aw__json_value_t *child = frame->next;
        if (child == NULL) {
            walk.depth--;
            continue;
        }
        frame->next = child->next;
        size += own_size(child);
        if (frame->container->kind == AW__JSON_OBJECT) {
            size += string_size(child->key) + 1;
        }
        if (is_container(child)) {
            enter(&walk, child);
        }
    }
    return size;
}

unsigned aw__tea_levels(const aw__json_value_t *value)
{
    walk_t walk = {.depth = 0};
    unsigned levels = 1;
    if (is_container(value)) {
        enter(&walk, value);
    }
    while (walk.depth > 0) {
        frame_t *frame = &walk.frames[walk.depth - 1];
        const aw__json_value_t *child = frame->next;
        if (child == NULL) {
            walk.depth--;
            continue;
        }
        frame->next = child->next;
        levels = walk.depth + 1 > levels ? walk.depth + 1 : levels;
        if (is_container(child)) {
            enter(&walk, child);
        }
    }
    return levels;
}
