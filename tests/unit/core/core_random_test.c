#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "agentwire/status.h"
#include "agentwire/utf8.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/ledger.h"
#include "tests/unit/core/letter.h"
#include "tests/unit/core/wire.h"

#define ROUNDS    10000u
#define SEED      UINT64_C(0x9e3779b97f4a7c15)
#define BYTES_MAX 2000u

/** xorshift64*: the same records on every run and machine. */
static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    return next(seed) % limit;
}

static aw_span_t random_bytes(uint64_t *seed, uint8_t *buffer, size_t max)
{
    size_t size = (size_t)(below(seed, 4) == 0 ? below(seed, max + 1) : below(seed, 20));

    for (size_t i = 0; i < size; i++) {
        buffer[i] = (uint8_t)next(seed);
    }
    return below(seed, 10) == 0 ? AW_SPAN_NULL : aw_span_view(buffer, size);
}

/** What a contract takes, and what it refuses for one reason or the other. */
static const char *random_event(uint64_t *seed)
{
    static const char *const events[] = {
        ("{\"protocolVersion\":\"1.0\",\"type\":\"protocol_error\",\"error\":{\"code\":"
         "\"internal\","
         "\"message\":\"x\",\"retry\":\"never\"}}"),
        "{\"protocolVersion\":\"1.0\",\"type\":\"run_started\",\"eventId\":\"x\"}",
        "{\"protocolVersion\":\"2.0\",\"type\":\"abort\",\"commandId\":\"x\"}",
        "{\"eventId\":\"x\",\"eventId\":\"y\"}",
        "{\"kind\":\"send\",\"payload\":{}}",
        "{\"kind\":\"send\",\"payload\":{},\"version\":2}",
        "{\"kind\":\"clear\",\"version\":1}",
        "no JSON",
    };

    return events[below(seed, sizeof(events) / sizeof(events[0]))];
}

/** Something near an envelope: sound fields with small mistakes, some of the keys equal. */
static void random_envelope(uint64_t *seed, wire_t *wire)
{
    static const char *const keys[] = {"", "k", "user-42", "user-43"};
    uint64_t fields = below(seed, 5);

    wire->size = 0;
    wire_text(wire, 1, keys[below(seed, 4)]);
    for (uint64_t i = 0; i < fields; i++) {
        wire_t payload = {.size = 0};
        uint32_t number = (uint32_t)(2 + below(seed, 6));

        wire_text(&payload, (uint32_t)(1 + below(seed, 2)), keys[below(seed, 4)]);
        if (number == 3 && below(seed, 2) == 0) {
            wire_text(wire, number, random_event(seed));
        } else if (number == 2) {
            wire_number(wire, number, next(seed));
        } else {
            wire_message(wire, number, &payload);
        }
    }
    if (wire->size > 0 && below(seed, 3) == 0) {
        wire->data[below(seed, wire->size)] = (uint8_t)next(seed);
    }
    if (wire->size > 0 && below(seed, 8) == 0) {
        wire->size = (size_t)below(seed, wire->size);
    }
}

static void random_topic(uint64_t *seed, char *buffer, size_t max)
{
    size_t size = (size_t)below(seed, max);

    for (size_t i = 0; i < size; i++) {
        buffer[i] = (char)(1 + below(seed, 255));
    }
    buffer[size] = '\0';
}

static ab_route_t random_route(uint64_t *seed)
{
    switch (below(seed, 8)) {
    case 0:
        return (ab_route_t){AB_ROUTE_DEAD_LETTER, NULL};
    case 1:
        return (ab_route_t){AB_ROUTE_DROP, NULL};
    case 2:
        return (ab_route_t){AB_ROUTE_UNSET, NULL};
    default:
        return (ab_route_t){AB_ROUTE_TOPIC, "agents.out"};
    }
}

static ab_policy_t random_policy(uint64_t *seed)
{
    ab_policy_t policy = {.topic = "agents.in",
                          .tombstone_drop = below(seed, 2) != 0,
                          .key_mismatch_ignore = below(seed, 2) != 0,
                          .null_key_dead_letter = below(seed, 2) != 0,
                          .max_value_bytes = below(seed, 4) == 0 ? below(seed, 100) : BYTES_MAX,
                          .max_hops = (uint32_t)below(seed, 3),
                          .contract = (ab_contract_t)below(seed, AB_CONTRACT_ACTIVATION_ERROR + 1)};

    for (unsigned i = 0; i < AB_SLOT_COUNT; i++) {
        policy.routes[i] = random_route(seed);
    }
    return policy;
}

/** Parses the detail and compares it with what json.dumps(…, sort_keys=True) would write. */
static void assert_canonical(aw_span_t detail)
{
    json_error_t error;
    json_t *json =
        json_loadb((const char *)detail.data, detail.size, JSON_REJECT_DUPLICATES, &error);
    char *text;

    assert_non_null(json);
    text = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT);
    assert_non_null(text);
    assert_span_text(detail, text);
    assert_int_equal(json_integer_value(json_object_get(json, "v")), AB_LETTER_VERSION);
    assert_true(json_is_string(json_object_get(json, "source")));
    assert_true(json_is_string(json_object_get(json, "text")));
    free(text);
    json_decref(json);
}

