#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/config/tree.h"
#include "tests/unit/config/support.h"

/* What a text is, or what is wrong with it. Freed by tear_down(). */
typedef struct fixture {
    ab_config_memory_t *memory;
    ab_findings_t findings;
} fixture_t;

static int set_up(void **state)
{
    static fixture_t fixture;
    fixture = (fixture_t){.memory = ab_config_memory_new()};
    *state = &fixture;
    return fixture.memory != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    ab_config_memory_free(((fixture_t *)*state)->memory);
    return 0;
}

static const ab_node_t *parse_bytes(fixture_t *fixture, const char *text, size_t size)
{
    fixture->findings = (ab_findings_t){0};
    return ab_tree_parse(fixture->memory, text, size, &fixture->findings);
}

static const ab_node_t *parse(fixture_t *fixture, const char *text)
{
    return parse_bytes(fixture, text, strlen(text));
}

static void expect_printed(const fixture_t *fixture, const char *wanted)
{
    char *text = findings_text_new(&fixture->findings);
    assert_string_equal(text, wanted);
    free(text);
}

/* The text is refused as a whole, with these findings. */
static void expect_refused(fixture_t *fixture, const char *text, const char *wanted)
{
    assert_null(parse(fixture, text));
    expect_printed(fixture, wanted);
}

static void test_tree_block_style_kept_with_positions(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "# a comment\n"
                                           "one: word\n"
                                           "two:\n"
                                           "  - 'quoted'\n"
                                           "  - x: \"1\"\n"
                                           "    y:\n");
    expect_printed(fixture, "");
    assert_int_equal(root->kind, AB_NODE_MAP);
    assert_int_equal(root->count, 2);
    const ab_node_t *one = root->child, *two = root->child->next;
    assert_string_equal(one->name, "one");
    assert_string_equal(one->text, "word");
    assert_true(one->plain);
    assert_int_equal(one->name_line, 2);
    assert_int_equal(one->name_column, 1);
    assert_int_equal(one->line, 2);
    assert_int_equal(one->column, 6);
    assert_int_equal(two->kind, AB_NODE_LIST);
    assert_int_equal(two->count, 2);
    assert_null(two->next);
    assert_string_equal(two->child->text, "quoted");
    assert_false(two->child->plain);
    assert_int_equal(two->child->line, 4);
    assert_int_equal(two->child->column, 5);
    const ab_node_t *member = two->child->next;
    assert_int_equal(member->kind, AB_NODE_MAP);
    assert_string_equal(member->child->text, "1");
    assert_false(ab_node_is_null(member->child));
    assert_true(ab_node_is_null(member->child->next));
}

static void test_tree_json_reads_as_yaml(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root =
        parse(fixture, "{\n\t\"a\": [1, true, null],\n\t\"b\":{\"c\":\"\\u00e9\\/\"}\n}\n");
    expect_printed(fixture, "");
    assert_int_equal(root->child->count, 3);
    assert_string_equal(root->child->child->next->text, "true");
    assert_true(ab_node_is_null(root->child->child->next->next));
    assert_string_equal(root->child->next->child->text, "\xc3\xa9/");
}

static void test_tree_nulls_only_when_plain(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "[~, null, Null, NULL, '', 'null', nULL, '~']");
    bool wanted[] = {true, true, true, true, false, false, false, false};
    const ab_node_t *node = root->child;
    for (size_t i = 0; i < 8; i++, node = node->next) {
        assert_int_equal(ab_node_is_null(node), wanted[i]);
    }
    assert_null(node);
}

static void test_tree_nothing_in_the_file_said(void **state)
{
    fixture_t *fixture = *state;
    static const char *const empty[] = {"",      "\n\n",         "# only a comment\n",
                                        "---\n", "--- ~\n...\n", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        const ab_node_t *root = parse(fixture, empty[i]);
        assert_non_null(root);
        assert_int_equal(root->kind, AB_NODE_MAP);
        assert_int_equal(root->count, 0);
        expect_printed(fixture, "c: error: holds no configuration\n");
    }
}

