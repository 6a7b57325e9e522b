#include <stdio.h>

#include "agentwire/json.h"
#include "bridge/cli/batch.h"
#include "bridge/cli/inspect.h"
#include "bridge/cli/inspect_contract.h"

/** A request that can be worked on. */
typedef struct request {
    aw_message_type_t type;
    aw_span_t bytes;
} request_t;

/** Decodes the member "hex" into the arena. */
static bool read_hex(const json_t *hex, aw_arena_t *arena, aw_span_t *ret_bytes, char *ret_message,
                     size_t message_size)
{
    aw_span_t digits = aw_span_view(json_string_value(hex), json_string_length(hex));
    uint8_t *bytes = aw_arena_alloc(arena, digits.size / 2 + 1);
    if (bytes == NULL) {
        snprintf(ret_message, message_size, "no memory for %zu hex digits", digits.size);
        return false;
    }
    size_t size, offset;
    switch (ab_hex_read(digits, false, bytes, &size, &offset)) {
    case AB_HEX_OK:
        *ret_bytes = aw_span_view(bytes, size);
        return true;
    case AB_HEX_BAD_DIGIT:
        snprintf(ret_message, message_size, "hex: character %zu is no hex digit", offset);
        return false;
    case AB_HEX_ODD:
        break;
    }
    snprintf(ret_message, message_size, "hex: %zu digits are no whole bytes", digits.size);
    return false;
}

/** Reads the request out of the line's object. */
static bool read_request(const json_t *object, aw_arena_t *arena, request_t *ret_request,
                         char *ret_message, size_t message_size)
{
    return ab_batch_read_type(object, "hex", &ret_request->type, ret_message, message_size) &&
           read_hex(json_object_get(object, "hex"), arena, &ret_request->bytes, ret_message,
                    message_size);
}

/** The payload's name; null where none is set. */
static void write_variant(aw_json_writer_t *writer, const aw_message_t *envelope)
{
    aw_variant_t variant = ab_inspect_variant(envelope);
    aw_json_key_text(writer, "variant");
    if (variant != AW_VARIANT_NONE) {
        aw_json_text(writer, aw_variant_name(variant));
    } else {
        aw_json_null(writer);
    }
}

/** The members of the answer to a request. */
static void write_result(aw_json_writer_t *writer, const request_t *request, aw_arena_t *arena)
{
    aw_error_t error = AW_ERROR_INIT;
    const aw_message_t *message;
    aw_span_t encoded;
    int status = ab_inspect_decode(request->type, request->bytes, arena, &message, &error);
    if (status == AW_OK) {
        status = aw_message_encode(message, arena, &encoded);
    }
    if (status != AW_OK) {
        ab_batch_write_failure(writer, status, &error);
        return;
    }
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, true);
    if (request->type == AW_MESSAGE_AGENT_ENVELOPE) {
        write_variant(writer, message);
    }
    aw_json_key_text(writer, "json");
    aw_json_message(writer, message, arena);
    aw_json_key_text(writer, "deterministic_hex");
    aw_json_hex(writer, encoded);
}

static bool answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                   char ret_message[AB_BATCH_MESSAGE_MAX])
{
    request_t request;
    if (json_object_get(object, "contract") != NULL) {
        return ab_inspect_contract_answer(writer, object, arena, ret_message, AB_BATCH_MESSAGE_MAX);
    }
    if (!read_request(object, arena, &request, ret_message, AB_BATCH_MESSAGE_MAX)) {
        return false;
    }
    write_result(writer, &request, arena);
    return true;
}

int ab_inspect_batch(const ab_input_t *input, int fd)
{
    return ab_batch_run(input, fd, answer);
}
