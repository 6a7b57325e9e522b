/* The first byte names a kind and an edition, the rest is a text of tea-protocol: what is accepted
 * is written, and that is accepted again and written as the same bytes. Who only checks, and who
 * does not know the kind, come to the same verdict. */
#include "agentwire/tea.h"
#include "fuzz/fuzz.h"

static void require_sound(const aw_tea_result_t *result, size_t size)
{
    fuzz_require((result->label != AW_TEA_LABEL_NONE) == (result->outcome == AW_TEA_INVALID));
    fuzz_require(result->offset >= -1 && result->offset <= (int64_t)size);
    fuzz_require(strlen(result->pointer) < sizeof result->pointer &&
                 result->pointer_known <= strlen(result->pointer));
}

static bool passes(const aw_tea_result_t *result)
{
    return result->outcome == AW_TEA_OK || result->outcome == AW_TEA_SKIPPABLE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const aw_tea_kind_t kind = (aw_tea_kind_t)(data[0] % AW_TEA_KIND_COUNT);
    const aw_tea_edition_t edition = (data[0] & 0x80) != 0 ? AW_TEA_EDITION_B : AW_TEA_EDITION_A;
    const aw_span_t text = {data + 1, size - 1};
    aw_arena_t *arena = aw_arena_new(FUZZ_MEMORY_MAX);
    aw_tea_result_t result, checked;
    aw_tea_kind_t found;
    aw_span_t canonical, again;
    fuzz_require(aw_tea_canonical(kind, edition, text, arena, &result, &canonical) == AW_OK);
    fuzz_require(aw_tea_check(kind, edition, text, arena, &checked) == AW_OK);
    require_sound(&result, text.size);
    fuzz_require(result.outcome == checked.outcome && result.label == checked.label &&
                 result.offset == checked.offset);
    fuzz_require((canonical.data != NULL) == (result.outcome == AW_TEA_OK));
    fuzz_require(aw_tea_check_any(edition, text, arena, &found, &checked) == AW_OK);
    require_sound(&checked, text.size);
    if (passes(&checked)) {
        fuzz_require(aw_tea_check(found, edition, text, arena, &checked) == AW_OK);
        fuzz_require(passes(&checked));
    } else {
        fuzz_require(!passes(&result)); /* each kind has a member of its own, and must have it */
    }
    if (canonical.data != NULL) {
        fuzz_require(aw_tea_canonical(kind, edition, canonical, arena, &checked, &again) == AW_OK);
        fuzz_require(checked.outcome == AW_TEA_OK && aw_span_equal(canonical, again));
    }
    if (kind == AW_TEA_COMMAND || kind == AW_TEA_RECORD) {
        const int status = aw_tea_error_answer(kind, &result, AW_SPAN_NULL, arena, &again);
        fuzz_require(status == (passes(&result) ? AW_STATUS_INVALID_ARGUMENT : AW_OK));
    }
    aw_arena_free(arena);
    return 0;
}
