#include "bridge/cli/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/select.h"
#include "bridge/kafka/relay.h"
#include "bridge/state/browse.h"
#include "bridge/state/stores.h"

#define OWNER     1u
#define PATH_ROOM 4096
/* What ends a walk. */
#define LOOKUP_FAILED 1
#define BATCH_RECORDS 4096u
#define BATCH_BYTES   ((uint64_t)8 * 1024 * 1024)

/* What to do when the store that is made for comparison cannot be written. */
#define SCRATCH_ADVICE                                                                             \
    "A check makes each store once more in $TMPDIR, else /tmp: give it room, or name another "     \
    "folder"

/* And when one of state.dir cannot. */
#define REBUILD_ADVICE                                                                             \
    "Check the disk and the rights of state.dir, and rebuild again as the bridge's user"

/* ---- applying a topic to a store ---- */

/* Where a store stands while it is made. */
typedef struct making {
    ab_reader_t *reader;
    const char *topic;
    int32_t partition;
    int64_t end;
    ab_store_t *store;
    uint64_t records, committed_records;
} making_t;

static ab_store_result_t commit(making_t *making, int64_t now_ms)
{
    const ab_store_result_t result = ab_store_commit(making->store, OWNER, now_ms);
    if (result == AB_STORE_OK) {
        making->committed_records = making->records;
    }
    return result;
}

static ab_store_result_t finish_load(ab_store_t *store)
{
    bool done = false;
    ab_store_result_t result = AB_STORE_OK;
    while (result == AB_STORE_OK && !done) {
        result = ab_store_load_step(store, OWNER, ab_wall_ms(), &done);
    }
    return result;
}

/* Applies what lies between the store's last commit and the end. AB_STORE_AGAIN: the map has grown,
 * and what was applied since that commit has to be read again. */
static ab_store_result_t apply_rest(making_t *making, ab_read_status_t *ret_status)
{
    const ab_read_range_t all = {0};
    const int64_t next = ab_store_next(making->store);
    ab_full_record_t full;
    ab_state_verdict_t verdict;
    uint64_t bytes;
    size_t count;
    ab_store_result_t result = AB_STORE_OK;
    making->records = making->committed_records;
    if (next == AB_STORE_UNREAD) {
        result = ab_store_load_begin(making->store, 0);
    }
    ab_reader_clear(making->reader);
    *ret_status = ab_reader_add_partition(making->reader, making->topic, making->partition, &all);
    if (*ret_status == AB_READ_OK) {
        ab_reader_limit(making->reader, 0, next > 0 ? next : 0, making->end);
    }
    while (*ret_status == AB_READ_OK && result == AB_STORE_OK) {
        *ret_status = ab_reader_next(making->reader, -1, &full);
        if (*ret_status != AB_READ_OK) {
            break;
        }
        result = ab_store_apply(making->store, &full.record, &verdict);
        making->records++;
        if (result == AB_STORE_OK &&
            (ab_store_pending(making->store, &bytes) >= BATCH_RECORDS || bytes >= BATCH_BYTES)) {
            result = commit(making, 0);
        }
    }
    const ab_reader_part_t *parts = ab_reader_parts_view(making->reader, &count);
    if (*ret_status == AB_READ_END && result == AB_STORE_OK && count > 0) {
        ab_store_advance(making->store, parts[0].end);
        result = ab_store_is_loading(making->store) ? finish_load(making->store)
                                                    : commit(making, ab_wall_ms());
    }
    return result;
}

/* Applies one partition's records below end. Returns an exit code after a complaint, which says
 * what is to be done. */
static int apply_partition(ab_reader_t *reader, const char *topic, int32_t partition, int64_t end,
                           ab_store_t *store, const char *todo, uint64_t *ret_records)
{
    making_t making = {reader, topic, partition, end, store, 0, 0};
    ab_read_status_t status;
    ab_store_result_t result;
    do {
        result = apply_rest(&making, &status);
    } while (result == AB_STORE_AGAIN);
    ab_reader_clear(reader);
    /* A store that refuses ends the reading half way: the reader has nothing to say then. */
    if (result != AB_STORE_OK) {
        ab_store_complain(topic, partition, "written", ab_store_text_view(store), todo);
        return AB_CLI_IO;
    }
    if (status != AB_READ_END) {
        return ab_select_complain(&ab_verb_store, reader, status);
    }
    *ret_records = making.records;
    return AB_CLI_OK;
}

/* ---- check ---- */

typedef struct checking {
    const ab_store_options_t *options;
    ab_reader_t *reader;
    const char *scratch; /* a folder for the stores that are made for comparison */
    bool any;            /* a store was one that was asked for */
    bool unreadable;     /* a store could not be read at all */
    int code;
    /* Of the store that is checked now. */
    const char *topic;
    int32_t partition;
    int64_t next; /* where it had read to; what changed after that is not compared */
    ab_browser_t *wanted, *found;
    ab_store_result_t lookup; /* of the last key that could not be looked up */
    uint64_t compared, differences, marked, skipped;
} checking_t;

