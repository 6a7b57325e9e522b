/* The table against its two neighbours: protobuf-c's descriptors, which the decoder writes through,
 * and protoc's descriptor set of the public .proto, which is the truth. */
#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/message/object.h"
#include "codec/wire/reader.h"

#define PATH_SIZE 160

static const char *kind_name(char kind)
{
    switch (kind) {
    case 's':
    case 'S':
        return "string";
    case 'b':
        return "bytes";
    case 'i':
        return "int64";
    case 'u':
        return "uint32";
    case 't':
        return "bool";
    case 'e':
        return "enum";
    case 'm':
    case 'M':
    case 'P':
        return "message";
    default:
        return "none";
    }
}

static bool is_repeated(char kind)
{
    return kind == 'S' || kind == 'M' || kind == 'P';
}

static const char *pbc_kind_name(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BYTES:
        return "bytes"; /* strings too, as the derived .proto wants it */
    case PROTOBUF_C_TYPE_INT64:
        return "int64";
    case PROTOBUF_C_TYPE_UINT32:
        return "uint32";
    case PROTOBUF_C_TYPE_BOOL:
        return "bool";
    case PROTOBUF_C_TYPE_ENUM:
        return "enum";
    case PROTOBUF_C_TYPE_MESSAGE:
        return "message";
    default:
        return "no kind of ours";
    }
}

static void test_schema_rows_agree_with_protobuf_c(void **state)
{
    (void)state;
    for (int i = 0; i < AW_MESSAGE_COUNT; i++) {
        const aw_message_type_t type = (aw_message_type_t)i;
        const ProtobufCMessageDescriptor *descriptor = aw__descriptors[type];
        char name[128];
        snprintf(name, sizeof name, "beam_agents.v1.%s", aw_message_type_name(type));
        assert_string_equal(descriptor->name, name);
        for (uint32_t number = 1; number < AW__NUMBERS_MAX; number++) {
            const char kind = aw__kind(type, number);
            assert_int_equal(kind != '\0', number <= descriptor->n_fields);
            if (kind == '\0') {
                continue;
            }
            const ProtobufCFieldDescriptor *field = aw__descriptor(type, number);
            assert_int_equal(field->id, number);
            assert_string_equal(field->name, aw__field_name(type, number));
            const char *expected = kind_name(kind);
            assert_string_equal(pbc_kind_name(field->type),
                                strcmp(expected, "string") == 0 ? "bytes" : expected);
            assert_int_equal(field->label == PROTOBUF_C_LABEL_REPEATED, is_repeated(kind));
            assert_int_equal((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0,
                             aw__in_oneof(type, number));
            if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
                assert_ptr_equal(field->descriptor, aw__descriptors[aw__children[type][number]]);
            }
        }
        assert_int_equal(aw__kind(type, AW__NUMBERS_MAX), 0);
        assert_int_equal(aw__kind(type, UINT32_MAX), 0);
    }
}

static void test_schema_new_message_is_what_protobuf_c_initialises(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    for (int i = 0; i < AW_MESSAGE_COUNT; i++) {
        const ProtobufCMessageDescriptor *descriptor = aw__descriptors[i];
        aw_message_t *message = aw__message_new((aw_message_type_t)i, arena);
        ProtobufCMessage *expected = calloc(1, descriptor->sizeof_message);
        assert_non_null(message);
        assert_non_null(expected);
        descriptor->message_init(expected);
        assert_memory_equal(aw__body(message), expected, descriptor->sizeof_message);
        assert_ptr_equal(aw__of_body(aw__body(message)), message);
        free(expected);
    }
    aw_arena_free(arena);
}

/* A message field of a descriptor, in a FileDescriptorSet. */
typedef struct item {
    uint32_t number;
    uint64_t value;  /* of a varint */
    aw_span_t bytes; /* of a length-delimited one */
} item_t;

/* The next field of a serialized message; false at its end. */
static bool next_item(aw__reader_t *reader, item_t *ret_item)
{
    if (reader->at == reader->end) {
        return false;
    }
    const uint8_t *start = reader->at;
    uint32_t tag = 0;
    assert_int_equal(aw__read_tag(reader, &tag), AW__DEFECT_NONE);
    *ret_item = (item_t){AW__TAG_NUMBER(tag), 0, aw_span_text_view("")};
    if (AW__TAG_WIRE(tag) == AW__WIRE_VARINT) {
        assert_int_equal(aw__read_varint(reader, &ret_item->value), AW__DEFECT_NONE);
    } else if (AW__TAG_WIRE(tag) == AW__WIRE_BYTES) {
        size_t length = 0;
        assert_int_equal(aw__read_length(reader, &length), AW__DEFECT_NONE);
        ret_item->bytes = (aw_span_t){reader->at, length};
        reader->at += length;
    } else {
        assert_int_equal(aw__skip_value(reader, start, tag, 0), AW__DEFECT_NONE);
    }
    return true;
}

