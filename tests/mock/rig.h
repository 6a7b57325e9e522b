#ifndef TESTS_MOCK_RIG_H
#define TESTS_MOCK_RIG_H

/* The real relay on an embedded cluster, with a client beside it. Everything that waits waits long
 * and fails the test when it was in vain; nothing depends on how fast the machine is.
 *
 * The mock keeps no offsets of a transaction: after an abort, and after a restart, a relay reads
 * from the beginning again. So the tests ask for "at least once", never for "once". */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <stdbool.h>

#include "bridge/config/config.h"
#include "bridge/kafka/embedded.h"
#include "bridge/kafka/embedded_client.h"
#include "bridge/kafka/relay.h"

/* The cluster: one broker leads the source and coordinates the group and the transactions, the
 * other leads the outputs, so that an error of Produce can be given to the relay and not to the
 * client. */
#define RIG_BROKERS           2
#define RIG_SOURCE_BROKER     1
#define RIG_COORDINATOR       1
#define RIG_OUTPUT_BROKER     2
#define RIG_SOURCE_PARTITIONS 4
#define RIG_OUTPUT_PARTITIONS 2
#define RIG_GROUP             "rig"

/* Protocol requests by their numbers. */
#define RIG_PRODUCE           0
#define RIG_FETCH             1
#define RIG_LIST_OFFSETS      2
#define RIG_METADATA          3
#define RIG_OFFSET_FETCH      9
#define RIG_HEARTBEAT         12
#define RIG_SYNC_GROUP        14
#define RIG_INIT_PRODUCER_ID  22
#define RIG_ADD_PARTITIONS    24
#define RIG_ADD_OFFSETS       25
#define RIG_END_TXN           26
#define RIG_TXN_OFFSET_COMMIT 28

#define RIG_RECORDS_MAX 8192u
#define RIG_EVENTS_MAX  4096u

/* An event of the relay, as far as tests look at it. */
typedef struct rig_event {
    char name[40];
    int64_t lane;       /* -1: none */
    int64_t partitions; /* of partitions_assigned */
} rig_event_t;

typedef struct rig {
    ab_embedded_t *embedded;
    rd_kafka_mock_cluster_t *mock;
    ab_client_t *client;
    ab_findings_t findings;
    ab_config_t *config;
    ab_sink_t sink;
    ab_relay_t *relay;
    size_t written;
    pthread_mutex_t lock; /* the events */
    rig_event_t events[RIG_EVENTS_MAX];
    size_t event_count;
} rig_t;

/* A cluster with the topics in, in.errors, in.quarantine, ev, tr, ap, ex, st and sn, the group's
 * offsets at 0, and a configuration. settings are further lines of it, "" for none. */
rig_t *rig_open(const char *settings);
/* The same with another route for export requests than ex. */
rig_t *rig_open_exports(const char *exports, const char *settings);

/* A while, for what has no event to wait for. */
void rig_sleep_ms(unsigned ms);

/* Stops the relay, when one runs, and takes everything down. */
void rig_close(rig_t *rig);

/* Starts a relay; the one before must have been stopped. */
void rig_start(rig_t *rig);
/* Asks it to stop, waits, checks the exit code and that the ledger balances. Frees it. */
void rig_stop(rig_t *rig, int exit_code);
/* The same without asking: it has to end by itself. */
void rig_ends(rig_t *rig, int exit_code);

/* Writes count envelopes, each an external_event of its own, to all partitions. */
void rig_write(rig_t *rig, size_t count);
/* Writes one record to partition 0. */
void rig_write_value(rig_t *rig, aw_span_t key, aw_span_t value);
/* The same to another topic. */
void rig_write_to(rig_t *rig, const char *topic, aw_span_t key, aw_span_t value);
/* The same, and does not wait until it is: another write does. */
void rig_queue_to(rig_t *rig, const char *topic, aw_span_t key, aw_span_t value);
/* Waits until every envelope that was written is at least once in ev, and so many records are
 * committed. */
void rig_await_all(rig_t *rig);
/* Reads a topic; the caller frees. And how many records it has. */
ab_records_t *rig_read(rig_t *rig, const char *topic);
size_t rig_size(rig_t *rig, const char *topic);

/* How many events of this name there were, of any lane. */
size_t rig_count(rig_t *rig, const char *event);
/* Waits until there are so many. */
void rig_await(rig_t *rig, const char *event, size_t count);
/* The ledger now. */
ab_ledger_t rig_ledger(rig_t *rig);
/* Waits until the ledger has counted so many records. */
void rig_await_consumed(rig_t *rig, uint64_t count);
/* Waits until a lane holds partitions. */
void rig_await_assigned(rig_t *rig, int64_t lane);

/* The only record of a topic; *ret_records owns it. */
const ab_full_record_t *rig_only(rig_t *rig, const char *topic, ab_records_t **ret_records);
/* The value of the last header of this name; absent without one. */
aw_span_t rig_header(const ab_full_record_t *record, const char *name);
/* That a header's value is this text. */
void rig_assert_text(aw_span_t value, const char *wanted);

/* The next count requests of this kind that come to a broker are answered with err. */
void rig_fail_at(rig_t *rig, int32_t broker, int16_t request, rd_kafka_resp_err_t err,
                 size_t count);
/* How many errors given to a broker have not been used up; and waits until so many, or none, are
 * left. */
size_t rig_left_at(rig_t *rig, int32_t broker, int16_t request);
void rig_await_left(rig_t *rig, int32_t broker, int16_t request, size_t left);
void rig_await_used(rig_t *rig, int32_t broker, int16_t request);

/* An error of the brokers, and how many requests of its kind in a row meet it. */
typedef struct rig_fault {
    int32_t broker;
    int16_t request;
    rd_kafka_resp_err_t error;
    size_t count;
} rig_fault_t;

/* Lets each fault meet a relay at work: afterwards every record is out and the lane, never built
 * anew, works on. */
void rig_check_faults(const rig_fault_t *faults, size_t count);

/* Lets one error meet a relay at work that is fatal for its producer: the lane is built anew, and
 * then every record is out. */
void rig_check_rebuilt(int16_t request, rd_kafka_resp_err_t error, int32_t broker);

#endif
