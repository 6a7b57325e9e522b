/* kill -9 at random points of applying: after each, the store is one that some commit left, and at
 * the end it is the one that a fresh one becomes. */
#include "tests/unit/state/support.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  60
#define HISTORY 40000

/* The child: goes on where the store is, in batches of every size, until it is killed. */
static void work_until_killed(const ab_test_folder_t *folder)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(folder, &found);
    int64_t offset = ab_store_next(store) < 0 ? 0 : ab_store_next(store);
    if (found == AB_STORE_FOUND_DAMAGED || found == AB_STORE_FOUND_OTHER) {
        _exit(3);
    }
    for (; offset < HISTORY; offset++) {
        const ab_record_t record = ab_test_history(offset);
        if (ab_store_apply(store, &record, &verdict) != AB_STORE_OK) {
            _exit(4);
        }
        if (offset % (1 + offset / 100 % 60) == 0 &&
            ab_store_commit(store, OWNER, 0) != AB_STORE_OK) {
            _exit(5);
        }
    }
    if (ab_store_commit(store, OWNER, 0) != AB_STORE_OK) {
        _exit(6);
    }
    _exit(0);
}

static void test_store_killed_anywhere_equals_one_made_from_scratch(void **state)
{
    ab_test_folder_t *folder = *state;
    unsigned killed = 0;
    unsigned compared = 0;
    srand(7);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int status;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            work_until_killed(folder);
        }
        const struct timespec pause = {0, 1000000 + rand() % 40000000};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0); /* it was done, or something is wrong */
        } else {
            killed++;
        }
        ab_store_found_t found;
        ab_store_t *store = ab_test_open(folder, &found);
        assert_true(found == AB_STORE_FOUND_WHOLE || found == AB_STORE_FOUND_NOTHING);
        const int64_t next = ab_store_next(store);
        ab_store_close(store);
        if (next > 0 && round % 6 == 0) {
            ab_test_expect_rebuilt_same(folder, next);
            compared++;
        }
    }
    assert_true(killed > 10);
    assert_true(compared > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_store_killed_anywhere_equals_one_made_from_scratch,
                                        ab_test_folder_make, ab_test_folder_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
