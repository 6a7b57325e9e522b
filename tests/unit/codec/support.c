#include "tests/unit/codec/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GOLDEN     "golden/wire/v1/expected.jsonl"
#define GOLDEN_MAX 1000u

static unsigned digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    assert_non_null(found);
    return (unsigned)(found - digits) & 0x0f;
}

/* Returns the number of bytes. */
static size_t parse_hex(const char *hex, uint8_t *bytes, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; hex[i] != '\0'; i++) {
        if (hex[i] == ' ') {
            continue;
        }
        unsigned high = digit(hex[i]);
        unsigned low = digit(hex[++i]);
        assert_true(count < capacity);
        bytes[count++] = (uint8_t)(high << 4 | low);
    }
    return count;
}

aw_span_t aw_test_hex(const char *hex)
{
    static uint8_t buffers[8][HEX_MAX];
    static unsigned next;
    uint8_t *bytes = buffers[next++ % 8];
    return (aw_span_t){bytes, parse_hex(hex, bytes, HEX_MAX)};
}

aw_span_t aw_test_guarded(aw_span_t bytes)
{
    static uint8_t *mapping;
    static size_t mapped;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t readable = (bytes.size / page + 1) * page;
    if (readable + page > mapped) {
        if (mapping != NULL) {
            assert_int_equal(munmap(mapping, mapped), 0);
        }
        mapped = readable + page;
        mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(mapping, MAP_FAILED);
        assert_int_equal(mprotect(mapping + mapped - page, page, PROT_NONE), 0);
    }
    uint8_t *copy = mapping + mapped - page - bytes.size;
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    return (aw_span_t){copy, bytes.size};
}

void aw_test_expect_hex(aw_span_t bytes, const char *hex)
{
    uint8_t *expected = malloc(strlen(hex) + 1);
    assert_non_null(expected);
    size_t size = parse_hex(hex, expected, strlen(hex) + 1);
    assert_non_null(bytes.data);
    assert_int_equal(bytes.size, size);
    assert_memory_equal(bytes.data, expected, size);
    free(expected);
}

void aw_test_expect_same_error(const aw_error_t *error, const aw_error_t *expected)
{
    assert_int_equal(error->status, expected->status);
    assert_int_equal(error->offset, expected->offset);
    assert_string_equal(error->field, expected->field);
    assert_string_equal(error->text, expected->text);
}

void aw_test_expect_refused(aw_message_type_t type, aw_span_t input, int status, int64_t offset,
                            const char *field)
{
    aw_error_t error = AW_ERROR_INIT;
    int scanned = aw_message_scan(type, input, &error);
    assert_string_equal(aw_status_name(scanned), aw_status_name(status));
    assert_int_equal(error.status, status);
    assert_int_equal(error.offset, offset);
    assert_string_equal(error.field, field);
    assert_true(error.text[0] != '\0');

    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    aw_error_t decode_error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    assert_int_equal(aw_message_decode(type, input, arena, &message, &decode_error), status);
    assert_null(message);
    aw_test_expect_same_error(&decode_error, &error);
    aw_arena_free(arena);
}

const aw_message_t *aw_test_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena)
{
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message = NULL;
    int scanned = aw_message_scan(type, input, &error);
    if (scanned != AW_OK) {
        fail_msg("%s at %lld in '%s'", aw_status_name(scanned), (long long)error.offset,
                 error.field);
    }
    assert_int_equal(aw_message_decode(type, input, arena, &message, &error), AW_OK);
    assert_int_equal(error.status, AW_OK);
    assert_non_null(message);
    assert_int_equal(aw_message_type(message), type);
    return message;
}

