#ifndef BRIDGE_STATE_STORE_H
#define BRIDGE_STATE_STORE_H

#include <stdbool.h>

#include "bridge/core/record.h"
#include "bridge/core/status.h"

/** The last published state of every key of one partition of a state topic, on disk: an LMDB
 *  environment in a folder of its own. What it holds is a function of the topic's records below
 *  ab_store_next() and of nothing else, so it can be thrown away at any time and made again.
 *
 *  A record's effect and the offset behind it become durable together, at ab_store_commit(), or, of
 *  a topic that is loaded, all records' at the last ab_store_load_step(): after a kill at any point
 *  the store is what it was at some commit. Used by one thread at a time; no second one of the same
 *  folder may be open in the process (bridge/state/stores.h sees to it). */
typedef struct ab_store ab_store_t;

/** How a call on a store ended. */
typedef enum ab_store_result {
    AB_STORE_OK,
    AB_STORE_NONE,    /* no such key */
    AB_STORE_PASSED,  /* the record lies below ab_store_next(): it had its effect already */
    AB_STORE_AGAIN,   /* the map was too small and has been made larger; everything since the last
                         commit is forgotten: go on from ab_store_next() */
    AB_STORE_FOREIGN, /* the caller does not own the store any more; nothing was written */
    AB_STORE_DAMAGED, /* it cannot be read or written any more: ab_store_close(), then
                         ab_store_remove() and a new one */
    AB_STORE_FULL,    /* the disk is; nothing since the last commit was kept */
    AB_STORE_ERROR    /* memory, rights, or another refusal of the system; the same */
} ab_store_result_t;

/** What ab_store_open() found. */
typedef enum ab_store_found {
    AB_STORE_FOUND_WHOLE,
    AB_STORE_FOUND_NOTHING, /* begun anew: there was none, or a load of it had stopped half way */
    AB_STORE_FOUND_DAMAGED, /* begun anew: it could not be read */
    AB_STORE_FOUND_OTHER    /* begun anew: of another version, topic or partition */
} ab_store_found_t;

/** ab_store_next() of a store that has read nothing yet: begin at the topic's start. */
#define AB_STORE_UNREAD (-1)

/** Longest text of what the system said, NUL included. */
#define AB_STORE_TEXT_MAX 160

/** Opens the store in folder, which exists and is the caller's; one that cannot be used is removed
 *  and begun anew, as ret_found says. ret_store is the caller's, who closes it.
 *  Returns AB_STORE_OK, AB_STORE_FULL or AB_STORE_ERROR, and then ret_text says why. */
ab_store_result_t ab_store_open(const char *folder, const char *topic, int32_t partition,
                                ab_store_t **ret_store, ab_store_found_t *ret_found,
                                char ret_text[AB_STORE_TEXT_MAX]);

/** Closes; what was not committed is forgotten. Takes NULL. */
void ab_store_close(ab_store_t *store);

/** Removes the files of the store in folder, which must not be open, but not the folder.
 *  Returns 0, or -1 with errno. */
int ab_store_remove(const char *folder);

/** Who owns the store: any number that tells owners apart, 0 for nobody. */
void ab_store_set_owner(ab_store_t *store, unsigned owner);

/** The next offset to read: every record below it has had its effect. With what was applied since
 *  the last commit. */
int64_t ab_store_next(const ab_store_t *store);

/** Applies one record of the store's partition: the key's state is replaced or forgotten, and a
 *  mark that stood on the key goes away; or the record is refused, the key keeps what it had and
 *  is marked with it. ret_verdict says which. Durable with the next commit.
 *  While the store is loaded it is collected only. Returns AB_STORE_OK, AB_STORE_PASSED, or
 * trouble.
 */
ab_store_result_t ab_store_apply(ab_store_t *store, const ab_record_t *record,
                                 ab_state_verdict_t *ret_verdict);

/** Everything below offset has been read, though no record of it came: transaction markers,
 *  aborted and compacted records. Never goes back. */
void ab_store_advance(ab_store_t *store, int64_t offset);

/** Applied and not committed yet: how many records, and their bytes. Of what a load collects there
 *  is nothing to commit. */
