/* Any JSON text: its canonical form is its own canonical form. */
#include "agentwire/json.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_error_t error = AW_ERROR_INIT;
    aw_span_t text = AW_SPAN_NULL;
    aw_span_t same = AW_SPAN_NULL;
    const int status = aw_json_canonical((aw_span_t){data, size}, arena, &text, &error);
    fuzz_require(error.status == status && (text.data != NULL) == (status == AW_OK));
    if (status == AW_OK) {
        fuzz_require(aw_json_canonical(text, arena, &same, NULL) == AW_OK);
        fuzz_require(aw_span_equal(text, same));
    }
    aw_arena_free(arena);
    return 0;
}
