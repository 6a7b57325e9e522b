#include "bridge/state/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bridge/state/judge.h"
#include "bridge/state/store_handle.h"

/* Where nothing else changes, the time when the store was current is noted so often. */
#define CURRENT_EVERY_MS 60000

static aw_span_t span_of(MDB_val val)
{
    return (aw_span_t){val.mv_data, val.mv_size};
}

ab_store_result_t ab_store_fail(ab_store_t *store, int error, size_t bytes)
{
    error = ab_store_error_of(store->env, error);
    const ab_store_result_t result = ab_store_result_of(error);
    snprintf(store->text, sizeof(store->text), "%s", mdb_strerror(error));
    ab_store_give_up(store);
    if (result == AB_STORE_AGAIN) {
        /* Twice what there was, and enough for whatever was too large. */
        MDB_envinfo info;
        mdb_env_info(store->env, &info);
        const int grown = ab_store_make_room(store, info.me_mapsize + 4 * bytes);
        return grown == MDB_SUCCESS ? AB_STORE_AGAIN : ab_store_fail(store, grown, 0);
    }
    return result;
}

static int empty(ab_store_t *store)
{
    const int error = mdb_drop(store->write, store->dbs.state, 0);
    return error != MDB_SUCCESS ? error : mdb_drop(store->write, store->dbs.marks, 0);
}

int ab_store_begin(ab_store_t *store, size_t bytes)
{
    ab_store_end_read(store);
    if (store->write != NULL) {
        return MDB_SUCCESS;
    }
    int error = ab_store_make_room(store, store->room_bytes + 2 * bytes);
    if (error == MDB_SUCCESS) {
        error = mdb_txn_begin(store->env, NULL, 0, &store->write);
    }
    if (error == MDB_SUCCESS && store->half_loaded &&
        (store->load == NULL || !ab_load_is_sorted(store->load))) {
        error = empty(store);
    }
    return error;
}

void ab_store_set_owner(ab_store_t *store, unsigned owner)
{
    store->owner = owner;
}

void ab_store_set_room(ab_store_t *store, size_t room_bytes)
{
    store->room_bytes = room_bytes > 0 ? room_bytes : AB_STORE_ROOM;
}

const char *ab_store_text_view(const ab_store_t *store)
{
    return store->text;
}

int64_t ab_store_next(const ab_store_t *store)
{
    return store->next;
}

int64_t ab_store_current_ms(const ab_store_t *store)
{
    return store->current_ms;
}

uint64_t ab_store_pending(const ab_store_t *store, uint64_t *ret_bytes)
{
    *ret_bytes = store->pending_bytes;
    return store->pending_records;
}

/* mdb_del() of what may not be there. */
static int forget(ab_store_t *store, MDB_dbi dbi, MDB_val *key)
{
    const int error = mdb_del(store->write, dbi, key, NULL);
    return error == MDB_NOTFOUND ? MDB_SUCCESS : error;
}

int ab_store_put_headed(ab_store_t *store, MDB_dbi dbi, MDB_val *key, const ab_store_head_t *head,
                        aw_span_t bytes, unsigned flags)
{
    MDB_val room = {AB_STORE_HEAD_SIZE + bytes.size, NULL}; /* no copy in between */
    const int error = mdb_put(store->write, dbi, key, &room, MDB_RESERVE | flags);
    if (error == MDB_SUCCESS) {
        ab_store_head_write(head, room.mv_data);
        if (bytes.size > 0) {
            memcpy((uint8_t *)room.mv_data + AB_STORE_HEAD_SIZE, bytes.data, bytes.size);
        }
    }
    return error;
}

/* What a record that was judged does to its key, of this name. */
static ab_load_entry_t effect_of(const ab_record_t *record, ab_state_verdict_t verdict,
                                 const ab_store_key_t *name)
{
    const aw_span_t key = {name->bytes, name->size};
    if (verdict != AB_STATE_TAKEN) {
        aw_span_t kept = record->key;
        const ab_store_head_t head = {record->offset, (uint32_t)verdict, (uint32_t)kept.size};
        kept.size = kept.size > AB_STORE_MARK_KEY_MAX ? AB_STORE_MARK_KEY_MAX : kept.size;
        return (ab_load_entry_t){AB_LOAD_MARK, head, key, kept};
    }
    if (record->value.data == NULL) {
        return (ab_load_entry_t){AB_LOAD_GONE, {record->offset, 0, 0}, key, AW_SPAN_NULL};
    }
    const ab_store_head_t head = {record->offset, ab_store_check_of(name, record->value),
                                  (uint32_t)record->value.size};
    return (ab_load_entry_t){AB_LOAD_STATE, head, key, record->value};
}

