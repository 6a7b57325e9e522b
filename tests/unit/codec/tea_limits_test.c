/* Each limit of tea-protocol one below, at and one above it, counted as the protocol counts. */
#include "tests/unit/codec/tea_support.h"

#include <stdio.h>

#define ID "\"" AW_TEST_TEA_ID("7") "\""
#define TS "\"" AW_TEST_TEA_TIMESTAMP "\""

/* Payloads with one place left open, '@'. */
#define USER(block)                                                                                \
    "{\"message\":{\"type\":\"user\",\"id\":" ID ",\"timestamp\":" TS ",\"content\":[" block "]}}"
#define ASSISTANT(block, stop)                                                                     \
    "{\"message\":{\"type\":\"assistant\",\"id\":" ID ",\"timestamp\":" TS                         \
    ",\"stopReason\":\"" stop "\",\"content\":[" block "]}}"
#define TOOL_CALL(name, provider, arguments)                                                       \
    "{\"type\":\"tool_call\",\"toolCallId\":" ID ",\"toolName\":\"" name                           \
    "\",\"providerCallId\":\"" provider "\",\"arguments\":" arguments "}"
#define HOSTED(outcome, sources, continuation)                                                     \
    "{\"type\":\"hosted_tool\",\"activity\":{\"toolCallId\":" ID ",\"providerCallId\":\"p\","      \
    "\"toolName\":\"t\",\"arguments\":{},\"outcome\":" outcome ",\"sources\":[" sources            \
    "],\"continuation\":" continuation "}}"
#define SUCCESS "{\"status\":\"success\"}"
#define CITATION(source, members)                                                                  \
    "{\"type\":\"citation\",\"citation\":{\"source\":" source members "}}"
#define SOURCE        "{\"url\":\"https://a.example/\"}"
#define IMAGE(source) "{\"type\":\"image\",\"mimeType\":\"image/png\",\"source\":" source "}"
#define FINISHED(shown)                                                                            \
    "{\"toolCallId\":" ID ",\"isError\":false,\"content\":[{\"type\":\"text\",\"text\":\"x\"}],"   \
    "\"presentation\":" shown "}"
#define CHANGE(path, hunks, patch)                                                                 \
    FINISHED("{\"type\":\"code_change\",\"value\":{\"path\":\"" path                               \
             "\",\"kind\":\"update\",\"hunks\":[" hunks "],\"truncated\":false,\"patch\":\"" patch \
             "\"}}")
#define HUNK(lines, count)                                                                         \
    "{\"oldStart\":1,\"newStart\":1,\"oldLines\":" count ",\"newLines\":" count                    \
    ",\"lines\":[" lines "]}"
#define LINE(text) "{\"kind\":\"context\",\"oldLine\":1,\"newLine\":1,\"text\":\"" text "\"}"
#define FETCH(url, mime, body, more)                                                               \
    FINISHED("{\"type\":\"web_fetch\",\"value\":{\"requestedUrl\":\"" url                          \
             "\",\"finalUrl\":\"https://a.example/\",\"mimeType\":\"" mime "\",\"body\":\"" body   \
             "\"" more "}}")
#define TOOL_RESULT(error)                                                                         \
    "{\"message\":{\"type\":\"tool_result\",\"id\":" ID ",\"timestamp\":" TS ",\"toolCallId\":" ID \
    ",\"toolName\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"isError\":true,"       \
    "\"error\":" error "}}"
#define APPROVAL(capabilities)                                                                     \
    "{\"approvalId\":" ID ",\"toolCallId\":" ID ",\"expiresAt\":" TS                               \
    ",\"capabilities\":[" capabilities "],\"resources\":[\"r\"]}"
#define RETRY(attempt, delay)                                                                      \
    "{\"messageId\":" ID ",\"attempt\":" attempt ",\"maxRetries\":4294967295,\"delayMs\":" delay "}"

/** How the place is filled. */
typedef enum filling {
    BYTES,      /* n times the unit */
    ITEMS,      /* n times the unit, commas between */
    NUMBER,     /* the number n */
    ARRAYS,     /* n arrays, each in the one before */
    BASE64,     /* n times 'A', in steps of four */
    CHARACTERS, /* n times U+1F375 */
} filling_t;

