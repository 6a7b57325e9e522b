#include "bridge/core/trailer.h"

#include <assert.h>

#include "agentwire/crypto.h"
#include "bridge/core/text.h"
#include "bridge/core/verdict.h"

/** Walks headers from the last one to the first. */
typedef struct walk {
    const ab_header_t *headers;
    size_t left;
} walk_t;

static bool next_is(const walk_t *walk, const char *name)
{
    return walk->left > 0 && strcmp(walk->headers[walk->left - 1].name, name) == 0;
}

/** Takes the header before the ones taken, which must have that name and a value. */
static bool take(walk_t *walk, const char *name, aw_span_t *ret_value)
{
    if (!next_is(walk, name) || walk->headers[walk->left - 1].value.data == NULL) {
        return false;
    }
    *ret_value = walk->headers[--walk->left].value;
    return true;
}

static bool take_number(walk_t *walk, const char *name, int64_t max, int64_t *ret_number)
{
    aw_span_t value;

    return take(walk, name, &value) && ab_text_number(value, max, ret_number);
}

static bool take_copy(walk_t *walk, ab_trailer_t *trailer)
{
    static const char *const words[] = {
        [AB_COPY_WHOLE] = AB_COPY_TEXT_WHOLE,
        [AB_COPY_HEAD] = AB_COPY_TEXT_HEAD,
        [AB_COPY_POINTER] = AB_COPY_TEXT_POINTER,
    };
    aw_span_t value;

    trailer->copy = AB_COPY_NONE;
    if (!next_is(walk, AB_HEADER_COPY)) {
        return true;
    }
    if (!take(walk, AB_HEADER_COPY, &value)) {
        return false;
    }
    for (int kind = AB_COPY_WHOLE; kind <= AB_COPY_POINTER; kind++) {
        if (aw_span_equal(value, aw_span_text_view(words[kind]))) {
            trailer->copy = (ab_copy_t)kind;
            return true;
        }
    }
    return false;
}

/** A timestamp may lie before 1970; then it has a sign. */
static bool parse_timestamp(aw_span_t text, int64_t *ret_timestamp)
{
    bool negative = text.size > 1 && text.data[0] == '-';
    int64_t number;

    if (!ab_text_number(aw_span_view(text.data + negative, text.size - negative), INT64_MAX,
                        &number)) {
        return false;
    }
    *ret_timestamp = negative ? -number : number;
    return true;
}

static bool take_timestamp(walk_t *walk, ab_trailer_t *trailer)
{
    aw_span_t type;
    aw_span_t time;

    trailer->timestamp_type = AB_TIMESTAMP_NONE;
    trailer->timestamp_ms = 0;
    if (!next_is(walk, AB_HEADER_TIMESTAMP_TYPE)) {
        return true;
    }
    if (!take(walk, AB_HEADER_TIMESTAMP_TYPE, &type) || !take(walk, AB_HEADER_TIMESTAMP, &time) ||
        !parse_timestamp(time, &trailer->timestamp_ms)) {
        return false;
    }
    trailer->timestamp_type = aw_span_equal(type, aw_span_text_view("append"))
                                  ? AB_TIMESTAMP_APPEND
                                  : AB_TIMESTAMP_CREATE;
    return trailer->timestamp_type == AB_TIMESTAMP_APPEND ||
           aw_span_equal(type, aw_span_text_view("create"));
}

static bool take_value_facts(walk_t *walk, ab_trailer_t *trailer)
{
    int64_t size;

    trailer->sha256 = AW_SPAN_NULL;
    trailer->value_size = 0;
    if (!next_is(walk, AB_HEADER_VALUE_SIZE)) {
        return true;
    }
    if (!take_number(walk, AB_HEADER_VALUE_SIZE, INT64_MAX, &size) ||
        !take(walk, AB_HEADER_SHA256, &trailer->sha256)) {
        return false;
    }
    trailer->value_size = (uint64_t)size;
    return trailer->sha256.size == AW_SHA256_HEX_SIZE - 1;
}

