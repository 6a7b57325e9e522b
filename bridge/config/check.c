#include "bridge/config/bind.h"

#include <string.h>

#include "bridge/config/value.h"

typedef struct checker {
    const ab_config_t *config;
    const ab_written_t *written;
    ab_findings_t *findings;
} checker_t;

/* The source that a key of no source is said to belong to. */
#define NO_SOURCE SIZE_MAX

/* Where a key was written; for one that was not, where its source or the whole file begins. */
static ab_place_t place_of(const checker_t *checker, size_t source, const char *path)
{
    const ab_key_t *key = ab_key_find(path);
    const ab_written_t *written = &checker->written[source == NO_SOURCE ? 0 : 1 + source];
    const ab_node_t *node = written->nodes[ab_key_index(key)];
    ab_place_t place = {.findings = checker->findings};
    if (source != NO_SOURCE) {
        (void)ab_place_enter(&place, "sources");
        ab_place_enter_item(&place, source);
        path += strlen("sources[].");
        place.line = checker->config->sources[source].line;
    }
    (void)ab_place_enter(&place, path);
    if (node == NULL && strncmp(key->path, "sources[].routes.", 17) == 0) {
        node = written->nodes[ab_key_index(ab_key_find("sources[].routes"))];
    }
    if (node != NULL) {
        place.line = node->line;
        place.column = node->column;
    }
    return place;
}

static const char *const route_paths[AB_SLOT_COUNT] = {
    [AB_SLOT_EXTERNAL_EVENT] = "sources[].routes.external_event",
    [AB_SLOT_TOOL_RESULT] = "sources[].routes.tool_result",
    [AB_SLOT_APPROVAL] = "sources[].routes.approval",
    [AB_SLOT_EXPORT_REQUEST] = "sources[].routes.export_request",
    [AB_SLOT_UNKNOWN_VARIANT] = "sources[].routes.unknown_variant",
};

