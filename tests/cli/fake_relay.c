#include "tests/cli/fake_relay.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge/kafka/relay.h"

struct ab_relay {
    fake_relay_plan_t plan;
    const ab_sink_t *sink;
    atomic_llong ends_at_ms; /* -1: not known yet */
    atomic_int exit;
    atomic_bool stopping;
};

fake_relay_plan_t fake_relay_plan;

static long long now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

ab_relay_t *ab_relay_new(const ab_config_t *config, const ab_sink_t *sink)
{
    ab_relay_t *relay = calloc(1, sizeof(*relay));

    (void)config;
    if (relay != NULL) {
        relay->plan = fake_relay_plan;
        relay->sink = sink;
        atomic_init(&relay->ends_at_ms, -1);
        atomic_init(&relay->exit, AB_EXIT_OK);
        atomic_init(&relay->stopping, false);
    }
    return relay;
}

int ab_relay_start(ab_relay_t *relay)
{
    char text[1000];

    if (relay->plan.start_fails) {
        return -1;
    }
    if (relay->plan.own_end_ms >= 0) {
        atomic_store(&relay->exit, relay->plan.own_exit);
        atomic_store(&relay->ends_at_ms, now_ms() + relay->plan.own_end_ms);
    }
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (unsigned i = 0; i < relay->plan.flood_lines; i++) {
        relay->sink->emit(relay->sink->opaque, AB_LEVEL_INFO, "flood", text, NULL, 0);
    }
    return 0;
}

void ab_relay_stop(ab_relay_t *relay)
{
    atomic_store(&relay->stopping, true);
    if (relay->plan.stop_ms >= 0) {
        atomic_store(&relay->exit, relay->plan.stop_exit);
        atomic_store(&relay->ends_at_ms, now_ms() + relay->plan.stop_ms);
    }
}

bool ab_relay_wait(ab_relay_t *relay, int timeout_ms, int *ret_exit)
{
    long long give_up_ms = now_ms() + timeout_ms;

    for (;;) {
        long long ends_at_ms = atomic_load(&relay->ends_at_ms);

        if (ends_at_ms >= 0 && now_ms() >= ends_at_ms) {
            *ret_exit = atomic_load(&relay->exit);
            return true;
        }
        if (timeout_ms >= 0 && now_ms() >= give_up_ms) {
            return false;
        }
        (void)usleep(1000);
    }
}

void ab_relay_ledger(ab_relay_t *relay, ab_ledger_t *ret_ledger)
{
    (void)relay;
    *ret_ledger = (ab_ledger_t){.consumed = 7, .dropped = 7};
}

/* A relay that runs well, with one lane. */
ab_status_t *ab_relay_status(ab_relay_t *relay)
{
    ab_status_t *status = calloc(1, sizeof(*status));

    if (status == NULL) {
        return NULL;
    }
    status->lanes = calloc(1, sizeof(*status->lanes));
    if (status->lanes == NULL) {
        free(status);
        return NULL;
    }
    status->lane_count = 1;
    status->lanes[0].phase = AB_PHASE_RUNNING;
    status->lanes[0].joined = true;
    status->lanes[0].tick_seconds = relay->plan.lane_stands ? 31 : 0;
    status->phase =
        atomic_load(&relay->stopping) ? AB_RELAY_PHASE_STOPPING : AB_RELAY_PHASE_RUNNING;
    return status;
}

void ab_relay_status_free(ab_status_t *status)
{
    if (status != NULL) {
        free(status->lanes);
        free(status);
    }
}

void ab_relay_free(ab_relay_t *relay)
{
    while (relay != NULL && relay->plan.free_hangs) {
        (void)sleep(1);
    }
    free(relay);
}
