#include <assert.h>

#include "agentwire/utf8.h"
#include "codec/base/error.h"
#include "codec/message/encode.h"
#include "codec/message/scan.h"
#include "codec/wire/writer.h"

/* How decoding goes on or ends. What exactly is wrong with bytes is the scan's to say. */
typedef enum outcome { GOES_ON, BAD_INPUT, NO_ROOM } outcome_t;

/* NOLINTBEGIN(misc-no-recursion): as deep as the schema nests messages, which is three; asserted.
 */

static outcome_t decode_message(aw_message_t *message, aw_span_t input, unsigned nesting,
                                aw_arena_t *arena);

static outcome_t room(bool done)
{
    return done ? GOES_ON : NO_ROOM;
}

static outcome_t keep_unknown(aw_message_t *message, const uint8_t *item, aw__reader_t *reader,
                              aw_arena_t *arena)
{
    aw_span_t bytes = {item, (size_t)(reader->at - item)};
    return room(aw__append_unknown(message, bytes, arena));
}

static outcome_t skip_unknown(aw_message_t *message, const uint8_t *item, uint32_t tag,
                              aw__reader_t *reader, unsigned nesting, aw_arena_t *arena)
{
    if (aw__skip_value(reader, item, tag, nesting) != AW__DEFECT_NONE) {
        return BAD_INPUT;
    }
    return keep_unknown(message, item, reader, arena);
}

static outcome_t decode_varint(aw_message_t *message, const uint8_t *item, uint32_t number,
                               aw__reader_t *reader, aw_arena_t *arena)
{
    uint64_t value;
    if (aw__read_varint(reader, &value) != AW__DEFECT_NONE) {
        return BAD_INPUT;
    }
    const aw_message_type_t type = aw__type(message);
    const char kind = aw__kind(type, number);
    if (kind == '\0') {
        return keep_unknown(message, item, reader, arena);
    }
    void *slot = aw__slot(message, aw__descriptor(type, number));
    switch (kind) {
    case 'i':
        *(int64_t *)slot = (int64_t)value;
        return GOES_ON;
    case 'u':
    case 'e':
        *(uint32_t *)slot = (uint32_t)value;
        return GOES_ON;
    case 't':
        *(protobuf_c_boolean *)slot = value != 0;
        return GOES_ON;
    default:
        return keep_unknown(message, item, reader, arena);
    }
}

/* A message field given again is decoded into the struct that is there. */
static outcome_t decode_submessage(aw_message_t *message, const ProtobufCFieldDescriptor *field,
                                   aw_message_type_t type, aw_span_t value, unsigned nesting,
                                   aw_arena_t *arena)
{
    ProtobufCMessage **slot = aw__slot(message, field);
    if (*slot == NULL) {
        aw_message_t *fresh = aw__message_new(type, arena);
        if (fresh == NULL) {
            return NO_ROOM;
        }
        *slot = aw__body(fresh);
    }
    return decode_message(aw__of_body(*slot), value, nesting + 1, arena);
}

static outcome_t decode_element(aw_message_t *message, const ProtobufCFieldDescriptor *field,
                                aw_message_type_t type, aw_span_t value, unsigned nesting,
                                aw_arena_t *arena)
{
    aw_message_t *element = aw__message_new(type, arena);
    if (element == NULL || !aw__append_message(message, field, element, arena)) {
        return NO_ROOM;
    }
    return decode_message(element, value, nesting + 1, arena);
}

/* Adds a map entry that is none, since it has unknown fields inside, to the unknown fields of the
 * message that holds the map: what is left of it as a message, under the map's number. */
static outcome_t keep_entry(aw_message_t *message, uint32_t number, const aw_message_t *entry,
                            aw_arena_t *arena)
{
    size_t size = aw__encoded_size(entry);
    size_t framed_size = 1 + aw__varint_size(size) + size;
    uint8_t *bytes = aw_arena_alloc(arena, framed_size);
    if (bytes == NULL) {
        return NO_ROOM;
    }
    uint8_t *at = aw__encode_before(entry, bytes + framed_size);
    at = aw__write_varint(at, size);
    at = aw__write_tag(at, number, AW__WIRE_BYTES);
    assert(at == bytes);
    return room(aw__append_unknown(message, (aw_span_t){bytes, framed_size}, arena));
}

