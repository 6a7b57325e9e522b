#include "bridge/cli/store.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentwire/crypto.h"
#include "agentwire/utf8.h"
#include "bridge/cli/cli.h"
#include "bridge/cli/select.h"
#include "bridge/core/text.h"
#include "bridge/state/browse.h"
#include "bridge/state/stores.h"

/* Of a key so much is shown, bytes. */
#define KEY_SHOWN_MAX 1024u

void ab_store_print_key(aw_span_t key, bool json)
{
    char text[3 * KEY_SHOWN_MAX + 1];
    char hex[2 * KEY_SHOWN_MAX + 1];
    const aw_span_t shown = {key.data, key.size > KEY_SHOWN_MAX ? KEY_SHOWN_MAX : key.size};
    (void)ab_text_clean(shown, text, sizeof(text));
    if (!json) {
        (void)fputs(text, stdout);
        return;
    }
    aw_hex_write(shown, hex);
    (void)fputs("\"key\":\"", stdout);
    for (const char *at = text; *at != '\0'; at++) {
        (void)printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
    (void)printf("\",\"key_hex\":\"%s\"", hex);
}

bool ab_store_is_wanted(const ab_store_options_t *options, const char *topic, int32_t partition)
{
    return (options->topic == NULL || strcmp(options->topic, topic) == 0) &&
           (options->partition < 0 || options->partition == partition);
}

void ab_store_complain(const char *topic, int32_t partition, const char *what, const char *text,
                       const char *todo)
{
    (void)fprintf(stderr, "agent-bridge store: %s:%d cannot be %s: %s. %s.\n", topic,
                  (int)partition, what, text, todo);
}

const char *ab_store_advice(ab_store_result_t result)
{
    return result == AB_STORE_DAMAGED
               ? "Nothing is lost: a bridge makes it anew from its topic when it opens it, and "
                 "'agent-bridge store rebuild' does while none runs"
               : "Check the rights and the disk of the folder, and run this as the bridge's user";
}

int ab_store_none(const ab_store_options_t *options, const char *where)
{
    const bool named = options->topic != NULL || options->partition >= 0;
    (void)fprintf(stderr, "agent-bridge store: %s: no store%s\n", where,
                  named ? " of that topic and partition" : "");
    return named ? AB_CLI_NO_INPUT : AB_CLI_OK;
}

/* ---- list ---- */

typedef struct listing {
    const ab_store_options_t *options;
    const char *topic;
    int32_t partition;
    bool any;
    int code;
} listing_t;

static int list_key(void *opaque, const ab_browse_item_t *item)
{
    const listing_t *listing = opaque;
    const ab_state_entry_t *entry = &item->entry;
    char hash[AW_SHA256_HEX_SIZE] = "";
    if (entry->value.data != NULL && aw_sha256_hex(entry->value, hash) != AW_OK) {
        return AB_CLI_FATAL;
    }
    if (listing->options->json) {
        (void)printf("{\"topic\":\"%s\",\"partition\":%d,", listing->topic, listing->partition);
        ab_store_print_key(item->key, true);
        (void)printf(",\"size\":%zu,\"offset\":%lld,\"sha256\":\"%s\",\"refused\":\"%s\","
                     "\"refused_offset\":%lld,\"whole\":%s}\n",
                     entry->value.size, (long long)entry->offset, hash,
                     entry->mark != AB_STATE_TAKEN ? ab_state_verdict_label(entry->mark) : "",
                     (long long)entry->mark_offset, item->whole ? "true" : "false");
        return 0;
    }
    (void)fputs("  ", stdout);
    ab_store_print_key(item->key, false);
    if (entry->value.data != NULL) {
        (void)printf("  %zu bytes, offset %lld", entry->value.size, (long long)entry->offset);
    }
    if (entry->mark != AB_STATE_TAKEN) {
        (void)printf("  refused at offset %lld: %s", (long long)entry->mark_offset,
                     ab_state_verdict_label(entry->mark));
    }
    (void)puts(item->whole ? "" : "  DAMAGED");
    return 0;
}

static void print_store(const listing_t *listing, const ab_store_facts_t *facts, int64_t next,
                        int64_t current_ms)
{
    if (listing->options->json) {
        (void)printf("{\"topic\":\"%s\",\"partition\":%d,\"keys\":%llu,\"marked_keys\":%llu,"
                     "\"size_bytes\":%llu,\"next_offset\":%lld,\"current_ms\":%lld}\n",
                     listing->topic, listing->partition, (unsigned long long)facts->keys,
                     (unsigned long long)facts->marked, (unsigned long long)facts->size_bytes,
                     (long long)next, (long long)current_ms);
        return;
    }
    if (next == AB_STORE_UNREAD) {
        (void)printf("%s:%d  not read yet, or not to the end of its topic, %llu bytes\n",
                     listing->topic, listing->partition, (unsigned long long)facts->size_bytes);
        return;
    }
    (void)printf("%s:%d  %llu keys, %llu marked, %llu bytes, read up to offset %lld\n",
                 listing->topic, listing->partition, (unsigned long long)facts->keys,
                 (unsigned long long)facts->marked, (unsigned long long)facts->size_bytes,
                 (long long)next);
}

static int list_store(void *opaque, const char *path, const char *topic, int32_t partition)
{
    listing_t *listing = opaque;
    char text[AB_STORE_TEXT_MAX] = "";
    ab_browser_t *browser = NULL;
    ab_store_facts_t facts;
    int64_t next, current_ms;
    int visited = 0;
    if (!ab_store_is_wanted(listing->options, topic, partition)) {
        return 0;
    }
    listing->any = true;
    listing->topic = topic;
    listing->partition = partition;
    ab_store_result_t result = ab_browser_open(path, topic, partition, &browser, text);
    if (result == AB_STORE_OK) {
        result = ab_browser_facts(browser, &facts, &next, &current_ms);
        if (result == AB_STORE_OK) {
            print_store(listing, &facts, next, current_ms);
        }
        if (result == AB_STORE_OK && listing->options->keys) {
            result = ab_browser_walk(browser, list_key, listing, &visited);
        }
        (void)snprintf(text, sizeof(text), "%s", ab_browser_text_view(browser));
    }
    ab_browser_close(browser);
    if (result != AB_STORE_OK && result != AB_STORE_NONE) {
        ab_store_complain(topic, partition, "read", text, ab_store_advice(result));
        listing->code = AB_CLI_FINDINGS;
    }
    return visited;
}

static int list(const ab_store_options_t *options, const char *dir)
{
    char text[AB_STORES_TEXT_MAX];
    listing_t listing = {.options = options};
    const int result = ab_stores_walk(dir, list_store, &listing, text);
    if (result < 0) {
        (void)fprintf(stderr, "agent-bridge store: %s\n", text);
        return AB_CLI_NO_INPUT;
    }
    if (!listing.any) {
        return ab_store_none(options, dir);
    }
    return result > 0 ? result : listing.code;
}

/* ---- the verb ---- */

static int read_partition(const char *text, int32_t *ret_partition)
{
    char *end;
    const long partition = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || partition > INT32_MAX) {
        return ab_cli_usage_error(&ab_verb_store, "--partition takes a number: '%s'", text);
    }
    *ret_partition = (int32_t)partition;
    return AB_CLI_OK;
}

