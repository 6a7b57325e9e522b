#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/table.h"
#include "bridge/config/value.h"
#include "tests/unit/config/support.h"

static void test_table_paths_unique_and_found(void **state)
{
    (void)state;
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    assert_true(count > 40);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(ab_key_find(keys[i].path), &keys[i]);
        assert_int_equal(ab_key_index(&keys[i]), i);
        assert_true(keys[i].help[0] != '\0');
        assert_null(strchr(keys[i].help, '|')); /* it would end a cell of the documentation */
        assert_true(strlen(keys[i].path) < AB_FINDING_KEY_MAX / 2);
    }
    assert_null(ab_key_find("nothing"));
}

static void test_table_sections_stand_before_their_keys(void **state)
{
    (void)state;
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = ab_key_name_view(&keys[i]);
        if (name == keys[i].path) {
            continue;
        }
        char *parent = text_new("%.*s", (int)(name - keys[i].path - 1), keys[i].path);
        if (strcmp(parent, "sources[]") == 0) {
            parent[strlen("sources")] = '\0';
        }
        const ab_key_t *section = ab_key_find(parent);
        assert_non_null(section);
        assert_true(ab_key_index(section) < i);
        assert_true(section->type == AB_KEY_SECTION || section->type == AB_KEY_SOURCES ||
                    (section->type == AB_KEY_PROPERTIES && keys[i].type == AB_KEY_PROPERTY));
        free(parent);
    }
}

static void test_table_defaults_legal_values_of_their_keys(void **state)
{
    (void)state;
    size_t count, read = 0;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].fallback == NULL || keys[i].fallback[0] == '<') {
            continue;
        }
        ab_findings_t findings = {0};
        ab_place_t place = {.findings = &findings};
        ab_value_t value;
        if (!ab_value_parse(&keys[i], keys[i].fallback, &place, &value)) {
            fail_msg("%s: %s", keys[i].path, findings.items[0].message);
        }
        read++;
    }
    assert_true(read >= 20);
}

/* The defaults of DESIGN section 7. Changing one is changing what running bridges do. */
static void test_table_defaults_as_promised(void **state)
{
    (void)state;
    static const char *const defaults[][2] = {
        {"instance", "<host name>"},
        {"lanes", "1"},
        {"sources[].type", "envelope"},
        {"sources[].start", "earliest"},
        {"sources[].routes.unknown_variant", "dead_letter"},
        {"sources[].on_tombstone", "dead_letter"},
        {"sources[].on_key_mismatch", "dead_letter"},
        {"sources[].on_null_key", "accept"},
        {"sources[].partition", "key"},
        {"sources[].max_value", "8MiB"},
        {"sources[].contract", "opaque"},
        {"delivery.guarantee", "exactly_once"},
        {"delivery.commit_interval", "100ms"},
        {"delivery.commit_records", "10000"},
        {"delivery.commit_size", "16MiB"},
        {"delivery.transaction_timeout", "15s"},
        {"delivery.source_header", "true"},
        {"errors.topic", "<source>.errors"},
        {"errors.quarantine", "<source>.quarantine"},
        {"errors.max_hops", "3"},
        {"errors.on_failure", "block"},
        {"errors.breaker.ratio", "0.5"},
        {"errors.breaker.min_records", "500"},
        {"errors.breaker.window", "30s"},
        {"topics.missing", "fail"},
        {"memory.per_lane", "64MiB"},
        {"health.stuck_after", "60s"},
        {"http.listen", "127.0.0.1:9465"},
        {"shutdown.timeout", "20s"},
        {"log.format", "json"},
        {"log.level", "info"},
        {"limits.decode_bytes", "64MiB"},
        {"state.dir", "/var/lib/agent-bridge"},
        {"state.snapshots_from", "<none>"},
        {"snapshots.topic", "<none>"},
        {"snapshots.max_wait", "10s"},
        {"snapshots.unknown_key", "empty"},
    };
    size_t count, with_default = 0;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        with_default += keys[i].fallback != NULL;
    }
    assert_int_equal(with_default, sizeof(defaults) / sizeof(defaults[0]));
    for (size_t i = 0; i < with_default; i++) {
        assert_string_equal(ab_key_find(defaults[i][0])->fallback, defaults[i][1]);
    }
}

static void test_table_keys_looked_up_in_their_section_only(void **state)
{
    (void)state;
    assert_ptr_equal(ab_key_find_in("", "lanes"), ab_key_find("lanes"));
    assert_ptr_equal(ab_key_find_in("sources[]", "topic"), ab_key_find("sources[].topic"));
    assert_ptr_equal(ab_key_find_in("sources[].routes", "approval"),
                     ab_key_find("sources[].routes.approval"));
    assert_null(ab_key_find_in("", "topic"));
    assert_null(ab_key_find_in("sources[]", "approval"));
    assert_null(ab_key_find_in("", "errors.topic"));
    assert_null(ab_key_find_in("kafka", "bootstrap.servers"));
    assert_null(ab_key_find_in("error", "s.topic"));
}

static void expect_nearest(const char *prefix, const char *name, const char *path)
{
    const ab_key_t *key = ab_key_nearest(prefix, name);
    assert_string_equal(key != NULL ? key->path : "none", path);
}

