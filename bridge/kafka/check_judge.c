#include "bridge/kafka/check_judge.h"

#include <stdio.h>
#include <string.h>

#include "bridge/kafka/errors.h"
#include "bridge/state/stores.h"

/* What a topic is to one source. */
enum { ROLE_ROUTE = 1, ROLE_ERRORS = 2, ROLE_QUARANTINE = 4 };

typedef struct judge {
    const ab_config_t *config;
    const ab_check_facts_t *facts;
    ab_check_report_t *report;
} judge_t;

/* One output of one source. */
typedef struct pair {
    const ab_policy_t *policy;
    const ab_topic_facts_t *source;
    const ab_topic_facts_t *output;
    unsigned roles;
} pair_t;

const char *ab_check_time_text(int64_t ms, char ret_text[AB_CHECK_TIME_MAX])
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    size_t i = 0;
    if (ms < 0 || ms == INT64_MAX) {
        snprintf(ret_text, AB_CHECK_TIME_MAX, "%s", ms < 0 ? "for ever" : "without limit");
        return ret_text;
    }
    while (units[i].ms > 1 && (ms == 0 || ms % units[i].ms != 0)) {
        i++;
    }
    snprintf(ret_text, AB_CHECK_TIME_MAX, "%lld%s", (long long)(ms / units[i].ms), units[i].unit);
    return ret_text;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && strcmp(a, b) == 0;
}

static unsigned roles_of(const ab_policy_t *policy, const char *topic)
{
    unsigned roles = 0;
    for (size_t slot = 0; slot < AB_SLOT_COUNT; slot++) {
        if (policy->routes[slot].kind == AB_ROUTE_TOPIC &&
            same(policy->routes[slot].topic, topic)) {
            roles |= ROLE_ROUTE;
        }
    }
    roles |= same(policy->errors_topic, topic) ? ROLE_ERRORS : 0;
    roles |= same(policy->quarantine_topic, topic) ? ROLE_QUARANTINE : 0;
    return roles;
}

static unsigned roles_in_all(const ab_config_t *config, const char *topic)
{
    unsigned roles = 0;
    for (size_t s = 0; s < config->source_count; s++) {
        roles |= roles_of(&config->sources[s].policy, topic);
    }
    return roles;
}

static const ab_topic_facts_t *find(const judge_t *judge, const char *name)
{
    for (size_t i = 0; name != NULL && i < judge->facts->topic_count; i++) {
        if (strcmp(judge->facts->topics[i].topic.name, name) == 0) {
            return &judge->facts->topics[i];
        }
    }
    return NULL;
}

static int64_t fact(const ab_topic_facts_t *topic, ab_topic_fact_t which)
{
    return topic->values[which];
}

static bool known(const ab_topic_facts_t *topic, ab_topic_fact_t which)
{
    return topic->values[which] != AB_FACT_UNKNOWN;
}

static bool is(const ab_topic_facts_t *topic, ab_topic_fact_t which)
{
    return topic->values[which] == 1;
}

/* A time of retention as something to compare: for ever is longest. */
static int64_t longest_if_negative(int64_t ms)
{
    return ms < 0 ? INT64_MAX : ms;
}

