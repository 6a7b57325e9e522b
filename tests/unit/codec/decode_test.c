#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/message/gen/beam_agents.pb-c.h"
#include "codec/message/object.h"

static aw_arena_t *arena;

static int set_up(void **state)
{
    (void)state;
    arena = aw_arena_new(0);
    return arena != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    aw_arena_free(arena);
    return 0;
}

static const aw_message_t *decoded(aw_message_type_t type, const char *hex)
{
    return aw_test_decode(type, aw_test_hex(hex), arena);
}

static void expect_text(aw_value_t value, const char *text)
{
    assert_non_null(value.as.bytes.data);
    assert_int_equal(value.as.bytes.size, strlen(text));
    assert_memory_equal(value.as.bytes.data, text, strlen(text));
}

static void test_decode_each_kind_gives_its_value(void **state)
{
    (void)state;
    const aw_message_t *intent =
        decoded(AW_MESSAGE_TOOL_INTENT, "0a0169 12016b 18ffffffffffffffffff01 20ffffffff0f 2a0174 "
                                        "32027b7d 3801 4002 4803 5002 5a0178 "
                                        "6001 6a0179 72017a");
    expect_text(aw_test_value(intent, AW_FIELD_TOOL_INTENT_INTENT_ID, 0), "i");
    expect_text(aw_test_value(intent, AW_FIELD_TOOL_INTENT_ENTITY_KEY, 0), "k");
    assert_true(aw_test_value(intent, AW_FIELD_TOOL_INTENT_SEQ, 0).as.int64 == -1);
    assert_true(aw_test_value(intent, AW_FIELD_TOOL_INTENT_STEP_INDEX, 0).as.uint32 == UINT32_MAX);
    expect_text(aw_test_value(intent, AW_FIELD_TOOL_INTENT_ARGS_JSON, 0), "{}");
    assert_int_equal(aw_test_value(intent, AW_FIELD_TOOL_INTENT_KIND, 0).as.enumeration, 2);
    for (uint32_t number = 1; number <= 14; number++) {
        assert_int_equal(aw_test_count(intent, number), 1);
    }
    const aw_message_t *approval = decoded(AW_MESSAGE_APPROVAL, "1001");
    assert_true(aw_test_value(approval, AW_FIELD_APPROVAL_APPROVED, 0).as.boolean);
}

static void test_decode_unset_fields_give_their_defaults(void **state)
{
    (void)state;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        const aw_message_t *message = decoded((aw_message_type_t)type, "");
        assert_int_equal(aw_message_unknown_size(message), 0);
        aw_field_t field;
        for (uint32_t number = 1; aw_field_get((aw_message_type_t)type, number, &field); number++) {
            assert_int_equal(aw_message_count(message, &field), 0);
            aw_value_t value = aw_message_value(message, &field, 0);
            assert_int_equal(value.kind, field.kind);
            if (field.kind == AW_KIND_STRING || field.kind == AW_KIND_BYTES) {
                expect_text(value, "");
            } else if (field.kind == AW_KIND_MESSAGE) {
                assert_null(value.as.message);
            } else if (field.kind == AW_KIND_INT64) {
                assert_int_equal(value.as.int64, 0);
            } else if (field.kind == AW_KIND_BOOL) {
                assert_false(value.as.boolean);
            } else {
                assert_int_equal(value.as.uint32, 0);
            }
        }
    }
}

static void test_decode_oneof_member_that_is_not_set_gives_its_default(void **state)
{
    (void)state;
    const aw_message_t *envelope = decoded(AW_MESSAGE_AGENT_ENVELOPE, "1a03616263");
    assert_int_equal(aw_test_count(envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT), 1);
    assert_int_equal(aw_test_count(envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT), 0);
    assert_null(aw_test_value(envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, 0).as.message);
    envelope = decoded(AW_MESSAGE_AGENT_ENVELOPE, "2200");
    assert_int_equal(aw_test_count(envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT), 0);
    expect_text(aw_test_value(envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT, 0), "");
    assert_int_equal(aw_test_count(envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT), 1);
    assert_non_null(aw_test_value(envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, 0).as.message);
    /* Empty and there. */
    envelope = decoded(AW_MESSAGE_AGENT_ENVELOPE, "1a00");
    assert_int_equal(aw_test_count(envelope, AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT), 1);
}

