#include "agentwire/snapshot.h"

#include <assert.h>

#include "agentwire/build.h"
#include "agentwire/message.h"
#include "agentwire/utf8.h"
#include "codec/base/error.h"
#include "codec/base/size.h"
#include "codec/wire/reader.h"
#include "codec/wire/writer.h"

/* The numbers of StateSnapshot run from 1 to this; what is unknown is kept under the number behind
 * it, so that it comes last. */
#define LAST_NUMBER AW_FIELD_STATE_SNAPSHOT_REQUEST_ID
#define UNKNOWN     (LAST_NUMBER + 1u)
#define GROUPS      (UNKNOWN + 1u)

/* One field of the outermost message. */
typedef struct piece {
    const uint8_t *begin; /* its tag */
    const uint8_t *end;
    uint32_t number; /* 1 to LAST_NUMBER, or UNKNOWN */
    aw_span_t bytes; /* of a length-delimited value */
    uint64_t bits;   /* of a varint */
} piece_t;

/* Where the pieces of one number lie in the input. */
typedef struct range {
    const uint8_t *begin; /* the first of them, NULL when there is none */
    const uint8_t *end;   /* behind the last of them */
} range_t;

/* The wire types of the schema's fields. */
static bool is_known(uint32_t tag)
{
    static const uint8_t wires[] = {
        [AW_FIELD_STATE_SNAPSHOT_STATE_SCHEMA_VERSION] = AW__WIRE_VARINT,
        [AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY] = AW__WIRE_BYTES,
        [AW_FIELD_STATE_SNAPSHOT_SEQ] = AW__WIRE_VARINT,
        [AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS] = AW__WIRE_VARINT,
        [AW_FIELD_STATE_SNAPSHOT_MEMORY] = AW__WIRE_BYTES,
        [AW_FIELD_STATE_SNAPSHOT_LLM_CACHE] = AW__WIRE_BYTES,
        [AW_FIELD_STATE_SNAPSHOT_CONTINUATION] = AW__WIRE_BYTES,
        [AW_FIELD_STATE_SNAPSHOT_PENDING] = AW__WIRE_BYTES,
        [AW_FIELD_STATE_SNAPSHOT_REQUEST_ID] = AW__WIRE_BYTES,
    };
    const uint32_t number = AW__TAG_NUMBER(tag);
    return number <= LAST_NUMBER && wires[number] == AW__TAG_WIRE(tag);
}

/* The next field of a message that was scanned, and so cannot be refused any more. */
static piece_t next_piece(aw__reader_t *reader)
{
    piece_t piece = {.begin = reader->at};
    uint32_t tag = 0;
    aw__defect_t defect = aw__read_tag(reader, &tag);
    piece.number = is_known(tag) ? AW__TAG_NUMBER(tag) : UNKNOWN;
    if (defect == AW__DEFECT_NONE && AW__TAG_WIRE(tag) == AW__WIRE_BYTES) {
        defect = aw__read_length(reader, &piece.bytes.size);
        piece.bytes.data = reader->at;
        reader->at += defect == AW__DEFECT_NONE ? piece.bytes.size : 0;
    } else if (defect == AW__DEFECT_NONE && AW__TAG_WIRE(tag) == AW__WIRE_VARINT) {
        defect = aw__read_varint(reader, &piece.bits);
    } else if (defect == AW__DEFECT_NONE) {
        defect = aw__skip_value(reader, piece.begin, tag, 0);
    }
    assert(defect == AW__DEFECT_NONE);
    piece.end = reader->at;
    return piece;
}

int aw_snapshot_scan(aw_span_t input, aw_snapshot_view_t *ret_view, aw_error_t *error)
{
    const int status = aw_message_scan(AW_MESSAGE_STATE_SNAPSHOT, input, error);
    if (status != AW_OK) {
        return status;
    }
    aw_snapshot_view_t view = {0};
    aw__reader_t reader = {input.data, input.size > 0 ? input.data + input.size : input.data};
    while (reader.at < reader.end) {
        const piece_t piece = next_piece(&reader);
        switch (piece.number) {
        case AW_FIELD_STATE_SNAPSHOT_STATE_SCHEMA_VERSION:
            view.state_schema_version = (uint32_t)piece.bits;
            break;
        case AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY:
            view.entity_key = piece.bytes;
            break;
        case AW_FIELD_STATE_SNAPSHOT_SEQ:
            view.seq = (int64_t)piece.bits;
            break;
        case AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS:
            view.snapshot_at_ms = (int64_t)piece.bits;
            break;
        case AW_FIELD_STATE_SNAPSHOT_REQUEST_ID:
            view.request_id = piece.bytes;
            break;
        default:
            break;
        }
    }
    *ret_view = view;
    return AW_OK;
}

static bool is_replaced(uint32_t number)
{
    return number == AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS ||
           number == AW_FIELD_STATE_SNAPSHOT_REQUEST_ID;
}

