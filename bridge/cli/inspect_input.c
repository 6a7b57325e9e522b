#include "bridge/cli/inspect.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "agentwire/envelope.h"

void ab_inspect_complain(const char *format, ...)
{
    va_list arguments;
    (void)fputs("agent-bridge inspect: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

/** The value of a hex digit, -1 for any other character. */
static int digit_value(uint8_t character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    uint8_t lower = character | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool is_blank(uint8_t character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

ab_hex_trouble_t ab_hex_read(aw_span_t text, bool blanks, uint8_t *bytes, size_t *ret_size,
                             size_t *ret_offset)
{
    size_t size = 0;
    size_t last = 0;
    int high = -1;
    for (size_t i = 0; i < text.size; i++) {
        int value = digit_value(text.data[i]);
        if (value < 0) {
            if (blanks && is_blank(text.data[i])) {
                continue;
            }
            *ret_offset = i;
            return AB_HEX_BAD_DIGIT;
        }
        if (high < 0) {
            high = value;
            last = i;
        } else {
            bytes[size++] = (uint8_t)(high << 4 | value);
            high = -1;
        }
    }
    if (high >= 0) {
        *ret_offset = last;
        return AB_HEX_ODD;
    }
    *ret_size = size;
    return AB_HEX_OK;
}

bool ab_inspect_type(const char *name, aw_message_type_t *ret_type)
{
    aw_message_type_t type;
    if (aw_message_type_find(name, &type) != AW_OK || type >= AW_MESSAGE_TOP_COUNT) {
        return false;
    }
    *ret_type = type;
    return true;
}

int ab_inspect_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                      const aw_message_t **ret_message, aw_error_t *error)
{
    if (type == AW_MESSAGE_AGENT_ENVELOPE) {
        aw_envelope_view_t view;
        int status = aw_envelope_scan(input, &view, error);
        if (status != AW_OK) {
            /* scan and decode must agree on every input; who tests against us should see when not
             */
            const aw_message_t *message;
            int decoded = aw_message_decode(type, input, arena, &message, NULL);
            assert(decoded != AW_OK);
            return status;
        }
    }
    return aw_message_decode(type, input, arena, ret_message, error);
}