static void test_tree_byte_order_mark_skipped(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "\xef\xbb\xbf"
                                           "a: 1\n");
    expect_printed(fixture, "");
    assert_string_equal(root->child->name, "a");
}

static void test_tree_key_twice_both_lines_first_kept(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "a: 1\n"
                                           "b:\n"
                                           "  - k: 1\n"
                                           "    j: {x: 1}\n"
                                           "    k: {y: [2, 3]}\n"
                                           "a: 3\n"
                                           "a: 4\n"
                                           "d: 5\n");
    expect_printed(fixture,
                   "c:5:5: error: b[0].k: written twice, on line 3 and on line 5: remove one\n"
                   "c:6:1: error: a: written twice, on line 1 and on line 6: remove one\n"
                   "c:7:1: error: a: written twice, on line 1 and on line 7: remove one\n");
    assert_int_equal(root->count, 3);
    assert_string_equal(root->child->text, "1");
    const ab_node_t *member = root->child->next->child;
    assert_int_equal(member->count, 2);
    assert_string_equal(member->child->text, "1");
    assert_string_equal(root->child->next->next->name, "d");
}

static void test_tree_anchors_aliases_tags_refused_rest_read(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "a: &x {k: 1}\n"
                                           "b: *x\n"
                                           "c: !!str 3\n"
                                           "d: [&y 1, !t [2]]\n"
                                           "e: fine\n");
    expect_printed(fixture,
                   "c:1:4: error: a: anchors (&name) are not read here: write the value out\n"
                   "c:2:4: error: b: aliases (*name) are not read here: write the value out\n"
                   "c:3:4: error: c: tags (!name) are not read here: write the value out\n"
                   "c:4:5: error: d[0]: anchors (&name) are not read here: write the value out\n"
                   "c:4:11: error: d[1]: tags (!name) are not read here: write the value out\n");
    const ab_node_t *node = root->child;
    for (; node->next != NULL; node = node->next) {
        assert_true(node->reported || node->child->reported);
    }
    assert_string_equal(node->text, "fine");
    assert_false(node->reported);
}

static void test_tree_keys_that_are_no_word_refused(void **state)
{
    fixture_t *fixture = *state;
    const char *message = "a key is a plain word here; nothing behind it was read\n";
    static const struct {
        const char *text;
        const char *where;
    } bad[] = {
        {"a: {[b]: 1}\n", "c:1:5: error: a: "}, {"? {a: 1}\n: 2\n", "c:1:3: error: "},
        {"&k a: 1\n", "c:1:1: error: "},        {"!t a: 1\n", "c:1:1: error: "},
        {"\"a\\0b\": 1\n", "c:1:1: error: "},   {"a: &x 1\n*x : 2\n", NULL},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *wanted =
            bad[i].where != NULL
                ? text_new("%s%s", bad[i].where, message)
                : text_new("c:1:4: error: a: anchors (&name) are not read here: write the value "
                           "out\nc:2:1: error: %s",
                           message);
        expect_refused(fixture, bad[i].text, wanted);
        free(wanted);
    }
}

static void test_tree_second_document_refused_first_read(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "a: 1\n---\na: 2\n");
    expect_printed(
        fixture, "c:2:1: error: a second document begins here: a configuration is one document\n");
    assert_non_null(root);
    assert_string_equal(root->child->text, "1");
}

