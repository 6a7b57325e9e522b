#include "bridge/kafka/check_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Topics of the configuration, in the order of ab_topics_new(). */
enum { IN, OUT, ERRORS, QUARANTINE, TOPIC_COUNT };

#define DAY_MS     86400000
#define LIMIT      1048588
#define COPIES     3
#define PARTITIONS 4

typedef struct bench {
    ab_source_t source;
    ab_config_t config;
    ab_check_facts_t facts;
    ab_check_report_t *report;
} bench_t;

static void set_topic(ab_topic_facts_t *topic)
{
    topic->problem = AB_TOPIC_OK;
    topic->topic.partitions = PARTITIONS;
    topic->copies = COPIES;
    topic->in_sync = COPIES;
    topic->values[AB_FACT_MAX_MESSAGE_BYTES] = LIMIT;
    topic->values[AB_FACT_RETENTION_MS] = 7 * DAY_MS;
    topic->values[AB_FACT_MIN_INSYNC] = 2;
    topic->values[AB_FACT_BEFORE_MAX_MS] = INT64_MAX;
    topic->values[AB_FACT_AFTER_MAX_MS] = 3600000;
    topic->values[AB_FACT_COMPACTS] = 0;
    topic->values[AB_FACT_DELETES] = 1;
    topic->values[AB_FACT_APPEND_TIME] = 0;
    topic->values[AB_FACT_UNCLEAN] = 0;
}

/* A cluster and topics of which there is nothing to say. */
static bench_t *bench_new(void)
{
    bench_t *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    ab_policy_t *policy = &bench->source.policy;
    policy->topic = "in";
    policy->errors_topic = "in.errors";
    policy->quarantine_topic = "in.quarantine";
    policy->max_value_bytes = 8u << 20;
    for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
        policy->routes[slot] = (ab_route_t){AB_ROUTE_TOPIC, "out"};
    }
    bench->config.group = "g";
    bench->config.lanes = PARTITIONS;
    bench->config.sources = &bench->source;
    bench->config.source_count = 1;
    bench->config.transaction_timeout_ms = 15000;
    assert_int_equal(ab_check_facts_init(&bench->facts, &bench->config), 0);
    assert_int_equal(bench->facts.topic_count, TOPIC_COUNT);
    for (size_t i = 0; i < TOPIC_COUNT; i++) {
        set_topic(&bench->facts.topics[i]);
    }
    bench->facts.broker_count = COPIES;
    for (int i = 0; i < COPIES; i++) {
        bench->facts.brokers[i] = (ab_broker_facts_t){.id = i + 1, .values = {900000, 1}};
    }
    bench->report = calloc(1, sizeof(*bench->report));
    assert_non_null(bench->report);
    strcpy(bench->report->principal, "User:u");
    return bench;
}

static void bench_free(bench_t *bench)
{
    ab_check_free(bench->report);
    ab_check_facts_clear(&bench->facts);
    free(bench);
}

static ab_topic_facts_t *topic_of(bench_t *bench, int index)
{
    return &bench->facts.topics[index];
}

/* Judges; exactly these findings are wanted, each "state check subject: a part of the text". */
static void expect(bench_t *bench, const char *const *wanted, size_t count)
{
    size_t found = 0;
    ab_check_judge(&bench->config, &bench->facts, bench->report);
    for (size_t i = 0; i < bench->report->count; i++) {
        const ab_check_row_t *row = &bench->report->rows[i];
        char head[512];
        if (row->state == AB_CHECK_OK) {
            continue;
        }
        snprintf(head, sizeof(head), "%s %s %s: ",
                 row->state == AB_CHECK_ERROR     ? "error"
                 : row->state == AB_CHECK_WARNING ? "warning"
                                                  : "unknown",
                 row->check, row->subject);
        if (found == count || strncmp(wanted[found], head, strlen(head)) != 0 ||
            strstr(row->text, wanted[found] + strlen(head)) == NULL) {
            fail_msg("found \"%s%s\", wanted \"%s\"", head, row->text,
                     found < count ? wanted[found] : "nothing more");
        }
        found++;
    }
    assert_int_equal(found, count);
    bench_free(bench);
}

