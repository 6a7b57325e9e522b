#ifndef BRIDGE_STATE_BROWSE_H
#define BRIDGE_STATE_BROWSE_H

#include "bridge/state/store.h"

/** Reading a store without owning it: read-only, beside the bridge that has it or with none, also
 *  when one begins meanwhile. Nothing is written but a reader's slot in LMDB's lock file, which is
 *  needed even so: without it a bridge would write over what is being read. Each entry is read in a
 *  transaction of its own, which is over before the entry is shown, so that the store never grows
 *  for a reader that stands still; what is seen may then be from several moments. A store that is
 *  loaded, or was when the process ended, is empty: it is read from the topic's start. */
typedef struct ab_browser ab_browser_t;

/** Opens the store in folder. Returns AB_STORE_OK; AB_STORE_NONE when there is none;
 *  AB_STORE_DAMAGED (also of another version, topic or partition) or AB_STORE_ERROR, and then
 *  ret_text says why. */
ab_store_result_t ab_browser_open(const char *folder, const char *topic, int32_t partition,
                                  ab_browser_t **ret_browser, char ret_text[AB_STORE_TEXT_MAX]);

/** Takes NULL. */
void ab_browser_close(ab_browser_t *browser);

/** Why the last call failed; never empty then. A view into the browser. */
const char *ab_browser_text_view(const ab_browser_t *browser);

/** One key as it lies in the store. Views that live until the callback returns, which makes no call
 *  on the same browser. */
typedef struct ab_browse_item {
    aw_span_t key;     /* of a mark without state perhaps only its first bytes */
    uint64_t key_size; /* of the whole key */
    ab_state_entry_t entry;
    bool whole; /* false: the state is not what was written */
} ab_browse_item_t;

typedef int ab_browse_fn(void *opaque, const ab_browse_item_t *item);

/** Calls visit for every key with a state, in the store's order, then for every marked one without;
 *  a return other than 0 ends the walk. Returns AB_STORE_OK, AB_STORE_DAMAGED or AB_STORE_ERROR;
 *  *ret_visited, where given, is what the last visit returned. */
ab_store_result_t ab_browser_walk(ab_browser_t *browser, ab_browse_fn *visit, void *opaque,
                                  int *ret_visited);

/** Looks one key up and calls visit for it, as above. AB_STORE_NONE when it is not there. */
ab_store_result_t ab_browser_find(ab_browser_t *browser, aw_span_t key, ab_browse_fn *visit,
                                  void *opaque);

/** What the store holds, and how far it has read. */
ab_store_result_t ab_browser_facts(ab_browser_t *browser, ab_store_facts_t *ret_facts,
                                   int64_t *ret_next, int64_t *ret_current_ms);

#endif