static void test_decode_strings_and_bytes_borrow_from_the_input(void **state)
{
    (void)state;
    aw_span_t input = aw_test_hex("0a0161 12016b 2a0170 320165 7a0161");
    const aw_message_t *result = aw_test_decode(AW_MESSAGE_TOOL_RESULT, input, arena);
    static const uint32_t numbers[] = {1, 2, 5, 6};
    for (size_t i = 0; i < 4; i++) {
        aw_span_t bytes = aw_test_value(result, numbers[i], 0).as.bytes;
        assert_ptr_equal(bytes.data, input.data + 3 * i + 2);
    }
}

static void test_decode_lists_keep_order_and_grow(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 70; length++) {
        uint8_t bytes[4 * 70];
        for (size_t i = 0; i < length; i++) {
            const uint8_t item[4] = {0x22, 0x02, 'a', (uint8_t)i};
            memcpy(bytes + 4 * i, item, 4);
        }
        const aw_message_t *continuation =
            aw_test_decode(AW_MESSAGE_CONTINUATION, (aw_span_t){bytes, 4 * length}, arena);
        assert_int_equal(aw_test_count(continuation, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS),
                         length);
        for (size_t i = 0; i < length; i++) {
            aw_value_t id =
                aw_test_value(continuation, AW_FIELD_CONTINUATION_PENDING_INTENT_IDS, i);
            assert_int_equal(id.as.bytes.data[1], i);
        }
    }
}

static void test_decode_nested_messages_are_of_their_type(void **state)
{
    (void)state;
    const aw_message_t *snapshot =
        decoded(AW_MESSAGE_STATE_SNAPSHOT, "2a 0a 0801 1206 0a0161 120162 32 04 1202 3001 42 00 42 "
                                           "03 0a0169 42 00");
    const aw_message_t *memory =
        aw_test_value(snapshot, AW_FIELD_STATE_SNAPSHOT_MEMORY, 0).as.message;
    assert_int_equal(aw_message_type(memory), AW_MESSAGE_MEMORY_BLOB);
    const aw_message_t *entry = aw_test_value(memory, AW_FIELD_MEMORY_BLOB_ENTRIES, 0).as.message;
    assert_int_equal(aw_message_type(entry), AW_MESSAGE_MEMORY_ENTRY);
    expect_text(aw_test_value(entry, AW_FIELD_MEMORY_ENTRY_VALUE, 0), "b");
    const aw_message_t *cache =
        aw_test_value(snapshot, AW_FIELD_STATE_SNAPSHOT_LLM_CACHE, 0).as.message;
    entry = aw_test_value(cache, AW_FIELD_LLM_CACHE_BLOB_ENTRIES, 0).as.message;
    assert_true(aw_test_value(entry, AW_FIELD_LLM_CACHE_ENTRY_DIGEST_ONLY, 0).as.boolean);
    assert_int_equal(aw_test_count(snapshot, AW_FIELD_STATE_SNAPSHOT_PENDING), 3);
    const aw_message_t *intent =
        aw_test_value(snapshot, AW_FIELD_STATE_SNAPSHOT_PENDING, 1).as.message;
    assert_int_equal(aw_message_type(intent), AW_MESSAGE_TOOL_INTENT);
    expect_text(aw_test_value(intent, AW_FIELD_TOOL_INTENT_INTENT_ID, 0), "i");
}

