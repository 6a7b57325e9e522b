#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/trailer.h"
#include "tests/unit/core/letter.h"

#define HEADERS_MAX 40

/** A quarantine record's headers: some of its own, then what the bridge appends. */
typedef struct quarantined {
    ab_header_t headers[HEADERS_MAX];
    size_t count;
    ab_letter_t letter;
    aw_arena_t *arena;
} quarantined_t;

static ab_header_t header(const char *name, const char *value)
{
    return (ab_header_t){name, aw_span_text_view(value)};
}

static ab_record_t original(void)
{
    return (ab_record_t){.topic = "agents.in",
                         .partition = 3,
                         .offset = 1042,
                         .timestamp_ms = 1700000000123,
                         .timestamp_type = AB_TIMESTAMP_CREATE,
                         .key = aw_span_text_view("k"),
                         .value = aw_span_text_view("not an envelope"),
                         .hops = 2};
}

static quarantined_t quarantine(const ab_record_t *record, const ab_header_t *own, size_t own_count,
                                const char *copy)
{
    quarantined_t result = {.count = own_count};
    ab_policy_t policy = {.topic = "agents.in", .max_value_bytes = 1000, .max_hops = 3};
    ab_verdict_t verdict;

    result.arena = aw_arena_new(1u << 20);
    assert_non_null(result.arena);
    assert_int_equal(ab_verdict_of(record, &policy, NULL, &verdict), AW_OK);
    assert_int_equal(
        ab_dead_letter_build(record, &verdict, "grp", NULL, result.arena, &result.letter), AW_OK);
    if (own_count > 0) {
        memcpy(result.headers, own, own_count * sizeof(*own));
    }
    memcpy(result.headers + own_count, result.letter.headers,
           result.letter.header_count * sizeof(*own));
    result.count += result.letter.header_count;
    if (copy != NULL) {
        result.headers[result.count++] = header(AB_HEADER_COPY, copy);
    }
    return result;
}

static void check_original(const ab_trailer_t *trailer)
{
    assert_string_equal(trailer->source.topic, "agents.in");
    assert_int_equal(trailer->source.partition, 3);
    assert_int_equal(trailer->source.offset, 1042);
    assert_int_equal(trailer->hops, 2);
    assert_int_equal(trailer->timestamp_ms, 1700000000123);
    assert_int_equal(trailer->timestamp_type, AB_TIMESTAMP_CREATE);
    assert_int_equal(trailer->value_size, 15);
    assert_int_equal(trailer->sha256.size, 64);
    assert_span_text(trailer->group, "grp");
}

static void test_trailer_of_what_the_bridge_writes_is_found(void **state)
{
    const ab_record_t record = original();
    const char *const copies[] = {"whole", "head", "pointer", NULL};
    const ab_copy_t kinds[] = {AB_COPY_WHOLE, AB_COPY_HEAD, AB_COPY_POINTER, AB_COPY_NONE};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        quarantined_t copy = quarantine(&record, NULL, 0, copies[i]);
        ab_trailer_t trailer;

        assert_true(ab_trailer_read(copy.headers, copy.count, &trailer));
        check_original(&trailer);
        assert_int_equal(trailer.copy, kinds[i]);
        assert_int_equal(trailer.own_headers, 0);
        aw_arena_free(copy.arena);
    }
}

static void test_trailer_of_a_tombstone_without_a_timestamp_is_found(void **state)
{
    ab_record_t record = original();
    quarantined_t copy;
    ab_trailer_t trailer;

    (void)state;
    record.value = AW_SPAN_NULL;
    record.timestamp_type = AB_TIMESTAMP_NONE;
    copy = quarantine(&record, NULL, 0, "whole");
    assert_true(ab_trailer_read(copy.headers, copy.count, &trailer));
    assert_null(trailer.sha256.data);
    assert_int_equal(trailer.timestamp_type, AB_TIMESTAMP_NONE);
    assert_int_equal(trailer.own_headers, 0);
    aw_arena_free(copy.arena);
}

