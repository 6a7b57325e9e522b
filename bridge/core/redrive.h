#ifndef BRIDGE_CORE_REDRIVE_H
#define BRIDGE_CORE_REDRIVE_H

#include "bridge/core/trailer.h"
#include "bridge/core/verdict.h"

/** Most reasons, sources or records that one selection names. */
#define AB_SELECTION_ITEMS_MAX 64u
/** Most bytes of all that a selection names, NULs included. */
#define AB_SELECTION_BYTES_MAX 8192u
/** Longest text of a job, NUL included. It is the metadata of a committed offset, for which brokers
 *  take 4096 bytes by default (offset.metadata.max.bytes). */
#define AB_JOB_TEXT_MAX 3584u

/** Where redriven records go. */
typedef enum ab_redrive_to {
    AB_REDRIVE_TO_SOURCE, /* the topic they came from */
    AB_REDRIVE_TO_ROUTE,  /* straight to the topic of their route */
    AB_REDRIVE_TO_TOPIC   /* one named topic */
} ab_redrive_to_t;

/** Which quarantine records are meant: all that fit every kind of condition named; within one kind
 *  any. Start from ab_selection_init(). Holds pointers into itself: never copied by value. */
typedef struct ab_selection {
    const char *reasons[AB_SELECTION_ITEMS_MAX];
    size_t reason_count;
    const char *sources[AB_SELECTION_ITEMS_MAX];
    size_t source_count;
    ab_coordinates_t records[AB_SELECTION_ITEMS_MAX]; /* in quarantine, or in the source */
    size_t record_count;
    aw_span_t key;    /* the record's or the entity's; data NULL: any */
    int64_t since_ms; /* by the time of writing; INT64_MIN: from the beginning */
    int64_t until_ms; /* the first that is not meant; INT64_MAX: to the end */
    size_t used;
    char pool[AB_SELECTION_BYTES_MAX];
} ab_selection_t;

/** A job as it is remembered with the offset committed of each partition it reads, so that a job id
 *  is all that going on needs. */
typedef struct ab_job {
    ab_selection_t selection;
    ab_redrive_to_t to;
    char topic[AB_TOPIC_MAX + 1]; /* with TO_TOPIC */
    bool force;                   /* also what does not pass */
    bool again;                   /* also what was redriven before */
    uint64_t max;                 /* records to be written, 0: any number */
    /* Of the partition. */
    int64_t end;      /* the job ends here: what comes later is another job's */
    uint64_t written; /* so far */
} ab_job_t;

void ab_selection_init(ab_selection_t *selection);

/** Add one condition; the text is copied. Return false when there is no room, nothing added. */
bool ab_selection_add_reason(ab_selection_t *selection, const char *code);
bool ab_selection_add_source(ab_selection_t *selection, const char *topic);
bool ab_selection_add_record(ab_selection_t *selection, const ab_coordinates_t *place);
bool ab_selection_set_key(ab_selection_t *selection, aw_span_t key);

/** True for a record of quarantine at place, written at written_ms (of no known time: INT64_MIN,
 *  which fits no --since), with that trailer and key, that the conditions fit. The entity's key,
 *  empty where it is not known, counts as a key as well. */
bool ab_selection_fits(const ab_selection_t *selection, const ab_coordinates_t *place,
                       int64_t written_ms, const ab_trailer_t *trailer, aw_span_t record_key,
                       aw_span_t entity_key);

/** Writes a job as name=value pairs with '&' between them, everything else than letters, digits and
 *  "-._:" as %XX, and a NUL. Returns its length, or 0 when it could become longer than
 * AB_JOB_TEXT_MAX: what has a text has one whatever end and written are. */
size_t ab_job_text(const ab_job_t *job, char ret_text[AB_JOB_TEXT_MAX]);

/** Reads such a text. Returns false when it is none, or of a later version; *ret_job is then
 *  undefined. */
bool ab_job_parse(aw_span_t text, ab_job_t *ret_job);

/** What becomes of a selected record: identifier, code, text for people. */
#define AB_REDRIVE_FATE_LIST(X)                                                                    \
    X(WRITE, "passes", "passes now")                                                               \
    X(FORCE, "forced", "does not pass, written all the same")                                      \
    X(REFUSED_AGAIN, "dead_letter", "would be dead-lettered again")                                \
    X(DROPPED, "dropped", "would be dropped by the present configuration")                         \
    X(NO_ROUTE, "no_route", "has no topic to be routed to")                                        \
    X(UNKNOWN_SOURCE, "unknown_source", "its source is not in this configuration")                 \
    X(FOREIGN, "foreign", "does not carry the headers of a quarantine record")                     \
    X(GONE, "gone", "is not whole, and its source does not have it any more")                      \
    X(ALTERED, "altered", "its value is not the one whose sha256 the headers hold")                \
    X(UNREADABLE, "unreadable",                                                                    \
      "its headers, or those of the record it points to, cannot be "                               \
      "read by the client library")                                                                \
    X(TARGET_REFUSES, "target_refuses", "the target topic refuses it")                             \
    X(MARKED, "marked", "was redriven before")

typedef enum ab_redrive_fate {
#define AB_REDRIVE_FATE_ENUM(id, code, text) AB_REDRIVE_##id,
    AB_REDRIVE_FATE_LIST(AB_REDRIVE_FATE_ENUM)
#undef AB_REDRIVE_FATE_ENUM
        AB_REDRIVE_FATE_COUNT
} ab_redrive_fate_t;

const char *ab_redrive_fate_code(ab_redrive_fate_t fate);
const char *ab_redrive_fate_text(ab_redrive_fate_t fate);

/** What is to be written for one record. */
typedef struct ab_redrive_plan {
    ab_redrive_fate_t fate; /* WRITE and FORCE are written */
    const char *topic;      /* with those: where to; borrowed from the job, the policy or the record
                             */
    aw_span_t key;          /* the record's own; of a route the entity's, as the lane writes it */
    bool by_key;            /* the partition is that of the key, else the original's number */
    bool source_header;     /* a route's readers are used to the source header */
    ab_verdict_t verdict;   /* with the present configuration */
} ab_redrive_plan_t;

/** Decides on one original: its coordinates, timestamp, key and value as they were, hops as they
 *  will be (ab_redrive_hops()). policy is that of its source, NULL where the configuration has
 *  none; scratch as ab_verdict_of() wants it. Spans borrow from the record. Returns AW_OK, or
 *  AW_STATUS_NO_MEMORY, and ret_plan is then of no use. */
AW_CHECKED int ab_redrive_plan(const ab_record_t *original, const ab_policy_t *policy,
                               const ab_job_t *job, aw_arena_t *scratch,
                               ab_redrive_plan_t *ret_plan);

/** The number a record carries that has been redriven once more. */
uint32_t ab_redrive_hops(const ab_trailer_t *trailer);

/** How many of the original's own headers stay. All of them but a last one that an earlier redrive
 *  put on, which the new one takes the place of. */
size_t ab_redrive_kept_headers(const ab_header_t *headers, const ab_trailer_t *trailer);

#endif
