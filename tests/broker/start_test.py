#!/usr/bin/env python3
"""Where reading begins: every kind of start, new partitions, and what retention took away."""

import sys
import unittest
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Input, wait_until  # noqa: E402
from relay_case import RelayCase, envelope, numbered_inputs  # noqa: E402

PARTITIONS = 4
MINUTE_MS = 60_000
SOON = {"topic.metadata.refresh.interval.ms": 1000}


class Start(RelayCase):
    def write(self, layout, count, first=0, partitions=PARTITIONS):
        return self.broker.produce(list(numbered_inputs(layout.source, partitions, count, first=first, size=100)))

    def relay_and_check(self, layout, wanted, bridge):
        """bridge runs; exactly the wanted inputs come out."""
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(wanted, layout), layout.outputs)

    def test_earliest_reads_everything(self):
        layout = self.layout(PARTITIONS)
        inputs = self.write(layout, 200)
        self.relay_and_check(layout, inputs, self.bridge(layout).start())

    def test_latest_reads_what_comes_after_and_survives_a_crash_before_the_first_record(self):
        layout = self.layout(PARTITIONS)
        self.write(layout, 200)
        bridge = self.bridge(layout, source={"start": "latest"}).start()
        self.wait_done(layout, bridge)  # the ends are committed although nothing was read
        bridge.kill9()
        later = self.write(layout, 50, 200)
        bridge.start()
        self.relay_and_check(layout, later, bridge)

    def test_committed_refuses_a_group_that_has_none(self):
        layout = self.layout(PARTITIONS)
        self.write(layout, 10)
        bridge = self.bridge(layout, source={"start": "committed"}).start()
        bridge.wait_exit(78)
        self.assertEqual(1, len(bridge.events("start_refused")))
        self.assertEqual({None}, set(self.broker.committed(layout.group, layout.source).values()))

    def test_committed_goes_on_where_the_group_stands(self):
        layout = self.layout(PARTITIONS)
        inputs = self.write(layout, 400)
        self.broker.set_committed(layout.group, layout.source, {p: 10 for p in range(PARTITIONS)})
        wanted = [item for item in inputs if item.offset >= 10]
        self.relay_and_check(layout, wanted, self.bridge(layout, source={"start": "committed"}).start())

    def test_start_does_not_move_a_group_that_stands_somewhere(self):
        layout = self.layout(PARTITIONS)
        inputs = self.write(layout, 400)
        self.broker.set_committed(layout.group, layout.source, {p: 10 for p in range(PARTITIONS)})
        wanted = [item for item in inputs if item.offset >= 10]
        self.relay_and_check(layout, wanted, self.bridge(layout, source={"start": "latest"}).start())

    def test_a_time_begins_at_the_first_record_not_older(self):
        layout = self.layout(PARTITIONS)
        began = 1_750_000_000_000
        inputs = []
        for number in range(200):
            # Partition 3 ends before the time: nothing of it is read.
            partition = number % PARTITIONS
            time_ms = began + (0 if partition == 3 else number) * MINUTE_MS
            key = b"k%d" % partition
            inputs.append(Input(layout.source, partition, key, envelope(key, name=str(number)), (), time_ms))
        self.broker.produce(inputs)
        start_ms = began + 100 * MINUTE_MS
        text = datetime.fromtimestamp(start_ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        wanted = [item for item in inputs if item.timestamp_ms >= start_ms]
        self.assertEqual(75, len(wanted))
        bridge = self.bridge(layout, source={"start": text}).start()
        self.wait_done(layout, bridge)
        later = self.broker.produce([Input(layout.source, 3, b"k3", envelope(b"k3", name="later"))])
        self.relay_and_check(layout, wanted + later, bridge)

    def test_a_new_partition_of_a_known_topic_begins_at_its_beginning(self):
        layout = self.layout(2)
        self.write(layout, 100, partitions=2)
        bridge = self.bridge(layout, source={"start": "latest"}, kafka={
            "bootstrap.servers": self.broker.bootstrap, **SOON}).start()
        self.wait_done(layout, bridge)
        self.broker.grow(layout.source, 3)
        inputs = [Input(layout.source, 2, b"new", envelope(b"new", name=str(n))) for n in range(50)]
        self.broker.produce(inputs)
        layout.counts[layout.source] = 3
        self.relay_and_check(layout, inputs, bridge)

    def test_what_retention_took_is_a_gap_and_reading_goes_on(self):
        layout = self.layout(PARTITIONS)
        inputs = self.write(layout, 400)
        bridge = self.bridge(layout).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        lost = self.write(layout, 400, 400)
        kept = self.write(layout, 400, 800)
        ends = {p: min(i.offset for i in kept if i.partition == p) for p in range(PARTITIONS)}
        for partition, offset in ends.items():
            self.broker.delete_before(layout.source, partition, offset)
        bridge.start()
        self.wait_done(layout, bridge)
        gaps = {event["partition"]: (event["from"], event["to"]) for event in bridge.events("gap")}
        wanted = {p: (min(i.offset for i in lost if i.partition == p), ends[p]) for p in range(PARTITIONS)}
        self.assertEqual(wanted, gaps)
        bridge.stop()
        self.assertEqual(len(lost), bridge.ledger()["gap"])
        self.assert_clean(self.audit(inputs + kept, layout), layout.outputs)

    def test_what_retention_takes_from_under_a_running_lane_is_a_gap_too(self):
        layout = self.layout(1)
        inputs = self.write(layout, 100, partitions=1)
        # Small fetches, so that what is deleted has not been fetched yet.
        bridge = self.bridge(layout, consumer={"max.partition.fetch.bytes": 1000,
                                               "session.timeout.ms": 60000}).start()
        self.wait_done(layout, bridge)
        with bridge.frozen():
            lost = self.write(layout, 400, 100, partitions=1)
            self.broker.delete_before(layout.source, 0, 500)
            kept = self.write(layout, 100, 500, partitions=1)
        self.wait_done(layout, bridge)
        bridge.stop()
        gap = bridge.ledger()["gap"]
        self.assertGreater(gap, 0)
        # What had been fetched before the standstill was still relayed; the gap is the rest, to the end.
        self.assertEqual([{"from": 500 - gap, "to": 500}],
                         [{"from": e["from"], "to": e["to"]} for e in bridge.events("gap")])
        self.assert_clean(self.audit(inputs + lost[:400 - gap] + kept, layout), layout.outputs)


if __name__ == "__main__":
    unittest.main()