void aw_test_expect_encoding(aw_message_type_t type, aw_span_t input, const char *hex)
{
    aw_arena_t *arena = aw_arena_new(0);
    assert_non_null(arena);
    aw_span_t bytes = AW_SPAN_NULL;
    const aw_message_t *message = aw_test_decode(type, input, arena);
    assert_int_equal(aw_message_encode(message, arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, hex);
    aw_arena_free(arena);
}

static aw_field_t field_of(const aw_message_t *message, uint32_t number)
{
    aw_field_t field;
    assert_true(aw_field_get(aw_message_type(message), number, &field));
    return field;
}

aw_value_t aw_test_value(const aw_message_t *message, uint32_t number, size_t index)
{
    aw_field_t field = field_of(message, number);
    return aw_message_value(message, &field, index);
}

size_t aw_test_count(const aw_message_t *message, uint32_t number)
{
    aw_field_t field = field_of(message, number);
    return aw_message_count(message, &field);
}

uint64_t aw_test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Bytes that mean something on the wire: tags of small fields, ends of varints, pieces of UTF-8. */
static const uint8_t MEANINGFUL[] = {0x00, 0x01, 0x02, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x10, 0x12,
                                     0x1a, 0x22, 0x2a, 0x32, 0x3a, 0x42, 0x4a, 0x52, 0x5a, 0x7f,
                                     0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xff};

static size_t insert(uint8_t *bytes, size_t size, size_t capacity, size_t at, const uint8_t *piece,
                     size_t length)
{
    uint8_t copy[64];
    if (length > sizeof copy || length > capacity - size) {
        return size;
    }
    memcpy(copy, piece, length);
    memmove(bytes + at + length, bytes + at, size - at);
    memcpy(bytes + at, copy, length);
    return size + length;
}

static size_t erase(uint8_t *bytes, size_t size, size_t at, size_t length)
{
    length = length < size - at ? length : size - at;
    memmove(bytes + at, bytes + at + length, size - at - length);
    return size - length;
}

size_t aw_test_mutate(uint64_t *state, uint8_t *bytes, size_t size, size_t capacity)
{
    for (uint64_t steps = 1 + aw_test_random(state) % 4; steps > 0; steps--) {
        uint64_t dice = aw_test_random(state);
        size_t at = size > 0 ? (size_t)(dice >> 32) % size : 0;
        uint8_t meaningful = MEANINGFUL[(dice >> 8) % sizeof MEANINGFUL];
        switch (size > 0 ? dice % 8 : 0) {
        case 0:
            size = insert(bytes, size, capacity, at, &meaningful, 1);
            break;
        case 1:
            bytes[at] = meaningful;
            break;
        case 2:
            bytes[at] ^= (uint8_t)(1u << (dice >> 8) % 8);
            break;
        case 3:
            size = erase(bytes, size, at, 1 + (dice >> 8) % 4);
            break;
        case 4: { /* a piece once more, elsewhere */
            size_t from = (size_t)(dice >> 16) % size;
            size_t length = (size_t)(dice >> 8) % 48;
            length = length < size - from ? length : size - from;
            size = insert(bytes, size, capacity, at, bytes + from, length);
            break;
        }
        case 5:
            size = at;
            break;
        case 6:
            bytes[at] = (uint8_t)(dice >> 8);
            break;
        default:
            bytes[at]++;
            break;
        }
    }
    return size;
}

size_t aw_test_lines(const char *path, void (*look_at)(const json_t *line, void *opaque),
                     void *opaque)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = NULL;
    size_t capacity = 0;
    size_t count = 0;
    while (getline(&text, &capacity, file) > 0) {
        json_t *line = json_loads(text, JSON_ALLOW_NUL, NULL);
        assert_non_null(line);
        look_at(line, opaque);
        json_decref(line);
        count++;
    }
    free(text);
    fclose(file);
    return count;
}

const char *aw_test_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

aw_span_t aw_test_file(const char *path)
{
    static uint8_t bytes[64 * 1024 + 1];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 0, sizeof bytes - 1);
    return (aw_span_t){bytes, size};
}

static aw_span_t dup_hex(const json_t *line, const char *key)
{
    const char *hex = aw_test_text(line, key);
    uint8_t *bytes = malloc(strlen(hex) + 1);
    assert_non_null(bytes);
    return (aw_span_t){bytes, parse_hex(hex, bytes, strlen(hex) + 1)};
}

static aw_test_golden_t read_golden(const json_t *line)
{
    aw_test_golden_t golden = {.variant = ""};
    snprintf(golden.name, sizeof golden.name, "%s", aw_test_text(line, "name"));
    assert_int_equal(aw_message_type_find(aw_test_text(line, "type"), &golden.type), AW_OK);
    golden.input = dup_hex(line, "hex");
    golden.accepted = json_is_true(json_object_get(line, "accepted"));
    if (golden.accepted) {
        golden.deterministic = dup_hex(line, "deterministic_hex");
    }
    if (golden.accepted && golden.type == AW_MESSAGE_AGENT_ENVELOPE) {
        const char *variant = json_string_value(json_object_get(line, "variant"));
        snprintf(golden.variant, sizeof golden.variant, "%s", variant != NULL ? variant : "none");
    }
    return golden;
}

/* What is loaded so far. */
typedef struct loading {
    aw_test_golden_t *all;
    size_t count;
} loading_t;

static void load_golden(const json_t *line, void *opaque)
{
    loading_t *loading = opaque;
    assert_true(loading->count < GOLDEN_MAX);
    loading->all[loading->count++] = read_golden(line);
}

aw_test_golden_t *aw_test_golden_load(size_t *ret_count)
{
    loading_t loading = {calloc(GOLDEN_MAX, sizeof *loading.all), 0};
    assert_non_null(loading.all);
    assert_true(aw_test_lines(GOLDEN, load_golden, &loading) > 60);
    *ret_count = loading.count;
    return loading.all;
}

void aw_test_golden_free(aw_test_golden_t *golden, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)golden[i].input.data);
        free((void *)golden[i].deterministic.data);
    }
    free(golden);
}