typedef struct limit {
    aw_tea_kind_t kind;
    const char *type;
    const char *payload; /* '@' is the place */
    filling_t filling;
    const char *unit;
    uint64_t max;
    const char *over; /* the verdict above it */
} limit_t;

static const limit_t limits[] = {
    {AW_TEA_COMMAND, "set_profile", "{\"profileId\":\"@\"}", BYTES, "q", 128, "invalid:selector"},
    {AW_TEA_COMMAND, "set_model", "{\"model\":{\"providerId\":\"@\",\"modelId\":\"m\"}}", BYTES,
     "q", 128, "invalid:selector"},
    {AW_TEA_COMMAND, "set_model", "{\"model\":{\"providerId\":\"p\",\"modelId\":\"@\"}}", BYTES,
     "q", 128, "invalid:selector"},
    {AW_TEA_COMMAND, "steer", "{\"text\":\"@\"}", BYTES, "x", 262144, "invalid:text"},
    {AW_TEA_COMMAND, "steer", "{\"text\":\"@\"}", BYTES, "\\u0041", 262144, "invalid:text"},
    {AW_TEA_COMMAND, "steer", "{\"text\":\"@\"}", BYTES, "\\u0001", 262144, "invalid:text"},
    {AW_TEA_COMMAND, "compact_session", "{\"instruction\":\"@\"}", BYTES, "x", 262144,
     "invalid:text"},
    {AW_TEA_COMMAND, "prompt", USER("{\"type\":\"text\",\"text\":\"@\"}"), BYTES, "x", 1048576,
     "invalid:text"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT("{\"type\":\"thinking\",\"text\":\"@\"}", "s"),
     BYTES, "x", 1048576, "invalid:text"},
    {AW_TEA_COMMAND, "prompt", USER(IMAGE("{\"type\":\"inline_base64\",\"data\":\"@\"}")), BASE64,
     "AAAA", 6291456, "invalid:image"},
    {AW_TEA_COMMAND, "prompt", USER(IMAGE("{\"type\":\"reference\",\"reference\":\"@\"}")), BYTES,
     "x", 1024, "invalid:image"},
    {AW_TEA_COMMAND, "prompt", USER("@"), ITEMS, "{\"type\":\"text\",\"text\":\".\"}", 256,
     "invalid:content"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT("{\"type\":\"text\",\"text\":\"x\"}", "@"),
     BYTES, "s", 128, "invalid:stop_reason"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(TOOL_CALL("@", "p", "{}"), "s"), BYTES, "t", 128,
     "invalid:tool_name"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(TOOL_CALL("t", "@", "{}"), "s"), BYTES, "p", 256,
     "invalid:provider_id"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(TOOL_CALL("t", "p", "{\"a\":\"@\"}"), "s"),
     BYTES, "x", 262144 - 8, "invalid:arguments"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(TOOL_CALL("t", "p", "{\"a\": @ }"), "s"), ARRAYS,
     "", 31, "invalid:arguments"},
    {AW_TEA_EVENT, "tool_call_requested",
     "{\"toolCallId\":" ID ",\"toolName\":\"t\",\"arguments\":{\"a\":\"\\u0001@\"}}", BYTES, "x",
     262144 - 14, "invalid:arguments"},
    {AW_TEA_RECORD, "message_committed", TOOL_RESULT("{\"code\":\"@\",\"message\":\"m\"}"), BYTES,
     "c", 128, "invalid:tool_failure"},
    {AW_TEA_RECORD, "message_committed", TOOL_RESULT("{\"code\":\"c\",\"message\":\"@\"}"), BYTES,
     "m", 4096, "invalid:tool_failure"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(
         HOSTED("{\"status\":\"error\",\"error\":{\"code\":\"@\",\"message\":\"m\"}}", "", "null"),
         "s"),
     BYTES, "5", 128, "invalid:hosted"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(
         HOSTED("{\"status\":\"error\",\"error\":{\"code\":\"c\",\"message\":\"@\"}}", "", "null"),
         "s"),
     BYTES, "m", 4096, "invalid:hosted"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(HOSTED(SUCCESS, "@", "null"), "s"), ITEMS,
     SOURCE, 64, "invalid:hosted"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(HOSTED(SUCCESS, "", "{\"provider\":\"@\",\"format\":\"f\",\"payload\":1}"), "s"),
     BYTES, "p", 128, "invalid:continuation"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(HOSTED(SUCCESS, "", "{\"provider\":\"p\",\"format\":\"@\",\"payload\":1}"), "s"),
     BYTES, "f", 128, "invalid:continuation"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(HOSTED(SUCCESS, "", "{\"provider\":\"p\",\"format\":\"f\",\"payload\":\"@\"}"), "s"),
     BYTES, "x", 4194304 - 2, "invalid:continuation"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(HOSTED(SUCCESS, "", "{\"provider\":\"p\",\"format\":\"f\",\"payload\":@}"), "s"),
     ARRAYS, "", 64, "invalid:continuation"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(CITATION("{\"url\":\"https://a.example/@\"}", ""), "s"), BYTES, "u", 8192 - 18,
     "invalid:source"},
    /* as it is written, a character beyond ASCII takes nine bytes */
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(CITATION("{\"url\":\"https://a.example/@aa\"}", ""), "s"), BYTES, "\xe2\x82\xac",
     908, "invalid:source"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(CITATION("{\"url\":\"https://a.example/\",\"title\":\"@\"}", ""), "s"), BYTES, "t",
     1024, "invalid:source"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(CITATION("{\"url\":\"https://a.example/\",\"snippet\":\"@\"}", ""), "s"), BYTES, "s",
     65536, "invalid:source"},
    {AW_TEA_RECORD, "message_committed", ASSISTANT(CITATION(SOURCE, ",\"citedText\":\"@\""), "s"),
     BYTES, "c", 65536, "invalid:citation"},
    {AW_TEA_RECORD, "message_committed",
     ASSISTANT(CITATION(SOURCE, ",\"startIndex\":0,\"endIndex\":@"), "s"), NUMBER, "", 4294967295,
     "invalid:type"},
    {AW_TEA_EVENT, "message_delta",
     "{\"messageId\":" ID ",\"contentIndex\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"@\"}}",
     BYTES, "d", 65536, "invalid:text"},
    {AW_TEA_EVENT, "message_delta",
     "{\"messageId\":" ID ",\"contentIndex\":@,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}",
     NUMBER, "", 4294967295, "invalid:type"},
    {AW_TEA_EVENT, "approval_requested", APPROVAL("@"), ITEMS, "\"c\"", 64,
     "invalid:approval_items"},
    {AW_TEA_EVENT, "approval_requested", APPROVAL("\"@\""), BYTES, "c", 1024,
     "invalid:approval_items"},
    {AW_TEA_EVENT, "tool_execution_progress",
     "{\"toolCallId\":" ID ",\"message\":\"@\",\"completedUnits\":0}", BYTES, "m", 4096,
     "invalid:progress"},
    {AW_TEA_EVENT, "tool_execution_progress",
     "{\"toolCallId\":" ID ",\"message\":\"m\",\"completedUnits\":@}", NUMBER, "", 9007199254740991,
     "invalid:progress"},
    {AW_TEA_EVENT, "hosted_tool_completed",
     "{\"toolCallId\":" ID ",\"toolName\":\"t\",\"arguments\":{},\"outcome\":" SUCCESS
     ",\"sourceCount\":@}",
     NUMBER, "", 64, "invalid:hosted"},
    {AW_TEA_EVENT, "model_retry_scheduled", RETRY("@", "0"), NUMBER, "", 4294967295,
     "invalid:type"},
    {AW_TEA_EVENT, "model_retry_scheduled", RETRY("1", "@"), NUMBER, "", 9007199254740991,
     "invalid:retry"},
    {AW_TEA_EVENT, "run_finished",
     "{\"status\":\"failed\",\"usage\":{\"inputTokens\":@,\"outputTokens\":0}}", NUMBER, "",
     9007199254740991, "invalid:usage"},
    {AW_TEA_EVENT, "run_finished",
     "{\"status\":\"failed\",\"cost\":{\"amount\":\"1@\",\"currency\":\"EUR\",\"unit\":"
     "\"major_currency\"}}",
     BYTES, "2", 35, "invalid:cost"},
    {AW_TEA_EVENT, "run_finished",
     "{\"status\":\"failed\",\"cost\":{\"amount\":\"0.@\",\"currency\":\"EUR\",\"unit\":"
     "\"major_currency\"}}",
     BYTES, "2", 18, "invalid:cost"},
    {AW_TEA_RECORD, "run_interrupted", "{\"runId\":" ID ",\"turnId\":" ID ",\"reason\":\"@\"}",
     BYTES, "r", 4096, "invalid:reason"},
    {AW_TEA_RECORD, "tool_execution_finished", CHANGE("@", "", ""), BYTES, "p", 4096,
     "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", CHANGE("p", "", "@"), BYTES, "p", 65536,
     "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", CHANGE("p", "@", ""), ITEMS, HUNK(LINE(""), "1"), 32,
     "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", CHANGE("p", HUNK(LINE("@"), "1"), ""), BYTES, "l",
     1024, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished",
     FINISHED("{\"type\":\"code_change\",\"value\":{\"path\":\"p\",\"kind\":\"update\",\"hunks\":"
              "[],\"truncated\":false,\"firstChangedLine\":@}}"),
     NUMBER, "", 4294967295, "invalid:type"},
    {AW_TEA_RECORD, "tool_execution_finished", FETCH("https://a.example/@", "m", "", ""), BYTES,
     "u", 2048 - 18, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", FETCH("https://a.example/#@", "m", "", ""), BYTES,
     "f", 2048 - 19, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", FETCH("https://a.example/", "@", "", ""), BYTES, "m",
     128, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished",
     FETCH("https://a.example/", "m", "", ",\"title\":\"@\""), BYTES, "t", 4096,
     "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", FETCH("https://a.example/", "m", "@", ""), BYTES,
     "b", 100000, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished", FETCH("https://a.example/", "m", "@", ""),
     CHARACTERS, "\xf0\x9f\x8d\xb5", 100000, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished",
     FETCH("https://a.example/", "m", "", ",\"redirects\":[@]"), ITEMS,
     "{\"from\":\"http://a/\",\"to\":\"http://b/\",\"status\":301}", 10, "invalid:presentation"},
    {AW_TEA_RECORD, "tool_execution_finished",
     FETCH("https://a.example/", "m", "",
           ",\"redirects\":[{\"from\":\"http://a/\",\"to\":\"http://b/\",\"status\":@}]"),
     NUMBER, "", 399, "invalid:presentation"},
};

