#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/redrive.h"
#include "tests/unit/core/letter.h"

static const ab_coordinates_t PLACE = {"in.quarantine", 1, 70};

static ab_trailer_t trailer_of(const char *reason)
{
    return (ab_trailer_t){.source = {"in", 4, 9}, .reason = aw_span_text_view(reason)};
}

static bool fits(const ab_selection_t *selection, const char *reason)
{
    const ab_trailer_t trailer = trailer_of(reason);

    return ab_selection_fits(selection, &PLACE, 5000, &trailer, aw_span_text_view("rk"),
                             aw_span_text_view("ek"));
}

static void test_selection_without_conditions_takes_all(void **state)
{
    ab_selection_t selection;

    (void)state;
    ab_selection_init(&selection);
    assert_true(fits(&selection, "tombstone"));
    assert_true(fits(&selection, ""));
}

static void test_selection_each_condition_is_held(void **state)
{
    const ab_coordinates_t other = {"in.quarantine", 1, 71};
    const ab_coordinates_t source = {"in", 4, 9};
    ab_selection_t selection;

    (void)state;
    ab_selection_init(&selection);
    assert_true(ab_selection_add_reason(&selection, "oversized"));
    assert_false(fits(&selection, "tombstone"));
    assert_true(ab_selection_add_reason(&selection, "tombstone"));
    assert_true(fits(&selection, "tombstone"));

    ab_selection_init(&selection);
    assert_true(ab_selection_add_source(&selection, "other"));
    assert_false(fits(&selection, "tombstone"));
    assert_true(ab_selection_add_source(&selection, "in"));
    assert_true(fits(&selection, "tombstone"));

    ab_selection_init(&selection);
    assert_true(ab_selection_add_record(&selection, &other));
    assert_false(fits(&selection, "tombstone"));
    assert_true(ab_selection_add_record(&selection, &source));
    assert_true(fits(&selection, "tombstone"));
    selection.records[1] = PLACE;
    assert_true(fits(&selection, "tombstone"));

    ab_selection_init(&selection);
    assert_true(ab_selection_set_key(&selection, aw_span_text_view("k")));
    assert_false(fits(&selection, "tombstone"));
    assert_true(ab_selection_set_key(&selection, aw_span_text_view("ek")));
    assert_true(fits(&selection, "tombstone"));
    assert_true(ab_selection_set_key(&selection, aw_span_text_view("rk")));
    assert_true(fits(&selection, "tombstone"));
}

static void test_selection_time_takes_since_and_leaves_until(void **state)
{
    ab_selection_t selection;

    (void)state;
    ab_selection_init(&selection);
    selection.since_ms = 5000;
    selection.until_ms = 5001;
    assert_true(fits(&selection, "x"));
    selection.since_ms = 5001;
    assert_false(fits(&selection, "x"));
    selection.since_ms = 4000;
    selection.until_ms = 5000;
    assert_false(fits(&selection, "x"));
}

/* An empty key is a key; a record without one does not have it. */
static void test_selection_empty_key_does_not_fit_a_record_without_a_key(void **state)
{
    const ab_trailer_t trailer = trailer_of("x");
    ab_selection_t selection;

    (void)state;
    ab_selection_init(&selection);
    assert_true(ab_selection_set_key(&selection, aw_span_text_view("")));
    assert_false(
        ab_selection_fits(&selection, &PLACE, 0, &trailer, AW_SPAN_NULL, aw_span_text_view("")));
    assert_true(ab_selection_fits(&selection, &PLACE, 0, &trailer, aw_span_text_view(""),
                                  aw_span_text_view("")));
}

