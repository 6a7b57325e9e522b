#ifndef BENCH_CODEC_MEASURE_H
#define BENCH_CODEC_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/** One piece of work that is measured: does it once. */
typedef void (*bench_work_t)(void *context);

/** What one run of a piece of work costs, at best. */
typedef struct bench_cost {
    double ns;
    double instructions; /* negative where they cannot be counted */
} bench_cost_t;

/** Opens the counter of instructions. False where the machine does not let us count. */
bool bench_counter_open(void);

/** Measures several pieces of work in turns, so that a disturbance meets all of them alike, and
 * keeps for each the best of `rounds` turns of about a millisecond. */
void bench_measure(const bench_work_t *works, void *const *contexts, size_t count, unsigned rounds,
                   bench_cost_t *ret_costs);

#endif
