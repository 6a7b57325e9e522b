#include "tests/mock/rig.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/kafka/reader.h"

/* What only a real broker shows (transactions, times, retention) is in tests/broker. */

static ab_reader_t *open_reader(const rig_t *rig)
{
    const ab_reader_options_t options = {.timeout_ms = 20000};
    char text[AB_READER_TEXT_MAX] = "";
    ab_reader_t *reader = ab_reader_new(rig->config, &options, text);
    assert_non_null(reader);
    return reader;
}

/* Reads to the end; every partition's offsets have to ascend by one. Returns how many came. */
static size_t read_all(ab_reader_t *reader)
{
    int64_t next[RIG_SOURCE_PARTITIONS];
    ab_full_record_t record;
    ab_read_status_t status;
    size_t parts, count = 0;
    memset(next, -1, sizeof(next));
    while ((status = ab_reader_next(reader, -1, &record)) == AB_READ_OK) {
        int64_t *place = &next[record.record.partition];
        assert_true(*place < 0 || record.record.offset == *place);
        *place = record.record.offset + 1;
        assert_string_equal(record.record.topic, "in");
        assert_int_equal(record.record.timestamp_type, AB_TIMESTAMP_CREATE);
        assert_true(record.record.value.size > 0);
        count++;
    }
    assert_int_equal(status, AB_READ_END);
    const ab_reader_part_t *part = ab_reader_parts_view(reader, &parts);
    for (size_t i = 0; i < parts; i++) {
        assert_true(part[i].done);
        assert_int_equal(part[i].next, part[i].end);
    }
    assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_END);
    return count;
}

static void test_reader_whole_topic_comes_in_order_and_ends(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    int32_t partitions = 0;
    rig_write(rig, 3000);
    assert_int_equal(ab_reader_count(reader, "in", &partitions), AB_READ_OK);
    assert_int_equal(partitions, RIG_SOURCE_PARTITIONS);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_OK);
        assert_int_equal(read_all(reader), 3000);
        ab_reader_clear(reader);
    }
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_what_comes_later_is_past_the_end(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    rig_write(rig, 100);
    assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_OK);
    rig_write(rig, 100);
    assert_int_equal(read_all(reader), 100);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_empty_topic_ends_at_once(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_OK);
    assert_int_equal(read_all(reader), 0);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_limits_cut_what_is_read(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    size_t count;
    rig_write(rig, 400);
    assert_int_equal(ab_reader_add_partition(reader, "in", 1, &all), AB_READ_OK);
    ab_reader_limit(reader, 0, 10, 17);
    assert_int_equal(read_all(reader), 7);
    assert_int_equal(ab_reader_parts_view(reader, &count)->begin, 10);
    ab_reader_clear(reader);
    assert_int_equal(ab_reader_add_partition(reader, "in", 1, &all), AB_READ_OK);
    ab_reader_limit(reader, 0, -5, INT64_MAX);
    assert_int_equal((int64_t)read_all(reader), ab_reader_parts_view(reader, &count)->stable);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_follows_what_is_written_meanwhile(void **state)
{
    (void)state;
    const ab_read_range_t follow = {.follow = true};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    ab_full_record_t record;
    rig_write(rig, 4);
    assert_int_equal(ab_reader_add_topic(reader, "in", &follow), AB_READ_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_OK);
    }
    assert_int_equal(ab_reader_next(reader, 50, &record), AB_READ_QUIET);
    rig_write(rig, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_OK);
    }
    assert_int_equal(ab_reader_next(reader, 50, &record), AB_READ_QUIET);
    ab_reader_free(reader);
    rig_close(rig);
}

/* Neither a log in which nothing happens nor a caller who takes his time is a broker that does not
 * answer; one that is gone is. */
