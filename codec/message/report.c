#include <stdarg.h>
#include <stdio.h>

#include "codec/base/error.h"
#include "codec/message/scan.h"

/* A field path under construction; what does not fit is left out. */
typedef struct path {
    char text[AW_ERROR_FIELD_MAX];
    size_t size;
} path_t;

__attribute__((format(printf, 2, 3))) static void path_add(path_t *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof path->text - path->size;
    int length = vsnprintf(path->text + path->size, room, format, arguments);
    va_end(arguments);
    if (length > 0) {
        path->size += (size_t)length < room ? (size_t)length : room - 1;
    }
}

/* How often a repeated field has come in the message of this frame before the byte `until`. All of
 * that has been read well already. */
static size_t count_before(const aw__frame_t *frame, uint32_t number, const uint8_t *until)
{
    aw__reader_t reader = {frame->begin, frame->end};
    size_t count = 0;
    while (reader.at < until) {
        const uint8_t *item = reader.at;
        uint32_t tag;
        if (aw__read_tag(&reader, &tag) != AW__DEFECT_NONE ||
            aw__skip_value(&reader, item, tag, 0) != AW__DEFECT_NONE) {
            break;
        }
        if (AW__TAG_NUMBER(tag) == number && AW__TAG_WIRE(tag) == AW__WIRE_BYTES) {
            count++;
        }
    }
    return count;
}

/* Appends one field: its name, or # and the number where the schema has none, and the index where
 * the field is repeated and this item is one of its elements. */
static void path_add_field(path_t *path, const aw__frame_t *frame, uint32_t number, aw__wire_t wire,
                           const uint8_t *item)
{
    const char *dot = path->size > 0 ? "." : "";
    const char *name = aw__field_name(frame->type, number);
    if (name == NULL) {
        path_add(path, "%s#%u", dot, (unsigned)number);
        return;
    }
    path_add(path, "%s%s", dot, name);
    char kind = aw__kind(frame->type, number);
    if (wire == AW__WIRE_BYTES && (kind == 'S' || kind == 'M' || kind == 'P')) {
        path_add(path, "[%zu]", count_before(frame, number, item));
    }
}

int aw__scan_report(const aw__frame_t *frames, unsigned depth, const uint8_t *item,
                    const uint8_t *at, aw__defect_t defect, aw_error_t *error)
{
    int status = aw__defect_status(defect);
    if (error == NULL) {
        return status;
    }
    path_t path = {"", 0};
    for (unsigned level = 1; level <= depth; level++) {
        path_add_field(&path, &frames[level - 1], frames[level].number, AW__WIRE_BYTES,
                       frames[level].item);
    }
    if (item != NULL) {
        aw__reader_t reader = {item, frames[depth].end};
        uint32_t tag;
        if (aw__read_tag(&reader, &tag) == AW__DEFECT_NONE) {
            path_add_field(&path, &frames[depth], AW__TAG_NUMBER(tag),
                           (aw__wire_t)AW__TAG_WIRE(tag), item);
        }
    }
    return aw__error_set(error, status, at - frames[0].begin, path.text, aw__defect_text(defect));
}
