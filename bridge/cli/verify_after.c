#include "bridge/cli/verify_work.h"

/* ---- those without a source header ---- */

static void settle_absent(ab_verify_work_t *work, const ab_sighting_t *absent,
                          const ab_sighting_t *found)
{
    ab_audit_counts_t *counts =
        &ab_verify_part_of(work->verify, absent->source, absent->source_partition)->counts;
    ab_fault_t fault = {.kind = AB_FAULT_MISSING,
                        .source = absent->source,
                        .output = absent->output,
                        .source_partition = absent->source_partition,
                        .partition = absent->partition,
                        .source_offset = absent->source_offset,
                        .offset = -1,
                        .behind = -1};
    counts->unproven--;
    if (found != NULL) {
        counts->routed++;
        work->verify->report.without_source++;
        if (absent->timestamp_ms >= 0 && !found->stamped &&
            absent->timestamp_ms != found->timestamp_ms) {
            fault.kind = AB_FAULT_ALTERED;
            fault.offset = found->offset;
            fault.parts = AB_PART_OF_TIMESTAMP;
            ab_verify_on_fault(work, &fault);
        }
    } else if (absent->perishable) {
        counts->expired++;
    } else {
        counts->missing_outcomes++;
        ab_verify_on_fault(work, &fault);
    }
}

static void leave_over(ab_verify_work_t *work, const ab_sighting_t *seen)
{
    work->verify->report.redriven_direct += seen->redriven;
    work->verify->report.foreign += !seen->redriven;
}

int ab_verify_match_unnamed(ab_verify_work_t *work)
{
    ab_sighting_t absent, found;
    int error = ab_sorter_begin(work->absent);
    error = error == 0 ? ab_sorter_begin(work->unnamed) : error;
    if (error != 0) {
        return ab_verify_fail_sorter(work, error);
    }
    bool has_found = ab_verify_take(work, work->unnamed, &found);
    while (ab_verify_take(work, work->absent, &absent)) {
        while (has_found && ab_sighting_compare_content(&found, &absent) < 0) {
            leave_over(work, &found);
            has_found = ab_verify_take(work, work->unnamed, &found);
        }
        const bool same = has_found && ab_sighting_compare_content(&found, &absent) == 0;
        settle_absent(work, &absent, same ? &found : NULL);
        if (same) {
            has_found = ab_verify_take(work, work->unnamed, &found);
        }
    }
    while (has_found) {
        leave_over(work, &found);
        has_found = ab_verify_take(work, work->unnamed, &found);
    }
    return work->code;
}

/* ---- the order per key ---- */

/* Only where some source partition's records lie in another order than they had: each key's are
 * followed. */
int ab_verify_check_order(ab_verify_work_t *work)
{
    ab_audit_t *audit = &work->verify->audit;
    ab_audit_order_t order = {.highest = -1};
    ab_sighting_t seen;
    if (!audit->disordered || ab_verify_begin_sightings(work) != AB_CLI_OK) {
        return work->code;
    }
    ab_sorter_t *by_key = ab_sorter_new(sizeof(seen), ab_sighting_by_key,
                                        (size_t)(work->verify->config->memory_per_lane_bytes / 2),
                                        AB_SORTER_FILE_MAX);
    if (by_key == NULL) {
        return ab_verify_fail_memory(work);
    }
    while (work->has_next && work->code == AB_CLI_OK) {
        const ab_sighting_t first = work->next;
        ab_verify_gather(work, first.source, first.source_partition, first.source_offset);
        for (size_t i = 0; i < work->group_count; i++) {
            if (ab_audit_is_in_order(audit, work->group, work->group_count, i)) {
                ab_verify_add(work, by_key, &work->group[i]);
            }
        }
    }
    const int error = work->code == AB_CLI_OK ? ab_sorter_begin(by_key) : 0;
    if (error != 0) {
        (void)ab_verify_fail_sorter(work, error);
    }
    while (work->code == AB_CLI_OK && ab_verify_take(work, by_key, &seen)) {
        ab_audit_follow(audit, &order, &seen);
    }
    work->verify->report.temporary_bytes += ab_sorter_file_bytes(by_key);
    ab_sorter_free(by_key);
    return work->code;
}
