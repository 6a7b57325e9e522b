#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/cli/ledger_event.h"

/** The one event that was emitted, with what it borrowed copied. */
typedef struct caught {
    unsigned count;
    ab_level_t level;
    char event[32];
    ab_field_t fields[AB_FIELDS_MAX];
    unsigned field_count;
} caught_t;

static void catch_event(void *opaque, ab_level_t level, const char *event, const char *message,
                        const ab_field_t *fields, unsigned field_count)
{
    caught_t *caught = opaque;

    assert_true(strlen(message) > 0);
    assert_true(field_count <= AB_FIELDS_MAX);
    caught->count++;
    caught->level = level;
    (void)strncpy(caught->event, event, sizeof(caught->event) - 1);
    memcpy(caught->fields, fields, field_count * sizeof(*fields));
    caught->field_count = field_count;
}

static const ab_field_t *find(const caught_t *caught, const char *name)
{
    for (unsigned i = 0; i < caught->field_count; i++) {
        if (strcmp(caught->fields[i].name, name) == 0) {
            return &caught->fields[i];
        }
    }
    return NULL;
}

static void assert_number(const caught_t *caught, const char *name, int64_t number)
{
    const ab_field_t *field = find(caught, name);

    assert_non_null(field);
    assert_true(field->number == number);
}

static caught_t emit(const ab_ledger_t *ledger)
{
    caught_t caught = {0};
    ab_sink_t sink = {catch_event, &caught};

    ab_ledger_emit(ledger, &sink);
    assert_int_equal(caught.count, 1);
    assert_string_equal(caught.event, "ledger");
    return caught;
}

static void test_ledger_event_has_all_counters_and_the_reasons_that_occurred(void **state)
{
    ab_ledger_t ledger = {.consumed = 10,
                          .dropped = 1,
                          .keyless = 2,
                          .without_source = 3,
                          .timestamp_zero = 4,
                          .stale = 5,
                          .gap = 6};
    caught_t caught;

    (void)state;
    ledger.routed[AB_SLOT_EXTERNAL_EVENT] = 4;
    ledger.routed[AB_SLOT_UNKNOWN_VARIANT] = 2;
    ledger.dead_lettered[AB_REASON_HOP_LIMIT] = 3;
    caught = emit(&ledger);
    assert_int_equal(caught.level, AB_LEVEL_INFO);
    assert_number(&caught, "consumed", 10);
    assert_number(&caught, "routed", 6);
    assert_number(&caught, "dead_lettered", 3);
    assert_number(&caught, "dropped", 1);
    assert_number(&caught, "balanced", 1);
    assert_number(&caught, "routed_external_event", 4);
    assert_number(&caught, "routed_tool_result", 0);
    assert_number(&caught, "routed_approval", 0);
    assert_number(&caught, "routed_export_request", 0);
    assert_number(&caught, "routed_unknown_variant", 2);
    assert_number(&caught, "dead_lettered_hop_limit", 3);
    assert_null(find(&caught, "dead_lettered_tombstone"));
    assert_number(&caught, "keyless", 2);
    assert_number(&caught, "without_source", 3);
    assert_number(&caught, "timestamp_zero", 4);
    assert_number(&caught, "stale", 5);
    assert_number(&caught, "gap", 6);
}

static void test_ledger_event_that_does_not_balance_is_an_error(void **state)
{
    ab_ledger_t ledger = {.consumed = 1};
    caught_t caught = emit(&ledger);

    (void)state;
    assert_int_equal(caught.level, AB_LEVEL_ERROR);
    assert_number(&caught, "balanced", 0);
}

static void test_ledger_event_with_every_reason_fits(void **state)
{
    ab_ledger_t ledger = {0};
    caught_t caught;

    (void)state;
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        ledger.dead_lettered[i] = i;
        ledger.consumed += i;
    }
    caught = emit(&ledger);
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        char name[64] = "dead_lettered_";

        (void)strncat(name, ab_reason_code((ab_reason_t)i), sizeof(name) - strlen(name) - 1);
        assert_number(&caught, name, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger_event_has_all_counters_and_the_reasons_that_occurred),
        cmocka_unit_test(test_ledger_event_that_does_not_balance_is_an_error),
        cmocka_unit_test(test_ledger_event_with_every_reason_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
