#include "tests/mock/audit_run.h"

#include <stdlib.h>

#include "bridge/kafka/relay.h"
#include "tests/unit/state/support.h"

#define PATIENCE_MS 60000

static void no_event(void *opaque, ab_level_t level, const char *event, const char *message,
                     const ab_field_t *fields, unsigned field_count)
{
    (void)opaque;
    (void)level;
    (void)event;
    (void)message;
    (void)fields;
    (void)field_count;
}

static void relay(run_t *run)
{
    const ab_sink_t sink = {no_event, NULL};
    size_t count;
    int code = -1;
    ab_relay_t *relay = ab_relay_new(run->config, &sink);
    (void)ab_demo_plan_view(run->plan, &count);
    assert_non_null(relay);
    assert_int_equal(ab_relay_start(relay), 0);
    for (int waited = 0; run->ledger.consumed < count && waited < PATIENCE_MS; waited += 20) {
        (void)ab_relay_wait(relay, 20, &code);
        ab_relay_ledger(relay, &run->ledger);
    }
    ab_relay_stop(relay);
    assert_true(ab_relay_wait(relay, PATIENCE_MS, &code));
    assert_int_equal(code, AB_EXIT_OK);
    ab_relay_ledger(relay, &run->ledger);
    ab_relay_free(relay);
}

int audit_run_open(void **state)
{
    char text[AB_EMBEDDED_TEXT_MAX];
    char config[AB_DEMO_CONFIG_MAX];
    size_t count;
    run_t *run = calloc(1, sizeof(*run));
    assert_non_null(run);
    run->plan = ab_demo_plan_new();
    run->embedded = ab_embedded_new(1, text);
    assert_non_null(run->plan);
    assert_non_null(run->embedded);
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        const ab_demo_topic_t topic = (ab_demo_topic_t)t;
        assert_int_equal(ab_embedded_add_topic(run->embedded, ab_demo_topic_name(topic),
                                               ab_demo_topic_partitions(topic), text),
                         0);
    }
    run->client = ab_client_new(ab_embedded_bootstrap_view(run->embedded), text);
    assert_non_null(run->client);
    const ab_demo_state_t *states = ab_demo_plan_states_view(run->plan, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ab_client_write(run->client, &states[i].message), 0);
    }
    const ab_demo_record_t *planned = ab_demo_plan_view(run->plan, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ab_client_write(run->client, &planned[i].message), 0);
    }
    assert_int_equal(ab_client_flush(run->client, PATIENCE_MS), 0);
    assert_int_equal(ab_client_commit(run->client, AB_DEMO_GROUP,
                                      ab_demo_topic_name(AB_DEMO_SOURCE),
                                      ab_demo_topic_partitions(AB_DEMO_SOURCE), 0),
                     0);
    assert_int_equal(ab_test_folder_make(&run->folder), 0);
    const size_t size = ab_demo_config_text(ab_embedded_bootstrap_view(run->embedded),
                                            ((ab_test_folder_t *)run->folder)->path, config);
    run->config = ab_config_parse("demo", config, size, NULL, &run->findings);
    assert_non_null(run->config);
    relay(run);
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        assert_int_equal(ab_client_read(run->client, ab_demo_topic_name((ab_demo_topic_t)t),
                                        PATIENCE_MS, &run->records[t]),
                         0);
        run->topics.records[t] = ab_records_view(run->records[t], &run->topics.counts[t]);
    }
    *state = run;
    return 0;
}

int audit_run_close(void **state)
{
    run_t *run = *state;
    for (int t = 0; t < AB_DEMO_TOPIC_COUNT; t++) {
        ab_records_free(run->records[t]);
    }
    ab_config_free(run->config);
    ab_client_free(run->client);
    ab_embedded_free(run->embedded);
    ab_demo_plan_free(run->plan);
    (void)ab_test_folder_drop(&run->folder);
    free(run);
    return 0;
}
