#ifndef BRIDGE_KAFKA_MESSAGE_H
#define BRIDGE_KAFKA_MESSAGE_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "bridge/core/record.h"

/** A view of what a consumer gave, hops read from its headers; lives as long as the message. topic
 *  is borrowed. Returns false when the headers cannot be read: more than 100,000, or damaged. */
bool ab_message_view(const rd_kafka_message_t *message, const char *topic, ab_record_t *ret_record);

#endif
