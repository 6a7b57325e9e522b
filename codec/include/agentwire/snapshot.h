#ifndef AGENTWIRE_SNAPSHOT_H
#define AGENTWIRE_SNAPSHOT_H

#include "agentwire/arena.h"
#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** What the scan saw of a serialized StateSnapshot, after merging as the reference runtime merges:
 *  the last of each field. Spans borrow from the input; a field that is not set is the absent span.
 */
typedef struct aw_snapshot_view {
    uint32_t state_schema_version;
    aw_span_t entity_key;
    int64_t seq;
    int64_t snapshot_at_ms;
    aw_span_t request_id;
} aw_snapshot_view_t;

/** Scans one serialized StateSnapshot without allocating. Accepts exactly what the reference
 *  runtime accepts; ret_view is written on success only.
 *  Returns AW_OK, AW_STATUS_LIMIT_SIZE, or one of the bad-input statuses. */
AW_CHECKED int aw_snapshot_scan(aw_span_t input, aw_snapshot_view_t *ret_view, aw_error_t *error);

/** Turns a published StateSnapshot into the answer to one request, without decoding it: its
 *  snapshot_at_ms (4) and request_id (9) are replaced, and everything else stays as it is. It is
 *  scanned once; ret_view (may be NULL) is what aw_snapshot_scan() says of it, before the change.
 *
 *  Exactly: the outermost message is cut into its fields, each with its tag and value as they are
 *  spelled. Every 4 and 9 of the schema's own wire type is left out, the given ones take their
 *  place, minimally spelled, and like every default of proto3 not at all when they are 0 or empty.
 *  The pieces are written by ascending number, those of one number in the order of the input, and
 *  behind them what is unknown to the schema, in the order of the input: a number it does not have,
 *  a group, and a known number under another wire type, 4 and 9 included. Nothing inside a piece is
 *  looked at, so embedded messages keep their versions, unknown fields, order and spelling, one
 *  that is there and empty stays there, and one that comes in several pieces stays in several.
 *
 *  So the answer reads as the published state with two fields set; a canonically written state
 *  changes in those two alone, and two states that differ in the order of their fields only give
 *  the same bytes. Same input, same output; an answer put in again gives itself.
 *
 *  request_id is UTF-8. ret_bytes lies in the arena; it and ret_view are written on success only;
 *  error (may be NULL) is about the input. Returns AW_OK; what aw_snapshot_scan() does for the
 * input; AW_STATUS_INVALID_UTF8 also for request_id; AW_STATUS_LIMIT_SIZE also for an answer of
 * 2^31-1 bytes or more; AW_STATUS_LIMIT_DECODE_BYTES / AW_STATUS_NO_MEMORY from the arena. */
AW_CHECKED int aw_snapshot_answer(aw_span_t published, int64_t snapshot_at_ms, aw_span_t request_id,
                                  aw_arena_t *arena, aw_snapshot_view_t *ret_view,
                                  aw_span_t *ret_bytes, aw_error_t *error);

/** The answer about an entity of which no state was ever published: a StateSnapshot with
 *  state_schema_version 1, the key, the time and the request id, and nothing else.
 *  Returns AW_OK, AW_STATUS_INVALID_UTF8 (request_id), or trouble from the arena. */
AW_CHECKED int aw_snapshot_empty(aw_span_t entity_key, int64_t snapshot_at_ms, aw_span_t request_id,
                                 aw_arena_t *arena, aw_span_t *ret_bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