/** What goes into the place for a count of n. */
static const char *filling_of(const limit_t *limit, uint64_t n)
{
    static char text[AW_TEST_TEA_ROOM];
    size_t size = 0;
    size_t unit = strlen(limit->unit);
    if (limit->filling == NUMBER) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)n);
        return text;
    }
    if (limit->filling == ARRAYS) {
        memset(text, '[', n);
        memset(text + n, ']', n);
        text[2 * n] = '\0';
        return text;
    }
    uint64_t times = limit->filling == BASE64 ? n / 4 : n;
    for (uint64_t i = 0; i < times; i++) {
        if (limit->filling == ITEMS && i > 0) {
            text[size++] = ',';
        }
        memcpy(text + size, limit->unit, unit);
        size += unit;
    }
    text[size] = '\0';
    return text;
}

static aw_span_t text_with(const limit_t *limit, uint64_t n)
{
    const char *place = strchr(limit->payload, '@');
    assert_non_null(place);
    aw_span_t payload = aw_test_tea_text("%.*s%s%s", (int)(place - limit->payload), limit->payload,
                                         filling_of(limit, n), place + 1);
    return aw_test_tea_envelope(limit->kind, "", limit->type, (const char *)payload.data);
}

static void test_limits_each_is_inclusive_and_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const limit_t *limit = &limits[i];
        uint64_t step = limit->filling == BASE64 ? 4 : 1;
        aw_test_tea_expect(limit->kind, AW_TEA_EDITION_A, text_with(limit, limit->max - step),
                           "ok");
        aw_test_tea_expect(limit->kind, AW_TEA_EDITION_A, text_with(limit, limit->max), "ok");
        aw_test_tea_expect(limit->kind, AW_TEA_EDITION_A, text_with(limit, limit->max + step),
                           limit->over);
    }
}

