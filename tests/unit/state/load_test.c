/* A store that is loaded: the same as one that every record was applied to, whatever came between.
 */
#include "tests/unit/state/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bridge/state/load.h"

/* So little that most entries of a history find no room beside the others. */
#define TINY ((size_t)4096)

static void finish(ab_store_t *store)
{
    bool done = false;
    unsigned steps = 0;
    assert_true(ab_store_is_loading(store));
    while (!done) {
        assert_int_equal(ab_store_load_step(store, OWNER, 0, &done), AB_STORE_OK);
        assert_true(++steps < 10000);
    }
    assert_false(ab_store_is_loading(store));
}

typedef ab_record_t history_fn(uint64_t seed, int64_t offset);

static ab_record_t plain_history(uint64_t seed, int64_t offset)
{
    (void)seed;
    return ab_test_history(offset);
}

/* Keys of every length that all begin alike, of which some begin like others; values of any size, a
 * few larger than the arena. */
static ab_record_t wild_history(uint64_t seed, int64_t offset)
{
    static uint8_t key[3000];
    static uint8_t value[70000];
    char name[128];
    uint64_t random = ((uint64_t)offset + seed * 1000003) * UINT64_C(0x9e3779b97f4a7c15) + seed;
    random ^= random >> 29;
    random *= UINT64_C(0xbf58476d1ce4e5b9);
    random ^= random >> 32;
    static const size_t sizes[] = {1, 2, 7, 8, 9, 16, 100, 509, 510, 511, 512, 700, 2999};
    const size_t size = sizes[random % 13];
    memset(key, random >> 8 & 1 ? 0 : 0xff, sizeof(key));
    key[0] = (uint8_t)(random >> 9 & 3);
    key[size - 1] = (uint8_t)(random >> 11 & 7);
    const aw_span_t bytes = {key, size};
    if (random >> 20 & 1) { /* keys of any bytes: marks, and tombstones */
        return random >> 21 & 1 ? ab_test_record(offset, bytes, AW_SPAN_NULL)
                                : ab_test_record(offset, bytes, aw_span_view("", 0));
    }
    memset(name, 'n', sizeof(name));
    const size_t length = random >> 24 & 1 ? 100 + (random >> 25 & 15) : 1 + (random >> 25 & 63);
    name[length] = '\0';
    const size_t fill = random % 50 == 0 ? 60000 : (size_t)(random >> 40) % 300;
    const aw_span_t good =
        ab_test_snapshot(name, 1 + (int64_t)(random >> 33) % 100, fill, value, sizeof(value));
    static char kept[128];
    memcpy(kept, name, sizeof(kept));
    return random >> 32 & 1 ? ab_test_record(offset, aw_span_text_view(kept), good)
                            : ab_test_record(offset, aw_span_text_view(kept), AW_SPAN_NULL);
}

static void apply_all(ab_store_t *store, history_fn *history, uint64_t seed, int64_t end)
{
    ab_state_verdict_t verdict;
    uint64_t bytes;
    for (int64_t offset = 0; offset < end; offset++) {
        const ab_record_t record = history(seed, offset);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
        assert_int_equal(verdict, ab_state_judge(&record, &(aw_snapshot_view_t){0}));
        assert_int_equal(ab_store_next(store), offset + 1);
        if (offset % 97 == 0) {
            assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
            assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_PASSED);
            assert_int_equal(ab_store_pending(store, &bytes), 0);
        }
    }
}

/* The digest of a store that took these records, with a load of so much memory, 0: with none. */
static void digest_of(history_fn *history, uint64_t seed, int64_t end, size_t memory, char hex[65])
{
    void *fresh = NULL;
    ab_store_found_t found;
    assert_int_equal(ab_test_folder_make(&fresh), 0);
    ab_store_t *store = ab_test_open(fresh, &found);
    if (memory > 0) {
        assert_int_equal(ab_store_load_begin(store, memory), AB_STORE_OK);
    }
    apply_all(store, history, seed, end);
    if (memory > 0) {
        finish(store);
    } else {
        assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
    }
    assert_int_equal(ab_store_next(store), end);
    ab_store_close(store);
    ab_test_digest(fresh, hex);
    (void)ab_test_folder_drop(&fresh);
}

