#include <assert.h>
#include <string.h>

#include "codec/tea/check.h"
#include "codec/tea/scalar.h"

/* New envelopes. They are written as any JSON and then read back: what is built is held to the
 * rules by the code that holds what is received. */

/** The details' namespace of the protocol itself. */
#define PROTOCOL_NAMESPACE "dev.tea-rs.protocol"

static void put_optional(aw_json_writer_t *json, const char *key, aw_span_t value)
{
    if (value.data != NULL) {
        aw_json_key_text(json, key);
        aw_json_string(json, value);
    }
}

static void put_head(aw_json_writer_t *json, aw_tea_kind_t kind, const aw_tea_head_t *head)
{
    static const char *const id_keys[AW_TEA_KIND_COUNT] = {
        [AW_TEA_COMMAND] = "commandId",
        [AW_TEA_EVENT] = "eventId",
        [AW_TEA_RECORD] = "recordId",
    };
    aw_json_key_text(json, "type");
    aw_json_text(json, head->type);
    put_optional(json, id_keys[kind], head->id);
    put_optional(json, "sessionId", head->session_id);
    put_optional(json, "runId", head->run_id);
    put_optional(json, "turnId", head->turn_id);
    put_optional(json, "causationId", head->causation_id);
    put_optional(json, "correlationId", head->correlation_id);
    put_optional(json, "branchId", head->branch_id);
    if (kind != AW_TEA_COMMAND) {
        aw_json_key_text(json, "sequence");
        aw_tea_put_sequence(json, head->sequence);
    }
    aw_json_key_text(json, "timestamp");
    aw_tea_put_timestamp(json, head->timestamp_ms);
}

void aw_tea_builder_start(aw_tea_builder_t *builder, aw_tea_kind_t kind, aw_tea_edition_t edition,
                          const aw_tea_head_t *head, aw_arena_t *arena)
{
    aw_json_writer_t *json = &builder->json;
    builder->kind = kind;
    builder->edition = edition;
    builder->arena = arena;
    aw_json_init_arena(json, AW_JSON_COMPACT, arena);
    aw_json_object_open(json);
    aw_json_key_text(json, "protocolVersion");
    aw_json_text(json, AW_TEA_VERSION);
    if (kind == AW_TEA_ERROR) {
        aw_json_key_text(json, "type");
        aw_json_text(json, "protocol_error");
        aw_json_key_text(json, "error");
    } else {
        put_head(json, kind, head);
        aw_json_key_text(json, "payload");
    }
}

void aw_tea_builder_metadata(aw_tea_builder_t *builder)
{
    assert(builder->kind == AW_TEA_EVENT || builder->kind == AW_TEA_RECORD);
    aw_json_key_text(&builder->json, "metadata");
}

int aw_tea_builder_finish(aw_tea_builder_t *builder, aw_span_t *ret_text,
                          aw_tea_result_t *ret_result)
{
    aw_span_t text, canonical;
    aw_tea_result_t result;
    aw_json_object_close(&builder->json);
    int status = aw_json_finish(&builder->json, &text);
    if (status == AW_OK) {
        status = aw_tea_canonical(builder->kind, builder->edition, text, builder->arena, &result,
                                  &canonical);
    }
    if (status != AW_OK) {
        return status;
    }
    if (ret_result != NULL) {
        *ret_result = result;
    }
    if (result.outcome != AW_TEA_OK) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    *ret_text = canonical;
    return AW_OK;
}

void aw_tea_put_timestamp(aw_json_writer_t *json, int64_t timestamp_ms)
{
    char text[AW_TEA_TIMESTAMP_SIZE];
    if (!aw__tea_timestamp_write(timestamp_ms, text)) {
        json->status = json->status == AW_OK ? AW_STATUS_INVALID_ARGUMENT : json->status;
        memset(text, '0', sizeof text);
    }
    aw_json_string(json, aw_span_view(text, sizeof text));
}

void aw_tea_put_sequence(aw_json_writer_t *json, uint64_t sequence)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + sequence % 10);
        sequence /= 10;
    } while (sequence > 0);
    aw_json_string(json, aw_span_view(text + at, sizeof text - at));
}

void aw_tea_put_text_block(aw_json_writer_t *json, aw_span_t text)
{
    aw_json_object_open(json);
    aw_json_key_text(json, "type");
    aw_json_text(json, "text");
    aw_json_key_text(json, "text");
    aw_json_string(json, text);
    aw_json_object_close(json);
}

void aw_tea_put_user_message(aw_json_writer_t *json, aw_span_t id, aw_span_t text,
                             int64_t timestamp_ms)
{
    aw_json_object_open(json);
    aw_json_key_text(json, "type");
    aw_json_text(json, "user");
    aw_json_key_text(json, "id");
    aw_json_string(json, id);
    aw_json_key_text(json, "content");
    aw_json_array_open(json);
    aw_tea_put_text_block(json, text);
    aw_json_array_close(json);
    aw_json_key_text(json, "timestamp");
    aw_tea_put_timestamp(json, timestamp_ms);
    aw_json_object_close(json);
}