static void test_limits_texts_must_not_be_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const limit_t *limit = &limits[i];
        const char *place = strchr(limit->payload, '@');
        bool may_be_empty =
            strstr(limit->payload, "amount") != NULL || strstr(limit->payload, "body\":\"@") ||
            strstr(limit->payload, "patch\":\"@") || strstr(limit->payload, "text\":\"@\"}]}],");
        bool whole = place[-1] == '"' && place[1] == '"';
        if (limit->filling == BYTES && whole && !may_be_empty &&
            strstr(limit->payload, "\"a\":\"@") == NULL &&
            strstr(limit->payload, "payload\":\"@") == NULL &&
            strstr(limit->payload, HUNK(LINE("@"), "1")) == NULL) {
            aw_test_tea_expect(limit->kind, AW_TEA_EDITION_A, text_with(limit, 0), limit->over);
        }
    }
}

static aw_span_t nested(uint64_t depth)
{
    char members[400] = "\"n\":";
    memset(members + 4, '[', depth);
    memset(members + 4 + depth, ']', depth);
    members[4 + 2 * depth] = ',';
    members[5 + 2 * depth] = '\0';
    return aw_test_tea_envelope(AW_TEA_COMMAND, members, "abort", "{}");
}

static void test_limits_nesting_of_the_whole_text_is_127(void **state)
{
    (void)state;
    aw_test_tea_expect(AW_TEA_COMMAND, AW_TEA_EDITION_A, nested(125), "ok");
    aw_test_tea_expect(AW_TEA_COMMAND, AW_TEA_EDITION_A, nested(126), "ok");
    aw_test_tea_expect(AW_TEA_COMMAND, AW_TEA_EDITION_A, nested(127), "malformed_json");
}

