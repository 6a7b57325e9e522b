#include "bridge/kafka/errors.h"

/* Codes that librdkafka 2.0.2 does not name yet. */
#define ERR_INVALID_DIFFERENT_RECORD ((rd_kafka_resp_err_t)-138) /* 2.4 */
#define ERR_LOG_TRUNCATION           ((rd_kafka_resp_err_t)-139) /* 2.1 */

ab_action_t ab_error_of_flags(int fatal, int requires_abort, int retriable)
{
    if (fatal) {
        return AB_ACTION_FATAL;
    }
    if (requires_abort) {
        return AB_ACTION_ABORT;
    }
    if (retriable) {
        return AB_ACTION_RETRY;
    }
    /* None of the three: the call is over and the transaction's state unknown, so abort. */
    return AB_ACTION_ABORT;
}

ab_action_t ab_error_of_transaction(const rd_kafka_error_t *error)
{
    if (error == NULL) {
        return AB_ACTION_NONE;
    }
    return ab_error_of_flags(rd_kafka_error_is_fatal(error),
                             rd_kafka_error_txn_requires_abort(error),
                             rd_kafka_error_is_retriable(error));
}

ab_action_t ab_error_of_produce(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return AB_ACTION_NONE;
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        return AB_ACTION_RETRY;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return AB_ACTION_POISON;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
        return AB_ACTION_FATAL;
    default:
        /* _STATE (the transaction failed meanwhile), _UNKNOWN_PARTITION and _UNKNOWN_TOPIC (the
         * topic changed under us): nothing of this transaction may stand. */
        return AB_ACTION_ABORT;
    }
}

ab_action_t ab_error_of_delivery(rd_kafka_resp_err_t err)
{
    switch ((int)err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
        /* Purged: the abort threw it away, which says nothing about the record. */
    case ERR_INVALID_DIFFERENT_RECORD:
        /* Another record of its batch is to blame, and is reported for itself. */
        return AB_ACTION_NONE;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        return AB_ACTION_POISON;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
        return AB_ACTION_FATAL;
    default:
        return AB_ACTION_ABORT;
    }
}

ab_action_t ab_error_of_consumer(rd_kafka_resp_err_t err)
{
    switch ((int)err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        return AB_ACTION_NONE;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case ERR_LOG_TRUNCATION:
        return AB_ACTION_GAP;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
        return AB_ACTION_STOP;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        return AB_ACTION_FATAL;
    default:
        return AB_ACTION_LOG;
    }
}

int ab_error_is_denied(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return 1;
    default:
        return 0;
    }
}

int ab_error_is_fenced(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        return 1;
    default:
        return 0;
    }
}

int ab_error_is_unanswered(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
        return 1;
    default:
        return 0;
    }
}

ab_cause_t ab_error_cause(rd_kafka_resp_err_t err)
{
    if (ab_error_is_denied(err)) {
        return AB_CAUSE_NOT_ALLOWED;
    }
    if (ab_error_is_fenced(err)) {
        return AB_CAUSE_FENCED;
    }
    switch (err) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return AB_CAUSE_SIZE;
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
        return AB_CAUSE_TIMESTAMP;
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        return AB_CAUSE_INVALID_RECORD;
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        return AB_CAUSE_TIMEOUT;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return AB_CAUSE_UNKNOWN_TOPIC;
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        return AB_CAUSE_REPLICAS;
    default:
        return AB_CAUSE_OTHER;
    }
}

const char *ab_error_refusal_text(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return ab_refusal_text(AB_REFUSAL_SIZE);
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
        return ab_refusal_text(AB_REFUSAL_TIMESTAMP);
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        return ab_refusal_text(AB_REFUSAL_RULES);
    default:
        return ab_refusal_text(AB_REFUSAL_OTHER);
    }
}