#define EXPECT(bench, ...)                                                                         \
    expect((bench), (const char *const[]){__VA_ARGS__},                                            \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_judge_nothing_wrong_finds_nothing(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    ab_check_judge(&bench->config, &bench->facts, bench->report);
    assert_int_equal(bench->report->counts[AB_CHECK_OK], bench->report->count);
    assert_int_equal(bench->report->count, TOPIC_COUNT + 2); /* brokers, lanes */
    assert_string_equal(bench->report->rows[2].text,
                        "source: 4 partitions, 3 copies; max.message.bytes 1048588, kept 7d");
    expect(bench, NULL, 0);
}

static void test_judge_topics_that_lack_are_named_with_what_to_do(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, OUT)->problem = AB_TOPIC_MISSING;
    EXPECT(bench, "error topic out: does not exist; create it");
    bench = bench_new();
    topic_of(bench, OUT)->problem = AB_TOPIC_DENIED;
    EXPECT(bench, "error acl out: User:u lacks Write on it");
    bench = bench_new();
    topic_of(bench, IN)->problem = AB_TOPIC_DENIED;
    EXPECT(bench, "error acl in: User:u lacks Read on it");
    bench = bench_new();
    topic_of(bench, ERRORS)->problem = AB_TOPIC_UNREACHABLE;
    topic_of(bench, ERRORS)->error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    EXPECT(bench, "error topic in.errors: did not tell of it in time (_TIMED_OUT)");
}

static void test_judge_hidden_properties_are_said_and_judged_by_nothing(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    for (int i = 0; i < TOPIC_COUNT; i++) {
        topic_of(bench, i)->error = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
        for (int fact = 0; fact < AB_TOPIC_FACT_COUNT; fact++) {
            topic_of(bench, i)->values[fact] = AB_FACT_UNKNOWN;
        }
    }
    EXPECT(bench, "warning acl in: lacks DescribeConfigs on it: this check sees",
           "warning acl out: assumes max.message.bytes 1048588",
           "warning acl in.errors: assumes max.message.bytes 1048588",
           "warning acl in.quarantine: assumes max.message.bytes 1048588");
    bench = bench_new();
    topic_of(bench, OUT)->error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    EXPECT(bench, "warning topic out: could not be read (_TIMED_OUT)");
}

static void test_judge_compacted_topics_lose_records(void **state)
{
    (void)state;
    for (int index = 0; index < TOPIC_COUNT; index++) {
        static const char *const wanted[] = {
            "warning cleanup in: the source is compacted", "error cleanup out: of each entity",
            "error cleanup in.errors: one without a key is refused",
            "error cleanup in.quarantine: one without a key is refused"};
        bench_t *bench = bench_new();
        topic_of(bench, index)->values[AB_FACT_COMPACTS] = 1;
        expect(bench, &wanted[index], 1);
    }
}

/* Two more topics: the state of the source's keys, and the answers. */
static bench_t *answering_bench_new(ab_topic_facts_t **ret_state)
{
    static const char *names[] = {"state"};
    bench_t *bench = bench_new();
    ab_check_facts_clear(&bench->facts);
    bench->source.policy.routes[AB_SLOT_EXPORT_REQUEST] = (ab_route_t){AB_ROUTE_ANSWER, NULL};
    bench->config.answers = true;
    bench->config.state_topics.items = names;
    bench->config.state_topics.count = 1;
    bench->config.snapshots_topic = "answers";
    assert_int_equal(ab_check_facts_init(&bench->facts, &bench->config), 0);
    assert_int_equal(bench->facts.topic_count, TOPIC_COUNT + 2);
    for (size_t i = 0; i < bench->facts.topic_count; i++) {
        set_topic(&bench->facts.topics[i]);
        if (bench->facts.topics[i].topic.state) {
            *ret_state = &bench->facts.topics[i];
        }
    }
    bench->facts.broker_count = 0;
    (*ret_state)->values[AB_FACT_COMPACTS] = 1;
    (*ret_state)->values[AB_FACT_DELETES] = 0;
    (*ret_state)->values[AB_FACT_TOMBSTONES_MS] = DAY_MS;
    return bench;
}

