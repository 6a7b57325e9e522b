#ifndef BRIDGE_STATE_FORMAT_H
#define BRIDGE_STATE_FORMAT_H

/* What lies in an environment, for those that write it (store.c, store_open.c) and the one that
 * only reads (browse.c). Numbers are little-endian.
 *
 *   db "about": "stamp"    version u32, partition i32, the topic's name
 *               "position" next offset i64, when it was current i64 (ms)
 *   db "state": key -> offset i64, check u32, size u32, then the snapshot as it was published
 *   db "marks": key -> offset i64, why u32, size of the key u32, then its first bytes
 *
 * While the next offset is AB_STORE_UNREAD, "state" and "marks" hold what a load has written so
 * far, which says nothing.
 *
 * A key is a letter and bytes: 'k' and the entity key itself, or, where LMDB's keys are too short
 * for that, 'h' and its SHA-256. */

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "agentwire/crypto.h"
#include "bridge/state/store.h"

/** Goes up with any change of the above: a store of another version is made anew. */
#define AB_STORE_VERSION 1u

#define AB_STORE_FILE      "data.mdb"
#define AB_STORE_LOCK_FILE "lock.mdb"
/** What a load keeps in the folder where it cannot do without a name. */
#define AB_STORE_LOAD_FILE "load.tmp"
#define AB_STORE_DBS       3u

#define AB_STORE_DB_ABOUT "about"
#define AB_STORE_DB_STATE "state"
#define AB_STORE_DB_MARKS "marks"
#define AB_STORE_STAMP    "stamp"
#define AB_STORE_POSITION "position"

/** LMDB takes 511 bytes. */
#define AB_STORE_KEY_MAX   511u
#define AB_STORE_HEAD_SIZE 16u
/** Of a marked key so much is kept, bytes. */
#define AB_STORE_MARK_KEY_MAX 1024u

typedef struct ab_store_key {
    uint8_t bytes[AB_STORE_KEY_MAX];
    size_t size;
} ab_store_key_t;

/** The key under which an entity key is kept. Returns 0, or -1 when the hash cannot be made. */
int ab_store_key_of(aw_span_t key, ab_store_key_t *ret_key);

/** The first AB_STORE_HEAD_SIZE bytes of a state or a mark. */
typedef struct ab_store_head {
    int64_t offset;
    uint32_t check; /* of a mark: why */
    uint32_t size;
} ab_store_head_t;

void ab_store_head_write(const ab_store_head_t *head, uint8_t ret_bytes[AB_STORE_HEAD_SIZE]);
void ab_store_head_read(const uint8_t *bytes, ab_store_head_t *ret_head);

/** What a state's check is made of: the key, so that a value under a wrong key shows, and the
 *  snapshot. */
uint32_t ab_store_check_of(const ab_store_key_t *key, aw_span_t value);

void ab_store_put64(uint8_t *at, int64_t number);
int64_t ab_store_get64(const uint8_t *at);

/** Reads a state as it lies in the environment. False when it is not what was written. */
bool ab_store_state_read(const ab_store_key_t *key, aw_span_t stored, ab_store_head_t *ret_head,
                         aw_span_t *ret_value);

/** Reads a mark. False when it is not what was written. */
bool ab_store_mark_read(aw_span_t stored, ab_store_head_t *ret_head, aw_span_t *ret_key);

/** True when the stamp is that of this version, topic and partition. */
bool ab_store_stamp_is(aw_span_t stamp, const char *topic, int32_t partition);

/** Bytes of a stamp for a topic of the longest name. */
#define AB_STORE_STAMP_MAX (8u + 249u)

/** Writes a stamp; returns its size. */
size_t ab_store_stamp_write(const char *topic, int32_t partition,
                            uint8_t ret_stamp[AB_STORE_STAMP_MAX]);

/** The databases of an environment. */
typedef struct ab_store_dbs {
    MDB_dbi about, state, marks;
} ab_store_dbs_t;

/** Opens them, with MDB_CREATE or 0. The handles live on once txn is committed. LMDB's error. */
int ab_store_dbs_open(MDB_txn *txn, unsigned flags, ab_store_dbs_t *ret_dbs);

/** Looks up AB_STORE_STAMP or AB_STORE_POSITION. A view that lives as long as txn. LMDB's error. */
int ab_store_about_get(MDB_txn *txn, const ab_store_dbs_t *dbs, const char *name,
                       aw_span_t *ret_value);

/** Reads a position. False when it is not one. */
bool ab_store_position_read(aw_span_t position, int64_t *ret_next, int64_t *ret_current_ms);

/** Bytes of the file that are in use. */
size_t ab_store_used(MDB_env *env);

/** True when the file ends before what is in use: to read it could end the process with a bus
 *  error. */
bool ab_store_is_cut(MDB_env *env);

/** Makes LMDB's lock file in folder where there is none, as belonging to whoever like belongs to,
 *  NULL for us, and gives it its blocks. Were it root's, it would keep the bridge out; and LMDB
 * maps it, so that to write where it has no block ends the process on a full disk. Returns 0 or an
 * errno.
 */
int ab_store_lock_make(const char *folder, const struct stat *like);

/** LMDB says EIO of a write that came to its end half way. ENOSPC where the disk is full, else the
 *  error as it is. */
int ab_store_error_of(MDB_env *env, int error);

/** What an error of LMDB, or of the system, means for a store. */
ab_store_result_t ab_store_result_of(int error);

#endif