static void test_tree_bytes_that_are_no_utf8_located(void **state)
{
    fixture_t *fixture = *state;
    expect_refused(fixture, "a: \xc3\xa9\nb: \xc3\xa9\xff\n",
                   "c:2:5: error: not UTF-8 text: invalid leading UTF-8 octet\n");
    expect_refused(fixture, "a: \xc3(\n",
                   "c:1:5: error: not UTF-8 text: invalid trailing UTF-8 octet\n");
    expect_refused(fixture, "a: x\x01\n",
                   "c:1:5: error: not UTF-8 text: control characters are not allowed\n");
    assert_null(parse_bytes(fixture, "a: \0b\n", 6));
    expect_printed(fixture, "c:1:4: error: not UTF-8 text: control characters are not allowed\n");
    assert_null(parse_bytes(fixture,
                            "\xff\xfe"
                            "a\0:\0",
                            6)); /* UTF-16 */
    expect_printed(fixture, "c:1:1: error: not UTF-8 text: invalid leading UTF-8 octet\n");
}

static void test_tree_syntax_errors_say_what_to_do(void **state)
{
    fixture_t *fixture = *state;
    expect_refused(fixture, "a:\n\tb: 1\n",
                   "c:2:1: error: not YAML: a tab: YAML is indented with blanks; nothing behind it "
                   "was read\n");
    expect_refused(
        fixture, "a: @x\n",
        "c:1:4: error: not YAML: a value that begins with @, ` or % needs quotes; nothing "
        "behind it was read\n");
    expect_refused(
        fixture, "a: b: c\n",
        "c:1:5: error: not YAML: a second `: ` on this line, or wrong indentation above: "
        "put a value that holds `: ` in quotes; nothing behind it was read\n");
    expect_refused(
        fixture, "a: 1\nb\nc: 2\n",
        "c:3:1: error: not YAML: a key needs a colon and a blank behind it, `key: value` "
        "(while scanning a simple key that begins on line 2); nothing behind it was read\n");
    expect_refused(fixture, "a: 'x\nb: 2\n",
                   "c:3:1: error: not YAML: a quote is opened and never closed (while scanning a "
                   "quoted scalar that begins on line 1); nothing behind it was read\n");
    expect_refused(
        fixture, "a:\n  b: 1\n c: 2\n",
        "c:3:2: error: not YAML: no key where one was expected: keys of one mapping begin "
        "in the same column (while parsing a block mapping that begins on line 1); "
        "nothing behind it was read\n");
    expect_refused(fixture, "a:\n  - 1\n  b: 1\n",
                   "c:3:3: error: not YAML: no `- ` where one was expected: members of one list "
                   "begin in the same column (while parsing a block collection that begins on line "
                   "2); nothing behind it was read\n");
    expect_refused(
        fixture, "a: [1, 2\n",
        "c:2:1: error: not YAML: no `,` or `]` where one was expected: inside […] a value "
        "with ${VAR} needs quotes (while parsing a flow sequence that begins on line 1); "
        "nothing behind it was read\n");
    expect_refused(
        fixture, "a: {b: ${X}, c: 1}\n",
        "c:1:9: error: not YAML: no `,` or `}` where one was expected: inside {…} a value "
        "with ${VAR} needs quotes; nothing behind it was read\n");
}

static void test_tree_depth_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    for (size_t depth = AB_CONFIG_DEPTH_MAX - 1; depth <= AB_CONFIG_DEPTH_MAX + 1; depth++) {
        char *open = repeat_new('[', depth), *close = repeat_new(']', depth);
        char *text = text_new("%s%s", open, close);
        if (depth <= AB_CONFIG_DEPTH_MAX) {
            assert_non_null(parse(fixture, text));
            expect_printed(fixture, "");
        } else {
            expect_refused(
                fixture, text,
                "c:1:17: error: [0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested "
                "more than 16 deep; nothing behind it was read\n");
        }
        free(text);
        free(open);
        free(close);
    }
}

static void test_tree_very_deep_nesting_refused_quickly(void **state)
{
    fixture_t *fixture = *state;
    char *open = repeat_new('[', AB_CONFIG_FILE_MAX);
    assert_null(parse(fixture, open));
    assert_int_equal(fixture->findings.mistakes, 1);
    free(open);
}

