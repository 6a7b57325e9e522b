/* tea-protocol beside jansson's own load and dump, in one run: a table for people and
 * build/bench/tea.json for machines.
 *
 *     tea_bench [FILE]
 *
 * Exit 0 when checking is nowhere slower than jansson's load, 1 when it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "agentwire/tea.h"
#include "bench/codec/measure.h"

/** Turns of about a millisecond for each piece of work. */
#define ROUNDS 200u
#define KIB    1024u

#define ID        "0198a7c4-1d01-7b3f-9f21-5c0de0000001"
#define TIMESTAMP "2027-11-05T14:08:31.250Z"
#define HEAD                                                                                       \
    "{\"protocolVersion\":\"1.0\",\"type\":\"message_committed\",\"recordId\":\"" ID               \
    "\",\"sessionId\":\"" ID "\",\"sequence\":\"7\",\"timestamp\":\"" TIMESTAMP                    \
    "\",\"payload\":{\"message\":{\"type\":\"assistant\",\"id\":\"" ID                             \
    "\",\"stopReason\":\"completed\",\"timestamp\":\"" TIMESTAMP "\",\"content\":["
#define TAIL "]}}}"

/** What the bulk of an envelope is. */
typedef enum bulk {
    TEXT,    /* a few blocks of plain text */
    ESCAPES, /* text of which each line ends in an escape */
    BLOCKS,  /* small blocks: most of it is the protocol's own members */
    VALUES,  /* tool arguments of small values */
    BULK_COUNT
} bulk_t;

static const char *const bulk_names[BULK_COUNT] = {"text", "escapes", "blocks", "values"};

typedef enum operation {
    CHECK,
    CANONICAL,
    LOAD,
    LOAD_STRICT, /* as strict about keys as the protocol is */
    LOAD_DUMP,
    OPERATION_COUNT
} operation_t;

static const char *const operation_names[OPERATION_COUNT] = {
    "check", "check+canonical", "jansson load", "jansson load, no equal keys",
    "jansson load+dump, sorted"};

typedef struct context {
    char *text;
    size_t size;
    aw_arena_t *arena;
} context_t;

