#include "bridge/cli/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/select.h"
#include "bridge/kafka/relay.h"
#include "bridge/state/browse.h"
#include "bridge/state/stores.h"

#define OWNER         1u
#define PATH_ROOM     4096
#define BATCH_RECORDS 4096u
#define BATCH_BYTES   ((uint64_t)8 * 1024 * 1024)

/* ---- applying a topic to a store ---- */

/* Applies one partition's records below end. Returns an exit code after a complaint. */
static int apply_partition(ab_reader_t *reader, const char *topic, int32_t partition, int64_t end,
                           ab_store_t *store, uint64_t *ret_records)
{
    const ab_read_range_t all = {0};
    ab_full_record_t full;
    ab_state_verdict_t verdict;
    uint64_t bytes;
    uint64_t records = 0;
    ab_read_status_t status = ab_reader_add_partition(reader, topic, partition, &all);
    if (status == AB_READ_OK) {
        ab_reader_limit(reader, 0, 0, end);
    }
    ab_store_result_t result = AB_STORE_OK;
    while (status == AB_READ_OK && result == AB_STORE_OK) {
        status = ab_reader_next(reader, -1, &full);
        if (status != AB_READ_OK) {
            break;
        }
        result = ab_store_apply(store, &full.record, &verdict);
        records++;
        if (result == AB_STORE_OK &&
            (ab_store_pending(store, &bytes) >= BATCH_RECORDS || bytes >= BATCH_BYTES)) {
            result = ab_store_commit(store, OWNER, 0);
        }
        if (result == AB_STORE_AGAIN) {
            /* The map has grown: read on from the last commit. */
            ab_reader_clear(reader);
            status = ab_reader_add_partition(reader, topic, partition, &all);
            ab_reader_limit(reader, 0, ab_store_next(store) > 0 ? ab_store_next(store) : 0, end);
            result = AB_STORE_OK;
        }
    }
    size_t count;
    const ab_reader_part_t *parts = ab_reader_parts_view(reader, &count);
    if (status == AB_READ_END && result == AB_STORE_OK && count > 0) {
        ab_store_advance(store, parts[0].end);
        result = ab_store_commit(store, OWNER, ab_wall_ms());
    }
    ab_reader_clear(reader);
    if (status != AB_READ_END) {
        return ab_select_complain(&ab_verb_store, reader, status);
    }
    if (result != AB_STORE_OK) {
        (void)fprintf(stderr, "agent-bridge store: %s:%d cannot be written: %s\n", topic,
                      (int)partition, ab_store_text_view(store));
        return AB_CLI_FATAL;
    }
    *ret_records = records;
    return AB_CLI_OK;
}

/* ---- check ---- */

