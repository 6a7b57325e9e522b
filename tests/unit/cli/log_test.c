#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "agentwire/utf8.h"
#include "bridge/cli/log.h"
#include "bridge/cli/log_line.h"

#define REPLACED      "\xef\xbf\xbd"
#define OUTPUT_MAX    (256u * 1024u)
#define THREADS       4
#define THREAD_EVENTS 200

_Static_assert(AB_LOG_LINE_MAX <= PIPE_BUF, "a pipe takes a line whole or not at all");

/** A log into a temporary file, on a clock that the test moves. */
typedef struct fixture {
    int64_t now_ms;
    FILE *file;
    ab_log_clock_t clock;
    ab_log_t *log;
    char output[OUTPUT_MAX];
} fixture_t;

static int64_t fixture_ms(void *opaque)
{
    return ((fixture_t *)opaque)->now_ms;
}

static fixture_t *new_fixture(ab_log_format_t format, ab_level_t level)
{
    fixture_t *fixture = calloc(1, sizeof(*fixture));
    ab_log_options_t options = {.format = format, .level = level};

    assert_non_null(fixture);
    fixture->now_ms = 1700000000123;
    fixture->file = tmpfile();
    assert_non_null(fixture->file);
    fixture->clock = (ab_log_clock_t){fixture_ms, fixture_ms, fixture};
    options.fd = fileno(fixture->file);
    options.clock = &fixture->clock;
    fixture->log = ab_log_new(&options);
    assert_non_null(fixture->log);
    return fixture;
}

static const char *output_of(fixture_t *fixture)
{
    ssize_t size = pread(fileno(fixture->file), fixture->output, OUTPUT_MAX - 1, 0);

    assert_true(size >= 0);
    fixture->output[size] = '\0';
    return fixture->output;
}

static void free_fixture(fixture_t *fixture)
{
    ab_log_free(fixture->log);
    (void)fclose(fixture->file);
    free(fixture);
}

static void emit_dead_letter(fixture_t *fixture, const char *reason, const char *topic)
{
    const ab_field_t fields[] = {AB_TEXT("reason", reason), AB_TEXT("source_topic", topic)};

    ab_log_emit(fixture->log, AB_LEVEL_WARNING, "dead_letter", "why", fields, 2);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

static void test_json_an_event_is_one_line_of_json(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);
    const ab_field_t fields[] = {AB_TEXT("topic", "agents.in"), AB_NUMBER("offset", -7),
                                 AB_FLAG("balanced", true), AB_FLAG("late", false),
                                 AB_TEXT("absent", NULL)};

    (void)state;
    ab_log_emit(fixture->log, AB_LEVEL_INFO, "started", "it \"runs\"", fields, 5);
    assert_string_equal(output_of(fixture),
                        "{\"ts\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\","
                        "\"event\":\"started\",\"message\":\"it \\\"runs\\\"\","
                        "\"topic\":\"agents.in\",\"offset\":-7,\"balanced\":true,"
                        "\"late\":false}\n");
    free_fixture(fixture);
}

static void test_text_values_are_quoted_where_a_reader_would_split_them(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_TEXT, AB_LEVEL_INFO);
    const ab_field_t fields[] = {AB_TEXT("topic", "agents.in"), AB_NUMBER("offset", 12),
                                 AB_FLAG("balanced", false),    AB_TEXT("why", "no \"x=1\" \\"),
                                 AB_TEXT("empty", ""),          AB_TEXT("absent", NULL)};

    (void)state;
    ab_log_emit(fixture->log, AB_LEVEL_WARNING, "started", "it runs", fields, 6);
    assert_string_equal(output_of(fixture),
                        "2023-11-14T22:13:20.123Z warning started: it runs topic=agents.in "
                        "offset=12 balanced=false why=\"no \\\"x=1\\\" \\\\\" empty=\"\"\n");
    free_fixture(fixture);
}