static void test_trailer_timestamp_before_1970_is_read(void **state)
{
    ab_record_t record = original();
    quarantined_t copy;
    ab_trailer_t trailer;

    (void)state;
    record.timestamp_ms = -5;
    record.timestamp_type = AB_TIMESTAMP_APPEND;
    copy = quarantine(&record, NULL, 0, "whole");
    assert_true(ab_trailer_read(copy.headers, copy.count, &trailer));
    assert_int_equal(trailer.timestamp_ms, -5);
    assert_int_equal(trailer.timestamp_type, AB_TIMESTAMP_APPEND);
    aw_arena_free(copy.arena);
}

/* A record that was redriven, routed, dead-lettered elsewhere, or made to look like it: all of it
 * stays the original's. */
static void test_trailer_headers_of_the_same_names_before_it_stay_the_originals(void **state)
{
    const ab_record_t record = original();
    const ab_header_t own[] = {
        header("__dlq.errors.topic", "other"),
        header(AB_HEADER_REASON, "tombstone"),
        header(AB_HEADER_COPY, "whole"),
        header(AB_HEADER_SOURCE, "a:0:1:2"),
        header("", ""),
        header(AB_HEADER_SHA256, "x"),
        header(AB_HEADER_VALUE_SIZE, "y"),
        header(AB_HEADER_HOPS, "2"),
    };
    const size_t own_count = sizeof(own) / sizeof(own[0]);
    quarantined_t once = quarantine(&record, own, own_count, "whole");
    quarantined_t twice = quarantine(&record, once.headers, once.count, "whole");
    ab_trailer_t trailer;

    (void)state;
    assert_true(ab_trailer_read(once.headers, once.count, &trailer));
    assert_int_equal(trailer.own_headers, own_count);
    check_original(&trailer);
    assert_true(ab_trailer_read(twice.headers, twice.count, &trailer));
    assert_int_equal(trailer.own_headers, once.count);
    aw_arena_free(once.arena);
    aw_arena_free(twice.arena);
}

/* One header taken away, renamed, doubled, or a record's own one behind the bridge's. */
static void test_trailer_with_any_header_missing_or_moved_is_none(void **state)
{
    const ab_record_t record = original();
    quarantined_t copy = quarantine(&record, NULL, 0, "whole");
    ab_header_t changed[HEADERS_MAX];
    ab_trailer_t trailer;

    (void)state;
    for (size_t i = 0; i + 1 < copy.count; i++) {
        /* The value's facts and the timestamp may be absent, but only both of a pair. */
        memcpy(changed, copy.headers, sizeof(changed));
        memmove(changed + i, changed + i + 1, (copy.count - i - 1) * sizeof(*changed));
        assert_false(ab_trailer_read(changed, copy.count - 1, &trailer));
        memcpy(changed, copy.headers, sizeof(changed));
        changed[i].name = "other";
        assert_false(ab_trailer_read(changed, copy.count, &trailer));
        memcpy(changed, copy.headers, sizeof(changed));
        changed[i].value = AW_SPAN_NULL;
        assert_false(ab_trailer_read(changed, copy.count, &trailer));
    }
    memcpy(changed, copy.headers, sizeof(changed));
    changed[copy.count] = header("own", "behind");
    assert_false(ab_trailer_read(changed, copy.count + 1, &trailer));
    assert_false(ab_trailer_read(NULL, 0, &trailer));
    aw_arena_free(copy.arena);
}

static void test_trailer_with_a_value_that_is_none_is_none(void **state)
{
    static const struct {
        const char *name, *value;
    } cases[] = {
        {AB_HEADER_COPY, "half"},
        {AB_HEADER_DLQ_OFFSET, "-1"},
        {AB_HEADER_DLQ_OFFSET, "9223372036854775808"},
        {AB_HEADER_DLQ_OFFSET, ""},
        {AB_HEADER_DLQ_PARTITION, "2147483648"},
        {AB_HEADER_DLQ_PARTITION, "1x"},
        {AB_HEADER_DLQ_TOPIC, ""},
        {AB_HEADER_DLQ_TOPIC, "agents.in\n"},
        {AB_HEADER_DLQ_TOPIC, "agents in"},
        {AB_HEADER_DLQ_TOPIC, "agents:in"},
        {AB_HEADER_DLQ_TOPIC, "\x1b[2J"},
        {AB_HEADER_DLQ_TOPIC, ".."},
        {AB_HEADER_SHA256, "abc"},
        {AB_HEADER_VALUE_SIZE, "1 "},
        {AB_HEADER_TIMESTAMP, "--5"},
        {AB_HEADER_TIMESTAMP, "-"},
        {AB_HEADER_TIMESTAMP_TYPE, "other"},
    };
    const ab_record_t record = original();

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        quarantined_t copy = quarantine(&record, NULL, 0, "whole");
        ab_trailer_t trailer;
        size_t changed = 0;

        for (size_t i = 0; i < copy.count; i++) {
            if (strcmp(copy.headers[i].name, cases[c].name) == 0) {
                copy.headers[i].value = aw_span_text_view(cases[c].value);
                changed++;
            }
        }
        assert_int_equal(changed, 1);
        assert_false(ab_trailer_read(copy.headers, copy.count, &trailer));
        aw_arena_free(copy.arena);
    }
}

