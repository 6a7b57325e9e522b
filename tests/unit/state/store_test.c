/* The store alone: what a record does to it, what survives, and what is thrown away. */
#include "tests/unit/state/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static ab_state_verdict_t apply(ab_store_t *store, int64_t offset, const char *key, aw_span_t value)
{
    ab_state_verdict_t verdict = AB_STATE_VERDICT_COUNT;
    const ab_record_t record = ab_test_record(offset, aw_span_text_view(key), value);
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    return verdict;
}

static void commit(ab_store_t *store)
{
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
}

static ab_state_entry_t get(ab_store_t *store, const char *key)
{
    ab_state_entry_t entry;
    assert_int_equal(ab_store_get(store, aw_span_text_view(key), &entry), AB_STORE_OK);
    return entry;
}

static void expect_none(ab_store_t *store, const char *key)
{
    ab_state_entry_t entry = {.offset = 77};
    assert_int_equal(ab_store_get(store, aw_span_text_view(key), &entry), AB_STORE_NONE);
    assert_int_equal(entry.offset, 77);
}

static void test_store_record_replaces_the_state_whole(void **state)
{
    uint8_t one[64], two[64];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    assert_int_equal(found, AB_STORE_FOUND_NOTHING);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    const aw_span_t first = ab_test_snapshot("a", 1, 9, one, sizeof(one));
    const aw_span_t second = ab_test_snapshot("a", 2, 0, two, sizeof(two));
    assert_int_equal(apply(store, 4, "a", first), AB_STATE_TAKEN);
    assert_true(aw_span_equal(get(store, "a").value, first)); /* before the commit, too */
    commit(store);
    assert_int_equal(apply(store, 9, "a", second), AB_STATE_TAKEN);
    const ab_state_entry_t entry = get(store, "a");
    assert_true(aw_span_equal(entry.value, second));
    assert_int_equal(entry.offset, 9);
    assert_int_equal(entry.mark, AB_STATE_TAKEN);
    assert_int_equal(ab_store_next(store), 10);
    ab_store_close(store);
}

static void test_store_closed_without_commit_is_at_the_last_one(void **state)
{
    uint8_t bytes[64];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    (void)apply(store, 0, "a", ab_test_snapshot("a", 1, 0, bytes, sizeof(bytes)));
    commit(store);
    (void)apply(store, 1, "b", ab_test_snapshot("b", 1, 0, bytes, sizeof(bytes)));
    ab_store_close(store);
    store = ab_test_open(*state, &found);
    assert_int_equal(found, AB_STORE_FOUND_WHOLE);
    assert_int_equal(ab_store_next(store), 1);
    (void)get(store, "a");
    expect_none(store, "b");
    ab_store_close(store);
}

static void test_store_tombstone_forgets_the_key_and_its_mark(void **state)
{
    uint8_t bytes[64];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    (void)apply(store, 0, "a", ab_test_snapshot("a", 1, 0, bytes, sizeof(bytes)));
    (void)apply(store, 1, "a", aw_span_view("\x12", 1));
    assert_int_equal(get(store, "a").mark, AB_STATE_UNDECODABLE);
    assert_int_equal(apply(store, 2, "a", AW_SPAN_NULL), AB_STATE_TAKEN);
    expect_none(store, "a");
    assert_int_equal(apply(store, 3, "never", AW_SPAN_NULL), AB_STATE_TAKEN);
    commit(store);
    const ab_store_facts_t facts = ab_store_facts(store);
    assert_int_equal(facts.keys, 0);
    assert_int_equal(facts.marked, 0);
    ab_store_close(store);
}

