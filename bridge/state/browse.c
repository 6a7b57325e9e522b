#include "bridge/state/browse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agentwire/snapshot.h"
#include "bridge/state/format.h"
#include "bridge/state/judge.h"

#define PATH_ROOM 4096
/* How often a file that seems to be cut short is looked at, and how long in between. */
#define CUT_TRIES   10u
#define CUT_WAIT_NS (10 * 1000 * 1000)

struct ab_browser {
    MDB_env *env;
    MDB_txn *txn;
    ab_store_dbs_t dbs;
    uint8_t *copy; /* of the value that is shown: its transaction is over */
    size_t copy_room;
    char text[AB_STORE_TEXT_MAX];
};

static ab_store_result_t result_of(int error)
{
    return error == ENOENT ? AB_STORE_NONE : ab_store_result_of(error);
}

static ab_store_result_t end_with(ab_browser_t *browser, int error)
{
    snprintf(browser->text, sizeof(browser->text), "%s", mdb_strerror(error));
    return result_of(error);
}

const char *ab_browser_text_view(const ab_browser_t *browser)
{
    return browser->text;
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

static int open_env(ab_browser_t *browser, const char *folder)
{
    struct stat about;
    char path[PATH_ROOM];
    if (snprintf(path, sizeof(path), "%s/" AB_STORE_FILE, folder) >= (int)sizeof(path)) {
        return ENAMETOOLONG;
    }
    if (stat(path, &about) != 0) {
        return errno;
    }
    if (about.st_size == 0) {
        return ENOENT; /* somebody begins it now, or got no further */
    }
    int error = ab_store_lock_make(folder, &about);
    if (error == MDB_SUCCESS) {
        error = mdb_env_create(&browser->env);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_env_set_maxdbs(browser->env, AB_STORE_DBS);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_env_open(browser->env, folder, MDB_RDONLY | MDB_NORDAHEAD | MDB_NOTLS, 0640);
    }
    return error;
}

/* A writer beside us fills the file up only after its commit. */
static bool is_cut(ab_browser_t *browser)
{
    static const struct timespec wait = {0, CUT_WAIT_NS};
    bool cut = ab_store_is_cut(browser->env);
    for (unsigned i = 1; cut && i < CUT_TRIES; i++) {
        (void)nanosleep(&wait, NULL);
        cut = ab_store_is_cut(browser->env);
    }
    return cut;
}

/* Opens the databases, and sees whose they are. */
static int open_dbs(ab_browser_t *browser, const char *topic, int32_t partition)
{
    aw_span_t stamp;
    int error = ab_store_dbs_open(browser->txn, 0, &browser->dbs);
    if (error == MDB_SUCCESS) {
        error = ab_store_about_get(browser->txn, &browser->dbs, AB_STORE_STAMP, &stamp);
    }
    if (error == MDB_NOTFOUND) {
        return MDB_INVALID;
    }
    if (error == MDB_SUCCESS && !ab_store_stamp_is(stamp, topic, partition)) {
        error = MDB_VERSION_MISMATCH;
    }
    if (error == MDB_SUCCESS) {
        /* Handles outlive a transaction that is committed, and no other. */
        error = mdb_txn_commit(browser->txn);
        browser->txn = NULL;
    }
    return error;
}

static const char *text_of(int error)
{
    switch (error) {
    case MDB_VERSION_MISMATCH:
        return "it is of another version, topic or partition";
    case EACCES:
    case EPERM:
        return "permission denied: its files must be readable, and " AB_STORE_LOCK_FILE " writable";
    default:
        return mdb_strerror(error);
    }
}

ab_store_result_t ab_browser_open(const char *folder, const char *topic, int32_t partition,
                                  ab_browser_t **ret_browser, char ret_text[AB_STORE_TEXT_MAX])
{
    ab_browser_t *browser = calloc(1, sizeof(*browser));
    if (browser == NULL) {
        snprintf(ret_text, AB_STORE_TEXT_MAX, "memory ran out");
        return AB_STORE_ERROR;
    }
    int error = open_env(browser, folder);
    const bool cut = error == MDB_SUCCESS && is_cut(browser);
    if (cut) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS) {
        error = begin(browser);
    }
    if (error == MDB_SUCCESS) {
        error = open_dbs(browser, topic, partition);
    }
    if (error == MDB_SUCCESS) {
        *ret_browser = browser;
        return AB_STORE_OK;
    }
    snprintf(ret_text, AB_STORE_TEXT_MAX, "%s",
             cut ? "its file ends before what it holds" : text_of(error));
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
    free(browser->copy);
    free(browser);
}

/* Begins the transaction of one look. MDB_NOTFOUND while the store is unread: what a load has
 * written so far says nothing. */
