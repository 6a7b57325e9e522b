#include "bridge/kafka/asker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000

typedef enum asker_state { ASKER_IDLE, ASKER_ASKED, ASKER_ANSWERED } asker_state_t;

struct ab_asker {
    rd_kafka_t *client;
    int timeout_ms;
    pthread_t thread;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    asker_state_t state;
    bool quit;
    ab_asker_answer_t answer; /* while asked: the question, the thread's alone */
};

static rd_kafka_resp_err_t ask(const ab_asker_t *asker, rd_kafka_topic_partition_list_t *list,
                               int64_t offset)
{
    for (int i = 0; i < list->cnt; i++) {
        list->elems[i].offset = offset;
    }
    return list->cnt > 0 ? rd_kafka_offsets_for_times(asker->client, list, asker->timeout_ms)
                         : RD_KAFKA_RESP_ERR_NO_ERROR;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static bool quits(ab_asker_t *asker)
{
    pthread_mutex_lock(&asker->lock);
    const bool quit = asker->quit;
    pthread_mutex_unlock(&asker->lock);
    return quit;
}

static void *run(void *opaque)
{
    ab_asker_t *asker = opaque;
    ab_asker_answer_t *answer = &asker->answer;
    pthread_mutex_lock(&asker->lock);
    while (!asker->quit) {
        if (asker->state != ASKER_ASKED) {
            pthread_cond_wait(&asker->changed, &asker->lock);
            continue;
        }
        pthread_mutex_unlock(&asker->lock);
        const int64_t begun = now_ns();
        if (answer->low != NULL) {
            answer->error = ask(asker, answer->low, RD_KAFKA_OFFSET_BEGINNING);
        }
        if (answer->error == RD_KAFKA_RESP_ERR_NO_ERROR && !quits(asker)) {
            answer->error = ask(asker, answer->high, RD_KAFKA_OFFSET_END);
        }
        answer->took_ns = now_ns() - begun;
        pthread_mutex_lock(&asker->lock);
        asker->state = ASKER_ANSWERED;
        pthread_cond_broadcast(&asker->changed);
    }
    pthread_mutex_unlock(&asker->lock);
    return NULL;
}

ab_asker_t *ab_asker_new(rd_kafka_t *client, int timeout_ms)
{
    pthread_condattr_t attributes;
    ab_asker_t *asker = calloc(1, sizeof(*asker));
    if (asker == NULL) {
        return NULL;
    }
    asker->client = client;
    asker->timeout_ms = timeout_ms;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&asker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&asker->lock, NULL);
    if (pthread_create(&asker->thread, NULL, run, asker) != 0) {
        pthread_mutex_destroy(&asker->lock);
        pthread_cond_destroy(&asker->changed);
        free(asker);
        return NULL;
    }
    return asker;
}

void ab_asker_free(ab_asker_t *asker)
{
    if (asker == NULL) {
        return;
    }
    pthread_mutex_lock(&asker->lock);
    asker->quit = true;
    pthread_cond_broadcast(&asker->changed);
    pthread_mutex_unlock(&asker->lock);
    pthread_join(asker->thread, NULL);
    ab_asker_answer_clear(&asker->answer);
    pthread_mutex_destroy(&asker->lock);
    pthread_cond_destroy(&asker->changed);
    free(asker);
}

bool ab_asker_is_idle(ab_asker_t *asker)
{
    pthread_mutex_lock(&asker->lock);
    const bool idle = asker->state == ASKER_IDLE;
    pthread_mutex_unlock(&asker->lock);
    return idle;
}

void ab_asker_ask_take(ab_asker_t *asker, rd_kafka_topic_partition_list_t *list, bool lows)
{
    pthread_mutex_lock(&asker->lock);
    asker->answer = (ab_asker_answer_t){
        .high = list, .low = lows ? rd_kafka_topic_partition_list_copy(list) : NULL};
    asker->state = ASKER_ASKED;
    pthread_cond_broadcast(&asker->changed);
    pthread_mutex_unlock(&asker->lock);
}

static struct timespec in_ns(int64_t ns)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    ns += at.tv_nsec;
    at.tv_sec += (time_t)(ns / NS_PER_S);
    at.tv_nsec = (long)(ns % NS_PER_S);
    return at;
}

bool ab_asker_hear(ab_asker_t *asker, int64_t wait_ns, ab_asker_answer_t *ret_answer)
{
    const struct timespec until = in_ns(wait_ns);
    int waited = wait_ns > 0 ? 0 : ETIMEDOUT;
    pthread_mutex_lock(&asker->lock);
    while (asker->state == ASKER_ASKED && waited == 0) {
        waited = pthread_cond_timedwait(&asker->changed, &asker->lock, &until);
    }
    const bool answered = asker->state == ASKER_ANSWERED;
    if (answered) {
        *ret_answer = asker->answer;
        asker->answer = (ab_asker_answer_t){.low = NULL, .high = NULL};
        asker->state = ASKER_IDLE;
    }
    pthread_mutex_unlock(&asker->lock);
    return answered;
}

void ab_asker_answer_clear(ab_asker_answer_t *answer)
{
    if (answer->low != NULL) {
        rd_kafka_topic_partition_list_destroy(answer->low);
    }
    if (answer->high != NULL) {
        rd_kafka_topic_partition_list_destroy(answer->high);
    }
    *answer = (ab_asker_answer_t){.low = NULL, .high = NULL};
}
