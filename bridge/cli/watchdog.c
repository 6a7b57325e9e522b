#include "bridge/cli/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct ab_watchdog {
    const ab_log_t *log;
    pthread_t thread;
    pthread_mutex_t mutex; /* everything below */
    pthread_cond_t changed;
    bool armed;
    bool ended;
    struct timespec deadline; /* CLOCK_MONOTONIC */
    int code;
};

static void *watch(void *opaque)
{
    ab_watchdog_t *watchdog = opaque;
    bool late = false;

    (void)pthread_mutex_lock(&watchdog->mutex);
    while (!watchdog->ended && !late) {
        if (!watchdog->armed) {
            (void)pthread_cond_wait(&watchdog->changed, &watchdog->mutex);
        } else {
            late = pthread_cond_timedwait(&watchdog->changed, &watchdog->mutex,
                                          &watchdog->deadline) == ETIMEDOUT;
        }
    }
    if (!watchdog->ended) {
        ab_log_last_words(watchdog->log, AB_LEVEL_ERROR, "shutdown_timeout",
                          "stopping took longer than shutdown.timeout; the process exits, and what "
                          "was not committed is done again at the next start");
        _exit(watchdog->code);
    }
    (void)pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    bool done;

    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return done;
}

ab_watchdog_t *ab_watchdog_new(const ab_log_t *log)
{
    ab_watchdog_t *watchdog = calloc(1, sizeof(*watchdog));

    if (watchdog == NULL) {
        return NULL;
    }
    watchdog->log = log;
    if (pthread_mutex_init(&watchdog->mutex, NULL) != 0) {
        goto no_mutex;
    }
    if (!init_condition(&watchdog->changed)) {
        goto no_condition;
    }
    if (pthread_create(&watchdog->thread, NULL, watch, watchdog) != 0) {
        goto no_thread;
    }
    return watchdog;

no_thread:
    (void)pthread_cond_destroy(&watchdog->changed);
no_condition:
    (void)pthread_mutex_destroy(&watchdog->mutex);
no_mutex:
    free(watchdog);
    return NULL;
}

void ab_watchdog_arm(ab_watchdog_t *watchdog, unsigned timeout_ms, int code)
{
    (void)pthread_mutex_lock(&watchdog->mutex);
    watchdog->code = code;
    if (!watchdog->armed) {
        (void)clock_gettime(CLOCK_MONOTONIC, &watchdog->deadline);
        watchdog->deadline.tv_sec += (time_t)(timeout_ms / 1000);
        watchdog->deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
        if (watchdog->deadline.tv_nsec >= 1000000000) {
            watchdog->deadline.tv_sec++;
            watchdog->deadline.tv_nsec -= 1000000000;
        }
        watchdog->armed = true;
        (void)pthread_cond_signal(&watchdog->changed);
    }
    (void)pthread_mutex_unlock(&watchdog->mutex);
}

void ab_watchdog_free(ab_watchdog_t *watchdog)
{
    if (watchdog == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watchdog->mutex);
    watchdog->ended = true;
    (void)pthread_cond_signal(&watchdog->changed);
    (void)pthread_mutex_unlock(&watchdog->mutex);
    (void)pthread_join(watchdog->thread, NULL);
    (void)pthread_cond_destroy(&watchdog->changed);
    (void)pthread_mutex_destroy(&watchdog->mutex);
    free(watchdog);
}