static void test_reader_quiet_log_is_no_silent_broker(void **state)
{
    (void)state;
    static const struct {
        int wait_ms;
        unsigned pause_ms;
    } calls[] = {{0, 3500}, {4000, 0}, {50, 2000}};
    const ab_read_range_t follow = {.follow = true};
    const ab_reader_options_t impatient = {.timeout_ms = 3000};
    char text[AB_READER_TEXT_MAX] = "";
    rig_t *rig = rig_open("");
    ab_reader_t *reader = ab_reader_new(rig->config, &impatient, text);
    ab_full_record_t record;
    assert_non_null(reader);
    rig_write(rig, 4);
    assert_int_equal(ab_reader_add_topic(reader, "in", &follow), AB_READ_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_OK);
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        rig_sleep_ms(calls[i].pause_ms);
        assert_int_equal(ab_reader_next(reader, calls[i].wait_ms, &record), AB_READ_QUIET);
    }
    rig_write(rig, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_OK);
    }
    for (int32_t broker = 1; broker <= RIG_BROKERS; broker++) {
        assert_int_equal(rd_kafka_mock_broker_set_down(rig->mock, broker),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_UNREACHABLE);
    assert_true(ab_reader_text_view(reader)[0] != '\0');
    ab_reader_free(reader);
    rig_close(rig);
}

