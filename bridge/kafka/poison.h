#ifndef BRIDGE_KAFKA_POISON_H
#define BRIDGE_KAFKA_POISON_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What one source record may become; each output has rungs of its own (DESIGN section 3). */
typedef enum ab_output {
    AB_OUTPUT_ROUTE,      /* rungs: with the source header, without it, refused */
    AB_OUTPUT_LETTER,     /* rungs: the letter, refused (blocks) */
    AB_OUTPUT_QUARANTINE, /* rungs: the whole record, its head, the pointer, refused (blocks) */
    AB_OUTPUT_COUNT
} ab_output_t;

/** The first rung past the last: that output refuses the record for good. */
unsigned ab_output_last_rung(ab_output_t output);

/** What is remembered of one record that an output refused, or may have. */
typedef struct ab_poison_entry {
    int source; /* -1: free slot */
    int32_t partition;
    int64_t offset;
    bool suspect; /* it was in a batch that was refused; which record is to blame is not known */
    uint8_t rung[AB_OUTPUT_COUNT];
    rd_kafka_resp_err_t error; /* what refused it, for the words of the dead letter */
} ab_poison_entry_t;

/** The memory of refusals of one lane: from a refusal until its record is committed or revoked. */
typedef struct ab_poison {
    ab_poison_entry_t *slots; /* open addressing; capacity is a power of two */
    size_t capacity;
    size_t count;
} ab_poison_t;

void ab_poison_clear(ab_poison_t *poison);

/** The entry of a record, or NULL. */
ab_poison_entry_t *ab_poison_find(const ab_poison_t *poison, int source, int32_t partition,
                                  int64_t offset);

/** The entry of a record, made when it is not there. NULL when memory is short. */
ab_poison_entry_t *ab_poison_add(ab_poison_t *poison, int source, int32_t partition,
                                 int64_t offset);

/** Moves one output of a record to its next rung: a size refusal to the next, any other to the
 * last. */
void ab_poison_demote(ab_poison_entry_t *entry, ab_output_t output, rd_kafka_resp_err_t error);

/** Forgets the records of a partition below offset (INT64_MAX: all of them). */
void ab_poison_forget(ab_poison_t *poison, int source, int32_t partition, int64_t below);

#endif