static void test_level_events_below_it_are_left_out(void **state)
{
    static const struct {
        ab_level_t level;
        unsigned lines;
    } cases[] = {
        {AB_LEVEL_ERROR, 1}, {AB_LEVEL_WARNING, 2}, {AB_LEVEL_INFO, 3}, {AB_LEVEL_DEBUG, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture_t *fixture = new_fixture(AB_LOG_JSON, cases[i].level);

        for (int level = AB_LEVEL_ERROR; level <= AB_LEVEL_DEBUG; level++) {
            ab_log_emit(fixture->log, (ab_level_t)level, "e", "m", NULL, 0);
        }
        assert_int_equal(count_of(output_of(fixture), "\n"), cases[i].lines);
        free_fixture(fixture);
    }
}

static void test_line_bad_texts_stay_one_sound_line(void **state)
{
    static const char hostile[] = "a\nb\x1b[31m\xff\xc0\xaf\x7f\xc2\x9b end";
    const ab_field_t fields[] = {AB_TEXT("text", hostile)};
    ab_log_line_t line = {.event = hostile, .message = hostile, .fields = fields, .field_count = 1};
    char text[AB_LOG_LINE_MAX];

    (void)state;
    for (int format = 0; format < 2; format++) {
        size_t size = format == 0 ? ab_log_line_json(&line, text) : ab_log_line_text(&line, text);

        assert_true(aw_utf8_valid(aw_span_view(text, size)));
        assert_int_equal(text[size - 1], '\n');
        for (size_t i = 0; i + 1 < size; i++) {
            assert_true((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
        }
        text[size - 1] = '\0';
        assert_int_equal(count_of(text, "a" REPLACED "b" REPLACED
                                        "[31m" REPLACED REPLACED REPLACED REPLACED REPLACED " end"),
                         3);
    }
}

static void test_line_longest_events_are_shortened_and_say_so(void **state)
{
    static char longest[5000];
    ab_field_t fields[AB_FIELDS_MAX];
    ab_log_line_t line = {.level = AB_LEVEL_ERROR,
                          .event = longest,
                          .message = longest,
                          .fields = fields,
                          .field_count = AB_FIELDS_MAX,
                          .held_back = UINT64_MAX / 4,
                          .lost = UINT64_MAX / 4};
    char text[AB_LOG_LINE_MAX];
    json_error_t error;
    json_t *json;
    size_t size;

    (void)state;
    memset(longest, '"', sizeof(longest) - 1);
    for (unsigned i = 0; i < AB_FIELDS_MAX; i++) {
        fields[i] = AB_TEXT("name", longest);
    }
    size = ab_log_line_json(&line, text);
    assert_true(size <= AB_LOG_LINE_MAX);
    assert_int_equal(text[size - 1], '\n');
    json = json_loadb(text, size, 0, &error);
    assert_non_null(json);
    assert_true(json_is_true(json_object_get(json, "truncated")));
    assert_int_equal(json_string_length(json_object_get(json, "message")), AB_LOG_MESSAGE_MAX);
    assert_true(json_is_integer(json_object_get(json, "held_back")));
    assert_true(json_is_integer(json_object_get(json, "lost_lines")));
    json_decref(json);
    size = ab_log_line_text(&line, text);
    assert_true(size <= AB_LOG_LINE_MAX);
    assert_int_equal(text[size - 1], '\n');
    text[size - 1] = '\0';
    assert_non_null(strstr(text, " truncated=true held_back="));
}

static void test_time_before_the_epoch_is_written_well(void **state)
{
    ab_log_line_t line = {.wall_ms = -1, .event = "e", .message = "m"};
    char text[AB_LOG_LINE_MAX];

    (void)state;
    text[ab_log_line_text(&line, text)] = '\0';
    assert_string_equal(text, "1969-12-31T23:59:59.999Z error e: m\n");
}

static void test_dead_letters_are_told_once_in_ten_seconds(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);

    (void)state;
    for (int i = 0; i < 5; i++) {
        emit_dead_letter(fixture, "tombstone", "a");
    }
    assert_int_equal(count_of(output_of(fixture), "\n"), 1);
    fixture->now_ms += AB_LOG_HOLD_MS - 1;
    emit_dead_letter(fixture, "tombstone", "a");
    ab_log_tick(fixture->log);
    assert_int_equal(count_of(output_of(fixture), "\n"), 1);
    fixture->now_ms += 1;
    emit_dead_letter(fixture, "tombstone", "a");
    assert_int_equal(count_of(output_of(fixture), "\n"), 2);
    assert_int_equal(count_of(output_of(fixture), "\"held_back\":5"), 1);
    free_fixture(fixture);
}

static void test_dead_letters_of_other_reasons_and_sources_are_told_apart(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);

    (void)state;
    emit_dead_letter(fixture, "tombstone", "a");
    emit_dead_letter(fixture, "tombstone", "b");
    emit_dead_letter(fixture, "oversized", "a");
    emit_dead_letter(fixture, "oversized", "a");
    assert_int_equal(count_of(output_of(fixture), "\n"), 3);
    free_fixture(fixture);
}

static void test_dead_letters_held_back_are_told_by_the_tick(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);

    (void)state;
    for (int i = 0; i < 4; i++) {
        emit_dead_letter(fixture, "tombstone", "a");
    }
    fixture->now_ms += AB_LOG_HOLD_MS;
    ab_log_tick(fixture->log);
    ab_log_tick(fixture->log);
    assert_int_equal(count_of(output_of(fixture), "\n"), 2);
    assert_non_null(strstr(output_of(fixture), "\"event\":\"dead_letters_held_back\""));
    assert_non_null(strstr(output_of(fixture),
                           "\"reason\":\"tombstone\",\"source_topic\":\"a\",\"held_back\":3}"));
    /* The line counts as one: the next ten seconds begin with it. */
    emit_dead_letter(fixture, "tombstone", "a");
    assert_int_equal(count_of(output_of(fixture), "\n"), 2);
    free_fixture(fixture);
}

