#ifndef BRIDGE_STATE_STORE_HANDLE_H
#define BRIDGE_STATE_STORE_HANDLE_H

/* What the two files of the store share: store_open.c (its life) and store.c (its use). */

#include "bridge/state/format.h"
#include "bridge/state/store.h"

/** What the map keeps free when a transaction begins, bytes: far more than one batch of a lane can
 *  take. */
#define AB_STORE_ROOM ((size_t)64 * 1024 * 1024)

struct ab_store {
    MDB_env *env;
    ab_store_dbs_t dbs;
    MDB_txn *write; /* begun by the first change since the last commit */
    MDB_txn *read;  /* holds the view that ab_store_get() gave */
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

/** Forgets what was applied since the last commit. */
void ab_store_give_up(ab_store_t *store);

/** Writes how far the store has read. LMDB's error. */
int ab_store_put_position(ab_store_t *store, MDB_txn *txn, int64_t next, int64_t current_ms);

/** The file may end before the last page that a transaction had and gave back; opening must not
 *  take that for damage. */
void ab_store_fill_file(ab_store_t *store);

#endif
