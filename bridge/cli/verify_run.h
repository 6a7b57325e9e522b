#ifndef BRIDGE_CLI_VERIFY_RUN_H
#define BRIDGE_CLI_VERIFY_RUN_H

#include "bridge/config/config.h"
#include "bridge/core/audit.h"

/** Where outputs of records that are not older than --since are looked for: so much earlier. A
 *  producer's clock may be ahead of the brokers' by an hour, Kafka's own limit. */
#define AB_VERIFY_EARLIER_MS 3600000

/** Most sightings of one record that are looked at; more of them are counted as duplicates. */
#define AB_VERIFY_COPIES_MAX 65536u

typedef struct ab_verify_options {
    bool has_since;
    int64_t since_ms; /* source records with an earlier timestamp, or with none, are left out */
    int timeout_ms;
} ab_verify_options_t;

/** One source partition. Offsets are of the source. */
typedef struct ab_verify_part {
    size_t source;
    int32_t partition;
    int64_t first;     /* what the log still has begins here */
    int64_t begin;     /* what was looked at begins here */
    int64_t committed; /* of the group when the verify began, -1: none; records from here on are not
                          expected yet */
    int64_t end;       /* where the log ended for readers of committed records */
    uint64_t redriven; /* source records with a hops header */
    ab_audit_counts_t counts;
} ab_verify_part_t;

/** What a verify found. */
typedef struct ab_verify_report {
    ab_verify_part_t *parts; /* by source, then by partition */
    size_t part_count;
    ab_audit_counts_t total;
    uint64_t outputs;         /* records read from the outputs */
    uint64_t without_source;  /* of routed: found by their content, without the source header */
    uint64_t duplicates;      /* allowed ones */
    uint64_t redriven_direct; /* in outputs, written by a redrive straight to there */
    uint64_t markers;         /* of redrives, on quarantine topics */
    uint64_t foreign;         /* in outputs, of other writers or other groups */
    uint64_t source_gone;     /* in outputs, their source removed by retention */
    uint64_t not_yet;         /* in outputs, their source committed after the verify began */
    uint64_t temporary_bytes; /* spilled to temporary files */
} ab_verify_report_t;

/** A verify's world, as far as a printer needs it. */
typedef struct ab_verify {
    const ab_config_t *config;
    ab_audit_t audit;
    ab_verify_report_t report;
    void (*on_fault)(struct ab_verify *verify, const ab_fault_t *fault);
    void *opaque;    /* of on_fault */
    char text[1280]; /* why it failed */
} ab_verify_t;

/** Reads everything and judges it. verify has config, on_fault and opaque set and the rest 0; on
 *  return the report is filled. Returns an exit code: OK, whatever was found, or that of a failure,
 *  which verify->text explains. */
int ab_verify_run(ab_verify_t *verify, const ab_verify_options_t *options);

/** Frees what the run made. */
void ab_verify_clear(ab_verify_t *verify);

#endif