static const ab_policy_t *policy_of(const checker_t *checker, size_t source)
{
    return &checker->config->sources[source].policy;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The first source that reads the topic, NO_SOURCE when none does. */
static size_t source_reading(const checker_t *checker, const char *topic)
{
    for (size_t i = 0; i < checker->config->source_count; i++) {
        if (same(policy_of(checker, i)->topic, topic)) {
            return i;
        }
    }
    return NO_SOURCE;
}

/* The first source with a route to the topic, NO_SOURCE when there is none. */
static size_t source_routing_to(const checker_t *checker, const char *topic)
{
    for (size_t i = 0; i < checker->config->source_count; i++) {
        for (unsigned slot = 0; slot < AB_SLOT_COUNT; slot++) {
            if (same(policy_of(checker, i)->routes[slot].topic, topic)) {
                return i;
            }
        }
    }
    return NO_SOURCE;
}

/* The first source whose dead letters go to the topic, NO_SOURCE when there is none. */
static size_t source_failing_to(const checker_t *checker, const char *topic)
{
    for (size_t i = 0; i < checker->config->source_count; i++) {
        if (same(policy_of(checker, i)->errors_topic, topic)) {
            return i;
        }
    }
    return NO_SOURCE;
}

/* Where to complain about a topic of errors: its key, or the source that its default is made from.
 */
static ab_place_t place_of_errors(const checker_t *checker, size_t source, const char *path,
                                  bool is_written)
{
    return is_written ? place_of(checker, NO_SOURCE, path)
                      : place_of(checker, source, "sources[].topic");
}

static void check_loop(const checker_t *checker, const ab_place_t *place, const char *topic)
{
    size_t reader = source_reading(checker, topic);
    char shown[AB_SHOWN_MAX];
    if (reader != NO_SOURCE) {
        ab_place_mistake(place,
                         "the output `%s` is also read as sources[%zu]: records would go in "
                         "circles, expected another topic",
                         ab_shown(topic, shown), reader);
    }
}

static void check_source_names(const checker_t *checker, size_t source)
{
    const ab_policy_t *policy = policy_of(checker, source);
    size_t first = source_reading(checker, policy->topic);
    if (policy->topic != NULL && first != source) {
        ab_place_t place = place_of(checker, source, "sources[].topic");
        ab_place_mistake(&place, "read twice, here and as sources[%zu]: remove one", first);
    }
    for (unsigned slot = 0; slot < AB_SLOT_COUNT; slot++) {
        if (policy->routes[slot].topic != NULL) {
            ab_place_t place = place_of(checker, source, route_paths[slot]);
            check_loop(checker, &place, policy->routes[slot].topic);
        }
    }
}

/* A name made by a default may be too long for Kafka. Returns false after saying so. */
static bool check_length(const ab_place_t *place, const char *topic, const char *path)
{
    if (strlen(topic) <= AB_CONFIG_TOPIC_MAX) {
        return true;
    }
    ab_place_mistake(place,
                     "too long for `%s` to be made from it (%zu of at most %u characters): "
                     "write `%s`",
                     path, strlen(topic), AB_CONFIG_TOPIC_MAX, path);
    return false;
}

static void check_errors_topic(const checker_t *checker, size_t source)
{
    const char *topic = policy_of(checker, source)->errors_topic;
    ab_place_t place =
        place_of_errors(checker, source, "errors.topic", checker->config->errors_topic != NULL);
    if (topic == NULL || !check_length(&place, topic, "errors.topic")) {
        return;
    }
    check_loop(checker, &place, topic);
    size_t router = source_routing_to(checker, topic);
    if (router != NO_SOURCE) {
        char shown[AB_SHOWN_MAX];
        ab_place_warning(&place,
                         "dead letters share `%s` with records routed by sources[%zu]: "
                         "readers tell them apart by their headers only",
                         ab_shown(topic, shown), router);
    }
}

static void check_quarantine(const checker_t *checker, size_t source)
{
    const char *topic = policy_of(checker, source)->quarantine_topic;
    ab_place_t place = place_of_errors(checker, source, "errors.quarantine",
                                       checker->config->quarantine.topic != NULL);
    char shown[AB_SHOWN_MAX];
    if (topic == NULL || !check_length(&place, topic, "errors.quarantine")) {
        return;
    }
    check_loop(checker, &place, topic);
    if (source_failing_to(checker, topic) != NO_SOURCE) {
        ab_place_mistake(&place,
                         "the quarantine `%s` is also the topic for dead letters of "
                         "sources[%zu]: expected another topic",
                         ab_shown(topic, shown), source_failing_to(checker, topic));
    }
    if (source_routing_to(checker, topic) != NO_SOURCE) {
        ab_place_mistake(&place,
                         "the quarantine `%s` is also a route of sources[%zu]: expected "
                         "another topic",
                         ab_shown(topic, shown), source_routing_to(checker, topic));
    }
}

static void check_sizes(const checker_t *checker, size_t source)
{
    const ab_policy_t *policy = policy_of(checker, source);
    if (policy->max_value_bytes > checker->config->memory_per_lane_bytes) {
        char value[AB_NUMBER_TEXT_MAX], budget[AB_NUMBER_TEXT_MAX];
        const ab_key_t *key = ab_key_find("memory.per_lane");
        ab_place_t place = place_of(checker, source, "sources[].max_value");
        ab_place_mistake(&place, "%s do not fit into `memory.per_lane`, %s: expected at most that",
                         ab_number_text(key, policy->max_value_bytes, value),
                         ab_number_text(key, checker->config->memory_per_lane_bytes, budget));
    }
}

static void check_order(const checker_t *checker, size_t source)
{
    if (policy_of(checker, source)->key_mismatch_ignore) {
        ab_place_t place = place_of(checker, source, "sources[].on_key_mismatch");
        ab_place_warning(&place, "with `ignore` the order of an entity's records is not promised");
    }
}

/* The first of state.snapshots_from that is this topic, -1 when none is. */
static int state_topic_of(const checker_t *checker, const char *topic)
{
    const ab_topic_list_t *topics = &checker->config->state_topics;
    for (size_t i = 0; i < topics->count; i++) {
        if (same(topics->items[i], topic)) {
            return (int)i;
        }
    }
    return -1;
}

/* What the bridge writes must never become state. */
static void check_not_state(const checker_t *checker, const ab_place_t *place, const char *topic)
{
    const int index = state_topic_of(checker, topic);
    char shown[AB_SHOWN_MAX];
    if (index >= 0) {
        ab_place_mistake(place,
                         "the output `%s` is also state.snapshots_from[%d]: what the bridge writes "
                         "would become state, expected another topic",
                         ab_shown(topic, shown), index);
    }
}

static void check_outputs_are_no_state(const checker_t *checker, size_t source)
{
    const ab_policy_t *policy = policy_of(checker, source);
    const ab_config_t *config = checker->config;
    for (unsigned slot = 0; slot < AB_SLOT_COUNT; slot++) {
        const ab_place_t place = place_of(checker, source, route_paths[slot]);
        check_not_state(checker, &place, policy->routes[slot].topic);
    }
    const ab_place_t errors =
        place_of_errors(checker, source, "errors.topic", config->errors_topic != NULL);
    const ab_place_t quarantine =
        place_of_errors(checker, source, "errors.quarantine", config->quarantine.topic != NULL);
    if (source == 0 || config->errors_topic == NULL) {
        check_not_state(checker, &errors, policy->errors_topic);
    }
    if (source == 0 || config->quarantine.topic == NULL) {
        check_not_state(checker, &quarantine, policy->quarantine_topic);
    }
}

static void check_answering_source(const checker_t *checker, size_t source, size_t *answering)
{
    if (policy_of(checker, source)->routes[AB_SLOT_EXPORT_REQUEST].kind != AB_ROUTE_ANSWER) {
        return;
    }
    const ab_place_t place = place_of(checker, source, "sources[].routes.export_request");
    const ab_config_t *config = checker->config;
    if (config->snapshots_topic == NULL) {
        ab_place_mistake(&place, "`answer` needs `snapshots.topic`, the topic for the answers");
    }
    if (config->state_topics.count == 0) {
        ab_place_mistake(&place, "`answer` needs `state.snapshots_from`, the topics of the state");
    }
    if (*answering != NO_SOURCE && config->lanes > 1) {
        ab_place_mistake(&place,
                         "sources[%zu] answers too: two lanes would need the same store, expected "
                         "one source with `answer`, or `lanes: 1`",
                         *answering);
    }
    *answering = source;
}

static void check_state(const checker_t *checker)
{
    const ab_config_t *config = checker->config;
    const ab_place_t snapshots = place_of(checker, NO_SOURCE, "snapshots.topic");
    size_t answering = NO_SOURCE;
    for (size_t i = 0; i < config->source_count; i++) {
        check_outputs_are_no_state(checker, i);
        check_answering_source(checker, i, &answering);
    }
    if (config->snapshots_topic != NULL) {
        check_loop(checker, &snapshots, config->snapshots_topic);
        check_not_state(checker, &snapshots, config->snapshots_topic);
    }
    for (size_t i = 0; i < config->state_topics.count; i++) {
        ab_place_t place = place_of(checker, NO_SOURCE, "state.snapshots_from");
        const char *topic = config->state_topics.items[i];
        char shown[AB_SHOWN_MAX];
        if (state_topic_of(checker, topic) != (int)i) {
            ab_place_mistake(&place, "`%s` is there twice: remove one", ab_shown(topic, shown));
        }
        if (source_reading(checker, topic) != NO_SOURCE) {
            ab_place_mistake(&place,
                             "`%s` is also read as sources[%zu]: a topic holds envelopes or state",
                             ab_shown(topic, shown), source_reading(checker, topic));
        }
    }
}

static void check_times(const checker_t *checker)
{
    const ab_config_t *config = checker->config;
    if (config->commit_interval_ms >= config->transaction_timeout_ms) {
        char interval[AB_NUMBER_TEXT_MAX], timeout[AB_NUMBER_TEXT_MAX];
        const ab_key_t *key = ab_key_find("delivery.commit_interval");
        ab_place_t place = place_of(checker, NO_SOURCE, key->path);
        ab_place_mistake(&place,
                         "%s is not shorter than `delivery.transaction_timeout`, %s: "
                         "transactions would time out before they commit",
                         ab_number_text(key, config->commit_interval_ms, interval),
                         ab_number_text(key, config->transaction_timeout_ms, timeout));
    }
}

void ab_config_check(const ab_config_t *config, const ab_written_t *written,
                     ab_findings_t *findings)
{
    checker_t checker = {config, written, findings};
    check_times(&checker);
    check_state(&checker);
    for (size_t i = 0; i < config->source_count; i++) {
        check_source_names(&checker, i);
        check_sizes(&checker, i);
        check_order(&checker, i);
        /* What is written once for all sources is complained about once. */
        if (i == 0 || config->errors_topic == NULL) {
            check_errors_topic(&checker, i);
        }
        if (i == 0 || config->quarantine.topic == NULL) {
            check_quarantine(&checker, i);
        }
    }
}
