/* The first byte says what is asked, the rest is the text. Any text is judged; a command that a
 * value holds can be encoded unless it breaks the shape; what was encoded for any reader decodes,
 * and the current version's own value is then its own fixed point. */
#include <string.h>

#include "agentwire/inbox.h"
#include "fuzz/fuzz.h"

/** Decodes what the encoder wrote: it must be a value. */
static aw_span_t decode_again(aw_span_t stored, aw_arena_t *arena)
{
    aw_inbox_result_t result;
    aw_span_t command = AW_SPAN_NULL;
    fuzz_require(aw_inbox_decode(stored, arena, &result, &command) == AW_OK);
    fuzz_require(result.outcome == AW_INBOX_CLASS_OK && command.data != NULL);
    return command;
}

/** Encodes a command for every reader. */
static void encode_all(aw_span_t command, aw_arena_t *arena)
{
    for (int target = AW_INBOX_TARGET_V0_DELIVER; target <= AW_INBOX_TARGET_V1; target++) {
        aw_inbox_result_t result;
        aw_span_t stored = AW_SPAN_NULL;
        aw_span_t again = AW_SPAN_NULL;
        if (aw_inbox_encode(command, (aw_inbox_target_t)target, arena, &result, &stored) != AW_OK ||
            result.outcome != AW_INBOX_CLASS_OK) {
            fuzz_require(stored.data == NULL);
            return;
        }
        const aw_span_t held = decode_again(stored, arena);
        fuzz_require(aw_inbox_encode(held, (aw_inbox_target_t)target, arena, &result, &again) ==
                     AW_OK);
        fuzz_require(result.outcome == AW_INBOX_CLASS_OK && aw_span_equal(again, stored));
        fuzz_require(aw_span_equal(decode_again(again, arena), held));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const aw_span_t text = {data + 1, size - 1};
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_inbox_result_t result = {.outcome = AW_INBOX_CLASS_OK};
    aw_inbox_target_t target = AW_INBOX_TARGET_V1;
    aw_span_t command = AW_SPAN_NULL;
    int status = AW_OK;
    switch (data[0] % 3) {
    case 0:
        status = aw_inbox_decode(text, arena, &result, &command);
        if (command.data != NULL) {
            encode_all(command, arena);
        }
        break;
    case 1:
        encode_all(text, arena);
        break;
    default:
        status = aw_inbox_classify_text(text, arena, &result, &target);
        break;
    }
    fuzz_require(status == AW_OK || status == AW_STATUS_INVALID_ARGUMENT);
    fuzz_require(result.pointer_known <= strlen(result.pointer));
    aw_arena_free(arena);
    return 0;
}
