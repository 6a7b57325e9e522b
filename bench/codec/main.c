/* The codec beside protobuf-c, the C++ runtime and memcpy, in one run: a table for people and
 * build/bench/codec.json for machines.
 *
 *     codec_bench [--rounds N] [FILE]
 *
 * Exit 0 when every goal is met, 1 when one is not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "bench/codec/cpp_runtime.h"
#include "bench/codec/linear.h"
#include "bench/codec/sample.h"
#include "bench/codec/work.h"

static const size_t SIZES[] = {100, 600, 10000, 1000000};
#define SIZE_COUNT (sizeof SIZES / sizeof SIZES[0])

/* The costs of all samples. */
typedef bench_cost_t costs_t[BENCH_BULK_COUNT][SIZE_COUNT][BENCH_OPERATION_COUNT];

static const bench_operation_t BASELINES[][3] = {
    [BENCH_SCAN] = {BENCH_PBC_UNPACK, BENCH_CPP_PARSE, BENCH_MEMCPY},
    [BENCH_DECODE] = {BENCH_PBC_UNPACK, BENCH_CPP_PARSE, BENCH_MEMCPY},
    [BENCH_ENCODE] = {BENCH_PBC_PACK, BENCH_CPP_SERIALIZE, BENCH_MEMCPY},
};

static json_t *ratios(const bench_cost_t *costs, unsigned operation)
{
    json_t *made = json_object();
    for (size_t i = 0; operation <= BENCH_ENCODE && i < 3; i++) {
        const bench_operation_t other = BASELINES[operation][i];
        json_object_set_new(made, bench_operation_name(other),
                            json_real(costs[operation].ns / costs[other].ns));
    }
    return made;
}

static void measure_sample(bench_bulk_t bulk, size_t size, unsigned rounds, bench_cost_t *costs,
                           json_t *results)
{
    aw_arena_t *arena = aw_arena_new(0);
    bench_context_t context = bench_context_open(bench_sample(bulk, size, arena));
    void *contexts[BENCH_OPERATION_COUNT];
    for (size_t i = 0; i < BENCH_OPERATION_COUNT; i++) {
        contexts[i] = &context;
    }
    bench_measure(bench_works, contexts, BENCH_OPERATION_COUNT, rounds, costs);
    printf("%-8s %8zu", bench_bulk_name(bulk), context.input.size);
    for (unsigned i = 0; i < BENCH_OPERATION_COUNT; i++) {
        printf(" %9.0f", costs[i].ns);
        json_t *line = json_pack("{s:s, s:I, s:s, s:f, s:f, s:o}", "bulk", bench_bulk_name(bulk),
                                 "size_bytes", (json_int_t)context.input.size, "operation",
                                 bench_operation_name((bench_operation_t)i), "ns", costs[i].ns,
                                 "bytes_per_second", (double)context.input.size / costs[i].ns * 1e9,
                                 "ratio", ratios(costs, i));
        json_object_set_new(line, "instructions",
                            costs[i].instructions < 0 ? json_null()
                                                      : json_real(costs[i].instructions));
        json_array_append_new(results, line);
    }
    printf("   %5.3f %5.3f %5.3f\n", costs[BENCH_SCAN].ns / costs[BENCH_PBC_UNPACK].ns,
           costs[BENCH_DECODE].ns / costs[BENCH_PBC_UNPACK].ns,
           costs[BENCH_ENCODE].ns / costs[BENCH_PBC_PACK].ns);
    bench_context_close(&context);
    aw_arena_free(arena);
}

/* One goal: a ratio that may not be above its limit, or a rate that may not be below. */
static void judge(json_t *goals, bool *met, const char *name, double measured, double limit,
                  bool at_least)
{
    const bool good = at_least ? measured >= limit : measured <= limit;
    *met = *met && good;
    printf("%-58s %8.3f   %s %5.2f   %s\n", name, measured, at_least ? ">=" : "<=", limit,
           good ? "met" : "MISSED");
    json_array_append_new(goals, json_pack("{s:s, s:f, s:f, s:b}", "goal", name, "measured",
                                           measured, "limit", limit, "met", good));
}

