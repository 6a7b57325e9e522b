#ifndef TESTS_UNIT_STATE_SUPPORT_H
#define TESTS_UNIT_STATE_SUPPORT_H

/* What the tests of the stores share. cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/state/browse.h"
#include "bridge/state/judge.h"
#include "bridge/state/stores.h"

#define TOPIC     "agents.snapshots"
#define OWNER     1u
#define PATH_ROOM 512

/** A folder of the test's own, removed at its end. */
typedef struct ab_test_folder {
    char path[PATH_ROOM];
} ab_test_folder_t;

int ab_test_folder_make(void **state);
int ab_test_folder_drop(void **state);

/** Opens the store in the folder for OWNER; fails the test when it does not open. */
ab_store_t *ab_test_open(const ab_test_folder_t *folder, ab_store_found_t *ret_found);

/** A state record: key and value are views. Without a value it is a tombstone. */
ab_record_t ab_test_record(int64_t offset, aw_span_t key, aw_span_t value);

/** A StateSnapshot of key with this seq and an unknown field of fill bytes, in buffer. */
aw_span_t ab_test_snapshot(const char *key, int64_t seq, size_t fill, uint8_t *buffer,
                           size_t capacity);

/** Record number offset of a history that is the same on every run: some 50 keys, one record in
 *  ten a tombstone, one in twelve refused. Lives until the next call. */
ab_record_t ab_test_history(int64_t offset);

/** A SHA-256 over all that the closed store in the folder holds, its position included. */
void ab_test_digest(const ab_test_folder_t *folder, char ret_hex[65]);

/** Fails the test unless a fresh store with the records below next of the history is the same. */
void ab_test_expect_rebuilt_same(const ab_test_folder_t *folder, int64_t next);

#endif
