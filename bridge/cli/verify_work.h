#ifndef BRIDGE_CLI_VERIFY_WORK_H
#define BRIDGE_CLI_VERIFY_WORK_H

/* What the files of the verify share: verify_run.c (reading), verify_after.c (what can be judged
 * only when everything has been read). */

#include "bridge/cli/cli.h"
#include "bridge/cli/sorter.h"
#include "bridge/cli/verify_run.h"
#include "bridge/kafka/reader.h"

/* The work in hand. */
typedef struct ab_verify_work {
    ab_verify_t *verify;
    const ab_verify_options_t *options;
    ab_reader_t *reader;
    ab_sorter_t *kept;    /* quarantine records that name a source record, by where they lie */
    ab_sorter_t *marks;   /* what redrives have marked of them */
    ab_sorter_t *seen;    /* outputs that name a source record, by source */
    ab_sorter_t *unnamed; /* routed records that name none */
    ab_sorter_t *absent;  /* source records that were to be routed and that none names */
    ab_sighting_t next;   /* the next of seen */
    bool has_next;
    ab_sighting_t *group; /* all of one source record */
    size_t group_count, group_room;
    ab_verify_part_t *part; /* in hand */
    int code;
} ab_verify_work_t;

/* Each notes why the work failed, the first one wins, and returns the exit code. */
int ab_verify_fail_memory(ab_verify_work_t *work);
int ab_verify_fail_sorter(ab_verify_work_t *work, int error);

/* Adds to a sorter. */
void ab_verify_add(ab_verify_work_t *work, ab_sorter_t *sorter, const ab_sighting_t *seen);

/* The partition of a source; NULL when it has none such. */
ab_verify_part_t *ab_verify_part_of(ab_verify_t *verify, int source, int32_t partition);

/* Counts a fault and tells of it. opaque is the work. */
void ab_verify_on_fault(void *opaque, const ab_fault_t *fault);

/* Begins to give the sightings in the order of their sources, as work->next. Returns an exit
 * code. */
int ab_verify_begin_sightings(ab_verify_work_t *work);

/* Takes all sightings of one source record into the group, when they are next. */
void ab_verify_gather(ab_verify_work_t *work, size_t source, int32_t partition, int64_t offset);

/* verify_marks.c: moves the quarantine records to the others, those that a redrive has marked
 * with that mark. Returns an exit code. */
int ab_verify_join_marks(ab_verify_work_t *work);

/* Reads on in a sorter; false at its end, or when it failed. */
bool ab_verify_take(ab_verify_work_t *work, ab_sorter_t *sorter, ab_sighting_t *ret_seen);

/* verify_after.c: looks for the routed records that no output names among those that name none.
 * Returns an exit code. */
int ab_verify_match_unnamed(ab_verify_work_t *work);

/* verify_after.c: the order per key. Returns an exit code. */
int ab_verify_check_order(ab_verify_work_t *work);

#endif
