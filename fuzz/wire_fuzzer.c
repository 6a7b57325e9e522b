/* The first byte names a message, the rest is read as one: scan and decoder agree to the letter,
 * the envelope scan sees what was decoded, and what is accepted has one encoding. */
#include "agentwire/envelope.h"
#include "agentwire/field.h"
#include "agentwire/json.h"
#include "fuzz/fuzz.h"

static void check_envelope(aw_span_t input, int status, const aw_message_t *message)
{
    aw_envelope_view_t view;
    const int seen = aw_envelope_scan(input, &view, NULL);
    fuzz_require(seen == status || seen == AW_STATUS_FRAMED_PAYLOAD);
    (void)aw_envelope_looks_like_result(input);
    if (seen == AW_OK) {
        aw_field_t field;
        fuzz_require(
            aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, AW_FIELD_AGENT_ENVELOPE_ENTITY_KEY, &field));
        fuzz_require(aw_span_equal(view.entity_key, aw_message_value(message, &field, 0).as.bytes));
        for (uint32_t number = 3; aw_field_get(AW_MESSAGE_AGENT_ENVELOPE, number, &field);
             number++) {
            fuzz_require((aw_message_count(message, &field) > 0) ==
                         (view.variant == (aw_variant_t)number));
        }
    }
}

static void check_encoding(aw_message_type_t type, const aw_message_t *message, aw_arena_t *arena)
{
    const aw_message_t *again;
    aw_span_t bytes;
    aw_span_t same;
    aw_json_writer_t writer;
    aw_span_t text;
    fuzz_require(aw_message_encode(message, arena, &bytes) == AW_OK);
    fuzz_require(aw_message_decode(type, bytes, arena, &again, NULL) == AW_OK);
    fuzz_require(aw_message_encode(again, arena, &same) == AW_OK);
    fuzz_require(aw_span_equal(bytes, same));
    aw_json_init_arena(&writer, AW_JSON_INDENTED, arena);
    aw_json_message(&writer, message, arena);
    fuzz_require(aw_json_finish(&writer, &text) == AW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const aw_message_type_t type = fuzz_type(data);
    const aw_span_t input = {data + 1, size - 1};
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_error_t scan_error = AW_ERROR_INIT;
    aw_error_t decode_error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    const int status = aw_message_scan(type, input, &scan_error);
    fuzz_require(aw_message_decode(type, input, arena, &message, &decode_error) == status);
    fuzz_require_same_error(&scan_error, &decode_error);
    fuzz_require(status == AW_OK || (scan_error.offset >= 0 && (size_t)scan_error.offset <= size));
    if (type == AW_MESSAGE_AGENT_ENVELOPE) {
        check_envelope(input, status, message);
    }
    if (status == AW_OK) {
        check_encoding(type, message, arena);
    }
    aw_arena_free(arena);
    return 0;
}
