#!/usr/bin/env python3
"""Starting, waiting, standing idle and stopping, on a real Kafka: what an operator meets."""

import signal
import socket
import sys
import threading
import time
import unittest
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Load, wait_until  # noqa: E402
from oracle import VARIANTS  # noqa: E402
from ports import closed_port  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

QUIET_S = 5
SAY_EVERY_S = 10
ENDLESS = 1_000_000


def forward(holder, target):
    """From now on the port leads to the broker. Kafka's clients then go on to the address it gives them."""
    holder.listen()

    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            source.close()
            sink.close()

    def accept():
        while True:
            try:
                client, _ = holder.accept()
            except OSError:
                return
            server = socket.create_connection(target)
            for pair in ((client, server), (server, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


class Operation(RelayCase):
    def test_missing_topics_are_named_and_end_the_start(self):
        layout = self.layout()
        missing = {f"{self.prefix}.not-there", f"{self.prefix}.nor-there"}
        layout.routes["approval"], layout.routes["export_request"] = sorted(missing)
        bridge = self.bridge(layout).start()
        bridge.wait_exit(69)
        self.assertEqual(missing, {event["topic"] for event in bridge.events("topic_missing")})
        self.assertEqual(set(), missing & self.broker.topics(), "nothing may create topics")

    def test_missing_topics_are_waited_for(self):
        layout = self.layout(approval=f"{self.prefix}.later")
        inputs = self.broker.produce(list(numbered_inputs(layout.source, 4, 100)))
        bridge = self.bridge(layout, topics={"missing": "wait"}).start()
        event = bridge.wait_event("topic_missing")
        self.assertEqual(layout.routes["approval"], event["topic"])
        time.sleep(2)
        bridge.check_alive()
        self.assertNotIn(layout.routes["approval"], self.broker.topics())
        self.assertEqual({None}, set(self.broker.committed(layout.group, layout.source).values()))
        self.make(layout, layout.routes["approval"], 2)
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_a_missing_source_is_named_too(self):
        layout = self.layout()
        layout.source = f"{self.prefix}.no-source"
        bridge = self.bridge(layout, errors={"topic": layout.errors, "quarantine": layout.quarantine}).start()
        bridge.wait_exit(69)
        self.assertEqual([layout.source], [event["topic"] for event in bridge.events("topic_missing")])

    def test_unreachable_brokers_are_told_every_ten_seconds(self):
        layout = self.layout()
        _, servers = closed_port(self)
        bridge = self.bridge(layout, kafka={"bootstrap.servers": servers}).start()
        began = time.monotonic()
        wait_until("it said so three times", lambda: len(bridge.events("brokers_unreachable")) >= 3, 40)
        self.assertGreater(time.monotonic() - began, SAY_EVERY_S * 1.5)
        times = [datetime.fromisoformat(e["ts"]).timestamp() for e in bridge.events("brokers_unreachable")]
        for before, after in zip(times, times[1:]):
            self.assertAlmostEqual(SAY_EVERY_S, after - before, delta=SAY_EVERY_S / 2)
        bridge.stop(0, timeout_s=10)

    def test_brokers_that_come_up_later_are_found(self):
        layout = self.layout()
        inputs = self.broker.produce(list(numbered_inputs(layout.source, 4, 100)))
        holder, servers = closed_port(self)
        bridge = self.bridge(layout, kafka={"bootstrap.servers": servers}).start()
        bridge.wait_event("brokers_unreachable")
        host, _, real_port = self.broker.bootstrap.split(",")[0].partition(":")
        forward(holder, (host, int(real_port)))
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_an_idle_lane_opens_no_transaction(self):
        layout = self.layout()
        bridge = self.bridge(layout).start()
        inputs = self.broker.produce(list(numbered_inputs(layout.source, 4, 100)))
        self.wait_done(layout, bridge)

        def written():
            # A transaction's state and a group's offsets are written to these; markers to the outputs.
            topics = ("__transaction_state", "__consumer_offsets", *layout.outputs)
            return {topic: self.broker.ends(topic, "read_uncommitted") for topic in topics}

        def quiet():
            # A member of an earlier test may still time out once, so one quiet stretch of some is enough:
            # a lane that opens transactions while idle leaves none.
            before = written()
            time.sleep(QUIET_S)
            bridge.check_alive()
            return before == written()

        wait_until(f"nothing is written for {QUIET_S} s while the lane is idle", quiet, 60)
        more = self.broker.produce(list(numbered_inputs(layout.source, 4, 10, first=100)))
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs + more, layout), layout.outputs)

    def test_a_stop_under_load_commits_what_was_taken(self):
        layout = self.layout()
        with Load(self.broker, numbered_inputs(layout.source, 4, ENDLESS), 3000) as load:
            bridge = self.bridge(layout).start()
            for done in (2_000, 8_000, 14_000):
                self.wait_progress(layout, done, bridge)
                bridge.stop()
                self.assertEqual(self.progress(layout), self.ledgers(bridge))
                bridge.start()
            inputs = load.finish(early=True)
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def ledgers(self, bridge):
        """Records consumed over all lives of the process, by the ledger lines at their ends."""
        return sum(event["consumed"] for event in self.last_ledgers(bridge))

    @staticmethod
    def last_ledgers(bridge):
        lives, last = [], None
        for event in bridge.events():
            if event["event"] == "ledger":
                last = event
            elif event["event"] == "stopped":
                lives.append(last)
        return lives

    def test_a_second_process_of_the_same_instance_ends_one_of_them(self):
        layout = self.layout()
        with Load(self.broker, numbered_inputs(layout.source, 4, ENDLESS), 1000) as load:
            pair = [self.bridge(layout, name, instance=None, host=f"{self.prefix}-same").start()
                    for name in ("one", "two")]
            wait_until("one of the two ends", lambda: not all(b.running for b in pair), 90)
            for bridge in pair:
                if not bridge.running:
                    bridge.wait_exit(76)
            alive = [bridge for bridge in pair if bridge.running]
            self.assertEqual(1, len(alive))
            inputs = load.finish(early=True)
        self.wait_done(layout, *alive)
        alive[0].stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_sighup_is_told_and_changes_nothing(self):
        layout = self.layout()
        bridge = self.bridge(layout).start()
        bridge.wait_event("lane_started")
        bridge.signal(signal.SIGHUP)
        bridge.wait_event("sighup_ignored")
        inputs = self.broker.produce(list(numbered_inputs(layout.source, 4, 50)))
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assertEqual(set(VARIANTS), {name[7:] for name, count in bridge.ledger().items()
                                         if name.startswith("routed_") and count})
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


if __name__ == "__main__":
    unittest.main()