static void test_load_equals_applying_one_by_one(void **state)
{
    static const size_t memories[] = {1, TINY, 100000, AB_LOAD_ARENA};
    char wanted[65], is[65];
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        history_fn *history = seed == 0 ? plain_history : wild_history;
        const int64_t end = (int64_t)(seed * seed) * 40 + 1;
        digest_of(history, seed, end, 0, wanted);
        for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
            digest_of(history, seed, end, memories[i], is);
            assert_string_equal(is, wanted);
        }
    }
}

static void test_load_of_tombstones_alone_leaves_an_empty_store(void **state)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
    for (int64_t offset = 0; offset < 1000; offset++) {
        const ab_record_t record = ab_test_record(offset, aw_span_text_view("a"), AW_SPAN_NULL);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    }
    ab_store_advance(store, 1010);
    finish(store);
    assert_int_equal(ab_store_facts(store).keys, 0);
    ab_store_close(store);
    store = ab_test_open(*state, &found);
    assert_int_equal(found, AB_STORE_FOUND_WHOLE);
    assert_int_equal(ab_store_next(store), 1010);
    ab_store_close(store);
}

static void test_load_notes_when_it_was_at_the_end_and_goes_on_as_usual(void **state)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    bool done = false;
    ab_store_t *store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_load_begin(store, 0), AB_STORE_OK);
    apply_all(store, plain_history, 0, 200);
    assert_int_equal(ab_store_load_step(store, OWNER, 777, &done), AB_STORE_OK);
    assert_true(done);
    assert_int_equal(ab_store_current_ms(store), 777);
    for (int64_t offset = 200; offset < 400; offset++) {
        const ab_record_t record = ab_test_history(offset);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    }
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
    ab_store_close(store);
    ab_test_expect_rebuilt_same(*state, 400);
}

/* ---- what it holds while it is loaded ---- */

static int count_visit(void *opaque, const ab_browse_item_t *item)
{
    (void)item;
    ++*(unsigned *)opaque;
    return 0;
}

/* A reader beside sees a store that has read nothing. */
static void expect_unread_beside(const ab_test_folder_t *folder, const char *key)
{
    char text[AB_STORE_TEXT_MAX] = "";
    ab_browser_t *browser = NULL;
    ab_store_facts_t facts;
    int64_t next = 0;
    int64_t current_ms;
    unsigned seen = 0;
    assert_int_equal(ab_browser_open(folder->path, TOPIC, 3, &browser, text), AB_STORE_OK);
    assert_int_equal(ab_browser_facts(browser, &facts, &next, &current_ms), AB_STORE_OK);
    assert_int_equal(next, AB_STORE_UNREAD);
    assert_int_equal(facts.keys, 0);
    assert_int_equal(facts.marked, 0);
    assert_int_equal(ab_browser_walk(browser, count_visit, &seen, NULL), AB_STORE_OK);
    assert_int_equal(ab_browser_find(browser, aw_span_text_view(key), count_visit, &seen),
                     AB_STORE_NONE);
    assert_int_equal(seen, 0);
    ab_browser_close(browser);
}

/* Begins to load keys of which a step writes a part only, and does one. */
static void load_half(ab_store_t *store, int64_t keys)
{
    static uint8_t value[4096];
    ab_state_verdict_t verdict;
    bool done = true;
    assert_int_equal(ab_store_load_begin(store, 100000), AB_STORE_OK);
    for (int64_t offset = 0; offset < keys; offset++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%07lld", (long long)(offset * 7919 % keys));
        const ab_record_t record = ab_test_record(
            offset, aw_span_text_view(key), ab_test_snapshot(key, 1, 10, value, sizeof(value)));
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    }
    assert_int_equal(ab_store_load_step(store, OWNER, 0, &done), AB_STORE_OK);
    assert_false(done);
}