static void emit_librdkafka(fixture_t *fixture, const char *facility, const char *client)
{
    const ab_field_t fields[] = {AB_TEXT("client", client), AB_TEXT("facility", facility),
                                 AB_TEXT("text", "broker down")};

    ab_log_emit(fixture->log, AB_LEVEL_WARNING, "librdkafka", "librdkafka says", fields, 3);
}

static void test_librdkafkas_lines_are_held_back_per_facility_and_client(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);

    (void)state;
    for (int i = 0; i < 3; i++) {
        emit_librdkafka(fixture, "FAIL", "consumer-1");
    }
    emit_librdkafka(fixture, "FAIL", "producer-2");
    emit_librdkafka(fixture, "TXNERR", "producer-2");
    emit_dead_letter(fixture, "FAIL", "consumer-1"); /* the same keys, another storm */
    assert_int_equal(count_of(output_of(fixture), "\n"), 4);
    fixture->now_ms += AB_LOG_HOLD_MS;
    ab_log_tick(fixture->log);
    assert_non_null(strstr(output_of(fixture), "\"event\":\"librdkafka_held_back\""));
    assert_non_null(strstr(output_of(fixture),
                           "\"facility\":\"FAIL\",\"client\":\"consumer-1\",\"held_back\":2}"));
    free_fixture(fixture);
}

static void test_dead_letters_held_back_are_told_at_the_end(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_TEXT, AB_LEVEL_INFO);

    (void)state;
    emit_dead_letter(fixture, "tombstone", "a");
    emit_dead_letter(fixture, "tombstone", "a");
    ab_log_free(fixture->log);
    fixture->log = NULL;
    assert_int_equal(count_of(output_of(fixture), "\n"), 2);
    assert_non_null(strstr(output_of(fixture), "reason=tombstone source_topic=a held_back=1\n"));
    free_fixture(fixture);
}

static void test_dead_letters_of_too_many_kinds_share_one_account(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);
    char topic[32];

    (void)state;
    for (unsigned i = 0; i < AB_LOG_HELD_MAX + 10; i++) {
        (void)snprintf(topic, sizeof(topic), "topic-%u", i);
        emit_dead_letter(fixture, "tombstone", topic);
    }
    /* Each kind once, and of those past the limit one for all. */
    assert_int_equal(count_of(output_of(fixture), "\n"), AB_LOG_HELD_MAX + 1);
    fixture->now_ms += AB_LOG_HOLD_MS;
    ab_log_tick(fixture->log);
    assert_int_equal(count_of(output_of(fixture), "\"held_back\":9"), 1);
    free_fixture(fixture);
}

static void test_dead_letters_below_the_level_are_not_counted(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_ERROR);

    (void)state;
    for (int i = 0; i < 3; i++) {
        emit_dead_letter(fixture, "tombstone", "a");
    }
    ab_log_free(fixture->log);
    fixture->log = NULL;
    assert_string_equal(output_of(fixture), "");
    free_fixture(fixture);
}