static void test_limits_any_depth_and_size_is_a_verdict(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    static const char bytes[] = "[{\"";
    for (size_t i = 0; i < sizeof bytes - 1; i++) {
        const char *run = aw_test_tea_run(bytes[i], SIZE);
        aw_test_tea_expect(AW_TEA_EVENT, AW_TEA_EDITION_A, aw_span_view(run, SIZE),
                           "malformed_json");
    }
}

static void test_limits_discriminator_has_128_bytes(void **state)
{
    (void)state;
    static const char *const verdicts[] = {"unsupported_type", "unsupported_type",
                                           "invalid:discriminator"};
    for (unsigned i = 0; i < 3; i++) {
        aw_test_tea_expect(
            AW_TEA_COMMAND, AW_TEA_EDITION_A,
            aw_test_tea_envelope(AW_TEA_COMMAND, "", aw_test_tea_run('w', 127 + i), "{}"),
            verdicts[i]);
    }
}

static aw_span_t with_metadata(const char *metadata)
{
    aw_span_t members = aw_test_tea_text("\"metadata\":%s,", metadata);
    return aw_test_tea_envelope(AW_TEA_RECORD, (const char *)members.data, "run_cancelled",
                                "{\"runId\":" ID "}");
}

static void test_limits_metadata_has_16_namespaces_16384_bytes_8_levels(void **state)
{
    (void)state;
    for (unsigned count = 15; count <= 17; count++) {
        char metadata[1000] = "{";
        size_t size = 1;
        for (unsigned i = 0; i < count; i++) {
            size += (size_t)snprintf(metadata + size, sizeof metadata - size, "%s\"com.k%u\":0",
                                     i > 0 ? "," : "", i);
        }
        snprintf(metadata + size, sizeof metadata - size, "}");
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A, with_metadata(metadata),
                           count <= 16 ? "ok" : "invalid:metadata");
    }
    for (unsigned size = 16383; size <= 16385; size++) {
        /* {"com.kettle":"…"} */
        aw_span_t metadata =
            aw_test_tea_text("{ \"com.kettle\" : \"%s\" }", aw_test_tea_run('x', size - 17));
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A,
                           with_metadata((const char *)metadata.data),
                           size <= 16384 ? "ok" : "invalid:metadata");
    }
    for (unsigned depth = 7; depth <= 9; depth++) {
        aw_span_t metadata = aw_test_tea_text("{\"com.kettle\":%s%s}", aw_test_tea_run('[', depth),
                                              aw_test_tea_run(']', depth));
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A,
                           with_metadata((const char *)metadata.data),
                           depth <= 8 ? "ok" : "invalid:metadata");
    }
}

#define SKIPPABLE "\"compatibility\":\"skippable_observation\","