static aw__reader_t over(aw_span_t bytes)
{
    return (aw__reader_t){bytes.data, bytes.data + bytes.size};
}

/* Field of a FieldDescriptorProto, or of any other message: the last of that number. */
static item_t find(aw_span_t message, uint32_t number)
{
    item_t found = {0, 0, aw_span_text_view("")};
    item_t item;
    for (aw__reader_t reader = over(message); next_item(&reader, &item);) {
        found = item.number == number ? item : found;
    }
    return found;
}

static void copy_text(aw_span_t text, char *ret_copy, size_t capacity)
{
    assert_true(text.size < capacity);
    memcpy(ret_copy, text.data, text.size);
    ret_copy[text.size] = '\0';
}

static const char *protoc_kind_name(uint64_t type)
{
    switch (type) {
    case 3:
        return "int64";
    case 8:
        return "bool";
    case 9:
        return "string";
    case 11:
        return "message";
    case 12:
        return "bytes";
    case 13:
        return "uint32";
    case 14:
        return "enum";
    default:
        return "no kind of ours";
    }
}

/* Holds one FieldDescriptorProto against the table. */
static void check_field(aw_message_type_t type, aw_span_t described)
{
    char name[64];
    char json_name[64];
    const uint32_t number = (uint32_t)find(described, 3).value;
    copy_text(find(described, 1).bytes, name, sizeof name);
    copy_text(find(described, 10).bytes, json_name, sizeof json_name);
    aw_field_t field;
    assert_true(aw_field_get(type, number, &field));
    assert_string_equal(field.name, name);
    assert_string_equal(field.json_name, json_name);
    const char *kind = protoc_kind_name(find(described, 5).value);
    assert_string_equal(kind_name(aw__kind(type, number)), kind);
    assert_int_equal(field.repeated, find(described, 4).value == 3);
    assert_int_equal(field.oneof, find(described, 9).number != 0);
    if (field.kind == AW_KIND_MESSAGE) {
        char full_name[128];
        copy_text(find(described, 6).bytes, full_name, sizeof full_name);
        aw_message_type_t child;
        assert_int_equal(aw_message_type_find(full_name + 1, &child), AW_OK);
        assert_int_equal(child, field.type);
        assert_int_equal(field.map, child == AW_MESSAGE_ATTRIBUTES_ENTRY);
    }
}

/* Holds one EnumDescriptorProto against the names that the field of that type gives. */
static void check_enum(aw_message_type_t type, aw_span_t described, unsigned *ret_values)
{
    char enum_name[64];
    char full_name[160];
    copy_text(find(described, 1).bytes, enum_name, sizeof enum_name);
    snprintf(full_name, sizeof full_name, "beam_agents.v1.%s.%s", aw_message_type_name(type),
             enum_name);
    aw_field_t field;
    bool used = false;
    for (uint32_t number = 1; aw_field_get(type, number, &field); number++) {
        const ProtobufCFieldDescriptor *pbc = aw__descriptor(type, number);
        const ProtobufCEnumDescriptor *pbc_enum = pbc->descriptor;
        if (field.kind != AW_KIND_ENUM || strcmp(pbc_enum->name, full_name) != 0) {
            assert_true(field.kind == AW_KIND_ENUM || aw_field_enum_name(&field, 0) == NULL);
            continue;
        }
        used = true;
        unsigned count = 0;
        item_t item;
        for (aw__reader_t reader = over(described); next_item(&reader, &item);) {
            if (item.number == 2) {
                char name[64];
                copy_text(find(item.bytes, 1).bytes, name, sizeof name);
                const int32_t value = (int32_t)find(item.bytes, 2).value;
                assert_string_equal(aw_field_enum_name(&field, value), name);
                count++;
            }
        }
        assert_null(aw_field_enum_name(&field, (int32_t)count));
        assert_null(aw_field_enum_name(&field, -1));
        *ret_values += count;
    }
    assert_true(used);
}

/* What has been held against the table. */
typedef struct seen {
    unsigned messages;
    unsigned fields;
    unsigned values;
} seen_t;

/* Holds one DescriptorProto against the table, but for the messages inside it; around is the name
 * of the one that holds it, "" at the top. ret_path gets its own. */
