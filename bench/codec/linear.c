#include "bench/codec/linear.h"

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/message.h"
#include "bench/codec/measure.h"
#include "bench/codec/sample.h"

#define MIB ((size_t)1 << 20)

typedef struct hostile {
    aw_message_type_t type;
    aw_span_t input;
} hostile_t;

static void scan(void *of)
{
    const hostile_t *hostile = of;
    if (aw_message_scan(hostile->type, hostile->input, NULL) != AW_OK) {
        abort();
    }
}

static hostile_t open_family(size_t family, size_t size, aw_arena_t *arena)
{
    bool is_trace;
    const aw_span_t input = bench_hostile(family, size, arena, &is_trace);
    return (hostile_t){is_trace ? AW_MESSAGE_TRACE_EVENT : AW_MESSAGE_AGENT_ENVELOPE, input};
}

json_t *bench_linear(unsigned rounds, bool *ret_met)
{
    json_t *results = json_array();
    printf("\n%-22s %12s %12s %8s\n", "scan of", "1 MiB, us", "16 MiB, us", "ratio");
    for (size_t family = 0; family < BENCH_HOSTILE_COUNT; family++) {
        aw_arena_t *arena = aw_arena_new(0);
        hostile_t small = open_family(family, MIB, arena);
        hostile_t large = open_family(family, 16 * MIB, arena);
        const bench_work_t works[] = {scan, scan};
        void *const contexts[] = {&small, &large};
        bench_cost_t costs[2];
        bench_measure(works, contexts, 2, rounds, costs);
        const double ratio = costs[1].ns / costs[0].ns;
        *ret_met = *ret_met && ratio <= BENCH_LINEAR_MAX;
        printf("%-22s %12.0f %12.0f %8.2f\n", bench_hostile_name(family), costs[0].ns / 1000,
               costs[1].ns / 1000, ratio);
        json_array_append_new(
            results, json_pack("{s:s, s:f, s:f, s:f}", "family", bench_hostile_name(family),
                               "ns_1_mib", costs[0].ns, "ns_16_mib", costs[1].ns, "ratio", ratio));
        aw_arena_free(arena);
    }
    return results;
}