static int64_t sum(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* ---- one topic ---- */

static void say_topic(const judge_t *judge, const ab_topic_facts_t *topic)
{
    const unsigned roles = roles_in_all(judge->config, topic->topic.name);
    char kept[AB_CHECK_TIME_MAX];
    char properties[160] = "";
    if (topic->error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        snprintf(properties, sizeof(properties), "; max.message.bytes %lld, kept %s",
                 (long long)fact(topic, AB_FACT_MAX_MESSAGE_BYTES),
                 ab_check_time_text(fact(topic, AB_FACT_RETENTION_MS), kept));
    }
    const char *role = topic->topic.source                   ? "source"
                       : topic->topic.state                  ? "state"
                       : roles == (ROLE_ROUTE | ROLE_ERRORS) ? "output, errors"
                       : (roles & ROLE_ROUTE) != 0           ? "output"
                       : (roles & ROLE_ERRORS) != 0          ? "errors"
                       : (roles & ROLE_QUARANTINE) != 0      ? "quarantine"
                                                             : "answers";
    ab_check_add(judge->report, AB_CHECK_OK, "topic", topic->topic.name,
                 "%s: %d partition%s, %d %s%s", role, (int)topic->topic.partitions,
                 topic->topic.partitions == 1 ? "" : "s", topic->copies,
                 topic->copies == 1 ? "copy" : "copies", properties);
}

static void judge_presence(const judge_t *judge, const ab_topic_facts_t *topic)
{
    const char *name = topic->topic.name;
    ab_check_row_t *row;
    switch (topic->problem) {
    case AB_TOPIC_OK:
        say_topic(judge, topic);
        break;
    case AB_TOPIC_MISSING:
        ab_check_add(judge->report, AB_CHECK_ERROR, "topic", name, "does not exist; create it%s",
                     judge->config->topics_wait ? " (topics.missing: wait lets the relay wait)"
                                                : "");
        break;
    case AB_TOPIC_DENIED:
        row = ab_check_add(judge->report, AB_CHECK_ERROR, "acl", name,
                           "%s lacks %s on it, or it does not exist: the brokers tell neither",
                           judge->report->principal,
                           ab_topic_is_read(&topic->topic) ? "Read" : "Write");
        if (row != NULL) {
            row->operation = ab_topic_is_read(&topic->topic) ? "Read" : "Write";
            row->resource_type = "Topic";
        }
        break;
    case AB_TOPIC_UNREACHABLE:
    default:
        ab_check_add(judge->report, AB_CHECK_ERROR, "topic", name,
                     "the brokers did not tell of it in time (%s); try again",
                     rd_kafka_err2name(topic->error));
        break;
    }
}

static void judge_properties_known(const judge_t *judge, const ab_topic_facts_t *topic)
{
    ab_check_row_t *row;
    if (topic->error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    if (!ab_error_is_denied(topic->error)) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "topic", topic->topic.name,
                     "its properties could not be read (%s); try again",
                     rd_kafka_err2name(topic->error));
        return;
    }
    row = ab_check_add(judge->report, AB_CHECK_WARNING, "acl", topic->topic.name,
                       "%s lacks DescribeConfigs on it: %s", judge->report->principal,
                       topic->topic.output
                           ? "the relay assumes max.message.bytes 1048588, and this check sees "
                             "none of its properties"
                           : "this check sees none of its properties");
    if (row != NULL) {
        row->operation = "DescribeConfigs";
        row->resource_type = "Topic";
    }
}

static void judge_copies(const judge_t *judge, const ab_topic_facts_t *topic)
{
    const char *name = topic->topic.name;
    const int64_t needed = fact(topic, AB_FACT_MIN_INSYNC);
    if (topic->leaderless > 0) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "replicas", name,
                     "%d partition%s no leader: neither read nor written until a broker that has "
                     "them is back",
                     topic->leaderless, topic->leaderless == 1 ? " has" : "s have");
    }
    if (!topic->topic.output) {
        return;
    }
    if (judge->facts->broker_count > 1 && topic->copies == 1) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "replicas", name,
                     "one copy: what it holds is lost with its broker; make it 3");
    }
    if (!known(topic, AB_FACT_MIN_INSYNC)) {
        return;
    }
    if (needed > topic->copies) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "replicas", name,
                     "min.insync.replicas is %lld, and there %s %d %s: nothing can be written",
                     (long long)needed, topic->copies == 1 ? "is" : "are", topic->copies,
                     topic->copies == 1 ? "copy" : "copies");
    } else if (topic->in_sync < needed && topic->leaderless == 0) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "replicas", name,
                     "%d in sync, min.insync.replicas is %lld: nothing can be written until a "
                     "broker is back",
                     topic->in_sync, (long long)needed);
    } else if (topic->copies > 1 && needed == topic->copies) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "replicas", name,
                     "min.insync.replicas is %lld of %d copies: one broker down stops writing",
                     (long long)needed, topic->copies);
    } else if (topic->copies > 1 && needed == 1) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "replicas", name,
                     "min.insync.replicas is 1: a record counts as written when one broker has it; "
                     "set 2");
    }
    if (is(topic, AB_FACT_UNCLEAN) && topic->copies > 1) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "replicas", name,
                     "unclean.leader.election.enable is true: a broker that lags may become leader "
                     "and drop what was written");
    }
}

