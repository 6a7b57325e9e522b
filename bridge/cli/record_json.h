#ifndef BRIDGE_CLI_RECORD_JSON_H
#define BRIDGE_CLI_RECORD_JSON_H

#include <stdio.h>

#include "agentwire/arena.h"
#include "agentwire/json.h"
#include "agentwire/message.h"
#include "bridge/core/record.h"

/** How a record's value is shown. */
typedef enum ab_value_as {
    AB_VALUE_DECODED, /* the message as proto3 JSON; where that fails, why, and the bytes in hex */
    AB_VALUE_HEX,
    AB_VALUE_LEFT_OUT
} ab_value_as_t;

/** Longest text of ab_time_text(), NUL included. */
#define AB_TIME_TEXT_MAX 32

/** Writes ms since the epoch as "2026-01-31T00:00:00.500Z"; "-" for what is before it. Returns
 *  ret_text. */
const char *ab_time_text(int64_t ms, char ret_text[AB_TIME_TEXT_MAX]);

/** Writes "topic:partition:offset" of a record. Returns ret_text. */
const char *ab_record_place(const ab_record_t *record, char ret_text[AB_COORDINATES_TEXT_MAX]);

/** Bytes as a member: a string where they are UTF-8, {"hex":…} where not, null where absent. */
void ab_json_bytes(aw_json_writer_t *writer, const char *name, aw_span_t bytes);

/** A record as one object: headers, key, offset, partition, timestamp, topic, value. Trouble of the
 *  arena becomes the writer's. */
void ab_record_json(aw_json_writer_t *writer, const ab_full_record_t *record,
                    aw_message_type_t type, ab_value_as_t value_as, aw_arena_t *arena);

/** Ends a text and writes it as a line. Returns AB_CLI_OK or AB_CLI_FATAL. */
int ab_json_line(aw_json_writer_t *writer, FILE *out);

#endif
