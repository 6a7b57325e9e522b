#include "agentwire/snapshot.h"

#include <assert.h>

#include "agentwire/build.h"
#include "agentwire/message.h"
#include "agentwire/utf8.h"
#include "codec/base/error.h"
#include "codec/base/size.h"
#include "codec/message/scan.h"
#include "codec/wire/writer.h"

/* Pieces are grouped by their number, from 1 to this; what is unknown has a group of its own. */
#define LAST_NUMBER AW_FIELD_STATE_SNAPSHOT_REQUEST_ID
#define UNKNOWN     0u
#define GROUPS      (LAST_NUMBER + 1u)

/* Where the pieces of one number lie in the input. */
typedef struct range {
    const uint8_t *begin; /* the first of them, NULL when there is none */
    const uint8_t *end;   /* behind the last of them */
    bool mixed;           /* others lie between them */
} range_t;

/* All that one scan learns of a published state. */
typedef struct survey {
    aw_snapshot_view_t view;
    range_t ranges[GROUPS];
    size_t kept_size; /* bytes of the pieces that stay in an answer */
} survey_t;

static bool is_replaced(uint32_t number)
{
    return number == AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS ||
           number == AW_FIELD_STATE_SNAPSHOT_REQUEST_ID;
}

static void note_value(aw_snapshot_view_t *view, const aw__piece_t *piece)
{
    switch (piece->number) {
    case AW_FIELD_STATE_SNAPSHOT_STATE_SCHEMA_VERSION:
        view->state_schema_version = (uint32_t)piece->bits;
        break;
    case AW_FIELD_STATE_SNAPSHOT_ENTITY_KEY:
        view->entity_key = piece->bytes;
        break;
    case AW_FIELD_STATE_SNAPSHOT_SEQ:
        view->seq = (int64_t)piece->bits;
        break;
    case AW_FIELD_STATE_SNAPSHOT_SNAPSHOT_AT_MS:
        view->snapshot_at_ms = (int64_t)piece->bits;
        break;
    case AW_FIELD_STATE_SNAPSHOT_REQUEST_ID:
        view->request_id = piece->bytes;
        break;
    default:
        break;
    }
}

static void note_piece(void *opaque, const aw__piece_t *piece)
{
    survey_t *survey = opaque;
    range_t *range = &survey->ranges[piece->number];
    if (range->begin == NULL) {
        range->begin = piece->begin;
    } else {
        range->mixed = range->mixed || range->end != piece->begin;
    }
    range->end = piece->end;
    survey->kept_size += is_replaced(piece->number) ? 0 : (size_t)(piece->end - piece->begin);
    note_value(&survey->view, piece);
}

static int scan(aw_span_t input, survey_t *survey, aw_error_t *error)
{
    *survey = (survey_t){.kept_size = 0};
    return aw__scan_pieces(AW_MESSAGE_STATE_SNAPSHOT, input, note_piece, survey, error);
}

int aw_snapshot_scan(aw_span_t input, aw_snapshot_view_t *ret_view, aw_error_t *error)
{
    survey_t survey;
    const int status = scan(input, &survey, error);
    if (status == AW_OK) {
        *ret_view = survey.view;
    }
    return status;
}

static uint8_t *copy_bytes(const uint8_t *begin, const uint8_t *end, uint8_t *at)
{
    memcpy(at, begin, (size_t)(end - begin));
    return at + (end - begin);
}

/* Copies the pieces of one number. Only a stretch in which others lie too is walked for it. */
static uint8_t *copy_pieces(const range_t *range, uint32_t number, uint8_t *at)
{
    if (range->begin == NULL) {
        return at;
    }
    if (!range->mixed) {
        return copy_bytes(range->begin, range->end, at);
    }
    aw__reader_t reader = {range->begin, range->end};
    while (reader.at < reader.end) {
        const aw__piece_t piece = aw__next_piece(AW_MESSAGE_STATE_SNAPSHOT, &reader);
        at = piece.number == number ? copy_bytes(piece.begin, piece.end, at) : at;
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

int aw_snapshot_answer(aw_span_t published, int64_t snapshot_at_ms, aw_span_t request_id,
                       aw_arena_t *arena, aw_snapshot_view_t *ret_view, aw_span_t *ret_bytes,
                       aw_error_t *error)
{
    survey_t survey;
    replaced_t replaced;
    const int status = scan(published, &survey, error);
    if (status != AW_OK) {
        return status;
    }
    if (!aw_utf8_valid(request_id)) {
        return AW_STATUS_INVALID_UTF8;
    }
    spell(snapshot_at_ms, request_id, &replaced);
    size_t size = survey.kept_size;
    if (!aw__size_add(&size, replaced.time_size + replaced.id_size) ||
        !aw__size_add(&size, request_id.size) || size > AW__INPUT_MAX) {
        return AW_STATUS_LIMIT_SIZE;
    }
    uint8_t *bytes = aw_arena_alloc(arena, size);
    if (bytes == NULL) {
        return aw_arena_status(arena);
    }
    uint8_t *at = bytes;
    for (uint32_t number = 1; number <= LAST_NUMBER; number++) {
        at = is_replaced(number) ? write_replaced(&replaced, number, at)
                                 : copy_pieces(&survey.ranges[number], number, at);
    }
    at = copy_pieces(&survey.ranges[UNKNOWN], UNKNOWN, at);
    assert((size_t)(at - bytes) == size);
    if (ret_view != NULL) {
        *ret_view = survey.view;
    }
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
