#include "bridge/state/stores.h"

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

#define LOCK_NAME "lock"
#define PATH_ROOM 4096

typedef struct loan {
    struct loan *next;
    char topic[AB_TOPIC_MAX + 1];
    int32_t partition;
    unsigned owner;
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
        snprintf(ret_text, AB_STORES_TEXT_MAX, "memory");
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
    return size > 0 && (size_t)size < room;
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
static loan_t *take_loan(ab_stores_t *stores, const char *topic, int32_t partition, unsigned owner)
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
        loan->owner = owner;
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
    loan_t *loan = take_loan(stores, topic, partition, owner);
    if (loan == NULL) {
        snprintf(ret_text, AB_STORES_TEXT_MAX, "%s", strerror(errno));
        return errno == EBUSY ? AB_STORE_FOREIGN : AB_STORE_ERROR;
    }
    if (!ab_stores_path(stores->dir, topic, partition, path, sizeof(path)) ||
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

void ab_stores_return(ab_stores_t *stores, ab_store_t *store)
{
    loan_t *found = NULL;
    pthread_mutex_lock(&stores->lock);
    for (loan_t *loan = stores->loans; loan != NULL; loan = loan->next) {
        if (loan->store == store) {
            found = loan;
        }
    }
    pthread_mutex_unlock(&stores->lock);
    /* Closed before the loan ends, so that the next owner never opens it beside us. */
    ab_store_set_owner(store, 0);
    ab_store_close(store);
    if (found != NULL) {
        end_loan(stores, found);
    }
}

/* ---- looking at what is there ---- */

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, LOCK_NAME) != 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    const long one = strtol((*a)->d_name, NULL, 10);
    const long other = strtol((*b)->d_name, NULL, 10);
    return one < other ? -1 : one > other;
}

static int walk_topic(const char *dir, const char *topic, ab_stores_visit_fn *visit, void *opaque)
{
    char path[PATH_ROOM];
    struct dirent **entries;
    int result = 0;
    if (snprintf(path, sizeof(path), "%s/%s", dir, topic) >= (int)sizeof(path)) {
        return 0;
    }
    const int count = scandir(path, &entries, is_name, by_number);
    for (int i = 0; i < count; i++) {
        char *end;
        const long partition = strtol(entries[i]->d_name, &end, 10);
        if (result == 0 && *end == '\0' && partition >= 0 && partition <= INT32_MAX &&
            ab_stores_path(dir, topic, (int32_t)partition, path, sizeof(path))) {
            result = visit(opaque, path, topic, (int32_t)partition);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return result;
}

int ab_stores_walk(const char *dir, ab_stores_visit_fn *visit, void *opaque)
{
    struct dirent **entries;
    int result = 0;
    const int count = scandir(dir, &entries, is_name, alphasort);
    if (count < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (result == 0) {
            result = walk_topic(dir, entries[i]->d_name, visit, opaque);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}
