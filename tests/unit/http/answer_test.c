#include "bridge/http/answer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/http/support.h"

/* Asks with GET and expects this status. The caller frees the answer's body. */
static ab_http_answer_t get(const ab_http_site_t *site, const char *path, unsigned status)
{
    const ab_http_request_t request = {"GET", path, false};
    ab_http_answer_t answer;
    assert_true(ab_http_answer(site, &request, &answer));
    if (answer.status != status) {
        fail_msg("%s: %u, expected %u: %s", path, answer.status, status, answer.body);
    }
    assert_int_equal(strlen(answer.body), answer.size);
    return answer;
}

/* The same, read as JSON. The caller gives it back with json_decref(). */
static json_t *get_json(const ab_http_site_t *site, const char *path, unsigned status)
{
    ab_http_answer_t answer = get(site, path, status);
    assert_string_equal(answer.type, "application/json");
    json_t *json = json_loads(answer.body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    assert_int_equal(answer.body[answer.size - 1], '\n');
    free(answer.body);
    return json;
}

/* The member at a path of keys, "ledger.routed.approval". */
static const json_t *at(const json_t *json, const char *path)
{
    char keys[128];
    char *rest = NULL;
    (void)snprintf(keys, sizeof(keys), "%s", path);
    for (char *key = strtok_r(keys, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
        json = json_object_get(json, key);
    }
    if (json == NULL) {
        fail_msg("no %s", path);
    }
    return json;
}

static long long number_at(const json_t *json, const char *path)
{
    assert_true(json_is_integer(at(json, path)));
    return json_integer_value(at(json, path));
}

static void test_answer_every_path_is_there_and_gives_its_status_back(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    static const char *const paths[] = {"/",        "/livez",  "/readyz",
                                        "/metrics", "/status", "/version"};
    size_t count;
    const ab_endpoint_t *endpoints = ab_endpoints_view(&count);
    assert_int_equal(count, sizeof(paths) / sizeof(paths[0]));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(endpoints[i].path, paths[i]);
        ab_http_answer_t answer = get(&site, paths[i], 200);
        assert_string_equal(answer.type, endpoints[i].type);
        assert_null(answer.allow);
        assert_true(answer.size > 0);
        free(answer.body);
    }
    assert_int_equal(atomic_load(&source.asked), count - 1); /* the version needs none */
    assert_int_equal(atomic_load(&source.out), 0);
}

static void test_answer_head_has_the_status_of_get(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    const ab_http_request_t request = {"HEAD", "/readyz", false};
    ab_http_answer_t answer;
    source.planted.status.phase = AB_RELAY_PHASE_CONNECTING;
    assert_true(ab_http_answer(&site, &request, &answer));
    assert_int_equal(answer.status, 503);
    free(answer.body);
}

static void test_answer_other_methods_refused_with_what_is_allowed(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    static const char *const methods[] = {"POST",  "PUT", "DELETE", "PATCH", "OPTIONS",
                                          "TRACE", "get", "GETS",   "",      "CONNECT"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const ab_http_request_t request = {methods[i], "/metrics", true};
        ab_http_answer_t answer;
        assert_true(ab_http_answer(&site, &request, &answer));
        assert_int_equal(answer.status, 405);
        assert_string_equal(answer.allow, "GET, HEAD");
        free(answer.body);
    }
    assert_int_equal(atomic_load(&source.asked), 0);
}

static void test_answer_body_refused(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    const ab_http_request_t request = {"GET", "/metrics", true};
    ab_http_answer_t answer;
    assert_true(ab_http_answer(&site, &request, &answer));
    assert_int_equal(answer.status, 413);
    free(answer.body);
    assert_int_equal(atomic_load(&source.asked), 0);
}

static void test_answer_unknown_paths_told_which_there_are(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    static const char *const paths[] = {"",         "/livez/", "/Livez",     "/metrics/x",
                                        "//livez",  "livez",   "/<script>",  "/../livez",
                                        "/healthz", "*",       "/readyz?x=1"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ab_http_answer_t answer = get(&site, paths[i], 404);
        assert_non_null(strstr(answer.body, "/livez"));
        assert_non_null(strstr(answer.body, "/metrics"));
        assert_null(strstr(answer.body, "<script>")); /* nothing of the request comes back */
        assert_string_equal(answer.type, "text/plain; charset=utf-8");
        free(answer.body);
    }
}

static void test_answer_short_memory_is_503_and_no_lie(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    atomic_store(&source.no_memory, true);
    ab_http_answer_t answer = get(&site, "/livez", 503);
    assert_non_null(strstr(answer.body, "memory"));
    free(answer.body);
}

static void test_live_lane_that_stands_is_named(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    source.planted.status.phase = AB_RELAY_PHASE_CONNECTING; /* no matter */
    json_t *json = get_json(&site, "/livez", 200);
    assert_true(json_is_true(at(json, "live")));
    assert_int_equal(json_array_size(at(json, "lanes")), 0);
    json_decref(json);
    source.planted.lanes[1].tick_seconds = 30.5;
    json = get_json(&site, "/livez", 503);
    assert_true(json_is_false(at(json, "live")));
    assert_int_equal(json_array_size(at(json, "lanes")), 1);
    assert_int_equal(number_at(json_array_get(at(json, "lanes"), 0), "lane"), 1);
    assert_int_equal(number_at(json_array_get(at(json, "lanes"), 0), "tick_ms"), 30500);
    json_decref(json);
}

static void test_ready_every_reason_is_told_in_words_and_as_a_code(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    json_t *json = get_json(&site, "/readyz", 200);
    assert_true(json_is_true(at(json, "ready")));
    assert_string_equal(json_string_value(at(json, "code")), "ready");
    assert_int_equal(number_at(json, "lanes.waiting"), 1); /* shown, and ready all the same */
    json_decref(json);

    source.planted.sources[0].stuck = 2;
    json = get_json(&site, "/readyz", 503);
    assert_string_equal(json_string_value(at(json, "code")), "stuck");
    assert_string_equal(json_string_value(at(json, "reason")), ab_ready_text(AB_READY_STUCK));
    const json_t *stuck = at(json, "stuck_partitions");
    assert_int_equal(json_object_size(stuck), 1);
    assert_int_equal(json_integer_value(json_object_get(stuck, "in.one")), 2);
    json_decref(json);

    source.planted.lanes[1].joined = false;
    json = get_json(&site, "/readyz", 503);
    assert_string_equal(json_string_value(at(json, "code")), "joining");
    json_decref(json);

    static const struct {
        ab_relay_phase_t phase;
        const char *code, *name;
    } phases[] = {
        {AB_RELAY_PHASE_CONNECTING, "connecting", "connecting"},
        {AB_RELAY_PHASE_WAITING_TOPICS, "waiting_topics", "waiting_topics"},
        {AB_RELAY_PHASE_STOPPING, "stopping", "stopping"},
        {AB_RELAY_PHASE_ENDED, "stopping", "ended"},
    };
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        source.planted.status.phase = phases[i].phase;
        json = get_json(&site, "/readyz", 503);
        assert_true(json_is_false(at(json, "ready")));
        assert_string_equal(json_string_value(at(json, "code")), phases[i].code);
        assert_string_equal(json_string_value(at(json, "phase")), phases[i].name);
        json_decref(json);
    }
}

