#include "bridge/cli/ledger_event.h"

#include <assert.h>

#define OTHER_FIELDS 10

_Static_assert(OTHER_FIELDS + AB_SLOT_COUNT + AB_REASON_COUNT <= AB_FIELDS_MAX,
               "every counter of the ledger finds a place in one event");

static const char *const SLOT_FIELDS[AB_SLOT_COUNT] = {
    [AB_SLOT_EXTERNAL_EVENT] = "routed_external_event",
    [AB_SLOT_TOOL_RESULT] = "routed_tool_result",
    [AB_SLOT_APPROVAL] = "routed_approval",
    [AB_SLOT_EXPORT_REQUEST] = "routed_export_request",
    [AB_SLOT_UNKNOWN_VARIANT] = "routed_unknown_variant",
};

static const char *const REASON_FIELDS[AB_REASON_COUNT] = {[AB_REASON_NONE] = "dead_lettered_none",
#define REASON_FIELD(id, code, severity, redrive, meaning, remedy)                                 \
    [AB_REASON_##id] = "dead_lettered_" code,
                                                           AB_REASON_LIST(REASON_FIELD)
#undef REASON_FIELD
};

void ab_ledger_emit(const ab_ledger_t *ledger, const ab_sink_t *sink)
{
    ab_field_t fields[AB_FIELDS_MAX];
    unsigned count = 0;
    bool balanced = ab_ledger_balanced(ledger);

    fields[count++] = AB_NUMBER("consumed", ledger->consumed);
    fields[count++] = AB_NUMBER("routed", ab_ledger_routed(ledger));
    fields[count++] = AB_NUMBER("answered", ledger->answered);
    fields[count++] = AB_NUMBER("dead_lettered", ab_ledger_dead_lettered(ledger));
    fields[count++] = AB_NUMBER("dropped", ledger->dropped);
    fields[count++] = AB_FLAG("balanced", balanced);
    for (unsigned i = 0; i < AB_SLOT_COUNT; i++) {
        fields[count++] = AB_NUMBER(SLOT_FIELDS[i], ledger->routed[i]);
    }
    for (unsigned i = 0; i < AB_REASON_COUNT; i++) {
        if (ledger->dead_lettered[i] != 0) {
            fields[count++] = AB_NUMBER(REASON_FIELDS[i], ledger->dead_lettered[i]);
        }
    }
    fields[count++] = AB_NUMBER("keyless", ledger->keyless);
    fields[count++] = AB_NUMBER("without_source", ledger->without_source);
    fields[count++] = AB_NUMBER("timestamp_zero", ledger->timestamp_zero);
    fields[count++] = AB_NUMBER("stale", ledger->stale);
    fields[count++] = AB_NUMBER("gap", ledger->gap);
    assert(count <= AB_FIELDS_MAX);
    if (balanced) {
        sink->emit(sink->opaque, AB_LEVEL_INFO, "ledger", "what happened since the start", fields,
                   count);
    } else {
        sink->emit(sink->opaque, AB_LEVEL_ERROR, "ledger",
                   "the ledger does not balance: a record has no outcome or two; keep this log and "
                   "report a bug",
                   fields, count);
    }
}