static void test_selection_past_its_room_adds_nothing(void **state)
{
    char long_text[AB_SELECTION_BYTES_MAX + 1];
    ab_selection_t selection;

    (void)state;
    ab_selection_init(&selection);
    for (size_t i = 0; i < AB_SELECTION_ITEMS_MAX; i++) {
        assert_true(ab_selection_add_reason(&selection, "r"));
        assert_true(ab_selection_add_record(&selection, &PLACE));
    }
    assert_false(ab_selection_add_reason(&selection, "r"));
    assert_false(ab_selection_add_record(&selection, &PLACE));
    assert_int_equal(selection.reason_count, AB_SELECTION_ITEMS_MAX);
    ab_selection_init(&selection);
    memset(long_text, 'a', sizeof(long_text));
    assert_false(ab_selection_set_key(&selection, aw_span_view(long_text, sizeof(long_text) - 1)));
    assert_null(selection.key.data);
    assert_true(ab_selection_set_key(&selection, aw_span_view(long_text, sizeof(long_text) - 2)));
}

static void fill(ab_job_t *job)
{
    static const uint8_t key[] = {'a', 0, '&', '=', '%', 0xff};
    const ab_coordinates_t place = {"a.b_c-d", 3, INT64_MAX};

    memset(job, 0, sizeof(*job));
    ab_selection_init(&job->selection);
    assert_true(ab_selection_add_reason(&job->selection, "tombstone"));
    assert_true(ab_selection_add_reason(&job->selection, "oversized"));
    assert_true(ab_selection_add_source(&job->selection, "agents.in"));
    assert_true(ab_selection_add_record(&job->selection, &place));
    assert_true(ab_selection_set_key(&job->selection, aw_span_view(key, sizeof(key))));
    job->selection.since_ms = 1;
    job->selection.until_ms = 1700000000000;
    job->to = AB_REDRIVE_TO_TOPIC;
    memcpy(job->topic, "target", sizeof("target"));
    job->force = true;
    job->again = true;
    job->max = 77;
    job->end = 123456789012;
    job->written = 5;
}

static void test_job_text_is_read_back_whole(void **state)
{
    ab_job_t job;
    ab_job_t read;
    char text[AB_JOB_TEXT_MAX];
    char again[AB_JOB_TEXT_MAX];
    size_t size;

    (void)state;
    fill(&job);
    size = ab_job_text(&job, text);
    assert_int_equal(size, strlen(text));
    assert_string_equal(text, "v=1&to=topic&topic=target&force=1&again=1&max=77&end=123456789012&"
                              "written=5&reason=tombstone&reason=oversized&source=agents.in&"
                              "record=a.b_c-d:3:9223372036854775807&key=a%00%26%3d%25%ff&since=1&"
                              "until=1700000000000");
    assert_true(ab_job_parse(aw_span_text_view(text), &read));
    assert_int_equal(ab_job_text(&read, again), size);
    assert_string_equal(again, text);
    assert_int_equal(read.selection.key.size, 6);
    assert_int_equal(read.to, AB_REDRIVE_TO_TOPIC);
}

static void test_job_text_that_is_none_is_refused(void **state)
{
    const char *const bad[] = {
        "",
        "v=2&to=source",
        "to=source&v=1",
        "v=1&to=topic",
        "v=1&to=nowhere",
        "v=1&later=1",
        "v=1&key=%0",
        "v=1&key=%zz",
        "v=1&key=a b",
        "v=1&reason=a%00b",
        "v=1&end=-1",
        "v=1&end=99999999999999999999",
        "v=1&record=a:b:c",
        "v=1&force=2",
        "v=1&&to=source",
    };
    ab_job_t job;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ab_job_parse(aw_span_text_view(bad[i]), &job));
    }
    assert_true(ab_job_parse(aw_span_text_view("v=1&to=route"), &job));
    assert_int_equal(job.selection.since_ms, INT64_MIN);
    assert_int_equal(job.selection.until_ms, INT64_MAX);
}