static void test_decode_maps_are_sorted_and_keep_the_last(void **state)
{
    (void)state;
    /* Ten keys, each five times, in an order of chance; the last value of each wins. */
    uint8_t bytes[50 * 8];
    char last[10] = {0};
    uint64_t random = 11;
    size_t size = 0;
    for (int i = 0; i < 50; i++) {
        const int key = i < 10 ? 9 - i : (int)(aw_test_random(&random) % 10);
        last[key] = (char)('a' + i % 26);
        const uint8_t entry[8] = {
            0x42, 0x06, 0x0a, 0x01, (uint8_t)('0' + key), 0x12, 0x01, (uint8_t)last[key]};
        memcpy(bytes + size, entry, sizeof entry);
        size += sizeof entry;
    }
    const aw_message_t *event =
        aw_test_decode(AW_MESSAGE_TRACE_EVENT, (aw_span_t){bytes, size}, arena);
    assert_int_equal(aw_test_count(event, AW_FIELD_TRACE_EVENT_ATTRIBUTES), 10);
    for (size_t i = 0; i < 10; i++) {
        const aw_message_t *entry =
            aw_test_value(event, AW_FIELD_TRACE_EVENT_ATTRIBUTES, i).as.message;
        const char key[2] = {(char)('0' + i), '\0'};
        const char value[2] = {last[i], '\0'};
        expect_text(aw_test_value(entry, AW_FIELD_ATTRIBUTES_ENTRY_KEY, 0), key);
        expect_text(aw_test_value(entry, AW_FIELD_ATTRIBUTES_ENTRY_VALUE, 0), value);
    }
}

static void test_decode_version_zero_stays_zero(void **state)
{
    (void)state;
    const aw_message_t *blob = decoded(AW_MESSAGE_MEMORY_BLOB, "1801");
    assert_int_equal(aw_test_value(blob, AW_FIELD_MEMORY_BLOB_STATE_SCHEMA_VERSION, 0).as.uint32,
                     0);
}

static void test_decode_enum_keeps_numbers_without_a_name(void **state)
{
    (void)state;
    aw_field_t field;
    assert_true(aw_field_get(AW_MESSAGE_TOOL_RESULT, AW_FIELD_TOOL_RESULT_STATUS, &field));
    const aw_message_t *result = decoded(AW_MESSAGE_TOOL_RESULT, "20ffffffffffffffffff01");
    assert_int_equal(aw_message_value(result, &field, 0).as.enumeration, -1);
    assert_null(aw_field_enum_name(&field, -1));
    result = decoded(AW_MESSAGE_TOOL_RESULT, "2063");
    assert_int_equal(aw_message_value(result, &field, 0).as.enumeration, 99);
    assert_null(aw_field_enum_name(&field, 99));
    assert_string_equal(aw_field_enum_name(&field, 4), "REJECTED");
}

static void test_decode_unknown_size_counts_this_message_only(void **state)
{
    (void)state;
    const aw_message_t *envelope =
        decoded(AW_MESSAGE_AGENT_ENVELOPE, "7801 22 05 0a0161 7801 9303 9403 0a0161 7a00");
    assert_int_equal(aw_message_unknown_size(envelope), 2 + 4 + 2);
    const aw_message_t *result =
        aw_test_value(envelope, AW_FIELD_AGENT_ENVELOPE_TOOL_RESULT, 0).as.message;
    assert_int_equal(aw_message_unknown_size(result), 2);
}

/* The structs are protobuf-c's, filled as protobuf-c fills them: where it reads the input, it
 * writes the message that was decoded here as the reference writes it. */
static void test_decode_structs_are_good_for_protobuf_c(void **state)
{
    (void)state;
    size_t count;
    aw_test_golden_t *golden = aw_test_golden_load(&count);
    unsigned compared = 0;
    for (size_t i = 0; i < count; i++) {
        if (!golden[i].accepted || golden[i].type == AW_MESSAGE_TRACE_EVENT) {
            continue;
        }
        const aw_message_t *message = aw_test_decode(golden[i].type, golden[i].input, arena);
        const ProtobufCMessage *body = aw__body(message);
        ProtobufCMessage *unpacked = protobuf_c_message_unpack(
            body->descriptor, NULL, golden[i].deterministic.size, golden[i].deterministic.data);
        if (unpacked == NULL || aw_message_unknown_size(message) != 0 ||
            protobuf_c_message_get_packed_size(unpacked) !=
                protobuf_c_message_get_packed_size(body)) {
            if (unpacked != NULL) {
                protobuf_c_message_free_unpacked(unpacked, NULL);
            }
            continue; /* unknown fields, which protobuf-c's structs keep elsewhere */
        }
        assert_true(protobuf_c_message_check(body));
        uint8_t *packed = malloc(golden[i].deterministic.size + 1);
        assert_non_null(packed);
        assert_int_equal(protobuf_c_message_pack(body, packed), golden[i].deterministic.size);
        assert_memory_equal(packed, golden[i].deterministic.data, golden[i].deterministic.size);
        free(packed);
        protobuf_c_message_free_unpacked(unpacked, NULL);
        compared++;
    }
    assert_true(compared > 20);
    aw_test_golden_free(golden, count);
}

