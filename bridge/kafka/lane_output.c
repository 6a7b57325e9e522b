#include "bridge/kafka/lane_state.h"

#include <stdlib.h>
#include <string.h>

#include "agentwire/status.h"
#include "bridge/core/dead_letter.h"
#include "bridge/core/partition.h"
#include "bridge/kafka/lane_answer.h"
#include "bridge/kafka/relay.h"

/* How much of a value stays where the whole record does not fit. */
#define HEAD_BYTES 8192u
/* Fixed part of a record batch, magic 2, and the most that a record's own lengths take. */
#define BATCH_BYTES        61u
#define RECORD_FIXED_BYTES 3u /* attributes, and two deltas of 0 */
#define SENT_PER_BLOCK     (sizeof(((struct ab_sent_block *)0)->items) / sizeof(ab_sent_t))
/* What a record and each of its headers take beside their bytes, in librdkafka 2.0.2 and in the
 * lane, rounded up. */
#define OVERHEAD_BYTES        512u
#define HEADER_OVERHEAD_BYTES 64u
/* While the producer's queue is full: how long one wait for room is. */
#define QUEUE_FULL_MS 10

/* One record to be written. */
typedef struct outgoing {
    ab_output_t output;
    int topic; /* index into shared->topics */
    int32_t partition;
    aw_span_t key, value;
    int64_t timestamp_ms; /* 0: the time of writing */
    rd_kafka_headers_t *headers;
} outgoing_t;

static ab_sent_t *take_sent(ab_lane_t *lane)
{
    if (lane->free_sent == NULL) {
        struct ab_sent_block *block = malloc(sizeof(*block));
        if (block == NULL) {
            return NULL;
        }
        block->next = lane->sent_blocks;
        lane->sent_blocks = block;
        for (size_t i = 0; i < SENT_PER_BLOCK; i++) {
            block->items[i].next_free = lane->free_sent;
            lane->free_sent = &block->items[i];
        }
    }
    ab_sent_t *sent = lane->free_sent;
    lane->free_sent = sent->next_free;
    return sent;
}

static void give_sent(ab_lane_t *lane, ab_sent_t *sent)
{
    sent->next_free = lane->free_sent;
    lane->free_sent = sent;
}

void ab_lane_free_sent(ab_lane_t *lane)
{
    while (lane->sent_blocks != NULL) {
        struct ab_sent_block *next = lane->sent_blocks->next;
        free(lane->sent_blocks);
        lane->sent_blocks = next;
    }
    lane->free_sent = NULL;
    lane->inflight_bytes = 0;
    lane->inflight_count = 0;
}

void ab_lane_note_failure(ab_lane_t *lane, const ab_sent_t *sent, rd_kafka_resp_err_t error)
{
    ab_txn_t *txn = &lane->txn;
    if (txn->failure_count == AB_FAILURES_MAX) {
        return;
    }
    if (txn->failure_count == txn->failure_room) {
        const size_t room = txn->failure_room == 0 ? 64 : txn->failure_room * 2;
        ab_failure_t *failures = realloc(txn->failures, room * sizeof(*failures));
        if (failures == NULL) {
            txn->broken = true; /* the abort comes all the same; who is to blame shows next time */
            return;
        }
        txn->failures = failures;
        txn->failure_room = room;
    }
    txn->failures[txn->failure_count++] = (ab_failure_t){*sent, error};
}

void ab_lane_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    ab_lane_t *lane = opaque;
    ab_sent_t *sent = message->_private;
    (void)rk;
    lane->inflight_bytes -= sent->bytes;
    lane->inflight_count--;
    if (lane->plain) {
        ab_plain_on_delivery(lane, sent, message->err);
        give_sent(lane, sent);
        return;
    }
    switch (ab_error_of_delivery(message->err)) {
    case AB_ACTION_NONE:
        break;
    case AB_ACTION_FATAL:
        /* The transactional call that follows says the same with its flags. */
        lane->txn.broken = true;
        break;
    default:
        ab_lane_note_failure(lane, sent, message->err);
        break;
    }
    give_sent(lane, sent);
}

/* What one record takes on the wire, magic 2, uncompressed: exactly what the broker will hold
 * against the topic's max.message.bytes when it comes alone in its batch. */
typedef struct wire_size {
    uint64_t bytes; /* of the record without the varint that counts its headers */
    uint64_t headers;
} wire_size_t;