static void test_tree_values_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    for (size_t count = AB_CONFIG_NODES_MAX - 1; count <= AB_CONFIG_NODES_MAX + 1; count++) {
        size_t members = count - 1; /* the list itself is a value too */
        char *text = malloc(2 * members + 2);
        assert_non_null(text);
        for (size_t i = 0; i < members; i++) {
            text[2 * i] = i == 0 ? '[' : ',';
            text[2 * i + 1] = 'x';
        }
        text[2 * members] = ']';
        text[2 * members + 1] = '\0';
        const ab_node_t *root = parse(fixture, text);
        if (count <= AB_CONFIG_NODES_MAX) {
            assert_non_null(root);
            assert_int_equal(root->count, members);
        } else {
            assert_null(root);
            expect_printed(fixture, "c:1:131072: error: [65535]: the file holds more than 65536 "
                                    "values\n");
        }
        free(text);
    }
}

static void test_tree_keys_of_one_mapping_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    for (size_t count = AB_CONFIG_KEYS_MAX - 1; count <= AB_CONFIG_KEYS_MAX + 1; count++) {
        char *text = NULL;
        size_t text_size;
        FILE *out = open_memstream(&text, &text_size);
        for (size_t i = 0; i < count; i++) {
            fprintf(out, "k%zu: 1\n", i);
        }
        assert_int_equal(fclose(out), 0);
        if (count <= AB_CONFIG_KEYS_MAX) {
            assert_non_null(parse(fixture, text));
            expect_printed(fixture, "");
        } else {
            expect_refused(fixture, text,
                           "c:1025:1: error: k1024: more than 1024 keys in one "
                           "mapping\n");
        }
        free(text);
    }
}

static void test_tree_value_length_at_the_limit(void **state)
{
    fixture_t *fixture = *state;
    for (size_t size = AB_CONFIG_VALUE_MAX - 1; size <= AB_CONFIG_VALUE_MAX + 1; size++) {
        char *value = repeat_new('v', size);
        char *text = text_new("a: %s\nb: 2\n", value);
        const ab_node_t *root = parse(fixture, text);
        assert_non_null(root);
        expect_printed(fixture, size <= AB_CONFIG_VALUE_MAX
                                    ? ""
                                    : "c:1:4: error: a: the value is longer than 65536 bytes\n");
        assert_string_equal(root->child->text, size <= AB_CONFIG_VALUE_MAX ? value : "");
        assert_string_equal(root->child->next->text, "2");
        free(text);
        free(value);
    }
}

static void test_tree_nul_in_a_value_refused(void **state)
{
    fixture_t *fixture = *state;
    const ab_node_t *root = parse(fixture, "a: \"x\\0y\"\n");
    expect_printed(fixture, "c:1:4: error: a: holds a NUL character, which no value can\n");
    assert_true(root->child->reported);
    assert_string_equal(root->child->text, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tree_block_style_kept_with_positions),
        TEST(test_tree_json_reads_as_yaml),
        TEST(test_tree_nulls_only_when_plain),
        TEST(test_tree_nothing_in_the_file_said),
        TEST(test_tree_byte_order_mark_skipped),
        TEST(test_tree_key_twice_both_lines_first_kept),
        TEST(test_tree_anchors_aliases_tags_refused_rest_read),
        TEST(test_tree_keys_that_are_no_word_refused),
        TEST(test_tree_second_document_refused_first_read),
        TEST(test_tree_bytes_that_are_no_utf8_located),
        TEST(test_tree_syntax_errors_say_what_to_do),
        TEST(test_tree_depth_at_the_limit),
        TEST(test_tree_very_deep_nesting_refused_quickly),
        TEST(test_tree_values_at_the_limit),
        TEST(test_tree_keys_of_one_mapping_at_the_limit),
        TEST(test_tree_value_length_at_the_limit),
        TEST(test_tree_nul_in_a_value_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
