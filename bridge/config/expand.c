#include "bridge/config/expand.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value while it grows. It may be a secret, so it is wiped before it is left. */
typedef struct growing {
    size_t size;
    bool full;
    char bytes[AB_CONFIG_VALUE_MAX + 1];
} growing_t;

static void append(growing_t *growing, const char *bytes, size_t size)
{
    if (size > AB_CONFIG_VALUE_MAX - growing->size) {
        growing->full = true;
        return;
    }
    memcpy(growing->bytes + growing->size, bytes, size);
    growing->size += size;
}

static const char *finish(ab_config_memory_t *memory, growing_t *growing, bool good,
                          const ab_place_t *place)
{
    const char *text = NULL;
    if (growing->full) {
        ab_place_mistake(place, "the value is longer than %u bytes", AB_CONFIG_VALUE_MAX);
    } else if (good) {
        text = ab_config_memory_text(memory, growing->bytes, growing->size);
    }
    explicit_bzero(growing->bytes, growing->size);
    return text;
}

static size_t variable_size(const char *text)
{
    size_t size = 0;
    while ((text[size] >= 'a' && text[size] <= 'z') || (text[size] >= 'A' && text[size] <= 'Z') ||
           text[size] == '_' || (size > 0 && text[size] >= '0' && text[size] <= '9')) {
        size++;
    }
    return size;
}

/* Longest name of a variable, NUL included. */
#define VARIABLE_MAX 128

/* Takes over a default, in which $$ is the only thing that is expanded. */
static bool append_default(growing_t *growing, const char *text, size_t size,
                           const ab_place_t *place)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '$' && (i + 1 == size || text[++i] != '$')) {
            ab_place_mistake(place, "a default holds no variable: write $$ for a dollar");
            return false;
        }
        append(growing, &text[i], 1);
    }
    return true;
}

/* Expands what stands between ${ and }. */
static bool append_variable(growing_t *growing, const char *text, size_t size,
                            const ab_place_t *place)
{
    char name[VARIABLE_MAX];
    size_t name_size = variable_size(text);
    const char *rest = text + name_size;
    size_t rest_size = size - name_size;
    bool has_default = rest_size >= 2 && memcmp(rest, ":-", 2) == 0;
    bool has_text = rest_size >= 2 && memcmp(rest, ":?", 2) == 0;
    if (name_size == 0 || name_size >= sizeof(name) ||
        (rest_size > 0 && !has_default && !has_text)) {
        ab_place_mistake(place, "expected ${VAR}, ${VAR:-default} or ${VAR:?text} behind a dollar; "
                                "write $$ for a dollar itself");
        return false;
    }
    memcpy(name, text, name_size);
    name[name_size] = '\0';
    const char *value = getenv(name);
    if (has_default && (value == NULL || *value == '\0')) {
        return append_default(growing, rest + 2, rest_size - 2, place);
    }
    if (has_text && (value == NULL || *value == '\0')) {
        ab_place_mistake(place, "the environment variable %s is not set or empty: %.*s", name,
                         (int)(rest_size - 2), rest + 2);
        return false;
    }
    if (value == NULL) {
        ab_place_mistake(place,
                         "the environment variable %s is not set: set it, or write ${%s:-default}",
                         name, name);
        return false;
    }
    append(growing, value, strlen(value));
    return true;
}

static bool append_expanded(growing_t *growing, const char *text, const ab_place_t *place)
{
    bool good = true;
    while (*text != '\0') {
        size_t size = strcspn(text, "$");
        append(growing, text, size);
        text += size;
        if (*text == '\0') {
            break;
        }
        if (text[1] == '$') {
            append(growing, text, 1);
            text += 2;
            continue;
        }
        const char *end = text[1] == '{' ? strchr(text, '}') : NULL;
        if (end == NULL) {
            ab_place_mistake(place, "%s; write $$ for a dollar itself",
                             text[1] == '{' ? "${ without its }"
                                            : "a dollar that begins no ${VAR}");
            return false;
        }
        good = append_variable(growing, text + 2, (size_t)(end - text) - 2, place) && good;
        text = end + 1;
    }
    return good;
}