static void test_judge_state_topic_must_keep_what_stores_are_made_from(void **state)
{
    (void)state;
    ab_topic_facts_t *topic = NULL;
    bench_t *bench = answering_bench_new(&topic);
    expect(bench, NULL, 0);
    bench = answering_bench_new(&topic);
    topic->values[AB_FACT_TOMBSTONES_MS] = DAY_MS - 1;
    EXPECT(bench, "warning cleanup state: delete.retention.ms is 86399999ms");
    bench = answering_bench_new(&topic);
    topic->values[AB_FACT_TOMBSTONES_MS] = AB_FACT_UNKNOWN;
    expect(bench, NULL, 0);
    bench = answering_bench_new(&topic);
    topic->values[AB_FACT_DELETES] = 1;
    EXPECT(bench, "error cleanup state: deleted after 7d");
    bench = answering_bench_new(&topic);
    topic->values[AB_FACT_COMPACTS] = 0;
    topic->values[AB_FACT_DELETES] = 1;
    topic->values[AB_FACT_TOMBSTONES_MS] = 1; /* of no matter there */
    EXPECT(bench, "error cleanup state: set cleanup.policy=compact");
    bench = answering_bench_new(&topic);
    topic->values[AB_FACT_COMPACTS] = 0;
    topic->values[AB_FACT_DELETES] = 1;
    topic->values[AB_FACT_RETENTION_MS] = -1;
    expect(bench, NULL, 0);
}

static void test_judge_state_topic_with_another_partition_count_is_an_error(void **state)
{
    (void)state;
    ab_topic_facts_t *topic = NULL;
    bench_t *bench = answering_bench_new(&topic);
    topic->topic.partitions = PARTITIONS + 1;
    EXPECT(bench, "error partitions state: has 5, in has 4");
}

static void test_judge_every_topic_is_said_with_what_it_is_for(void **state)
{
    static const char *const wanted[][2] = {
        {"in", "source: "},        {"out", "output: "},
        {"in.errors", "errors: "}, {"in.quarantine", "quarantine: "},
        {"state", "state: "},      {"answers", "answers: "}};
    ab_topic_facts_t *topic = NULL;
    bench_t *bench = answering_bench_new(&topic);
    size_t found = 0;
    (void)state;
    ab_check_judge(&bench->config, &bench->facts, bench->report);
    for (size_t i = 0; i < bench->report->count; i++) {
        const ab_check_row_t *row = &bench->report->rows[i];
        for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
            if (strcmp(row->check, "topic") == 0 && strcmp(row->subject, wanted[w][0]) == 0) {
                assert_memory_equal(row->text, wanted[w][1], strlen(wanted[w][1]));
                found++;
            }
        }
    }
    assert_int_equal(found, sizeof(wanted) / sizeof(wanted[0]));
    bench_free(bench);
}

static void test_judge_bytes_at_every_limit(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_MAX_MESSAGE_BYTES] = LIMIT - 1;
    EXPECT(bench, "warning message_bytes out: produce_rejected); set at least 1048588");
    /* What max_value lets through fits. */
    bench = bench_new();
    bench->source.policy.max_value_bytes = 100000;
    topic_of(bench, OUT)->values[AB_FACT_MAX_MESSAGE_BYTES] = 100000 + AB_CHECK_RECORD_ROOM;
    expect(bench, NULL, 0);
}