static void fail(const char *what)
{
    fprintf(stderr, "tea_bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static void check(void *opaque)
{
    context_t *context = opaque;
    aw_tea_result_t result;
    aw_arena_reset(context->arena);
    if (aw_tea_check(AW_TEA_RECORD, AW_TEA_EDITION_A, aw_span_view(context->text, context->size),
                     context->arena, &result) != AW_OK ||
        result.outcome != AW_TEA_OK) {
        fail("the sample is refused");
    }
}

static void canonical(void *opaque)
{
    context_t *context = opaque;
    aw_tea_result_t result;
    aw_span_t text;
    aw_arena_reset(context->arena);
    if (aw_tea_canonical(AW_TEA_RECORD, AW_TEA_EDITION_A,
                         aw_span_view(context->text, context->size), context->arena, &result,
                         &text) != AW_OK ||
        text.data == NULL) {
        fail("the sample is refused");
    }
}

static json_t *load_with(const context_t *context, size_t flags)
{
    json_t *tree = json_loadb(context->text, context->size, flags, NULL);
    if (tree == NULL) {
        fail("jansson refuses the sample");
    }
    return tree;
}

static void load(void *opaque)
{
    json_decref(load_with(opaque, 0));
}

static void load_strict(void *opaque)
{
    json_decref(load_with(opaque, JSON_REJECT_DUPLICATES));
}

static void load_dump(void *opaque)
{
    json_t *tree = load_with(opaque, 0);
    free(json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS));
    json_decref(tree);
}

/** Appends a piece of the bulk; returns its length. */
static size_t put_piece(bulk_t bulk, char *at, size_t room, unsigned number)
{
    static const char words[] =
        "The harbour lies quiet under the lee of the island, and the pilot reads the chart. ";
    int size = 0;
    switch (bulk) {
    case TEXT:
        size = snprintf(at, room, "%s", words);
        break;
    case ESCAPES:
        size = snprintf(at, room, "said \\\"%.20s\\\"\\n", words);
        break;
    case BLOCKS:
        size = snprintf(at, room,
                        "%s{\"type\":\"citation\",\"citation\":{\"source\":{\"url\":\"https://"
                        "charts.example/tides/%u\",\"title\":\"Tides\"},\"startIndex\":%u,"
                        "\"endIndex\":%u,\"toolCallId\":\"" ID "\",\"citedText\":\"%s%s%s%s%s%s%s"
                        "%s%s%s\"}}",
                        number > 0 ? "," : "", number, number, number + 9, words, words, words,
                        words, words, words, words, words, words, words);
        break;
    case VALUES:
        size = snprintf(at, room, "%s\"key%u\":{\"depth\":%u.5,\"tide\":[%u,true,null,\"ebb\"]}",
                        number > 0 ? "," : "", number, number, number * 7);
        break;
    default:
        break;
    }
    return (size_t)size;
}

/** A good record of about this size. */
static context_t sample(bulk_t bulk, size_t wanted)
{
    static const char *const opens[BULK_COUNT] = {
        "{\"type\":\"text\",\"text\":\"", "{\"type\":\"text\",\"text\":\"", "",
        "{\"type\":\"tool_call\",\"toolCallId\":\"" ID "\",\"toolName\":\"sonar\",\"arguments\":{"};
    static const char *const closes[BULK_COUNT] = {"\"}", "\"}", "", "}}"};
    size_t room = wanted + 4 * KIB;
    context_t context = {.text = malloc(room), .arena = aw_arena_new(0)};
    if (context.text == NULL || context.arena == NULL) {
        fail("out of memory");
    }
    context.size = (size_t)snprintf(context.text, room, "%s%s", HEAD, opens[bulk]);
    for (unsigned number = 0; context.size + 100 < wanted || number == 0; number++) {
        context.size += put_piece(bulk, context.text + context.size, room - context.size, number);
    }
    context.size += (size_t)snprintf(context.text + context.size, room - context.size, "%s%s",
                                     closes[bulk], TAIL);
    return context;
}

/** Measures one sample and appends what came out. Returns check's time over load's. */
static double measure(bulk_t bulk, size_t wanted, json_t *results)
{
    static const bench_work_t works[OPERATION_COUNT] = {check, canonical, load, load_strict,
                                                        load_dump};
    context_t context = sample(bulk, wanted);
    void *contexts[OPERATION_COUNT] = {&context, &context, &context, &context, &context};
    bench_cost_t costs[OPERATION_COUNT];
    bench_measure(works, contexts, OPERATION_COUNT, ROUNDS, costs);
    printf("%-8s %8zu", bulk_names[bulk], context.size);
    for (unsigned i = 0; i < OPERATION_COUNT; i++) {
        double rate = (double)context.size / costs[i].ns * 1e3;
        printf(" %9.0f", rate);
        json_array_append_new(
            results, json_pack("{s:s, s:I, s:s, s:f, s:f, s:f}", "bulk", bulk_names[bulk],
                               "size_bytes", (json_int_t)context.size, "operation",
                               operation_names[i], "ns", costs[i].ns, "megabytes_per_second", rate,
                               "ratio_to_jansson_load", costs[i].ns / costs[LOAD].ns));
    }
    double ratio = costs[CHECK].ns / costs[LOAD].ns;
    printf("   %6.3f %6.3f\n", ratio, costs[CANONICAL].ns / costs[LOAD_DUMP].ns);
    aw_arena_free(context.arena);
    free(context.text);
    return ratio;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1 * KIB, 256 * KIB};
    json_t *results = json_array();
    double worst = 0;
    printf("MB/s                check canonical      load    strict load+dump   check/load "
           "canonical/load+dump\n");
    for (unsigned bulk = 0; bulk < BULK_COUNT; bulk++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            double ratio = measure((bulk_t)bulk, sizes[i], results);
            worst = ratio > worst ? ratio : worst;
        }
    }
    printf("\ncheck / jansson load, at worst %.3f (goal: 1)\n", worst);
    if (argc > 1 && json_dump_file(results, argv[1], JSON_INDENT(1) | JSON_REAL_PRECISION(6))) {
        fprintf(stderr, "tea_bench: %s: %s\n", argv[1], strerror(errno));
    }
    json_decref(results);
    return worst <= 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