static void test_limits_unknown_event_has_65536_bytes_and_32_levels(void **state)
{
    (void)state;
    /* without blanks and with no escape, so that its size is its canonical size */
    size_t around = aw_test_tea_envelope(AW_TEA_EVENT, SKIPPABLE, "tide_gauge", "\"\"").size;
    for (size_t size = 65535; size <= 65537; size++) {
        aw_span_t payload = aw_test_tea_text("\"%s\"", aw_test_tea_run('g', size - around));
        aw_span_t text =
            aw_test_tea_envelope(AW_TEA_EVENT, SKIPPABLE, "tide_gauge", (const char *)payload.data);
        assert_int_equal(text.size, size);
        aw_test_tea_expect(AW_TEA_EVENT, AW_TEA_EDITION_A, text,
                           size <= 65536 ? "skippable" : "invalid:bounds");
    }
    for (unsigned depth = 30; depth <= 32; depth++) {
        aw_span_t payload =
            aw_test_tea_text("%s%s", aw_test_tea_run('[', depth), aw_test_tea_run(']', depth));
        aw_test_tea_expect(
            AW_TEA_EVENT, AW_TEA_EDITION_A,
            aw_test_tea_envelope(AW_TEA_EVENT, SKIPPABLE, "tide_gauge", (const char *)payload.data),
            depth <= 31 ? "skippable" : "invalid:bounds");
    }
}

static void test_limits_hunk_has_128_lines_and_a_change_1024(void **state)
{
    (void)state;
    static char lines[20000];
    for (unsigned count = 127; count <= 129; count++) {
        size_t size = 0;
        for (unsigned i = 0; i < count; i++) {
            size += (size_t)snprintf(lines + size, sizeof lines - size, "%s" LINE(""),
                                     i > 0 ? "," : "");
        }
        aw_span_t payload =
            aw_test_tea_text(CHANGE("p", HUNK("%s", "%u"), ""), count, count, lines);
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A,
                           aw_test_tea_envelope(AW_TEA_RECORD, "", "tool_execution_finished",
                                                (const char *)payload.data),
                           count <= 128 ? "ok" : "invalid:presentation");
    }
    /* 1,023, 1,024 and 1,025 lines in nine hunks: eight of 127 and the rest */
    for (unsigned rest = 7; rest <= 9; rest++) {
        static char hunks[200000];
        size_t size = 0;
        for (unsigned hunk = 0; hunk < 9; hunk++) {
            unsigned count = hunk < 8 ? 127 : rest;
            size +=
                (size_t)snprintf(hunks + size, sizeof hunks - size,
                                 "%s{\"oldStart\":1,\"newStart\":1,\"oldLines\":%u,\"newLines\":"
                                 "%u,\"lines\":[",
                                 hunk > 0 ? "," : "", count, count);
            for (unsigned i = 0; i < count; i++) {
                size += (size_t)snprintf(hunks + size, sizeof hunks - size, "%s" LINE(""),
                                         i > 0 ? "," : "");
            }
            size += (size_t)snprintf(hunks + size, sizeof hunks - size, "]}");
        }
        aw_span_t payload = aw_test_tea_text(CHANGE("p", "%s", ""), hunks);
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A,
                           aw_test_tea_envelope(AW_TEA_RECORD, "", "tool_execution_finished",
                                                (const char *)payload.data),
                           rest <= 8 ? "ok" : "invalid:presentation");
    }
}

static void test_limits_redirect_status_begins_at_300(void **state)
{
    (void)state;
    static const char *const verdicts[] = {"invalid:presentation", "ok", "ok"};
    for (unsigned status = 299; status <= 301; status++) {
        aw_span_t payload = aw_test_tea_text(
            FETCH("https://a.example/", "m", "",
                  ",\"redirects\":[{\"from\":\"http://a/\",\"to\":\"http://b/\",\"status\":%u}]"),
            status);
        aw_test_tea_expect(AW_TEA_RECORD, AW_TEA_EDITION_A,
                           aw_test_tea_envelope(AW_TEA_RECORD, "", "tool_execution_finished",
                                                (const char *)payload.data),
                           verdicts[status - 299]);
    }
}

