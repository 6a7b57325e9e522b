#ifndef BRIDGE_KAFKA_ASK_H
#define BRIDGE_KAFKA_ASK_H

#include "agentwire/span.h"
#include "bridge/config/config.h"
#include "bridge/core/record.h"

/** Longest text of a failure, NUL included. */
#define AB_ASK_TEXT_MAX 512

/** Writes one record to the partition that the Java clients pick for its key, and waits until the
 *  brokers have it (acks=all, idempotent). ret_at says where it lies.
 *
 *  Returns 0; or an ab_exit_t, and then ret_text says why: UNAVAILABLE (nobody answers in time, or
 *  there is no such topic), NOT_ALLOWED, CONFIG (librdkafka refuses a property), FATAL (memory). */
int ab_ask_write(const ab_config_t *config, const char *topic, aw_span_t key, aw_span_t value,
                 int timeout_ms, ab_coordinates_t *ret_at, char ret_text[AB_ASK_TEXT_MAX]);

#endif