static int write_effect(ab_store_t *store, const ab_load_entry_t *effect)
{
    MDB_val key = {effect->name.size, (void *)(uintptr_t)effect->name.data};
    int error = ab_store_begin(store, effect->bytes.size);
    if (error != MDB_SUCCESS) {
        return error;
    }
    if (effect->kind == AB_LOAD_MARK) {
        return ab_store_put_headed(store, store->dbs.marks, &key, &effect->head, effect->bytes, 0);
    }
    error = effect->kind == AB_LOAD_STATE ? ab_store_put_headed(store, store->dbs.state, &key,
                                                                &effect->head, effect->bytes, 0)
                                          : forget(store, store->dbs.state, &key);
    return error != MDB_SUCCESS ? error : forget(store, store->dbs.marks, &key);
}

ab_store_result_t ab_store_apply(ab_store_t *store, const ab_record_t *record,
                                 ab_state_verdict_t *ret_verdict)
{
    aw_snapshot_view_t view;
    ab_store_key_t name;
    if (record->offset < store->next) {
        return AB_STORE_PASSED;
    }
    const ab_state_verdict_t verdict = ab_state_judge(record, &view);
    if (ab_store_key_of(record->key, &name) != 0) {
        return ab_store_fail(store, ENOMEM, 0);
    }
    const ab_load_entry_t effect = effect_of(record, verdict, &name);
    if (store->load != NULL) {
        const ab_store_result_t result = ab_store_collect(store, &effect);
        if (result != AB_STORE_OK) {
            return result;
        }
    } else {
        const int error = write_effect(store, &effect);
        if (error != MDB_SUCCESS) {
            return ab_store_fail(store, error, effect.bytes.size);
        }
        store->pending_records++;
        store->pending_bytes += record->key.size + effect.bytes.size;
    }
    store->next = record->offset + 1;
    *ret_verdict = verdict;
    return AB_STORE_OK;
}

void ab_store_advance(ab_store_t *store, int64_t offset)
{
    store->next = offset > store->next ? offset : store->next;
}

int ab_store_finish(ab_store_t *store, int64_t now_ms)
{
    const int64_t current_ms = now_ms != 0 ? now_ms : store->current_ms;
    int error = ab_store_put_position(store, store->write, store->next, current_ms);
    if (error == MDB_SUCCESS) {
        error = mdb_txn_commit(store->write);
        store->write = NULL;
    }
    if (error != MDB_SUCCESS) {
        return error;
    }
    ab_store_fill_file(store);
    store->current_ms = current_ms;
    store->committed_next = store->next;
    store->half_loaded = false;
    store->pending_records = 0;
    store->pending_bytes = 0;
    return MDB_SUCCESS;
}

ab_store_result_t ab_store_commit(ab_store_t *store, unsigned owner, int64_t now_ms)
{
    if (store->owner != owner) {
        ab_store_give_up(store);
        return AB_STORE_FOREIGN;
    }
    if (store->load != NULL) {
        return AB_STORE_OK;
    }
    const bool renews = now_ms - store->current_ms > CURRENT_EVERY_MS;
    if (store->next == store->committed_next && store->write == NULL && !renews) {
        return AB_STORE_OK;
    }
    int error = ab_store_begin(store, 0);
    if (error == MDB_SUCCESS) {
        error = ab_store_finish(store, now_ms);
    }
    return error == MDB_SUCCESS ? AB_STORE_OK : ab_store_fail(store, error, store->pending_bytes);
}