/* What a state topic keeps is all that a store can be made from. */
static void judge_state_kept(const judge_t *judge, const ab_topic_facts_t *topic)
{
    const char *name = topic->topic.name;
    char kept[AB_CHECK_TIME_MAX];
    if (is(topic, AB_FACT_DELETES) && fact(topic, AB_FACT_RETENTION_MS) >= 0) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "cleanup", name,
                     "its records are deleted after %s: the state of a key that is quiet for so "
                     "long is lost; set cleanup.policy=compact",
                     ab_check_time_text(fact(topic, AB_FACT_RETENTION_MS), kept));
    }
    if (is(topic, AB_FACT_COMPACTS) && known(topic, AB_FACT_TOMBSTONES_MS) &&
        fact(topic, AB_FACT_TOMBSTONES_MS) < AB_STORE_BEHIND_MAX_MS) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "cleanup", name,
                     "delete.retention.ms is %s: a store that was behind for longer may miss that "
                     "a key was removed, and answers with its old state; set at least %lld",
                     ab_check_time_text(fact(topic, AB_FACT_TOMBSTONES_MS), kept),
                     (long long)AB_STORE_BEHIND_MAX_MS);
    }
}

static void judge_cleanup(const judge_t *judge, const ab_topic_facts_t *topic)
{
    const unsigned roles = roles_in_all(judge->config, topic->topic.name);
    if (topic->topic.state) {
        judge_state_kept(judge, topic);
        return;
    }
    if (!is(topic, AB_FACT_COMPACTS)) {
        return;
    }
    if ((roles & (ROLE_ERRORS | ROLE_QUARANTINE)) != 0) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "cleanup", topic->topic.name,
                     "it is compacted: of each key the last record only is kept, and one without a "
                     "key is refused, which stops a lane and every redrive; set "
                     "cleanup.policy=delete");
    } else if (topic->topic.output) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "cleanup", topic->topic.name,
                     "it is compacted: of each entity the last record only is kept; set "
                     "cleanup.policy=delete");
    } else {
        ab_check_add(judge->report, AB_CHECK_WARNING, "cleanup", topic->topic.name,
                     "the source is compacted: of each key the last record only is sure to be "
                     "read; set cleanup.policy=delete");
    }
}

/* ---- an output held against its source ---- */

static void judge_bytes(const judge_t *judge, const pair_t *pair)
{
    const char *name = pair->output->topic.name;
    const int64_t limit = fact(pair->output, AB_FACT_MAX_MESSAGE_BYTES);
    const int64_t source_limit = fact(pair->source, AB_FACT_MAX_MESSAGE_BYTES);
    const int64_t most = (int64_t)pair->policy->max_value_bytes + AB_CHECK_RECORD_ROOM;
    if (!known(pair->output, AB_FACT_MAX_MESSAGE_BYTES)) {
        return;
    }
    if ((pair->roles & (ROLE_ERRORS | ROLE_QUARANTINE)) != 0 && limit < AB_CHECK_LETTER_BYTES) {
        ab_check_add(judge->report, AB_CHECK_ERROR, "message_bytes", name,
                     "max.message.bytes is %lld: a dead letter may need %d, and one that does not "
                     "fit stops its lane; set at least that",
                     (long long)limit, AB_CHECK_LETTER_BYTES);
        return;
    }
    if (!known(pair->source, AB_FACT_MAX_MESSAGE_BYTES)) {
        return;
    }
    if ((pair->roles & ROLE_ROUTE) != 0 && limit < source_limit && limit < most) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "message_bytes", name,
                     "max.message.bytes is %lld, that of %s is %lld: a record between them becomes "
                     "a dead letter (produce_rejected); set at least %lld",
                     (long long)limit, pair->source->topic.name, (long long)source_limit,
                     (long long)(source_limit < most ? source_limit : most));
    }
    if ((pair->roles & ROLE_QUARANTINE) != 0 && limit < source_limit) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "message_bytes", name,
                     "max.message.bytes is %lld, that of %s is %lld: a larger record is not kept "
                     "whole; set at least %lld",
                     (long long)limit, pair->source->topic.name, (long long)source_limit,
                     (long long)source_limit);
    }
}

/* How old a record of the source can be when it is routed. */
static int64_t oldest_of(const ab_topic_facts_t *source)
{
    const int64_t kept = longest_if_negative(fact(source, AB_FACT_RETENTION_MS));
    return is(source, AB_FACT_APPEND_TIME) ? kept : sum(kept, fact(source, AB_FACT_BEFORE_MAX_MS));
}

