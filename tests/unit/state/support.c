#include "tests/unit/state/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agentwire/crypto.h"

int ab_test_folder_make(void **state)
{
    ab_test_folder_t *folder = calloc(1, sizeof(*folder));
    snprintf(folder->path, sizeof(folder->path), "/tmp/ab-state-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) != NULL ? 0 : -1;
}

static int drop_one(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

int ab_test_folder_drop(void **state)
{
    ab_test_folder_t *folder = *state;
    (void)nftw(folder->path, drop_one, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return 0;
}

ab_store_t *ab_test_open(const ab_test_folder_t *folder, ab_store_found_t *ret_found)
{
    char text[AB_STORE_TEXT_MAX] = "";
    ab_store_t *store = NULL;
    if (ab_store_open(folder->path, TOPIC, 3, &store, ret_found, text) != AB_STORE_OK) {
        fail_msg("the store does not open: %s", text);
    }
    ab_store_set_owner(store, OWNER);
    return store;
}

ab_record_t ab_test_record(int64_t offset, aw_span_t key, aw_span_t value)
{
    return (ab_record_t){
        .topic = TOPIC, .partition = 3, .offset = offset, .key = key, .value = value};
}

aw_span_t ab_test_snapshot(const char *key, int64_t seq, size_t fill, uint8_t *buffer,
                           size_t capacity)
{
    const size_t size = strlen(key);
    uint8_t *at = buffer;
    assert_true(size < 128 && fill < (1u << 21) && seq > 0 && seq < 128);
    assert_true(capacity >= size + fill + 16);
    *at++ = 0x08;
    *at++ = 1;
    *at++ = 0x12;
    *at++ = (uint8_t)size;
    memcpy(at, key, size);
    at += size;
    *at++ = 0x18;
    *at++ = (uint8_t)seq;
    if (fill > 0) {
        *at++ = 0x52; /* field 10, unknown */
        *at++ = (uint8_t)(fill | 0x80);
        *at++ = (uint8_t)(fill >> 7 | 0x80);
        *at++ = (uint8_t)(fill >> 14);
        memset(at, (int)('a' + seq % 26), fill);
        at += fill;
    }
    return (aw_span_t){buffer, (size_t)(at - buffer)};
}

ab_record_t ab_test_history(int64_t offset)
{
    static char key[600];
    static uint8_t value[70000];
    uint64_t random = (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15) + 12345;
    random ^= random >> 29;
    random *= UINT64_C(0xbf58476d1ce4e5b9);
    random ^= random >> 32;
    snprintf(key, sizeof(key), "entity-%u", (unsigned)(random % 50));
    const aw_span_t name = aw_span_text_view(key);
    if (random % 10 == 3) {
        return ab_test_record(offset, name, AW_SPAN_NULL);
    }
    if (random % 12 == 5) {
        value[0] = 0x12; /* cut short */
        return ab_test_record(offset, name, (aw_span_t){value, 1});
    }
    const size_t fill = random % 17 == 0 ? 60000 : (size_t)(random >> 40) % 300;
    return ab_test_record(
        offset, name,
        ab_test_snapshot(key, 1 + (int64_t)(random >> 20) % 100, fill, value, sizeof(value)));
}

/* A chain of hashes is a hash of all. */
typedef struct chain {
    uint8_t digest[AW_SHA256_SIZE];
} chain_t;

static void link_in(chain_t *chain, aw_span_t bytes)
{
    uint8_t both[2 * AW_SHA256_SIZE];
    memcpy(both, chain->digest, AW_SHA256_SIZE);
    assert_int_equal(aw_sha256(bytes, both + AW_SHA256_SIZE), AW_OK);
    assert_int_equal(aw_sha256((aw_span_t){both, sizeof(both)}, chain->digest), AW_OK);
}

static int link_item(void *opaque, const ab_browse_item_t *item)
{
    chain_t *chain = opaque;
    char numbers[128];
    assert_true(item->whole);
    const int size =
        snprintf(numbers, sizeof(numbers), "%lld %d %lld", (long long)item->entry.offset,
                 (int)item->entry.mark, (long long)item->entry.mark_offset);
    link_in(chain, item->key);
    link_in(chain, item->entry.value);
    link_in(chain, aw_span_view(numbers, (size_t)size));
    return 0;
}

void ab_test_digest(const ab_test_folder_t *folder, char ret_hex[65])
{
    chain_t chain = {{0}};
    char text[AB_STORE_TEXT_MAX];
    char numbers[64];
    ab_browser_t *browser = NULL;
    ab_store_facts_t facts;
    int64_t next, current;
    assert_int_equal(ab_browser_open(folder->path, TOPIC, 3, &browser, text), AB_STORE_OK);
    assert_int_equal(ab_browser_walk(browser, link_item, &chain, NULL), AB_STORE_OK);
    assert_int_equal(ab_browser_facts(browser, &facts, &next, &current), AB_STORE_OK);
    ab_browser_close(browser);
    const int size = snprintf(numbers, sizeof(numbers), "%lld", (long long)next);
    link_in(&chain, aw_span_view(numbers, (size_t)size));
    aw_hex_write((aw_span_t){chain.digest, AW_SHA256_SIZE}, ret_hex);
}

void ab_test_expect_rebuilt_same(const ab_test_folder_t *folder, int64_t next)
{
    void *fresh = NULL;
    char was[65], is[65];
    ab_store_found_t found;
    ab_state_verdict_t verdict;
    assert_int_equal(ab_test_folder_make(&fresh), 0);
    ab_store_t *store = ab_test_open(fresh, &found);
    for (int64_t offset = 0; offset < next; offset++) {
        const ab_record_t record = ab_test_history(offset);
        assert_int_equal(ab_store_apply(store, &record, &verdict), AB_STORE_OK);
    }
    assert_int_equal(ab_store_commit(store, OWNER, 0), AB_STORE_OK);
    ab_store_close(store);
    ab_test_digest(folder, was);
    ab_test_digest(fresh, is);
    (void)ab_test_folder_drop(&fresh);
    assert_string_equal(was, is);
}
