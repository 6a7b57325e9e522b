#include "agentwire/tea.h"

#include <assert.h>

static const char *const kinds[AW_TEA_KIND_COUNT] = {
    [AW_TEA_COMMAND] = "command",
    [AW_TEA_EVENT] = "event",
    [AW_TEA_RECORD] = "record",
    [AW_TEA_ERROR] = "error",
};

const char *aw_tea_kind_name(aw_tea_kind_t kind)
{
    assert((unsigned)kind < AW_TEA_KIND_COUNT);
    return kinds[kind];
}

bool aw_tea_kind_find(aw_span_t name, aw_tea_kind_t *ret_kind)
{
    for (unsigned kind = 0; kind < AW_TEA_KIND_COUNT; kind++) {
        if (aw_span_equal(name, aw_span_text_view(kinds[kind]))) {
            *ret_kind = (aw_tea_kind_t)kind;
            return true;
        }
    }
    return false;
}

#define NAME(id, number, name, meaning)    [number] = (name),
#define MEANING(id, number, name, meaning) [number] = (meaning),

const char *aw_tea_class_name(aw_tea_class_t outcome)
{
    static const char *const names[] = {AW_TEA_CLASS_LIST(NAME)};
    assert((unsigned)outcome < sizeof names / sizeof names[0]);
    return names[outcome];
}

const char *aw_tea_class_meaning(aw_tea_class_t outcome)
{
    static const char *const meanings[] = {AW_TEA_CLASS_LIST(MEANING)};
    assert((unsigned)outcome < sizeof meanings / sizeof meanings[0]);
    return meanings[outcome];
}

const char *aw_tea_label_name(aw_tea_label_t label)
{
    static const char *const names[] = {AW_TEA_LABEL_LIST(NAME)};
    assert((unsigned)label < sizeof names / sizeof names[0]);
    return names[label];
}

const char *aw_tea_label_meaning(aw_tea_label_t label)
{
    static const char *const meanings[] = {AW_TEA_LABEL_LIST(MEANING)};
    assert((unsigned)label < sizeof meanings / sizeof meanings[0]);
    return meanings[label];
}