static void check_letter(const ab_record_t *record, const ab_verdict_t *verdict,
                         const char *output_topic, aw_arena_t *arena, aw_arena_t *view_arena)
{
    ab_letter_t letter;
    ab_letter_t again;
    letter_view_t view;

    assert_int_equal(ab_dead_letter_build(record, verdict, "group", output_topic, arena, &letter),
                     AW_OK);
    view = letter_view(&letter, view_arena);
    assert_span_text(view.reason, ab_reason_code(verdict->reason));
    assert_true(view.event_time_ms == verdict->event_time_ms);
    assert_true(letter.key.size <= AB_LETTER_KEY_MAX);
    assert_true(view.detail.size <= AB_LETTER_DETAIL_MAX);
    assert_true(aw_utf8_valid(view.detail));
    assert_null(memchr(view.detail.data, 0, view.detail.size));
    assert_canonical(view.detail);
    assert_true(letter_size(&letter) < 16 * 1024);
    assert_int_equal(
        ab_dead_letter_build(record, verdict, "group", output_topic, view_arena, &again), AW_OK);
    assert_letters_equal(&letter, &again);
}

static void assert_same_verdict(const ab_verdict_t *a, const ab_verdict_t *b)
{
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->variant, b->variant);
    assert_true(a->at == b->at && a->event_time_ms == b->event_time_ms);
    assert_ptr_equal(a->entity_key.data, b->entity_key.data);
    assert_int_equal(a->entity_key.size, b->entity_key.size);
    assert_string_equal(a->field, b->field);
    assert_string_equal(a->text, b->text);
}

static void test_core_any_record_gets_one_outcome_and_a_sound_letter(void **state)
{
    static uint8_t key[BYTES_MAX];
    static uint8_t value[BYTES_MAX];
    char topic[400];
    char output[400];
    uint64_t seed = SEED;
    aw_arena_t *arena = aw_arena_new(AB_LETTER_ARENA_MAX);
    aw_arena_t *view_arena = aw_arena_new(0);
    ab_ledger_t ledger = {0};

    (void)state;
    assert_true(arena != NULL && view_arena != NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        wire_t wire;
        ab_policy_t policy = random_policy(&seed);
        ab_record_t record = {.topic = topic,
                              .partition = (int32_t)next(&seed),
                              .offset = (int64_t)next(&seed),
                              .timestamp_ms = (int64_t)next(&seed),
                              .timestamp_type = (ab_timestamp_type_t)below(&seed, 3),
                              .hops = (uint32_t)below(&seed, 4)};
        ab_verdict_t verdict;
        ab_verdict_t again;

        random_topic(&seed, topic, sizeof(topic));
        random_topic(&seed, output, sizeof(output));
        random_envelope(&seed, &wire);
        record.key = below(&seed, 2) == 0 ? aw_span_text_view("user-42")
                                          : random_bytes(&seed, key, BYTES_MAX);
        record.value =
            below(&seed, 4) == 0 ? random_bytes(&seed, value, BYTES_MAX) : wire_view(&wire);
        assert_int_equal(ab_verdict_of(&record, &policy, view_arena, &verdict), AW_OK);
        assert_int_equal(ab_verdict_of(&record, &policy, view_arena, &again), AW_OK);
        assert_same_verdict(&verdict, &again);
        ab_ledger_count(&ledger, &verdict);
        if (verdict.outcome == AB_OUTCOME_ROUTED) {
            assert_true(verdict.entity_key.size > 0);
            ab_verdict_reject(&verdict, NULL);
        }
        if (verdict.outcome == AB_OUTCOME_DEAD_LETTERED) {
            check_letter(&record, &verdict,
                         verdict.reason == AB_REASON_PRODUCE_REJECTED ? output : NULL, arena,
                         view_arena);
        }
        aw_arena_reset(arena);
        aw_arena_reset(view_arena);
    }
    assert_true(ab_ledger_balanced(&ledger));
    assert_int_equal(ledger.consumed, ROUNDS);
    /* The records were mixed enough to say something: every outcome came up, and most reasons. */
    assert_true(ab_ledger_routed(&ledger) > ROUNDS / 100 && ledger.dropped > ROUNDS / 100);
    for (unsigned i = 1; i < AB_REASON_COUNT; i++) {
        if (i != AB_REASON_FRAMED_PAYLOAD && i != AB_REASON_PRODUCE_REJECTED &&
            i != AB_REASON_DECODE_VARINT && i != AB_REASON_STATE_UNKNOWN &&
            i != AB_REASON_STATE_NOT_READY) {
            if (ledger.dead_lettered[i] == 0) {
                print_error("no record was %s\n", ab_reason_code((ab_reason_t)i));
            }
            assert_true(ledger.dead_lettered[i] > 0);
        }
    }
    aw_arena_free(arena);
    aw_arena_free(view_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_any_record_gets_one_outcome_and_a_sound_letter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
