#ifndef BRIDGE_CORE_TRAILER_H
#define BRIDGE_CORE_TRAILER_H

#include "bridge/core/dead_letter.h"

/** Longest job id, NUL included. */
#define AB_JOB_ID_MAX 40u
/** Longest value of the marker's header, NUL included. */
#define AB_REDRIVEN_TEXT_MAX (AB_COORDINATES_TEXT_MAX + AB_JOB_ID_MAX)

/** What the bridge appended to a dead letter or to a quarantine record (docs/dead-letters.md). */
typedef struct ab_trailer {
    ab_coordinates_t source; /* where the original came from */
    aw_span_t group;
    aw_span_t message;
    aw_span_t reason;
    uint32_t hops;        /* the original came with */
    aw_span_t sha256;     /* of the original's value in hex; absent: its value is NULL */
    uint64_t value_size;  /* bytes; 0 for a tombstone */
    int64_t timestamp_ms; /* the original's; 0 when it has none */
    ab_timestamp_type_t timestamp_type;
    ab_copy_t copy;
    size_t own_headers; /* so many headers, the first ones, are the original's own */
} ab_trailer_t;

/** Finds what the bridge appended, from the last header backwards: exactly its headers, in exactly
 *  their order, so that headers of the same names in front of them stay the original's. Returns
 *  false where the headers do not end like that, ret_trailer untouched. Spans borrow from the
 *  headers. */
bool ab_trailer_read(const ab_header_t *headers, size_t count, ab_trailer_t *ret_trailer);

/** True for a marker: no key, no value, and one header AB_HEADER_REDRIVEN, whose value is
 *  topic:partition:offset:job, of a record before it in its own partition. The outputs say which it
 *  marks and the job; untouched otherwise. Everything that asks whether a record was redriven asks
 *  this: a record with a header of that name among others is none. */
bool ab_marker_read(const ab_full_record_t *record, ab_coordinates_t *ret_marked,
                    char ret_job[AB_JOB_ID_MAX]);

/** Writes the value of a marker's header and a NUL; returns the length without it. */
size_t ab_redriven_text(const ab_coordinates_t *marked, const char *job,
                        char ret_text[AB_REDRIVEN_TEXT_MAX]);

/** True for a job id: 1 to AB_JOB_ID_MAX - 1 letters, digits and hyphens. */
bool ab_job_id_valid(aw_span_t id);

#endif
