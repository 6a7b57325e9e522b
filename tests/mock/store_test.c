#include "tests/mock/rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/store.h"
#include "tests/unit/state/support.h"

/* The verb store over a topic: what it says, and with which code it ends, when it cannot do what it
 * was asked for. */

#define KEYS         40u
#define SETTINGS_MAX 1024u

typedef struct shop {
    rig_t *rig;
    ab_reader_t *reader;
    ab_store_options_t options;
} shop_t;

/* A state topic with a few keys. */
static shop_t open_shop(const ab_test_folder_t *folder)
{
    char text[SETTINGS_MAX];
    char error[AB_READER_TEXT_MAX] = "";
    uint8_t value[64];
    const ab_reader_options_t how = {.timeout_ms = 20000};
    (void)snprintf(text, sizeof(text),
                   "state: {dir: \"%s\", snapshots_from: [st]}\nsnapshots: {topic: sn}\n",
                   folder->path);
    shop_t shop = {.rig = rig_open_exports("answer", text), .options = {.partition = -1}};
    for (unsigned i = 0; i < KEYS; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "key-%u", i);
        rig_write_to(shop.rig, "st", aw_span_text_view(key),
                     ab_test_snapshot(key, 1, 0, value, sizeof(value)));
    }
    shop.reader = ab_reader_new(shop.rig->config, &how, error);
    assert_string_equal(error, "");
    return shop;
}

static void close_shop(shop_t *shop)
{
    ab_reader_free(shop->reader);
    rig_close(shop->rig);
}

static int rebuild(shop_t *shop)
{
    return ab_store_rebuild(&shop->options, shop->rig->config, shop->reader);
}

static int check(shop_t *shop)
{
    return ab_store_check(&shop->options, shop->rig->config->state_dir, shop->reader);
}

/* As a full disk does, this refuses to let a file grow past so many bytes. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_store_rebuild_then_check_is_content(void **state)
{
    shop_t shop = open_shop(*state);
    assert_int_equal(rebuild(&shop), AB_CLI_OK);
    assert_int_equal(check(&shop), AB_CLI_OK);
    close_shop(&shop);
}

static void test_store_rebuild_on_a_full_disk_fails(void **state)
{
    shop_t shop = open_shop(*state);
    /* Enough to begin a store, and too little to fill it. */
    for (rlim_t bytes = 0; bytes <= 16384; bytes += 16384) {
        limit_files(bytes);
        const int code = rebuild(&shop);
        limit_files(RLIM_INFINITY);
        assert_int_equal(code, AB_CLI_IO);
    }
    assert_int_equal(rebuild(&shop), AB_CLI_OK);
    close_shop(&shop);
}

static void test_store_check_without_room_for_its_copy_fails(void **state)
{
    shop_t shop = open_shop(*state);
    assert_int_equal(rebuild(&shop), AB_CLI_OK);
    for (rlim_t bytes = 0; bytes <= 16384; bytes += 16384) {
        limit_files(bytes);
        const int code = check(&shop);
        limit_files(RLIM_INFINITY);
        assert_int_equal(code, AB_CLI_IO);
    }
    assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
    const int code = check(&shop);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(code, AB_CLI_IO);
    close_shop(&shop);
}

static void test_store_named_and_not_there_is_no_success(void **state)
{
    shop_t shop = open_shop(*state);
    assert_int_equal(rebuild(&shop), AB_CLI_OK);
    shop.options.topic = "ts";
    assert_int_equal(check(&shop), AB_CLI_NO_INPUT);
    assert_int_equal(rebuild(&shop), AB_CLI_NO_INPUT);
    close_shop(&shop);
}

static void test_store_check_sees_what_is_missing_and_what_is_damaged(void **state)
{
    char path[PATH_ROOM + 64];
    shop_t shop = open_shop(*state);
    assert_int_equal(rebuild(&shop), AB_CLI_OK);
    for (int32_t p = 0; p < RIG_SOURCE_PARTITIONS; p++) {
        FILE *file;
        (void)snprintf(path, sizeof(path), "%s/st/%d/data.mdb", shop.rig->config->state_dir, p);
        if ((file = fopen(path, "r+")) != NULL) {
            assert_int_equal(fclose(file), 0);
            assert_int_equal(truncate(path, 8192), 0);
        }
    }
    assert_int_equal(check(&shop), AB_CLI_FINDINGS);
    close_shop(&shop);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ab_test_folder_make, ab_test_folder_drop)

int main(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        TEST(test_store_rebuild_then_check_is_content),
        TEST(test_store_rebuild_on_a_full_disk_fails),
        TEST(test_store_check_without_room_for_its_copy_fails),
        TEST(test_store_named_and_not_there_is_no_success),
        TEST(test_store_check_sees_what_is_missing_and_what_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