static void test_limits_error_message_has_4096_bytes(void **state)
{
    (void)state;
    for (unsigned size = 4095; size <= 4097; size++) {
        aw_test_tea_expect(
            AW_TEA_ERROR, AW_TEA_EDITION_A,
            aw_test_tea_text("{\"protocolVersion\":\"1.0\",\"type\":\"protocol_error\",\"error\":{"
                             "\"code\":\"internal\",\"message\":\"%s\",\"retry\":\"never\"}}",
                             aw_test_tea_run('m', size)),
            size <= 4096 ? "ok" : "invalid:message");
    }
}

static void test_limits_version_parts_and_sequence_end_where_their_width_ends(void **state)
{
    (void)state;
    static const char *const versions[][2] = {
        {"1.65534", "ok"},
        {"1.65535", "ok"},
        {"1.65536", "invalid:version"},
        {"65535.0", "unsupported_version"},
        {"65536.0", "invalid:version"},
        {"1.99999999999999999999999", "invalid:version"},
    };
    static const char *const sequences[][2] = {
        {"18446744073709551614", "ok"},
        {"18446744073709551615", "ok"},
        {"18446744073709551616", "invalid:sequence"},
    };
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        aw_test_tea_expect(
            AW_TEA_COMMAND, AW_TEA_EDITION_A,
            aw_test_tea_text("{\"protocolVersion\":\"%s\",\"type\":\"abort\",\"commandId\":" ID
                             ",\"sessionId\":" ID ",\"timestamp\":" TS ",\"payload\":{}}",
                             versions[i][0]),
            versions[i][1]);
    }
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        aw_test_tea_expect(
            AW_TEA_RECORD, AW_TEA_EDITION_A,
            aw_test_tea_text(
                "{\"protocolVersion\":\"1.0\",\"type\":\"run_cancelled\",\"recordId\":" ID
                ",\"sessionId\":" ID ",\"sequence\":\"%s\",\"timestamp\":" TS
                ",\"payload\":{\"runId\":" ID "}}",
                sequences[i][0]),
            sequences[i][1]);
    }
}

/** Steps, not seconds: what a text four times as long needs of memory is at most four times as
 * much, and the counted bytes of free-form values are those that are written. */
static void test_limits_memory_grows_no_faster_than_the_text(void **state)
{
    (void)state;
    for (size_t count = 1000; count <= 64000; count *= 4) {
        static char members[4000000];
        size_t size = (size_t)snprintf(members, sizeof members, "\"n\":[");
        for (size_t i = 0; i < count; i++) {
            size += (size_t)snprintf(members + size, sizeof members - size, "%s{\"k%zu\":[%zu]}",
                                     i > 0 ? "," : "", i, i);
        }
        snprintf(members + size, sizeof members - size, "],");
        aw_span_t text = aw_test_tea_envelope(AW_TEA_COMMAND, members, "abort", "{}");
        /* a value and its place in its parent: at most 96 bytes for each two of the text */
        aw_arena_t *arena = aw_arena_new(text.size * 48 + 65536);
        aw_tea_result_t result;
        assert_non_null(arena);
        assert_int_equal(aw_tea_check(AW_TEA_COMMAND, AW_TEA_EDITION_A, text, arena, &result),
                         AW_OK);
        assert_string_equal(aw_test_tea_verdict(&result), "ok");
        aw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_each_is_inclusive_and_holds),
        cmocka_unit_test(test_limits_texts_must_not_be_empty),
        cmocka_unit_test(test_limits_nesting_of_the_whole_text_is_127),
        cmocka_unit_test(test_limits_any_depth_and_size_is_a_verdict),
        cmocka_unit_test(test_limits_discriminator_has_128_bytes),
        cmocka_unit_test(test_limits_metadata_has_16_namespaces_16384_bytes_8_levels),
        cmocka_unit_test(test_limits_unknown_event_has_65536_bytes_and_32_levels),
        cmocka_unit_test(test_limits_hunk_has_128_lines_and_a_change_1024),
        cmocka_unit_test(test_limits_redirect_status_begins_at_300),
        cmocka_unit_test(test_limits_error_message_has_4096_bytes),
        cmocka_unit_test(test_limits_version_parts_and_sequence_end_where_their_width_ends),
        cmocka_unit_test(test_limits_memory_grows_no_faster_than_the_text),
    };
    return cmocka_run_group_tests(tests, aw_test_tea_set_up, aw_test_tea_tear_down);
}
