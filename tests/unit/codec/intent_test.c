/* Signatures of ToolIntents against golden/intent-signature, which the reference runtime and
 * Python's hmac made. */
#include "tests/unit/codec/support.h"

#include "agentwire/build.h"
#include "agentwire/crypto.h"
#include "agentwire/intent.h"

#define GOLDEN "golden/intent-signature/v1/cases.jsonl"
#define INTENT AW_MESSAGE_TOOL_INTENT

/* One case of the file; its texts live in the line. */
typedef struct signed_case {
    const json_t *line;
    const char *name;
    aw_span_t key_id;
    aw_keyring_t *keyring;
    aw_arena_t *arena;
    const aw_message_t *intent;
} signed_case_t;

typedef void check_fn(const signed_case_t *of);

static void check_line(const json_t *line, void *opaque)
{
    check_fn **check = opaque;
    signed_case_t of = {.line = line, .arena = aw_arena_new(0)};
    assert_non_null(of.arena);
    of.name = aw_test_text(line, "name");
    of.key_id = aw_span_text_view(aw_test_text(line, "key_id"));
    const aw_span_t keys = aw_span_text_view(aw_test_text(line, "keyring"));
    assert_int_equal(aw_keyring_new(keys, &of.keyring, NULL), AW_OK);
    of.intent = aw_test_decode(INTENT, aw_test_hex(aw_test_text(line, "hex")), of.arena);
    (*check)(&of);
    aw_keyring_free(of.keyring);
    aw_arena_free(of.arena);
}

/* Runs check over every case of the file. */
static void each_case(check_fn *check)
{
    assert_true(aw_test_lines(GOLDEN, check_line, &check) >= 13);
}

