#include "bridge/state/stores.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME     "lock"
#define PATH_ROOM     4096
#define TOPIC_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

typedef struct loan {
    struct loan *next;
    char topic[AB_TOPIC_MAX + 1];
    int32_t partition;
    ab_store_t *store; /* NULL while it is being opened */
} loan_t;

struct ab_stores {
    pthread_mutex_t lock;
    loan_t *loans;
    int lock_file;
    char dir[PATH_ROOM];
};

static int lock_folder(const char *dir, int flags, int operation)
{
    char path[PATH_ROOM];
    const int size = snprintf(path, sizeof(path), "%s/" LOCK_NAME, dir);
    if (size < 0 || (size_t)size >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = open(path, flags | O_CLOEXEC, 0640);
    if (file >= 0 && flock(file, operation | LOCK_NB) != 0) {
        const int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}

ab_stores_t *ab_stores_new(const char *dir, char ret_text[AB_STORES_TEXT_MAX])
{
    ab_stores_t *stores = calloc(1, sizeof(*stores));
    if (stores == NULL) {
        snprintf(ret_text, AB_STORES_TEXT_MAX, "memory ran out");
        return NULL;
    }
    (void)snprintf(stores->dir, sizeof(stores->dir), "%s", dir);
    if (mkdir(dir, 0750) != 0 && errno != EEXIST) {
        snprintf(ret_text, AB_STORES_TEXT_MAX, "state.dir cannot be made: %s", strerror(errno));
        free(stores);
        return NULL;
    }
    stores->lock_file = lock_folder(dir, O_RDWR | O_CREAT, LOCK_EX);
    if (stores->lock_file < 0) {
        snprintf(ret_text, AB_STORES_TEXT_MAX,
                 errno == EWOULDBLOCK ? "another process uses state.dir: give each process its own"
                                      : "state.dir cannot be written: %s",
                 strerror(errno));
        free(stores);
        return NULL;
    }
    pthread_mutex_init(&stores->lock, NULL);
    return stores;
}

void ab_stores_free(ab_stores_t *stores)
{
    if (stores == NULL) {
        return;
    }
    while (stores->loans != NULL) {
        loan_t *next = stores->loans->next;
        ab_store_close(stores->loans->store);
        free(stores->loans);
        stores->loans = next;
    }
    close(stores->lock_file);
    pthread_mutex_destroy(&stores->lock);
    free(stores);
}

bool ab_stores_in_use(const char *dir)
{
    const int file = lock_folder(dir, O_RDONLY, LOCK_SH);
    if (file >= 0) {
        close(file);
        return false;
    }
    return errno == EWOULDBLOCK;
}

bool ab_stores_path(const char *dir, const char *topic, int32_t partition, char *ret_path,
                    size_t room)
{
    const int size = snprintf(ret_path, room, "%s/%s/%d", dir, topic, (int)partition);
    if (size < 0 || (size_t)size >= room) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* True when the folder that was locked is not the one that lies there now: another process may have
 * locked that. */
static bool is_replaced(const ab_stores_t *stores)
{
    char path[PATH_ROOM];
    struct stat ours, there;
    const int size = snprintf(path, sizeof(path), "%s/" LOCK_NAME, stores->dir);
    if (size < 0 || (size_t)size >= sizeof(path) || fstat(stores->lock_file, &ours) != 0) {
        return false;
    }
    if (stat(path, &there) != 0) {
        return errno == ENOENT;
    }
    return ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
}

/* The two folders of a store. */
static int make_folders(const ab_stores_t *stores, const char *topic, const char *path)
{
    char parent[PATH_ROOM];
    const int size = snprintf(parent, sizeof(parent), "%s/%s", stores->dir, topic);
    if (size < 0 || (size_t)size >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if ((mkdir(parent, 0750) != 0 && errno != EEXIST) ||
        (mkdir(path, 0750) != 0 && errno != EEXIST)) {
        return -1;
    }
    return 0;
}

/* NULL with errno: EBUSY when somebody has it. */
static loan_t *take_loan(ab_stores_t *stores, const char *topic, int32_t partition)
{
    loan_t *loan = NULL;
    errno = 0;
    pthread_mutex_lock(&stores->lock);
    for (loan_t *other = stores->loans; other != NULL; other = other->next) {
        if (other->partition == partition && strcmp(other->topic, topic) == 0) {
            errno = EBUSY;
        }
    }
    if (errno == 0 && (loan = calloc(1, sizeof(*loan))) != NULL) {
        (void)snprintf(loan->topic, sizeof(loan->topic), "%s", topic);
        loan->partition = partition;
        loan->next = stores->loans;
        stores->loans = loan;
    }
    pthread_mutex_unlock(&stores->lock);
    return loan;
}

static void end_loan(ab_stores_t *stores, loan_t *loan)
{
    pthread_mutex_lock(&stores->lock);
    for (loan_t **at = &stores->loans; *at != NULL; at = &(*at)->next) {
        if (*at == loan) {
            *at = loan->next;
            break;
        }
    }
    pthread_mutex_unlock(&stores->lock);
    free(loan);
}

ab_store_result_t ab_stores_borrow(ab_stores_t *stores, const char *topic, int32_t partition,
                                   unsigned owner, ab_store_t **ret_store,
                                   ab_store_found_t *ret_found, char ret_text[AB_STORES_TEXT_MAX])
{
    char path[PATH_ROOM];
    char text[AB_STORE_TEXT_MAX] = "";
    ab_store_t *store;
    ab_store_result_t result = AB_STORE_ERROR;
    loan_t *loan = take_loan(stores, topic, partition);
    if (loan == NULL) {
        snprintf(ret_text, AB_STORES_TEXT_MAX, "%s", strerror(errno));
        return errno == EBUSY ? AB_STORE_FOREIGN : AB_STORE_ERROR;
    }
    if (is_replaced(stores)) {
        snprintf(ret_text, AB_STORES_TEXT_MAX,
                 "state.dir was removed or replaced while the process ran: start it again");
    } else if (!ab_stores_path(stores->dir, topic, partition, path, sizeof(path)) ||
               make_folders(stores, topic, path) != 0) {
        snprintf(ret_text, AB_STORES_TEXT_MAX, "%s", strerror(errno));
        result = errno == ENOSPC || errno == EDQUOT ? AB_STORE_FULL : AB_STORE_ERROR;
    } else {
        result = ab_store_open(path, topic, partition, &store, ret_found, text);
        snprintf(ret_text, AB_STORES_TEXT_MAX, "%s", text);
    }
    if (result != AB_STORE_OK) {
        end_loan(stores, loan);
        return result;
    }
    ab_store_set_owner(store, owner);
    pthread_mutex_lock(&stores->lock);
    loan->store = store;
    pthread_mutex_unlock(&stores->lock);
    *ret_store = store;
    return AB_STORE_OK;
}

/* Closes the store and removes it, where asked to, before the loan ends: the next owner never finds
 * it open or half gone. */
static int give_back(ab_stores_t *stores, ab_store_t *store, bool remove)
{
    char path[PATH_ROOM];
    loan_t *found = NULL;
    int result = 0;
    pthread_mutex_lock(&stores->lock);
    for (loan_t *loan = stores->loans; loan != NULL; loan = loan->next) {
        if (loan->store == store) {
            found = loan;
        }
    }
    pthread_mutex_unlock(&stores->lock);
    assert(found != NULL);
    ab_store_close(store);
    if (remove && ab_stores_path(stores->dir, found->topic, found->partition, path, sizeof(path))) {
        result = ab_store_remove(path); /* the path was short enough when it was opened */
    }
    const int error = errno;
    end_loan(stores, found);
    errno = error;
    return result;
}

void ab_stores_return(ab_stores_t *stores, ab_store_t *store)
{
    (void)give_back(stores, store, false);
}

int ab_stores_discard(ab_stores_t *stores, ab_store_t *store)
{
    return give_back(stores, store, true);
}

/* ---- looking at what is there ---- */

/* What no topic can be called, such as a file system's lost+found, is not the bridge's. */
static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, LOCK_NAME) != 0 &&
           entry->d_name[strspn(entry->d_name, TOPIC_LETTERS)] == '\0';
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    const long one = strtol((*a)->d_name, NULL, 10);
    const long other = strtol((*b)->d_name, NULL, 10);
    return one < other ? -1 : one > other;
}

/* A walk, and the first folder of it that could not be read. */
typedef struct walk {
    const char *dir;
    ab_stores_visit_fn *visit;
    void *opaque;
    char *text; /* "" so far */
} walk_t;

/* Only the first is told of. */
static void cannot_read(const walk_t *walk, const char *path)
{
    if (walk->text[0] == '\0') {
        (void)snprintf(walk->text, AB_STORES_TEXT_MAX, "%s: %s", path, strerror(errno));
    }
}

static int walk_topic(const walk_t *walk, const char *topic)
{
    char path[PATH_ROOM];
    struct dirent **entries;
    int result = 0;
    if (snprintf(path, sizeof(path), "%s/%s", walk->dir, topic) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        cannot_read(walk, walk->dir);
        return 0;
    }
    const int count = scandir(path, &entries, is_name, by_number);
    if (count < 0) {
        if (errno != ENOTDIR && errno != ENOENT) { /* no folder, or gone meanwhile */
            cannot_read(walk, path);
        }
        return 0;
    }
    for (int i = 0; i < count; i++) {
        char *end;
        const long partition = strtol(entries[i]->d_name, &end, 10);
        if (result == 0 && *end == '\0' && partition >= 0 && partition <= INT32_MAX &&
            ab_stores_path(walk->dir, topic, (int32_t)partition, path, sizeof(path))) {
            result = walk->visit(walk->opaque, path, topic, (int32_t)partition);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

int ab_stores_walk(const char *dir, ab_stores_visit_fn *visit, void *opaque,
                   char ret_text[AB_STORES_TEXT_MAX])
{
    char text[AB_STORES_TEXT_MAX] = "";
    const walk_t walk = {dir, visit, opaque, text};
    struct dirent **entries;
    int result = 0;
    const int count = scandir(dir, &entries, is_name, alphasort);
    if (count < 0) {
        cannot_read(&walk, dir);
    }
    for (int i = 0; i < count; i++) {
        if (result == 0) {
            result = walk_topic(&walk, entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    if (result == 0 && text[0] != '\0') {
        memcpy(ret_text, text, sizeof(text));
        result = -1;
    }
    return result;
}
