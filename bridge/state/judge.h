#ifndef BRIDGE_STATE_JUDGE_H
#define BRIDGE_STATE_JUDGE_H

#include "agentwire/snapshot.h"
#include "bridge/core/record.h"
#include "bridge/core/status.h"

/** A larger state is refused, bytes. Not configurable: two stores of one topic must agree. */
#define AB_STATE_VALUE_MAX (64u * 1024u * 1024u)

/** What a record of a state topic says. A pure function of the record.
 *
 *  Returns AB_STATE_TAKEN for a snapshot that is the key's new state (ret_view is then what it
 *  holds) and for a tombstone (value.data NULL, ret_view empty), which forgets the key; else why
 *  the record says nothing. A record without a key, or with an empty one, is AB_STATE_MISSING_KEY,
 *  since no request can ask for it. */
ab_state_verdict_t ab_state_judge(const ab_record_t *record, aw_snapshot_view_t *ret_view);

#endif