static void check_message(aw_span_t described, const char *around, char ret_path[PATH_SIZE],
                          seen_t *seen)
{
    char name[64];
    copy_text(find(described, 1).bytes, name, sizeof name);
    snprintf(ret_path, PATH_SIZE, "%s%s%s", around, around[0] != '\0' ? "." : "", name);
    aw_message_type_t type;
    assert_int_equal(aw_message_type_find(ret_path, &type), AW_OK);
    assert_int_equal(around[0] == '\0', type < AW_MESSAGE_TOP_COUNT);
    seen->messages++;
    item_t item;
    for (aw__reader_t reader = over(described); next_item(&reader, &item);) {
        if (item.number == 2) {
            check_field(type, item.bytes);
            seen->fields++;
        } else if (item.number == 4) {
            check_enum(type, item.bytes, &seen->values);
        }
    }
}

/* The same with the messages inside it, which hold no others. */
static void check_top_message(aw_span_t described, seen_t *seen)
{
    char path[PATH_SIZE];
    check_message(described, "", path, seen);
    item_t item;
    for (aw__reader_t reader = over(described); next_item(&reader, &item);) {
        if (item.number == 3) {
            char inner_path[PATH_SIZE];
            check_message(item.bytes, path, inner_path, seen);
            assert_int_equal(find(item.bytes, 3).number, 0);
        }
    }
}

static void test_schema_rows_agree_with_the_public_proto(void **state)
{
    (void)state;
    const char *path = getenv("AW_DESCRIPTOR_SET");
    assert_non_null(path);
    const aw_span_t set = aw_test_file(path);
    assert_true(set.size > 1000);

    seen_t seen = {0, 0, 0};
    const aw_span_t described = find(set, 1).bytes;
    item_t item;
    for (aw__reader_t reader = over(described); next_item(&reader, &item);) {
        if (item.number == 4) {
            check_top_message(item.bytes, &seen);
        }
    }
    assert_int_equal(seen.messages, AW_MESSAGE_COUNT);
    unsigned listed = 0;
#define COUNT(message, field, number, name, json_name) listed++;
    AW_FIELD_LIST(COUNT)
#undef COUNT
    assert_int_equal(seen.fields, listed);
    assert_int_equal(seen.values, 18);
}

static void test_schema_numbers_of_a_message_have_no_gap(void **state)
{
    (void)state;
    uint32_t largest = 0;
    for (int type = 0; type < AW_MESSAGE_COUNT; type++) {
        aw_field_t field;
        uint32_t number = 1;
        while (aw_field_get((aw_message_type_t)type, number, &field)) {
            assert_int_equal(field.number, number);
            assert_int_equal(field.message, type);
            number++;
        }
        for (uint32_t beyond = number; beyond < 40; beyond++) {
            assert_false(aw_field_get((aw_message_type_t)type, beyond, &field));
        }
        assert_false(aw_field_get((aw_message_type_t)type, 0, &field));
        largest = number - 1 > largest ? number - 1 : largest;
    }
    assert_int_equal(largest, AW_FIELD_NUMBER_MAX);
    aw_field_t field = {.number = 77};
    assert_false(aw_field_get(AW_MESSAGE_COUNT, 1, &field));
    assert_int_equal(field.number, 77);
}

static void test_schema_type_is_found_with_and_without_the_package(void **state)
{
    (void)state;
    aw_message_type_t type = AW_MESSAGE_COUNT;
    assert_int_equal(aw_message_type_find("beam_agents.v1.ToolIntent", &type), AW_OK);
    assert_int_equal(type, AW_MESSAGE_TOOL_INTENT);
    assert_int_equal(aw_message_type_find("AgentEnvelope.Approval", &type), AW_OK);
    assert_int_equal(type, AW_MESSAGE_APPROVAL);
    static const char *const unknown[] = {"",
                                          "Approval",
                                          "toolintent",
                                          "ToolIntent ",
                                          "beam_agents.v1.",
                                          "beam_agents.v2.ToolIntent"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_int_equal(aw_message_type_find(unknown[i], &type), AW_STATUS_UNKNOWN_TYPE);
        assert_int_equal(type, AW_MESSAGE_APPROVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_rows_agree_with_protobuf_c),
        cmocka_unit_test(test_schema_new_message_is_what_protobuf_c_initialises),
        cmocka_unit_test(test_schema_rows_agree_with_the_public_proto),
        cmocka_unit_test(test_schema_numbers_of_a_message_have_no_gap),
        cmocka_unit_test(test_schema_type_is_found_with_and_without_the_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
