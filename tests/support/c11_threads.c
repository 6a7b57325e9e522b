/* C11 threads on top of pthreads, for the ThreadSanitizer preset only.
 *
 * Debian's librdkafka locks and starts its threads through glibc's thrd_*, mtx_* and cnd_*. The
 * sanitizer intercepts pthread_* alone: it never hears of those threads and crashes in the first
 * one. A definition in the program takes precedence over the C library's, for the packaged library
 * too, so these forward to what the sanitizer knows. glibc gives both families the same layout; the
 * asserts below hold it to that.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "a pthread mutex fits in mtx_t");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "a pthread condition fits in cnd_t");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "both name a thread alike");
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "both once flags are alike");

/* The project hides symbols by default; the dynamic linker has to see these. */
#define EXPORTED __attribute__((visibility("default")))

/** Read by the sanitizer at start. The library itself is not instrumented: what it does inside is
 *  not ours to judge, and the atomics by which it orders its own memory are not seen. */
EXPORTED const char *__tsan_default_options(void);

EXPORTED const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1:halt_on_error=1";
}

typedef struct start {
    thrd_start_t function;
    void *argument;
} start_t;

static int status_of(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
    case EAGAIN:
        return thrd_nomem;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)(void *)mutex;
}

static pthread_cond_t *condition_of(cnd_t *condition)
{
    return (pthread_cond_t *)(void *)condition;
}

static void *run(void *opaque)
{
    start_t start = *(start_t *)opaque;

    free(opaque);
    return (void *)(intptr_t)start.function(start.argument);
}

EXPORTED int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    start_t *start = malloc(sizeof(*start));
    int status;

    if (start == NULL) {
        return thrd_nomem;
    }
    *start = (start_t){function, argument};
    status = status_of(pthread_create(thread, NULL, run, start));
    if (status != thrd_success) {
        free(start);
    }
    return status;
}

EXPORTED thrd_t thrd_current(void)
{
    return pthread_self();
}

EXPORTED int thrd_detach(thrd_t thread)
{
    return status_of(pthread_detach(thread));
}

EXPORTED int thrd_equal(thrd_t left, thrd_t right)
{
    return pthread_equal(left, right);
}

EXPORTED _Noreturn void thrd_exit(int result)
{
    pthread_exit((void *)(intptr_t)result);
}

EXPORTED int thrd_join(thrd_t thread, int *ret_result)
{
    void *result = NULL;
    int status = status_of(pthread_join(thread, &result));

    if (status == thrd_success && ret_result != NULL) {
        *ret_result = (int)(intptr_t)result;
    }
    return status;
}

EXPORTED int mtx_init(mtx_t *mutex, int kind)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error == 0 && (kind & mtx_recursive) != 0) {
        error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    }
    if (error == 0) {
        error = pthread_mutex_init(mutex_of(mutex), &attributes);
    }
    pthread_mutexattr_destroy(&attributes);
    return status_of(error);
}

EXPORTED void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy(mutex_of(mutex));
}

EXPORTED int mtx_lock(mtx_t *mutex)
{
    return status_of(pthread_mutex_lock(mutex_of(mutex)));
}

EXPORTED int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
    return status_of(pthread_mutex_timedlock(mutex_of(mutex), deadline));
}

EXPORTED int mtx_trylock(mtx_t *mutex)
{
    return status_of(pthread_mutex_trylock(mutex_of(mutex)));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
    return status_of(pthread_mutex_unlock(mutex_of(mutex)));
}

EXPORTED int cnd_init(cnd_t *condition)
{
    return status_of(pthread_cond_init(condition_of(condition), NULL));
}

EXPORTED void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

EXPORTED int cnd_signal(cnd_t *condition)
{
    return status_of(pthread_cond_signal(condition_of(condition)));
}

EXPORTED int cnd_broadcast(cnd_t *condition)
{
    return status_of(pthread_cond_broadcast(condition_of(condition)));
}

EXPORTED int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return status_of(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}

EXPORTED int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                           const struct timespec *restrict deadline)
{
    return status_of(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), deadline));
}

EXPORTED void call_once(once_flag *flag, void (*function)(void))
{
    pthread_once((pthread_once_t *)(void *)flag, function);
}
