#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agentwire/status.h"
#include "agentwire/utf8.h"
#include "bridge/core/dead_letter.h"
#include "tests/unit/core/letter.h"

static ab_record_t plain_record(void)
{
    return (ab_record_t){.topic = "agents.in",
                         .partition = 3,
                         .offset = 1042,
                         .timestamp_ms = 1700000000500,
                         .timestamp_type = AB_TIMESTAMP_CREATE,
                         .key = aw_span_text_view("user-42"),
                         .value = aw_span_text_view("abc")};
}

static ab_verdict_t plain_verdict(const ab_record_t *record)
{
    ab_verdict_t verdict = {.outcome = AB_OUTCOME_DEAD_LETTERED,
                            .entity_key = record->key,
                            .event_time_ms = 1700000000000,
                            .reason = AB_REASON_DECODE_TRUNCATED,
                            .at = 17,
                            .field = "tool_result.intent_id",
                            .text = "length runs past the end"};

    return verdict;
}

static ab_letter_t build(const ab_record_t *record, const ab_verdict_t *verdict,
                         const char *output_topic, aw_arena_t *arena)
{
    ab_letter_t letter;

    assert_int_equal(
        ab_dead_letter_build(record, verdict, "agent-bridge", output_topic, arena, &letter), AW_OK);
    return letter;
}

static int set_up(void **state)
{
    *state = aw_arena_new(AB_LETTER_ARENA_MAX);
    return *state != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    aw_arena_free(*state);
    return 0;
}