static void judge_time(const judge_t *judge, const pair_t *pair)
{
    const char *name = pair->output->topic.name;
    const char *source = pair->source->topic.name;
    char limit[AB_CHECK_TIME_MAX], other[AB_CHECK_TIME_MAX];
    if ((pair->roles & ROLE_ROUTE) == 0 || !known(pair->output, AB_FACT_APPEND_TIME)) {
        return;
    }
    if (is(pair->output, AB_FACT_APPEND_TIME)) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "timestamps", name,
                     "message.timestamp.type is LogAppendTime: records do not keep the timestamps "
                     "they have in %s; set CreateTime",
                     source);
        return;
    }
    if (!known(pair->source, AB_FACT_APPEND_TIME)) {
        return;
    }
    if (known(pair->output, AB_FACT_BEFORE_MAX_MS) && known(pair->source, AB_FACT_BEFORE_MAX_MS) &&
        fact(pair->output, AB_FACT_BEFORE_MAX_MS) < oldest_of(pair->source)) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "timestamps", name,
                     "message.timestamp.before.max.ms is %s, and records of %s may be older when "
                     "they are routed: those become dead letters (produce_rejected); set %lld",
                     ab_check_time_text(fact(pair->output, AB_FACT_BEFORE_MAX_MS), limit), source,
                     (long long)oldest_of(pair->source));
    }
    if (known(pair->output, AB_FACT_AFTER_MAX_MS) && known(pair->source, AB_FACT_AFTER_MAX_MS) &&
        !is(pair->source, AB_FACT_APPEND_TIME) &&
        fact(pair->output, AB_FACT_AFTER_MAX_MS) < fact(pair->source, AB_FACT_AFTER_MAX_MS)) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "timestamps", name,
                     "message.timestamp.after.max.ms is %s, that of %s is %s: a record dated "
                     "between them becomes a dead letter (produce_rejected); set %lld",
                     ab_check_time_text(fact(pair->output, AB_FACT_AFTER_MAX_MS), limit), source,
                     ab_check_time_text(fact(pair->source, AB_FACT_AFTER_MAX_MS), other),
                     (long long)fact(pair->source, AB_FACT_AFTER_MAX_MS));
    }
}

/* How long the topic keeps its records; INT64_MAX for ever. */
static int64_t kept_by(const ab_topic_facts_t *topic)
{
    return is(topic, AB_FACT_DELETES) ? longest_if_negative(fact(topic, AB_FACT_RETENTION_MS))
                                      : INT64_MAX;
}

static void say_kept(const judge_t *judge, const pair_t *pair, const char *other, int64_t longer,
                     const char *consequence)
{
    char mine[AB_CHECK_TIME_MAX], theirs[AB_CHECK_TIME_MAX];
    const bool ever = longer == INT64_MAX;
    ab_check_add(judge->report, AB_CHECK_WARNING, "retention", pair->output->topic.name,
                 "keeps its records %s, %s keeps its own %s: %s; set retention.ms to %s%lld",
                 ab_check_time_text(kept_by(pair->output), mine), other,
                 ab_check_time_text(ever ? -1 : longer, theirs), consequence,
                 ever ? "" : "at least ", (long long)(ever ? -1 : longer));
}

static void judge_retention(const judge_t *judge, const pair_t *pair)
{
    const int64_t kept = kept_by(pair->output);
    const char *source = pair->source->topic.name;
    if (!known(pair->output, AB_FACT_RETENTION_MS) || !known(pair->source, AB_FACT_RETENTION_MS)) {
        return;
    }
    if ((pair->roles & ROLE_ROUTE) != 0 && !is(pair->output, AB_FACT_APPEND_TIME) &&
        kept < kept_by(pair->source)) {
        say_kept(judge, pair, source, kept_by(pair->source),
                 "records keep their timestamps, so that one which waited longer is gone as soon "
                 "as it is routed");
    }
    if ((pair->roles & ROLE_ERRORS) != 0 && kept < kept_by(pair->source)) {
        say_kept(judge, pair, source, kept_by(pair->source),
                 "a dead letter is gone before the record that it speaks of");
    }
    if ((pair->roles & ROLE_QUARANTINE) == 0) {
        return;
    }
    const ab_topic_facts_t *errors = find(judge, pair->policy->errors_topic);
    if (errors != NULL && known(errors, AB_FACT_RETENTION_MS) && kept < kept_by(errors)) {
        say_kept(judge, pair, errors->topic.name, kept_by(errors),
                 "a dead letter outlives the record that it speaks of");
    } else if (kept < kept_by(pair->source)) {
        say_kept(judge, pair, source, kept_by(pair->source),
                 "a record is gone from quarantine sooner than from its source");
    }
}

