#ifndef BRIDGE_STATE_STORES_H
#define BRIDGE_STATE_STORES_H

#include "bridge/state/store.h"

/** A store that was not at the end of its topic for so long may have missed a tombstone that is
 * gone by now, and is made anew. Kafka's own delete.retention.ms; a state topic needs at least
 * that. */
#define AB_STORE_BEHIND_MAX_MS ((int64_t)24 * 60 * 60 * 1000)

/** The stores of a process: a folder with one store for each partition of each state topic,
 *  DIR/TOPIC/PARTITION. The folder belongs to one process at a time, and a store to one owner, a
 *  lane, which borrows it. Any thread. */
typedef struct ab_stores ab_stores_t;

/** Longest text of what went wrong, NUL included. */
#define AB_STORES_TEXT_MAX 512

/** Takes the folder, making it where it is not there (its parent must be). NULL when that cannot
 *  be, or another process has it; ret_text then says why and what to do. The caller frees. */
ab_stores_t *ab_stores_new(const char *dir, char ret_text[AB_STORES_TEXT_MAX]);

/** Gives the folder back. Every store must have been returned. Takes NULL. */
void ab_stores_free(ab_stores_t *stores);

/** Lends the store of one partition to owner (not 0), who returns it. ret_store belongs to the
 *  table; ret_found says what was there.
 *  Returns AB_STORE_OK; AB_STORE_FOREIGN while another owner has it; AB_STORE_FULL or
 *  AB_STORE_ERROR, and then ret_text says why. */
ab_store_result_t ab_stores_borrow(ab_stores_t *stores, const char *topic, int32_t partition,
                                   unsigned owner, ab_store_t **ret_store,
                                   ab_store_found_t *ret_found, char ret_text[AB_STORES_TEXT_MAX]);

/** Closes the store and ends the loan; what was not committed is forgotten. */
void ab_stores_return(ab_stores_t *stores, ab_store_t *store);

/** The same, and removes the store's files before anybody else can have it. The loan is over in any
 *  case. Returns 0, or -1 with errno where they cannot be removed. */
int ab_stores_discard(ab_stores_t *stores, ab_store_t *store);

/** Writes the path of a partition's store; false, with errno, when it is too long. */
bool ab_stores_path(const char *dir, const char *topic, int32_t partition, char *ret_path,
                    size_t room);

/** True when a process has the folder. */
bool ab_stores_in_use(const char *dir);

/** Calls visit for each store in the folder, by topic and partition in ascending order; a return
 *  other than 0 ends the walk. Returns that, 0, or -1 when a folder cannot be read: ret_text then
 *  names the first such one and says why, and the stores in the others were visited. */
typedef int ab_stores_visit_fn(void *opaque, const char *path, const char *topic,
                               int32_t partition);
int ab_stores_walk(const char *dir, ab_stores_visit_fn *visit, void *opaque,
                   char ret_text[AB_STORES_TEXT_MAX]);

#endif