static int begin_look(ab_browser_t *browser)
{
    int64_t next = AB_STORE_UNREAD;
    int64_t current_ms;
    aw_span_t position;
    int error = begin(browser);
    if (error != MDB_SUCCESS) {
        return error;
    }
    error = ab_store_about_get(browser->txn, &browser->dbs, AB_STORE_POSITION, &position);
    if (error == MDB_NOTFOUND ||
        (error == MDB_SUCCESS && !ab_store_position_read(position, &next, &current_ms))) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS && next == AB_STORE_UNREAD) {
        error = MDB_NOTFOUND;
    }
    if (error != MDB_SUCCESS) {
        end(browser);
    }
    return error;
}

/* Copies what lies in the environment, so that its transaction can end. */
static int copy_value(ab_browser_t *browser, const MDB_val *value, aw_span_t *ret_copy)
{
    if (value->mv_size > AB_STORE_HEAD_SIZE + (size_t)AB_STATE_VALUE_MAX) {
        return MDB_CORRUPTED;
    }
    if (value->mv_size > browser->copy_room) {
        uint8_t *copy = realloc(browser->copy, value->mv_size);
        if (copy == NULL) {
            return ENOMEM;
        }
        browser->copy = copy;
        browser->copy_room = value->mv_size;
    }
    if (value->mv_size > 0) {
        memcpy(browser->copy, value->mv_data, value->mv_size);
    }
    *ret_copy = (aw_span_t){browser->copy, value->mv_size};
    return MDB_SUCCESS;
}

/* The mark of a key that has a state, where there is one. */
static int read_mark(ab_browser_t *browser, const ab_store_key_t *name, ab_browse_item_t *item)
{
    MDB_val key = {name->size, (void *)(uintptr_t)name->bytes};
    MDB_val found;
    ab_store_head_t head;
    aw_span_t marked;
    const int error = mdb_get(browser->txn, browser->dbs.marks, &key, &found);
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

/* Reads one entry of a database. MDB_NOTFOUND: it is not to be shown. */
typedef int read_fn(ab_browser_t *browser, const ab_store_key_t *name, const MDB_val *value,
                    ab_browse_item_t *ret_item);

static int read_state(ab_browser_t *browser, const ab_store_key_t *name, const MDB_val *value,
                      ab_browse_item_t *ret_item)
{
    ab_store_head_t head = {-1, 0, 0};
    aw_snapshot_view_t view;
    aw_span_t stored;
    ab_browse_item_t item = {.entry = {AW_SPAN_NULL, -1, AB_STATE_TAKEN, -1}};
    int error = name->size > 0 ? copy_value(browser, value, &stored) : MDB_CORRUPTED;
    if (error != MDB_SUCCESS) {
        return error;
    }
    item.whole = ab_store_state_read(name, stored, &head, &item.entry.value);
    item.entry.offset = head.offset;
    item.key = (aw_span_t){name->bytes + 1, name->size - 1};
    if (name->bytes[0] == 'h' && item.whole) {
        item.whole = aw_snapshot_scan(item.entry.value, &view, NULL) == AW_OK;
        item.key = item.whole ? view.entity_key : item.key;
    }
    item.key_size = item.key.size;
    error = read_mark(browser, name, &item);
    if (error == MDB_SUCCESS) {
        *ret_item = item;
    }
    return error;
}

/* Marks of keys with a state are shown with it. */
static int read_mark_alone(ab_browser_t *browser, const ab_store_key_t *name, const MDB_val *value,
                           ab_browse_item_t *ret_item)
{
    MDB_val key = {name->size, (void *)(uintptr_t)name->bytes};
    MDB_val state;
    ab_store_head_t head = {-1, AB_STATE_TAKEN, 0};
    aw_span_t stored;
    ab_browse_item_t item = {.entry = {AW_SPAN_NULL, -1, AB_STATE_TAKEN, -1}};
    int error = mdb_get(browser->txn, browser->dbs.state, &key, &state);
    if (error != MDB_NOTFOUND) {
        return error == MDB_SUCCESS ? MDB_NOTFOUND : error;
    }
    error = copy_value(browser, value, &stored);
    if (error != MDB_SUCCESS) {
        return error;
    }
    item.whole = ab_store_mark_read(stored, &head, &item.key);
    item.key_size = head.size;
    item.entry.mark = item.whole ? (ab_state_verdict_t)head.check : AB_STATE_TAKEN;
    item.entry.mark_offset = head.offset;
    *ret_item = item;
    return MDB_SUCCESS;
}

/* Finds the entry behind *at, which becomes its name; a size of 0 is the beginning. MDB_NOTFOUND at
 * the end. */
static int find_next(ab_browser_t *browser, MDB_dbi dbi, ab_store_key_t *at, MDB_val *ret_value)
{
    MDB_cursor *cursor;
    MDB_val key = {at->size, at->bytes};
    int error = mdb_cursor_open(browser->txn, dbi, &cursor);
    if (error != MDB_SUCCESS) {
        return error;
    }
    error = mdb_cursor_get(cursor, &key, ret_value, at->size > 0 ? MDB_SET_RANGE : MDB_FIRST);
    if (error == MDB_SUCCESS && at->size == key.mv_size &&
        memcmp(at->bytes, key.mv_data, key.mv_size) == 0) {
        error = mdb_cursor_get(cursor, &key, ret_value, MDB_NEXT);
    }
    if (error == MDB_SUCCESS && (key.mv_size == 0 || key.mv_size > sizeof(at->bytes))) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS) {
        memcpy(at->bytes, key.mv_data, key.mv_size);
        at->size = key.mv_size;
    }
    mdb_cursor_close(cursor);
    return error;
}

