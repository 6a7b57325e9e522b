#include "codec/base/error.h"

#include <stddef.h>
#include <string.h>

static void copy_text(char *ret_copy, size_t capacity, const char *text)
{
    size_t size = strlen(text);
    if (size >= capacity) {
        size = capacity - 1;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    memcpy(ret_copy, text, size);
    ret_copy[size] = '\0';
}

int aw__error_set(aw_error_t *error, int status, int64_t offset, const char *field,
                  const char *text)
{
    if (error == NULL || error->status != AW_OK) {
        return status;
    }
    error->status = status;
    error->offset = offset;
    copy_text(error->field, sizeof error->field, field != NULL ? field : "");
    copy_text(error->text, sizeof error->text, text != NULL ? text : aw_status_text(status));
    return status;
}
