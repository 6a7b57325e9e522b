#include "bridge/kafka/errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Every code of librdkafka 2.0.2 to 2.16, and what it becomes in each of the four tables. A code
 * that the running library has and this page does not fails the test: look up when the library
 * gives it, decide what it becomes, and write it here (and in errors.c, when it is not trouble). */

#define N AB_ACTION_NONE
#define R AB_ACTION_RETRY
#define A AB_ACTION_ABORT
#define P AB_ACTION_POISON
#define G AB_ACTION_GAP
#define S AB_ACTION_STOP
#define L AB_ACTION_LOG
#define F AB_ACTION_FATAL

typedef struct row {
    int code; /* a number, since newer ones have no name here */
    const char *name;
    ab_action_t produce, delivery, consumer;
} row_t;

/* clang-format off */
static const row_t special[] = {
    /* code, name, produce, delivery, consumer */
    {0, "NO_ERROR", N, N, N},
    {-184, "_QUEUE_FULL", R, A, L},
    {10, "MSG_SIZE_TOO_LARGE", P, P, L},
    {-150, "_FATAL", F, F, F},
    {-144, "_FENCED", F, F, L},
    {-152, "_PURGE_QUEUE", A, N, L},
    {-151, "_PURGE_INFLIGHT", A, N, L},
    {-138, "_INVALID_DIFFERENT_RECORD", A, N, L},
    {32, "INVALID_TIMESTAMP", A, P, L},
    {87, "INVALID_RECORD", A, P, L},
    {-191, "_PARTITION_EOF", A, A, N},
    {-140, "_AUTO_OFFSET_RESET", A, A, G},
    {1, "OFFSET_OUT_OF_RANGE", A, A, G},
    {-139, "_LOG_TRUNCATION", A, A, G},
    {-199, "_BAD_MSG", A, A, S},
    {-198, "_BAD_COMPRESSION", A, A, S},
    {-170, "_NOT_IMPLEMENTED", A, A, S},
    {82, "FENCED_INSTANCE_ID", A, A, F},
};

/* Trouble of a broker, a topic or the client: what was produced is aborted and comes again (at
 * least once: is written again), and what the consumer says is told and waited out. */