static void say(checking_t *checking, const ab_browse_item_t *item, const char *what)
{
    if (checking->options->json) {
        (void)printf("{\"topic\":\"%s\",\"partition\":%d,", checking->topic,
                     (int)checking->partition);
        ab_store_print_key(item->key, true);
        (void)printf(",\"finding\":\"%s\"}\n", what);
        return;
    }
    (void)printf("%s:%d  ", checking->topic, (int)checking->partition);
    ab_store_print_key(item->key, false);
    (void)printf(": %s\n", what);
}

/* What the topic says of the key, while its item is looked at. */
typedef struct comparison {
    checking_t *checking;
    const ab_browse_item_t *found;
    const char *difference;
} comparison_t;

static int compare(void *opaque, const ab_browse_item_t *wanted)
{
    comparison_t *comparison = opaque;
    const ab_state_entry_t *a = &comparison->found->entry;
    const ab_state_entry_t *b = &wanted->entry;
    if (a->mark != b->mark || a->mark_offset != b->mark_offset) {
        comparison->difference = "marked otherwise than the topic says";
    } else if (b->value.data == NULL && a->value.data != NULL && b->mark != AB_STATE_TAKEN) {
        /* Compaction keeps the refused record alone: the state before it is here and nowhere else.
         */
        comparison->difference = NULL;
    } else if (a->offset != b->offset || !aw_span_equal(a->value, b->value)) {
        comparison->difference = "not the state that the topic holds";
    }
    return 0;
}

static int check_key(void *opaque, const ab_browse_item_t *item)
{
    checking_t *checking = opaque;
    comparison_t comparison = {checking, item, NULL};
    if (item->entry.offset >= checking->next || item->entry.mark_offset >= checking->next) {
        checking->skipped++; /* changed since the check began */
        return 0;
    }
    checking->compared++;
    if (!item->whole) {
        comparison.difference = "damaged";
    } else {
        const ab_store_result_t result =
            ab_browser_find(checking->wanted, item->key, compare, &comparison);
        if (result != AB_STORE_OK && result != AB_STORE_NONE) {
            checking->lookup = result;
            return LOOKUP_FAILED;
        }
        if (result == AB_STORE_NONE && item->key_size == item->key.size) {
            comparison.difference = "not in the topic any more";
        }
    }
    if (comparison.difference != NULL) {
        checking->differences++;
        say(checking, item, comparison.difference);
    } else if (item->entry.mark != AB_STATE_TAKEN) {
        checking->marked++;
        say(checking, item, ab_state_verdict_label(item->entry.mark));
    }
    return 0;
}

static int note_presence(void *opaque, const ab_browse_item_t *item)
{
    (void)item;
    *(bool *)opaque = true;
    return 0;
}

/* A key of the topic that the store does not have. */
static int check_missing(void *opaque, const ab_browse_item_t *item)
{
    checking_t *checking = opaque;
    ab_store_facts_t facts;
    int64_t next = 0;
    int64_t current_ms;
    bool present = false;
    const ab_store_result_t result =
        ab_browser_find(checking->found, item->key, note_presence, &present);
    if (result != AB_STORE_OK && result != AB_STORE_NONE) {
        checking->lookup = result;
        return LOOKUP_FAILED;
    }
    if (present || item->key_size != item->key.size) {
        return 0;
    }
    if (ab_browser_facts(checking->found, &facts, &next, &current_ms) == AB_STORE_OK &&
        next != checking->next) {
        checking->skipped++; /* perhaps forgotten since the check began */
        return 0;
    }
    checking->differences++;
    say(checking, item, "in the topic and not in the store");
    return 0;
}

