#include "agentwire/keyring.h"

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/crypto.h"
#include "agentwire/utf8.h"
#include "codec/base/base64.h"
#include "codec/base/error.h"
#include "codec/base/limits.h"

typedef struct entry {
    aw_span_t id;
    aw_span_t key;
} entry_t;

/* One block: the struct, room for an entry a line, the text. Keys are decoded in place. */
struct aw_keyring {
    size_t size; /* of the block, bytes */
    size_t count;
    entry_t entries[];
};

/* What is wrong, and the byte of the line where. NULL while nothing is. */
typedef struct trouble {
    const char *text;
    size_t offset;
} trouble_t;

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static aw_span_t trim(aw_span_t line)
{
    while (line.size > 0 && is_blank(line.data[0])) {
        line.data++;
        line.size--;
    }
    while (line.size > 0 && is_blank(line.data[line.size - 1])) {
        line.size--;
    }
    return line;
}

/* The first byte that no id may hold, or size. */
static size_t id_prefix(aw_span_t id)
{
    const size_t prefix = aw_utf8_prefix(id);
    for (size_t i = 0; i < prefix; i++) {
        if (id.data[i] <= ' ' || id.data[i] == 0x7f) {
            return i;
        }
    }
    return prefix;
}

/* Reads one line that is not empty, at the end of the text's copy that is the keyring's own. */
static trouble_t read_line(aw_keyring_t *keyring, aw_span_t line)
{
    const uint8_t *equals = memchr(line.data, '=', line.size);
    if (equals == NULL) {
        return (trouble_t){"the line has no = sign between an id and a key", 0};
    }
    const aw_span_t id = {line.data, (size_t)(equals - line.data)};
    const aw_span_t text = {equals + 1, line.size - id.size - 1};
    const size_t prefix = id_prefix(id);
    aw_span_t key;
    size_t offset;
    if (id.size == 0 || id.size > AW__KEY_ID_MAX) {
        return (trouble_t){"a key's id has 1 to 256 bytes", 0};
    }
    if (prefix < id.size) {
        return (trouble_t){"a key's id is UTF-8 without blanks and control characters", prefix};
    }
    if (aw_keyring_find(keyring, id, &key)) {
        return (trouble_t){"an id stands twice", 0};
    }
    if (!aw__base64_decode(text, (uint8_t *)(uintptr_t)text.data, &key.size, &offset)) {
        return (trouble_t){"the key is no base64", id.size + 1 + offset};
    }
    if (key.size == 0 || key.size > AW__KEY_MAX) {
        return (trouble_t){"a key has 1 to 1024 bytes", id.size + 1};
    }
    if (keyring->count == AW__KEYRING_KEYS_MAX) {
        return (trouble_t){"a keyring has at most 1024 keys", 0};
    }
    key.data = text.data;
    keyring->entries[keyring->count++] = (entry_t){id, key};
    return (trouble_t){NULL, 0};
}

static int report(aw_error_t *error, size_t line_number, size_t offset, const char *text)
{
    char field[32];
    snprintf(field, sizeof field, "line %zu", line_number);
    return aw__error_set(error, AW_STATUS_INVALID_KEYRING, (int64_t)offset, field, text);
}

/* Reads every line of the keyring's own copy. */
static int read_text(aw_keyring_t *keyring, aw_span_t text, aw_error_t *error)
{
    size_t number = 1;
    for (size_t at = 0; at < text.size; number++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        const size_t size = end != NULL ? (size_t)(end - text.data) - at : text.size - at;
        const aw_span_t line = trim((aw_span_t){text.data + at, size});
        at += size + 1;
        if (line.size == 0 || line.data[0] == '#') {
            continue;
        }
        const trouble_t trouble = read_line(keyring, line);
        if (trouble.text != NULL) {
            return report(error, number, (size_t)(line.data - text.data) + trouble.offset,
                          trouble.text);
        }
    }
    return AW_OK;
}

/* How many entries there is to be room for: a line each, within the limit. */
static size_t count_lines(aw_span_t text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size && count < AW__KEYRING_KEYS_MAX; i++) {
        count += text.data[i] == '\n';
    }
    return count;
}

int aw_keyring_new(aw_span_t text, aw_keyring_t **ret_keyring, aw_error_t *error)
{
    if (text.size > AW__KEYRING_TEXT_MAX) {
        return report(error, 1, 0, "a keyring has at most 1 MiB");
    }
    const size_t lines = count_lines(text);
    const size_t size = sizeof(aw_keyring_t) + lines * sizeof(entry_t) + text.size;
    aw_keyring_t *keyring = malloc(size);
    if (keyring == NULL) {
        return aw__error_set(error, AW_STATUS_NO_MEMORY, -1, NULL, NULL);
    }
    keyring->size = size;
    keyring->count = 0;
    uint8_t *copy = (uint8_t *)(keyring->entries + lines);
    if (text.size > 0) {
        memcpy(copy, text.data, text.size);
    }
    const int status = read_text(keyring, (aw_span_t){copy, text.size}, error);
    if (status != AW_OK) {
        aw_keyring_free(keyring);
        return status;
    }
    *ret_keyring = keyring;
    return AW_OK;
}

void aw_keyring_free(aw_keyring_t *keyring)
{
    if (keyring != NULL) {
        aw_bytes_wipe(keyring, keyring->size);
        free(keyring);
    }
}

size_t aw_keyring_count(const aw_keyring_t *keyring)
{
    return keyring->count;
}

aw_span_t aw_keyring_id_view(const aw_keyring_t *keyring, size_t index)
{
    return keyring->entries[index].id;
}

bool aw_keyring_find(const aw_keyring_t *keyring, aw_span_t key_id, aw_span_t *ret_key)
{
    for (size_t i = 0; i < keyring->count; i++) {
        if (aw_span_equal(keyring->entries[i].id, key_id)) {
            *ret_key = keyring->entries[i].key;
            return true;
        }
    }
    return false;
}
