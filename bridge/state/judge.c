#include "bridge/state/judge.h"

ab_state_verdict_t ab_state_judge(const ab_record_t *record, aw_snapshot_view_t *ret_view)
{
    aw_snapshot_view_t view = {0};
    if (record->key.size == 0) {
        return AB_STATE_MISSING_KEY;
    }
    if (record->value.data != NULL) {
        if (record->value.size > AB_STATE_VALUE_MAX) {
            return AB_STATE_OVERSIZED;
        }
        if (aw_snapshot_scan(record->value, &view, NULL) != AW_OK) {
            return AB_STATE_UNDECODABLE;
        }
        if (!aw_span_equal(view.entity_key, record->key)) {
            return AB_STATE_KEY_MISMATCH;
        }
    }
    *ret_view = view;
    return AB_STATE_TAKEN;
}