/* Every text cut short or changed in one byte is read or refused, and never more. */
static void test_job_text_mutated_stays_within_bounds(void **state)
{
    ab_job_t job;
    ab_job_t read;
    char text[AB_JOB_TEXT_MAX];
    size_t size;

    (void)state;
    fill(&job);
    size = ab_job_text(&job, text);
    for (size_t i = 0; i < size; i++) {
        char kept = text[i];

        (void)ab_job_parse(aw_span_view(text, i), &read);
        for (int byte = 0; byte < 256; byte += 5) {
            text[i] = (char)byte;
            (void)ab_job_parse(aw_span_view(text, size), &read);
        }
        text[i] = kept;
    }
}

static void test_job_text_too_long_is_none(void **state)
{
    uint8_t key[1200];
    ab_job_t job;
    char text[AB_JOB_TEXT_MAX];

    (void)state;
    memset(key, 0xff, sizeof(key)); /* three characters each */
    fill(&job);
    ab_selection_init(&job.selection);
    assert_true(ab_selection_set_key(&job.selection, aw_span_view(key, sizeof(key))));
    assert_int_equal(ab_job_text(&job, text), 0);
    ab_selection_init(&job.selection);
    assert_true(ab_selection_set_key(&job.selection, aw_span_view(key, 1100)));
    assert_int_not_equal(ab_job_text(&job, text), 0);
}

/* The text is measured once, before the job begins. */
static void test_job_text_is_never_lost_while_the_numbers_grow(void **state)
{
    ab_job_t job;
    char text[AB_JOB_TEXT_MAX];
    uint8_t key[AB_JOB_TEXT_MAX];
    size_t texts = 0;

    (void)state;
    memset(key, 'k', sizeof(key));
    for (size_t size = sizeof(key) - 200; size < sizeof(key); size++) {
        memset(&job, 0, sizeof(job));
        ab_selection_init(&job.selection);
        assert_true(ab_selection_set_key(&job.selection, aw_span_view(key, size)));
        if (ab_job_text(&job, text) == 0) {
            continue;
        }
        texts++;
        job.end = INT64_MAX;
        job.written = INT64_MAX;
        assert_int_not_equal(ab_job_text(&job, text), 0);
        assert_true(ab_job_parse(aw_span_text_view(text), &job));
    }
    assert_in_range(texts, 1, 199);
}

static void test_job_id_holds_letters_digits_and_hyphens(void **state)
{
    (void)state;
    assert_true(ab_job_id_valid(aw_span_text_view("20261201-011500-1c4f07aa")));
    assert_false(ab_job_id_valid(aw_span_text_view("")));
    assert_false(ab_job_id_valid(aw_span_text_view("a.b")));
    assert_false(ab_job_id_valid(aw_span_text_view("0123456789012345678901234567890123456789")));
    assert_true(ab_job_id_valid(aw_span_text_view("012345678901234567890123456789012345678")));
}

static void test_redrive_hops_go_up_and_stay_at_the_top(void **state)
{
    ab_trailer_t trailer = trailer_of("x");

    (void)state;
    assert_int_equal(ab_redrive_hops(&trailer), 1);
    trailer.hops = UINT32_MAX - 1;
    assert_int_equal(ab_redrive_hops(&trailer), UINT32_MAX);
    trailer.hops = UINT32_MAX;
    assert_int_equal(ab_redrive_hops(&trailer), UINT32_MAX);
}

static void test_redrive_own_headers_stay_but_for_the_last_redrives_hops(void **state)
{
    ab_header_t headers[] = {{AB_HEADER_HOPS, aw_span_text_view("2")},
                             {"own", aw_span_text_view("v")},
                             {AB_HEADER_HOPS, aw_span_text_view("2")}};
    ab_trailer_t trailer = trailer_of("x");

    (void)state;
    trailer.own_headers = 3;
    trailer.hops = 2;
    assert_int_equal(ab_redrive_kept_headers(headers, &trailer), 2);
    headers[2].value = aw_span_text_view("02"); /* no redrive writes that */
    assert_int_equal(ab_redrive_kept_headers(headers, &trailer), 3);
    headers[2].value = aw_span_text_view("0");
    trailer.hops = 0;
    assert_int_equal(ab_redrive_kept_headers(headers, &trailer), 3);
    trailer.own_headers = 2;
    trailer.hops = 2;
    assert_int_equal(ab_redrive_kept_headers(headers, &trailer), 2);
    trailer.own_headers = 0;
    assert_int_equal(ab_redrive_kept_headers(headers, &trailer), 0);
}

