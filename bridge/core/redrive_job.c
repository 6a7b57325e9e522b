#include "bridge/core/redrive.h"

#include <stdio.h>

#include "bridge/core/text.h"

/** The version of the text; it goes up with any change that an older build would misread. */
#define JOB_VERSION "1"

static const char *const to_words[] = {
    [AB_REDRIVE_TO_SOURCE] = "source",
    [AB_REDRIVE_TO_ROUTE] = "route",
    [AB_REDRIVE_TO_TOPIC] = "topic",
};

/** A text that grows up to AB_JOB_TEXT_MAX; once over, it stays over. */
typedef struct writer {
    char *text;
    size_t size;
    bool over;
} writer_t;

static void put_byte(writer_t *writer, char byte)
{
    if (writer->size + 1 >= AB_JOB_TEXT_MAX) {
        writer->over = true;
        return;
    }
    writer->text[writer->size++] = byte;
}

static bool is_plain(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == ':';
}

static void put_pair(writer_t *writer, const char *name, aw_span_t value)
{
    static const char digits[] = "0123456789abcdef";

    if (writer->size > 0) {
        put_byte(writer, '&');
    }
    for (; *name != '\0'; name++) {
        put_byte(writer, *name);
    }
    put_byte(writer, '=');
    for (size_t i = 0; i < value.size; i++) {
        uint8_t c = value.data[i];

        if (is_plain(c)) {
            put_byte(writer, (char)c);
            continue;
        }
        put_byte(writer, '%');
        put_byte(writer, digits[c >> 4]);
        put_byte(writer, digits[c & 15]);
    }
}

static void put_text(writer_t *writer, const char *name, const char *value)
{
    put_pair(writer, name, aw_span_text_view(value));
}

static void put_number(writer_t *writer, const char *name, int64_t value)
{
    char text[AB_DECIMAL_MAX];
    size_t size = ab_text_decimal(value, text);

    put_pair(writer, name, aw_span_view(text, size));
}

static void put_selection(writer_t *writer, const ab_selection_t *selection)
{
    for (size_t i = 0; i < selection->reason_count; i++) {
        put_text(writer, "reason", selection->reasons[i]);
    }
    for (size_t i = 0; i < selection->source_count; i++) {
        put_text(writer, "source", selection->sources[i]);
    }
    for (size_t i = 0; i < selection->record_count; i++) {
        char text[AB_COORDINATES_TEXT_MAX];

        (void)snprintf(text, sizeof(text), "%s:%d:%lld", selection->records[i].topic,
                       (int)selection->records[i].partition,
                       (long long)selection->records[i].offset);
        put_text(writer, "record", text);
    }
    if (selection->key.data != NULL) {
        put_pair(writer, "key", selection->key);
    }
    if (selection->since_ms != INT64_MIN) {
        put_number(writer, "since", selection->since_ms);
    }
    if (selection->until_ms != INT64_MAX) {
        put_number(writer, "until", selection->until_ms);
    }
}

/* What the numbers that grow with the job may still take: a job that has a text must not lose it on
 * its way. */
static size_t room_to_grow(const ab_job_t *job)
{
    char text[AB_DECIMAL_MAX];
    return 2 * (size_t)(AB_DECIMAL_MAX - 1) - ab_text_decimal(job->end, text) -
           ab_text_decimal((int64_t)job->written, text);
}

size_t ab_job_text(const ab_job_t *job, char ret_text[AB_JOB_TEXT_MAX])
{
    writer_t writer = {ret_text, 0, false};

    put_text(&writer, "v", JOB_VERSION);
    put_text(&writer, "to", to_words[job->to]);
    if (job->to == AB_REDRIVE_TO_TOPIC) {
        put_text(&writer, "topic", job->topic);
    }
    if (job->force) {
        put_text(&writer, "force", "1");
    }
    if (job->again) {
        put_text(&writer, "again", "1");
    }
    put_number(&writer, "max", (int64_t)job->max);
    put_number(&writer, "end", job->end);
    put_number(&writer, "written", (int64_t)job->written);
    put_selection(&writer, &job->selection);
    if (writer.over || writer.size + room_to_grow(job) >= AB_JOB_TEXT_MAX) {
        return 0;
    }
    ret_text[writer.size] = '\0';
    return writer.size;
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Takes back what put_pair() did to a value. */
static bool decode(aw_span_t text, uint8_t buffer[AB_JOB_TEXT_MAX], aw_span_t *ret_value)
{
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];

        if (is_plain(c)) {
            buffer[size++] = c;
            continue;
        }
        if (c != '%' || text.size - i < 3 || hex_digit(text.data[i + 1]) < 0 ||
            hex_digit(text.data[i + 2]) < 0) {
            return false;
        }
        buffer[size++] = (uint8_t)(hex_digit(text.data[i + 1]) * 16 + hex_digit(text.data[i + 2]));
        i += 2;
    }
    buffer[size] = '\0';
    *ret_value = aw_span_view(buffer, size);
    return true;
}

