#ifndef TESTS_CLI_FAKE_RELAY_H
#define TESTS_CLI_FAKE_RELAY_H

#include <stdbool.h>

/** What the relay of the tests does, in the place of the one in bridge/kafka. */
typedef struct fake_relay_plan {
    int own_end_ms; /* ends by itself so long after the start; -1: never */
    int own_exit;   /* with this exit code */
    int stop_ms;    /* how long it takes to stop when asked to; -1: it never does */
    int stop_exit;  /* its exit code then */
    bool start_fails;
    bool free_hangs;
    bool lane_stands;     /* its lane's loop does not turn, so that it is not alive */
    unsigned flood_lines; /* events it emits at its start, of a kilobyte each */
} fake_relay_plan_t;

/** The plan of the next relay that is made. */
extern fake_relay_plan_t fake_relay_plan;

#endif
