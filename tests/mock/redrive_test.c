#include "tests/mock/rig.h"

#include <string.h>

#include "bridge/kafka/redrive.h"

/* What only a real broker shows (that nothing is doubled, markers, offsets) is in tests/broker. */

#define LETTERS 4u

/* A job on the rig, and what its events do to it. */
typedef struct work {
    rig_t *rig;
    atomic_bool stop;
    unsigned waits;
    void (*on_wait)(struct work *work);
    ab_job_t job;
    ab_sink_t sink;
    ab_redrive_t *redrive;
} work_t;

static void on_event(void *opaque, ab_level_t level, const char *event, const char *message,
                     const ab_field_t *fields, unsigned field_count)
{
    work_t *work = opaque;
    work->rig->sink.emit(work->rig->sink.opaque, level, event, message, fields, field_count);
    if (strcmp(event, "redrive_waits") == 0 && work->waits++ == 0) {
        work->on_wait(work);
    }
}

/* Letters in quarantine, and a job that writes them to ex whatever they are, one in each
 * transaction. */
static void open_work(work_t *work, const char *settings)
{
    char text[AB_REDRIVE_TEXT_MAX] = "";
    memset(work, 0, sizeof(*work));
    work->rig = rig_open(settings);
    rig_start(work->rig);
    for (unsigned i = 0; i < LETTERS; i++) {
        rig_write_value(work->rig, aw_span_text_view("k"), aw_span_text_view("no envelope"));
    }
    rig_await_consumed(work->rig, LETTERS);
    rig_stop(work->rig, AB_EXIT_OK);
    assert_int_equal(rig_size(work->rig, "in.quarantine"), LETTERS);
    work->sink = (ab_sink_t){on_event, work};
    ab_selection_init(&work->job.selection);
    work->job.to = AB_REDRIVE_TO_TOPIC;
    work->job.force = true;
    (void)snprintf(work->job.topic, sizeof(work->job.topic), "ex");
    const ab_redrive_setup_t setup = {.config = work->rig->config,
                                      .job = &work->job,
                                      .rate = 1,
                                      .timeout_ms = 20000,
                                      .stop = &work->stop,
                                      .sink = &work->sink};
    rd_kafka_mock_coordinator_set(work->rig->mock, "transaction", RIG_GROUP ".redrive",
                                  RIG_COORDINATOR);
    work->redrive = ab_redrive_new(&setup, text);
    if (work->redrive == NULL) {
        fail_msg("%s", text);
    }
}

static void close_work(work_t *work)
{
    ab_redrive_free(work->redrive);
    rig_close(work->rig);
}

static void stop_it(work_t *work)
{
    atomic_store(&work->stop, true);
    /* What meets this one moves the offsets. */
    rig_fail_at(work->rig, RIG_COORDINATOR, RIG_ADD_OFFSETS,
                RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 1);
}

