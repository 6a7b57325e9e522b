#include "bridge/state/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bridge/core/partition.h"
#include "bridge/core/record.h"

#define PATH_ROOM 4096
/* What LMDB makes its lock file. */
#define LOCK_BYTES 8192
/* With less left than this a disk is full. */
#define DISK_FULL_BYTES ((uint64_t)1024 * 1024)

int ab_store_key_of(aw_span_t key, ab_store_key_t *ret_key)
{
    if (key.size < AB_STORE_KEY_MAX) {
        ret_key->bytes[0] = 'k';
        if (key.size > 0) {
            memcpy(ret_key->bytes + 1, key.data, key.size);
        }
        ret_key->size = 1 + key.size;
        return 0;
    }
    ret_key->bytes[0] = 'h';
    ret_key->size = 1 + AW_SHA256_SIZE;
    return aw_sha256(key, ret_key->bytes + 1) == AW_OK ? 0 : -1;
}

static void put32(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(number >> (8 * i));
    }
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++) {
        number |= (uint32_t)at[i] << (8 * i);
    }
    return number;
}

void ab_store_put64(uint8_t *at, int64_t number)
{
    put32(at, (uint32_t)(uint64_t)number);
    put32(at + 4, (uint32_t)((uint64_t)number >> 32));
}

int64_t ab_store_get64(const uint8_t *at)
{
    return (int64_t)(get32(at) | (uint64_t)get32(at + 4) << 32);
}

void ab_store_head_write(const ab_store_head_t *head, uint8_t ret_bytes[AB_STORE_HEAD_SIZE])
{
    ab_store_put64(ret_bytes, head->offset);
    put32(ret_bytes + 8, head->check);
    put32(ret_bytes + 12, head->size);
}

void ab_store_head_read(const uint8_t *bytes, ab_store_head_t *ret_head)
{
    ret_head->offset = ab_store_get64(bytes);
    ret_head->check = get32(bytes + 8);
    ret_head->size = get32(bytes + 12);
}

uint32_t ab_store_check_of(const ab_store_key_t *key, aw_span_t value)
{
    const aw_span_t name = {key->bytes, key->size};
    return ab_murmur2(name) * 31u + ab_murmur2(value);
}

bool ab_store_state_read(const ab_store_key_t *key, aw_span_t stored, ab_store_head_t *ret_head,
                         aw_span_t *ret_value)
{
    if (stored.size < AB_STORE_HEAD_SIZE) {
        return false;
    }
    ab_store_head_read(stored.data, ret_head);
    *ret_value = (aw_span_t){stored.data + AB_STORE_HEAD_SIZE, stored.size - AB_STORE_HEAD_SIZE};
    return ret_head->size == ret_value->size &&
           ret_head->check == ab_store_check_of(key, *ret_value);
}

bool ab_store_mark_read(aw_span_t stored, ab_store_head_t *ret_head, aw_span_t *ret_key)
{
    if (stored.size < AB_STORE_HEAD_SIZE) {
        return false;
    }
    ab_store_head_read(stored.data, ret_head);
    *ret_key = (aw_span_t){stored.data + AB_STORE_HEAD_SIZE, stored.size - AB_STORE_HEAD_SIZE};
    return ret_head->check > AB_STATE_TAKEN && ret_head->check < AB_STATE_VERDICT_COUNT;
}

size_t ab_store_stamp_write(const char *topic, int32_t partition,
                            uint8_t ret_stamp[AB_STORE_STAMP_MAX])
{
    const size_t size = strnlen(topic, AB_TOPIC_MAX);
    put32(ret_stamp, AB_STORE_VERSION);
    put32(ret_stamp + 4, (uint32_t)partition);
    memcpy(ret_stamp + 8, topic, size);
    return 8 + size;
}

bool ab_store_stamp_is(aw_span_t stamp, const char *topic, int32_t partition)
{
    uint8_t wanted[AB_STORE_STAMP_MAX];
    const size_t size = ab_store_stamp_write(topic, partition, wanted);
    return aw_span_equal(stamp, (aw_span_t){wanted, size});
}

