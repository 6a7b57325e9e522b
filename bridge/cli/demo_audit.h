#ifndef BRIDGE_CLI_DEMO_AUDIT_H
#define BRIDGE_CLI_DEMO_AUDIT_H

#include <stdbool.h>

#include "bridge/cli/demo_plan.h"
#include "bridge/core/ledger.h"

/** Every topic of the demo as it was read back, each by partition and then by offset. */
typedef struct ab_demo_topics {
    const ab_full_record_t *records[AB_DEMO_TOPIC_COUNT];
    size_t counts[AB_DEMO_TOPIC_COUNT];
} ab_demo_topics_t;

/** Most differences told one by one, and the longest text of one, NUL included. */
#define AB_DEMO_LINES_MAX 20u
#define AB_DEMO_LINE_MAX  256u

/** What came of the plan. */
typedef struct ab_demo_audit {
    const ab_demo_plan_t *plan;
    const ab_demo_topics_t *topics;
    /** Per planned record what was made of it, NULL where nothing was found: the routed record,
     *  the answer or the dead letter, and the copy in quarantine. */
    const ab_full_record_t **outputs;
    const ab_full_record_t **copies;
    size_t routed, answered, letters, quarantined; /* found, and right in every byte */
    size_t differences;
    char lines[AB_DEMO_LINES_MAX][AB_DEMO_LINE_MAX]; /* the first differences in words */
} ab_demo_audit_t;

/** Holds every byte of the topics, and the ledger, against the plan. It decides from the plan and
 *  with none of the relay's code what has to be where: value, key, headers in their order with the
 *  source header last, timestamp, partition; of an answer value, key, headers, partition; of a dead
 * letter every field, the detail and every header; of quarantine the record whole. The same counts
 * for what is missing, doubled or out of order.
 *
 *  plan and topics must outlive the audit, which is the caller's. NULL when memory is short. */
ab_demo_audit_t *ab_demo_audit_new(const ab_demo_plan_t *plan, const ab_demo_topics_t *topics,
                                   const ab_ledger_t *ledger);

/** Takes NULL. */
void ab_demo_audit_free(ab_demo_audit_t *audit);

/** Notes a difference; for the parts of the audit. */
void ab_demo_audit_note(ab_demo_audit_t *audit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Checks the dead letter of a planned record: everything but its partition, key and place. Notes
 *  what differs and returns false then. */
bool ab_demo_letter_check(ab_demo_audit_t *audit, const ab_demo_record_t *planned,
                          const ab_full_record_t *record);

#endif