static int walk_db(ab_browser_t *browser, MDB_dbi dbi, read_fn *read, ab_browse_fn *visit,
                   void *opaque, int *ret_visited)
{
    ab_store_key_t at = {.size = 0};
    int error = MDB_SUCCESS;
    while (error == MDB_SUCCESS && *ret_visited == 0) {
        ab_browse_item_t item;
        MDB_val value;
        error = begin_look(browser);
        if (error != MDB_SUCCESS) {
            break;
        }
        error = find_next(browser, dbi, &at, &value);
        const int shown = error == MDB_SUCCESS ? read(browser, &at, &value, &item) : MDB_NOTFOUND;
        end(browser);
        if (shown == MDB_SUCCESS) {
            *ret_visited = visit(opaque, &item);
        } else if (shown != MDB_NOTFOUND) {
            error = shown;
        }
    }
    return error == MDB_NOTFOUND ? MDB_SUCCESS : error;
}

ab_store_result_t ab_browser_walk(ab_browser_t *browser, ab_browse_fn *visit, void *opaque,
                                  int *ret_visited)
{
    int visited = 0;
    int error = walk_db(browser, browser->dbs.state, read_state, visit, opaque, &visited);
    if (error == MDB_SUCCESS && visited == 0) {
        error = walk_db(browser, browser->dbs.marks, read_mark_alone, visit, opaque, &visited);
    }
    if (ret_visited != NULL) {
        *ret_visited = visited;
    }
    return end_with(browser, error);
}

ab_store_result_t ab_browser_find(ab_browser_t *browser, aw_span_t key, ab_browse_fn *visit,
                                  void *opaque)
{
    ab_store_key_t name;
    ab_browse_item_t item;
    int error = ab_store_key_of(key, &name) == 0 ? begin_look(browser) : ENOMEM;
    if (error != MDB_SUCCESS) {
        return end_with(browser, error);
    }
    MDB_val wanted = {name.size, name.bytes};
    MDB_val value;
    error = mdb_get(browser->txn, browser->dbs.state, &wanted, &value);
    if (error == MDB_SUCCESS) {
        error = read_state(browser, &name, &value, &item);
    } else if (error == MDB_NOTFOUND) {
        error = mdb_get(browser->txn, browser->dbs.marks, &wanted, &value);
        error = error != MDB_SUCCESS ? error : read_mark_alone(browser, &name, &value, &item);
    }
    end(browser);
    if (error == MDB_SUCCESS) {
        (void)visit(opaque, &item);
    }
    return end_with(browser, error);
}

ab_store_result_t ab_browser_facts(ab_browser_t *browser, ab_store_facts_t *ret_facts,
                                   int64_t *ret_next, int64_t *ret_current_ms)
{
    MDB_envinfo info;
    MDB_stat state, marks;
    aw_span_t position = AW_SPAN_NULL;
    int error = begin(browser);
    if (error != MDB_SUCCESS) {
        return end_with(browser, error);
    }
    error = ab_store_about_get(browser->txn, &browser->dbs, AB_STORE_POSITION, &position);
    error = error == MDB_NOTFOUND ? MDB_CORRUPTED : error;
    error = error != MDB_SUCCESS ? error : mdb_env_info(browser->env, &info);
    error = error != MDB_SUCCESS ? error : mdb_stat(browser->txn, browser->dbs.state, &state);
    error = error != MDB_SUCCESS ? error : mdb_stat(browser->txn, browser->dbs.marks, &marks);
    if (error == MDB_SUCCESS && !ab_store_position_read(position, ret_next, ret_current_ms)) {
        error = MDB_CORRUPTED;
    }
    if (error == MDB_SUCCESS) {
        const bool unread = *ret_next == AB_STORE_UNREAD;
        *ret_facts =
            (ab_store_facts_t){unread ? 0 : state.ms_entries, unread ? 0 : marks.ms_entries,
                               ab_store_used(browser->env), info.me_mapsize};
    }
    end(browser);
    return end_with(browser, error);
}