static void check_signed_bytes(const signed_case_t *of)
{
    aw_span_t bytes = AW_SPAN_NULL;
    assert_int_equal(aw_intent_signed_bytes(of->intent, of->arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, aw_test_text(of->line, "signed_bytes_hex"));
}

static void test_intent_signed_bytes_are_the_references(void **state)
{
    (void)state;
    each_case(check_signed_bytes);
}

static const aw_message_t *sign(const signed_case_t *of)
{
    aw_span_t key;
    const aw_message_t *made = NULL;
    assert_true(aw_keyring_find(of->keyring, of->key_id, &key));
    assert_int_equal(aw_intent_sign(of->intent, of->key_id, key, of->arena, &made), AW_OK);
    return made;
}

static void check_signature(const signed_case_t *of)
{
    aw_span_t before = AW_SPAN_NULL;
    aw_span_t after = AW_SPAN_NULL;
    aw_span_t bytes = AW_SPAN_NULL;
    assert_int_equal(aw_message_encode(of->intent, of->arena, &before), AW_OK);
    const aw_message_t *made = sign(of);
    aw_test_expect_hex(aw_test_value(made, AW_FIELD_TOOL_INTENT_SIGNATURE, 0).as.bytes,
                       aw_test_text(of->line, "signature_hex"));
    assert_int_equal(aw_message_encode(made, of->arena, &bytes), AW_OK);
    aw_test_expect_hex(bytes, aw_test_text(of->line, "signed_hex"));
    assert_int_equal(aw_message_encode(of->intent, of->arena, &after), AW_OK);
    assert_true(aw_span_equal(before, after)); /* the original stays as it is */
}

static void test_intent_signature_is_that_of_pythons_hmac(void **state)
{
    (void)state;
    each_case(check_signature);
}

static const aw_message_t *with_bytes(const aw_message_t *intent, uint32_t number, aw_span_t value,
                                      aw_arena_t *arena)
{
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_builder_init_copy(&builder, intent, arena);
    aw_builder_set_bytes(&builder, number, value);
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    return made;
}

static const aw_message_t *with_scheme(const aw_message_t *intent, int32_t scheme,
                                       aw_arena_t *arena)
{
    aw_builder_t builder;
    const aw_message_t *made = NULL;
    aw_builder_init_copy(&builder, intent, arena);
    aw_builder_set_enum(&builder, AW_FIELD_TOOL_INTENT_SIGNATURE_SCHEME, scheme);
    assert_int_equal(aw_builder_finish(&builder, &made), AW_OK);
    return made;
}

static void check_verdicts(const signed_case_t *of)
{
    enum {
        KEY_ID = AW_FIELD_TOOL_INTENT_SIGNING_KEY_ID,
        SIGNATURE = AW_FIELD_TOOL_INTENT_SIGNATURE
    };
    const char *hex = aw_test_text(of->line, "signed_hex");
    const aw_message_t *made = aw_test_decode(INTENT, aw_test_hex(hex), of->arena);
    assert_int_equal(aw_intent_verify(made, of->keyring, of->arena), AW_OK);

    /* Each bit of the signature counts, and so does its length. */
    uint8_t mac[AW_SHA256_SIZE + 1] = {0};
    const aw_span_t good = aw_test_value(made, SIGNATURE, 0).as.bytes;
    assert_int_equal(good.size, AW_SHA256_SIZE);
    memcpy(mac, good.data, good.size);
    for (size_t bit = 0; bit < 8 * good.size; bit += 5) {
        mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const aw_message_t *bad =
            with_bytes(made, SIGNATURE, aw_span_view(mac, good.size), of->arena);
        assert_int_equal(aw_intent_verify(bad, of->keyring, of->arena), AW_STATUS_BAD_SIGNATURE);
        mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    static const size_t sizes[] = {1, AW_SHA256_SIZE - 1, AW_SHA256_SIZE, AW_SHA256_SIZE + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const aw_message_t *cut =
            with_bytes(made, SIGNATURE, aw_span_view(mac, sizes[i]), of->arena);
        assert_int_equal(aw_intent_verify(cut, of->keyring, of->arena),
                         sizes[i] == AW_SHA256_SIZE ? AW_OK : AW_STATUS_BAD_SIGNATURE);
    }
    const aw_message_t *other = with_bytes(made, AW_FIELD_TOOL_INTENT_ARGS_JSON,
                                           aw_span_text_view("{\"amount\":9}"), of->arena);
    assert_int_equal(aw_intent_verify(other, of->keyring, of->arena), AW_STATUS_BAD_SIGNATURE);
    other = with_bytes(made, KEY_ID, aw_span_text_view("nobody"), of->arena);
    assert_int_equal(aw_intent_verify(other, of->keyring, of->arena),
                     AW_STATUS_UNKNOWN_SIGNING_KEY);
    other = with_bytes(made, SIGNATURE, AW_SPAN_NULL, of->arena);
    assert_int_equal(aw_intent_verify(other, of->keyring, of->arena), AW_STATUS_UNSIGNED_INTENT);
    static const int32_t schemes[] = {0, 2, -1, INT32_MAX};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const aw_message_t *unknown = with_scheme(made, schemes[i], of->arena);
        assert_int_equal(aw_intent_verify(unknown, of->keyring, of->arena),
                         AW_STATUS_BAD_SIGNATURE);
        unknown = with_bytes(unknown, SIGNATURE, AW_SPAN_NULL, of->arena);
        assert_int_equal(aw_intent_verify(unknown, of->keyring, of->arena),
                         AW_STATUS_UNSIGNED_INTENT);
    }
}

static void test_intent_verdict_tells_unsigned_bad_and_unknown_apart(void **state)
{
    (void)state;
    each_case(check_verdicts);
}

static void test_intent_another_key_of_the_same_id_refuses(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    aw_keyring_t *keyring = NULL;
    const aw_message_t *made = NULL;
    const aw_message_t *intent = aw_test_decode(INTENT, aw_test_hex("0a0161"), arena);
    assert_int_equal(
        aw_intent_sign(intent, aw_span_text_view("k"), aw_span_text_view("one"), arena, &made),
        AW_OK);
    assert_int_equal(aw_keyring_new(aw_span_text_view("k=dHdv"), &keyring, NULL), AW_OK);
    assert_int_equal(aw_intent_verify(made, keyring, arena), AW_STATUS_BAD_SIGNATURE);
    aw_keyring_free(keyring);
    assert_int_equal(aw_keyring_new(aw_span_text_view("k=b25l"), &keyring, NULL), AW_OK);
    assert_int_equal(aw_intent_verify(made, keyring, arena), AW_OK);
    aw_keyring_free(keyring);
    aw_arena_free(arena);
}

static void test_intent_wrong_arguments_are_refused_and_write_nothing(void **state)
{
    (void)state;
    aw_arena_t *arena = aw_arena_new(0);
    aw_keyring_t *keyring = NULL;
    assert_int_equal(aw_keyring_new(AW_SPAN_NULL, &keyring, NULL), AW_OK);
    const aw_message_t *result = aw_test_decode(AW_MESSAGE_TOOL_RESULT, AW_SPAN_NULL, arena);
    const aw_message_t *intent = aw_test_decode(INTENT, AW_SPAN_NULL, arena);
    const aw_message_t *made = NULL;
    aw_span_t bytes = AW_SPAN_NULL;
    const aw_span_t key = aw_span_text_view("k");
    assert_int_equal(aw_intent_verify(result, keyring, arena), AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_intent_signed_bytes(result, arena, &bytes), AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_intent_sign(result, key, key, arena, &made), AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_intent_sign(intent, AW_SPAN_NULL, key, arena, &made),
                     AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_intent_sign(intent, key, AW_SPAN_NULL, arena, &made),
                     AW_STATUS_INVALID_ARGUMENT);
    assert_int_equal(aw_intent_sign(intent, aw_test_hex("ff"), key, arena, &made),
                     AW_STATUS_INVALID_UTF8);
    assert_null(made);
    assert_null(bytes.data);
    aw_keyring_free(keyring);
    aw_arena_free(arena);
}

static void test_intent_memory_refused_at_each_step_is_a_limit_error(void **state)
{
    (void)state;
    aw_arena_t *source = aw_arena_new(0);
    const aw_message_t *intent = aw_test_decode(INTENT, aw_test_hex("0a0161 7801"), source);
    const aw_span_t key = aw_span_text_view("k");
    int status = AW_STATUS_LIMIT_DECODE_BYTES;
    unsigned refused = 0;
    for (size_t limit = 16; status != AW_OK; limit += 16, refused += status != AW_OK) {
        aw_arena_t *arena = aw_arena_new(limit);
        const aw_message_t *made = NULL;
        status = aw_intent_sign(intent, key, key, arena, &made);
        assert_int_equal(made != NULL, status == AW_OK);
        assert_true(status == AW_OK || status == AW_STATUS_LIMIT_DECODE_BYTES);
        aw_arena_free(arena);
    }
    assert_true(refused > 10);
    aw_arena_free(source);
}

static void test_intent_only_the_kind_approval_is_an_approval(void **state)
{
    (void)state;
    static const char *const others[] = {
        "", "5000", "5001", "5003", "50ffffffffffffffffff01", "52020202"};
    aw_arena_t *arena = aw_arena_new(0);
    assert_true(aw_intent_is_approval(aw_test_decode(INTENT, aw_test_hex("5002"), arena)));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(aw_intent_is_approval(aw_test_decode(INTENT, aw_test_hex(others[i]), arena)));
    }
    aw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intent_signed_bytes_are_the_references),
        cmocka_unit_test(test_intent_signature_is_that_of_pythons_hmac),
        cmocka_unit_test(test_intent_verdict_tells_unsigned_bad_and_unknown_apart),
        cmocka_unit_test(test_intent_another_key_of_the_same_id_refuses),
        cmocka_unit_test(test_intent_wrong_arguments_are_refused_and_write_nothing),
        cmocka_unit_test(test_intent_memory_refused_at_each_step_is_a_limit_error),
        cmocka_unit_test(test_intent_only_the_kind_approval_is_an_approval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