int ab_store_dbs_open(MDB_txn *txn, unsigned flags, ab_store_dbs_t *ret_dbs)
{
    ab_store_dbs_t dbs;
    int error = mdb_dbi_open(txn, AB_STORE_DB_ABOUT, flags, &dbs.about);
    if (error == MDB_SUCCESS) {
        error = mdb_dbi_open(txn, AB_STORE_DB_STATE, flags, &dbs.state);
    }
    if (error == MDB_SUCCESS) {
        error = mdb_dbi_open(txn, AB_STORE_DB_MARKS, flags, &dbs.marks);
    }
    if (error == MDB_SUCCESS) {
        *ret_dbs = dbs;
    }
    return error;
}

int ab_store_about_get(MDB_txn *txn, const ab_store_dbs_t *dbs, const char *name,
                       aw_span_t *ret_value)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    const int error = mdb_get(txn, dbs->about, &key, &value);
    if (error == MDB_SUCCESS) {
        *ret_value = (aw_span_t){value.mv_data, value.mv_size};
    }
    return error;
}

bool ab_store_position_read(aw_span_t position, int64_t *ret_next, int64_t *ret_current_ms)
{
    if (position.size != 16) {
        return false;
    }
    *ret_next = ab_store_get64(position.data);
    *ret_current_ms = ab_store_get64(position.data + 8);
    return true;
}

size_t ab_store_used(MDB_env *env)
{
    MDB_envinfo info;
    MDB_stat stat;
    (void)mdb_env_info(env, &info); /* fail for want of an environment only */
    (void)mdb_env_stat(env, &stat);
    return (info.me_last_pgno + 1) * stat.ms_psize;
}

bool ab_store_is_cut(MDB_env *env)
{
    const size_t used = ab_store_used(env); /* first: a writer in another process goes on */
    struct stat about;
    int file;
    return mdb_env_get_fd(env, &file) != MDB_SUCCESS || fstat(file, &about) != 0 ||
           (size_t)about.st_size < used;
}

/* Gives a file its blocks. Only a full disk is an error: some file systems know no blocks. */
static int allocate(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0 || (about.st_size >= LOCK_BYTES && about.st_blocks > 0)) {
        return 0;
    }
    const int error = posix_fallocate(file, 0, LOCK_BYTES);
    return ab_store_result_of(error) == AB_STORE_FULL ? error : 0;
}

int ab_store_lock_make(const char *folder, const struct stat *like)
{
    char path[PATH_ROOM];
    if (snprintf(path, sizeof(path), "%s/" AB_STORE_LOCK_FILE, folder) >= (int)sizeof(path)) {
        return ENAMETOOLONG;
    }
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    const bool made = file >= 0;
    if (file < 0 && errno == EEXIST) {
        file = open(path, O_RDWR | O_CLOEXEC);
    }
    if (file < 0) {
        return errno == EROFS ? 0 : errno; /* LMDB reads without it then */
    }
    int error = made && like != NULL && fchown(file, like->st_uid, like->st_gid) != 0 ? errno : 0;
    error = error != 0 ? error : allocate(file);
    if (error != 0 && made) {
        (void)unlink(path);
    }
    close(file);
    return error;
}

int ab_store_error_of(MDB_env *env, int error)
{
    struct statvfs disk;
    int file;
    if (error == EIO && mdb_env_get_fd(env, &file) == MDB_SUCCESS && fstatvfs(file, &disk) == 0 &&
        (uint64_t)disk.f_bavail * disk.f_frsize < DISK_FULL_BYTES) {
        return ENOSPC;
    }
    return error;
}

ab_store_result_t ab_store_result_of(int error)
{
    switch (error) {
    case MDB_SUCCESS:
        return AB_STORE_OK;
    case MDB_NOTFOUND:
        return AB_STORE_NONE;
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
        return AB_STORE_AGAIN;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return AB_STORE_FULL;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_PANIC:
    case MDB_CURSOR_FULL:
    case MDB_PAGE_FULL:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_TXN:
    case MDB_BAD_VALSIZE:
    case MDB_BAD_DBI:
        return AB_STORE_DAMAGED;
    default:
        return AB_STORE_ERROR;
    }
}
