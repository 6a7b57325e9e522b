#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/config/support.h"

#define ROUNDS   8000u
#define TEXT_MAX 4096u
#define SECRET   "Hunter2Hunter2"

static const char *const seeds[] = {
    MINIMAL "    start: '2026-01-31T00:00:00Z'\n    max_value: 8MiB\nlanes: 2\n"
            "delivery: {commit_interval: 100ms, source_header: true}\nerrors: {quarantine: off}\n",
    "kafka:\n  bootstrap.servers: b:1\n  sasl.password: " SECRET "\n  client.id: '${T:-x}$$'\n"
    "group: &a g\ninstance: *a\nsources:\n  - topic: in\n    type: !!str envelope\n    routes:\n"
    "      external_event: dead_letter\n      tool_result: drop\n      approval: |\n        block\n"
    "      export_request: >-\n        folded\n",
    "{\"kafka\":{\"bootstrap.servers\":\"b:1\",\"sasl.password\":\"" SECRET "\"},\"group\":\"g\","
    "\"sources\":[{\"topic\":\"in\",\"routes\":{\"external_event\":\"o\",\"tool_result\":\"o\","
    "\"approval\":\"o\",\"export_request\":\"o\"}}]}\n",
};
#define SEEDS (sizeof(seeds) / sizeof(seeds[0]))

/* What YAML and this reader give a meaning to; pasted in at random. */
static const char *const pieces[] = {
    "\n",
    "  ",
    "\t",
    ": ",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "|",
    ">",
    "&a ",
    "*a",
    "!t ",
    "#",
    "? ",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "${",
    "${T}",
    "$$",
    "file:/",
    "env:T",
    "\\",
    "\\x00",
    "\xff",
    "\xc3",
    "\xef\xbb\xbf",
    "\x01",
    "~",
    "18446744073709551615GiB",
    "<<: *a\n",
    "sources[0]",
    ".",
    "sources:\n  - topic: x\n",
    "99999999999999999999",
};
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* xorshift: the same runs everywhere. */
static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* Takes out, doubles, replaces or pastes in a few places. Returns the new size. */
static size_t mutate(uint64_t *random, char *text, size_t size)
{
    unsigned changes = 1 + (unsigned)(next_random(random) % 4);
    for (unsigned i = 0; i < changes; i++) {
        size_t at = next_random(random) % (size + 1);
        size_t length = next_random(random) % 16;
        length = length < size - at ? length : size - at;
        char copy[16];
        memcpy(copy, text + at, length);
        const char *piece = pieces[next_random(random) % PIECES];
        switch (next_random(random) % 4) {
        case 0:
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            continue;
        case 1:
            if (at < size) {
                text[at] = (char)next_random(random);
            }
            continue;
        case 2:
            piece = copy;
            break;
        default:
            length = strlen(piece);
            break;
        }
        if (size + length <= TEXT_MAX) {
            memmove(text + at + length, text + at, size - at);
            memcpy(text + at, piece, length);
            size += length;
        }
    }
    return size;
}

/* Valid UTF-8, on one line. */
static bool is_clean(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        unsigned more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc2 ? 1 : 0;
        if (*at < ' ' || *at == 0x7f || (*at >= 0x80 && more == 0) || *at > 0xf4) {
            return false;
        }
        for (at++; more > 0; more--, at++) {
            if ((*at & 0xc0u) != 0x80u) {
                return false;
            }
        }
    }
    return true;
}

/* What holds for every text: a config or a mistake, positions inside the text, clean messages. */
static void hold(const char *text, size_t size, const ab_config_t *config,
                 const ab_findings_t *findings)
{
    size_t lines = 2; /* an error at the end may stand on the line behind the last one */
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n' || text[i] == '\r' || (unsigned char)text[i] >= 0x80;
    }
    assert_true((config == NULL) == (findings->mistakes > 0));
    assert_true(findings->count <= AB_FINDINGS_MAX);
    assert_true(findings->count <= findings->mistakes + findings->warnings);
    for (size_t i = 0; i < findings->count; i++) {
        assert_true(findings->items[i].line <= lines);
        assert_true(is_clean(findings->items[i].key));
        assert_true(is_clean(findings->items[i].message));
        assert_true(findings->items[i].message[0] != '\0');
    }
    if (config != NULL) {
        assert_true(config->group != NULL && config->instance != NULL && config->lanes > 0);
        assert_true(config->source_count > 0);
        for (size_t i = 0; i < config->source_count; i++) {
            const ab_policy_t *policy = &config->sources[i].policy;
            assert_non_null(policy->topic);
            assert_non_null(policy->errors_topic);
            for (unsigned slot = 0; slot < AB_SLOT_COUNT; slot++) {
                assert_true(policy->routes[slot].kind != AB_ROUTE_UNSET);
            }
        }
    }
}

static void test_config_mutated_texts_config_or_mistake(void **state)
{
    (void)state;
    static ab_findings_t findings;
    uint64_t random = 0x9e3779b97f4a7c15u;
    unsigned good = 0, bad = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[TEXT_MAX];
        const char *seed = seeds[round % SEEDS];
        size_t size = strlen(seed);
        memcpy(text, seed, size);
        size = mutate(&random, text, size);
        char *exact = malloc(size > 0 ? size : 1); /* so that a read past the end is seen */
        assert_non_null(exact);
        memcpy(exact, text, size);
        ab_config_t *config = ab_config_parse("c", exact, size, NULL, &findings);
        hold(exact, size, config, &findings);
        if (config != NULL) {
            good++;
        } else {
            bad++;
        }
        ab_config_free(config);
        free(exact);
    }
    assert_true(good > ROUNDS / 100); /* both ways were taken */
    assert_true(bad > ROUNDS / 100);
}

/* A password stays out of every message, whatever is wrong in the lines behind it. */
static void test_config_mutated_texts_secret_unsaid(void **state)
{
    (void)state;
    static ab_findings_t findings;
    uint64_t random = 0x2545f4914f6cdd1du;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[TEXT_MAX], tail[TEXT_MAX];
        const char *seed = seeds[1];
        size_t head = (size_t)(strchr(strstr(seed, SECRET), '\n') - seed) + 1;
        size_t tail_size = strlen(seed) - head;
        memcpy(text, seed, head);
        memcpy(tail, seed + head, tail_size);
        tail_size = mutate(&random, tail, tail_size);
        tail_size = tail_size < TEXT_MAX - head ? tail_size : TEXT_MAX - head;
        memcpy(text + head, tail, tail_size);
        ab_config_t *config = ab_config_parse("c", text, head + tail_size, NULL, &findings);
        for (size_t i = 0; i < findings.count; i++) {
            if (strstr(findings.items[i].message, "Hunter2") != NULL ||
                strstr(findings.items[i].key, "Hunter2") != NULL) {
                fail_msg("%s: %s", findings.items[i].key, findings.items[i].message);
            }
        }
        ab_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_mutated_texts_config_or_mistake),
        cmocka_unit_test(test_config_mutated_texts_secret_unsaid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
