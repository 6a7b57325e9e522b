#include "codec/inbox/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agentwire/utf8.h"
#include "codec/json/sorted.h"

/** Bytes of a long string that are quoted. */
#define STRING_QUOTE_MAX 40u

static const char DOTS[] = "...";
static const char UNDEFINED[] = "undefined";

const char *aw_inbox_class_name(aw_inbox_class_t outcome)
{
    switch (outcome) {
#define NAME(id, number, name, meaning)                                                            \
    case AW_INBOX_CLASS_##id:                                                                      \
        return name;
        AW_INBOX_CLASS_LIST(NAME)
#undef NAME
    }
    return "unknown";
}

const char *aw_inbox_class_meaning(aw_inbox_class_t outcome)
{
    switch (outcome) {
#define MEANING(id, number, name, meaning)                                                         \
    case AW_INBOX_CLASS_##id:                                                                      \
        return meaning;
        AW_INBOX_CLASS_LIST(MEANING)
#undef MEANING
    }
    return "a class that this build does not know";
}

void aw__inbox_accept(aw_inbox_result_t *ret_result)
{
    *ret_result = (aw_inbox_result_t){.outcome = AW_INBOX_CLASS_OK, .offset = -1};
}

/** Cuts a text of well-formed characters to what fits before size bytes. */
static size_t cut(aw_span_t text, size_t size)
{
    return aw_utf8_prefix(aw_span_view(text.data, text.size < size ? text.size : size));
}

void aw__inbox_fail(aw_inbox_result_t *result, aw_inbox_class_t outcome, const aw__json_value_t *at,
                    const char *pointer, const char *format, ...)
{
    if (result->outcome != AW_INBOX_CLASS_OK) {
        return;
    }
    result->outcome = outcome;
    result->offset = at != NULL && at->size > 0 ? (int64_t)at->offset : -1;
    (void)snprintf(result->pointer, sizeof result->pointer, "%s", pointer);
    result->pointer_known = strlen(result->pointer);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(result->message, sizeof result->message, format, arguments);
    va_end(arguments);
    const size_t size = cut(aw_span_text_view(result->message), sizeof result->message);
    result->message[size] = '\0';
}

const char *aw__inbox_quote(const aw__json_value_t *value, char quote[AW__INBOX_QUOTE_MAX])
{
    aw_json_writer_t writer;
    aw__json_value_t shortened;
    bool whole = true;
    if (value == NULL) {
        return memcpy(quote, UNDEFINED, sizeof UNDEFINED);
    }
    if (value->kind == AW__JSON_STRING && value->text.size > STRING_QUOTE_MAX) {
        shortened = *value;
        shortened.text.size = cut(value->text, STRING_QUOTE_MAX);
        value = &shortened;
        whole = false;
    }
    aw_json_init_buffer(&writer, AW_JSON_COMPACT, quote, AW__INBOX_QUOTE_MAX - sizeof DOTS);
    aw__json_write_sorted(&writer, value, AW_JSON_NUMBERS_ECMASCRIPT);
    whole = writer.status == AW_OK && whole;
    const size_t size = cut(aw_span_view(quote, writer.size), writer.size);
    memcpy(quote + size, whole ? "" : DOTS, whole ? 1 : sizeof DOTS);
    return quote;
}