static bool take_source(walk_t *walk, ab_trailer_t *trailer)
{
    aw_span_t topic;
    int64_t partition;

    if (!take_number(walk, AB_HEADER_DLQ_OFFSET, INT64_MAX, &trailer->source.offset) ||
        !take_number(walk, AB_HEADER_DLQ_PARTITION, INT32_MAX, &partition) ||
        !take(walk, AB_HEADER_DLQ_TOPIC, &topic) || !ab_topic_is_legal(topic)) {
        return false;
    }
    trailer->source.partition = (int32_t)partition;
    memcpy(trailer->source.topic, topic.data, topic.size);
    trailer->source.topic[topic.size] = '\0';
    return true;
}

bool ab_trailer_read(const ab_header_t *headers, size_t count, ab_trailer_t *ret_trailer)
{
    walk_t walk = {headers, count};
    ab_trailer_t trailer;
    aw_span_t source;
    aw_span_t hops;

    if (!take_copy(&walk, &trailer) || !take(&walk, AB_HEADER_SOURCE, &source) ||
        !take_timestamp(&walk, &trailer) || !take_value_facts(&walk, &trailer) ||
        !take(&walk, AB_HEADER_HOPS, &hops) || !take(&walk, AB_HEADER_REASON, &trailer.reason) ||
        !take(&walk, AB_HEADER_DLQ_MESSAGE, &trailer.message) ||
        !take(&walk, AB_HEADER_DLQ_GROUP, &trailer.group) || !take_source(&walk, &trailer)) {
        return false;
    }
    trailer.hops = ab_hops_parse(hops);
    trailer.own_headers = walk.left;
    *ret_trailer = trailer;
    return true;
}

bool ab_job_id_valid(aw_span_t id)
{
    if (id.size == 0 || id.size >= AB_JOB_ID_MAX) {
        return false;
    }
    for (size_t i = 0; i < id.size; i++) {
        uint8_t c = id.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-')) {
            return false;
        }
    }
    return true;
}

bool ab_marker_read(const ab_full_record_t *record, ab_coordinates_t *ret_marked,
                    char ret_job[AB_JOB_ID_MAX])
{
    const ab_record_t *facts = &record->record;
    ab_coordinates_t marked;
    aw_span_t value;
    aw_span_t job;
    size_t colon;

    if (facts->key.data != NULL || facts->value.data != NULL || record->headers_unreadable ||
        record->header_count != 1 || strcmp(record->headers[0].name, AB_HEADER_REDRIVEN) != 0) {
        return false;
    }
    value = record->headers[0].value;
    for (colon = value.size; colon > 0 && value.data[colon - 1] != ':'; colon--) {
    }
    if (colon == 0) {
        return false;
    }
    job = aw_span_view(value.data + colon, value.size - colon);
    if (!ab_job_id_valid(job) ||
        !ab_coordinates_parse(aw_span_view(value.data, colon - 1), &marked) ||
        strcmp(marked.topic, facts->topic) != 0 || marked.partition != facts->partition ||
        marked.offset >= facts->offset) {
        return false;
    }
    *ret_marked = marked;
    memcpy(ret_job, job.data, job.size);
    ret_job[job.size] = '\0';
    return true;
}

size_t ab_redriven_text(const ab_coordinates_t *marked, const char *job,
                        char ret_text[AB_REDRIVEN_TEXT_MAX])
{
    size_t size = strnlen(marked->topic, AB_TOPIC_MAX);
    size_t job_size = strlen(job);

    assert(ab_job_id_valid(aw_span_text_view(job)));
    memcpy(ret_text, marked->topic, size);
    ret_text[size++] = ':';
    size += ab_text_decimal(marked->partition, ret_text + size);
    ret_text[size++] = ':';
    size += ab_text_decimal(marked->offset, ret_text + size);
    ret_text[size++] = ':';
    memcpy(ret_text + size, job, job_size + 1);
    return size + job_size;
}
