#include "bridge/kafka/redrive_state.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "bridge/kafka/errors.h"
#include "bridge/kafka/handle.h"
#include "bridge/kafka/relay.h"

#define SAY_EVERY_MS 10000
/* What the job to resume is told by: EX_DATAERR. */
#define EXIT_DATA 65

void ab_redrive_pause_ms(int64_t ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

static bool compresses(const ab_config_t *config)
{
    static const char *const names[] = {"compression.type", "compression.codec"};
    for (size_t i = 0; i < 2; i++) {
        const ab_property_t *own = ab_property_find(&config->producer, names[i]);
        const ab_property_t *all = ab_property_find(&config->kafka, names[i]);
        const ab_property_t *set = own != NULL ? own : all;
        if (set != NULL && strcasecmp(set->value, "none") != 0) {
            return true;
        }
    }
    return false;
}

/* Says what keeps the job from going on, now and then. */
void ab_redrive_say(ab_redrive_t *redrive, const char *call, const char *name, const char *text)
{
    const int64_t now = ab_redrive_now_ms();
    const ab_field_t fields[] = {AB_TEXT("call", call), AB_TEXT("error", name),
                                 AB_TEXT("text", text)};
    if (redrive->setup.sink == NULL ||
        (redrive->said_ms != 0 && now - redrive->said_ms < SAY_EVERY_MS)) {
        return;
    }
    redrive->said_ms = now;
    redrive->setup.sink->emit(redrive->setup.sink->opaque, AB_LEVEL_WARNING, "redrive_waits",
                              "the brokers do not take the job's transaction; trying again", fields,
                              3);
}

/* The producer cannot go on; another one may. */
int ab_redrive_fail_for_good(ab_redrive_t *redrive, rd_kafka_resp_err_t err, const char *text)
{
    if (err == RD_KAFKA_RESP_ERR__FATAL) {
        err = rd_kafka_fatal_error(redrive->producer, NULL, 0);
    }
    if (err == RD_KAFKA_RESP_ERR_INVALID_TXN_STATE && ab_error_is_denied(redrive->trouble)) {
        /* Its partitions were refused, so it was never begun. */
        err = redrive->trouble;
        text = rd_kafka_err2str(err);
    } else if (err == RD_KAFKA_RESP_ERR_INVALID_TXN_STATE) {
        /* The coordinator never heard of the transaction, or has ended it: brokers that were away
         * when it began. librdkafka takes that for fatal. */
        redrive->interrupted = true;
        ab_redrive_say(redrive, "end", rd_kafka_err2name(err), text);
    }
    if (ab_error_is_fenced(err)) {
        redrive->interrupted =
            redrive->begun_ms != 0 && ab_redrive_now_ms() - redrive->begun_ms >=
                                          (int64_t)redrive->config->transaction_timeout_ms;
        return ab_redrive_fail(
            redrive, AB_EXIT_FENCED,
            "another redrive of group %s has begun and taken over; what was not committed is "
            "undone",
            redrive->config->group);
    }
    if (ab_error_is_denied(err)) {
        return ab_redrive_fail(redrive, AB_EXIT_NOT_ALLOWED,
                               "the brokers refuse a right (%s): a redrive needs Write on the "
                               "target and quarantine topics, Write on TransactionalId %s.redrive, "
                               "and Read on Group %s.redrive. (prefixed)",
                               text, redrive->config->group, redrive->config->group);
    }
    return ab_redrive_fail(redrive, AB_EXIT_FATAL, "the producer failed: %s", text);
}

int ab_redrive_fail_stopped(ab_redrive_t *redrive)
{
    return ab_redrive_fail(redrive, AB_EXIT_TEMPORARY, "stopped while the brokers did not answer");
}

int ab_redrive_fail_unknown(ab_redrive_t *redrive)
{
    return ab_redrive_fail(redrive, EXIT_DATA,
                           "no job %s is known for group %s: is the id right? Brokers forget a job "
                           "offsets.retention.minutes (7 days) after its last step",
                           redrive->setup.resume, redrive->config->group);
}

static rd_kafka_t *make_producer(ab_redrive_t *redrive, int *ret_code)
{
    char text[AB_HANDLE_TEXT_MAX];
    const ab_property_t *property;
    ab_handle_spec_t spec = {.role = AB_ROLE_PRODUCER, .job = redrive->report.job};
    ab_topics_limits(redrive->topics, &spec.message_max_bytes, &spec.batch_bytes);
    rd_kafka_conf_t *conf = ab_handle_conf_new(redrive->config, &spec, text, &property);
    if (conf != NULL) {
        ab_link_attach(&redrive->link, conf);
        rd_kafka_conf_set_dr_msg_cb(conf, ab_redrive_on_delivery);
        rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
        if (producer != NULL) {
            return producer;
        }
        rd_kafka_conf_destroy(conf);
    }
    *ret_code = ab_redrive_fail(redrive, AB_EXIT_CONFIG, "librdkafka makes no producer: %s", text);
    return NULL;
}

/* Ends what a job before had begun: once this returns, its last transaction is decided and every
 * marker of it lies in the log, and no other job can write. */
static int take_over(ab_redrive_t *redrive)
{
    const int64_t until = ab_redrive_now_ms() + redrive->setup.timeout_ms +
                          (int64_t)redrive->config->transaction_timeout_ms;
    for (;;) {
        rd_kafka_error_t *error = rd_kafka_init_transactions(redrive->producer, AB_REDRIVE_CALL_MS);
        const ab_action_t action = ab_error_of_transaction(error);
        int code = 0;
        if (action == AB_ACTION_RETRY && ab_redrive_stopping(redrive)) {
            code = ab_redrive_fail_stopped(redrive);
        } else if (action == AB_ACTION_RETRY && ab_redrive_now_ms() > until) {
            char text[AB_LINK_TEXT_MAX];
            (void)ab_link_explain(&redrive->link, text);
            code = ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE,
                                   "the transaction coordinator does not answer: %s", text);
        } else if (action == AB_ACTION_RETRY) {
            ab_redrive_say(redrive, "init", rd_kafka_error_name(error),
                           rd_kafka_error_string(error));
            ab_redrive_pause_ms(AB_REDRIVE_RETRY_MIN_MS);
        } else if (action != AB_ACTION_NONE) {
            code = ab_redrive_fail_for_good(redrive, rd_kafka_error_code(error),
                                            rd_kafka_error_string(error));
        }
        rd_kafka_error_destroy(error);
        if (action != AB_ACTION_RETRY || code != 0) {
            return code;
        }
    }
}

