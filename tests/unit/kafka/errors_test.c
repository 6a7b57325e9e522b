#include "bridge/kafka/errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct row {
    rd_kafka_resp_err_t err;
    ab_action_t action;
} row_t;

static void check_rows(const row_t *rows, size_t count, ab_action_t (*table)(rd_kafka_resp_err_t))
{
    for (size_t i = 0; i < count; i++) {
        if (table(rows[i].err) != rows[i].action) {
            fail_msg("%s gives %d, expected %d", rd_kafka_err2name(rows[i].err),
                     (int)table(rows[i].err), (int)rows[i].action);
        }
    }
}

#define CHECK_ROWS(rows, table) check_rows((rows), sizeof(rows) / sizeof((rows)[0]), (table))

static void test_flags_each_combination_fatal_before_abort_before_retry(void **state)
{
    (void)state;
    for (int flags = 0; flags < 8; flags++) {
        const int fatal = (flags & 4) != 0;
        const int abort = (flags & 2) != 0;
        const int retriable = (flags & 1) != 0;
        const ab_action_t expected = fatal       ? AB_ACTION_FATAL
                                     : abort     ? AB_ACTION_ABORT
                                     : retriable ? AB_ACTION_RETRY
                                                 : AB_ACTION_ABORT;
        assert_int_equal(ab_error_of_flags(fatal, abort, retriable), expected);
    }
    assert_int_equal(ab_error_of_transaction(NULL), AB_ACTION_NONE);
}

static void test_produce_refusals_only_size_is_poison(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {RD_KAFKA_RESP_ERR_NO_ERROR, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR__QUEUE_FULL, AB_ACTION_RETRY},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, AB_ACTION_POISON},
        {RD_KAFKA_RESP_ERR__STATE, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR__FATAL, AB_ACTION_FATAL},
        {RD_KAFKA_RESP_ERR__FENCED, AB_ACTION_FATAL},
    };
    CHECK_ROWS(rows, ab_error_of_produce);
}

static void test_delivery_three_errors_are_poison_and_trouble_never_is(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {RD_KAFKA_RESP_ERR_NO_ERROR, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR__PURGE_QUEUE, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, AB_ACTION_POISON},
        {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, AB_ACTION_POISON},
        {RD_KAFKA_RESP_ERR_INVALID_RECORD, AB_ACTION_POISON},
        {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, AB_ACTION_ABORT},
        {RD_KAFKA_RESP_ERR__FATAL, AB_ACTION_FATAL},
        {RD_KAFKA_RESP_ERR__FENCED, AB_ACTION_FATAL},
    };
    CHECK_ROWS(rows, ab_error_of_delivery);
    const struct rd_kafka_err_desc *all;
    size_t count;
    size_t poison = 0;
    rd_kafka_get_err_descs(&all, &count);
    for (size_t i = 0; i < count; i++) {
        poison += all[i].name != NULL && ab_error_of_delivery(all[i].code) == AB_ACTION_POISON;
    }
    assert_int_equal(poison, 3);
}

static void test_consumer_errors_gap_damage_and_trouble_are_told_apart(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {RD_KAFKA_RESP_ERR_NO_ERROR, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR__PARTITION_EOF, AB_ACTION_NONE},
        {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, AB_ACTION_GAP},
        {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, AB_ACTION_GAP},
        {RD_KAFKA_RESP_ERR__BAD_MSG, AB_ACTION_STOP},
        {RD_KAFKA_RESP_ERR__BAD_COMPRESSION, AB_ACTION_STOP},
        {RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED, AB_ACTION_STOP},
        {RD_KAFKA_RESP_ERR__FATAL, AB_ACTION_FATAL},
        {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, AB_ACTION_FATAL},
        {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, AB_ACTION_LOG},
        {RD_KAFKA_RESP_ERR__TRANSPORT, AB_ACTION_LOG},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, AB_ACTION_LOG},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, AB_ACTION_LOG},
    };
    CHECK_ROWS(rows, ab_error_of_consumer);
}

static void test_names_fenced_and_denied_are_recognised(void **state)
{
    (void)state;
    assert_true(ab_error_is_fenced(RD_KAFKA_RESP_ERR__FENCED));
    assert_true(ab_error_is_fenced(RD_KAFKA_RESP_ERR_PRODUCER_FENCED));
    assert_true(ab_error_is_fenced(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH));
    assert_false(ab_error_is_fenced(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)); /* may have no rival */
    assert_false(ab_error_is_fenced(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID));
    assert_true(ab_error_is_denied(RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
    assert_true(ab_error_is_denied(RD_KAFKA_RESP_ERR__AUTHENTICATION));
    assert_false(ab_error_is_denied(RD_KAFKA_RESP_ERR__TIMED_OUT));
}

static void test_names_unanswered_is_told_from_refused(void **state)
{
    (void)state;
    assert_true(ab_error_is_unanswered(RD_KAFKA_RESP_ERR__TIMED_OUT));
    assert_true(ab_error_is_unanswered(RD_KAFKA_RESP_ERR__TRANSPORT));
    assert_true(ab_error_is_unanswered(RD_KAFKA_RESP_ERR_NOT_CONTROLLER));
    assert_false(ab_error_is_unanswered(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE));
    assert_false(ab_error_is_unanswered(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED));
    assert_false(ab_error_is_unanswered(RD_KAFKA_RESP_ERR_NO_ERROR));
}

static void test_refusal_text_every_error_has_words_without_details(void **state)
{
    (void)state;
    assert_non_null(
        strstr(ab_error_refusal_text(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE), "max.message.bytes"));
    assert_non_null(
        strstr(ab_error_refusal_text(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP), "timestamp"));
    assert_ptr_equal(ab_error_refusal_text(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP),
                     ab_error_refusal_text(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP));
    assert_non_null(ab_error_refusal_text(RD_KAFKA_RESP_ERR_UNKNOWN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_each_combination_fatal_before_abort_before_retry),
        cmocka_unit_test(test_produce_refusals_only_size_is_poison),
        cmocka_unit_test(test_delivery_three_errors_are_poison_and_trouble_never_is),
        cmocka_unit_test(test_consumer_errors_gap_damage_and_trouble_are_told_apart),
        cmocka_unit_test(test_names_fenced_and_denied_are_recognised),
        cmocka_unit_test(test_names_unanswered_is_told_from_refused),
        cmocka_unit_test(test_refusal_text_every_error_has_words_without_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