ab_store_result_t ab_store_reset(ab_store_t *store)
{
    ab_store_give_up(store);
    int error = ab_store_begin(store, 0);
    if (error == MDB_SUCCESS) {
        error = empty(store);
    }
    if (error == MDB_SUCCESS) {
        error = ab_store_put_position(store, store->write, AB_STORE_UNREAD, 0);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_txn_commit(store->write);
        store->write = NULL;
    }
    if (error != MDB_SUCCESS) {
        return ab_store_fail(store, error, 0);
    }
    store->current_ms = 0;
    store->half_loaded = false;
    store->next = AB_STORE_UNREAD;
    store->committed_next = AB_STORE_UNREAD;
    return AB_STORE_OK;
}

static ab_store_result_t look_up(ab_store_t *store, MDB_txn *txn, const ab_store_key_t *name,
                                 ab_state_entry_t *entry)
{
    MDB_val key = {name->size, (void *)(uintptr_t)name->bytes};
    MDB_val found;
    ab_store_head_t head;
    aw_span_t marked;
    int error = mdb_get(txn, store->dbs.state, &key, &found);
    if (error == MDB_SUCCESS) {
        if (!ab_store_state_read(name, span_of(found), &head, &entry->value)) {
            snprintf(store->text, sizeof(store->text), "a state is not what was written");
            return AB_STORE_DAMAGED;
        }
        entry->offset = head.offset;
    } else if (error != MDB_NOTFOUND) {
        return ab_store_fail(store, error, 0);
    }
    error = mdb_get(txn, store->dbs.marks, &key, &found);
    if (error == MDB_SUCCESS) {
        if (!ab_store_mark_read(span_of(found), &head, &marked)) {
            snprintf(store->text, sizeof(store->text), "a mark is not what was written");
            return AB_STORE_DAMAGED;
        }
        entry->mark = (ab_state_verdict_t)head.check;
        entry->mark_offset = head.offset;
    } else if (error != MDB_NOTFOUND) {
        return ab_store_fail(store, error, 0);
    }
    return entry->value.data == NULL && entry->mark == AB_STATE_TAKEN ? AB_STORE_NONE : AB_STORE_OK;
}

ab_store_result_t ab_store_get(ab_store_t *store, aw_span_t key, ab_state_entry_t *ret_entry)
{
    ab_state_entry_t entry = {AW_SPAN_NULL, -1, AB_STATE_TAKEN, -1};
    ab_store_key_t name;
    ab_store_end_read(store);
    if (ab_store_key_of(key, &name) != 0) {
        return ab_store_fail(store, ENOMEM, 0);
    }
    if (store->load != NULL) {
        snprintf(store->text, sizeof(store->text), "it is being loaded");
        return AB_STORE_ERROR;
    }
    MDB_txn *txn = store->write;
    if (txn == NULL && store->half_loaded) {
        return AB_STORE_NONE;
    }
    if (txn == NULL) {
        const int error = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->read);
        if (error != MDB_SUCCESS) {
            store->read = NULL;
            return ab_store_fail(store, error, 0);
        }
        txn = store->read;
    }
    const ab_store_result_t result = look_up(store, txn, &name, &entry);
    if (result == AB_STORE_OK) {
        *ret_entry = entry;
    }
    return result;
}

uint64_t ab_store_count(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_stat stat;
    return mdb_stat(txn, dbi, &stat) == MDB_SUCCESS ? stat.ms_entries : 0;
}

ab_store_facts_t ab_store_facts(ab_store_t *store)
{
    ab_store_facts_t facts = {0};
    MDB_envinfo info;
    MDB_txn *read = NULL;
    MDB_txn *txn = store->write;
    mdb_env_info(store->env, &info);
    facts.map_bytes = info.me_mapsize;
    facts.size_bytes = ab_store_used(store->env);
    ab_store_end_read(store);
    if (txn == NULL && !store->half_loaded &&
        mdb_txn_begin(store->env, NULL, MDB_RDONLY, &read) == MDB_SUCCESS) {
        txn = read;
    }
    if (txn != NULL) {
        facts.keys = ab_store_count(txn, store->dbs.state);
        facts.marked = ab_store_count(txn, store->dbs.marks);
    }
    if (read != NULL) {
        mdb_txn_abort(read);
    }
    return facts;
}
