/* A program of somebody else: prints the ten messages and sends each through the library. */
#include "agentwire/build.h"
#include "agentwire/crypto.h"
#include "agentwire/envelope.h"
#include "agentwire/intent.h"
#include "agentwire/json.h"
#include "agentwire/migrate.h"
#include "agentwire/utf8.h"

#include <stdio.h>

static const aw_message_type_t TEN[] = {
    AW_MESSAGE_MEMORY_BLOB,
    AW_MESSAGE_TOOL_INTENT,
    AW_MESSAGE_TOOL_RESULT,
    AW_MESSAGE_TRACE_EVENT,
    AW_MESSAGE_AGENT_ENVELOPE,
    AW_MESSAGE_STATE_SNAPSHOT,
    AW_MESSAGE_ACTIVATION_ERROR_RECORD,
    AW_MESSAGE_CONTINUATION,
    AW_MESSAGE_LLM_CACHE_BLOB,
    AW_MESSAGE_LONG_TERM_RECORD,
};

/* Builds one, encodes and decodes it, and reads back the JSON that it is written as. */
static int there_and_back(aw_message_type_t type, aw_arena_t *arena)
{
    aw_builder_t builder;
    aw_json_writer_t writer;
    const aw_message_t *message;
    aw_span_t bytes;
    aw_span_t again;
    aw_span_t text;
    aw_error_t error = AW_ERROR_INIT;
    aw_builder_init(&builder, type, arena);
    int status = aw_builder_finish(&builder, &message);
    if (status == AW_OK) {
        status = aw_message_encode(message, arena, &bytes);
    }
    if (status == AW_OK) {
        status = aw_message_decode(type, bytes, arena, &message, &error);
    }
    if (status == AW_OK) {
        aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
        aw_json_message(&writer, message, arena);
        status = aw_json_finish(&writer, &text);
    }
    if (status == AW_OK) {
        status = aw_json_parse(type, text, arena, &message, &error);
    }
    if (status == AW_OK) {
        status = aw_message_encode(message, arena, &again);
    }
    return status == AW_OK && aw_span_equal(bytes, again) ? 0 : 1;
}

int main(void)
{
    aw_arena_t *arena = aw_arena_new(0);
    if (arena == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sizeof TEN / sizeof TEN[0]; i++) {
        if (there_and_back(TEN[i], arena) != 0) {
            fprintf(stderr, "%s\n", aw_message_type_name(TEN[i]));
            return 1;
        }
        printf("%s\n", aw_message_type_name(TEN[i]));
    }
    aw_arena_free(arena);
    return 0;
}