/* Bytes of a length as a zigzag varint; -1 stands for NULL. */
static uint64_t length_bytes(int64_t length)
{
    uint64_t zigzag = length < 0 ? 1 : (uint64_t)length << 1;
    uint64_t bytes = 1;
    while (zigzag >= 0x80) {
        zigzag >>= 7;
        bytes++;
    }
    return bytes;
}

static uint64_t span_bytes(const void *data, size_t size)
{
    return length_bytes(data != NULL ? (int64_t)size : -1) + size;
}

static void add_header_size(wire_size_t *size, const char *name, const void *value, size_t bytes)
{
    const size_t length = strlen(name);
    size->bytes += length_bytes((int64_t)length) + length + span_bytes(value, bytes);
    size->headers++;
}

static wire_size_t wire_size_of(const outgoing_t *out)
{
    wire_size_t size = {RECORD_FIXED_BYTES, 0};
    const char *name;
    const void *value;
    size_t bytes;
    size.bytes += span_bytes(out->key.data, out->key.size);
    size.bytes += span_bytes(out->value.data, out->value.size);
    for (size_t i = 0; out->headers != NULL &&
                       rd_kafka_header_get_all(out->headers, i, &name, &value, &bytes) == 0;
         i++) {
        add_header_size(&size, name, value, bytes);
    }
    return size;
}

/* Of a batch that holds this one record. */
static uint64_t batch_bytes(const wire_size_t *size)
{
    const uint64_t record = size->bytes + length_bytes((int64_t)size->headers);
    return BATCH_BYTES + length_bytes((int64_t)record) + record;
}

/* False when it is certain that the topic will refuse a record of so many bytes. Where the producer
 * compresses, only the broker knows. */
static bool may_fit(const ab_lane_t *lane, const outgoing_t *out, const wire_size_t *size)
{
    if (lane->compresses) {
        return out->key.size + out->value.size <= (size_t)lane->largest_limit;
    }
    return batch_bytes(size) <= (uint64_t)lane->facts[out->topic].max_message_bytes;
}

static rd_kafka_resp_err_t produce(ab_lane_t *lane, const outgoing_t *out, ab_sent_t *sent)
{
    static const uint8_t nothing[1] = {0};
    const void *key = out->key.data != NULL && out->key.size == 0 ? nothing : out->key.data;
    const void *value = out->value.data != NULL && out->value.size == 0 ? nothing : out->value.data;
    return rd_kafka_producev(
        lane->producer, RD_KAFKA_V_RKT(lane->outputs[out->topic]),
        RD_KAFKA_V_PARTITION(out->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, out->key.size),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, out->value.size),
        RD_KAFKA_V_TIMESTAMP(out->timestamp_ms), RD_KAFKA_V_HEADERS(out->headers),
        RD_KAFKA_V_OPAQUE(sent), RD_KAFKA_V_END);
}

/* The client knows already that the topic cannot be written. */
static void tell_trouble(ab_lane_t *lane, const outgoing_t *out, rd_kafka_resp_err_t err)
{
    if (ab_error_is_denied(err)) {
        ab_lane_denied(lane, err);
    } else if (err != RD_KAFKA_RESP_ERR__STATE && ab_error_of_produce(err) == AB_ACTION_ABORT &&
               ab_lane_may_say(lane)) {
        const ab_field_t fields[] = {AB_TEXT("topic", lane->facts[out->topic].name),
                                     AB_TEXT("error", rd_kafka_err2name(err))};
        ab_lane_emit(lane, AB_LEVEL_WARNING, "output_unavailable",
                     "an output cannot be written; its records are read again until it can", fields,
                     2);
    }
}

/* Hands one record to the producer, which then owns its headers; on failure they are destroyed here
 * and the transaction is marked broken, or the record's refusal is remembered. */
