#include "bridge/state/store_handle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 4096

const char *ab_store_library_version(void)
{
    static _Thread_local char version[32];
    int major, minor, patch;
    (void)mdb_version(&major, &minor, &patch);
    snprintf(version, sizeof(version), "%d.%d.%d", major, minor, patch);
    return version;
}

void ab_store_end_read(ab_store_t *store)
{
    if (store->read != NULL) {
        mdb_txn_abort(store->read);
        store->read = NULL;
    }
}

void ab_store_give_up(ab_store_t *store)
{
    if (store->write != NULL) {
        mdb_txn_abort(store->write);
        store->write = NULL;
    }
    ab_load_free(store->load);
    store->load = NULL;
    store->next = store->committed_next;
    store->pending_records = 0;
    store->pending_bytes = 0;
}

int ab_store_make_room(ab_store_t *store, size_t room)
{
    MDB_envinfo info;
    mdb_env_info(store->env, &info);
    const size_t used = ab_store_used(store->env);
    if (info.me_mapsize >= used && info.me_mapsize - used >= room) {
        return MDB_SUCCESS;
    }
    /* Pages that a reader held when it was killed are used again first. */
    int dead;
    (void)mdb_reader_check(store->env, &dead);
    size_t size = info.me_mapsize;
    while (size < used || size - used < room) {
        if (size > SIZE_MAX / 4) {
            return ENOMEM;
        }
        size *= 2;
    }
    return mdb_env_set_mapsize(store->env, size);
}

static MDB_val name_of(const char *name)
{
    return (MDB_val){strlen(name), (void *)(uintptr_t)name};
}

static int path_of(const char *folder, const char *name, char ret_path[PATH_ROOM])
{
    const int size = snprintf(ret_path, PATH_ROOM, "%s/%s", folder, name);
    return size < 0 || size >= PATH_ROOM ? ENAMETOOLONG : 0;
}

int ab_store_remove(const char *folder)
{
    static const char *const names[] = {AB_STORE_FILE, AB_STORE_LOCK_FILE, AB_STORE_LOAD_FILE};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[PATH_ROOM];
        errno = path_of(folder, names[i], path);
        if (errno != 0 || (unlink(path) != 0 && errno != ENOENT)) {
            return -1;
        }
    }
    return 0;
}

/* True when a load ended half way. */
static bool is_half_loaded(const ab_store_t *store, MDB_txn *txn)
{
    return store->next == AB_STORE_UNREAD &&
           (ab_store_count(txn, store->dbs.state) > 0 || ab_store_count(txn, store->dbs.marks) > 0);
}

/* Reads stamp and position. found tells a store that is new from one that is not ours. */
static int read_about(ab_store_t *store, MDB_txn *txn, const char *topic, int32_t partition,
                      ab_store_found_t *found)
{
    MDB_stat stat;
    aw_span_t stamp, position;
    int error = mdb_stat(txn, store->dbs.about, &stat);
    if (error != MDB_SUCCESS || stat.ms_entries == 0) {
        *found = AB_STORE_FOUND_NOTHING;
        return error;
    }
    error = ab_store_about_get(txn, &store->dbs, AB_STORE_STAMP, &stamp);
    if (error == MDB_SUCCESS && !ab_store_stamp_is(stamp, topic, partition)) {
        *found = AB_STORE_FOUND_OTHER;
        return MDB_SUCCESS;
    }
    if (error == MDB_SUCCESS) {
        error = ab_store_about_get(txn, &store->dbs, AB_STORE_POSITION, &position);
    }
    *found =
        error == MDB_SUCCESS && ab_store_position_read(position, &store->next, &store->current_ms)
            ? AB_STORE_FOUND_WHOLE
            : AB_STORE_FOUND_DAMAGED;
    return MDB_SUCCESS;
}

int ab_store_put_position(ab_store_t *store, MDB_txn *txn, int64_t next, int64_t current_ms)
{
    uint8_t position[16];
    ab_store_put64(position, next);
    ab_store_put64(position + 8, current_ms);
    MDB_val key = name_of(AB_STORE_POSITION);
    MDB_val value = {sizeof(position), position};
    return mdb_put(txn, store->dbs.about, &key, &value, 0);
}

static int put_stamp(ab_store_t *store, MDB_txn *txn, const char *topic, int32_t partition)
{
    uint8_t stamp[AB_STORE_STAMP_MAX];
    const size_t size = ab_store_stamp_write(topic, partition, stamp);
    MDB_val key = name_of(AB_STORE_STAMP);
    MDB_val value = {size, stamp};
    return mdb_put(txn, store->dbs.about, &key, &value, 0);
}