/* entity_key "ek", an external event. */
static const uint8_t GOOD[] = {0x0a, 0x02, 'e', 'k', 0x1a, 0x01, 'x'};

static ab_record_t good_record(void)
{
    return (ab_record_t){.topic = "in",
                         .partition = 4,
                         .offset = 9,
                         .key = aw_span_text_view("ek"),
                         .value = aw_span_view(GOOD, sizeof(GOOD)),
                         .hops = 1};
}

static ab_policy_t policy(void)
{
    return (ab_policy_t){.topic = "in",
                         .routes = {{AB_ROUTE_TOPIC, "events"}},
                         .max_value_bytes = 100,
                         .max_hops = 3};
}

static ab_redrive_plan_t plan(const ab_record_t *record, const ab_policy_t *policy,
                              ab_redrive_to_t to, bool force)
{
    ab_job_t job = {.to = to, .force = force};
    ab_redrive_plan_t result;

    memcpy(job.topic, "", 1);
    assert_int_equal(ab_redrive_plan(record, policy, &job, NULL, &result), AW_OK);
    return result;
}

static void test_redrive_what_passes_goes_where_it_is_sent(void **state)
{
    ab_record_t record = good_record();
    ab_policy_t keyed = policy();
    ab_redrive_plan_t result;

    (void)state;
    record.key = AW_SPAN_NULL;
    result = plan(&record, &keyed, AB_REDRIVE_TO_SOURCE, false);
    assert_int_equal(result.fate, AB_REDRIVE_WRITE);
    assert_string_equal(result.topic, "in");
    assert_null(result.key.data);
    assert_false(result.by_key);
    assert_false(result.source_header);

    result = plan(&record, &keyed, AB_REDRIVE_TO_ROUTE, false);
    assert_int_equal(result.fate, AB_REDRIVE_WRITE);
    assert_string_equal(result.topic, "events");
    assert_span_text(result.key, "ek");
    assert_true(result.by_key);
    assert_true(result.source_header);
    keyed.partition_by = AB_PARTITION_SOURCE;
    assert_false(plan(&record, &keyed, AB_REDRIVE_TO_ROUTE, false).by_key);

    result = plan(&record, &keyed, AB_REDRIVE_TO_TOPIC, false);
    assert_int_equal(result.fate, AB_REDRIVE_WRITE);
    assert_null(result.key.data);
    assert_false(result.by_key);
    record.key = aw_span_text_view("ek");
    assert_true(plan(&record, &keyed, AB_REDRIVE_TO_TOPIC, false).by_key);
}

static void test_redrive_what_does_not_pass_stays_unless_forced(void **state)
{
    ab_record_t record = good_record();
    ab_policy_t strict = policy();
    ab_redrive_plan_t result;

    (void)state;
    strict.max_value_bytes = 2;
    result = plan(&record, &strict, AB_REDRIVE_TO_SOURCE, false);
    assert_int_equal(result.fate, AB_REDRIVE_REFUSED_AGAIN);
    assert_int_equal(result.verdict.reason, AB_REASON_OVERSIZED);
    assert_null(result.topic);
    result = plan(&record, &strict, AB_REDRIVE_TO_SOURCE, true);
    assert_int_equal(result.fate, AB_REDRIVE_FORCE);
    assert_string_equal(result.topic, "in");
    assert_int_equal(plan(&record, &strict, AB_REDRIVE_TO_ROUTE, true).fate, AB_REDRIVE_NO_ROUTE);
    strict = policy();
    strict.routes[AB_SLOT_EXTERNAL_EVENT].kind = AB_ROUTE_DROP;
    assert_int_equal(plan(&record, &strict, AB_REDRIVE_TO_SOURCE, false).fate, AB_REDRIVE_DROPPED);
    assert_int_equal(plan(&record, NULL, AB_REDRIVE_TO_SOURCE, true).fate,
                     AB_REDRIVE_UNKNOWN_SOURCE);
    assert_int_equal(plan(&record, NULL, AB_REDRIVE_TO_TOPIC, false).fate,
                     AB_REDRIVE_UNKNOWN_SOURCE);
    assert_int_equal(plan(&record, NULL, AB_REDRIVE_TO_TOPIC, true).fate, AB_REDRIVE_FORCE);
}