static bool hand_over(ab_lane_t *lane, const ab_record_t *record, int source, outgoing_t *out)
{
    ab_sent_t *sent = take_sent(lane);
    if (sent == NULL) {
        rd_kafka_headers_destroy(out->headers);
        lane->txn.broken = true;
        return false;
    }
    *sent =
        (ab_sent_t){NULL, source, record->partition, record->offset, 0, out->output, lane->ticket};
    const wire_size_t wire = wire_size_of(out);
    sent->bytes = (uint32_t)(wire.bytes + wire.headers * HEADER_OVERHEAD_BYTES + OVERHEAD_BYTES);
    rd_kafka_resp_err_t err;
    if (lane->plain) {
        ab_plain_expect(lane, sent);
    }
    while (ab_error_of_produce(err = produce(lane, out, sent)) == AB_ACTION_RETRY) {
        rd_kafka_poll(lane->producer, QUEUE_FULL_MS);
        if (lane->txn.failure_count > 0 || lane->txn.broken) {
            break;
        }
    }
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        lane->inflight_bytes += sent->bytes;
        lane->inflight_count++;
        lane->txn.bytes += wire.bytes + BATCH_BYTES;
        return true;
    }
    rd_kafka_headers_destroy(out->headers);
    tell_trouble(lane, out, err);
    if (ab_error_of_produce(err) == AB_ACTION_POISON) {
        ab_poison_entry_t *entry =
            ab_poison_add(&lane->poison, source, record->partition, record->offset);
        if (entry != NULL) {
            ab_poison_demote(entry, out->output, err);
        }
    }
    lane->txn.broken = true;
    give_sent(lane, sent);
    return false;
}

static int32_t partition_for(const ab_lane_t *lane, const outgoing_t *out, int32_t source_partition,
                             bool by_key)
{
    const int32_t count = lane->facts[out->topic].partitions;
    if (count <= 0) {
        return 0;
    }
    return by_key && out->key.data != NULL ? ab_partition_of_key(out->key, count)
                                           : source_partition % count;
}

static void add_header(rd_kafka_headers_t *headers, const char *name, aw_span_t value)
{
    rd_kafka_header_add(headers, name, -1, value.data, (ssize_t)value.size);
}

static void add_letter_headers(rd_kafka_headers_t *headers, const ab_letter_t *letter)
{
    for (size_t i = 0; i < letter->header_count; i++) {
        add_header(headers, letter->headers[i].name, letter->headers[i].value);
    }
}

/* The record's own headers, as they came; the message gives them away. */
static rd_kafka_headers_t *detach_headers(rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_detach_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return headers;
    }
    return rd_kafka_headers_new(4);
}

static uint8_t rung_of(const ab_poison_entry_t *entry, ab_output_t output)
{
    return entry != NULL ? entry->rung[output] : 0;
}

/* What is about to be written for a record that the verdict routes; the headers are still the
 * message's. */
static outgoing_t routed_of(const ab_lane_t *lane, rd_kafka_message_t *message,
                            const ab_record_t *record, const ab_verdict_t *verdict, int source)
{
    const ab_policy_t *policy = &lane->config->sources[source].policy;
    outgoing_t out = {.output = AB_OUTPUT_ROUTE,
                      .topic = lane->targets[source].routes[ab_slot_of_variant(verdict->variant)],
                      .key = verdict->entity_key,
                      .value = record->value};
    if (record->timestamp_type != AB_TIMESTAMP_NONE) {
        out.timestamp_ms = record->timestamp_ms;
    }
    out.partition =
        partition_for(lane, &out, record->partition, policy->partition_by == AB_PARTITION_KEY);
    rd_kafka_message_headers(message, &out.headers);
    return out;
}

/* What is about to be written for an export request: not the record's bytes, but the answer that
 * was made for it. It owns the headers. */
static outgoing_t answer_of(const ab_lane_t *lane, const ab_record_t *record,
                            const ab_verdict_t *verdict)
{
    const ab_answer_t *answer = &lane->answers->answer;
    outgoing_t out = {.output = AB_OUTPUT_ROUTE,
                      .topic = lane->answers->snapshots,
                      .key = verdict->entity_key,
                      .value = answer->value,
                      .headers = rd_kafka_headers_new(answer->header_count)};
    out.partition = partition_for(lane, &out, record->partition, true);
    for (size_t i = 0; i < answer->header_count; i++) {
        add_header(out.headers, answer->headers[i].name, answer->headers[i].value);
    }
    return out;
}

static bool send_routed(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                        int source, outgoing_t *out, wire_size_t wire)
{
    const ab_poison_entry_t *entry =
        ab_poison_find(&lane->poison, source, record->partition, record->offset);
    char text[AB_SOURCE_TEXT_MAX];
    out->headers = detach_headers(message);
    lane->timestamp_zero = record->timestamp_type != AB_TIMESTAMP_NONE && record->timestamp_ms == 0;
    if (lane->config->source_header) {
        const size_t size = ab_source_text(record, text);
        add_header_size(&wire, AB_HEADER_SOURCE, text, size);
        if (rung_of(entry, AB_OUTPUT_ROUTE) == 0 && may_fit(lane, out, &wire)) {
            add_header(out->headers, AB_HEADER_SOURCE, aw_span_view(text, size));
        } else {
            lane->without_source = true;
        }
    }
    return hand_over(lane, record, source, out);
}

