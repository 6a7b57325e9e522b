#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/ledger.h"
#include "bridge/core/partition.h"
#include "tests/unit/core/wire.h"

#define ROUNDS 1000u

/* The linker puts these in the place of the allocator for everything that is linked statically: all
 * of codec and core. OpenSSL allocates in its own library for the time of a hash. */
/* NOLINTBEGIN(readability-identifier-naming): the names are the linker's */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static size_t allocations;

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}

/* NOLINTEND(readability-identifier-naming) */

static const ab_policy_t POLICY = {
    .topic = "agents.in",
    .routes = {{AB_ROUTE_TOPIC, "agents.events"},
               {AB_ROUTE_TOPIC, "agents.results"},
               {AB_ROUTE_TOPIC, "agents.approvals"},
               {AB_ROUTE_TOPIC, "agents.exports"},
               {AB_ROUTE_DEAD_LETTER, NULL}},
    .max_value_bytes = 1000,
    .max_hops = 3,
};

static ab_record_t record_of(aw_span_t value)
{
    return (ab_record_t){.topic = "agents.in",
                         .timestamp_type = AB_TIMESTAMP_CREATE,
                         .key = aw_span_text_view("user-42"),
                         .value = value};
}

static void test_counter_an_arena_that_grows_is_noticed(void **state)
{
    size_t before = allocations;
    aw_arena_t *arena = aw_arena_new(0);

    (void)state;
    assert_non_null(arena);
    assert_true(allocations > before);
    aw_arena_free(arena);
}

static void test_verdict_any_record_allocates_nothing(void **state)
{
    wire_t result = {.size = 0};
    wire_t wire = {.size = 0};
    ab_ledger_t ledger = {0};
    size_t before;

    (void)state;
    wire_text(&result, 1, "intent-1");
    wire_text(&wire, 1, "user-42");
    wire_message(&wire, 4, &result);
    before = allocations;
    /* Every prefix of an envelope, and the whole: refused, empty and routed ones. */
    for (size_t size = 0; size <= wire.size; size++) {
        ab_record_t record = record_of(aw_span_view(wire.data, size));
        char source[AB_SOURCE_TEXT_MAX];
        ab_verdict_t verdict;

        assert_int_equal(ab_verdict_of(&record, &POLICY, NULL, &verdict), AW_OK);
        ab_ledger_count(&ledger, &verdict);
        (void)ab_source_text(&record, source);
        (void)ab_partition_of_key(verdict.entity_key, 7);
    }
    assert_int_equal(allocations, before);
    assert_int_equal(ledger.routed[AB_SLOT_TOOL_RESULT], 1);
    assert_true(ab_ledger_dead_lettered(&ledger) > 1);
}

static void test_letter_steady_state_allocates_nothing(void **state)
{
    static char key[2000];
    ab_record_t record = record_of(aw_span_text_view("\x0a\x63"
                                                     "cut off"));
    aw_arena_t *arena = aw_arena_new(AB_LETTER_ARENA_MAX);
    ab_verdict_t verdict;
    ab_letter_t letter;
    size_t before = 0;

    (void)state;
    memset(key, 'k', sizeof(key));
    assert_non_null(arena);
    /* The longest letter comes first; what the arena holds then is enough for all. */
    record.key = aw_span_view(key, sizeof(key));
    for (unsigned round = 0; round < ROUNDS; round++) {
        assert_int_equal(ab_verdict_of(&record, &POLICY, NULL, &verdict), AW_OK);
        assert_int_equal(ab_dead_letter_build(&record, &verdict, "group", NULL, arena, &letter),
                         AW_OK);
        aw_arena_reset(arena);
        if (round == 0) {
            before = allocations;
            record.key = aw_span_text_view("user-42");
        }
    }
    assert_int_equal(allocations, before);
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_an_arena_that_grows_is_noticed),
        cmocka_unit_test(test_verdict_any_record_allocates_nothing),
        cmocka_unit_test(test_letter_steady_state_allocates_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