uint64_t ab_store_pending(const ab_store_t *store, uint64_t *ret_bytes);

/** Makes durable what was applied. now_ms, since the epoch, is noted as the time when the store was
 *  last seen to be at the end of its topic; 0 keeps the time noted before. Does nothing where
 *  nothing changed but that time, by less than a minute. Returns AB_STORE_OK, AB_STORE_FOREIGN,
 *  AB_STORE_AGAIN, or trouble. While the store is loaded it looks at the owner and does nothing
 * else.
 */
ab_store_result_t ab_store_commit(ab_store_t *store, unsigned owner, int64_t now_ms);

/** When the store was last at the end of its topic, ms since the epoch; 0: never. */
int64_t ab_store_current_ms(const ab_store_t *store);

/** Forgets everything, durably, so that the topic is read anew. */
ab_store_result_t ab_store_reset(ab_store_t *store);

/** Begins to load a store that has read nothing yet: what is applied from now on is collected and
 *  sorted, in memory_bytes and, where they do not do, in a file in the store's folder that goes
 * away with the process and becomes about as large as what the topic holds. Written in the order of
 *  their keys, many records cost a fraction of what they do in the order of the topic.
 *  ab_store_next() moves as ever, and goes back to AB_STORE_UNREAD with ab_store_reset() and with
 *  every trouble, which ends the load; the store is an ordinary one then, with nothing in it.
 *  memory_bytes 0 stands for the usual amount. Returns AB_STORE_OK or AB_STORE_ERROR. */
ab_store_result_t ab_store_load_begin(ab_store_t *store, size_t memory_bytes);

/** From ab_store_load_begin() until the last ab_store_load_step(). */
bool ab_store_is_loading(const ab_store_t *store);

/** Once everything has been applied: writes some of it, as much as a batch, and commits that.
 * *ret_done becomes true with the last of it, which makes the store an ordinary one that has read
 * up to ab_store_next() and, where now_ms is not 0, was at the end of its topic then. Before that
 * the store counts as unread, for a reader beside too. Between the first call and the last nothing
 * may be applied. Returns AB_STORE_OK, AB_STORE_FOREIGN, AB_STORE_AGAIN, or trouble. */
ab_store_result_t ab_store_load_step(ab_store_t *store, unsigned owner, int64_t now_ms,
                                     bool *ret_done);

/** What is known of a key. */
typedef struct ab_state_entry {
    aw_span_t value;         /* the published snapshot; absent where none is known */
    int64_t offset;          /* of its record; -1 */
    ab_state_verdict_t mark; /* why a later record of the key was refused; AB_STATE_TAKEN: none */
    int64_t mark_offset;     /* of that record; -1 */
} ab_state_entry_t;

/** Looks a key up, with what was applied since the last commit. The value is a view into the store
 *  that lives until the next call on it. ret_entry is written on AB_STORE_OK, which may also mean a
 *  mark without a value, only.
 *  Returns AB_STORE_OK, AB_STORE_NONE, AB_STORE_DAMAGED (also when the value is not what was
 *  written), or AB_STORE_ERROR, also while the store is loaded: nothing is known then. */
ab_store_result_t ab_store_get(ab_store_t *store, aw_span_t key, ab_state_entry_t *ret_entry);

/** What a store holds. */
typedef struct ab_store_facts {
    uint64_t keys;       /* with a state */
    uint64_t marked;     /* keys whose last record was refused, with or without a state */
    uint64_t size_bytes; /* of its file */
    uint64_t map_bytes;  /* of the address space set aside for it */
} ab_store_facts_t;

/** A store that is loaded has no keys yet. */
ab_store_facts_t ab_store_facts(ab_store_t *store);

/** For tests: how much room the map keeps free, bytes; 0 brings the usual back. */
void ab_store_set_room(ab_store_t *store, size_t room_bytes);

/** What the system said when a call on the store failed last, "" when nothing. A view into it. */
const char *ab_store_text_view(const ab_store_t *store);

/** The version of the LMDB that runs. Storage of the thread. */
const char *ab_store_library_version(void);

#endif
