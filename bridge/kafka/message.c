#include "bridge/kafka/message.h"

#include "bridge/core/dead_letter.h"

static ab_timestamp_type_t timestamp_type_of(rd_kafka_timestamp_type_t type)
{
    switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
        return AB_TIMESTAMP_CREATE;
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
        return AB_TIMESTAMP_APPEND;
    default:
        return AB_TIMESTAMP_NONE;
    }
}

/* librdkafka gives an empty key a pointer and a missing one NULL; so do our spans. */
bool ab_message_view(const rd_kafka_message_t *message, const char *topic, ab_record_t *ret_record)
{
    rd_kafka_timestamp_type_t type;
    const int64_t timestamp = rd_kafka_message_timestamp(message, &type);
    *ret_record = (ab_record_t){
        .topic = topic,
        .partition = message->partition,
        .offset = message->offset,
        .timestamp_type = timestamp_type_of(type),
        .key = aw_span_view(message->key, message->key_len),
        .value = aw_span_view(message->payload, message->len),
    };
    if (ret_record->timestamp_type != AB_TIMESTAMP_NONE) {
        ret_record->timestamp_ms = timestamp;
    }
    rd_kafka_headers_t *headers = NULL;
    const rd_kafka_resp_err_t err = rd_kafka_message_headers(message, &headers);
    const void *value;
    size_t size;
    if (headers != NULL && rd_kafka_header_get_last(headers, AB_HEADER_HOPS, &value, &size) ==
                               RD_KAFKA_RESP_ERR_NO_ERROR) {
        ret_record->hops = ab_hops_parse(aw_span_view(value, size));
    }
    return err == RD_KAFKA_RESP_ERR_NO_ERROR || err == RD_KAFKA_RESP_ERR__NOENT;
}