static bool send_letter(ab_lane_t *lane, const ab_record_t *record, const ab_letter_t *letter,
                        int source)
{
    outgoing_t out = {.output = AB_OUTPUT_LETTER,
                      .topic = lane->targets[source].errors,
                      .key = letter->key,
                      .value = letter->value,
                      .headers = rd_kafka_headers_new(letter->header_count)};
    out.partition = partition_for(lane, &out, record->partition, true);
    add_letter_headers(out.headers, letter);
    return hand_over(lane, record, source, &out);
}

/* The largest copy of the record that its rung and the topic allow: NULL for the pointer alone. The
 * value is cut for the head; out holds the headers without the one that says which copy it is. */
static const char *choose_copy(const ab_lane_t *lane, outgoing_t *out, unsigned rung)
{
    static const char *const copies[] = {AB_COPY_TEXT_WHOLE, AB_COPY_TEXT_HEAD};
    for (unsigned i = rung; i < sizeof(copies) / sizeof(copies[0]); i++) {
        if (i == 1 && out->value.size <= HEAD_BYTES) {
            break; /* no smaller than the whole */
        }
        out->value.size = i == 0 ? out->value.size : HEAD_BYTES;
        wire_size_t wire = wire_size_of(out);
        add_header_size(&wire, AB_HEADER_COPY, copies[i], strlen(copies[i]));
        if (may_fit(lane, out, &wire)) {
            return copies[i];
        }
    }
    return NULL;
}

static bool send_quarantine(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                            const ab_letter_t *letter, int source)
{
    const ab_poison_entry_t *entry =
        ab_poison_find(&lane->poison, source, record->partition, record->offset);
    outgoing_t out = {.output = AB_OUTPUT_QUARANTINE,
                      .topic = lane->targets[source].quarantine,
                      .key = record->key,
                      .value = record->value};
    const char *copy = NULL;
    if (!lane->headers_unreadable) {
        out.headers = detach_headers(message);
        add_letter_headers(out.headers, letter);
        copy = choose_copy(lane, &out, rung_of(entry, AB_OUTPUT_QUARANTINE));
    }
    if (copy == NULL) {
        if (out.headers != NULL) {
            rd_kafka_headers_destroy(out.headers);
        }
        out.headers = rd_kafka_headers_new(letter->header_count + 1);
        add_letter_headers(out.headers, letter);
        copy = AB_COPY_TEXT_POINTER;
        out.value = aw_span_view("", 0);
        out.key.size = out.key.size > AB_LETTER_KEY_MAX ? AB_LETTER_KEY_MAX : out.key.size;
    }
    add_header(out.headers, AB_HEADER_COPY, aw_span_text_view(copy));
    out.partition = partition_for(lane, &out, record->partition, true);
    return hand_over(lane, record, source, &out);
}

/* The dead letter itself was refused: nothing may be lost, so the lane stands before this record
 * until the topic takes it, or the process ends. */
static void block_on(ab_lane_t *lane, const ab_record_t *record, ab_poison_entry_t *entry,
                     ab_output_t output, const char *topic)
{
    const bool stop = lane->config->stop_on_failure;
    const ab_field_t fields[] = {AB_TEXT("source_topic", record->topic),
                                 AB_NUMBER("partition", record->partition),
                                 AB_NUMBER("offset", record->offset), AB_TEXT("topic", topic),
                                 AB_TEXT("error", rd_kafka_err2name(entry->error))};
    ab_lane_emit(
        lane, AB_LEVEL_ERROR, "dead_letter_refused",
        stop ? "the topic refuses a dead letter or its quarantine record; the process ends "
               "(errors.on_failure: stop). Check the topic's max.message.bytes (at least 16 KiB), "
               "cleanup.policy and timestamp settings"
             : "the topic refuses a dead letter or its quarantine record; the lane waits. Check "
               "the topic's max.message.bytes (at least 16 KiB), cleanup.policy and timestamp "
               "settings",
        fields, 5);
    entry->rung[output] = (uint8_t)(ab_output_last_rung(output) - 1);
    lane->txn.broken = true;
    lane->backoff_ms = AB_BACKOFF_MAX_MS;
    if (stop) {
        ab_lane_end(lane, AB_FATE_EXIT, AB_EXIT_FATAL);
    }
}