const char *ab_expand(ab_config_memory_t *memory, const char *text, const ab_place_t *place)
{
    growing_t growing;
    growing.size = 0;
    growing.full = false;
    bool good = append_expanded(&growing, text, place);
    return finish(memory, &growing, good, place);
}

long ab_file_read(const char *path, char *buffer, size_t capacity)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -errno;
    }
    size_t size = 0;
    ssize_t got = 0;
    while (size < capacity) {
        got = read(file, buffer + size, capacity - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        size += (size_t)got;
    }
    int error = got < 0 ? errno : 0;
    close(file);
    return error != 0 ? -error : (long)size;
}

static const char *resolve_file(ab_config_memory_t *memory, const char *text,
                                const ab_place_t *place)
{
    const char *path = ab_expand(memory, text, place);
    if (path == NULL) {
        return NULL;
    }
    char shown[AB_SHOWN_MAX];
    ab_shown(text, shown); /* as written, so that nothing from the environment is shown */
    if (path[0] != '/') {
        ab_place_mistake(place,
                         "expected an absolute path behind `file:`, such as file:/run/secret");
        return NULL;
    }
    growing_t growing;
    growing.full = false;
    const char *value = NULL;
    long size = ab_file_read(path, growing.bytes, sizeof(growing.bytes));
    growing.size = size < 0 ? 0 : (size_t)size;
    if (size > 0 && growing.bytes[growing.size - 1] == '\n') {
        growing.size--;
        growing.size -= growing.size > 0 && growing.bytes[growing.size - 1] == '\r' ? 1 : 0;
    }
    if (size < 0) {
        ab_place_mistake(place, "cannot read the file %s: %s", shown, strerror((int)-size));
    } else if ((size_t)size == sizeof(growing.bytes)) {
        ab_place_mistake(place, "the file %s is longer than %u bytes", shown, AB_CONFIG_VALUE_MAX);
    } else if (growing.size == 0) {
        ab_place_mistake(place, "the file %s is empty", shown);
    } else if (memchr(growing.bytes, '\0', growing.size) != NULL) {
        ab_place_mistake(place, "the file %s holds a NUL byte, which no value can", shown);
    } else {
        value = ab_config_memory_text(memory, growing.bytes, growing.size);
    }
    explicit_bzero(growing.bytes, size > 0 ? (size_t)size : 0);
    return value;
}

static const char *resolve_variable(ab_config_memory_t *memory, const char *name,
                                    const ab_place_t *place)
{
    size_t size = variable_size(name);
    if (size == 0 || size >= VARIABLE_MAX || name[size] != '\0') {
        ab_place_mistake(place, "expected the name of an environment variable behind `env:`");
        return NULL;
    }
    const char *value = getenv(name);
    if (value == NULL || *value == '\0') {
        ab_place_mistake(place, "the environment variable %s is %s", name,
                         value == NULL ? "not set" : "empty");
        return NULL;
    }
    if (strlen(value) > AB_CONFIG_VALUE_MAX) {
        ab_place_mistake(place, "the environment variable %s is longer than %u bytes", name,
                         AB_CONFIG_VALUE_MAX);
        return NULL;
    }
    return ab_config_memory_text(memory, value, strlen(value));
}

const char *ab_resolve(ab_config_memory_t *memory, const char *text, const ab_place_t *place)
{
    if (strncmp(text, "file:", 5) == 0) {
        return resolve_file(memory, text + 5, place);
    }
    if (strncmp(text, "env:", 4) == 0) {
        return resolve_variable(memory, text + 4, place);
    }
    return ab_expand(memory, text, place);
}

bool ab_is_indirect(const char *text)
{
    return strncmp(text, "file:", 5) == 0 || strncmp(text, "env:", 4) == 0 ||
           strstr(text, "${") != NULL;
}
