#!/usr/bin/env python3
"""One bad thing at a time: a lane that hangs, brokers that do not answer, topics that go, data that is damaged.

What an operator does about each is in docs/operations.md, "When something goes wrong".
"""

import sys
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Load, Waiting, wait_until  # noqa: E402
from log_segment import damage  # noqa: E402
from oracle import SOURCE_HEADER, source_text  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

PARTITIONS = 4
PER_SECOND = 2000
ENDLESS = 1_000_000
SESSION_MS, MAX_POLL_MS = 6000, 7000
TRANSACTION_S = 6
# Transactions that stay open, so that what happens finds one.
LONG = {"commit_interval": "1s", "commit_records": 1000000}


class Failures(RelayCase):
    def load(self, layout):
        load = Load(self.broker, numbered_inputs(layout.source, PARTITIONS, ENDLESS), PER_SECOND)
        self.addCleanup(load.__exit__)
        return load.__enter__()

    def write(self, layout, count, first=0, partitions=PARTITIONS, **config):
        return self.broker.produce(list(numbered_inputs(layout.source, partitions, count, first=first)), **config)

    def finish(self, layout, load, *bridges):
        """The load ends, all of it is relayed, the bridges stop in good order, and nothing is wrong."""
        inputs = load.finish(early=True)
        self.wait_done(layout, *bridges)
        for bridge in bridges:
            bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def more(self, layout, *bridges):
        self.wait_progress(layout, self.progress(layout) + PER_SECOND, *bridges)

    def open_transaction(self, layout):
        """True when a transaction is open on an output."""
        return any(self.broker.ends(topic) != self.broker.ends(topic, "read_uncommitted")
                   for topic in layout.routes.values())

    # ---- a lane that hangs ---------------------------------------------------------------------------

    def test_a_lane_that_does_not_poll_loses_its_partitions_and_what_it_had_in_hand(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        # Commits all the time, so that it hangs outside of a poll; inside one librdkafka does not count.
        bridge = self.bridge(layout, host=f"{self.prefix}-host", instance=None,
                             delivery={"commit_interval": "10ms", "transaction_timeout": "60s"},
                             consumer={"session.timeout.ms": SESSION_MS, "max.poll.interval.ms": MAX_POLL_MS}).start()
        self.more(layout, bridge)

        def given_up():
            with ExitStack() as frozen:
                with self.broker.frozen(1):
                    time.sleep(1)  # by then it waits for a commit
                    frozen.enter_context(bridge.lanes_frozen())
                try:
                    wait_until("the group has given it up", lambda: not self.broker.members(layout.group),
                               MAX_POLL_MS / 1000 + 4)
                except Waiting:
                    return False
            return True

        wait_until("a lane hung outside of a poll", given_up, 150)
        bridge.wait_event("partitions_revoked", lambda event: event["lost"])
        self.more(layout, bridge)
        self.finish(layout, load, bridge)

    def test_a_transaction_that_outlives_its_timeout_is_nobodys_rival(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        bridge = self.bridge(layout, delivery={**LONG, "transaction_timeout": f"{TRANSACTION_S}s"}).start()
        self.more(layout, bridge)

        def outlived():
            with bridge.lanes_frozen():
                if not self.open_transaction(layout):
                    return False
                # The coordinator looks for transactions past their timeout every 10 s.
                wait_until("the coordinator ended the transaction", lambda: not self.open_transaction(layout))
            return True

        for _ in range(2):
            wait_until("a hanging lane met an open transaction", outlived)
            self.more(layout, bridge)
        self.assertEqual([], bridge.events("fenced"))
        self.assertTrue(bridge.events("transaction_timed_out"))
        self.finish(layout, load, bridge)

    # ---- brokers that do not answer ------------------------------------------------------------------

    def test_records_that_no_broker_takes_in_time_are_read_again(self):
        layout = self.layout(PARTITIONS)
        # Records wait in the producer, so that the standstill finds some; the membership outlives it.
        bridge = self.bridge(layout, producer={"linger.ms": 500}, consumer={"session.timeout.ms": 60000},
                             delivery={**LONG, "transaction_timeout": f"{TRANSACTION_S}s"}).start()
        bridge.wait_event("partitions_assigned")
        load = self.load(layout)
        self.more(layout, bridge)
        since = bridge.log_size()
        for _ in range(6):  # it may also find a transaction whose records are all written: once more then
            with self.broker.frozen(1):
                time.sleep(2 * TRANSACTION_S)
            self.more(layout, bridge)
            if bridge.events("transaction_aborted", since):
                break
        aborted = bridge.events("transaction_aborted", since)
        self.assertEqual({"_MSG_TIMED_OUT"}, {event["error"] for event in aborted})
        self.finish(layout, load, bridge)
        self.assertEqual((0, []), (bridge.ledger()["dead_lettered"], bridge.events("fenced")))

    # ---- topics that go ------------------------------------------------------------------------------

    def stands(self, layout, bridge, seconds):
        """That nothing of the source is read for a while, and the bridge waits in good health."""
        before = [self.broker.ends(topic, "read_uncommitted") for topic in layout.outputs]
        time.sleep(seconds)
        bridge.check_alive()
        self.assertEqual(before, [self.broker.ends(topic, "read_uncommitted") for topic in layout.outputs])

    def after_it_was_made_again(self, layout, bridge, inputs, later):
        """The source is another one of the same name: it is read when a restart confirms it, from `start` on."""
        stopped = bridge.wait_event("partition_stopped", lambda event: event["partition"] == 0)
        self.assertEqual("no committed offset", stopped["error"])
        self.stands(layout, bridge, 3)
        bridge.stop()
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        # The same coordinates twice, told apart by their timestamps; each topic's order is its own.
        records = list(self.broker.read(layout.outputs))
        of_the_old = {source_text(i.topic, i.partition, i.offset, i.timestamp_ms) for i in inputs}
        for written, old in ((inputs, True), (later, False)):
            seen = [record for record in records if (record.header(SOURCE_HEADER) in of_the_old) == old]
            self.assertEqual([], self.audit(written, layout).see_all(seen).finish())

    def relayed(self, layout, count=400):
        inputs = self.write(layout, count)
        # A topic that is made again is seen in seconds.
        bridge = self.bridge(layout, kafka={"bootstrap.servers": self.broker.bootstrap,
                                            "topic.metadata.refresh.interval.ms": 2000}).start()
        self.wait_done(layout, bridge)
        return inputs, bridge

    def test_a_source_that_is_made_again_is_not_read_by_itself(self):
        layout = self.layout(PARTITIONS)
        inputs, bridge = self.relayed(layout)
        self.broker.delete([layout.source])
        bridge.wait_event("topic_gone", lambda event: event["topic"] == layout.source, timeout_s=70)
        self.broker.create(layout.source, PARTITIONS)
        later = self.write(layout, 300, first=400)
        self.after_it_was_made_again(layout, bridge, inputs, later)

    def test_a_source_that_is_made_again_at_once_and_longer_is_not_read_by_itself(self):
        layout = self.layout(PARTITIONS)
        inputs, bridge = self.relayed(layout)
        self.broker.delete([layout.source])
        self.broker.create(layout.source, PARTITIONS)
        # It outgrows the old one once it was looked at: one that has done so before looks the same.
        later = self.write(layout, 200, first=400)
        bridge.wait_event("partition_stopped", lambda event: event["partition"] == 0)
        later += self.write(layout, 400, first=600)
        self.after_it_was_made_again(layout, bridge, inputs, later)

    def test_a_source_that_ends_below_the_committed_offset_stands_still(self):
        layout = self.layout(PARTITIONS)
        inputs, bridge = self.relayed(layout)
        bridge.stop()
        stood = self.broker.committed(layout.group, layout.source)
        self.broker.set_committed(layout.group, layout.source, {0: stood[0] + 1000})
        inputs += self.write(layout, 400, first=400)
        bridge.start()
        stopped = bridge.wait_event("partition_stopped")
        self.assertEqual((0, "end below position"), (stopped["partition"], stopped["error"]))
        ends = self.broker.ends(layout.source)
        wait_until("the other partitions are done",
                   lambda: self.broker.committed(layout.group, layout.source) == {**ends, 0: stood[0] + 1000})
        bridge.stop()
        self.broker.set_committed(layout.group, layout.source, {0: stood[0]})
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_an_output_that_is_gone_is_waited_for(self):
        layout = self.layout(PARTITIONS)
        inputs, bridge = self.relayed(layout)
        gone = layout.routes["approval"]
        since = bridge.log_size()
        self.broker.delete([gone])
        later = self.write(layout, 400, first=400)
        bridge.wait_event("topic_gone", lambda event: event["topic"] == gone, timeout_s=70, since=since)
        before = self.broker.committed(layout.group, layout.source)
        time.sleep(10)
        bridge.check_alive()
        self.assertEqual(before, self.broker.committed(layout.group, layout.source), "nothing is skipped")
        self.broker.create(gone, layout.counts[gone])
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assertEqual([], bridge.events("lane_failed"))
        lost = {item.where for item, verdict in self.judged(layout, inputs) if verdict.topic == gone}
        self.assert_clean(self.audit([item for item in inputs if item.where not in lost] + later, layout),
                          layout.outputs)

    def judged(self, layout, inputs):
        oracle = layout.oracle()
        return [(item, oracle.judge(item.key, item.value, item.headers, item.timestamp_ms)) for item in inputs]

    # ---- damaged data --------------------------------------------------------------------------------

    def test_a_damaged_batch_stops_its_partition_and_no_other(self):
        layout = self.layout(2)
        inputs = []
        for first in range(0, 400, 20):  # batches of ten records
            inputs += self.write(layout, 20, first, 2)
        with self.broker.stopped(1) as data:
            first, last = damage(data / f"{layout.source}-0", 100)
        bridge = self.bridge(layout).start()
        stopped = bridge.wait_event("partition_stopped")
        self.assertEqual((0, first, "_BAD_MSG"), (stopped["partition"], stopped["offset"], stopped["error"]))
        # What came before it is done, the other partition goes on, and nothing passes the damage.
        more = self.write(layout, 100, 400, 2)
        ends = self.broker.ends(layout.source)
        wait_until("the other partition is done",
                   lambda: self.broker.committed(layout.group, layout.source) == {0: first, 1: ends[1]})
        time.sleep(3)
        bridge.stop()
        self.assertEqual({0: first, 1: ends[1]}, self.broker.committed(layout.group, layout.source))
        self.broker.set_committed(layout.group, layout.source, {0: last + 1})
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        kept = [item for item in inputs + more if item.partition != 0 or not first <= item.offset <= last]
        self.assertEqual(last - first + 1, len(inputs + more) - len(kept))
        self.assert_clean(self.audit(kept, layout), layout.outputs)


if __name__ == "__main__":
    unittest.main()