static outcome_t decode_entry(aw_message_t *message, uint32_t number,
                              const ProtobufCFieldDescriptor *field, aw_message_type_t type,
                              aw_span_t value, unsigned nesting, aw_arena_t *arena)
{
    aw_message_t *entry = aw__message_new(type, arena);
    if (entry == NULL) {
        return NO_ROOM;
    }
    outcome_t outcome = decode_message(entry, value, nesting + 1, arena);
    if (outcome != GOES_ON) {
        return outcome;
    }
    if (entry->last_run != NULL) {
        return keep_entry(message, number, entry, arena);
    }
    return room(aw__append_message(message, field, entry, arena));
}

static outcome_t decode_bytes(aw_message_t *message, const uint8_t *item, uint32_t number,
                              aw__reader_t *reader, unsigned nesting, aw_arena_t *arena)
{
    size_t length;
    if (aw__read_length(reader, &length) != AW__DEFECT_NONE) {
        return BAD_INPUT;
    }
    aw_span_t value = {reader->at, length};
    reader->at += length;
    const aw_message_type_t type = aw__type(message);
    const char kind = aw__kind(type, number);
    if (kind == '\0') {
        return keep_unknown(message, item, reader, arena);
    }
    const ProtobufCFieldDescriptor *field = aw__descriptor(type, number);
    const aw_message_type_t child = (aw_message_type_t)aw__children[type][number];
    if (kind == 's' || kind == 'S') {
        if (!aw_utf8_valid(value)) {
            return BAD_INPUT;
        }
    } else if (aw__in_oneof(type, number)) {
        aw__choose(message, field);
    }
    switch (kind) {
    case 's':
    case 'b':
        *(ProtobufCBinaryData *)aw__slot(message, field) = aw__binary(value);
        return GOES_ON;
    case 'S':
        return room(aw__append_bytes(message, field, value, arena));
    case 'm':
        return decode_submessage(message, field, child, value, nesting, arena);
    case 'M':
        return decode_element(message, field, child, value, nesting, arena);
    case 'P':
        return decode_entry(message, number, field, child, value, nesting, arena);
    default:
        return keep_unknown(message, item, reader, arena);
    }
}

/* Adds what the bytes hold to a message. */
static outcome_t decode_message(aw_message_t *message, aw_span_t input, unsigned nesting,
                                aw_arena_t *arena)
{
    assert(nesting < AW__FRAMES_MAX);
    aw__reader_t reader = {input.data, input.data + input.size};
    outcome_t outcome = GOES_ON;
    while (outcome == GOES_ON && reader.at < reader.end) {
        const uint8_t *item = reader.at;
        uint32_t tag;
        if (aw__read_tag(&reader, &tag) != AW__DEFECT_NONE) {
            return BAD_INPUT;
        }
        uint32_t number = AW__TAG_NUMBER(tag);
        switch (AW__TAG_WIRE(tag)) {
        case AW__WIRE_VARINT:
            outcome = decode_varint(message, item, number, &reader, arena);
            break;
        case AW__WIRE_BYTES:
            outcome = decode_bytes(message, item, number, &reader, nesting, arena);
            break;
        default:
            outcome = skip_unknown(message, item, tag, &reader, nesting, arena);
            break;
        }
    }
    return outcome;
}

/* NOLINTEND(misc-no-recursion) */

int aw_message_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena,
                      const aw_message_t **ret_message, aw_error_t *error)
{
    if ((unsigned)type >= AW_MESSAGE_COUNT) {
        return aw__error_set(error, AW_STATUS_INVALID_ARGUMENT, -1, NULL, NULL);
    }
    if (input.size > AW__INPUT_MAX) {
        return aw__error_set(error, AW_STATUS_LIMIT_SIZE, -1, NULL, NULL);
    }
    aw_message_t *message = aw__message_new(type, arena);
    outcome_t outcome = NO_ROOM;
    if (message != NULL) {
        outcome = input.size > 0 ? decode_message(message, input, 0, arena) : GOES_ON;
    }
    if (outcome == GOES_ON) {
        outcome = room(aw__sort_maps(message, arena));
    }
    if (outcome == NO_ROOM) {
        return aw__error_set(error, aw_arena_status(arena), -1, NULL, NULL);
    }
    if (outcome == BAD_INPUT) {
        int status = aw__scan(type, input, error);
        assert(status != AW_OK); /* the same reader refused these bytes */
        return status;
    }
    *ret_message = message;
    return AW_OK;
}