void aw_tea_id_make(uint64_t timestamp_ms, const uint8_t random[10],
                    char ret_text[AW_TEA_ID_SIZE + 1])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[16];
    for (size_t i = 0; i < 6; i++) {
        bytes[i] = (uint8_t)(timestamp_ms >> (40 - 8 * i));
    }
    memcpy(bytes + 6, random, 10);
    bytes[6] = (uint8_t)(0x70 | (bytes[6] & 0x0f));
    bytes[8] = (uint8_t)(0x80 | (bytes[8] & 0x3f));
    char *at = ret_text;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        *at++ = hex[bytes[i] >> 4];
        *at++ = hex[bytes[i] & 15];
    }
    *at = '\0';
}

/** What a protocol error says. The message and the details' texts are this library's or the
 * caller's own, but for a type and a version, whose grammar leaves no room for anything else. */
typedef struct error_parts {
    aw_tea_error_code_t code;
    aw_tea_retry_t retry;
    aw_span_t message;
    aw_span_t correlation_id;
    bool supported;             /* details: the range of versions */
    aw_span_t received_version; /* details, where present */
    aw_span_t type;             /* details, where present */
} error_parts_t;

static void put_details(aw_json_writer_t *json, const error_parts_t *parts)
{
    aw_json_key_text(json, "details");
    aw_json_object_open(json);
    aw_json_key_text(json, PROTOCOL_NAMESPACE);
    aw_json_object_open(json);
    put_optional(json, "receivedProtocol", parts->received_version);
    aw_json_key_text(json, "supportedProtocol");
    aw_json_text(json, AW_TEA_VERSION_RANGE);
    put_optional(json, "unsupportedType", parts->type);
    aw_json_object_close(json);
    aw_json_object_close(json);
}

static int build_error(const error_parts_t *parts, aw_arena_t *arena, aw_span_t *ret_text)
{
    static const char *const codes[AW_TEA_ERROR_COUNT] = {
#define CODE(id, name) [AW_TEA_ERROR_##id] = (name),
        AW_TEA_ERROR_LIST(CODE)
#undef CODE
    };
    static const char *const retries[AW_TEA_RETRY_COUNT] = {
        [AW_TEA_RETRY_NEVER] = "never",
        [AW_TEA_RETRY_IMMEDIATE] = "immediate",
        [AW_TEA_RETRY_AFTER_BACKOFF] = "after_backoff",
    };
    aw_tea_builder_t builder;
    assert((unsigned)parts->code < AW_TEA_ERROR_COUNT &&
           (unsigned)parts->retry < AW_TEA_RETRY_COUNT);
    aw_tea_builder_start(&builder, AW_TEA_ERROR, AW_TEA_EDITION_A, NULL, arena);
    aw_json_object_open(&builder.json);
    aw_json_key_text(&builder.json, "code");
    aw_json_text(&builder.json, codes[parts->code]);
    aw_json_key_text(&builder.json, "message");
    aw_json_string(&builder.json, parts->message);
    aw_json_key_text(&builder.json, "retry");
    aw_json_text(&builder.json, retries[parts->retry]);
    put_optional(&builder.json, "correlationId", parts->correlation_id);
    if (parts->supported) {
        put_details(&builder.json, parts);
    }
    aw_json_object_close(&builder.json);
    return aw_tea_builder_finish(&builder, ret_text, NULL);
}

int aw_tea_error_build(aw_tea_error_code_t code, aw_span_t message, aw_tea_retry_t retry,
                       aw_span_t correlation_id, aw_arena_t *arena, aw_span_t *ret_text)
{
    return build_error(
        &(error_parts_t){
            .code = code, .retry = retry, .message = message, .correlation_id = correlation_id},
        arena, ret_text);
}

int aw_tea_error_answer(aw_tea_kind_t kind, const aw_tea_result_t *result, aw_span_t correlation_id,
                        aw_arena_t *arena, aw_span_t *ret_text)
{
    bool command = kind == AW_TEA_COMMAND;
    error_parts_t parts = {.retry = AW_TEA_RETRY_NEVER, .correlation_id = correlation_id};
    const char *message;
    if (!command && kind != AW_TEA_RECORD) {
        return AW_STATUS_INVALID_ARGUMENT;
    }
    switch (result->outcome) {
    case AW_TEA_UNSUPPORTED_VERSION:
        parts.code = AW_TEA_ERROR_UNSUPPORTED_PROTOCOL_VERSION;
        parts.supported = true;
        parts.received_version = result->version;
        message = "the protocol version is not supported";
        break;
    case AW_TEA_UNSUPPORTED_TYPE:
        parts.code = command ? AW_TEA_ERROR_UNSUPPORTED_COMMAND : AW_TEA_ERROR_UNSUPPORTED_RECORD;
        parts.supported = true;
        parts.type = result->type;
        message = command ? "the command type is not known" : "the record type is not known";
        break;
    case AW_TEA_MALFORMED_JSON:
    case AW_TEA_DUPLICATE_KEY:
    case AW_TEA_INVALID:
        parts.code = command ? AW_TEA_ERROR_INVALID_COMMAND : AW_TEA_ERROR_INVALID_INPUT;
        message = command ? "the command is not valid" : "the record is not valid";
        break;
    default:
        return AW_STATUS_INVALID_ARGUMENT;
    }
    parts.message = aw_span_text_view(message);
    return build_error(&parts, arena, ret_text);
}