static json_t *judge_all(costs_t costs, bool *met)
{
    enum { B600 = 1, MB1 = 3 };
    json_t *goals = json_array();
    const bench_cost_t *payload = costs[BENCH_PAYLOAD][B600];
    const bench_cost_t *ascii = costs[BENCH_ASCII][B600];
    printf("\n");
    judge(goals, met, "scan / protobuf-c unpack and free, 600 B payload",
          payload[BENCH_SCAN].ns / payload[BENCH_PBC_UNPACK].ns, 0.15, false);
    judge(goals, met, "scan / protobuf-c unpack and free, 600 B error_message",
          ascii[BENCH_SCAN].ns / ascii[BENCH_PBC_UNPACK].ns, 0.25, false);
    judge(goals, met, "decode / protobuf-c unpack and free, 600 B payload",
          payload[BENCH_DECODE].ns / payload[BENCH_PBC_UNPACK].ns, 0.5, false);
    judge(goals, met, "encode / protobuf-c pack, 600 B payload",
          payload[BENCH_ENCODE].ns / payload[BENCH_PBC_PACK].ns, 0.8, false);
    judge(goals, met, "scan of 1 MB of bytes, GB/s", 1e6 / costs[BENCH_PAYLOAD][MB1][BENCH_SCAN].ns,
          2, true);
    judge(goals, met, "scan of 1 MB of ASCII text, GB/s",
          1e6 / costs[BENCH_ASCII][MB1][BENCH_SCAN].ns, 2, true);
    judge(goals, met, "scan of 1 MB of other text, GB/s",
          1e6 / costs[BENCH_TEXT][MB1][BENCH_SCAN].ns, 1, true);
    return goals;
}

static int write_report(json_t *report, const char *path)
{
    const int failed = json_dump_file(report, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    if (failed != 0) {
        fprintf(stderr, "codec_bench: %s: %s\n", path, strerror(errno));
    }
    json_decref(report);
    return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    unsigned rounds = 60;
    const char *path = argc > 1 ? argv[argc - 1] : "codec.json";
    if (argc > 3 && strcmp(argv[1], "--rounds") == 0) {
        rounds = (unsigned)strtoul(argv[2], NULL, 10);
    }
    const bool counts = bench_counter_open();
    printf("protobuf-c %s, C++ protobuf %s; %s\nbest of %u rounds, nanoseconds\n\n",
           protobuf_c_version(), bench_cpp_version(),
           counts ? "instructions in the report"
                  : "this machine lets nobody count instructions (perf_event_open)",
           rounds);
    printf("%-8s %8s", "bulk", "bytes");
    for (unsigned i = 0; i < BENCH_OPERATION_COUNT; i++) {
        printf(" %9.9s", strncmp(bench_operation_name((bench_operation_t)i), "protobuf_c_", 11) == 0
                             ? bench_operation_name((bench_operation_t)i) + 9
                             : bench_operation_name((bench_operation_t)i));
    }
    printf("   to protobuf-c\n");
    static costs_t costs;
    json_t *results = json_array();
    for (unsigned bulk = 0; bulk < BENCH_BULK_COUNT; bulk++) {
        for (size_t i = 0; i < SIZE_COUNT; i++) {
            measure_sample((bench_bulk_t)bulk, SIZES[i], rounds, costs[bulk][i], results);
        }
    }
    bool met = true;
    json_t *linear = bench_linear(rounds / 6 + 1, &met);
    json_t *goals = judge_all(costs, &met);
    json_t *report =
        json_pack("{s:i, s:s, s:s, s:b, s:o, s:o, s:o}", "version", 1, "protobuf_c",
                  protobuf_c_version(), "protobuf_cpp", bench_cpp_version(), "counts_instructions",
                  counts, "results", results, "linear", linear, "goals", goals);
    const int code = write_report(report, path);
    return code != EXIT_SUCCESS || !met ? EXIT_FAILURE : EXIT_SUCCESS;
}