static void test_load_half_done_is_seen_as_unread(void **state)
{
    ab_store_found_t found;
    ab_state_entry_t entry;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    load_half(store, 20000);
    assert_int_equal(ab_store_facts(store).keys, 0);
    assert_int_equal(ab_store_get(store, aw_span_text_view("key-0000000"), &entry), AB_STORE_ERROR);
    expect_unread_beside(*state, "key-0000000");
    finish(store);
    assert_int_equal(ab_store_facts(store).keys, 20000);
    assert_int_equal(ab_store_get(store, aw_span_text_view("key-0000000"), &entry), AB_STORE_OK);
    const ab_record_t record = ab_test_record(5, aw_span_text_view("a"), AW_SPAN_NULL);
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_PASSED);
    ab_store_close(store);
}

static void test_load_closed_half_way_begins_anew(void **state)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    load_half(store, 20000);
    ab_store_close(store);
    expect_unread_beside(*state, "key-0000000");
    store = ab_test_open(*state, &found);
    assert_int_equal(found, AB_STORE_FOUND_NOTHING);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    assert_int_equal(ab_store_facts(store).keys, 0);
    apply_all(store, plain_history, 0, 300); /* and without a load, too */
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
    ab_store_close(store);
    ab_test_expect_rebuilt_same(*state, 300);
}

/* What a load wrote before it was given up is in nobody's way, though the store stayed open. */
static void test_load_given_up_leaves_nothing(void **state)
{
    for (unsigned again = 0; again < 4; again++) {
        ab_store_found_t found;
        ab_state_entry_t entry;
        bool done = false;
        ab_store_t *store = ab_test_open(*state, &found);
        assert_int_equal(ab_store_reset(store), AB_STORE_OK);
        load_half(store, 20000);
        assert_int_equal(ab_store_load_step(store, OWNER + 1, 0, &done), AB_STORE_FOREIGN);
        assert_false(ab_store_is_loading(store));
        assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
        assert_int_equal(ab_store_get(store, aw_span_text_view("key-0000000"), &entry),
                         AB_STORE_NONE);
        assert_int_equal(ab_store_facts(store).keys, 0);
        if (again == 1) {
            assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
        } else if (again == 2) {
            assert_int_equal(ab_store_reset(store), AB_STORE_OK);
        } else if (again == 3) { /* twice */
            load_half(store, 30000);
            ab_store_set_owner(store, OWNER + 1);
            assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_FOREIGN);
            ab_store_set_owner(store, OWNER);
        }
        apply_all(store, plain_history, 0, 300);
        if (again == 1) {
            finish(store);
        }
        assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
        ab_store_close(store);
        ab_test_expect_rebuilt_same(*state, 300);
    }
}

static void test_load_takes_no_record_between_steps(void **state)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    load_half(store, 20000);
    const ab_record_t record = ab_test_record(20000, aw_span_text_view("a"), AW_SPAN_NULL);
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_ERROR);
    assert_true(strlen(ab_store_text_view(store)) > 0);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    ab_store_close(store);
}

static void test_load_reset_while_collecting_is_dropped(void **state)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
    apply_all(store, plain_history, 0, 300);
    assert_int_equal(ab_store_reset(store), AB_STORE_OK);
    assert_false(ab_store_is_loading(store));
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
    apply_all(store, plain_history, 0, 200);
    finish(store);
    ab_store_close(store);
    ab_test_expect_rebuilt_same(*state, 200);
}

/* ---- what goes wrong ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Applies until the store refuses; what it said. AB_STORE_OK where it took all. */
static ab_store_result_t apply_until_refused(ab_store_t *store, int64_t end)
{
    ab_state_verdict_t verdict;
    ab_store_result_t result = AB_STORE_OK;
    bool done = false;
    for (int64_t offset = 0; offset < end && result == AB_STORE_OK; offset++) {
        const ab_record_t record = ab_test_history(offset);
        result = ab_store_apply(store, &record, &verdict);
    }
    while (result == AB_STORE_OK && !done) {
        result = ab_store_load_step(store, OWNER, 0, &done);
    }
    return result;
}

