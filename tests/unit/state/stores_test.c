/* The stores of a process: one process a folder, one owner a store; and looking at them from
 * outside. */
#include "tests/unit/state/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentwire/snapshot.h"

static ab_stores_t *make(const ab_test_folder_t *folder)
{
    char text[AB_STORES_TEXT_MAX] = "";
    ab_stores_t *stores = ab_stores_new(folder->path, text);
    if (stores == NULL) {
        fail_msg("%s", text);
    }
    return stores;
}

static ab_store_t *borrow(ab_stores_t *stores, int32_t partition, unsigned owner)
{
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    ab_store_found_t found;
    assert_int_equal(ab_stores_borrow(stores, TOPIC, partition, owner, &store, &found, text),
                     AB_STORE_OK);
    return store;
}

static void test_stores_one_owner_at_a_time(void **state)
{
    char text[AB_STORES_TEXT_MAX];
    ab_store_t *none = NULL;
    ab_store_found_t found;
    ab_stores_t *stores = make(*state);
    ab_store_t *store = borrow(stores, 0, 1);
    assert_int_equal(ab_stores_borrow(stores, TOPIC, 0, 2, &none, &found, text), AB_STORE_FOREIGN);
    assert_int_equal(ab_stores_borrow(stores, TOPIC, 0, 1, &none, &found, text), AB_STORE_FOREIGN);
    assert_null(none);
    ab_stores_return(stores, borrow(stores, 1, 2));
    ab_stores_return(stores, store);
    ab_stores_return(stores, borrow(stores, 0, 2));
    ab_stores_free(stores);
}