/* The store that the topic makes, in the scratch folder. NULL after a complaint. */
static ab_browser_t *make_wanted(checking_t *checking)
{
    char text[AB_STORE_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    ab_store_found_t found;
    ab_browser_t *browser = NULL;
    uint64_t records;
    (void)ab_store_remove(checking->scratch);
    checking->code = AB_CLI_IO;
    if (ab_store_open(checking->scratch, checking->topic, checking->partition, &store, &found,
                      text) != AB_STORE_OK) {
        ab_store_complain(checking->topic, checking->partition, "checked", text, SCRATCH_ADVICE);
        return NULL;
    }
    ab_store_set_owner(store, OWNER);
    checking->code = apply_partition(checking->reader, checking->topic, checking->partition,
                                     checking->next, store, SCRATCH_ADVICE, &records);
    ab_store_close(store);
    if (checking->code == AB_CLI_OK &&
        ab_browser_open(checking->scratch, checking->topic, checking->partition, &browser, text) !=
            AB_STORE_OK) {
        ab_store_complain(checking->topic, checking->partition, "checked", text, SCRATCH_ADVICE);
        checking->code = AB_CLI_IO;
    }
    return browser;
}

static void print_result(const checking_t *checking)
{
    if (checking->options->json) {
        (void)printf("{\"topic\":\"%s\",\"partition\":%d,\"compared\":%llu,\"differences\":%llu,"
                     "\"marked_keys\":%llu,\"changed_meanwhile\":%llu}\n",
                     checking->topic, (int)checking->partition,
                     (unsigned long long)checking->compared,
                     (unsigned long long)checking->differences,
                     (unsigned long long)checking->marked, (unsigned long long)checking->skipped);
        return;
    }
    (void)printf("%s:%d  %llu keys compared up to offset %lld, %llu differ, %llu marked, "
                 "%llu changed meanwhile\n",
                 checking->topic, (int)checking->partition, (unsigned long long)checking->compared,
                 (long long)checking->next, (unsigned long long)checking->differences,
                 (unsigned long long)checking->marked, (unsigned long long)checking->skipped);
}

/* One way. walked is walked, and the keys are looked up in other. */
static ab_store_result_t compare_one(checking_t *checking, ab_browser_t *walked,
                                     const ab_browser_t *other, ab_browse_fn *visit,
                                     char text[AB_STORE_TEXT_MAX])
{
    int visited = 0;
    const ab_store_result_t result = ab_browser_walk(walked, visit, checking, &visited);
    const bool failed = result == AB_STORE_OK && visited == LOOKUP_FAILED;
    (void)snprintf(text, AB_STORE_TEXT_MAX, "%s", ab_browser_text_view(failed ? other : walked));
    return failed ? checking->lookup : result;
}

/* Compares both ways. */
static ab_store_result_t compare_stores(checking_t *checking, char text[AB_STORE_TEXT_MAX])
{
    const ab_store_result_t result =
        compare_one(checking, checking->found, checking->wanted, check_key, text);
    return result != AB_STORE_OK
               ? result
               : compare_one(checking, checking->wanted, checking->found, check_missing, text);
}

/* A store that cannot be compared: damage is a finding, and everything else is in the way of one.
 */
static void tell_unreadable(checking_t *checking, ab_store_result_t result, const char *text)
{
    if (result != AB_STORE_DAMAGED) {
        ab_store_complain(checking->topic, checking->partition, "checked", text,
                          ab_store_advice(result));
        checking->unreadable = true;
        return;
    }
    (void)printf(checking->options->json
                     ? "{\"topic\":\"%s\",\"partition\":%d,\"finding\":\"damaged: %s\"}\n"
                     : "%s:%d  damaged: %s\n",
                 checking->topic, (int)checking->partition, text);
    checking->differences++;
}

/* Returns what reading the store came to; *checking holds the rest. */
static ab_store_result_t check_opened(checking_t *checking, char text[AB_STORE_TEXT_MAX])
{
    ab_store_facts_t facts;
    int64_t current_ms;
    const ab_store_result_t result =
        ab_browser_facts(checking->found, &facts, &checking->next, &current_ms);
    if (result != AB_STORE_OK) {
        (void)snprintf(text, AB_STORE_TEXT_MAX, "%s", ab_browser_text_view(checking->found));
        return result;
    }
    checking->wanted = checking->next > 0 ? make_wanted(checking) : NULL;
    return checking->wanted != NULL ? compare_stores(checking, text) : AB_STORE_OK;
}

static int check_store(void *opaque, const char *path, const char *topic, int32_t partition)
{
    checking_t *checking = opaque;
    char text[AB_STORE_TEXT_MAX] = "";
    if (!ab_store_is_wanted(checking->options, topic, partition)) {
        return 0;
    }
    const int before = checking->code;
    checking->code = AB_CLI_OK;
    checking->any = true;
    checking->topic = topic;
    checking->partition = partition;
    checking->compared = checking->differences = checking->marked = checking->skipped = 0;
    ab_store_result_t result = ab_browser_open(path, topic, partition, &checking->found, text);
    if (result == AB_STORE_OK) {
        result = check_opened(checking, text);
    }
    if (result != AB_STORE_OK && result != AB_STORE_NONE) {
        tell_unreadable(checking, result, text);
    } else if (checking->wanted != NULL) {
        print_result(checking);
    }
    if (checking->code == AB_CLI_OK) {
        checking->code = checking->differences + checking->marked > 0 ? AB_CLI_FINDINGS : before;
    }
    ab_browser_close(checking->wanted);
    ab_browser_close(checking->found);
    checking->wanted = NULL;
    checking->found = NULL;
    return checking->code > AB_CLI_FINDINGS ? checking->code : 0;
}

int ab_store_check(const ab_store_options_t *options, const char *dir, ab_reader_t *reader)
{
    char scratch[PATH_ROOM];
    char text[AB_STORES_TEXT_MAX];
    const char *parent = getenv("TMPDIR");
    checking_t checking = {.options = options, .reader = reader};
    (void)snprintf(scratch, sizeof(scratch), "%s/agent-bridge-check-XXXXXX",
                   parent != NULL ? parent : "/tmp");
    checking.scratch = mkdtemp(scratch);
    if (checking.scratch == NULL) {
        (void)fprintf(stderr, "agent-bridge store: %s: %s. " SCRATCH_ADVICE ".\n", scratch,
                      strerror(errno));
        return AB_CLI_IO;
    }
    if (ab_stores_walk(dir, check_store, &checking, text) < 0) {
        (void)fprintf(stderr, "agent-bridge store: %s\n", text);
        checking.code = AB_CLI_NO_INPUT;
    } else if (!checking.any) {
        checking.code = ab_store_none(options, dir);
    }
    if (checking.unreadable && checking.code <= AB_CLI_FINDINGS) {
        checking.code = AB_CLI_NO_INPUT;
    }
    (void)ab_store_remove(scratch);
    (void)remove(scratch);
    return checking.code;
}

/* ---- rebuild ---- */

/* An empty store in the place of whatever is there. NULL after a complaint. */
static ab_store_t *make_empty(const ab_config_t *config, ab_stores_t *stores, const char *topic,
                              int32_t partition)
{
    char path[PATH_ROOM];
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    ab_store_found_t found;
    const bool removed = ab_stores_path(config->state_dir, topic, partition, path, sizeof(path)) &&
                         ab_store_remove(path) == 0;
    if (!removed) {
        (void)snprintf(text, sizeof(text), "%s", strerror(errno));
    } else if (ab_stores_borrow(stores, topic, partition, OWNER, &store, &found, text) !=
               AB_STORE_OK) {
        store = NULL;
    }
    if (store == NULL) {
        ab_store_complain(topic, partition, removed ? "made" : "removed", text, REBUILD_ADVICE);
    }
    return store;
}

static int rebuild_one(const ab_config_t *config, ab_reader_t *reader, ab_stores_t *stores,
                       const char *topic, int32_t partition)
{
    ab_store_t *store = make_empty(config, stores, topic, partition);
    uint64_t records = 0;
    if (store == NULL) {
        return AB_CLI_IO;
    }
    const int code =
        apply_partition(reader, topic, partition, INT64_MAX, store, REBUILD_ADVICE, &records);
    if (code == AB_CLI_OK) {
        (void)printf("%s:%d  made from %llu records: %llu keys\n", topic, (int)partition,
                     (unsigned long long)records, (unsigned long long)ab_store_facts(store).keys);
    }
    ab_stores_return(stores, store);
    return code;
}

/* What root makes is root's. */
static void warn_of_root(const char *dir)
{
    struct stat about;
    if (geteuid() == 0 && stat(dir, &about) == 0 && about.st_uid != 0) {
        (void)fprintf(
            stderr,
            "agent-bridge store: %s belongs to user %u, and what was made to root. Unless "
            "the bridge runs as root: chown -R --reference=%s %s\n",
            dir, (unsigned)about.st_uid, dir, dir);
    }
}

int ab_store_rebuild(const ab_store_options_t *options, const ab_config_t *config,
                     ab_reader_t *reader)
{
    char text[AB_STORES_TEXT_MAX] = "";
    int code = AB_CLI_OK;
    bool any = false;
    ab_stores_t *stores = ab_stores_new(config->state_dir, text);
    if (stores == NULL) {
        (void)fprintf(stderr, "agent-bridge store: %s: %s\n", config->state_dir, text);
        return ab_stores_in_use(config->state_dir) ? AB_EXIT_TEMPORARY : AB_CLI_NO_INPUT;
    }
    for (size_t t = 0; t < config->state_topics.count && code == AB_CLI_OK; t++) {
        const char *topic = config->state_topics.items[t];
        int32_t partitions = 0;
        const ab_read_status_t status = ab_reader_count(reader, topic, &partitions);
        if (status != AB_READ_OK) {
            code = ab_select_complain(&ab_verb_store, reader, status);
        }
        for (int32_t p = 0; p < partitions && code == AB_CLI_OK; p++) {
            if (ab_store_is_wanted(options, topic, p)) {
                any = true;
                code = rebuild_one(config, reader, stores, topic, p);
            }
        }
    }
    ab_stores_free(stores);
    warn_of_root(config->state_dir);
    return code == AB_CLI_OK && !any ? ab_store_none(options, "state.snapshots_from") : code;
}