static void expect_usable(const ab_test_folder_t *folder, ab_store_t *store)
{
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    assert_false(ab_store_is_loading(store));
    assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
    assert_int_equal(apply_until_refused(store, 400), AB_STORE_OK);
    ab_store_close(store);
    ab_test_expect_rebuilt_same(folder, 400);
}

/* As a full disk does, a limit refuses to let a file grow: the runs, or the store itself. */
static void test_load_on_a_full_disk_leaves_the_store_unread(void **state)
{
    unsigned refused = 0;
    unsigned full = 0;
    for (rlim_t bytes = 4096; bytes < 3000000; bytes = bytes * 3 / 2) {
        void *fresh = NULL;
        ab_store_found_t found;
        (void)state;
        assert_int_equal(ab_test_folder_make(&fresh), 0);
        ab_store_t *store = ab_test_open(fresh, &found);
        assert_int_equal(ab_store_load_begin(store, bytes % 2 == 0 ? TINY : 0), AB_STORE_OK);
        limit_files(bytes);
        const ab_store_result_t result = apply_until_refused(store, 2000);
        limit_files(RLIM_INFINITY);
        if (result != AB_STORE_OK) {
            refused++;
            /* A write that ends half way is an EIO of LMDB's. */
            assert_true(result == AB_STORE_FULL || result == AB_STORE_ERROR);
            full += result == AB_STORE_FULL ? 1 : 0;
            assert_non_null(strstr(ab_store_text_view(store), "it could not be loaded: "));
            expect_usable(fresh, store);
        } else {
            ab_store_close(store);
            ab_test_expect_rebuilt_same(fresh, 2000);
        }
        (void)ab_test_folder_drop(&fresh);
    }
    assert_true(refused > 5);
    assert_true(full > 2);
}

static void test_load_without_its_file_leaves_the_store_unread(void **state)
{
    const ab_test_folder_t *folder = *state;
    char away[PATH_ROOM + 8];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(folder, &found);
    snprintf(away, sizeof(away), "%s-away", folder->path);
    assert_int_equal(ab_store_load_begin(store, TINY), AB_STORE_OK);
    assert_int_equal(rename(folder->path, away), 0);
    const ab_store_result_t result = apply_until_refused(store, 2000);
    assert_int_equal(rename(away, folder->path), 0);
    assert_int_equal(result, AB_STORE_ERROR);
    assert_string_equal(ab_store_text_view(store),
                        "it could not be loaded: No such file or directory");
    expect_usable(folder, store);
}

