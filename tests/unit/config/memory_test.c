#include <limits.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/memory.h"
#include "tests/unit/config/support.h"

/* The linker sends the allocations of ab_config through these (-Wl,--wrap); libyaml keeps its own.
 */
/* NOLINTBEGIN(readability-identifier-naming): the linker gives the names */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static unsigned allowed = UINT_MAX; /* allocations that succeed before one fails */
static unsigned seen;

static bool may_allocate(void)
{
    return seen++ != allowed;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}
/* NOLINTEND(readability-identifier-naming) */

static const char text[] =
    MINIMAL "    on_key_mismatch: ignore\n"
            "consumer: {client.id: 'x${T_NAME:-y}', sasl.password: env:T_SECRET}\n"
            "errors: {quarantine: q}\n";

static void test_memory_pieces_zeroed_and_aligned(void **state)
{
    (void)state;
    ab_config_memory_t *memory = ab_config_memory_new();
    assert_non_null(memory);
    for (size_t size = 0; size < 100; size++) {
        unsigned char *piece = ab_config_memory_alloc(memory, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(piece[i], 0);
        }
        memset(piece, 0xff, size);
    }
    assert_string_equal(ab_config_memory_text(memory, "abc", 2), "ab");
    assert_string_equal(ab_config_memory_text(memory, NULL, 0), "");
    assert_false(ab_config_memory_failed(memory));
    ab_config_memory_free(memory);
    ab_config_memory_free(NULL);
}

static void test_memory_sizes_that_overflow_refused(void **state)
{
    (void)state;
    ab_config_memory_t *memory = ab_config_memory_new();
    assert_null(ab_config_memory_alloc(memory, SIZE_MAX));
    assert_true(ab_config_memory_failed(memory));
    assert_null(ab_config_memory_text(memory, "x", SIZE_MAX));
    assert_non_null(ab_config_memory_alloc(memory, 1));
    assert_true(ab_config_memory_failed(memory));
    ab_config_memory_free(memory);
}

/* Fails each allocation in turn. Every run but the last ends with "out of memory" and no config. */
static void test_config_any_allocation_failing_said_and_freed(void **state)
{
    (void)state;
    setenv("T_SECRET", "s", 1);
    static ab_findings_t findings;
    bool done = false;
    unsigned runs = 0;
    for (; !done; runs++) {
        seen = 0;
        allowed = runs;
        ab_config_t *config = ab_config_parse("c", text, strlen(text), NULL, &findings);
        done = seen <= runs;
        allowed = UINT_MAX;
        if (done) {
            assert_non_null(config);
            assert_int_equal(findings.mistakes, 0);
        } else {
            assert_null(config);
            assert_string_equal(findings.items[findings.count - 1].message, "out of memory");
        }
        ab_config_free(config);
    }
    assert_true(runs > 50);
}

static void test_load_without_memory_said(void **state)
{
    (void)state;
    static ab_findings_t findings;
    seen = 0;
    allowed = 0;
    ab_config_t *config = ab_config_load("deploy/examples/minimal.yaml", NULL, &findings);
    allowed = UINT_MAX;
    assert_null(config);
    assert_int_equal(findings.count, 1);
    assert_false(findings.unreadable);
    assert_string_equal(findings.items[0].message, "out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_pieces_zeroed_and_aligned),
        cmocka_unit_test(test_memory_sizes_that_overflow_refused),
        cmocka_unit_test(test_config_any_allocation_failing_said_and_freed),
        cmocka_unit_test(test_load_without_memory_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
