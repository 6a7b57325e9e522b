#!/usr/bin/env python3
"""Records that an output topic refuses: each is dead-lettered alone, and everything around it is routed."""

import random
import sys
import time
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from audit import Audit, Routed  # noqa: E402
from broker import Input  # noqa: E402
from oracle import Verdict, java_partition, source_text  # noqa: E402
from relay_case import ENVELOPE, RelayCase, envelope  # noqa: E402

HOUR_MS = 3_600_000
EVENT_TIME_MS = 1700000000000
LIMIT = 200_000


def varint_size(value):
    """Bytes of a zigzag varint of a length."""
    return max(1, ((value << 1).bit_length() + 6) // 7)


def batch_size(key, value, headers):
    """Bytes of a record batch with this one record, uncompressed: what max.message.bytes is held against
    (Kafka's protocol guide, record batch of magic 2)."""
    body = 1 + 1 + 1 + varint_size(len(key)) + len(key) + varint_size(len(value)) + len(value)
    body += varint_size(len(headers))
    for name, content in headers:
        body += varint_size(len(name)) + len(name) + varint_size(len(content)) + len(content)
    return 61 + varint_size(body) + body


class Poison(RelayCase):
    def event(self, layout, number, size=100, timestamp_ms=None, headers=()):
        """An external_event on partition 0, all under a few keys."""
        key = b"k%d" % (number % 5)
        now = int(time.time() * 1000)
        value = envelope(key, size=size, event_time_ms=EVENT_TIME_MS, name=f"n{number}-")
        return Input(layout.source, 0, key, value, headers, timestamp_ms or now)

    def check(self, layout, inputs, rejected, copies=None, **sections):
        """Relays inputs; those at the positions in rejected must be dead-lettered, all others routed."""
        self.broker.produce(inputs)
        bridge = self.bridge(layout, **sections).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        settings = layout.settings(copies={inputs[at].offset: copy for at, copy in (copies or {}).items()})
        audit = Audit()
        for number, item in enumerate(inputs):
            known = {"entity_key": item.key, "event_time_ms": EVENT_TIME_MS}
            if number in rejected:
                verdict = Verdict("dead_lettered", reason="produce_rejected", **known)
            else:
                verdict = Verdict("routed", layout.routes["external_event"], **known)
            audit.expect_verdict(item, verdict, settings)
        self.assert_clean(audit, layout.outputs)
        ledger = bridge.ledger()
        self.assertEqual((len(inputs), len(inputs) - len(rejected), len(rejected), True),
                         (ledger["consumed"], ledger["routed"], ledger["dead_lettered"], ledger["balanced"]))
        return ledger

    def test_one_timestamp_too_old(self):
        layout = self.layout(1, {"message.timestamp.before.max.ms": HOUR_MS})
        inputs = [self.event(layout, n) for n in range(101)]
        inputs[50] = replace(inputs[50], timestamp_ms=inputs[50].timestamp_ms - 2 * HOUR_MS)
        self.check(layout, inputs, {50})

    def test_one_timestamp_in_the_future(self):
        layout = self.layout(1, {"message.timestamp.after.max.ms": HOUR_MS},
                             {"message.timestamp.after.max.ms": 100 * HOUR_MS})
        inputs = [self.event(layout, n) for n in range(101)]
        inputs[0] = replace(inputs[0], timestamp_ms=inputs[0].timestamp_ms + 2 * HOUR_MS)
        self.check(layout, inputs, {0})

    def test_several_in_one_batch_and_the_order_around_them(self):
        layout = self.layout(1, {"message.timestamp.before.max.ms": HOUR_MS})
        inputs = [self.event(layout, n) for n in range(400)]
        bad = {3, 4, 199, 200, 399}
        for at in bad:
            inputs[at] = replace(inputs[at], timestamp_ms=inputs[at].timestamp_ms - 2 * HOUR_MS)
        self.check(layout, inputs, bad)

    def test_one_over_the_topics_size(self):
        layout = self.layout(1, {"max.message.bytes": LIMIT})
        inputs = [self.event(layout, n) for n in range(101)]
        inputs[100] = self.event(layout, 100, LIMIT + 10_000)
        self.check(layout, inputs, {100})

    def test_one_over_the_topics_size_with_compression(self):
        """Where batches are compressed only the broker knows what fits: it decides, and is believed."""
        layout = self.layout(1, {"max.message.bytes": LIMIT})
        inputs = [self.event(layout, n) for n in range(101)]
        inputs[20] = self.event(layout, 20, 3 * LIMIT)  # the same two bytes over and over: small on the wire
        noise = random.Random(1).randbytes(3 * LIMIT)
        value = ENVELOPE(entity_key=inputs[60].key, event_time_ms=EVENT_TIME_MS, external_event=noise)
        inputs[60] = replace(inputs[60], value=value.SerializeToString())
        self.check(layout, inputs, {60}, producer={"compression.type": "lz4"})

    def test_full_batches_to_a_topic_with_a_small_limit(self):
        layout = self.layout(1, {"max.message.bytes": LIMIT})
        sizes = (10, 1000, 30_000, LIMIT // 2 - 100, LIMIT - 400)
        inputs = [self.event(layout, n, sizes[4 if n % 100 == 99 else n % 4]) for n in range(800)]
        self.check(layout, inputs, set())

    def test_fits_only_without_the_source_header(self):
        layout = self.layout(1, {"max.message.bytes": 5000})
        header = (("h", b"v"),)
        inputs = [self.event(layout, 0, headers=header)]
        exact = 5000 - batch_size(inputs[0].key, b"", header)
        inputs += [self.sized(layout, exact - more, header) for more in range(3, 120, 9)]
        self.broker.produce(inputs)
        bridge = self.bridge(layout).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        topic = layout.routes["external_event"]
        records = sorted(self.broker.read([topic]), key=lambda record: record.offset)
        found = {record.value: record for record in records}
        self.assertEqual(len(inputs), len(records), "all fit, with or without the header")
        without = 0
        for item in inputs:
            source = ("__agent_bridge.source",
                      source_text(item.topic, item.partition, item.offset, item.timestamp_ms))
            fits = batch_size(item.key, item.value, header + (source,)) <= 5000
            wanted = Routed(item, java_partition(item.key, layout.counts[topic]), item.key, fits)
            self.assertEqual([], wanted.differences(found[item.value]))
            without += not fits
        self.assertGreater(without, 0)
        self.assertLess(without, len(inputs))
        self.assertEqual(without, bridge.ledger()["without_source"])

    def sized(self, layout, size, headers):
        """An event whose whole value has exactly so many bytes."""
        item = self.event(layout, size, 100, headers=headers)
        item.value = envelope(item.key, size=size - (len(item.value) - 100) - 1, event_time_ms=EVENT_TIME_MS,
                              name=f"n{size}-")
        self.assertEqual(size, len(item.value))
        return item

    def test_what_does_not_fit_quarantine_either_is_a_head_or_a_pointer_there(self):
        layout = self.layout(1, {"max.message.bytes": LIMIT})
        self.broker.configure(layout.quarantine, **{"max.message.bytes": 20_000})
        inputs = [self.event(layout, n, headers=(("own", b"header"),)) for n in range(20)]
        inputs[10] = self.event(layout, 10, LIMIT + 10_000, headers=(("own", b"header"),))
        inputs[15] = self.event(layout, 15, LIMIT, headers=(("own", b"h" * 15_000),))
        self.check(layout, inputs, {10, 15}, copies={10: "head", 15: "pointer"})


if __name__ == "__main__":
    unittest.main()