/* A name that a kill left behind in a folder without nameless files goes away with the store. */
static void test_load_file_is_removed_with_the_store(void **state)
{
    const ab_test_folder_t *folder = *state;
    char path[PATH_ROOM + 16];
    snprintf(path, sizeof(path), "%s/load.tmp", folder->path);
    const int file = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(ab_store_remove(folder->path), 0);
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- what it takes ---- */

static void add_kind(ab_load_t *load, ab_load_kind_t kind, int64_t offset, const char *name,
                     size_t size)
{
    static uint8_t bytes[100000];
    const ab_load_entry_t entry = {
        kind, {offset, 0, (uint32_t)size}, aw_span_text_view(name), {bytes, size}};
    assert_int_equal(ab_load_add(load, &entry), 0);
}

static void add(ab_load_t *load, int64_t offset, const char *name, size_t size)
{
    add_kind(load, AB_LOAD_STATE, offset, name, size);
}

static void test_load_memory_does_not_grow_with_what_it_collects(void **state)
{
    const size_t arena = 64 * 1024;
    const ab_test_folder_t *folder = *state;
    ab_load_t *load = ab_load_new(folder->path, arena);
    assert_non_null(load);
    for (int64_t offset = 0; offset < 100000; offset++) {
        char name[32];
        snprintf(name, sizeof(name), "k%lld", (long long)(offset * 31 % 50000));
        add(load, offset, name, 100);
    }
    const ab_load_facts_t facts = ab_load_facts(load);
    assert_true(facts.runs > 150); /* 100000 entries of at least 100 bytes, in 64 KiB each */
    assert_true(facts.file_bytes > 10000000 - arena);
    assert_true(facts.memory_bytes < arena + 64 * 1024 + facts.runs * 100 + 8192);
    assert_int_equal(rmdir(folder->path), 0); /* no name is left of its file */
    assert_int_equal(ab_load_sort(load), 0);
    assert_true(ab_load_facts(load).memory_bytes < arena + 64 * 1024 + facts.runs * 150 + 8192);
    unsigned keys = 0;
    ab_load_key_t key;
    char before[32] = "";
    for (; !ab_load_is_over(load); keys++) {
        char name[32] = "";
        assert_int_equal(ab_load_next(load, &key), 0);
        memcpy(name, key.name.data, key.name.size);
        assert_true(strcmp(before, name) < 0);
        assert_true(key.has_state && key.state.head.offset >= 50000); /* the second of two */
        memcpy(before, name, sizeof(name));
    }
    assert_int_equal(keys, 50000);
    assert_int_equal(ab_load_facts(load).taken, 100000);
    ab_load_free(load);
}

/* One hot key does not fill the file: a run holds it twice at most, a state and a mark. */
static void test_load_of_one_key_writes_two_entries_a_run(void **state)
{
    const ab_test_folder_t *folder = *state;
    for (unsigned marks = 0; marks < 3; marks++) {
        ab_load_t *load = ab_load_new(folder->path, 64 * 1024);
        ab_load_key_t key;
        for (int64_t offset = 0; offset < 10000; offset++) {
            add_kind(load, offset % 500 < marks * 250 ? AB_LOAD_MARK : AB_LOAD_STATE, offset,
                     "kone", 100);
        }
        const ab_load_facts_t facts = ab_load_facts(load);
        assert_true(facts.runs > 10);
        assert_true(facts.file_bytes < facts.runs * 300);
        assert_int_equal(ab_load_sort(load), 0);
        assert_int_equal(ab_load_next(load, &key), 0);
        assert_true(ab_load_is_over(load));
        assert_int_equal(key.has_state, marks < 2);
        assert_int_equal(key.has_mark, marks == 2);
        assert_true(marks == 2 || key.state.head.offset == 9999);
        ab_load_free(load);
    }
}

/* Whatever fits, by a hair or not at all, comes out. */
static void test_load_entries_around_the_size_of_the_arena(void **state)
{
    const ab_test_folder_t *folder = *state;
    for (size_t size = AB_LOAD_ARENA_MIN - 100; size < AB_LOAD_ARENA_MIN + 20; size++) {
        ab_load_t *load = ab_load_new(folder->path, AB_LOAD_ARENA_MIN);
        ab_load_key_t key;
        add(load, 0, "kb", 10);
        add(load, 1, "kc", size);
        add(load, 2, "ka", 10);
        assert_int_equal(ab_load_sort(load), 0);
        for (const char *name = "abc"; *name != '\0'; name++) {
            assert_int_equal(ab_load_next(load, &key), 0);
            assert_int_equal(key.name.data[1], *name);
            assert_int_equal(key.state.bytes.size, *name == 'c' ? size : 10);
        }
        assert_true(ab_load_is_over(load));
        ab_load_free(load);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        CASE(test_load_equals_applying_one_by_one),
        CASE(test_load_of_tombstones_alone_leaves_an_empty_store),
        CASE(test_load_notes_when_it_was_at_the_end_and_goes_on_as_usual),
        CASE(test_load_half_done_is_seen_as_unread),
        CASE(test_load_closed_half_way_begins_anew),
        CASE(test_load_given_up_leaves_nothing),
        CASE(test_load_takes_no_record_between_steps),
        CASE(test_load_reset_while_collecting_is_dropped),
        CASE(test_load_on_a_full_disk_leaves_the_store_unread),
        CASE(test_load_without_its_file_leaves_the_store_unread),
        CASE(test_load_file_is_removed_with_the_store),
        CASE(test_load_memory_does_not_grow_with_what_it_collects),
        CASE(test_load_of_one_key_writes_two_entries_a_run),
        CASE(test_load_entries_around_the_size_of_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