typedef struct checking {
    const ab_store_options_t *options;
    ab_reader_t *reader;
    const char *scratch; /* a folder for the stores that are made for comparison */
    bool beside;
    int code;
    /* Of the store that is checked now. */
    const char *topic;
    int32_t partition;
    int64_t next; /* where it had read to; what changed after that is not compared */
    ab_browser_t *wanted, *found;
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
    } else if (ab_browser_find(checking->wanted, item->key, compare, &comparison) ==
                   AB_STORE_NONE &&
               item->key_size == item->key.size) {
        comparison.difference = "not in the topic any more";
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
    (void)ab_browser_find(checking->found, item->key, note_presence, &present);
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
static ab_browser_t *make_wanted(checking_t *checking, char *text)
{
    ab_store_t *store = NULL;
    ab_store_found_t found;
    ab_browser_t *browser = NULL;
    uint64_t records;
    (void)ab_store_remove(checking->scratch);
    if (ab_store_open(checking->scratch, checking->topic, checking->partition, &store, &found,
                      text) != AB_STORE_OK) {
        checking->code = AB_CLI_FATAL;
        return NULL;
    }
    ab_store_set_owner(store, OWNER);
    const int code = apply_partition(checking->reader, checking->topic, checking->partition,
                                     checking->next, store, &records);
    ab_store_close(store);
    if (code != AB_CLI_OK) {
        checking->code = code;
        return NULL;
    }
    (void)ab_browser_open(checking->scratch, checking->topic, checking->partition, false, &browser,
                          text);
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

/* Compares both ways. */
static ab_store_result_t compare_stores(checking_t *checking)
{
    ab_store_result_t result = ab_browser_walk(checking->found, check_key, checking, NULL);
    if (result == AB_STORE_OK) {
        result = ab_browser_walk(checking->wanted, check_missing, checking, NULL);
    }
    return result;
}

static int check_store(void *opaque, const char *path, const char *topic, int32_t partition)
{
    checking_t *checking = opaque;
    char text[AB_STORE_TEXT_MAX] = "";
    ab_store_facts_t facts;
    int64_t current_ms;
    if (!ab_store_is_wanted(checking->options, topic, partition)) {
        return 0;
    }
    checking->topic = topic;
    checking->partition = partition;
    checking->compared = checking->differences = checking->marked = checking->skipped = 0;
    ab_store_result_t result =
        ab_browser_open(path, topic, partition, checking->beside, &checking->found, text);
    if (result == AB_STORE_NONE) {
        return 0;
    }
    if (result == AB_STORE_OK) {
        result = ab_browser_facts(checking->found, &facts, &checking->next, &current_ms);
    }
    if (result == AB_STORE_OK && checking->next > 0) {
        checking->wanted = make_wanted(checking, text);
        result = checking->wanted != NULL ? compare_stores(checking) : AB_STORE_OK;
    }
    if (result != AB_STORE_OK) {
        (void)printf(checking->options->json
                         ? "{\"topic\":\"%s\",\"partition\":%d,\"finding\":\"damaged: %s\"}\n"
                         : "%s:%d  damaged: %s\n",
                     topic, (int)partition, text);
        checking->differences++;
    } else if (checking->wanted != NULL) {
        print_result(checking);
    }
    if (checking->code == AB_CLI_OK && checking->differences + checking->marked > 0) {
        checking->code = AB_CLI_FINDINGS;
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
    const char *parent = getenv("TMPDIR");
    checking_t checking = {.options = options, .reader = reader, .beside = ab_stores_in_use(dir)};
    (void)snprintf(scratch, sizeof(scratch), "%s/agent-bridge-check-XXXXXX",
                   parent != NULL ? parent : "/tmp");
    checking.scratch = mkdtemp(scratch);
    if (checking.scratch == NULL) {
        (void)fprintf(stderr, "agent-bridge store: %s: %s\n", scratch, strerror(errno));
        return AB_CLI_FATAL;
    }
    const int result = ab_stores_walk(dir, check_store, &checking);
    if (result < 0) {
        (void)fprintf(stderr, "agent-bridge store: %s: %s\n", dir, strerror(errno));
        checking.code = AB_CLI_NO_INPUT;
    }
    (void)ab_store_remove(scratch);
    (void)remove(scratch);
    return checking.code;
}

/* ---- rebuild ---- */

static int rebuild_one(const ab_config_t *config, ab_reader_t *reader, ab_stores_t *stores,
                       const char *topic, int32_t partition)
{
    char path[PATH_ROOM];
    char text[AB_STORES_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    ab_store_found_t found;
    uint64_t records = 0;
    if (!ab_stores_path(config->state_dir, topic, partition, path, sizeof(path)) ||
        ab_store_remove(path) != 0 ||
        ab_stores_borrow(stores, topic, partition, OWNER, &store, &found, text) != AB_STORE_OK) {
        (void)fprintf(stderr, "agent-bridge store: %s:%d cannot be made: %s\n", topic,
                      (int)partition, text[0] != '\0' ? text : strerror(errno));
        return AB_CLI_FATAL;
    }
    const int code = apply_partition(reader, topic, partition, INT64_MAX, store, &records);
    if (code == AB_CLI_OK) {
        (void)printf("%s:%d  made from %llu records: %llu keys\n", topic, (int)partition,
                     (unsigned long long)records, (unsigned long long)ab_store_facts(store).keys);
    }
    ab_stores_return(stores, store);
    return code;
}

int ab_store_rebuild(const ab_store_options_t *options, const ab_config_t *config,
                     ab_reader_t *reader)
{
    char text[AB_STORES_TEXT_MAX] = "";
    int code = AB_CLI_OK;
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
                code = rebuild_one(config, reader, stores, topic, p);
            }
        }
    }
    ab_stores_free(stores);
    return code;
}