/* An export request that is answered now passes, and a lane has to see it. */
static void test_redrive_what_is_answered_goes_by_its_source(void **state)
{
    ab_record_t record = good_record();
    static const uint8_t request[] = {0x0a, 0x02, 'e', 'k', 0x32, 0x00};
    ab_policy_t answers = policy();

    (void)state;
    record.value = aw_span_view(request, sizeof(request));
    answers.routes[AB_SLOT_EXPORT_REQUEST].kind = AB_ROUTE_ANSWER;
    assert_int_equal(plan(&record, &answers, AB_REDRIVE_TO_SOURCE, false).fate, AB_REDRIVE_WRITE);
    assert_int_equal(plan(&record, &answers, AB_REDRIVE_TO_ROUTE, false).fate, AB_REDRIVE_NO_ROUTE);
}

/* The record is judged with the hops it will carry: what the bridge would send straight back stays.
 */
static void test_redrive_a_record_at_the_limit_of_its_hops_stays(void **state)
{
    ab_record_t record = good_record();
    const ab_policy_t three = policy();
    ab_redrive_plan_t result;

    (void)state;
    record.hops = 3;
    assert_int_equal(plan(&record, &three, AB_REDRIVE_TO_SOURCE, false).fate, AB_REDRIVE_WRITE);
    record.hops = 4;
    result = plan(&record, &three, AB_REDRIVE_TO_SOURCE, false);
    assert_int_equal(result.fate, AB_REDRIVE_REFUSED_AGAIN);
    assert_int_equal(result.verdict.reason, AB_REASON_HOP_LIMIT);
}

static void test_redrive_fates_have_codes_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < AB_REDRIVE_FATE_COUNT; i++) {
        assert_int_not_equal(strlen(ab_redrive_fate_text((ab_redrive_fate_t)i)), 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(ab_redrive_fate_code((ab_redrive_fate_t)i),
                                    ab_redrive_fate_code((ab_redrive_fate_t)j));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection_without_conditions_takes_all),
        cmocka_unit_test(test_selection_each_condition_is_held),
        cmocka_unit_test(test_selection_time_takes_since_and_leaves_until),
        cmocka_unit_test(test_selection_empty_key_does_not_fit_a_record_without_a_key),
        cmocka_unit_test(test_selection_past_its_room_adds_nothing),
        cmocka_unit_test(test_job_text_is_read_back_whole),
        cmocka_unit_test(test_job_text_that_is_none_is_refused),
        cmocka_unit_test(test_job_text_mutated_stays_within_bounds),
        cmocka_unit_test(test_job_text_too_long_is_none),
        cmocka_unit_test(test_job_text_is_never_lost_while_the_numbers_grow),
        cmocka_unit_test(test_job_id_holds_letters_digits_and_hyphens),
        cmocka_unit_test(test_redrive_hops_go_up_and_stay_at_the_top),
        cmocka_unit_test(test_redrive_own_headers_stay_but_for_the_last_redrives_hops),
        cmocka_unit_test(test_redrive_what_passes_goes_where_it_is_sent),
        cmocka_unit_test(test_redrive_what_does_not_pass_stays_unless_forced),
        cmocka_unit_test(test_redrive_what_is_answered_goes_by_its_source),
        cmocka_unit_test(test_redrive_a_record_at_the_limit_of_its_hops_stays),
        cmocka_unit_test(test_redrive_fates_have_codes_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