/* Without quarantine the source itself is what a dead letter points to. */
static void judge_pointers(const judge_t *judge, const ab_policy_t *policy)
{
    const ab_topic_facts_t *source = find(judge, policy->topic);
    const ab_topic_facts_t *errors = find(judge, policy->errors_topic);
    char mine[AB_CHECK_TIME_MAX], theirs[AB_CHECK_TIME_MAX];
    if (policy->quarantine_topic != NULL || source == NULL || errors == NULL ||
        !known(source, AB_FACT_RETENTION_MS) || !known(errors, AB_FACT_RETENTION_MS) ||
        kept_by(source) >= kept_by(errors)) {
        return;
    }
    ab_check_add(judge->report, AB_CHECK_WARNING, "retention", policy->topic,
                 "keeps its records %s, %s keeps dead letters %s, and errors.quarantine is off: "
                 "the record that a dead letter speaks of may be gone",
                 ab_check_time_text(fact(source, AB_FACT_RETENTION_MS), mine), errors->topic.name,
                 ab_check_time_text(fact(errors, AB_FACT_RETENTION_MS), theirs));
}

static void judge_partitions(const judge_t *judge, const pair_t *pair)
{
    if ((pair->roles & ROLE_ROUTE) != 0 && pair->policy->partition_by == AB_PARTITION_SOURCE &&
        pair->output->topic.partitions < pair->source->topic.partitions) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "partitions", pair->output->topic.name,
                     "has %d, %s has %d, and partition: source keeps the number: several of the "
                     "source share one of these; make it %d",
                     (int)pair->output->topic.partitions, pair->source->topic.name,
                     (int)pair->source->topic.partitions, (int)pair->source->topic.partitions);
    }
}

/* A key's state lies in the partition of the same number as its requests. */
static void judge_state_partitions(const judge_t *judge, const ab_policy_t *policy,
                                   const ab_topic_facts_t *source)
{
    if (policy->routes[AB_SLOT_EXPORT_REQUEST].kind != AB_ROUTE_ANSWER) {
        return;
    }
    for (size_t i = 0; i < judge->facts->topic_count; i++) {
        const ab_topic_facts_t *state = &judge->facts->topics[i];
        if (state->topic.state && state->problem == AB_TOPIC_OK &&
            state->topic.partitions != source->topic.partitions) {
            ab_check_add(judge->report, AB_CHECK_ERROR, "partitions", state->topic.name,
                         "has %d, %s has %d: a key's state is looked for in the partition of its "
                         "requests, and run refuses to start; make them the same",
                         (int)state->topic.partitions, source->topic.name,
                         (int)source->topic.partitions);
        }
    }
}

static void judge_source(const judge_t *judge, const ab_policy_t *policy)
{
    const ab_topic_facts_t *source = find(judge, policy->topic);
    if (source == NULL || source->problem != AB_TOPIC_OK) {
        return;
    }
    judge_state_partitions(judge, policy, source);
    judge_pointers(judge, policy);
    for (size_t i = 0; i < judge->facts->topic_count; i++) {
        const ab_topic_facts_t *output = &judge->facts->topics[i];
        const pair_t pair = {policy, source, output, roles_of(policy, output->topic.name)};
        if (pair.roles == 0 || output->problem != AB_TOPIC_OK) {
            continue;
        }
        judge_partitions(judge, &pair);
        judge_bytes(judge, &pair);
        judge_time(judge, &pair);
        judge_retention(judge, &pair);
    }
}

/* ---- the process and the brokers ---- */

static void judge_lanes(const judge_t *judge)
{
    char subject[24];
    int64_t partitions = 0;
    for (size_t i = 0; i < judge->facts->topic_count; i++) {
        const ab_topic_facts_t *topic = &judge->facts->topics[i];
        if (topic->topic.source && topic->problem != AB_TOPIC_OK) {
            return;
        }
        partitions += topic->topic.source ? topic->topic.partitions : 0;
    }
    snprintf(subject, sizeof(subject), "%u", judge->config->lanes);
    if (judge->config->lanes > partitions) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "lanes", subject,
                     "the sources have %lld partition%s together: %lld lane%s in this process "
                     "alone can get none",
                     (long long)partitions, partitions == 1 ? "" : "s",
                     (long long)(judge->config->lanes - partitions),
                     judge->config->lanes - partitions == 1 ? "" : "s");
    } else {
        ab_check_add(judge->report, AB_CHECK_OK, "lanes", subject,
                     "the sources have %lld partition%s together: so many lanes of all instances "
                     "can work at once",
                     (long long)partitions, partitions == 1 ? "" : "s");
    }
}