/* Records that were fetched for what was read before must not meet a question about topics. */
static void test_reader_cleared_while_records_wait_outlives_its_brokers(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    const ab_reader_options_t impatient = {.timeout_ms = 3000};
    char text[AB_READER_TEXT_MAX] = "";
    rig_t *rig = rig_open("");
    ab_reader_t *reader = ab_reader_new(rig->config, &impatient, text);
    ab_full_record_t record;
    assert_non_null(reader);
    rig_write(rig, 3000);
    assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_OK);
    assert_int_equal(ab_reader_next(reader, -1, &record), AB_READ_OK);
    rig_sleep_ms(500);
    for (int32_t broker = 1; broker <= RIG_BROKERS; broker++) {
        assert_int_equal(rd_kafka_mock_broker_set_down(rig->mock, broker),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    ab_reader_clear(reader);
    assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_UNREACHABLE);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_fetch_gives_the_one_record_with_its_headers(void **state)
{
    (void)state;
    const ab_header_t headers[] = {{"a", {(const uint8_t *)"1", 1}},
                                   {"", {(const uint8_t *)"", 0}},
                                   {"a", {NULL, 0}},
                                   {"__agent_bridge.hops", {(const uint8_t *)"2", 1}}};
    const ab_full_record_t written = {.record = {.topic = "in",
                                                 .partition = 2,
                                                 .timestamp_ms = 1234,
                                                 .timestamp_type = AB_TIMESTAMP_CREATE,
                                                 .key = {NULL, 0},
                                                 .value = {(const uint8_t *)"", 0}},
                                      .headers = headers,
                                      .header_count = 4};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    ab_full_record_t record;
    assert_int_equal(ab_client_write(rig->client, &written), 0);
    assert_int_equal(ab_client_flush(rig->client, 20000), 0);
    const ab_coordinates_t at = {"in", 2, 0};
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ab_reader_fetch(reader, &at, &record), AB_READ_OK);
        assert_null(record.record.key.data);
        assert_non_null(record.record.value.data);
        assert_int_equal(record.record.value.size, 0);
        assert_int_equal(record.record.timestamp_ms, 1234);
        assert_int_equal(record.record.hops, 2);
        assert_int_equal(record.header_count, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(record.headers[i].name, headers[i].name);
            assert_true(aw_span_equal(record.headers[i].value, headers[i].value));
        }
        assert_null(record.headers[2].value.data);
        assert_non_null(record.headers[1].value.data);
    }
    const ab_coordinates_t later = {"in", 2, 1};
    assert_int_equal(ab_reader_fetch(reader, &later, &record), AB_READ_NOTHING);
    assert_non_null(strstr(ab_reader_text_view(reader), "is not there yet"));
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_what_does_not_exist_is_named(void **state)
{
    (void)state;
    const ab_read_range_t all = {0};
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    size_t count;
    /* The mock would make it. */
    rd_kafka_mock_topic_set_error(rig->mock, "nowhere", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    assert_int_equal(ab_reader_add_topic(reader, "nowhere", &all), AB_READ_MISSING);
    assert_non_null(strstr(ab_reader_text_view(reader), "nowhere"));
    assert_int_equal(ab_reader_add_partition(reader, "in", RIG_SOURCE_PARTITIONS, &all),
                     AB_READ_MISSING);
    assert_int_equal(ab_reader_add_partition(reader, "in", -1, &all), AB_READ_MISSING);
    (void)ab_reader_parts_view(reader, &count);
    assert_int_equal(count, 0);
    assert_int_equal(ab_read_exit_code(AB_READ_MISSING), AB_EXIT_UNAVAILABLE);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_committed_offsets_are_those_of_the_group(void **state)
{
    (void)state;
    rig_t *rig = rig_open("");
    ab_reader_t *reader = open_reader(rig);
    int64_t offsets[RIG_SOURCE_PARTITIONS] = {9, 9, 9, 9};
    assert_int_equal(ab_client_commit(rig->client, RIG_GROUP, "in", RIG_SOURCE_PARTITIONS, 7), 0);
    assert_int_equal(ab_reader_committed(reader, "in", RIG_SOURCE_PARTITIONS, offsets), AB_READ_OK);
    for (int p = 0; p < RIG_SOURCE_PARTITIONS; p++) {
        assert_int_equal(offsets[p], 7);
    }
    assert_int_equal(ab_reader_committed(reader, "ev", RIG_OUTPUT_PARTITIONS, offsets), AB_READ_OK);
    assert_int_equal(offsets[0], -1);
    ab_reader_free(reader);
    rig_close(rig);
}

static void test_reader_without_a_broker_gives_up_in_time(void **state)
{
    (void)state;
    static const char text[] = "kafka: {bootstrap.servers: '127.0.0.1:1'}\ngroup: g\nsources: "
                               "[{topic: in, routes: {external_event: a, tool_result: a, "
                               "approval: a, export_request: a}}]\n";
    const ab_reader_options_t options = {.timeout_ms = 500};
    const ab_read_range_t all = {0};
    char why[AB_READER_TEXT_MAX] = "";
    ab_findings_t *findings = calloc(1, sizeof(*findings));
    ab_config_t *config = ab_config_parse("c", text, strlen(text), NULL, findings);
    assert_non_null(config);
    ab_reader_t *reader = ab_reader_new(config, &options, why);
    assert_non_null(reader);
    assert_int_equal(ab_reader_add_topic(reader, "in", &all), AB_READ_UNREACHABLE);
    assert_true(ab_reader_text_view(reader)[0] != '\0');
    assert_int_equal(ab_read_exit_code(AB_READ_UNREACHABLE), AB_EXIT_UNAVAILABLE);
    ab_reader_free(reader);
    ab_config_free(config);
    free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_whole_topic_comes_in_order_and_ends),
        cmocka_unit_test(test_reader_what_comes_later_is_past_the_end),
        cmocka_unit_test(test_reader_empty_topic_ends_at_once),
        cmocka_unit_test(test_reader_limits_cut_what_is_read),
        cmocka_unit_test(test_reader_follows_what_is_written_meanwhile),
        cmocka_unit_test(test_reader_quiet_log_is_no_silent_broker),
        cmocka_unit_test(test_reader_cleared_while_records_wait_outlives_its_brokers),
        cmocka_unit_test(test_reader_fetch_gives_the_one_record_with_its_headers),
        cmocka_unit_test(test_reader_what_does_not_exist_is_named),
        cmocka_unit_test(test_reader_committed_offsets_are_those_of_the_group),
        cmocka_unit_test(test_reader_without_a_broker_gives_up_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
