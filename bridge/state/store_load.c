#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "bridge/state/store_handle.h"

/* What one step writes at most, and how many entries it looks at, between two keys: of a hot key
 * there may be two in every run. */
#define STEP_KEYS    4096u
#define STEP_BYTES   ((size_t)4 * 1024 * 1024)
#define STEP_ENTRIES ((uint64_t)16 * 1024)
/* Pages that are half empty, and those above them, for every byte that is written. */
#define STEP_OVERHEAD 4u

static ab_store_result_t fail(ab_store_t *store, int error)
{
    const size_t largest = store->load != NULL ? ab_load_facts(store->load).largest_bytes : 0;
    const ab_store_result_t result = ab_store_fail(store, error, STEP_BYTES + largest);
    char text[AB_STORE_TEXT_MAX];
    if (snprintf(text, sizeof(text), "it could not be loaded: %s", store->text) > 0) {
        (void)snprintf(store->text, sizeof(store->text), "%s", text);
    }
    return result;
}

ab_store_result_t ab_store_load_begin(ab_store_t *store, size_t memory_bytes)
{
    const char *folder;
    assert(store->next == AB_STORE_UNREAD && store->load == NULL && store->write == NULL);
    const size_t arena = memory_bytes > 0 ? memory_bytes : AB_LOAD_ARENA;
    if (mdb_env_get_path(store->env, &folder) == MDB_SUCCESS) {
        store->load = ab_load_new(folder, arena < AB_LOAD_ARENA_MIN ? AB_LOAD_ARENA_MIN : arena);
    }
    return store->load != NULL ? AB_STORE_OK : fail(store, ENOMEM);
}

bool ab_store_is_loading(const ab_store_t *store)
{
    return store->load != NULL;
}

ab_store_result_t ab_store_collect(ab_store_t *store, const ab_load_entry_t *entry)
{
    if (ab_load_is_sorted(store->load)) {
        return fail(store, EBUSY);
    }
    const int error = ab_load_add(store->load, entry);
    return error == 0 ? AB_STORE_OK : fail(store, error);
}

static int append(ab_store_t *store, MDB_dbi dbi, const ab_load_entry_t *entry)
{
    MDB_val key = {entry->name.size, (void *)(uintptr_t)entry->name.data};
    return ab_store_put_headed(store, dbi, &key, &entry->head, entry->bytes, MDB_APPEND);
}

/* Writes keys until there are none or it is enough. An error of LMDB or the system. */
static int write_some(ab_store_t *store)
{
    const uint64_t begun = ab_load_facts(store->load).taken;
    size_t bytes = 0;
    int error = 0;
    for (unsigned keys = 0;
         error == 0 && keys < STEP_KEYS && bytes < STEP_BYTES && !ab_load_is_over(store->load) &&
         ab_load_facts(store->load).taken - begun < STEP_ENTRIES;
         keys++) {
        ab_load_key_t key;
        error = ab_load_next(store->load, &key);
        if (error == 0 && key.has_state) {
            bytes += key.state.name.size + key.state.bytes.size;
            error = append(store, store->dbs.state, &key.state);
        }
        if (error == 0 && key.has_mark) {
            bytes += key.mark.name.size + key.mark.bytes.size;
            error = append(store, store->dbs.marks, &key.mark);
        }
    }
    return error;
}

/* Commits what was written, with the position when it is the last. */
static int commit(ab_store_t *store, bool last, int64_t now_ms)
{
    if (last) {
        return ab_store_finish(store, now_ms);
    }
    store->half_loaded = true; /* before: a commit that fails may have been one */
    const int error = mdb_txn_commit(store->write);
    store->write = NULL;
    if (error == MDB_SUCCESS) {
        ab_store_fill_file(store);
    }
    return error;
}

ab_store_result_t ab_store_load_step(ab_store_t *store, unsigned owner, int64_t now_ms,
                                     bool *ret_done)
{
    assert(store->load != NULL);
    if (store->owner != owner) {
        ab_store_give_up(store);
        return AB_STORE_FOREIGN;
    }
    const size_t room = STEP_OVERHEAD * (STEP_BYTES + ab_load_facts(store->load).largest_bytes);
    int error = ab_store_begin(store, room);
    if (error == MDB_SUCCESS && !ab_load_is_sorted(store->load)) {
        error = ab_load_sort(store->load);
    }
    error = error != MDB_SUCCESS ? error : write_some(store);
    const bool last = error == MDB_SUCCESS && ab_load_is_over(store->load);
    error = error != MDB_SUCCESS ? error : commit(store, last, now_ms);
    if (error != MDB_SUCCESS) {
        return fail(store, error);
    }
    if (last) {
        ab_load_free(store->load);
        store->load = NULL;
    } else {
        ab_load_let_go(store->load);
    }
    *ret_done = last;
    return AB_STORE_OK;
}