static void test_redrive_stopped_after_an_aborted_batch_commits_nothing_behind_it(void **state)
{
    (void)state;
    work_t work;
    open_work(&work, "");
    work.on_wait = stop_it;
    rig_fail_at(work.rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    const int code = ab_redrive_run(work.redrive);
    print_message("%d: %s\n", code, ab_redrive_text_view(work.redrive));
    assert_int_equal(work.waits, 1);
    assert_int_equal(code, AB_EXIT_TEMPORARY);
    assert_int_equal(ab_redrive_report_view(work.redrive)->written, 0);
    assert_false(ab_redrive_report_view(work.redrive)->complete);
    assert_int_equal(rig_left_at(work.rig, RIG_COORDINATOR, RIG_ADD_OFFSETS), 1);
    close_work(&work);
}

/* The brokers end a transaction that is open for too long. */
static void outlast_it(work_t *work)
{
    rig_sleep_ms((unsigned)work->rig->config->transaction_timeout_ms);
    rig_fail_at(work->rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1);
}

static void test_redrive_whose_first_step_times_out_begins_once_more(void **state)
{
    (void)state;
    work_t work;
    open_work(&work, "delivery: {transaction_timeout: 2s}\n");
    work.on_wait = outlast_it;
    /* The mock chooses the coordinator of the job's group by its name, which is made of the time.
     */
    for (int32_t broker = 1; broker <= RIG_BROKERS; broker++) {
        rig_fail_at(work.rig, broker, RIG_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
                    1);
    }
    const int code = ab_redrive_run(work.redrive);
    if (code != AB_EXIT_OK) {
        fail_msg("%d: %s", code, ab_redrive_text_view(work.redrive));
    }
    assert_int_equal(work.waits, 1);
    assert_int_equal(rig_left_at(work.rig, RIG_COORDINATOR, RIG_END_TXN), 0);
    assert_int_equal(ab_redrive_report_view(work.redrive)->written, LETTERS);
    assert_int_equal(rig_size(work.rig, "ex"), LETTERS);
    close_work(&work);
}

/* What a coordinator says that has never heard of the transaction. */
static void forget_it(work_t *work)
{
    rig_fail_at(work->rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
}

static void test_redrive_whose_transaction_is_unknown_goes_on_with_another_producer(void **state)
{
    (void)state;
    work_t work;
    open_work(&work, "");
    work.on_wait = forget_it;
    rig_fail_at(work.rig, RIG_OUTPUT_BROKER, RIG_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    const int code = ab_redrive_run(work.redrive);
    if (code != AB_EXIT_OK) {
        fail_msg("%d: %s", code, ab_redrive_text_view(work.redrive));
    }
    assert_int_equal(rig_left_at(work.rig, RIG_COORDINATOR, RIG_END_TXN), 0);
    /* The mock keeps an offset that the lost transaction moved: one may not be written again. */
    assert_in_range(ab_redrive_report_view(work.redrive)->written, LETTERS - 1, LETTERS);
    assert_true(ab_redrive_report_view(work.redrive)->complete);
    close_work(&work);
}

/* A transaction whose partitions were refused for want of a right was never begun, and cannot be
 * ended. */
static void test_redrive_without_the_right_to_write_ends(void **state)
{
    (void)state;
    work_t work;
    open_work(&work, "");
    work.on_wait = stop_it; /* it must not wait */
    rig_fail_at(work.rig, RIG_OUTPUT_BROKER, RIG_PRODUCE,
                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
    /* The first transaction only remembers the job. */
    rig_fail_at(work.rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_NO_ERROR, 1);
    rig_fail_at(work.rig, RIG_COORDINATOR, RIG_END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1);
    assert_int_equal(ab_redrive_run(work.redrive), AB_EXIT_NOT_ALLOWED);
    close_work(&work);
}

static void go_on(work_t *work)
{
    (void)work;
}

static void test_redrive_without_trouble_writes_all(void **state)
{
    (void)state;
    work_t work;
    open_work(&work, "");
    work.on_wait = go_on;
    const int code = ab_redrive_run(work.redrive);
    if (code != AB_EXIT_OK) {
        fail_msg("%d: %s", code, ab_redrive_text_view(work.redrive));
    }
    assert_int_equal(ab_redrive_report_view(work.redrive)->written, LETTERS);
    assert_int_equal(rig_size(work.rig, "ex"), LETTERS);
    assert_int_equal(rig_size(work.rig, "in.quarantine"), 2 * LETTERS); /* and their markers */
    close_work(&work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_redrive_without_trouble_writes_all),
        cmocka_unit_test(test_redrive_stopped_after_an_aborted_batch_commits_nothing_behind_it),
        cmocka_unit_test(test_redrive_whose_first_step_times_out_begins_once_more),
        cmocka_unit_test(test_redrive_whose_transaction_is_unknown_goes_on_with_another_producer),
        cmocka_unit_test(test_redrive_without_the_right_to_write_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