static void test_judge_bytes_of_dead_letters(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, ERRORS)->values[AB_FACT_MAX_MESSAGE_BYTES] = AB_CHECK_LETTER_BYTES;
    expect(bench, NULL, 0);
    bench = bench_new();
    topic_of(bench, ERRORS)->values[AB_FACT_MAX_MESSAGE_BYTES] = AB_CHECK_LETTER_BYTES - 1;
    EXPECT(bench, "error message_bytes in.errors: may need 16384");
    bench = bench_new();
    topic_of(bench, QUARANTINE)->values[AB_FACT_MAX_MESSAGE_BYTES] = LIMIT - 1;
    EXPECT(bench, "warning message_bytes in.quarantine: not kept whole");
    bench = bench_new();
    topic_of(bench, QUARANTINE)->values[AB_FACT_MAX_MESSAGE_BYTES] = AB_CHECK_LETTER_BYTES - 1;
    EXPECT(bench, "error message_bytes in.quarantine: may need 16384");
}

static void test_judge_timestamps_that_an_output_would_refuse(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_APPEND_TIME] = 1;
    EXPECT(bench, "warning timestamps out: LogAppendTime");
    /* The source takes any age. */
    bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_BEFORE_MAX_MS] = 365LL * DAY_MS;
    EXPECT(bench, "warning timestamps out: is 365d, and records of in may be older");
    /* It takes what is a day old and keeps it for a week. */
    bench = bench_new();
    topic_of(bench, IN)->values[AB_FACT_BEFORE_MAX_MS] = DAY_MS;
    topic_of(bench, OUT)->values[AB_FACT_BEFORE_MAX_MS] = 8LL * DAY_MS;
    expect(bench, NULL, 0);
    bench = bench_new();
    topic_of(bench, IN)->values[AB_FACT_BEFORE_MAX_MS] = DAY_MS;
    topic_of(bench, OUT)->values[AB_FACT_BEFORE_MAX_MS] = 8LL * DAY_MS - 1;
    EXPECT(bench, "warning timestamps out: set 691200000");
    /* It stamps its records itself. */
    bench = bench_new();
    topic_of(bench, IN)->values[AB_FACT_APPEND_TIME] = 1;
    topic_of(bench, OUT)->values[AB_FACT_BEFORE_MAX_MS] = 7LL * DAY_MS;
    topic_of(bench, OUT)->values[AB_FACT_AFTER_MAX_MS] = 0;
    expect(bench, NULL, 0);
    bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_AFTER_MAX_MS] = 60000;
    EXPECT(bench, "warning timestamps out: is 1m, that of in is 1h");
    /* Dead letters are dated when they are written. */
    bench = bench_new();
    topic_of(bench, ERRORS)->values[AB_FACT_BEFORE_MAX_MS] = 60000;
    topic_of(bench, ERRORS)->values[AB_FACT_APPEND_TIME] = 1;
    expect(bench, NULL, 0);
}

static void test_judge_retention_against_the_source(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_RETENTION_MS] = 3LL * DAY_MS;
    EXPECT(bench, "warning retention out: keeps its records 3d, in keeps its own 7d");
    bench = bench_new();
    topic_of(bench, IN)->values[AB_FACT_RETENTION_MS] = -1;
    for (int i = OUT; i < TOPIC_COUNT; i++) {
        topic_of(bench, i)->values[AB_FACT_RETENTION_MS] = -1;
    }
    expect(bench, NULL, 0);
    bench = bench_new();
    topic_of(bench, ERRORS)->values[AB_FACT_RETENTION_MS] = DAY_MS;
    EXPECT(bench, "warning retention in.errors: a dead letter is gone before");
    bench = bench_new();
    topic_of(bench, ERRORS)->values[AB_FACT_RETENTION_MS] = -1;
    EXPECT(bench, "warning retention in.quarantine: outlives the record that it speaks of; set "
                  "retention.ms to -1");
    bench = bench_new();
    topic_of(bench, QUARANTINE)->values[AB_FACT_RETENTION_MS] = DAY_MS;
    topic_of(bench, ERRORS)->values[AB_FACT_RETENTION_MS] = 7LL * DAY_MS;
    EXPECT(bench, "warning retention in.quarantine: keeps its records 1d, in.errors");
}

