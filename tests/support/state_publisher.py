#!/usr/bin/env python3
"""A pipeline that publishes state: snapshots, tombstones and records that are no good, some in transactions
that commit, some in ones that abort, some without any.

    state_publisher.py BOOTSTRAP TOPIC PARTITIONS KEYS RECORDS SEED [PER_SECOND]

After each write has returned it prints a line, {"ends": {partition: offset behind the last record}}: whoever
asks after that line has to be told at least so much. What was written is in the topic.
"""

import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from confluent_kafka import Producer  # noqa: E402

import mutate  # noqa: E402
from reference import Reference  # noqa: E402

BATCH = 50
PATIENCE_S = 60


class Publisher:
    def __init__(self, bootstrap, topic, partitions, keys, seed):
        self.topic, self.partitions, self.keys = topic, partitions, keys
        self.rng = random.Random(seed)
        self.snapshot = Reference().classes["StateSnapshot"]
        shared = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0, "log_level": 2}
        self.plain = Producer(shared)
        self.transactional = Producer({**shared, "transactional.id": f"publisher-{topic}",
                                       "transaction.timeout.ms": 10000})
        self.transactional.init_transactions(PATIENCE_S)
        self.ends = {}

    def record(self, number):
        """(partition, key, value) of one record; a value of None is a tombstone."""
        rng = self.rng
        chosen = rng.randrange(self.keys)
        key = b"entity-%06d" % chosen
        dice = rng.random()
        if dice < 0.08:
            value = None
        elif dice < 0.11:
            value = b"\x12\x05ab"  # cut short
        elif dice < 0.13:
            value = self.snapshot(entity_key=b"somebody else", seq=number).SerializeToString()
        else:
            value = self.good(key, number)
        return chosen % self.partitions, key, value

    def good(self, key, number):
        rng = self.rng
        message = self.snapshot(state_schema_version=rng.choice((0, 1, 1, 7)), entity_key=key, seq=number,
                                snapshot_at_ms=1700000000000 + number)
        if rng.random() < 0.5:
            message.memory.entries.add(key="m", value=rng.randbytes(rng.randrange(300)))
        if rng.random() < 0.3:
            message.continuation.SetInParent()
        if rng.random() < 0.3:
            message.pending.add(intent_id=f"i{number}", entity_key=key, args_json='{"a":1}')
        value = message.SerializeToString()
        if rng.random() < 0.3:  # unknown fields, and fields in another order
            value = mutate.varint(99 << 3 | 2) + b"\x03new" + value + b"\x20\x07" + b"\x1a\x00"
        return value

    def write(self, producer, numbers):
        """Where the batch ended, per partition. It is written, and not visible yet where it is of a transaction."""
        ends, failed = {}, []

        def delivered(error, message):
            if error:
                failed.append(error)
            else:
                ends[message.partition()] = max(ends.get(message.partition(), 0), message.offset() + 1)

        for number in numbers:
            partition, key, value = self.record(number)
            producer.produce(self.topic, value, key, partition, on_delivery=delivered)
        if producer.flush(PATIENCE_S) or failed:
            raise SystemExit(f"publishing failed: {failed[:3]}")
        return ends

    def batch(self, numbers):
        dice = self.rng.random()
        if dice < 0.4:
            self.ends |= self.write(self.plain, numbers)
        else:
            self.transactional.begin_transaction()
            ends = self.write(self.transactional, numbers)
            if dice < 0.8:
                self.transactional.commit_transaction(PATIENCE_S)
                self.ends |= ends
            else:
                self.transactional.abort_transaction(PATIENCE_S)
        print(json.dumps({"ends": self.ends, "written": numbers[-1] + 1}), flush=True)


def main():
    bootstrap, topic, *rest = sys.argv[1:]
    partitions, keys, count, seed, *rate = (int(word) for word in rest)
    publisher = Publisher(bootstrap, topic, partitions, keys, seed)
    began = time.monotonic()
    for first in range(0, count, BATCH):
        if rate:
            time.sleep(max(0.0, began + first / rate[0] - time.monotonic()))
        publisher.batch(range(first, min(first + BATCH, count)))


if __name__ == "__main__":
    main()
