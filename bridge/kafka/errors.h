#ifndef BRIDGE_KAFKA_ERRORS_H
#define BRIDGE_KAFKA_ERRORS_H

#include <librdkafka/rdkafka.h>

#include "bridge/core/status.h"

/** What an error of librdkafka means for a lane. Every error is turned into one of these here and
 *  nowhere else (DESIGN section 4, specs/lane.md rule 6). */
typedef enum ab_action {
    AB_ACTION_NONE,   /* not an error for us */
    AB_ACTION_RETRY,  /* the same call again, nothing else on that handle in between */
    AB_ACTION_ABORT,  /* abort the transaction, rewind to the committed offsets, go on */
    AB_ACTION_POISON, /* this one record is refused by this one output */
    AB_ACTION_GAP,    /* the offset asked for does not exist */
    AB_ACTION_STOP, /* the partition's data is damaged: it stands still until an operator decides */
    AB_ACTION_LOG,  /* trouble of a broker or a topic: said, and waited out */
    AB_ACTION_FATAL /* the lane's handles are done for: built anew */
} ab_action_t;

/** Table (a): a transactional call's error. Does not destroy it. */
ab_action_t ab_error_of_transaction(const rd_kafka_error_t *error);

/** The same from the three flags, for tests and for errors that carry none. */
ab_action_t ab_error_of_flags(int fatal, int requires_abort, int retriable);

/** Table (b): what the produce call returned. */
ab_action_t ab_error_of_produce(rd_kafka_resp_err_t err);

/** Table (c): a delivery report. NONE says that nothing is wrong with the record; only NO_ERROR
 * says that it was written. */
ab_action_t ab_error_of_delivery(rd_kafka_resp_err_t err);

/** Table (d): an error that the consumer delivered in place of a record. */
ab_action_t ab_error_of_consumer(rd_kafka_resp_err_t err);

/** The label under which a delivery failure is counted. */
ab_cause_t ab_error_cause(rd_kafka_resp_err_t err);

/** True for an error that says the login or an ACL is missing. */
int ab_error_is_denied(rd_kafka_resp_err_t err);

/** True for an error that says another producer took over the transactional id. */
int ab_error_is_fenced(rd_kafka_resp_err_t err);

/** True for an error that says nobody answered, or not the one who could: asking again may help. */
int ab_error_is_unanswered(rd_kafka_resp_err_t err);

/** The words of a dead letter for a record that an output refused: a closed set, the same for the
 * same error, "the output topic refused the record" for any other. Static storage. */
const char *ab_error_refusal_text(rd_kafka_resp_err_t err);

#endif