static void test_judge_pointers_that_point_to_nothing(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    bench->source.policy.quarantine_topic = NULL;
    topic_of(bench, ERRORS)->values[AB_FACT_RETENTION_MS] = 30LL * DAY_MS;
    EXPECT(bench, "warning retention in: errors.quarantine is off");
}

static void test_judge_copies_too_few_or_unsafe_are_found(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, IN)->leaderless = 1;
    topic_of(bench, OUT)->leaderless = 2;
    EXPECT(bench, "error replicas in: 1 partition has no leader",
           "error replicas out: 2 partitions have no leader");
    bench = bench_new();
    topic_of(bench, OUT)->copies = 1;
    topic_of(bench, OUT)->in_sync = 1;
    EXPECT(bench, "warning replicas out: one copy",
           "error replicas out: min.insync.replicas is 2, and there is 1 copy");
    bench = bench_new();
    topic_of(bench, OUT)->in_sync = 1;
    EXPECT(bench, "error replicas out: 1 in sync, min.insync.replicas is 2");
    bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_MIN_INSYNC] = 3;
    EXPECT(bench, "warning replicas out: one broker down stops writing");
    bench = bench_new();
    topic_of(bench, OUT)->values[AB_FACT_MIN_INSYNC] = 1;
    topic_of(bench, OUT)->values[AB_FACT_UNCLEAN] = 1;
    EXPECT(bench, "warning replicas out: min.insync.replicas is 1",
           "warning replicas out: unclean");
    /* One broker can do no better. */
    bench = bench_new();
    bench->facts.broker_count = 1;
    for (int i = 0; i < TOPIC_COUNT; i++) {
        topic_of(bench, i)->copies = 1;
        topic_of(bench, i)->in_sync = 1;
        topic_of(bench, i)->values[AB_FACT_MIN_INSYNC] = 1;
    }
    expect(bench, NULL, 0);
}

static void test_judge_partitions_only_where_their_numbers_are_kept(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    topic_of(bench, OUT)->topic.partitions = 3;
    topic_of(bench, ERRORS)->topic.partitions = 1;
    expect(bench, NULL, 0);
    bench = bench_new();
    bench->source.policy.partition_by = AB_PARTITION_SOURCE;
    topic_of(bench, OUT)->topic.partitions = 3;
    topic_of(bench, ERRORS)->topic.partitions = 1;
    EXPECT(bench, "warning partitions out: has 3, in has 4");
}

static void test_judge_lanes_that_can_get_nothing(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    bench->config.lanes = PARTITIONS + 1;
    EXPECT(bench, "warning lanes 5: 4 partitions together: 1 lane in this process");
}

static void test_judge_brokers_each_is_held_against_the_config(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    bench->facts.brokers[1].values[AB_FACT_TRANSACTION_MAX_MS] = 15000;
    bench->facts.brokers[2].values[AB_FACT_TRANSACTION_MAX_MS] = 14999;
    EXPECT(bench, "error transactions broker 3: delivery.transaction_timeout is 15s");
    bench = bench_new();
    bench->facts.brokers[0].values[AB_FACT_VERIFIES] = 0;
    bench->facts.brokers[1].values[AB_FACT_VERIFIES] = AB_FACT_UNKNOWN;
    EXPECT(bench, "warning transactions broker 1: set it to true",
           "warning transactions broker 2: as Kafka before 3.6");
    bench = bench_new();
    for (int i = 0; i < COPIES; i++) {
        bench->facts.brokers[i].error = RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
    }
    EXPECT(bench, "unknown acl kafka-cluster: User:u lacks DescribeConfigs on it");
}

