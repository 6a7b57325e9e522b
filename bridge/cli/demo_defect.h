#ifndef BRIDGE_CLI_DEMO_DEFECT_H
#define BRIDGE_CLI_DEMO_DEFECT_H

#include "bridge/cli/demo_value.h"
#include "bridge/core/reason.h"

/** One way to spoil a record. */
typedef struct ab_demo_defect {
    ab_reason_t reason;
    ab_route_slot_t slot; /* what the record is before */
    bool unread; /* nothing may be taken from its bytes: key and time are the record's own */
    /** Turns a good draft into a broken one. */
    void (*spoil)(ab_demo_maker_t *maker, ab_demo_draft_t *draft);
} ab_demo_defect_t;

/** How many defects there are. */
#define AB_DEMO_DEFECT_COUNT 21u

/** Defect number index, below AB_DEMO_DEFECT_COUNT. Static storage. */
const ab_demo_defect_t *ab_demo_defect_view(size_t index);

#endif