static int open_env(ab_store_t *store, const char *folder)
{
    int error = ab_store_lock_make(folder, NULL);
    if (error == MDB_SUCCESS) {
        error = mdb_env_create(&store->env);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_env_set_maxdbs(store->env, AB_STORE_DBS);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_env_set_mapsize(store->env, AB_STORE_ROOM);
    }
    /* Data are synced before the page that points to them; losing that page alone, with the power,
     * leaves the store at the commit before. */
    if (error == MDB_SUCCESS) {
        error = mdb_env_open(store->env, folder, MDB_NOMETASYNC | MDB_NORDAHEAD | MDB_NOTLS, 0640);
    }
    return error;
}

/* One try. An error leaves nothing behind but the half-made store. */
static int try_open(ab_store_t *store, const char *folder, const char *topic, int32_t partition,
                    ab_store_found_t *found)
{
    MDB_txn *txn = NULL;
    int dead;
    int error = open_env(store, folder);
    if (error != MDB_SUCCESS) {
        return error;
    }
    if (ab_store_is_cut(store->env)) {
        return MDB_CORRUPTED;
    }
    (void)mdb_reader_check(store->env, &dead);
    error = ab_store_make_room(store, AB_STORE_ROOM);
    if (error == MDB_SUCCESS) {
        error = mdb_txn_begin(store->env, NULL, 0, &txn);
    }
    if (error != MDB_SUCCESS) {
        return error;
    }
    error = ab_store_dbs_open(txn, MDB_CREATE, &store->dbs);
    if (error == MDB_SUCCESS) {
        error = read_about(store, txn, topic, partition, found);
    }
    if (error == MDB_SUCCESS && *found == AB_STORE_FOUND_NOTHING) {
        error = put_stamp(store, txn, topic, partition);
        error =
            error != MDB_SUCCESS ? error : ab_store_put_position(store, txn, AB_STORE_UNREAD, 0);
    }
    if (error != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return error;
    }
    store->half_loaded = *found == AB_STORE_FOUND_WHOLE && is_half_loaded(store, txn);
    return mdb_txn_commit(txn);
}

void ab_store_fill_file(ab_store_t *store)
{
    struct stat about;
    int file;
    if (mdb_env_get_fd(store->env, &file) == MDB_SUCCESS && fstat(file, &about) == 0 &&
        (size_t)about.st_size < ab_store_used(store->env) &&
        ftruncate(file, (off_t)ab_store_used(store->env)) != 0) {
        snprintf(store->text, sizeof(store->text), "%s",
                 strerror(errno)); /* it is made anew then */
    }
}

ab_store_result_t ab_store_open(const char *folder, const char *topic, int32_t partition,
                                ab_store_t **ret_store, ab_store_found_t *ret_found,
                                char ret_text[AB_STORE_TEXT_MAX])
{
    ab_store_found_t first = AB_STORE_FOUND_NOTHING;
    for (unsigned tries = 0;; tries++) {
        ab_store_found_t found = AB_STORE_FOUND_NOTHING;
        ab_store_t *store = calloc(1, sizeof(*store));
        if (store == NULL) {
            snprintf(ret_text, AB_STORE_TEXT_MAX, "memory ran out");
            return AB_STORE_ERROR;
        }
        store->next = AB_STORE_UNREAD;
        store->room_bytes = AB_STORE_ROOM;
        int error = try_open(store, folder, topic, partition, &found);
        if (error == MDB_SUCCESS &&
            (found == AB_STORE_FOUND_WHOLE || found == AB_STORE_FOUND_NOTHING) &&
            !store->half_loaded) {
            store->committed_next = store->next;
            ab_store_fill_file(store);
            *ret_found = tries == 0 ? found : first;
            *ret_store = store;
            return AB_STORE_OK;
        }
        if (store->half_loaded) {
            found = AB_STORE_FOUND_NOTHING; /* and so it is to be, with its disk space given back */
        }
        error = store->env != NULL ? ab_store_error_of(store->env, error) : error;
        const ab_store_result_t result = ab_store_result_of(error);
        snprintf(ret_text, AB_STORE_TEXT_MAX, "%s", mdb_strerror(error));
        ab_store_close(store);
        first = error == MDB_SUCCESS ? found : AB_STORE_FOUND_DAMAGED;
        if ((error != MDB_SUCCESS && result != AB_STORE_DAMAGED) || tries > 0) {
            return result == AB_STORE_FULL ? AB_STORE_FULL : AB_STORE_ERROR;
        }
        if (ab_store_remove(folder) != 0) {
            snprintf(ret_text, AB_STORE_TEXT_MAX, "%s", strerror(errno));
            return AB_STORE_ERROR;
        }
    }
}

void ab_store_close(ab_store_t *store)
{
    if (store == NULL) {
        return;
    }
    ab_store_end_read(store);
    ab_store_give_up(store);
    if (store->env != NULL) {
        (void)mdb_env_sync(store->env, 1);
        mdb_env_close(store->env);
    }
    free(store);
}
