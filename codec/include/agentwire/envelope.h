#ifndef AGENTWIRE_ENVELOPE_H
#define AGENTWIRE_ENVELOPE_H

#include "agentwire/error.h"
#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Which payload an AgentEnvelope holds. The values are the payload's field numbers, so that a new
 *  variant has its number already; NONE is an envelope without a payload. */
typedef enum aw_variant {
    AW_VARIANT_NONE = 0,
    AW_VARIANT_EXTERNAL_EVENT = 3,
    AW_VARIANT_TOOL_RESULT = 4,
    AW_VARIANT_APPROVAL = 5,
    AW_VARIANT_EXPORT_REQUEST = 6
} aw_variant_t;

/** The field's name in the schema ("external_event", …), "none" for NONE. Static storage. */
const char *aw_variant_name(aw_variant_t variant);

/** What the scan saw of an envelope, after merging as the reference runtime merges: the last scalar
 *  wins, a payload message given again is merged, another variant in between starts afresh.
 *  All spans borrow from the scanned input; a field that is not set is the absent span. */
typedef struct aw_envelope_view {
    aw_span_t entity_key;
    int64_t event_time_ms;
    aw_variant_t variant;
    aw_span_t external_event;    /* the bytes, when variant is EXTERNAL_EVENT */
    aw_span_t intent_id;         /* of tool_result or approval */
    aw_span_t result_entity_key; /* tool_result.entity_key */
    aw_span_t request_id;        /* of export_request */
    uint32_t future_number; /* first top-level unknown field number >= 7, 0 when there is none */
} aw_envelope_view_t;

/** Scans one serialized AgentEnvelope without allocating, in one pass.
 *
 * Accepts exactly what the reference runtime accepts (Python protobuf 6.33.6 on upb).
 * ret_view is written on success only. On a refusal error->offset is the first byte of the
 * offending item and error->field the path to it. Bytes that are an envelope behind a
 * schema-registry header (0x00, a four-byte id, and optionally a list of message indexes) are
 * AW_STATUS_FRAMED_PAYLOAD.
 *
 * Returns AW_OK, AW_STATUS_LIMIT_SIZE, or one of the bad-input statuses.
 */
AW_CHECKED int aw_envelope_scan(aw_span_t input, aw_envelope_view_t *ret_view, aw_error_t *error);

/** True when the bytes read well as a ToolResult with an intent_id and are not a plausible
 * envelope: a producer that forgot the envelope. A hint for the text of a dead letter, never a
 * verdict. */
bool aw_envelope_looks_like_result(aw_span_t input);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
