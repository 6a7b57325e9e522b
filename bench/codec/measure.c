#include "bench/codec/measure.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long one turn lasts, nanoseconds. */
#define TURN_NS 1000000.0
/* Pieces of work that are measured together. */
#define WORKS_MAX 8u

static int counter = -1;

bool bench_counter_open(void)
{
    struct perf_event_attr wanted = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof wanted,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    counter = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
    return counter >= 0;
}

/* The time that this thread has had: what else runs on the machine does not count. */
static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double instructions(void)
{
    uint64_t count = 0;
    if (counter < 0 || read(counter, &count, sizeof count) != (ssize_t)sizeof count) {
        return -1;
    }
    return (double)count;
}

static bench_cost_t turn(bench_work_t work, void *context, unsigned times)
{
    const double counted = instructions();
    const double began = now_ns();
    for (unsigned i = 0; i < times; i++) {
        work(context);
    }
    const double ended = now_ns();
    bench_cost_t cost = {(ended - began) / times, -1};
    if (counted >= 0) {
        cost.instructions = (instructions() - counted) / times;
    }
    return cost;
}

/* How often the work fits into a turn. */
static unsigned times_of(bench_work_t work, void *context)
{
    unsigned times = 1;
    while (times < 1u << 24 && turn(work, context, times).ns * times < TURN_NS / 2) {
        times *= 2;
    }
    return times;
}

void bench_measure(const bench_work_t *works, void *const *contexts, size_t count, unsigned rounds,
                   bench_cost_t *ret_costs)
{
    unsigned times[WORKS_MAX];
    for (size_t i = 0; i < count; i++) {
        times[i] = times_of(works[i], contexts[i]);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            const bench_cost_t cost = turn(works[i], contexts[i], times[i]);
            if (round == 0 || cost.ns < ret_costs[i].ns) {
                ret_costs[i].ns = cost.ns;
            }
            if (round == 0 || cost.instructions < ret_costs[i].instructions) {
                ret_costs[i].instructions = cost.instructions;
            }
        }
    }
}
