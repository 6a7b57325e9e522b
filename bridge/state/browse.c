#include "bridge/state/browse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agentwire/snapshot.h"
#include "bridge/state/format.h"

/* Entries that one transaction reads. */
#define ENTRIES_PER_READ 256u
#define PATH_ROOM        4096

struct ab_browser {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi about, state, marks;
};

static ab_store_result_t result_of(int error)
{
    switch (error) {
    case MDB_SUCCESS:
        return AB_STORE_OK;
    case MDB_NOTFOUND:
    case ENOENT:
        return AB_STORE_NONE;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
        return AB_STORE_DAMAGED;
    default:
        return AB_STORE_ERROR;
    }
}

/* Begins or renews the transaction. The bridge may have made the map larger meanwhile. */
static int begin(ab_browser_t *browser)
{
    int error = browser->txn == NULL ? mdb_txn_begin(browser->env, NULL, MDB_RDONLY, &browser->txn)
                                     : mdb_txn_renew(browser->txn);
    if (error == MDB_MAP_RESIZED) {
        error = mdb_env_set_mapsize(browser->env, 0);
        if (error == MDB_SUCCESS) {
            error = browser->txn == NULL
                        ? mdb_txn_begin(browser->env, NULL, MDB_RDONLY, &browser->txn)
                        : mdb_txn_renew(browser->txn);
        }
    }
    return error;
}

static void end(ab_browser_t *browser)
{
    mdb_txn_reset(browser->txn);
}

static int get_about(ab_browser_t *browser, const char *name, aw_span_t *ret_value)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    const int error = mdb_get(browser->txn, browser->about, &key, &value);
    if (error == MDB_SUCCESS) {
        *ret_value = (aw_span_t){value.mv_data, value.mv_size};
    }
    return error;
}

static int open_dbs(ab_browser_t *browser)
{
    int error = mdb_dbi_open(browser->txn, AB_STORE_DB_ABOUT, 0, &browser->about);
    if (error == MDB_SUCCESS) {
        error = mdb_dbi_open(browser->txn, AB_STORE_DB_STATE, 0, &browser->state);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_dbi_open(browser->txn, AB_STORE_DB_MARKS, 0, &browser->marks);
    }
    return error == MDB_NOTFOUND ? MDB_INVALID : error;
}

static int open_env(ab_browser_t *browser, const char *folder, bool beside)
{
    struct stat about;
    char path[PATH_ROOM];
    if (snprintf(path, sizeof(path), "%s/" AB_STORE_FILE, folder) >= (int)sizeof(path)) {
        return ENAMETOOLONG;
    }
    if (stat(path, &about) != 0) {
        return errno;
    }
    int error = mdb_env_create(&browser->env);
    if (error == MDB_SUCCESS) {
        error = mdb_env_set_maxdbs(browser->env, AB_STORE_DBS);
    }
    /* The lock file is written by readers too: left alone where nobody else is. */
    const unsigned flags = MDB_RDONLY | MDB_NORDAHEAD | MDB_NOTLS | (beside ? 0 : MDB_NOLOCK);
    return error == MDB_SUCCESS ? mdb_env_open(browser->env, folder, flags, 0640) : error;
}

/* A file that was cut short would end the process with a bus error. */
static bool is_cut(ab_browser_t *browser)
{
    struct stat about;
    MDB_envinfo info;
    MDB_stat stat;
    int file;
    return mdb_env_info(browser->env, &info) != MDB_SUCCESS ||
           mdb_env_stat(browser->env, &stat) != MDB_SUCCESS ||
           mdb_env_get_fd(browser->env, &file) != MDB_SUCCESS || fstat(file, &about) != 0 ||
           (uint64_t)about.st_size < (info.me_last_pgno + 1) * (uint64_t)stat.ms_psize;
}

ab_store_result_t ab_browser_open(const char *folder, const char *topic, int32_t partition,
                                  bool beside, ab_browser_t **ret_browser,
                                  char ret_text[AB_STORE_TEXT_MAX])
{
    aw_span_t stamp;
    ab_browser_t *browser = calloc(1, sizeof(*browser));
    if (browser == NULL) {
        snprintf(ret_text, AB_STORE_TEXT_MAX, "memory");
        return AB_STORE_ERROR;
    }
    int error = open_env(browser, folder, beside);
    if (error == MDB_SUCCESS && is_cut(browser)) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS) {
        error = begin(browser);
    }
    if (error == MDB_SUCCESS) {
        error = open_dbs(browser);
    }
    if (error == MDB_SUCCESS) {
        error = get_about(browser, AB_STORE_STAMP, &stamp);
    }
    if (error == MDB_SUCCESS && !ab_store_stamp_is(stamp, topic, partition)) {
        error = MDB_VERSION_MISMATCH;
    }
    if (error == MDB_SUCCESS) {
        /* Handles outlive a transaction that is committed, and no other. */
        error = mdb_txn_commit(browser->txn);
        browser->txn = NULL;
    }
    if (error == MDB_SUCCESS) {
        *ret_browser = browser;
        return AB_STORE_OK;
    }
    snprintf(ret_text, AB_STORE_TEXT_MAX, "%s",
             error == MDB_VERSION_MISMATCH ? "it is of another version, topic or partition"
                                           : mdb_strerror(error));
    ab_browser_close(browser);
    return result_of(error);
}