static void test_learn_properties_of_topics_and_brokers(void **state)
{
    (void)state;
    bench_t *bench = bench_new();
    ab_topic_facts_t *topic = topic_of(bench, OUT);
    topic->values[AB_FACT_BEFORE_MAX_MS] = AB_FACT_UNKNOWN;
    topic->values[AB_FACT_AFTER_MAX_MS] = AB_FACT_UNKNOWN;
    ab_check_learn_topic(topic, "max.message.bytes", "123");
    ab_check_learn_topic(topic, "cleanup.policy", "compact,delete");
    ab_check_learn_topic(topic, "message.timestamp.type", "LogAppendTime");
    ab_check_learn_topic(topic, "message.timestamp.difference.max.ms", "77");
    ab_check_learn_topic(topic, "delete.retention.ms", "86400000");
    ab_check_learn_topic(topic, "segment.ms", "5");
    assert_int_equal(topic->values[AB_FACT_TOMBSTONES_MS], 86400000);
    assert_int_equal(topic->values[AB_FACT_MAX_MESSAGE_BYTES], 123);
    assert_int_equal(topic->values[AB_FACT_COMPACTS], 1);
    assert_int_equal(topic->values[AB_FACT_DELETES], 1);
    assert_int_equal(topic->values[AB_FACT_APPEND_TIME], 1);
    assert_int_equal(topic->values[AB_FACT_BEFORE_MAX_MS], 77);
    assert_int_equal(topic->values[AB_FACT_AFTER_MAX_MS], 77);
    ab_check_learn_topic(topic, "message.timestamp.before.max.ms", "9223372036854775807");
    ab_check_learn_topic(topic, "message.timestamp.difference.max.ms", "78");
    ab_check_learn_topic(topic, "cleanup.policy", "delete");
    assert_true(topic->values[AB_FACT_BEFORE_MAX_MS] == INT64_MAX);
    assert_int_equal(topic->values[AB_FACT_COMPACTS], 0);
    ab_check_learn_broker(&bench->facts, &bench->facts.brokers[0], "transaction.max.timeout.ms",
                          "5");
    ab_check_learn_broker(&bench->facts, &bench->facts.brokers[0], "inter.broker.protocol.version",
                          "3.9-IV0");
    assert_int_equal(bench->facts.brokers[0].values[AB_FACT_TRANSACTION_MAX_MS], 5);
    assert_string_equal(bench->facts.version, "3.9-IV0");
    bench_free(bench);
}

static void test_time_text_in_the_largest_unit_that_fits(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{-1, "for ever"},
                {0, "0ms"},
                {1, "1ms"},
                {90000, "90s"},
                {3600000, "1h"},
                {DAY_MS, "1d"},
                {DAY_MS + 1, "86400001ms"},
                {INT64_MAX, "without limit"}};
    char text[AB_CHECK_TIME_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(ab_check_time_text(rows[i].ms, text), rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge_nothing_wrong_finds_nothing),
        cmocka_unit_test(test_judge_topics_that_lack_are_named_with_what_to_do),
        cmocka_unit_test(test_judge_hidden_properties_are_said_and_judged_by_nothing),
        cmocka_unit_test(test_judge_compacted_topics_lose_records),
        cmocka_unit_test(test_judge_state_topic_must_keep_what_stores_are_made_from),
        cmocka_unit_test(test_judge_state_topic_with_another_partition_count_is_an_error),
        cmocka_unit_test(test_judge_every_topic_is_said_with_what_it_is_for),
        cmocka_unit_test(test_judge_bytes_at_every_limit),
        cmocka_unit_test(test_judge_bytes_of_dead_letters),
        cmocka_unit_test(test_judge_timestamps_that_an_output_would_refuse),
        cmocka_unit_test(test_judge_retention_against_the_source),
        cmocka_unit_test(test_judge_pointers_that_point_to_nothing),
        cmocka_unit_test(test_judge_copies_too_few_or_unsafe_are_found),
        cmocka_unit_test(test_judge_partitions_only_where_their_numbers_are_kept),
        cmocka_unit_test(test_judge_lanes_that_can_get_nothing),
        cmocka_unit_test(test_judge_brokers_each_is_held_against_the_config),
        cmocka_unit_test(test_learn_properties_of_topics_and_brokers),
        cmocka_unit_test(test_time_text_in_the_largest_unit_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