static void test_stores_folder_belongs_to_one_process(void **state)
{
    int status;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    assert_true(ab_stores_in_use(folder->path));
    const pid_t child = fork();
    if (child == 0) {
        char text[AB_STORES_TEXT_MAX] = "";
        _exit(ab_stores_new(folder->path, text) == NULL &&
                      strstr(text, "another process uses state.dir") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ab_stores_free(stores);
    assert_false(ab_stores_in_use(folder->path));
    ab_stores_free(make(folder));
}

static void test_stores_folder_that_cannot_be_made_says_so(void **state)
{
    char text[AB_STORES_TEXT_MAX] = "";
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof(path), "%s/no/such/place", ((ab_test_folder_t *)*state)->path);
    assert_null(ab_stores_new(path, text));
    assert_non_null(strstr(text, "state.dir cannot be made: No such file or directory"));
}

static void test_stores_folder_replaced_underneath_lends_nothing(void **state)
{
    char dir[PATH_ROOM + 32];
    char away[PATH_ROOM + 32];
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_t *none = NULL;
    ab_store_found_t found;
    snprintf(dir, sizeof(dir), "%s/dir", ((ab_test_folder_t *)*state)->path);
    snprintf(away, sizeof(away), "%s/away", ((ab_test_folder_t *)*state)->path);
    ab_stores_t *stores = ab_stores_new(dir, text);
    assert_non_null(stores);
    ab_stores_return(stores, borrow(stores, 0, 1));
    assert_int_equal(rename(dir, away), 0);
    for (unsigned i = 0; i < 2; i++) { /* gone, and another's */
        assert_int_equal(ab_stores_borrow(stores, TOPIC, 0, 1, &none, &found, text),
                         AB_STORE_ERROR);
        assert_non_null(strstr(text, "state.dir was removed or replaced"));
        if (i == 0) {
            ab_stores_free(ab_stores_new(dir, text));
        }
    }
    ab_stores_free(stores);
}

typedef struct seen {
    char text[512];
    size_t used;
    int stop_after;
} seen_t;

static int see(void *opaque, const char *path, const char *topic, int32_t partition)
{
    seen_t *seen = opaque;
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    seen->used += (size_t)snprintf(seen->text + seen->used, sizeof(seen->text) - seen->used,
                                   "%s:%d ", topic, (int)partition);
    return --seen->stop_after == 0 ? 5 : 0;
}

static void test_stores_walk_is_in_order(void **state)
{
    char text[AB_STORES_TEXT_MAX] = "";
    seen_t seen = {.stop_after = -1};
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    static const int32_t partitions[] = {10, 2, 0};
    for (size_t i = 0; i < 3; i++) {
        ab_stores_return(stores, borrow(stores, partitions[i], 1));
    }
    ab_stores_free(stores);
    assert_int_equal(ab_stores_walk(folder->path, see, &seen, text), 0);
    assert_string_equal(seen.text, TOPIC ":0 " TOPIC ":2 " TOPIC ":10 ");
    seen = (seen_t){.stop_after = 2};
    assert_int_equal(ab_stores_walk(folder->path, see, &seen, text), 5);
    assert_int_equal(ab_stores_walk("/nonexistent", see, &seen, text), -1);
}

static int count_store(void *opaque, const char *path, const char *topic, int32_t partition)
{
    (void)path;
    (void)topic;
    (void)partition;
    ++*(unsigned *)opaque;
    return 0;
}

static void test_stores_walk_names_a_topic_it_cannot_read(void **state)
{
    char text[AB_STORES_TEXT_MAX] = "";
    char path[PATH_ROOM + 64];
    unsigned count = 0;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_stores_return(stores, borrow(stores, 0, 1));
    ab_stores_free(stores);
    /* Nobody can list a link to itself, not even root. */
    snprintf(path, sizeof(path), "%s/a.topic", folder->path);
    assert_int_equal(symlink("a.topic", path), 0);
    /* What cannot be a topic is none of ours. */
    snprintf(path, sizeof(path), "%s/lost+found", folder->path);
    assert_int_equal(symlink("lost+found", path), 0);
    assert_int_equal(ab_stores_walk(folder->path, count_store, &count, text), -1);
    assert_int_equal(count, 1);
    snprintf(path, sizeof(path), "%s/a.topic: Too many levels of symbolic links", folder->path);
    assert_string_equal(text, path);
}

static void test_stores_discarded_store_is_gone_and_lent_anew(void **state)
{
    char path[PATH_ROOM + 64];
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    ab_store_found_t found;
    struct stat about;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_stores_return(stores, borrow(stores, 0, 1));
    assert_int_equal(ab_stores_discard(stores, borrow(stores, 0, 1)), 0);
    snprintf(path, sizeof(path), "%s/" TOPIC "/0/data.mdb", folder->path);
    assert_int_equal(stat(path, &about), -1);
    assert_int_equal(ab_stores_borrow(stores, TOPIC, 0, 2, &store, &found, text), AB_STORE_OK);
    assert_int_equal(found, AB_STORE_FOUND_NOTHING);
    ab_stores_return(stores, store);
    ab_stores_free(stores);
}

/* ---- the browser ---- */

typedef struct tally {
    unsigned items, marked, without_state, damaged;
    char last[80];
} tally_t;

static int count_item(void *opaque, const ab_browse_item_t *item)
{
    tally_t *tally = opaque;
    tally->items++;
    tally->marked += item->entry.mark != AB_STATE_TAKEN;
    tally->without_state += item->entry.value.data == NULL;
    tally->damaged += !item->whole;
    snprintf(tally->last, sizeof(tally->last), "%.*s", (int)item->key.size,
             (const char *)item->key.data);
    return 0;
}

static void apply(ab_store_t *store, int64_t offset, const char *key, aw_span_t value)
{
    ab_state_verdict_t verdict;
    const ab_record_t record = ab_test_record(offset, aw_span_text_view(key), value);
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
}

/* What a reader in another process sees beside a writer that goes on. Returns its exit status. */
static int read_beside(const char *path)
{
    char text[AB_STORE_TEXT_MAX] = "";
    tally_t tally = {0};
    ab_browser_t *browser = NULL;
    if (ab_browser_open(path, TOPIC, 0, &browser, text) != AB_STORE_OK) {
        return 2;
    }
    for (unsigned i = 0; i < 50; i++) {
        memset(&tally, 0, sizeof(tally));
        if (ab_browser_walk(browser, count_item, &tally, NULL) != AB_STORE_OK ||
            tally.damaged > 0 || tally.items < 1000) {
            return 3;
        }
    }
    ab_browser_close(browser);
    return 0;
}

static void test_browser_reads_beside_a_writer(void **state)
{
    static uint8_t value[4096];
    int status = -1;
    char path[PATH_ROOM + 64];
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_store_t *store = borrow(stores, 0, OWNER);
    int64_t offset = 0;
    for (; offset < 1000; offset++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%lld", (long long)offset);
        apply(store, offset, key, ab_test_snapshot(key, 1, 0, value, sizeof(value)));
    }
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
    assert_true(ab_stores_path(folder->path, TOPIC, 0, path, sizeof(path)));
    const pid_t child = fork();
    if (child == 0) {
        _exit(read_beside(path));
    }
    for (; waitpid(child, &status, WNOHANG) == 0; offset++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%lld", (long long)offset % 5000);
        apply(store, offset, key, ab_test_snapshot(key, 2, 3000, value, sizeof(value)));
        if (offset % 100 == 0) {
            assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
        }
    }
    assert_int_equal(status, 0);
    ab_stores_return(stores, store);
    ab_stores_free(stores);
}

/* A reader that was there before the writer, and stands still in the middle of a walk. */
typedef struct pause {
    int to, from; /* pipes */
    unsigned items, damaged;
} pause_t;

static int stand_still(void *opaque, const ab_browse_item_t *item)
{
    pause_t *pause = opaque;
    char byte = 0;
    pause->damaged += !item->whole;
    if (pause->items++ == 0) {
        if (write(pause->to, &byte, 1) != 1 || read(pause->from, &byte, 1) != 1) {
            return 1;
        }
        /* The key is a copy too: what it was is overwritten by now. */
        aw_snapshot_view_t view;
        pause->damaged += aw_snapshot_scan(item->entry.value, &view, NULL) != AW_OK ||
                          !aw_span_equal(view.entity_key, item->key);
    }
    return 0;
}

static int read_first(const char *path, int to, int from)
{
    char text[AB_STORE_TEXT_MAX] = "";
    char byte = 0;
    int visited = 0;
    pause_t pause = {.to = to, .from = from};
    ab_browser_t *browser = NULL;
    if (ab_browser_open(path, TOPIC, 0, &browser, text) != AB_STORE_OK ||
        write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1) {
        return 2; /* the writer comes now */
    }
    if (ab_browser_walk(browser, stand_still, &pause, &visited) != AB_STORE_OK || visited != 0) {
        return 3;
    }
    ab_browser_close(browser);
    return pause.items == 100 && pause.damaged == 0 ? 0 : 4;
}

static void fill(ab_store_t *store, int64_t offset, int64_t seq)
{
    static uint8_t value[4096];
    for (int64_t i = 0; i < 100; i++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%lld", (long long)i);
        apply(store, offset + i, key, ab_test_snapshot(key, seq, 3000, value, sizeof(value)));
    }
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
}

static void test_browser_opened_first_reads_on_and_makes_no_store_grow(void **state)
{
    char path[PATH_ROOM + 64];
    char byte = 0;
    int status = -1;
    int there[2], back[2];
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_store_t *store = borrow(stores, 0, OWNER);
    int64_t offset = 0;
    for (; offset < 1000; offset += 100) {
        fill(store, offset, 1 + offset / 100);
    }
    const uint64_t size_bytes = ab_store_facts(store).size_bytes;
    ab_stores_return(stores, store);
    ab_stores_free(stores);
    assert_true(ab_stores_path(folder->path, TOPIC, 0, path, sizeof(path)));
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(there[0]);
        close(back[1]);
        _exit(read_first(path, there[1], back[0]));
    }
    close(there[1]);
    close(back[0]);
    assert_int_equal(read(there[0], &byte, 1), 1);
    stores = make(folder);
    store = borrow(stores, 0, OWNER);
    assert_int_equal(write(back[1], &byte, 1), 1);
    assert_int_equal(read(there[0], &byte, 1), 1);
    for (unsigned i = 0; i < 30; i++, offset += 100) { /* while the reader stands still */
        fill(store, offset, 20 + (int64_t)i);
    }
    assert_in_range(ab_store_facts(store).size_bytes, 1, size_bytes);
    assert_int_equal(write(back[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(there[0]);
    close(back[1]);
    ab_stores_return(stores, store);
    ab_stores_free(stores);
}

static void test_browser_says_what_is_in_its_way(void **state)
{
    char text[AB_STORE_TEXT_MAX] = "";
    char path[PATH_ROOM + 64];
    ab_browser_t *browser = NULL;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_stores_return(stores, borrow(stores, 0, 1));
    ab_stores_free(stores);
    snprintf(path, sizeof(path), "%s/" TOPIC "/0", folder->path);
    assert_int_equal(ab_browser_open(path, TOPIC, 1, &browser, text), AB_STORE_DAMAGED);
    assert_string_equal(text, "it is of another version, topic or partition");
    snprintf(path, sizeof(path), "%s/" TOPIC "/0/data.mdb", folder->path);
    assert_int_equal(truncate(path, 8192), 0);
    snprintf(path, sizeof(path), "%s/" TOPIC "/0", folder->path);
    assert_int_equal(ab_browser_open(path, TOPIC, 0, &browser, text), AB_STORE_DAMAGED);
    assert_string_equal(text, "its file ends before what it holds");
    snprintf(path, sizeof(path), "%s/" TOPIC "/0/data.mdb", folder->path);
    assert_int_equal(truncate(path, 0), 0);
    snprintf(path, sizeof(path), "%s/" TOPIC "/0", folder->path);
    assert_int_equal(ab_browser_open(path, TOPIC, 0, &browser, text), AB_STORE_NONE);
    stores = make(folder);
    ab_stores_return(stores, borrow(stores, 0, 1));
    ab_stores_free(stores);
    if (geteuid() != 0) { /* whom no rights stop */
        char lock[PATH_ROOM + 80];
        snprintf(lock, sizeof(lock), "%s/lock.mdb", path);
        assert_int_equal(chmod(lock, 0440), 0);
        assert_int_equal(ab_browser_open(path, TOPIC, 0, &browser, text), AB_STORE_ERROR);
        assert_non_null(strstr(text, "permission denied: its files must be readable"));
    }
}

/* LMDB maps the lock file: on a full disk, to write where it has no block ends the process. And
 * what root's reader makes must not keep the bridge out. */
static void test_browser_lock_file_has_its_blocks_and_the_stores_owner(void **state)
{
    char path[PATH_ROOM + 64];
    char lock[PATH_ROOM + 80];
    char text[AB_STORE_TEXT_MAX];
    struct stat about;
    ab_browser_t *browser = NULL;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_stores_return(stores, borrow(stores, 0, 1));
    ab_stores_free(stores);
    snprintf(path, sizeof(path), "%s/" TOPIC "/0", folder->path);
    snprintf(lock, sizeof(lock), "%s/lock.mdb", path);
    assert_int_equal(stat(lock, &about), 0);
    assert_true((uint64_t)about.st_blocks * 512 >= (uint64_t)about.st_size);
    assert_int_equal(unlink(lock), 0);
    const uid_t owner = geteuid() == 0 ? 12345 : geteuid();
    snprintf(lock, sizeof(lock), "%s/data.mdb", path);
    assert_int_equal(chown(lock, owner, (gid_t)-1), 0);
    assert_int_equal(ab_browser_open(path, TOPIC, 0, &browser, text), AB_STORE_OK);
    ab_browser_close(browser);
    snprintf(lock, sizeof(lock), "%s/lock.mdb", path);
    assert_int_equal(stat(lock, &about), 0);
    assert_int_equal(about.st_uid, owner);
    assert_true((uint64_t)about.st_blocks * 512 >= (uint64_t)about.st_size);
}

static void test_browser_shows_states_marks_and_position(void **state)
{
    uint8_t value[64];
    char path[PATH_ROOM + 64];
    char text[AB_STORE_TEXT_MAX];
    tally_t tally = {0};
    ab_browser_t *browser = NULL;
    ab_store_facts_t facts;
    int64_t next, current_ms;
    const ab_test_folder_t *folder = *state;
    ab_stores_t *stores = make(folder);
    ab_store_t *store = borrow(stores, 7, OWNER);
    apply(store, 0, "a", ab_test_snapshot("a", 1, 0, value, sizeof(value)));
    apply(store, 1, "a", aw_span_view("\x12", 1));
    apply(store, 2, "b", aw_span_view("\x12", 1));
    assert_int_equal(ab_store_commit(store, OWNER, 99), AB_STORE_OK);
    ab_stores_return(stores, store);
    ab_stores_free(stores);
    assert_true(ab_stores_path(folder->path, TOPIC, 7, path, sizeof(path)));
    assert_int_equal(ab_browser_open(path, TOPIC, 7, &browser, text), AB_STORE_OK);
    assert_int_equal(ab_browser_walk(browser, count_item, &tally, NULL), AB_STORE_OK);
    assert_int_equal(tally.items, 2);
    assert_int_equal(tally.marked, 2);
    assert_int_equal(tally.without_state, 1);
    assert_string_equal(tally.last, "b");
    assert_int_equal(ab_browser_find(browser, aw_span_text_view("a"), count_item, &tally),
                     AB_STORE_OK);
    assert_string_equal(tally.last, "a");
    assert_int_equal(ab_browser_find(browser, aw_span_text_view("c"), count_item, &tally),
                     AB_STORE_NONE);
    assert_int_equal(ab_browser_facts(browser, &facts, &next, &current_ms), AB_STORE_OK);
    assert_int_equal(facts.keys, 1);
    assert_int_equal(facts.marked, 2);
    assert_int_equal(next, 3);
    assert_int_equal(current_ms, 99);
    ab_browser_close(browser);
    assert_int_equal(ab_browser_open(path, TOPIC, 8, &browser, text), AB_STORE_DAMAGED);
    assert_int_equal(ab_browser_open(folder->path, TOPIC, 8, &browser, text), AB_STORE_NONE);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_stores_one_owner_at_a_time),
        CASE(test_stores_folder_belongs_to_one_process),
        CASE(test_stores_folder_that_cannot_be_made_says_so),
        CASE(test_stores_folder_replaced_underneath_lends_nothing),
        CASE(test_stores_walk_is_in_order),
        CASE(test_stores_walk_names_a_topic_it_cannot_read),
        CASE(test_stores_discarded_store_is_gone_and_lent_anew),
        CASE(test_browser_reads_beside_a_writer),
        CASE(test_browser_opened_first_reads_on_and_makes_no_store_grow),
        CASE(test_browser_says_what_is_in_its_way),
        CASE(test_browser_lock_file_has_its_blocks_and_the_stores_owner),
        CASE(test_browser_shows_states_marks_and_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
