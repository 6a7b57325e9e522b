#include <pthread.h>
#include <stdlib.h>

#include "bridge/kafka/lane_state.h"
#include "bridge/kafka/relay.h"

/* Two defects of librdkafka, seen with 2.0.2, make the end of a consumer dangerous; both are waited
 * out or stepped around here, and the price is a few threads that stay until the process ends.
 *
 * - Before 2.3 it aborts the process when a consumer is destroyed, closed or not, that its group
 * has answered but given no assignment (specs/lane.md rule 12). Nobody can see whether it was
 * answered.
 * - After its topic was deleted, destroying it never returns. */
#define ASSIGNOR_FIXED 0x020300ff
#define SETTLE_MAX_MS  5000
#define DESTROY_MAX_MS 5000
#define LOOK_EVERY_MS  5
/* So many that stayed are no accident any more. */
#define ABANDONED_MAX 8u

/* A consumer that a thread of its own destroys. Whoever comes second frees this. */
typedef struct burial {
    rd_kafka_t *consumer;
    atomic_bool first_done; /* one of the two has finished with it */
    atomic_bool destroyed;
} burial_t;

static void leave(burial_t *burial)
{
    if (atomic_exchange(&burial->first_done, true)) {
        free(burial);
    }
}

static void *bury(void *opaque)
{
    burial_t *burial = opaque;
    rd_kafka_destroy_flags(burial->consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    atomic_store(&burial->destroyed, true);
    leave(burial);
    return NULL;
}

/* False when it did not end in time, and then goes on by itself, or never. */
static bool destroy_in_time(rd_kafka_t *consumer)
{
    pthread_t thread;
    burial_t *burial = calloc(1, sizeof(*burial));
    if (burial != NULL) {
        burial->consumer = consumer;
    }
    if (burial == NULL || pthread_create(&thread, NULL, bury, burial) != 0) {
        free(burial);
        rd_kafka_destroy_flags(consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        return true;
    }
    (void)pthread_detach(thread);
    const int64_t until = ab_lane_now_ns() + (int64_t)DESTROY_MAX_MS * AB_NS_PER_MS;
    while (!atomic_load(&burial->destroyed) && ab_lane_now_ns() < until) {
        ab_lane_sleep_ms(LOOK_EVERY_MS);
    }
    const bool destroyed = atomic_load(&burial->destroyed);
    leave(burial);
    return destroyed;
}

static void count_abandoned(ab_lane_t *lane)
{
    if (++lane->abandoned == ABANDONED_MAX) {
        ab_lane_emit(lane, AB_LEVEL_ERROR, "lane_given_up",
                     "several consumers of this lane could not be destroyed and cost threads: the "
                     "process ends",
                     NULL, 0);
        ab_lane_end(lane, AB_FATE_EXIT, AB_EXIT_FATAL);
    }
}

static bool aborts_when_destroyed(const ab_lane_t *lane)
{
    return rd_kafka_version() < ASSIGNOR_FIXED && !lane->had_assignment;
}

void ab_lane_settle_consumer(ab_lane_t *lane)
{
    const int64_t until = ab_lane_now_ns() + (int64_t)SETTLE_MAX_MS * AB_NS_PER_MS;
    while (aborts_when_destroyed(lane) && ab_lane_now_ns() < until &&
           rd_kafka_fatal_error(lane->consumer, NULL, 0) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        ab_lane_discard(lane, rd_kafka_consumer_poll(lane->consumer, 50));
    }
}

void ab_lane_destroy_consumer(ab_lane_t *lane)
{
    rd_kafka_t *consumer = lane->consumer;
    _Atomic int64_t *join_ns = lane->join_ns;
    lane->consumer = NULL;
    lane->join_ns = NULL;
    if (aborts_when_destroyed(lane)) {
        /* It leaves the group, and lives on in silence: the lane may be gone before it. */
        (void)rd_kafka_unsubscribe(consumer);
        rd_kafka_set_log_level(consumer, 0);
        count_abandoned(lane);
        return;
    }
    rd_kafka_set_log_level(consumer, 0);
    if (!destroy_in_time(consumer)) {
        count_abandoned(lane);
        return;
    }
    free((void *)join_ns);
}