static int read_options(int argc, char **argv, ab_store_options_t *ret_options)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},  {"dir", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},          {"keys", no_argument, NULL, 'k'},
        {"topic", required_argument, NULL, 'T'},   {"partition", required_argument, NULL, 'p'},
        {"timeout", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            ret_options->file = optarg;
            break;
        case 'd':
            ret_options->dir = optarg;
            break;
        case 'j':
            ret_options->json = true;
            break;
        case 'k':
            ret_options->keys = true;
            break;
        case 'T':
            ret_options->topic = optarg;
            break;
        case 'p':
            if (read_partition(optarg, &ret_options->partition) != AB_CLI_OK) {
                return AB_CLI_USAGE;
            }
            break;
        case 't':
            if (ab_select_timeout(&ab_verb_store, optarg, &ret_options->timeout_ms) != 0) {
                return AB_CLI_USAGE;
            }
            break;
        default:
            return ab_cli_option_error(&ab_verb_store, argv, option);
        }
    }
    return AB_CLI_OK;
}

/* check and rebuild read the topics. */
static int with_reader(const ab_store_options_t *options, const ab_config_t *config, bool rebuild)
{
    char text[AB_READER_TEXT_MAX];
    const ab_reader_options_t how = {.timeout_ms = options->timeout_ms};
    ab_reader_t *reader = ab_reader_new(config, &how, text);
    if (reader == NULL) {
        (void)fprintf(stderr, "agent-bridge store: %s\n", text);
        return AB_CLI_FATAL;
    }
    const char *dir = options->dir != NULL ? options->dir : config->state_dir;
    const int code =
        rebuild ? ab_store_rebuild(options, config, reader) : ab_store_check(options, dir, reader);
    ab_reader_free(reader);
    return code;
}

