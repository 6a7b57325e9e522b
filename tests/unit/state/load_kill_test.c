/* kill -9 at random points of a load: after each, the store has read nothing, or everything. */
#include "tests/unit/state/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 30
/* Where too few kills fell where they are wanted. */
#define ROUNDS_MAX 300
#define HISTORY    30000
/* So that there are runs. */
#define ARENA ((size_t)200000)

/* More keys than a step writes, each twice. */
static ab_record_t history(int64_t offset)
{
    static char key[32];
    static uint8_t value[512];
    snprintf(key, sizeof(key), "key-%lld", (long long)(offset * 7919 % (HISTORY / 2)));
    const aw_span_t name = aw_span_text_view(key);
    if (offset % 9 == 4) {
        return ab_test_record(offset, name, AW_SPAN_NULL);
    }
    if (offset % 11 == 5) {
        return ab_test_record(offset, name, aw_span_view("", 0));
    }
    return ab_test_record(
        offset, name,
        ab_test_snapshot(key, 1 + offset % 100, (size_t)offset % 200, value, sizeof(value)));
}

/* Applies the whole history, with a load or without. False when the store refuses. */
static bool apply_all(ab_store_t *store, bool load)
{
    ab_state_verdict_t verdict;
    bool done = !load;
    if (load && ab_store_load_begin(store, ARENA) != AB_STORE_OK) {
        return false;
    }
    for (int64_t offset = 0; offset < HISTORY; offset++) {
        const ab_record_t record = history(offset);
        if (ab_store_apply(store, &record, &verdict) != AB_STORE_OK) {
            return false;
        }
    }
    while (!done) {
        if (ab_store_load_step(store, OWNER, 0, &done) != AB_STORE_OK) {
            return false;
        }
    }
    return ab_store_commit(store, OWNER, 0) == AB_STORE_OK;
}

/* The child: loads from the start, where nothing is, until it is killed. */
static void load_until_killed(const ab_test_folder_t *folder)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(folder, &found);
    if (found == AB_STORE_FOUND_DAMAGED || found == AB_STORE_FOUND_OTHER) {
        _exit(3);
    }
    if (ab_store_next(store) != AB_STORE_UNREAD) {
        _exit(ab_store_next(store) == HISTORY ? 0 : 4);
    }
    _exit(apply_all(store, true) ? 0 : 5);
}

static void digest_of(bool load, char ret_hex[65])
{
    void *folder = NULL;
    ab_store_found_t found;
    assert_int_equal(ab_test_folder_make(&folder), 0);
    ab_store_t *store = ab_test_open(folder, &found);
    assert_true(apply_all(store, load));
    ab_store_close(store);
    ab_test_digest(folder, ret_hex);
    (void)ab_test_folder_drop(&folder);
}

static bool is_larger_than_an_empty_one(const ab_test_folder_t *folder)
{
    char path[PATH_ROOM + 16];
    struct stat about;
    snprintf(path, sizeof(path), "%s/data.mdb", folder->path);
    return stat(path, &about) == 0 && about.st_size > 200000;
}

/* True when the store is there; else it holds nothing. */
static bool expect_all_or_nothing(const ab_test_folder_t *folder, const char *wanted)
{
    char is[65];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(folder, &found);
    assert_true(found == AB_STORE_FOUND_WHOLE || found == AB_STORE_FOUND_NOTHING);
    const bool whole = ab_store_next(store) != AB_STORE_UNREAD;
    const ab_store_facts_t facts = ab_store_facts(store);
    ab_store_close(store);
    if (whole) {
        ab_test_digest(folder, is);
        assert_string_equal(is, wanted);
    } else {
        assert_int_equal(facts.keys, 0);
        assert_int_equal(facts.marked, 0);
    }
    return whole;
}

/* The pauses go up to what a whole load takes here, and its digest, so that kills fall everywhere.
 */
static long elapsed_ns(struct timespec begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begun.tv_sec) * 1000000000 + (now.tv_nsec - begun.tv_nsec);
}

static void test_load_killed_anywhere_is_whole_or_begins_anew(void **state)
{
    unsigned half = 0;
    unsigned whole = 0;
    unsigned unread = 0;
    char wanted[65], is[65];
    struct timespec begun;
    (void)state;
    digest_of(false, wanted);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    digest_of(true, is);
    assert_string_equal(is, wanted);
    const long most = elapsed_ns(begun);
    srand(7);
    for (unsigned round = 0; round < ROUNDS || (round < ROUNDS_MAX && (half < 4 || unread < 4));
         round++) {
        void *folder = NULL;
        bool done = false;
        assert_int_equal(ab_test_folder_make(&folder), 0);
        for (unsigned tries = 0; tries < 100 && !done; tries++) {
            int status;
            const pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                load_until_killed(folder);
            }
            const struct timespec pause = {0, rand() % most % 1000000000};
            nanosleep(&pause, NULL);
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            const bool large = is_larger_than_an_empty_one(folder);
            done = expect_all_or_nothing(folder, wanted);
            half += !done && large ? 1 : 0;
            unread += !done && !large ? 1 : 0;
        }
        whole += done ? 1 : 0;
        (void)ab_test_folder_drop(&folder);
    }
    print_message("killed: %u while it collected, %u while it wrote; %u are whole\n", unread, half,
                  whole);
    assert_true(whole >= ROUNDS);
    assert_true(half > 3);
    assert_true(unread > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_killed_anywhere_is_whole_or_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
