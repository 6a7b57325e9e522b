#ifndef BRIDGE_KAFKA_EMBEDDED_CLIENT_H
#define BRIDGE_KAFKA_EMBEDDED_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "bridge/core/record.h"

/** A plain Kafka client: writes records as they are, reads topics whole. It shares no code with the
 *  lanes, so that the demo and the tests do not check the relay with its own hands. One thread. Of
 *  its records hops and headers_unreadable are neither written nor read. */
typedef struct ab_client ab_client_t;

/** Longest text that says why something failed here, NUL included. */
#define AB_CLIENT_TEXT_MAX 256u

/** Records that were read, and the memory they live in. */
typedef struct ab_records ab_records_t;

/** Makes a client of the brokers at bootstrap. The caller owns it. NULL when it cannot be; ret_text
 *  then says why. */
ab_client_t *ab_client_new(const char *bootstrap, char ret_text[AB_CLIENT_TEXT_MAX]);

/** Why the last call that failed did. Lives until the next call. */
const char *ab_client_error_view(const ab_client_t *client);

/** Queues a record for record.topic and record.partition with record.timestamp_ms, which cannot be
 * 0 (Kafka's clients take that for now). Absent and empty keys, values and header values stay
 * apart. Everything is copied. Returns 0 or -1. */
int ab_client_write(ab_client_t *client, const ab_full_record_t *record);

/** Waits until the brokers have every record that was queued, each partition's in their order.
 *  Returns 0, or -1 when one was refused or the time is up. */
int ab_client_flush(ab_client_t *client, int timeout_ms);

/** Commits offset as the group's position in every partition of the topic, as an administrator
 *  does: the group must have no members. Returns 0 or -1. */
int ab_client_commit(ab_client_t *client, const char *group, const char *topic, int32_t partitions,
                     int64_t offset);

/** Reads a topic from its first record to the end it has now, partition by partition.
 *  ret_records is the caller's and is written on success only. Returns 0, or -1. */
int ab_client_read(ab_client_t *client, const char *topic, int timeout_ms,
                   ab_records_t **ret_records);

/** The records, by partition and then by offset, and how many they are. They live as long as
 * records does. */
const ab_full_record_t *ab_records_view(const ab_records_t *records, size_t *ret_count);

/** Takes NULL. */
void ab_records_free(ab_records_t *records);

/** The partition that librdkafka's own murmur2 picks for a key: not the relay's, so that the two
 * can be held against each other. count is at least 1. */
int32_t ab_client_partition_of_key(aw_span_t key, int32_t count);

/** Waits for nothing: what was not flushed may be lost. Takes NULL. */
void ab_client_free(ab_client_t *client);

#endif