static void test_status_planted_numbers_each_in_its_place(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    json_t *json = get_json(&site, "/status", 200);
    const ab_ledger_t *ledger = &source.planted.status.total.ledger;
    assert_string_equal(json_string_value(at(json, "phase")), "running");
    assert_true(json_is_true(at(json, "live")));
    assert_true(json_is_true(at(json, "ready")));
    assert_string_equal(json_string_value(at(json, "group")), "the-group");
    assert_string_equal(json_string_value(at(json, "instance")), "pod-0");
    assert_string_equal(json_string_value(at(json, "config")), "/etc/<i>\"\\\xef\xbf\xbd.yaml");
    assert_int_equal(number_at(json, "uptime_ms"), 93784250);
    assert_int_equal(number_at(json, "started_ms"), 1700000000123);
    assert_int_equal(number_at(json, "last_dead_letter_ms"), 1700000001500);
    assert_int_equal(number_at(json, "ledger.consumed"), (long long)ledger->consumed);
    assert_true(json_is_true(at(json, "ledger.balanced")));
    assert_int_equal(number_at(json, "ledger.outcomes.routed"),
                     (long long)ab_ledger_routed(ledger));
    assert_int_equal(number_at(json, "ledger.outcomes.dropped"), 1600);
    assert_int_equal(number_at(json, "ledger.routed.tool_result"), 1202);
    assert_int_equal(json_object_size(at(json, "ledger.routed")), AB_SLOT_COUNT);
    assert_int_equal(json_object_size(at(json, "ledger.dead_lettered")), AB_REASON_COUNT - 1);
    assert_int_equal(number_at(json, "ledger.dead_lettered.tombstone"), 1402);
    assert_int_equal(number_at(json, "ledger.gap"), 1610);
    assert_int_equal(number_at(json, "transactions.fenced"), 1804);
    assert_int_equal(number_at(json, "rebalances.lost"), 2004);
    assert_int_equal(number_at(json, "offset_commits.failed"), 1902);
    assert_int_equal(number_at(json, "breaker_trips"), 1920);
    assert_string_equal(json_string_value(at(json, "guarantee")), "at_least_once");
    assert_int_equal(number_at(json, "produce_failures.size"), 2200);
    assert_int_equal(number_at(json, "lane_restarts"), 2400);
    assert_string_equal(json_string_value(at(json, "libraries.librdkafka.running")), "2.8.0");
    const json_t *lane = json_array_get(at(json, "lanes"), 1);
    assert_string_equal(json_string_value(at(lane, "phase")), "waiting");
    assert_int_equal(number_at(lane, "tick_ms"), 250);
    assert_int_equal(number_at(lane, "inflight_bytes"), 1001);
    const json_t *topic = json_array_get(at(json, "sources"), 0);
    assert_string_equal(json_string_value(at(topic, "topic")), "in.one");
    assert_int_equal(number_at(topic, "assigned_partitions"), 31);
    assert_int_equal(number_at(topic, "pending_partitions"), 32);
    assert_int_equal(number_at(topic, "stopped_partitions"), 33);
    assert_int_equal(number_at(topic, "stuck_partitions"), 0);
    assert_int_equal(number_at(topic, "breaker.open_lanes"), 1);
    assert_int_equal(number_at(topic, "breaker.read"), 600);
    assert_int_equal(number_at(topic, "breaker.dead_lettered"), 599);
    assert_string_equal(json_string_value(at(topic, "breaker.last_reason")), "tombstone");
    assert_int_equal(number_at(json_array_get(at(json, "sources"), 1), "breaker.open_lanes"), 0);
    assert_int_equal(number_at(topic, "lag_records"), 35);
    assert_int_equal(number_at(topic, "oldest_unfinished_ms"), 36500);
    assert_int_equal(json_array_size(at(topic, "partitions")), 2); /* partition 1 gave nothing */
    const json_t *part = json_array_get(at(topic, "partitions"), 0);
    assert_int_equal(number_at(part, "partition"), 0);
    assert_true(json_is_true(at(part, "balanced")));
    assert_int_equal(number_at(part, "consumed"), 10);
    assert_int_equal(number_at(part, "routed"), 6);
    assert_int_equal(number_at(part, "answered"), 4);
    part = json_array_get(at(topic, "partitions"), 1);
    assert_int_equal(number_at(part, "partition"), 2);
    assert_true(json_is_false(at(part, "balanced")));
    assert_int_equal(number_at(part, "dead_lettered"), 7);
    json_decref(json);
}