static void test_store_refused_record_keeps_the_state_and_marks_the_key(void **state)
{
    uint8_t good[64], other[64];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    const aw_span_t value = ab_test_snapshot("a", 1, 0, good, sizeof(good));
    const aw_span_t foreign = ab_test_snapshot("b", 1, 0, other, sizeof(other));
    (void)apply(store, 0, "a", value);
    assert_int_equal(apply(store, 1, "a", foreign), AB_STATE_KEY_MISMATCH);
    ab_state_entry_t entry = get(store, "a");
    assert_true(aw_span_equal(entry.value, value));
    assert_int_equal(entry.offset, 0);
    assert_int_equal(entry.mark, AB_STATE_KEY_MISMATCH);
    assert_int_equal(entry.mark_offset, 1);
    expect_none(store, "b");
    assert_int_equal(apply(store, 2, "c", aw_span_view("\x00", 1)), AB_STATE_UNDECODABLE);
    entry = get(store, "c"); /* marked, and no state was ever seen */
    assert_null(entry.value.data);
    assert_int_equal(entry.mark_offset, 2);
    assert_int_equal(apply(store, 3, "a", value), AB_STATE_TAKEN);
    assert_int_equal(get(store, "a").mark, AB_STATE_TAKEN);
    assert_int_equal(ab_store_facts(store).marked, 1);
    ab_store_close(store);
}

static void test_store_record_without_key_is_refused(void **state)
{
    uint8_t bytes[64];
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    ab_record_t record =
        ab_test_record(0, AW_SPAN_NULL, ab_test_snapshot("a", 1, 0, bytes, sizeof(bytes)));
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    assert_int_equal(verdict, AB_STATE_MISSING_KEY);
    record = ab_test_record(1, aw_span_text_view(""), AW_SPAN_NULL);
    assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    assert_int_equal(verdict, AB_STATE_MISSING_KEY);
    expect_none(store, "a");
    assert_int_equal(get(store, "").mark_offset, 1);
    ab_store_close(store);
}

static void test_store_state_too_large_is_refused(void **state)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    uint8_t *huge = calloc(1, AB_STATE_VALUE_MAX + 1);
    assert_non_null(huge);
    assert_int_equal(apply(store, 0, "a", (aw_span_t){huge, AB_STATE_VALUE_MAX + 1}),
                     AB_STATE_OVERSIZED);
    assert_int_equal(apply(store, 1, "a", (aw_span_t){huge, AB_STATE_VALUE_MAX}),
                     AB_STATE_UNDECODABLE);
    free(huge);
    ab_store_close(store);
}

static void test_store_record_seen_before_has_no_effect(void **state)
{
    uint8_t bytes[64];
    ab_store_found_t found;
    ab_state_verdict_t verdict = AB_STATE_VERDICT_COUNT;
    ab_store_t *store = ab_test_open(*state, &found);
    const aw_span_t value = ab_test_snapshot("a", 1, 0, bytes, sizeof(bytes));
    (void)apply(store, 5, "a", value);
    const ab_record_t again = ab_test_record(5, aw_span_text_view("a"), AW_SPAN_NULL);
    assert_int_equal(ab_store_apply(store, &again, &verdict), AB_STORE_PASSED);
    assert_int_equal(verdict, AB_STATE_VERDICT_COUNT);
    assert_true(aw_span_equal(get(store, "a").value, value));
    ab_store_close(store);
}

static void test_store_advance_is_kept_and_never_goes_back(void **state)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    ab_store_advance(store, 40);
    ab_store_advance(store, 30);
    assert_int_equal(ab_store_commit(store, OWNER, 1234), AB_STORE_OK);
    ab_store_close(store);
    store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_next(store), 40);
    assert_int_equal(ab_store_current_ms(store), 1234);
    ab_store_close(store);
}

static void test_store_of_another_owner_is_not_written(void **state)
{
    uint8_t bytes[64];
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(*state, &found);
    (void)apply(store, 0, "a", ab_test_snapshot("a", 1, 0, bytes, sizeof(bytes)));
    ab_store_set_owner(store, OWNER + 1);
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_FOREIGN);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    expect_none(store, "a");
    ab_store_close(store);
}