static int store_run(int argc, char **argv)
{
    ab_store_options_t options = {.partition = -1, .timeout_ms = AB_SELECT_TIMEOUT_MS};
    int code = read_options(argc, argv, &options);
    const char *action = optind < argc ? argv[optind] : NULL;
    if (code != AB_CLI_OK) {
        return code;
    }
    if (action == NULL || optind + 1 < argc ||
        (strcmp(action, "list") != 0 && strcmp(action, "check") != 0 &&
         strcmp(action, "rebuild") != 0)) {
        return ab_cli_usage_error(&ab_verb_store, "expected one of list, check or rebuild");
    }
    if (strcmp(action, "list") == 0 && options.dir != NULL) {
        return list(&options, options.dir);
    }
    if (strcmp(action, "rebuild") == 0 && options.dir != NULL) {
        return ab_cli_usage_error(&ab_verb_store, "rebuild works on state.dir of a configuration");
    }
    ab_config_t *config = ab_select_config(&ab_verb_store, options.file, &code);
    if (config != NULL) {
        code = strcmp(action, "list") == 0
                   ? list(&options, config->state_dir)
                   : with_reader(&options, config, strcmp(action, "rebuild") == 0);
    }
    ab_config_free(config);
    return code;
}

const ab_verb_t ab_verb_store = {
    .name = "store",
    .summary = "list, check or rebuild the stores of published state",
    .help =
        "Usage: agent-bridge store list [--keys] [--dir DIR | -c FILE] [--json]\n"
        "       agent-bridge store check [-c FILE] [--dir DIR] [--json]\n"
        "       agent-bridge store rebuild [-c FILE]\n"
        "The stores hold the last published state of every key, one for each partition of\n"
        "state.snapshots_from. 'list' says what they hold, with --keys key by key. 'check' reads\n"
        "the topics again and names every difference, every key whose last state record was\n"
        "refused, and what is damaged. Both only read, also beside a bridge that runs; there,\n"
        "keys that change meanwhile are left out of a check. 'rebuild' makes the stores anew from\n"
        "the topics; the bridge must not run. Both that make a store write a temporary file of\n"
        "about the topic's size beside it.\n"
        "\n"
        "      --keys           a line for each key\n"
        "      --dir DIR        the folder of the stores, else state.dir of the configuration\n"
        "      --topic TOPIC    only the stores of this topic\n"
        "      --partition N    only those of this partition\n"
        "      --json           a JSON object a line\n"
        "      --timeout D      how long a broker is waited for, 10s by default\n"
        "  -c, --config FILE    the configuration; else $AGENT_BRIDGE_CONFIG, else\n"
        "                       /etc/agent-bridge/config.yaml\n"
        "\n"
        "Exit codes: 0 nothing to complain about, 1 findings, 64 wrong usage, 66 the folder\n"
        "cannot be read or has no such store, 69 no broker answers, 70 memory ran out, 74 a store\n"
        "cannot be written, 75 a bridge uses the folder, 77 not allowed, 78 the configuration is\n"
        "wrong.\n",
    .run = store_run,
};
