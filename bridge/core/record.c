#include "bridge/core/record.h"

const ab_header_t *ab_header_last(const ab_full_record_t *record, const char *name)
{
    for (size_t i = record->header_count; i > 0; i--) {
        if (strcmp(record->headers[i - 1].name, name) == 0) {
            return &record->headers[i - 1];
        }
    }
    return NULL;
}

bool ab_topic_is_legal(aw_span_t name)
{
    for (size_t i = 0; i < name.size; i++) {
        const uint8_t c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-')) {
            return false;
        }
    }
    const bool dots =
        name.size > 0 && name.size <= 2 && name.data[0] == '.' && name.data[name.size - 1] == '.';
    return name.size > 0 && name.size <= AB_TOPIC_MAX && !dots;
}

/* No ':' is legal in a name, so that the first one ends it. */
static bool take_topic(aw_span_t *text, char ret_topic[AB_TOPIC_MAX + 1])
{
    const uint8_t *end = text->size > 0 ? memchr(text->data, ':', text->size) : NULL;
    const size_t size = end != NULL ? (size_t)(end - text->data) : 0;
    if (!ab_topic_is_legal(aw_span_view(text->data, size))) {
        return false;
    }
    memcpy(ret_topic, text->data, size);
    ret_topic[size] = '\0';
    *text = aw_span_view(text->data + size + 1, text->size - size - 1);
    return true;
}

/* Digits up to ':' or the end, and the ':' with them; no leading zero, so that one number has one
 * text. */
static bool take_number(aw_span_t *text, int64_t most, int64_t *ret_number)
{
    int64_t number = 0;
    size_t used = 0;
    while (used < text->size && text->data[used] >= '0' && text->data[used] <= '9') {
        const int digit = text->data[used] - '0';
        if (number > (most - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
        used++;
    }
    if (used == 0 || (used > 1 && text->data[0] == '0')) {
        return false;
    }
    if (used < text->size) {
        if (text->data[used] != ':' || used + 1 == text->size) {
            return false;
        }
        used++;
    }
    *text = aw_span_view(text->data + used, text->size - used);
    *ret_number = number;
    return true;
}

static bool take_coordinates(aw_span_t *text, ab_coordinates_t *ret_at)
{
    int64_t partition;
    if (!take_topic(text, ret_at->topic) || !take_number(text, INT32_MAX, &partition) ||
        !take_number(text, INT64_MAX, &ret_at->offset)) {
        return false;
    }
    ret_at->partition = (int32_t)partition;
    return true;
}

bool ab_coordinates_parse(aw_span_t text, ab_coordinates_t *ret_at)
{
    ab_coordinates_t at;
    if (!take_coordinates(&text, &at) || text.size > 0) {
        return false;
    }
    *ret_at = at;
    return true;
}

bool ab_source_parse(aw_span_t text, ab_coordinates_t *ret_at, int64_t *ret_timestamp_ms)
{
    ab_coordinates_t at;
    int64_t timestamp_ms = -1;
    if (!take_coordinates(&text, &at)) {
        return false;
    }
    if (!(text.size == 2 && memcmp(text.data, "-1", 2) == 0) &&
        (!take_number(&text, INT64_MAX, &timestamp_ms) || text.size > 0)) {
        return false;
    }
    *ret_at = at;
    *ret_timestamp_ms = timestamp_ms;
    return true;
}
