#ifndef BRIDGE_KAFKA_READER_H
#define BRIDGE_KAFKA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/config/config.h"
#include "bridge/core/record.h"

/** What the verbs that look at topics read with: partitions are assigned, no group is joined,
 *  nothing is committed, records of open and aborted transactions are left out (read_committed),
 *  and reading ends where the log ended when it began. One thread.
 *
 *      ab_reader_add_topic() or ab_reader_add_partition(), as often as needed
 *      ab_reader_next() until it returns AB_READ_END
 *      ab_reader_clear(), and over again
 */
typedef struct ab_reader ab_reader_t;

/** How a call ended; ab_reader_text_view() says more of the failures. */
typedef enum ab_read_status {
    AB_READ_OK,
    AB_READ_END,         /* every partition has been read to its end */
    AB_READ_QUIET,       /* nothing came within the time given */
    AB_READ_NOTHING,     /* there is no record at that offset */
    AB_READ_MISSING,     /* the topic or the partition does not exist */
    AB_READ_UNSETTLED,   /* a transaction stays open */
    AB_READ_DAMAGED,     /* a partition's data cannot be read */
    AB_READ_DENIED,      /* an ACL, the login or a certificate */
    AB_READ_UNREACHABLE, /* no broker answers */
    AB_READ_NO_MEMORY
} ab_read_status_t;

/** Longest text of a failure, NUL included. */
#define AB_READER_TEXT_MAX 1024

/** How to read. */
typedef struct ab_reader_options {
    uint64_t memory_bytes; /* bound of what is fetched ahead; 0: the config's memory.per_lane */
    int timeout_ms;        /* without an answer for so long a call gives up */
} ab_reader_options_t;

/** Where reading a partition begins and ends. {0} is all of it. */
typedef struct ab_read_range {
    int64_t since_ms; /* with has_since: from the first record with a timestamp not before this */
    int64_t until_ms; /* with has_until: up to the first record with a timestamp not before this */
    bool has_since, has_until;
    bool follow; /* goes on past the end, for ever */
} ab_read_range_t;

/** One partition that is read. */
typedef struct ab_reader_part {
    const char *topic; /* lives until ab_reader_clear() */
    int32_t partition;
    int64_t first;  /* of the log, when it was added: what lies before is gone */
    int64_t begin;  /* where reading begins */
    int64_t end;    /* reading stops here; INT64_MAX where the log is followed */
    int64_t stable; /* the log's end for readers of committed records, when it was added */
    int64_t next;   /* the next offset expected; end when it is done */
    uint64_t gone;  /* offsets that retention removed while they were to be read */
    bool done;
} ab_reader_part_t;

/** Makes a reader for the brokers of a configuration; connects later. config must outlive it. The
 *  caller owns it. NULL when librdkafka or memory refuse; ret_text then says why. */
ab_reader_t *ab_reader_new(const ab_config_t *config, const ab_reader_options_t *options,
                           char ret_text[AB_READER_TEXT_MAX]);

/** Takes NULL. */
void ab_reader_free(ab_reader_t *reader);

/** One sentence about the last call that failed, and what to do. Lives until the next call. */
const char *ab_reader_text_view(const ab_reader_t *reader);

/** The partitions of a topic, without adding it. Returns OK, MISSING, DENIED or UNREACHABLE. */
ab_read_status_t ab_reader_count(ab_reader_t *reader, const char *topic, int32_t *ret_partitions);

/** Adds every partition of a topic; where they begin and end is asked for now, and never changes
 *  but for follow. Not after the first ab_reader_next(). Returns OK or a failure. */
ab_read_status_t ab_reader_add_topic(ab_reader_t *reader, const char *topic,
                                     const ab_read_range_t *range);

/** The same for one partition. */
ab_read_status_t ab_reader_add_partition(ab_reader_t *reader, const char *topic, int32_t partition,
                                         const ab_read_range_t *range);

/** Sets begin and end of one partition that was added, by its index; both are cut to what the log
 *  holds. Not after the first ab_reader_next(). */
void ab_reader_limit(ab_reader_t *reader, size_t index, int64_t begin, int64_t end);

/** Sets the begin of one partition alone, also of one that is followed. */
void ab_reader_begin_at(ab_reader_t *reader, size_t index, int64_t begin);

/** The partitions that were added, in that order. Lives until the next call that adds or clears. */
const ab_reader_part_t *ab_reader_parts_view(const ab_reader_t *reader, size_t *ret_count);

/** Waits until whatever had been written to the added partitions before this call is decided, by
 *  commit or abort, and moves their ends there. Together with offsets that a group had committed
 *  before, every output of theirs is then in reach. Returns OK, or UNSETTLED when a transaction
 *  stays open for longer than wait_ms, or a failure. Needs add without has_until and follow. */
ab_read_status_t ab_reader_settle(ab_reader_t *reader, int wait_ms);

/** Gives the next record of any of the partitions; each one's come in the order of their offsets.
 *  Waits up to wait_ms for it (-1: until there is one, or the end), then returns QUIET. A log may
 *  be quiet for as long as it likes: when nothing comes for half of timeout_ms the brokers are
 *  asked, and only those that do not answer end the reading.
 *
 *  *ret_record is borrowed until the next call on this reader. Headers that cannot be read (more
 *  than 100,000, or damaged) come as none, with headers_unreadable set. */
ab_read_status_t ab_reader_next(ab_reader_t *reader, int wait_ms, ab_full_record_t *ret_record);

/** Forgets all partitions, and so ends the reading. */
void ab_reader_clear(ab_reader_t *reader);

/** The one record at these coordinates; clears before and after. Borrowed like that of
 *  ab_reader_next(). NOTHING where no committed record is at that offset; the text says whether it
 *  is gone, is not written yet, or holds no record. */
ab_read_status_t ab_reader_fetch(ab_reader_t *reader, const ab_coordinates_t *at,
                                 ab_full_record_t *ret_record);

/** The offsets that the configuration's group has committed for the partitions of a topic, -1 where
 *  it has none. ret_offsets has room for count. Joins nothing. */
ab_read_status_t ab_reader_committed(ab_reader_t *reader, const char *topic, int32_t count,
                                     int64_t *ret_offsets);

/** The exit code of a verb that ends with a failure, an ab_exit_t. */
int ab_read_exit_code(ab_read_status_t status);

#endif