static void test_status_what_never_happened_is_null(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    source.planted.status.total.last_dead_letter_ms = 0;
    json_t *json = get_json(&site, "/status", 200);
    assert_true(json_is_null(at(json, "last_dead_letter_ms")));
    json_decref(json);
}

static void test_version_commit_left_out_where_it_is_not_known(void **state)
{
    (void)state;
    source_of_status_t source;
    ab_http_site_t site = planted_site(&source);
    json_t *json = get_json(&site, "/version", 200);
    assert_string_equal(json_string_value(at(json, "version")), "1.2.3");
    assert_string_equal(json_string_value(at(json, "commit")), "v1-4-gabc");
    assert_string_equal(json_string_value(at(json, "libraries.protobuf-c.compiled")), "1.4.1");
    json_decref(json);
    site.facts.revision = "";
    json = get_json(&site, "/version", 200);
    assert_null(json_object_get(json, "commit"));
    json_decref(json);
}

static void test_page_shows_the_state_and_escapes_every_name(void **state)
{
    (void)state;
    source_of_status_t source;
    const ab_http_site_t site = planted_site(&source);
    ab_http_answer_t answer = get(&site, "/", 200);
    assert_string_equal(answer.type, "text/html; charset=utf-8");
    assert_non_null(strstr(answer.body, "class=\"state good\">Ready<"));
    assert_non_null(strstr(answer.body, "&lt;b&gt;&amp;&quot;&#39;\\\xef\xbf\xbd\xef\xbf\xbd"));
    assert_null(strstr(answer.body, "<b>"));
    assert_null(strstr(answer.body, "<i>"));
    assert_non_null(strstr(answer.body, "1 d 2 h")); /* up */
    /* Nothing is loaded from anywhere, and nothing runs. */
    assert_null(strstr(answer.body, "://"));
    assert_null(strstr(answer.body, "src="));
    assert_null(strstr(answer.body, "<script"));
    assert_null(strstr(answer.body, "<link"));
    free(answer.body);
    source.planted.status.phase = AB_RELAY_PHASE_CONNECTING;
    answer = get(&site, "/", 200);
    assert_non_null(strstr(answer.body, "class=\"state bad\">Not ready: no broker has answered"));
    free(answer.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_every_path_is_there_and_gives_its_status_back),
        cmocka_unit_test(test_answer_head_has_the_status_of_get),
        cmocka_unit_test(test_answer_other_methods_refused_with_what_is_allowed),
        cmocka_unit_test(test_answer_body_refused),
        cmocka_unit_test(test_answer_unknown_paths_told_which_there_are),
        cmocka_unit_test(test_answer_short_memory_is_503_and_no_lie),
        cmocka_unit_test(test_live_lane_that_stands_is_named),
        cmocka_unit_test(test_ready_every_reason_is_told_in_words_and_as_a_code),
        cmocka_unit_test(test_status_planted_numbers_each_in_its_place),
        cmocka_unit_test(test_status_what_never_happened_is_null),
        cmocka_unit_test(test_version_commit_left_out_where_it_is_not_known),
        cmocka_unit_test(test_page_shows_the_state_and_escapes_every_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
