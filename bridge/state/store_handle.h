#ifndef BRIDGE_STATE_STORE_HANDLE_H
#define BRIDGE_STATE_STORE_HANDLE_H

/* What the files of the store share: store_open.c (its life), store.c (its use) and store_load.c
 * (its being filled from the topic's start). */

#include "bridge/state/format.h"
#include "bridge/state/load.h"
#include "bridge/state/store.h"

/** What the map keeps free when a transaction begins, bytes: far more than one batch of a lane can
 *  take. */
#define AB_STORE_ROOM ((size_t)64 * 1024 * 1024)

struct ab_store {
    MDB_env *env;
    ab_store_dbs_t dbs;
    MDB_txn *write;   /* begun by the first change since the last commit */
    MDB_txn *read;    /* holds the view that ab_store_get() gave */
    ab_load_t *load;  /* while it is loaded */
    bool half_loaded; /* the environment holds what a load has written so far */
    int64_t next, committed_next;
    int64_t current_ms;
    uint64_t pending_records, pending_bytes;
    unsigned owner;
    size_t room_bytes;
    char text[AB_STORE_TEXT_MAX];
};

/** Makes the map larger where less than room is free. No transaction is open. LMDB's error. */
int ab_store_make_room(ab_store_t *store, size_t room);

/** Ends the transaction that holds the view of ab_store_get(). */
void ab_store_end_read(ab_store_t *store);

/** Forgets what was applied since the last commit, and what a load collected. */
void ab_store_give_up(ab_store_t *store);

/** Begins the write transaction, where none is open, with room for so many bytes in the map. What a
 *  load left half done is gone from it. LMDB's error. */
int ab_store_begin(ab_store_t *store, size_t bytes);

/** Gives up after an error of LMDB, or of the system, while so many bytes were written; notes what
 *  it says. */
ab_store_result_t ab_store_fail(ab_store_t *store, int error, size_t bytes);

/** Writes a head and the bytes behind it, with flags of mdb_put(). LMDB's error. */
int ab_store_put_headed(ab_store_t *store, MDB_dbi dbi, MDB_val *key, const ab_store_head_t *head,
                        aw_span_t bytes, unsigned flags);

/** Ends the write transaction with the position in it: everything below ab_store_next() is durable.
 *  LMDB's error. */
int ab_store_finish(ab_store_t *store, int64_t now_ms);

/** Entries of a database. */
uint64_t ab_store_count(MDB_txn *txn, MDB_dbi dbi);

/** Collects a record's effect while the store is loaded: entry is what it does to its key. */
ab_store_result_t ab_store_collect(ab_store_t *store, const ab_load_entry_t *entry);

/** Writes how far the store has read. LMDB's error. */
int ab_store_put_position(ab_store_t *store, MDB_txn *txn, int64_t next, int64_t current_ms);

/** The file may end before the last page that a transaction had and gave back; opening must not
 *  take that for damage. */
void ab_store_fill_file(ab_store_t *store);

#endif