static void test_table_mistyped_names_nearest_found(void **state)
{
    (void)state;
    expect_nearest("", "lane", "lanes");
    expect_nearest("", "source", "sources");
    expect_nearest("", "Group", "group");
    expect_nearest("", "lgo", "log");
    expect_nearest("delivery", "commit-interval", "delivery.commit_interval");
    expect_nearest("delivery", "commitRecords", "delivery.commit_records");
    expect_nearest("delivery", "source_headers", "delivery.source_header");
    expect_nearest("sources[].routes", "tool_results", "sources[].routes.tool_result");
    expect_nearest("sources[]", "max_valeu", "sources[].max_value");
    expect_nearest("", "frobnicate", "none");
    expect_nearest("", "", "none");
    expect_nearest("", "x", "none");
}

static void test_table_names_at_the_length_limit_compared(void **state)
{
    (void)state;
    char *name = repeat_new('x', 41);
    expect_nearest("delivery", name + 1, "none");
    expect_nearest("delivery", name, "none");
    free(name);
}

static void test_table_names_of_other_sections_found_there(void **state)
{
    (void)state;
    assert_ptr_equal(ab_key_elsewhere("", "max_hops"), ab_key_find("errors.max_hops"));
    assert_ptr_equal(ab_key_elsewhere("", "bootstrap.servers"),
                     ab_key_find("kafka.bootstrap.servers"));
    assert_ptr_equal(ab_key_elsewhere("delivery", "routes"), ab_key_find("sources[].routes"));
    assert_null(ab_key_elsewhere("errors", "max_hops"));
    assert_null(ab_key_elsewhere("", "frobnicate"));
}

static void test_table_owned_properties_exact_and_families(void **state)
{
    (void)state;
    static const char *const owned[] = {
        "group.id",
        "transactional.id",
        "group.instance.id",
        "isolation.level",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "enable.partition.eof",
        "partition.assignment.strategy",
        "partitioner",
        "queuing.strategy",
        "max.in.flight",
        "max.in.flight.requests.per.connection",
        "allow.auto.create.topics",
        "message.max.bytes",
        "batch.size",
        "socket.nagle.disable",
        "transaction.timeout.ms",
        "enable.idempotence",
        "acks",
        "dr_cb",
        "dr_msg_cb",
        "rebalance_cb",
        "metadata.broker.list",
    };
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        assert_non_null(ab_owned_find(owned[i]));
    }
    static const char *const free_ones[] = {
        "bootstrap.servers",
        "client.id",
        "sasl.password",
        "group.id.x",
        "linger.ms",
        "debug",
        "compression.type",
        "enable.ssl.certificate.verification",
        "batch.num.messages",
        "cb",
        "statistics.interval.ms",
        "_c",
        "",
    };
    for (size_t i = 0; i < sizeof(free_ones) / sizeof(free_ones[0]); i++) {
        assert_null(ab_owned_find(free_ones[i]));
    }
}

static void test_table_docs_equal_the_committed_page(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ab_config_print_docs(out);
    assert_int_equal(fclose(out), 0);
    FILE *page = fopen("docs/configuration.md", "r");
    assert_non_null(page);
    char *committed = calloc(1, size + 2);
    assert_non_null(committed);
    size_t got = fread(committed, 1, size + 1, page);
    (void)fclose(page);
    if (got != size || memcmp(committed, text, size) != 0) {
        fail_msg("docs/configuration.md is not what the table says: write it anew with "
                 "`agent-bridge lint --print-docs > docs/configuration.md`");
    }
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    for (size_t i = 0; i < count; i++) {
        char *cell = text_new("`%s`", ab_key_name_view(&keys[i]));
        if (keys[i].type == AB_KEY_PROPERTY) {
            free(cell);
            cell = text_new("`%s`", keys[i].path);
        }
        assert_true((strstr(text, cell) != NULL) == (keys[i].type != AB_KEY_LATER));
        free(cell);
    }
    free(committed);
    free(text);
}

/* The example on the page is one that lint accepts. */
static void test_table_docs_example_without_findings(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ab_config_print_docs(out);
    assert_int_equal(fclose(out), 0);
    char *begin = strstr(text, "```yaml\n");
    assert_non_null(begin);
    begin += strlen("```yaml\n");
    char *end = strstr(begin, "```");
    assert_non_null(end);
    *end = '\0';
    ab_config_free(expect_config(begin));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_paths_unique_and_found),
        cmocka_unit_test(test_table_sections_stand_before_their_keys),
        cmocka_unit_test(test_table_defaults_legal_values_of_their_keys),
        cmocka_unit_test(test_table_defaults_as_promised),
        cmocka_unit_test(test_table_keys_looked_up_in_their_section_only),
        cmocka_unit_test(test_table_mistyped_names_nearest_found),
        cmocka_unit_test(test_table_names_at_the_length_limit_compared),
        cmocka_unit_test(test_table_names_of_other_sections_found_there),
        cmocka_unit_test(test_table_owned_properties_exact_and_families),
        cmocka_unit_test(test_table_docs_equal_the_committed_page),
        cmocka_unit_test(test_table_docs_example_without_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
