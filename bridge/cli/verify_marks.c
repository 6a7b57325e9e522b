#include "bridge/cli/verify_work.h"

bool ab_verify_take(ab_verify_work_t *work, ab_sorter_t *sorter, ab_sighting_t *ret_seen)
{
    const int got = ab_sorter_next(sorter, ret_seen);
    if (got < 0) {
        (void)ab_verify_fail_sorter(work, -got);
    }
    return got > 0;
}

/* Moves the quarantine record on, with its mark where it has one; marks before it are of records
 * that are gone. */
static void join_one(ab_verify_work_t *work, ab_sighting_t *kept, ab_sighting_t *mark,
                     bool *has_mark)
{
    while (*has_mark && ab_sighting_by_place(mark, kept) < 0) {
        *has_mark = ab_verify_take(work, work->marks, mark);
    }
    kept->marked = *has_mark && ab_sighting_by_place(mark, kept) == 0;
    ab_verify_add(work, work->seen, kept);
}

int ab_verify_join_marks(ab_verify_work_t *work)
{
    ab_sighting_t kept, mark;
    int error = ab_sorter_begin(work->kept);
    error = error == 0 ? ab_sorter_begin(work->marks) : error;
    if (error != 0) {
        return ab_verify_fail_sorter(work, error);
    }
    bool has_mark = ab_verify_take(work, work->marks, &mark);
    while (work->code == AB_CLI_OK && ab_verify_take(work, work->kept, &kept)) {
        join_one(work, &kept, &mark, &has_mark);
    }
    return work->code;
}