static void judge_broker(const judge_t *judge, const ab_broker_facts_t *broker)
{
    char subject[24], limit[AB_CHECK_TIME_MAX], wanted[AB_CHECK_TIME_MAX];
    const int64_t most = broker->values[AB_FACT_TRANSACTION_MAX_MS];
    if (judge->config->guarantee == AB_AT_LEAST_ONCE) {
        return; /* no transactions */
    }
    snprintf(subject, sizeof(subject), "broker %d", (int)broker->id);
    if (most != AB_FACT_UNKNOWN && most < (int64_t)judge->config->transaction_timeout_ms) {
        ab_check_add(
            judge->report, AB_CHECK_ERROR, "transactions", subject,
            "transaction.max.timeout.ms is %s, delivery.transaction_timeout is %s: no lane "
            "can start; lower the one or raise the other",
            ab_check_time_text(most, limit),
            ab_check_time_text(judge->config->transaction_timeout_ms, wanted));
    }
    if (broker->values[AB_FACT_VERIFIES] == AB_FACT_UNKNOWN) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "transactions", subject,
                     "knows no transaction.partition.verification.enable, as Kafka before 3.6: a "
                     "late record of an aborted transaction may join the next one");
    } else if (broker->values[AB_FACT_VERIFIES] == 0) {
        ab_check_add(judge->report, AB_CHECK_WARNING, "transactions", subject,
                     "transaction.partition.verification.enable is false: a late record of an "
                     "aborted transaction may join the next one; set it to true");
    }
}

static void judge_brokers(const judge_t *judge)
{
    const ab_check_facts_t *facts = judge->facts;
    char controller[32] = "";
    if (facts->controller >= 0) {
        snprintf(controller, sizeof(controller), ", controller %d", (int)facts->controller);
    }
    ab_check_add(judge->report, AB_CHECK_OK, "brokers", facts->cluster_id,
                 "%d broker%s%s; Kafka %s", facts->broker_count,
                 facts->broker_count == 1 ? "" : "s", controller,
                 facts->version[0] != '\0' ? facts->version : "of a version that is not known");
    for (int i = 0; i < facts->broker_count && i < AB_CHECK_BROKERS_MAX; i++) {
        if (facts->brokers[i].error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            judge_broker(judge, &facts->brokers[i]);
            continue;
        }
        if (!ab_error_is_denied(facts->brokers[i].error)) {
            char subject[24];
            snprintf(subject, sizeof(subject), "broker %d", (int)facts->brokers[i].id);
            ab_check_add(judge->report, AB_CHECK_UNKNOWN, "transactions", subject,
                         "its properties could not be read (%s)",
                         rd_kafka_err2name(facts->brokers[i].error));
            continue;
        }
        ab_check_row_t *row = ab_check_add(
            judge->report, AB_CHECK_UNKNOWN, "acl", "kafka-cluster",
            "%s lacks DescribeConfigs on it, which only this check wants: "
            "transaction.max.timeout.ms, transaction.partition.verification.enable and the version "
            "are not known",
            judge->report->principal);
        if (row != NULL) {
            row->operation = "DescribeConfigs";
            row->resource_type = "Cluster";
        }
        return; /* the same for every broker */
    }
}

void ab_check_judge(const ab_config_t *config, const ab_check_facts_t *facts,
                    ab_check_report_t *report)
{
    const judge_t judge = {config, facts, report};
    judge_brokers(&judge);
    judge_lanes(&judge);
    for (size_t i = 0; i < facts->topic_count; i++) {
        judge_presence(&judge, &facts->topics[i]);
        if (facts->topics[i].problem == AB_TOPIC_OK) {
            judge_properties_known(&judge, &facts->topics[i]);
            judge_cleanup(&judge, &facts->topics[i]);
            judge_copies(&judge, &facts->topics[i]);
        }
    }
    for (size_t s = 0; s < config->source_count; s++) {
        judge_source(&judge, &config->sources[s].policy);
    }
}