static void test_store_long_keys_are_kept_apart(void **state)
{
    enum { LONG = 2000, EDGE = 510 };
    static char a[LONG + 1], b[LONG + 1];
    static uint8_t value[LONG + 64];
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    static const size_t sizes[] = {EDGE - 1, EDGE, EDGE + 1, LONG};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(a, 'x', sizes[i]);
        memset(b, 'x', sizes[i]);
        b[sizes[i] - 1] = 'y';
        const uint8_t head[] = {0x12, (uint8_t)(sizes[i] | 0x80), (uint8_t)(sizes[i] >> 7)};
        memcpy(value, head, sizeof(head));
        memcpy(value + sizeof(head), a, sizes[i]);
        const ab_record_t record = ab_test_record((int64_t)i, aw_span_view(a, sizes[i]),
                                                  aw_span_view(value, sizeof(head) + sizes[i]));
        ab_state_entry_t entry;
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
        assert_int_equal(verdict, AB_STATE_TAKEN);
        assert_int_equal(ab_store_get(store, record.key, &entry), AB_STORE_OK);
        assert_true(aw_span_equal(entry.value, record.value));
        assert_int_equal(ab_store_get(store, aw_span_view(b, sizes[i]), &entry), AB_STORE_NONE);
    }
    ab_store_close(store);
}

/* The map begins with room for little, and a batch outgrows it. */
static void test_store_map_too_small_grows_and_asks_again(void **state)
{
    enum { RECORDS = 3000 };
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    ab_store_set_room(store, 1);
    const uint64_t before = ab_store_facts(store).map_bytes;
    unsigned again = 0;
    static uint8_t value[70000];
    for (int64_t offset = 0; offset < RECORDS; offset++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%lld", (long long)offset);
        const ab_record_t record = ab_test_record(
            offset, aw_span_text_view(key), ab_test_snapshot(key, 1, 60000, value, sizeof(value)));
        const ab_store_result_t result = ab_store_apply(store, &record, &verdict);
        if (result == AB_STORE_AGAIN) {
            again++;
            assert_int_equal(ab_store_next(store), AB_STORE_UNREAD); /* all in one batch */
            offset = -1;
            continue;
        }
        assert_int_equal(result, AB_STORE_OK);
    }
    commit(store);
    assert_true(again > 0);
    assert_true(ab_store_facts(store).map_bytes > before);
    assert_int_equal(ab_store_facts(store).keys, RECORDS);
    ab_store_close(store);
    store = ab_test_open(*state, &found);
    assert_int_equal(found, AB_STORE_FOUND_WHOLE);
    assert_int_equal(ab_store_facts(store).keys, RECORDS);
    ab_store_close(store);
}

/* ---- what makes a store be begun anew ---- */

static void fill(const ab_test_folder_t *folder, int64_t count)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(folder, &found);
    for (int64_t offset = 0; offset < count; offset++) {
        const ab_record_t record = ab_test_history(offset);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    }
    commit(store);
    ab_store_close(store);
}

static int open_data(const ab_test_folder_t *folder)
{
    char path[PATH_ROOM + 16];
    snprintf(path, sizeof(path), "%s/data.mdb", folder->path);
    const int file = open(path, O_RDWR);
    assert_true(file >= 0);
    return file;
}

static void expect_begun_anew(const ab_test_folder_t *folder, ab_store_found_t wanted)
{
    ab_store_found_t found;
    ab_store_t *store = ab_test_open(folder, &found);
    assert_int_equal(found, wanted);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    assert_int_equal(ab_store_facts(store).keys, 0);
    ab_store_close(store);
    fill(folder, 300);
    ab_test_expect_rebuilt_same(folder, 300);
}

static void test_store_cut_short_is_begun_anew(void **state)
{
    fill(*state, 300);
    for (off_t size = 1; size < 200000; size = size * 3 + 4096) {
        const int file = open_data(*state);
        assert_int_equal(ftruncate(file, size), 0);
        close(file);
        expect_begun_anew(*state, AB_STORE_FOUND_DAMAGED);
    }
}