static void test_reader_that_stands_still_loses_lines_and_is_told(void **state)
{
    int ends[2];
    ab_log_options_t options = {.format = AB_LOG_JSON, .level = AB_LEVEL_INFO};
    ab_log_t *log;
    char text[4096];
    ssize_t size;
    unsigned lines = 0;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    options.fd = ends[1];
    log = ab_log_new(&options);
    assert_non_null(log);
    /* Far more than fits: the first line that does not waits a second, the others do not. */
    for (int i = 0; i < 500; i++) {
        ab_log_emit(log, AB_LEVEL_INFO, "e", "a line of some length that fills the pipe", NULL, 0);
    }
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while ((size = read(ends[0], text, sizeof(text) - 1)) > 0) {
        text[size] = '\0';
        lines += count_of(text, "\n");
    }
    assert_true(lines > 0 && lines < 500);
    ab_log_emit(log, AB_LEVEL_INFO, "e", "again", NULL, 0);
    ab_log_emit(log, AB_LEVEL_INFO, "e", "and again", NULL, 0);
    size = read(ends[0], text, sizeof(text) - 1);
    assert_true(size > 0);
    text[size] = '\0';
    assert_int_equal(count_of(text, "\"lost_lines\""), 1);
    assert_int_equal(strtol(strstr(text, "\"lost_lines\":") + strlen("\"lost_lines\":"), NULL, 10),
                     500 - lines);
    ab_log_free(log);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void *emit_many(void *log)
{
    for (int i = 0; i < THREAD_EVENTS; i++) {
        ab_log_emit(log, AB_LEVEL_INFO, "thread", "a line", &AB_NUMBER("number", i), 1);
        emit_dead_letter(&(fixture_t){.log = log}, "tombstone", "a");
        ab_log_tick(log);
    }
    return NULL;
}

static void test_threads_lines_never_mix(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_JSON, AB_LEVEL_INFO);
    pthread_t threads[THREADS];
    char *rest = NULL;
    unsigned lines = 0;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, emit_many, fixture->log), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)output_of(fixture);
    for (char *line = strtok_r(fixture->output, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL);

        assert_non_null(json);
        json_decref(json);
        lines++;
    }
    assert_int_equal(lines, THREADS * THREAD_EVENTS + 1);
    free_fixture(fixture);
}

static void test_last_words_are_written_while_the_log_is_in_use(void **state)
{
    fixture_t *fixture = new_fixture(AB_LOG_TEXT, AB_LEVEL_INFO);

    (void)state;
    ab_log_last_words(fixture->log, AB_LEVEL_ERROR, "shutdown_timeout", "the end");
    ab_log_last_words(fixture->log, AB_LEVEL_DEBUG, "detail", "not at this level");
    assert_string_equal(output_of(fixture),
                        "2023-11-14T22:13:20.123Z error shutdown_timeout: the end\n");
    free_fixture(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_an_event_is_one_line_of_json),
        cmocka_unit_test(test_text_values_are_quoted_where_a_reader_would_split_them),
        cmocka_unit_test(test_level_events_below_it_are_left_out),
        cmocka_unit_test(test_line_bad_texts_stay_one_sound_line),
        cmocka_unit_test(test_line_longest_events_are_shortened_and_say_so),
        cmocka_unit_test(test_time_before_the_epoch_is_written_well),
        cmocka_unit_test(test_dead_letters_are_told_once_in_ten_seconds),
        cmocka_unit_test(test_dead_letters_of_other_reasons_and_sources_are_told_apart),
        cmocka_unit_test(test_dead_letters_held_back_are_told_by_the_tick),
        cmocka_unit_test(test_librdkafkas_lines_are_held_back_per_facility_and_client),
        cmocka_unit_test(test_dead_letters_held_back_are_told_at_the_end),
        cmocka_unit_test(test_dead_letters_of_too_many_kinds_share_one_account),
        cmocka_unit_test(test_dead_letters_below_the_level_are_not_counted),
        cmocka_unit_test(test_reader_that_stands_still_loses_lines_and_is_told),
        cmocka_unit_test(test_threads_lines_never_mix),
        cmocka_unit_test(test_last_words_are_written_while_the_log_is_in_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
