/* Threads with an arena each share nothing, and any number of them may read one message. For
 * ThreadSanitizer, which sees what this program cannot. */
#include "tests/unit/codec/support.h"

#include <pthread.h>
#include <stdlib.h>

#include "agentwire/build.h"
#include "agentwire/intent.h"
#include "agentwire/json.h"
#include "agentwire/migrate.h"

#define THREADS 4
#define ROUNDS  20

/* What all threads read, and what each has to find. */
typedef struct shared {
    const aw_test_golden_t *golden;
    size_t count;
    const aw_message_t *intent;
    const aw_keyring_t *keyring;
} shared_t;

/* cmocka's own checks belong to the main thread: a thread counts its troubles. */
static size_t check_golden(const aw_test_golden_t *golden, aw_arena_t *arena)
{
    const aw_message_t *message = NULL;
    const aw_message_t *again = NULL;
    aw_json_writer_t writer;
    aw_span_t bytes = AW_SPAN_NULL;
    aw_span_t text = AW_SPAN_NULL;
    aw_error_t error = AW_ERROR_INIT;
    const int status = aw_message_decode(golden->type, golden->input, arena, &message, &error);
    if (status != AW_OK) {
        return golden->accepted;
    }
    size_t troubles = aw_message_encode(message, arena, &bytes) != AW_OK;
    troubles += !aw_span_equal(bytes, golden->deterministic);
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    aw_json_message(&writer, message, arena);
    troubles += aw_json_finish(&writer, &text) != AW_OK;
    troubles += aw_json_parse(golden->type, text, arena, &again, &error) != AW_OK;
    if (golden->type == AW_MESSAGE_CONTINUATION || golden->type == AW_MESSAGE_MEMORY_BLOB) {
        const int migrated = aw_state_migrate(message, arena, &again, NULL);
        troubles += migrated != AW_OK && migrated != AW_STATUS_VERSION_NEWER;
    }
    return troubles;
}

static void *run(void *of)
{
    const shared_t *shared = of;
    aw_arena_t *arena = aw_arena_new(0);
    size_t troubles = arena == NULL;
    for (unsigned round = 0; troubles == 0 && round < ROUNDS; round++) {
        for (size_t i = 0; i < shared->count; i++) {
            aw_arena_reset(arena);
            troubles += check_golden(&shared->golden[i], arena);
        }
        troubles += aw_intent_verify(shared->intent, shared->keyring, arena) != AW_OK;
    }
    aw_arena_free(arena);
    return (void *)troubles; /* NOLINT(performance-no-int-to-ptr): a number, never followed */
}

static void test_thread_of_its_own_arena_shares_nothing(void **state)
{
    (void)state;
    shared_t shared;
    shared.golden = aw_test_golden_load(&shared.count);
    aw_arena_t *arena = aw_arena_new(0);
    aw_keyring_t *keyring = NULL;
    aw_span_t key;
    assert_int_equal(aw_keyring_new(aw_span_text_view("k=b25l"), &keyring, NULL), AW_OK);
    assert_true(aw_keyring_find(keyring, aw_span_text_view("k"), &key));
    const aw_message_t *intent =
        aw_test_decode(AW_MESSAGE_TOOL_INTENT, aw_test_hex("0a0161 7801"), arena);
    assert_int_equal(aw_intent_sign(intent, aw_span_text_view("k"), key, arena, &shared.intent),
                     AW_OK);
    shared.keyring = keyring;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run, &shared), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *troubles = &shared;
        assert_int_equal(pthread_join(threads[i], &troubles), 0);
        assert_null(troubles);
    }
    aw_keyring_free(keyring);
    aw_arena_free(arena);
    aw_test_golden_free((aw_test_golden_t *)(uintptr_t)shared.golden, shared.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_of_its_own_arena_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