static bool parse_count(aw_span_t text, uint64_t *ret_count)
{
    int64_t number;

    if (!ab_text_number(text, INT64_MAX, &number)) {
        return false;
    }
    *ret_count = (uint64_t)number;
    return true;
}

static bool is(aw_span_t text, const char *word)
{
    return aw_span_equal(text, aw_span_text_view(word));
}

/** Of a value that may hold no NUL. */
static bool take_text(aw_span_t value, char *ret_text, size_t capacity)
{
    if (value.size == 0 || value.size >= capacity || memchr(value.data, '\0', value.size) != NULL) {
        return false;
    }
    memcpy(ret_text, value.data, value.size);
    ret_text[value.size] = '\0';
    return true;
}

static bool take_condition(ab_selection_t *selection, aw_span_t name, aw_span_t value)
{
    char text[AB_TOPIC_MAX + 1];
    ab_coordinates_t place;

    if (is(name, "reason")) {
        return take_text(value, text, sizeof(text)) && ab_selection_add_reason(selection, text);
    }
    if (is(name, "source")) {
        return take_text(value, text, sizeof(text)) && ab_selection_add_source(selection, text);
    }
    if (is(name, "record")) {
        return ab_coordinates_parse(value, &place) && ab_selection_add_record(selection, &place);
    }
    if (is(name, "key")) {
        return ab_selection_set_key(selection, value);
    }
    if (is(name, "since")) {
        return ab_text_number(value, INT64_MAX, &selection->since_ms);
    }
    return is(name, "until") && ab_text_number(value, INT64_MAX, &selection->until_ms);
}

static bool take_to(ab_job_t *job, aw_span_t value)
{
    for (size_t i = 0; i < sizeof(to_words) / sizeof(to_words[0]); i++) {
        if (is(value, to_words[i])) {
            job->to = (ab_redrive_to_t)i;
            return true;
        }
    }
    return false;
}

static bool take_pair(ab_job_t *job, aw_span_t name, aw_span_t value)
{
    if (is(name, "to")) {
        return take_to(job, value);
    }
    if (is(name, "topic")) {
        return take_text(value, job->topic, sizeof(job->topic));
    }
    if (is(name, "force")) {
        job->force = true;
        return is(value, "1");
    }
    if (is(name, "again")) {
        job->again = true;
        return is(value, "1");
    }
    if (is(name, "max")) {
        return parse_count(value, &job->max);
    }
    if (is(name, "end")) {
        return ab_text_number(value, INT64_MAX, &job->end);
    }
    if (is(name, "written")) {
        return parse_count(value, &job->written);
    }
    return take_condition(&job->selection, name, value);
}

/** Cuts the first of text at a byte; all of it when the byte is not there. */
static aw_span_t cut(aw_span_t *text, uint8_t byte)
{
    const uint8_t *at = text->size > 0 ? memchr(text->data, byte, text->size) : NULL;
    size_t size = at != NULL ? (size_t)(at - text->data) : text->size;
    size_t taken = at != NULL ? size + 1 : size;
    aw_span_t first = aw_span_view(text->data, size);

    *text = aw_span_view(text->data + taken, text->size - taken);
    return first;
}

bool ab_job_parse(aw_span_t text, ab_job_t *ret_job)
{
    uint8_t buffer[AB_JOB_TEXT_MAX];
    aw_span_t value;

    memset(ret_job, 0, sizeof(*ret_job));
    ab_selection_init(&ret_job->selection);
    if (text.size >= AB_JOB_TEXT_MAX || !is(cut(&text, '&'), "v=" JOB_VERSION)) {
        return false;
    }
    while (text.size > 0) {
        aw_span_t pair = cut(&text, '&');
        aw_span_t name = cut(&pair, '=');

        if (!decode(pair, buffer, &value) || !take_pair(ret_job, name, value)) {
            return false;
        }
    }
    return ret_job->to != AB_REDRIVE_TO_TOPIC || ret_job->topic[0] != '\0';
}