/* Learns where each number's pieces lie. Returns the bytes of those that stay. */
static size_t survey(aw_span_t published, range_t ranges[GROUPS])
{
    aw__reader_t reader = {published.data, published.data + published.size};
    size_t size = 0;
    while (reader.at < reader.end) {
        const piece_t piece = next_piece(&reader);
        range_t *range = &ranges[piece.number];
        range->begin = range->begin != NULL ? range->begin : piece.begin;
        range->end = piece.end;
        size += is_replaced(piece.number) ? 0 : (size_t)(piece.end - piece.begin);
    }
    return size;
}

/* Copies the pieces of one number. Only the stretch that holds them is walked, so that a message
 * whose fields are in order is walked once in all. */
static uint8_t *copy_pieces(const range_t *range, uint32_t number, uint8_t *at)
{
    aw__reader_t reader = {range->begin, range->end};
    while (reader.at < reader.end) {
        const piece_t piece = next_piece(&reader);
        if (piece.number == number) {
            memcpy(at, piece.begin, (size_t)(piece.end - piece.begin));
            at += piece.end - piece.begin;
        }
    }
    return at;
}

/* The two fields that are set, spelled out. */
typedef struct replaced {
    uint8_t time[1 + AW__VARINT_MAX]; /* written from the end */
    uint8_t id[1 + AW__VARINT_MAX];   /* tag and length */
    size_t time_size, id_size;
    aw_span_t request_id;
} replaced_t;

static void spell(int64_t snapshot_at_ms, aw_span_t request_id, replaced_t *ret_replaced)
{
    uint8_t *end = ret_replaced->time + sizeof(ret_replaced->time);
    uint8_t *at = end;
    ret_replaced->request_id = request_id;
    if (snapshot_at_ms != 0) {
        at = aw__write_varint(at, (uint64_t)snapshot_at_ms);
        at = aw__write_tag(at, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS, AW__WIRE_VARINT);
    }
    ret_replaced->time_size = (size_t)(end - at);
    end = ret_replaced->id + sizeof(ret_replaced->id);
    at = end;
    if (request_id.size != 0) {
        at = aw__write_varint(at, request_id.size);
        at = aw__write_tag(at, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID, AW__WIRE_BYTES);
    }
    ret_replaced->id_size = (size_t)(end - at);
}

/* Writes what spell() has spelled for this number. */
static uint8_t *write_replaced(const replaced_t *replaced, uint32_t number, uint8_t *at)
{
    if (number == AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS) {
        memcpy(at, replaced->time + sizeof(replaced->time) - replaced->time_size,
               replaced->time_size);
        return at + replaced->time_size;
    }
    memcpy(at, replaced->id + sizeof(replaced->id) - replaced->id_size, replaced->id_size);
    at += replaced->id_size;
    if (replaced->request_id.size != 0) {
        memcpy(at, replaced->request_id.data, replaced->request_id.size);
    }
    return at + replaced->request_id.size;
}

static int arena_trouble(const aw_arena_t *arena)
{
    return aw_arena_limited(arena) ? AW_STATUS_LIMIT_DECODE_BYTES : AW_STATUS_NO_MEMORY;
}

int aw_snapshot_answer(aw_span_t published, int64_t snapshot_at_ms, aw_span_t request_id,
                       aw_arena_t *arena, aw_span_t *ret_bytes, aw_error_t *error)
{
    const int status = aw_message_scan(AW_MESSAGE_STATE_SNAPSHOT, published, error);
    range_t ranges[GROUPS] = {{NULL, NULL}};
    replaced_t replaced;
    if (status != AW_OK) {
        return status;
    }
    if (!aw_utf8_valid(request_id)) {
        return AW_STATUS_INVALID_UTF8;
    }
    spell(snapshot_at_ms, request_id, &replaced);
    size_t size = published.size > 0 ? survey(published, ranges) : 0;
    if (!aw__size_add(&size, replaced.time_size + replaced.id_size) ||
        !aw__size_add(&size, request_id.size) || size > AW__INPUT_MAX) {
        return AW_STATUS_LIMIT_SIZE;
    }
    uint8_t *bytes = aw_arena_alloc(arena, size > 0 ? size : 1);
    if (bytes == NULL) {
        return arena_trouble(arena);
    }
    uint8_t *at = bytes;
    for (uint32_t number = 1; number < GROUPS; number++) {
        if (is_replaced(number)) {
            at = write_replaced(&replaced, number, at);
        } else if (ranges[number].begin != NULL) {
            at = copy_pieces(&ranges[number], number, at);
        }
    }
    assert((size_t)(at - bytes) == size);
    *ret_bytes = (aw_span_t){bytes, size};
    return AW_OK;
}

int aw_snapshot_empty(aw_span_t entity_key, int64_t snapshot_at_ms, aw_span_t request_id,
                      aw_arena_t *arena, aw_span_t *ret_bytes)
{
    aw_builder_t builder;
    const aw_message_t *message;
    aw_builder_init(&builder, AW_MESSAGE_STATE_SNAPSHOT, arena);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY, entity_key);
    aw_builder_set_int64(&builder, AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS, snapshot_at_ms);
    aw_builder_set_bytes(&builder, AW_FIELD_STATE_SNAPSHOT_REQUEST_ID, request_id);
    const int status = aw_builder_finish(&builder, &message);
    return status != AW_OK ? status : aw_message_encode(message, arena, ret_bytes);
}
