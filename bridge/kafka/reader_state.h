#ifndef BRIDGE_KAFKA_READER_STATE_H
#define BRIDGE_KAFKA_READER_STATE_H

/* What the files of the reader share: reader.c (partitions and records), reader_ask.c (questions to
 * the brokers). One thread uses all of it. */

#include <librdkafka/rdkafka.h>

#include "bridge/kafka/link.h"
#include "bridge/kafka/reader.h"

/* Logical offsets of Kafka's ListOffsets. */
#define AB_OFFSET_LATEST   (-1)
#define AB_OFFSET_EARLIEST (-2)

/* One topic, from its first partition on the list to its last. */
typedef struct ab_reader_topic {
    char name[AB_TOPIC_MAX + 1];
} ab_reader_topic_t;

struct ab_reader {
    const ab_config_t *config;
    ab_reader_options_t options;
    ab_link_t link;
    rd_kafka_t *client;
    rd_kafka_t *uncommitted; /* made when the end of open transactions is asked for */

    ab_reader_topic_t **topics; /* each of its own, so that its name stays where it is */
    size_t topic_count, topic_room;
    ab_reader_part_t *parts;
    size_t part_count, part_room;
    size_t open_parts; /* not read to their end */
    bool assigned;

    rd_kafka_message_t *message; /* what was given last */
    ab_header_t *headers;        /* of it */
    size_t header_room;
    size_t last_part;  /* where the last message was from */
    int64_t silent_ms; /* waited for messages since one came last */

    char text[AB_READER_TEXT_MAX];
};

int64_t ab_reader_now_ms(void);

/* Writes the text of a failure. Returns status. */
ab_read_status_t ab_reader_fail(ab_reader_t *reader, ab_read_status_t status, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));

/* The failure that an error about a topic is; the text says it. */
ab_read_status_t ab_reader_fail_of(ab_reader_t *reader, rd_kafka_resp_err_t err, const char *topic);

/* Nobody answers; the text says what is known of why. */
ab_read_status_t ab_reader_fail_silent(ab_reader_t *reader);

/* Asks for one offset of each of these partitions: the first that is not before at_ms, or with
 * AB_OFFSET_LATEST or AB_OFFSET_EARLIEST an end of the log. ret_offsets gets -1 where there is no
 * record so late. */
ab_read_status_t ab_reader_ask_offsets(ab_reader_t *reader, rd_kafka_t *client,
                                       const ab_reader_part_t *parts, size_t count, int64_t at_ms,
                                       int64_t *ret_offsets);

/* Makes one of the reader's clients; NULL when it cannot be, ret_text then says why. */
rd_kafka_t *ab_reader_client_new(ab_reader_t *reader, bool uncommitted,
                                 char ret_text[AB_READER_TEXT_MAX]);

#endif