static const struct ordinary {
    int code;
    const char *name;
} ordinary[] = {
    {-200, "_BEGIN"},
    {-197, "_DESTROY"},
    {-196, "_FAIL"},
    {-195, "_TRANSPORT"},
    {-194, "_CRIT_SYS_RESOURCE"},
    {-193, "_RESOLVE"},
    {-192, "_MSG_TIMED_OUT"},
    {-190, "_UNKNOWN_PARTITION"},
    {-189, "_FS"},
    {-188, "_UNKNOWN_TOPIC"},
    {-187, "_ALL_BROKERS_DOWN"},
    {-186, "_INVALID_ARG"},
    {-185, "_TIMED_OUT"},
    {-183, "_ISR_INSUFF"},
    {-182, "_NODE_UPDATE"},
    {-181, "_SSL"},
    {-180, "_WAIT_COORD"},
    {-179, "_UNKNOWN_GROUP"},
    {-178, "_IN_PROGRESS"},
    {-177, "_PREV_IN_PROGRESS"},
    {-176, "_EXISTING_SUBSCRIPTION"},
    {-175, "_ASSIGN_PARTITIONS"},
    {-174, "_REVOKE_PARTITIONS"},
    {-173, "_CONFLICT"},
    {-172, "_STATE"},
    {-171, "_UNKNOWN_PROTOCOL"},
    {-169, "_AUTHENTICATION"},
    {-168, "_NO_OFFSET"},
    {-167, "_OUTDATED"},
    {-166, "_TIMED_OUT_QUEUE"},
    {-165, "_UNSUPPORTED_FEATURE"},
    {-164, "_WAIT_CACHE"},
    {-163, "_INTR"},
    {-162, "_KEY_SERIALIZATION"},
    {-161, "_VALUE_SERIALIZATION"},
    {-160, "_KEY_DESERIALIZATION"},
    {-159, "_VALUE_DESERIALIZATION"},
    {-158, "_PARTIAL"},
    {-157, "_READ_ONLY"},
    {-156, "_NOENT"},
    {-155, "_UNDERFLOW"},
    {-154, "_INVALID_TYPE"},
    {-153, "_RETRY"},
    {-149, "_INCONSISTENT"},
    {-148, "_GAPLESS_GUARANTEE"},
    {-147, "_MAX_POLL_EXCEEDED"},
    {-146, "_UNKNOWN_BROKER"},
    {-145, "_NOT_CONFIGURED"},
    {-143, "_APPLICATION"},
    {-142, "_ASSIGNMENT_LOST"},
    {-141, "_NOOP"},
    {-137, "_DESTROY_BROKER"},
    {-100, "_END"},
    {-1, "UNKNOWN"},
    {2, "INVALID_MSG"},
    {3, "UNKNOWN_TOPIC_OR_PART"},
    {4, "INVALID_MSG_SIZE"},
    {5, "LEADER_NOT_AVAILABLE"},
    {6, "NOT_LEADER_FOR_PARTITION"},
    {7, "REQUEST_TIMED_OUT"},
    {8, "BROKER_NOT_AVAILABLE"},
    {9, "REPLICA_NOT_AVAILABLE"},
    {11, "STALE_CTRL_EPOCH"},
    {12, "OFFSET_METADATA_TOO_LARGE"},
    {13, "NETWORK_EXCEPTION"},
    {14, "COORDINATOR_LOAD_IN_PROGRESS"},
    {15, "COORDINATOR_NOT_AVAILABLE"},
    {16, "NOT_COORDINATOR"},
    {17, "TOPIC_EXCEPTION"},
    {18, "RECORD_LIST_TOO_LARGE"},
    {19, "NOT_ENOUGH_REPLICAS"},
    {20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"},
    {21, "INVALID_REQUIRED_ACKS"},
    {22, "ILLEGAL_GENERATION"},
    {23, "INCONSISTENT_GROUP_PROTOCOL"},
    {24, "INVALID_GROUP_ID"},
    {25, "UNKNOWN_MEMBER_ID"},
    {26, "INVALID_SESSION_TIMEOUT"},
    {27, "REBALANCE_IN_PROGRESS"},
    {28, "INVALID_COMMIT_OFFSET_SIZE"},
    {29, "TOPIC_AUTHORIZATION_FAILED"},
    {30, "GROUP_AUTHORIZATION_FAILED"},
    {31, "CLUSTER_AUTHORIZATION_FAILED"},
    {33, "UNSUPPORTED_SASL_MECHANISM"},
    {34, "ILLEGAL_SASL_STATE"},
    {35, "UNSUPPORTED_VERSION"},
    {36, "TOPIC_ALREADY_EXISTS"},
    {37, "INVALID_PARTITIONS"},
    {38, "INVALID_REPLICATION_FACTOR"},
    {39, "INVALID_REPLICA_ASSIGNMENT"},
    {40, "INVALID_CONFIG"},
    {41, "NOT_CONTROLLER"},
    {42, "INVALID_REQUEST"},
    {43, "UNSUPPORTED_FOR_MESSAGE_FORMAT"},
    {44, "POLICY_VIOLATION"},
    {45, "OUT_OF_ORDER_SEQUENCE_NUMBER"},
    {46, "DUPLICATE_SEQUENCE_NUMBER"},
    {47, "INVALID_PRODUCER_EPOCH"},
    {48, "INVALID_TXN_STATE"},
    {49, "INVALID_PRODUCER_ID_MAPPING"},
    {50, "INVALID_TRANSACTION_TIMEOUT"},
    {51, "CONCURRENT_TRANSACTIONS"},
    {52, "TRANSACTION_COORDINATOR_FENCED"},
    {53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"},
    {54, "SECURITY_DISABLED"},
    {55, "OPERATION_NOT_ATTEMPTED"},
    {56, "KAFKA_STORAGE_ERROR"},
    {57, "LOG_DIR_NOT_FOUND"},
    {58, "SASL_AUTHENTICATION_FAILED"},
    {59, "UNKNOWN_PRODUCER_ID"},
    {60, "REASSIGNMENT_IN_PROGRESS"},
    {61, "DELEGATION_TOKEN_AUTH_DISABLED"},
    {62, "DELEGATION_TOKEN_NOT_FOUND"},
    {63, "DELEGATION_TOKEN_OWNER_MISMATCH"},
    {64, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"},
    {65, "DELEGATION_TOKEN_AUTHORIZATION_FAILED"},
    {66, "DELEGATION_TOKEN_EXPIRED"},
    {67, "INVALID_PRINCIPAL_TYPE"},
    {68, "NON_EMPTY_GROUP"},
    {69, "GROUP_ID_NOT_FOUND"},
    {70, "FETCH_SESSION_ID_NOT_FOUND"},
    {71, "INVALID_FETCH_SESSION_EPOCH"},
    {72, "LISTENER_NOT_FOUND"},
    {73, "TOPIC_DELETION_DISABLED"},
    {74, "FENCED_LEADER_EPOCH"},
    {75, "UNKNOWN_LEADER_EPOCH"},
    {76, "UNSUPPORTED_COMPRESSION_TYPE"},
    {77, "STALE_BROKER_EPOCH"},
    {78, "OFFSET_NOT_AVAILABLE"},
    {79, "MEMBER_ID_REQUIRED"},
    {80, "PREFERRED_LEADER_NOT_AVAILABLE"},
    {81, "GROUP_MAX_SIZE_REACHED"},
    {83, "ELIGIBLE_LEADERS_NOT_AVAILABLE"},
    {84, "ELECTION_NOT_NEEDED"},
    {85, "NO_REASSIGNMENT_IN_PROGRESS"},
    {86, "GROUP_SUBSCRIBED_TO_TOPIC"},
    {88, "UNSTABLE_OFFSET_COMMIT"},
    {89, "THROTTLING_QUOTA_EXCEEDED"},
    {90, "PRODUCER_FENCED"},
    {91, "RESOURCE_NOT_FOUND"},
    {92, "DUPLICATE_RESOURCE"},
    {93, "UNACCEPTABLE_CREDENTIAL"},
    {94, "INCONSISTENT_VOTER_SET"},
    {95, "INVALID_UPDATE_VERSION"},
    {96, "FEATURE_UPDATE_FAILED"},
    {97, "PRINCIPAL_DESERIALIZATION_FAILURE"},
    {100, "UNKNOWN_TOPIC_ID"},
    {103, "INCONSISTENT_TOPIC_ID"},
    {110, "FENCED_MEMBER_EPOCH"},
    {111, "UNRELEASED_INSTANCE_ID"},
    {112, "UNSUPPORTED_ASSIGNOR"},
    {113, "STALE_MEMBER_EPOCH"},
    {114, "MISMATCHED_ENDPOINT_TYPE"},
    {115, "UNSUPPORTED_ENDPOINT_TYPE"},
    {116, "UNKNOWN_CONTROLLER_ID"},
    {117, "UNKNOWN_SUBSCRIPTION_ID"},
    {118, "TELEMETRY_TOO_LARGE"},
    {119, "INVALID_REGISTRATION"},
    {120, "TRANSACTION_ABORTABLE"},
    {121, "INVALID_RECORD_STATE"},
    {122, "SHARE_SESSION_NOT_FOUND"},
    {123, "INVALID_SHARE_SESSION_EPOCH"},
    {124, "FENCED_STATE_EPOCH"},
    {125, "INVALID_VOTER_KEY"},
    {126, "DUPLICATE_VOTER"},
    {127, "VOTER_NOT_FOUND"},
    {128, "INVALID_REGULAR_EXPRESSION"},
    {129, "REBOOTSTRAP_REQUIRED"},
    {130, "STREAMS_INVALID_TOPOLOGY"},
    {131, "STREAMS_INVALID_TOPOLOGY_EPOCH"},
    {132, "STREAMS_TOPOLOGY_FENCED"},
    {133, "SHARE_SESSION_LIMIT_REACHED"},
};
/* clang-format on */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool find(int code, row_t *ret_row)
{
    for (size_t i = 0; i < COUNT(special); i++) {
        if (special[i].code == code) {
            *ret_row = special[i];
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(ordinary); i++) {
        if (ordinary[i].code == code) {
            *ret_row = (row_t){code, ordinary[i].name, A, A, L};
            return true;
        }
    }
    return false;
}

static void check_row(const row_t *row)
{
    const rd_kafka_resp_err_t err = (rd_kafka_resp_err_t)row->code;
    if (ab_error_of_produce(err) != row->produce || ab_error_of_delivery(err) != row->delivery ||
        ab_error_of_consumer(err) != row->consumer) {
        fail_msg("%s (%d): produce %d, delivery %d, consumer %d", row->name, row->code,
                 (int)ab_error_of_produce(err), (int)ab_error_of_delivery(err),
                 (int)ab_error_of_consumer(err));
    }
}

static void test_error_codes_each_becomes_what_this_page_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(special); i++) {
        check_row(&special[i]);
    }
    for (size_t i = 0; i < COUNT(ordinary); i++) {
        row_t row;
        assert_true(find(ordinary[i].code, &row));
        check_row(&row);
    }
}

/* A transactional call's error is judged by its flags, never by its code: without flags, each is an
 * abort. The flags themselves: errors_test.c. */
static void test_error_codes_of_transactional_calls_without_flags_abort(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ordinary); i++) {
        rd_kafka_error_t *error =
            rd_kafka_error_new((rd_kafka_resp_err_t)ordinary[i].code, "planted");
        assert_int_equal(ab_error_of_transaction(error), AB_ACTION_ABORT);
        rd_kafka_error_destroy(error);
    }
}

static void test_error_codes_of_the_running_library_all_known_here(void **state)
{
    (void)state;
    const struct rd_kafka_err_desc *all;
    size_t count;
    rd_kafka_get_err_descs(&all, &count);
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        row_t row;
        if (all[i].name == NULL) {
            continue; /* a hole in the numbers */
        }
        if (!find(all[i].code, &row)) {
            fail_msg("librdkafka %s has %s (%d): decide what it becomes", rd_kafka_version_str(),
                     all[i].name, all[i].code);
        }
        assert_string_equal(all[i].name, row.name);
    }
}

/* The test can fail: a code that no library has is not found. */
static void test_error_codes_unknown_one_is_not_found(void **state)
{
    (void)state;
    row_t row;
    assert_false(find(4711, &row));
    assert_false(find(-1000, &row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_codes_each_becomes_what_this_page_says),
        cmocka_unit_test(test_error_codes_of_transactional_calls_without_flags_abort),
        cmocka_unit_test(test_error_codes_of_the_running_library_all_known_here),
        cmocka_unit_test(test_error_codes_unknown_one_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
