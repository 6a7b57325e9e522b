#include "codec/json/sorted.h"

#include <math.h>

#include "codec/json/number.h"

/** An open container and how far it was written. */
typedef struct frame {
    const aw__json_value_t *container;
    const aw__json_value_t *next; /* ARRAY: the next element */
    size_t index;                 /* OBJECT: of the next member in `sorted` */
} frame_t;

static void write_number(aw_json_writer_t *writer, aw_span_t token, aw_json_numbers_t layout)
{
    aw__number_t number;
    if (!aw__number_read(token, &number)) {
        aw_json_double(writer, HUGE_VAL, layout); /* refused there */
        return;
    }
    const bool exact = layout != AW_JSON_NUMBERS_ECMASCRIPT;
    switch (number.kind) {
    case AW__NUMBER_UINT:
        if (exact) {
            aw_json_uint64(writer, number.as.uint);
        } else {
            aw_json_double(writer, (double)number.as.uint, layout);
        }
        break;
    case AW__NUMBER_INT:
        if (exact) {
            aw_json_int64(writer, number.as.sint);
        } else {
            aw_json_double(writer, (double)number.as.sint, layout);
        }
        break;
    case AW__NUMBER_DOUBLE:
        aw_json_double(writer, number.as.real, layout);
        break;
    }
}

static void write_scalar(aw_json_writer_t *writer, const aw__json_value_t *value,
                         aw_json_numbers_t layout)
{
    switch (value->kind) {
    case AW__JSON_NULL:
        aw_json_null(writer);
        break;
    case AW__JSON_FALSE:
    case AW__JSON_TRUE:
        aw_json_bool(writer, value->kind == AW__JSON_TRUE);
        break;
    case AW__JSON_NUMBER:
        write_number(writer, value->text, layout);
        break;
    case AW__JSON_STRING:
    case AW__JSON_ARRAY: /* the containers are opened elsewhere */
    case AW__JSON_OBJECT:
        aw_json_string(writer, value->text);
        break;
    }
}

static bool is_container(const aw__json_value_t *value)
{
    return value->kind == AW__JSON_ARRAY || value->kind == AW__JSON_OBJECT;
}

static frame_t open_container(aw_json_writer_t *writer, const aw__json_value_t *value)
{
    if (value->kind == AW__JSON_OBJECT) {
        aw_json_object_open(writer);
        return (frame_t){.container = value};
    }
    aw_json_array_open(writer);
    return (frame_t){.container = value, .next = value->first};
}

/** The next child of a container, its key written; NULL, and the container closed, behind the last.
 */
static const aw__json_value_t *next_child(aw_json_writer_t *writer, frame_t *frame)
{
    const aw__json_value_t *container = frame->container;
    if (container->kind == AW__JSON_ARRAY) {
        const aw__json_value_t *child = frame->next;
        if (child == NULL) {
            aw_json_array_close(writer);
            return NULL;
        }
        frame->next = child->next;
        return child;
    }
    if (frame->index == container->count) {
        aw_json_object_close(writer);
        return NULL;
    }
    const aw__json_value_t *member = container->sorted[frame->index++];
    aw_json_key(writer, member->key);
    return member;
}

void aw__json_write_sorted(aw_json_writer_t *writer, const aw__json_value_t *value,
                           aw_json_numbers_t layout)
{
    frame_t frames[AW_JSON_DEPTH_MAX];
    size_t depth = 0;
    if (value->height > AW_JSON_DEPTH_MAX - writer->depth) {
        writer->status = writer->status == AW_OK ? AW_STATUS_LIMIT_DEPTH : writer->status;
        aw_json_null(writer); /* in its place, so that the writer's own order stays */
        return;
    }
    const aw__json_value_t *at = value;
    for (;;) {
        if (is_container(at)) {
            frames[depth++] = open_container(writer, at);
        } else {
            write_scalar(writer, at, layout);
        }
        do {
            if (depth == 0) {
                return;
            }
            at = next_child(writer, &frames[depth - 1]);
            depth -= at == NULL;
        } while (at == NULL);
    }
}

int aw__json_sorted_text(const aw__json_value_t *value, aw_json_numbers_t layout, aw_arena_t *arena,
                         aw_span_t *ret_text)
{
    aw_json_writer_t writer;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw__json_write_sorted(&writer, value, layout);
    return aw_json_finish(&writer, ret_text);
}