static ab_full_record_t marker_of(const ab_header_t *headers, size_t count)
{
    return (ab_full_record_t){
        .record = {.topic = "q", .offset = 2}, .headers = headers, .header_count = count};
}

static void test_marker_what_is_written_is_read(void **state)
{
    const ab_coordinates_t marked = {"agents.in.quarantine", 2, INT64_MAX - 1};
    char text[AB_REDRIVEN_TEXT_MAX];
    char job[AB_JOB_ID_MAX];
    ab_coordinates_t found;
    ab_header_t one;
    ab_full_record_t record = marker_of(&one, 1);
    size_t size;

    (void)state;
    record.record.topic = marked.topic;
    record.record.partition = 2;
    record.record.offset = INT64_MAX;
    size = ab_redriven_text(&marked, "20261201-011500-1c4f07aa", text);
    assert_int_equal(size, strlen(text));
    assert_string_equal(text,
                        "agents.in.quarantine:2:9223372036854775806:20261201-011500-1c4f07aa");
    one = header(AB_HEADER_REDRIVEN, text);
    assert_true(ab_marker_read(&record, &found, job));
    assert_string_equal(found.topic, marked.topic);
    assert_int_equal(found.partition, 2);
    assert_int_equal(found.offset, INT64_MAX - 1);
    assert_string_equal(job, "20261201-011500-1c4f07aa");
}

static void test_marker_anything_else_is_none(void **state)
{
    const ab_header_t good = header(AB_HEADER_REDRIVEN, "q:0:1:job");
    const ab_header_t two[] = {good, good};
    const char *const bad[] = {"",
                               "q:0:1",
                               "q:0:1:",
                               "q:0:x:job",
                               ":0:1:job",
                               "q:0:1:jo b",
                               "q:0:1:0123456789012345678901234567890123456789",
                               "p:0:1:job", /* of another topic, partition, of itself, of later */
                               "q:1:1:job",
                               "q:0:2:job",
                               "q:0:3:job"};
    char job[AB_JOB_ID_MAX];
    ab_coordinates_t found;
    ab_full_record_t record = marker_of(&good, 1);

    (void)state;
    assert_true(ab_marker_read(&record, &found, job));
    record.record.key = aw_span_text_view("");
    assert_false(ab_marker_read(&record, &found, job));
    record = marker_of(&good, 1);
    record.record.value = aw_span_text_view("");
    assert_false(ab_marker_read(&record, &found, job));
    record = marker_of(two, 2);
    assert_false(ab_marker_read(&record, &found, job));
    record = marker_of(NULL, 0);
    record.headers_unreadable = true;
    assert_false(ab_marker_read(&record, &found, job));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const ab_header_t one = header(AB_HEADER_REDRIVEN, bad[i]);

        record = marker_of(&one, 1);
        assert_false(ab_marker_read(&record, &found, job));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trailer_of_what_the_bridge_writes_is_found),
        cmocka_unit_test(test_trailer_of_a_tombstone_without_a_timestamp_is_found),
        cmocka_unit_test(test_trailer_timestamp_before_1970_is_read),
        cmocka_unit_test(test_trailer_headers_of_the_same_names_before_it_stay_the_originals),
        cmocka_unit_test(test_trailer_with_any_header_missing_or_moved_is_none),
        cmocka_unit_test(test_trailer_with_a_value_that_is_none_is_none),
        cmocka_unit_test(test_marker_what_is_written_is_read),
        cmocka_unit_test(test_marker_anything_else_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