/* Partitions and limits of every topic the job writes to. */
static int learn_topics(ab_redrive_t *redrive)
{
    char text[AB_LINK_TEXT_MAX];
    for (size_t i = 0; i < redrive->topic_count; i++) {
        switch (ab_topics_refresh_one(redrive->topics, i, redrive->probe, redrive->setup.timeout_ms,
                                      text, sizeof(text))) {
        case AB_TOPIC_OK:
            break;
        case AB_TOPIC_DENIED:
            return ab_redrive_fail(redrive, AB_EXIT_NOT_ALLOWED, "%s: %s; allow Write and Describe",
                                   redrive->names[i], text);
        case AB_TOPIC_MISSING:
            return ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE,
                                   "the topic %s does not exist, or may not be seen; nothing was "
                                   "written",
                                   redrive->names[i]);
        case AB_TOPIC_UNREACHABLE:
        default:
            (void)ab_link_explain(&redrive->link, text);
            return ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE, "%s", text);
        }
    }
    (void)ab_topics_refresh_limits(redrive->topics, redrive->probe, redrive->setup.timeout_ms,
                                   redrive->setup.sink);
    return 0;
}

int ab_redrive_open(ab_redrive_t *redrive)
{
    int code = learn_topics(redrive);
    if (code != 0) {
        return code;
    }
    redrive->compresses = compresses(redrive->config);
    redrive->producer = make_producer(redrive, &code);
    redrive->outputs = calloc(redrive->topic_count + 1, sizeof(rd_kafka_topic_t *));
    if (redrive->producer == NULL || redrive->outputs == NULL) {
        return code != 0 ? code : ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out");
    }
    for (size_t i = 0; i < redrive->topic_count; i++) {
        redrive->outputs[i] = rd_kafka_topic_new(redrive->producer, redrive->names[i], NULL);
        if (redrive->outputs[i] == NULL) {
            return ab_redrive_fail(redrive, AB_EXIT_FATAL, "no client for topic %s",
                                   redrive->names[i]);
        }
    }
    return take_over(redrive);
}

void ab_redrive_close(ab_redrive_t *redrive)
{
    ab_redrive_empty_batch(redrive);
    for (size_t i = 0; redrive->outputs != NULL && i < redrive->topic_count; i++) {
        if (redrive->outputs[i] != NULL) {
            rd_kafka_topic_destroy(redrive->outputs[i]);
        }
    }
    free(redrive->outputs);
    redrive->outputs = NULL;
    if (redrive->producer != NULL) {
        rd_kafka_destroy(redrive->producer);
        redrive->producer = NULL;
    }
}