static bool is_blocked(ab_lane_t *lane, const ab_record_t *record, int source)
{
    const ab_policy_t *policy = &lane->config->sources[source].policy;
    ab_poison_entry_t *entry =
        ab_poison_find(&lane->poison, source, record->partition, record->offset);
    if (rung_of(entry, AB_OUTPUT_LETTER) >= ab_output_last_rung(AB_OUTPUT_LETTER)) {
        block_on(lane, record, entry, AB_OUTPUT_LETTER, policy->errors_topic);
        return true;
    }
    if (rung_of(entry, AB_OUTPUT_QUARANTINE) >= ab_output_last_rung(AB_OUTPUT_QUARANTINE)) {
        block_on(lane, record, entry, AB_OUTPUT_QUARANTINE, policy->quarantine_topic);
        return true;
    }
    return false;
}

static void tell(ab_lane_t *lane, const ab_record_t *record, const ab_verdict_t *verdict)
{
    const ab_field_t fields[] = {
        AB_TEXT("reason", ab_reason_code(verdict->reason)), AB_TEXT("source_topic", record->topic),
        AB_NUMBER("partition", record->partition), AB_NUMBER("offset", record->offset),
        AB_NUMBER("size", record->value.size)};
    ab_lane_emit(lane, AB_LEVEL_WARNING, "dead_letter", verdict->text, fields, 5);
}

/* The dead letter and the quarantine record, in one transaction with everything else. */
static bool send_refused(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                         const ab_verdict_t *verdict, int source, const char *refused_by)
{
    ab_letter_t letter;
    if (is_blocked(lane, record, source)) {
        return false;
    }
    aw_arena_reset(lane->arena);
    if (ab_dead_letter_build(record, verdict, lane->config->group, refused_by, lane->arena,
                             &letter) != AW_OK) {
        lane->txn.broken = true; /* memory: the transaction is given up, the record comes again */
        return false;
    }
    if (!send_letter(lane, record, &letter, source) ||
        (lane->targets[source].quarantine >= 0 &&
         !send_quarantine(lane, message, record, &letter, source))) {
        return false;
    }
    tell(lane, record, verdict);
    return true;
}

/* True when no form of the record is left that its topic may take. The second is the one without
 * the source header: an answer keeps its own, and where none is added it would be the same bytes.
 */
static bool is_refused(const ab_lane_t *lane, const ab_poison_entry_t *entry, bool answers)
{
    const uint8_t rung = rung_of(entry, AB_OUTPUT_ROUTE);
    return rung >= ab_output_last_rung(AB_OUTPUT_ROUTE) ||
           (rung > 0 && (answers || !lane->config->source_header));
}

bool ab_lane_send(ab_lane_t *lane, rd_kafka_message_t *message, const ab_record_t *record,
                  ab_verdict_t *verdict, int source)
{
    const char *refused_by = NULL;
    lane->without_source = false;
    lane->timestamp_zero = false;
    if (verdict->outcome == AB_OUTCOME_DROPPED) {
        return true;
    }
    if (verdict->outcome == AB_OUTCOME_ROUTED || verdict->outcome == AB_OUTCOME_ANSWERED) {
        const bool answers = verdict->outcome == AB_OUTCOME_ANSWERED;
        outgoing_t out = answers ? answer_of(lane, record, verdict)
                                 : routed_of(lane, message, record, verdict, source);
        const wire_size_t wire = wire_size_of(&out);
        const ab_poison_entry_t *entry =
            ab_poison_find(&lane->poison, source, record->partition, record->offset);
        const bool refused = is_refused(lane, entry, answers);
        const bool made = !answers || out.value.data != NULL;
        if (made && !refused && may_fit(lane, &out, &wire)) {
            return answers ? hand_over(lane, record, source, &out)
                           : send_routed(lane, message, record, source, &out, wire);
        }
        if (answers) {
            rd_kafka_headers_destroy(out.headers);
        }
        refused_by = answers ? lane->config->snapshots_topic : verdict->topic;
        ab_verdict_reject(
            verdict,
            ab_error_refusal_text(refused ? entry->error : RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE));
    }
    return send_refused(lane, message, record, verdict, source, refused_by);
}