void ab_browser_close(ab_browser_t *browser)
{
    if (browser == NULL) {
        return;
    }
    if (browser->txn != NULL) {
        mdb_txn_abort(browser->txn);
    }
    if (browser->env != NULL) {
        mdb_env_close(browser->env);
    }
    free(browser);
}

/* The mark of a key, where there is one. */
static int read_mark(ab_browser_t *browser, MDB_val *key, ab_browse_item_t *item)
{
    MDB_val found;
    ab_store_head_t head;
    aw_span_t marked;
    const int error = mdb_get(browser->txn, browser->marks, key, &found);
    if (error != MDB_SUCCESS) {
        return error == MDB_NOTFOUND ? MDB_SUCCESS : error;
    }
    if (ab_store_mark_read((aw_span_t){found.mv_data, found.mv_size}, &head, &marked)) {
        item->entry.mark = (ab_state_verdict_t)head.check;
        item->entry.mark_offset = head.offset;
    } else {
        item->whole = false;
    }
    return MDB_SUCCESS;
}

static int visit_state(ab_browser_t *browser, MDB_val *key, const MDB_val *value,
                       ab_browse_fn *visit, void *opaque, int *ret_visited)
{
    ab_store_key_t name = {.size = key->mv_size};
    ab_store_head_t head = {-1, 0, 0};
    aw_snapshot_view_t view;
    ab_browse_item_t item = {.entry = {AW_SPAN_NULL, -1, AB_STATE_TAKEN, -1}};
    if (key->mv_size == 0 || key->mv_size > sizeof(name.bytes)) {
        return MDB_CORRUPTED;
    }
    memcpy(name.bytes, key->mv_data, key->mv_size);
    item.whole = ab_store_state_read(&name, (aw_span_t){value->mv_data, value->mv_size}, &head,
                                     &item.entry.value);
    item.entry.offset = head.offset;
    item.key = (aw_span_t){name.bytes + 1, name.size - 1};
    if (name.bytes[0] == 'h' && item.whole) {
        item.whole = aw_snapshot_scan(item.entry.value, &view, NULL) == AW_OK;
        item.key = item.whole ? view.entity_key : item.key;
    }
    item.key_size = item.key.size;
    const int error = read_mark(browser, key, &item);
    if (error == MDB_SUCCESS) {
        *ret_visited = visit(opaque, &item);
    }
    return error;
}

/* Marks of keys with a state were told of with it. */
static int visit_mark(ab_browser_t *browser, MDB_val *key, const MDB_val *value,
                      ab_browse_fn *visit, void *opaque, int *ret_visited)
{
    MDB_val state;
    ab_store_head_t head = {-1, AB_STATE_TAKEN, 0};
    ab_browse_item_t item = {.entry = {AW_SPAN_NULL, -1, AB_STATE_TAKEN, -1}};
    const int error = mdb_get(browser->txn, browser->state, key, &state);
    if (error != MDB_NOTFOUND) {
        return error;
    }
    item.whole = ab_store_mark_read((aw_span_t){value->mv_data, value->mv_size}, &head, &item.key);
    item.key_size = head.size;
    item.entry.mark = item.whole ? (ab_state_verdict_t)head.check : AB_STATE_TAKEN;
    item.entry.mark_offset = head.offset;
    *ret_visited = visit(opaque, &item);
    return MDB_SUCCESS;
}

typedef int visit_one_fn(ab_browser_t *browser, MDB_val *key, const MDB_val *value,
                         ab_browse_fn *visit, void *opaque, int *ret_visited);

/* One transaction's share of a walk, from behind *at on; a size of 0 is the beginning. Afterwards
 * *at is the last key seen. MDB_NOTFOUND at the end. */
