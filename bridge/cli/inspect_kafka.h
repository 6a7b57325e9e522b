#ifndef BRIDGE_CLI_INSPECT_KAFKA_H
#define BRIDGE_CLI_INSPECT_KAFKA_H

#include <stdbool.h>
#include <stdint.h>

#include "agentwire/message.h"

/** What `inspect RECORD|TOPIC` is asked for. */
typedef struct ab_inspect_kafka {
    const char *config; /* what -c names, NULL for the usual place */
    const char *place;  /* topic, or topic:partition:offset */
    aw_message_type_t type;
    const char *partition; /* as given; NULL: all of them */
    const char *offset;    /* as given; NULL: from the first */
    const char *count;     /* as given; NULL: all there are */
    bool follow;
    int timeout_ms;
} ab_inspect_kafka_t;

/** True for what names a record of Kafka rather than a file. */
bool ab_inspect_names_record(const char *argument);

/** Prints each record as a line of JSON. Returns an exit code. */
int ab_inspect_kafka_run(const ab_inspect_kafka_t *options);

#endif