static void test_decode_over_the_arenas_limit_is_a_limit_error(void **state)
{
    (void)state;
    /* Empty entries: the most memory for an input. */
    enum { ENTRIES = 10000 };
    static uint8_t bytes[2 * ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
        bytes[2 * i] = 0x12;
        bytes[2 * i + 1] = 0x00;
    }
    const aw_span_t input = {bytes, sizeof bytes};
    aw_arena_t *small = aw_arena_new(sizeof bytes);
    assert_non_null(small);
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    assert_int_equal(aw_message_decode(AW_MESSAGE_MEMORY_BLOB, input, small, &message, &error),
                     AW_STATUS_LIMIT_DECODE_BYTES);
    assert_int_equal(error.status, AW_STATUS_LIMIT_DECODE_BYTES);
    assert_int_equal(error.offset, -1);
    assert_null(message);
    aw_arena_free(small);

    /* 80 bytes an entry and the list that holds them. */
    aw_arena_t *enough = aw_arena_new(56 * sizeof bytes);
    assert_non_null(enough);
    assert_int_equal(aw_message_decode(AW_MESSAGE_MEMORY_BLOB, input, enough, &message, NULL),
                     AW_OK);
    assert_int_equal(aw_test_count(message, AW_FIELD_MEMORY_BLOB_ENTRIES), ENTRIES);
    aw_arena_free(enough);
}

static void test_decode_unknown_fields_take_next_to_no_memory(void **state)
{
    (void)state;
    enum { FIELDS = 100000 };
    static uint8_t bytes[2 * FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        bytes[2 * i] = 0x78;
    }
    aw_arena_t *small = aw_arena_new(1024);
    assert_non_null(small);
    const aw_message_t *message;
    const aw_span_t input = {bytes, sizeof bytes};
    assert_int_equal(aw_message_decode(AW_MESSAGE_AGENT_ENVELOPE, input, small, &message, NULL),
                     AW_OK);
    assert_int_equal(aw_message_unknown_size(message), sizeof bytes);
    aw_arena_free(small);
}

static void test_decode_number_that_is_no_type_is_an_argument_error(void **state)
{
    (void)state;
    const aw_message_t *message = NULL;
    assert_int_equal(aw_message_decode(AW_MESSAGE_COUNT, AW_SPAN_NULL, arena, &message, NULL),
                     AW_STATUS_INVALID_ARGUMENT);
    assert_null(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_each_kind_gives_its_value),
        cmocka_unit_test(test_decode_unset_fields_give_their_defaults),
        cmocka_unit_test(test_decode_oneof_member_that_is_not_set_gives_its_default),
        cmocka_unit_test(test_decode_strings_and_bytes_borrow_from_the_input),
        cmocka_unit_test(test_decode_lists_keep_order_and_grow),
        cmocka_unit_test(test_decode_nested_messages_are_of_their_type),
        cmocka_unit_test(test_decode_maps_are_sorted_and_keep_the_last),
        cmocka_unit_test(test_decode_version_zero_stays_zero),
        cmocka_unit_test(test_decode_enum_keeps_numbers_without_a_name),
        cmocka_unit_test(test_decode_unknown_size_counts_this_message_only),
        cmocka_unit_test(test_decode_structs_are_good_for_protobuf_c),
        cmocka_unit_test(test_decode_over_the_arenas_limit_is_a_limit_error),
        cmocka_unit_test(test_decode_unknown_fields_take_next_to_no_memory),
        cmocka_unit_test(test_decode_number_that_is_no_type_is_an_argument_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