static void test_store_with_garbage_at_its_head_is_begun_anew(void **state)
{
    static uint8_t garbage[8192];
    fill(*state, 300);
    memset(garbage, 0x5a, sizeof(garbage));
    const int file = open_data(*state);
    assert_int_equal(pwrite(file, garbage, sizeof(garbage), 0), sizeof(garbage));
    close(file);
    expect_begun_anew(*state, AB_STORE_FOUND_DAMAGED);
}

static void test_store_of_another_partition_is_begun_anew(void **state)
{
    char text[AB_STORE_TEXT_MAX];
    ab_store_found_t found;
    ab_store_t *store;
    fill(*state, 300);
    assert_int_equal(
        ab_store_open(((ab_test_folder_t *)*state)->path, TOPIC, 4, &store, &found, text),
        AB_STORE_OK);
    assert_int_equal(found, AB_STORE_FOUND_OTHER);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    ab_store_close(store);
    expect_begun_anew(*state, AB_STORE_FOUND_OTHER);
}

static void test_store_value_changed_on_disk_is_seen(void **state)
{
    static uint8_t value[70000];
    ab_store_found_t found;
    ab_state_entry_t entry;
    ab_store_t *store = ab_test_open(*state, &found);
    (void)apply(store, 0, "a", ab_test_snapshot("a", 1, 60000, value, sizeof(value)));
    commit(store);
    ab_store_close(store);
    const int file = open_data(*state);
    struct stat about;
    assert_int_equal(fstat(file, &about), 0);
    uint8_t *bytes = malloc((size_t)about.st_size);
    assert_int_equal(pread(file, bytes, (size_t)about.st_size, 0), about.st_size);
    uint8_t *inside = memmem(bytes, (size_t)about.st_size, value + 20000, 100);
    assert_non_null(inside);
    assert_int_equal(pwrite(file, "!", 1, inside - bytes), 1);
    free(bytes);
    close(file);
    store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_get(store, aw_span_text_view("a"), &entry), AB_STORE_DAMAGED);
    ab_store_close(store);
}

static void test_store_reset_reads_the_topic_anew(void **state)
{
    ab_store_found_t found;
    fill(*state, 300);
    ab_store_t *store = ab_test_open(*state, &found);
    assert_int_equal(ab_store_reset(store), AB_STORE_OK);
    assert_int_equal(ab_store_next(store), AB_STORE_UNREAD);
    assert_int_equal(ab_store_facts(store).keys, 0);
    ab_store_close(store);
    fill(*state, 300);
    ab_test_expect_rebuilt_same(*state, 300);
}

static void test_store_any_batches_give_the_same_store(void **state)
{
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    ab_store_t *store = ab_test_open(*state, &found);
    for (int64_t offset = 0; offset < 500; offset++) {
        const ab_record_t record = ab_test_history(offset);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
        if (offset % 7 == 0) {
            commit(store);
        }
        if (offset % 50 == 0) {
            commit(store);
            ab_store_close(store);
            store = ab_test_open(*state, &found);
        }
    }
    commit(store);
    ab_store_close(store);
    ab_test_expect_rebuilt_same(*state, 500);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_store_record_replaces_the_state_whole),
        CASE(test_store_closed_without_commit_is_at_the_last_one),
        CASE(test_store_tombstone_forgets_the_key_and_its_mark),
        CASE(test_store_refused_record_keeps_the_state_and_marks_the_key),
        CASE(test_store_record_without_key_is_refused),
        CASE(test_store_state_too_large_is_refused),
        CASE(test_store_record_seen_before_has_no_effect),
        CASE(test_store_advance_is_kept_and_never_goes_back),
        CASE(test_store_of_another_owner_is_not_written),
        CASE(test_store_long_keys_are_kept_apart),
        CASE(test_store_map_too_small_grows_and_asks_again),
        CASE(test_store_cut_short_is_begun_anew),
        CASE(test_store_with_garbage_at_its_head_is_begun_anew),
        CASE(test_store_of_another_partition_is_begun_anew),
        CASE(test_store_value_changed_on_disk_is_seen),
        CASE(test_store_reset_reads_the_topic_anew),
        CASE(test_store_any_batches_give_the_same_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
