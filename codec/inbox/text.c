#include "codec/inbox/text.h"

#include <assert.h>
#include <string.h>

#include "codec/json/reader.h"
#include "codec/json/sorted.h"

/* A value nests what it was made of at most two levels deeper: a payload in the list of payloads.
 */
_Static_assert(AW_INBOX_NESTING_MAX + 2 <= AW_JSON_DEPTH_MAX, "what is read can be written");

aw__json_value_t *aw__inbox_read(aw_span_t text, aw__json_maker_t *maker, aw_inbox_result_t *result)
{
    aw_error_t error = AW_ERROR_INIT;
    const aw__json_value_t *root = NULL;
    int status = aw__json_read(text, AW_INBOX_NESTING_MAX, AW__JSON_LAST_OF_EQUALS, maker->arena,
                               &root, &error);
    if (status == AW_STATUS_MALFORMED_JSON || status == AW_STATUS_LIMIT_DEPTH) {
        aw__inbox_fail(result, AW_INBOX_CLASS_MALFORMED_JSON, NULL, error.field,
                       "the text is no JSON that can be read: %s (byte %lld)", error.text,
                       (long long)error.offset);
        result->offset = error.offset;
        result->pointer_known = 0;
        return NULL;
    }
    if (status != AW_OK) {
        maker->status = status;
        return NULL;
    }
    return (aw__json_value_t *)root; /* nobody else has it */
}

int aw__inbox_finish(const aw__json_maker_t *maker, const aw_inbox_result_t *result,
                     const aw__json_value_t *value, aw_inbox_result_t *ret_result,
                     aw_span_t *ret_output)
{
    aw_span_t text = AW_SPAN_NULL;
    if (maker->status != AW_OK) {
        return maker->status;
    }
    if (result->outcome == AW_INBOX_CLASS_OK) {
        assert(value != NULL);
        int status = aw__json_sorted_text(value, AW_JSON_NUMBERS_ECMASCRIPT, maker->arena, &text);
        if (status != AW_OK) {
            return status;
        }
    }
    *ret_result = *result;
    *ret_output = text;
    return AW_OK;
}