static void test_letter_of_a_refused_value_holds_the_whole_story(void **state)
{
    ab_record_t record = plain_record();
    ab_verdict_t verdict = plain_verdict(&record);
    ab_letter_t letter = build(&record, &verdict, NULL, *state);
    letter_view_t view = letter_view(&letter, *state);

    assert_span_text(letter.key, "user-42");
    assert_span_text(view.entity_key, "user-42");
    assert_span_text(view.reason, "decode_truncated");
    assert_int_equal(view.event_time_ms, 1700000000000);
    assert_span_text(view.detail,
                     "{\"at\":17,\"field\":\"tool_result.intent_id\",\"sha256\":"
                     "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
                     "\"size\":3,\"source\":\"agents.in:3:1042\","
                     "\"text\":\"length runs past the end\",\"v\":1}");
    assert_int_equal(letter.header_count, 12);
    assert_header(&letter, 0, "__dlq.errors.topic", "agents.in");
    assert_header(&letter, 1, "__dlq.errors.partition", "3");
    assert_header(&letter, 2, "__dlq.errors.offset", "1042");
    assert_header(&letter, 3, "__dlq.errors.group", "agent-bridge");
    assert_header(&letter, 4, "__dlq.errors.message", "length runs past the end");
    assert_header(&letter, 5, "__agent_bridge.reason", "decode_truncated");
    assert_header(&letter, 6, "__agent_bridge.hops", "0");
    assert_header(&letter, 7, "__agent_bridge.sha256",
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_header(&letter, 8, "__agent_bridge.value_size", "3");
    assert_header(&letter, 9, "__agent_bridge.source_timestamp", "1700000000500");
    assert_header(&letter, 10, "__agent_bridge.source_timestamp_type", "create");
    assert_header(&letter, 11, "__agent_bridge.source", "agents.in:3:1042:1700000000500");
}

static void test_letter_without_entity_key_has_a_null_key(void **state)
{
    ab_record_t record = plain_record();
    ab_verdict_t verdict = plain_verdict(&record);
    ab_letter_t letter;

    verdict.entity_key = AW_SPAN_NULL;
    letter = build(&record, &verdict, NULL, *state);
    assert_null(letter.key.data);
    verdict.entity_key = aw_span_view("", 0);
    letter = build(&record, &verdict, NULL, *state);
    assert_null(letter.key.data);
    assert_int_equal(letter_view(&letter, *state).entity_key.size, 0);
}

static void test_letter_names_the_output_that_refused(void **state)
{
    ab_record_t record = plain_record();
    ab_verdict_t verdict = plain_verdict(&record);
    ab_letter_t letter;

    ab_verdict_reject(&verdict, "the timestamp is outside the topic's range");
    letter = build(&record, &verdict, "agents.results", *state);
    assert_header(&letter, 4, "__dlq.errors.message",
                  "output topic agents.results: the timestamp is outside the topic's range");
}

static void test_letter_of_the_same_record_is_the_same_bytes(void **state)
{
    ab_record_t record = plain_record();
    ab_verdict_t verdict = plain_verdict(&record);
    ab_letter_t first = build(&record, &verdict, NULL, *state);
    aw_arena_t *other = aw_arena_new(0);
    ab_letter_t second;

    assert_non_null(other);
    (void)aw_arena_alloc(other, 1000); /* lies elsewhere, and over other remains */
    second = build(&record, &verdict, NULL, other);
    assert_letters_equal(&first, &second);
    aw_arena_free(other);
}

static void test_letter_worst_names_stay_within_the_detail(void **state)
{
    static char key[3000];
    char topic[400];
    ab_record_t record = plain_record();
    ab_verdict_t verdict;
    ab_letter_t letter;
    letter_view_t view;

    memset(topic, '\x01', sizeof(topic) - 1);
    topic[sizeof(topic) - 1] = '\0';
    memset(key, 'k', sizeof(key));
    record.topic = topic;
    record.partition = INT32_MIN;
    record.offset = INT64_MIN;
    record.timestamp_ms = INT64_MIN;
    record.hops = UINT32_MAX;
    record.key = aw_span_view(key, sizeof(key));
    verdict = plain_verdict(&record);
    verdict.at = INT64_MAX;
    memset(verdict.field, '\xff', sizeof(verdict.field) - 1);
    memset(verdict.text, '"', sizeof(verdict.text) - 1);
    letter = build(&record, &verdict, topic, *state);
    view = letter_view(&letter, *state);
    assert_true(view.detail.size <= AB_LETTER_DETAIL_MAX);
    assert_true(aw_utf8_valid(view.detail));
    assert_int_equal(letter.key.size, AB_LETTER_KEY_MAX);
    /* The pointer rung: key, value and headers of any record stay below 16 KiB. */
    assert_true(letter_size(&letter) < 16 * 1024);
}

static void test_letter_short_arena_is_told_and_writes_nothing(void **state)
{
    ab_record_t record = plain_record();
    ab_verdict_t verdict = plain_verdict(&record);
    bool built = false;

    (void)state;
    for (size_t limit = 16; !built; limit += 16) {
        aw_arena_t *arena = aw_arena_new(limit);
        ab_letter_t letter;
        int status;

        assert_non_null(arena);
        assert_true(limit <= AB_LETTER_ARENA_MAX);
        memset(&letter, 0x5a, sizeof(letter));
        status = ab_dead_letter_build(&record, &verdict, "g", NULL, arena, &letter);
        built = status == AW_OK;
        if (!built) {
            assert_int_equal(status, AW_STATUS_LIMIT_DECODE_BYTES);
            for (size_t i = 0; i < sizeof(letter); i++) {
                assert_int_equal(((const unsigned char *)&letter)[i], 0x5a);
            }
        }
        aw_arena_free(arena);
    }
}

static void test_source_text_longest_record_fits(void **state)
{
    char topic[AB_TOPIC_MAX + 1];
    char text[AB_SOURCE_TEXT_MAX];
    ab_record_t record = plain_record();

    (void)state;
    assert_int_equal(ab_source_text(&record, text), strlen("agents.in:3:1042:1700000000500"));
    assert_string_equal(text, "agents.in:3:1042:1700000000500");
    record.timestamp_type = AB_TIMESTAMP_NONE;
    record.timestamp_ms = 0;
    (void)ab_source_text(&record, text);
    assert_string_equal(text, "agents.in:3:1042:-1");
    memset(topic, 't', AB_TOPIC_MAX);
    topic[AB_TOPIC_MAX] = '\0';
    record = (ab_record_t){.topic = topic,
                           .partition = INT32_MIN,
                           .offset = INT64_MIN,
                           .timestamp_ms = INT64_MIN,
                           .timestamp_type = AB_TIMESTAMP_CREATE};
    assert_int_equal(ab_source_text(&record, text), AB_TOPIC_MAX + 1 + 11 + 1 + 20 + 1 + 20);
    assert_true(strlen(text) < sizeof(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_letter_of_a_refused_value_holds_the_whole_story,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_letter_without_entity_key_has_a_null_key, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_letter_names_the_output_that_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_letter_of_the_same_record_is_the_same_bytes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_letter_worst_names_stay_within_the_detail, set_up,
                                        tear_down),
        cmocka_unit_test(test_letter_short_arena_is_told_and_writes_nothing),
        cmocka_unit_test(test_source_text_longest_record_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
