/* The first byte names a message, the rest is its proto3 JSON: what is taken is written again, and
 * that is taken again as the same message. */
#include "agentwire/json.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const aw_message_type_t type = fuzz_type(data);
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    const int status =
        aw_json_parse(type, (aw_span_t){data + 1, size - 1}, arena, &message, &error);
    fuzz_require(error.status == status && (message != NULL) == (status == AW_OK));
    if (status == AW_OK) {
        const aw_message_t *again;
        aw_json_writer_t writer;
        aw_span_t text;
        aw_span_t bytes;
        aw_span_t same;
        aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
        aw_json_message(&writer, message, arena);
        fuzz_require(aw_json_finish(&writer, &text) == AW_OK);
        fuzz_require(aw_json_parse(type, text, arena, &again, NULL) == AW_OK);
        fuzz_require(aw_message_encode(message, arena, &bytes) == AW_OK);
        fuzz_require(aw_message_encode(again, arena, &same) == AW_OK);
        fuzz_require(aw_span_equal(bytes, same));
        fuzz_require(aw_message_scan(type, bytes, NULL) == AW_OK);
    }
    aw_arena_free(arena);
    return 0;
}