static int walk_some(ab_browser_t *browser, MDB_dbi dbi, ab_store_key_t *at, visit_one_fn *one,
                     ab_browse_fn *visit, void *opaque, int *ret_visited)
{
    MDB_cursor *cursor;
    int error = mdb_cursor_open(browser->txn, dbi, &cursor);
    if (error != MDB_SUCCESS) {
        return error;
    }
    MDB_val key = {at->size, at->bytes};
    MDB_val value;
    error = mdb_cursor_get(cursor, &key, &value, at->size > 0 ? MDB_SET_RANGE : MDB_FIRST);
    if (error == MDB_SUCCESS && at->size == key.mv_size &&
        memcmp(at->bytes, key.mv_data, key.mv_size) == 0) {
        error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    for (unsigned i = 0; error == MDB_SUCCESS && i < ENTRIES_PER_READ && *ret_visited == 0; i++) {
        if (key.mv_size > sizeof(at->bytes)) {
            error = MDB_CORRUPTED;
            break;
        }
        memcpy(at->bytes, key.mv_data, key.mv_size);
        at->size = key.mv_size;
        error = one(browser, &key, &value, visit, opaque, ret_visited);
        if (error == MDB_SUCCESS) {
            error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    return error;
}

static int walk_db(ab_browser_t *browser, MDB_dbi dbi, visit_one_fn *one, ab_browse_fn *visit,
                   void *opaque, int *ret_visited)
{
    ab_store_key_t at = {.size = 0};
    int error = MDB_SUCCESS;
    while (error == MDB_SUCCESS && *ret_visited == 0) {
        error = begin(browser);
        if (error == MDB_SUCCESS) {
            error = walk_some(browser, dbi, &at, one, visit, opaque, ret_visited);
            end(browser);
        }
    }
    return error == MDB_NOTFOUND ? MDB_SUCCESS : error;
}

ab_store_result_t ab_browser_walk(ab_browser_t *browser, ab_browse_fn *visit, void *opaque,
                                  int *ret_visited)
{
    int visited = 0;
    int error = walk_db(browser, browser->state, visit_state, visit, opaque, &visited);
    if (error == MDB_SUCCESS && visited == 0) {
        error = walk_db(browser, browser->marks, visit_mark, visit, opaque, &visited);
    }
    if (ret_visited != NULL) {
        *ret_visited = visited;
    }
    return result_of(error);
}

ab_store_result_t ab_browser_find(ab_browser_t *browser, aw_span_t key, ab_browse_fn *visit,
                                  void *opaque)
{
    ab_store_key_t name;
    int visited = 0;
    int error = ab_store_key_of(key, &name) == 0 ? begin(browser) : ENOMEM;
    if (error != MDB_SUCCESS) {
        return result_of(error);
    }
    MDB_val wanted = {name.size, name.bytes};
    MDB_val value;
    error = mdb_get(browser->txn, browser->state, &wanted, &value);
    if (error == MDB_SUCCESS) {
        error = visit_state(browser, &wanted, &value, visit, opaque, &visited);
    } else if (error == MDB_NOTFOUND) {
        error = mdb_get(browser->txn, browser->marks, &wanted, &value);
        if (error == MDB_SUCCESS) {
            error = visit_mark(browser, &wanted, &value, visit, opaque, &visited);
        }
    }
    end(browser);
    return result_of(error);
}

ab_store_result_t ab_browser_facts(ab_browser_t *browser, ab_store_facts_t *ret_facts,
                                   int64_t *ret_next, int64_t *ret_current_ms)
{
    MDB_envinfo info;
    MDB_stat about, state, marks;
    aw_span_t position = AW_SPAN_NULL;
    int error = begin(browser);
    if (error != MDB_SUCCESS) {
        return result_of(error);
    }
    error = get_about(browser, AB_STORE_POSITION, &position);
    error = error != MDB_SUCCESS ? error : mdb_env_info(browser->env, &info);
    error = error != MDB_SUCCESS ? error : mdb_env_stat(browser->env, &about);
    error = error != MDB_SUCCESS ? error : mdb_stat(browser->txn, browser->state, &state);
    error = error != MDB_SUCCESS ? error : mdb_stat(browser->txn, browser->marks, &marks);
    if (error == MDB_SUCCESS && position.size != 16) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS) {
        *ret_facts =
            (ab_store_facts_t){state.ms_entries, marks.ms_entries,
                               (info.me_last_pgno + 1) * (uint64_t)about.ms_psize, info.me_mapsize};
        *ret_next = ab_store_get64(position.data);
        *ret_current_ms = ab_store_get64(position.data + 8);
    }
    end(browser);
    return result_of(error);
}
